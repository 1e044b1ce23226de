"""Stores that other blocks see late, where nothing orders them: each kernel that relies on more beside its right twin.

Flags and data are volatile, so that nothing races; what comes out is wrong in one order of the blocks.
"""

from __future__ import annotations

import numpy as np
import pytest
from emulated import THREADS, Array, Bench

from grader.emulator.machine.machine import Machine
from grader.emulator.machine.orders import ORDERS

HEAD = """
extern "C" __global__ void k(unsigned* count, volatile int* flag, volatile int* data, int* out)
{
    const int g = blockIdx.x, n = gridDim.x;
    if (threadIdx.x) return;
"""

# FENCE stands where a fence has to.
BODIES = {
    "a flag": """
        if (g == 0) { data[0] = 5; FENCE flag[0] = 1; data[1] = 7; }
        else if (g == 1) { while (!flag[0]) {} out[0] = data[0]; }""",
    "a chain of blocks": """
        int sum = g + 1;
        if (g) { while (!flag[g - 1]) {} sum += data[g - 1]; }
        data[g] = sum; FENCE flag[g] = 1;
        if (g == n - 1) out[0] = sum;""",
    "the block that arrives last": """
        data[g] = g + 1; FENCE
        const bool last = atomicAdd(count, 1u) == n - 1;
        if (last) for (int i = 0; i < n; ++i) out[0] += data[i];""",
    "a lock": """
        while (atomicCAS(count, 0u, 1u)) {}
        data[0] = data[0] + g; FENCE
        flag[1] = data[0]; atomicExch(count, 0u);
        __threadfence();
        if (atomicAdd(count + 1, 1u) == n - 1) out[0] = data[0];""",
    "a barrier of the grid": """
        data[g] = g + 1; FENCE
        atomicAdd(count, 1u);
        while (*(volatile unsigned*)count < n) {}
        if (g == 0) for (int i = 0; i < n; ++i) out[0] += data[i];""",
}

WITHOUT_A_FENCE = {
    "two numbers in one word": """
        volatile long long* both = (volatile long long*)flag;
        long long before = 1;
        if (g) do before = both[g - 1]; while (!before);
        both[g] = before + (1ll << 32);
        if (g == n - 1) out[0] = (before >> 32) + 1;""",
    "a look before a try": """
        bool done = false;
        while (!done) if (*(volatile unsigned*)count == g) done = atomicCAS(count, g, g + 1) == g;
        atomicAdd(out, g);""",
    "a compare and swap": """
        unsigned old = *count, seen;
        do { seen = old; old = atomicCAS(count, seen, seen + g); } while (old != seen);
        out[0] = 6;""",
    "its own stores": "data[g] = g; data[g] += 1; out[g] = data[g];",
}


def run(bench: Bench, body: str, order: str) -> Array:
    arrays = [np.zeros(16, kind) for kind in (np.uint32, np.int32, np.int32, np.int32)]
    ran = bench.cuda(HEAD + body + "\n}", "k", 4, 32, *arrays, order=order, budget=1 << 20)
    assert ran.record.status == "completed"
    assert ran.record.findings == ()
    return ran.arrays[3]


@pytest.mark.parametrize("name", BODIES)
def test_what_has_no_fence_shows_where_stores_are_seen_late(name: str) -> None:
    body = BODIES[name].replace("FENCE", "")
    found = [[run(Bench(Machine(threads=count)), body, order) for order in ORDERS] for count in THREADS]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    rising, *_, switched = found[0]
    assert not np.array_equal(rising, switched)


@pytest.mark.parametrize("name", [*BODIES, *WITHOUT_A_FENCE])
def test_what_needs_none_or_has_one_is_the_same_in_every_order(bench: Bench, name: str) -> None:
    body = {**BODIES, **WITHOUT_A_FENCE}[name].replace("FENCE", "__threadfence();")
    rising, *others = (run(bench, body, order).tolist() for order in ORDERS)
    assert any(rising)
    assert others == [rising] * len(others)
