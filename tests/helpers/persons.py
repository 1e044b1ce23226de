"""Persons who are interviewed: what each says stands in tests/interview/answers, and how each meets a probe here."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from unittest.mock import patch

from knowing import Knowing
from scripted_candidate import Candidate

from grader.interview import bank, credit, quiz, session
from grader.interview.bank import Entry, Question
from grader.interview.conversation import LIMITS, NEXT, begin
from grader.interview.interviewer import Interviewer
from grader.interview.points import Point
from grader.interview.probes.posing import LETTERS, Posed
from grader.interview.room import Asked
from grader.interview.rounds import Interview, read_interview
from grader.interview.session import Clock, Session
from grader.interview.talks import Talks
from grader.workbook import topics

ANSWERS = Path(__file__).parents[1] / "interview/answers"
SPOKEN = ("strong", "terse", "mediocre", "wrong", "salad")
"""The kinds of prose that a talk has in the corpus; some have `chinese` too, a strong answer in Chinese."""

GUESSED = [1.0, 2.0, 4.0, 8.0, 10.0, 16.0, 32.0, 64.0, 100.0, 128.0, 256.0, 1024.0]
"""Numbers that somebody says who has none."""

Meets = Callable[[Posed, random.Random], str]
"""What somebody types at a probe."""


def knowing(share: float, slips: Meets) -> Meets:
    """Right in that share of the probes; else what `slips` gives."""
    return lambda posed, rng: posed.answer if rng.random() < share else slips(posed, rng)


def mistaken(posed: Posed, rng: random.Random) -> str:
    """Never right: another option, another line, two items exchanged, a number that is off by a factor."""
    return _mistaken(posed, rng, [0.5, 2, 4, 0.25, 10])


def off_by_two(posed: Posed, rng: random.Random) -> str:
    """Never right: as `mistaken`, and a number that is twice or half of what it should be."""
    return _mistaken(posed, rng, [0.5, 2])


def confident(posed: Posed, rng: random.Random) -> str:
    """Knows it wrongly in three of five cases, and guesses otherwise."""
    return mistaken(posed, rng) if rng.random() < 0.6 else guessing(posed, rng)


def guessing(posed: Posed, rng: random.Random) -> str:
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


def inventing(posed: Posed, rng: random.Random) -> str:
    """Guesses, but leaves half of the numbers out."""
    return "" if posed.value is not None and rng.random() < 0.5 else guessing(posed, rng)


def silent(posed: Posed, rng: random.Random) -> str:
    """Nothing."""
    return ""


PERSONS: dict[str, tuple[str, Meets]] = {
    "strong": ("strong", knowing(0.96, mistaken)),
    "terse": ("terse", knowing(0.94, mistaken)),
    "chinese": ("chinese", knowing(0.96, mistaken)),
    "mediocre": ("mediocre", knowing(0.50, off_by_two)),
    "wrong": ("wrong", confident),
    "salad": ("salad", inventing),
    "silence": ("", silent),
    "random": ("strong", guessing),
    "first": ("strong", first),
    "longest": ("strong", longest),
}
"""By name, which prose is said, and how a probe is met. Guessers know the strong prose by heart, and nothing else."""


def entries() -> dict[str, Entry]:
    """All questions of the bank and all coding interviews; an interview by its topic and `.round`."""
    found: dict[str, Entry] = dict(bank.discover())
    for path in sorted((topics.content_root() / "lessons").glob("*/interview.toml")):
        found[f"{path.parent.name}.round"] = read_interview(topics.load(path.parent.name))
    return found


def talks(entry: Entry) -> dict[str, tuple[str, tuple[Point, ...]]]:
    """What is asked in prose, and its points, by its name in the corpus."""
    if not isinstance(entry, Interview):
        return {"question": (entry.question, entry.points)}
    found = {"opening": (entry.question, entry.points)}
    for item in entry.rounds:
        found[f"{item.rung}.limits"] = (LIMITS, item.limits)
        found[f"{item.rung}.next"] = (NEXT, item.next)
    return found


@cache
def corpus(name: str) -> Mapping[str, Mapping[str, str]]:
    """What is said of an entry: by talk, by kind of prose; {} where nobody has answered it."""
    path = ANSWERS / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


class Person(Candidate):
    """Says the prose of an entry's corpus, by step, and meets what is asked of its points."""

    def __init__(self, said: Mapping[str, str], meets: Callable[[Asked], str]) -> None:
        super().__init__(self._answered)
        self._said, self._meets = said, meets

    def _answered(self, asked: Asked) -> str:
        if asked.step in self._said:
            return self._said[asked.step]
        return self._meets(asked) if is_probe(asked) else ""


def is_probe(asked: Asked) -> bool:
    """Whether this is asked of a point, for the first or the second time."""
    return asked.step.endswith((".probe", ".again"))


def meeting(entry: Entry, meets: Meets, seed: int, rng: random.Random) -> Callable[[Asked], str]:
    """What somebody types, from the probe behind what is asked, in a session of that seed."""
    knows = {
        f"{step}.{number}": Knowing(point.probes, seed)
        for step, (_, points) in steps(entry).items()
        for number, point in enumerate(points)
    }
    return lambda asked: meets(knows[asked.step.rpartition(".")[0]].posed(asked), rng)


def steps(entry: Entry) -> dict[str, tuple[str, tuple[Point, ...]]]:
    """As `talks`, by the step of a session."""
    return {entry.name if talk == "question" else talk: item for talk, item in talks(entry).items()}


def play(name: str, entry: Entry, person: str, seed: int) -> Session:
    """The talks of an entry with one person, and no code."""
    prose, meets = PERSONS[person]
    rng = random.Random(f"{name} {person} {seed}")
    return interview(entry, Person(prose_of(name, entry, prose), meeting(entry, meets, seed, rng)), seed)


def prose_of(name: str, entry: Entry, kind: str) -> dict[str, str]:
    """What a kind of person says of an entry, by step; "" where there is nothing of the kind."""
    spoken = zip(steps(entry), talks(entry), strict=True)
    return {step: corpus(name)[talk].get(kind, "") for step, talk in spoken}


def interview(entry: Entry, candidate: Candidate, seed: int) -> Session:
    """The talks of an entry with a candidate. Nothing is written: that would take most of the time."""
    with patch.object(session, "save"):
        return _interview(entry, candidate, seed, Path("session.json"))


def _interview(entry: Entry, candidate: Candidate, seed: int, path: Path) -> Session:
    if isinstance(entry, Question):
        kept = quiz.begin([entry], seed)
        return quiz.Quiz({entry.name: entry}, {}, kept, path, candidate, clock=Clock(0, 0.0)).run()
    assert isinstance(entry, Interview)
    kept = begin(entry, path.with_suffix(".cu"), seed)
    room = Talks(Interviewer(kept, path, candidate, clock=Clock(0, 0.0)))
    for step, (text, points) in steps(entry).items():
        room.converse(step, step, text, points, entry.name)
    return kept


def scores(entry: Entry, kept: Session) -> dict[str, float]:
    """What each talk earned, in percent; below 0 for wrong guesses."""
    return {step: 100 * credit.of_talk(kept, step) for step in steps(entry)}


def heard(entry: Entry, kept: Session) -> list[tuple[str, credit.Point]]:
    """The points of all talks as they stand, with the step."""
    return [(step, point) for step in steps(entry) for point in credit.points(kept, step)]


def _mistaken(posed: Posed, rng: random.Random, factors: Sequence[float]) -> str:
    if posed.value is not None:
        wrong = [posed.value * factor for factor in factors] if posed.value else [1.0, 2.0]
        return repr(rng.choice([value for value in wrong if not posed.right(value)]))
    if len(posed.accepted[0]) > 1:
        order = list(posed.accepted[0])
        place = rng.randrange(len(order) - 1)
        order[place : place + 2] = order[place : place + 2][::-1]
        return "".join(order)
    return rng.choice([name for name in _names(posed).values() if name not in posed.accepted])


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
