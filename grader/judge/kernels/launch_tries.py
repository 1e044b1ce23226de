"""What is often wrong with a launch: threads taken for blocks, x for y. The first is told before anything runs; whether
it is the second is tried."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from msgspec import structs

from grader.judge.child.protocol import Launch
from grader.judge.correctness.cases import Case
from grader.judge.kernels import case_run
from grader.judge.kernels.case_run import CaseRun, Outcome
from grader.judge.kernels.case_runner import EMULATOR_SECONDS, CaseRunner, instruction_budget
from grader.judge.kernels.compiled import Kernel, Planned
from grader.judge.refused import Refused
from grader.workbook import units
from grader.workbook.reference import Problem

LITTLE_WORK = 8
"""Operations an element, up to which a block of a warp or more has no use for one element alone."""

MANY = 1024
"""Elements from which on it is no edge of a small case that blocks are as many."""

WARP = 32


def check(runner: CaseRunner, kernel: Kernel, problem: Problem) -> None:
    """Raises Refused for a grid that has a block for each element, where an element is hardly work for a thread."""
    topic, sampled = runner.topic, runner.topic.sampled
    if sampled is None:
        return
    elements = max(math.prod(shape) for shape in sampled.shapes(problem).values())
    if elements < MANY or topic.reference.min_flop(problem) > LITTLE_WORK * elements:
        return
    for launch in kernel.plan(problem, runner.child.hello().limits).launches:
        blocks, threads = math.prod(launch.grid), math.prod(launch.block)
        if blocks >= elements and threads >= WARP:
            raise Refused(
                "error",
                f"At {units.problem(dict(problem))} the grid has {blocks:,} blocks of {threads:,} threads for "
                f"{elements:,} elements: a block, and not a thread, for each. `grid` counts blocks: divide by the "
                "threads of a block, and round up, as cdiv(N, BLOCK) does.",
            )


def mended(runner: CaseRunner, kernel: Kernel, case: Case) -> str:
    """What makes a case come out right that does not, of what is often exchanged in a launch block; "" for nothing."""
    planned = kernel.plan(case.problem, runner.child.hello().limits)
    for said, launches in _others(planned):
        attempt = CaseRun(kernel, replace(planned, launches=launches), case, runner.store.get(case))
        try:
            budget = instruction_budget(runner.topic, case.problem)
            case_run.run(runner.child, attempt, budget, EMULATOR_SECONDS, Outcome())
        except Refused:
            continue
        return f"With {said} exchanged in the launch block it comes out right."
    return ""


def _others(planned: Planned) -> Iterator[tuple[str, tuple[Launch, ...]]]:
    """The launches with something exchanged, but for what stays the same."""
    ways = {
        "x and y of `grid`": lambda launch: structs.replace(launch, grid=_turned(launch.grid)),
        "x and y of `block`": lambda launch: structs.replace(launch, block=_turned(launch.block)),
        "x and y of `grid` and `block`": lambda launch: structs.replace(
            launch, grid=_turned(launch.grid), block=_turned(launch.block)
        ),
        "`grid` and `block`": lambda launch: structs.replace(launch, grid=launch.block, block=launch.grid),
    }
    for said, way in ways.items():
        launches = tuple(map(way, planned.launches))
        if launches != planned.launches:
            yield said, launches


def _turned(shape: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, z = shape
    return y, x, z
