"""What an interviewer and a candidate exchange: prompts, and what is to be read between them.

An interviewer is a generator: it yields what it waits for, is sent the event that answers, and reads and writes
nothing besides. A terminal, a page or a test drives it, each in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeVar

from grader.interview import credit
from grader.interview.session import Code, Do, Event, Figure
from grader.judge.runners.pool import Progress
from grader.results import Grade

HINT = "Hint"
"""The title of one."""

Form = Literal["talk", "line", "code", "rate", "go_on"]
"""What is to be done: prose, an answer in a line, a kernel, a rating of one's own prose, reading."""

FITTING: dict[Form, tuple[Do, ...]] = {
    "talk": ("send", "clarify", "skip", "back"),
    "line": ("send", "clarify", "skip", "back"),
    "code": ("grade", "hint", "skip"),
    "rate": ("yes", "partly", "no", "pass"),
    "go_on": ("go",),
}
"""What may be done of it."""


@dataclass(frozen=True)
class Prompt:
    """Something that the candidate has to do. Texts are Markdown."""

    step: str  # such as "02_shared_tile.limits" or "occupancy.2.probe"
    form: Form
    heading: str = ""  # such as "Version 3 of 5: what limits it?"
    text: str = ""  # what is asked
    left_s: float | None = None  # None: no limit
    wanted: str = ""  # of an answer in a line: what is to be typed
    options: tuple[str, ...] = ()  # called a, b, c …
    code: tuple[str, ...] = ()  # lines, counted from 1
    ordered: bool = False  # all options are wanted, in an order
    back: bool = False  # the question before may be answered again
    typed: str = ""  # before: of an answer that was broken off, could not be read, or is given once more
    complaint: str = ""  # why that is no answer
    file: Path = Path()  # in which a version is written
    starter: str = ""  # what lies there at first
    draft: Code | None = None  # what is known of that version
    answer: str = ""  # the model answer to rate by
    said: str = ""  # what is rated

    @property
    def about(self) -> str:
        """A digest of what is asked: an answer is to no other question."""
        asked = "\0".join((self.text, *self.options, *self.code))
        return sha256(asked.encode()).hexdigest()[:16] if self.form in ("talk", "line") else ""

    @property
    def timed(self) -> bool:
        """Whether it takes the candidate's time."""
        return self.form in ("talk", "line", "code")


@dataclass(frozen=True)
class Work:
    """Something that the judge has to do; its event answers."""

    step: str
    file: Path | None  # that is graded; None: something of the workbook's is counted
    do: Callable[[Progress], Event]


# ---- to be read ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """Something to read."""

    title: str
    text: str  # Markdown


@dataclass(frozen=True)
class Given:
    """What the questions after it are about, up to the next of its kind."""

    title: str
    text: str  # Markdown


@dataclass(frozen=True)
class Answered:
    """A question, and what was typed."""

    asked: str  # Markdown
    given: str


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
class Judged:
    """What the judge says of a version of a ladder."""

    result: Grade
    rung: str  # that was asked for
    source: Sequence[str]  # its lines


@dataclass(frozen=True)
class Mended:
    """What the judge says of a change."""

    result: Grade
    said: str  # Markdown
    source: Sequence[str]  # its lines


Entry = Said | Given | Answered | Checked | Figured | Judged | Mended


@dataclass(frozen=True)
class Placed:
    """An entry of the transcript, and where in the session it came."""

    entry: Entry
    step: str  # of the last question before it
    replies: int  # how many there had been


T = TypeVar("T")

Flow = Generator[Prompt | Work, Event, T]
"""What an interviewer's methods are: they end with a result."""
