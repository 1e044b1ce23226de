# make climb   set up .venv and climb the ladders on whatever device is here: a GPU, or the emulator
# make test    everything a change must pass, in minutes
# make verify  inner rungs, 100 mutants, some submissions, notebooks, nbgrader, interviews, the book: most of an hour
# make corpus  the submissions of tests/submissions that neither has time for, graded: most of an hour
# make book    the book, in build/book/html
# make gpu     what a GPU needs, again; the others see to it once, when they set up .venv
# make notebooks  what notebooks need (then: .venv/bin/jupyter lab notebooks/), and each .ipynb that has no work of yours
PYTHON ?= python3
TOPICS ?= vector_add transpose gemm
JOBS   ?= 2
BIN    := .venv/bin

.PHONY: climb test verify corpus book notebooks setup gpu lint lives readme benchmark wheel clean

climb: setup
	$(BIN)/ladder climb $(TOPICS)

test: setup lint
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "not verify and not corpus" --ignore=tests/verify

# One process more than cores: set-up waits for downloads, most of the time.
verify: book .venv/.with-course .venv/.with-dask .venv/.with-browser
	tests/verify/chromium.sh
	$(BIN)/pytest -n $$(($(JOBS) + 1)) --dist loadgroup -m verify --durations=20

corpus: setup
	$(BIN)/pytest -n $(JOBS) -m corpus tests/judge

book: .venv/.with-book .venv/.with-notebooks
	rm -rf build/book/html
	$(BIN)/sphinx-build -E -q -W --keep-going -j $(JOBS) -c book -d build/book/doctrees -b html . build/book/html
	@echo "The book begins at build/book/html/index.html."

notebooks: .venv/.with-notebooks
	$(BIN)/python notebooks/sync.py

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
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@echo "Compiling the emulator's runtime (once, half a minute) ..."
	$(BIN)/python -m grader.emulator.runtime.build
	@$(BIN)/python -m compileall -q grader
	@$(BIN)/python -m grader.gpu_setup || true  # without what a GPU needs, kernels run on the emulator
	touch $@

gpu: setup
	$(BIN)/python -m grader.gpu_setup

# .venv/.with-book installs what pyproject.toml's extra `book` asks for, and so on.
.venv/.with-%: .venv/.stamp
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	touch $@

lives: setup             # draws what CONTRIBUTING.md shows of the code: two call trees, and the packages
	$(BIN)/python docs/lives.py docs/life-of-a-submission.md
	$(BIN)/python docs/lives.py docs/life-of-a-launch.md
	$(BIN)/python docs/packages.py docs/packages.svg

readme: setup            # writes the picture and the terminal captures of README.md
	$(BIN)/python docs/picture.py measurements/h200/gemm.json docs/gemm.svg
	$(BIN)/python docs/capture.py README.md

benchmark: setup
	$(BIN)/python benchmarks/emulator.py

wheel: setup
	$(BIN)/hatchling build -t wheel -d dist

clean:
	rm -rf .venv build dist
