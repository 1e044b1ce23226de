"""Clusters: addresses in shared memory of other blocks (PTX ISA 9.7.9.22 to .24), their barrier (9.7.13.4), stores that
complete an mbarrier there (9.7.9.12, 9.7.13.8)."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.memory import address
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import I64, constant, scalar_type
from grader.emulator.ptx.tree import TYPE_BYTES, Operand, Vec
from grader.emulator.runtime import layout

_OFFSETS = (1 << layout.RANK_AT) - 1
_RANKS = (1 << 32 - layout.RANK_AT) - 1


@op("mapa", allow=("shared::cluster",), types=("u32", "u64"), operands=3)
def mapa(e: Emitter, o: Op) -> None:
    """The same place in the shared memory of the block of a rank; addresses are generic, or the space's own."""
    a, rank = e.read(1, o.type), e.convert_bits(e.read(2, "u32"), scalar_type(o.type))
    place = e.b.and_(a, constant(a, _OFFSETS))
    there = e.b.shl(e.b.add(rank, constant(rank, 1)), constant(rank, layout.RANK_AT))
    mapped = e.b.or_(place, there)
    if not o.has("shared::cluster"):
        mapped = e.b.add(mapped, constant(mapped, layout.SHARED_WINDOW))
    e.write(0, mapped, o.type)


@op("getctarank", allow=("shared::cluster",), types=("u32", "u64"), operands=2)
def getctarank(e: Emitter, o: Op) -> None:
    """Of an address without a rank, it is the own block's."""
    a = e.read(1, o.type)
    number = e.b.and_(e.b.lshr(a, constant(a, layout.RANK_AT)), constant(a, _RANKS))
    own = e.convert_bits(e.context_slot(layout.RANK), scalar_type(o.type))
    own = e.splat(own) if e.vector else own
    rank = e.b.select(
        e.b.icmp_unsigned("==", number, constant(number, 0)), own, e.b.sub(number, constant(number, 1))
    )
    e.write(0, e.convert_bits(rank, scalar_type("u32")), "u32")


@op("barrier", allow=("cluster", "arrive", "release", "relaxed", "aligned"), operands=0)
def arrive(e: Emitter, o: Op) -> None:
    if not o.has("arrive"):
        raise e.unsupported()
    with e.where_active() as mask:
        e.call("cluster_arrive", e.context, mask, I64(int(not o.has("relaxed"))))


def wait_for_cluster(e: Emitter, block: int) -> Any:
    """In front of a barrier.cluster.wait, the first instruction of a basic block: not 0 where its lanes go on."""
    return e.call("cluster_hold", e.context, e.warp, I64(block), e.site_address(), e.active_mask(), e.mask)


@op("barrier", allow=("cluster", "wait", "acquire", "aligned"), operands=0)
def wait(e: Emitter, o: Op) -> None:
    with e.where_active():
        e.call("cluster_wait", e.context)


_ASYNC = ("async", "shared::cluster", "mbarrier::complete_tx::bytes")
_WORDS = ("b32", "b64", "u32", "u64", "s32", "s64", "f32", "f64")


def _send(e: Emitter, o: Op, values: tuple[Operand, ...], operation: int) -> None:
    target, _, mbarrier = e.inst.operands
    nbytes = TYPE_BYTES[o.type]
    targets, places = address(e, target, vector=True), address(e, mbarrier, vector=True)
    given = [e.read(value, f"b{8 * nbytes}", vector=True) for value in values]
    with e.where_active() as mask:
        e.store_vector(targets, e.address_buffer)
        e.store_vector(places, e.second_buffer)
        for index, value in enumerate(given):
            e.store_vector(value, e.b.add(e.value_buffer, I64(index * nbytes * layout.LANES)))
        e.call("store_to_peer", e.context, e.site_address(), e.address_buffer, e.value_buffer, e.second_buffer, mask,
               I64(nbytes * len(given)), I64(nbytes), I64(operation))  # fmt: skip


@op("st", allow=(*_ASYNC, "weak", "v2", "v4"), types=_WORDS, operands=3)
def store_async(e: Emitter, o: Op) -> None:
    values = e.inst.operands[1]
    items = values.items if isinstance(values, Vec) else (values,)
    if not o.has("async") or TYPE_BYTES[o.type] * len(items) > 16:
        raise e.unsupported()
    _send(e, o, items, -1)


_OPERATIONS = ("add", "min", "max", "and", "or", "xor", "inc", "dec")


@op(
    "red", allow=(*_ASYNC, "relaxed", "cluster", *_OPERATIONS), types=("u32", "s32", "u64", "b32"), operands=3
)
def reduce_async(e: Emitter, o: Op) -> None:
    if not o.has("async"):
        raise e.unsupported()
    name = next(part for part in o.modifiers if part in _OPERATIONS)
    sign = f"_{'S' if o.type[0] == 's' else 'U'}" if name in ("min", "max") else ""
    _send(e, o, (e.inst.operands[1],), int(getattr(layout, f"ATOM_{name.upper()}{sign}")))
