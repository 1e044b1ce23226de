# make climb   set up .venv and climb the ladders on whatever device is here: a GPU, or the emulator
# make test    lint, types, contracts, and what guards the product by code path: minutes
# make verify  one of each real thing: a class, an interview, a notebook, the book in a browser: some minutes more
# make soak    sweeps over all content; ONLY=emulator|judge|course|book|interview|setup, PART=k/n; see CONTRIBUTING.md
# make book    the book, in build/book/html, with what notebooks print; NOTEBOOKS="gemm …" runs those alone
# make pages   the book without that, in a minute (ladder book does so where there is none, and opens it)
# make gpu     what a GPU needs, again; the others see to it once, when they set up .venv
# make notebooks  what notebooks need (then: .venv/bin/jupyter lab notebooks/), and each .ipynb that has no work of yours
PYTHON ?= python3
TOPICS ?= vector_add gemm
JOBS   ?= 2
SEED   ?= 0
BIN    := .venv/bin
PYTEST = $(BIN)/pytest -n $(JOBS) -p randomly --randomly-seed=$(SEED)  # another SEED, another order

unexport PYTHONDONTWRITEBYTECODE  # else every process compiles the tests again

# $(call install,[dev]) installs the clone with what an extra asks for. uv takes seconds where pip takes a minute, but
# does not read pip's settings: it is told the index, and where it is missing or fails, pip installs.
index   = $${PIP_INDEX_URL:-$$($(BIN)/python -m pip config get global.index-url 2>/dev/null || echo https://pypi.org/simple)}
install = { UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$(index)}" \
  $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --editable '.$(1)' 2>/dev/null \
  || $(BIN)/python -m pip install --quiet --editable '.$(1)'; }

# $(call sphinx,-q) writes the book's pages, without a word.
sphinx = rm -rf build/book/html && \
  $(BIN)/sphinx-build -E $(1) -W --keep-going -j $(JOBS) -c book -d build/book/doctrees -b html . build/book/html

.PHONY: climb test verify soak soak-needs book pages notebooks setup gpu lint types style contracts lives accesses readme benchmark wheel clean

climb: setup
	@$(BIN)/ladder climb $(TOPICS)

test: setup lint
	$(PYTEST) --dist worksteal -m "not verify and not soak" --ignore=tests/verify

# The book has the pages of all notebooks, of which one is run.
verify: soak-needs
	$(MAKE) book NOTEBOOKS=transpose
	$(PYTEST) --dist loadgroup -m "verify and not soak" --durations=20

soak: setup
	$(BIN)/python tests/soak.py --only "$(ONLY)" --part "$(PART)" --jobs $(JOBS)

soak-needs: .venv/.with-verify
	tests/verify/chromium.sh

book: export WARPLADDER_NOTEBOOKS = $(NOTEBOOKS)
book: .venv/.with-book .venv/.with-notebooks
	@echo "Running what notebooks have to print, and writing pages: some minutes, once."
	@$(call sphinx,-q)
	@echo "The book begins at build/book/html/index.html."

pages: export WARPLADDER_NOTEBOOKS = none
pages: .venv/.with-book
	@echo "Writing the book's pages: a minute, once."
	@if [ -t 1 ]; then $(call sphinx,); else $(call sphinx,-q); fi

notebooks: .venv/.with-notebooks
	$(BIN)/python notebooks/sync.py

lint: setup
	@$(MAKE) --no-print-directory -j $(JOBS) types style contracts

types: setup
	$(BIN)/mypy

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

contracts: setup
	$(BIN)/lint-imports

setup: .venv/.stamp

.venv/.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Warpladder needs Python 3.11 or later: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(BIN)/uv || $(BIN)/python -m pip install -qq uv || true
	@$(call install)
	@echo "Installing what development needs ..."
	@$(BIN)/python -m grader.emulator.runtime.build & runtime=$$!; \
	  $(call install,[dev]) && wait $$runtime
	@$(BIN)/python -m compileall -q grader
	@$(BIN)/python -m grader.gpu_setup || true  # without what a GPU needs, kernels run on the emulator
	@touch $@

gpu: setup
	$(BIN)/python -m grader.gpu_setup

.venv/.with-verify: .venv/.stamp
	@$(call install,[verify])
	@touch $(addprefix .venv/.with-,book notebooks course dask browser) $@

# .venv/.with-book installs what pyproject.toml's extra `book` asks for, and so on.
.venv/.with-%: .venv/.stamp
	@$(call install,[$*])
	@touch $@

lives: setup             # draws what docs/map.md shows of the code: two call trees, and the packages
	$(BIN)/python docs/lives.py docs/life-of-a-submission.md
	$(BIN)/python docs/lives.py docs/life-of-a-launch.md
	$(BIN)/python docs/packages.py docs/packages.svg

accesses: setup          # keeps what a block of each rung accesses, for the pictures in lessons; TOPIC=gemm alone
	$(BIN)/python book/_ext/kept_accesses.py $(TOPIC)

readme: setup            # writes the picture and the terminal captures of README.md
	$(BIN)/python docs/picture.py measurements/h200/gemm.json docs/gemm.svg
	$(BIN)/python docs/capture.py README.md

benchmark: setup
	$(BIN)/python benchmarks/emulator.py

wheel: setup
	$(BIN)/hatchling build -t wheel -d dist

clean:
	rm -rf .venv build dist
