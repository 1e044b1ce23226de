"""The consoles on which everything is shown that strangers wrote: quoted source, output of kernels, exceptions, names.

Whatever a console shows goes through `visible` once it is text, wherever it came from. What moves the cursor, and
colours, are rich's own. No line ends in blanks. Lines are not broken between a number and its unit, where the text went
through `unbroken`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.measure import Measurement
from rich.segment import Segment

from grader.visible import visible

JOINT = "\ue000"
"""Stands for a space at which no line is broken until all lines are: rich breaks at every space that there is."""

_UNIT = (
    r"%|(?:[kKMGTPE]i?)?(?:B|bits?|FLOPS?|FLOP|OPS?|b)(?:/\w+)?|[numµ]?s|min|h|[kMG]?Hz|[mk]?[JWV]|Wh|°C"
    r"|bytes?|floats?|thousand|million|billion"
)
_JOINED = re.compile(
    rf"(?<=\d) (?=(?:{_UNIT})(?![\w/]))|(?<=\d) (?=[×·] \d)|(?<=\d [×·]) (?=\d)|(?<=\w) (?== \S)|(?<=\w =) (?=\S)"
)


def unbroken(text: str) -> str:
    """The text, of which no line ends between a number and its unit, within a product, or between a name and what
    it is: 25 GB/s, 11 × 11, M = 1024."""
    return _JOINED.sub(JOINT, text)


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
        yield from _without_trailing_blanks(self._visible(console, options))

    def _visible(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self._view, options):
            shown = segment.text.replace(JOINT, " ")
            yield segment if segment.control else Segment(visible(shown), segment.style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._view)


def _without_trailing_blanks(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Rich fills lines up to a width. Blanks wait until something follows on their line."""
    waiting: list[Segment] = []
    for segment in segments:
        if segment.control:
            yield segment
            continue
        *lines, rest = segment.text.split("\n")
        for line, end in (*((line, "\n") for line in lines), (rest, "")):
            text = line.rstrip(" ")
            if text:
                yield from waiting
            if text or end:
                waiting = []
                yield Segment(text + end, segment.style)
            if len(line) > len(text) and not end:
                waiting.append(Segment(line[len(text) :], segment.style))
    yield from waiting
