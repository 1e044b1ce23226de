"""What is sat in the room: a session, a day of interviews, or what is due today; begun anew or gone on with."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Protocol

from grader.errors import WarpladderError
from grader.history import outcomes
from grader.history import store as histories
from grader.history.schedule import ITEMS_A_DAY, Schedule
from grader.history.store import Store
from grader.interview import conversation, quiz
from grader.interview import session as sessions
from grader.interview.card import Card
from grader.interview.drills import drilling
from grader.interview.interviewer import Judge
from grader.interview.loops import loop, plan
from grader.interview.loops.library import Library, Planned, missing
from grader.interview.loops.loop import Drawn, Loop, Stage
from grader.interview.practice import recall, recording
from grader.interview.practice.fresh import fresh_seed, items_of_drills, items_of_quiz
from grader.interview.prompts import Prompt, Work
from grader.interview.reading import known_level
from grader.interview.session import Do, Event, Session
from grader.interview.sitting import Sitting
from grader.workbook import units


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


@dataclass(frozen=True)
class Break:
    """The next part of a day waits to be begun."""

    stage: Stage
    came: tuple[Part | Plan, ...]  # to be read meanwhile
    form: str = "begin"
    complaint: str = ""  # there is none


@dataclass(frozen=True)
class Ended:
    """How a sitting went."""

    title: str
    over: bool  # False: the candidate left
    kept: Path  # where it is kept
    cards: tuple[Card, ...] = ()
    day: Plan | None = None
    before: outcomes.Sitting | None = None  # the session of its kind before it
    today: tuple[outcomes.Sitting, ...] = ()  # this one, beside `before`
    items: tuple[outcomes.Outcome, ...] = ()  # of what is due today
    tomorrow: int = 0  # so many are due then
    complaint: WarpladderError | None = None  # the history could not be written


class Sat(Protocol):
    """What can be sat: a sitting, or one after the other."""

    @property
    def title(self) -> str: ...

    @property
    def sitting(self) -> Sitting | None:
        """That is asked now; None between two."""

    @property
    def prompt(self) -> Prompt | Work | Break | None:
        """What is waited for; None: all is asked."""

    def reply(self, do: Do, typed: str) -> None:
        """What the candidate did about it. Raises WarpladderError."""

    def send(self, event: Event) -> None:
        """What the judge did about it. Raises WarpladderError."""

    def draft(self, typed: str) -> None:
        """What is typed so far. Raises WarpladderError."""

    def leave(self) -> None:
        """The candidate goes. Raises WarpladderError."""

    def end(self) -> Ended:
        """How it went, whether it is over or not."""


@dataclass
class Single:
    """A session."""

    library: Library
    sitting: Sitting

    @property
    def title(self) -> str:
        return self.sitting.kept.title

    @property
    def prompt(self) -> Prompt | Work | None:
        return self.sitting.prompt

    def reply(self, do: Do, typed: str) -> None:
        self.sitting.reply(do, typed)

    def send(self, event: Event) -> None:
        self.sitting.send(event)

    def draft(self, typed: str) -> None:
        self.sitting.draft(typed)

    def leave(self) -> None:
        self.sitting.leave()

    def end(self) -> Ended:
        kept = self.sitting.kept
        card, before, complaint = self.library.card(kept), None, None
        try:
            before = recording.remember(kept, card, self.library.catalogue.items)
        except WarpladderError as error:  # which costs no card
            complaint = error
        own = (recording.sitting(kept, card),)
        shown = (card,) if card.over else ()  # else it would tell what is still to be asked
        return Ended(self.title, card.over, self.sitting.path, shown, None, before, own, complaint=complaint)


class Today(Single):
    """What is due today, and a few new questions."""

    def end(self) -> Ended:
        kept, path = self.sitting.kept, self.sitting.path
        with Store() as store:
            found = recording.remember_day(kept, self.library.catalogue.items, store)
            tomorrow = Schedule(store.outcomes()).due(datetime.now().astimezone() + timedelta(days=1))
        if kept.over:
            path.unlink()
        return Ended(self.title, kept.over, path, items=tuple(found), tomorrow=len(tomorrow))


class Day:
    """A day of interviews: a sitting for each part, and breaks between them."""

    def __init__(self, day: Loop, judge: Judge) -> None:
        self.day = day
        self.sitting: Sitting | None = None
        self._judge = judge
        self._stage: Stage | None = None  # that is asked, or is to be begun; None: all are over
        self._complaint: WarpladderError | None = None
        self._following()

    @property
    def title(self) -> str:
        return f"{self.day.drawn.title}, {self.day.drawn.level}"

    @property
    def prompt(self) -> Prompt | Work | Break | None:
        if self.sitting is not None:
            return self.sitting.prompt
        return None if self._stage is None else Break(self._stage, self._came())

    def reply(self, do: Do, typed: str) -> None:
        if self.sitting is not None:
            self.sitting.reply(do, typed)
            self._after()
        elif self._stage is not None:
            self.sitting = self.day.sitting(self._stage, self._judge)
            self._after()

    def send(self, event: Event) -> None:
        assert self.sitting is not None
        self.sitting.send(event)
        self._after()

    def draft(self, typed: str) -> None:
        assert self.sitting is not None
        self.sitting.draft(typed)

    def leave(self) -> None:
        if self.sitting is not None:
            self.sitting.leave()
            self._remember(self.sitting.kept)

    def end(self) -> Ended:
        parts = self.day.cards()
        over = all(stage.over for stage, _ in parts)
        cards = tuple(card for _, card in parts if card is not None and card.over)
        plan_of_day = Plan(self.day.drawn, parts)
        return Ended(self.title, over, self.day.folder, cards, plan_of_day, complaint=self._complaint)

    def _after(self) -> None:
        """On to the next part, where one is over."""
        if self.sitting is not None and self.sitting.prompt is None:
            self._remember(self.sitting.kept)
            self.sitting = None
            self._following()

    def _following(self) -> None:
        self._stage = next((stage for stage in self.day.stages() if not stage.over), None)

    def _came(self) -> tuple[Part | Plan, ...]:
        """The part before, and the plan."""
        parts = self.day.cards()
        over = [Part(stage, card) for stage, card in parts if card is not None and stage.over]
        return (*over[-1:], Plan(self.day.drawn, parts))

    def _remember(self, kept: Session) -> None:
        try:
            recording.remember(kept, self.day.library.card(kept), self.day.library.catalogue.items)
        except WarpladderError as error:
            self._complaint = error


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


def begin(wanted: Wanted, library: Library, folder: Path, judge: Judge) -> Sat:
    """A new sitting, whose file or folder comes to lie in `folder`. Raises WarpladderError."""
    seed, level = secrets.randbelow(sessions.SEEDS), known_level(wanted.level) if wanted.level else None
    topic = wanted.topic or None
    if topic is not None and topic not in library.topics:
        raise WarpladderError(f"there is no topic `{topic}`")
    if wanted.what == "today":
        return _today(library, topic, wanted.count or ITEMS_A_DAY, seed, judge)
    if wanted.what == "loop":
        style = plan.find(plan.discover(), wanted.style)
        day = partial(loop.draw, style, level or "senior", library=library)
        seed = fresh_seed(lambda each: library.items(day(each).parts, each))
        return Day(Loop.begin(loop.free_folder(folder), day(seed), library), judge)

    def single(kept: Session, path: Path) -> Single:
        return Single(library, library.sitting(kept, path, judge))

    if wanted.what == "quiz":
        bank = {name: each for name, each in library.questions.items() if level in (None, each.level)}
        choose = partial(quiz.choose, bank, (), topic, count=wanted.count or QUESTIONS)
        seed = fresh_seed(lambda each: items_of_quiz(choose(seed=each), each))
        return single(quiz.begin(choose(seed=seed), seed), sessions.free_file("quiz", folder))
    if wanted.what == "interview":
        if topic is None or topic not in library.interviews:
            raise WarpladderError("there is no such interview", remedy="choose one of the list")
        path = sessions.free_file(f"interview-{topic}", folder)
        file = path.with_suffix(library.topics[topic].suffix)
        return single(conversation.begin(library.interviews[topic], file, seed), path)
    if wanted.what not in library.formats:
        raise WarpladderError(f"there is no `{wanted.what}`", remedy="choose one of the page")
    what, drills = library.formats[wanted.what], library.drills[wanted.what]
    some = partial(drilling.choose, drills, (), what, level, topic, count=wanted.count or what.count)
    seed = fresh_seed(lambda each: items_of_drills(what.name, some(seed=each)))
    return single(drilling.begin(what, some(seed=seed), seed), sessions.free_file(what.name, folder))


def _today(library: Library, topic: str | None, count: int, seed: int, judge: Judge) -> Today:
    catalogue, path = library.catalogue, histories.folder() / "today.json"
    if (kept := recall.unfinished(path)) is not None:
        return Today(library, library.sitting(kept, path, judge))
    with Store() as store:
        now = datetime.now().astimezone()
        day = catalogue.day(Schedule(store.outcomes()), "senior", topic, now, count)
    if not day.items:
        raise WarpladderError("nothing is due today", remedy="take a quiz, or come back tomorrow")
    return Today(library, library.sitting(recall.begin(day.items, seed), path, judge))


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
            each = _left_day(path, library) if path.name == loop.FILE else _left_session(path, library)
        except WarpladderError:
            continue
        if each is not None:
            found.append((path.stat().st_mtime, each))
    return [each for _, each in sorted(found, key=lambda pair: -pair[0])]


def resume(name: str, library: Library, folder: Path, judge: Judge) -> Sat:
    """What was broken off under a name that `left` gave. Raises WarpladderError."""
    if name not in [each.name for each in left(library, folder)]:
        raise WarpladderError("there is nothing of that name to go on with", file=folder / name)
    path = folder / name
    if path.is_dir():
        return Day(Loop(path, library), judge)
    return Single(library, library.sitting(_load(path, library), path, judge))


def _left_day(path: Path, library: Library) -> Left | None:
    day = Loop(path.parent, library)
    parts, title = day.stages(), f"{day.drawn.title}, {day.drawn.level}"
    over = sum(stage.over for stage in parts)
    if over == len(parts):
        return None
    return Left(path.parent.name, title, "loop", f"{over} of {len(parts)} parts")


def _left_session(path: Path, library: Library) -> Left | None:
    kept = _load(path, library)
    if kept.over or not (kept.events or (kept.begun and kept.begun.text)):
        return None
    return Left(path.name, kept.title, kept.kind, units.number_of(len(kept.answers), "answer"))


def _load(path: Path, library: Library) -> Session:
    """A session that may be gone on with here; raises WarpladderError."""
    kept = sessions.load(path)
    if kept.kind == "today":
        raise WarpladderError("this is no file of its own", file=path)
    if (gone := missing(library, [Planned(kept.title, kept.kind, 0, kept.questions)])) is not None:
        raise gone
    if kept.kernel_file and Path(kept.kernel_file).resolve().parent != path.resolve().parent:
        remedy = f"go on with it by `ladder {kept.kind}`"
        raise WarpladderError("its kernel lies in another folder", file=path, remedy=remedy)
    return kept
