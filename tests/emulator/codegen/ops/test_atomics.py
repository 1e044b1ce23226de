"""Atomic operations: every operation and type in global and shared memory, with and without a result, under contention.

Lanes take effect in rising order, warps and blocks likewise, so that even floating-point sums come out the same in
every run; the oracle applies Python's operations in that order.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from emulated import Array, Bench
from exactly import BFLOAT, HALF, rounded

from grader.emulator.errors import UnsupportedPtx

DTYPES = {"u32": np.uint32, "s32": np.int32, "b32": np.uint32, "u64": np.uint64, "s64": np.int64, "b64": np.uint64,
          "f32": np.float32, "f64": np.float64, "b16": np.uint16}  # fmt: skip
Operation = Callable[[Any, Any], Any]
OPERATIONS: dict[str, Operation] = {
    "add": lambda old, b: old + b,
    "and": lambda old, b: old & b,
    "or": lambda old, b: old | b,
    "xor": lambda old, b: old ^ b,
    "exch": lambda old, b: b,
    "min": min,
    "max": max,
    "inc": lambda old, b: 0 if old >= b else old + 1,
    "dec": lambda old, b: b if old == 0 or old > b else old - 1,
}
FORMS = [
    *((name, kind) for name in ("add",) for kind in ("u32", "s32", "u64", "f32", "f64")),
    *((name, kind) for name in ("and", "or", "xor", "exch") for kind in ("b32", "b64")),
    *((name, kind) for name in ("min", "max") for kind in ("u32", "s32", "u64", "s64")),
    ("inc", "u32"), ("dec", "u32"),
]  # fmt: skip


def kernel(instruction: str, kind: str, space: str) -> str:
    """Each thread applies the instruction to word `at[thread]` with its value; old values go to a third array.

    In shared memory the words are copied there first and back afterwards.
    """
    size = np.dtype(DTYPES[kind]).itemsize
    register = f"{'f' if kind[0] == 'f' else 'b'}{max(size * 8, 16)}"
    both = f"mul.wide.u32 %p, %lane, {size}; add.s64 %q, %p, %box; add.s64 %p, %p, %words;"
    word = f"b{8 * size}"
    fill = f"@!%inside bra filled; {both} ld.global.{word} %x, [%p]; st.shared.{word} [%q], %x; filled: bar.sync 0;"
    drain = f"bar.sync 0; @!%inside bra drained; {both} ld.shared.{word} %x, [%q]; st.global.{word} [%p], %x; drained:"
    shared = space == "shared"
    return f"""
.visible .entry k(.param .u64 words, .param .u64 at, .param .u64 value, .param .u64 old)
{{
.shared .align 8 .b8 box[64];
.reg .b64 %words, %at, %value, %old, %p, %q, %i, %box, %word; .reg .b32 %t, %n, %lane; .reg .{register} %a, %r, %c, %x;
.reg .pred %inside, %even;
ld.param.u64 %words, [words]; ld.param.u64 %at, [at]; ld.param.u64 %value, [value]; ld.param.u64 %old, [old];
mov.u64 %box, box; mov.u32 %lane, %tid.x; mov.u32 %t, %ctaid.x; mad.lo.u32 %t, %t, 64, %lane;
setp.lt.u32 %inside, %lane, 8;
{fill if shared else ""}
mul.wide.u32 %i, %t, 4; add.s64 %at, %at, %i; ld.global.u32 %n, [%at];
mul.wide.u32 %i, %t, {size}; add.s64 %value, %value, %i; add.s64 %old, %old, %i;
ld.global.{word} %a, [%value];
mul.wide.u32 %word, %n, {size}; add.s64 %word, %word, {"%box" if shared else "%words"};
mov.{word} %r, 0; mov.{word} %c, 3;
{instruction}
st.global.{word} [%old], %r;
{drain if shared else ""}
ret;
}}
"""


def operands(kind: str, spread: int, threads: int = 128) -> tuple[Array, Array, Array]:
    """Eight words, which of them each thread takes, and its value."""
    dtype = np.dtype(DTYPES[kind])
    rng = np.random.default_rng(spread)
    make = (lambda n: rng.standard_normal(n).astype(dtype)) if dtype.kind == "f" else (
        lambda n: rng.integers(0, 256, n * dtype.itemsize, dtype=np.uint8).view(dtype))  # fmt: skip
    values = make(threads)
    if dtype.kind == "u":
        values[::5] = rng.integers(0, 20, len(values[::5]))
    return make(8), rng.integers(0, spread, threads).astype(np.uint32), values


def apply(compute: Operation, words: Array, at: Array, values: Array) -> tuple[Array, Array]:
    """Words and old values after all threads in order."""
    words, old = words.copy(), np.zeros_like(values)
    with np.errstate(over="ignore"):
        for thread, (place, value) in enumerate(zip(at, values, strict=True)):
            old[thread] = words[place]
            words[place] = compute(words[place], value)
    return words, old


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("name", "kind"), FORMS)
def test_operations(bench: Bench, name: str, kind: str, space: str) -> None:
    text = kernel(f"atom.{space}.{name}.{kind} %r, [%word], %a;", kind, space)
    blocks = 2 if space == "global" else 1
    for spread in (1, 8):
        words, at, values = operands(kind, spread, 64 * blocks)
        ran = bench.ptx(text, "k", blocks, 64, words, at, values, np.zeros_like(values))
        expected, old = apply(OPERATIONS[name], words, at, values)
        assert ran.findings == []
        assert ran.arrays[0].tobytes() == expected.tobytes()
        assert ran.arrays[3].tobytes() == old.tobytes()


@pytest.mark.parametrize("instruction", [
    "red.global.add.f32 [%word], %a;", "atom.global.add.f32 _, [%word], %a;", "red.add.f32 [%word], %a;",
    "atom.relaxed.gpu.global.add.f32 %x, [%word], %a;", "red.release.sys.global.add.f32 [%word], %a;",
])  # fmt: skip
def test_reductions(bench: Bench, instruction: str) -> None:
    words, at, values = operands("f32", 3)
    ran = bench.ptx(
        kernel(instruction, "f32", "global"), "k", 2, 64, words, at, values, np.zeros_like(values)
    )
    expected, _ = apply(OPERATIONS["add"], words, at, values)
    assert ran.arrays[0].tobytes() == expected.tobytes()
    assert not ran.arrays[3].any()


def flush(numbers: Array) -> Array:
    """Subnormals as zeros of their sign."""
    return np.where(np.abs(numbers) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), numbers), numbers)


@pytest.mark.parametrize(
    ("where", "form"), [("global", ".global"), ("global", ""), ("shared", ".shared"), ("shared", "")]
)
def test_sums_in_global_memory_flush_subnormals(bench: Bench, where: str, form: str) -> None:
    """PTX ISA, atom: those in shared memory do not. A generic address is of either."""
    to_generic = "cvta.shared.u64 %word, %word;" if where == "shared" and not form else ""
    text = kernel(f"{to_generic} atom{form}.add.f32 %r, [%word], %a;", "f32", where)
    words = np.array([1e-40, 0, -1e-40, 1.2e-38, 1, 3e-38, 1e-40, -0.0], np.float32)
    values = np.zeros(64, np.float32)
    values[:8] = [1e-40, 1e-40, 0, 1e-38, 1e-40, -2.5e-38, 1, -1e-40]
    at = np.minimum(np.arange(64), 7).astype(np.uint32)
    ran = bench.ptx(text, "k", 1, 64, words, at, values, np.zeros_like(values))
    sums = flush(flush(words) + flush(values[:8])) if where == "global" else words + values[:8]
    sums[7] += np.float32(0)  # which the other threads add
    assert ran.findings == []
    assert ran.arrays[0].tobytes() == sums.tobytes()


@pytest.mark.parametrize("kind", ["b16", "b32", "b64"])
def test_compare_and_swap(bench: Bench, kind: str) -> None:
    """Where the word is 3, the value goes in."""
    words, at, values = operands(kind, 8)
    words[::2] = 3
    ran = bench.ptx(kernel(f"atom.global.cas.{kind} %r, [%word], %c, %a;", kind, "global"), "k", 2, 64,
                    words, at, values, np.zeros_like(values))  # fmt: skip
    expected, old = apply(lambda word, value: value if word == 3 else word, words, at, values)
    assert ran.arrays[0].tobytes() == expected.tobytes()
    assert ran.arrays[3].tobytes() == old.tobytes()


FORMATS = {"f16": HALF, "bf16": BFLOAT}


def half_bits(numbers: Any, kind: str) -> Array:
    """Numbers that the format holds, as their 16 bits."""
    if kind == "f16":
        return np.asarray(numbers, np.float16).view(np.uint16)
    return (np.asarray(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def half_sums(kind: str, threads: int) -> tuple[Array, Array, Array, Operation]:
    """Eight words, which of them each thread takes, its value, and their sum on the bits: rounded once."""
    rng = np.random.default_rng(3)
    numbers = [rounded(Fraction(x), FORMATS[kind]) for x in rng.standard_normal(threads + 8).tolist()]
    values = {int(bits): x for bits, x in zip(half_bits(numbers, kind), numbers, strict=True)}

    def add(old: Any, value: Any) -> Any:
        total = rounded(Fraction(values[int(old)]) + Fraction(values[int(value)]), FORMATS[kind])
        bits = half_bits([total], kind)[0]
        values[int(bits)] = total
        return bits

    bits = half_bits(numbers, kind)
    return bits[:8], rng.integers(0, 8, threads).astype(np.uint32), bits[8:], add


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("kind", FORMATS)
def test_sums_of_halves(bench: Bench, kind: str, space: str) -> None:
    words, at, values, add = half_sums(kind, 64)
    text = kernel(f"atom.{space}.add.noftz.{kind} %r, [%word], %a;", "b16", space)
    ran = bench.ptx(text, "k", 1, 64, words, at, values, np.zeros_like(values))
    expected, old = apply(add, words, at, values)
    assert ran.findings == []
    np.testing.assert_array_equal(ran.arrays[0], expected)
    np.testing.assert_array_equal(ran.arrays[3], old)


@pytest.mark.parametrize(
    "form", ["atom.global.add.noftz.{}x2 %r, [%word], %a;", "red.global.add.noftz.{}x2 [%word], %a;"]
)
@pytest.mark.parametrize("kind", FORMATS)
def test_sums_of_pairs(bench: Bench, kind: str, form: str) -> None:
    """Each half by itself."""
    words, at, values, add = half_sums(kind, 64)
    expected, old = apply(add, words, at, values)
    low = [words, values]
    high, _, others, other_add = half_sums(kind, 64)
    other, other_old = apply(other_add, high[::-1].copy(), at, others)
    pairs = [
        a.astype(np.uint32) | b.astype(np.uint32) << 16
        for a, b in zip(low, (high[::-1], others), strict=True)
    ]
    ran = bench.ptx(kernel(form.format(kind), "b32", "global"), "k", 1, 64, pairs[0], at, pairs[1],
                    np.zeros(64, np.uint32))  # fmt: skip
    np.testing.assert_array_equal(ran.arrays[0], expected.astype(np.uint32) | other.astype(np.uint32) << 16)
    if form.startswith("atom"):
        np.testing.assert_array_equal(
            ran.arrays[3], old.astype(np.uint32) | other_old.astype(np.uint32) << 16
        )


VECTORS = """
extern "C" __global__ void k(float4* sums, float2* old)
{
    int i = threadIdx.x;
    atomicAdd(&sums[i % 2], make_float4(i, -i, 0.5f * i, 1));
    old[i] = atomicAdd(reinterpret_cast<float2*>(sums + 2), make_float2(1, 2));
}
"""


def test_sums_of_vectors(bench: Bench) -> None:
    """red.global.add.v4.f32 and atom.global.add.v2.f32 add each element by itself."""
    sums, old = bench.clean(VECTORS, "k", 1, 64, np.ones((3, 4), np.float32), np.zeros((64, 2), np.float32))
    for parity in (0, 1):
        i = np.arange(parity, 64, 2).sum()
        np.testing.assert_array_equal(sums[parity], [1 + i, 1 - i, 1 + i / 2, 33])
    np.testing.assert_array_equal(sums[2], [65, 129, 1, 1])
    np.testing.assert_array_equal(old, 1 + np.arange(64)[:, None] * [1, 2])


@pytest.mark.parametrize("instruction", ["atom.global.min.f32 %r, [%word], %a;", "red.global.max.f16 [%word], %h;",
                                         "atom.global.min.bf16x2 %r, [%word], %a;"])  # fmt: skip
def test_extremes_of_floats_are_refused(bench: Bench, instruction: str) -> None:
    words, at, values = operands("b32", 4)
    text = kernel(f".reg .b16 %h; {instruction}", "b32", "global")
    with pytest.raises(UnsupportedPtx):
        bench.ptx(text, "k", 1, 64, words, at, values, np.zeros_like(values))


def test_a_guard(bench: Bench) -> None:
    instruction = "and.b32 %t, %t, 1; setp.eq.u32 %even, %t, 0; @%even atom.global.add.u32 %r, [%word], %a;"
    words, at, values = operands("u32", 4)
    ran = bench.ptx(
        kernel(instruction, "u32", "global"), "k", 2, 64, words, at, values, np.zeros_like(values)
    )
    expected, old = apply(OPERATIONS["add"], words, at[::2], values[::2])
    assert ran.arrays[0].tobytes() == expected.tobytes()
    assert ran.arrays[3][::2].tobytes() == old.tobytes()
    assert not ran.arrays[3][1::2].any()


CUDA = """
extern "C" __global__ void histogram(const unsigned char* in, int* bins, int n)
{
    __shared__ int own[16];
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    __syncthreads();
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i] & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__device__ float atomic_max(float* address, float value)
{
    int* bits = (int*)address; int old = *bits, assumed;
    do { assumed = old; old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed)))); }
    while (assumed != old);
    return __int_as_float(old);
}

extern "C" __global__ void maximum(const float* in, float* best)
{
    atomic_max(best, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

extern "C" __global__ void last_block(const float* in, float* parts, unsigned* ticket, float* sum)
{
    __shared__ float box[64]; __shared__ bool last;
    int t = threadIdx.x;
    box[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) { if (t < s) box[t] += box[t + s]; __syncthreads(); }
    if (t == 0) {
        parts[blockIdx.x] = box[0];
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) { float s = 0; for (int b = 0; b < gridDim.x; b++) s += parts[b]; *sum = s; }
}

// Each block waits for the sum of the block before it.
extern "C" __global__ void chained(const int* in, int* out, int* ticket, volatile int* sums)
{
    __shared__ int block, before;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
    __syncthreads();
    int v = in[block * 32 + threadIdx.x];
    for (int s = 1; s < 32; s *= 2) { int o = __shfl_up_sync(~0u, v, s); if (threadIdx.x >= s) v += o; }
    if (threadIdx.x == 31) {
        int p = 0;
        if (block > 0) { while ((p = sums[block - 1]) < 0) { } }
        before = p;
        __threadfence();
        sums[block] = p + v;
    }
    __syncthreads();
    out[block * 32 + threadIdx.x] = v + before;
}
"""


def test_histogram(bench: Bench) -> None:
    data = np.random.default_rng(0).integers(0, 256, 5000, dtype=np.uint8)
    bins = bench.clean(CUDA, "histogram", 4, 128, data, np.zeros(16, np.int32), np.int32(5000))[1]
    assert np.array_equal(bins, np.bincount(data & 15, minlength=16))


def test_a_compare_and_swap_loop(bench: Bench) -> None:
    data = np.random.default_rng(1).standard_normal(256).astype(np.float32)
    assert bench.clean(CUDA, "maximum", 2, 128, data, np.full(1, -np.inf, np.float32))[1][0] == data.max()


def test_the_last_block_adds_up(bench: Bench) -> None:
    data = np.random.default_rng(1).integers(0, 100, 640).astype(np.float32)
    arrays = np.zeros(10, np.float32), np.zeros(1, np.uint32), np.zeros(1, np.float32)
    assert bench.clean(CUDA, "last_block", 10, 64, data, *arrays)[3][0] == data.sum()


def test_blocks_that_wait_for_those_before_them(bench: Bench) -> None:
    data = np.random.default_rng(2).integers(0, 9, 320).astype(np.int32)
    sums = np.full(10, -1, np.int32)
    out = bench.clean(
        CUDA, "chained", 10, 32, data, np.zeros(320, np.int32), np.zeros(1, np.int32), sums, budget=10**6
    )[1]
    assert np.array_equal(out, data.cumsum())
