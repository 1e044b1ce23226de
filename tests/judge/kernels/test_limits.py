"""What a device cannot launch is said with its place in the file and what to do, before the driver refuses it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.emulator.devices import find
from grader.judge.child.protocol import Launch
from grader.judge.kernels.compiled import prepare
from grader.judge.kernels.limits import by_architecture, by_limits
from grader.judge.refused import Refused
from grader.workbook.compiler import architecture
from grader.workbook.kernel_file import KernelFile, parse_source
from grader.workbook.signature import parse_signature

LIMITS = dict(find("sm_90a").attributes)
HGEMM = parse_signature("hgemm(const half* A, const half* B, float* C, int M, int N, int K)")
KERNEL = """
__global__ void hgemm(const __half* A, const __half* B, float* C, int M, int N, int K) { C[0] = 0; }
"""


def launch(**changes: Any) -> Launch:
    values: dict[str, Any] = {"grid": (1, 1, 1), "block": (32, 8, 1), "shared_bytes": 0}
    return Launch(symbol="k", args=(), **(values | changes))


def read(*lines: str, at_head: str = "") -> KernelFile:
    """A file with such lines in its [[launch]], of which the first is line 3, or 4 where there is a head."""
    block = [
        *filter(None, [at_head]),
        "[[launch]]",
        *lines,
        'kernel = "hgemm"',
        'grid = ["4 * SMS"]',
        "block = [256]",
    ]
    text = "".join(f"// {line}\n" for line in ("/// launch", *block, "///"))
    return parse_source(f"{text}#include <cuda_fp16.h>{KERNEL}", HGEMM, Path("mine.cu"))


def test_an_ordinary_launch_is_not_refused() -> None:
    assert by_limits(launch(), 0, 32, LIMITS) is None
    assert by_limits(launch(grid=(4, 6, 1), cluster=(2, 2, 1)), 0, 32, LIMITS) is None
    assert by_limits(launch(block=(1024, 1, 1), shared_bytes=232_448), 0, 64, LIMITS) is None
    assert by_limits(launch(grid=(8 * 132, 1, 1), cooperative=True), 0, 32, LIMITS) is None


def test_a_grid_too_long_in_x_has_no_longer_side_to_put_there() -> None:
    of_x, of_y = (by_limits(launch(grid=grid), 0, 32, LIMITS) for grid in ((1 << 31, 1, 1), (1, 1 << 16, 1)))
    assert "each of them do more" in getattr(of_x, "remedy", "")
    assert "longer side" in getattr(of_y, "remedy", "")


@pytest.mark.parametrize(
    ("changes", "static", "registers", "says"),
    [
        ({"block": (64, 32, 1)}, 0, 32, "64 × 32 × 1 = 2048 threads"),
        ({"block": (1, 1, 65)}, 0, 32, "65 threads in z"),
        ({"grid": (1, 65_536, 1)}, 0, 32, "65536 blocks in y"),
        ({"shared_bytes": 232_448}, 1024, 32, "233,472 bytes of shared memory"),
        ({"block": (1024, 1, 1)}, 0, 65, "1024 threads of 65 registers"),
        ({"grid": (32, 1, 1), "cluster": (32, 1, 1)}, 0, 32, "32 × 1 × 1 = 32 blocks, where 16 are the most"),
        ({"grid": (2, 3, 1), "cluster": (2, 2, 1)}, 0, 32, "grid.y is 3, no multiple of the 2 blocks of a cluster"),
        ({"grid": (8 * 132 + 1, 1, 1), "cooperative": True}, 0, 32, "1,057 blocks, where the device holds 1,056"),
        ({"grid": (265, 1, 1), "cooperative": True, "shared_bytes": 90_000}, 0, 32, "where the device holds 264"),
    ],
)  # fmt: skip
def test_what_a_device_cannot_launch_is_refused_by_its_limit(
    changes: dict[str, Any], static: int, registers: int, says: str
) -> None:
    impossible = by_limits(launch(**changes), static, registers, LIMITS)
    assert impossible is not None
    assert says in impossible.what


@pytest.mark.parametrize(
    ("block", "grid", "asked"),
    [
        ('["cdiv(N, SIDE)", "cdiv(M, SIDE)"]', '["SIDE", "SIDE"]', True),
        ('["4 * SIDE", "4 * SIDE"]', '["cdiv(N, 4 * SIDE)", "cdiv(M, 4 * SIDE)"]', False),
        ('["2 * N"]', '["cdiv(N, SIDE)"]', False),
        ("[64, 64]", "[8]", False),
    ],
)
def test_grid_and_block_are_exchanged_where_the_block_alone_follows_the_sizes(
    block: str, grid: str, asked: bool
) -> None:
    head = (
        f'// /// launch\n// [[launch]]\n// kernel = "hgemm"\n// grid = {grid}\n// block = {block}\n// ///\n'
    )
    source = f"{head}#include <cuda_fp16.h>\nconstexpr int SIDE = 16;{KERNEL}"
    kernel = prepare(parse_source(source, HGEMM, Path("mine.cu")), "sm_90")
    with pytest.raises(Refused) as refused:
        kernel.plan({"M": 640, "N": 640, "K": 8}, LIMITS)
    assert ("exchanged" in refused.value.reason) == asked


@pytest.mark.parametrize(
    ("block", "defined", "says"),
    [
        ('["SIDE", "SIDE"]', "constexpr int SIDE = 64;", "`SIDE = 32` in line 8 makes that 32 × 32 × 1 = 1024."),
        ('["2 * SIDE"]', "#define SIDE 1500", "`SIDE = 512` in line 8 makes that 1024 × 1 × 1 = 1024."),
        ('["SIDE", "H"]', "const int SIDE = 32, H = 64;", "Make `block` smaller, by the constant that it is made"),
        ('["THREADS"]', "#define SIDE 64\n#define THREADS (SIDE * SIDE)", "`SIDE = 32` in line 8 makes that 1024 ×"),
        (
            '["W", "H"]',
            "constexpr int SIDE = 16;\n#define W 32\nconstexpr int H = 64; // rows",
            "`H = 32` in line 10 makes that 32 × 32 × 1 = 1024: let each thread compute more elements",
        ),
        ("[64, 64]", "constexpr int SIDE = 64;", "Make `block` smaller, by the constant"),
    ],
)  # fmt: skip
def test_the_constant_that_makes_a_block_too_large_is_named(block: str, defined: str, says: str) -> None:
    grid = '["cdiv(N, SIDE)", "cdiv(M, SIDE)"]'
    head = (
        f'// /// launch\n// [[launch]]\n// kernel = "hgemm"\n// grid = {grid}\n// block = {block}\n// ///\n'
    )
    source = f"{head}#include <cuda_fp16.h>\n{defined}{KERNEL}"
    kernel = prepare(parse_source(source, HGEMM, Path("mine.cu")), "sm_90")
    with pytest.raises(Refused) as refused:
        kernel.plan({"M": 640, "N": 6400, "K": 8}, LIMITS)
    assert says in refused.value.reason


def test_the_line_of_the_key_is_named() -> None:
    file = read("cluster = [3]")
    impossible = by_limits(launch(grid=(4, 1, 1), cluster=(3, 1, 1)), 0, 32, LIMITS)
    assert impossible is not None
    assert impossible.refused(file.path, file.launches[0]).reason == (
        "The kernel cannot be launched: grid.x is 4, no multiple of the 3 blocks of a cluster (mine.cu:5). "
        "Round the grid up to a multiple of `cluster`, and let blocks without work leave."
    )


def test_clusters_on_a_device_without_them_name_the_line_and_what_helps() -> None:
    refused = by_architecture(read("cluster = [2]"), "sm_80")
    assert refused is not None
    assert refused.verdict == "error"
    assert (
        "clusters need sm_90 or later, and this device is sm_80 (mine.cu:3). Try it on the" in refused.reason
    )
    for arch in ("sm_90", "sm_90a", architecture((10, 0))):
        assert by_architecture(read("cluster = [2]"), arch) is None
    assert by_architecture(read("cooperative = true"), "sm_80") is None, (
        "grids could wait for one another long before"
    )


def test_a_file_that_says_what_it_needs_is_left_out_there() -> None:
    with pytest.raises(Refused, match="needs sm_90") as refused:
        prepare(read("cluster = [2]", at_head='smallest_arch = "sm_90"'), "sm_80")
    assert refused.value.verdict == "skip"


def test_a_cooperative_launch_that_does_not_fit_is_refused_before_it_is_made() -> None:
    kernel = prepare(read("cooperative = true"), "sm_90a")
    assert kernel.plan({"M": 1, "N": 1, "K": 1}, LIMITS).launches[0].cooperative
    large = replace(kernel, file=read("cooperative = true", 'shared = "120 * 1024"'))
    with pytest.raises(Refused) as refused:
        large.plan({"M": 1, "N": 1, "K": 1}, LIMITS)
    assert refused.value.reason == (
        "The kernel cannot be launched: a cooperative launch of 528 blocks, where the device holds 132 of this "
        "kernel's at a time (mine.cu:6). "
        'Launch no more than that, such as `grid = ["SMS"]`, and let each block loop over its share of the work.'
    )
