"""Integers side by side in a register: pairs of 16 bits (PTX ISA 9.7.1), and the SIMD video instructions (9.7.17)."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen import ir
from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.arithmetic import extend
from grader.emulator.codegen.ops.compare import comparison
from grader.emulator.codegen.ops.half import pack
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import constant, shaped

_PAIRS = ("u16x2", "s16x2")


def _extreme(e: Emitter, o: Op, a: Any, b: Any) -> Any:
    """min or max; .relu makes negative results zero."""
    sign = o.type[0]
    value = e.intrinsic(f"llvm.{sign}{o.name}", a, b)
    return e.intrinsic("llvm.smax", value, constant(value, 0)) if o.has("relu") else value


@op("add", types=_PAIRS, operands=3)
def add_pairs(e: Emitter, o: Op) -> None:
    _by_halves(e, o, e.b.add)


@op("min", "max", allow=("relu",), types=_PAIRS, operands=3)
def extremes_of_pairs(e: Emitter, o: Op) -> None:
    _by_halves(e, o, lambda a, b: _extreme(e, o, a, b))


@op("min", "max", allow=("relu",), types=("s32",), operands=3)
def clipped_extreme(e: Emitter, o: Op) -> None:
    e.write(0, _extreme(e, o, e.read(1, "s32"), e.read(2, "s32")), "s32")


def _by_halves(e: Emitter, o: Op, compute: Any) -> None:
    a, b = (_parts(e, i, 2) for i in (1, 2))
    e.write(0, pack(e, *(compute(x, y) for x, y in zip(a, b, strict=True))), "b32")


def _parts(e: Emitter, index: int, count: int) -> list[Any]:
    """An operand cut into `count` integers, the lowest first."""
    word = e.read(index, "b32")
    bits = 32 // count
    kind = shaped(ir.IntType(bits), word)
    return [e.b.trunc(e.b.lshr(word, constant(word, bits * i)), kind) for i in range(count)]


_SIMD = [
    f"v{name}{count}" for name in ("add", "sub", "avrg", "absdiff", "min", "max", "set") for count in (2, 4)
]
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@op(*_SIMD, allow=("sat", "add", *_COMPARISONS), types=("u32", "s32"), operands=4)
def video(e: Emitter, o: Op) -> None:
    """Two halves or four bytes at a time. With .add, the results are added to c; else c is what stays where a mask
    leaves results out, and there is no mask here."""
    name, count = o.name[1:-1], int(o.name[-1])
    to, *sources = o.types if name != "set" else ("u32", *o.types)
    signed = [kind == "s32" for kind in sources[:2]]
    operands = zip(*(_parts(e, i, count) for i in (1, 2)), strict=True)
    parts = [_video_part(e, o, name, *(extend(e, v, 32, s) for v, s in zip(pair, signed, strict=True)))
             for pair in operands]  # fmt: skip
    bits = 32 // count
    if o.has("sat"):
        parts = [_clamped(e, part, bits, to == "s32") for part in parts]
    total = e.read(3, "b32") if o.has("add") else constant(parts[0], 0)
    for number, part in enumerate(parts):
        if o.has("add"):
            total = e.b.add(total, part)
        else:
            low = e.b.and_(part, constant(part, (1 << bits) - 1))
            total = e.b.or_(total, e.b.shl(low, constant(low, bits * number)))
    e.write(0, total, "b32")


def _video_part(e: Emitter, o: Op, name: str, a: Any, b: Any) -> Any:
    """One result, in 32 bits, where none of these overflows."""
    if name == "set":
        how = next(m for m in o.modifiers if m in _COMPARISONS)
        return e.b.zext(comparison(e, how, "s32", a, b), a.type)
    if name in ("min", "max"):
        return e.intrinsic(f"llvm.s{name}", a, b)
    if name == "absdiff":
        return e.b.sub(e.intrinsic("llvm.smax", a, b), e.intrinsic("llvm.smin", a, b))
    total = e.b.sub(a, b) if name == "sub" else e.b.add(a, b)
    if name != "avrg":
        return total
    up = e.b.zext(e.b.icmp_signed(">=", total, constant(total, 0)), total.type)
    return e.b.ashr(e.b.add(total, up), constant(total, 1))


def _clamped(e: Emitter, value: Any, bits: int, signed: bool) -> Any:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return e.intrinsic(
        "llvm.smin", e.intrinsic("llvm.smax", value, constant(value, low)), constant(value, high)
    )
