"""How the submissions of a topic are judged in which learners write schedules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.analysis.devices import DeviceSpec, board
from grader.analysis.what_if import Modelled
from grader.errors import WarpladderError
from grader.judge.claims.pace import Times
from grader.judge.correctness.cases import Case, CaseStore
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.runners.pool import DevicePool, Progress
from grader.judge.schedules import climb, measured, profile, sizes, submission
from grader.judge.schedules.job import ScheduleJob, schedule_job
from grader.judge.schedules.submission import ScheduleSubmission
from grader.judge.submission import Kind, Submission
from grader.judge.timing.kept import kept_times
from grader.results import Climb, Code, Profile
from grader.workbook.content import name_of
from grader.workbook.expressions import Number
from grader.workbook.ladder import Rung
from grader.workbook.reference import Problem
from grader.workbook.schedule_file import ScheduleFile
from grader.workbook.topic import ScheduleTopic


@dataclass(frozen=True)
class Schedules(Kind[ScheduleFile]):
    """Recorded, checked for order, replayed on cases, and simulated."""

    topic: ScheduleTopic

    def climb(
        self, pool: DevicePool, problem: dict[str, Number], overrides: Problem | None, progress: Progress
    ) -> Climb:
        return climb.climb(pool, self.topic, problem, progress)

    def examine(
        self,
        pool: DevicePool,
        file: ScheduleFile,
        name: str,
        tried: Sequence[Case],
        whole: bool,
        progress: Progress,
        store: CaseStore,
    ) -> ScheduleSubmission:
        progress(file.path.stem, "compile")
        job = schedule_job(pool, self.topic, self.topic.sizes_main)
        progress(file.path.stem, "judge")
        current = ScheduleSubmission(name=name, file=file)
        replayed: list[Problem] = [case.problem for case in tried]
        with current.stages():
            submission.check_all(current, job, _sizes(current, job, replayed) if whole else replayed)
            with pool.judge() as runner:
                cases = CaseRunner(self.topic, store, runner)
                submission.try_cases(current, job, cases, tried)
            if whole:
                for problem in current.problems:
                    if problem not in replayed:
                        submission.follow(current, job, problem)
                submission.claim(current, job, self.topic.claims)
        return current

    def times(
        self, pool: DevicePool, current: Submission, rungs: Sequence[Rung[ScheduleFile]], progress: Progress
    ) -> Times:
        assert isinstance(current, ScheduleSubmission), "a schedule"
        if pool.gpu is not None:
            return measured.times(pool, self.topic, current, rungs, progress)
        progress(current.file.path.stem, "model")
        device = board(pool.device.name, pool.device.arch)
        found = kept_times(
            self.topic, rungs, device, pool.arch, self.model(pool, device, self.topic.sizes_main)
        )
        own = None if current.timeline is None else current.timeline.seconds
        return Times(own, {name: rung.seconds for name, rung in found.items() if rung.seconds is not None})

    def once(self, pool: DevicePool, file: ScheduleFile, name: str) -> ScheduleSubmission:
        job = schedule_job(pool, self.topic, self.topic.claim_sizes)
        current = ScheduleSubmission(name=name, file=file)
        with current.stages():
            submission.check_all(current, job, [*self.topic.kernel.check_sizes, job.problem])
            submission.claim(current, job, ())
        return current

    def profile(
        self,
        file: Path,
        device: str,
        overrides: Problem | None,
        progress: Progress,
        arch: str | None,
        code: Code | None,
    ) -> Profile:
        if code is not None:
            raise WarpladderError("a schedule has no machine code", remedy=f"leave out --{code}")
        return profile.profile(self.topic, file, device, overrides, progress, arch)

    def model(
        self, pool: DevicePool, device: DeviceSpec, problem: Problem
    ) -> Callable[[Rung[ScheduleFile]], Modelled]:
        job = replace(schedule_job(pool, self.topic, problem), device=device)

        def model(rung: Rung[ScheduleFile]) -> Modelled:
            current = ScheduleSubmission(name=name_of(rung.path), file=rung.file)
            with current.stages():
                submission.check_all(current, job, [problem])
                return Modelled(job.simulate(current.recorded(problem)).seconds)
            return Modelled(reason=current.reason_without(rung.path) or "not checked")

        return model


def _sizes(current: ScheduleSubmission, job: ScheduleJob, replayed: Sequence[Problem]) -> Iterator[Problem]:
    """Those that a whole grade checks: the last ones come from what is recorded at the others."""
    yield from (*replayed, *job.topic.kernel.check_sizes, job.problem)
    calls = 0
    for problem in sizes.further(job.topic, current.file.source, current.recorded(job.problem)):
        if calls <= sizes.MOST_CALLS:
            yield problem
            calls += sum(1 for _ in current.recorded(problem).expanded())
