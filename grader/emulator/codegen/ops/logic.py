"""Logic and shifts (PTX ISA 9.7.8): and to prmt."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.arithmetic import extend
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import constant, width_of
from grader.emulator.ptx.tree import Imm, Pair


@op("and", "or", "xor", types=("pred", "b16", "b32", "b64"), operands=3)
def bitwise(e: Emitter, o: Op) -> None:
    build = {"and": e.b.and_, "or": e.b.or_, "xor": e.b.xor}[o.name]
    e.write(0, build(e.read(1, o.type), e.read(2, o.type)), o.type)


@op("not", types=("pred", "b16", "b32", "b64"), operands=2)
def invert(e: Emitter, o: Op) -> None:
    e.write(0, e.b.not_(e.read(1, o.type)), o.type)


@op("cnot", types=("b16", "b32", "b64"), operands=2)
def cnot(e: Emitter, o: Op) -> None:
    a = e.read(1, o.type)
    e.write(0, e.b.zext(e.b.icmp_unsigned("==", a, constant(a, 0)), a.type), o.type)


@op("shl", "shr", types=("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"), operands=3)
def shift(e: Emitter, o: Op) -> None:
    """Shifts by the width or more give zero, or the sign in all bits."""
    a = e.read(1, o.type)
    bits = width_of(a.type)
    amount = e.convert_bits(e.read(2, "u32"), a.type.element if hasattr(a.type, "element") else a.type)
    if bits == 16:  # an amount cut to 16 bits could look small again
        amount = e.b.trunc(e.intrinsic("llvm.umin", e.read(2, "u32"), constant(e.read(2, "u32"), 16)), a.type)
    signed = o.name == "shr" and o.type[0] == "s"
    if signed:
        amount = e.intrinsic("llvm.umin", amount, constant(amount, bits - 1))
        e.write(0, e.b.ashr(a, amount), o.type)
        return
    safe = e.b.and_(amount, constant(amount, bits - 1))
    moved = e.b.shl(a, safe) if o.name == "shl" else e.b.lshr(a, safe)
    given = e.inst.operands[2]
    if not (isinstance(given, Imm) and 0 <= int(given.value) < bits):
        moved = e.b.select(e.b.icmp_unsigned("<", amount, constant(amount, bits)), moved, constant(a, 0))
    e.write(0, moved, o.type)


@op("shf", allow=("l", "r", "wrap", "clamp"), types=("b32",), operands=4)
def funnel(e: Emitter, o: Op) -> None:
    """32 bits of the 64-bit value b:a, shifted left (the upper half) or right (the lower)."""
    a, b, amount = (e.read(i, "b32") for i in (1, 2, 3))
    if o.has("wrap"):
        amount = e.b.and_(amount, constant(amount, 31))
    else:
        amount = e.intrinsic("llvm.umin", amount, constant(amount, 32))
    both = e.b.or_(
        e.b.shl(extend(e, b, 64, False), constant(extend(e, b, 64, False), 32)), extend(e, a, 64, False)
    )
    wide = extend(e, amount, 64, False)
    moved = e.b.lshr(e.b.shl(both, wide), constant(both, 32)) if o.has("l") else e.b.lshr(both, wide)
    e.write(0, e.b.trunc(moved, a.type), "b32")


@op("lop3", types=("b32",), operands=5)
def lop3(e: Emitter, o: Op) -> None:
    """Any function of three bits, by its truth table."""
    e.write(0, _truth(e), "b32")


@op("lop3", allow=("and", "or"), types=("b32",), operands=6)
def lop3_with_predicate(e: Emitter, o: Op) -> None:
    """d|p: whether the result is not zero, and or or the last operand (PTX ISA 9.7.8.6)."""
    target = e.inst.operands[0]
    if not isinstance(target, Pair):
        raise e.unsupported()
    value, other = _truth(e), e.read(5, "pred")
    some = e.b.icmp_unsigned("!=", value, constant(value, 0))
    e.write(target.first, value, "b32")
    e.write(target.second, e.b.and_(some, other) if o.has("and") else e.b.or_(some, other), "pred")


def _truth(e: Emitter) -> Any:
    """The function of operands 1 to 3 whose truth table is operand 4: the sum of the minterms that are set."""
    table = e.inst.operands[4]
    assert isinstance(table, Imm)
    a, b, c = (e.read(i, "b32") for i in (1, 2, 3))
    result: Any = constant(a, 0)
    for row in range(8):
        if int(table.value) >> row & 1:
            terms = [v if row >> bit & 1 else e.b.not_(v) for v, bit in ((a, 2), (b, 1), (c, 0))]
            result = e.b.or_(result, e.b.and_(e.b.and_(terms[0], terms[1]), terms[2]))
    return result


_PICKS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543), "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333), "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333), "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
}  # fmt: skip
"""Mode of prmt → the selectors that the values 0 to 3 of its last operand stand for (PTX ISA 9.7.9.7)."""


@op("prmt", allow=_PICKS, types=("b32",), operands=4)
def prmt(e: Emitter, o: Op) -> None:
    """Four bytes picked from the eight of b:a; bit 3 of a selector spreads the byte's sign."""
    a, b, selector = (e.read(i, "b32") for i in (1, 2, 3))
    if o.modifiers:
        number = e.b.and_(selector, constant(selector, 3))
        selector = constant(selector, 0)
        for value, picks in enumerate(_PICKS[o.modifiers[0]]):
            chosen = e.b.icmp_unsigned("==", number, constant(number, value))
            selector = e.b.select(chosen, constant(selector, picks), selector)
    low, high = extend(e, a, 64, False), extend(e, b, 64, False)
    both = e.b.or_(low, e.b.shl(high, constant(high, 32)))
    result: Any = constant(a, 0)
    for byte in range(4):
        pick = e.b.lshr(selector, constant(selector, 4 * byte))
        distance = e.b.shl(e.b.and_(pick, constant(pick, 7)), constant(pick, 3))
        part = e.b.trunc(e.b.lshr(both, extend(e, distance, 64, False)), a.type)
        part = e.b.and_(part, constant(part, 255))
        sign = e.b.icmp_unsigned(">", part, constant(part, 127))
        spread = e.b.select(sign, constant(part, 255), constant(part, 0))
        replicate = e.b.icmp_unsigned("!=", e.b.and_(pick, constant(pick, 8)), constant(pick, 0))
        part = e.b.select(replicate, spread, part)
        result = e.b.or_(result, e.b.shl(part, constant(part, 8 * byte)))
    e.write(0, result, "b32")
