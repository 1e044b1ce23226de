"""`ladder book`: the book's pages, built from the clone where they are not there yet."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from grader.errors import WarpladderError
from grader.workbook import units
from grader.workbook.topic import Topic

ROOT = Path(__file__).resolve().parents[1]
PAGES = Path("build", "book", "html")
FIRST = PAGES / "book" / "start.html"
"""The page to begin with."""

READ = Path("build", "book", "doctrees")
"""Where Sphinx keeps the pages that it has read."""

EVERY = 20.0
"""Seconds after which it is said how far the book is, where that is not a terminal."""

LAG = 1.0
"""Seconds by which the clock of a file system may be behind."""

LAST = PAGES / "objects.inv"
"""What Sphinx writes when all pages are there: without it they were left half written."""


def page(*, anew: bool = False) -> Path:
    """The book's first page. Where there is no book, or `anew`, it is built, as far as it takes no notebook to be run;
    what that says goes to this process's streams. Raises WarpladderError where it cannot be built."""
    if anew or not (ROOT / LAST).is_file():
        _build()
    return ROOT / FIRST


def lesson(topic: Topic, section: str | None = None) -> str:
    """Where a topic's lesson is read, and under which title: its page of the book where that is built, else its text,
    which lacks the code that the page has, with the command that in a clone builds the page."""
    page = ROOT / PAGES / "lessons" / topic.name / "lesson.html"
    place = page if page.is_file() else topic.folder / "lesson.md"
    here = Path.cwd()
    found = str(place.relative_to(here) if place.is_relative_to(here) else place)
    found += f', under "{section}"' if section else ""
    if place == page or not (ROOT / "Makefile").is_file():
        return found
    return f"{found}; with its code, as a page of the book: `ladder book`"


def _build() -> None:
    if not (ROOT / "Makefile").is_file():
        raise WarpladderError(
            "the book is built in a clone of the workbook", remedy="clone it, and `make climb` there"
        )
    try:
        status = _made(["make", "--no-print-directory", "pages"])
    except FileNotFoundError:
        raise WarpladderError("there is no make, which builds the book", remedy="apt install make") from None
    if status or not (ROOT / LAST).is_file():
        raise WarpladderError("the book could not be built", remedy="make book says more")


def _made(command: list[str]) -> int:
    """The exit status of a command in the clone, which in a terminal shows itself how far it is. When this process is
    ended, by Ctrl-C or a signal, so are all that the command has started: make and Sphinx leave theirs running."""
    begun, shown = time.time(), os.isatty(1)
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.default_int_handler)
    with subprocess.Popen(command, cwd=ROOT, process_group=0) as process:
        try:
            while True:
                try:
                    return process.wait(None if shown else EVERY)
                except subprocess.TimeoutExpired:
                    print(_so_far(begun), file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGTERM)
            raise


def _so_far(begun: float) -> str:
    """How many pages there are of a book that is being built: Sphinx reads all of them before it writes the first."""
    kept = ROOT / READ
    read = [file.relative_to(kept) for file in kept.rglob("*.doctree") if file.stat().st_mtime > begun - LAG]
    written = sum((ROOT / PAGES / file.with_suffix(".html")).is_file() for file in read)
    pages = units.number_of(len(read), "page")
    return f"  {time.time() - begun:.0f} s: {f'{written} of {pages} written' if written else f'{pages} read'}"
