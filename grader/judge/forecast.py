"""The times that the model gives a ladder on a device, without judging it: for its error, and for "what on an A100?".

Rungs are counted at the topic's `count` sizes and modelled at larger ones, as a climb does it without a GPU, but on
any board of devices.toml: kernels are compiled for its architecture and launched for its multiprocessors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from grader import compiler
from grader.analysis.devices import DeviceSpec
from grader.analysis.what_if import Modelled
from grader.content import name_of
from grader.judge import schedules, step
from grader.judge.cases import CaseStore
from grader.judge.examination import Examiner
from grader.judge.schedules import ScheduleStep
from grader.judge.session import Progress, Session, silent
from grader.judge.step import Step
from grader.rung import Rung
from grader.topics import Problem, Topic


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
    with Session("emulator", architecture(device), jobs) as session:
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
    session: Session, topic: Topic, device: DeviceSpec, problem: Problem
) -> Callable[[Rung], Modelled]:
    counted, store = topic.problem("count", None), CaseStore(topic)

    def model(rung: Rung) -> Modelled:
        current = Step(rung, name_of(rung.path))
        step.compile_it(current, session.arch)
        with session.emulator() as runner:
            examiner = Examiner(topic, store, runner)
            step.count(current, examiner, counted, passed_on_gpu=False)
            step.model(current, examiner, counted, problem, device)
        if current.refusal is not None or current.modelled is None:
            return Modelled(reason=_reason(current) or "not counted")
        return Modelled(current.modelled.seconds, current.modelled.limited_by)

    return model


def _of_schedules(
    session: Session, topic: Topic, device: DeviceSpec, problem: Problem
) -> Callable[[Rung], Modelled]:
    shared = replace(schedules.stand(session, topic, problem), device=device)

    def model(rung: Rung) -> Modelled:
        current = ScheduleStep(rung, name_of(rung.path))
        schedules.rehearse_all(current, shared, [problem])
        recording = current.recording(problem)
        if current.refusal is not None or recording is None:
            return Modelled(reason=_reason(current) or "not rehearsed")
        return Modelled(shared.simulate(recording).seconds)

    return model


def _reason(current: Step) -> str | None:
    """Why a rung went no further, without its path: the rung is named beside it."""
    return None if current.refusal is None else current.refusal.reason.replace(f"{current.rung.path}: ", "")
