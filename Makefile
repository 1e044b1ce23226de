# make climb   set up .venv and climb the ladders on whatever device is here: a GPU, or the emulator
# make test    everything a change must pass
PYTHON ?= python3
TOPICS ?= transpose gemm
JOBS   ?= 2
BIN    := .venv/bin
# PyCUDA compiles against the CUDA toolkit, so it is installed only where a GPU is.
GPU    := $(shell nvidia-smi -L >/dev/null 2>&1 && echo ,gpu)

.PHONY: climb test setup lint readme benchmark wheel clean

climb: setup
	$(BIN)/ladder climb $(TOPICS)

test: setup lint
	$(BIN)/pytest -n $(JOBS)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

setup: .venv/.stamp

.venv/.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Warpladder needs Python 3.11 or later: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev$(GPU)]'
	@echo "Compiling the emulator's runtime (once, some 15 seconds) ..."
	$(BIN)/python -m grader.emulator.runtime.build
	@$(BIN)/python -m compileall -q grader
	touch $@

readme: setup            # writes the terminal capture into README.md
	$(BIN)/python docs/capture.py README.md

benchmark: setup
	$(BIN)/python benchmarks/emulator.py

wheel: setup
	$(BIN)/python -m build --wheel

clean:
	rm -rf .venv build dist
