"""Ways that few sizes take are tried with every kind of rest, with all of a few sizes, and with other steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from grader.judge.kernels.rests import Search, around
from grader.workbook.reference import Problem

CASES = [{"M": m, "N": n} for m in (3, 131, 1500) for n in (1, 7, 131, 960, 1031)]


def found(
    condition: Callable[[Problem], bool],
    numbers: Sequence[int] = (96,),
    cost: Callable[[Problem], float] = lambda problem: problem["M"] * problem["N"] / 2**24,
    steps: Mapping[str, Sequence[int]] | None = None,
    beyond: Sequence[Problem] = (),
) -> list[Problem]:
    """What is tried on the way on which a condition holds."""
    search = Search([condition], ["M", "N"], steps or {}, lambda _: numbers, cost)
    cases = [{**case, **dict.fromkeys(steps or {}, 1)} for case in CASES]
    return [problem for problem, _ in search.found(cases, beyond) if condition(problem)]


def test_tiles_are_tried_in_odd_and_even_numbers_and_with_every_kind_of_rest() -> None:
    sizes = [size for size, _ in around(5000, [96, 64], lambda size: True)]
    assert {size // 96 % 2 for size in sizes} == {0, 1}
    assert {0, 1, 48, 95} <= {size % 96 for size in sizes}
    assert all(5000 <= size < 5400 for size in sizes)


def test_sizes_of_a_way_that_takes_multiples_alone_are_found() -> None:
    tried = found(lambda problem: problem["N"] % 48 == 0 and problem["N"] >= 960)
    assert {problem["N"] // 48 % 2 for problem in tried} == {0, 1}


def test_all_sizes_of_a_way_that_takes_few_are_tried_with_many_of_the_other() -> None:
    tried = found(lambda problem: 4 < problem["N"] <= 12)
    assert {problem["N"] for problem in tried if problem["M"] > 2000} == {*range(5, 13)}


def test_a_way_beyond_all_cases_may_cost_more() -> None:
    def beyond(problem: Problem) -> bool:
        return problem["M"] * problem["N"] > 1 << 21

    assert found(beyond, beyond=[{"M": 2100, "N": 1050}])
    assert not found(beyond)


def test_other_steps_are_tried_where_a_way_is_of_one_filter() -> None:
    tried = found(lambda problem: problem["N"] == 7, steps={"stride": [1, 2], "pad": [0, 1]})
    assert {(problem["stride"], problem["pad"]) for problem in tried} >= {(1, 0), (2, 0), (2, 1)}


@pytest.mark.parametrize(("most", "count"), [(1.0, 0), (0.0, 24)])
def test_what_is_tried_is_bounded(most: float, count: int) -> None:
    tried = found(lambda problem: problem["N"] == 960, [96, 64, 48, 32, 16, 8], lambda problem: most)
    assert len(tried) <= count
    assert bool(tried) == bool(count)
