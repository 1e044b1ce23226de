"""What the error bound of `reduce` admits and what it refuses, on 50 million numbers and on a few."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from grader.judge.correctness.cases import CaseData, compute, make
from grader.judge.correctness.comparison import compare
from grader.workbook import topics

Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]

TOPIC = topics.load("reduce")


@pytest.fixture(scope="module")
def many() -> CaseData:
    return compute(TOPIC, make({"N": 50_000_000}, "real"))


def one_after_the_other(values: Array) -> np.float32:
    """Adds up in one float32, in order."""
    return np.float32(np.add.accumulate(values)[-1])


def in_groups(size: int) -> Callable[[Array], np.float32]:
    """What atomicAdd of each group's sum gives: trees of `size`, then one float32 for all."""

    def add(values: Array) -> np.float32:
        groups = np.resize(values, -(-values.size // size) * size)
        groups[values.size :] = 0
        groups = groups.reshape(-1, size)
        while groups.shape[1] > 1:
            groups = groups[:, 0::2] + groups[:, 1::2]
        return one_after_the_other(groups[:, 0])

    return add


def by_a_grid(values: Array) -> np.float32:
    """131,072 threads walk through the numbers with the stride of the grid; a tree adds their sums."""
    threads = 1 << 17
    rounds = np.resize(values, -(-values.size // threads) * threads)
    rounds[values.size :] = 0
    sums = np.add.accumulate(rounds.reshape(-1, threads), axis=0)[-1]
    return in_groups(threads)(sums)


def in_halves(values: Array) -> np.float32:
    """Numbers rounded to half precision, and an exact sum."""
    return np.float32(values.astype(np.float16).sum(dtype=np.float64))


def error(data: CaseData, result: np.float32) -> float:
    """Over what is allowed."""
    found = compare("out", np.array([result]), data.expected["out"], data.allowed["out"]).error
    assert found is not None
    return found


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize("honest", [in_groups(256), in_groups(32), by_a_grid])
def test_honest_sums_of_50_million_pass(many: CaseData, honest: Callable[[Array], np.float32]) -> None:
    assert error(many, honest(many.inputs["in"].astype(np.float32))) < 0.5


@pytest.mark.soak(area="judge")
def test_a_single_accumulator_for_50_million_is_refused(many: CaseData) -> None:
    assert error(many, one_after_the_other(many.inputs["in"].astype(np.float32))) > 2


@pytest.mark.parametrize("count", [1, 33, 257, 1024])
def test_half_precision_is_refused(count: int) -> None:
    data = compute(TOPIC, make({"N": count}, "real"))
    assert error(data, in_halves(data.inputs["in"].astype(np.float32))) > 1
