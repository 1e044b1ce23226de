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


@pytest.mark.parametrize("kind", ["u32", "u64"])
def test_a_carry_after_a_difference(bench: Bench, kind: str) -> None:
    """One flag for both: 5 - 3 sets it and 3 - 5 does not, as seen on an H200; 128-bit division relies on it."""
    a, b = pairs(integers(kind))
    scratch = "%y0" if kind == "u64" else "%x0"
    check(
        bench,
        f"sub.cc.{kind} {scratch}, %a, %b; addc.{kind} %d, 0, 0;",
        a,
        b,
        expected=(a >= b).astype(a.dtype),
    )


@pytest.mark.parametrize("kind", ["u32", "u64"])
def test_a_difference_after_a_carry(bench: Bench, kind: str) -> None:
    a, b = pairs(integers(kind))
    carries = (a.astype(object) + b.astype(object) >= 1 << (8 * a.itemsize)).astype(bool)
    scratch = "%y0" if kind == "u64" else "%x0"
    expected = np.where(carries, 0, -1).astype(a.dtype)
    check(bench, f"add.cc.{kind} {scratch}, %a, %b; subc.{kind} %d, 0, 0;", a, b, expected=expected)


def test_a_carry_under_a_guard(bench: Bench) -> None:
    """The flag stays where the guard does not hold."""
    source = """
    extern "C" __global__ void k(const unsigned* a, const unsigned* b, unsigned* out)
    {
        int t = threadIdx.x;
        asm("{ .reg .pred p; .reg .u32 x; setp.lt.u32 p, %1, 1000; add.cc.u32 x, %1, %2; @p sub.cc.u32 x, 0, 1;"
            "addc.u32 %0, 0, 0; }" : "=r"(out[t]) : "r"(a[t]), "r"(b[t]));
    }"""
    a, b = (side[:64] for side in pairs(integers("u32")))
    out = bench.clean(source, "k", 1, 64, a, b, np.zeros(64, np.uint32))[2]
    carries = (a.astype(object) + b.astype(object) >= WORD).astype(bool)
    assert np.array_equal(out, np.where(a < 1000, 0, carries))


WIDE = """
extern "C" __global__ void wide(const uint4* in, uint4* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    auto number = [](uint4 v) { return (unsigned __int128)(v.x | (unsigned long long)v.y << 32)
                                       | (unsigned __int128)(v.z | (unsigned long long)v.w << 32) << 64; };
    auto put = [&](int k, auto v) {
        unsigned long long low = v, high = v >> 64;
        out[9 * i + k] = make_uint4(low, low >> 32, high, high >> 32);
    };
    unsigned __int128 a = number(in[2 * i]), b = number(in[2 * i + 1]);
    __int128 s = a, t = b;
    put(0, a + b); put(1, a - b); put(2, a * b);
    put(3, a / b); put(4, a % b); put(5, s / t); put(6, s % t);
    put(7, (unsigned __int128)(a < b) | (unsigned __int128)(s < t) << 64); put(8, s >> (i % 128));
}
"""


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def test_128_bits(bench: Bench) -> None:
    """__int128 of CUDA C++ against Python's integers."""
    rng = np.random.default_rng(3)
    edges = [1, 2, 3, WORD - 1, WORD, WORD + 1, 2**64 - 1, 2**64, 2**96 + 5, 2**127 - 1, 2**127, 2**128 - 1]
    values = edges + [int.from_bytes(rng.bytes(int(n)), "little") | 1 for n in rng.integers(1, 17, 20)]
    both = [(a, b) for a in values for b in values]
    words = [[v >> 32 * k & WORD - 1 for k in range(4)] for pair in both for v in pair]
    n = len(both)
    out = bench.clean(WIDE, "wide", -(-n // 64), 64, np.array(words, np.uint32), np.zeros((n, 9, 4), np.uint32),
                      np.int32(n))[1]  # fmt: skip
    for i, (a, b) in enumerate(both):
        s, t = (v - (v >> 127 << 128) for v in (a, b))
        expected = [a + b, a - b, a * b, a // b, a % b, _quotient(s, t), s - t * _quotient(s, t),
                    int(a < b) | int(s < t) << 64, s >> i % 128]  # fmt: skip
        got = [sum(int(word) << 32 * k for k, word in enumerate(row)) for row in out[i]]
        assert got == [v % 2**128 for v in expected], (a, b)


THREE = """
// 192 bits in three words of 64: sums, differences, and the low half of products.
__device__ void put(unsigned long long* to, unsigned long long x, unsigned long long y, unsigned long long z)
{ to[0] = x; to[1] = y; to[2] = z; }

extern "C" __global__ void three(const unsigned long long* in, unsigned long long* out)
{
    int i = threadIdx.x;
    const unsigned long long *a = in + 6 * i, *b = a + 3;
    unsigned long long x, y, z;
    asm("add.cc.u64 %0, %3, %6; addc.cc.u64 %1, %4, %7; addc.u64 %2, %5, %8;" : "=&l"(x), "=&l"(y), "=l"(z)
        : "l"(a[0]), "l"(a[1]), "l"(a[2]), "l"(b[0]), "l"(b[1]), "l"(b[2]));
    put(out + 9 * i, x, y, z);
    asm("sub.cc.u64 %0, %3, %6; subc.cc.u64 %1, %4, %7; subc.u64 %2, %5, %8;" : "=&l"(x), "=&l"(y), "=l"(z)
        : "l"(a[0]), "l"(a[1]), "l"(a[2]), "l"(b[0]), "l"(b[1]), "l"(b[2]));
    put(out + 9 * i + 3, x, y, z);
    asm("mul.lo.u64 %0, %3, %6; mul.hi.u64 %1, %3, %6; mad.lo.cc.u64 %1, %4, %6, %1; madc.hi.u64 %2, %4, %6, 0;"
        "mad.lo.cc.u64 %1, %3, %7, %1; madc.hi.u64 %2, %3, %7, %2; mad.lo.u64 %2, %5, %6, %2;"
        "mad.lo.u64 %2, %4, %7, %2; mad.lo.u64 %2, %3, %8, %2;" : "=&l"(x), "=&l"(y), "=&l"(z)
        : "l"(a[0]), "l"(a[1]), "l"(a[2]), "l"(b[0]), "l"(b[1]), "l"(b[2]));
    put(out + 9 * i + 6, x, y, z);
}
"""


def test_192_bits(bench: Bench) -> None:
    rng = np.random.default_rng(5)
    words = rng.integers(0, 1 << 64, (128, 2, 3), dtype=np.uint64)
    words[:40][rng.random((40, 2, 3)) < 0.5] = np.uint64(2**64 - 1)
    words[40:60][rng.random((20, 2, 3)) < 0.5] = np.uint64(0)
    out = bench.clean(THREE, "three", 1, 128, words, np.zeros((128, 3, 3), np.uint64))[1]
    for (a, b), results in zip(words, out, strict=True):
        x, y = (sum(int(word) << 64 * k for k, word in enumerate(number)) for number in (a, b))
        got = [sum(int(word) << 64 * k for k, word in enumerate(row)) for row in results]
        assert got == [v % 2**192 for v in (x + y, x - y, x * y)]


def test_a_carry_does_not_cross_a_branch(bench: Bench) -> None:
    """PTX leaves the flag undefined there; the emulator says so instead of guessing."""
    with pytest.raises(UnsupportedPtx, match=r"addc.*carry"):
        check(bench, "addc.u32 %d, %a, 0;", np.zeros(32, np.uint32), expected=np.zeros(32, np.uint32))
