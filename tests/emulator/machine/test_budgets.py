"""Budgets of warp instructions: a block's own, and what all blocks of a launch may take together."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import THREADS, Bench

from grader.emulator.machine.launch import TOGETHER
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
