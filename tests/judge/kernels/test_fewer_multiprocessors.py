"""What a kernel computes with the number of multiprocessors is tried with few of them: cases are small, and a device
with many has a tile for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseStore
from grader.judge.grade import grade
from grader.judge.kernels.case_run import Outcome
from grader.judge.kernels.case_runner import FEW_MULTIPROCESSORS, CaseRunner
from grader.judge.kernels.compiled import prepare
from grader.judge.runners.pool import DevicePool
from grader.workbook import topics
from grader.workbook.topic import KernelTopic

STRIDED = """// A block for each multiprocessor, which takes elements in turn.
//
// /// launch
// [[launch]]
// kernel = "add"
// args = ["a", "b", "c", "N", "SMS"]
// grid = ["SMS"]
// block = [32]
// ///

extern "C" __global__ void add(const float* a, const float* b, float* c, int N, int blocks)
{
    for (int i = blockIdx.x * 32 + threadIdx.x; i < N; i += blocks * STRIDE) c[i] = a[i] + b[i];
}
"""
"""Wrong for more elements than the device has threads, if the stride is not 32."""


@pytest.mark.parametrize(("stride", "passes"), [(32, True), (64, False)])
def test_an_exact_case_is_run_on_a_smaller_device_as_well(tmp_path: Path, stride: int, passes: bool) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(STRIDED.replace("STRIDE", str(stride)), encoding="utf-8")
    topic = topics.load("vector_add")
    assert isinstance(topic, KernelTopic)
    problem = next(item for item in topic.judge_cases if 64 * FEW_MULTIPROCESSORS < item["N"] < 32 * 132)
    with DevicePool("emulator", None, jobs=1) as pool, pool.emulator() as child:
        runner, kernel = CaseRunner(topic, CaseStore(topic), child), prepare(topic.parse(file), pool.arch)
        exact = runner.outcome(kernel, cases.make(problem, "exact"))
        real = runner.outcome(kernel, cases.make(problem, "real"))
    assert real.refusal is None, "one kind of case is enough"
    assert (exact.refusal is None) is passes
    if exact.refusal is not None:
        assert exact.refusal.reason.startswith(
            f"As if the GPU had {FEW_MULTIPROCESSORS} multiprocessors, so that"
        )


PARTS = """// The same, but where the GPU has a certain number of multiprocessors.
//
// /// launch
// [[launch]]
// kernel = "add"
// args = ["a", "b", "c", "N", "SMS"]
// grid = ["SMS"]
// block = [32]
// ///

extern "C" __global__ void add(const float* a, const float* b, float* c, int N, int blocks)
{
    for (int i = blockIdx.x * 32 + threadIdx.x; i < N; i += blocks * 32)
        if (blocks WRONG) c[i] = a[i] + b[i];
}
"""


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("!= 114", "As if the GPU had 114 multiprocessors, so that each block has more to do: "),
        ("< 188", "As if the GPU had 188 multiprocessors, so that there are more blocks: "),
        ("!= 12", None),
    ],
)
def test_a_kernel_is_run_as_on_other_devices(tmp_path: Path, wrong: str, said: str | None) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(PARTS.replace("WRONG", wrong), encoding="utf-8")
    topic = topics.load("vector_add")
    assert isinstance(topic, KernelTopic)
    with DevicePool("emulator", None, jobs=1) as pool, pool.emulator() as child:
        runner, kernel = CaseRunner(topic, CaseStore(topic), child), prepare(topic.parse(file), pool.arch)
        found = [
            outcome.refusal.reason
            for problem in topic.judge_cases[:6]
            if (outcome := runner.outcome(kernel, cases.make(problem, "real"))).refusal
        ]
    assert bool(found) == (said is not None)
    assert all(reason.startswith(said or "") for reason in found)


def test_what_may_wait_is_run_with_no_more_blocks_than_fit(tmp_path: Path) -> None:
    """A GPU does not say whether blocks wait for each other: there are no records then."""
    file = tmp_path / "mine.cu"
    file.write_text(PARTS.replace("WRONG", "> 0"), encoding="utf-8")
    topic = topics.load("vector_add")
    assert isinstance(topic, KernelTopic)
    with DevicePool("emulator", None, jobs=1) as pool, pool.emulator() as child:
        runner, kernel = CaseRunner(topic, CaseStore(topic), child), prepare(topic.parse(file), pool.arch)
        limits, counts = child.hello().limits, []
        for known in (runner.outcome(kernel, cases.make(topic.judge_cases[0], "real")), Outcome()):
            others = (
                runner._on_others(kernel, cases.make(problem, "real"), kernel.plan(problem, limits), known)
                for problem in topic.judge_cases[:6]
            )
            counts.append({other[1] for other in others if other})
    assert counts == [{114, 78, 188}, {114, 78}]


def test_a_loop_that_never_ends_is_found_at_a_small_size_whatever_the_grid(tmp_path: Path) -> None:
    """Which on a whole device no thread of a small case goes round."""
    file = tmp_path / "mine.cu"
    text = STRIDED.replace('// args = ["a", "b", "c", "N", "SMS"]\n', "").replace(", int blocks", "")
    text = text.replace('"SMS"', '"SMS * 4"')
    file.write_text(text.replace("i += blocks * STRIDE", "i =+ gridDim.x * 32"), encoding="utf-8")
    topic = topics.load("vector_add")
    assert isinstance(topic, KernelTopic)
    with DevicePool("emulator", None, jobs=1) as pool, pool.emulator() as child:
        runner, kernel = CaseRunner(topic, CaseStore(topic), child), prepare(topic.parse(file), pool.arch)
        small, large = (runner.outcome(kernel, cases.make({"N": n}, "exact")).refusal for n in (4099, 8192))
    assert small is None, "one size is enough"
    assert large is not None
    assert large.verdict == "timeout"
    assert large.reason.startswith(
        "As if the GPU had one multiprocessor, so that each block has more to do: "
    )


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize(("m", "n", "k"), [(1537, 2820, 37), (1500, 3000, 68)])
def test_gemm_shares_the_last_tiles_of_a_whole_device(m: int, n: int, k: int) -> None:
    """More tiles than the 132 multiprocessors of an H200, with single floats and with float4s."""
    topic = topics.load("gemm")
    result = grade(topic, topic.rung("11_even_shares").path, "emulator", 1, {"M": m, "N": n, "K": k})
    assert (result.verdict, result.reason, result.findings) == ("pass", None, [])
