"""A candidate who answers from a script, in the place of a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from grader.interview import credit
from grader.interview.room import Action, Asked
from grader.interview.session import Code, Figure
from grader.judge.runners.pool import Progress
from grader.results import Grade


class Candidate:
    """`says` are free texts and answers to probes by step; of several at one step, each is given in turn. `writes`, by
    step, is what is done where code is asked for: a source to be graded, "hint" or "skip". What is not in the script is
    not answered. `leaves_at` is the step at which Ctrl-C is pressed."""

    def __init__(
        self,
        says: Mapping[str, str | Sequence[str]] | Callable[[Asked], str],
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
        self.time_was_up = False

    def say(self, text: str, title: str = "") -> None:
        self.read.append(f"{title}: {text}")

    def talk(self, asked: Asked) -> str:
        self._ask(asked)
        return self._answer(asked)

    def begun(self) -> str:
        return ""

    def line(self, asked: Asked) -> str:
        self._ask(asked)
        return self._answer(asked)

    def checked(self, title: str, points: Sequence[credit.Point]) -> None:
        self.looked_back.append((title, list(points)))

    def unreadable(self, complaint: str) -> None:
        self.complaints.append(complaint)

    def figured(self, figure: Figure) -> None:
        self.figures.append(figure)

    def code(self, asked: Asked, file: Path, draft: Code) -> Action:
        self._ask(asked)
        versions = self._writes.get(asked.step)
        if not versions:
            return "skip"
        following = versions.pop(0)
        if following in ("hint", "skip"):
            return following  # type: ignore[return-value]
        file.write_text(following, encoding="utf-8")
        return "grade"

    @contextmanager
    def grading(self, file: Path) -> Iterator[Progress]:
        yield lambda rung, stage: None

    def graded(self, result: Grade, rung: str) -> None:
        self.grades.append(result)

    def mended(self, result: Grade, said: str) -> None:
        self.grades.append(result)
        self.read.append(said)

    def rate(self, answer: str, said: str) -> float:
        return self._rates

    def time_is_up(self) -> None:
        self.time_was_up = True

    def _ask(self, asked: Asked) -> None:
        if asked.step == self._leaves_at:
            raise KeyboardInterrupt
        self.asked.append(asked.step)
        self.texts[asked.step] = asked.text
        self._waits(asked.step)

    def _answer(self, asked: Asked) -> str:
        if callable(self._says):
            return self._says(asked)
        said = self._says.get(asked.step, "")
        if isinstance(said, str):
            return said if self.asked.count(asked.step) == 1 else ""
        number = self.asked.count(asked.step) - 1
        return said[number] if number < len(said) else ""
