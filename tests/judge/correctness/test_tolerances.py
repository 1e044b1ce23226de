"""The tolerances of the topics: rounding alone never makes an honest sum wrong, however many outputs there are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grader.judge.correctness.comparison import error_bound
from grader.workbook import topics
from grader.workbook.topic import Topic

MANY = 1000  # outputs of one case, from which on the unlikely happens
SUMS = [
    topic for topic in topics.discover().values() if topic.sampled is not None and topic.tolerance.lambda_ > 0
]


@pytest.mark.parametrize("topic", SUMS, ids=lambda topic: topic.name)
def test_sums_in_a_row_are_within_the_bound_at_every_size(topic: Topic) -> None:
    """n additions in a row err by n - 1 roundings of the sum at most, u each. Where the bound is tighter, it is meant
    for roundings that partly cancel: n independent ones of at most u each have a standard deviation of √(n/3)·u."""
    tolerance = topic.tolerance
    assert topic.sampled is not None
    for problem in (topic.sizes_main, topic.sizes_count, *topic.judge_cases):
        for output in topic.signature.outputs:
            count = math.prod(topic.sampled.shapes(problem)[output.name])
            terms = float(tolerance.terms[output.name].evaluate(problem))
            if count < MANY or tolerance.lambda_ * math.sqrt(terms) >= terms - 1:
                continue
            refused = count * math.erfc(tolerance.lambda_ * math.sqrt(3 / 2))
            assert refused < 0.01, (
                f"{problem}: of {count:,} right sums {refused:.1f} are expected to be refused"
            )


def test_a_stencil_that_rounds_down_16_times_is_right() -> None:
    """Each of 16 elements is just less than half of the last bit of the 1 that comes first: none of them counts."""
    stencil = topics.load("stencil")
    inputs = {"in": np.tile(np.float32([1, *[0.999 * 2.0**-24] * 16]), 60)}
    problem = {"N": len(inputs["in"])}
    padded = np.pad(inputs["in"], 8)
    sums = np.zeros(problem["N"], np.float32)
    for offset in range(17):
        sums += padded[offset : offset + problem["N"]]

    off = np.abs(sums - stencil.reference.reference(inputs, problem)["out"])
    magnitude = stencil.reference.magnitude(inputs, problem)["out"]
    tolerance = stencil.tolerance
    allowed = error_bound(tolerance.lambda_, 17, tolerance.unit["out"], magnitude)
    assert (off <= allowed).all()
    assert off.max() > 0.96 * allowed.max()  # as far off as additions in a row can be
