"""What is kept of a session: each event that came, and what it was answered by then.

A session is what its events make of it: whoever sends them again to the same questions has the same session.
"""

from __future__ import annotations

import datetime
import os
from dataclasses import dataclass
from itertools import count as from_number
from pathlib import Path
from typing import Literal

import msgspec

from grader.errors import WarpladderError
from grader.results import Grade

KEPT_AS = "warpladder/session/"
SCHEMA = f"{KEPT_AS}5"
BEFORE = f"{KEPT_AS}4"
"""Kept answers and no events: what is over is read, the rest cannot be gone on with."""
SEEDS = 10_000
"""Seeds that are drawn are below this: short enough to type."""

GRACE_S = 60.0
"""What is finished so soon after the time still counts: nobody is cut off in a sentence."""


class KeyPoint(msgspec.Struct, frozen=True):
    """What an answer has to say."""

    weight: int
    text: str


class Talk(msgspec.Struct, frozen=True, tag="talk"):
    """An answer in prose. It earns nothing: its points are worth what their probes show."""

    step: str
    asked: str
    text: str
    points: list[KeyPoint]
    seconds: float
    late: bool = False
    skipped: bool = False  # the candidate passed: there are no probes
    rated: float | None = None  # how much of the model answer the candidate claims to have said: 0, 0.5 or 1


class Probed(msgspec.Struct, frozen=True, tag="probe"):
    """The answer to a probe."""

    step: str
    item: str  # what it checks, the same in every session: occupancy/limiters
    asked: str
    options: list[str]
    code: list[str]
    unit: str
    given: str  # as typed; "" for no answer
    answer: str  # as a candidate would type it
    right: bool
    chance: float  # how probable it is that a guess is right
    explain: str
    seconds: float
    late: bool = False


class Figure(msgspec.Struct, frozen=True, tag="number"):
    """A number, and the one that was computed or counted."""

    step: str
    asked: str
    unit: str
    given: str  # as typed; "" for no answer
    value: float | None  # what was read of it
    answer: float | None  # null: not known yet, it is counted when the kernel has been written
    right: bool | None  # null as long as the answer is not known
    explain: str
    counted_on: Literal["own", "workbook", ""]  # the kernel whose counters gave the answer; "": computed
    seconds: float
    late: bool = False

    @property
    def share(self) -> float:
        """1 if right, else 0."""
        return float(self.right is True and not self.late)


class Code(msgspec.Struct, frozen=True, tag="code"):
    """A version that the candidate wrote, as the judge saw it last."""

    step: str
    asked: str
    topic: str
    rung: str  # asked for
    source: str  # of the last version that was graded; "" where none was
    verdict: str | None  # null: the candidate went on without code
    reason: str | None
    rung_reached: str | None
    share: float  # of the points that the claims up to the asked rung are worth
    attempts: int
    hint: bool  # was one asked for
    counters: dict[str, int] | None
    facts: dict[str, float] | None
    seconds: float
    late: bool = False
    file: str = ""  # that it was written in


class Rated(msgspec.Struct, frozen=True, tag="follow_up"):
    """A follow-up question, whose answer the candidate compared with the model answer."""

    step: str
    asked: str
    text: str
    answer: str
    self_scored: float | None  # 0, 0.5 or 1; null: not rated
    seconds: float
    late: bool = False


Answer = Talk | Probed | Figure | Code | Rated

Do = Literal["send", "clarify", "skip", "back", "grade", "hint", "yes", "partly", "no", "pass", "go"]
"""What a candidate may do. Buttons of the page have these names."""


class Reply(msgspec.Struct, frozen=True, tag="reply"):
    """What the candidate did, where something was asked."""

    step: str  # of the prompt
    do: Do = "send"
    typed: str = ""  # of a version that is to be graded, its source
    about: str = ""  # a digest of what was asked
    seconds: float = 0.0  # of the candidate's time


class Graded(msgspec.Struct, frozen=True, tag="graded"):
    """What the judge said of a version."""

    step: str
    grade: Grade


class Counted(msgspec.Struct, frozen=True, tag="counted"):
    """What the emulator counted, or the model said, of kernels of the workbook."""

    step: str
    values: dict[str, int | float]


Event = Reply | Graded | Counted

Kind = Literal["interview", "quiz", "review", "diagnose", "estimate", "read", "design", "today"]
"""Sessions: coding rounds, questions of the bank, the formats of drills, and what is due in a day."""


class _Versioned(msgspec.Struct):
    """What the files of all versions have."""

    schema: str
    over: bool = False


class Begun(msgspec.Struct, frozen=True):
    """An answer that was broken off, or is given once more."""

    step: str
    text: str
    seconds: float = 0.0  # of the candidate's time, so far


class Session(msgspec.Struct):
    """An interview or a quiz."""

    kind: Kind
    title: str
    topic: str  # "" for a quiz
    questions: list[str]  # names of what is asked in a quiz; of an interview, its topic
    minutes: float  # 0: no limit
    started: str  # UTC, ISO 8601
    seed: int  # of the drawn parameters
    kernel_file: str  # what the candidate writes; "" for a quiz without kernels
    kernels: bool = False  # a quiz asks for kernels as well
    events: list[Event] = msgspec.field(default_factory=list)  # all that came, in order
    begun: Begun | None = None  # the answer that is being typed
    answers: list[Answer] = msgspec.field(default_factory=list)  # that the events come to
    elapsed_s: float = 0.0  # of the candidate's time, up to the last event
    over: bool = False
    schema: str = SCHEMA

    def answer(self, step: str) -> Answer | None:
        """What was answered at a step; None: nothing yet."""
        return next((item for item in self.answers if item.step == step), None)

    def replace(self, answer: Answer) -> None:
        """Put an answer in the place of the one at the same step."""
        self.answers = [answer if item.step == answer.step else item for item in self.answers]


def begin(
    kind: Kind,
    title: str,
    questions: list[str],
    seed: int,
    minutes: float = 0,
    topic: str = "",
    kernel_file: str = "",
    kernels: bool = False,
) -> Session:
    """A session in which nothing has been asked yet; the arguments are its fields."""
    return Session(
        kind=kind,
        title=title,
        topic=topic,
        questions=questions,
        minutes=minutes,
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        seed=seed,
        kernel_file=kernel_file,
        kernels=kernels,
    )


def save(kept: msgspec.Struct, path: Path) -> None:
    """Write a session, or what is kept beside one; a crash in the middle leaves the file of before.

    Raises WarpladderError.
    """
    data = msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n"
    beside = path.with_name(path.name + ".new")
    try:
        beside.write_bytes(data)
        os.replace(beside, path)
    except OSError as error:
        raise WarpladderError(f"it cannot be written: {error.strerror}", file=path) from None


def stamp(path: Path) -> tuple[int, int] | None:
    """What changes whenever a session's file is written; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def free_file(name: str, folder: Path = Path()) -> Path:
    """A file of a folder for a new session: nothing is written over, nor what is named after another session."""
    for number in from_number(1):
        path = folder / f"{name}-{number}.json"
        if not list(folder.glob(f"{path.stem}.*")):
            return path
    raise AssertionError


def resumed(path: Path, kind: Kind) -> Session:
    """A session of that kind from its file, to be gone on with; raises WarpladderError for another."""
    session = load(path)
    if session.kind != kind:
        remedy = f"go on with it by `ladder {session.kind}`"
        raise WarpladderError(f"this was kept by `ladder {session.kind}`", file=path, remedy=remedy)
    return session


def load(path: Path) -> Session:
    """A session from its file; raises WarpladderError."""
    try:
        data = path.read_bytes()
        _check_version(data, path)
        session = msgspec.json.decode(data, type=Session)
    except OSError as error:
        raise WarpladderError(f"it cannot be read: {error.strerror}", file=path) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WarpladderError(f"this is no session: {error}", file=path) from None
    return session


def _check_version(data: bytes, path: Path) -> None:
    """Raise WarpladderError for a session of another version, whatever else is in its file."""
    found = msgspec.json.decode(data, type=_Versioned)
    schema = found.schema
    if not schema.startswith(KEPT_AS):
        raise WarpladderError(f"this is no session: it is a {schema}", file=path)
    if schema != SCHEMA and not (schema == BEFORE and found.over):
        message = (
            f"this session was kept by another version of the workbook, as {schema}, and cannot be continued"
        )
        remedy = "begin a new session; what was checked in this one is kept: see `ladder progress`"
        raise WarpladderError(message, file=path, remedy=remedy)


@dataclass
class Clock:
    """The candidate's time: what the events so far have taken of it."""

    minutes: float  # 0: no limit
    elapsed_s: float = 0.0

    @property
    def left_s(self) -> float | None:
        """Seconds left, below 0 when time is up; None without a limit."""
        return 60 * self.minutes - self.elapsed_s if self.minutes else None

    @property
    def up(self) -> bool:
        """Whether nothing new is asked."""
        return self.left_s is not None and self.left_s <= 0

    @property
    def late(self) -> bool:
        """Whether what is finished now comes too late to count."""
        return self.left_s is not None and self.left_s < -GRACE_S
