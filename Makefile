# Everything sets up its own environment first: a fresh machine needs only Python 3.11+ and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

.PHONY: tournament test lint types gate levels check experiments notebooks bench clean

tournament: $(READY)
	$(BIN)/ginsim tournament easy normal hard simple

test: $(READY)
	$(BIN)/pytest -n auto --maxprocesses 4

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

gate: $(READY)
	$(BIN)/ginsim regress results/baselines/levels.json

# Do the levels still play as they did when they were calibrated?
levels: $(READY)
	$(BIN)/ginsim calibrate --check

check: lint types gate levels test

bench: $(READY)
	$(BIN)/ginsim bench

experiments: $(READY)
	$(BIN)/python -m experiments

# Copies with outputs; to open the notebooks themselves: notebooks/README.md.
notebooks: $(READY)
	mkdir -p results/notebooks
	$(BIN)/jupyter execute --output '../results/notebooks/{notebook_name}' notebooks/*.ipynb

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "ginsim needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(READY)

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache
