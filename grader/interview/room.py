"""What the interviewer and the candidate meet through: questions as they are shown, and what shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from grader.interview import credit
from grader.interview.session import Code, Figure
from grader.judge.runners.pool import Progress
from grader.results import Grade

Action = Literal["grade", "hint", "skip"]


@dataclass(frozen=True)
class Asked:
    """One question, as the candidate sees it."""

    step: str  # such as "02_shared_tile.limits" or "occupancy.2.probe"
    heading: str  # such as "Version 3 of 5: what limits it?"
    text: str  # Markdown
    left_s: float | None  # None: no limit
    wanted: str = ""  # of an answer in a line: what is to be typed
    options: tuple[str, ...] = ()  # Markdown; called a, b, c …
    code: tuple[str, ...] = ()  # lines, counted from 1
    ordered: bool = False  # all options are wanted, in an order
    back: bool = False  # the question before may be answered again
    begun: str = ""  # what was typed before: of an answer that was broken off, or that was gone back to
    keep: Callable[[str], None] = field(default=lambda text: None, compare=False, repr=False)
    """Writes down what is typed so far, on the thread that was asked; who shows the question may call it."""


class Back(Exception):
    """The candidate wants the question before this one again."""


class Frontend(Protocol):
    """What shows questions to the candidate and reads answers. KeyboardInterrupt and EOFError break the session off.

    An answer may be `?`, `skip` or, where it is `asked` so, `back`.
    """

    def say(self, text: str, title: str = "") -> None:
        """Something to read, in Markdown, that asks nothing."""

    def talk(self, asked: Asked) -> str:
        """Free text; "" for no answer."""

    def begun(self) -> str:
        """The lines of an answer in prose that has just been broken off; "" for none."""

    def line(self, asked: Asked) -> str:
        """An answer in a line, as typed; "" for none."""

    def unreadable(self, complaint: str) -> None:
        """What was typed is no answer: `line` is asked again."""

    def checked(self, title: str, points: Sequence[credit.Point]) -> None:
        """Show how the probe of each point was answered, and what is right."""

    def figured(self, figure: Figure) -> None:
        """Show whether a number is right."""

    def code(self, asked: Asked, file: Path, draft: Code) -> Action:
        """Wait until the candidate has written a version into `file`, wants a hint, or goes on without."""

    def grading(self, file: Path) -> AbstractContextManager[Progress]:
        """While the judge works: what it calls with what it does."""

    def graded(self, result: Grade, rung: str) -> None:
        """Show what the judge says; `rung` was asked for."""

    def mended(self, result: Grade, said: str) -> None:
        """Show what the judge says of a change: `said`, Markdown, and what it saw."""

    def rate(self, answer: str, said: str) -> float | None:
        """Show a model answer beside what was said; how much of it that was, as the candidate rates it: 0, 0.5 or 1.

        None: not rated.
        """

    def time_is_up(self) -> None:
        """Say so."""
