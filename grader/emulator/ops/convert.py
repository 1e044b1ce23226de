"""Moves and conversions (PTX ISA 9.7.9.1 to 9.7.9.21): mov, cvt, cvta, isspacep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir

from grader.emulator.ops.floating import flushed
from grader.emulator.ops.half import from_float, pack, to_float
from grader.emulator.ops.registry import Op, op
from grader.emulator.ptx import TYPE_BYTES, Vec
from grader.emulator.runtime.layout import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES
from grader.emulator.values import F32, F64, constant, element_of, scalar_type, shaped

if TYPE_CHECKING:
    from grader.emulator.codegen import Emitter

WINDOWS = {"global": 0, "const": 0, "shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}
_TO_INTEGRAL = {"rni": "llvm.rint", "rzi": "llvm.trunc", "rmi": "llvm.floor", "rpi": "llvm.ceil"}


@op("mov", allow=("v2", "v4"))
def mov(e: Emitter, o: Op) -> None:
    target, source = e.inst.operands
    if isinstance(target, Vec) and isinstance(source, Vec):
        for one, other in zip(target.items, source.items, strict=True):
            e.write(one, e.read(other, o.type), o.type)
    elif isinstance(source, Vec):
        e.write(target, _packed(e, source, o.type), o.type)
    elif isinstance(target, Vec):
        _unpack(e, target, o.type)
    else:
        e.write(target, e.read(source, o.type), o.type)


def _part(kind: str, count: int) -> str:
    return f"b{TYPE_BYTES[kind] * 8 // count}"


def _packed(e: Emitter, source: Vec, kind: str) -> Any:
    """The elements side by side, the first in the lowest bits."""
    part = _part(kind, len(source.items))
    total: Any = None
    for index, item in enumerate(source.items):
        value = e.convert_bits(e.read(item, part), scalar_type(kind))
        value = e.b.shl(value, constant(value, index * TYPE_BYTES[part] * 8))
        total = value if total is None else e.b.or_(total, value)
    return total


def _unpack(e: Emitter, target: Vec, kind: str) -> None:
    part = _part(kind, len(target.items))
    whole = e.convert_bits(e.read(1, kind), scalar_type(f"b{TYPE_BYTES[kind] * 8}"))
    for index, item in enumerate(target.items):
        value = e.b.lshr(whole, constant(whole, index * TYPE_BYTES[part] * 8))
        e.write(item, e.convert_bits(value, scalar_type(part)), part)


@op("cvta", allow=("to", *WINDOWS), types=("u32", "u64"))
def cvta(e: Emitter, o: Op) -> None:
    """Between a state space's own addresses and generic ones: the space's window is added or taken away."""
    a = e.read(1, o.type)
    base = constant(a, WINDOWS[o.modifiers[-1]])
    e.write(0, e.b.sub(a, base) if o.has("to") else e.b.add(a, base), o.type)


@op("isspacep", allow=tuple(WINDOWS))
def isspacep(e: Emitter, o: Op) -> None:
    a = e.read(1, "u64")
    space = o.modifiers[0]
    base = WINDOWS[space]
    if base:
        e.write(0, e.b.icmp_unsigned("<", e.b.sub(a, constant(a, base)), constant(a, WINDOW_BYTES)), "pred")
    else:
        e.write(0, e.b.icmp_unsigned(">=", a, constant(a, PARAM_WINDOW + WINDOW_BYTES)), "pred")


_ROUNDINGS = ("rn", "rz", "rni", "rzi", "rmi", "rpi", "rna", "sat", "ftz", "relu", "satfinite")


@op("cvt", allow=_ROUNDINGS)
def cvt(e: Emitter, o: Op) -> None:
    to, source = o.types
    if o.has("satfinite") or (o.has("rna") and to != "tf32"):
        raise e.unsupported()
    if to in ("f16x2", "bf16x2"):
        high, low = (from_float(e, _limited(e, o, e.read(i, "f32")), to) for i in (1, 2))
        e.write(0, pack(e, low, high), to)
        return
    value = e.read(1, source)
    is_float = [t[0] == "f" or t == "bf16" for t in (source, to)]
    if is_float == [False, False]:
        e.write(0, _integer(e, o, value, source, to), to)
    elif is_float == [True, False]:
        e.write(0, _float_to_integer(e, o, _widen(e, o, value, source), to), to)
    elif is_float == [False, True]:
        _integer_to_float(e, o, value, source, to)
    else:
        _float_to_float(e, o, _widen(e, o, value, source), source, to)


def _integer(e: Emitter, o: Op, value: Any, source: str, to: str) -> Any:
    """Cut off, or sign- or zero-extended by the source's type; .sat clamps to the target's range."""
    have, want = TYPE_BYTES[source] * 8, TYPE_BYTES[to] * 8
    if o.has("sat"):
        return _clamped(e, value, source, to)
    kind = shaped(scalar_type(to), value)
    if want <= have:
        return e.b.trunc(value, kind) if want < have else value
    return e.b.sext(value, kind) if source[0] == "s" else e.b.zext(value, kind)


def _clamped(e: Emitter, value: Any, source: str, to: str) -> Any:
    bits = TYPE_BYTES[to] * 8
    signed = to[0] == "s"
    lowest, highest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    wide = e.b.sext(value, shaped(ir.IntType(128), value)) if source[0] == "s" else \
        e.b.zext(value, shaped(ir.IntType(128), value))  # fmt: skip
    wide = e.intrinsic(
        "llvm.smin", e.intrinsic("llvm.smax", wide, constant(wide, lowest)), constant(wide, highest)
    )
    return e.b.trunc(wide, shaped(scalar_type(to), value))


def _widen(e: Emitter, o: Op, value: Any, kind: str) -> Any:
    """Halves as singles; subnormal singles flushed with .ftz."""
    if kind in ("f16", "bf16"):
        return to_float(e, value, kind)
    return flushed(e, o, value) if kind == "f32" else value


def _rounding(o: Op) -> str | None:
    return next((_TO_INTEGRAL[m] for m in o.modifiers if m in _TO_INTEGRAL), None)


def _float_to_integer(e: Emitter, o: Op, value: Any, to: str) -> Any:
    """Rounded as the opcode says, clamped to the target's range, NaN to zero."""
    name = _rounding(o)
    if name is None:
        raise e.unsupported()
    whole = e.intrinsic(name, value)
    sign = "s" if to[0] == "s" else "u"
    return e.intrinsic(f"llvm.fpto{sign}i.sat", whole, result=shaped(scalar_type(to), value))


def _integer_to_float(e: Emitter, o: Op, value: Any, source: str, to: str) -> None:
    if not o.has("rn"):
        raise e.unsupported()
    half = to in ("f16", "bf16")
    kind = shaped(F64 if half or to == "f64" else F32, value)
    number = e.b.sitofp(value, kind) if source[0] == "s" else e.b.uitofp(value, kind)
    if half:
        if TYPE_BYTES[source] > 2:
            raise e.unsupported()
        number = from_float(e, e.b.fptrunc(number, shaped(F32, value)), to)
    e.write(0, number, to)


def _float_to_float(e: Emitter, o: Op, value: Any, source: str, to: str) -> None:
    if to == "tf32":
        e.write(0, _to_tf32(e, value), to)
        return
    name = _rounding(o)
    if name is not None:
        value = e.intrinsic(name, value)
    narrower = TYPE_BYTES[to] < TYPE_BYTES[source]
    if narrower and (o.has("rz") or (source == "f64" and to != "f32")):
        raise e.unsupported()
    have = element_of(value.type)
    if to == "f64" and have == F32:
        value = e.b.fpext(value, shaped(F64, value))
    elif to != "f64" and have == F64:
        value = e.b.fptrunc(value, shaped(F32, value))
    value = _limited(e, o, value)
    e.write(0, from_float(e, value, to) if to in ("f16", "bf16") else flushed(e, o, value), to)


def _limited(e: Emitter, o: Op, value: Any) -> Any:
    """.sat clamps to [0, 1] (NaN to 0), .relu to [0, ∞)."""
    zero = constant(value, 0.0)
    if o.has("sat") or o.has("relu"):
        value = e.b.select(e.b.fcmp_ordered(">", value, zero), value, zero)
    if o.has("sat"):
        value = e.b.select(e.b.fcmp_ordered("<", value, constant(value, 1.0)), value, constant(value, 1.0))
    return value


def _to_tf32(e: Emitter, value: Any) -> Any:
    """Ten bits of mantissa; .rna rounds half away from zero."""
    bits = e.convert_bits(value, scalar_type("b32"))
    rounded = e.b.add(bits, constant(bits, 0x1000))
    return e.b.and_(rounded, constant(bits, -0x2000 & 0xFFFFFFFF))
