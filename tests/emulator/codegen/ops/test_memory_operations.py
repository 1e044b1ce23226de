"""Loads and stores with hints for the caches, and the shared memory that the system keeps (PTX ISA 9.7.9 and 10)."""

from __future__ import annotations

import numpy as np
from emulated import Bench

HINTS = """
.visible .entry k(.param .u64 data)
{
.reg .b64 %at, %policy; .reg .b32 %a, %b, %c, %d;
ld.param.u64 %at, [data];
createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %policy, 0.5;
createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %policy, [%at], 16, 32;
ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%a, %b, %c, %d}, [%at], %policy;
add.u32 %a, %a, %b; add.u32 %a, %a, %c; add.u32 %a, %a, %d;
st.global.L2::cache_hint.u32 [%at+16], %a, %policy;
red.global.add.L2::cache_hint.u32 [%at+20], %a, %policy;
atom.global.add.L2::cache_hint.u32 %b, [%at+24], %a, %policy;
prefetch.global.L2::evict_last [%at]; prefetch.global.L2 [%at]; prefetchu.L1 [%at];
applypriority.global.L2::evict_normal [%at], 128;
fence.acquire.gpu; fence.release.cluster; fence.acq_rel.sys;
st.global.u32 [%at+28], %b;
ret;
}
"""


def test_hints_for_caches_change_no_result(bench: Bench) -> None:
    data = np.array([1, 20, 300, 4000, 0, 5, 6, 0], np.uint32)
    assert bench.ptx(HINTS, "k", 1, 1, data).arrays[0].tolist() == [1, 20, 300, 4000, 4321, 4326, 4327, 6]


DISCARDS = """
extern "C" __global__ void k(float* x)
{
    float* const y = x + 32;
    if (threadIdx.x == 0)
        asm volatile("discard.global.L2 [%0], 128;" :: "l"(__cvta_generic_to_global(y)) : "memory");
    __syncthreads();
    y[threadIdx.x] += 1;
}
"""


def test_what_is_discarded_has_no_value_any_more(bench: Bench) -> None:
    found = bench.clean(DISCARDS, "k", 1, 32, np.zeros(96, np.float32))
    assert np.flatnonzero(np.isnan(found)).tolist() == list(range(32, 64))


def test_a_discard_is_a_write(bench: Bench) -> None:
    """Others may not read there before they have waited, and all of it is to be there."""
    without = DISCARDS.replace("__syncthreads();", "")
    assert bench.cuda(without, "k", 1, 64, np.zeros(96, np.float32)).findings == ["race"]
    assert bench.cuda(DISCARDS, "k", 1, 1, np.zeros(63, np.float32)).findings == ["out_of_bounds"]


SEVERAL_WARPS = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void k(unsigned* x)
{
    __shared__ cg::block_tile_memory<128> memory;
    auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
    x[threadIdx.x] = cg::reduce(tile, x[threadIdx.x], cg::plus<unsigned>());
}
"""


def test_tiles_of_several_warps_meet_in_reserved_shared_memory(bench: Bench) -> None:
    x = np.arange(128, dtype=np.uint32)
    expected = np.repeat(x.reshape(2, 64).sum(1), 64)
    np.testing.assert_array_equal(bench.clean(SEVERAL_WARPS, "k", 1, 128, x), expected)


TWICE = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void k(int* x)
{
    __shared__ cg::block_tile_memory<256> memory;
    __shared__ int box[256];
    auto tile = cg::tiled_partition<128>(cg::this_thread_block(memory));
    const int most = cg::reduce(tile, x[threadIdx.x], cg::greater<int>());
    const int sum = cg::reduce(tile, x[threadIdx.x] - most, cg::plus<int>());
    box[threadIdx.x] = sum;
    x[threadIdx.x] = box[threadIdx.x ^ 1 * RACES];
}
"""


def test_what_lanes_do_within_two_reductions_is_no_race_of_the_kernels(bench: Bench) -> None:
    x = np.arange(256, dtype=np.int32)
    expected = np.repeat(x.reshape(2, 128).sum(1) - 128 * x[[127, 255]], 128)
    np.testing.assert_array_equal(bench.clean(TWICE.replace("RACES", "0"), "k", 1, 256, x), expected)
    assert bench.cuda(TWICE.replace("RACES", "1"), "k", 1, 256, x).findings == ["race"]


def test_reserved_shared_memory_lies_beside_the_kernels_own(bench: Bench) -> None:
    text = """.visible .entry k(.param .u64 out)
    {
    .shared .align 4 .b32 own; .reg .b64 %at; .reg .b32 %r<4>; ld.param.u64 %at, [out];
    mov.u32 %r0, %reserved_smem_offset_begin; mov.u32 %r1, %reserved_smem_offset_end; mov.u32 %r2, own;
    mov.u32 %r3, %reserved_smem_offset_1; st.shared.u32 [own], 1;
    st.global.v4.u32 [%at], {%r0, %r1, %r2, %r3};
    ret;
    }"""
    begin, end, own, second = bench.ptx(text, "k", 1, 1, np.zeros(4, np.uint32)).arrays[0].tolist()
    assert end - begin == 1024
    assert own >= end or own < begin
    assert begin <= second <= end - 288
