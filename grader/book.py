"""`ladder book`: the book's pages, built from the clone where they are not there yet."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from grader.errors import WarpladderError
from grader.workbook.topic import Topic

ROOT = Path(__file__).resolve().parents[1]
PAGES = Path("build", "book", "html")
FIRST = PAGES / "book" / "start.html"
"""The page to begin with."""

LAST = PAGES / "objects.inv"
"""What Sphinx writes when all pages are there: without it they were left half written."""


def page(*, anew: bool = False) -> Path:
    """The book's first page. Where there is no book, or `anew`, it is built, as far as it takes no notebook to be run;
    what that says goes to this process's streams. Raises WarpladderError where it cannot be built."""
    if anew or not (ROOT / LAST).is_file():
        _build()
    return ROOT / FIRST


def lesson(topic: Topic, section: str | None = None) -> str:
    """Where a topic's lesson is read, and under which title: its page of the book where that is built, in a clone else
    the command that builds it. Its Markdown lacks the code that the page has."""
    path = Path("lessons", topic.name, "lesson")
    file = path.with_suffix(".md")
    if (built := ROOT / PAGES / path.with_suffix(".html")).is_file():
        place = str(built)
    elif (ROOT / "Makefile").is_file():
        place = f'"{topic.title}" in `ladder book`'
    else:
        place = str(file)
    return f'{place}, under "{section}"' if section else place


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
    """The exit status of a command in the clone. When this process is ended, by Ctrl-C or a signal, so are all that the
    command has started: make and Sphinx leave theirs running."""
    with subprocess.Popen(command, cwd=ROOT, process_group=0) as process:
        for each in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, signal.default_int_handler)
        try:
            return process.wait()
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGTERM)
            raise
