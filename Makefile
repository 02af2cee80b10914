# portpart: every target sets up what it needs, from Python 3.10+ and make alone.
#
#   make demo [GRAPH=file] [K=64]     partition a mesh (or your graph), compare with METIS, draw it
#   make test                         lint, types and all tests that need no GPU
#   make quick                        some tests of every package, in a minute
#   make test-oldest                  tests that depend on packages, with the oldest ones declared
#   make gpu-test [CUDA=12] [JOBS=6]  the tests on a CUDA device, in several processes
#   make gpu-bench [BENCH=options]    report of partitions on a CUDA device
#   make brute                        20,000 small graphs against exhaustive search
#   make docs                         the site, in build/docs/html; warnings are errors
#   make docs-links                   look whether links to other sites lead somewhere
#   make dist                         source distribution and wheel, in dist
#   make dist-test [PYTHONS=python3.13]  both, installed and tested in environments of their own
#   make docs-picture                 draw docs/architecture.svg anew from the imports
#   make fuzz [FUZZ=100000] [SEED=0]  mutated inputs of every kind; failures go to build/fuzz
#   make mutants [SEED=1] [MUTANTS=67]  changed lines of code that tests should notice
#   make sanitize [PIECES=memcheck-*] every algorithm under compute-sanitizer (SANITIZER=path)
#
# PYTHON picks the interpreter that makes the virtual environment in VENV.  `VENV=` (empty) uses
# PYTHON as it is, for machines whose Python already has everything: make gpu-test VENV=

PYTHON ?= python3
VENV ?= .venv
OLDEST_VENV ?= .venv-oldest
CUDA ?= 13
GRAPH ?=
K ?= 64
SEED ?= 0
BENCH ?=
JOBS ?= 4
SANITIZER ?= compute-sanitizer
PIECES ?= *
FUZZ ?= 100000
MUTANTS ?= 67
PYTHONS ?=

# Bytecode is kept, whatever the environment says: tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.NOTPARALLEL:
.PHONY: help demo test quick test-oldest lint bench gpu-test gpu-bench fuzz mutants brute sanitize docs docs-links docs-picture \
    dist dist-test clean

ifeq ($(strip $(VENV)),)
export PYTHONPATH := $(CURDIR)
PY := $(PYTHON)
with =
else
PY := $(VENV)/bin/python
with = $(foreach extra,$(1),$(VENV)/.has-$(extra))
endif

help:
	@sed -n '2,/^$$/s/^# \{0,1\}//p' Makefile
	@echo "targets: demo test quick test-oldest lint bench gpu-test gpu-bench fuzz mutants brute sanitize docs docs-links docs-picture dist dist-test clean"

demo: $(call with,plot)
	$(PY) examples/demo.py $(if $(GRAPH),"$(GRAPH)") -k $(K) --seed $(SEED)

# a process for each core, memory for eight at most
PARALLEL = --numprocesses=auto --maxprocesses=8 --dist=worksteal

test: $(call with,dev)
	$(PY) -m pytest -m "not gpu" $(PARALLEL)

# one space of kernels, and files of tests/repository/quick.py
quick: $(call with,dev)
	$(PY) -m pytest -q -m "not gpu and not slow" -k "not host-cuda and not cpu-1" $(PARALLEL) \
	    $$($(PY) -m tests.repository.quick)

# The oldest packages know Python up to 3.12.
OLDEST_PYTHON = $(firstword $(foreach python,$(PYTHON) python3.11 python3.10 python3.12,$(shell \
    $(python) -c 'import sys; (3, 10) <= sys.version_info[:2] <= (3, 12) and print("$(python)")' \
    2>/dev/null)))
OLDEST_TESTS = tests/io tests/formats tests/metrics tests/compat $(addprefix tests/inputs/test_, \
    graph.py graph_errors.py frames.py networks.py real_files.py rules.py sniffing.py) \
    $(addprefix tests/algorithms/initial/test_, foreign_numbers.py initial.py quiet.py) \
    tests/cli/test_cli.py tests/cli/test_cli_answers.py tests/backends/cpu/test_cpu_cache.py \
    tests/repository/test_packaging.py

test-oldest: $(OLDEST_VENV)/.has-oldest
	$(OLDEST_VENV)/bin/python -m pytest -m "not gpu and not slow" $(PARALLEL) $(OLDEST_TESTS)
	$(OLDEST_VENV)/bin/python -m pytest -m "not gpu and not slow" tests/golden/test_golden.py -k \
	    "cpu and (delaunay-12 or grid-3d-small or rmat-12) and not (best or ultra or strong)"

$(OLDEST_VENV)/.has-oldest: tests/oldest.txt
	@test -n "$(OLDEST_PYTHON)" || { echo "the oldest packages need Python 3.10 to 3.12"; exit 1; }
	@rm -rf $(OLDEST_VENV)
	@$(OLDEST_PYTHON) -m venv $(OLDEST_VENV)
	$(OLDEST_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

lint: $(call with,dev)
	$(PY) -m ruff check .
	$(PY) -m mypy

bench: $(call with,bench dev)
	$(PY) -m pytest bench/pieces.py --benchmark-columns=min,median,rounds
	$(PY) -m bench.compare $(BENCH)

gpu-test: $(call with,dev cuda$(CUDA))
	$(PY) -m pytest -m gpu --numprocesses=$(JOBS) --dist=worksteal

gpu-bench: $(call with,bench dev cuda$(CUDA))
	$(PY) -m bench.gpu $(BENCH)

# another seed each time unless SEED= says so
brute: $(call with,dev)
	$(PY) -m tests.api.brute_force

fuzz: $(call with,dev)
	$(PY) -m tests.fuzz --cases $(FUZZ) $(if $(findstring command,$(origin SEED)),--seed $(SEED))

mutants: $(call with,plot)
	$(PY) -m tests.repository.mutants --mutants $(MUTANTS) $(if $(findstring command,$(origin SEED)),--seed $(SEED))

SPHINX = $(PY) -m sphinx -E -n --keep-going -d build/docs/doctrees

docs: $(call with,docs plot)
	$(SPHINX) -W -q docs build/docs/html
	@echo "build/docs/html/index.html"

docs-links: $(call with,docs plot)
	$(SPHINX) -b linkcheck docs build/docs/links

dist: $(call with,dist)
	rm -rf dist
	$(PY) -m build --outdir dist
	$(PY) -m twine check --strict dist/*

dist-test: dist
	$(PY) -m tests.repository.dist_check dist build/dist-test $(PYTHONS)

docs-picture: $(call with,dev)
	$(PY) -m tests.docs.architecture_picture

# More runs of racecheck at a time than three wait for each other beyond their limit.
sanitize: JOBS = 3
sanitize: $(call with,dev cuda$(CUDA))
	$(PY) -m bench.sanitize --sanitizer $(SANITIZER) --pieces '$(PIECES)' --jobs $(JOBS)

clean:
	rm -rf $(VENV) $(OLDEST_VENV) demo-output build dist docs/gallery docs/reference/generated \
	    docs/sg_execution_times.rst .pytest_cache .mypy_cache .ruff_cache .hypothesis

ifneq ($(strip $(VENV)),)
# modules of packages are compiled when they are imported, which few of them are
PIP = --quiet --disable-pip-version-check --no-compile

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("portpart needs Python 3.10 or newer: make PYTHON=python3.12 ..." if sys.version_info < (3, 10) else 0)'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	    echo "this Python makes no virtual environments: install its venv module (Debian: python3-venv)"; exit 1; }
	@$@ -m pip install $(PIP) --upgrade pip setuptools || true  # pip of 2023 takes 8 s longer for dev

# the largest packages of dev are unpacked by a second process meanwhile; what it misses comes last
LARGE = vtk nvidia-cuda-nvrtc nvidia-cuda-nvrtc-cu12

$(VENV)/.has-dev: pyproject.toml | $(VENV)/bin/python
	$(PY) -m pip install $(PIP) --no-deps $(LARGE) >/dev/null 2>&1 & \
	    PYTHONWARNINGS=ignore $(PY) -m pip install $(PIP) --editable .; \
	    status=$$?; wait; exit $$status
	$(PY) -m pip install $(PIP) 'portpart[dev]'
	@touch $@

$(VENV)/.has-%: pyproject.toml | $(VENV)/bin/python
	PYTHONWARNINGS=ignore $(PY) -m pip install $(PIP) --editable '.[$*]'
	@touch $@
endif
