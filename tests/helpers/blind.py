"""What persons answer to probes, written by somebody who had not seen the right answers.

tests/interview/blind/NAME.toml has, for the probes of one session, what each person types, and a digest of what was
asked: a probe that reads otherwise today has to be answered again.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import persons
from persons import Entry, Person

from grader.interview.probes.posing import LETTERS
from grader.interview.prompts import Prompt
from grader.interview.session import Session

ANSWERS = Path(__file__).parents[1] / "interview/blind"
SEED = 100
"""Of the session whose probes were answered."""
PERSONS = ("strong", "terse", "mediocre", "wrong", "salad")


def shown(asked: Prompt) -> str:
    """A probe as a candidate sees it, in lines."""
    code = [f"{number:3} {line}" for number, line in enumerate(asked.code, 1)]
    options = [f"{letter}) {text}" for letter, text in zip(LETTERS, asked.options, strict=False)]
    return "\n".join([asked.text.strip(), *code, *options, f"[{asked.wanted}]"])


def asked_of(entry: Entry) -> dict[str, str]:
    """What is asked of an entry's points in the session of SEED, by step."""
    found: dict[str, str] = {}

    def note(asked: Prompt) -> str:
        found[asked.step] = shown(asked)
        return ""

    persons.interview(entry, Person(note), SEED)
    return found


def digest(text: str) -> str:
    """What changes with a probe, however little of it changes."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@cache
def answers(name: str) -> Mapping[str, Mapping[str, str]]:
    """What was answered in an entry, by step: `asked`, and what each person types; {} where nobody has answered."""
    path = ANSWERS / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def stale(name: str, entry: Entry) -> list[str]:
    """The steps whose probe nobody has answered as it reads today."""
    known = answers(name)
    return [
        step for step, text in asked_of(entry).items() if known.get(step, {}).get("asked") != digest(text)
    ]


def play(name: str, entry: Entry, person: str) -> Session:
    """The talks of an entry, its probes answered by a person of the corpus."""
    left = {step: given[person] for step, given in answers(name).items()}

    def once(asked: Prompt) -> str:
        """What cannot be read is asked again, and then left out."""
        return left.pop(asked.step, "")

    return persons.interview(entry, Person(once), SEED)
