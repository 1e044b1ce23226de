"""A change of a source that may mend it, and the lines that changes are looked for in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.workbook.cuda_source import plain

_LONGEST = 500  # characters of a line that are looked at: bounds the work that a stranger's text can ask for

Change = tuple[int, int, str]


@dataclass(frozen=True)
class Edit:
    """A change of a source."""

    said: str
    """What comes between "With" and "it comes out right"."""
    line: int
    """The one that it is about, mostly the first that it changes."""
    changes: tuple[Change, ...]
    """Where each begins and ends in the text, and what stands there then; in order."""
    why: str = ""
    """A sentence on the mistake."""

    def applied(self, source: str) -> str:
        """The changed source."""
        for start, end, text in reversed(self.changes):
            source = source[:start] + text + source[end:]
        return source


@dataclass(frozen=True)
class Line:
    """A line of a text."""

    number: int
    start: int  # in the text
    text: str  # without comments


def lines_of(source: str) -> Iterator[Line]:
    """The lines of a source, without its comments."""
    start = 0
    for number, text in enumerate(plain(source).split("\n"), 1):
        yield Line(number, start, text[:_LONGEST])
        start += len(text) + 1


def in_place(line: Line, found: re.Match[str], group: str | int, new: str, why: str = "") -> Edit:
    """Another text in place of a group that was found in a line."""
    change = (line.start + found.start(group), line.start + found.end(group), new)
    return Edit(f"`{new}` in place of `{found[group]}` in line {line.number}", line.number, (change,), why)
