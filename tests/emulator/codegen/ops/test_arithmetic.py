"""Integer arithmetic: add, sub, mul, mad, mul24, div, rem, neg, abs, min, max, sad, dp4a; against Python's integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulated import Bench, check, exact, integers, pairs, triples

KINDS = ("u16", "s16", "u32", "s32", "u64", "s64")
WORDS = ("u32", "s32", "u64", "s64")
NARROW = ("u16", "s16", "u32", "s32")


def dtype_of(kind: str) -> Any:
    return integers(kind).dtype


def wider(kind: str) -> str:
    return f"{kind[0]}{2 * int(kind[1:])}"


def high(product: int, kind: str) -> int:
    return product >> int(kind[1:])


def limited(value: int, kind: str) -> int:
    bits = int(kind[1:])
    low, top = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)
    return min(max(value, low), top)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["add", "sub", "mul.lo", "min", "max"])
def test_two_operands(bench: Bench, name: str, kind: str) -> None:
    a, b = pairs(integers(kind))
    compute = {
        "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul.lo": lambda x, y: x * y, "min": min, "max": max,
    }[name]  # fmt: skip
    check(bench, f"{name}.{kind} %d, %a, %b;", a, b, expected=exact(compute, a, b, dtype=a.dtype))


@pytest.mark.parametrize("name", ["add", "sub"])
def test_saturation(bench: Bench, name: str) -> None:
    a, b = pairs(integers("s32"))
    sign = 1 if name == "add" else -1
    expected = exact(lambda x, y: limited(x + sign * y, "s32"), a, b, dtype=np.int32)
    check(bench, f"{name}.sat.s32 %d, %a, %b;", a, b, expected=expected)


@pytest.mark.parametrize("kind", KINDS)
def test_the_high_half_of_a_product(bench: Bench, kind: str) -> None:
    a, b = pairs(integers(kind))
    check(
        bench,
        f"mul.hi.{kind} %d, %a, %b;",
        a,
        b,
        expected=exact(lambda x, y: high(x * y, kind), a, b, dtype=a.dtype),
    )


@pytest.mark.parametrize("kind", NARROW)
def test_wide_products(bench: Bench, kind: str) -> None:
    a, b = pairs(integers(kind))
    expected = exact(lambda x, y: x * y, a, b, dtype=dtype_of(wider(kind)))
    check(bench, f"mul.wide.{kind} %d, %a, %b;", a, b, expected=expected)


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("part", ["lo", "hi"])
def test_multiply_and_add(bench: Bench, part: str, kind: str) -> None:
    a, b, c = triples(*[integers(kind)] * 3)
    expected = exact(
        lambda x, y, z: (x * y if part == "lo" else high(x * y, kind)) + z, a, b, c, dtype=a.dtype
    )
    check(bench, f"mad.{part}.{kind} %d, %a, %b, %c;", a, b, c, expected=expected)


@pytest.mark.parametrize("kind", NARROW)
def test_wide_multiply_and_add(bench: Bench, kind: str) -> None:
    a, b, c = triples(integers(kind), integers(kind), integers(wider(kind)))
    expected = exact(lambda x, y, z: x * y + z, a, b, c, dtype=c.dtype)
    check(bench, f"mad.wide.{kind} %d, %a, %b, %c;", a, b, c, expected=expected)


def low24(value: int, signed: bool) -> int:
    value %= 1 << 24
    return value - (1 << 24) if signed and value >> 23 else value


@pytest.mark.parametrize("kind", ["u32", "s32"])
def test_24_bit_products(bench: Bench, kind: str) -> None:
    a, b, c = triples(*[integers(kind, [0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000000])] * 3)
    signed = kind == "s32"
    product = lambda x, y: low24(x, signed) * low24(y, signed)  # noqa: E731
    check(bench, f"mul24.lo.{kind} %d, %a, %b;", a, b, expected=exact(product, a, b, dtype=a.dtype))
    expected = exact(lambda x, y, z: product(x, y) + z, a, b, c, dtype=a.dtype)
    check(bench, f"mad24.lo.{kind} %d, %a, %b, %c;", a, b, c, expected=expected)


def truncated_quotient(x: int, y: int) -> int:
    """C's division; by zero all bits are ones, as on the hardware."""
    if y == 0:
        return -1
    quotient = abs(x) // abs(y)
    return -quotient if (x < 0) != (y < 0) else quotient


@pytest.mark.parametrize("kind", KINDS)
def test_division(bench: Bench, kind: str) -> None:
    a, b = pairs(integers(kind))
    check(bench, f"div.{kind} %d, %a, %b;", a, b, expected=exact(truncated_quotient, a, b, dtype=a.dtype))


@pytest.mark.parametrize("kind", KINDS)
def test_remainder(bench: Bench, kind: str) -> None:
    """The sign is the dividend's; the remainder by zero is the dividend."""
    a, b = pairs(integers(kind))
    remainder = lambda x, y: x - y * truncated_quotient(x, y) if y else x  # noqa: E731
    check(bench, f"rem.{kind} %d, %a, %b;", a, b, expected=exact(remainder, a, b, dtype=a.dtype))


@pytest.mark.parametrize("kind", ["s16", "s32", "s64"])
@pytest.mark.parametrize("name", ["neg", "abs"])
def test_sign_changes_wrap_at_the_least_number(bench: Bench, name: str, kind: str) -> None:
    a = integers(kind)
    compute = (lambda x: -x) if name == "neg" else abs
    check(bench, f"{name}.{kind} %d, %a;", a, expected=exact(compute, a, dtype=a.dtype))


@pytest.mark.parametrize("kind", KINDS)
def test_sum_of_absolute_differences(bench: Bench, kind: str) -> None:
    a, b, c = triples(*[integers(kind)] * 3)
    expected = exact(lambda x, y, z: abs(x - y) + z, a, b, c, dtype=a.dtype)
    check(bench, f"sad.{kind} %d, %a, %b, %c;", a, b, c, expected=expected)


@pytest.mark.parametrize("first", ["u32", "s32"])
@pytest.mark.parametrize("second", ["u32", "s32"])
def test_dot_product_of_bytes(bench: Bench, first: str, second: str) -> None:
    a, b, c = triples(*[integers("u32", [0x80FF7F01, 0x7F7F7F7F, 0x80808080])] * 3)

    def dot(x: int, y: int, z: int) -> int:
        bytes_of = [v.to_bytes(4, "little") for v in (x, y)]
        signs = [kind[0] == "s" for kind in (first, second)]
        columns = [
            [int.from_bytes(bytes([byte]), signed=s) for byte in v]
            for v, s in zip(bytes_of, signs, strict=True)
        ]
        return z + sum(p * q for p, q in zip(*columns, strict=True))

    check(
        bench,
        f"dp4a.{first}.{second} %d, %a, %b, %c;",
        a,
        b,
        c,
        expected=exact(dot, a, b, c, dtype=np.uint32),
    )


@pytest.mark.parametrize("part", ["lo", "hi"])
@pytest.mark.parametrize("second", ["u32", "s32"])
def test_dot_product_of_halves_and_bytes(bench: Bench, second: str, part: str) -> None:
    a, b, c = triples(*[integers("u32", [0x80FF7F01, 0x7FFF8000, 0x80808080])] * 3)
    signed = second == "s32"

    def dot(x: int, y: int, z: int) -> int:
        halves = [int.from_bytes(x.to_bytes(4, "little")[i : i + 2], "little") for i in (0, 2)]
        of_y = y.to_bytes(4, "little")[2 * (part == "hi") :][:2]
        return z + sum(
            h * int.from_bytes(bytes([v]), signed=signed) for h, v in zip(halves, of_y, strict=True)
        )

    check(
        bench,
        f"dp2a.{part}.u32.{second} %d, %a, %b, %c;",
        a,
        b,
        c,
        expected=exact(dot, a, b, c, dtype=np.uint32),
    )


def test_immediate_operands(bench: Bench) -> None:
    """Negative, hexadecimal, octal, binary and unsigned spellings of a number."""
    a = integers("u32")
    for text, value in [
        ("-1", -1),
        ("0x80000000", 1 << 31),
        ("0b101", 5),
        ("7U", 7),
        ("0xffU", 255),
        ("017", 15),
    ]:
        check(
            bench, f"add.u32 %d, %a, {text};", a, expected=exact(lambda x, v=value: x + v, a, dtype=np.uint32)
        )


def test_a_destination_may_be_an_operand(bench: Bench) -> None:
    a, b = pairs(integers("u32"))
    sequence = "mov.u32 %x0, %a; sub.u32 %x0, %b, %x0; mov.u32 %d, %x0;"
    check(bench, sequence, a, b, expected=exact(lambda x, y: y - x, a, b, dtype=np.uint32))
