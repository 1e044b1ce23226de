"""What outputs of many millions of elements must be.

Where an element takes a few operations, elements are found by pieces on all cores: what the topic says of all of an
output at once is computed on one. Products and sums are better found as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.judge.correctness import cases, pieces
from grader.workbook.reference import Problem, Sampled
from grader.workbook.topic import Topic

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = dict[str, Array]

FEW = 16
"""Operations and inputs an element of an output, up to which elements are found one by one."""


def results(
    topic: Topic, inputs: Arrays, problem: Problem, bounded: bool
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The outputs, in the type of a topic that computes nothing, else in float64; and how far their elements may be
    off, if that is asked for."""
    if topic.sampled is not None and _little_work(topic, topic.sampled, problem):
        return _by_pieces(topic, topic.sampled, inputs, problem, bounded)
    return cases.results(topic, inputs, problem, bounded)


def _little_work(topic: Topic, sampled: Sampled, problem: Problem) -> bool:
    shapes = sampled.shapes(problem)
    elements = sum(math.prod(shapes[item.name]) for item in topic.signature.outputs)
    return max(topic.reference.min_flop(problem), topic.input_elements(problem)) <= FEW * elements


def _by_pieces(
    topic: Topic, sampled: Sampled, inputs: Arrays, problem: Problem, bounded: bool
) -> tuple[dict[str, Array], dict[str, Array]]:
    flat = {name: array.reshape(-1) for name, array in inputs.items()}

    def read(name: str, places: Array) -> Array:
        found: Array = flat[name][places].astype(np.float64)
        return found

    shapes = sampled.shapes(problem)
    exact = topic.tolerance.lambda_ == 0
    expected, bounds = {}, {}
    for item in topic.signature.outputs:
        name, shape = item.name, shapes[item.name]
        right = np.empty(math.prod(shape), item.dtype if exact else np.float64)
        limit = np.empty(right.size if bounded else 0)

        def find(
            parts: Iterator[slice], name: str = name, right: Array = right, limit: Array = limit
        ) -> None:
            for part in parts:
                places = np.arange(part.start, part.stop)
                with np.errstate(invalid="ignore"):
                    right[part], magnitude = sampled.elements(read, problem, name, places)
                if bounded:
                    limit[part] = cases.bound(topic, problem, name, magnitude)

        pieces.done(find, right.size, piece_of(topic, problem, shape))
        expected[name] = right.reshape(shape)
        if bounded:
            bounds[name] = limit.reshape(shape)
    return expected, bounds


def piece_of(topic: Topic, problem: Problem, shape: tuple[int, ...]) -> int:
    """Elements of an output of this shape that are found together: whole rows, as an element of a softmax takes all of
    its own, and fewer of one whose elements take many inputs each."""
    row = shape[-1] if len(shape) > 1 else 1
    taken = max(row, topic.input_elements(problem) // math.prod(shape))
    return row * max(1, pieces.PIECE // taken)
