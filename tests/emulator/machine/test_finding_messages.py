"""What findings say: which memory, how far outside, and what the block has."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

from grader.findings import kernels

SOURCE = r"""
extern "C" __global__ void wide(const char* in, double* out) { *out = *(const float*)in; }

extern "C" __global__ void beyond(const float* in, float* out) { out[threadIdx.x + 3] = in[threadIdx.x]; }

extern "C" __global__ void dynamic(float* out)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = tile[0];
}

extern "C" __global__ void two_barriers(int* out)
{
    if (threadIdx.x < 32) { __syncthreads(); out[0] = 1; } else { __syncthreads(); out[1] = 1; }
}

extern "C" __global__ void copies(const float* in, float* out)
{
    __shared__ __align__(16) float tile[128];
    unsigned to = __cvta_generic_to_shared(tile) + 8 * threadIdx.x;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(in + 4 * threadIdx.x));
    asm volatile("cp.async.wait_all;");
}

extern "C" __global__ void copies_twice(const float* in, float* out)
{
    __shared__ __align__(16) float tile[4];
    unsigned to = __cvta_generic_to_shared(tile);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(in + threadIdx.x));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    out[threadIdx.x] = tile[0];
}
"""


def line_of(part: str) -> int:
    return next(n for n, row in enumerate(SOURCE.splitlines(), 1) if part in row)


def message(bench: Bench, kernel: str, block: int, *arguments: object, shared_bytes: int = 0) -> str:
    ran = bench.cuda(SOURCE, kernel, 1, block, *arguments, shared_bytes=shared_bytes)
    return kernels.message(ran.record.findings[0])


def test_an_access_wider_than_what_is_left_of_an_allocation(bench: Bench) -> None:
    text = message(bench, "wide", 1, np.zeros(2, np.int8), np.zeros(1, np.float64))
    assert "reads 4 bytes of global memory at byte 0 of an allocation of 2 bytes, beyond its end" in text
    text = message(bench, "wide", 1, np.zeros(4, np.int8), np.zeros(1, np.float32))
    assert "writes 8 bytes of global memory at byte 0 of an allocation of 4 bytes, beyond its end" in text


def test_an_access_behind_the_end(bench: Bench) -> None:
    text = message(bench, "beyond", 1, np.zeros(1, np.float32), np.zeros(1, np.float32))
    assert "writes 4 bytes of global memory 8 bytes behind the end of an allocation of 4 bytes" in text


@pytest.mark.parametrize(("nbytes", "has"), [(0, "no bytes"), (256, "256 bytes")])
def test_shared_memory_that_is_too_small(bench: Bench, nbytes: int, has: str) -> None:
    text = message(bench, "dynamic", 96, np.zeros(1, np.float32), shared_bytes=nbytes)
    assert f"of shared memory at byte {nbytes}, where the block has {has}" in text


def test_an_asynchronous_copy_reads_one_space_and_writes_the_other(bench: Bench) -> None:
    data = np.zeros(128, np.float32)
    text = message(bench, "copies", 32, data, np.zeros(1, np.float32))
    assert "thread (1, 0, 0) writes 16 bytes at 0x8 in shared memory, which is no multiple of 16" in text
    text = message(bench, "copies", 32, data[:100].copy(), np.zeros(1, np.float32))
    assert "reads 16 bytes of global memory 0 bytes behind the end of an allocation of 400 bytes" in text
    text = message(bench, "copies_twice", 64, data, np.zeros(64, np.float32))
    line = line_of("cp.async.ca.shared")
    assert (
        f"writes shared memory at byte 0 (`tile`), which thread (31, 0, 0) writes too in line {line}" in text
    )


def test_two_barriers_in_one_line(bench: Bench) -> None:
    text = message(bench, "two_barriers", 64, np.zeros(2, np.int32))
    line = line_of("__syncthreads(); out[0]")
    assert f"at different barriers (two of them in line {line})" in text
