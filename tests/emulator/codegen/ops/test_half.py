"""Half precision: f16, f16x2, bf16 and bf16x2 arithmetic, comparison and conversion.

The oracle computes with exact fractions and rounds once. bf16 numbers are given by their 16 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from emulated import Array, Bench, apply, check, floats, integers, pairs, triples
from exactly import BFLOAT, HALF, fused, rounded

FORMATS = {"f16": HALF, "bf16": BFLOAT}


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def from_bits(bits: Array, kind: str) -> Array:
    """16-bit patterns as the numbers they stand for, in double precision."""
    if kind == "f16":
        return bits.view(np.float16).astype(np.float64)
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def to_bits(values: Any, kind: str) -> Array:
    """The patterns of numbers the format holds exactly (or NaN)."""
    if kind == "f16":
        return np.asarray(values, np.float16).view(np.uint16)
    return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def operands(kind: str) -> Array:
    """Patterns: zeros, subnormals, ones, the largest, infinity, NaN, then random ones; of both signs."""
    top = 0x7C00 if kind == "f16" else 0x7F80
    one = 0x3C00 if kind == "f16" else 0x3F80
    edges = [0, 1, 2, 3, top >> 5, one - 1, one, one + 1, one + 2, top - 1, top, 0x7FFF]
    rng = np.random.default_rng(5)
    positive = np.array([*edges, *rng.integers(0, top, 16), *rng.integers(one - 64, one + 64, 8)], np.uint16)
    return np.concatenate([positive, positive | 0x8000]).astype(np.uint16)


def close(bench: Bench, instruction: str, kind: str, *columns: Array, expected: Array) -> None:
    """As `check`, for patterns: NaN equals NaN."""
    nan = np.isnan(from_bits(expected, kind))
    for form, row in zip((0, 2), apply(bench, instruction, *columns, out=np.uint16)[0][[0, 2]], strict=True):
        wrong = np.flatnonzero(~((row == expected) | (nan & np.isnan(from_bits(row, kind)))))
        cases = [([hex(c[i]) for c in columns], hex(row[i]), hex(expected[i])) for i in wrong[:5]]
        assert not wrong.size, (instruction, form, wrong.size, cases)


def compute(kind: str, function: Callable[..., float], *columns: Array) -> Array:
    values = [from_bits(c, kind).tolist() for c in columns]
    return to_bits([function(*case) for case in zip(*values, strict=True)], kind)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_arithmetic(bench: Bench, name: str, kind: str) -> None:
    a, b = pairs(operands(kind))
    to = FORMATS[kind]
    one_rounding = {
        "add": lambda x, y: fused(x, 1.0, y, to),
        "sub": lambda x, y: fused(x, 1.0, -y, to),
        "mul": lambda x, y: fused(x, y, np.copysign(0.0, x) * np.copysign(1.0, y), to),
    }[name]
    close(bench, f"{name}.rn.{kind} %d, %a, %b;", kind, a, b, expected=compute(kind, one_rounding, a, b))


def sums_at_a_tie(kind: str) -> tuple[Array, Array, Array]:
    """Products halfway between two numbers, and an addend so small that only its sign decides."""
    tiny = 2.0 ** (FORMATS[kind].least - 3)
    a, b = pairs(np.array([1.5, *(1 + 2.0**-n for n in range(1, 7))]))
    columns = np.repeat(a, 3), np.repeat(b, 3), np.tile([tiny, -tiny, 0.0], len(a))
    return to_bits(columns[0], kind), to_bits(columns[1], kind), to_bits(columns[2], kind)


@pytest.mark.parametrize("kind", FORMATS)
def test_fused_multiply_add(bench: Bench, kind: str) -> None:
    a, b, c = triples(*[operands(kind)] * 3)
    a, b, c = (np.concatenate(both) for both in zip((a, b, c), sums_at_a_tie(kind), strict=True))
    expected = compute(kind, lambda x, y, z: fused(x, y, z, FORMATS[kind]), a, b, c)
    close(bench, f"fma.rn.{kind} %d, %a, %b, %c;", kind, a, b, c, expected=expected)
    above_zero = compute(kind, lambda x: 0.0 if x <= 0 else x, expected)
    close(bench, f"fma.rn.relu.{kind} %d, %a, %b, %c;", kind, a, b, c, expected=above_zero)


def test_saturation(bench: Bench) -> None:
    a, b = pairs(operands("f16"))
    clamped = lambda x: min(x, 1.0) if x > 0 else 0.0  # noqa: E731
    expected = compute("f16", lambda x, y: clamped(fused(x, 1.0, y, HALF)), a, b)
    close(bench, "add.sat.f16 %d, %a, %b;", "f16", a, b, expected=expected)


@pytest.mark.parametrize("kind", FORMATS)
def test_signs_and_extremes(bench: Bench, kind: str) -> None:
    a, b = pairs(operands(kind))
    close(bench, f"neg.{kind} %d, %a;", kind, a, expected=a ^ np.uint16(0x8000))
    close(bench, f"abs.{kind} %d, %a;", kind, a, expected=a & np.uint16(0x7FFF))
    x, y = from_bits(a, kind), from_bits(b, kind)
    order = (x < y) | ((x == y) & (np.signbit(x) >= np.signbit(y)))
    either = np.isnan(x) | np.isnan(y)
    for name, first in (("min", order), ("max", ~order)):
        number = np.where(np.isnan(x), b, np.where(np.isnan(y), a, np.where(first, a, b)))
        close(bench, f"{name}.{kind} %d, %a, %b;", kind, a, b, expected=number)
        close(
            bench,
            f"{name}.NaN.{kind} %d, %a, %b;",
            kind,
            a,
            b,
            expected=np.where(either, np.uint16(0x7FFF), number),
        )


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "fma", "min", "max", "neg"])
def test_pairs(bench: Bench, name: str, kind: str) -> None:
    """Each half of a pair is what the instruction on single halves gives."""
    count = {"fma": 3, "neg": 1}.get(name, 2)
    names = ", ".join("%abc"[0] + letter for letter in "abc"[:count])
    rounding = ".rn" if name == "fma" else ""
    low = triples(*[operands(kind)] * count, count=256)
    high = tuple(c[::-1].copy() for c in low)
    words = [a.astype(np.uint32) | b.astype(np.uint32) << 16 for a, b in zip(low, high, strict=True)]
    halves = [
        apply(bench, f"{name}{rounding}.{kind} %d, {names};", *side, out=np.uint16)[0][0]
        for side in (low, high)
    ]
    expected = halves[0].astype(np.uint32) | halves[1].astype(np.uint32) << 16
    check(bench, f"{name}{rounding}.{kind}x2 %d, {names};", *words, expected=expected)


@pytest.mark.parametrize("kind", FORMATS)
def test_from_floats(bench: Bench, kind: str) -> None:
    """Rounded once, from doubles too."""
    to = FORMATS[kind]
    ties = [
        s * (1 + 2.0 ** -(to.mantissa + 1) + d) for s in (1, -1) for d in (0, 2.0**-40, -(2.0**-40), 2.0**-23)
    ]
    double = np.concatenate(
        [floats(), floats(np.float16), ties, [65519.0, 65520.0, 2.0**-25, 2.0**-26, 1e-300]]
    )
    convert = lambda x: rounded(Fraction(x), to) if np.isfinite(x) and x else x  # noqa: E731
    for source, a in (("f32", double.astype(np.float32)), ("f64", double)):
        expected = to_bits([np.copysign(convert(x), x) for x in a.tolist()], kind)
        close(bench, f"cvt.rn.{kind}.{source} %d, %a;", kind, a, expected=expected)
    single = double.astype(np.float32)
    above_zero = to_bits([0.0 if x <= 0 else convert(x) for x in single.tolist()], kind)
    close(
        bench, f"cvt.rn.relu.{kind}.f32 %d, %a;", kind, single[single != 0], expected=above_zero[single != 0]
    )


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("direction", ["rz", "rm", "rp"])
def test_from_floats_in_a_direction(bench: Bench, direction: str, kind: str) -> None:
    """Singles, doubles and integers."""
    to = FORMATS[kind]
    a = np.concatenate(
        [floats(), floats(np.float16).astype(np.float32), np.float32([65519.0, -65521.0, 1e-8])]
    )
    a = a[np.isfinite(a)]
    convert = lambda x: math.copysign(rounded(Fraction(x), to, direction), x)  # noqa: E731
    expected = to_bits([convert(x) for x in a.tolist()], kind)
    close(bench, f"cvt.{direction}.{kind}.f32 %d, %a;", kind, a, expected=expected)
    double = a.astype(np.float64) * (1 + 2.0**-40)
    expected = to_bits([convert(x) for x in double.tolist()], kind)
    close(bench, f"cvt.{direction}.{kind}.f64 %d, %a;", kind, double, expected=expected)
    whole = integers("s64", [2049, 4097, 65521, (1 << 40) + 1])
    expected = to_bits([rounded(Fraction(x), to, direction) for x in whole.tolist()], kind)
    close(bench, f"cvt.{direction}.{kind}.s64 %d, %a;", kind, whole, expected=expected)


def test_a_nan_has_the_bits_of_an_h200(bench: Bench) -> None:
    """0x7fff, whatever the sign and the bits of the operand, unless that is a double."""
    nans = np.array([0x7C01, 0x7E00, 0xFE12, 0xFFFF], np.uint16)
    wide = np.array([0x7F800001, 0x7FC00000, 0xFFC12345, 0xFFFFFFFF], np.uint32).view(np.float32)
    expected = np.full(4, 0x7FFF, np.uint16)
    check(bench, "add.f16 %d, %a, %b;", nans, nans, expected=expected)
    check(bench, "neg.f16 %d, %a;", nans, expected=expected)
    check(bench, "cvt.rm.f16.f32 %d, %a;", wide, expected=expected)
    doubles = np.array([0x7FF0000000000001, 0x7FF8C849D2A4EA83, 0xFFF8000000000005], np.uint64).view(
        np.float64
    )
    check(bench, "cvt.rn.f16.f64 %d, %a;", doubles, expected=np.array([0x7E00, 0x7E32, 0xFE00], np.uint16))


def test_a_subnormal_single_is_not_flushed_on_its_way_to_a_half(bench: Bench) -> None:
    a = np.array([1e-40, -1e-40], np.float32)
    check(bench, "cvt.rp.ftz.f16.f32 %d, %a;", a, expected=np.array([1, 0x8000], np.uint16))
    check(bench, "cvt.rm.ftz.f16.f32 %d, %a;", a, expected=np.array([0, 0x8001], np.uint16))


@pytest.mark.parametrize("kind", FORMATS)
def test_from_floats_to_the_largest_number(bench: Bench, kind: str) -> None:
    a = np.array([1e38, 3.4e38, -1e30, np.inf, -np.inf, 2.5], np.float32)
    top = float(FORMATS[kind].largest)
    expected = to_bits([max(-top, min(top, rounded(Fraction(min(max(x, -1e39), 1e39)), FORMATS[kind])))
                        for x in a.tolist()], kind)  # fmt: skip
    close(bench, f"cvt.rn.satfinite.{kind}.f32 %d, %a;", kind, a, expected=expected)


@pytest.mark.parametrize("kind", FORMATS)
def test_packing_two_floats(bench: Bench, kind: str) -> None:
    """The first operand goes to the upper half."""
    a, b = pairs(np.array([1.0, -2.5, 65504.0, 1e-3, 0.0], np.float32))
    to = FORMATS[kind]
    high, low = (
        to_bits([rounded(Fraction(x), to) for x in side.tolist()], kind).astype(np.uint32) for side in (a, b)
    )
    check(bench, f"cvt.rn.{kind}x2.f32 %d, %a, %b;", a, b, expected=low | high << 16)


@pytest.mark.parametrize("kind", FORMATS)
def test_to_floats(bench: Bench, kind: str) -> None:
    a = operands(kind)
    exactly = from_bits(a, kind)
    check(bench, f"cvt.f32.{kind} %d, %a;", a, expected=exactly.astype(np.float32))
    if kind == "f16":
        check(bench, "cvt.f64.f16 %d, %a;", a, expected=exactly)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("source", ["s8", "u16", "s16", "u32", "s32", "u64", "s64"])
def test_from_integers(bench: Bench, source: str, kind: str) -> None:
    bits = int(source[1:])
    ties = [(1 << n) + (1 << max(n - 8, 0)) + d for n in (9, 12, 15, 31, 60, 62) for d in (-1, 0, 1)]
    a = integers(f"{source[0]}{max(bits, 16)}", ties)
    low = -(1 << bits - 1) if source[0] == "s" else 0
    values = [(v - low) % (1 << bits) + low for v in a.tolist()]
    expected = to_bits([rounded(Fraction(v), FORMATS[kind]) for v in values], kind)
    close(bench, f"cvt.rn.{kind}.{source} %d, %a;", kind, a, expected=expected)


def test_to_integers(bench: Bench) -> None:
    a = operands("f16")
    values = from_bits(a, "f16")
    whole = np.where(np.isnan(values), 0, np.clip(np.trunc(values), -(2.0**31), 2.0**31 - 1)).astype(np.int32)
    check(bench, "cvt.rzi.s32.f16 %d, %a;", a, expected=whole)
    rounded_up = to_bits(np.ceil(values), "f16")
    close(bench, "cvt.rpi.f16.f16 %d, %a;", "f16", a, expected=rounded_up)


@pytest.mark.parametrize("kind", FORMATS)
def test_comparison(bench: Bench, kind: str) -> None:
    a, b = pairs(operands(kind))
    x, y = from_bits(a, kind), from_bits(b, kind)
    check(bench, f"setp.lt.{kind} %d, %a, %b;", a, b, expected=x < y)
    check(bench, f"setp.neu.{kind} %d, %a, %b;", a, b, expected=(x != y) | np.isnan(x) | np.isnan(y))
    words = [side.astype(np.uint32) | side[::-1].astype(np.uint32) << 16 for side in (a, b)]
    check(bench, f"setp.ge.{kind}x2 %d|%q, %a, %b;", *words, expected=(x >= y, (x >= y)[::-1]))


@pytest.mark.parametrize("kind", FORMATS)
def test_set(bench: Bench, kind: str) -> None:
    """True is 1.0, or all ones where the result is an integer."""
    a, b = pairs(operands(kind))
    x, y = from_bits(a, kind), from_bits(b, kind)
    one = int(to_bits([1.0], kind)[0])
    expected = np.where(x < y, np.uint16(one), np.uint16(0))
    check(bench, f"set.lt.{kind}.{kind} %d, %a, %b;", a, b, expected=expected)
    unordered = (x == y) | np.isnan(x) | np.isnan(y)
    check(
        bench,
        f"set.equ.u32.{kind} %d, %a, %b;",
        a,
        b,
        expected=np.where(unordered, ~np.uint32(0), np.uint32(0)),
    )
    words = [side.astype(np.uint32) | side[::-1].astype(np.uint32) << 16 for side in (a, b)]
    wide = expected.astype(np.uint32)
    check(bench, f"set.lt.{kind}x2.{kind}x2 %d, %a, %b;", *words, expected=wide | wide[::-1] << 16)
    ones = np.where(x < y, np.uint32(0xFFFF), np.uint32(0))
    check(bench, f"set.lt.u32.{kind}x2 %d, %a, %b;", *words, expected=ones | ones[::-1] << 16)


@pytest.mark.parametrize(("name", "function"), [("ex2", np.exp2), ("tanh", np.tanh)])
def test_approximate_functions(bench: Bench, name: str, function: Any) -> None:
    a = np.linspace(-10, 10, 200).astype(np.float16)
    (got,) = apply(bench, f"{name}.approx.f16 %d, %a;", a, out=np.float16)
    np.testing.assert_allclose(got[0].astype(float), function(a.astype(float)), rtol=2.0**-9.9, atol=2.0**-24)


CUDA = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void mixed(const __half2* a, const __half* b, float* out, __nv_bfloat16* rounded)
{
    int i = threadIdx.x;
    __half2 sum = __hfma2(a[i], __half2half2(b[i]), __float2half2_rn(0.5f));
    float2 wide = __half22float2(sum);
    out[i] = wide.x + wide.y + __half2float(__hmax(b[i], __int2half_rn(i)));
    rounded[i] = __float2bfloat16(out[i]);
}
"""


def test_cuda_half_intrinsics(bench: Bench) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((64, 2)).astype(np.float16), rng.standard_normal(64).astype(np.float16)
    out, bits = bench.clean(CUDA, "mixed", 1, 64, a, b, np.zeros(64, np.float32), np.zeros(64, np.uint16))[2:]
    products = [[fused(float(x), float(y), 0.5, HALF) for x in row] for row, y in zip(a, b, strict=True)]
    expected = np.array(products, np.float32).sum(axis=1, dtype=np.float32) + np.maximum(
        b, np.arange(64)
    ).astype(np.float32)
    assert np.array_equal(out, expected)
    assert np.array_equal(bits, to_bits([rounded(Fraction(float(x)), BFLOAT) for x in expected], "bf16"))


def test_halves_are_shuffled(bench: Bench) -> None:
    """cuda_fp16.h writes this with WARP_SZ, a constant of PTX."""
    source = """#include <cuda_fp16.h>
    extern "C" __global__ void k(const __half* in, __half* out)
    {
        out[threadIdx.x] = __shfl_down_sync(0xffffffff, in[threadIdx.x], 3);
    }"""
    values = np.arange(32, dtype=np.float16)
    ran = bench.cuda(source, "k", 1, 32, values, np.zeros_like(values))
    assert ran.arrays[1].tolist() == [*range(3, 32), 29, 30, 31]


EVERY_BFLOAT = np.arange(65536, dtype=np.uint16)


def test_every_bfloat_to_a_float_and_back(bench: Bench) -> None:
    """And the floats beside each, and half way to the next, as ml_dtypes rounds them."""
    wide = EVERY_BFLOAT.view(ml_dtypes.bfloat16).astype(np.float32)
    number = ~np.isnan(wide)
    check(bench, "cvt.f32.bf16 %d, %a;", EVERY_BFLOAT[number], expected=wide[number])
    for low in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF):
        single = (EVERY_BFLOAT.astype(np.uint32) << 16 | low).view(np.float32)
        expected = single.astype(ml_dtypes.bfloat16).view(np.uint16)
        expected[np.isnan(single)] = 0x7FFF
        check(bench, "cvt.rn.bf16.f32 %d, %a;", single, expected=expected)


PAIRS = """
#include <cuda_bf16.h>
using Pair = __nv_bfloat162;
extern "C" __global__ void pairs(const uint4* a, const uint4* b, const uint4* c, uint4* results, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 of_a = a[i], of_b = b[i], of_c = c[i], to[8];
    const Pair *x = (const Pair*)&of_a, *y = (const Pair*)&of_b, *z = (const Pair*)&of_c;
    for (int k = 0; k < 4; ++k) {
        Pair found[] = {__hadd2(x[k], y[k]), __hsub2(x[k], y[k]), __hmul2(x[k], y[k]), __hfma2(x[k], y[k], z[k]),
                        __hneg2(x[k]), __habs2(x[k]), __hmin2(x[k], y[k]), __hmax2(x[k], y[k])};
        for (int f = 0; f < 8; ++f) ((Pair*)&to[f])[k] = found[f];
    }
    for (int f = 0; f < 8; ++f) results[f * n + i] = to[f];
}
"""


def test_cuda_intrinsics_of_pairs_of_bfloats(bench: Bench) -> None:
    """Loaded eight at a time; rounded once, subnormals kept, and every NaN 0x7fff."""
    rng = np.random.default_rng(4)
    count = 1 << 13
    near = rng.integers(-12, 12, (3, count // 2)) * 128 + rng.integers(0x3F00, 0x4000, (3, count // 2))
    any_of = rng.integers(0, 65536, (3, count // 2))
    a, b, c = (columns.astype(np.uint16) for columns in np.concatenate([near, any_of], axis=1))
    c[::3] = to_bits(-from_bits(a, "bf16") * from_bits(b, "bf16"), "bf16")[::3]  # most of the product cancels
    results = np.zeros((8, count), np.uint16)
    found = bench.clean(PAIRS, "pairs", count // 8 // 128, 128, a, b, c, results, np.int32(count // 8))[3]
    x, y, z = (from_bits(column, "bf16").tolist() for column in (a, b, c))
    sums = [fused(one, 1.0, other, BFLOAT) for one, other in zip(x, y, strict=True)]
    differences = [fused(one, 1.0, -other, BFLOAT) for one, other in zip(x, y, strict=True)]
    products = [
        fused(p, q, math.copysign(0.0, p) * math.copysign(1.0, q), BFLOAT) for p, q in zip(x, y, strict=True)
    ]
    all_three = [fused(*case, BFLOAT) for case in zip(x, y, z, strict=True)]
    smaller, larger = np.fmin(x, y), np.fmax(x, y)
    both = (sums, differences, products, all_three, np.negative(x), np.abs(x), smaller, larger)
    for name, row, expected in zip(
        ("+", "-", "*", "fma", "neg", "abs", "min", "max"), found, both, strict=True
    ):
        bits = np.where(np.isnan(expected), 0x7FFF, to_bits(expected, "bf16"))
        wrong = np.flatnonzero(row != bits)
        assert not wrong.size, (name, wrong.size, *(hex(column[wrong[0]]) for column in (a, b, c, row, bits)))
