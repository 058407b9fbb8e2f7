# planwire: `make demo` shows it, `make test` checks it. Both set up everything they need.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Many tests start programs: they begin with what was compiled before, whatever the machine's habit.
export PYTHONDONTWRITEBYTECODE :=

# Many wait for other processes more than they work: one more than there are processors keeps all of these busy.
SIDE_BY_SIDE = $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

.PHONY: help setup demo test test-agents torture check bench pictures conformance scale docs clean

help:
	@echo "make demo         a plan, live in the terminal and the browser, and an agent that asks you"
	@echo "make test         the tests"
	@echo "make test-agents  more of them, with real agents"
	@echo "make torture      kills and long races, for minutes"
	@echo "make check        ruff, ruff format, mypy --strict"
	@echo "make bench        speed against peers, into bench/results.json"
	@echo "make setup        only the .venv"

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@PYTHON="$(PYTHON)" sh scripts/make-venv "$(VENV)"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(READY)
	@$(BIN)/planwire demo

test: $(READY)
	@$(BIN)/python -m tests.peers.install
	@$(BIN)/python -m tests.programs
	$(BIN)/python -m pytest --numprocesses $(SIDE_BY_SIDE) --dist worksteal

test-agents: $(READY)
	@$(BIN)/python -m tests.peers.install --all
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m agents

torture: $(READY)
	@$(BIN)/python -m tests.programs
	$(BIN)/python -m pytest -m torture

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m bench

pictures: $(READY)
	PYTHONPATH=. $(BIN)/python scripts/make_pictures.py

conformance: $(READY)
	PYTHONPATH=. $(BIN)/python scripts/make_conformance.py

scale: $(READY)
	$(BIN)/python scripts/make_scale.py

docs: $(READY)
	$(BIN)/python scripts/make_docs.py

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis bench/results.json
