"""The products of Tensor Cores as data: types, shapes, and what an H200's SASS makes of each (PTX ISA 9.7.14, 9.7.15).

Operands of every shape lie in registers by one rule. A register holds as many neighbours along k as fit into 32 bits
(of doubles, one); four lanes, the group's threads, stand side by side along k, and eight groups one below the other.
Further registers go down first, then along k. Accumulators have two neighbouring columns a lane.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.emulator.runtime.layout import LANES

# How factors are encoded, and sums.
(F16, BF16, TF32, E4M3, E5M2, S8, U8, S4, U4, B1, F64) = range(11)
(SUM_F32, SUM_F16, SUM_S32, SUM_S32_SATURATED, SUM_F64) = range(5)

_SIXTEENS = ("m16n16k16", "m32n8k16", "m8n32k16")
_HALVES = ("m16n8k8", "m16n8k16")
_BYTES = ("m8n8k16", "m16n8k16", "m16n8k32")
_NIBBLES = ("m8n8k32", "m16n8k32", "m16n8k64")
_BITS = ("m8n8k128", "m16n8k128", "m16n8k256")


@dataclass(frozen=True)
class Factor:
    """A type of factors."""

    code: int
    bits: int
    sums: tuple[str, ...]
    """The types that their products are added up in."""
    mma: tuple[str, ...]
    """The shapes of mma.sync."""
    wmma: tuple[str, ...]
    wgmma: int = 0
    """The depth k of wgmma.mma_async; 0 where it does not take them."""

    @property
    def packed(self) -> int:
        """How many lie in a register."""
        return max(32 // self.bits, 1)

    @property
    def register_bytes(self) -> int:
        return max(self.bits // 8, 4)


FACTORS = {
    "f16": Factor(F16, 16, ("f32", "f16"), _HALVES, _SIXTEENS, 16),
    "bf16": Factor(BF16, 16, ("f32",), _HALVES, _SIXTEENS, 16),
    "tf32": Factor(TF32, 32, ("f32",), ("m16n8k4", "m16n8k8"), ("m16n16k8",), 8),
    "e4m3": Factor(E4M3, 8, ("f32", "f16"), ("m16n8k16", "m16n8k32"), (), 32),
    "e5m2": Factor(E5M2, 8, ("f32", "f16"), ("m16n8k16", "m16n8k32"), (), 32),
    "s8": Factor(S8, 8, ("s32",), _BYTES, _SIXTEENS, 32),
    "u8": Factor(U8, 8, ("s32",), _BYTES, _SIXTEENS, 32),
    "s4": Factor(S4, 4, ("s32",), _NIBBLES, ("m8n8k32",)),
    "u4": Factor(U4, 4, ("s32",), _NIBBLES, ("m8n8k32",)),
    "b1": Factor(B1, 1, ("s32",), _BITS, ("m8n8k128",)),
    "f64": Factor(F64, 64, ("f64",), ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"), ("m8n8k4",)),
}
SHAPES = frozenset(shape for factor in FACTORS.values() for shape in (*factor.mma, *factor.wmma))

_MIXED = ({"s8", "u8"}, {"s4", "u4"}, {"e4m3", "e5m2"})
"""Types of which a and b may be two different ones; not in wmma."""

_SUMS = {"f32": SUM_F32, "f16": SUM_F16, "s32": SUM_S32, "f64": SUM_F64}
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")


@dataclass(frozen=True)
class Product:
    """d = a · b + c, where a is m × k and b is k × n."""

    m: int
    n: int
    k: int
    a: str
    b: str
    c: str
    d: str
    saturates: bool
    bitwise: str | None
    """How bits are multiplied: "and", "xor"."""

    @property
    def factor(self) -> Factor:
        return FACTORS[self.a]

    def sum_code(self, kind: str) -> int:
        return SUM_S32_SATURATED if kind == "s32" and self.saturates else _SUMS[kind]

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return 2 * self.m * self.n * self.k

    @property
    def instructions(self) -> tuple[str, int]:
        """The machine instruction that does it on an H200, and how many of them, by the SASS of CUDA 13.

        Its Tensor Cores take no 4-bit integers, and FP8 in wgmma alone: ptxas widens those, and uses two for one.
        """
        blocks = max(self.m * self.n // 128, 1)
        if self.a == "f64":
            return "dmma", 1
        if self.a == "b1":
            return "bmma", 2 if self.bitwise == "xor" else 1
        if self.a in ("s4", "u4"):
            return "imma", 2
        if self.a in ("s8", "u8"):
            return "imma", blocks
        halved = self.a in ("e4m3", "e5m2") or (self.a == "tf32" and self.n == 16)
        return "hmma", blocks * (2 if halved else 1)


def shape_of(parts: Sequence[str]) -> tuple[int, int, int] | None:
    """(m, n, k) of the first part that is a shape."""
    found = next((match for part in parts if (match := _SHAPE.fullmatch(part))), None)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def product_of(parts: Sequence[str]) -> Product | None:
    """The product that an mma.sync or a wmma.mma is, from the parts of its opcode; None where there is no such one."""
    shape = shape_of(parts)
    kinds = [part for part in parts if part in FACTORS or part in _SUMS]
    is_wmma = parts[0] == "wmma"
    if is_wmma and len(kinds) == 2:  # the factors' type is named only where it is another
        kinds = [kinds[0], "f16", "f16", kinds[1]]
    if shape is None or len(kinds) != 4 or (kinds[1] not in FACTORS or kinds[2] not in FACTORS):
        return None
    d, a, b, c = kinds
    bitwise = next((part for part in parts if part in ("and", "xor")), None)
    factor = FACTORS[a]
    alike = a == b or (not is_wmma and {a, b} in _MIXED)
    sums = c in factor.sums and d in factor.sums and (is_wmma or c == d)
    known = "m{}n{}k{}".format(*shape) in (factor.wmma if is_wmma else factor.mma)
    if not (alike and sums and known) or (a == "b1") != (bitwise is not None):
        return None
    return Product(*shape, a, b, c, d, "satfinite" in parts, bitwise)


_WIDTHS = range(8, 257, 8)
_INTEGER_WIDTHS = (8, 16, 24, *range(32, 257, 16))
WARPGROUP_SHAPES = frozenset(
    f"m64n{n}k{factor.wgmma}" for factor in FACTORS.values() if factor.wgmma for n in _WIDTHS
)


def warpgroup_product_of(parts: Sequence[str]) -> Product | None:
    """The product of a wgmma.mma_async; None where there is no such one."""
    shape = shape_of(parts)
    kinds = [part for part in parts if part in FACTORS or part in _SUMS]
    if shape is None or len(kinds) != 3 or kinds[1] not in FACTORS or kinds[2] not in FACTORS:
        return None
    d, a, b = kinds
    factor = FACTORS[a]
    alike = a == b or {a, b} in _MIXED
    widths = _INTEGER_WIDTHS if d == "s32" else _WIDTHS
    known = shape[0] == 64 and shape[1] in widths and shape[2] == factor.wgmma
    if not (alike and known and d in factor.sums) or ("satfinite" in parts and d != "s32"):
        return None
    return Product(*shape, a, b, d, d, "satfinite" in parts, None)


@dataclass(frozen=True)
class Spread:
    """How a matrix in memory is spread over the registers that wmma.load fills: 32-bit pieces of its rows (or columns,
    where those are contiguous), `across` lanes side by side and `down` below each other."""

    majors: int
    minors: int
    factor: Factor

    @property
    def across(self) -> int:
        return max(min(4, self.minors // self.factor.packed), LANES // self.majors)

    @property
    def down(self) -> int:
        return LANES // self.across

    @property
    def registers(self) -> int:
        return self.majors * self.minors // (LANES * self.factor.packed)

    def places(self, register: int) -> tuple[list[int], list[int]]:
        """(major, minor) of the first element of each lane's piece."""
        below, beside = register % (self.majors // self.down), register // (self.majors // self.down)
        majors = [lane // self.across + self.down * below for lane in range(LANES)]
        minors = [(lane % self.across + self.across * beside) * self.factor.packed for lane in range(LANES)]
        return majors, minors


def operand_spread(parts: Sequence[str]) -> Spread | None:
    """Of a wmma.load of an operand; None where there is no such one."""
    shape = shape_of(parts)
    factor = FACTORS.get(parts[-1])
    if shape is None or factor is None or "m{}n{}k{}".format(*shape) not in factor.wmma:
        return None
    m, n, k = shape
    rows, columns = (m, k) if parts[2] == "a" else (k, n)
    return Spread(columns, rows, factor) if "col" in parts else Spread(rows, columns, factor)
