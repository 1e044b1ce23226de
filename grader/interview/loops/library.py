"""What the parts of a day are drawn from, and how a part is begun, asked and scored, whatever its format."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from grader.errors import WarpladderError
from grader.interview import bank, card, conversation, quiz, rounds
from grader.interview.bank import Question
from grader.interview.card import Card
from grader.interview.conversation import Conversation
from grader.interview.drills import drilling
from grader.interview.drills.drill import Drill, Format
from grader.interview.drills.drilling import Drilling
from grader.interview.drills.formats import FORMATS
from grader.interview.interviewer import Interviewer, Judge
from grader.interview.loops.plan import Part
from grader.interview.practice.catalogue import Catalogue
from grader.interview.practice.fresh import items_of_part
from grader.interview.practice.recall import Recall
from grader.interview.prompts import Flow
from grader.interview.quiz import Quiz
from grader.interview.reading import LEVELS, Level
from grader.interview.rounds import Interview
from grader.interview.session import Kind, Session
from grader.interview.sitting import Sitting
from grader.workbook.topic import Topic


class Planned(msgspec.Struct, frozen=True):
    """A part as it was drawn."""

    title: str
    format: Kind
    minutes: int
    names: list[str]  # questions or drills; of a coding round, its topic


class Leveled(Protocol):
    """What has a level."""

    @property
    def level(self) -> Level: ...


Of = TypeVar("Of", bound=Leveled)


@dataclass(frozen=True)
class Library:
    """Everything that a day may ask."""

    topics: Mapping[str, Topic]
    questions: Mapping[str, Question]
    interviews: Mapping[str, Interview]  # by topic
    formats: Mapping[str, Format[Any]]
    drills: Mapping[str, Mapping[str, Drill]]  # by format and name

    @cached_property
    def catalogue(self) -> Catalogue:
        """The same, as items of a learner's history."""
        drills = {name: found.values() for name, found in self.drills.items()}
        return Catalogue(self.questions.values(), self.interviews.values(), drills)

    def draw(self, part: Part, level: Level, rng: random.Random, taken: set[str]) -> Planned | None:
        """A part with what it asks, none of it `taken`, such as "quiz/banks"; None where there is nothing for it."""
        left = {kind: self._open(kind, part, taken) for kind in part.formats}
        formats = [kind for kind, found in left.items() if found]
        if not formats:
            return None
        kind = rng.choice(formats)
        names = _near(left[kind], level, part.count, rng)
        taken.update(f"{kind}/{name}" for name in names)
        return Planned(part.title, kind, part.minutes, names)

    def begin(self, planned: Planned, path: Path, seed: int) -> Session:
        """A session of a part, in which nothing has been asked yet."""
        if planned.format == "quiz":
            questions = [bank.find(self.questions, name) for name in planned.names]
            return quiz.begin(questions, seed, planned.minutes)
        if planned.format == "interview":
            (name,) = planned.names
            file = path.with_suffix(self.topics[name].suffix)
            return conversation.begin(self.interviews[name], file, seed, planned.minutes)
        what, drills = self.formats[planned.format], self.drills[planned.format]
        return drilling.begin(what, [drills[name] for name in planned.names], seed, planned.minutes)

    def sitting(self, kept: Session, path: Path, judge: Judge) -> Sitting:
        """A session, as it stands. Raises WarpladderError where what it asks is no longer there."""
        return Sitting(lambda interviewer: self._asks(kept, interviewer), kept, path, judge)

    def _asks(self, kept: Session, interviewer: Interviewer) -> Flow[None]:
        if kept.kind == "quiz":
            return Quiz(self.questions, self.topics, interviewer).run()
        if kept.kind == "interview":
            return Conversation(self.topics[kept.topic], interviewer).run()
        if kept.kind == "today":
            return Recall(self.catalogue.askable, interviewer).run()
        return Drilling(self.formats[kept.kind], self.drills[kept.kind], interviewer).run()

    def card(self, kept: Session) -> Card:
        """A session, scored."""
        if kept.kind == "quiz":
            return card.of_quiz(self.questions, kept)
        if kept.kind == "interview":
            return card.of_interview(self.interviews[kept.topic], self.topics[kept.topic], kept)
        drills = self.drills[kept.kind]
        return card.of_drills([drills[name] for name in kept.questions], kept)

    def items(self, parts: Sequence[Planned], seed: int) -> Iterator[str]:
        """The items that parts of a day ask, but for coding rounds."""
        for part in parts:
            yield from items_of_part(part.format, part.names, seed, self.questions, self.drills)

    def _open(self, kind: Kind, part: Part, taken: set[str]) -> dict[str, Leveled]:
        """What a part may ask of a format."""
        found: Mapping[str, Leveled]
        if kind == "quiz":
            found = {name: each for name, each in self.questions.items() if _is_meant(each, part)}
        elif kind == "interview":
            found = {name: each for name, each in self.interviews.items() if _among((name,), part.topics)}
        else:
            drills = self.drills.get(kind, {})
            found = {name: each for name, each in drills.items() if _among(each.topics, part.topics)}
        return {name: each for name, each in found.items() if f"{kind}/{name}" not in taken}


def discover(topics: dict[str, Topic]) -> Library:
    """What this installation has; raises WarpladderError where a file of it is broken."""
    drills = {name: form.discover() for name, form in FORMATS.items()}
    return Library(topics, bank.discover(), rounds.discover(topics), FORMATS, drills)


def missing(library: Library, planned: Sequence[Planned]) -> WarpladderError | None:
    """What is no longer there of a day that was begun with another version of the workbook."""
    for part in planned:
        known: Mapping[str, object] = {"quiz": library.questions, "interview": library.interviews}.get(
            part.format, library.drills.get(part.format, {})
        )
        for name in part.names:
            if name not in known:
                return WarpladderError(f"the workbook has no {part.format} `{name}` any more")
    return None


def _is_meant(question: Question, part: Part) -> bool:
    if part.names:
        return question.name in part.names
    return question.is_for(part.role) and _among(question.topics, part.topics)


def _among(names: Sequence[str], wanted: Sequence[str]) -> bool:
    return not wanted or any(name in wanted for name in names)


def _near(found: Mapping[str, Of], level: Level, count: int, rng: random.Random) -> list[str]:
    """So many names, as near to a level as there are: of it, of the one below, then further away."""
    place = LEVELS.index(level)
    shuffled = rng.sample(sorted(found), len(found))
    return sorted(shuffled, key=lambda name: _distance(LEVELS.index(found[name].level) - place))[:count]


def _distance(above: int) -> int:
    """Of a level and the one below it alike; the further away, the later, and what is below before what is above."""
    return 0 if above in (0, -1) else 2 * abs(above) + (above > 0)
