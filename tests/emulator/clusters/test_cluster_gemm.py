"""A matrix product whose blocks work in pairs: each loads half of a tile of B, and TMA brings it to both."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench, Ran, _loaded, cuda_image

from grader.emulator.pycuda_api import driver_ext

SUMS = ", ".join(f"%{i}" for i in range(32))
REGISTERS = ", ".join(f'"+f"(sum[{i}])' for i in range(32))
SOURCE = r"""
#include <cuda.h>
#include <cuda_fp16.h>
constexpr int BM = 64, BN = 64, BK = 64, STAGES = 2, BLOCKS = 2;
constexpr int A_BYTES = BM * BK * 2, B_BYTES = BK * BN * 2, HALF_B = B_BYTES / BLOCKS;

__device__ unsigned place(const void* p) { return __cvta_generic_to_shared(p); }
__device__ void init(unsigned b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(b), "r"(n)); }
__device__ void expect(unsigned b, int n)
{ asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(b), "r"(n) : "memory"); }
__device__ void arrive_at(unsigned b, int rank)
{
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" :: "r"(b), "r"(rank) : "memory");
}
__device__ void wait(unsigned b, int parity)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;"
                 "@!p bra again; }" :: "r"(b), "r"(parity) : "memory");
}
__device__ void box(unsigned to, const CUtensorMap& map, int row, int column, unsigned b)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" :: "r"(to), "l"(&map), "r"(column), "r"(row), "r"(b) : "memory");
}
__device__ void box_to_all(unsigned to, const CUtensorMap& map, int row, int column, unsigned b)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%2, %3}], [%4], %5;"
                 :: "r"(to), "l"(&map), "r"(column), "r"(row), "r"(b), "h"((unsigned short)3) : "memory");
}
__device__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ unsigned long long describe(unsigned address)
{ return (address & 0x3FFFF) >> 4 | 64ull << 32 | 1ull << 62; }
__device__ void multiply(float* sum, unsigned long long a, unsigned long long b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {SUMS}, %32, %33, 1, 1, 1, 0, 1;"
                 : REGISTERS : "l"(a), "l"(b));
}

extern "C" __global__ void product(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
                                   float* C, int M, int N, int K)
{
    extern __shared__ __align__(1024) half tiles[];
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    unsigned a = place(tiles), b = a + STAGES * A_BYTES;
    unsigned rank;
    asm volatile("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) { init(place(&full[s]), 1); init(place(&empty[s]), BLOCKS); }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    BEGIN
    int across = N / BN, pairs = M / (BM * BLOCKS) * across, steps = K / BK, n = 0;
    for (int pair = blockIdx.x / BLOCKS; pair < pairs; pair += gridDim.x / BLOCKS) {
        int row = (pair / across * BLOCKS + rank) * BM, column = pair % across * BN;
        if (threadIdx.x >= 128) {
            for (int k = 0; k < steps && threadIdx.x == 128; k++, n++) {
                int s = n % STAGES;
                if (n >= STAGES) { WAIT_EMPTY }
                expect(place(&full[s]), A_BYTES + B_BYTES);
                box(a + s * A_BYTES, A, row, k * BK, place(&full[s]));
                box_to_all(b + s * B_BYTES + rank * HALF_B, B, k * BK + rank * BK / BLOCKS, column, place(&full[s]));
            }
        } else {
            float sum[32] = {};
            for (int k = 0; k < steps; k++, n++) {
                int s = n % STAGES;
                wait(place(&full[s]), n / STAGES & 1);
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
                for (int i = 0; i < BK; i += 16)
                    multiply(sum, describe(a + s * A_BYTES + i * 2), describe(b + s * B_BYTES + i * 128));
                asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
                asm volatile("bar.sync 1, 128;" ::: "memory");
                RELEASE
            }
            int t = threadIdx.x;
            for (int i = 0; i < 32; i++)
            {
                int y = row + t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, x = column + i / 4 * 8 + t % 4 * 2 + i % 2;
                C[y * N + x] = sum[i];
            }
        }
    }
    END
}
""".replace("SUMS", SUMS, 1).replace("REGISTERS", REGISTERS)
RIGHT = {
    "BEGIN": "cluster_sync();",
    "WAIT_EMPTY": "wait(place(&empty[s]), (n / STAGES - 1) & 1);",
    "RELEASE": "if (threadIdx.x < BLOCKS) arrive_at(place(&empty[s]), threadIdx.x);",
    "END": "cluster_sync();",
}
M, N, K = 256, 128, 256


def product(bench: Bench, **changes: str) -> tuple[Ran, np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    """A kernel's product of two matrices of small integers, less the right one."""
    text = SOURCE
    for name, code in (RIGHT | changes).items():
        text = text.replace(f"    {name}\n", f"    {code}\n").replace(f"{{ {name} }}", f"{{ {code} }}")
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((M, K), (K, N)))
    memory = bench.machine.memory
    places = [memory.alloc(each.nbytes) for each in (a, b)]
    for at, each in zip(places, (a, b), strict=True):
        memory.write(at, each)
    maps = [
        driver_ext.tensor_map(places[0], "FLOAT16", (K, M), (2 * K,), (64, 64), swizzle=128),
        driver_ext.tensor_map(places[1], "FLOAT16", (N, K), (2 * N,), (64, 32), swizzle=128),
    ]
    try:
        kernel = _loaded(bench.machine, cuda_image(text)).kernels["product"]
        ran = bench.run(
            kernel, 4, 160, *maps, np.zeros((M, N), np.float32), *map(np.int32, (M, N, K)),
            shared_bytes=2 * 16384, cluster=(2, 1, 1),
        )  # fmt: skip
        return ran, ran.arrays[0] - a.astype(np.float32) @ b.astype(np.float32)
    finally:
        for at in places:
            memory.free(at)


def test_pairs_of_blocks_share_what_they_load(bench: Bench) -> None:
    ran, error = product(bench)
    assert ran.record.status == "completed"
    assert ran.findings == []
    assert not error.any()


def test_a_multicast_counts_at_each_block_it_reaches(bench: Bench) -> None:
    """Each block loads its tiles of A, and half of those of B for both; an H200 counts what arrives."""
    counters = product(bench)[0].counters
    a, b = M * K * N // 64 * 2, K * N * M // 64 * 2
    assert counters["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"] == a + b


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"BEGIN": "__syncthreads();"}, "absent_block"),
        ({"END": ""}, "absent_block"),
        ({"WAIT_EMPTY": ""}, "race"),
        ({"RELEASE": "if (threadIdx.x == 0) arrive_at(place(&empty[s]), rank);"}, "mbarrier"),
        ({"RELEASE": "if (threadIdx.x < BLOCKS) arrive_at(place(&empty[s]), rank);"}, "race"),
        ({"WAIT_EMPTY": "wait(place(&empty[s]), 1);"}, "race"),
    ],
    ids=["no barrier at the start", "none at the end", "the producers do not wait", "the peer is not told",
         "each block tells itself twice", "the parity stays"],
)  # fmt: skip
def test_a_slip_is_found(bench: Bench, changes: dict[str, str], found: str) -> None:
    assert found in product(bench, **changes)[0].findings
