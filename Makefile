# A thin front for the presets of CMakePresets.json. `make help` lists what there is.
PREFIX ?= /usr/local
SECONDS ?= 60
JOBS := $(shell nproc)
# Many tests wait for a clock or for processes: two more of them than cores keep the cores busy.
TEST_JOBS := $(shell expr $(JOBS) + 2)

.DEFAULT_GOAL := help
.PHONY: help run run-cluster programs test web test-kube deb test-deb reproducible dist soak mutants bench fuzz format format-check tidy install release

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: programs ## build the programs, see one minute of them, and then the page
	@scripts/demo build/release

run-cluster: programs ## build the programs and see one minute of three hosts on a Redis of their own
	@scripts/deps cluster
	@scripts/demo-cluster build/release

programs: ## build kron, krond and kron-operator, optimised, and nothing else
	@scripts/deps build
	@mkdir -p build && cmake --preset release >build/configure.log
	@echo "Building kron, krond and kron-operator in build/release"
	@cmake --build --preset release --parallel $(JOBS) --target kron krond kron-exec kron-operator

test: ## build and run the whole suite under ASan and UBSan
	scripts/deps test
	scripts/deps web || echo "*** NOT TESTED in a browser: scripts/deps web says why. ***"
	cmake --preset asan
	cmake --build --preset asan --parallel $(JOBS)
	ctest --preset asan --parallel $(TEST_JOBS)
	@scripts/kube-assets --find >/dev/null || \
	  echo "*** NOT TESTED on a real Kubernetes API server: there is none here. Run make test-kube (7 minutes, once). ***"
	@scripts/deb --is-fresh || \
	  echo "*** NOT TESTED as packages on a booted Debian: those of this commit are not built. Run make test-deb. ***"

web: ## build the page: web/dist from web/src, and its types from the API's document
	scripts/deps web
	cd web && node types.mjs && npm run --silent check && node build.mjs

test-kube: ## the tests on a real Kubernetes API server, which is built first if there is none
	scripts/deps test kube
	nice scripts/kube-assets
	cmake --preset asan
	cmake --build --preset asan --parallel $(JOBS) --target kron kron-kube-probe kron-operator kron-model-api-server
	KUBE_REQUIRED=1 ctest --preset asan --label-regex kube

deb: ## build the Debian packages of the last commit in build/deb, inside a Debian of the cache
	@scripts/deps deb
	@nice scripts/deb

test-deb: ## build the packages, and try them on a booted Debian: install, upgrade, restart, purge
	@scripts/deps test deb kube
	@nice scripts/deb
	cmake --preset asan
	KRON_DEB_REQUIRED=1 ctest --preset asan --label-regex deb

reproducible: ## build the packages once more, elsewhere and from nothing: they must be the same bytes
	@scripts/deps test deb
	@nice scripts/deb
	KRON_DEB_REPRODUCIBLE=1 python3 -B tests/packages/again_test.py . Again.test_another_place_gives_the_same_bytes

dist: ## the last commit as a tarball with its checksum, in build/dist
	@scripts/dist

soak: ## the suite at full counts (KRON_TEST_SCALE=20), then under ThreadSanitizer, then the fuzzers
	scripts/deps test fuzz
	FUZZ_SECONDS=$(SECONDS) scripts/soak

mutants: ## break a copy of the tree in many ways, and see that a test notices each
	scripts/deps test
	scripts/mutants

bench: release ## measure; prints JSON (BRIEF=1: only try that it works)
	@scripts/deps bench >&2
	@$(if $(BRIEF),BRIEF=$(BRIEF)) scripts/bench build/release

fuzz: ## run every fuzzer for SECONDS (60) each
	scripts/deps fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz --parallel $(JOBS)
	scripts/fuzz build/fuzz $(SECONDS)

format: ## format every C++ file in place
	scripts/format

format-check: ## fail if a C++ file is not formatted
	scripts/format --check

tidy: ## clang-tidy over everything but the tests
	scripts/deps tidy
	cmake --preset tidy
	cmake --build --preset tidy --parallel $(JOBS)

install: programs ## install the programs and the library below PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX) >build/install.log
	@echo "Installed below $(PREFIX): bin/kron, sbin/krond, sbin/kron-operator, libexec/kron/kron-exec, their man pages,"
	@echo "systemd units and completions, and the library kron::core for C++ programs. Nothing runs yet;"
	@echo "docs/quick-start.md goes on, and docs/kubernetes.md for a cluster of Kubernetes."
	@echo "Every file is listed in build/release/install_manifest.txt."

release: ## build everything optimised, benchmarks too
	@scripts/deps build >&2
	@cmake --preset release >&2
	@cmake --build --preset release --parallel $(JOBS) >&2
