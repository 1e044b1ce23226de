"""The consoles on which everything is shown that strangers wrote: quoted source, output of kernels, exceptions, names.

Whatever a console shows goes through `visible` once it is text, wherever it came from. What moves the cursor, and
colours, are rich's own.
"""

from __future__ import annotations

import sys
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.measure import Measurement
from rich.segment import Segment

from grader.visible import visible


def terminal(*, stderr: bool = False, file: TextIO | None = None, **options: Any) -> Console:
    """A console that shows nothing but visible text. Its colours are its own, and pass by a stream of visible text."""
    stream = file or (sys.stderr if stderr else sys.stdout)
    console = Console(file=getattr(stream, "beneath", stream), **options)
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
