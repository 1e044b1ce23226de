"""What lanes of a warp tell each other (PTX ISA 9.7.9.6 and 9.7.13): shuffles, votes, matches, reductions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir

from grader.emulator.ops.compare import comparison
from grader.emulator.ops.registry import Op, op
from grader.emulator.ptx import Pair
from grader.emulator.runtime.layout import FULL, LANES
from grader.emulator.values import I32, I64, constant

if TYPE_CHECKING:
    from grader.emulator.codegen import Emitter

_MODES = ("up", "down", "bfly", "idx")


def _lane_numbers() -> Any:
    return ir.Constant(ir.VectorType(I32, LANES), [I32(lane) for lane in range(LANES)])


@op("shfl", allow=("sync", *_MODES), types=("b32",))
def shfl(e: Emitter, o: Op) -> None:
    """The source lane as the PTX ISA's pseudocode gives it; out of the segment, a lane keeps its own value."""
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
    result = _permuted(e, value, source)
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


def _ballot(e: Emitter, predicate: Any) -> Any:
    """The active lanes whose predicate holds, as an int64 mask."""
    return e.b.and_(e.active_mask(), e.bits(predicate))


@op("vote", allow=("sync", "all", "any", "uni", "ballot"), types=("pred", "b32"))
def vote(e: Emitter, o: Op) -> None:
    for_it = _ballot(e, e.read(1, "pred", vector=True))
    if o.has("ballot"):
        e.write(0, e.b.trunc(for_it, I32), "b32")
        return
    everybody = e.b.icmp_unsigned("==", for_it, e.active_mask())
    nobody = e.b.icmp_unsigned("==", for_it, I64(0))
    result = {"all": everybody, "any": e.b.not_(nobody), "uni": e.b.or_(everybody, nobody)}[o.modifiers[-1]]
    e.write(0, result, "pred")


@op("activemask", types=("b32",))
def activemask(e: Emitter, o: Op) -> None:
    e.write(0, e.b.trunc(e.active_mask(), I32), "b32")


@op("elect", allow=("sync",))
def elect(e: Emitter, o: Op) -> None:
    """The lowest active lane is chosen."""
    target = e.inst.operands[0]
    if not isinstance(target, Pair):
        raise e.unsupported()
    leader = e.b.trunc(e.b.cttz(e.active_mask(), ir.IntType(1)(0)), I32)
    e.write(target.first, leader, "b32")
    e.write(target.second, e.b.icmp_unsigned("==", _lane_numbers(), e.splat(leader)), "pred")


@op("match", allow=("sync", "any", "all"), types=("b32", "b64"))
def match(e: Emitter, o: Op) -> None:
    """Which lanes have the same value: compared with each lane's value in turn."""
    value = e.read(1, o.type, vector=True)
    active = e.active_mask()
    if o.has("all"):
        leader = e.b.trunc(e.b.cttz(active, ir.IntType(1)(0)), I32)
        same = comparison(e, "eq", "b32", value, e.splat(e.b.extract_element(value, leader)))
        all_same = e.b.icmp_unsigned("==", e.b.and_(e.bits(same), active), active)
        target = e.inst.operands[0]
        mask = e.b.select(all_same, e.b.trunc(active, I32), I32(0))
        e.write(target.first if isinstance(target, Pair) else target, mask, "b32")
        if isinstance(target, Pair):
            e.write(target.second, all_same, "pred")
        return
    result: Any = constant(e.splat(I32(0)), 0)
    for lane in range(LANES):
        same = comparison(e, "eq", "b32", value, e.splat(e.b.extract_element(value, I32(lane))))
        present = e.b.and_(e.b.lshr(active, I64(lane)), I64(1))
        bit = e.b.shl(e.b.trunc(present, I32), I32(lane))
        result = e.b.or_(result, e.b.select(same, e.splat(bit), constant(result, 0)))
    e.write(0, result, "b32")


@op("redux", allow=("sync", "add", "min", "max", "and", "or", "xor"), types=("u32", "s32", "b32"))
def redux(e: Emitter, o: Op) -> None:
    value = e.read(1, o.type, vector=True)
    how = o.modifiers[-1]
    signed = o.type == "s32"
    neutral = {
        "add": 0, "or": 0, "xor": 0, "and": -1,
        "min": 0x7FFFFFFF if signed else -1, "max": -0x80000000 if signed else 0,
    }[how]  # fmt: skip
    value = e.b.select(e.lanes(e.active_mask()), value, constant(value, neutral))
    name = f"{'s' if signed else 'u'}{how}" if how in ("min", "max") else how
    e.write(0, e.reduce(f"llvm.vector.reduce.{name}", value), o.type)
