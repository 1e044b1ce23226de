"""Persons who are interviewed, by how each meets a probe; what they say is no part of a score."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from unittest.mock import patch

from knowing import Knowing
from scripted_candidate import Candidate, sit

from grader.interview import bank, credit, quiz, session
from grader.interview.bank import Entry, Question
from grader.interview.conversation import LIMITS, NEXT, begin
from grader.interview.interviewer import Interviewer
from grader.interview.points import Point
from grader.interview.probes.posing import LETTERS, Posed
from grader.interview.prompts import Flow, Prompt
from grader.interview.rounds import Interview, read_interview
from grader.interview.session import Session
from grader.interview.talks import Talks
from grader.workbook import topics

GUESSED = [1.0, 2.0, 4.0, 8.0, 10.0, 16.0, 32.0, 64.0, 100.0, 128.0, 256.0, 1024.0]
"""Numbers that somebody says who has none."""

Meets = Callable[[Posed, random.Random], str]
"""What somebody types at a probe."""


def drawing(posed: Posed, rng: random.Random) -> str:
    """Any option, any line, any order, any number."""
    return _guessed(posed, rng, rng.choice)


def first(posed: Posed, rng: random.Random) -> str:
    """The first option, line or order that there is, and any number."""
    return _guessed(posed, rng, lambda items: items[0])


def longest(posed: Posed, rng: random.Random) -> str:
    """The longest option or line, and any number."""

    def choose(places: Sequence[int]) -> int:
        return max(places, key=lambda place: len((posed.options or posed.code)[place]))

    return _guessed(posed, rng, choose)


def middle(posed: Posed, rng: random.Random) -> str:
    """The middle option or line, and any number."""
    return _guessed(posed, rng, lambda items: items[len(items) // 2])


def silent(posed: Posed, rng: random.Random) -> str:
    """Nothing."""
    return ""


GUESSERS: dict[str, Meets] = {"random": drawing, "first": first, "longest": longest, "middle": middle}


def entries() -> dict[str, Entry]:
    """All questions of the bank and all coding interviews; an interview by its topic and `.round`."""
    found: dict[str, Entry] = dict(bank.discover())
    for path in sorted((topics.content_root() / "lessons").glob("*/interview.toml")):
        found[f"{path.parent.name}.round"] = read_interview(topics.load(path.parent.name))
    return found


def talks(entry: Entry) -> dict[str, tuple[str, tuple[Point, ...]]]:
    """What is asked in prose, and its points, by the step of a session."""
    if not isinstance(entry, Interview):
        return {entry.name: (entry.question, entry.points)}
    found = {"opening": (entry.question, entry.points)}
    for item in entry.rounds:
        found[f"{item.rung}.limits"] = (LIMITS, item.limits)
        found[f"{item.rung}.next"] = (NEXT, item.next)
    return found


class Person(Candidate):
    """Meets the probes, and has nothing else to say."""

    def __init__(self, meets: Callable[[Prompt], str]) -> None:
        super().__init__(lambda asked: meets(asked) if asked.step.endswith(".probe") else "")


def meeting(entry: Entry, meets: Meets, seed: int, rng: random.Random) -> Callable[[Prompt], str]:
    """What somebody types, from the probe behind what is asked, in a session of that seed."""
    knows = {
        f"{step}.{number}": Knowing(point.probes, seed)
        for step, (_, points) in talks(entry).items()
        for number, point in enumerate(points)
    }
    return lambda asked: meets(knows[asked.step.rpartition(".")[0]].posed(asked), rng)


def play(name: str, entry: Entry, meets: Meets, seed: int) -> Session:
    """The talks of an entry with one person, and no code."""
    rng = random.Random(f"{name} {meets.__name__} {seed}")
    return interview(entry, Person(meeting(entry, meets, seed, rng)), seed)


def interview(entry: Entry, candidate: Candidate, seed: int) -> Session:
    """The talks of an entry with a candidate. Nothing is written: that would take most of the time."""
    with patch.object(session, "save"):
        return _interview(entry, candidate, seed, Path("session.json"))


def _interview(entry: Entry, candidate: Candidate, seed: int, path: Path) -> Session:
    if isinstance(entry, Question):
        kept, bank_of_one = quiz.begin([entry], seed), {entry.name: entry}
        return sit(lambda asks: quiz.Quiz(bank_of_one, {}, asks).run(), kept, path, candidate)
    assert isinstance(entry, Interview)

    def talk(asks: Interviewer) -> Flow[None]:
        for step, (text, points) in talks(entry).items():
            yield from Talks(asks).converse(step, step, text, points, entry.name)

    return sit(talk, begin(entry, path.with_suffix(".cu"), seed), path, candidate)


def score(entry: Entry, kept: Session) -> float:
    """What the talks earned on average, in percent, with nothing clamped: below 0 for wrong guesses."""
    return mean(100 * credit.of_talk(kept, step) for step in talks(entry))


def _guessed(posed: Posed, rng: random.Random, choose: Callable[[list[int]], int]) -> str:
    if posed.value is not None:
        return repr(rng.choice(GUESSED))
    if posed.options and len(posed.accepted[0]) > 1:
        places = list(range(len(posed.options)))
        taken = []
        while places:
            taken.append(choose(places))
            places.remove(taken[-1])
        return "".join(LETTERS[place] for place in taken)
    names = _names(posed)
    return names[choose(list(names))]


def _names(posed: Posed) -> dict[int, str]:
    """What an option or a line is called, by its place; blank lines are left out."""
    if posed.options:
        return dict(enumerate(LETTERS[: len(posed.options)]))
    return {place: str(place + 1) for place, line in enumerate(posed.code) if line.strip()}
