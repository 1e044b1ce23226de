"""What is told of a kernel whose values are wrong."""

from __future__ import annotations

import pytest

from grader.judge.correctness.cases import make
from grader.judge.kernels.case_run import Outcome
from grader.judge.kernels.explained import zeros


@pytest.mark.parametrize(
    ("source", "sizes", "found"),
    [
        ("i < N / 4;", {"N": 3}, ["N / 4"]),
        ("i < N / V; constexpr int V = 4;", {"N": 3}, ["N / V"]),
        ("i < N / 4;", {"N": 4}, []),
        ("constexpr int R = 8; k < B + R / 2;", {"N": 1}, []),  # a constant
        ("constexpr int R = 8; k < B + R / 2;", {"R": 1}, []),  # which a size may be called as well
        ("const int all = M * N; i < all / 4;", {"M": 9, "N": 9}, []),  # whose value is not known
    ],
)
def test_quotients_that_are_0_are_those_of_sizes(
    source: str, sizes: dict[str, int], found: list[str]
) -> None:
    case = make(sizes, "exact")
    assert [whole for _, whole, *_ in zeros(source, case, Outcome())] == found
