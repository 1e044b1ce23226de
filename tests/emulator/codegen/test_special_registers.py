"""Special registers whose values a GPU has from elsewhere than from the launch: its clock, and its multiprocessors."""

from __future__ import annotations

import time

import numpy as np
from emulated import Bench

MULTIPROCESSORS = """extern "C" __global__ void k(unsigned* v)
{
    asm volatile("mov.u32 %0, %%smid;" : "=r"(v[2 * blockIdx.x]));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(v[2 * blockIdx.x + 1]));
}"""
CLOCK = """extern "C" __global__ void k(unsigned long long* v)
{
    unsigned high;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v[0]));
    asm volatile("mov.u32 %0, %%globaltimer_hi;" : "=r"(high));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v[1]));
    v[2] = high;
}"""


def test_the_global_timer_counts_from_1970(bench: Bench) -> None:
    before = time.time_ns()
    first, second, high = (int(x) for x in bench.cuda(CLOCK, "k", 1, 1, np.zeros(3, np.uint64)).arrays[0])
    assert before <= first <= second < first + 100
    assert high in (first >> 32, second >> 32)


def test_blocks_spread_over_all_multiprocessors_in_no_plain_order(bench: Bench) -> None:
    ids, counts = bench.cuda(MULTIPROCESSORS, "k", 264, 1, np.zeros((264, 2), np.uint32)).arrays[0].T
    assert set(counts) == {132}
    rounds = ids[:132], ids[132:]
    assert [sorted(each) for each in rounds] == [list(range(132))] * 2
    for each in rounds:
        assert np.mean(each == np.arange(132)) < 0.1
    assert np.mean(rounds[0] == rounds[1]) < 0.1
