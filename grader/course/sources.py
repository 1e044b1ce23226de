"""A learner's source: the text of a file that was handed in, and of a notebook's cell."""

from __future__ import annotations

import codecs
import itertools

from grader.lab.cells import MAGIC, as_file
from grader.workbook.source_file import as_read

_WRAPPERS = ("%%time", "%%timeit", "%%capture")
"""IPython's magics that run the cell below their line."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte-order marks, the longer of two that begin alike first, and how to read what follows."""

EMPTY = "it is empty"


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
        raise UnreadableFile(EMPTY)
    return as_read(text), "" if coding in (None, "utf-8-sig") else f"read as {coding}"


def of_cell(cell: str) -> str:
    """The text to grade of a kernel's cell. An empty line stands for the magic's, so that lines count as in the cell.

    Whatever name and topic the magic gives; a cell without it is all text.
    """
    cell = as_read(cell)
    inner = without_wrappers(cell)
    if not inner.startswith(MAGIC):
        return as_file(cell)
    return "\n" * cell.removesuffix(inner).count("\n") + as_file(inner.partition("\n")[2])


def without_wrappers(cell: str) -> str:
    """A cell without the empty lines and the magics above it that run what follows, as `%%time` does."""
    lines = cell.splitlines(keepends=True)
    wraps = itertools.takewhile(lambda line: not line.strip() or line.split()[0] in _WRAPPERS, lines)
    return "".join(lines[len(list(wraps)) :])
