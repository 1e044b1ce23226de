"""Kernels whose blocks communicate are run in several orders of their blocks: each that is right in fewer is refused.

A body adds what its block has summed, `sum`, to the output; `ticket` says how many blocks have come before.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marking import Marking

from grader.results import Grade
from grader.workbook import topics

HEAD = """// /// launch
// [[scratch]]
// name = "words"
// dtype = "uint32"
// shape = ["4 + cdiv(N, 256)"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "words", "out", "N"]
// grid = ["min(SMS, cdiv(N, 256))"]
// block = [32]
// zero = ["words", "out"]
// ///
extern "C" __global__ void reduce(const float* in, unsigned* words, float* out, int N)
{
    float sum = 0.0f;
    for (size_t i = size_t(blockIdx.x) * 32 + threadIdx.x; i < N; i += size_t(gridDim.x) * 32) sum += in[i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (threadIdx.x != 0) return;
    const unsigned ticket = atomicAdd(words, 1u);
"""

TICKETS_DIFFER = "ticket != blockIdx.x"
NOT_IN_REVERSE = "ticket != gridDim.x - 1 - blockIdx.x"

WRONG = {
    "in the order of the blocks alone": (
        f"if ({TICKETS_DIFFER}) sum += 100.0f; atomicAdd(out, sum);",
        "blocks that run from the last to the first",
    ),
    "in that order and against it": (
        f"if ({TICKETS_DIFFER} && {NOT_IN_REVERSE}) sum += 100.0f; atomicAdd(out, sum);",
        "blocks that run in a random order",
    ),
    "one block after the other": (
        "volatile float* total = out; const float seen = *total; *total = seen + sum;",
        "blocks that run at the same time, taking turns",
    ),
    "if stores are seen at once": (
        """
        volatile float* sums = (volatile float*)(words + 4);
        sums[blockIdx.x] = sum;
        if (atomicAdd(words + 1, 1u) != gridDim.x - 1) return;
        for (int block = 0; block < gridDim.x; ++block) *out += sums[block];""",
        "blocks that run at the same time, taking turns, and see late what others store without a fence",
    ),
}

RIGHT = {
    "added atomically": "atomicAdd(out, sum);",
    "by the block that arrives last": """
        volatile float* sums = (volatile float*)(words + 4);
        sums[blockIdx.x] = sum;
        __threadfence();
        if (atomicAdd(words + 1, 1u) != gridDim.x - 1) return;
        for (int block = 0; block < gridDim.x; ++block) *out += sums[block];""",
    "behind a barrier of the grid": """
        float* sums = (float*)(words + 4);
        sums[blockIdx.x] = sum;
        __threadfence();
        atomicAdd(words + 1, 1u);
        while (*(volatile unsigned*)(words + 1) < gridDim.x) {}
        __threadfence();
        if (blockIdx.x == 0) for (int block = 0; block < gridDim.x; ++block) *out += sums[block];""",
}


def graded(marked: Marking, body: str, folder: Path, seed: int) -> Grade:
    file = folder / "kernel.cu"
    file.write_text(HEAD + body + "\n}\n", "utf-8")
    return marked(topics.load("reduce"), file, seed=seed, problem_overrides={"N": 5000})


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", WRONG)
def test_what_is_right_in_some_orders_alone_is_refused(
    name: str, seed: int, tmp_path: Path, marked: Marking
) -> None:
    body, reason = WRONG[name]
    result = graded(marked, body, tmp_path, seed)
    assert result.verdict == "fail"
    assert result.reason is not None
    assert "It depends on the order of the blocks" in result.reason
    assert reason in result.reason


def test_blocks_that_wait_take_turns_in_large_cases_too(tmp_path: Path, marked: Marking) -> None:
    head = HEAD.replace('zero = ["words", "out"]', 'zero = ["out"]\n// cooperative = true')
    body = """
        volatile unsigned* sums = words + 4;
        sums[blockIdx.x] = __float_as_uint(sum);
        if (blockIdx.x == 0) for (int block = 0; block < gridDim.x; ++block) {
            unsigned found = sums[block];
            while (found == 0) found = sums[block];
            *out += __uint_as_float(found);
        }"""
    file = tmp_path / "kernel.cu"
    file.write_text(f"{head}{body}\n}}\n", "utf-8")
    result = marked(topics.load("reduce"), file, seed=1, problem_overrides={"N": 300_000})
    assert result.verdict == "fail"
    assert "blocks that run at the same time, taking turns" in str(result.reason)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_in_all_is_not(name: str, tmp_path: Path, marked: Marking) -> None:
    result = graded(marked, RIGHT[name], tmp_path, 1)
    assert result.verdict == "pass", result.reason


@pytest.mark.parametrize(("barrier", "verdict"), [("", "fail"), ("__syncthreads();", "pass")])
def test_so_are_warps_that_meet_at_atomics(
    barrier: str, verdict: str, tmp_path: Path, marked: Marking
) -> None:
    """In whatever order they come, atomics are no race: the last warp takes the sum of all that came before."""
    file = tmp_path / "kernel.cu"
    file.write_text(
        f"""// /// launch
// [[launch]]
// kernel = "reduce"
// grid = ["cdiv(N, 256)"]
// block = [256]
// zero = ["out"]
// ///
extern "C" __global__ void reduce(const float* in, float* out, int N)
{{
    __shared__ float sum;
    sum = 0.0f;
    __syncthreads();
    const size_t i = size_t(blockIdx.x) * 256 + threadIdx.x;
    atomicAdd(&sum, i < N ? in[i] : 0.0f);
    {barrier}
    if (threadIdx.x == 255) atomicAdd(out, atomicExch(&sum, 0.0f));
}}
""",
        "utf-8",
    )
    result = marked(topics.load("reduce"), file, seed=1, problem_overrides={"N": 100})
    assert result.verdict == verdict, result.reason
    assert barrier or "It depends on the order of a block's warps" in str(result.reason)


@pytest.mark.parametrize(("number", "verdict"), [("1", "fail"), ("1 + pair", "pass")])
def test_so_are_pairs_of_warps_that_meet_at_a_barrier_in_part(
    number: str, verdict: str, tmp_path: Path, marked: Marking
) -> None:
    """Warps 0 and 2 may be the first two there."""
    file = tmp_path / "kernel.cu"
    file.write_text(
        f"""// /// launch
// [[launch]]
// kernel = "stencil"
// grid = ["cdiv(N, 128)"]
// block = [128]
// ///
extern "C" __global__ void stencil(const float* in, float* out, int N)
{{
    __shared__ float tiles[2][80];
    const int pair = threadIdx.x / 64, t = threadIdx.x % 64, first = blockIdx.x * 128 + pair * 64;
    for (int k = t; k < 80; k += 64) {{
        const int i = first + k - 8;
        tiles[pair][k] = i >= 0 && i < N ? in[i] : 0.0f;
    }}
    asm volatile("bar.sync %0, 64;" :: "r"({number}) : "memory");
    float sum = 0.0f;
    for (int k = 0; k < 17; ++k) sum += tiles[pair][t + k];
    if (first + t < N) out[first + t] = sum;
}}
""",
        "utf-8",
    )
    result = marked(topics.load("stencil"), file, seed=1, problem_overrides={"N": 100})
    assert result.verdict == verdict, result.reason
    assert verdict == "pass" or "With warps 0, 2, 4, … of a block before the others" in str(result.reason)


@pytest.mark.parametrize(
    ("counted", "verdict"), [("copies[sm] = sum;", "fail"), ("atomicAdd(&copies[sm], sum);", "pass")]
)
def test_so_are_blocks_that_share_a_multiprocessor(
    counted: str, verdict: str, tmp_path: Path, marked: Marking
) -> None:
    """Of as many blocks as multiprocessors, two may run on the same."""
    file = tmp_path / "kernel.cu"
    file.write_text(
        f"""// /// launch
// [[scratch]]
// name = "copies"
// dtype = "float32"
// shape = ["SMS"]
//
// [[launch]]
// kernel = "reduce"
// args = ["in", "copies", "N"]
// grid = ["SMS"]
// block = [1]
// zero = ["copies"]
//
// [[launch]]
// kernel = "add"
// args = ["copies", "out", "SMS"]
// grid = [1]
// block = [1]
// ///
extern "C" __global__ void reduce(const float* in, float* copies, int N)
{{
    float sum = 0.0f;
    for (int i = blockIdx.x; i < N; i += gridDim.x) sum += in[i];
    unsigned sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    {counted}
}}
extern "C" __global__ void add(const float* copies, float* out, int sms)
{{
    *out = 0.0f;
    for (int c = 0; c < sms; ++c) *out += copies[c];
}}
""",
        "utf-8",
    )
    result = marked(topics.load("reduce"), file, seed=1, problem_overrides={"N": 100})
    assert result.verdict == verdict, result.reason
    assert verdict == "pass" or "With all blocks on the same one" in str(result.reason)
