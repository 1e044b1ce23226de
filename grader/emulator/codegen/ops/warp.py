"""What lanes of a warp tell each other (PTX ISA 9.7.9.6 and 9.7.13): shuffles, votes, matches, reductions."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen import ir
from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.compare import comparison
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import I32, I64, constant, is_vector
from grader.emulator.ptx.tree import Pair
from grader.emulator.runtime.layout import FULL, LANES

_MODES = ("up", "down", "bfly", "idx")
ABSENT_VALUE = 0
"""What a shuffle gives where its source takes no part, as an H200 does; PTX leaves it open."""


def _lane_numbers() -> Any:
    return ir.Constant(ir.VectorType(I32, LANES), [I32(lane) for lane in range(LANES)])


@op("shfl", allow=("sync", *_MODES), types=("b32",), operands=5)
def shfl(e: Emitter, o: Op) -> None:
    """The source lane as the PTX ISA's pseudocode gives it; out of the segment, a lane keeps its own value.

    What PTX leaves undefined, the value of a lane that the mask does not name or that is elsewhere, is ABSENT_VALUE,
    and a finding where it shows (codegen/undefined.py).
    """
    e.check_present(e.inst.operands[4])
    target = e.inst.operands[0]
    value = e.read(1, "b32", vector=True)
    step, clamp = (e.b.and_(e.read(i, "b32", vector=True), _all(bits)) for i, bits in ((2, 31), (3, 0x1F1F)))
    lane = _lane_numbers()
    segment = e.b.lshr(clamp, _all(8))
    limit = e.b.and_(clamp, _all(31))
    outside = e.b.xor(segment, _all(31))
    highest = e.b.or_(e.b.and_(lane, segment), e.b.and_(limit, outside))
    mode = next(m for m in o.modifiers if m in _MODES)
    if mode == "up":
        source = e.b.sub(lane, step)
        holds = e.b.icmp_signed(">=", source, highest)
    else:
        source = {
            "down": lambda: e.b.add(lane, step),
            "bfly": lambda: e.b.xor(lane, step),
            "idx": lambda: e.b.or_(e.b.and_(lane, segment), e.b.and_(step, outside)),
        }[mode]()
        holds = e.b.icmp_signed("<=", source, highest)
    source = e.b.select(holds, source, lane)
    members = e.splat(_members(e, 4))
    both = e.b.or_(e.b.shl(_all(1), source), _own_bits())
    present = e.b.icmp_unsigned("==", e.b.and_(members, both), both)
    e.shuffle = present, source
    result = e.b.select(present, _permuted(e, value, source), _all(ABSENT_VALUE))
    if isinstance(target, Pair):
        e.write(target.first, result, "b32")
        e.write(target.second, holds, "pred")
    else:
        e.write(target, result, "b32")


def _all(number: int) -> Any:
    return ir.Constant(ir.VectorType(I32, LANES), [I32(number)] * LANES)


def _permuted(e: Emitter, value: Any, source: Any) -> Any:
    """Lane i gets the value of lane source[i]: a gather from a buffer."""
    e.store_vector(value, e.second_buffer)
    wide = e.b.zext(source, ir.VectorType(I64, LANES))
    addresses = e.b.add(e.b.shl(wide, constant(wide, 2)), e.splat(e.second_buffer))
    e.store_vector(addresses, e.address_buffer)
    e.call("gather4", e.address_buffer, e.value_buffer, I64(FULL), I64(1))
    return e.load_vector(e.value_buffer, I32)


@op("movmatrix", allow=("sync", "aligned", "m8n8", "trans"), types=("b16",), operands=2)
def movmatrix(e: Emitter, o: Op) -> None:
    """An 8 by 8 matrix of 16-bit elements transposed (PTX ISA 9.7.14.5.17): lane i has two elements of row i / 4."""
    e.check_whole_warp()
    value = e.read(1, "b32", vector=True)
    parts = []
    for element in range(2):
        rows = [2 * (lane % 4) + element for lane in range(LANES)]
        sources = [4 * row + lane // 8 for lane, row in enumerate(rows)]
        shifts = [16 * (lane // 4 % 2) for lane in range(LANES)]
        kind = ir.VectorType(I32, LANES)
        word = _permuted(e, value, ir.Constant(kind, [I32(source) for source in sources]))
        parts.append(e.b.and_(e.b.lshr(word, ir.Constant(kind, [I32(s) for s in shifts])), _all(0xFFFF)))
    e.write(0, e.b.or_(parts[0], e.b.shl(parts[1], _all(16))), "b32")


def _members(e: Emitter, index: int) -> Any:
    """The active lanes that the membermask (operand `index`) names: 32 bits, for all lanes or for each."""
    active = e.b.trunc(e.active_mask(), I32)
    operands = e.inst.operands
    if index >= len(operands):  # the form without .sync has no mask
        return active
    named = e.read(operands[index], "b32", vector=not e.is_uniform(operands[index]))
    return e.b.and_(named, e.splat(active) if is_vector(named) else active)


def _like(e: Emitter, value: Any, members: Any) -> Any:
    return e.splat(value) if is_vector(members) else value


@op("vote", allow=("sync", "all", "any", "uni", "ballot"), types=("pred", "b32"), operands=(2, 3))
def vote(e: Emitter, o: Op) -> None:
    e.check_present(e.inst.operands[2])
    votes = e.b.trunc(e.bits(e.read(1, "pred", vector=True)), I32)
    members = _members(e, 2)
    for_it = e.b.and_(_like(e, votes, members), members)
    if o.has("ballot"):
        e.write(0, for_it, "b32")
        return
    all_for = e.b.icmp_unsigned("==", for_it, members)
    none_for = e.b.icmp_unsigned("==", for_it, constant(for_it, 0))
    result = {"all": all_for, "any": e.b.not_(none_for), "uni": e.b.or_(all_for, none_for)}[o.modifiers[-1]]
    e.write(0, result, "pred")


@op("activemask", types=("b32",), operands=1)
def activemask(e: Emitter, o: Op) -> None:
    e.write(0, e.b.trunc(e.active_mask(), I32), "b32")


@op("elect", allow=("sync",), operands=2)
def elect(e: Emitter, o: Op) -> None:
    """The lowest lane is chosen."""
    target = e.inst.operands[0]
    if not isinstance(target, Pair):
        raise e.unsupported()
    members = e.splat(_members(e, 1))
    lowest = e.b.and_(members, e.b.sub(constant(members, 0), members))
    e.write(target.first, e.b.sub(constant(members, 31), e.leading_zeros(lowest)), "b32")
    e.write(target.second, e.b.icmp_unsigned("==", lowest, _own_bits()), "pred")


def _own_bits() -> Any:
    return ir.Constant(ir.VectorType(I32, LANES), [I32(1 << lane) for lane in range(LANES)])


@op("match", allow=("sync", "any", "all"), types=("b32", "b64"), operands=3)
def match(e: Emitter, o: Op) -> None:
    """Which members have the same value: compared with each lane's value in turn."""
    e.check_present(e.inst.operands[2])
    value = e.read(1, o.type, vector=True)
    members = e.splat(_members(e, 2))
    alike: Any = constant(members, 0)
    for lane in range(LANES):
        same = comparison(e, "eq", "b32", value, e.splat(e.b.extract_element(value, I32(lane))))
        alike = e.b.or_(alike, e.b.select(same, constant(alike, 1 << lane), constant(alike, 0)))
    alike = e.b.and_(alike, members)
    target = e.inst.operands[0]
    if o.has("any"):
        e.write(target, alike, "b32")
        return
    all_alike = e.b.icmp_unsigned("==", alike, members)
    e.write(
        target.first if isinstance(target, Pair) else target,
        e.b.select(all_alike, members, constant(members, 0)),
        "b32",
    )
    if isinstance(target, Pair):
        e.write(target.second, all_alike, "pred")


@op("redux", allow=("sync", "add", "min", "max", "and", "or", "xor"), types=("u32", "s32", "b32"), operands=3)
def redux(e: Emitter, o: Op) -> None:
    e.check_present(e.inst.operands[2])
    value = e.read(1, o.type, vector=True)
    how = o.modifiers[-1]
    signed = o.type == "s32"
    neutral = {
        "add": 0, "or": 0, "xor": 0, "and": -1,
        "min": 0x7FFFFFFF if signed else -1, "max": -0x80000000 if signed else 0,
    }[how]  # fmt: skip
    name = f"{'s' if signed else 'u'}{how}" if how in ("min", "max") else how
    members = _members(e, 2)
    if not is_vector(members):
        chosen = e.b.select(e.lanes(e.b.zext(members, I64)), value, constant(value, neutral))
        e.write(0, e.reduce(f"llvm.vector.reduce.{name}", chosen), o.type)
        return
    total: Any = constant(value, neutral)
    for lane in range(LANES):
        bit = e.b.and_(members, constant(members, 1 << lane))
        one = e.splat(e.b.extract_element(value, I32(lane)))
        one = e.b.select(e.b.icmp_unsigned("!=", bit, constant(bit, 0)), one, constant(value, neutral))
        total = _joined(e, how, name, total, one)
    e.write(0, total, o.type)


def _joined(e: Emitter, how: str, name: str, a: Any, b: Any) -> Any:
    if how in ("min", "max"):
        return e.intrinsic(f"llvm.{name}", a, b)
    return {"add": e.b.add, "and": e.b.and_, "or": e.b.or_, "xor": e.b.xor}[how](a, b)
