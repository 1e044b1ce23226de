"""Which elements a wrong sum has lost, or has more than once, is counted and said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from grader.judge.child.protocol import Launch
from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseStore
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import prepare
from grader.judge.kernels.counted_terms import in_words, told
from grader.judge.runners.runner import Runner
from grader.workbook import topics

TOPIC = topics.load("block_sum")

SUM = """// /// launch
// [[launch]]
// kernel = "block_sum"
// grid = ["GRID"]
// block = ["128"]
// zero = ["out"]
// ///

extern "C" __global__ void block_sum(const float* in, float* out, int N)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    float v = 0.0f;
    for (int i = blockIdx.x * 128 + t; i < N; i += gridDim.x * 128) v += in[i];
    s[t] = v;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, s[0]);
}
"""


@pytest.fixture(scope="module")
def runner() -> Iterator[CaseRunner]:
    child = Runner("emulator", threads=1)
    yield CaseRunner(TOPIC, CaseStore(TOPIC), child)
    child.close()


PLACE = np.arange(1023)
LAUNCHED = Launch("k", (8, 1, 1), (128, 1, 1), 0, ())


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (PLACE % 128 < 64, "the elements of threads 64 to 127 of each block are never added (511 of 1023)"),
        (PLACE % 128 == 127, "only the elements of thread 127 of each block are in the sum (7 of 1023)"),
        (
            PLACE % 128 < 32,
            "of them have to be added, with an atomicAdd by one thread of each warp, or in shared memory",
        ),
        (PLACE % 6 != 1, "elements i with i % 6 == 1 are never added"),
        ((PLACE % 6 != 1) | (PLACE == 7), "170 of 1023 elements are never added, the first of them 1"),
        (
            8 * (PLACE < 128),
            "elements 0 to 127 are added 8 times, as often as the grid has blocks, and the others never",
        ),
        (PLACE // 128 + 1, "threads go on by 128 elements, and the grid has 1024 threads"),
        (1 + (PLACE == 5), "element 5 is added 2 times."),
        (0 * PLACE, "no element is ever added"),
        (
            PLACE < 128,
            "only elements 0 to 127 are in the sum (128 of 1023). The first block's alone are in it",
        ),
        (PLACE < 1020, "the elements from 1020 on are never added (3 of 1023). They are the last N % 4"),
    ],
)
def test_what_lost_or_doubled_elements_have_in_common(counts: np.ndarray, said: str) -> None:
    assert said in in_words(counts.astype(int), LAUNCHED)


@pytest.mark.parametrize(
    ("shared", "said"), [((), "a variable without __shared__"), (("s",), "may lie in `s`")]
)
def test_of_one_thread_alone_it_is_said_where_the_others_have_theirs(
    shared: tuple[str, ...], said: str
) -> None:
    assert said in in_words((PLACE % 128 == 0).astype(int), LAUNCHED, shared=shared)


def test_what_two_blocks_add_twice_is_not_what_each_of_them_adds() -> None:
    twice, two = 1 + ((PLACE >= 256) & (PLACE < 512)), Launch("k", (2, 1, 1), (256, 1, 1), 0, ())
    assert in_words(twice, two) == "elements 256 to 511 are added 2 times."
    assert (
        in_words(np.full(1023, 2), two) == "all elements are added 2 times, as often as the grid has blocks."
    )


def test_of_more_partial_sums_than_a_block_has_threads_those_are_lost_that_no_thread_takes() -> None:
    stages = Launch("parts", (257, 1, 1), (256, 1, 1), 0, ()), Launch("k", (1, 1, 1), (256, 1, 1), 0, ())
    found = in_words((np.arange(65537) < 65536).astype(int), *stages)
    assert found.startswith(
        "the elements from 65536 on are never added (1 of 65537). They are those of all blocks"
    )
    assert "257 partial sums, and one block of 256 threads adds one a thread: let each" in found
    many = in_words((np.arange(131072) < 32768).astype(int), replace(stages[0], grid=(512, 1, 1)),
                    replace(stages[1], block=(128, 1, 1)))  # fmt: skip
    assert many.startswith("only elements 0 to 32767 are in the sum (32768 of 131072). They are those of all")
    assert "partial sums" not in in_words((np.arange(65537) < 65535).astype(int), *stages)


@pytest.mark.parametrize(
    ("right", "wrong", "size", "said"),
    [
        (
            "step = 64",
            "step = 32",
            255,
            "the elements of threads 64 to 127 of each block are never added (511",
        ),
        (
            "gridDim.x * 128",
            "N",
            65537,
            "only elements 0 to 1023 are in the sum (1024 of 65537). The grid has 10",
        ),
        ("step > 0", "step > 128", 255, "though they may lie in `s`, in shared memory: before one thread"),
        ("v += in[i]", "v += fabsf(in[i])", 2, ""),
        (
            "v += in[i]",
            "for (int j = 0; j < 4000 && i % 6 != 1; j++) v += in[(i + j) % N] * (j < 1)",
            255,
            "",
        ),  # takes too long
    ],
)
def test_elements_of_a_wrong_sum_are_counted(
    runner: CaseRunner, tmp_path: Path, right: str, wrong: str, size: int, said: str
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(SUM.replace(right, wrong).replace("GRID", "min(8, cdiv(N, 128))"), "utf-8")
    kernel = prepare(TOPIC.parse(file), runner.child.hello().arch)
    found = told(runner, kernel, cases.make({"N": size}, "exact"))
    assert said in found
    assert bool(said) == bool(found)


def test_an_output_that_is_the_only_one_at_one_size_alone_is_not_counted(
    runner: CaseRunner, tmp_path: Path
) -> None:
    """Of a stencil that has a thousand outputs the first is right with few of the elements."""
    topic = topics.load("stencil")
    file = tmp_path / "mine.cu"
    source = SUM.replace('// zero = ["out"]\n', "").replace("block_sum", "stencil").replace("GRID", "1")
    file.write_text(source.replace("atomicAdd(out, s[0])", "out[0] = 2 * s[0]"), "utf-8")
    kernel = prepare(topic.parse(file), runner.child.hello().arch)
    of_stencils = CaseRunner(topic, CaseStore(topic), runner.child)
    assert told(of_stencils, kernel, cases.make({"N": 1}, "exact")) == ""
