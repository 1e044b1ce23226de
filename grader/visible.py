"""Text that is shown and not obeyed: what strangers wrote may hold characters that a terminal takes for orders.

What consoles show (grader/report/terminal.py) and the values of pages go through `visible`. Whatever else is printed,
such as errors of the command line, tracebacks and what scripts print, goes through the streams that
`show_visible_text_alone` puts in place of Python's.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from typing import Any, TextIO

_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters but for the ends of lines and tabs; what changes the direction of writing; halves of characters;
tags."""


def visible(text: str) -> str:
    """The text with what a terminal would obey, or not show, written as in Python's strings."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def visible_json(data: bytes) -> bytes:
    """The same JSON, with those characters of its strings as JSON's own escapes."""
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], data.decode()).encode()


def show_visible_text_alone() -> None:
    """From now on standard output and standard error take nothing else as text, whoever writes it."""
    sys.stdout, sys.stderr = VisibleText(sys.stdout), VisibleText(sys.stderr)


class VisibleText:
    """A stream whose text is visible; its bytes and all else are those of the stream beneath."""

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    def write(self, text: str) -> int:
        """Write it; every character counts as one."""
        self.beneath.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beneath, name)
