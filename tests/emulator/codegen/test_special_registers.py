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
SLOTS = """extern "C" __global__ void k(unsigned* v)
{
    if (threadIdx.x % 32) return;
    unsigned* const own = v + blockIdx.x * 8 + threadIdx.x / 32;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(own[0]));
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(own[4]));
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


def test_a_warps_slot_is_its_own_in_the_block_and_no_number_of_the_warp(bench: Bench) -> None:
    """PTX ISA 10.4: "%warpid ... provides a unique warp number within a CTA but not across CTAs within a grid"."""
    found = bench.cuda(SLOTS, "k", 64, 128, np.zeros((64, 2, 4), np.uint32)).arrays[0]
    slots, counts = found[:, 0], found[:, 1]
    assert (counts == 64).all()
    assert {len(set(each)) for each in slots.tolist()} == {4}
    assert set(slots.ravel()) == set(range(64))
    assert np.mean(slots == np.arange(4)) < 0.05
