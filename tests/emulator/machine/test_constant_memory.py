"""Variables of a module: constants, globals, their initial values, and pointers among them."""

from __future__ import annotations

import numpy as np
from emulated import Bench, cuda_image

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
