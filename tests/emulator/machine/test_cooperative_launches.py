"""Cooperative launches: blocks that are all under way, and may wait for each other at the grid's barrier."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

from grader.emulator.errors import TooManyBlocks
from grader.emulator.runtime.layout import SHORT_TURN
from grader.findings.kernels import message
from grader.findings.remedies import remedy

SOURCE = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void neighbours(int* x, int* y, int steps)
{
    auto grid = cg::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    for (int step = 0; step < steps; ++step) {
        y[i] = x[i] + x[(i + 1) % n];
        grid.sync();
        x[i] = y[i];
        grid.sync();
    }
}

extern "C" __global__ void without_the_barrier(int* x, int* y, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int step = 0; step < steps; ++step) {
        y[i] = x[i] + x[(i + 1) % n];
        x[i] = y[i];
    }
}

extern "C" __global__ void wait_for_the_last(volatile unsigned* flag, unsigned turns)
{
    if (blockIdx.x + 1 < gridDim.x) {
        while (*flag == 0) {
        }
    } else {
        unsigned random = 1;
        for (unsigned i = 0; i < turns; ++i) {
            random = random * 1664525u + 1013904223u;
        }
        *flag = random | 1;
    }
}

extern "C" __global__ void valid(int* x) { x[blockIdx.x] = cg::this_grid().is_valid(); }
"""


def arrays() -> tuple[np.ndarray[tuple[int], np.dtype[np.int32]], np.ndarray[tuple[int], np.dtype[np.int32]]]:
    return np.arange(256, dtype=np.int32), np.zeros(256, np.int32)


def test_a_grid_synchronises(bench: Bench) -> None:
    x, y = arrays()
    got, _ = bench.clean(SOURCE, "neighbours", 8, 32, x, y, np.int32(3), cooperative=True)
    for _step in range(3):
        x = x + np.roll(x, -1)
    np.testing.assert_array_equal(got, x)


def test_a_missing_barrier_of_the_grid_is_a_race(bench: Bench) -> None:
    ran = bench.cuda(SOURCE, "without_the_barrier", 8, 32, *arrays(), np.int32(3), cooperative=True)
    assert "race" in ran.findings


def test_blocks_that_wait_look_a_few_times_while_one_works(bench: Bench) -> None:
    ran = bench.cuda(
        SOURCE, "wait_for_the_last", 33, 32, np.zeros(1, np.uint32), np.uint32(10_000), cooperative=True
    )
    assert ran.record.status == "completed"
    turns = 4 * 10_000 // SHORT_TURN  # of the block that works, at most
    assert 32 < ran.record.counters["smsp__sass_inst_executed_op_global_ld.sum"] < 32 * 8 * turns


@pytest.mark.parametrize("cooperative", [False, True])
def test_a_grid_is_valid_in_a_cooperative_launch(bench: Bench, cooperative: bool) -> None:
    ran = bench.cuda(SOURCE, "valid", 2, 1, np.zeros(2, np.int32), cooperative=cooperative)
    assert ran.arrays[0].tolist() == [cooperative] * 2


def test_synchronising_a_grid_that_was_launched_otherwise_is_a_trap(bench: Bench) -> None:
    ran = bench.cuda(SOURCE, "neighbours", 8, 32, *arrays(), np.int32(1))
    assert ran.record.status == "trap"
    (finding,) = ran.record.findings
    assert "grid.sync();" in SOURCE.splitlines()[finding.line - 1]
    assert "its launch is not cooperative" in message(finding)
    assert "cudaLaunchCooperativeKernel" in remedy(finding)


def test_more_blocks_than_fit_are_refused(bench: Bench) -> None:
    """An H200 has 132 multiprocessors, each with room for 2 blocks of 1024 threads."""
    with pytest.raises(TooManyBlocks, match="265 blocks; the device holds 264 of this kernel's at a time"):
        bench.cuda(SOURCE, "valid", 265, 1024, np.zeros(265, np.int32), cooperative=True)
    bench.clean(SOURCE, "valid", 264, 1024, np.zeros(264, np.int32), cooperative=True)
