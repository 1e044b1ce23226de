"""The scorecard: what was asked, what was checked, how prose was rated, and what there was no time for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import msgspec

from grader.interview import credit
from grader.interview.bank import Entry, Question
from grader.interview.conversation import Step, all_steps, known, overtaken
from grader.interview.drills.drill import Drill
from grader.interview.interviewer import HINT_COSTS
from grader.interview.probes.posing import answered
from grader.interview.rounds import Interview
from grader.interview.session import Answer, Code, Figure, Kind, Probed, Rated, Session, Talk
from grader.workbook import units
from grader.workbook.content import content_root, name_of
from grader.workbook.topic import Topic

SCHEMA = "warpladder/card/4"

WORTH: dict[str, float] = {
    "opening": 20, "code": 20, "limits": 10, "next": 10, "before": 5, "after": 5, "now": 10,
}  # fmt: skip
"""Points of each part of an interview."""

QUIZ_WORTH = {"talk": 15.0, "code": 20.0}
"""Points of each part of a quiz."""

NAMES: dict[str, str] = {
    "opening": "the bound, and a plan",
    "code": "the code",
    "limits": "what limits it",
    "next": "what next, and why",
    "before": "the ratio before",
    "after": "the ratio afterwards, predicted",
    "now": "the ratio",
}

VERDICTS = (
    (0.85, "strong hire"), (0.70, "hire"), (0.50, "lean no hire"), (0.0, "no hire"),
)  # fmt: skip
"""The rubric: the share of what was asked that has to be earned for each verdict."""

State = Literal["answered", "late", "unasked"]


@dataclass(frozen=True)
class Line:
    """One part of the card."""

    step: str
    title: str  # what was asked, in a few words
    state: State  # unasked: there was no time, or the candidate left
    worth: float  # points to be had; 0 for what is not scored
    earned: float  # below 0 for wrong guesses
    detail: str  # in a line: what was found
    points: list[credit.Point] = field(default_factory=list)  # of free text
    rated: float | None = None  # of free text: what the candidate gives the own prose; no part of the score
    text: str = ""  # what the candidate said or typed; code is its source
    asked: str = ""
    explain: str = ""  # of a number
    seconds: float = 0.0


@dataclass(frozen=True)
class Section:
    """A version of an interview, or a question of a quiz."""

    title: str
    lines: list[Line]

    @property
    def earned(self) -> float:
        return sum(line.earned for line in self.lines)

    @property
    def worth(self) -> float:
        return sum(line.worth for line in self.lines)

    @property
    def asked(self) -> float:
        """What was to be had of what was asked."""
        return sum(line.worth for line in self.lines if line.state in ("answered", "late"))


@dataclass(frozen=True)
class Advice:
    """Where to read up what was missed."""

    section: str
    missed: list[str]  # points whose probes were not answered right
    read: list[tuple[str, str]]  # title, and address or path


@dataclass(frozen=True)
class Card:
    """An interview or a quiz, scored."""

    kind: Kind
    id: str  # names of what was asked
    title: str
    date: str  # UTC, ISO 8601
    minutes: float  # 0: no limit
    used_s: float
    over: bool  # false: it was broken off
    rung_reached: str | None  # the furthest; of a quiz, null
    rungs_asked: list[str]
    earned: float
    worth: float  # of everything
    asked: float  # of what was asked
    rated: float | None  # what the candidate gives the own prose, on average; null: nothing was rated
    verdict: str  # "" where nothing was asked, and of drills
    sections: list[Section]
    follow_ups: list[Rated]  # rated by oneself, and not counted
    advice: list[Advice]
    schema: str = SCHEMA

    @property
    def percent(self) -> float:
        """Of everything."""
        return 100 * self.earned / self.worth if self.worth else 0.0

    @property
    def percent_of_asked(self) -> float | None:
        """Of what was asked; None: nothing was."""
        return 100 * self.earned / self.asked if self.asked else None


def to_json(card: Card) -> bytes:
    """Indented UTF-8 JSON with every field present."""
    return msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n"


def of_interview(interview: Interview, topic: Topic, kept: Session) -> Card:
    """The card of an interview, finished or broken off."""
    skipped = overtaken(interview, topic, kept)
    steps = [step for step in all_steps(interview) if step.kind != "follow_up"]
    told = known(interview, kept)
    sections = [Section("To begin with", _lines(steps[:1], kept, skipped, told))]
    for number, item in enumerate(interview.rounds):
        own = [step for step in steps[1:] if step.number == number]
        sections.append(Section(item.rung, _lines(own, kept, skipped, told)))
    reached = [
        item.rung_reached
        for item in kept.answers
        if isinstance(item, Code) and item.rung_reached is not None and not item.late
    ]
    return _card(
        kept,
        interview.topic,
        sections,
        rung_reached=max(reached, key=topic.ladder.place, default=None),
        rungs_asked=[item.rung for item in interview.rounds],
        advice=_advice(sections, _reading(interview, topic)),
    )


def of_quiz(bank: Mapping[str, Question], kept: Session) -> Card:
    """The card of a quiz, finished or broken off."""
    questions = [bank[name] for name in kept.questions]
    sections = [Section(item.title, _quiz_lines(item, kept)) for item in questions]
    read = {section.title: _sources(item) for section, item in zip(sections, questions, strict=True)}
    return _card(kept, ", ".join(kept.questions), sections, None, [], _advice(sections, read))


def verdict(share: float) -> str:
    """What an interviewer would write down, by the share that was earned of what was asked."""
    return next(name for least, name in VERDICTS if share >= least or least == 0.0)


def of_drills(drills: Sequence[Drill], kept: Session) -> Card:
    """The card of a session of drills, finished or broken off."""
    sections = [Section(drill.title, _drill_lines(drill, kept)) for drill in drills]
    read = {section.title: _sources(drill) for section, drill in zip(sections, drills, strict=True)}
    return _card(kept, ", ".join(kept.questions), sections, None, [], _advice(sections, read, drills=True))


def _drill_lines(drill: Drill, kept: Session) -> list[Line]:
    lines = []
    asked = [(item.probe.name, item.short, item.weight) for item in drill.steps]
    for name, title, weight in (*asked, *((name, name, weight) for name, weight in drill.further)):
        lines.append(_line(f"{drill.name}.{name}", kept, title, weight))
    return lines


def _reading(interview: Interview, topic: Topic) -> dict[str, list[tuple[str, str]]]:
    """What to read up, by section of an interview's card: the workbook's version, after the sources."""
    read = {"To begin with": _sources(interview)}
    for item in interview.rounds:
        read[item.rung] = [("the workbook's version", name_of(topic.rung(item.rung).path))]
    return read


def _card(
    kept: Session,
    card_id: str,
    sections: list[Section],
    rung_reached: str | None,
    rungs_asked: list[str],
    advice: list[Advice],
) -> Card:
    lines = [line for section in sections for line in section.lines]
    rated = [line.rated for line in lines if line.rated is not None]
    earned = max(0.0, sum(line.earned for line in lines))
    asked = sum(section.asked for section in sections)
    return Card(
        kind=kept.kind,
        id=card_id,
        title=kept.title,
        date=kept.started,
        minutes=kept.minutes,
        used_s=kept.elapsed_s,
        over=kept.over,
        rung_reached=rung_reached,
        rungs_asked=rungs_asked,
        earned=earned,
        worth=sum(line.worth for line in lines),
        asked=asked,
        rated=sum(rated) / len(rated) if rated else None,
        verdict=verdict(earned / asked) if asked and kept.kind in ("interview", "quiz") else "",
        sections=sections,
        follow_ups=[item for item in kept.answers if isinstance(item, Rated)],
        advice=advice,
    )


def _quiz_lines(question: Question, kept: Session) -> list[Line]:
    asked: list[tuple[str, str, str]] = [(question.name, "the points", "talk")]
    if kept.kernels:
        asked += [
            (f"{question.name}.{item.topic}.{item.rung}", f"{item.topic}: {item.rung}", "code")
            for item in question.kernels
        ]
    return [_line(step, kept, title, QUIZ_WORTH[kind]) for step, title, kind in asked]


def _lines(
    steps: Sequence[Step], kept: Session, skipped: Mapping[str, str], told: AbstractSet[str]
) -> list[Line]:
    """The parts of a section; of a version that was overtaken, only what it earns.

    Where the ratio before was `told` already, the prediction is worth the points of both.
    """
    found = []
    for step in steps:
        title, worth = NAMES[step.kind], WORTH[step.kind]
        if step.id in told:
            continue
        if step.kind == "after" and step.id.replace(".after", ".before") in told:
            worth += WORTH["before"]
        if step.id not in skipped:
            found.append(_line(step.id, kept, title, worth))
        elif step.kind == "code":
            detail = f"an earlier version had reached {skipped[step.id]}"
            found.append(Line(step.id, title, "answered", worth, worth, detail))
    return found


def _line(step: str, kept: Session, title: str, worth: float) -> Line:
    """A step as it was answered, or that it was not asked."""
    answer = kept.answer(step)
    if answer is None:
        return Line(step, title, "unasked", worth, 0.0, "not asked")
    return _answered(answer, kept, title, worth)


def _answered(answer: Answer, kept: Session, title: str, worth: float) -> Line:
    state: State = "late" if answer.late else "answered"
    line = Line(answer.step, title, state, worth, 0.0, "", asked=answer.asked, seconds=answer.seconds)
    match answer:
        case Talk():
            points = credit.points(kept, answer.step)
            return replace(
                line,
                earned=worth * credit.of_talk(kept, answer.step),
                detail=_of_talk(answer, points),
                points=points,
                rated=answer.rated,
                text=answer.text,
            )
        case Probed():
            earned = 0.0 if answer.late else worth * credit.of_probe(answer)
            detail = _of_probe(answer)
            return replace(line, earned=earned, detail=detail, text=answer.given, explain=answer.explain)
        case Figure():
            earned = worth * answer.share
            return replace(
                line, earned=earned, detail=_of_figure(answer), text=answer.given, explain=answer.explain
            )
        case Code():
            earned = 0.0 if answer.late else worth * answer.share * (1 - HINT_COSTS * answer.hint)
            return replace(line, earned=earned, detail=_of_code(answer), text=answer.source)
    return replace(line, worth=0.0)


def _of_talk(talk: Talk, points: Sequence[credit.Point]) -> str:
    if talk.skipped:
        return "skipped"
    return f"{sum(point.confirmed for point in points)} of {len(points)} points right"


def _of_probe(answer: Probed) -> str:
    return answered(answer).replace("`", "")


def _of_figure(figure: Figure) -> str:
    said = f"said {figure.given}" if figure.given else "no answer"
    if figure.answer is None:
        return f"{said}; never counted"
    whose = {"own": ", counted on the candidate's kernel", "workbook": ", counted on the workbook's kernel"}
    return f"{said}; right is {units.quantity(figure.answer, figure.unit)}{whose.get(figure.counted_on, '')}"


def _of_code(code: Code) -> str:
    if code.verdict is None:
        return "no code"
    tries = "at the first try" if code.attempts == 1 else f"{code.attempts} tries"
    hint = ", with a hint" if code.hint else ""
    if code.verdict != "pass":
        return f"{code.verdict}, {tries}{hint}"
    reaches = f"reaches {code.rung_reached}, " if code.rung_reached else ""
    return f"right, {reaches}{tries}{hint}"


def _advice(
    sections: Sequence[Section], read: Mapping[str, list[tuple[str, str]]], drills: bool = False
) -> list[Advice]:
    """For each section with points that did not count in full, or of drills with parts, what to read."""
    found = []
    for section in sections:
        missed = [point.text for line in section.lines for point in line.points if not point.confirmed]
        missed += [
            line.title for line in section.lines if drills and not line.points and line.earned < line.worth
        ]
        if missed:
            found.append(Advice(section.title, missed, read[section.title]))
    return found


def _sources(entry: Entry | Drill) -> list[tuple[str, str]]:
    """Titles and addresses; those of the workbook itself as paths below its root."""
    root = content_root()
    return [(item.title, _address(entry, item.url, root)) for item in entry.sources]


def _address(entry: Entry | Drill, url: str, root: Path) -> str:
    if url.startswith(("http://", "https://")):
        return url
    path = (entry.file.parent / url).resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else url
