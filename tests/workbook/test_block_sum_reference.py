"""The main size of `block_sum`: the largest at which one float can take all numbers one after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from grader.judge.correctness.cases import CaseData, compute, make
from grader.workbook import topics

Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]

TOPIC = topics.load("block_sum")


@pytest.fixture(scope="module")
def data() -> CaseData:
    return compute(TOPIC, make(TOPIC.sizes_main, "real"))


def one_after_the_other(values: Array) -> Array:
    """What rung 00 leaves when its atomics come in this order."""
    return np.add.accumulate(values)[-1:]


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize(
    "order", [np.asarray, np.random.default_rng(1).permutation], ids=["first to last", "random"]
)
def test_rung_00_is_right_at_the_main_size(data: CaseData, order: Callable[[object], Array]) -> None:
    total = one_after_the_other(order(data.inputs["in"]))
    assert data.compare("out", total).right
    allowed = data.wider()["one addition after the other"]["out"]
    assert abs(total - data.expected["out"]) < allowed / 4  # with room for other inputs and orders


def test_a_float_counts_the_main_size_and_no_further() -> None:
    """As the lesson says: $2^{24}$ ones are added up, and no one after them."""
    main = TOPIC.sizes_main["N"]
    ones = np.ones(main + 1000, np.float32)
    assert one_after_the_other(ones[:main]) == main
    assert one_after_the_other(ones) == main == 1 << 24
