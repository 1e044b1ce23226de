"""Half precision (PTX ISA 9.7.4): f16, bf16 and their pairs.

Halves are kept as their bits; those of the narrower FP8 formats only exist in conversions. Arithmetic is done in
single precision and rounded once more, which for +, − and × is the same as rounding once; fma goes through double
precision and a rounding to odd, to the same end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.floating import as_bits, two_sum
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import F16, F32, F64, I16, I32, constant, shaped

HALVES = ("f16", "f16x2", "bf16", "bf16x2")


def to_float(e: Emitter, bits: Any, kind: str) -> Any:
    """16 bits as the single-precision number they stand for."""
    if kind.startswith("bf16"):
        wide = e.b.shl(e.b.zext(bits, shaped(I32, bits)), constant(e.b.zext(bits, shaped(I32, bits)), 16))
        return e.b.bitcast(wide, shaped(F32, bits))
    return e.b.fpext(e.b.bitcast(bits, shaped(F16, bits)), shaped(F32, bits))


def from_float(e: Emitter, value: Any, kind: str, mode: str = "rn", *, keeps_nan: bool = False) -> Any:
    """A single-precision number as 16 bits, rounded to nearest even or in a directed mode; any NaN as 0x7fff, unless it
    keeps its first bits."""
    if kind.startswith("bf16"):
        nearest = _to_bf16(e, value)
    else:
        bits = e.b.bitcast(e.b.fptrunc(value, shaped(F16, value)), shaped(I16, value))
        nan = e.b.fcmp_unordered("uno", value, value)
        nearest = bits if keeps_nan else e.b.select(nan, constant(bits, 0x7FFF), bits)
    return nearest if mode == "rn" else _moved(e, value, nearest, kind, mode)


def _moved(e: Emitter, value: Any, nearest: Any, kind: str, mode: str) -> Any:
    """The nearest half, or the one before or behind it, which is next to `value` in the direction of `mode`."""
    back = to_float(e, nearest, kind)
    negative = e.b.icmp_signed("<", nearest, constant(nearest, 0))
    if mode == "rz":
        value, back = (e.intrinsic("llvm.fabs", number) for number in (value, back))
    overshot = e.b.fcmp_ordered("<" if mode == "rp" else ">", back, value)
    grows = {"rm": negative, "rp": e.b.not_(negative), "rz": constant(negative, 0)}[mode]
    step = e.b.select(grows, constant(nearest, 1), constant(nearest, -1))
    return e.b.select(overshot, e.b.add(nearest, step), nearest)


def _to_bf16(e: Emitter, value: Any) -> Any:
    bits = as_bits(e, value)
    odd = e.b.and_(e.b.lshr(bits, constant(bits, 16)), constant(bits, 1))
    rounded = e.b.lshr(e.b.add(bits, e.b.add(odd, constant(bits, 0x7FFF))), constant(bits, 16))
    nan = e.b.fcmp_unordered("uno", value, value)
    return e.b.trunc(e.b.select(nan, constant(bits, 0x7FFF), rounded), shaped(I16, value))


def fused(e: Emitter, a: Any, b: Any, c: Any) -> Any:
    """a·b + c of three singles that came from halves, such that rounding the result to half rounds once."""
    wide = [e.b.fpext(v, shaped(F64, a)) for v in (a, b, c)]
    return to_odd(e, *two_sum(e, e.b.fmul(wide[0], wide[1]), wide[2]))


def to_odd(e: Emitter, total: Any, lost: Any) -> Any:
    """total + lost in double precision, cut to single with "round to odd".

    Cut off towards zero; where that loses anything, the last bit is set. That bit, far behind what a half keeps,
    makes a further rounding to half come out as if it were the only one.
    """
    near = e.b.fptrunc(total, shaped(F32, total))
    back = e.b.fpext(near, total.type)
    bits = as_bits(e, near)
    exact = e.b.fcmp_ordered("==", back, total)
    opposed = e.b.fcmp_ordered(
        "<", e.b.fmul(lost, e.intrinsic("llvm.copysign", constant(lost, 1.0), total)), constant(lost, 0.0)
    )
    beyond = e.b.fcmp_ordered(">", e.intrinsic("llvm.fabs", back), e.intrinsic("llvm.fabs", total))
    too_big = e.b.or_(beyond, e.b.and_(exact, opposed))
    odd = e.b.or_(e.b.select(too_big, e.b.sub(bits, constant(bits, 1)), bits), constant(bits, 1))
    inexact = e.b.or_(
        e.b.fcmp_ordered("!=", back, total),
        e.b.and_(exact, e.b.fcmp_ordered("!=", lost, constant(lost, 0.0))),
    )
    return e.b.bitcast(e.b.select(inexact, odd, bits), near.type)


def halves(e: Emitter, index: int, kind: str) -> list[Any]:
    """An operand's one or two halves, low first, as singles."""
    return [to_float(e, bits, kind) for bits in _bits_of(e, index, kind)]


def _bits_of(e: Emitter, index: int, kind: str) -> list[Any]:
    both = e.read(index, kind)
    if not kind.endswith("x2"):
        return [both]
    high = e.b.lshr(both, constant(both, 16))
    return [e.b.trunc(half, shaped(I16, both)) for half in (both, high)]


def pack(e: Emitter, low: Any, high: Any) -> Any:
    """Two 16-bit values as one of 32 bits."""
    upper = e.b.zext(high, shaped(I32, high))
    return e.b.or_(e.b.zext(low, shaped(I32, low)), e.b.shl(upper, constant(upper, 16)))


def each(e: Emitter, o: Op, compute: Callable[..., Any], operands: int) -> None:
    """Applies `compute` to each half of the operands, as singles, and writes the rounded results. It is called while
    `e.b` builds a function of its own (`outlined`)."""

    def of_bits(*row: Any) -> Any:
        return from_float(e, finished(e, o, compute(*(to_float(e, bits, o.type) for bits in row))), o.type)

    columns = [_bits_of(e, i + 1, o.type) for i in range(operands)]
    parts = [e.outlined(e.inst.opcode, of_bits, *row) for row in zip(*columns, strict=True)]
    e.write(0, parts[0] if len(parts) == 1 else pack(e, *parts), o.type)


def finished(e: Emitter, o: Op, value: Any) -> Any:
    """.sat clamps to [0, 1] (NaN to 0), .relu to [0, ∞) (NaN stays)."""
    zero = constant(value, 0.0)
    if o.has("sat"):
        value = e.b.select(e.b.fcmp_ordered(">", value, zero), value, zero)
        value = e.b.select(e.b.fcmp_ordered("<", value, constant(value, 1.0)), value, constant(value, 1.0))
    if o.has("relu"):
        value = e.b.select(e.b.fcmp_ordered("<=", value, zero), zero, value)
    return value


@op("add", "sub", "mul", allow=("rn", "sat"), types=HALVES, operands=3)
def add_sub_mul(e: Emitter, o: Op) -> None:
    each(e, o, lambda a, b: {"add": e.b.fadd, "sub": e.b.fsub, "mul": e.b.fmul}[o.name](a, b), 2)


@op("fma", allow=("rn", "sat", "relu"), types=HALVES, operands=4)
def fma(e: Emitter, o: Op) -> None:
    each(e, o, lambda a, b, c: fused(e, a, b, c), 3)


@op("neg", "abs", types=HALVES, operands=2)
def neg_abs(e: Emitter, o: Op) -> None:
    each(e, o, lambda a: e.b.fneg(a) if o.name == "neg" else e.intrinsic("llvm.fabs", a), 1)


@op("min", "max", allow=("NaN",), types=HALVES, operands=3)
def min_max(e: Emitter, o: Op) -> None:
    def pick(a: Any, b: Any) -> Any:
        value = e.intrinsic(f"llvm.{o.name}imum", a, b)
        if o.has("NaN"):
            return value
        numbers = e.b.select(e.b.fcmp_unordered("uno", b, b), a, value)
        return e.b.select(e.b.fcmp_unordered("uno", a, a), b, numbers)

    each(e, o, pick, 2)


@op("ex2", "tanh", allow=("approx", "ftz"), types=HALVES, operands=2)
def transcendental(e: Emitter, o: Op) -> None:
    name = {"ex2": "exp2"}.get(o.name, o.name)
    each(e, o, lambda a: e.intrinsic(f"llvm.{name}", a), 1)
