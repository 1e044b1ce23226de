"""What outputs of many millions of elements must be: found by parts of the problem, on all cores.

A topic says of which size the parts are smaller problems of their own. Their outputs are put together along that size,
and added where an output does not have it; or each is compared as it is found, and kept nowhere. Matrix products are
better found as a whole: BLAS has its own threads.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from threading import Event
from typing import Any

import numpy as np

from grader.judge.correctness import cases, pieces
from grader.judge.correctness.cases import CaseData
from grader.judge.correctness.comparison import Comparison, largest_error
from grader.judge.kernels import fresh
from grader.judge.kernels.fresh import Fresh
from grader.judge.kernels.large.kept_right import KeptRight
from grader.workbook.reference import Problem
from grader.workbook.topic import Parts, Topic

Array = np.ndarray[Any, np.dtype[Any]]
Inputs = Mapping[str, Array]
Arrays = dict[str, Array]
Shape = tuple[int, ...]

FEW_OPERATIONS = 32
"""Operations an element, up to which a kernel is bound by memory on any GPU, and NumPy here as well: to write results
down and read them again takes as long as to find them."""

MOST_OF_A_PART = 2 * pieces.PIECE
"""Elements of a part's largest array. It takes tens of calls of NumPy, after each of which a thread waits until another
hands Python on: with half as many elements 16 threads take half as long again, and with more the caches are left."""


def results(topic: Topic, inputs: Inputs, problem: Problem, bounded: bool) -> tuple[Arrays, Arrays]:
    """The outputs, in the type of a topic that computes nothing, else in float64; and how far their elements may be
    off, if that is asked for."""
    if topic.parts is None:
        return cases.results(topic, inputs, problem, bounded)
    return ByParts(topic, topic.parts, problem, bounded).of(inputs)


def known(topic: Topic, problem: Problem, values: Fresh) -> CaseData:
    """These values as a real case: the inputs, and what must come out."""
    inputs = values.arrays(topic, problem)
    return cases.of_results(
        topic,
        cases.make(problem, "real"),
        inputs,
        *results(topic, inputs, problem, topic.rounds),
    )


class Known:
    """What outputs must be, on inputs that stay the same.

    An output that was found right before is known by its digest. Where an element takes few operations, any other is
    compared while what it must be is found; else all of that is found at once.
    """

    def __init__(self, topic: Topic, problem: Problem, values: Fresh) -> None:
        self.topic, self.problem, self.values = topic, problem, values
        elements = max(map(math.prod, topic.shapes(problem).values()))
        few = topic.reference.min_flop(problem) <= FEW_OPERATIONS * elements
        self._parts = topic.parts if few else None
        self._right = KeptRight(topic, problem, values)
        self.seconds = 0.0
        """What comparing outputs with what they must be has taken, now or when they were found right."""

    @cached_property
    def data(self) -> CaseData:
        """All of it, written down."""
        return known(self.topic, self.problem, self.values)

    def known_by(self, name: str, digest: str) -> Comparison | None:
        """The comparison of an output of this digest; None where none was right."""
        found = self._right.find(name, digest)
        if found is None:
            return None
        self.seconds += found.seconds
        return Comparison(None, found.error, 0, None, None, bound=found.bound)

    def compare(self, name: str, actual: Array, digest: str) -> Comparison:
        """As a case's data compares an output. One that is right is known by its digest from then on."""
        start = time.monotonic()
        comparison = self._compared(name, actual)
        seconds = time.monotonic() - start
        self.seconds += seconds
        if comparison.right:
            self._right.add(name, digest, comparison, seconds)
        return comparison

    def _compared(self, name: str, actual: Array) -> Comparison:
        if self._parts is not None:
            inputs = self.values.arrays(self.topic, self.problem)
            by_parts = ByParts(self.topic, self._parts, self.problem, self.topic.rounds)
            error = by_parts.largest_error(inputs, name, actual)
            if error is not None:
                return Comparison(None, error, 0, None, None)
        return self.data.compare(name, actual)


class ByParts:
    """The results of one problem, while they are found."""

    def __init__(self, topic: Topic, parts: Parts, problem: Problem, bounded: bool) -> None:
        self.topic, self.parts, self.problem, self.bounded = topic, parts, problem, bounded
        self.whole = topic.shapes(problem)
        one_less = topic.shapes({**problem, parts.size: problem[parts.size] - 1})
        self.axes = {name: _axis(shape, one_less[name]) for name, shape in self.whole.items()}
        self.count = int(problem[parts.size])
        self.step = max(1, MOST_OF_A_PART * self.count // max(map(math.prod, self.whole.values())))
        self.dtypes = {
            item.name: item.dtype if topic.tolerance.lambda_ == 0 else np.dtype(np.float64)
            for item in topic.signature.outputs
        }

    def _shape(self, name: str) -> Shape:
        """Of an output that is added up: one of each part, so that the sum does not hang on the number of cores."""
        shape = self.whole[name]
        return shape if self.axes[name] is not None else (-(-self.count // self.step), *shape)

    def of(self, inputs: Inputs) -> tuple[Arrays, Arrays]:
        """The outputs, and how far they may be off."""
        take = {name: self._taking(inputs, name) for name in inputs}
        all_expected = {name: np.empty(self._shape(name), dtype) for name, dtype in self.dtypes.items()}
        all_magnitudes = {name: np.empty(self._shape(name)) for name in self.dtypes if self.bounded}

        def find(parts: Iterator[slice]) -> None:
            for part in parts:
                for whole, found in zip((all_expected, all_magnitudes), self._found(take, part), strict=True):
                    for name, array in found.items():
                        whole[name][self._place(name, part)] = array

        pieces.done(find, self.count, self.step)
        expected, magnitudes = (
            {name: found if self.axes[name] is not None else found.sum(axis=0) for name, found in of.items()}
            for of in (all_expected, all_magnitudes)
        )
        return expected, {
            name: sums if self.axes[name] is not None else cases.bound(self.topic, self.problem, name, sums)
            for name, sums in magnitudes.items()
        }

    def largest_error(self, inputs: Inputs, name: str, actual: Array) -> float | None:
        """Of an output that is right, over what is allowed; None of one that is wrong, or is added up of the parts, or
        is infinite somewhere."""
        if self.axes[name] is None:
            return None
        take = {given: self._taking(inputs, given) for given in inputs}
        case, wrong = cases.make(self.problem, "real"), Event()

        def largest_of(parts: Iterator[slice]) -> float:
            largest = 0.0
            for part in parts:
                if wrong.is_set():
                    break
                expected, bounds = self._found(take, part)
                data = cases.of_results(self.topic, case, {}, expected, bounds)
                found = largest_error(
                    actual[self._place(name, part)], data.expected[name], data.allowed[name]
                )
                if found is None:
                    wrong.set()
                else:
                    largest = max(largest, found)
            return largest

        largest = max(pieces.done(largest_of, self.count, self.step))
        return None if wrong.is_set() else largest

    def _taking(self, inputs: Inputs, name: str) -> Callable[[slice], Array]:
        """What gives as much of an input as a part needs. Where its elements lie together, and are drawn from a pool,
        they are made in that moment: in a core's cache, and not in memory."""
        if isinstance(inputs, fresh.Arrays) and self.axes[name] == 0 and name in inputs.made_of.pools:
            values, shape = inputs.made_of, self.whole[name][1:]
            row = math.prod(shape)
            return lambda part: values.part(name, slice(row * part.start, row * part.stop)).reshape(
                -1, *shape
            )
        array = inputs[name]
        return lambda part: array[self._along(name, part)]

    def _found(self, take: Mapping[str, Callable[[slice], Array]], part: slice) -> tuple[Arrays, Arrays]:
        """The results of one part, from as much beside it as they are made of, and how far they may be off: of an
        output that is added up, the magnitudes that say so."""
        start, end = max(0, part.start - self.parts.overlap), min(self.count, part.stop + self.parts.overlap)
        problem = {**self.problem, self.parts.size: end - start}
        taken = {name: of(slice(start, end)) for name, of in take.items()}
        own = slice(part.start - start, part.stop - start)
        with np.errstate(invalid="ignore"):
            right = self.topic.reference.reference(taken, problem)
            sums = self.topic.reference.magnitude(taken, problem) if self.bounded else {}
        expected = {
            name: np.asarray(found[self._along(name, own)], self.dtypes[name])
            for name, found in right.items()
        }
        magnitudes = {name: found[self._along(name, own)] for name, found in sums.items()}
        return expected, {
            name: found if self.axes[name] is None else cases.bound(self.topic, self.problem, name, found)
            for name, found in magnitudes.items()
        }

    def _along(self, name: str, part: slice) -> tuple[slice, ...]:
        axis = self.axes[name]
        return () if axis is None else (*[slice(None)] * axis, part)

    def _place(self, name: str, part: slice) -> tuple[slice | int, ...]:
        """Where a part's output stands."""
        return (part.start // self.step,) if self.axes[name] is None else self._along(name, part)


def _axis(shape: Shape, other: Shape) -> int | None:
    """Where two shapes differ."""
    return next(
        (axis for axis, pair in enumerate(zip(shape, other, strict=True)) if pair[0] != pair[1]), None
    )
