"""cp.async: groups, waits, zero fill, and what is found when a wait or a barrier is missing."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

PIPELINE = r"""
#include <cuda_pipeline.h>
extern "C" __global__ void reversed(const float* in, float* out)
{
    __shared__ __align__(16) float tile[2][128];
    int t = threadIdx.x, first = blockIdx.x * 256;
    __pipeline_memcpy_async(&tile[0][4 * t], in + first + 4 * t, 16);
    __pipeline_commit();
    __pipeline_memcpy_async(&tile[1][4 * t], in + first + 128 + 4 * t, 16);
    __pipeline_commit();
    FIRST_WAIT
    for (int i = t; i < 128; i += 32) out[first + i] = tile[0][127 - i];
    SECOND_WAIT
    for (int i = t; i < 128; i += 32) out[first + 128 + i] = tile[1][127 - i];
}
"""


def source(first: str, second: str) -> str:
    return PIPELINE.replace("FIRST_WAIT", first).replace("SECOND_WAIT", second)


def test_data_arrives_at_the_wait_of_its_group(bench: Bench) -> None:
    text = source("__pipeline_wait_prior(1); __syncthreads();", "__pipeline_wait_prior(0); __syncthreads();")
    values = np.arange(1024, dtype=np.float32)
    _, out = bench.clean(text, "reversed", 4, 32, values, np.zeros_like(values))
    np.testing.assert_array_equal(out, values.reshape(8, 128)[:, ::-1].ravel())


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (
            "__pipeline_wait_prior(2); __syncthreads();",
            "__pipeline_wait_prior(0); __syncthreads();",
            "unfinished_copy",
        ),
        ("__pipeline_wait_prior(1); __syncthreads();", "__syncthreads();", "unfinished_copy"),
        ("__pipeline_wait_prior(1);", "__pipeline_wait_prior(0); __syncthreads();", "race"),
    ],
)
def test_a_missing_wait_or_barrier_is_found(bench: Bench, first: str, second: str, kind: str) -> None:
    values = np.arange(1024, dtype=np.float32)
    ran = bench.cuda(source(first, second), "reversed", 4, 32, values, np.zeros_like(values))
    assert ran.findings == [kind]


def test_copies_count_as_global_loads_and_not_as_shared_stores(bench: Bench) -> None:
    text = source("__pipeline_wait_prior(1); __syncthreads();", "__pipeline_wait_prior(0); __syncthreads();")
    values = np.arange(1024, dtype=np.float32)
    counters = bench.cuda(text, "reversed", 4, 32, values, np.zeros_like(values)).counters
    assert counters["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 4 * 2
    assert counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 4 * 2 * 16
    assert counters["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"] == 0
    assert counters["smsp__sass_inst_executed_op_ldgsts.sum"] == 4 * 2


def test_bytes_beyond_the_source_size_are_zeros(bench: Bench) -> None:
    text = r"""
    extern "C" __global__ void some(const float* in, float* out, int n)
    {
        __shared__ __align__(16) float tile[128];
        unsigned to = __cvta_generic_to_shared(&tile[4 * threadIdx.x]);
        int bytes = max(0, min(16, 4 * (n - 4 * int(threadIdx.x))));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(in + 4 * threadIdx.x), "r"(bytes));
        asm volatile("cp.async.wait_all;");
        __syncthreads();
        for (int i = threadIdx.x; i < 128; i += 32) out[i] = tile[i];
    }"""
    values = np.arange(1, 129, dtype=np.float32)
    _, out = bench.clean(text, "some", 1, 32, values, np.full(128, -1, np.float32), np.int32(70))
    np.testing.assert_array_equal(out, np.where(np.arange(128) < 70, values, 0))


def test_an_unfinished_copy_of_an_earlier_block_is_forgotten(bench: Bench) -> None:
    text = r"""
    #include <cuda_pipeline.h>
    extern "C" __global__ void one(const float* in, float* out)
    {
        __shared__ __align__(16) float tile[128];
        tile[threadIdx.x] = 1;
        out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];
        __pipeline_memcpy_async(&tile[threadIdx.x], in + threadIdx.x, 4);
        __pipeline_commit();
    }"""
    _, out = bench.clean(text, "one", 4, 32, np.zeros(32, np.float32), np.zeros(128, np.float32))
    assert (out == 1).all()


COLLECTIVE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;

extern "C" __global__ void collective(const float* in, float* out, int n)
{
    __shared__ __align__(16) float tile[256];
    cg::memcpy_async(cg::this_thread_block(), tile, in + blockIdx.x * n, sizeof(float) * n);
    WAIT
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = tile[i] + 1;
}
"""


@pytest.mark.parametrize("n", [37])
def test_the_header_may_issue_equal_copies(bench: Bench, n: int) -> None:
    values, right = (
        np.arange(3 * n, dtype=np.float32),
        COLLECTIVE.replace("WAIT", "cg::wait(cg::this_thread_block());"),
    )
    _, out = bench.clean(right, "collective", 3, 64, values, np.zeros(3 * n, np.float32), np.int32(n))
    np.testing.assert_array_equal(out, values + 1)
    arrays = values, np.zeros(3 * n, np.float32), np.int32(n)
    found = bench.cuda(COLLECTIVE.replace("WAIT", ""), "collective", 3, 64, *arrays).findings
    assert found == ["unfinished_copy"]


def test_other_copies_to_one_place_are_found(bench: Bench) -> None:
    text = r"""
    #include <cuda_pipeline.h>
    extern "C" __global__ void two(const float* in, float* out)
    {
        __shared__ float tile[32];
        __pipeline_memcpy_async(&tile[threadIdx.x], in + threadIdx.x, 4);
        __pipeline_memcpy_async(&tile[threadIdx.x], in + 31 - threadIdx.x, 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        out[threadIdx.x] = tile[threadIdx.x];
    }"""
    ran = bench.cuda(text, "two", 1, 32, np.zeros(32, np.float32), np.zeros(32, np.float32))
    assert ran.findings == ["unfinished_copy"]


@pytest.mark.parametrize("width", [8, 32])
def test_a_misplaced_copy_is_found(bench: Bench, width: int) -> None:
    """8: the destination is no multiple of 16 bytes; 32: the last lanes copy beyond the tile."""
    text = r"""
    extern "C" __global__ void copy(const float* in, float* out)
    {
        __shared__ __align__(16) float tile[128];
        unsigned to = __cvta_generic_to_shared(tile) + WIDTH * threadIdx.x;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(in + 4 * threadIdx.x));
        asm volatile("cp.async.wait_all;");
    }""".replace("WIDTH", str(width))
    ran = bench.cuda(text, "copy", 1, 32, np.zeros(128, np.float32), np.zeros(1, np.float32))
    assert ran.findings == ["misaligned" if width == 8 else "out_of_bounds"]


@pytest.mark.parametrize(("offset", "split"), [(0, 0), (4, 4), (8, 0)])
def test_sectors_that_go_to_two_lines_of_shared_memory_count_twice(
    bench: Bench, offset: int, split: int
) -> None:
    """As on an H200, where 512 bytes that begin 16 bytes behind the start of a line straddle four line ends."""
    text = f"""
    #include <cuda_pipeline.h>
    extern "C" __global__ void shifted(const float* in, float* out)
    {{
        __shared__ __align__(128) float tile[160];
        const int t = threadIdx.x;
        __pipeline_memcpy_async(&tile[{offset} + 4 * t], in + 4 * t, 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int i = t; i < 128; i += 32) out[i] = tile[{offset} + i];
    }}"""
    values = np.arange(128, dtype=np.float32)
    counters = bench.cuda(text, "shifted", 1, 32, values, np.zeros_like(values)).counters
    assert counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 16 + split
