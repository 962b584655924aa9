# afterwit: plain `make` lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -name '*.py' -o -name '*.pxd' -o -name '*.css' -o -name '*.html' -o -name '*.js' -o -name '*.svg') setup.py pyproject.toml README.md
INSTALL := $(BIN)/python -m pip --disable-pip-version-check install --quiet

REQUIRED := $(BIN)/python .ci/required.py
# Told not to write bytecode, setuptools would warn that it does not.
BUILD := PYTHONDONTWRITEBYTECODE= $(BIN)/python -c

.DEFAULT_GOAL := help
.PHONY: help demo demo-serve test lint coverage bench bench-cluster compare prove mutants fuzz soak bench-serve docs docs-serve wheel test-compiled test-interpreted generate clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1 \t\2/' | expand -t 24

$(VENV)/tools: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "afterwit needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version). Set PYTHON=..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) $$($(REQUIRED) build)
	@touch $@

$(VENV)/dependencies: $(VENV)/tools
	$(INSTALL) $$($(REQUIRED) run)
	@touch $@

$(VENV)/test-dependencies: $(VENV)/dependencies
	$(INSTALL) $$($(REQUIRED) test) $$($(REQUIRED) docs)
	@touch $@

# The tests of pages open them in Chromium, and are skipped without it.
$(VENV)/browser:
	@mkdir -p $(VENV)
	@sh .ci/browser.sh
	@touch $@

# The tests of services start a PostgreSQL of their own, and skip it where it is not installed.
$(VENV)/postgresql:
	@mkdir -p $(VENV)
	@sh .ci/postgresql.sh
	@touch $@

$(VENV)/built: $(VENV)/tools $(SOURCES)
	rm -rf build/wheel
	mkdir -p build/wheel
	$(BUILD) 'from setuptools.build_meta import build_wheel; build_wheel("build/wheel")' >build/log
	@touch $@

# The package, built and installed as a user would have it. It does not need its dependencies to be built.
$(VENV)/installed: $(VENV)/tools $(SOURCES)
	@$(MAKE) --no-print-directory --jobs 2 $(VENV)/dependencies $(VENV)/built
	$(INSTALL) --no-deps --force-reinstall build/wheel/*.whl
	@$(BIN)/afterwit --version
	@touch $@

$(VENV)/plot-dependencies: $(VENV)/dependencies
	$(INSTALL) $$($(REQUIRED) plot)
	@touch $@

demo: $(VENV)/installed $(VENV)/plot-dependencies ## the three numbers on real data, in a few seconds; writes build/demo.html
	@mkdir -p build
	$(BIN)/afterwit demo --report build/demo.html

$(VENV)/serve-dependencies: $(VENV)/dependencies
	$(INSTALL) $$($(REQUIRED) serve)
	@touch $@

demo-serve: $(VENV)/installed $(VENV)/serve-dependencies ## a service with real data streaming through it, and a live page, until Ctrl-C
	@mkdir -p build
	$(BIN)/afterwit serve --demo --database build/demo-serve.db

lint: $(VENV)/test-dependencies ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Fails if anything is not compiled, or not without a warning.
test wheel: export AFTERWIT_COMPILED = 1

test: lint test-compiled test-interpreted ## everything: lint, the installed package, the same sources interpreted

# Two workers share two cores: threads of BLAS on top of them would only wait for each other. Coverage takes as long as
# the tests themselves, so it is measured on request.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m $(if $(MEASURED),coverage run -m) pytest -n 2 --dist worksteal

test-compiled: $(VENV)/installed $(VENV)/test-dependencies $(VENV)/browser $(VENV)/postgresql
	$(PYTEST)

# The same sources without their compiled form: src/ never holds built modules, so that path alone decides. Only what
# is compiled can differ: its inputs, oracles, conformance and storage; certificates and the rest are ordinary Python.
INTERPRETED := tests/linear tests/experts tests/kernels tests/networks tests/streams/test_libsvm.py tests/streams/test_vw.py \
	tests/streams/test_ahead.py tests/streams/test_csv_text.py tests/reductions/test_committee.py \
	tests/core tests/testing
ORDINARY := test_theorems test_linear_theorems test_expert_theorems test_very_many_experts test_record

test-interpreted: $(VENV)/installed $(VENV)/test-dependencies
	PYTHONPATH=$(CURDIR)/src AFTERWIT_EXPECT=interpreted $(PYTEST) -q -m "not installed_only" $(INTERPRETED) \
		$(foreach name,$(ORDINARY),--ignore-glob '*/$(name).py')

coverage: $(VENV)/installed $(VENV)/test-dependencies ## both forms tested once more, and which lines no test reaches
	$(BIN)/python -m coverage erase
	$(MAKE) --no-print-directory MEASURED=1 test-compiled test-interpreted
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage report

# Pages run while the site is built, for their pictures; peers that they import are among the dependencies of tests.
MKDOCS := NO_MKDOCS_2_WARNING=1 OPENBLAS_NUM_THREADS=1 $(BIN)/mkdocs

docs: $(VENV)/installed $(VENV)/test-dependencies ## build the documentation site in build/site; open build/site/index.html
	$(MKDOCS) build

docs-serve: $(VENV)/installed $(VENV)/test-dependencies ## show the site at http://127.0.0.1:8000/, and again whenever a page changes
	$(MKDOCS) serve --dev-addr 127.0.0.1:8000

# Where real data for the error rates is, such as a9a and spamassassin.svm.gz; without it they are left out.
DATA ?= ../shared/data

bench: $(VENV)/installed ## speed beside scikit-learn and River, as ratios (installs the peers)
	$(INSTALL) $$($(REQUIRED) bench)
	-$(INSTALL) $$($(REQUIRED) bench-games)
	DATA=$(DATA) $(BIN)/python bench/run.py

bench-serve: $(VENV)/installed $(VENV)/serve-dependencies $(VENV)/postgresql ## the service beside Vowpal Wabbit's daemon and FastAPI with River (GROW=1: as its log grows)
	$(INSTALL) $$($(REQUIRED) bench)
	$(BIN)/python bench/serve.py $(if $(GROW),--grow)

bench-cluster: $(VENV)/installed ## two workers beside one process and beside Dask-ML, and what sharding costs (MB=1000, of text)
	$(INSTALL) $$($(REQUIRED) bench-cluster)
	DATA=$(DATA) MB=$(or $(MB),1000) OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/cluster.py

compare: $(VENV)/installed ## one pass over every data set beside Vowpal Wabbit, River and scikit-learn; writes docs/comparison.md
	-$(INSTALL) $$($(REQUIRED) compare)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/compare.py --data $(DATA)

# How long to search in all; COUNT=1000000 plays so many sequences instead.
SECONDS := 60
WORKERS ?= 2

prove: $(VENV)/installed ## search for sequences that break a theorem (SECONDS=60, or COUNT=1000000); writes docs/evidence.md
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/prove.py --seed $(or $(SEED),0) --workers $(WORKERS) \
		$(if $(COUNT),--count $(COUNT),--seconds $(SECONDS))

mutants: $(VENV)/test-dependencies ## break the sources on purpose, see that tests notice (COUNT=200 SEED=1, WIDE=1 beyond the heart of the algorithms)
	$(BIN)/python tools/mutants.py --count $(or $(COUNT),200) --seed $(or $(SEED),1) $(if $(WIDE),--wide)

fuzz: $(VENV)/installed $(VENV)/test-dependencies ## changed inputs for the readers and load, beside slow oracles (SECONDS=60, or CASES=10000)
	$(BIN)/python tools/fuzz.py --seed $(or $(SEED),0) --seconds $(SECONDS) $(if $(CASES),--cases $(CASES)) \
		$(if $(TARGET),--target $(TARGET))

# Engines are killed at random moments; PostgreSQL gets a fifth of it.
soak: $(VENV)/installed $(VENV)/test-dependencies $(VENV)/postgresql ## kill services again and again, see that nothing is lost (KILLS=1000 EVENTS=100000)
	AFTERWIT_KILLS=$(or $(KILLS),1000) AFTERWIT_EVENTS=$(or $(EVENTS),100000) $(PYTEST) -n 0 -s tests/serve/test_killed.py -k sqlite
	AFTERWIT_KILLS=$$(($(or $(KILLS),1000) / 5)) AFTERWIT_EVENTS=$$(($(or $(EVENTS),100000) / 5)) \
		$(PYTEST) -n 0 -s tests/serve/test_killed.py -k postgresql

generate: $(VENV)/installed $(VENV)/test-dependencies ## write the types of public names, the tables of docs/reference.md, the notebooks of the course
	PYTHONPATH=src $(BIN)/python tools/generate.py

wheel: $(VENV)/tools ## sdist and wheel in dist/, each installed and tried in an empty environment
	rm -rf dist
	mkdir -p dist build
	$(BUILD) 'from setuptools.build_meta import build_sdist; build_sdist("dist")' >build/log
	$(BUILD) 'from setuptools.build_meta import build_wheel; build_wheel("dist")' >build/log
	$(BIN)/python .ci/smoke.py dist/*.whl
	$(BIN)/python .ci/smoke.py dist/*.tar.gz

clean: ## remove everything that was built
	rm -rf $(VENV) build dist src/*.egg-info .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
