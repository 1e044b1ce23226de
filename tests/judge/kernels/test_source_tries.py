"""Small changes are tried where a kernel was stopped for what it stores again and again, however large the case; and of
threads that store to one element those of either line."""

from __future__ import annotations

from pathlib import Path

import pytest
from marking import Marking

from grader.workbook import topics

WRONG = Path(__file__).parents[2] / "submissions"


@pytest.mark.parametrize(
    ("file", "size", "said"),
    [
        (
            "vector_add/every_thread_adds_all.cu",
            4099,
            "and `i += gridDim.x * blockDim.x` in line 12 it comes out right",
        ),
        (
            "stencil/halo_over_the_middle.cu",
            255,
            "With `tile[t + BLOCK]` in place of `tile[threadIdx.x + BLOCK]`",
        ),
        ("block_sum/lane_and_warp_exchanged.cu", 1, "With `/` and `%` exchanged in lines 15 and 16 it comes"),
    ],
)
def test_what_mends_it_is_found(file: str, size: int, said: str, marked: Marking) -> None:
    topic = topics.load(file.partition("/")[0])
    assert said in (marked(topic, WRONG / file, problem_overrides={"N": size}).reason or "")


def test_behind_what_mends_them_all_no_finding_has_another_remedy(marked: Marking) -> None:
    file = WRONG / "transpose" / "step_of_another_number.cu"
    result = marked(topics.load("transpose"), file, problem_overrides={"M": 1, "N": 131})
    first, *others = [finding.remedy for finding in result.findings]
    assert first is not None
    assert first in (result.reason or "")
    assert first.startswith("With `blockDim.y` in place of `STEP`")
    assert others == [None]
