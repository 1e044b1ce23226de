"""What is told of a kernel whose values are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from marking import Marking

from grader.judge.correctness.cases import make
from grader.judge.kernels import source_tries
from grader.judge.kernels.case_run import Outcome
from grader.judge.kernels.explained import zeros
from grader.workbook import topics


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


def test_of_a_running_sum_that_rounds_nothing_is_tried(
    marked: Marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Any] = []
    monkeypatch.setattr(source_tries, "mended", lambda *given: tried.append(given))
    file = Path(__file__).parents[2] / "submissions" / "stencil" / "running_sum.cu"
    assert "takes back what was added" in (marked(topics.load("stencil"), file).reason or "")
    assert not tried
