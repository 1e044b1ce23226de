"""Draws the ladder in the README: `python docs/picture.py measurements/h200/gemm.json docs/gemm.svg`."""

import sys
from pathlib import Path

from grader.report import pictures
from grader.results import Climb, load


def main() -> None:
    record, picture = map(Path, sys.argv[1:])
    picture.write_text(pictures.ladder(load(record, Climb)), encoding="utf-8")


if __name__ == "__main__":
    main()
