"""Trying a kernel file on its cases in several emulators at a time.

Cases that launch other kernels have nothing to do with each other, and each emulator generates the native code of its
own kernels alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from grader.judge.correctness.cases import Case
from grader.judge.kernels.case_run import Outcome
from grader.judge.kernels.case_runner import CaseRunner, on_fewer
from grader.judge.kernels.compiled import Kernel
from grader.judge.kernels.limits import Limits
from grader.judge.refused import Refused
from grader.workbook.reference import Problem

Beside = Callable[[Callable[[CaseRunner], None]], Future[None]]
"""Begins work with another emulator once one is free; until then it may be cancelled."""


@dataclass(frozen=True)
class Tried(CaseRunner):
    """Has run all cases of a kernel up to the first that is refused."""

    kernel: Kernel | None = None
    known: dict[Case, Outcome] = field(default_factory=dict)

    def outcome(self, kernel: Kernel, case: Case, *, thorough: bool = True) -> Outcome:
        found = self.known.get(case) if kernel is self.kernel else None  # None: to explain one of these
        return super().outcome(kernel, case, thorough=thorough) if found is None else found


def run_all(
    kernel: Kernel, runner: CaseRunner, cases: Sequence[Case], later: Iterable[Problem], beside: Beside
) -> Tried:
    """Run the cases up to the first that is refused, in `runner` and in those that are free beside it.

    `runner` has run those whose kernels are launched for the problems that it is to run `later`.
    """
    tried = Tried(runner.topic, runner.store, runner.child, kernel=kernel)

    def run(numbers: Sequence[int], runner: CaseRunner) -> None:
        for number in numbers:
            if any(tried.known[case].refusal for case in cases[:number] if case in tried.known):
                return
            tried.known[cases[number]] = runner.outcome(kernel, cases[number])

    own, *others = parts(kernel, cases, later, runner.child.hello().limits)
    begun = [beside(partial(run, part)) for part in others]
    try:
        run(own, runner)
        for part, future in zip(others, begun, strict=True):
            if future.cancel():
                run(part, runner)
    finally:
        for future in begun:
            if not future.cancel():
                future.result()
    return tried


def parts(kernel: Kernel, cases: Sequence[Case], later: Iterable[Problem], limits: Limits) -> list[list[int]]:
    """The cases' numbers; those are together that have a kernel in common, first of all with the problems of `later`.

    What an emulator has learned of a kernel in one launch decides how it runs the next: so one emulator makes all
    launches of a kernel, in the same order however many emulators there are.
    """
    whole = [list(range(len(cases)))]
    if kernel.keeps_state:  # a case is run after others, of other kernels
        return whole
    found: list[tuple[set[str], list[int]]] = []
    try:
        wanted = {symbol for problem in later for symbol in _symbols(kernel, problem, limits)}
        for number, case in enumerate(cases):
            symbols = _symbols(kernel, case.problem, limits)
            same = [part for part in found if part[0] & symbols]
            numbers = sorted(number for _, numbers in same for number in numbers)
            merged = symbols.union(*(names for names, _ in same)), [*numbers, number]
            found = [*(part for part in found if part not in same), merged]
    except Refused:  # which is said when that problem is run
        return whole
    return [numbers for _, numbers in sorted(found, key=lambda part: not part[0] & wanted)]


def _symbols(kernel: Kernel, problem: Problem, limits: Limits) -> set[str]:
    fewer = on_fewer(kernel, problem, limits)
    planned = (kernel.plan(problem, limits), *([fewer] if fewer else []))
    return {launch.symbol for item in planned for launch in item.launches}
