"""Bits: popc, clz, bfind, brev, bfe, bfi, bmsk, szext, prmt.

The oracle is Python's integers, bit by bit as the PTX ISA has it.
"""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Array, Bench, check, exact, integers, pairs, triples

POSITIONS = np.array(
    [0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 255, 256, 257, 0x80000000, 0xFFFFFFFF], np.uint32
)


def bits_of(kind: str) -> int:
    return int(kind[1:])


@pytest.mark.parametrize("kind", ["b32", "b64"])
def test_counting_bits(bench: Bench, kind: str) -> None:
    a = integers(f"u{kind[1:]}")
    check(bench, f"popc.{kind} %d, %a;", a, expected=exact(int.bit_count, a, dtype=np.uint32))
    leading = exact(lambda x: bits_of(kind) - x.bit_length(), a, dtype=np.uint32)
    check(bench, f"clz.{kind} %d, %a;", a, expected=leading)


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_finding_the_highest_bit(bench: Bench, kind: str) -> None:
    """Of a negative number: the highest bit that is not one. Where there is none: all ones."""
    a = integers(kind)
    highest = lambda x: (x if x >= 0 else ~x).bit_length() - 1  # noqa: E731
    check(bench, f"bfind.{kind} %d, %a;", a, expected=exact(highest, a, dtype=np.uint32))
    shift = exact(lambda x: bits_of(kind) - 1 - highest(x) if highest(x) >= 0 else -1, a, dtype=np.uint32)
    check(bench, f"bfind.shiftamt.{kind} %d, %a;", a, expected=shift)


def nth_set(mask: int, base: int, offset: int) -> int:
    """The pseudocode of the PTX ISA, 9.7.1."""
    if offset == 0:
        return base if mask >> base & 1 else -1
    position, count, step = base, abs(offset) - 1, 1 if offset > 0 else -1
    while 0 <= position < 32:
        if mask >> position & 1:
            if count == 0:
                return position
            count -= 1
        position += step
    return -1


def test_finding_the_nth_set_bit(bench: Bench) -> None:
    offsets = np.array([0, 1, -1, 2, -2, 5, -7, 31, -31, 32, -32, 33, -33, 2**31 - 1, -(2**31)], np.int32)
    masks = np.concatenate([integers("u32"), np.array([0xFFFFFFFF, 0x80000001, 0x55555555], np.uint32)])
    mask, base, offset = triples(masks, np.array([0, 1, 7, 16, 30, 31], np.uint32), offsets)
    expected = exact(nth_set, mask, base, offset, dtype=np.uint32)
    check(bench, "fns.b32 %d, %a, %b, %c;", mask, base, offset, expected=expected)


@pytest.mark.parametrize("kind", ["b32", "b64"])
def test_reversing_bits(bench: Bench, kind: str) -> None:
    a = integers(f"u{kind[1:]}")
    backwards = lambda x: int(f"{x:0{bits_of(kind)}b}"[::-1], 2)  # noqa: E731
    check(bench, f"brev.{kind} %d, %a;", a, expected=exact(backwards, a, dtype=a.dtype))


def extracted(value: int, position: int, length: int, kind: str) -> int:
    """The pseudocode of the PTX ISA, 9.7.1."""
    top = bits_of(kind) - 1
    position, length = position & 255, length & 255
    sign = 0
    if kind[0] == "s" and length:
        sign = value >> min(position + length - 1, top) & 1
    picked = [
        value >> (position + i) & 1 if i < length and position + i <= top else sign for i in range(top + 1)
    ]
    return sum(bit << i for i, bit in enumerate(picked))


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_extracting_a_field(bench: Bench, kind: str) -> None:
    a, position, length = triples(integers(kind), POSITIONS, POSITIONS)
    expected = exact(lambda x, p, n: extracted(x, p, n, kind), a, position, length, dtype=a.dtype)
    check(bench, f"bfe.{kind} %d, %a, %b, %c;", a, position, length, expected=expected)


def inserted(a: int, b: int, position: int, length: int, bits: int) -> int:
    position, length = position & 255, length & 255
    for i in range(length):
        if position + i < bits:
            b = b & ~(1 << position + i) | (a >> i & 1) << position + i
    return b


@pytest.mark.parametrize("kind", ["b32", "b64"])
def test_inserting_a_field(bench: Bench, kind: str) -> None:
    column = integers(f"u{kind[1:]}")
    a, b, position, length = triples(column, column, POSITIONS, POSITIONS)
    expected = exact(lambda *case: inserted(*case, bits_of(kind)), a, b, position, length, dtype=a.dtype)
    check(bench, f"bfi.{kind} %d, %a, %b, %c, %e;", a, b, position, length, expected=expected)


def permuted(a: int, b: int, selector: int) -> int:
    source = (a | b << 32).to_bytes(8, "little")
    result = 0
    for i in range(4):
        pick = selector >> 4 * i & 15
        byte = source[pick & 7]
        if pick & 8:
            byte = 255 if byte & 128 else 0
        result |= byte << 8 * i
    return result


def test_permuting_bytes(bench: Bench) -> None:
    selectors = integers("u32", [0x3210, 0x7654, 0xFEDC, 0xBA98, 0x0123, 0x5410])
    a, b, selector = triples(integers("u32", [0x80FF7F01]), integers("u32"), selectors)
    expected = exact(permuted, a, b, selector, dtype=np.uint32)
    check(bench, "prmt.b32 %d, %a, %b, %c;", a, b, selector, expected=expected)


PICKS = {
    "f4e": lambda n: [n, n + 1, n + 2, n + 3],
    "b4e": lambda n: [n, (n - 1) % 8, (n - 2) % 8, (n - 3) % 8],
    "rc8": lambda n: [n] * 4,
    "ecl": lambda n: [max(i, n) for i in range(4)],
    "ecr": lambda n: [min(i, n) for i in range(4)],
    "rc16": lambda n: [i % 2 + 2 * (n % 2) for i in range(4)],
}
"""Mode of prmt → the bytes it picks, the lowest first (the table in PTX ISA 9.7.9.7)."""


@pytest.mark.parametrize("mode", PICKS)
def test_permuting_bytes_by_a_mode(bench: Bench, mode: str) -> None:
    a, b, c = triples(integers("u32", [0x33221100]), integers("u32", [0x77665544]), integers("u32"))

    def permute(x: int, y: int, n: int) -> int:
        source = (x | y << 32).to_bytes(8, "little")
        return int.from_bytes(bytes(source[i] for i in PICKS[mode](n & 3)), "little")

    check(
        bench, f"prmt.b32.{mode} %d, %a, %b, %c;", a, b, c, expected=exact(permute, a, b, c, dtype=np.uint32)
    )


def test_masks(bench: Bench) -> None:
    start, length = pairs(POSITIONS)

    def mask(x: int, n: int) -> int:
        return sum(1 << bit for bit in range(32) if x <= bit < x + n)

    clamped = exact(mask, start, length, dtype=np.uint32)
    check(bench, "bmsk.clamp.b32 %d, %a, %b;", start, length, expected=clamped)
    wrapped = exact(lambda x, n: mask(x % 32, n % 32), start, length, dtype=np.uint32)
    check(bench, "bmsk.wrap.b32 %d, %a, %b;", start, length, expected=wrapped)


@pytest.mark.parametrize("kind", ["u32", "s32"])
def test_extending_a_number_of_some_bits(bench: Bench, kind: str) -> None:
    a, length = pairs(integers(kind), POSITIONS)

    def extended(x: int, n: int) -> int:
        field = x % (1 << n)
        return field - (1 << n) if kind == "s32" and n and field >> n - 1 else field

    clamped = exact(lambda x, n: extended(x, min(n, 32)), a, length, dtype=a.dtype)
    check(bench, f"szext.clamp.{kind} %d, %a, %b;", a, length, expected=clamped)
    wrapped = exact(lambda x, n: extended(x, n % 32), a, length, dtype=a.dtype)
    check(bench, f"szext.wrap.{kind} %d, %a, %b;", a, length, expected=wrapped)


def test_fields_at_fixed_places(bench: Bench) -> None:
    """With immediate positions, as compilers write them."""
    a, b = pairs(integers("u32"))
    for position, length in [(0, 8), (24, 8), (4, 32), (31, 1), (32, 4), (5, 0)]:
        expected: Array = exact(
            lambda x, y, p=position, n=length: inserted(x, y, p, n, 32), a, b, dtype=np.uint32
        )
        check(bench, f"bfi.b32 %d, %a, %b, {position}, {length};", a, b, expected=expected)
