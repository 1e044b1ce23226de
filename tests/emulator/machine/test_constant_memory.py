"""Variables of a module: constants, globals, their initial values, and pointers among them."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench, cuda_image

from grader.emulator import metrics

CONSTANT = """
__constant__ float weights[6] = {0.5f, -1.0f, 2.0f, INFINITY, -0.0f, 1e-40f};
__constant__ short table[4][3] = {{1, 2, 3}, {4, 5, 6}, {-7, 8, 9}, {10, 11, 12}};
__constant__ struct { char c; double d; int a[2]; } mixed = {'x', 2.5, {7, -8}};
__constant__ int later[8];
__device__ int counter = 5;
__device__ double zeros[3];
__device__ const char* words[2] = {"one", "two"};
__device__ int* where = &counter;
__device__ int* inside = (int*)&zeros[1];

extern "C" __global__ void constants(float* out, int* more)
{
    int t = threadIdx.x;
    out[t] = weights[t % 6];
    more[t] = table[t % 4][t % 3] + (int)(mixed.d * 2) + mixed.a[t & 1] + mixed.c + later[t & 7];
}

extern "C" __global__ void globals(int* out)
{
    if (threadIdx.x == 0) { counter += 1; *inside = 77; }
    __syncthreads();
    out[0] = *where; out[1] = words[1][0]; out[2] = words[0][2]; out[3] = ((int*)zeros)[2]; out[4] = zeros[0];
}
"""


def test_constant_memory(bench: Bench) -> None:
    out, more = bench.clean(CONSTANT, "constants", 1, 32, np.zeros(32, np.float32), np.zeros(32, np.int32))
    weights = np.array([0.5, -1.0, 2.0, np.inf, -0.0, 1e-40], np.float32)
    assert out.tobytes() == weights[np.arange(32) % 6].tobytes()
    table = np.arange(1, 13).reshape(4, 3)
    table[2, 0] = -7
    t = np.arange(32)
    assert np.array_equal(more, table[t % 4, t % 3] + 5 + np.array([7, -8])[t & 1] + ord("x"))


def test_constants_that_the_host_sets(bench: Bench) -> None:
    module = bench.machine.load(cuda_image(CONSTANT))
    address, nbytes = module.globals["later"]
    assert nbytes == 32
    bench.machine.memory.write(address, np.arange(100, 108, dtype=np.int32))
    ran = bench.run(module.kernels["constants"], 1, 32, np.zeros(32, np.float32), np.zeros(32, np.int32))
    t = np.arange(32)
    first = ran.arrays[1] - np.arange(100, 108)[t & 7]
    assert np.array_equal(first[[0, 12, 24]], [first[0]] * 3)
    assert first[1] == 5 + 5 - 8 + ord("x")
    bench.machine.unload(module)


def test_global_variables_and_pointers_to_them(bench: Bench) -> None:
    module = bench.machine.load(cuda_image(CONSTANT))
    for count in (6, 7):  # they keep their values from launch to launch
        out = bench.run(module.kernels["globals"], 1, 32, np.zeros(5, np.int32)).arrays[0]
        assert out.tolist() == [count, ord("t"), ord("e"), 77, 0]
    bench.machine.unload(module)


OUTSIDE = """
__constant__ int first[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ int second[64];

extern "C" __global__ void uniform(int* out, int n) { for (int i = 0; i < n; ++i) out[threadIdx.x] += first[i]; }
extern "C" __global__ void lanes(int* out, int n) { out[threadIdx.x] += first[(threadIdx.x * n) % 8]; }
extern "C" __global__ void beyond(int* out, int n) { out[threadIdx.x] = first[threadIdx.x + n]; }

// Constant memory's instruction on an address in global memory.
extern "C" __global__ void elsewhere(int* out, int n)
{
    int value;
    asm("ld.const.s32 %0, [%1];" : "=r"(value) : "l"(out + n));
    out[threadIdx.x] = value + second[0];
}
"""


@pytest.mark.parametrize(("kernel", "requests", "sectors"), [("uniform", 3 * 8, 3 * 8), ("lanes", 3 * 8, 3)])
def test_constant_loads_are_counted(bench: Bench, kernel: str, requests: int, sectors: int) -> None:
    """Instructions of warps, one request for each address of a warp that differs, and the 32 bytes that they lie in."""
    n = 8 if kernel == "uniform" else 3
    ran = bench.cuda(OUTSIDE, kernel, 1, 96, np.zeros(96, np.int32), np.int32(n))
    assert ran.findings == []
    assert ran.counters[metrics.CONSTANT_REQUESTS] == requests
    assert ran.counters[metrics.CONSTANT_SECTORS] == sectors
    assert ran.counters[metrics.CONSTANT_INSTRUCTIONS] == (3 * 8 if kernel == "uniform" else 3)
    assert ran.arrays[0].tolist() == [36 if kernel == "uniform" else 1 + 3 * t % 8 for t in range(96)]


@pytest.mark.parametrize("kernel", ["beyond", "elsewhere"])
def test_only_constants_are_reached(bench: Bench, kernel: str) -> None:
    ran = bench.cuda(OUTSIDE, kernel, 1, 32, np.zeros(32, np.int32), np.int32(4))
    assert ran.findings == ["out_of_bounds"]
    assert ran.record.findings[0].space == "const"
