"""Which blocks go a way of their own, by conditions in PTX."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.judge.child.protocol import Launch, Pointer, Scalar
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.kernels.large import rare_blocks
from grader.workbook.kernel_file import parse_kernel_file
from grader.workbook.signature import parse_signature


def compiled(folder: Path, condition: str) -> Kernel:
    """A kernel that does something else where a condition holds."""
    path = folder / "k.cu"
    path.write_text(
        f"""// /// launch
// [[launch]]
// kernel = "k"
// grid = [1000, 40]
// block = [32, 8]
// ///
extern "C" __global__ void k(float* out, int N)
{{
    const int row = blockIdx.x * 8 + threadIdx.y;
    out[N] = {condition} ? sinf(out[row]) : 1.0f;
}}
"""
    )
    return prepare(parse_kernel_file(path, parse_signature("k(float* out, int N)")), "sm_90")


@pytest.mark.parametrize(
    ("condition", "way"),
    [
        ("blockIdx.x == 97", lambda x, y: x == 97),
        (
            "(blockIdx.x * 2654435761u >> 16) % 300 == 7",
            lambda x, y: (x * 2654435761 % 2**32 >> 16) % 300 == 7,
        ),
        ("blockIdx.x + 1000 * blockIdx.y > N", lambda x, y: x + 1000 * y > 39_000),
        ("size_t(blockIdx.x) * N >= 38950000ull", lambda x, y: x == 999),
        ("row % 4001 == 4000", lambda x, y: x * 8 in range(3993, 4001) or x * 8 in range(7994, 8002)),
    ],
)
def test_a_block_is_found_where_a_condition_comes_out_otherwise(
    tmp_path: Path, condition: str, way: Callable[[int, int], bool]
) -> None:
    kernel = compiled(tmp_path, condition)
    launch = Launch("k", (1000, 40, 1), (32, 8, 1), 0, (Pointer("out"), Scalar("int32", 39_000)))
    blocks = rare_blocks.found(kernel, launch, random.Random(3))
    assert any(way(block % 1000, block // 1000) for block in blocks)


def test_there_is_none_where_all_do_the_same(tmp_path: Path) -> None:
    kernel = compiled(tmp_path, "out[row] > N")
    launch = Launch("k", (1000, 40, 1), (32, 8, 1), 0, (Pointer("out"), Scalar("int32", 39_000)))
    assert rare_blocks.found(kernel, launch, random.Random(3)) == []


@pytest.mark.parametrize(
    ("condition", "sizes"),
    [
        ("blockIdx.x < N / 100", [13_456, 2_544]),
        ("blockIdx.x % 3 == 0 && blockIdx.y < 8", [5_328, 5_328, 2_672, 2_672]),
        ("blockIdx.x + 1000 * blockIdx.y > N", [16_000]),  # those 99 are too few
        ("out[row] > N", [16_000]),
    ],
)
def test_blocks_are_told_apart_by_what_they_execute(tmp_path: Path, condition: str, sizes: list[int]) -> None:
    kernel = compiled(tmp_path, condition)
    launch = Launch("k", (1000, 16, 1), (32, 8, 1), 0, (Pointer("out"), Scalar("int32", 15_900)))
    found = rare_blocks.kinds(kernel, launch, random.Random(3))
    assert [len(blocks) for blocks in found] == sizes
    assert sorted(block for blocks in found for block in blocks) == list(range(16_000))
