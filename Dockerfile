# Atrium in a container: one static program, the certificates that it trusts, and nothing else.
#
#     docker build --build-arg VERSION="$(git describe --tags --always --dirty)" -t atrium .
#
# `make image` builds the last stage without a daemon and without a registry, from the program of `make build`; `make images`
# builds it for amd64 and arm64.

FROM docker.io/library/node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20 AS page
WORKDIR /src
COPY schema ./schema
COPY scripts/node ./scripts/node
COPY internal/web ./internal/web
RUN internal/web/build.sh && test -e internal/web/dist/main.js.gz && test -e internal/web/dist/console/main.js.gz && test -e internal/web/dist/reference/swagger-ui-bundle.js.gz

FROM docker.io/library/golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d AS files
# The version of Go is the one of go.mod: if the image has an older one, Go downloads it and checks its checksum.
ENV GOTOOLCHAIN=auto
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=page /src/internal/web/dist ./internal/web/dist
ARG VERSION=dev
RUN CGO_ENABLED=0 go run -C tools -trimpath -buildvcs=false ./licenses .. \
 && CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o /files/usr/bin/atrium ./cmd/atrium \
 && deploy/image/files /files

FROM scratch AS image
COPY --from=files /files /
ARG VERSION=dev REVISION=unknown SOURCE=https://github.com/atrium/atrium
LABEL org.opencontainers.image.title="Atrium" \
      org.opencontainers.image.description="The inventory of a container platform, by GraphQL, REST and gRPC" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.source="$SOURCE" \
      org.opencontainers.image.url="$SOURCE" \
      org.opencontainers.image.documentation="$SOURCE/tree/main/docs" \
      org.opencontainers.image.vendor="Atrium"
ENV PATH=/usr/bin ATRIUM_ADDR=0.0.0.0:8080
USER 65532:65532
WORKDIR /var/lib/atrium
VOLUME /var/lib/atrium
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/usr/bin/atrium", "health"]
ENTRYPOINT ["/usr/bin/atrium"]
CMD ["serve"]
