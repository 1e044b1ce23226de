"""What the candidate sees of a session: what was said, asked and answered, and what is to be done now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.interview import credit
from grader.interview.card import Card
from grader.interview.loops.loop import Drawn, Stage
from grader.interview.room import Asked
from grader.interview.session import Code, Figure
from grader.results import Grade

HINT = "Hint"
"""The title of one, as the interviewer gives it."""

Form = Literal["talk", "line", "code", "rate", "go_on", "begin"]
"""What is to be done: prose, an answer in a line, a kernel, a rating, reading, the next part of a day."""


@dataclass(frozen=True)
class Said:
    """Something to read."""

    title: str
    text: str  # Markdown


@dataclass(frozen=True)
class Answered:
    """A question, and what was typed."""

    asked: str  # Markdown
    given: str
    prose: bool


@dataclass(frozen=True)
class Checked:
    """How points were answered."""

    title: str
    points: Sequence[credit.Point]


@dataclass(frozen=True)
class Figured:
    """Whether a number is right."""

    figure: Figure
    counted: Grade | None  # the version that it is about, whose counters may be seen from now on


@dataclass(frozen=True)
class Graded:
    """What the judge says of a version."""

    result: Grade
    rung: str  # that was asked for
    source: Sequence[str]  # its lines


@dataclass(frozen=True)
class Mended:
    """What the judge says of a change."""

    result: Grade
    said: str  # Markdown
    source: Sequence[str]  # its lines


@dataclass(frozen=True)
class Part:
    """A part of a day that is over."""

    stage: Stage
    card: Card


@dataclass(frozen=True)
class Plan:
    """A day, and how far each part has come."""

    drawn: Drawn
    parts: Sequence[tuple[Stage, Card | None]]


Entry = Said | Answered | Checked | Figured | Graded | Mended | Part | Plan


@dataclass(frozen=True)
class Placed:
    """An entry, and where in the session it came."""

    entry: Entry
    step: str  # of the last question before it
    heading: str  # its heading
    replies: int  # how many there had been


@dataclass(frozen=True)
class Open:
    """What is to be done now."""

    number: int  # an answer names it, so that one that comes too late is for no other question
    form: Form
    asked: Asked | None = None
    file: Path | None = None  # of a version that is written
    draft: Code | None = None  # what is known of it
    source: str = ""  # what is in the file
    answer: str = ""  # the model answer to rate by, in Markdown
    stage: Stage | None = None  # the part of a day that is about to begin
    typed: str = ""  # what the field has in it at first
    complaint: str = ""  # why what was typed is no answer

    @property
    def timed(self) -> bool:
        """Whether the clock runs."""
        return self.form in ("talk", "line", "code")


@dataclass(frozen=True)
class View:
    """A session at one moment."""

    version: int  # changes whenever anything else does
    entries: Sequence[Placed]
    open: Open | None  # None: the interviewer or the judge is at work
    working: str  # on what; "" where it is not the judge
    left_s: float | None  # None: no limit
    replies: int
    heading: str  # of the last question; "" before the first
    rated: int  # replies there had been when a model answer was last rated

    @property
    def given(self) -> list[Entry]:
        """What the question is about."""
        return [placed.entry for placed in self.entries if self._is_given(placed)]

    @property
    def came(self) -> list[Entry]:
        """What has come since the last reply; where code is written, the last verdict and the hint."""
        return [placed.entry for placed in self.entries if self._came(placed)]

    @property
    def said(self) -> list[Answered]:
        """What the candidate has said to the question whose model answer is to be rated by."""
        return [
            placed.entry
            for placed in self.entries
            if isinstance(placed.entry, Answered) and placed.entry.prose
            if placed.heading == self.heading and placed.replies > self.rated
        ]

    @property
    def earlier(self) -> list[Entry]:
        """The rest."""
        return [
            placed.entry for placed in self.entries if not self._is_given(placed) and not self._came(placed)
        ]

    def _is_given(self, placed: Placed) -> bool:
        asked = self.open.asked if self.open else None
        return asked is not None and isinstance(placed.entry, Said) and placed.entry.title == asked.heading

    def _came(self, placed: Placed) -> bool:
        entry, asked = placed.entry, self.open.asked if self.open else None
        if isinstance(entry, Answered) or self._is_given(placed):
            return False
        if placed.replies == self.replies:
            return True
        if self.open is None or self.open.form != "code" or asked is None or placed.step != asked.step:
            return False
        if isinstance(entry, Graded | Mended):
            return (
                entry is [each.entry for each in self.entries if isinstance(each.entry, Graded | Mended)][-1]
            )
        return isinstance(entry, Said) and entry.title == HINT
