"""One schedule on its way through the judge: written down, checked, tried on cases, simulated, its claims checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.emulator.streams.commands import Recording
from grader.emulator.streams.timeline import Timeline
from grader.judge.child.begun import RECORDING
from grader.judge.correctness.cases import Case
from grader.judge.kernels.case_runner import CaseRunner, case_result
from grader.judge.refused import Refused
from grader.judge.runners.runner import Runner
from grader.judge.schedules.case_replay import replay
from grader.judge.schedules.checker import CheckedSchedule, check_schedule
from grader.judge.schedules.dataflow import MOST_TIMES, TooMuch, followed
from grader.judge.schedules.facts import facts, host_copies
from grader.judge.schedules.job import ScheduleJob
from grader.judge.submission import Submission, check_claims
from grader.workbook import units
from grader.workbook.expressions import Number
from grader.workbook.ladder import ClaimSpec
from grader.workbook.reference import Problem
from grader.workbook.schedule_file import ScheduleFile


@dataclass(kw_only=True)
class ScheduleSubmission(Submission):
    """What is known of a schedule so far."""

    file: ScheduleFile
    checked: dict[tuple[tuple[str, Number], ...], CheckedSchedule] = field(default_factory=dict)  # by problem
    timeline: Timeline | None = None  # simulated at the sizes that times are for

    @property
    def problems(self) -> list[Problem]:
        """Those that it was written down for."""
        return [dict(sizes) for sizes in self.checked]

    def recording(self, problem: Problem) -> Recording | None:
        """What the schedule asks for at a problem's sizes; one with faults has a recording as well."""
        found = self.checked.get(tuple(problem.items()))
        return None if found is None else found.recording

    def recorded(self, problem: Problem) -> Recording:
        """The same, for the stages after checking."""
        recording = self.recording(problem)
        assert recording is not None, "check first"
        return recording

    def advice(self, measured: Collection[str] = ()) -> str:
        """About the host's own copies, where they take much of the time."""
        return "" if self.timeline is None else host_copies(self.timeline)


def check_all(current: ScheduleSubmission, job: ScheduleJob, problems: Iterable[Problem]) -> None:
    """Write the schedule down for every problem, up to the first that shows a fault.

    The child in which the learner's code runs does nothing else, and ends with it.
    """
    runner = Runner("emulator", job.pool.arch, threads=1, role=RECORDING, at_once=job.pool.at_once)
    try:
        for problem in problems:
            if tuple(problem.items()) not in current.checked:
                _check(current, job, runner, problem)
    finally:
        runner.close()


def _check(current: ScheduleSubmission, job: ScheduleJob, runner: Runner, problem: Problem) -> None:
    found = check_schedule(runner, job.topic, job.kernel, current.file, problem)
    current.checked[tuple(problem.items())] = found
    printed = runner.printed()
    if found.refusal is not None or not current.printed:
        current.printed = printed
    if found.refusal is not None:
        current.findings.extend(found.findings)
        raise found.refusal.saying(f"{found.refusal.reason} {_where(problem)}")


def _where(problem: Problem) -> str:
    return f"(Where {units.case(problem)}.)"


def try_cases(
    current: ScheduleSubmission, job: ScheduleJob, runner: CaseRunner, cases: Sequence[Case]
) -> None:
    """Replay the schedule on cases, up to the first that is not a pass."""
    for case in cases:
        outcome = replay(runner, job.kernel, current.recorded(case.problem), case)
        current.cases.append(case_result(case, outcome, runner, current.name))
        if outcome.refusal is not None:
            raise outcome.refusal


def follow(current: ScheduleSubmission, job: ScheduleJob, problem: Problem) -> None:
    """Look at what the schedule does to data at sizes that nothing is replayed at. Raises Refused."""
    try:
        wrong = followed(job.topic, problem, current.recorded(problem))
    except TooMuch:
        many = f"Its launches compute more than {MOST_TIMES} times what the job asks for"
        raise Refused("timeout", f"{many}: launch once for each part of it. {_where(problem)}") from None
    if wrong is not None:
        found = "parts of two elements" if wrong.found is None else f"{wrong.found:g}"
        index = np.unravel_index(wrong.element, job.topic.kernel.shape(wrong.array, problem))
        element = f"`{wrong.array}[{', '.join(map(str, index))}]`"
        raise Refused(
            "fail",
            f"Followed call by call, the schedule leaves {found} in {element}, where "
            f"{wrong.wanted:g} belongs. It is right at the sizes that are tried: look at what it does otherwise at "
            f"these. {_where(problem)}",
        )


def claim(current: ScheduleSubmission, job: ScheduleJob, claims: Sequence[ClaimSpec]) -> None:
    """Simulate the schedule at the sizes that times are for, and check claims on what that shows."""
    recording = current.recorded(job.problem)
    current.timeline = job.simulate(recording)
    current.facts = facts(recording, current.timeline, job.reach, job.results)
    current.claims = check_claims(job.topic, claims, [{**job.problem, **current.facts}])
