# Everything a maintainer runs. `make help` lists the targets.
# A program that is missing costs one line and what it skips; with CI=true it is a failure.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := build

GO        ?= go
BIN       := bin/mcpsnoop
export PATH := $(PATH):/usr/sbin:/sbin

LINT_VERSION := v2.15.0
LINT         := bin/tools/golangci-lint-$(LINT_VERSION)

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
CLI     := github.com/mcpsnoop/mcpsnoop/cmd/mcpsnoop/cli
LDFLAGS := -s -w -X $(CLI).version=$(VERSION) -X $(CLI).commit=$(COMMIT)

FUZZTIME  ?= 10s
CASES     ?=
BENCH     ?=
CONFORMANCE ?=

# $(call need,TOOL,WHAT) succeeds when TOOL is there; else says what is skipped, and with CI=true ends the recipe.
need = { command -v $(1) >/dev/null 2>&1 || { echo "missing: $(1): skipped: $(2)"; [ "$$CI" != true ] || exit 1; false; }; }

.PHONY: help build demo test tools servers vet lint race cross cases e2e collector bench conformance fuzz screens nightly fmt clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/mcpsnoop
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/mcpsnoop

demo: build ## a real client against a real server through the real shim
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN) demo; else $(BIN) demo --headless; fi

test: build tools servers vet lint race cross cases e2e collector conformance ## all tests, as far as this machine has what they need
	@echo "make test: passed"

tools: ## what the tests use and this machine lacks
	@lacking=0; \
	while IFS='|' read -r tool _ path what; do \
	  case $$tool in ''|'#'*) continue;; esac; \
	  [ -e "$$path" ] || continue; \
	  command -v "$$tool" >/dev/null 2>&1 || { echo "missing: $$tool: skipped: $$what"; lacking=1; }; \
	done <.ci/tools.txt; \
	[ "$$CI" != true ] || [ $$lacking = 0 ]

vet: ## go vet, gofmt
	$(GO) vet ./...
	GOOS=linux $(GO) -C testdata/lab vet ./...
	@bad=$$(gofmt -l .); \
	[ -z "$$bad" ] || { echo "not formatted: $$bad"; echo "run: make fmt"; exit 1; }

fmt: ## gofmt everything
	gofmt -w .

$(LINT):
	@mkdir -p bin/tools/new
	@GOFLAGS= GOBIN=$(CURDIR)/bin/tools/new $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION) && mv bin/tools/new/golangci-lint $@ || true

lint: $(LINT) ## golangci-lint, pinned, built on first use (about 90 s)
	@$(call need,$(LINT),lint (it could not be built)) || exit 0; $(LINT) run ./...

servers: testdata/npm/node_modules testdata/conformance/node_modules ## fetch the published MCP servers and the SDK that tests put behind the shim

testdata/npm/node_modules: testdata/npm/package-lock.json
	@$(call need,npm,runs of published MCP servers behind the shim) || exit 0; cd testdata/npm && npm ci --omit=dev --no-fund --no-audit --loglevel=error && touch node_modules

race: ## unit, property, script and architecture tests under the race detector
	@if $(call need,gcc,the race detector); then CGO_ENABLED=1 $(GO) test -race -timeout 12m ./...; else $(GO) test -timeout 12m ./...; fi

cross: ## build and vet for the platforms nobody here runs
	@for os in windows darwin; do \
	  echo "GOOS=$$os: build, vet"; \
	  GOOS=$$os CGO_ENABLED=0 $(GO) build ./... && GOOS=$$os CGO_ENABLED=0 $(GO) vet ./... || exit 1; \
	done

cases: build ## every case of testdata/cases against the binary; CASES='--only 3*' for some
	@$(call need,python3,the cases) || exit 0; python3 testdata/cases_gate.py --bin $(BIN) $(CASES)

e2e: build ## the demo through the built binary, and every command on what it recorded
	@$(call need,python3,the end-to-end run) || exit 0; python3 testdata/e2e.py --bin $(BIN)

collector: build ## what is sent over OTLP, against the OpenTelemetry Collector itself, and its configuration in deploy
	@if $(GO) -C testdata/collector vet ./...; then MCPSNOOP=$(CURDIR)/$(BIN) $(GO) -C testdata/collector test ./...; \
	else echo "missing: modules of the OpenTelemetry Collector: skipped: what is sent, against the collector itself"; [ "$$CI" != true ]; fi

bench: build ## measure against the bars of docs/PERFORMANCE.md; BENCH='--only stdio' for some rows
	@$(call need,python3,the bench) || exit 0; python3 testdata/bench/bench.py --bin $(BIN) $(BENCH)

conformance: build testdata/conformance/node_modules ## the official conformance suite, straight and with the HTTP proxy in between; then what check says of the traffic
	@if [ -d testdata/conformance/node_modules ]; then python3 testdata/conformance/conformance.py --bin $(BIN) $(CONFORMANCE); fi

testdata/conformance/node_modules: testdata/conformance/package-lock.json
	@$(call need,npm,the conformance suite) || exit 0; cd testdata/conformance && npm ci --no-fund --no-audit --loglevel=error && touch node_modules

fuzz: ## every fuzz test for FUZZTIME (10s)
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done; \
	done

screens: build ## draw the pictures of docs/img from the demo, and write the golden screens anew
	@home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT && mkdir -p docs/img && \
	log=$$(MCPSNOOP_HOME=$$home $(BIN) demo --headless | sed -n 1p) && \
	$(GO) test ./internal/tui -run TestPictures -pictures $(CURDIR)/docs/img -log "$$log" && \
	$(GO) test ./internal/tui -run 'Screens|Themes|Plain' -update

nightly: ## what takes longer: tests three times in random order, long fuzzing, the bench
	$(MAKE) test
	CGO_ENABLED=1 $(GO) test -race -count=3 -shuffle=on -timeout 60m ./...
	$(GO) test ./internal/tui -run TestEverySize -whole -timeout 30m
	$(GO) test ./internal/tui -run KeysAreAnswered -timed
	MCPSNOOP_KILLS=200 $(GO) test -run TestKilledAtAnyPoint -timeout 30m ./shim
	$(MAKE) fuzz FUZZTIME=5m
	$(MAKE) bench

clean: ## remove what was built
	rm -rf bin dist
