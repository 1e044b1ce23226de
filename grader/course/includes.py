"""What a source may bring in when others grade it: CUDA's headers, and ours."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Sequence

from grader.emulator.nvrtc.compilation import find_toolkit

_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t\f\v]*\n")
_HASH = re.compile(r"#|%:|\?\?=")
_READS = re.compile(r"(?:include_next|include|import|embed)\b")
_ASKS = re.compile(r"__has_(?:include_next|include|embed)\b")
_CLOSING = re.compile(r"\*/")
_BLANK = re.compile(r"[^\S\n]*")
_HEADER = re.compile(r"<([^>\n]+)>|\"([^\"\n]+)\"")


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
