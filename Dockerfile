# Atrium in a container: one static program, the certificates that it trusts, and nothing else.
#
#     docker build --build-arg VERSION="$(git describe --tags --always --dirty)" -t atrium .
#
# `make image` builds the last stage without a daemon and without a registry, from the program of `make build`.

FROM docker.io/library/node:20.20.2-bookworm-slim AS page
WORKDIR /src
COPY schema ./schema
COPY internal/web ./internal/web
RUN internal/web/build.sh && test -e internal/web/dist/main.js.gz && test -e internal/web/dist/console/main.js.gz

FROM docker.io/library/golang:1.26.8-bookworm AS files
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=page /src/internal/web/dist ./internal/web/dist
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /files/usr/bin/atrium ./cmd/atrium \
 && deploy/image/files /files

FROM scratch AS image
COPY --from=files /files /
ARG VERSION=dev
LABEL org.opencontainers.image.title="Atrium" \
      org.opencontainers.image.description="The inventory of a container platform, by GraphQL, REST and gRPC" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION"
ENV PATH=/usr/bin ATRIUM_ADDR=0.0.0.0:8080
USER 65532:65532
WORKDIR /var/lib/atrium
VOLUME /var/lib/atrium
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/usr/bin/atrium", "health"]
ENTRYPOINT ["/usr/bin/atrium"]
CMD ["serve"]
