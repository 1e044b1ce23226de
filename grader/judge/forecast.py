"""The times that the model gives a ladder on a device, without judging it: for its error, and for "what on an A100?".

Rungs are counted at the topic's `count` sizes and modelled at larger ones, as a climb does it without a GPU, but on
any board of devices.toml: kernels are compiled for its architecture and launched for its multiprocessors.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.analysis.devices import DeviceSpec
from grader.analysis.what_if import Modelled
from grader.judge.kinds import kind_of
from grader.judge.runners.fitting import at_a_time
from grader.judge.runners.pool import DevicePool, Progress, silent
from grader.workbook import compiler
from grader.workbook.ladder import Rung
from grader.workbook.reference import Problem
from grader.workbook.source_file import SourceFile
from grader.workbook.topic import Topic


@dataclass(frozen=True)
class Forecast:
    """The modelled times of a ladder."""

    device: DeviceSpec
    problem: dict[str, int | float]
    rungs: dict[str, Modelled]  # by id, in the ladder's order


def forecast(
    topic: Topic,
    device: DeviceSpec,
    problem: Problem | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Forecast:
    """Model every rung of a topic on a device, at its `main` sizes but for those in `problem`.

    Raises WarpladderError for a size that is unusable.
    """
    sizes = topic.problem("main", problem)
    report = progress or silent
    with DevicePool("emulator", architecture(device), jobs or at_a_time(topic)) as pool:
        model = kind_of(topic).model(pool, device, sizes)

        def examine(rung: Rung[SourceFile]) -> Modelled:
            report(rung.id, "model")
            found = model(rung)
            report(rung.id, "done")
            return found

        found = pool.spread(examine, topic.rungs)
    return Forecast(device, sizes, {rung.id: item for rung, item in zip(topic.rungs, found, strict=True)})


def architecture(device: DeviceSpec) -> str:
    """What to compile for on a board, such as "sm_80"."""
    major, minor = map(int, device.capability.name.split("."))
    return compiler.architecture((major, minor))
