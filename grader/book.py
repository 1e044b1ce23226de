"""`ladder book`: the book's pages, built from the clone where they are not there yet."""

from __future__ import annotations

import subprocess
from pathlib import Path

from grader.errors import WarpladderError

ROOT = Path(__file__).resolve().parents[1]
FIRST = ROOT / "build" / "book" / "html" / "book" / "start.html"
"""The page to begin with."""


def page(*, anew: bool = False) -> Path:
    """The book's first page. Where there is none, or `anew`, the book is built, as far as it takes no notebook to be
    run; what that says goes to this process's streams. Raises WarpladderError where it cannot be built."""
    if FIRST.is_file() and not anew:
        return FIRST
    if not (ROOT / "Makefile").is_file():
        raise WarpladderError(
            "the book is built in a clone of the workbook", remedy="clone it, and `make climb` there"
        )
    status = subprocess.run(["make", "--no-print-directory", "pages"], cwd=ROOT, check=False).returncode
    if status or not FIRST.is_file():
        raise WarpladderError("the book could not be built", remedy="make book says more")
    return FIRST
