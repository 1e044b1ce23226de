"""Conversions and moves: cvt in all directions, mov with packing, cvta and isspacep.

The oracle is NumPy for roundings it has, Python's integers for clamping, and exact fractions for the rest.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from emulated import Array, Bench, apply, check, exact, floats, integers, pairs
from exactly import DOUBLE, SINGLE, rounded

FLOATS = {"f32": np.float32, "f64": np.float64}
INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
ROUND = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def limits(kind: str) -> tuple[int, int]:
    bits = int(kind[1:])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)


def register_of(kind: str) -> Any:
    """The dtype of the register a kind is held in: at least 32 bits here, filled with its sign or with zeros."""
    return np.dtype(f"{'i' if kind[0] == 's' else 'u'}{max(int(kind[1:]) // 8, 4)}")


def wrapped(value: int, kind: str) -> int:
    low, high = limits(kind)
    return (value - low) % (high - low + 1) + low


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_between_integers(bench: Bench, source: str, to: str) -> None:
    """The source register may hold more bits than the source type has: only those of the type count."""
    a = integers(f"u{max(int(source[1:]), 32)}", [0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF])
    expected = exact(lambda x: wrapped(wrapped(x, source), to), a, dtype=register_of(to))
    check(bench, f"cvt.{to}.{source} %d, %a;", a, expected=expected)


@pytest.mark.parametrize(("to", "source"), [
    ("u8", "s32"), ("s8", "s32"), ("s8", "u32"), ("u16", "s32"), ("s16", "u16"), ("u32", "s32"), ("s32", "u32"),
    ("s32", "s64"), ("u32", "s64"), ("s64", "u64"), ("u64", "s64"), ("u8", "u64"),
])  # fmt: skip
def test_between_integers_clamped(bench: Bench, to: str, source: str) -> None:
    a = integers(f"u{max(int(source[1:]), 32)}")
    low, high = limits(to)
    expected = exact(lambda x: min(max(wrapped(x, source), low), high), a, dtype=register_of(to))
    check(bench, f"cvt.sat.{to}.{source} %d, %a;", a, expected=expected)


def edges_for_integers(kind: Any) -> Array:
    """Halves, and numbers around the limits of every integer type."""
    near = [
        s * (2.0**bits + d)
        for bits in (7, 8, 15, 16, 31, 32, 63, 64)
        for s in (1, -1)
        for d in (-1, -0.5, 0, 0.5, 1)
    ]
    return np.concatenate([floats(kind), np.array([0.49, -0.5, -2.5, 3.5, *near], kind)])


def to_integer(value: float, rounding: str, source: str, to: str) -> int:
    """PTX ISA 9.7.9.21: clamped; NaN gives zero, or the top bit where 64-bit types take part."""
    if math.isnan(value):
        return 1 << int(to[1:]) - 1 if source == "f64" or to.endswith("64") else 0
    low, high = limits(to)
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(int(ROUND[rounding](value)), low), high)


@pytest.mark.parametrize("to", ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("source", FLOATS)
def test_float_to_integer(bench: Bench, source: str, to: str) -> None:
    a = edges_for_integers(FLOATS[source])
    for rounding in ROUND if to in ("s32", "u64") else ("rzi",):
        expected = exact(
            lambda x, r=rounding: wrapped(to_integer(x, r, source, to), to), a, dtype=register_of(to)
        )
        check(bench, f"cvt.{rounding}.{to}.{source} %d, %a;", a, expected=expected)


def test_float_to_integer_with_flushing(bench: Bench) -> None:
    a = floats()
    flushed = np.where(np.abs(a) < np.finfo(np.float32).tiny, np.float32(0), a)
    expected = exact(lambda x: to_integer(x, "rpi", "f32", "s32"), flushed, dtype=np.int32)
    check(bench, "cvt.rpi.ftz.s32.f32 %d, %a;", a, expected=expected)


@pytest.mark.parametrize("to", FLOATS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integer_to_float(bench: Bench, source: str, to: str) -> None:
    """Rounded to nearest even: odd numbers just above the mantissa's length tell."""
    ties = [(1 << n) + d for n in (24, 25, 31, 53, 54, 63) for d in (-3, -1, 1, 3, 1 << max(n - 25, 0))]
    a = integers(f"u{max(int(source[1:]), 32)}", ties)
    values = [wrapped(x, source) for x in a.tolist()]
    expected = (
        np.array(values, np.float64)
        if to == "f64"
        else np.array([nearest_single(v) for v in values], np.float32)
    )
    check(bench, f"cvt.rn.{to}.{source} %d, %a;", a, expected=expected)


def nearest_single(value: int) -> float:
    """A 64-bit integer rounded once (through a double it would be rounded twice)."""
    excess = max(abs(value).bit_length() - 24, 0)
    kept, rest = divmod(abs(value), 1 << excess)
    half = 1 << excess - 1 if excess else 1
    kept += rest > half or (rest == half and kept & 1) if excess else 0
    return math.copysign(kept << excess, value) if value else 0.0


def test_between_floats(bench: Bench) -> None:
    single, double = (
        floats(),
        np.concatenate([floats(np.float64), floats().astype(np.float64) * (1 + 2.0**-25)]),
    )
    check(bench, "cvt.f64.f32 %d, %a;", single, expected=single.astype(np.float64))
    check(bench, "cvt.rn.f32.f64 %d, %a;", double, expected=double.astype(np.float32))


@pytest.mark.parametrize("direction", ["rz", "rm", "rp"])
def test_directed_conversions(bench: Bench, direction: str) -> None:
    double = np.concatenate([floats(np.float64), floats().astype(np.float64) * (1 + 2.0**-25)])
    expected = [float(np.float32(x)) if not np.isfinite(x) or x == 0 else
                math.copysign(rounded(Fraction(x), SINGLE, direction), x) for x in double.tolist()]  # fmt: skip
    check(bench, f"cvt.{direction}.f32.f64 %d, %a;", double, expected=np.array(expected, np.float32))
    for source in ("s16", "u32", "s32", "u64", "s64"):
        a = integers(source, [(1 << 24) + 1, (1 << 31) - 1, (1 << 53) + 1, (1 << 62) + 1])
        for kind, to in (("f32", SINGLE), ("f64", DOUBLE)):
            expected = [rounded(Fraction(x), to, direction) for x in a.tolist()]
            check(
                bench,
                f"cvt.{direction}.{kind}.{source} %d, %a;",
                a,
                expected=np.array(expected, FLOATS[kind]),
            )


def test_flushing_and_saturation(bench: Bench) -> None:
    a = floats()
    tiny = np.abs(a) < np.finfo(np.float32).tiny
    check(bench, "cvt.ftz.f32.f32 %d, %a;", a, expected=np.where(tiny, np.copysign(np.float32(0), a), a))
    clamped = np.where(a > 0, np.minimum(a, np.float32(1)), np.float32(0))
    check(bench, "cvt.sat.f32.f32 %d, %a;", a, expected=clamped)
    wide = floats(np.float64)
    narrowed = wide.astype(np.float32)
    small = np.abs(narrowed) < np.finfo(np.float32).tiny
    check(
        bench,
        "cvt.rn.ftz.f32.f64 %d, %a;",
        wide,
        expected=np.where(small, np.copysign(np.float32(0), narrowed), narrowed),
    )


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("rounding", ROUND)
def test_rounding_to_whole_numbers(bench: Bench, rounding: str, kind: str) -> None:
    a = edges_for_integers(FLOATS[kind])
    check(bench, f"cvt.{rounding}.{kind}.{kind} %d, %a;", a, expected=ROUND[rounding](a))


def test_tf32(bench: Bench) -> None:
    """Ten bits of mantissa, halves away from zero; a NaN is cut off, as by an H200, where 0x7f800001 is infinite."""
    ties = np.array(
        [0x3F801000, 0x3F800FFF, 0x3F801001, 0x3F803000, 0x7F7FFFFF, 0x7FFFFFFF, 0x7F800001], np.uint32
    )
    a = np.concatenate([floats(), ties.view(np.float32)])
    bits = a.view(np.uint32)
    expected = np.where(np.isnan(a), bits, bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    check(bench, "cvt.rna.tf32.f32 %d, %a;", a, expected=expected)


def test_packing(bench: Bench) -> None:
    a, b = pairs(integers("u32"))
    wide = a.astype(np.uint64) | b.astype(np.uint64) << 32
    check(bench, "mov.b64 %d, {%a, %b};", a, b, expected=wide)
    check(bench, "mov.b64 {%d, %q}, %a;", wide, expected=(a, b))
    check(bench, "mov.b64 {_, %d}, %a;", wide, expected=b)
    half, other = pairs(integers("u16"))
    word = half.astype(np.uint32) | other.astype(np.uint32) << 16
    check(bench, "mov.b32 %d, {%a, %b};", half, other, expected=word)
    check(bench, "mov.b32 {%d, %q}, %a;", word, expected=(half, other))


def test_moves_keep_bits(bench: Bench) -> None:
    single = np.array([0x7FC12345, 0x7F812345, 0xFFFFFFFF, 0x80000000, 0x1, 0x3F800000], np.uint32)
    check(bench, "mov.b32 %d, %a;", single.view(np.float32), expected=single)
    double = np.array([0x7FF8000000012345, 0xFFF0000000000001, 1 << 63, 1], np.uint64)
    check(bench, "mov.b64 %d, %a;", double.view(np.float64), expected=double)


@pytest.mark.parametrize("space", ["shared", "local", "param"])
def test_generic_addresses_of_a_space(bench: Bench, space: str) -> None:
    a = np.arange(0, 4096, 64, dtype=np.uint64)
    check(bench, f"cvta.{space}.u64 %y0, %a; cvta.to.{space}.u64 %d, %y0;", a, expected=a)
    for other in ("shared", "local", "global"):
        expected = np.full(len(a), other == space)
        check(bench, f"cvta.{space}.u64 %y0, %a; isspacep.{other} %d, %y0;", a, expected=expected)


def test_generic_addresses_of_global_memory(bench: Bench) -> None:
    a = np.arange(32, dtype=np.uint64) * 8 + 0x700000100000
    check(bench, "cvta.to.global.u64 %y0, %a; cvta.global.u64 %d, %y0;", a, expected=a)
    check(bench, "isspacep.global %d, %a;", a, expected=np.full(32, True))
    check(bench, "isspacep.shared %d, %a;", a, expected=np.full(32, False))


# -- FP8 ------------------------------------------------------------------------------------------------------------

FP8 = {"e4m3x2": (3, 7, 0x7E), "e5m2x2": (2, 15, 0x7B)}
"""Bits of the mantissa, bias of the exponent, and the code of the largest number (OCP's 8-bit formats)."""


def fp8_values(kind: str) -> list[float]:
    """The numbers of the codes 0 to 0x7f."""
    mantissa, bias, largest = FP8[kind]
    values = []
    for code in range(0x80):
        exponent, digits = code >> mantissa, code & (1 << mantissa) - 1
        digits += (1 << mantissa) if exponent else 0
        values.append(digits * 2.0 ** (max(exponent, 1) - bias - mantissa))
    beyond = [math.nan] if kind == "e4m3x2" else [math.inf, *[math.nan] * 3]
    return values[: largest + 1] + beyond


def fp8_code(value: float, kind: str) -> int:
    """The nearest number's code, the even one of two; NaN is 0x7f, what is too large the largest."""
    sign = 0x80 if math.copysign(1, value) < 0 else 0
    if math.isnan(value):
        return 0x7F
    codes = range(FP8[kind][2] + 1)
    values = fp8_values(kind)
    size = min(abs(value), values[codes[-1]])
    return sign | min(codes, key=lambda code: (abs(Fraction(values[code]) - Fraction(size)), code & 1))


def singles_for_fp8(kind: str) -> Array:
    """All numbers, what lies halfway between them, and a little to both sides of that."""
    values = np.array([v for v in fp8_values(kind) if math.isfinite(v)], np.float32)
    ties = (values[1:] + values[:-1]) / 2
    edges = np.array([470.0, 1e5, 1e30, np.inf, np.nan, 1e-30], np.float32)
    positive = np.concatenate(
        [values, ties, np.nextafter(ties, 0), np.nextafter(ties, np.float32(np.inf)), edges]
    )
    return np.concatenate([positive, -positive])


@pytest.mark.parametrize("kind", FP8)
def test_to_fp8(bench: Bench, kind: str) -> None:
    """The first operand goes to the upper byte."""
    a = singles_for_fp8(kind)
    b = a[::-1].copy()
    codes = np.array([fp8_code(x, kind) for x in a.tolist()], np.uint16)
    packed = codes[::-1] | codes << 8
    check(bench, f"cvt.rn.satfinite.{kind}.f32 %d, %a, %b;", a, b, expected=packed)
    above_zero = np.where(a <= 0, np.uint16(0), codes)
    check(
        bench,
        f"cvt.rn.satfinite.relu.{kind}.f32 %d, %a, %b;",
        a,
        b,
        expected=above_zero[::-1] | above_zero << 8,
    )


@pytest.mark.parametrize("kind", FP8)
def test_halves_to_fp8(bench: Bench, kind: str) -> None:
    a = singles_for_fp8(kind).astype(np.float16)
    b = a[::-1].copy()
    words = a.view(np.uint16).astype(np.uint32) | b.view(np.uint16).astype(np.uint32) << 16
    codes = np.array([fp8_code(x, kind) for x in a.tolist()], np.uint16)
    check(bench, f"cvt.rn.satfinite.{kind}.f16x2 %d, %a;", words, expected=codes | codes[::-1] << 8)


@pytest.mark.parametrize("kind", FP8)
def test_from_fp8(bench: Bench, kind: str) -> None:
    values = np.array(fp8_values(kind), np.float16)
    values = np.concatenate([values, -values])
    codes = np.arange(256, dtype=np.uint16)
    got = apply(bench, f"cvt.rn.f16x2.{kind} %d, %a;", codes | codes[::-1] << 8, out=np.uint32)[0]
    for row in got[[0, 2]]:
        for half, want in ((row & 0xFFFF, values), (row >> 16, values[::-1])):
            numbers = half.astype(np.uint16).view(np.float16)
            np.testing.assert_array_equal(numbers, want)
            assert (np.signbit(numbers) == np.signbit(want))[~np.isnan(want)].all()
