"""What is sat in the room: a session, a day of interviews, or what is due today; begun anew or gone on with."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Protocol

from grader.errors import WarpladderError
from grader.history import store as histories
from grader.history.outcomes import Outcome, Sitting
from grader.history.schedule import ITEMS_A_DAY, Schedule
from grader.history.store import Store
from grader.interview import conversation, quiz
from grader.interview import session as sessions
from grader.interview.card import Card
from grader.interview.drills import drilling
from grader.interview.interviewer import BrokenOff, Judge
from grader.interview.loops import loop, plan
from grader.interview.loops.library import Library, Planned, missing
from grader.interview.loops.loop import Loop, Stage
from grader.interview.practice import recall, recording
from grader.interview.practice.fresh import fresh_seed, items_of_drills, items_of_quiz
from grader.interview.reading import known_level
from grader.interview.session import Session
from grader.room.candidate import Candidate
from grader.room.transcript import Open, Part, Plan
from grader.workbook import units


@dataclass(frozen=True)
class Ended:
    """How a sitting went."""

    title: str
    over: bool  # False: the candidate left
    kept: Path  # where it is kept
    cards: tuple[Card, ...] = ()
    day: Plan | None = None
    before: Sitting | None = None  # the session of its kind before it
    today: tuple[Sitting, ...] = ()  # this one, beside `before`
    items: tuple[Outcome, ...] = ()  # of what is due today
    tomorrow: int = 0  # so many are due then
    complaint: WarpladderError | None = None  # the history could not be written


class Sat(Protocol):
    """What can be sat."""

    @property
    def title(self) -> str: ...

    def sit(self, candidate: Candidate, judge: Judge) -> Ended:
        """From the first question that is left to the last. Raises WarpladderError."""


@dataclass(frozen=True)
class Single:
    """A session."""

    library: Library
    kept: Session
    path: Path

    @property
    def title(self) -> str:
        return self.kept.title

    def sit(self, candidate: Candidate, judge: Judge) -> Ended:
        with suppress(BrokenOff):
            self.library.ask(self.kept, self.path, candidate, judge)
        card, before, complaint = self.library.card(self.kept), None, None
        try:
            before = recording.remember(self.kept, card, self.library.catalogue.items)
        except WarpladderError as error:  # which costs no card
            complaint = error
        own = (recording.sitting(self.kept, card),)
        shown = (card,) if card.over else ()  # else it would tell what is still to be asked
        return Ended(self.title, card.over, self.path, shown, None, before, own, complaint=complaint)


@dataclass(frozen=True)
class Day:
    """A day of interviews."""

    day: Loop

    @property
    def title(self) -> str:
        return f"{self.day.drawn.title}, {self.day.drawn.level}"

    def sit(self, candidate: Candidate, judge: Judge) -> Ended:
        complaint: WarpladderError | None = None

        def remember(kept: Session, card: Card) -> None:
            nonlocal complaint
            try:
                recording.remember(kept, card, self.day.library.catalogue.items)
            except WarpladderError as error:
                complaint = error

        def ready(stage: Stage) -> None:
            candidate.show(Plan(self.day.drawn, self.day.cards()))
            candidate.wait_for(Open(0, "begin", stage=stage))

        def done(stage: Stage, kept: Session, card: Card) -> None:
            candidate.show(Part(stage, card))
            remember(kept, card)

        try:
            self.day.run(candidate, judge, ready, done)
        except (BrokenOff, KeyboardInterrupt, EOFError):
            for kept, card in self.day.broken_off():
                remember(kept, card)
        parts = self.day.cards()
        over = all(stage.over for stage, _ in parts)
        cards = tuple(card for _, card in parts if card is not None and card.over)
        return Ended(
            self.title, over, self.day.folder, cards, Plan(self.day.drawn, parts), complaint=complaint
        )


@dataclass(frozen=True)
class Today:
    """What is due today, and a few new questions."""

    library: Library
    kept: Session
    path: Path
    title: str = "Today"

    def sit(self, candidate: Candidate, judge: Judge) -> Ended:
        with suppress(BrokenOff):
            recall.Recall(self.library.catalogue.askable, self.kept, self.path, candidate).run()
        with Store() as store:
            found = recording.remember_day(self.kept, self.library.catalogue.items, store)
            tomorrow = Schedule(store.outcomes()).due(datetime.now().astimezone() + timedelta(days=1))
        if self.kept.over:
            self.path.unlink()
        return Ended(self.title, self.kept.over, self.path, items=tuple(found), tomorrow=len(tomorrow))


# ---- begun ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wanted:
    """What was chosen on the first page, as its form has it; "" where nothing was."""

    what: str  # quiz, interview, today, loop, or a format of drills
    topic: str = ""
    level: str = ""
    style: str = ""
    count: int = 0  # 0: the usual


QUESTIONS = 3
"""Of a quiz, where nothing else is chosen."""


def begin(wanted: Wanted, library: Library, folder: Path) -> Sat:
    """A new sitting, whose file or folder comes to lie in `folder`. Raises WarpladderError."""
    seed, level = secrets.randbelow(sessions.SEEDS), known_level(wanted.level) if wanted.level else None
    topic = wanted.topic or None
    if topic is not None and topic not in library.topics:
        raise WarpladderError(f"there is no topic `{topic}`")
    if wanted.what == "today":
        return _today(library, topic, wanted.count or ITEMS_A_DAY, seed)
    if wanted.what == "loop":
        style = plan.find(plan.discover(), wanted.style)
        day = partial(loop.draw, style, level or "senior", library=library)
        seed = fresh_seed(lambda each: library.items(day(each).parts, each))
        return Day(Loop.begin(loop.free_folder(folder), day(seed), library))
    if wanted.what == "quiz":
        bank = {name: each for name, each in library.questions.items() if level in (None, each.level)}
        choose = partial(quiz.choose, bank, (), topic, count=wanted.count or QUESTIONS)
        seed = fresh_seed(lambda each: items_of_quiz(choose(seed=each), each))
        return Single(library, quiz.begin(choose(seed=seed), seed), sessions.free_file("quiz", folder))
    if wanted.what == "interview":
        if topic is None or topic not in library.interviews:
            raise WarpladderError("there is no such interview", remedy="choose one of the list")
        path = sessions.free_file(f"interview-{topic}", folder)
        file = path.with_suffix(library.topics[topic].suffix)
        return Single(library, conversation.begin(library.interviews[topic], file, seed), path)
    if wanted.what not in library.formats:
        raise WarpladderError(f"there is no `{wanted.what}`", remedy="choose one of the page")
    what, drills = library.formats[wanted.what], library.drills[wanted.what]
    some = partial(drilling.choose, drills, (), what, level, topic, count=wanted.count or what.count)
    seed = fresh_seed(lambda each: items_of_drills(what.name, some(seed=each)))
    return Single(library, drilling.begin(what, some(seed=seed), seed), sessions.free_file(what.name, folder))


def _today(library: Library, topic: str | None, count: int, seed: int) -> Today:
    catalogue, path = library.catalogue, histories.folder() / "today.json"
    if (kept := recall.unfinished(path, catalogue.askable)) is not None:
        return Today(library, kept, path)
    with Store() as store:
        now = datetime.now().astimezone()
        day = catalogue.day(Schedule(store.outcomes()), "senior", topic, now, count)
    if not day.items:
        raise WarpladderError("nothing is due today", remedy="take a quiz, or come back tomorrow")
    return Today(library, recall.begin(day.items, seed), path)


def due(library: Library) -> int:
    """How many items are due today; raises WarpladderError where the history cannot be read."""
    with Store() as store:
        schedule, now = Schedule(store.outcomes()), datetime.now().astimezone()
    found = library.catalogue.day(schedule, "senior", None, now)
    return len(found.again) + found.waiting


# ---- gone on with --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Left:
    """A sitting that was broken off."""

    name: str  # of its file or folder
    title: str
    kind: str
    said: str  # how far it has come


def left(library: Library, folder: Path) -> list[Left]:
    """What was broken off in a folder, the latest first; sessions without an answer, and files that are none of ours,
    are passed over.
    """
    found: list[tuple[float, Left]] = []
    for path in (*folder.glob("*.json"), *folder.glob(f"*/{loop.FILE}")):
        try:
            sat = _found(path, library)
        except WarpladderError:
            continue
        if isinstance(sat, Day):
            parts = sat.day.stages()
            said = f"{sum(stage.over for stage in parts)} of {len(parts)} parts"
            if all(stage.over for stage in parts):
                continue
            found.append((path.stat().st_mtime, Left(path.parent.name, sat.title, "loop", said)))
        elif not sat.kept.over and (sat.kept.answers or sat.kept.begun or sat.kept.draft):
            said = units.number_of(len(sat.kept.answers), "answer")
            found.append((path.stat().st_mtime, Left(path.name, sat.title, sat.kept.kind, said)))
    return [each for _, each in sorted(found, key=lambda pair: -pair[0])]


def resume(name: str, library: Library, folder: Path) -> Sat:
    """What was broken off under a name that `left` gave. Raises WarpladderError."""
    if name not in [each.name for each in left(library, folder)]:
        raise WarpladderError("there is nothing of that name to go on with", file=folder / name)
    path = folder / name
    return _found(path / loop.FILE if path.is_dir() else path, library)


def _found(path: Path, library: Library) -> Single | Day:
    if path.name == loop.FILE:
        return Day(Loop(path.parent, library))
    kept = sessions.load(path)
    if kept.kind == "today":
        raise WarpladderError("this is no file of its own", file=path)
    if (gone := missing(library, [Planned(kept.title, kept.kind, 0, kept.questions)])) is not None:
        raise gone
    if kept.kernel_file and Path(kept.kernel_file).resolve().parent != path.resolve().parent:
        remedy = f"go on with it by `ladder {kept.kind}`"
        raise WarpladderError("its kernel lies in another folder", file=path, remedy=remedy)
    return Single(library, kept, path)
