"""A producer warp and consumer warps that pass tiles on by TMA, written with cuda::ptx, and what a slip in it does."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench, Ran, _loaded, cuda_image

from grader.emulator.pycuda_api import driver_ext

SOURCE = r"""
#include <cuda.h>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
constexpr int STAGES = 3, TILES = 8, ROWS = 16, COLUMNS = 32;

extern "C" __global__ void scale(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to)
{
    __shared__ __align__(128) float tile[STAGES][ROWS][COLUMNS], result[ROWS][COLUMNS];
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    int t = threadIdx.x, row = ROWS * blockIdx.x;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) { ptx::mbarrier_init(&full[s], 1); ptx::mbarrier_init(&empty[s], 128); }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    if (t >= 128) {
        if (t == 128)
            for (int k = 0; k < TILES; k++) {
                int s = k % STAGES, at[2] = {COLUMNS * k, row};
                PRODUCER_WAITS
                ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], BYTES);
                ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile[s], &from, at, &full[s]);
            }
    } else {
        for (int k = 0; k < TILES; k++) {
            int s = k % STAGES, at[2] = {COLUMNS * k, row};
            CONSUMER_WAITS
            float sum[4];
            for (int i = 0; i < 4; i++) sum[i] = 2 * tile[s][4 * i + t / 32][t % 32];
            RELEASE
            if (t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
            asm volatile("bar.sync 1, 128;" ::: "memory");
            for (int i = 0; i < 4; i++) result[4 * i + t / 32][t % 32] = sum[i];
            PROXY_FENCE
            asm volatile("bar.sync 1, 128;" ::: "memory");
            if (t == 0) {
                ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, at, result);
                ptx::cp_async_bulk_commit_group();
            }
        }
        if (t == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}
"""
RIGHT = {
    "PRODUCER_WAITS": "while (!ptx::mbarrier_try_wait_parity(&empty[s], (k / STAGES & 1) ^ 1));",
    "CONSUMER_WAITS": "while (!ptx::mbarrier_try_wait_parity(&full[s], k / STAGES & 1));",
    "RELEASE": "ptx::mbarrier_arrive(&empty[s]);",
    "PROXY_FENCE": "ptx::fence_proxy_async(ptx::space_shared);",
    "BYTES": "sizeof(tile[0])",
}
MATRIX = np.arange(40 * 250, dtype=np.float32).reshape(40, 250)
PITCH = 256


def scaled(bench: Bench, **changes: str) -> tuple[Ran, np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    """Two times the matrix, whose width is no multiple of a tile's, in a wider array; what lies beyond stays."""
    text = SOURCE
    for name, code in (RIGHT | changes).items():
        text = text.replace(name, code)
    memory = bench.machine.memory
    places = [memory.alloc(40 * PITCH * 4) for _ in range(2)]
    padded = np.full((40, PITCH), -1, np.float32)
    padded[:, :250] = MATRIX
    for place in places:
        memory.write(place, padded)
    maps = [driver_ext.tensor_map(p, "FLOAT32", (250, 40), (PITCH * 4,), (32, 16)) for p in places]
    try:
        kernel = _loaded(bench.machine, cuda_image(text)).kernels["scale"]
        ran = bench.run(kernel, 3, 160, *maps)
        return ran, memory.read(places[1], padded.nbytes).view(np.float32).reshape(padded.shape)
    finally:
        for place in places:
            memory.free(place)


def test_tiles_pass_from_warp_to_warp(bench: Bench) -> None:
    ran, result = scaled(bench)
    assert ran.record.status == "completed"
    assert ran.findings == []
    np.testing.assert_array_equal(result[:, :250], 2 * MATRIX)
    assert (result[:, 250:] == -1).all()


@pytest.mark.parametrize(("stages", "some"), [(1, False), (2, True), (3, True)])
def test_a_ring_of_one_stage_is_read_when_nothing_is_under_way(bench: Bench, stages: int, some: bool) -> None:
    ran, _ = scaled(bench, **{"STAGES = 3": f"STAGES = {stages}"})
    assert ran.findings == []
    assert (ran.record.bulk_beside_reads > 0) == some


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"PRODUCER_WAITS": ""}, "race"),
        ({"PRODUCER_WAITS": RIGHT["PRODUCER_WAITS"].replace(" ^ 1", "")}, "mbarrier"),
        ({"CONSUMER_WAITS": ""}, "unfinished_copy"),
        ({"CONSUMER_WAITS": RIGHT["CONSUMER_WAITS"].replace("k / STAGES & 1", "0")}, "unfinished_copy"),
        ({"CONSUMER_WAITS": "if (t < 32) " + RIGHT["CONSUMER_WAITS"]}, "race"),
        ({"RELEASE": ""}, "mbarrier"),
        ({"RELEASE": "if (t % 32 == 0) " + RIGHT["RELEASE"]}, "mbarrier"),
        ({"PROXY_FENCE": ""}, "proxy_fence"),
        ({"BYTES": "sizeof(tile[0]) / 2"}, "mbarrier"),
    ],
    ids=["the producer does not wait", "it begins with the other parity", "the consumers do not wait",
         "their parity stays", "one warp waits for all", "a stage is never released", "by too few threads",
         "no proxy fence", "half the bytes"],
)  # fmt: skip
def test_a_slip_is_found(bench: Bench, changes: dict[str, str], found: str) -> None:
    assert found in scaled(bench, **changes)[0].findings
