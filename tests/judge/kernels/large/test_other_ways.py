"""Large problems on ways that none of a topic's large ones takes."""

from __future__ import annotations

import pytest

from grader.judge.kernels.compiled import prepare
from grader.judge.kernels.large import other_ways
from grader.workbook import topics
from grader.workbook.compiler import DEFAULT_ARCH
from grader.workbook.topic import KernelTopic

NEAREST = {
    "reduce2d 04_float4": [{"M": 16400, "N": 131077}],  # rows that are no multiple of four
    "hgemm 09_tma": [{"M": 131088, "N": 40017, "K": 32}],
    "attention 01_online": [{"B": 1000, "H": 503, "S": 67, "D": 128, "scale": 0.125, "causal": 1}],
    "reduce2d 01_block_a_row": [],  # one way for all
    # Its launch block has another kernel for rows longer than any of the topic's.
    "layernorm 05_split_rows": [{"M": 496, "N": 6488065, "eps": 1e-5}],
    "transpose 05_float4_tile": [],  # its topic has such a problem
}


@pytest.mark.parametrize("rung", NEAREST)
def test_the_nearest_problem_that_goes_another_way(rung: str) -> None:
    name, chosen = rung.split()
    topic = topics.load(name)
    assert isinstance(topic, KernelTopic)
    kernel = prepare(topic.ladder[chosen].file, DEFAULT_ARCH)
    assert other_ways.found(kernel, topic, sms=132) == NEAREST[rung]
