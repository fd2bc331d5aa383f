# Every command that CI runs has a name here. The README's two are `make demo` and `make test`.
#
# One build profile for all of them (`[profile.glass]` in Cargo.toml): a second cold build costs minutes.

CARGO ?= cargo
# CI passes --locked here.
CARGO_FLAGS ?=
PROFILE := glass
BIN := $(or $(CARGO_TARGET_DIR),target)/$(PROFILE)

# A checkout of the benchmark, which is not part of this repository.
BENCH ?=
BENCH_OUT ?= bench.json

.DEFAULT_GOAL := help
# The steps of `test` run in the order in which they are listed: what fails cheaply fails first.
.NOTPARALLEL:

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

.PHONY: demo
demo: deps build ## install what is missing, build, and walk through a bundled site
	$(BIN)/glassctl demo

.PHONY: test
test: deps-test fmt lint unit suite clients frontends-quick ## everything that CI checks, cheapest first

.PHONY: build
build: ## build glassd, glass-egress, glass-worker, glassctl and glass
	$(CARGO) build $(CARGO_FLAGS) --profile $(PROFILE)

.PHONY: deps
deps: ## install what building and running needs and is missing (apt)
	@packaging/install-deps.sh run

.PHONY: deps-test
deps-test: ## the same, and what the tests need
	@packaging/install-deps.sh test

.PHONY: fmt
fmt: ## check the formatting
	$(CARGO) fmt --all --check

.PHONY: lint
lint: ## clippy, warnings are errors
	$(CARGO) clippy $(CARGO_FLAGS) --workspace --all-targets --profile $(PROFILE) -- -D warnings

# `--workspace` everywhere, never `-p`: cargo joins the features of what it is asked for, and another choice of crates
# builds tokio, tonic and all that stands on them once more.

# nextest runs each test in its own process; where it is not installed libtest does. The suite is built with them, as it is
# needed next, and without it what we depend on would have other features and be built twice.
UNIT := --workspace --lib --bins --tests

# What tests run: programs, and examples that stand for a worker; test runners do not build those of other crates. Not
# `build`, which leaves out what the tests depend on: all that stands on those features would be built twice.
.PHONY: build-tests
build-tests:
	$(CARGO) build $(CARGO_FLAGS) --profile $(PROFILE) --workspace --bins --examples

.PHONY: unit
unit: build-tests ## the tests that lie beside the code
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
	    set -x; $(CARGO) nextest run $(CARGO_FLAGS) --profile ci --cargo-profile $(PROFILE) $(UNIT) \
	        -E 'not binary(suite) and not binary(frontends)'; \
	else \
	    set -x; $(CARGO) test $(CARGO_FLAGS) --profile $(PROFILE) --exclude glass-tests $(UNIT); \
	fi

# Always libtest: the tests of a module share one browser, so they must share a process.
.PHONY: suite
suite: build-tests ## the end-to-end tests: real daemon, real cage, real Chromium
	$(CARGO) test $(CARGO_FLAGS) --profile $(PROFILE) --workspace --test suite -- --test-threads=2

# They come from PyPI and npm; what is out of reach is left out, with the reason.
.PHONY: clients
clients: build-tests ## MCP clients that we did not write, against glass --mcp
	@tests/clients/run.sh $(BIN) $(or $(CARGO_TARGET_DIR),target)/clients

# all, quick, or names with commas between them. The packages come from npm; where it is out of reach the run says so.
FRONTENDS ?= all

.PHONY: frontends
frontends: build-tests ## Glass against pages of real front-end stacks, with times
	GLASS_FRONTENDS=$(FRONTENDS) $(CARGO) test $(CARGO_FLAGS) --profile $(PROFILE) --workspace --test frontends -- --nocapture

.PHONY: frontends-quick
frontends-quick: ## the four of them that every `make test` takes
	@$(MAKE) --no-print-directory frontends FRONTENDS=quick

# all, quick, names with commas between them, or `NAME..` for that page and the rest.
CORPUS ?= all

.PHONY: corpus
corpus: build-tests ## every hostile page of tests/suite/corpus, with times
	GLASS_CORPUS=$(CORPUS) $(CARGO) test $(CARGO_FLAGS) --profile $(PROFILE) --workspace --test suite -- hostile_pages --nocapture

# The test writes stale files anew and fails; the second run shows that they are current.
.PHONY: regen
regen: ## write generated code, reference pages and schemas anew
	$(CARGO) test $(CARGO_FLAGS) --profile $(PROFILE) --workspace --no-fail-fast --lib --test generated generated \
	    || $(CARGO) test $(CARGO_FLAGS) --profile $(PROFILE) --workspace --lib --test generated generated

# How long each target is fuzzed, in seconds.
FUZZ_SECONDS ?= 60

.PHONY: fuzz
fuzz: ## fuzz every target for FUZZ_SECONDS, one after the other
	GLASS_FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test $(CARGO_FLAGS) --profile $(PROFILE) --workspace --no-fail-fast --lib \
	    fuzz_ -- --test-threads=1 --nocapture

.PHONY: deny
deny: ## licences, advisories and sources of dependencies (needs cargo-deny)
	@$(CARGO) deny --version >/dev/null 2>&1 \
	    || { echo 'cargo-deny is missing: cargo install cargo-deny --locked' >&2; exit 1; }
	$(CARGO) deny check

.PHONY: bench
bench: ## measure against other products: make bench BENCH=DIR
	@test -n '$(BENCH)' || { echo 'say where the benchmark is: make bench BENCH=DIR (docs/performance.md)' >&2; exit 2; }
	$(CARGO) build $(CARGO_FLAGS) --release
	GLASS_BIN="$(abspath $(dir $(BIN)))/release" python3 $(BENCH)/bench.py --out $(BENCH_OUT)

.PHONY: clean
clean: ## remove everything that was built
	$(CARGO) clean
