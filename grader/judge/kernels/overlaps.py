"""Blocks that store to each other's elements, seen by running one block of a grid alone and then others."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from msgspec import structs

from grader.judge.correctness.cases import Case
from grader.judge.correctness.guards import unwritten
from grader.judge.kernels.case_run import CaseRun
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import Kernel
from grader.judge.kernels.counted_terms import Kept
from grader.judge.kernels.missing import too_near
from grader.workbook.expressions import Expression

Mask = np.ndarray[Any, np.dtype[np.bool_]]

UNITS = {1: ("element",), 2: ("row", "column")}
"""What the dimensions of an output count."""


def told(runner: CaseRunner, kernel: Kernel, case: Case) -> str:
    """How far apart blocks begin, and how many rows, columns or elements each takes, where that is more; "" where they
    do not, or something else is the matter."""
    launches = kernel.file.launches
    alone = _Alone.of(runner, kernel, case)
    distance = 1
    for axis, blocks in enumerate(alone.grid if alone else ()):
        pair = [alone.stored((block,)) for block in (0, distance)] if alone and blocks > 1 else []
        distance *= blocks
        for dimension, unit in enumerate(UNITS.get(pair[0].ndim, ()) if pair else ()):
            own, beside = (_range(stored, dimension) for stored in pair)
            if not own or not beside or len(own) != len(beside):
                continue
            apart, each, ends = abs(beside[0] - own[0]), len(own), (0, pair[0].shape[dimension] - 1)
            if 0 < apart < each and (own[0] in ends or own[-1] in ends):
                near = too_near(apart, each, unit, axis, blocks, str(apart) if apart > 1 else "")
                grid = _grid(runner, launches[0].grid[axis], each) if len(launches) == 1 else ""
                return f"{near[0].upper()}{near[1:]}{grid}"
    return ""


def there_are(runner: CaseRunner, kernel: Kernel, case: Case) -> bool:
    """Whether others store to elements of the first block."""
    alone = _Alone.of(runner, kernel, case)
    if alone is None:
        return False
    others = tuple(range(1, math.prod(alone.grid)))
    return bool(others) and bool((alone.stored((0,)) & alone.stored(others)).any())


def _grid(runner: CaseRunner, given: Expression, each: int) -> str:
    """How many blocks there are to be, instead of a number that is given."""
    sizes = [size.name for size in runner.topic.signature.sizes if size.name in given.names]
    blocks = f"cdiv({sizes[0]}, {each})" if len(sizes) == 1 else ""
    return (
        f" The grid then needs {blocks} of them, and not {given.text}."
        if blocks and given.text != blocks
        else ""
    )


@dataclass(frozen=True)
class _Alone:
    """A launch of which some blocks are run alone."""

    runner: CaseRunner
    run: CaseRun

    @classmethod
    def of(cls, runner: CaseRunner, kernel: Kernel, case: Case) -> _Alone | None:
        """None where there are several: one may store what another has to store anew. What a launch sets to zero it has
        stored as a whole."""
        planned = kernel.plan(case.problem, runner.child.hello().limits)
        run = CaseRun(kernel, planned, case, runner.store.get(case))
        single = len(planned.launches) == len(run.data.expected) == 1 and not planned.launches[0].zero
        return cls(runner, run) if single else None

    @property
    def grid(self) -> tuple[int, int, int]:
        return self.run.planned.launches[0].grid

    def stored(self, blocks: tuple[int, ...]) -> Mask:
        """The elements that these blocks store to."""
        planned, data = self.run.planned, self.run.data
        launches = tuple(structs.replace(launch, blocks=blocks) for launch in planned.launches)
        kept = Kept(data.inputs, data.expected, data.allowed, "")
        self.runner.once(replace(self.run, planned=replace(planned, launches=launches), data=kept))
        ((name, expected),) = data.expected.items()
        if name not in kept.outputs:  # they were stopped
            return np.zeros(expected.shape, np.bool_)
        return ~unwritten(kept.outputs[name]).reshape(expected.shape)


def _range(stored: Mask, dimension: int) -> range | None:
    """The rows, say, in which something is stored, where no other lies between."""
    others = tuple(axis for axis in range(stored.ndim) if axis != dimension)
    places = np.flatnonzero(stored.any(axis=others))
    if not len(places):
        return None
    first, last = int(places[0]), int(places[-1])
    return range(first, last + 1) if len(places) == last - first + 1 else None
