"""Comparison and selection: setp, set, selp, slct."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from emulated import Array, Bench, check, floats, integers, pairs, triples

SIGNS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
UNSIGNED = {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}
FLOATS = {"f32": np.float32, "f64": np.float64}


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("how", SIGNS)
def test_integers(bench: Bench, how: str, kind: str) -> None:
    a, b = pairs(integers(kind))
    check(bench, f"setp.{how}.{kind} %d, %a, %b;", a, b, expected=SIGNS[how](a, b))


@pytest.mark.parametrize("how", UNSIGNED)
def test_unsigned_names(bench: Bench, how: str) -> None:
    a, b = pairs(integers("u32"))
    check(bench, f"setp.{how}.u32 %d, %a, %b;", a, b, expected=UNSIGNED[how](a, b))


@pytest.mark.parametrize("how", ["eq", "ne"])
@pytest.mark.parametrize("kind", ["b16", "b32", "b64"])
def test_bits(bench: Bench, how: str, kind: str) -> None:
    a, b = pairs(integers(f"u{kind[1:]}"))
    check(bench, f"setp.{how}.{kind} %d, %a, %b;", a, b, expected=SIGNS[how](a, b))


def ordered(how: str, a: Array, b: Array) -> Array:
    """With a NaN, the ordered comparisons are false, `ne` among them, and the unordered ones true."""
    unordered = np.isnan(a) | np.isnan(b)
    if how == "num":
        return ~unordered
    if how == "nan":
        return unordered
    if how.endswith("u"):
        return SIGNS[how[:-1]](a, b) | unordered
    return SIGNS[how](a, b) & ~unordered


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("how", [*SIGNS, *(name + "u" for name in SIGNS), "num", "nan"])
def test_floats(bench: Bench, how: str, kind: str) -> None:
    a, b = pairs(floats(FLOATS[kind]))
    check(bench, f"setp.{how}.{kind} %d, %a, %b;", a, b, expected=ordered(how, a, b))


def test_subnormals_compare_as_zero_with_ftz(bench: Bench) -> None:
    a, b = pairs(floats())
    flushed = [np.where(np.abs(x) < np.finfo(np.float32).tiny, np.float32(0), x) for x in (a, b)]
    for how in ("eq", "lt", "gtu"):
        check(bench, f"setp.{how}.ftz.f32 %d, %a, %b;", a, b, expected=ordered(how, *flushed))


@pytest.mark.parametrize(
    ("combine", "compute"), [("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)]
)
def test_joined_with_a_predicate(bench: Bench, combine: str, compute: Any) -> None:
    """The second destination gets the negated comparison, joined likewise."""
    a, b, p = triples(integers("s32"), integers("s32"), np.array([False, True]))
    expected = compute(a < b, p), compute(~(a < b), p)
    check(bench, f"setp.lt.{combine}.s32 %d|%q, %a, %b, %c;", a, b, p, expected=expected)
    negated = compute(a < b, ~p)
    check(bench, f"setp.lt.{combine}.s32 %d, %a, %b, !%c;", a, b, p, expected=negated)


def test_both_outcomes(bench: Bench) -> None:
    a, b = pairs(integers("u32"))
    check(bench, "setp.ge.u32 %d|%q, %a, %b;", a, b, expected=(a >= b, a < b))


@pytest.mark.parametrize(("to", "dtype"), [("u32", np.uint32), ("s32", np.int32), ("f32", np.float32)])
@pytest.mark.parametrize("kind", ["s32", "u64", "f32", "f64"])
def test_set(bench: Bench, kind: str, to: str, dtype: Any) -> None:
    a, b = pairs(floats(FLOATS[kind]) if kind in FLOATS else integers(kind))
    holds = a < b
    expected = holds.astype(dtype) if to == "f32" else np.where(holds, np.array([-1]).astype(dtype), dtype(0))
    check(bench, f"set.lt.{to}.{kind} %d, %a, %b;", a, b, expected=expected)


@pytest.mark.parametrize("kind", ["b16", "u32", "s64", "f32", "f64"])
def test_selection(bench: Bench, kind: str) -> None:
    column = floats(FLOATS[kind]) if kind in FLOATS else integers(kind.replace("b", "u"))
    a, b, p = triples(column, column, np.array([False, True]))
    check(bench, f"selp.{kind} %d, %a, %b, %c;", a, b, p, expected=np.where(p, a, b))
    check(bench, f"selp.{kind} %d, %a, %b, !%c;", a, b, p, expected=np.where(p, b, a))


@pytest.mark.parametrize(
    ("kind", "tested"), [("u32", "s32"), ("b64", "s32"), ("f32", "f32"), ("s32", "f32"), ("f64", "s32")]
)
def test_selection_by_sign(bench: Bench, kind: str, tested: str) -> None:
    column = floats(FLOATS[kind]) if kind in FLOATS else integers(kind.replace("b", "u"))
    a, b, c = triples(column, column, floats() if tested == "f32" else integers("s32"))
    check(bench, f"slct.{kind}.{tested} %d, %a, %b, %c;", a, b, c, expected=np.where(c >= 0, a, b))
    if tested == "f32":
        least = np.where(np.abs(c) < np.finfo(np.float32).tiny, np.float32(0), c)
        check(bench, f"slct.ftz.{kind}.f32 %d, %a, %b, %c;", a, b, c, expected=np.where(least >= 0, a, b))
