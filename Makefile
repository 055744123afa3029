# A thin front for the presets of CMakePresets.json. `make help` lists what there is.
PREFIX ?= /usr/local
SECONDS ?= 60
JOBS := $(shell nproc)

.DEFAULT_GOAL := help
.PHONY: help run test soak bench fuzz format format-check tidy install release

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: release ## build it and see it at work
	@scripts/demo build/release

test: ## build and run the whole suite under ASan and UBSan
	scripts/deps test
	cmake --preset asan
	cmake --build --preset asan --parallel $(JOBS)
	ctest --preset asan --parallel $(JOBS)

soak: ## the suite at full counts under ASan and TSan, then the fuzzers (KRON_TEST_SCALE=20)
	scripts/deps test fuzz
	FUZZ_SECONDS=$(SECONDS) scripts/soak

bench: release ## measure; prints JSON (BRIEF=1: only try that it works)
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

install: release ## install the programs and the library below PREFIX (/usr/local)
	cmake --install build/release --prefix $(PREFIX)

release: ## build the optimised programs
	@scripts/deps build >&2
	@cmake --preset release >&2
	@cmake --build --preset release --parallel $(JOBS) >&2
