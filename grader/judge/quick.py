"""The public cases of one file, again at each save: what stays warm is the child that launches and the cases' data."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from grader.errors import WarpladderError
from grader.judge.correctness.cases import CaseStore
from grader.judge.grade import cases_of, parse, refused
from grader.judge.graded import graded
from grader.judge.runners.pool import DevicePool
from grader.results import Grade
from grader.workbook.reference import Problem
from grader.workbook.topic import Topic


class QuickCheck:
    """Tries a submission on cases whose data is known beforehand, up to the first that fails."""

    def __init__(
        self,
        topic: Topic,
        device: str = "auto",
        seed: int | None = None,
        problem_overrides: Problem | None = None,
        arch: str | None = None,
    ) -> None:
        self._topic = topic
        self._tried = [case for case in cases_of(topic, seed, problem_overrides) if not case.secret]
        self._store = CaseStore(topic)
        self._pool = DevicePool(device, arch, jobs=1)

    def check(self, file: Path) -> Grade:
        """The cases up to the first that fails; without rung and points."""
        try:
            parsed = parse(self._topic, file)
        except WarpladderError as error:
            return refused(self._topic, str(file), "error", str(error))
        return graded(self._pool, self._topic, parsed, file, self._tried, False, store=self._store)

    def __enter__(self) -> QuickCheck:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._pool.close()
