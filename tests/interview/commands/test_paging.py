"""What is higher than the screen is paged where a person reads it, and nowhere else."""

from __future__ import annotations

import io
import pydoc
import sys

import pytest

from grader.interview.commands.frontend import Terminal
from grader.report.terminal import terminal

LONG, SHORT = "\n\n".join(f"Line {number}." for number in range(40)), "A line."


class Screen(io.StringIO):
    """What a terminal shows, or a file that is written to."""

    def __init__(self, person: bool) -> None:
        super().__init__()
        self._person = person

    def isatty(self) -> bool:
        return self._person


@pytest.mark.parametrize(
    ("text", "person", "on_stdout", "paged"),
    [
        (LONG, True, True, 1),
        (SHORT, True, True, 0),  # it fits
        (LONG, False, True, 0),  # nobody is there to turn pages
        (LONG, True, False, 0),  # standard output is for JSON alone
    ],
)
def test_a_page_that_is_higher_than_the_screen(
    text: str, person: bool, on_stdout: bool, paged: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen, pages = Screen(person), list[str]()
    monkeypatch.setattr(sys, "stdout", screen if on_stdout else Screen(person))
    monkeypatch.setattr(sys, "stdin", Screen(person))
    monkeypatch.setattr(pydoc, "pager", pages.append)
    console = terminal(file=screen, width=80, height=24, color_system=None)
    Terminal(console, {}).say(text, "A page")
    assert len(pages) == paged
    assert all("Line 0." in page and "Line 39." in page and "q goes on" in page for page in pages)
    shown = screen.getvalue()
    assert shown.count("A page") == 1  # and it stays where one can scroll back to it
    assert "q goes on" not in shown
