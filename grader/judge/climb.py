"""Running a whole ladder: every rung judged, counted, and timed or its time modelled."""

from __future__ import annotations

from dataclasses import replace

from grader.judge.kinds import kind_of
from grader.judge.runners.fitting import at_a_time
from grader.judge.runners.pool import DevicePool, Progress, silent
from grader.results import Climb
from grader.workbook.reference import Problem
from grader.workbook.topic import Topic


def climb(
    topic: Topic,
    device: str = "auto",
    problem_overrides: Problem | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
    arch: str | None = None,
) -> Climb:
    """Climb a topic's ladder.

    `device` is "auto", "pycuda" or "emulator", `arch` the GPU that is emulated. Without a GPU, times are
    modelled; with one, they are measured, and counters are still the emulator's. Sizes given in
    `problem_overrides` are those of the times, and on the emulator those of the counters, too. `jobs` rungs
    are emulated at a time, by default as many as cores and memory allow; how many makes no difference to any
    number. Raises WarpladderError where the device or a size is unusable. A row of `Topic.with_row` claims nothing.
    """
    main = topic.problem("main", problem_overrides)
    with DevicePool(device, arch, jobs or at_a_time(topic, problem_overrides)) as pool:
        found = kind_of(topic).climb(pool, main, problem_overrides or None, progress or silent)
    own = {rung.id for rung in topic.rungs if rung.own}
    rungs = [replace(rung, claims=[]) if rung.id in own else rung for rung in found.rungs]
    return replace(found, rungs=rungs)
