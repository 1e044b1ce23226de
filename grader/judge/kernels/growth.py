"""Kernels that do end, and of which a block does more than it may: told by what it does at smaller sizes."""

from __future__ import annotations

from dataclasses import replace

from grader.judge.correctness.cases import Case, make
from grader.judge.kernels.case_run import CaseRun, Outcome
from grader.judge.kernels.case_runner import CaseRunner, work
from grader.judge.kernels.compiled import Kernel
from grader.workbook import units

TOO_MUCH = (
    "Where {sizes}, it executed {count:,} and came to its end: what it has to do grows with the problem, and is too "
    "much here. Let all blocks of the grid, and all threads of each, share the work, so that each does a part of its "
    "own, and let the grid grow with the problem."
)

APART = 2
"""Times the work of one size that the next has."""


def told(runner: CaseRunner, kernel: Kernel, case: Case, outcome: Outcome) -> str:
    """That a block that was stopped comes to its end where there is less to do, of one that does as much more in this
    case as there is more to do; "" where that is not why."""
    if not outcome.records or outcome.records[-1].status != "budget exhausted":
        return ""
    judging, at = replace(runner, most=None), len(outcome.records) - 1
    larger = _smaller(judging, case)
    less = larger and _smaller(judging, larger)
    if larger is None or less is None:
        return ""
    executed, before = (_executed(judging, kernel, each, at) for each in (larger, less))
    more = work(runner.topic, case.problem) / work(runner.topic, larger.problem)
    if executed < APART * before or not before or executed * more < judging.budget(case):
        return ""
    return TOO_MUCH.format(sizes=units.case(larger.problem), count=executed)


def _smaller(runner: CaseRunner, case: Case) -> Case | None:
    """A case of the largest of the topic's sizes with half the work or less."""
    most = work(runner.topic, case.problem) / APART
    sizes = [size for size in runner.topic.judge_cases if work(runner.topic, size) <= most]
    largest = max(sizes, key=lambda size: work(runner.topic, size), default=None)
    return None if largest is None else make(largest, "exact", case.seed)


def _executed(runner: CaseRunner, kernel: Kernel, case: Case, at: int) -> int:
    """Warp instructions of the longest block of a launch; 0 where the case is not right."""
    planned = kernel.plan(case.problem, runner.child.hello().limits)
    ran = runner.once(CaseRun(kernel, planned, case, runner.store.get(case)))
    return ran.records[at].longest_block if ran.refusal is None and at < len(ran.records) else 0
