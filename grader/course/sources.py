"""A learner's source as it stands in a notebook's cell, and what it may not do when others grade it."""

from __future__ import annotations

import bisect
import codecs
import itertools
import re
from collections.abc import Sequence

from grader.emulator.nvrtc.compilation import find_toolkit
from grader.lab.cells import MAGIC, as_file

_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t\f\v]*\n")
_HASH = re.compile(r"#|%:|\?\?=")
_READS = re.compile(r"(?:include_next|include|import|embed)\b")
_ASKS = re.compile(r"__has_(?:include_next|include|embed)\b")
_CLOSING = re.compile(r"\*/")
_BLANK = re.compile(r"[^\S\n]*")
_HEADER = re.compile(r"<([^>\n]+)>|\"([^\"\n]+)\"")

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte-order marks, the longer of two that begin alike first, and how to read what follows."""


class UnreadableFile(Exception):
    """A file that cannot be read; its text says why."""


def text_of(data: bytes) -> tuple[str, str]:
    """A handed-in file's text, and how it was read where it is not UTF-8. Raises UnreadableFile for what is no
    text, and for an empty file."""
    coding = next((coding for mark, coding in _MARKS if data.startswith(mark)), None)
    if coding is None and b"\0" in data:
        raise UnreadableFile("it holds zero bytes: no text")
    try:
        text = data.decode(coding or "utf-8")
    except UnicodeDecodeError:
        if coding is not None:
            raise UnreadableFile(f"it begins as {coding}, and is none") from None
        text, coding = data.decode("latin-1"), "latin-1"
    if not text.strip():
        raise UnreadableFile("it is empty")
    return text, "" if coding in (None, "utf-8-sig") else f"read as {coding}"


def of_cell(cell: str) -> str:
    """The text to grade of a kernel's cell. An empty line stands for the magic's, so that lines count as in the cell.

    Whatever name and topic the magic gives; a cell without it is all text.
    """
    head, magic, rest = cell.partition(MAGIC)
    if not magic or head.strip():
        return as_file(cell)
    return "\n" * head.count("\n") + as_file(rest.partition("\n")[2])


def foreign_include(text: str) -> tuple[int, str] | None:
    """The first line that brings in, or asks for, a file other than CUDA's headers and ours, and what it names; None:
    none does.

    To the compiler there are no others (see grader/emulator/nvrtc/compilation.py); here they are refused by name.
    Comments and strings are searched as well: a text that only looks like a directive is refused rather than one
    overlooked. An `#include` whose name comes from a macro is refused, too.
    """
    joined, seams = _joined(text.replace("\r\n", "\n").replace("\r", "\n"))
    closed = [sign.end() for sign in _CLOSING.finditer(joined)]
    directives = ((sign.start(), _after(joined, sign.end(), closed)) for sign in _HASH.finditer(joined))
    found = [(start, read.end()) for start, at in directives if (read := _READS.match(joined, at))]
    found += [(asks.start(), asks.end()) for asks in _ASKS.finditer(joined)]
    for start, end in sorted(found):
        at = _after(joined, end, closed)
        if joined[at : at + 1] == "(":
            at = _after(joined, at + 1, closed)
        header = _HEADER.match(joined, at)
        name = (header[1] or header[2]) if header else joined[at:].partition("\n")[0].strip()
        if header is None or not _is_ours(name):
            return joined.count("\n", 0, start) + bisect.bisect_right(seams, start) + 1, name
    return None


def _joined(text: str) -> tuple[str, list[int]]:
    """A text whose spliced lines are joined without a trace, and where in it that was."""
    parts = _SPLICE.split(text)
    return "".join(parts), list(itertools.accumulate(map(len, parts[:-1])))


def _after(text: str, at: int, closed: Sequence[int]) -> int:
    """The first place from `at` on that is neither blank nor in a comment; a line's end is neither. `closed` has the
    places behind each */ of the text."""
    while True:
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        ending = bisect.bisect_left(closed, at + 4)
        if not text.startswith("/*", at) or ending == len(closed):
            return at
        at = closed[ending]


def _is_ours(name: str) -> bool:
    """Whether a header lies in the folders that the compiler is given."""
    for folder in find_toolkit().includes:
        try:
            path = (folder / name).resolve()
            if path.is_relative_to(folder.resolve()) and path.is_file():
                return True
        except (OSError, ValueError):  # no name for a file
            return False
    return False
