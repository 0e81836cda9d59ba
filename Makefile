# SPDX-FileCopyrightText: The Reverb Authors
# SPDX-License-Identifier: Apache-2.0
#
# `make help` lists the targets. Each says what it does, may be run again, and
# then takes seconds. docs/development.md explains what lies behind them.

# Which Python: for .venv when it is created, and for `make wheel`.
PYTHON ?= python3
# How many compilers at a time.
JOBS ?= $(shell nproc)
# Passed on: make test PYTEST_ARGS="-k table -x", CTEST_ARGS="-R table".
PYTEST_ARGS ?=
CTEST_ARGS ?=
# Seconds that clang-tidy may take in `make check`.
TIDY_SECONDS ?= 300

MAKEFLAGS += --no-builtin-rules --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
DEV := build/dev
export REVERB_JOBS := $(JOBS)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

say = @echo "==> $(1)"
# Ninja does not lock a build folder: two makes take turns.
build_with = flock $(1)/.lock nice cmake --build $(1) -j $(JOBS) --target $(2)
# The second target is made even if the first fails.
both = status=0; $(MAKE) $(1) || status=1; $(MAKE) $(2) || status=1; exit $$status
pytest_folders = $(wildcard tests/python tests/integration tests/interop)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' Makefile

# --- Setting up -------------------------------------------------------------

.PHONY: bootstrap
bootstrap: ## Install missing system packages (Debian 12 and 13)
	@scripts/bootstrap

.PHONY: bootstrap-check
bootstrap-check:
	@scripts/bootstrap --check

# The extension is built by CMake (target build), not by pip.
$(VENV)/.installed: pyproject.toml setup.py
	$(call say,creating $(VENV) and installing the package (editable) and its tools)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q "setuptools>=77" wheel "pybind11>=2.13,<4" "numpy>=1.26"
	@REVERB_SKIP_EXTENSION=1 $(BIN)/python -m pip install -q --no-build-isolation -e ".[dev,examples]"
	@touch $@

.PHONY: venv
venv: bootstrap ## Create .venv with the package (editable) and the tools
	@$(MAKE) $(VENV)/.installed

# --- Building ---------------------------------------------------------------

$(DEV)/build.ninja: $(VENV)/.installed
	$(call say,configuring $(DEV))
	@cmake -S . -B $(DEV) -G Ninja -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python \
	  -DREVERB_INPLACE=ON
	@touch $@

.PHONY: build
build: venv ## Build the extension into reverb/ (Python edits are live)
	@$(MAKE) $(DEV)/build.ninja
	$(call say,building the extension in $(DEV))
	@$(call build_with,$(DEV),_core)

.PHONY: build-tests
build-tests: venv
	@$(MAKE) $(DEV)/build.ninja
	$(call say,building the C++ tests in $(DEV))
	@$(call build_with,$(DEV),cc_tests)

.PHONY: wheel
wheel: bootstrap ## Build a wheel into dist/ [PYTHON=python3.12]
	$(call say,building a wheel for $$($(PYTHON) -V))
	@tag=$$($(PYTHON) -c 'import sys; print("cp%d%d" % sys.version_info[:2])'); \
	venv=.venvs/build-$$tag; \
	test -x $$venv/bin/python || $(PYTHON) -m venv $$venv; \
	$$venv/bin/python -m pip install -q "setuptools>=77" wheel "pybind11>=2.13,<4" "numpy>=2.0,<3"; \
	rm -rf build/bdist.* build/lib.*; \
	mkdir -p dist; rm -f dist/reverb_replay-*-$$tag-*.whl; \
	REVERB_BUILD_DIR=build/$$tag nice $$venv/bin/python -m pip wheel -q --no-build-isolation --no-deps -w dist .; \
	ls -l dist/*-$$tag-*.whl

.PHONY: wheel-test
wheel-test: wheel ## Install the wheel in a clean venv and use it
	$(call say,installing the wheel in a clean venv)
	@tag=$$($(PYTHON) -c 'import sys; print("cp%d%d" % sys.version_info[:2])'); \
	rm -rf build/wheel-test; $(PYTHON) -m venv build/wheel-test; \
	build/wheel-test/bin/python -m pip install -q dist/reverb_replay-*-$$tag-*.whl; \
	cd build/wheel-test && bin/python ../../scripts/smoke_test

.PHONY: demo
demo: build ## Install, build and train CartPole through a replay server
	$(call say,running examples/cartpole_dqn.py)
	@$(BIN)/python examples/cartpole_dqn.py

# --- Testing ----------------------------------------------------------------

.PHONY: test
test: ## Run all C++ and Python tests
	@$(call both,test-cc,test-python)

.PHONY: test-cc
test-cc: build-tests ## Run the C++ tests
	$(call say,running the C++ tests)
	@ctest --test-dir $(DEV) --output-on-failure -j $(JOBS) $(CTEST_ARGS)

.PHONY: test-python
test-python: build ## Run the Python and integration tests
	$(call say,building wire_tool in $(DEV))
	@$(call build_with,$(DEV),wire_tool)
	$(call say,running the Python tests)
	@REVERB_WIRE_TOOL=$(CURDIR)/$(DEV)/wire_tool $(BIN)/python -m pytest -q $(pytest_folders) $(PYTEST_ARGS)

.PHONY: test-pythons
test-pythons: bootstrap ## Build and test with each installed CPython, 3.10 to 3.13
	@scripts/test_pythons 3.10 3.11 3.12 3.13

# --- Checking ---------------------------------------------------------------

.PHONY: check
check: bootstrap-check build ## Formats, lints, types, lock annotations, layering, stubs
	@scripts/check $(CHECKS)

.PHONY: format
format: venv ## Format C++ and Python files in place
	@scripts/check --fix format

.PHONY: stubs
stubs: build ## Rewrite reverb/_core.pyi from the extension
	@$(BIN)/python scripts/stubs

# --- Sanitizers -------------------------------------------------------------

.PHONY: sanitize
sanitize: ## Run tests under ASan and UBSan, and what has threads under TSan
	@$(call both,sanitize-asan,sanitize-tsan)

.PHONY: sanitize-asan
sanitize-asan: venv ## C++ tests and a slice of the integration tests, ASan + UBSan
	@scripts/sanitize asan

.PHONY: sanitize-tsan
sanitize-tsan: venv ## Threads, tables, engine and in-process clients, TSan
	@scripts/sanitize tsan

.PHONY: sanitize-grpc-tsan
sanitize-grpc-tsan: venv ## Service and client under TSan (gRPC itself is not instrumented)
	@scripts/sanitize grpc-tsan

# --- Cleaning ---------------------------------------------------------------

.PHONY: clean
clean: ## Remove everything that was built; keeps .venv and the library cache
	$(call say,removing build/ dist/ and the extension)
	@rm -rf build dist wheelhouse *.egg-info THIRD_PARTY_LICENSES
	@rm -f reverb/_core.*.so reverb/._core.*.new

.PHONY: distclean
distclean: clean ## Also remove the virtual environments
	$(call say,removing .venv and .venvs)
	@rm -rf .venv .venvs .mypy_cache .pytest_cache .ruff_cache .hypothesis
