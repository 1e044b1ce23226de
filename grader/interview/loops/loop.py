"""One day of interviews, kept in a folder: what was drawn, and a session for each part.

Whatever kills it, it goes on where it stood: which part is next follows from the sessions that are there.
"""

from __future__ import annotations

import datetime
import random
from dataclasses import dataclass
from itertools import count as from_number
from pathlib import Path
from typing import Literal

import msgspec

from grader.errors import WarpladderError
from grader.interview import session as sessions
from grader.interview.card import Card, verdict
from grader.interview.interviewer import Judge
from grader.interview.loops.library import Library, Planned, missing
from grader.interview.loops.plan import Style
from grader.interview.reading import Level
from grader.interview.session import Session
from grader.interview.sitting import Sitting

FILE = "loop.json"
Schema = Literal["warpladder/loop/1"]
SCHEMA: Schema = "warpladder/loop/1"


class Drawn(msgspec.Struct, frozen=True):
    """A day as it was drawn: nothing of it changes afterwards."""

    style: str
    title: str
    level: Level
    seed: int
    started: str  # UTC, ISO 8601
    parts: list[Planned]
    schema: Schema = SCHEMA


@dataclass(frozen=True)
class Stage:
    """A part, and how far it has come."""

    number: int  # from 1
    planned: Planned
    file: Path  # of its session
    kept: Session | None  # None: it was not begun

    @property
    def over(self) -> bool:
        return self.kept is not None and self.kept.over


def draw(style: Style, level: Level, seed: int, library: Library) -> Drawn:
    """A day of a style; raises WarpladderError where the workbook has nothing for it."""
    rng, taken = random.Random(f"{seed} {style.name} {level}"), set[str]()
    drawn = [library.draw(part, level, rng, taken) for part in style.day(level)]
    parts = [part for part in drawn if part is not None]
    if not parts:
        raise WarpladderError("the workbook has nothing to ask in this style", file=style.file)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Drawn(style.name, style.title, level, seed, now, parts)


class Loop:
    """A day in its folder."""

    def __init__(self, folder: Path, library: Library) -> None:
        """Raises WarpladderError where the folder holds no day, or one of another version."""
        self.folder = folder
        self.library = library
        self.drawn = _load(folder / FILE)
        if (problem := missing(library, self.drawn.parts)) is not None:
            raise WarpladderError(problem.message, file=folder / FILE, remedy="begin a new day: ladder loop")

    @classmethod
    def begin(cls, folder: Path, drawn: Drawn, library: Library) -> Loop:
        """A day in a folder that is made for it; raises WarpladderError."""
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise WarpladderError(f"it cannot be written: {error.strerror}", file=folder) from None
        sessions.save(drawn, folder / FILE)
        return cls(folder, library)

    def stages(self) -> list[Stage]:
        """All parts, as their sessions stand."""
        found = []
        for number, planned in enumerate(self.drawn.parts, 1):
            file = self.folder / f"{number}-{planned.format}.json"
            found.append(Stage(number, planned, file, sessions.load(file) if file.is_file() else None))
        return found

    def sitting(self, stage: Stage, judge: Judge) -> Sitting:
        """A part, begun or gone on with."""
        kept = stage.kept or self.library.begin(stage.planned, stage.file, self.drawn.seed)
        return self.library.sitting(kept, stage.file, judge)

    def broken_off(self) -> list[tuple[Session, Card]]:
        """Sessions that were begun and are not over, with their cards as they stand."""
        return [
            (stage.kept, card)
            for stage, card in self.cards()
            if stage.kept is not None and card is not None and not stage.over
        ]

    def cards(self) -> list[tuple[Stage, Card | None]]:
        """Each part with its card; None where it was not begun."""
        return [
            (stage, None if stage.kept is None else self.library.card(stage.kept)) for stage in self.stages()
        ]


def free_folder(folder: Path = Path()) -> Path:
    """A folder below another for a new day."""
    return next(path for number in from_number(1) if not (path := folder / f"loop-{number}").exists())


def share(cards: list[tuple[Stage, Card | None]]) -> float:
    """What was earned of the day, from 0 to 1: a part counts by its minutes, and one that was not begun as nothing."""
    whole = sum(stage.planned.minutes for stage, _ in cards)
    earned = sum(stage.planned.minutes * card.percent / 100 for stage, card in cards if card is not None)
    return earned / whole


def verdict_of(cards: list[tuple[Stage, Card | None]]) -> str:
    """What the interviewers would agree on, by the rubric of the cards."""
    return verdict(share(cards))


def _load(path: Path) -> Drawn:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Drawn)
    except OSError as error:
        remedy = "--resume takes the folder that `ladder loop` named"
        raise WarpladderError(f"it cannot be read: {error.strerror}", file=path, remedy=remedy) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WarpladderError(f"this is no day of interviews: {error}", file=path) from None
