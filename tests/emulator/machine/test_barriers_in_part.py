"""Barriers, flags and latches for a part of a block order that part alone: each race beside its right twin."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import THREADS, Bench, Ran, marked

from grader.emulator.machine.machine import Machine
from grader.emulator.machine.orders import ORDERS, Order

HEAD = r"""
__device__ void sync(int barrier, int threads)
{
    asm volatile("bar.sync %0, %1;" :: "r"(barrier), "r"(threads) : "memory");
}
__device__ void arrive(int barrier, int threads)
{
    asm volatile("bar.arrive %0, %1;" :: "r"(barrier), "r"(threads) : "memory");
}
extern "C" __global__ void k(int* out)
{
    __shared__ int x[128], y[128];
    const int t = threadIdx.x, half = t / 64, lane = t % 64;
    x[t] = y[t] = 0;
    __syncthreads();
"""

RIGHT = {
    "halves by themselves": """
        for (int i = 0; i < 3; ++i) {
            x[t] += t; sync(1 + half, 64); y[t] += x[64 * half + 63 - lane]; sync(1 + half, 64); }
        out[t] = y[t];""",
    "a barrier of all, with their number": "x[t] = t; sync(1, 128); out[t] = x[127 - t];",
    "a producer and two groups of readers": """
        if (t < 32) for (int i = 0; i < 4; ++i) {
            if (i) { sync(2, 64); sync(3, 64); }
            x[t] = i; sync(1, 96); }
        else if (t < 96) for (int i = 0; i < 4; ++i) {
            sync(1, 96); y[t] += x[95 - t & 31];
            if (i < 3) arrive(t < 64 ? 2 : 3, 64); }
        out[t] = y[t];""",
    "what a third has learnt": """
        if (t < 32) { x[t] = 1; sync(1, 64); }
        else if (t < 64) { sync(1, 64); sync(2, 64); }
        else if (t < 96) { sync(2, 64); out[t] = x[95 - t]; }""",
    "an arrival behind the store": """
        if (half) { x[lane] = t; arrive(1, 128); }
        else { sync(1, 128); out[t] = x[63 - t]; }""",
    "a fence and a counter of some": """
        __shared__ int left; if (t == 0) left = 64; __syncthreads();
        if (half) { x[lane] = t; __threadfence_block(); atomicSub(&left, 1); }
        else { while (*(volatile int*)&left) {} __threadfence_block(); out[t] = x[63 - t]; }""",
}

WRONG = {
    "a barrier of half of them": """
        if (half) x[lane] = t;
        sync(1, 64);
        if (!half) out[t] = x[lane]; //""",
    "halves that take from each other": """
        x[t] = t; sync(1 + half, 64);
        out[t] = x[127 - t]; //""",
    "an arrival before the store": """
        if (half) { arrive(1, 128); x[lane] = t; } //
        else { sync(1, 128); out[t] = x[63 - t]; } //""",
    "one of two groups of readers is not waited for": """
        if (t < 32) { x[t] = 1; sync(1, 96); sync(2, 64);
            x[t] = 2; } //
        else if (t < 64) { sync(1, 96); out[t] = x[63 - t]; arrive(2, 64); }
        else if (t < 96) { sync(1, 96); out[t] = x[95 - t]; //
            }""",
    "who arrives learns nothing": """
        if (half) x[lane] = t;
        if (half) sync(1, 128); else { arrive(1, 128);
            out[t] = x[lane]; } //""",
}


def run(bench: Bench, body: str) -> Ran:
    return bench.cuda(HEAD + body + "\n}", "k", 2, 128, np.zeros(128, np.int32))


@pytest.mark.parametrize("name", RIGHT)
def test_those_that_take_part_are_ordered(bench: Bench, name: str) -> None:
    ran = run(bench, RIGHT[name])
    assert ran.record.status == "completed"
    assert ran.record.findings == ()
    assert ran.arrays[0].any()


@pytest.mark.parametrize("name", WRONG)
def test_the_others_are_not(name: str) -> None:
    found = [run(Bench(Machine(threads=count)), WRONG[name]).record.findings for count in THREADS]
    for findings in found:
        assert {finding.kind for finding in findings} == {"race"}
        assert {finding.line for finding in findings} <= marked(HEAD + WRONG[name])


LATCH = """
#include <cuda/latch>
extern "C" __global__ void k(int* out)
{
    using Latch = cuda::latch<cuda::thread_scope_block>;
    __shared__ int x[64];
    alignas(Latch) __shared__ char storage[sizeof(Latch)];
    Latch& latch = *reinterpret_cast<Latch*>(storage);
    const int t = threadIdx.x;
    if (t == 0) new (storage) Latch(64);
    __syncthreads();
    x[t] = t;
    latch.count_down();
    if (t) return;
    latch.wait();
    for (int i = 0; i < 64; ++i) out[blockIdx.x] += x[i];
}
"""


@pytest.mark.parametrize("order", ORDERS)
def test_latches_of_many_blocks_that_take_turns(bench: Bench, order: Order) -> None:
    sums = bench.clean(LATCH, "k", 300, 64, np.zeros(300, np.int32), order=order)
    assert set(sums.tolist()) == {2016}


def test_blocks_that_are_looked_at_alone_are_ordered_likewise(bench: Bench) -> None:
    sums = bench.clean(LATCH, "k", 300, 64, np.zeros(300, np.int32), blocks=[7, 250])
    assert sums.nonzero()[0].tolist() == [7, 250]
