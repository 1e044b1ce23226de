"""Carry chains: add.cc, addc, sub.cc, subc, mad.cc and madc, as arithmetic of more than 64 bits uses them."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Array, Bench, check, integers, pairs, triples

from grader.emulator.errors import UnsupportedPtx

WORD = 1 << 32


def halves(values: list[int]) -> tuple[Array, Array]:
    """The lower and the upper word of 64-bit numbers."""
    return np.array([v % WORD for v in values], np.uint32), np.array(
        [v // WORD % WORD for v in values], np.uint32
    )


@pytest.fixture(scope="module")
def numbers() -> Array:
    return integers("u64", [WORD - 1, WORD, WORD + 1, (WORD - 1) << 32])


@pytest.mark.parametrize("name", ["add", "sub"])
def test_64_bits_in_two_words(bench: Bench, numbers: Array, name: str) -> None:
    a, b = (side.tolist() for side in pairs(numbers))
    expected = halves([x + y if name == "add" else x - y for x, y in zip(a, b, strict=True)])
    chain = f"{name}.cc.u32 %d, %a, %c; {name}c.u32 %q, %b, %e;"
    check(bench, chain, *halves(a), *halves(b), expected=expected)


@pytest.mark.parametrize("name", ["add", "sub"])
@pytest.mark.parametrize("kind", ["u32", "s32", "b32", "u64", "s64"])
def test_the_carry_itself(bench: Bench, name: str, kind: str) -> None:
    """The instruction behind the carry has no other operand: whether lanes differ is decided by the carry."""
    a, b = pairs(integers("u64" if kind.endswith("64") else "u32"))
    carries = a.astype(object) + b.astype(object) >= 1 << (8 * a.itemsize) if name == "add" else a < b
    expected = np.where(carries.astype(bool), 1 if name == "add" else -1, 0).astype(a.dtype)
    scratch = "%y0" if kind.endswith("64") else "%x0"
    check(bench, f"{name}.cc.{kind} {scratch}, %a, %b; {name}c.{kind} %d, 0, 0;", a, b, expected=expected)


def test_a_chain_of_three(bench: Bench) -> None:
    """96 bits: the carry goes through addc.cc."""
    a, b = pairs(integers("u32"))
    wide = [x + (x << 32) + (y << 64) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    total = [v + (b_ + (b_ << 32)) for v, b_ in zip(wide, b.tolist(), strict=True)]
    middle, upper = halves([t >> 32 for t in total])
    chain = "add.cc.u32 %x0, %a, %b; addc.cc.u32 %d, %a, %b; addc.u32 %q, %b, 0;"
    check(bench, chain, a, b, expected=(middle, upper))


def test_products_with_carry(bench: Bench) -> None:
    """The schoolbook sum of a 64-bit product and a 64-bit number."""
    a, b, low, high = triples(*[integers("u32")] * 4)
    sums = [
        x * y + z + (w << 32)
        for x, y, z, w in zip(a.tolist(), b.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
    chain = "mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.u32 %q, %a, %b, %e;"
    check(bench, chain, a, b, low, high, expected=halves(sums))


def test_a_carry_does_not_cross_a_branch(bench: Bench) -> None:
    """PTX leaves the flag undefined there; the emulator says so instead of guessing."""
    with pytest.raises(UnsupportedPtx, match=r"addc.*carry"):
        check(bench, "addc.u32 %d, %a, 0;", np.zeros(32, np.uint32), expected=np.zeros(32, np.uint32))
