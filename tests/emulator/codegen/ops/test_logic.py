"""Logic and shifts: and, or, xor, not, cnot, lop3, shl, shr, shf, on integers and on predicates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulated import Bench, check, exact, integers, pairs, triples

AMOUNTS = np.array(
    [0, 1, 5, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 127, 128, 65536, 1 << 31, (1 << 32) - 1], np.uint32
)
KINDS = ("b16", "b32", "b64")
OPERATORS = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPERATORS)
def test_bitwise(bench: Bench, name: str, kind: str) -> None:
    a, b = pairs(integers(f"u{kind[1:]}"))
    check(bench, f"{name}.{kind} %d, %a, %b;", a, b, expected=exact(OPERATORS[name], a, b, dtype=a.dtype))


@pytest.mark.parametrize("name", OPERATORS)
def test_bitwise_on_predicates(bench: Bench, name: str) -> None:
    a, b = pairs(np.array([False, True]))
    expected = {"and": a & b, "or": a | b, "xor": a ^ b}[name]
    check(bench, f"{name}.pred %d, %a, %b;", np.tile(a, 16), np.tile(b, 16), expected=np.tile(expected, 16))


@pytest.mark.parametrize("kind", KINDS)
def test_inversion(bench: Bench, kind: str) -> None:
    a = integers(f"u{kind[1:]}")
    check(bench, f"not.{kind} %d, %a;", a, expected=~a)
    check(bench, f"cnot.{kind} %d, %a;", a, expected=(a == 0).astype(a.dtype))


def test_inversion_of_predicates(bench: Bench) -> None:
    a = np.tile(np.array([False, True, True]), 11)
    check(bench, "not.pred %d, %a;", a, expected=~a)
    check(bench, "mov.pred %d, %a;", a, expected=a)


@pytest.mark.parametrize("table", [0x00, 0xFF, 0xF0, 0xCC, 0xAA, 0x80, 0xFE, 0x96, 0x1B, 0xE8])
def test_any_function_of_three_bits(bench: Bench, table: int) -> None:
    a, b, c = triples(*[integers("u32")] * 3, count=256)
    expected = np.zeros_like(a)
    for row in range(8):
        if table >> row & 1:
            expected |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    check(bench, f"lop3.b32 %d, %a, %b, %c, {table:#x};", a, b, c, expected=expected)


@pytest.mark.parametrize(("how", "join"), [("or", np.logical_or), ("and", np.logical_and)])
def test_whether_a_function_of_three_bits_is_zero(bench: Bench, how: str, join: Any) -> None:
    a, b, c = triples(*[np.array([0, 1, 0x80000000], np.uint32)] * 3, count=64)
    holds = np.arange(len(a)) % 3 == 0
    value = a ^ b ^ c
    check(bench, f"lop3.{how}.b32 %d|%q, %a, %b, %c, 0x96, %e;", a, b, c, holds,
          expected=(value, join(value != 0, holds)))  # fmt: skip


def shifted(name: str, kind: str, value: int, amount: int) -> int:
    """Amounts of the width or more shift everything out."""
    return value << min(amount, 64) if name == "shl" else value >> min(amount, 64)


@pytest.mark.parametrize(("name", "kind"), [
    *(("shl", kind) for kind in KINDS),
    *(("shr", kind) for kind in (*KINDS, "u16", "u32", "u64", "s16", "s32", "s64")),
])  # fmt: skip
def test_shifts(bench: Bench, name: str, kind: str) -> None:
    a, amount = pairs(integers(kind.replace("b", "u")), AMOUNTS)
    expected = exact(lambda x, n: shifted(name, kind, x, n), a, amount, dtype=a.dtype)
    check(bench, f"{name}.{kind} %d, %a, %b;", a, amount, expected=expected)


@pytest.mark.parametrize("amount", [0, 7, 31, 32, 40, 63, 64, 100])
def test_shifts_by_constants(bench: Bench, amount: int) -> None:
    for bits in (32, 64):
        a = integers(f"s{bits}")
        expected = exact(lambda x: shifted("shl", "b", x, amount), a, dtype=a.dtype)
        check(bench, f"shl.b{bits} %d, %a, {amount};", a, expected=expected)
        check(
            bench,
            f"shr.s{bits} %d, %a, {amount};",
            a,
            expected=exact(lambda x: x >> amount, a, dtype=a.dtype),
        )


@pytest.mark.parametrize("mode", ["wrap", "clamp"])
@pytest.mark.parametrize("side", ["l", "r"])
def test_funnel_shifts(bench: Bench, side: str, mode: str) -> None:
    low, high, amount = triples(integers("u32"), integers("u32"), AMOUNTS)

    def funnel(x: int, y: int, n: int) -> int:
        n = n & 31 if mode == "wrap" else min(n, 32)
        both = x | y << 32
        return both >> n if side == "r" else both << n >> 32

    expected = exact(funnel, low, high, amount, dtype=np.uint32)
    check(bench, f"shf.{side}.{mode}.b32 %d, %a, %b, %c;", low, high, amount, expected=expected)
