"""Where everything is shown that strangers wrote: quoted source, output of kernels, exceptions, names of files.

A terminal obeys what is printed to it. So whatever a console shows goes through `visible` once it is text, wherever it
came from, and so do the values of pages.
"""

from __future__ import annotations

import re
from typing import Any

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.measure import Measurement
from rich.segment import Segment

_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters but for the ends of lines and tabs; what changes the direction of writing; halves of characters;
tags."""


def visible(text: str) -> str:
    """The text with what a terminal would obey, or not show, written as in Python's strings."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def terminal(**options: Any) -> Console:
    """A console that shows nothing but visible text."""
    console = Console(**options)
    console.push_render_hook(_Hook())
    return console


class _Hook(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Shown(each) for each in renderables]


class _Shown:
    """A view whose text is visible. What moves the cursor is rich's own, and kept apart from text."""

    def __init__(self, view: ConsoleRenderable) -> None:
        self._view = view

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._view, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._view)
