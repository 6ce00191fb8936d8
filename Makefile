# `make` without a target prints the help.
.DEFAULT_GOAL := help

BIN ?= bin/atrium
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# The Go tests run on both engines: SQLite is embedded, and this starts PostgreSQL.
WITH_POSTGRES := scripts/with-postgres

# This program checks schema/proto. tools/proto/go.mod pins its version.
BUF := go tool -modfile=tools/proto/go.mod buf

# The files that `make generate` writes. Nobody edits them.
GENERATED := graph gen docs/pages.zip internal/rest/openapi.json.gz internal/rest/openapi.yaml.gz

.PHONY: help
help: ## Print this help
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Every command of Go has these settings, because Go compiles a package again for others. The version is set here, so that
# Go does not call git, which fails in a clone of another user. The race detector needs C.
export GOFLAGS := $(GOFLAGS) -trimpath -buildvcs=false
export CGO_ENABLED := $(if $(findstring -race,$(GOTESTFLAGS)),1,0)
GO_BUILD := go build
LDFLAGS := -ldflags '-s -w -X main.version=$(VERSION)'

# The first time, compiling takes minutes on two cores, and so do the pages, which wait for npm. So both happen at once, and -v shows
# which packages are compiled. The licenses of others are part of the program only after `make build`.
.PHONY: run
run: ## Build, then serve in development mode on an embedded database (ARGS='--addr ...')
	@$(MAKE) --no-print-directory -j2 $(GRAPHIQL) compiled-packages
	$(GO_BUILD) -v $(LDFLAGS) -o $(BIN) ./cmd/atrium
	$(abspath $(BIN)) serve --dev $(ARGS)

# Packages that do not contain the pages, with all that they import: nearly the whole program.
.PHONY: compiled-packages
compiled-packages:
	$(GO_BUILD) -v ./resolvers ./store ./internal/auth ./internal/ingest ./internal/rest ./internal/rpc ./internal/telemetry ./internal/webhook

# The pages that the program embeds. If they cannot be built, build.sh says so, and the program has only small pages.
GRAPHIQL := internal/web/dist/main.js.gz
$(GRAPHIQL): internal/web/build.sh internal/web/build.mjs internal/web/package.json internal/web/package-lock.json $(wildcard internal/web/graphiql/*) internal/web/reference/build.mjs $(wildcard internal/web/builtin/*.js) \
	$(wildcard internal/web/console/*.*) $(wildcard internal/web/console/pages/*) $(wildcard schema/*.graphqls)
	@internal/web/build.sh

# The licenses of everything that is part of the program, which `atrium licenses` prints.
LICENSES := internal/licenses/dist/licenses.txt.gz
$(LICENSES): $(GRAPHIQL) go.mod LICENSE tools/licenses/main.go
	go run -C tools ./licenses ..

.PHONY: build
build: $(LICENSES) ## Build the program into bin/atrium, with the licenses of all that it contains (BIN=path overrides)
	$(GO_BUILD) $(LDFLAGS) -o $(BIN) ./cmd/atrium

IMAGE ?= bin/atrium-image.tar
.PHONY: image
image: build ## Build the container image, without a daemon or a registry, into bin/atrium-image.tar (IMAGE=path)
	deploy/image/build $(VERSION) $(IMAGE) $(BIN)

# skopeo copy --all dir:bin/images publishes both images with their index.
.PHONY: images
images: $(LICENSES) ## Build the container images for amd64 and arm64 into the folder bin/images
	for arch in amd64 arm64; do \
		GOOS=linux GOARCH=$$arch $(GO_BUILD) $(LDFLAGS) -o bin/$$arch/atrium ./cmd/atrium || exit 1; \
	done
	deploy/image/build $(VERSION) bin/images bin/amd64/atrium bin/arm64/atrium

# Building GoReleaser takes minutes. The e2e suite `packages` checks its configuration in seconds.
GORELEASER := VERSION=$(VERSION) go tool -modfile=tools/goreleaser/go.mod goreleaser

.PHONY: packages
packages: ## Build archives, packages of Debian, RPM and Alpine, SBOMs and checksums into bin/packages
	$(GORELEASER) check
	$(GORELEASER) release --snapshot --clean --skip=sign

# Only the services that sign and publish are left out: they need the identity of a workflow.
.PHONY: release-check
release-check: build ## Check everything that a release consists of, without a network: configuration, SBOM, licenses, images, chart
	BIN=$(abspath $(BIN)) e2e/run packages image

.PHONY: release
release: ## Publish the release of the tag at this commit (needs GITHUB_TOKEN)
	@! grep -q '^ADDRESS=.*@localhost$$' project.env || { echo "project.env has no address of the maintainer, whom packages name"; exit 1; }
	$(GORELEASER) release --clean

# Many tests wait for a timer or another process, so more of them run at once than there are cores.
PARALLEL ?= 4

# Without symbols, the fifty programs of the tests are linked in half of the time. `make lint` vets them.
.PHONY: test
test: oracle ## Run every Go test on SQLite and a private PostgreSQL, except `make plans` (GOTESTFLAGS='-race -run ...')
	$(WITH_POSTGRES) go test -tags=oracle -vet=off -ldflags='-s -w' -parallel=$(PARALLEL) -timeout=20m $(GOTESTFLAGS) ./...
	$(WITH_POSTGRES) go -C tools test -vet=off -ldflags='-s -w' -parallel=$(PARALLEL) $(GOTESTFLAGS) ./...

.PHONY: plans
plans: ## Explain the hot reads of a big database on both engines, and compare what every filter and order reads with its cost
	ATRIUM_TEST_PLANS=1 $(WITH_POSTGRES) go test ./store/storetest -vet=off -ldflags='-s -w' -run='^TestABigDatabase' -count=1 -timeout=30m $(GOTESTFLAGS)

# Some packages take more than the ten minutes that Go allows.
PACKAGES ?= ./...
MODULE ?= .
.PHONY: test-busy
test-busy: ## Run every Go test of a module three times beside four busy loops, with half the processors (PACKAGES='./graphql ./internal/server' MODULE=tools)
	scripts/test-busy $(WITH_POSTGRES) go -C $(MODULE) test -count=1 -timeout=1h -parallel=$(PARALLEL) $(GOTESTFLAGS) $(PACKAGES)

.PHONY: e2e
e2e: build ## Run public test suites against the program (SUITES='audit playground'; needs Node and Chromium)
	BIN=$(abspath $(BIN)) e2e/run $(SUITES)

.PHONY: pictures
pictures: build ## Take the pictures of the README again, from the demonstration (needs Node and Chromium)
	ATRIUM_TEST_WRITE_PICTURES=1 BIN=$(abspath $(BIN)) e2e/run pictures

BENCH ?= .
.PHONY: bench
bench: ## Run the benchmarks on both engines (BENCH=regexp)
	$(WITH_POSTGRES) go test -run='^$$' -bench='$(BENCH)' -benchmem $(GOTESTFLAGS) ./...
	$(WITH_POSTGRES) go -C tools test -run='^$$' -bench='$(BENCH)' -benchmem $(GOTESTFLAGS) ./...

RATIOS ?= .
write_ratios = awk '/ ratio/ { for (i = 3; i < NF; i++) if ($$(i + 1) == "ratio") print $$1, 1, $$i, "ratio" }' bin/ratios.txt >tools/workloads/testdata/ratios.txt
.PHONY: ratios
ratios: ## Compare the CPU time of requests with that of handlers written by hand (RATIOS='^W1$$' WRITE=1 writes tools/workloads/testdata/ratios.txt)
	@mkdir -p bin
	$(WITH_POSTGRES) go -C tools test ./workloads -run='^$$' -bench='^BenchmarkRatios$$/$(RATIOS)' -benchtime=2s -timeout=1h $(GOTESTFLAGS) $(if $(WRITE),>bin/ratios.txt)
	$(if $(WRITE),$(write_ratios))

.PHONY: workloads
workloads: ## Compare the allocations and round trips of the workloads with tools/workloads/testdata/workloads.json (WRITE=1 writes it)
	ATRIUM_WORKLOADS=$(if $(WRITE),write,compare) $(WITH_POSTGRES) go -C tools test ./workloads -run='^TestWorkloadCosts$$' -count=1 -v

.PHONY: scale
scale: ## Test with PostgreSQL 15 to 18, pgbouncer, changing rights, promotions, read replicas, restarts, an overload and size (PARTS='versions pooler authority promotion patroni replicas soak overload size'; needs npm)
	scripts/scale $(PARTS)

MINUTES ?= 30
.PHONY: soak
soak: ## Kill and restart processes, PostgreSQL, its standbys and pgbouncer under load, and check what came of it (MINUTES=30 SEED=7)
	MINUTES=$(MINUTES) SEED=$(SEED) scripts/scale soak

KILLS ?= 5
DOCUMENTS ?= 20000
.PHONY: proof
proof: oracle ## Kill the server during writes, and check that no event is lost (KILLS=20); compare the executors on 20,000 random documents (DOCUMENTS)
	ATRIUM_TEST_KILLS=$(KILLS) $(WITH_POSTGRES) go test ./cmd/atrium -run=WhenTheServerIsKilled -count=1 -v -timeout=30m
	ATRIUM_DOCUMENTS=$(DOCUMENTS) $(WITH_POSTGRES) go test -tags=oracle ./resolvers -run='^FuzzExecutorsAgree$$' -count=1 -timeout=30m

.PHONY: memory
memory: ## Keep large answers of a server open, and check its memory
	ATRIUM_TEST_MEMORY=1 $(WITH_POSTGRES) go test ./cmd/atrium -run=TestNoCallerRaises -count=1 -v

QUERIES ?= .
.PHONY: costs
costs: ## Measure the CPU of every root field, list, filter and order of GraphQL at 100,000 rows, and compare it with the cost (QUERIES='tags: {'; needs an idle machine)
	ATRIUM_COSTS='$(QUERIES)' $(WITH_POSTGRES) go test ./store/storetest -run='^TestCostsFollowWork$$' -count=1 -v -timeout=120m

CONNECTIONS ?= 600
.PHONY: pressure
pressure: ## Send requests over many connections at once, and report times and memory (CONNECTIONS=600)
	ATRIUM_TEST_CONNECTIONS=$(CONNECTIONS) $(WITH_POSTGRES) go test ./cmd/atrium -run=TestManyConnectionsAreAnswered -count=1 -v

# Go can fuzz only one target of one package at a time.
FUZZTIME ?= 20s
.PHONY: fuzz
fuzz: oracle ## Fuzz every parser in turn (FUZZTIME=1m)
	@grep -rHo --include='*_test.go' --exclude-dir=node_modules '^func Fuzz[A-Za-z0-9_]*' . | \
	while IFS=: read -r file func; do \
		echo "$$file $${func#func }"; \
		go test -tags=oracle -run='^$$' -fuzz="^$${func#func }$$" -fuzztime=$(FUZZTIME) "$$(dirname "$$file")" || exit 1; \
	done

FEEDS ?= $(wildcard ../shared/data/osv-*.tar.gz)
DOCUMENTS ?= $(wildcard ../shared/data/sbom*.tar.gz)
.PHONY: osv-compare
osv-compare: ## Compare the findings of imported documents with those of osv-scanner, dpkg and rpm (FEEDS=folders DOCUMENTS=folders DATABASE=PostgreSQL, empty)
	go -C tools/osvcompare run . -modules=60 -made $(DATABASE:%=-database=%) $(abspath $(FEEDS)) -- $(abspath $(DOCUMENTS))

.PHONY: lint
lint: ## Run the linter, pinned in tools/lint/go.mod
	go tool -modfile=tools/lint/go.mod golangci-lint run
	go -C tools tool -modfile=lint/go.mod golangci-lint run

.PHONY: deps
deps: ## Print which dependencies have a newer version
	@scripts/deps

# A database for machines without a network is a folder: a copy of https://vuln.go.dev.
VULNERABILITIES := https://vuln.go.dev
.PHONY: vulnerabilities
vulnerabilities: ## Look for known vulnerabilities of the code that the program calls (VULNERABILITIES=file:///folder)
	go tool -modfile=tools/vulnerabilities/go.mod govulncheck -db=$(VULNERABILITIES) ./cmd/... ./client/...

.PHONY: generate
generate: ## Generate the GraphQL layer and the gRPC stubs from schema/, the OpenAPI document from the REST routes, and the pages of the guide
	go -C tools run ./gqlgen ..
	go -C tools/proto run ./generate ../..
	go -C tools run ./guide ..
	go -C tools/packages run . readme ../../deploy/helm/atrium
	ATRIUM_WRITE_OPENAPI=1 go test ./internal/rest -run='^TestTheDescriptionIsThatOfTheRoutes$$' -count=1

# gqlgen's own executor, with which tests compare ours. It is as long as half of the program, so it is not committed, but
# generated when something that it is made of has changed.
.PHONY: oracle
oracle: internal/oracle/resolvers.generated.go ## Generate the executor of gqlgen, with which tests compare ours, if it is not current
internal/oracle/resolvers.generated.go: gqlgen.yml $(wildcard schema/*.graphqls tools/gqlgen/* graph/scalar/*.go)
	go -C tools run ./gqlgen ..

.PHONY: rename-check
rename-check: ## Build a copy of both modules under another path (scripts/rename-module gives it one)
	copy=$$(mktemp -d) && trap 'rm -rf "$$copy"' EXIT && git ls-files -z | xargs -0 cp --parents -t "$$copy" && \
	scripts/rename-module example.com/acme/atrium "$$copy" && go -C "$$copy" build -o "$$copy/built" ./cmd/atrium && \
	go -C "$$copy/tools" build ./...

# Generation comes last, because a generator may tidy go.mod, which would hide the result of the check before it.
.PHONY: verify
verify: ## Check formatting, go.mod, that generated files are current, and that no change breaks clients
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "run gofmt on these files:"; echo "$$unformatted"; exit 1; }
	go mod tidy -diff && go -C tools mod tidy -diff
	go -C tools/grpc mod tidy -diff && go -C tools/vulnerabilities mod tidy -diff
	go -C tools/packages vet ./... && go -C tools/goreleaser vet . && go -C tools/proto test ./generate
	go -C tools run ./schemadiff ..
	$(BUF) lint schema/proto
	scripts/proto-breaking
	$(MAKE) --no-print-directory generate
	git diff --exit-code -- $(GENERATED)
	@untracked=$$(git ls-files --others --exclude-standard -- $(GENERATED)); \
	test -z "$$untracked" || { echo "add these generated files to git:"; echo "$$untracked"; exit 1; }
