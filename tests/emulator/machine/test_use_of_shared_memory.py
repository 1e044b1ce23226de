"""How much of its shared memory a block reads, and whether it is written or copied to meanwhile."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

from grader.emulator import metrics

STEPS = 8

# name → what a step of the loop does, bytes of 1,024 that are read, the share of reads beside writes
USES = {
    "all of it, in turns": (
        "tiles[0][t] = in[k * 128 + t]; __syncthreads(); sum += tiles[0][127 - t]; __syncthreads();", 512, 0.0
    ),
    "two tiles in turns": (
        "tiles[k & 1][t] = in[k * 128 + t]; __syncthreads(); sum += tiles[k & 1][127 - t];", 1024, 7 / 8
    ),
    "the other tile is never read": (
        "tiles[0][t] = in[k * 128 + t]; tiles[1][t] = 0; __syncthreads(); sum += tiles[0][127 - t]; __syncthreads();",
        512, 0.0,
    ),
    "only updated": ("if (k == 0) { tiles[0][t] = 0; } atomicAdd(&tiles[0][t], in[k * 128 + t]);", 512, 0.0),
    "copied and waited for": (
        "copy(&tiles[0][t], &in[k * 128 + t]); arrived<0>(); sum += tiles[0][127 - t]; __syncthreads();", 512, 0.0
    ),
    "copied ahead": (
        "if (k == 0) { copy(&tiles[0][t], &in[t]); } arrived<0>();"
        "if (k < 7) { copy(&tiles[k + 1 & 1][t], &in[(k + 1) * 128 + t]); } sum += tiles[k & 1][127 - t];",
        1024, 7 / 8,
    ),
    "all of it, between barriers of the cluster": (
        "tiles[0][t] = in[k * 128 + t]; meet_cluster(); sum += tiles[0][127 - t]; meet_cluster();", 512, 0.0
    ),
    "all of it, between phases of an mbarrier of all threads": (
        "tiles[0][t] = in[k * 128 + t]; arrive(place); wait(place, 0);"
        "sum += tiles[0][127 - t]; arrive(place); wait(place, 1);",
        512, 0.0,
    ),
    "two tiles in turns, and an mbarrier that one thread waits for": (
        "tiles[k & 1][t] = in[k * 128 + t]; __syncthreads(); sum += tiles[k & 1][127 - t];"
        "arrive(place); if (t == 0) wait(place, k & 1);",
        1024, 7 / 8,
    ),
}  # fmt: skip

SOURCE = """
#include <cuda_pipeline.h>
template <int N> __device__ void arrived() { __pipeline_commit(); __pipeline_wait_prior(N); __syncthreads(); }
__device__ void meet_cluster()
{
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
__device__ void arrive(unsigned place) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(place) : "memory"); }
__device__ void wait(unsigned place, unsigned parity)
{
    asm volatile("{ .reg .pred p; again_%=: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again_%=; }"
                 :: "r"(place), "r"(parity) : "memory");
}
__device__ void copy(float* to, const float* from) { __pipeline_memcpy_async(to, from, 4); }
extern "C" __global__ void k(const float* in, float* out)
{
    __shared__ float tiles[2][128];
    const int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 8; ++k) { BODY }
    out[blockIdx.x * 128 + t] = sum;
}
"""


MBARRIER = """
    __shared__ unsigned long long mbarrier;
    const unsigned place = __cvta_generic_to_shared(&mbarrier);
    if (t == 0) { asm volatile("mbarrier.init.shared.b64 [%0], 128;" :: "r"(place) : "memory"); }
    __syncthreads();
    float sum = 0;
"""


@pytest.mark.parametrize("name", USES)
def test_use(bench: Bench, name: str) -> None:
    body, used, beside = USES[name]
    numbers = np.arange(STEPS * 128, dtype=np.float32)
    source = SOURCE.replace("float sum = 0;", MBARRIER) if "place" in body else SOURCE
    ran = bench.cuda(source.replace("BODY", body), "k", 3, 128, numbers, np.zeros(3 * 128, np.float32))
    assert not ran.findings
    reads = ran.counters["smsp__sass_inst_executed_op_shared_ld.sum"]
    assert ran.record.shared_used_bytes == used
    assert ran.record.reads_beside_writes == beside * reads


# name → what a step of the loop does, the share of copies beside which the warp reads
COPIES = {
    "waited for at once": (
        "copy(&tiles[k & 1][t], &in[k * 128 + t]); arrived<0>(); sum += tiles[k & 1][127 - t];", 0.0
    ),
    "waited for at once, but for an idle word": (
        "copy(&tiles[k & 1][t], &in[k * 128 + t]); __pipeline_commit();"
        "if (k) { sum += *(volatile float*)&tiles[k + 1 & 1][t]; }"
        "arrived<0>(); for (int i = 0; i < 3; i++) { sum += *(volatile float*)&tiles[k & 1][127 - t]; }",
        1 / 8,  # 7 of a warp's 31 reads, and no part of a copy
    ),
    "started ahead": (
        "if (k == 0) { copy(&tiles[0][t], &in[t]); } arrived<0>();"
        "if (k < 7) { copy(&tiles[k + 1 & 1][t], &in[(k + 1) * 128 + t]); } sum += tiles[k & 1][127 - t];", 7 / 8
    ),
    "for others": (
        "if (t < 64) { copy(&tiles[k & 1][t], &in[k * 128 + t]); copy(&tiles[k & 1][t + 64], &in[k * 128 + t + 64]); }"
        "arrived<0>(); if (t >= 64) { sum += tiles[k & 1][127 - t]; }", 1.0
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COPIES)
def test_copies_that_are_under_way_while_their_warp_reads(bench: Bench, name: str) -> None:
    body, share = COPIES[name]
    numbers = np.arange(STEPS * 128, dtype=np.float32)
    ran = bench.cuda(SOURCE.replace("BODY", body), "k", 3, 128, numbers, np.zeros(3 * 128, np.float32))
    assert not ran.findings
    assert ran.record.copies_beside_reads == share * ran.counters["smsp__sass_inst_executed_op_ldgsts.sum"]
    assert ran.counters[metrics.ASYNC_SECTORS] == 3 * STEPS * 128 // 8
