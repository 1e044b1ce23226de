"""The orders in which blocks run: by number, against it, at random, and many at a time, which take turns."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

from grader.emulator.errors import LaunchRefused
from grader.emulator.machine.orders import CROWDED, EVEN_FIRST, ORDERS, Order

SOURCE = r"""
extern "C" __global__ void order(int* count, int* place)
{
    if (threadIdx.x == 0) place[blockIdx.x] = atomicAdd(count, 1);
}

extern "C" __global__ void of_warps(int* count, int* turns)
{
    if (threadIdx.x % 32 == 0) turns[atomicAdd(count, 1)] = threadIdx.x / 32;
}

extern "C" __global__ void once(int* sum)
{
    const int old = *sum;
    atomicCAS(sum, old, old + 1);
}

extern "C" __global__ void apart(volatile int* sum)
{
    if (threadIdx.x == 0) { const int old = sum[0]; sum[0] = old + 1; }
}

extern "C" __global__ void waits_for_the_last(volatile int* flag)
{
    if (threadIdx.x) return;
    if (blockIdx.x == gridDim.x - 1) flag[0] = 1;
    else while (!flag[0]) {}
}

extern "C" __global__ void waits_for_the_one_before(volatile int* flag)
{
    if (threadIdx.x) return;
    if (blockIdx.x) while (!flag[blockIdx.x - 1]) {}
    flag[blockIdx.x] = 1;
}

extern "C" __global__ void waits_for_nobody(volatile int* flag) { while (!flag[blockIdx.x]) {} }

extern "C" __global__ void works_long(int* out, int* count)
{
    unsigned x = blockIdx.x;
    for (int i = 0; i < 20000; ++i) x = x * 1664525u + 1013904223u + (i & x);
    if (atomicAdd(count, 1) >= 0) out[blockIdx.x] = x;
}

extern "C" __global__ void adds_nothing(int* sums, int many)
{
    if (threadIdx.x == 0)
        for (int i = 0; i < many; ++i) atomicAdd(&sums[i], 0);
}

extern "C" __global__ void adds_nothing_once_told(int* sums, volatile int* flag, int many)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) flag[0] = 1;
    while (!flag[0]) {}
    for (int i = 0; i < many; ++i) atomicAdd(&sums[i], 0);
}

extern "C" __global__ void wait_for_one_that_works_long(int* out, volatile int* flag)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        unsigned x = flag[0];
        for (int i = 0; i < 100000; ++i) x = x * 1664525u + 1013904223u + (i & x);
        out[0] = x;
        __threadfence();
        flag[0] = 1;
    }
    while (!flag[0]) {}
}

extern "C" __global__ void take_long_for_each_draw(int* drawn, int* out, int draws)
{
    __shared__ int mine;
    __shared__ unsigned table[32];
    table[threadIdx.x] = threadIdx.x;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) mine = atomicAdd(drawn, 1);
        __syncthreads();
        if (mine >= draws) return;
        unsigned x = threadIdx.x;
        for (int i = 0; i < 10000; ++i) x += table[x % 32];
        out[mine * 32 + threadIdx.x] = x;
    }
}

extern "C" __global__ void __launch_bounds__(1024) with_much_shared_memory(volatile int* flag)
{
    __shared__ int tile[8192];
    tile[threadIdx.x] = blockIdx.x;
    __syncthreads();
    if (blockIdx.x == gridDim.x - 1) flag[0] = 1;
    else while (!flag[0]) {}
    flag[1 + blockIdx.x] = tile[1023 - threadIdx.x];
}
"""


def ints(n: int) -> np.ndarray:
    return np.zeros(n, np.int32)


def test_blocks_begin_in_the_order_that_was_asked_for(bench: Bench) -> None:
    places = {
        order: bench.cuda(SOURCE, "order", 50, 32, ints(1), ints(50), order=order).arrays[1].tolist()
        for order in ORDERS
    }
    assert places["rising"] == list(range(50))
    assert places["reversed"] == list(range(50))[::-1]
    for order in ORDERS:
        assert sorted(places[order]) == list(range(50))
        again = bench.cuda(SOURCE, "order", 50, 32, ints(1), ints(50), order=order)
        assert places[order] == again.arrays[1].tolist()
    assert len({tuple(found) for found in places.values()}) == 4


@pytest.mark.parametrize(
    ("order", "turns"),
    [("rising", [0, 1, 2, 3, 4]), ("reversed", [4, 3, 2, 1, 0]), (EVEN_FIRST, [0, 2, 4, 1, 3])],
)
def test_the_warps_of_a_block_take_turns_as_the_order_says(
    bench: Bench, order: Order, turns: list[int]
) -> None:
    _, places = bench.cuda(SOURCE, "of_warps", 1, 160, ints(1), ints(5), order=order).arrays
    assert places.tolist() == turns


@pytest.mark.parametrize("kernel", ["once", "apart"])
def test_blocks_that_take_turns_lose_updates_that_are_not_atomic(bench: Bench, kernel: str) -> None:
    assert bench.cuda(SOURCE, kernel, 64, 1, ints(1)).arrays[0] == 64
    assert bench.cuda(SOURCE, kernel, 64, 1, ints(1), order="switched").arrays[0] < 64


@pytest.mark.parametrize("order", ORDERS)
def test_a_block_may_wait_for_a_later_one_that_is_resident(bench: Bench, order: str) -> None:
    assert bench.clean(SOURCE, "waits_for_the_last", 40, 32, ints(1), order=order) == 1
    flags = bench.clean(SOURCE, "with_much_shared_memory", 60, 1024, ints(61), order=order)
    assert flags.tolist() == [1, *range(60)]


def test_a_block_that_is_not_resident_is_waited_for_in_vain(bench: Bench) -> None:
    ran = bench.cuda(SOURCE, "with_much_shared_memory", 300, 1024, ints(301), budget=1 << 20)
    assert ran.record.status == "starved"
    ran = bench.cuda(SOURCE, "waits_for_nobody", 4, 32, ints(4), budget=1 << 20)
    assert ran.record.status == "waiting in vain"


def test_where_it_is_crowded_blocks_may_wait_for_earlier_ones_alone(bench: Bench) -> None:
    ran = bench.cuda(SOURCE, "waits_for_the_last", 40, 32, ints(1), budget=1 << 20, order=CROWDED)
    assert ran.record.status == "starved"
    flags = bench.clean(SOURCE, "waits_for_the_one_before", 200, 32, ints(200), order=CROWDED)
    assert flags.tolist() == [1] * 200


def test_a_cooperative_launch_is_never_crowded(bench: Bench) -> None:
    """It is refused where not all of its blocks have room, so that each may wait for any other."""
    flags = bench.clean(
        SOURCE, "with_much_shared_memory", 60, 1024, ints(61), order=CROWDED, cooperative=True
    )
    assert flags.tolist() == [1, *range(60)]


@pytest.mark.parametrize("order", ORDERS)
def test_long_work_is_no_waiting(bench: Bench, order: str) -> None:
    bench.clean(SOURCE, "works_long", 100, 32, ints(100), ints(1), order=order)


@pytest.mark.parametrize("order", ORDERS)
def test_many_blocks_that_change_nothing_for_long_do_not_wait(bench: Bench, order: str) -> None:
    """A histogram's blocks add nothing to most bins where there are few numbers."""
    bench.clean(SOURCE, "adds_nothing", 1000, 32, ints(256), np.int32(256), order=order, budget=1 << 20)
    bench.clean(
        SOURCE,
        "adds_nothing_once_told",
        1000,
        32,
        ints(256),
        ints(1),
        np.int32(256),
        order=order,
        budget=1 << 20,
    )


@pytest.mark.parametrize("order", ORDERS)
def test_many_blocks_may_wait_for_one_that_works_long(bench: Bench, order: str) -> None:
    bench.clean(
        SOURCE, "wait_for_one_that_works_long", 1000, 32, ints(1), ints(1), order=order, budget=1 << 20
    )

    bench.clean(
        SOURCE, "take_long_for_each_draw", 500, 32, ints(1), ints(16000), np.int32(500), order=order,
        budget=1 << 20,
    )  # fmt: skip


CLUSTERS = r"""
extern "C" __global__ void __cluster_dims__(2, 3, 1) clusters(int* a) { a[blockIdx.x + gridDim.x * blockIdx.y] = 1; }
"""


def test_a_grid_is_whole_clusters(bench: Bench) -> None:
    assert bench.clean(CLUSTERS, "clusters", (4, 3), 1, ints(12)).sum() == 12
    for grid in ((5, 3), (4, 4)):
        with pytest.raises(LaunchRefused, match="multiple of"):
            bench.cuda(CLUSTERS, "clusters", grid, 1, ints(20))


GRIDS = r"""
#include <cooperative_groups.h>
extern "C" __global__ void row_maxima(const unsigned* in, unsigned* maxima, unsigned* seen, int rows, int columns)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < rows * columns) atomicMax(&maxima[i / columns], in[i]);
    cooperative_groups::this_grid().sync();
    if (i < rows * columns) seen[i] = __ldcg(&maxima[i / columns]);
    cooperative_groups::this_grid().sync();
}
"""


@pytest.mark.parametrize("seed", [20, 21, 23])
def test_whoever_misses_a_later_arrival_has_learnt_from_the_earlier_ones(bench: Bench, seed: int) -> None:
    """A load that misses the arrival at the second barrier of the grid gets the last one at the first, which is as much
    of a release. With 21 and 23, thread 0 of the last block left the first barrier in this way."""
    rows, columns = 7, 257
    x = np.random.default_rng(seed).integers(1, 1 << 31, (rows, columns)).astype(np.uint32)
    ran = bench.cuda(
        GRIDS, "row_maxima", 132, 256, x, np.zeros(rows, np.uint32), np.zeros((rows, columns), np.uint32),
        np.int32(rows), np.int32(columns), order="switched", cooperative=True,
    )  # fmt: skip
    assert (ran.arrays[2] == x.max(axis=1, keepdims=True)).all()
