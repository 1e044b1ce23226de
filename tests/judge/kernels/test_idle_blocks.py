"""A grid of which most blocks have nothing to do is told before anything else, though the kernel is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from marking import Marking

from grader.judge.correctness.cases import CaseStore
from grader.judge.kernels import idle_blocks
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import prepare
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.kernels.kind import Kernels
from grader.judge.kernels.large.main_size import Looked
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool
from grader.results import Verdict
from grader.workbook import topics
from grader.workbook.compiler import DEFAULT_ARCH
from grader.workbook.kernel_file import parse_source
from grader.workbook.topic import KernelTopic

ROWS = """// /// launch
// [[launch]]
// kernel = "add_bias"
// grid = ["cdiv(N, 32)", "cdiv(M, 8)"]
// block = [32, 8]
// ///
extern "C" __global__ void add_bias(const float* in, const float* bias, float* out, int M, int N)
{
    const int column = blockIdx.x * 32 + threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += 8) {
        const int row = blockIdx.y * 32 + j;
        if (row < M && column < N) out[(size_t)row * N + column] = in[(size_t)row * N + column] + bias[column];
    }
}
"""


@pytest.mark.parametrize("bias", ["bias[column]", "b"])
def test_blocks_that_have_nothing_to_do_are_told_with_the_grid_that_is_enough(
    bias: str, tmp_path: Path, marked: Marking
) -> None:
    """Also where every block loads its bias."""
    file = tmp_path / "mine.cu"
    first = "    if (column >= N) return;\n    const float b = bias[column];\n    for"
    text = ROWS.replace("bias[column];", f"{bias};")
    file.write_text(text.replace("    for", first, 1) if bias == "b" else text, "utf-8")
    result = marked(topics.load("add_bias"), file)
    assert result.verdict == "pass"
    assert result.hints[0].text.startswith(
        "Of the 2,048 blocks along y at the main size, the first 512 have something to do, and the"
    )
    assert result.hints[0].text.endswith("A block takes 32: cdiv(M, 32) in place of cdiv(M, 8) is enough.")


def test_a_grid_that_is_no_larger_than_it_has_to_be_is_not_told() -> None:
    topic = topics.load("add_bias")
    text = ROWS.replace("cdiv(M, 8)", "cdiv(M, 32)")
    kernel = prepare(parse_source(text, topic.signature, Path("mine.cu")), DEFAULT_ARCH)
    with DevicePool("emulator", jobs=1, threads=1) as pool, pool.emulator() as child:
        assert not idle_blocks.told(CaseRunner(topic, CaseStore(topic), child), kernel, seed=1)


def test_a_block_that_loads_the_neighbours_of_the_last_element_makes_no_grid_larger() -> None:
    topic = topics.load("stencil")
    text = topic.ladder["02_register_window"].source.replace("cdiv(N, OUTPUTS)", "cdiv(N, BLOCK)")
    kernel = prepare(parse_source(text, topic.signature, Path("mine.cu")), DEFAULT_ARCH)
    with DevicePool("emulator", jobs=1, threads=1) as pool, pool.emulator() as child:
        said = idle_blocks.told(CaseRunner(topic, CaseStore(topic), child), kernel, seed=1)
    assert said.endswith("A block takes 1024: cdiv(N, 4 * BLOCK) in place of cdiv(N, BLOCK) is enough.")


@pytest.mark.parametrize(("verdict", "idle"), [("fail", "Of the blocks, most are idle. "), ("timeout", "")])
def test_what_is_wrong_at_large_sizes_alone_comes_behind_blocks_that_have_nothing_to_do(
    verdict: Verdict, idle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = topics.load("add_bias")
    assert isinstance(topic, KernelTopic)
    file = parse_source(ROWS, topic.signature, Path("mine.cu"))
    current = KernelSubmission(name="mine", file=file, kernel=prepare(file, DEFAULT_ARCH))
    monkeypatch.setattr(idle_blocks, "told", lambda *_: "Of the blocks, most are idle.")

    def looked() -> Looked:
        raise Refused(verdict, "Every case is right, but not these.")

    with DevicePool("emulator", jobs=1, threads=1) as pool, pytest.raises(Refused) as refused:
        Kernels(topic)._seen(pool, current, CaseStore(topic), looked)
    assert refused.value.reason == f"{idle}Every case is right, but not these."
