"""A candidate who answers from a script, in the place of a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from grader.interview import credit
from grader.interview.driving import drive
from grader.interview.interviewer import RATINGS, Judge
from grader.interview.prompts import Prompt
from grader.interview.session import Do, Figure, Session
from grader.interview.sitting import Run, Sitting
from grader.judge.runners.pool import Progress
from grader.results import Grade


def sit(
    run: Run,
    kept: Session,
    path: Path,
    candidate: Candidate,
    judge: Judge | None = None,
    now: Callable[[], float] = time.monotonic,
) -> Session:
    """What `run` asks, from where the session stands to its end. Raises BrokenOff where the candidate leaves."""
    return drive(Sitting(run, kept, path, judge, now), candidate)


class Candidate:
    """`says` are free texts and answers to probes by step; of several at one step, each is given in turn. `writes`, by
    step, is what is done where code is asked for: a source to be graded, "hint" or "skip". What is not in the script is
    not answered. `leaves_at` is the step at which Ctrl-C is pressed."""

    def __init__(
        self,
        says: Mapping[str, str | Sequence[str]] | Callable[[Prompt], str],
        writes: Mapping[str, Sequence[str]] | None = None,
        leaves_at: str | None = None,
        rates: float = 0.5,
        waits: Callable[[str], None] = lambda step: None,
    ) -> None:
        self._says = says
        self._writes = {step: list(versions) for step, versions in (writes or {}).items()}
        self._leaves_at = leaves_at
        self._rates = rates
        self._waits = waits
        self.asked: list[str] = []  # steps, in order
        self.texts: dict[str, str] = {}  # what was asked, by step
        self.read: list[str] = []  # what the candidate was told
        self.figures: list[Figure] = []
        self.complaints: list[str] = []
        self.looked_back: list[tuple[str, list[credit.Point]]] = []
        self.grades: list[Grade] = []

    def say(self, text: str, title: str = "") -> None:
        self.read.append(f"{title}: {text}")

    def talk(self, asked: Prompt) -> str:
        self._ask(asked)
        return self._answer(asked)

    def begun(self) -> str:
        return ""

    def line(self, asked: Prompt) -> str:
        self.complaints += [asked.complaint] if asked.complaint else []
        self._ask(asked)
        return self._answer(asked)

    def checked(self, title: str, points: Sequence[credit.Point]) -> None:
        self.looked_back.append((title, list(points)))

    def figured(self, figure: Figure) -> None:
        self.figures.append(figure)

    def code(self, asked: Prompt) -> Do:
        self._ask(asked)
        versions = self._writes.get(asked.step)
        if not versions:
            return "skip"
        following = versions.pop(0)
        if following in ("hint", "skip"):
            return following  # type: ignore[return-value]
        asked.file.write_text(following, encoding="utf-8")
        return "grade"

    @contextmanager
    def grading(self, file: Path) -> Iterator[Progress]:
        yield lambda rung, stage: None

    def judged(self, result: Grade, rung: str) -> None:
        self.grades.append(result)

    def mended(self, result: Grade, said: str) -> None:
        self.grades.append(result)
        self.read.append(said)

    def rate(self, answer: str, said: str) -> Do:
        return next(do for do, rated in RATINGS.items() if rated == self._rates)

    def _ask(self, asked: Prompt) -> None:
        if asked.step == self._leaves_at:
            raise KeyboardInterrupt
        self.asked.append(asked.step)
        self.texts[asked.step] = asked.text
        self._waits(asked.step)

    def _answer(self, asked: Prompt) -> str:
        if callable(self._says):
            return self._says(asked)
        said = self._says.get(asked.step, "")
        if isinstance(said, str):
            return said if self.asked.count(asked.step) == 1 else ""
        number = self.asked.count(asked.step) - 1
        return said[number] if number < len(said) else ""
