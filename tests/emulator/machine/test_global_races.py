"""Races in global memory: loads of what another block, or another warp, has stored in the same launch.

What is ordered by a barrier, by the end of a launch or by one's own hand is no race. Where a kernel has means to wait
for others (atomics, fences, volatile accesses), a race is what a block has stored without a fence behind the store.
"""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench, _loaded, cuda_image, pack

from grader.emulator.machine.machine import Machine
from grader.findings.kernels import message
from grader.findings.remedies import remedy

SOURCE = r"""
#include <cuda_fp16.h>

extern "C" __global__ void add_blocks(const float* in, float* out) { if (threadIdx.x == 0) *out += in[blockIdx.x]; }

extern "C" __global__ void add_warps(const float* in, float* out)
{
    if (threadIdx.x % 32 == 0) *out += in[threadIdx.x / 32];
}

extern "C" __global__ void other_end(float* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = a[gridDim.x * blockDim.x - 1 - i];
}

extern "C" __global__ void other_end_wide(float4* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = a[gridDim.x * blockDim.x - 1 - i];
}

extern "C" __global__ void double_it(float* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] *= 2;
    a[i] += 1;
}

extern "C" __global__ void odd_groups(float* a)
{
    // Blocks of three numbers: sectors and 16-byte pieces belong to several of them.
    if (threadIdx.x < 3) a[3 * blockIdx.x + threadIdx.x] += 1;
}

extern "C" __global__ void halves(half* a)
{
    // Words belong to two blocks.
    a[blockIdx.x] = a[blockIdx.x] + half(1);
    a[blockIdx.x] = a[blockIdx.x] + half(1);
}

extern "C" __global__ void through_barrier(float* a)
{
    a[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const float other = a[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = other;
}

extern "C" __global__ void without_barrier(float* a, float* out)
{
    a[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = a[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void last_block(float* parts, unsigned* count, float* out)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = 1;
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) for (int b = 0; b < gridDim.x; ++b) *out += parts[b];
}

extern "C" __global__ void flags(volatile int* flag, int* data)
{
    if (threadIdx.x == 0) { data[0] = 5; flag[0] = 1; }
    if (threadIdx.x == 32) { while (flag[0] == 0) {} data[1] = data[0]; }
}

extern "C" __global__ void flags_and_fence(volatile int* flag, int* data)
{
    if (threadIdx.x == 0) { data[0] = 5; __threadfence_block(); flag[0] = 1; }
    if (threadIdx.x == 32) { while (flag[0] == 0) {} data[1] = data[0]; }
}

extern "C" __global__ void shared_counter(float* a, float* out)
{
    __shared__ int done;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    if (threadIdx.x < 32) { a[threadIdx.x] = 1; __threadfence_block(); atomicAdd(&done, 1); }
    else { while (atomicAdd(&done, 0) < 32) {} out[threadIdx.x - 32] = a[threadIdx.x - 32]; }
}

extern "C" __global__ void store(float* a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

extern "C" __global__ void copies(float* a, float* out)
{
    __shared__ float tile[32];
    a[blockIdx.x * 32 + threadIdx.x] = 1;
    const unsigned to = __cvta_generic_to_shared(tile + threadIdx.x);
    const float* from = a + (gridDim.x - 1 - blockIdx.x) * 32 + threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(from));
    asm volatile("cp.async.wait_all;");
    out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];
}
"""


def floats(n: int) -> np.ndarray:
    return np.ones(n, np.float32)


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "sizes"),
    [
        ("add_blocks", 4, 32, (4, 1)),
        ("add_warps", 1, 128, (4, 1)),
        ("other_end", 4, 64, (256,)),
        ("other_end_wide", 4, 64, (1024,)),
        ("without_barrier", 1, 128, (128, 128)),
        ("without_barrier", 1, 32, (32, 32)),
        ("copies", 4, 32, (128, 128)),
    ],
)
def test_races_are_found(bench: Bench, kernel: str, grid: int, block: int, sizes: tuple[int, ...]) -> None:
    ran = bench.cuda(SOURCE, kernel, grid, block, *map(floats, sizes))
    assert set(ran.findings) == {"race"}


def test_who_reads_what_of_whom_is_said(bench: Bench) -> None:
    (found,) = bench.cuda(SOURCE, "add_blocks", 2, 32, floats(4), floats(3)).record.findings
    assert (
        found.line == SOURCE.splitlines().index(next(s for s in SOURCE.splitlines() if "add_blocks" in s)) + 1
    )
    assert "of an allocation of 12 bytes: blocks of a launch run at the same time, in any order" in message(
        found
    )
    assert message(found).startswith("thread (0, 0, 0) of block (")
    (found,) = bench.cuda(SOURCE, "add_warps", 1, (32, 2), floats(4), floats(1)).record.findings
    assert message(found) == (
        "thread (0, 1, 0) reads what the warp of thread (0, 0, 0) has stored at byte 0 of an allocation of 4 bytes, "
        "with no __syncthreads() in between"
    ), message(found)


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "sizes"),
    [
        ("double_it", 4, 96, (384,)),
        ("odd_groups", 40, 32, (120,)),
        ("through_barrier", 1, 128, (128,)),
        ("last_block", 8, 64, (8, 1, 1)),
        ("shared_counter", 1, 64, (32, 32)),
    ],
)
def test_what_is_ordered_is_no_race(
    bench: Bench, kernel: str, grid: int, block: int, sizes: tuple[int, ...]
) -> None:
    arrays = [np.zeros(n, np.float32) for n in sizes]
    if kernel == "last_block":
        arrays[1] = np.zeros(1, np.uint32)
    bench.clean(SOURCE, kernel, grid, block, *arrays)


def test_halves_of_a_word_belong_to_whom_they_belong(bench: Bench) -> None:
    bench.clean(SOURCE, "halves", 33, 1, np.zeros(33, np.float16))


def test_volatile_flags_order_with_a_fence(bench: Bench) -> None:
    arrays = np.zeros(1, np.int32), np.zeros(2, np.int32)
    assert bench.clean(SOURCE, "flags_and_fence", 1, 64, *arrays)[1].tolist() == [5, 5]
    assert bench.cuda(SOURCE, "flags", 1, 64, *arrays).findings == ["race"]


def test_the_end_of_a_launch_orders() -> None:
    """As many launches as it takes for their numbers to come round, on a machine whose memory holds nothing else."""
    bench = Bench(Machine(threads=2))
    memory = bench.machine.memory
    bench.cuda(SOURCE, "store", 4, 64, floats(256))
    place = memory.alloc(1024)
    try:
        kernels = _loaded(bench.machine, cuda_image(SOURCE)).kernels
        for _ in range(260):
            bench.machine.launch(kernels["store"], (4, 1, 1), (64, 1, 1), pack([place]))
            ran = bench.machine.launch(kernels["double_it"], (2, 1, 1), (128, 1, 1), pack([place]))
            assert not ran.findings
    finally:
        memory.free(place)


# -- kernels in which blocks wait for blocks ------------------------------------------------------------------------

FENCES = r"""
#define LAST(STORED, ANNOUNCED)                                                        \
    __shared__ bool last;                                                              \
    STORED;                                                                            \
    if (threadIdx.x == 0) { ANNOUNCED; last = atomicAdd(count, 1) == gridDim.x - 1; }  \
    __syncthreads();                                                                   \
    if (last && threadIdx.x == 0) for (int b = 0; b < gridDim.x; ++b) *out += parts[b];

#define KERNEL(name, STORED, ANNOUNCED)                                                \
    extern "C" __global__ void name(float* parts, unsigned* count, float* out) { LAST(STORED, ANNOUNCED) }

#define BY_FIRST if (threadIdx.x == 0) parts[blockIdx.x] = 1
#define BY_LAST if (threadIdx.x == blockDim.x - 1) parts[blockIdx.x] = 1

KERNEL(no_fence, BY_FIRST, )
KERNEL(fence_before, if (threadIdx.x == 0) __threadfence(); BY_FIRST, )
KERNEL(fence_for_the_block, BY_FIRST, __threadfence_block())
KERNEL(fence, BY_FIRST, __threadfence())
KERNEL(fence_for_all, BY_FIRST, __threadfence_system())
KERNEL(fences, BY_LAST; __threadfence(); __syncthreads(), )
KERNEL(barrier_and_fence, BY_LAST; __syncthreads(), __threadfence())
KERNEL(release, BY_FIRST, asm volatile("red.release.gpu.global.add.u32 [%0], 0;" :: "l"(count) : "memory"))
KERNEL(atomic_store, if (threadIdx.x == 0) atomicExch(parts + blockIdx.x, 1.0f), )

extern "C" __global__ void flag_of_a_block(volatile int* flag, float* data)
{
    if (blockIdx.x == 0) { data[0] = 5; __threadfence(); flag[0] = 1; }
    else { while (flag[0] == 0) {} data[blockIdx.x] = data[0]; }
}

extern "C" __global__ void flag_too_soon(volatile int* flag, float* data)
{
    if (blockIdx.x == 0) { __threadfence(); data[0] = 5; flag[0] = 1; }
    else { while (flag[0] == 0) {} data[blockIdx.x] = data[0]; }
}

// One block after the other adds its share, as split-K products with a semaphore do.
extern "C" __global__ void turns(int* turn, float* sums)
{
    if (threadIdx.x == 0) while (atomicAdd(turn, 0) != blockIdx.x) {}
    __syncthreads();
    sums[threadIdx.x] += 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(turn, 1);
}

extern "C" __global__ void lock(int* taken, float* sum)
{
    while (atomicCAS(taken, 0, 1) != 0) {}
    *sum += 1;
    __threadfence();
    atomicExch(taken, 0);
}

extern "C" __global__ void histogram(const int* in, int* bins, int* largest)
{
    const int bin = in[blockIdx.x * blockDim.x + threadIdx.x];
    atomicMax(largest, atomicAdd(bins + bin, 1) + 1);
}

extern "C" __global__ void compacted(float* a, int* count, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] *= 2;
    if (i % 3) out[atomicAdd(count, 1)] = a[i];
}
"""


@pytest.mark.parametrize("kernel", ["no_fence", "fence_before", "fence_for_the_block"])
@pytest.mark.parametrize("grid", [2, 40])
def test_a_missing_fence_is_found(bench: Bench, kernel: str, grid: int) -> None:
    ran = bench.cuda(FENCES, kernel, grid, 64, np.zeros(grid, np.float32), np.zeros(1, np.uint32), floats(1))
    assert ran.findings == ["race"]


def test_who_has_not_fenced_is_said(bench: Bench) -> None:
    arrays = np.zeros(3, np.float32), np.zeros(1, np.uint32), floats(1)
    (found,) = bench.cuda(FENCES, "no_fence", 3, 64, *arrays).record.findings
    assert found.count == 2
    assert message(found) == (
        "thread (0, 0, 0) of block (2, 0, 0) reads what block (0, 0, 0) has stored at byte 0 of an allocation of 12 "
        "bytes, and block (0, 0, 0) has executed no __threadfence() since"
    )
    assert remedy(found).startswith(
        "Put a __threadfence() between the store and the atomic or the volatile store"
    )


def test_a_fence_for_the_block_is_said_to_be_for_no_other(bench: Bench) -> None:
    arrays = np.zeros(3, np.float32), np.zeros(1, np.uint32), floats(1)
    found, *_ = bench.cuda(FENCES, "fence_for_the_block", 3, 64, *arrays).record.findings
    assert message(found).endswith("block (0, 0, 0) has executed no __threadfence() since")
    assert remedy(found).startswith(
        "A fence for the block, __threadfence_block(), makes a store known to the block's"
    )


def test_a_fence_before_the_store_is_too_soon(bench: Bench) -> None:
    ran = bench.cuda(FENCES, "flag_too_soon", 3, 1, np.zeros(1, np.int32), np.zeros(3, np.float32))
    assert ran.findings == ["race"]


@pytest.mark.parametrize(
    "kernel", ["fence", "fence_for_all", "fences", "barrier_and_fence", "release", "atomic_store"]
)
@pytest.mark.parametrize("grid", [2, 40])
def test_a_fence_by_any_thread_of_the_block_will_do(bench: Bench, kernel: str, grid: int) -> None:
    arrays = np.zeros(grid, np.float32), np.zeros(1, np.uint32), np.zeros(1, np.float32)
    assert bench.clean(FENCES, kernel, grid, 64, *arrays)[2] == grid


def test_blocks_that_wait_for_each_other_are_no_race(bench: Bench) -> None:
    data = bench.clean(FENCES, "flag_of_a_block", 3, 1, np.zeros(1, np.int32), np.zeros(3, np.float32))[1]
    assert data.tolist() == [5, 5, 5]
    sums = bench.clean(FENCES, "turns", 5, 64, np.zeros(1, np.int32), np.zeros(64, np.float32))[1]
    assert np.all(sums == 5)
    assert bench.clean(FENCES, "lock", 9, 1, np.zeros(1, np.int32), np.zeros(1, np.float32))[1] == 9


def test_atomics_alone_are_no_race(bench: Bench) -> None:
    numbers = np.random.default_rng(0).integers(0, 7, 256).astype(np.int32)
    _, bins, largest = bench.clean(
        FENCES, "histogram", 4, 64, numbers, np.zeros(7, np.int32), np.zeros(1, np.int32)
    )
    assert bins.tolist() == np.bincount(numbers, minlength=7).tolist()
    assert largest == bins.max()
    bench.clean(FENCES, "compacted", 4, 64, floats(256), np.zeros(1, np.int32), floats(256))


# -- stores over stores ---------------------------------------------------------------------------------------------

STORES = r"""
extern "C" __global__ void of_blocks(float* a) { a[threadIdx.x] = blockIdx.x; }
extern "C" __global__ void of_blocks_pairs(float2* a)
{
    a[blockIdx.x] = make_float2(1, 2); ((float*)a)[1] = 3 + blockIdx.x;
}
extern "C" __global__ void of_warps(float* a) { a[0] = threadIdx.x / 32; }
extern "C" __global__ void of_lanes(float* a) { a[0] = threadIdx.x; }
extern "C" __global__ void of_two_lanes(int4* a)
{
    const int i = threadIdx.x == 7 ? 6 : threadIdx.x;
    a[i] = make_int4(0, 0, 0, threadIdx.x);
}
extern "C" __global__ void tail(float* a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i < n ? i : n - 1] = i;
}

extern "C" __global__ void one_value(float* a) { a[0] = 5; }
extern "C" __global__ void one_value_of_each(float* a) { a[threadIdx.x % 16] = threadIdx.x % 16; }
extern "C" __global__ void neighbours(float* a)
{
    if (threadIdx.x < 3) a[3 * blockIdx.x + threadIdx.x] = blockIdx.x;
}
extern "C" __global__ void own(float* a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k) ((volatile float*)a)[0 * k + i] = k;
}
extern "C" __global__ void own_sum(float* a, const float* in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k) { a[i] += in[k]; asm volatile("" ::: "memory"); }
}
extern "C" __global__ void after_a_barrier(float* a)
{
    a[threadIdx.x] = threadIdx.x;
    __syncthreads();
    a[blockDim.x - 1 - threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void without_a_barrier(float* a)
{
    a[threadIdx.x] = threadIdx.x;
    asm volatile("" ::: "memory");
    a[blockDim.x - 1 - threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void added(float* a) { atomicAdd(a + threadIdx.x % 5, 1); }
extern "C" __global__ void split(float* a, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(a + i, float(blockIdx.x));
}
extern "C" __global__ void parts_of_words(unsigned char* a) { a[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x; }
"""


@pytest.mark.parametrize(
    ("kernel", "grid", "block"),
    [
        ("of_blocks", 3, 32),
        ("of_blocks_pairs", 2, 1),
        ("of_warps", 1, 64),
        ("of_lanes", 1, 32),
        ("of_two_lanes", 1, 32),
        ("without_a_barrier", 1, 64),
    ],
)
def test_different_values_for_one_place_are_a_race(bench: Bench, kernel: str, grid: int, block: int) -> None:
    assert set(bench.cuda(STORES, kernel, grid, block, floats(128)).findings) == {"race"}


def test_lanes_beyond_the_end_that_store_the_last_element_are_a_race(bench: Bench) -> None:
    assert bench.cuda(STORES, "tail", 3, 64, floats(150), np.int32(150)).findings == ["race"]
    bench.clean(STORES, "tail", 3, 64, floats(192), np.int32(192))


def test_who_stores_over_what_of_whom_is_said(bench: Bench) -> None:
    (found,) = bench.cuda(STORES, "of_warps", 1, 64, floats(1)).record.findings
    assert message(found) == (
        "thread (32, 0, 0) overwrites what the warp of thread (0, 0, 0) has stored at byte 0 of an allocation of 4 "
        "bytes, with another value, with no __syncthreads() in between"
    )
    (found,) = bench.cuda(STORES, "of_two_lanes", 1, 32, floats(128)).record.findings
    assert message(found) == (
        "thread (7, 0, 0) overwrites what another thread of its warp stores at byte 108 of an allocation of 512 "
        "bytes at the same time, with another value"
    )
    (found,) = bench.cuda(STORES, "of_blocks", 2, 32, floats(32)).record.findings
    assert message(found).endswith(
        "at byte 0 of an allocation of 128 bytes, with another value: blocks of a launch run at the same time, in any "
        "order"
    )


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "numbers"),
    [
        ("one_value", 5, 64, ()),
        ("one_value_of_each", 5, 64, ()),
        ("neighbours", 40, 32, ()),
        ("own", 4, 64, (3,)),
        ("after_a_barrier", 1, 128, ()),
        ("added", 4, 64, ()),
        ("split", 4, 64, (200,)),
        ("parts_of_words", 7, 33, ()),
    ],
)
def test_other_stores_are_no_race(
    bench: Bench, kernel: str, grid: int, block: int, numbers: tuple[int, ...]
) -> None:
    bench.clean(STORES, kernel, grid, block, floats(256), *map(np.int32, numbers))


def test_a_thread_may_store_again_and_again(bench: Bench) -> None:
    sums = bench.clean(STORES, "own_sum", 4, 96, np.zeros(384, np.float32), floats(9), np.int32(9))[0]
    assert np.all(sums == 9)


def test_the_bytes_that_a_doubtful_store_touches_are_counted(bench: Bench) -> None:
    record = bench.cuda(STORES, "one_value", 5, 64, floats(64)).record
    assert record.dram_write_bytes == 32
