"""Single and double precision: add, sub, mul, fma, div, rcp, sqrt, neg, abs, min, max, copysign, testp, and the
approximate functions.

Rounded results are compared bit for bit with NumPy, with Python's exact fractions where NumPy has no such rounding;
approximate ones within the error that the PTX ISA allows.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from emulated import Array, Bench, apply, check, floats, pairs, triples
from exactly import DOUBLE, NEAREST, SINGLE, Format, fused, rounded

from grader.emulator.codegen.builder import MOST_POOLED
from grader.emulator.codegen.generator import MOST_TOGETHER

KINDS = {"f32": np.float32, "f64": np.float64}
FORMATS = {"f32": SINGLE, "f64": DOUBLE}
DIRECTED = ["rz", "rm", "rp"]


def flushed(a: Array) -> Array:
    """Subnormal singles as zeros of their sign."""
    tiny = np.abs(a) < np.finfo(np.float32).tiny
    return np.where(tiny, np.copysign(np.float32(0), a), a)


def saturated(a: Array) -> Array:
    clamped = np.where(a > 0, a, a.dtype.type(0))
    return np.where(clamped < 1, clamped, a.dtype.type(1))


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_arithmetic(bench: Bench, name: str, kind: str) -> None:
    a, b = pairs(floats(KINDS[kind]))
    expected = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[name](a, b)
    check(bench, f"{name}.rn.{kind} %d, %a, %b;", a, b, expected=expected)


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_flushing_and_saturation(bench: Bench, name: str) -> None:
    a, b = pairs(floats())
    compute = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[name]
    check(bench, f"{name}.ftz.f32 %d, %a, %b;", a, b, expected=flushed(compute(flushed(a), flushed(b))))
    check(bench, f"{name}.sat.f32 %d, %a, %b;", a, b, expected=saturated(compute(a, b)))
    expected = saturated(flushed(compute(flushed(a), flushed(b))))
    check(bench, f"{name}.ftz.sat.f32 %d, %a, %b;", a, b, expected=expected)


def fma_of(a: Array, b: Array, c: Array, direction: str = NEAREST) -> Array:
    to = SINGLE if a.dtype == np.float32 else DOUBLE
    return np.array(
        [fused(*case, to, direction) for case in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)],
        a.dtype,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_fused_multiply_add(bench: Bench, kind: str) -> None:
    column_ = floats(KINDS[kind])
    a, b, c = triples(column_, column_, column_, count=1024)
    near = a * b  # sums that cancel show whether the product was rounded
    c = np.where(np.arange(len(c)) % 3 == 0, -near, c)
    check(bench, f"fma.rn.{kind} %d, %a, %b, %c;", a, b, c, expected=fma_of(a, b, c))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", DIRECTED)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "fma"])
def test_directed_rounding(bench: Bench, name: str, direction: str, kind: str) -> None:
    a, b, c = triples(*[floats(KINDS[kind])] * 3, count=1024)
    c = np.where(np.arange(len(c)) % 3 == 0, -(a * b), c)
    one = np.ones_like(a)
    zero = np.copysign(a.dtype.type(0), a) * np.copysign(
        one, b
    )  # adds nothing, not even to the sign of a zero
    expected = {
        "add": lambda: fma_of(a, one, b, direction),
        "sub": lambda: fma_of(a, one, -b, direction),
        "mul": lambda: fma_of(a, b, zero, direction),
        "fma": lambda: fma_of(a, b, c, direction),
    }[name]()
    operands = "%a, %b, %c" if name == "fma" else "%a, %b"
    check(bench, f"{name}.{direction}.{kind} %d, {operands};", a, b, c, expected=expected)


def finite(kind: str) -> Array:
    """Numbers that are neither zero nor infinite nor NaN."""
    a = floats(KINDS[kind])
    return a[np.isfinite(a) & (a != 0)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", DIRECTED)
def test_directed_quotients(bench: Bench, direction: str, kind: str) -> None:
    a, b = pairs(finite(kind))
    quotients = [Fraction(x) / Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    expected = np.array([quotient(q, FORMATS[kind], direction) for q in quotients], a.dtype)
    check(bench, f"div.{direction}.{kind} %d, %a, %b;", a, b, expected=expected)
    reciprocals = np.array([quotient(1 / Fraction(y), FORMATS[kind], direction) for y in b.tolist()], a.dtype)
    check(bench, f"rcp.{direction}.{kind} %d, %a;", b, expected=reciprocals)


def quotient(exact: Fraction, to: Format, direction: str) -> float:
    """Rounded, and of the exact number's sign where it becomes zero."""
    return math.copysign(rounded(exact, to, direction), -1 if exact < 0 else 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", DIRECTED)
def test_directed_roots(bench: Bench, direction: str, kind: str) -> None:
    """The largest number whose square is not above a; upwards, the one behind it where that is not exact."""
    a = np.abs(finite(kind))
    below = [next(r for r in (np.nextafter(np.sqrt(x), np.inf), np.sqrt(x), np.nextafter(np.sqrt(x), 0))
                  if Fraction(float(r)) ** 2 <= Fraction(float(x))) for x in a]  # fmt: skip
    exact = [Fraction(float(r)) ** 2 == Fraction(float(x)) for r, x in zip(below, a, strict=True)]
    above = [r if e else np.nextafter(r, np.inf) for r, e in zip(below, exact, strict=True)]
    expected = np.array(above if direction == "rp" else below, a.dtype)
    check(bench, f"sqrt.{direction}.{kind} %d, %a;", a, expected=expected)


def test_rounding_is_to_nearest_again_afterwards(bench: Bench) -> None:
    a, b = pairs(floats())
    check(bench, "add.rp.f32 %d, %a, %b; add.rn.f32 %d, %a, %b;", a, b, expected=a + b)


@pytest.mark.parametrize("kind", KINDS)
def test_roots_and_reciprocals(bench: Bench, kind: str) -> None:
    a = floats(KINDS[kind])
    check(bench, f"sqrt.rn.{kind} %d, %a;", a, expected=np.sqrt(a))
    check(bench, f"rcp.rn.{kind} %d, %a;", a, expected=a.dtype.type(1) / a)


@pytest.mark.parametrize("kind", KINDS)
def test_signs(bench: Bench, kind: str) -> None:
    a, b = pairs(floats(KINDS[kind]))
    check(bench, f"neg.{kind} %d, %a;", a, expected=-a)
    check(bench, f"abs.{kind} %d, %a;", a, expected=np.abs(a))
    check(bench, f"copysign.{kind} %d, %a, %b;", a, b, expected=np.copysign(b, a))
    if kind == "f32":
        check(bench, "neg.ftz.f32 %d, %a;", a, expected=-flushed(a))
        check(bench, "abs.ftz.f32 %d, %a;", a, expected=np.abs(flushed(a)))


def extreme(name: str, a: Array, b: Array) -> Array:
    """IEEE 754's minimumNumber and maximumNumber: NaN loses, and -0 is less than +0."""
    less = (a < b) | ((a == b) & np.signbit(a) & ~np.signbit(b)) | np.isnan(b)
    more = (a > b) | ((a == b) & ~np.signbit(a) & np.signbit(b)) | np.isnan(b)
    return np.where(np.isnan(a), b, np.where(less if name == "min" else more, a, b))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes(bench: Bench, name: str, kind: str) -> None:
    a, b = pairs(floats(KINDS[kind]))
    check(bench, f"{name}.{kind} %d, %a, %b;", a, b, expected=extreme(name, a, b))
    if kind == "f32":
        expected = np.where(np.isnan(a) | np.isnan(b), np.float32(np.nan), extreme(name, a, b))
        check(bench, f"{name}.NaN.f32 %d, %a, %b;", a, b, expected=expected)
        check(bench, f"{name}.ftz.f32 %d, %a, %b;", a, b, expected=extreme(name, flushed(a), flushed(b)))


@pytest.mark.parametrize("kind", KINDS)
def test_classification(bench: Bench, kind: str) -> None:
    a = floats(KINDS[kind])
    tiny = np.finfo(a.dtype).tiny
    classes = {
        "finite": np.isfinite(a), "infinite": np.isinf(a), "number": ~np.isnan(a), "notanumber": np.isnan(a),
        "normal": np.isfinite(a) & (np.abs(a) >= tiny), "subnormal": (a != 0) & (np.abs(a) < tiny),
    }  # fmt: skip
    for name, expected in classes.items():
        check(bench, f"testp.{name}.{kind} %d, %a;", a, expected=expected)


APPROXIMATE = {
    # Function, range of operands, and the largest error the PTX ISA gives: relative to the result, then absolute.
    "rcp.approx": (lambda x: 1 / x, 1e-30, 1e30, 2**-22.9, 0),
    "sqrt.approx": (np.sqrt, 1e-30, 1e30, 2**-22.9, 0),
    "rsqrt.approx": (lambda x: 1 / np.sqrt(x), 1e-30, 1e30, 2**-22.9, 0),
    "sin.approx": (np.sin, -math.pi, math.pi, 0, 2**-20.5),
    "cos.approx": (np.cos, -math.pi, math.pi, 0, 2**-20.5),
    "ex2.approx": (np.exp2, -120, 120, 2**-22, 0),
    "lg2.approx": (np.log2, 1e-30, 1e30, 2**-22, 2**-22),
    "tanh.approx": (np.tanh, -6, 6, 2**-11, 0),
}


@pytest.mark.parametrize("name", APPROXIMATE)
def test_approximate_functions(bench: Bench, name: str) -> None:
    function, low, high, relative, absolute = APPROXIMATE[name]
    rng = np.random.default_rng(1)
    spread = np.exp(rng.uniform(np.log(low), np.log(high), 512)) if low > 0 else rng.uniform(low, high, 512)
    a = spread.astype(np.float32)
    exactly = function(a.astype(np.float64))
    (got,) = apply(bench, f"{name}.f32 %d, %a;", a, out=np.float32)
    for row in (got[0], got[2]):
        assert np.all(np.abs(row - exactly) <= relative * np.abs(exactly) + absolute)


@pytest.mark.parametrize(("instruction", "values", "results"), [
    ("rcp.approx.f32", [0.0, -0.0, np.inf, -np.inf, np.nan], [np.inf, -np.inf, 0.0, -0.0, np.nan]),
    ("sqrt.approx.f32", [0.0, -0.0, np.inf, -1.0], [0.0, -0.0, np.inf, np.nan]),
    ("rsqrt.approx.f32", [0.0, -0.0, np.inf, -1.0], [np.inf, -np.inf, 0.0, np.nan]),
    ("ex2.approx.f32", [0.0, -0.0, np.inf, -np.inf, 1.0, -1.0], [1.0, 1.0, np.inf, 0.0, 2.0, 0.5]),
    ("lg2.approx.f32", [0.0, np.inf, -1.0, 1.0, 8.0], [-np.inf, np.inf, np.nan, 0.0, 3.0]),
    ("sin.approx.f32", [0.0, -0.0, np.inf], [0.0, -0.0, np.nan]),
    ("cos.approx.f32", [0.0, -0.0, np.inf], [1.0, 1.0, np.nan]),
    ("ex2.approx.ftz.f32", [-130.0, 1e-40], [0.0, 1.0]),
    ("rcp.approx.ftz.f32", [1e-40, 2.0**127], [np.inf, 0.0]),
])  # fmt: skip
def test_approximate_functions_at_the_edges(
    bench: Bench, instruction: str, values: list[float], results: list[float]
) -> None:
    a, expected = np.array(values, np.float32), np.array(results, np.float32)
    check(bench, f"{instruction} %d, %a;", a, expected=expected)


@pytest.mark.parametrize("form", ["approx", "full"])
def test_fast_division(bench: Bench, form: str) -> None:
    a, b = pairs(np.array([1, 3, -7.5, 1e-3, 1e10, 0, np.inf, np.nan], np.float32))
    (got,) = apply(bench, f"div.{form}.f32 %d, %a, %b;", a, b, out=np.float32)
    exactly = a.astype(np.float64) / b
    finite = np.isfinite(exactly)
    assert np.all(np.abs(got[0] - exactly)[finite] <= 2 * 2.0**-23 * np.abs(exactly)[finite])
    assert np.array_equal(got[0][~finite], exactly[~finite].astype(np.float32), equal_nan=True)


def test_a_double_keeps_its_small_numbers(bench: Bench) -> None:
    """.ftz of rcp and rsqrt in double precision flushes subnormal doubles, not what a single would flush."""
    a = np.array([1e-200, 1e200, 3.0, -5e-100])
    for name, function in [("rcp", lambda x: 1 / x), ("rsqrt", lambda x: 1 / np.sqrt(x))]:
        (got,) = apply(bench, f"{name}.approx.ftz.f64 %d, %a;", a, out=np.float64)
        np.testing.assert_allclose(got[0], function(a), rtol=2.0**-19)


def test_constants(bench: Bench) -> None:
    """Hexadecimal and decimal spellings, NaN and infinity among them."""
    a = floats()
    check(bench, "add.f32 %d, %a, 0f3F800000;", a, expected=a + np.float32(1))
    check(bench, "mul.f32 %d, %a, 0fFF800000;", a, expected=a * np.float32(-np.inf))
    check(bench, "mul.f32 %d, %a, 2.5;", a, expected=a * np.float32(2.5))
    wide = floats(np.float64)
    check(bench, "add.f64 %d, %a, 0dBFB999999999999A;", wide, expected=wide - 0.1)
    check(bench, "mul.f64 %d, %a, -1.5e3;", wide, expected=wide * -1500.0)


def test_more_instructions_and_constants_than_llvm_is_given_together(bench: Bench) -> None:
    a = floats()[:64]
    constants = np.linspace(-8, 8, MOST_POOLED + MOST_TOGETHER, dtype=np.float32)
    lines = [f"add.rn.f32 %d, %d, 0f{bits:08X};" for bits in constants.view(np.uint32)]
    expected = a.copy()
    for constant in constants:
        expected = expected + constant
    check(bench, "\n".join(["mov.f32 %d, %a;", *lines]), a, expected=expected)
