"""Moves and conversions (PTX ISA 9.7.9.1 to 9.7.9.21): mov, cvt, cvta, isspacep."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen import ir
from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.arithmetic import extend
from grader.emulator.codegen.ops.floating import DIRECTED, as_bits, direction, flushed
from grader.emulator.codegen.ops.half import finished, from_float, halves, pack, to_float, to_odd
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import F32, F64, I16, I64, constant, element_of, scalar_type, shaped
from grader.emulator.ptx.tree import TYPE_BYTES, Vec
from grader.emulator.runtime.layout import (
    LOCAL_WINDOW,
    PARAM_WINDOW,
    RANK,
    RANK_AT,
    SHARED_WINDOW,
    WINDOW_BYTES,
)

WINDOWS = {
    "global": 0, "const": 0, "shared": SHARED_WINDOW, "shared::cta": SHARED_WINDOW, "shared::cluster": SHARED_WINDOW,
    "local": LOCAL_WINDOW, "param": PARAM_WINDOW,
}  # fmt: skip
_TO_INTEGRAL = {"rni": "llvm.rint", "rzi": "llvm.trunc", "rmi": "llvm.floor", "rpi": "llvm.ceil"}


@op("mov", allow=("v2", "v4"), operands=2)
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


@op("cvta", allow=("to", *WINDOWS), types=("u32", "u64"), operands=2)
def cvta(e: Emitter, o: Op) -> None:
    """Between a state space's own addresses and generic ones: the space's window is added or taken away."""
    a = e.read(1, o.type)
    base = constant(a, WINDOWS[o.modifiers[-1]])
    e.write(0, e.b.sub(a, base) if o.has("to") else e.b.add(a, base), o.type)


@op("isspacep", allow=tuple(WINDOWS), operands=2)
def isspacep(e: Emitter, o: Op) -> None:
    a = e.read(1, "u64")
    space = o.modifiers[0]
    base = WINDOWS[space]
    if space in ("shared", "shared::cta"):
        rank = e.b.lshr(e.b.sub(a, constant(a, base)), constant(a, RANK_AT))
        own = e.b.add(e.context_slot(RANK), I64(1))
        own = e.splat(own) if e.vector else own
        here = (e.b.icmp_unsigned("==", rank, number) for number in (constant(rank, 0), own))
        e.write(0, e.b.or_(*here), "pred")
    elif base:
        e.write(0, e.b.icmp_unsigned("<", e.b.sub(a, constant(a, base)), constant(a, WINDOW_BYTES)), "pred")
    else:
        e.write(0, e.b.icmp_unsigned(">=", a, constant(a, PARAM_WINDOW + WINDOW_BYTES)), "pred")


_CONVERTIBLE = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64",
                "f16", "bf16", "f16x2", "bf16x2", "f32", "f64")  # fmt: skip
_MODES = ("rn", *DIRECTED)


@op(
    "cvt",
    allow=(*_MODES, *_TO_INTEGRAL, "sat", "satfinite", "ftz", "relu"),
    types=_CONVERTIBLE,
    operands=(2, 3),
)
def cvt(e: Emitter, o: Op) -> None:
    to, source = o.types
    if to in ("f16x2", "bf16x2"):
        high, low = (_narrowed(e, o, finished(e, o, e.read(i, "f32")), to) for i in (1, 2))
        e.write(0, pack(e, low, high), to)
        return
    value = e.read(1, source)
    is_float = [t[0] == "f" or t == "bf16" for t in (source, to)]
    if is_float == [False, False]:
        e.write(0, _integer(e, o, value, source, to), to)
    elif is_float == [True, False]:
        e.write(0, _float_to_integer(e, o, _widen(e, o, value, source), source, to), to)
    elif is_float == [False, True]:
        _integer_to_float(e, o, value, source, to)
    else:
        # ptxas drops .ftz where a single becomes a half: rounded up, a subnormal one is the smallest half.
        kept = (source, to) == ("f32", "f16")
        _float_to_float(e, o, value if kept else _widen(e, o, value, source), source, to)


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


def _float_to_integer(e: Emitter, o: Op, value: Any, source: str, to: str) -> Any:
    """Rounded as the opcode says, clamped to the target's range; NaN to zero, or to the top bit of 64-bit types."""
    name = _rounding(o)
    if name is None:
        raise e.unsupported()
    whole = e.intrinsic(name, value)
    sign = "s" if to[0] == "s" else "u"
    number = e.intrinsic(f"llvm.fpto{sign}i.sat", whole, result=shaped(scalar_type(to), value))
    if source != "f64" and TYPE_BYTES[to] < 8:
        return number
    top = constant(number, 1 << (TYPE_BYTES[to] * 8 - 1))
    return e.b.select(e.b.fcmp_unordered("uno", value, value), top, number)


def _integer_to_float(e: Emitter, o: Op, value: Any, source: str, to: str) -> None:
    if _mode(o) is None:
        raise e.unsupported()
    half = to in ("f16", "bf16")
    if half and TYPE_BYTES[source] == 8:
        value = _sticky(e, value, source)
    kind = shaped(F64 if half or to == "f64" else F32, value)
    signed = source[0] == "s"
    if half or o.has("rn"):
        number = e.b.sitofp(value, kind) if signed else e.b.uitofp(value, kind)
    else:
        wide = value if TYPE_BYTES[source] >= 4 else extend(e, value, 32, signed)
        number = e.rounded("sitofp" if signed else "uitofp", direction(o), wide, result=kind)
        # LLVM may convert by a difference, of which nothing is left for 0: rounded down, that is -0.
        zero = e.b.icmp_unsigned("==", wide, constant(wide, 0))
        number = e.b.select(zero, constant(number, 0.0), number)
    e.write(0, _narrowed(e, o, to_odd(e, number, constant(number, 0.0)), to) if half else number, to)


def _mode(o: Op) -> str | None:
    return next((m for m in o.modifiers if m in _MODES), None)


def _narrowed(e: Emitter, o: Op, value: Any, to: str, *, keeps_nan: bool = False) -> Any:
    """A single as a half; with .satfinite, what is beyond the largest number becomes that."""
    bits = from_float(e, value, to, _mode(o) or "rn", keeps_nan=keeps_nan)
    if not o.has("satfinite"):
        return bits
    infinity = constant(bits, 0x7F80 if to.startswith("bf16") else 0x7C00)
    infinite = e.b.icmp_unsigned("==", e.b.and_(bits, constant(bits, 0x7FFF)), infinity)
    return e.b.select(infinite, e.b.sub(bits, constant(bits, 1)), bits)


def _sticky(e: Emitter, value: Any, source: str) -> Any:
    """A 64-bit integer that a double holds, and that rounds to the same half: low bits of large ones become one."""
    size = (
        e.b.select(e.b.icmp_signed("<", value, constant(value, 0)), e.b.neg(value), value)
        if source[0] == "s"
        else value
    )
    rest = e.b.icmp_unsigned("!=", e.b.and_(value, constant(value, 0xFFF)), constant(value, 0))
    cut = e.b.and_(value, constant(value, -0x1000))
    cut = e.b.select(rest, e.b.or_(cut, constant(value, 0x800)), cut)
    return e.b.select(e.b.icmp_unsigned("<", size, constant(value, 1 << 53)), value, cut)


def _float_to_float(e: Emitter, o: Op, value: Any, source: str, to: str) -> None:
    name = _rounding(o)
    if name is not None:
        value = e.intrinsic(name, value)
    half = to in ("f16", "bf16")
    have = element_of(value.type)
    if to == "f64" and have == F32:
        value = e.b.fpext(value, shaped(F64, value))
    elif to != "f64" and have == F64:
        value = to_odd(e, value, constant(value, 0.0)) if half else _single(e, o, value)
    value = finished(e, o, value)
    # An H200 keeps the first bits of a double's NaN, and of no other.
    narrow = _narrowed(e, o, value, to, keeps_nan=source == "f64") if half else flushed(e, o, value)
    e.write(0, narrow, to)


def _single(e: Emitter, o: Op, value: Any) -> Any:
    """A double as a single."""
    kind = shaped(F32, value)
    return e.b.fptrunc(value, kind) if o.has("rn") else e.rounded("fptrunc", direction(o), value, result=kind)


@op("cvt", allow=("rna",), types=("tf32", "f32"), operands=2)
def to_tf32(e: Emitter, o: Op) -> None:
    """Ten bits of mantissa; .rna rounds half away from zero, and cuts a NaN off, which may leave an infinity."""
    value = e.read(1, "f32")
    bits = e.convert_bits(value, scalar_type("b32"))
    near = e.b.add(bits, constant(bits, 0x1000))
    kept = e.b.select(e.b.fcmp_unordered("uno", value, value), bits, near)
    e.write(0, e.b.and_(kept, constant(bits, -0x2000)), "tf32")


# -- FP8: two numbers in 16 bits -----------------------------------------------------------------------------------

_FP8 = {"e4m3x2": (3, 7, 0x7E), "e5m2x2": (2, 15, 0x7B)}
"""Bits of the mantissa, bias of the exponent, and the largest number's code."""


@op("cvt", allow=("rn", "satfinite", "relu"), types=("e4m3x2", "e5m2x2", "f32"), operands=3)
def singles_to_fp8(e: Emitter, o: Op) -> None:
    """The first operand goes to the upper byte (PTX ISA 9.7.9.21)."""
    _write_fp8(e, o, low=e.read(2, "f32"), high=e.read(1, "f32"))


@op("cvt", allow=("rn", "satfinite", "relu"), types=("e4m3x2", "e5m2x2", "f16x2"), operands=2)
def between_halves_and_fp8(e: Emitter, o: Op) -> None:
    to, source = o.types
    if to in _FP8:
        low, high = halves(e, 1, source)
        _write_fp8(e, o, low, high)
        return
    both = e.read(1, "b16")
    bytes_ = e.b.and_(both, constant(both, 0xFF)), e.b.lshr(both, constant(both, 8))
    low, high = (from_float(e, finished(e, o, _from_fp8(e, byte, source)), to) for byte in bytes_)
    e.write(0, pack(e, low, high), to)


def _write_fp8(e: Emitter, o: Op, low: Any, high: Any) -> None:
    if not o.has("satfinite"):
        raise e.unsupported()
    low, high = (_to_fp8(e, finished(e, o, value), o.types[0]) for value in (low, high))
    e.write(0, e.b.or_(low, e.b.shl(high, constant(high, 8))), "b16")


def _to_fp8(e: Emitter, value: Any, kind: str) -> Any:
    """A single rounded to nearest even, in the low byte of 16 bits; NaN is 0x7f, infinity the largest number."""
    mantissa, bias, largest = _FP8[kind]
    size = e.intrinsic("llvm.fabs", value)
    bits = as_bits(e, size)
    dropped = 23 - mantissa
    odd = e.b.and_(e.b.lshr(bits, constant(bits, dropped)), constant(bits, 1))
    rounded = e.b.add(bits, e.b.add(odd, constant(bits, (1 << dropped - 1) - 1)))
    normal = e.b.sub(e.b.lshr(rounded, constant(bits, dropped)), constant(bits, (127 - bias) << mantissa))
    least = 2.0 ** (1 - bias)
    steps = e.intrinsic("llvm.rint", e.b.fmul(size, constant(size, 2.0**mantissa / least)))
    subnormal = e.intrinsic("llvm.fptoui.sat", steps, result=bits.type)
    code = e.b.select(e.b.fcmp_ordered("<", size, constant(size, least)), subnormal, normal)
    code = e.intrinsic("llvm.umin", code, constant(code, largest))
    sign = e.b.lshr(as_bits(e, value), constant(bits, 24))
    code = e.b.or_(code, e.b.and_(sign, constant(sign, 0x80)))
    code = e.b.select(e.b.fcmp_unordered("uno", value, value), constant(code, 0x7F), code)
    return e.b.trunc(code, shaped(I16, code))


def _from_fp8(e: Emitter, byte: Any, kind: str) -> Any:
    """The number that a byte (in 16 bits) stands for, as a single."""
    mantissa, bias, largest = _FP8[kind]
    size = e.b.and_(byte, constant(byte, 0x7F))
    number = to_float(e, e.b.shl(size, constant(size, 10 - mantissa)), "f16")
    number = e.b.fmul(number, constant(number, 2.0 ** (15 - bias)))
    if kind == "e4m3x2":  # has no infinities, and one NaN
        nan = e.b.icmp_unsigned(">", size, constant(size, largest))
        number = e.b.select(nan, constant(number, float("nan")), number)
    negative = e.b.icmp_unsigned("!=", size, byte)
    return e.b.select(negative, e.b.fneg(number), number)
