"""The way through the ladders: how far a learner's own kernels have come on each, and what is next."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType

from grader.history.outcomes import Graded, Sitting

FIRST_TIME = 4
"""Rungs of a ladder that are enough before the next ladder begins: the others are for the second time round. With four
a short ladder is climbed whole, and a tile of transpose has the padding that it is for."""


@dataclass(frozen=True)
class Climbed:
    """How far a learner has come on one ladder."""

    topic: str
    rungs: tuple[str, ...]  # of the ladder, by id
    rung: str | None  # the highest that was reached; None: no kernel was right
    graded: int  # kernels, of which each counts once however often it was graded

    @property
    def reached(self) -> int:
        """How many rungs."""
        return 0 if self.rung is None else self.rungs.index(self.rung) + 1


def way(grades: Sequence[Graded], ladders: Mapping[str, Sequence[str]]) -> list[Climbed]:
    """Of each ladder, in their order. What was reached of a rung that there is no longer counts for nothing."""
    return [
        _climbed(topic, tuple(rungs), [grade for grade in grades if grade.topic == topic])
        for topic, rungs in ladders.items()
    ]


def _climbed(topic: str, rungs: tuple[str, ...], grades: Sequence[Graded]) -> Climbed:
    reached = {grade.rung for grade in grades}
    highest = next((rung for rung in reversed(rungs) if rung in reached), None)
    return Climbed(topic, rungs, highest, len({grade.digest for grade in grades}))


@dataclass(frozen=True)
class Next:
    """The one thing to do now."""

    what: str
    why: str
    command: str  # that can be pasted
    topic: str | None = None  # whose lesson tells of it
    rung: str | None = None  # that is to be reached, where there is one
    also: tuple[
        Next, ...
    ] = ()  # what is near as well: a file to mend, a small exercise, a rung, the ladder behind


def latest(grades: Sequence[Graded], sittings: Sequence[Sitting], topics: Collection[str]) -> str | None:
    """The topic of the kernel that was graded last, or of the coding round that was sat since; None: there is none.
    Grades of what is none of the topics, such as a small exercise, do not count."""
    found = [(grade.when, grade.topic) for grade in grades if grade.topic in topics]
    found += [(sitting.started, sitting.subject) for sitting in sittings if sitting.format == "interview"]
    return max(found)[1] if found else None


def following(
    grades: Sequence[Graded],
    climbed: Sequence[Climbed],
    last: str | None = None,
    exercises: Mapping[str, str] = MappingProxyType({}),
    begun: Mapping[str, str] = MappingProxyType({}),
) -> Next:
    """What to do now: on the ladder `last` that was climbed or talked about last, then on those behind it, and on those
    that were passed by. `grades` in the order of time, `climbed` in the order of study; grades of other ladders count
    for nothing. `exercises`, each with the rung that it prepares, are gone on with where no ladder was begun; else they
    stand beside the first kernel of their ladder, and beside that rung. `begun` are the starters that were written."""
    on = {each.topic: best for each in climbed if (best := gone_on_with(grades, each))}
    every = climbed
    if last is not None or not any(grade.topic in exercises for grade in grades):
        climbed = [each for each in climbed if each.topic not in exercises]
    topics = {each.topic for each in climbed}
    known = [grade for grade in grades if grade.topic in topics]
    climbing = {each.topic for each in climbed if each.reached < len(each.rungs)}
    wrong = []
    if known and (newest := known[-1]).verdict != "pass":
        # Beside a file that has reached the top, a wrong one is an experiment.
        wrong = [_mend(newest, exercises)] if newest.topic in climbing else []
        if on[newest.topic] is newest:
            small = [] if newest.topic in exercises else _preparing(newest.topic, every, exercises)
            return replace(_mend(newest, exercises), also=tuple(_exercise(each, on, begun) for each in small))
    here = next((i for i, each in enumerate(climbed) if each.topic == last), 0)
    found = [
        each
        for most in (FIRST_TIME, None)
        for each in (*climbed[here:], *climbed[:here])
        if each.reached < len(each.rungs[:most])
    ]
    if not found:
        return Next(
            "An interview", "You have reached the top of every ladder.", "ladder loop", also=(*wrong,)
        )
    first = found[0]
    if first.topic in exercises:
        return replace(_exercise(first, on, begun), also=(*wrong,))
    # The next rung of the ladder climbed last that has one; of one that has gained already, the ladder behind it.
    near: list[Climbed] = []
    if first is not climbed[here]:
        on_way = {
            each.topic: each for each in found if each.reached and each.topic not in {first.topic, *exercises}
        }
        latest_first = (climbed[here].topic, *(grade.topic for grade in reversed(known)))
        near = [on_way[topic] for topic in latest_first if topic in on_way][:1]
    elif first.reached > 1:
        # Who has gone back to an earlier ladder finds the way on beside it.
        furthest = max(place for place, each in enumerate(climbed) if each.reached)
        on_from_there = [each for each in climbed[furthest + 1 :] if each in found and not each.reached]
        near = [each for each in (*on_from_there, *found) if each is not first][:1]
    also = [_exercise(each, on, begun) for each in _preparing(first.topic, every, exercises)]
    also += [_rung(each, on, begun) for each in near]
    return replace(_rung(first, on, begun, new=not known), also=(*also, *wrong))


def _preparing(topic: str, every: Sequence[Climbed], exercises: Mapping[str, str]) -> list[Climbed]:
    """The first small exercise that is left of those before a ladder, if any: of those for its next rung, where one is
    reached."""
    place = [each.topic for each in every].index(topic)
    before = takewhile(lambda each: each.topic in exercises, reversed(every[:place]))
    left = [each for each in reversed([*before]) if each.reached < len(each.rungs)]
    if (ladder := every[place]).reached:
        following = ladder.rungs[ladder.reached : ladder.reached + 1]
        left = [each for each in left if exercises[each.topic] in following]
    return left[:1]


def gone_on_with(grades: Sequence[Graded], climbed: Climbed) -> Graded | None:
    """The grade of the file that leads on: of those that are right, the latest on the highest rung; where none is, the
    latest. Of each file the last grade counts: what was right once may be wrong by now."""
    files = {grade.file: grade for grade in grades if grade.topic == climbed.topic}
    ranks = {rung: place for place, rung in enumerate(climbed.rungs)}
    return max(
        (grade for grade in grades if files.get(grade.file) is grade),
        key=lambda grade: (grade.verdict == "pass", ranks.get(grade.rung or "", -1), grades.index(grade)),
        default=None,
    )


def _mend(grade: Graded, exercises: Collection[str] = ()) -> Next:
    """A file that is wrong."""
    why = "It was not right when it was graded last. The judge says where, and what to look at."
    lesson = None if grade.topic in exercises else grade.topic
    command = f"ladder grade {grade.topic} {_typed(grade.file)}"
    return Next(f"{grade.topic}: mend {Path(grade.file).name}", why, command, lesson)


def _rung(climbed: Climbed, on: Mapping[str, Graded], begun: Mapping[str, str], new: bool = False) -> Next:
    """The next rung of a ladder, or its first; `on`: the grade of the file to go on with, by topic; `new`:
    nothing was graded yet."""
    topic = climbed.topic
    if climbed.rung is None:
        smaller = " If that is too much at once, `ladder learn` begins with small exercises." if new else ""
        why = f"Write what comes to mind first: it has to be right, and need not be fast.{smaller}"
        what = f"{topic}: {'your first kernel' if new else 'its first rung'}"
        return Next(what, why, _start(topic, begun), topic, climbed.rungs[0])
    if on[topic].verdict != "pass":
        return _mend(on[topic])
    rung = climbed.rungs[climbed.reached]
    why = f"You have reached {climbed.rung}, {climbed.reached} of {len(climbed.rungs)} rungs."
    return Next(f"{topic}: rung {rung}", why, f"ladder hint {topic} {_typed(on[topic].file)}", topic, rung)


def _exercise(climbed: Climbed, on: Mapping[str, Graded], begun: Mapping[str, str]) -> Next:
    """A small exercise, of whose kernel the task may ask for more than right numbers."""
    name = climbed.topic
    if name in on and on[name].verdict != "pass":
        return _mend(on[name], exercises=(name,))
    if climbed.rung is None:
        why = "One idea in a few lines. `ladder learn` has it beside an editor."
        return Next(f"{name}: a small exercise", why, _start(name, begun))
    why = "Your kernel is right, and does not yet do all that the task asks for."
    return Next(f"{name}: what its task asks for", why, f"ladder hint {name} {_typed(on[name].file)}")


def _start(topic: str, begun: Mapping[str, str]) -> str:
    """The command for a first kernel: a starter that is there is not written once more."""
    return f"ladder grade {topic} {_typed(begun[topic])}" if topic in begun else f"ladder new {topic}"


def _typed(file: str) -> str:
    """A file as an argument of a command, whatever its name is."""
    return shlex.quote(f"./{file}" if file.startswith("-") else file)
