"""What claims may name, of one kernel or schedule: sizes, counters and facts, without judging it."""

from __future__ import annotations

from pathlib import Path

from grader.errors import WarpladderError
from grader.judge.correctness.cases import CaseStore
from grader.judge.kernels import submission
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.pool import DevicePool
from grader.judge.kernels.submission import KernelSubmission
from grader.judge.schedules import submission as schedules
from grader.results import Grade
from grader.workbook.expressions import Number
from grader.workbook.topics import Topic


def of_file(topic: Topic, file: Path, arch: str | None = None) -> dict[str, Number]:
    """Run a file once on the emulator, at the sizes that claims are for.

    Raises WarpladderError for a file that is unusable or wrong there.
    """
    rung = topic.parse(file)
    current: KernelSubmission
    with DevicePool("emulator", arch, jobs=1) as session:
        store = CaseStore(topic)
        if topic.kernel is not None:
            shared = schedules.schedule_job(session, topic, topic.sizes_main)
            current = schedules.examine(rung, str(file), shared, store, (), ())
        else:
            current = KernelSubmission(rung, str(file))
            submission.compile_it(current, session.arch)
            with session.emulator() as runner:
                examiner = CaseRunner(topic, store, runner)
                submission.count(current, examiner, topic.sizes_count, passed_on_gpu=False)
                submission.claim(current, examiner, (), topic.sizes_count)
    if current.refusal is not None or current.facts is None:
        reason = "it was not counted" if current.refusal is None else current.refusal.reason
        raise WarpladderError(reason, file=file)
    return named(topic, current.counters, current.facts)


def of_grade(topic: Topic, grade: Grade) -> dict[str, Number] | None:
    """The same of a submission that was graded; None where it did not pass, or was not counted."""
    if grade.verdict != "pass" or grade.facts is None:
        return None
    return named(topic, grade.counters, grade.facts)


def named(topic: Topic, counters: dict[str, int] | None, facts: dict[str, Number]) -> dict[str, Number]:
    """Counters and facts with the sizes that they are for."""
    problem = topic.sizes_count if topic.kernel is None else topic.sizes_main
    return {**(counters or {}), **topic.signature.with_derived(problem), **facts}
