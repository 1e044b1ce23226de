"""Budgets of warp instructions: a block's own, what all blocks of a launch may take together, and what they may store
again of what others have stored."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import THREADS, Bench

from grader.emulator.machine.launch import STORED_AGAIN_EFFORT, TOGETHER
from grader.emulator.machine.machine import Machine

SOURCE = """
extern "C" __global__ void each_counts(volatile int* x, int turns)
{
    for (int i = 0; i < turns; ++i) {
        x[blockIdx.x] = i;
    }
}
"""
BLOCKS = 64


def status(threads: int, turns: int, budget: int) -> str:
    ran = Bench(Machine(threads=threads)).cuda(
        SOURCE, "each_counts", BLOCKS, 32, np.zeros(BLOCKS, np.int32), np.int32(turns), budget=budget
    )
    return ran.record.status


def executed(turns: int) -> int:
    """Warp instructions of one block."""
    ran = Bench(Machine(threads=1)).cuda(SOURCE, "each_counts", 1, 32, np.zeros(1, np.int32), np.int32(turns))
    return ran.record.longest_warp


@pytest.mark.parametrize("threads", THREADS)
def test_blocks_together_may_take_so_many_budgets(threads: int) -> None:
    """Exactly as many as they take, and one fewer: the same on any number of threads."""
    each = executed(10_000)
    enough = BLOCKS * each // TOGETHER
    assert status(threads, 10_000, enough) == "completed"
    assert status(threads, 10_000, enough - 1) == "launch budget exhausted"
    assert status(threads, 10_000, each // 2) == "budget exhausted"


AGAIN = """
extern "C" __global__ void each_stores_all(int* x, int size)
{
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        x[i] = 2 * i;
    }
}
"""


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(("spare", "said"), [(0, "completed"), (-1, "repeating")])
def test_what_other_blocks_have_stored_is_stored_again_so_often(threads: int, spare: int, said: str) -> None:
    """Every block but the first stores all elements again; the values are right."""
    size = 512
    budget = STORED_AGAIN_EFFORT * ((BLOCKS - 1) * size + spare)
    ran = Bench(Machine(threads=threads)).cuda(
        AGAIN, "each_stores_all", BLOCKS, 128, np.zeros(size, np.int32), np.int32(size), budget=budget
    )
    assert ran.record.status == said


@pytest.mark.parametrize(("blocks", "said"), [(1, "completed"), (4, "completed"), (8, "repeating")])
def test_the_few_that_do_what_the_last_one_does_are_not_stopped(blocks: int, said: str) -> None:
    """Rows beyond the end, whose warps or blocks take the last row inside: the values are right."""
    rows = AGAIN.replace("threadIdx.x;", "threadIdx.x % 32;").replace("blockDim.x", "32")
    ran = Bench(Machine(threads=1)).cuda(
        rows,
        "each_stores_all",
        blocks,
        256,
        np.zeros(512, np.int32),
        np.int32(512),
        budget=4 * STORED_AGAIN_EFFORT,
    )
    assert ran.record.status == said
