"""Comparison and selection (PTX ISA 9.7.6, 9.7.7): setp, set, selp, slct."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.floating import flushed
from grader.emulator.codegen.ops.half import HALVES, halves, pack, to_float
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import I16, constant, is_vector, scalar_type, shaped
from grader.emulator.ptx.tree import Pair

_INTEGER = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNSIGNED = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_UNORDERED = {name + "u": sign for name, sign in _INTEGER.items()}
_COMPARISONS = (*_INTEGER, *_UNSIGNED, *_UNORDERED, "num", "nan")
_COMBINE = ("and", "or", "xor")


def comparison(e: Emitter, how: str, kind: str, a: Any, b: Any) -> Any:
    """The predicate a `how` b for operands of the PTX type `kind` (halves come as singles)."""
    if kind in ("f32", "f64", *HALVES):
        if how in ("num", "nan"):
            return e.b.fcmp_ordered("ord", a, b) if how == "num" else e.b.fcmp_unordered("uno", a, b)
        if how in _UNORDERED:
            return e.b.fcmp_unordered(_UNORDERED[how], a, b)
        return e.b.fcmp_ordered(_INTEGER[how], a, b)
    if how in _UNSIGNED:
        return e.b.icmp_unsigned(_UNSIGNED[how], a, b)
    compare = e.b.icmp_signed if kind[0] == "s" else e.b.icmp_unsigned
    return compare(_INTEGER[how], a, b)


def _operands(e: Emitter, o: Op, kind: str) -> tuple[Any, Any]:
    if kind in ("f16", "bf16"):
        return to_float(e, e.read(1, kind), kind), to_float(e, e.read(2, kind), kind)
    a, b = e.read(1, kind), e.read(2, kind)
    return (flushed(e, o, a), flushed(e, o, b)) if kind == "f32" else (a, b)


def _combined(e: Emitter, o: Op, value: Any, index: int) -> Any:
    """The comparison joined with a further predicate operand, where the opcode has .and, .or or .xor."""
    how = next((m for m in o.modifiers if m in _COMBINE), None)
    if how is None:
        return value
    other = e.read(index, "pred")
    return {"and": e.b.and_, "or": e.b.or_, "xor": e.b.xor}[how](value, other)


@op("setp", allow=(*_COMPARISONS, *_COMBINE, "ftz"), operands=(3, 4))
def setp(e: Emitter, o: Op) -> None:
    target = e.inst.operands[0]
    if o.type.endswith("x2"):
        low, high = (comparison(e, o.modifiers[0], o.type, *pair)
                     for pair in zip(halves(e, 1, o.type), halves(e, 2, o.type), strict=True))  # fmt: skip
        assert isinstance(target, Pair)
        e.write(target.first, _combined(e, o, low, 3), "pred")
        e.write(target.second, _combined(e, o, high, 3), "pred")
        return
    value = comparison(e, o.modifiers[0], o.type, *_operands(e, o, o.type))
    if isinstance(target, Pair):
        e.write(target.first, _combined(e, o, value, 3), "pred")
        e.write(target.second, _combined(e, o, e.b.not_(value), 3), "pred")
    else:
        e.write(target, _combined(e, o, value, 3), "pred")


@op("set", allow=(*_COMPARISONS, *_COMBINE, "ftz"), operands=(3, 4))
def set_(e: Emitter, o: Op) -> None:
    """All ones, or 1.0 for float results, where the comparison holds."""
    kind = o.types[0]
    if o.type.endswith("x2"):
        both = zip(halves(e, 1, o.type), halves(e, 2, o.type), strict=True)
        parts = [_combined(e, o, comparison(e, o.modifiers[0], o.type, *pair), 3) for pair in both]
        e.write(0, pack(e, *(_truth(e, part, kind if kind in _ONES else "u16") for part in parts)), kind)
        return
    value = _combined(e, o, comparison(e, o.modifiers[0], o.type, *_operands(e, o, o.type)), 3)
    e.write(0, _truth(e, value, kind), kind)


_ONES = {"f16": 0x3C00, "f16x2": 0x3C00, "bf16": 0x3F80, "bf16x2": 0x3F80}
"""The bits of 1.0."""


def _truth(e: Emitter, value: Any, kind: str) -> Any:
    """A predicate as a number; of a pair's types, as one half."""
    if kind in _ONES:
        bits = e.b.zext(value, shaped(I16, value))
        return e.b.mul(bits, constant(bits, _ONES[kind]))
    target = shaped(scalar_type(kind), value)
    return e.b.uitofp(value, target) if kind == "f32" else e.b.sext(value, target)


@op("selp", types=("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"), operands=4)
def selp(e: Emitter, o: Op) -> None:
    choose = e.read(3, "pred")
    a, b = e.read(1, o.type), e.read(2, o.type)
    e.write(0, e.b.select(e.splat(choose) if is_vector(a) else choose, a, b), o.type)


@op("slct", allow=("ftz",), operands=4)
def slct(e: Emitter, o: Op) -> None:
    """a where c ≥ 0, else b."""
    kind, tested = o.types
    c = e.read(3, tested)
    if tested == "f32":
        holds = e.b.fcmp_ordered(">=", flushed(e, o, c), constant(c, 0.0))
    else:
        holds = e.b.icmp_signed(">=", c, constant(c, 0))
    e.write(0, e.b.select(holds, e.read(1, kind), e.read(2, kind)), kind)
