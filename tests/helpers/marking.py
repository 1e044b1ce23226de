"""Many files marked one after the other, as those of a class are: by one emulator, and each topic's public cases are
computed once."""

from __future__ import annotations

from pathlib import Path

from grader.errors import WarpladderError
from grader.judge.correctness.cases import PUBLIC_SEED, CaseStore
from grader.judge.grade import cases_of, refused
from grader.judge.graded import graded
from grader.judge.runners.pool import DevicePool
from grader.results import Grade
from grader.workbook.reference import Problem
from grader.workbook.topic import Topic


class Marking:
    """What `ladder grade` says of a file, without processes of its own for each."""

    def __init__(self, pool: DevicePool) -> None:
        self._pool = pool
        self._stores: dict[Path, CaseStore] = {}

    def __call__(
        self, topic: Topic, file: Path, seed: int | None = None, problem_overrides: Problem | None = None
    ) -> Grade:
        try:
            parsed = topic.parse(file)
        except WarpladderError as error:
            return refused(topic, str(file), "error", str(error))
        store = self._stores.setdefault(topic.folder, CaseStore(topic))
        tried = cases_of(topic, seed, problem_overrides)
        try:
            return graded(self._pool, topic, parsed, file, tried, not problem_overrides, store=store)
        finally:
            store.keep({PUBLIC_SEED})
