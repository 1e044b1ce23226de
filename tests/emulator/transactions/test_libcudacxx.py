"""cuda::barrier, cuda::pipeline and memcpy_async of CUDA C++, as its headers make them of mbarriers and copies."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

HEAD = r"""
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#pragma nv_diag_suppress static_var_with_dynamic_init
namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
"""
VALUES = np.arange(1024, dtype=np.float32)


def test_barrier(bench: Bench) -> None:
    source = (
        HEAD
        + r"""
    extern "C" __global__ void k(const float* in, float* out)
    {
        __shared__ float tile[256];
        __shared__ Barrier b;
        int t = threadIdx.x;
        if (t == 0) init(&b, blockDim.x);
        __syncthreads();
        for (int i = 0; i < 4; i++) {
            tile[t] = in[256 * i + t];
            auto token = b.arrive();
            b.wait(std::move(token));
            out[256 * i + t] = tile[255 - t];
            b.arrive_and_wait();
        }
    }"""
    )
    _, out = bench.clean(source, "k", 1, 256, VALUES, np.zeros_like(VALUES))
    np.testing.assert_array_equal(out, VALUES.reshape(4, 256)[:, ::-1].ravel())


@pytest.mark.soak(area="emulator")
def test_barrier_with_drop_and_parity(bench: Bench) -> None:
    source = (
        HEAD
        + r"""
    extern "C" __global__ void k(const float* in, float* out)
    {
        __shared__ float tile[256];
        __shared__ Barrier b;
        int t = threadIdx.x;
        if (t == 0) init(&b, blockDim.x);
        __syncthreads();
        tile[t] = in[t];
        if (t >= 128) { b.arrive_and_drop(); return; }
        (void)b.arrive();
        b.wait_parity(false);
        out[t] = tile[255 - t];
        b.arrive_and_wait();
        tile[t] = 0;
    }"""
    )
    _, out = bench.clean(source, "k", 1, 256, VALUES, np.zeros(128, np.float32))
    np.testing.assert_array_equal(out, VALUES[:256][::-1][:128])


@pytest.mark.soak(area="emulator")
@pytest.mark.parametrize(
    "wait",
    [
        "while (!b.try_wait_for(std::move(token), nanoseconds(100))) {}",
        "while (!b.try_wait_until(std::move(token), system_clock::now() + milliseconds(1))) {}",
        "while (!b.try_wait_parity_for(false, microseconds(1))) {}",
    ],
    ids=["for", "until", "parity"],
)
def test_a_wait_with_a_limit(bench: Bench, wait: str) -> None:
    """Its first limit is made of a variable that the header does not initialise, and decides nothing."""
    source = (
        HEAD
        + r"""
    using namespace cuda::std::chrono;
    extern "C" __global__ void k(const float* in, float* out)
    {
        __shared__ float tile[256];
        __shared__ Barrier b;
        int t = threadIdx.x;
        if (t == 0) init(&b, blockDim.x);
        __syncthreads();
        tile[t] = in[t];
        [[maybe_unused]] auto token = b.arrive();
        WAIT
        out[t] = tile[255 - t];
    }"""
    )
    _, out = bench.clean(source.replace("WAIT", wait), "k", 1, 256, VALUES[:256], np.zeros(256, np.float32))
    np.testing.assert_array_equal(out, VALUES[255::-1])


PIPELINE = (
    HEAD
    + r"""
extern "C" __global__ void k(const float* in, float* out)
{
    __shared__ __align__(16) float tile[2][256];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x;
    for (int compute = 0, fetch = 0; compute < 4; compute++) {
        for (; fetch < 4 && fetch < compute + 2; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[fetch % 2], in + 256 * fetch, SIZE, pipe);
            pipe.producer_commit();
        }
        WAIT
        out[256 * compute + t] = tile[compute % 2][255 - t];
        pipe.consumer_release();
    }
}
"""
)


@pytest.mark.parametrize("size", ["cuda::aligned_size_t<16>(1024)", "1024"])
def test_pipeline(bench: Bench, size: str) -> None:
    source = PIPELINE.replace("SIZE", size).replace("WAIT", "pipe.consumer_wait();")
    _, out = bench.clean(source, "k", 1, 256, VALUES, np.zeros_like(VALUES))
    np.testing.assert_array_equal(out, VALUES.reshape(4, 256)[:, ::-1].ravel())


def test_a_pipeline_without_its_wait_is_found(bench: Bench) -> None:
    source = PIPELINE.replace("SIZE", "cuda::aligned_size_t<16>(1024)").replace("WAIT", "")
    ran = bench.cuda(source, "k", 1, 256, VALUES, np.zeros_like(VALUES))
    assert set(ran.findings) & {"unfinished_copy", "race"}


@pytest.mark.soak(area="emulator")
def test_pipeline_of_producers_and_consumers(bench: Bench) -> None:
    source = (
        HEAD
        + r"""
    extern "C" __global__ void k(const float* in, float* out)
    {
        __shared__ __align__(16) float tile[2][32];
        __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
        auto block = cg::this_thread_block();
        int lane = threadIdx.x % 32;
        bool produces = threadIdx.x < 32;
        auto role = produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
        auto pipe = cuda::make_pipeline(block, &state, role);
        for (int k = 0; k < 8; k++) {
            if (produces) {
                pipe.producer_acquire();
                cuda::memcpy_async(&tile[k % 2][lane], in + 32 * k + lane, cuda::aligned_size_t<4>(4), pipe);
                pipe.producer_commit();
            } else {
                pipe.consumer_wait();
                out[32 * k + lane] = tile[k % 2][31 - lane];
                pipe.consumer_release();
            }
        }
    }"""
    )
    _, out = bench.clean(source, "k", 1, 64, VALUES[:256], np.zeros(256, np.float32))
    np.testing.assert_array_equal(out, VALUES[:256].reshape(8, 32)[:, ::-1].ravel())


def test_a_copy_that_a_barrier_waits_for(bench: Bench) -> None:
    """By threads, 4 bytes each."""
    source = (
        HEAD
        + r"""
    extern "C" __global__ void k(const float* in, float* out)
    {
        __shared__ __align__(16) float tile[64];
        __shared__ Barrier b;
        int t = threadIdx.x;
        if (t == 0) init(&b, blockDim.x);
        __syncthreads();
        cuda::memcpy_async(&tile[t], in + t, cuda::aligned_size_t<4>(4), b);
        b.arrive_and_wait();
        out[t] = tile[63 - t];
    }"""
    )
    _, out = bench.clean(source, "k", 1, 64, VALUES[:64], np.zeros(64, np.float32))
    np.testing.assert_array_equal(out, VALUES[:64][::-1])


@pytest.mark.soak(area="emulator")
def test_many_small_copies_that_two_barriers_wait_for(bench: Bench) -> None:
    # 128 threads, two stages under way at a time: 4096 arrivals and 512 copies of 16 bytes before the first wait.
    source = (
        HEAD
        + r"""
    extern "C" __global__ void k(const float* in, float* out)
    {
        __shared__ __align__(16) float small[2][16][128], large[2][2][512];
        __shared__ Barrier barriers[2];
        int t = threadIdx.x;
        if (t == 0) { init(&barriers[0], blockDim.x); init(&barriers[1], blockDim.x); }
        __syncthreads();
        for (int stage = 0; stage < 2; stage++) {
            const float* from = in + 3072 * stage;
            for (int i = 0; i < 16; i++)
                cuda::memcpy_async(&small[stage][i][t], &from[128 * i + t],
                                   cuda::aligned_size_t<4>(4), barriers[stage]);
            for (int i = 0; i < 2; i++)
                cuda::memcpy_async(&large[stage][i][4 * t], &from[2048 + 512 * i + 4 * t],
                                   cuda::aligned_size_t<16>(16), barriers[stage]);
        }
        for (int stage = 0; stage < 2; stage++) {
            barriers[stage].arrive_and_wait();
            float* to = out + 3072 * stage;
            for (int i = 0; i < 16; i++) to[128 * i + t] = small[stage][i][127 - t];
            for (int i = 0; i < 8; i++) to[2048 + 128 * i + t] = large[stage][i / 4][128 * (i % 4) + t];
        }
    }"""
    )
    values = np.arange(6144, dtype=np.float32)
    _, out = bench.clean(source, "k", 1, 128, values, np.zeros_like(values))
    expected = values.reshape(2, 24, 128).copy()
    expected[:, :16] = expected[:, :16, ::-1]
    np.testing.assert_array_equal(out, expected.ravel())


@pytest.mark.soak(area="emulator")
def test_a_block_in_two_dimensions_copies_tile_after_tile(bench: Bench) -> None:
    source = (
        HEAD
        + r"""
    extern "C" __global__ void k(const float4* in, float* out)
    {
        __shared__ float4 tile[16][4];
        __shared__ Barrier b;
        int x = threadIdx.x, y = threadIdx.y;
        if (x == 0 && y == 0) init(&b, blockDim.x * blockDim.y);
        __syncthreads();
        float sum = 0;
        for (int step = 0; step < 4; step++) {
            if (x < 4) cuda::memcpy_async(&tile[y][x], &in[64 * step + 4 * y + x], sizeof(float4), b);
            b.arrive_and_wait();
            for (int k = 0; k < 16; k++) sum += reinterpret_cast<float*>(&tile[k][0])[x];
            b.arrive_and_wait();
        }
        out[16 * y + x] = sum;
    }"""
    )
    _, out = bench.clean(source, "k", 1, (16, 16), VALUES, np.zeros(256, np.float32))
    np.testing.assert_array_equal(out.reshape(16, 16), np.tile(VALUES.reshape(64, 16).sum(0), (16, 1)))
