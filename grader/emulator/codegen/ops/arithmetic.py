"""Integer arithmetic (PTX ISA 9.7.1 and 9.7.2): add to dp4a, and the carry chains."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen import ir
from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import I1, I8, I16, I32, constant, element_of, shaped, width_of

INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64", "b16", "b32", "b64")
WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}


def _signed(kind: str) -> bool:
    return kind[0] == "s"


def extend(e: Emitter, value: Any, bits: int, signed: bool) -> Any:
    """The integer, widened to `bits`."""
    kind = shaped(ir.IntType(bits), value)
    return e.b.sext(value, kind) if signed else e.b.zext(value, kind)


@op("add", "sub", allow=("sat",), types=INTEGERS, operands=3)
def add_sub(e: Emitter, o: Op) -> None:
    a, b = e.read(1, o.type), e.read(2, o.type)
    if o.has("sat"):
        name = f"llvm.{'s' if _signed(o.type) else 'u'}{o.name}.sat"
        e.write(0, e.intrinsic(name, a, b), o.type)
    else:
        e.write(0, e.b.add(a, b) if o.name == "add" else e.b.sub(a, b), o.type)


def product(e: Emitter, o: Op) -> tuple[Any, str]:
    """The .lo, .hi or .wide product of operands 1 and 2, and its type."""
    kind = o.type
    a, b = e.read(1, kind), e.read(2, kind)
    if o.has("wide"):
        bits = width_of(a.type) * 2
        return e.b.mul(extend(e, a, bits, _signed(kind)), extend(e, b, bits, _signed(kind))), WIDER[kind]
    if o.has("hi"):
        bits = width_of(a.type)
        wide = e.b.mul(extend(e, a, 2 * bits, _signed(kind)), extend(e, b, 2 * bits, _signed(kind)))
        return e.b.trunc(e.b.lshr(wide, constant(wide, bits)), a.type), kind
    return e.b.mul(a, b), kind


@op("mul", allow=("lo", "hi", "wide"), types=INTEGERS, operands=3)
def mul(e: Emitter, o: Op) -> None:
    value, kind = product(e, o)
    e.write(0, value, kind)


@op("mad", allow=("lo", "hi", "wide"), types=INTEGERS, operands=4)
def mad(e: Emitter, o: Op) -> None:
    value, kind = product(e, o)
    e.write(0, e.b.add(value, e.read(3, kind)), kind)


@op("mul24", "mad24", allow=("lo",), types=("u32", "s32"), operands=(3, 4))
def mul24(e: Emitter, o: Op) -> None:
    value = e.b.mul(_low24(e, 1, o), _low24(e, 2, o))
    e.write(0, e.b.add(value, e.read(3, o.type)) if o.name == "mad24" else value, o.type)


def _low24(e: Emitter, index: int, o: Op) -> Any:
    value = e.read(index, o.type)
    eight = constant(value, 8)
    up = e.b.shl(value, eight)
    return e.b.ashr(up, eight) if _signed(o.type) else e.b.lshr(up, eight)


@op("div", "rem", types=INTEGERS, operands=3)
def divide(e: Emitter, o: Op) -> None:
    """Division by zero gives all ones (what the hardware does; PTX leaves it open), the remainder the dividend."""

    def compute(a: Any, b: Any) -> Any:
        by_zero = e.b.icmp_unsigned("==", b, constant(b, 0))
        unsafe = by_zero
        if _signed(o.type):
            least = constant(a, -(1 << (width_of(a.type) - 1)))
            overflow = e.b.and_(e.b.icmp_signed("==", a, least), e.b.icmp_signed("==", b, constant(b, -1)))
            unsafe = e.b.or_(by_zero, overflow)
        safe = e.b.select(unsafe, constant(b, 1), b)
        if o.name == "div":
            quotient = e.b.sdiv(a, safe) if _signed(o.type) else e.b.udiv(a, safe)
            return e.b.select(by_zero, constant(a, -1), quotient)
        remainder = e.b.srem(a, safe) if _signed(o.type) else e.b.urem(a, safe)
        return e.b.select(by_zero, a, remainder)

    # Processors have no division of vectors, so that this becomes one for each lane.
    e.write(0, e.outlined(e.inst.opcode, compute, e.read(1, o.type), e.read(2, o.type)), o.type)


@op("neg", "abs", types=("s16", "s32", "s64"), operands=2)
def neg_abs(e: Emitter, o: Op) -> None:
    a = e.read(1, o.type)
    negative = e.b.sub(constant(a, 0), a)
    if o.name == "abs":
        negative = e.b.select(e.b.icmp_signed("<", a, constant(a, 0)), negative, a)
    e.write(0, negative, o.type)


@op("min", "max", types=INTEGERS, operands=3)
def min_max(e: Emitter, o: Op) -> None:
    name = f"llvm.{'s' if _signed(o.type) else 'u'}{o.name}"
    e.write(0, e.intrinsic(name, e.read(1, o.type), e.read(2, o.type)), o.type)


@op("sad", types=INTEGERS, operands=4)
def sad(e: Emitter, o: Op) -> None:
    """|a - b| + c"""
    a, b, c = (e.read(i, o.type) for i in (1, 2, 3))
    sign = "s" if _signed(o.type) else "u"
    gap = e.b.sub(e.intrinsic(f"llvm.{sign}max", a, b), e.intrinsic(f"llvm.{sign}min", a, b))
    e.write(0, e.b.add(gap, c), o.type)


# -- carry chains: add.cc sets the carry flag, addc uses it --------------------------------------------------------


def chain(e: Emitter, o: Op, a: Any, b: Any, subtract: bool, carry_in: bool) -> Any:
    """a ± b ± carry in twice the width; the carry out is kept in the emitter until the block ends.

    There is one flag, and a difference is the sum a + ~b + 1: the flag is the carry of that sum, so 1 where nothing is
    borrowed. PTX leaves open what addc makes of a borrow, or subc of a carry; the hardware takes the flag as it is.
    """
    bits = width_of(a.type)
    wide_a, wide_b = extend(e, a, 2 * bits, False), extend(e, e.b.not_(b) if subtract else b, 2 * bits, False)
    total = e.b.add(wide_a, wide_b)
    if carry_in:
        if e.carry is None:
            raise e.unsupported(f"{o.name} whose carry comes from another basic block")
        total = e.b.add(total, e.b.zext(e.splat(e.carry) if e.vector else e.carry, total.type))
    elif subtract:
        total = e.b.add(total, constant(total, 1))
    if o.has("cc"):
        e.set_carry(e.b.trunc(e.b.lshr(total, constant(total, bits)), shaped(I1, total)))
    return e.b.trunc(total, a.type)


@op("add", "sub", allow=("cc",), types=("u32", "s32", "b32", "u64", "s64", "b64"), operands=3)
def add_cc(e: Emitter, o: Op) -> None:
    e.write(0, chain(e, o, e.read(1, o.type), e.read(2, o.type), o.name == "sub", False), o.type)


@op("addc", "subc", allow=("cc",), types=("u32", "s32", "b32", "u64", "s64", "b64"), operands=3)
def addc(e: Emitter, o: Op) -> None:
    e.write(0, chain(e, o, e.read(1, o.type), e.read(2, o.type), o.name == "subc", True), o.type)


@op("mad", "madc", allow=("lo", "hi", "cc"), types=("u32", "s32", "u64", "s64"), operands=4)
def mad_cc(e: Emitter, o: Op) -> None:
    value, kind = product(e, o)
    e.write(0, chain(e, o, value, e.read(3, kind), False, o.name == "madc"), kind)


# -- bits ---------------------------------------------------------------------------------------------------------


@op("popc", "clz", types=("b32", "b64"), operands=2)
def count_bits(e: Emitter, o: Op) -> None:
    a = e.read(1, o.type)
    count = e.intrinsic("llvm.ctpop", a) if o.name == "popc" else e.leading_zeros(a)
    e.write(0, e.convert_bits(count, I32), "u32")


@op("bfind", allow=("shiftamt",), types=("u32", "s32", "u64", "s64"), operands=2)
def bfind(e: Emitter, o: Op) -> None:
    """The position of the highest bit that is not a copy of the sign; -1 where there is none."""
    a = e.read(1, o.type)
    if _signed(o.type):
        a = e.b.select(e.b.icmp_signed("<", a, constant(a, 0)), e.b.not_(a), a)
    leading = e.leading_zeros(a)
    position = leading if o.has("shiftamt") else e.b.sub(constant(a, width_of(a.type) - 1), leading)
    none = e.b.icmp_unsigned("==", a, constant(a, 0))
    e.write(0, e.convert_bits(e.b.select(none, constant(a, -1), position), I32), "u32")


@op("fns", types=("b32",), operands=4)
def fns(e: Emitter, o: Op) -> None:
    """The position of the n-th set bit, counted from bit `base` upwards, or downwards for a negative n; for n = 0 that
    of bit `base` if it is set. -1 where there is none."""
    mask, base, n = e.read(1, "u32"), e.read(2, "u32"), e.read(3, "s32")
    zero, one = constant(mask, 0), constant(mask, 1)
    down = e.b.icmp_signed("<", n, zero)
    rest = e.b.select(down, e.intrinsic("llvm.bitreverse", mask), mask)
    first = e.b.and_(e.b.select(down, e.b.sub(constant(base, 31), base), base), constant(base, 31))
    rest = e.b.and_(rest, e.b.shl(constant(mask, -1), first))
    alone = e.b.icmp_unsigned("==", n, zero)
    rest = e.b.select(alone, e.b.and_(rest, e.b.shl(one, first)), rest)
    count = e.b.select(down, e.b.sub(zero, n), n)
    for before in range(1, 32):
        without_lowest = e.b.and_(rest, e.b.sub(rest, one))
        rest = e.b.select(e.b.icmp_unsigned("<", constant(count, before), count), without_lowest, rest)
    found = e.leading_zeros(e.intrinsic("llvm.bitreverse", rest))
    found = e.b.select(down, e.b.sub(constant(found, 31), found), found)
    none = e.b.or_(e.b.icmp_unsigned("==", rest, zero), e.b.icmp_unsigned(">", count, constant(count, 32)))
    e.write(0, e.b.select(none, constant(found, -1), found), "u32")


@op("brev", types=("b32", "b64"), operands=2)
def brev(e: Emitter, o: Op) -> None:
    e.write(0, e.intrinsic("llvm.bitreverse", e.read(1, o.type)), o.type)


@op("bfe", types=("u32", "s32", "u64", "s64"), operands=4)
def bfe(e: Emitter, o: Op) -> None:
    """Bits pos … pos + len - 1 of a, filled with zeros or with the field's sign."""
    a = e.read(1, o.type)
    bits = width_of(a.type)
    position, length = (_byte(e, i, a) for i in (2, 3))
    wide = extend(e, a, 2 * bits, _signed(o.type))
    small = constant(wide, bits)
    position, length = (extend(e, v, 2 * bits, False) for v in (position, length))
    position = e.intrinsic("llvm.umin", position, small)
    length = e.intrinsic("llvm.umin", length, small)
    field = e.b.ashr(wide, position) if _signed(o.type) else e.b.lshr(wide, position)
    up = e.b.sub(constant(wide, 2 * bits - 1), length)
    up = e.b.add(up, constant(wide, 1))
    empty = e.b.icmp_unsigned("==", length, constant(wide, 0))
    up = e.b.select(empty, constant(wide, 0), up)
    field = e.b.shl(field, up)
    field = e.b.ashr(field, up) if _signed(o.type) else e.b.lshr(field, up)
    e.write(0, e.b.trunc(e.b.select(empty, constant(wide, 0), field), a.type), o.type)


def _byte(e: Emitter, index: int, like: Any) -> Any:
    """The low byte of a 32-bit operand, in the width of `like`."""
    value = e.b.and_(e.read(index, "u32"), constant(e.read(index, "u32"), 255))
    return e.convert_bits(value, element_of(like.type))


@op("bfi", types=("b32", "b64"), operands=5)
def bfi(e: Emitter, o: Op) -> None:
    """b with the low `len` bits of a put in at `pos`."""
    a, b = e.read(1, o.type), e.read(2, o.type)
    bits = width_of(a.type)
    position, length = (extend(e, _byte(e, i, a), 2 * bits, False) for i in (3, 4))
    limit = constant(position, bits)
    position, length = e.intrinsic("llvm.umin", position, limit), e.intrinsic("llvm.umin", length, limit)
    one = constant(position, 1)
    field = e.b.shl(e.b.sub(e.b.shl(one, length), one), position)
    moved = e.b.shl(extend(e, a, 2 * bits, False), position)
    kept = e.b.and_(extend(e, b, 2 * bits, False), e.b.not_(field))
    e.write(0, e.b.trunc(e.b.or_(kept, e.b.and_(moved, field)), a.type), o.type)


@op("bmsk", allow=("clamp", "wrap"), types=("b32",), operands=3)
def bmsk(e: Emitter, o: Op) -> None:
    """b ones from bit a upwards (PTX ISA 9.7.1.22), cut off at bit 31; with .wrap, a and b count modulo 32."""
    ones = _low_ones(e, _amount(e, o, 2))
    start = extend(e, _amount(e, o, 1), 64, False)
    e.write(0, e.b.trunc(e.b.shl(extend(e, ones, 64, False), start), ones.type), "b32")


@op("szext", allow=("clamp", "wrap"), types=("u32", "s32"), operands=3)
def szext(e: Emitter, o: Op) -> None:
    """The low b bits of a, filled with zeros or with their sign (PTX ISA 9.7.1.21); with .wrap, b counts modulo 32."""
    a, length = e.read(1, "b32"), _amount(e, o, 2)
    field = _low_ones(e, length)
    value = e.b.and_(a, field)
    if _signed(o.type):
        top = e.b.sub(field, e.b.lshr(field, constant(field, 1)))
        negative = e.b.icmp_unsigned("!=", e.b.and_(a, top), constant(a, 0))
        value = e.b.select(negative, e.b.or_(value, e.b.not_(field)), value)
    e.write(0, value, o.type)


def _amount(e: Emitter, o: Op, index: int) -> Any:
    """A number of bits: at most 32, or modulo 32 with .wrap."""
    value = e.read(index, "u32")
    if o.has("wrap"):
        return e.b.and_(value, constant(value, 31))
    return e.intrinsic("llvm.umin", value, constant(value, 32))


def _low_ones(e: Emitter, count: Any) -> Any:
    """The number whose lowest `count` bits, 0 to 32, are set."""
    one = constant(extend(e, count, 64, False), 1)
    return e.b.trunc(e.b.sub(e.b.shl(one, extend(e, count, 64, False)), one), count.type)


@op("dp4a", types=("u32", "s32"), operands=4)
def dp4a(e: Emitter, o: Op) -> None:
    """Four products of bytes added to c."""
    a, b, total = e.read(1, "b32"), e.read(2, "b32"), e.read(3, "b32")
    for byte in range(4):
        x, y = (_lane_byte(e, v, byte, _signed(t)) for v, t in ((a, o.types[0]), (b, o.types[1])))
        total = e.b.add(total, e.b.mul(x, y))
    e.write(0, total, "b32")


@op("dp2a", allow=("lo", "hi"), types=("u32", "s32"), operands=4)
def dp2a(e: Emitter, o: Op) -> None:
    """Two products of a's halves and b's lower or upper bytes added to c (PTX ISA 9.7.1.24)."""
    a, b, total = e.read(1, "b32"), e.read(2, "b32"), e.read(3, "b32")
    signed = [_signed(t) for t in o.types]
    for index in range(2):
        half = e.b.trunc(e.b.lshr(a, constant(a, 16 * index)), shaped(I16, a))
        byte = _lane_byte(e, b, index + (2 if o.has("hi") else 0), signed[1])
        total = e.b.add(total, e.b.mul(extend(e, half, 32, signed[0]), byte))
    e.write(0, total, "b32")


def _lane_byte(e: Emitter, value: Any, byte: int, signed: bool) -> Any:
    small = e.b.trunc(e.b.lshr(value, constant(value, 8 * byte)), shaped(I8, value))
    return extend(e, small, 32, signed)
