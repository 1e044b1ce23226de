"""What a call leaves in a variable of the module, and a later one finds there."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseStore
from grader.judge.correctness.verdict import of_later_call
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import prepare
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool
from grader.workbook import topics
from grader.workbook.cuda_source import has_static
from grader.workbook.topic import KernelTopic

WRONG = Path(__file__).parents[2] / "submissions/block_sum/wrong/nan_stays_in_a_flag.cu"


def test_a_flag_that_special_values_set_is_seen_by_the_next_call() -> None:
    topic = topics.load("block_sum")
    assert isinstance(topic, KernelTopic)
    with DevicePool("emulator", None, jobs=1) as pool, pool.emulator() as child:
        runner, kernel = CaseRunner(topic, CaseStore(topic), child), prepare(topic.parse(WRONG), pool.arch)
        refusal = runner.outcome(kernel, cases.make({"N": 257}, "exact")).refusal
    assert refusal is not None
    assert "call" in refusal.reason


@pytest.mark.parametrize(
    ("text", "static"),
    [("static float sum = 0;", True), ("static const int n = 4;", False), ("__device__ float sum;", False)],
)
def test_a_variable_that_c_keeps_is_told_to_be_a_threads_or_a_blocks(text: str, static: bool) -> None:
    assert has_static(text) == static
    told = of_later_call(Refused("fail", "Wrong."), static).reason
    assert ("Without `static` each thread has its own" in told) == static
    assert ("Have the last block put back" in told) != static
