"""What notebooks show: the terminal's views as HTML where there is a browser, as text where there is none."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Group, RenderableType
from rich.terminal_theme import TerminalTheme

from grader.report.terminal import terminal

WIDTH = 96  # columns; what an output cell of JupyterLab holds

_HTML = (
    '<pre style="margin:.3em 0 .3em .5em;line-height:1.3;white-space:pre;overflow-x:auto;color:inherit;background:none;'
    "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\">{code}</pre>"
)


# Readable on a light page and on a dark one: each colour lies half way between, as far as contrast goes.
_GREY = (118, 118, 118)
_THEME = TerminalTheme(
    background=_GREY,
    foreground=_GREY,
    #       black  red            green         yellow        blue           magenta        cyan          white
    normal=[
        _GREY,
        (212, 43, 43),
        (26, 132, 60),
        (148, 108, 0),
        (48, 108, 220),
        (160, 72, 190),
        (0, 125, 140),
        _GREY,
    ],
)


class Shown:
    """Something to see, as the value of a cell: HTML in a notebook, text in a terminal."""

    def __init__(self, *parts: RenderableType) -> None:
        self._view = Group(*parts)

    def _repr_html_(self) -> str:
        return as_html(self._view)

    def __repr__(self) -> str:
        return as_text(self._view)


def stacked(*parts: RenderableType) -> RenderableType:
    """Views below one another."""
    return Group(*parts)


def as_html(view: RenderableType) -> str:
    """A view of `grader.report` as one HTML element, with its colours."""
    console = terminal(record=True, file=io.StringIO(), width=WIDTH, highlight=False, force_jupyter=False)
    console.print(view, crop=False)
    return console.export_html(theme=_THEME, inline_styles=True, code_format=_HTML).replace(
        "\n</pre>", "</pre>"
    )


def as_text(view: RenderableType) -> str:
    """A view as plain text."""
    console = terminal(
        file=io.StringIO(), width=WIDTH, highlight=False, force_jupyter=False, color_system=None
    )
    console.print(view, crop=False)
    file: Any = console.file
    return str(file.getvalue()).rstrip("\n")


def display(*parts: RenderableType) -> None:
    """Show something at once, among a cell's outputs."""
    from IPython.display import display as show_it

    show_it(Shown(*parts))
