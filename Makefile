# hloom.  A machine with make and Python 3.11 or newer is enough:
#
#   make demo        the tour, step by step, with a picture
#   make test        everything that must hold: check, tests, property tests
#   make check       what to run while editing: lint and the tiny tests, under a minute
#   make lint        ruff, mypy, import layers
#   make bench       hloom, NumPy and jax side by side
#   make beside-jax  a process that has imported jax as well
#   make docs        the pages, in build/docs
#   make pictures    the pictures of the pages anew
#   make engines     docs/engines.md anew: which primitive runs on which engine
#   make semantics   docs/semantics.md anew, from the table of decisions
#   make names       docs/names.md anew: which names of NumPy and jax are there
#   make walk        docs/walk.md anew: its listings, the code it quotes, its drawings
#   make polynomials docs/polynomials.md anew: how coefficients were made, and how exact they are
#   make fits        the slow tests: that page is current, and no table worse than it claims to be
#   make clean       takes away all that the others made
#
# Each target makes the environment it needs, once.  PYTHON=... picks the interpreter,
# VENV=... another place for the environment, WORKERS=... how many processes run the tests.

VENV ?= .venv
BENCH_VENV ?= .venv-bench
WORKERS ?= 2

CANDIDATES = python3 python python3.13 python3.12 python3.11
IS_NEW_ENOUGH = import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(or $(shell for python in $(CANDIDATES); do \
	"$$python" -c '$(IS_NEW_ENOUGH)' 2>/dev/null && echo "$$python" && break; done), \
	$(error no Python 3.11 or newer with the venv module on PATH; name one with PYTHON=/path/to/python))

# The sources of this folder are the ones that run, also when the folder was copied or moved.
export PYTHONPATH := $(CURDIR)/src

RUN = $(VENV)/bin/python
PYTEST = $(RUN) -m pytest -q
# Each process has tests that follow one another, which share what they compile and trace.
SHARED = -n $(WORKERS) --dist worksteal

.PHONY: demo test check lint tiny tests property-tests second bench beside-jax docs pictures engines semantics names walk polynomials fits clean
.DELETE_ON_ERROR:

demo: $(VENV)/ready-demo
	$(RUN) docs/tour.py

test:
	@start=$$(date +%s); $(MAKE) --no-print-directory check tests property-tests; result=$$?; \
	seconds=$$(($$(date +%s) - start)); \
	echo "make test: $$((seconds / 60)) min $$((seconds % 60)) s"; exit $$result

check: lint tiny

lint: $(VENV)/ready-dev
	$(RUN) -m ruff check
	$(RUN) -m mypy
	$(RUN) -c 'from importlinter.cli import lint_imports_command as lint; lint()' --no-logo

tiny: $(VENV)/ready-test
	$(PYTEST) tests/test_tiny.py

tests: $(VENV)/ready-test
	$(PYTEST) $(SHARED) tests

property-tests: $(VENV)/ready-test
	$(PYTEST) $(SHARED) property_tests

# The tour on another interpreter:  make second PYTHON=python3.13 VENV=.venv313
second: $(VENV)/ready-test
	$(RUN) -m pip install -qq --disable-pip-version-check --upgrade 'jaxlib<0.13'
	$(PYTEST) tests/test_tour.py tests/test_tiny.py

bench:
	@$(MAKE) --no-print-directory VENV=$(BENCH_VENV) $(BENCH_VENV)/ready-bench
	$(BENCH_VENV)/bin/python -m benchmarks

beside-jax:
	@$(MAKE) --no-print-directory VENV=$(BENCH_VENV) $(BENCH_VENV)/ready-bench $(BENCH_VENV)/ready-test
	$(BENCH_VENV)/bin/python -m pytest -q tests/test_beside_jax.py

engines: $(VENV)/ready-test
	$(RUN) -m hloom.testing.support > docs/engines.md

docs: $(VENV)/ready-docs
	$(RUN) -m sphinx -q -W --keep-going -b html docs build/docs
	@echo 'read build/docs/index.html'

pictures: $(VENV)/ready-test
	$(RUN) -m docs.draw docs/pictures

semantics: $(VENV)/ready-test
	$(RUN) -m hloom.testing.decisions docs/semantics.md

names: $(VENV)/ready-test
	$(RUN) -m hloom.testing.names docs/names.md README.md docs/index.md

walk: $(VENV)/ready-test
	$(RUN) docs/walk.py

polynomials: $(VENV)/ready-test
	$(RUN) -m docs.fits > docs/polynomials.md

fits: $(VENV)/ready-test
	$(PYTEST) -m slow tests/test_fits.py

# One environment, filled as far as a target asks: .venv/ready-demo has what the demo needs.
$(VENV)/ready-%: setup.cfg pyproject.toml
	@echo 'installing hloom[$*] in $(VENV) (once)'
	@test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	@$(RUN) -m pip install -qq --disable-pip-version-check --editable '.[$*]'
	@touch $@

clean:
	rm -rf .venv .venv-bench .venv313 build dist docs/api src/*.egg-info .hypothesis \
		.import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests property_tests benchmarks docs -name __pycache__ -prune -exec rm -rf {} +
