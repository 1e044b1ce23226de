"""__syncthreads(): warps and blocks of every shape, barriers in loops, and threads that have left."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

from grader.findings.kernels import message

SOURCE = """
// After each round every thread has what its neighbour had: it works only if all wait for all.
extern "C" __global__ void rotate(const int* in, int* out, int rounds)
{
    extern __shared__ int box[];
    int n = blockDim.x * blockDim.y * blockDim.z;
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    box[t] = in[t];
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
        int v = box[(t + 1) % n];
        __syncthreads();
        box[t] = v;
        __syncthreads();
    }
    out[blockIdx.x * n + t] = box[t];
}

extern "C" __global__ void tree(const float* in, float* out)
{
    __shared__ float box[256];
    int t = threadIdx.x;
    box[t] = in[t];
    for (int s = 128; s > 0; s >>= 1) {
        __syncthreads();
        if (t < s) box[t] += box[t + s];
    }
    if (t == 0) *out = box[0];
}

// Divergent loops between barriers that everybody reaches; a uniform condition around one of them.
extern "C" __global__ void uneven(int* out, int n)
{
    __shared__ int box[96];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; ++i) {
        int v = t;
        for (int k = 0; k < (t + i) % 5; ++k) v = v * 3 + k;
        box[t] = v;
        if (i % 2 == 0) __syncthreads(); else { if (t % 3 == 0) sum += 7; __syncthreads(); }
        sum += box[(t + 33) % 96];
        __syncthreads();
    }
    out[t] = sum;
}

// Threads that have returned are not waited for.
extern "C" __global__ void some_leave(const int* in, int* out, int n)
{
    __shared__ int box[128];
    int t = threadIdx.x;
    if (t >= n) return;
    box[t] = in[t];
    __syncthreads();
    out[t] = box[n - 1 - t];
}

extern "C" __global__ void votes(const int* in, int* out)
{
    __shared__ int any;
    if (threadIdx.x == 0) any = 0;
    __syncthreads();
    if (in[threadIdx.x] > 3) any = 1;
    __syncthreads();
    if (any) out[threadIdx.x] = 1;
}

extern "C" __global__ void split(int* out)
{
    if (threadIdx.x < 32) { out[threadIdx.x] = 1; __syncthreads(); }
    else { out[threadIdx.x] = 2; __syncthreads(); out[threadIdx.x] = 3; }
}
"""


@pytest.mark.parametrize(
    "block", [(32,), (31,), (33,), (64, 2), (5, 3, 7), (8, 8), (1,), (1024,), (96, 1, 2)]
)
def test_all_wait_for_all(bench: Bench, block: tuple[int, ...]) -> None:
    n = int(np.prod(block))
    data = np.arange(n, dtype=np.int32) * 7
    out = bench.clean(
        SOURCE, "rotate", 2, block, data, np.zeros(2 * n, np.int32), np.int32(3), shared_bytes=4 * n
    )[1]
    assert np.array_equal(out.reshape(2, n), [np.roll(data, -3)] * 2)


def test_a_tree(bench: Bench) -> None:
    data = np.random.default_rng(0).integers(0, 100, 256).astype(np.float32)
    assert bench.clean(SOURCE, "tree", 1, 256, data, np.zeros(1, np.float32))[1][0] == data.sum()


def test_divergent_loops_between_barriers(bench: Bench) -> None:
    def value(t: int, i: int) -> int:
        v = t
        for k in range((t + i) % 5):
            v = v * 3 + k
        return v

    out = bench.clean(SOURCE, "uneven", 1, 96, np.zeros(96, np.int32), np.int32(4))
    expected = [sum(value((t + 33) % 96, i) for i in range(4)) + (14 if t % 3 == 0 else 0) for t in range(96)]
    assert out.tolist() == expected


@pytest.mark.parametrize("n", [1, 31, 32, 40, 64, 100, 128])
def test_threads_that_left(bench: Bench, n: int) -> None:
    data = np.arange(128, dtype=np.int32)
    out = bench.clean(SOURCE, "some_leave", 1, 128, data, np.zeros(128, np.int32), np.int32(n))[1]
    assert np.array_equal(out[:n], data[:n][::-1])
    assert not out[n:].any()


@pytest.mark.parametrize(("largest", "expected"), [(3, 0), (4, 1)])
def test_a_flag_behind_a_barrier(bench: Bench, largest: int, expected: int) -> None:
    data = np.zeros(96, np.int32)
    data[70] = largest
    assert bench.clean(SOURCE, "votes", 1, 96, data, np.zeros(96, np.int32))[1].tolist() == [expected] * 96


def test_barriers_in_two_branches_let_each_other_go_and_are_found(bench: Bench) -> None:
    """As on hardware, where a barrier only counts arrivals; the CUDA programming guide forbids it."""
    ran = bench.cuda(SOURCE, "split", 1, 64, np.zeros(64, np.int32))
    assert ran.arrays[0].tolist() == [1] * 32 + [3] * 32
    assert ran.findings == ["barrier"]
    line = (
        SOURCE.splitlines().index("    if (threadIdx.x < 32) { out[threadIdx.x] = 1; __syncthreads(); }") + 1
    )
    assert ran.record.findings[0].line == line
    assert f"lines {line} and {line + 1}" in message(ran.record.findings[0])


@pytest.mark.parametrize(
    "spelling", ["bar.sync 0;", "barrier.sync 0;", "barrier.sync.aligned 0;", "bar.cta.sync 0;"]
)
def test_spellings(bench: Bench, spelling: str) -> None:
    text = f"""
.visible .entry k(.param .u64 out)
{{
.shared .b32 box[64]; .reg .b32 %t, %o, %v, %base; .reg .b64 %out, %at;
ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; shl.b32 %o, %t, 2; mov.u32 %base, box; add.u32 %o, %o, %base;
st.shared.u32 [%o], %t; {spelling}
xor.b32 %o, %o, 128; ld.shared.u32 %v, [%o];
mul.wide.u32 %at, %t, 4; add.s64 %at, %at, %out; st.global.u32 [%at], %v; ret;
}}
"""
    ran = bench.ptx(text, "k", 1, 64, np.zeros(64, np.uint32))
    assert ran.findings == []
    assert np.array_equal(ran.arrays[0], np.arange(64) ^ 32)
