"""Clusters: which block a thread is in, shared memory of other blocks; what is found where a barrier is missing."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench, Ran

from grader.emulator.errors import ClusterRefused, LaunchRefused
from grader.emulator.machine.orders import ORDERS
from grader.emulator.machine.records import Finding

PLACES = r"""
#define READ(into, name) asm volatile("mov.u32 %0, " name ";" : "=r"(into))
extern "C" __global__ void places(unsigned* out)
{
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned* o = out + 14 * block;
    READ(o[0], "%cluster_ctaid.x"); READ(o[1], "%cluster_ctaid.y"); READ(o[2], "%cluster_ctaid.z");
    READ(o[3], "%cluster_nctaid.x"); READ(o[4], "%cluster_nctaid.y"); READ(o[5], "%cluster_nctaid.z");
    READ(o[6], "%clusterid.x"); READ(o[7], "%clusterid.y"); READ(o[8], "%clusterid.z");
    READ(o[9], "%nclusterid.x"); READ(o[10], "%nclusterid.y");
    READ(o[11], "%cluster_ctarank"); READ(o[12], "%cluster_nctarank");
    asm("{ .reg .pred p; mov.pred p, %is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(o[13]));
}
"""


@pytest.mark.parametrize("cluster", [(1, 1, 1), (2, 1, 1), (2, 3, 1), (1, 2, 2)])
def test_a_thread_knows_its_place_in_the_cluster(bench: Bench, cluster: tuple[int, int, int]) -> None:
    grid = (4, 6, 2)
    out = bench.clean(PLACES, "places", grid, 1, np.zeros((48, 14), np.uint32), cluster=cluster)
    for number, row in enumerate(out.tolist()):
        at = number % 4, number // 4 % 6, number // 24
        within = [a % c for a, c in zip(at, cluster, strict=True)]
        rank = within[0] + cluster[0] * (within[1] + cluster[1] * within[2])
        blocks = cluster[0] * cluster[1] * cluster[2]
        assert row[:3] == within
        assert row[3:6] == list(cluster)
        assert row[6:9] == [a // c for a, c in zip(at, cluster, strict=True)]
        assert row[9:] == [4 // cluster[0], 6 // cluster[1], rank, blocks, int(blocks > 1)]


HEAD = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
"""
RING = (
    HEAD
    + r"""
extern "C" __global__ void ring(int* out)
{
    __shared__ int box[32];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
    box[t] = 100 * blockIdx.x + t;
    FIRST
    int* theirs = cluster.map_shared_rank(box, next);
    int got = theirs[31 - t];
    SECOND
    out[32 * blockIdx.x + t] = got;
}
"""
)
SYNC = "cluster.sync();"


def ring(bench: Bench, first: str = SYNC, second: str = SYNC, blocks: int = 4, cluster: int = 4) -> Ran:
    source = RING.replace("FIRST", first).replace("SECOND", second)
    return bench.cuda(source, "ring", blocks, 32, np.zeros(32 * blocks, np.int32), cluster=(cluster, 1, 1))


@pytest.mark.parametrize("cluster", [1, 2, 4, 8])
def test_a_block_reads_what_the_next_one_wrote(bench: Bench, cluster: int) -> None:
    ran = ring(bench, blocks=16, cluster=cluster)
    assert ran.findings == []
    block = np.arange(16)
    following = block // cluster * cluster + (block + 1) % cluster
    np.testing.assert_array_equal(
        ran.arrays[0].reshape(16, 32), 100 * following[:, None] + np.arange(31, -1, -1)
    )


def only(ran: Ran) -> Finding:
    (found,) = ran.record.findings
    return found


def test_a_block_that_may_not_have_begun_is_found(bench: Bench) -> None:
    found = [f for f in ring(bench, first="__syncthreads();").record.findings if f.kind == "absent_block"]
    assert [f.absence for f in found] == ["not_begun"]
    assert found[0].owner == (1, 0, 0)
    assert found[0].array == "box"


def test_a_block_that_leaves_while_another_reads_its_memory_is_found(bench: Bench) -> None:
    found = only(ring(bench, second=""))
    assert (found.kind, found.absence, found.action) == ("absent_block", "ended", "read")
    assert RING.splitlines()[found.line - 1].strip().startswith("int got")


def test_a_rank_that_the_cluster_does_not_have_is_found(bench: Bench) -> None:
    source = RING.replace("FIRST", SYNC).replace("SECOND", SYNC).replace(" % cluster.num_blocks()", "")
    found = only(bench.cuda(source, "ring", 2, 32, np.zeros(64, np.int32), cluster=(2, 1, 1)))
    assert (found.kind, found.absence, found.block) == ("absent_block", "no_such_block", (1, 0, 0))


def test_an_access_beyond_a_peers_shared_memory_is_found(bench: Bench) -> None:
    source = RING.replace("FIRST", SYNC).replace("SECOND", SYNC).replace("theirs[31 - t]", "theirs[1 + t]")
    found = only(bench.cuda(source, "ring", 2, 32, np.zeros(64, np.int32), cluster=(2, 1, 1)))
    assert (found.kind, found.address, found.count) == ("out_of_bounds", 128, 2)
    assert {found.block, found.owner} == {(0, 0, 0), (1, 0, 0)}


PUSH = (
    HEAD
    + r"""
extern "C" __global__ void push(int* out)
{
    __shared__ int box[32], sum;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
    box[t] = sum = 0;
    cluster.sync();
    cluster.map_shared_rank(box, (rank + 1) % blocks)[t] = 10 * rank + t;
    atomicAdd(cluster.map_shared_rank(&sum, 0), t);
    BETWEEN
    out[32 * blockIdx.x + t] = box[t] + (rank ? 0 : sum);
}
"""
)


@pytest.mark.parametrize("between", ["cluster.sync();", "cluster.barrier_wait(cluster.barrier_arrive());"])
def test_blocks_write_to_each_other_and_add_up_in_one(bench: Bench, between: str) -> None:
    source = PUSH.replace("BETWEEN", between)
    out = bench.clean(source, "push", 8, 32, np.zeros(256, np.int32), cluster=(4, 1, 1)).reshape(8, 32)
    rank = np.arange(8) % 4
    want = 10 * ((rank + 3) % 4)[:, None] + np.arange(32)
    want[rank == 0] += 4 * 496
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("between", ["", "__syncthreads();"])
def test_a_race_with_a_peer_is_found(bench: Bench, between: str) -> None:
    """A barrier of the block orders nothing between blocks."""
    ran = bench.cuda(
        PUSH.replace("BETWEEN", between), "push", 2, 32, np.zeros(64, np.int32), cluster=(2, 1, 1)
    )
    races = [f for f in ran.record.findings if f.kind == "race"]
    assert races
    assert {f.scope for f in races} == {"cluster"}
    assert races[0].other is not None
    assert races[0].other.block is not None
    assert {races[0].block, races[0].other.block} == {(0, 0, 0), (1, 0, 0)}


GLOBAL = (
    HEAD
    + r"""
extern "C" __global__ void through_global(int* box, int* out)
{
    auto cluster = cg::this_cluster();
    int i = blockIdx.x * 32 + threadIdx.x, j = (blockIdx.x ^ 1) * 32 + threadIdx.x;
    box[i] = i;
    BETWEEN
    out[i] = box[j];
}
"""
)


@pytest.mark.soak(area="emulator")
def test_the_barrier_orders_global_memory_too(bench: Bench) -> None:
    zeros = np.zeros(128, np.int32)
    source = GLOBAL.replace("BETWEEN", "cluster.sync();")
    _, out = bench.clean(source, "through_global", 4, 32, zeros, zeros, cluster=(2, 1, 1))
    np.testing.assert_array_equal(out.reshape(2, 2, 32)[:, ::-1].ravel(), np.arange(128))
    ran = bench.cuda(GLOBAL.replace("BETWEEN", ""), "through_global", 4, 32, zeros, zeros, cluster=(2, 1, 1))
    assert "race" in ran.findings


def test_a_barrier_that_some_threads_never_reach_is_found(bench: Bench) -> None:
    source = (
        HEAD
        + r"""
    extern "C" __global__ void stuck(int* out)
    {
        auto cluster = cg::this_cluster();
        if (cluster.block_rank() == 0) cluster.sync();
        else for (int i = 0; i < 2; i++) { cluster.sync(); out[threadIdx.x] = i; }
    }"""
    )
    assert bench.clean(source, "stuck", 2, 32, np.zeros(32, np.int32), cluster=(2, 1, 1)).tolist() == [1] * 32
    source = source.replace("0) cluster.sync();", "0) while (atomicAdd(out + 32, 0) == 0);")
    ran = bench.cuda(source, "stuck", 2, 32, np.zeros(33, np.int32), cluster=(2, 1, 1), budget=1 << 16)
    assert ran.record.status == "budget exhausted"


def test_a_cluster_that_deadlocks_is_named(bench: Bench) -> None:
    source = r"""
    extern "C" __global__ void stuck()
    {
        asm volatile("barrier.cluster.arrive.aligned;");
        if (blockIdx.x == 0) asm volatile("bar.sync 1, 64;");
        asm volatile("barrier.cluster.wait.aligned; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
    }"""
    ran = bench.cuda(source, "stuck", 2, 32, cluster=(2, 1, 1))
    assert ran.record.status == "deadlock"
    stuck = [f for f in ran.record.findings if f.scope == "cluster"]
    assert [(f.kind, f.arrivals.arrived, f.arrivals.expected) for f in stuck if f.arrivals] == [
        ("barrier", 32, 64)
    ]


@pytest.mark.parametrize(
    ("grid", "cluster", "words"),
    [
        ((3, 1), (2, 1, 1), "grid.x is 3"),
        ((2, 3), (1, 2, 1), "grid.y is 3"),
        ((16, 1), (16, 1, 1), "16 blocks; 8 are the most"),
        ((2, 1), (0, 1, 1), "0 × 1 × 1"),
    ],
)
def test_clusters_that_a_device_refuses(
    bench: Bench, grid: tuple[int, int], cluster: tuple[int, int, int], words: str
) -> None:
    with pytest.raises(ClusterRefused, match=words):
        bench.cuda(PLACES, "places", grid, 1, np.zeros(14 * 16, np.uint32), cluster=cluster)


def test_sixteen_blocks_have_to_be_allowed(bench: Bench) -> None:
    out = bench.clean(
        PLACES, "places", 32, 1, np.zeros((32, 14), np.uint32), cluster=(16, 1, 1), non_portable=True
    )
    assert out[:, 11].tolist() == [*range(16)] * 2


def test_a_declared_cluster_is_what_is_launched(bench: Bench) -> None:
    declared = PLACES.replace("void places", "void __cluster_dims__(2, 1, 1) places")
    out = bench.clean(declared, "places", 4, 1, np.zeros((4, 14), np.uint32))
    assert out[:, 11].tolist() == [0, 1, 0, 1]
    assert out[:, 12].tolist() == [2] * 4
    with pytest.raises(LaunchRefused, match="__cluster_dims__ asks for 2"):
        bench.cuda(declared, "places", 4, 1, np.zeros((4, 14), np.uint32), cluster=(4, 1, 1))


@pytest.mark.soak(area="emulator")
@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_the_blocks_changes_nothing(bench: Bench, order: str) -> None:
    source = PUSH.replace("BETWEEN", SYNC)
    plain = bench.clean(source, "push", 16, 32, np.zeros(512, np.int32), cluster=(4, 1, 1))
    other = bench.clean(source, "push", 16, 32, np.zeros(512, np.int32), cluster=(4, 1, 1), order=order)
    np.testing.assert_array_equal(plain, other)
    ran = bench.cuda(PUSH.replace("BETWEEN", ""), "push", 4, 32, np.zeros(128, np.int32), cluster=(4, 1, 1),
                     order=order)  # fmt: skip
    assert set(ran.findings) == {"race", "absent_block"}


def test_sampled_blocks_run_with_their_clusters(bench: Bench) -> None:
    source = RING.replace("FIRST", SYNC).replace("SECOND", SYNC)
    ran = bench.cuda(
        source, "ring", 16, 32, np.full(512, -1, np.int32), cluster=(4, 1, 1), blocks=[13, 2, 14]
    )
    assert (ran.record.blocks_run, ran.record.grid_blocks) == (8, 16)
    assert (ran.arrays[0].reshape(4, 128) >= 0).all(axis=1).tolist() == [True, False, False, True]


TICKETS = (
    HEAD
    + r"""
extern "C" __global__ void tickets(int* next, int* out, int n)
{
    __shared__ int ticket;
    auto cluster = cg::this_cluster();
    int rank = cluster.block_rank(), blocks = cluster.num_blocks(), t = threadIdx.x;
    cluster.sync();
    while (true) {
        if (rank == 0 && t == 0) {
            int mine = atomicAdd(next, 1);
            for (int r = 0; r < blocks; r++) *cluster.map_shared_rank(&ticket, r) = mine;
        }
        cluster.sync();
        int mine = ticket;
        cluster.sync();
        if (mine >= n) return;
        out[(mine * blocks + rank) * 32 + t] = mine + 1;
    }
}
"""
)


@pytest.mark.parametrize("order", ORDERS)
def test_clusters_take_their_work_in_turns(bench: Bench, order: str) -> None:
    """Persistent blocks, of which a counter in global memory says what they do next."""
    counter, out = np.zeros(1, np.int32), np.zeros(20 * 64, np.int32)
    _, out = bench.clean(
        TICKETS, "tickets", 8, 32, counter, out, np.int32(20), cluster=(2, 1, 1), order=order
    )
    np.testing.assert_array_equal(out.reshape(20, 64), np.repeat(np.arange(1, 21)[:, None], 64, 1))
