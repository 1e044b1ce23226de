"""A case that can be read: a few elements of small numbers, for a kernel whose values are wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.errors import WarpladderError
from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseData
from grader.judge.correctness.comparison import Comparison, rows, rows_left
from grader.judge.kernels.case_run import CaseRun
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import Kernel
from grader.judge.refused import Refused
from grader.results import Number, SmallCase
from grader.workbook.elements import is_float
from grader.workbook.reference import Problem
from grader.workbook.topic import Topic

Array = np.ndarray[Any, np.dtype[Any]]

SIDES = {1: (6,), 2: (3, 4), 3: (2, 3, 4)}
"""The sizes, by how many a topic has: unequal, so that what is exchanged shows. Of more sizes nothing is small."""

MOST = 24
"""Elements of an array that are read at a glance."""

SHIFTS = (0.0, 0.25)
"""Whole numbers, and where these come out right, quarters: an int on the way cuts them."""


@dataclass(frozen=True)
class _Kept(CaseData):
    """Keeps what it compares."""

    outputs: dict[str, Array] = field(default_factory=dict)

    def compare(self, name: str, actual: Array, block: int = 0) -> Comparison:
        self.outputs[name] = actual.copy()
        return super().compare(name, actual, block)


def of(runner: CaseRunner, kernel: Kernel, fits: tuple[str, ...]) -> tuple[SmallCase | None, tuple[str, ...]]:
    """A small case that the kernel gets wrong, None where there is none; and of mistakes that explain another one,
    those that explain it as well. Where a single number is due everywhere, all may."""
    problem = _problem(runner.topic)
    tried = (_tried(runner, kernel, problem, shift) for shift in SHIFTS) if problem else ()
    for small, also in filter(None, tried):
        several = len({number for row in small.expected for number in row}) > 1
        return small, tuple(said for said in fits if said in also) if several else fits
    return None, fits


def _problem(topic: Topic) -> Problem | None:
    sizes = [size.name for size in topic.signature.sizes]
    if topic.readable is not None or len(sizes) not in SIDES:
        return topic.readable
    return {**topic.sizes_count, **dict(zip(sizes, SIDES[len(sizes)], strict=True))}


def _tried(
    runner: CaseRunner, kernel: Kernel, problem: Problem, shift: float
) -> tuple[SmallCase, tuple[str, ...]] | None:
    topic, case = runner.topic, cases.make(problem, "exact")
    try:
        drawn = topic.reference.make_inputs(problem, np.random.default_rng(0), "exact")
        first = 1 if topic.readable else 0  # a 0 hides what is wrong with the first element
        inputs = {
            name: _small(array, place, shift, first) for place, (name, array) in enumerate(drawn.items())
        }
        planned = kernel.plan(problem, runner.child.hello().limits)
        results, bounds = cases.results(topic, inputs, problem, bounded=topic.rounds)
    except (Refused, WarpladderError, ValueError, ArithmeticError):  # none of such sizes, or of such numbers
        return None
    if max(array.size for array in (*inputs.values(), *results.values())) > MOST:
        return None
    known = cases.of_results(topic, case, inputs, results, bounds)
    data = _Kept(known.inputs, known.expected, known.allowed, known.advice, kind=known.kind)
    outcome = runner.once(CaseRun(kernel, planned, case, data))
    found = outcome.comparison
    if outcome.refusal is None or outcome.findings or found is None or found.mismatch is None:
        return None
    name = found.mismatch.array
    shown = {key: _by_rows(array) for key, array in inputs.items()}
    expected, actual = _by_rows(data.expected[name]), rows_left(_in_rows(data.outputs[name]))
    return SmallCase(dict(problem), shown, name, expected, actual), found.fits


def _small(array: Array, place: int, shift: float, first: int) -> Array:
    """0, 1, 2 … from `first` on in the first input, 10, 20, 30 … in the second, 100, 200 … in the third."""
    count = np.arange(array.size).reshape(array.shape) + (first if place == 0 else 0)
    small = (count if place == 0 else (count + 1) * 10**place) + (shift if is_float(array.dtype) else 0)
    return small.astype(array.dtype)


def _by_rows(array: Array) -> list[list[Number]]:
    """Numbers row by row; of more than two dimensions those of the last."""
    return rows(_in_rows(array))


def _in_rows(array: Array) -> Array:
    return array.reshape(-1, array.shape[-1])
