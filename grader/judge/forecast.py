"""The times that the model gives a ladder on a device, without judging it: for its error, and for "what on an A100?".

Rungs are counted at the topic's `count` sizes and modelled at larger ones, as a climb does it without a GPU, but on
any board of devices.toml: kernels are compiled for its architecture and launched for its multiprocessors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from grader.analysis.devices import DeviceSpec
from grader.analysis.what_if import Modelled
from grader.judge.correctness.cases import CaseStore
from grader.judge.kernels import submission
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.pool import DevicePool, Progress, silent
from grader.judge.kernels.submission import KernelSubmission
from grader.judge.schedules import submission as schedules
from grader.judge.schedules.submission import ScheduleSubmission
from grader.workbook import compiler
from grader.workbook.content import name_of
from grader.workbook.kernel_file import Rung
from grader.workbook.topics import Problem, Topic


@dataclass(frozen=True)
class Forecast:
    """The modelled times of a ladder."""

    device: DeviceSpec
    problem: dict[str, int]
    rungs: dict[str, Modelled]  # by id, in the ladder's order


def forecast(
    topic: Topic,
    device: DeviceSpec,
    problem: Problem | None = None,
    progress: Progress | None = None,
    jobs: int = 2,
) -> Forecast:
    """Model every rung of a topic on a device, at its `main` sizes but for those in `problem`.

    Raises WarpladderError for a size that is unusable.
    """
    sizes = topic.problem("main", problem)
    report = progress or silent
    with DevicePool("emulator", architecture(device), jobs) as session:
        one = _of_kernels if topic.kernel is None else _of_schedules
        model = one(session, topic, device, sizes)

        def examine(rung: Rung) -> Modelled:
            report(rung.id, "model")
            found = model(rung)
            report(rung.id, "done")
            return found

        found = session.spread(examine, topic.rungs)
    return Forecast(device, sizes, {rung.id: item for rung, item in zip(topic.rungs, found, strict=True)})


def architecture(device: DeviceSpec) -> str:
    """What to compile for on a board, such as "sm_80"."""
    major, minor = map(int, device.capability.name.split("."))
    return compiler.architecture((major, minor))


def _of_kernels(
    session: DevicePool, topic: Topic, device: DeviceSpec, problem: Problem
) -> Callable[[Rung], Modelled]:
    counted, store = topic.problem("count", None), CaseStore(topic)

    def model(rung: Rung) -> Modelled:
        current = KernelSubmission(rung, name_of(rung.path))
        submission.compile_it(current, session.arch)
        with session.emulator() as runner:
            examiner = CaseRunner(topic, store, runner)
            submission.count(current, examiner, counted, passed_on_gpu=False)
            submission.model(current, examiner, counted, problem, device)
        if current.refusal is not None or current.modelled is None:
            return Modelled(reason=_reason(current) or "not counted")
        return Modelled(current.modelled.seconds, current.modelled.limited_by)

    return model


def _of_schedules(
    session: DevicePool, topic: Topic, device: DeviceSpec, problem: Problem
) -> Callable[[Rung], Modelled]:
    shared = replace(schedules.schedule_job(session, topic, problem), device=device)

    def model(rung: Rung) -> Modelled:
        current = ScheduleSubmission(rung, name_of(rung.path))
        schedules.check_all(current, shared, [problem])
        recording = current.recording(problem)
        if current.refusal is not None or recording is None:
            return Modelled(reason=_reason(current) or "not rehearsed")
        return Modelled(shared.simulate(recording).seconds)

    return model


def _reason(current: KernelSubmission) -> str | None:
    """Why a rung went no further, without its path: the rung is named beside it."""
    return None if current.refusal is None else current.refusal.reason.replace(f"{current.rung.path}: ", "")
