"""Integers side by side in a register: pairs of 16 bits, and video instructions on halves and bytes.

The oracle takes the words apart into Python's integers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from emulated import Bench, check, exact, integers, triples

WORDS = integers("u32", [0x80FF7F01, 0x7FFF8000, 0x80808080, 0xFFFF0001, 0x00018001])


def parts(word: int, count: int, signed: bool) -> list[int]:
    size = 4 // count
    return [int.from_bytes(word.to_bytes(4, "little")[i : i + size], "little", signed=signed)
            for i in range(0, 4, size)]  # fmt: skip


def joined(values: list[int]) -> int:
    bits = 32 // len(values)
    return sum(value % (1 << bits) << bits * i for i, value in enumerate(values))


@pytest.mark.parametrize("kind", ["u16x2", "s16x2"])
@pytest.mark.parametrize(("name", "compute"), [("add", lambda a, b: a + b), ("min", min), ("max", max)])
def test_pairs(bench: Bench, name: str, compute: Callable[[int, int], int], kind: str) -> None:
    a, b, _ = triples(WORDS, WORDS, WORDS, count=512)

    def by_halves(x: int, y: int) -> int:
        return joined(list(map(compute, parts(x, 2, kind[0] == "s"), parts(y, 2, kind[0] == "s"))))

    check(bench, f"{name}.{kind} %d, %a, %b;", a, b, expected=exact(by_halves, a, b, dtype=np.uint32))


@pytest.mark.parametrize("name", ["min", "max"])
def test_negative_extremes_become_zero(bench: Bench, name: str) -> None:
    a, b, _ = triples(WORDS, WORDS, WORDS, count=512)
    pick = {"min": min, "max": max}[name]
    whole = exact(lambda x, y: max(pick(x, y), 0), a.view(np.int32), b.view(np.int32), dtype=np.uint32)
    check(bench, f"{name}.relu.s32 %d, %a, %b;", a, b, expected=whole)

    def by_halves(x: int, y: int) -> int:
        columns = (parts(v, 2, True) for v in (x, y))
        return joined([max(pick(*case), 0) for case in zip(*columns, strict=True)])

    pairs = exact(by_halves, a, b, dtype=np.uint32)
    check(bench, f"{name}.relu.s16x2 %d, %a, %b;", a, b, expected=pairs)


VIDEO: dict[str, Callable[[int, int], int]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vavrg": lambda a, b: a + b + 1 >> 1 if a + b >= 0 else a + b >> 1,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
}


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize(("first", "second"), [("u32", "u32"), ("s32", "s32"), ("u32", "s32")])
@pytest.mark.parametrize("name", VIDEO)
def test_video(bench: Bench, name: str, first: str, second: str, count: int) -> None:
    """Cut off, clamped to the result's type, or added up (PTX ISA 9.7.17.2)."""
    a, b, c = triples(WORDS, WORDS, WORDS, count=256)

    def results(x: int, y: int) -> list[int]:
        return list(map(VIDEO[name], parts(x, count, first == "s32"), parts(y, count, second == "s32")))

    bits = 32 // count
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if first == "s32" else (0, (1 << bits) - 1)
    forms = {
        "": lambda x, y, z: joined(results(x, y)),
        ".sat": lambda x, y, z: joined([min(max(v, low), high) for v in results(x, y)]),
        ".add": lambda x, y, z: z + sum(results(x, y)),
    }
    for form, compute in forms.items():
        expected = exact(compute, a, b, c, dtype=np.uint32)
        check(
            bench, f"{name}{count}.{first}.{first}.{second}{form} %d, %a, %b, %c;", a, b, c, expected=expected
        )


def test_comparing_bytes(bench: Bench) -> None:
    a, b, c = triples(WORDS, WORDS, WORDS, count=256)

    def less(x: int, y: int) -> list[int]:
        return [int(p < q) for p, q in zip(parts(x, 4, True), parts(y, 4, True), strict=True)]

    expected = exact(lambda x, y, z: joined(less(x, y)), a, b, c, dtype=np.uint32)
    check(bench, "vset4.s32.s32.lt %d, %a, %b, %c;", a, b, c, expected=expected)
    expected = exact(lambda x, y, z: z + sum(less(x, y)), a, b, c, dtype=np.uint32)
    check(bench, "vset4.s32.s32.lt.add %d, %a, %b, %c;", a, b, c, expected=expected)


INTRINSICS = """
extern "C" __global__ void k(unsigned* x)
{
    unsigned a = x[threadIdx.x], b = x[threadIdx.x + 32];
    x[threadIdx.x] = __vabsdiffu4(a, b) ^ __vadd2(a, b) ^ __vmaxs2(a, b) ^ __vsads4(a, b) ^ __viaddmax_s16x2(a, b, 3);
}
"""


def test_cuda_simd_intrinsics(bench: Bench) -> None:
    a, b = (np.random.default_rng(seed).integers(0, 1 << 32, 32, np.uint32) for seed in (1, 2))

    def intrinsics(x: int, y: int) -> int:
        u, s, h = parts(x, 4, False), parts(x, 4, True), parts(x, 2, True)
        v, t, g = parts(y, 4, False), parts(y, 4, True), parts(y, 2, True)
        sums = parts(joined([p + q for p, q in zip(h, g, strict=True)]), 2, True)
        return (joined([abs(p - q) for p, q in zip(u, v, strict=True)]) ^ joined(sums)
                ^ joined(list(map(max, h, g))) ^ sum(abs(p - q) for p, q in zip(s, t, strict=True))
                ^ joined([max(p, q) for p, q in zip(sums, parts(3, 2, True), strict=True)]))  # fmt: skip

    got = bench.clean(INTRINSICS, "k", 1, 32, np.concatenate([a, b]))[:32]
    np.testing.assert_array_equal(got, exact(intrinsics, a, b, dtype=np.uint32))
