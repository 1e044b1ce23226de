"""The plain records of which a learner's history consists: an outcome for each item, a sitting for each session, and
each grade of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

from grader.results import Verdict

Level = Literal["junior", "mid", "senior", "staff"]
LEVELS: tuple[Level, ...] = ("junior", "mid", "senior", "staff")
"""From the first job up."""

Share = Annotated[float, Meta(ge=-1, le=1)]
Spent = Annotated[float, Meta(ge=0)]
Moment = Annotated[datetime, Meta(tz=True)]
Name = Annotated[str, Meta(min_length=1)]


@dataclass(frozen=True)
class Outcome:
    """How one item was answered in one session, which has one outcome for it at most."""

    item: Annotated[str, Meta(pattern=r"^[^/\s]+(/[^/\s]+)+$")]  # "banks/one_word": a question and its probe
    when: Moment  # UTC
    share: Share  # earned by checking: 1 is right; a wrong answer is below 0, so guessing gives 0
    rated: Share | None  # what the learner gave the answer in prose that it belongs to; None: there was none
    level: Level
    topics: tuple[str, ...]  # ladders that it belongs to
    format: Name  # quiz, interview, review, …
    seconds: Spent
    session: Name  # its id


@dataclass(frozen=True)
class Sitting:
    """A whole session, so that the next of its kind can be compared with it."""

    id: Name
    format: Name
    subject: str  # what it was about: a topic, a drill, questions
    started: Moment  # UTC
    seconds: Spent
    share: Share  # of its points, earned by checking
    rated: Share | None  # what the learner gave the own prose, on average


@dataclass(frozen=True)
class Graded:
    """A kernel of the learner's, as it was graded."""

    topic: Name
    when: Moment  # UTC
    file: Name  # where it is; its name alone in what is exported
    digest: Name  # SHA-256 of what was in it, in hex
    verdict: Verdict
    rung: str | None  # that it reached; None: it is not right, or its rung is not known
