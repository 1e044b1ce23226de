"""Copies between blocks of a cluster, multicasts, st.async, red.async: what arrives, what is found without a wait."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench, Ran

ASM = r"""
#define U64 unsigned long long
__device__ unsigned place(const void* p) { return __cvta_generic_to_shared(p); }
__device__ unsigned there(const void* p, int rank)
{
    unsigned a;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(place(p)), "r"(rank));
    return a;
}
__device__ void init(U64* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(place(b)), "r"(n)); }
__device__ void expect(U64* b, int n)
{ asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(place(b)), "r"(n) : "memory"); }
__device__ void wait(U64* b, unsigned parity)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;"
                 "@!p bra again; }" :: "r"(place(b)), "r"(parity) : "memory");
}
__device__ void sync() { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ int rank() { int r; asm volatile("mov.u32 %0, %cluster_ctarank;" : "=r"(r)); return r; }
"""
SEND = (
    ASM
    + r"""
extern "C" __global__ void send(int* out)
{
    __shared__ __align__(16) int from[128], to[128];
    __shared__ U64 full;
    int t = threadIdx.x, peer = rank() ^ 1;
    from[t] = 1000 * blockIdx.x + t;
    to[t] = t;
    if (t == 0) init(&full, 1);
    FENCE
    sync();
    if (t == 0) expect(&full, BYTES);
    START
    WAIT
    out[128 * blockIdx.x + t] = to[127 - t];
    END
}
"""
)
COPY = r"""
    if (t == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :: "r"(there(to, peer)), "r"(place(from)), "r"(512), "r"(there(&full, peer)) : "memory");
"""
STORE = r"""
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];"
                 :: "r"(there(to + t, peer)), "r"(from[t]), "r"(there(&full, peer)) : "memory");
"""
STORE_FOUR = r"""
    if (t < 32)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%0], {%1, %2, %3, %4}, [%5];"
                     :: "r"(there(to + 4 * t, peer)), "r"(from[4 * t]), "r"(from[4 * t + 1]), "r"(from[4 * t + 2]),
                        "r"(from[4 * t + 3]), "r"(there(&full, peer)) : "memory");
"""
REDUCE = STORE.replace("st.async", "red.async.relaxed.cluster").replace("bytes.s32", "bytes.add.s32")
REDUCE_BULK = COPY.replace("cp.async", "cp.reduce.async").replace("tx::bytes", "tx::bytes.add.s32")


def send(
    bench: Bench, start: str, fence: str = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");',
    wait: str = "wait(&full, 0);", end: str = "sync();", size: str = "512",
) -> Ran:  # fmt: skip
    source = SEND.replace("FENCE", fence).replace("START", start).replace("WAIT", wait)
    source = source.replace("END", end).replace("BYTES", size, 1)
    return bench.cuda(source, "send", 4, 128, np.zeros(512, np.int32), cluster=(2, 1, 1))


@pytest.mark.parametrize(
    "start",
    [COPY, STORE, STORE_FOUR, REDUCE, REDUCE_BULK],
    ids=["copy", "store", "of four", "reduction", "bulk reduction"],
)
def test_what_is_sent_to_a_peer_arrives(bench: Bench, start: str) -> None:
    ran = send(bench, start)
    assert ran.findings == []
    want = 1000 * (np.arange(4) ^ 1)[:, None] + np.arange(127, -1, -1)
    np.testing.assert_array_equal(
        ran.arrays[0].reshape(4, 128),
        want + (np.arange(127, -1, -1) if start in (REDUCE, REDUCE_BULK) else 0),
    )


@pytest.mark.parametrize(
    ("start", "changes", "found"),
    [
        (COPY, {"wait": ""}, "unfinished_copy"),
        (COPY, {"fence": ""}, "proxy_fence"),
        (REDUCE_BULK, {"fence": ""}, "proxy_fence"),
        (COPY, {"end": "", "wait": "if (rank()) wait(&full, 0);"}, "absent_block"),
        (COPY, {"size": "256"}, "mbarrier"),
        (COPY + "from[t] = 0;", {}, "unfinished_copy"),
        (COPY.replace("there(&full, peer)", "place(&full)"), {}, "out_of_bounds"),
        (STORE, {"wait": ""}, "unfinished_copy"),
        (STORE, {"wait": "if (t < 32) wait(&full, 0);"}, "race"),
    ],
    ids=["no wait", "no fence", "no fence for a reduction", "a block leaves",
         "fewer bytes", "its source is overwritten", "the own mbarrier",
         "no wait for a store", "one warp waits for all"],
)  # fmt: skip
def test_a_fault_of_what_is_sent_is_found(
    bench: Bench, start: str, changes: dict[str, str], found: str
) -> None:
    assert found in send(bench, start, **changes).findings


MULTICAST = (
    ASM
    + r"""
extern "C" __global__ void multicast(const float* in, float* out)
{
    __shared__ __align__(128) float tile[4][32];
    __shared__ U64 full;
    int t = threadIdx.x, r = rank();
    if (t == 0) { init(&full, 1); asm volatile("fence.mbarrier_init.release.cluster;"); }
    sync();
    if (t == 0) {
        expect(&full, 512);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                     " [%0], [%1], %2, [%3], %4;" :: "r"(place(tile[r])), "l"(in + 32 * blockIdx.x), "r"(128),
                     "r"(place(&full)), "h"((unsigned short)MASK) : "memory");
    }
    wait(&full, 0);
    for (int i = 0; i < 4; i++) out[128 * blockIdx.x + 32 * i + t] = tile[i][t];
    END
}
"""
)


def multicast(bench: Bench, mask: str, end: str = "sync();", wait: str = "wait(&full, 0);") -> Ran:
    """In clusters of four."""
    source = MULTICAST.replace("wait(&full, 0);", wait).replace("MASK", mask).replace("END", end)
    values, zeros = np.arange(256, dtype=np.float32), np.zeros(1024, np.float32)
    return bench.cuda(source, "multicast", 8, 32, values, zeros, cluster=(4, 1, 1))


def test_a_multicast_goes_to_all_of_its_mask(bench: Bench) -> None:
    ran = multicast(bench, "15")
    assert ran.findings == []
    values, out = ran.arrays
    np.testing.assert_array_equal(out.reshape(2, 4, 128), np.repeat(values.reshape(2, 1, 128), 4, 1))


def test_a_block_that_has_waited_for_all_that_is_sent_to_it_may_end(bench: Bench) -> None:
    """Without a barrier of the cluster at the end, as the wait for the mbarrier says that the copies are done."""
    assert multicast(bench, "15", end="").findings == []
    for start in (STORE, REDUCE):
        assert send(bench, start, end="").findings == []


def test_a_block_that_has_not_waited_for_a_multicast_may_not_end(bench: Bench) -> None:
    ran = multicast(bench, "15", end="", wait="if (rank()) wait(&full, 0);")
    assert "absent_block" in ran.findings


def test_a_multicast_that_leaves_out_a_block_is_found(bench: Bench) -> None:
    ran = multicast(bench, "7")
    assert ran.record.status == "deadlock"
    phases = [f.phase for f in ran.record.findings if f.phase]
    assert [(p.fault, p.arrived, p.expected) for p in phases] == [("bytes", 0, 512)]
