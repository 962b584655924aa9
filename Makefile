# afterwit: plain `make` lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -name '*.py' -o -name '*.pxd') setup.py pyproject.toml README.md

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench test-compiled test-interpreted clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1 \t\2/' | expand -t 24

# Everything the tests and tools need, then the package itself, built and installed as a user would have it.
$(VENV)/dependencies: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "afterwit needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version). Set PYTHON=..."; exit 1; }
	@command -v cc >/dev/null || echo "note: no C compiler (cc) found; afterwit will run interpreted, which is slow"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet $$($(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb")); \
		print(*p["build-system"]["requires"], *p["project"]["dependencies"], *p["project"]["optional-dependencies"]["test"])')
	@touch $@

$(VENV)/installed: $(VENV)/dependencies $(SOURCES)
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --force-reinstall .
	@touch $@

demo: $(VENV)/installed ## the three numbers on real data, in a few seconds
	$(BIN)/afterwit demo

lint: $(VENV)/dependencies ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint test-compiled test-interpreted ## everything: lint, the installed package, the same sources interpreted

# Two workers share two cores: threads of BLAS on top of them would only wait for each other.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m coverage run -m pytest -n 2 --dist worksteal

# What is not compiled is measured here.
test-compiled: $(VENV)/installed
	$(BIN)/python -m coverage erase
	$(PYTEST)

# The same sources without their compiled form: src/ never holds built modules, so that path alone decides. Only what
# is compiled can differ: its inputs, oracles, conformance and storage; certificates and the rest are ordinary Python.
INTERPRETED := tests/linear tests/experts tests/kernels tests/networks tests/streams/test_libsvm.py tests/reductions/test_committee.py \
	tests/core tests/testing
ORDINARY := test_theorems test_linear_theorems test_expert_theorems test_very_many_experts test_record

test-interpreted: $(VENV)/installed
	PYTHONPATH=$(CURDIR)/src AFTERWIT_EXPECT=interpreted $(PYTEST) -q -m "not installed_only" $(INTERPRETED) \
		$(foreach name,$(ORDINARY),--ignore-glob '*/$(name).py')
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage report

# Where real data for the error rates is, such as a9a and spamassassin.svm.gz; without it they are left out.
DATA ?= ../shared/data

bench: $(VENV)/installed ## speed beside scikit-learn and River, as ratios (installs the peers)
	$(BIN)/python -m pip install --quiet $$($(BIN)/python -c 'import tomllib; \
		print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["bench"])')
	-$(BIN)/python -m pip install --quiet $$($(BIN)/python -c 'import tomllib; \
		print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["bench-games"])')
	DATA=$(DATA) $(BIN)/python bench/run.py

clean: ## remove everything that was built
	rm -rf $(VENV) build dist src/*.egg-info .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
