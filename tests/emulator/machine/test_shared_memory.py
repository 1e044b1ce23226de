"""Shared memory: static and dynamic arrays, their layout, and addresses within them."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

SHARED = """
extern __shared__ float dynamic[];
extern "C" __global__ void sizes(const float* in, float* out, int n)
{
    __shared__ short head[3];
    __shared__ double middle[2];
    float* second = dynamic + n;
    int t = threadIdx.x;
    if (t < 3) head[t] = t + 1;
    if (t < 2) middle[t] = t * 0.5;
    dynamic[t] = in[t]; second[t] = -in[t];
    __syncthreads();
    out[t] = dynamic[n - 1 - t] + second[(t + 1) % n] * head[t % 3] + middle[t & 1];
    if (t == 0) {
        unsigned total, own;
        asm("mov.u32 %0, %%total_smem_size;" : "=r"(total)); asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(own));
        out[n] = own; out[n + 1] = total - own;
    }
}

extern "C" __global__ void raw(unsigned long long* out)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    unsigned* words = (unsigned*)bytes;
    words[threadIdx.x] = 0x01020304u * (threadIdx.x + 1);
    __syncthreads();
    unsigned long long v = *(unsigned long long*)&bytes[8 * (threadIdx.x / 2)];
    out[threadIdx.x] = v + bytes[threadIdx.x];
}
"""


@pytest.mark.parametrize("n", [32, 48, 200])
def test_dynamic_shared_memory(bench: Bench, n: int) -> None:
    data = np.random.default_rng(n).standard_normal(n).astype(np.float32)
    out = bench.clean(
        SHARED, "sizes", 2, n, data, np.zeros(n + 2, np.float32), np.int32(n), shared_bytes=8 * n
    )[1]
    t = np.arange(n)
    product = -data[(t + 1) % n] * (t % 3 + 1).astype(np.float32)
    assert np.allclose(out[:n], data[::-1] + product + (t & 1) * 0.5, atol=1e-6)
    assert out[n:].tolist() == [8 * n, 32]


def test_bytes_of_words(bench: Bench) -> None:
    out = bench.clean(SHARED, "raw", 1, 64, np.zeros(64, np.uint64), shared_bytes=256)
    words = (0x01020304 * np.arange(1, 65)).astype(np.uint32)
    t = np.arange(64)
    assert np.array_equal(out, words.view(np.uint64)[t // 2] + words.view(np.uint8)[t])


def test_a_negative_base_with_a_positive_offset(bench: Bench) -> None:
    """Compilers fold constants into the offset, so that the register alone may lie before the array."""
    text = """
.visible .entry k(.param .u64 out)
{
.shared .align 4 .b8 box[256]; .reg .b32 %r<4>; .reg .b64 %out, %at;
ld.param.u64 %out, [out]; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;
st.shared.u32 [%r1], %r0; bar.sync 0;
sub.u32 %r2, %r1, 64; ld.shared.u32 %r3, [%r2+64];
mul.wide.u32 %at, %r0, 4; add.s64 %at, %at, %out; st.global.u32 [%at], %r3;
ret;
}
"""
    ran = bench.ptx(text, "k", 1, 64, np.zeros(64, np.uint32))
    assert ran.findings == []
    assert np.array_equal(ran.arrays[0], np.arange(64))


@pytest.mark.parametrize("access", ["atomicAdd(&word, 1);", "out[threadIdx.x] = *(volatile int*)&word;"])
def test_a_word_that_nobody_wrote_is_told_once_and_races_with_nobody(bench: Bench, access: str) -> None:
    source = f"""extern "C" __global__ void k(int* out)
    {{
        __shared__ int word;
        {access}
        if (threadIdx.x >= 32) {{ {access} }}
    }}"""
    assert bench.cuda(source, "k", 1, 64, np.zeros(64, np.int32)).findings == ["uninitialised_shared"]


def test_a_race_is_told_at_the_other_threads_line_and_not_at_ones_own_read(bench: Bench) -> None:
    source = """extern "C" __global__ void k(float* out)
    {
        __shared__ float s[64];
        int t = threadIdx.x;
        s[t] = t;
        __syncthreads();
        if (t < 32)
            out[t] = s[t + 32];
        else
            s[t] += out[t];
        __syncthreads();
        out[t] += s[t];
    }"""
    (finding,) = bench.cuda(source, "k", 1, 64, np.zeros(64, np.float32)).record.findings
    assert finding.other is not None
    assert (finding.kind, finding.line, finding.other.line) == ("race", 10, 8)
