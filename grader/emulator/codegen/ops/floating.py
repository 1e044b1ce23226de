"""Single and double precision (PTX ISA 9.7.3).

Approximate forms (sin.approx, rcp.approx, div.full …) give the correctly rounded or the C library's result, which
is inside the error PTX allows but need not be the hardware's last bit. Rounding is to nearest even, or in the directed
modes .rz (to zero), .rm (down) and .rp (up).
"""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import F32, F64, I32, I64, constant, element_of, shaped

FLOATS = ("f32", "f64")
_OUT = ("rn", "ftz", "sat")


def flushed(e: Emitter, o: Op, value: Any) -> Any:
    """With .ftz, subnormal numbers count as zero of their sign."""
    if not o.has("ftz"):
        return value
    small = e.b.fcmp_ordered("<", e.intrinsic("llvm.fabs", value), smallest_normal(value))
    return e.b.select(small, e.intrinsic("llvm.copysign", constant(value, 0.0), value), value)


def smallest_normal(like: Any) -> Any:
    return constant(like, 2.0**-126 if element_of(like.type) == F32 else 2.0**-1022)


def operand(e: Emitter, o: Op, index: int) -> Any:
    return flushed(e, o, e.read(index, o.type))


def result(e: Emitter, o: Op, value: Any) -> None:
    """Writes the result: flushed with .ftz, clamped to [0, 1] with .sat (NaN becomes 0)."""
    value = flushed(e, o, value)
    if o.has("sat"):
        value = e.b.select(e.b.fcmp_ordered(">", value, constant(value, 0.0)), value, constant(value, 0.0))
        value = e.b.select(e.b.fcmp_ordered("<", value, constant(value, 1.0)), value, constant(value, 1.0))
    e.write(0, value, o.type)


@op("add", "sub", "mul", allow=_OUT, types=FLOATS, operands=3)
def add_sub_mul(e: Emitter, o: Op) -> None:
    build = {"add": e.b.fadd, "sub": e.b.fsub, "mul": e.b.fmul}[o.name]
    result(e, o, build(operand(e, o, 1), operand(e, o, 2)))


@op("fma", "mad", allow=_OUT, types=FLOATS, operands=4)
def fma(e: Emitter, o: Op) -> None:
    result(e, o, e.intrinsic("llvm.fma", *(operand(e, o, i) for i in (1, 2, 3))))


DIRECTED = ("rz", "rm", "rp")
_ROUNDED = {"add": "fadd", "sub": "fsub", "mul": "fmul", "fma": "fma", "div": "fdiv", "sqrt": "sqrt"}


def direction(o: Op) -> str:
    """The directed rounding mode in an opcode that has one."""
    return next(m for m in o.modifiers if m in DIRECTED)


@op("add", "sub", "mul", "fma", allow=(*DIRECTED, "ftz", "sat"), types=("f32",), operands=(3, 4))
def directed_single(e: Emitter, o: Op) -> None:
    """Through double precision, where products of singles are exact and what a sum loses can be computed: CUDA's expf
    has one of these, and changing the processor's rounding mode takes longer."""
    mode = direction(o)

    def compute(*singles: Any) -> Any:
        values = [e.b.fpext(single, shaped(F64, single)) for single in singles]
        if o.name == "mul":
            total = e.b.fmul(values[0], values[1])
            lost = constant(total, 0.0)
        elif o.name == "fma":
            total, lost = two_sum(e, e.b.fmul(values[0], values[1]), values[2], mode)
        else:
            total, lost = two_sum(e, values[0], values[1] if o.name == "add" else e.b.fneg(values[1]), mode)
        return round_towards(e, mode, total, lost)

    values = (operand(e, o, i) for i in range(1, len(e.inst.operands)))
    result(e, o, e.outlined(e.inst.opcode, compute, *values))


@op(*_ROUNDED, allow=(*DIRECTED, "ftz", "sat"), types=FLOATS, operands=(2, 3, 4))
def directed(e: Emitter, o: Op) -> None:
    values = [operand(e, o, i) for i in range(1, len(e.inst.operands))]
    result(e, o, e.rounded(_ROUNDED[o.name], direction(o), *values))


@op("rcp", allow=(*DIRECTED, "ftz"), types=FLOATS, operands=2)
def directed_rcp(e: Emitter, o: Op) -> None:
    a = operand(e, o, 1)
    result(e, o, e.rounded("fdiv", direction(o), constant(a, 1.0), a))


def two_sum(e: Emitter, a: Any, b: Any, mode: str = "rn") -> tuple[Any, Any]:
    """a + b rounded, and the rounding error, exactly (Knuth's TwoSum). Rounding down, x - x is -0."""
    total = e.b.fadd(a, b)
    part = e.b.fsub(total, a)
    lost = e.b.fadd(e.b.fsub(a, e.b.fsub(total, part)), e.b.fsub(b, part))
    if mode == "rm":
        signs = e.b.or_(as_bits(e, a), as_bits(e, b))
        negative = e.b.icmp_signed("<", signs, constant(signs, 0))
        vanished = e.b.and_(negative, e.b.fcmp_ordered("==", total, constant(total, 0.0)))
        total = e.b.select(vanished, constant(total, -0.0), total)
    return total, lost


def round_towards(e: Emitter, mode: str, total: Any, lost: Any) -> Any:
    """The single next to total + lost in the direction of `mode`: the nearest, moved by one where it overshot."""
    nearest = e.b.fptrunc(total, shaped(F32, total))
    back = e.b.fpext(nearest, total.type)
    zero = constant(total, 0.0)
    same = e.b.fcmp_ordered("==", back, total)
    above = e.b.or_(e.b.fcmp_ordered(">", back, total), e.b.and_(same, e.b.fcmp_ordered("<", lost, zero)))
    below = e.b.or_(e.b.fcmp_ordered("<", back, total), e.b.and_(same, e.b.fcmp_ordered(">", lost, zero)))
    positive = e.b.fcmp_ordered(">", total, zero)
    down = {"rm": above, "rp": None, "rz": e.b.and_(above, positive)}[mode]
    up = {"rm": None, "rp": below, "rz": e.b.and_(below, e.b.not_(positive))}[mode]
    for move, step in ((down, -1), (up, 1)):
        if move is not None:
            nearest = e.b.select(move, neighbour(e, nearest, step), nearest)
    return nearest


def neighbour(e: Emitter, value: Any, step: int) -> Any:
    """The next single above (step 1) or below (step -1)."""
    bits = as_bits(e, value)
    towards_zero = e.b.fcmp_ordered("<" if step > 0 else ">", value, constant(value, 0.0))
    moved = e.b.select(towards_zero, e.b.sub(bits, constant(bits, 1)), e.b.add(bits, constant(bits, 1)))
    smallest = constant(bits, 1 if step > 0 else -0x7FFFFFFF)
    is_zero = e.b.fcmp_ordered("==", value, constant(value, 0.0))
    return e.b.bitcast(e.b.select(is_zero, smallest, moved), value.type)


@op("div", allow=("rn", "ftz", "approx", "full"), types=FLOATS, operands=3)
def div(e: Emitter, o: Op) -> None:
    result(e, o, e.b.fdiv(operand(e, o, 1), operand(e, o, 2)))


@op("rcp", allow=("rn", "ftz", "approx"), types=FLOATS, operands=2)
def rcp(e: Emitter, o: Op) -> None:
    a = operand(e, o, 1)
    result(e, o, e.b.fdiv(constant(a, 1.0), a))


@op("sqrt", allow=("rn", "ftz", "approx"), types=FLOATS, operands=2)
def sqrt(e: Emitter, o: Op) -> None:
    result(e, o, e.intrinsic("llvm.sqrt", operand(e, o, 1)))


@op("rsqrt", allow=("ftz", "approx"), types=FLOATS, operands=2)
def rsqrt(e: Emitter, o: Op) -> None:
    root = e.intrinsic("llvm.sqrt", operand(e, o, 1))
    result(e, o, e.b.fdiv(constant(root, 1.0), root))


@op("sin", "cos", "ex2", "lg2", "tanh", allow=("approx", "ftz"), types=("f32",), operands=2)
def transcendental(e: Emitter, o: Op) -> None:
    name = {"ex2": "exp2", "lg2": "log2"}.get(o.name, o.name)
    # A call of the C library for each lane.
    result(e, o, e.outlined(e.inst.opcode, lambda a: e.intrinsic(f"llvm.{name}", a), operand(e, o, 1)))


@op("neg", "abs", allow=("ftz",), types=FLOATS, operands=2)
def neg_abs(e: Emitter, o: Op) -> None:
    a = operand(e, o, 1)
    e.write(0, e.b.fneg(a) if o.name == "neg" else e.intrinsic("llvm.fabs", a), o.type)


@op("min", "max", allow=("ftz", "NaN"), types=FLOATS, operands=3)
def min_max(e: Emitter, o: Op) -> None:
    """A NaN loses against a number, unless .NaN says that it wins; -0 is less than +0."""
    a, b = operand(e, o, 1), operand(e, o, 2)
    smaller = e.intrinsic(f"llvm.{o.name}imum", a, b)
    if not o.has("NaN"):
        smaller = e.b.select(
            e.b.fcmp_unordered("uno", a, a), b, e.b.select(e.b.fcmp_unordered("uno", b, b), a, smaller)
        )
    e.write(0, smaller, o.type)


@op("copysign", types=FLOATS, operands=3)
def copysign(e: Emitter, o: Op) -> None:
    """The magnitude of b with the sign of a."""
    e.write(0, e.intrinsic("llvm.copysign", e.read(2, o.type), e.read(1, o.type)), o.type)


@op(
    "testp",
    allow=("finite", "infinite", "number", "notanumber", "normal", "subnormal"),
    types=FLOATS,
    operands=2,
)
def testp(e: Emitter, o: Op) -> None:
    a = e.read(1, o.type)
    size = e.intrinsic("llvm.fabs", a)
    infinity = constant(a, float("inf"))
    least = smallest_normal(a)
    tests = {
        "finite": lambda: e.b.fcmp_ordered("<", size, infinity),
        "infinite": lambda: e.b.fcmp_ordered("==", size, infinity),
        "number": lambda: e.b.fcmp_ordered("ord", a, a),
        "notanumber": lambda: e.b.fcmp_unordered("uno", a, a),
        "normal": lambda: e.b.and_(
            e.b.fcmp_ordered(">=", size, least), e.b.fcmp_ordered("<", size, infinity)
        ),
        "subnormal": lambda: e.b.and_(
            e.b.fcmp_ordered("<", size, least), e.b.fcmp_ordered(">", size, constant(a, 0.0))
        ),
    }
    e.write(0, tests[o.modifiers[0]](), "pred")


def as_bits(e: Emitter, value: Any) -> Any:
    """A float's bits as an integer of the same width."""
    return e.b.bitcast(value, shaped(I32 if element_of(value.type) == F32 else I64, value))
