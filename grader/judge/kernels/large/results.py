"""What outputs of many millions of elements must be: found by parts of the problem, on all cores.

A topic says of which size the parts are smaller problems of their own. Their outputs are put together along that size,
and added where an output does not have it. Matrix products are better found as a whole: BLAS has its own threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from grader.judge.correctness import cases, pieces
from grader.judge.correctness.cases import CaseData
from grader.judge.kernels import fresh
from grader.judge.kernels.fresh import Fresh
from grader.workbook.reference import Problem
from grader.workbook.topic import Parts, Topic

Array = np.ndarray[Any, np.dtype[Any]]
Inputs = Mapping[str, Array]
Arrays = dict[str, Array]
Shape = tuple[int, ...]


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


class ByParts:
    """The results of one problem, while they are found."""

    def __init__(self, topic: Topic, parts: Parts, problem: Problem, bounded: bool) -> None:
        self.topic, self.parts, self.problem, self.bounded = topic, parts, problem, bounded
        self.whole = topic.shapes(problem)
        one_less = topic.shapes({**problem, parts.size: problem[parts.size] - 1})
        self.axes = {name: _axis(shape, one_less[name]) for name, shape in self.whole.items()}
        self.count = int(problem[parts.size])
        self.step = max(1, pieces.PIECE // (max(map(math.prod, self.whole.values())) // self.count))
        dtypes = {
            item.name: item.dtype if topic.tolerance.lambda_ == 0 else np.dtype(np.float64)
            for item in topic.signature.outputs
        }
        self.expected = {name: np.empty(self._shape(name), dtype) for name, dtype in dtypes.items()}
        self.magnitudes = {name: np.empty(self._shape(name)) for name in dtypes if bounded}

    def _shape(self, name: str) -> Shape:
        """Of an output that is added up: one of each part, so that the sum does not hang on the number of cores."""
        shape = self.whole[name]
        return shape if self.axes[name] is not None else (-(-self.count // self.step), *shape)

    def of(self, inputs: Inputs) -> tuple[Arrays, Arrays]:
        """The outputs, and how far they may be off."""
        take = {name: self._taking(inputs, name) for name in inputs}

        def find(parts: Iterator[slice]) -> None:
            for part in parts:
                self._find(take, part)

        pieces.done(find, self.count, self.step)
        expected, magnitudes = (
            {name: found if self.axes[name] is not None else found.sum(axis=0) for name, found in of.items()}
            for of in (self.expected, self.magnitudes)
        )
        return expected, {
            name: sums if self.axes[name] is not None else cases.bound(self.topic, self.problem, name, sums)
            for name, sums in magnitudes.items()
        }

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

    def _find(self, take: Mapping[str, Callable[[slice], Array]], part: slice) -> None:
        """The results of one part, from as much beside it as they are made of."""
        start, end = max(0, part.start - self.parts.overlap), min(self.count, part.stop + self.parts.overlap)
        problem = {**self.problem, self.parts.size: end - start}
        taken = {name: of(slice(start, end)) for name, of in take.items()}
        own = slice(part.start - start, part.stop - start)
        with np.errstate(invalid="ignore"):
            right = self.topic.reference.reference(taken, problem)
            sums = self.topic.reference.magnitude(taken, problem) if self.bounded else {}
        for name, found in right.items():
            self.expected[name][self._place(name, part)] = found[self._along(name, own)]
        for name, found in sums.items():
            along = found[self._along(name, own)]
            added = self.axes[name] is None
            limit = along if added else cases.bound(self.topic, self.problem, name, along)
            self.magnitudes[name][self._place(name, part)] = limit

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
