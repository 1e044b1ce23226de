"""mbarriers (PTX ISA 9.7.13.15), bulk and tensor copies (9.7.9.25.4 and .5), fences between the proxies (9.7.13.4)."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.memory import address
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import I32, I64, constant
from grader.emulator.ptx.tree import TYPE_BYTES, Imm, Mem, Operand
from grader.emulator.runtime import layout

_SPACES = ("shared", "shared::cta")
_OF_CLUSTER = (*_SPACES, "shared::cluster")
_SCOPES = ("cta", "cluster")
_HOW = {
    "drop": layout.DROPS,
    "noComplete": layout.INCOMPLETE,
    "expect_tx": layout.EXPECTS,
    "relaxed": layout.RELAXED,
}


def _wide(e: Emitter, operand: Operand, kind: str = "u32") -> Any:
    """An operand of 32 bits, or of 64, as a vector of int64."""
    value = e.read(operand, kind, vector=True)
    return value if kind.endswith("64") else e.b.zext(value, e.lane_type(64))


def _how(o: Op) -> Any:
    drops = layout.DROPS if o.has("arrive_drop") else 0
    return I64(drops | sum(bit for name, bit in _HOW.items() if o.has(name)))


@op("mbarrier", allow=("init", *_SPACES), types=("b64",), operands=2)
def init(e: Emitter, o: Op) -> None:
    places, counts = address(e, e.inst.operands[0], vector=True), _wide(e, e.inst.operands[1])
    with e.where_active() as mask:
        e.store_vector(places, e.address_buffer)
        e.store_vector(counts, e.value_buffer)
        e.call("mbarrier_init", e.context, e.site_address(), e.address_buffer, e.value_buffer, mask)


@op("mbarrier", allow=("inval", *_SPACES), types=("b64",), operands=1)
def inval(e: Emitter, o: Op) -> None:
    places = address(e, e.inst.operands[0], vector=True)
    with e.where_active() as mask:
        e.store_vector(places, e.address_buffer)
        e.call("mbarrier_inval", e.context, e.site_address(), e.address_buffer, mask)


@op("mbarrier", allow=("arrive", "arrive_drop", "expect_tx", "noComplete", "release", "relaxed", *_SCOPES,
                       *_OF_CLUSTER), types=("b64",), operands=(1, 2, 3))  # fmt: skip
def arrive(e: Emitter, o: Op) -> None:
    """The last operand is how many arrive, with .expect_tx how many bytes are to come."""
    if not (o.has("arrive") or o.has("arrive_drop")):  # a bare .expect_tx, whose modifiers are all known here
        transaction(e, o)
        return
    operands = list(e.inst.operands)
    target = None if isinstance(operands[0], Mem) else operands.pop(0)
    places = address(e, operands[0], vector=True)
    number = _wide(e, operands[1]) if len(operands) > 1 else e.splat(I64(1))
    with e.where_active() as mask:
        e.store_vector(places, e.address_buffer)
        e.store_vector(e.splat(I64(1)) if o.has("expect_tx") else number, e.value_buffer)
        e.store_vector(number, e.second_buffer)
        e.call("mbarrier_arrive", e.context, e.site_address(), e.address_buffer, e.value_buffer, e.second_buffer,
               e.value_buffer, mask, _how(o))  # fmt: skip
    if target is not None:
        e.write(target, e.load_vector(e.value_buffer, I64), "b64")


@op(
    "mbarrier",
    allow=("expect_tx", "complete_tx", "relaxed", *_SCOPES, *_OF_CLUSTER),
    types=("b64",),
    operands=2,
)
def transaction(e: Emitter, o: Op) -> None:
    places, sizes = address(e, e.inst.operands[0], vector=True), _wide(e, e.inst.operands[1])
    with e.where_active() as mask:
        e.store_vector(places, e.address_buffer)
        e.store_vector(sizes, e.value_buffer)
        e.call("mbarrier_expect", e.context, e.site_address(), e.address_buffer, e.value_buffer, mask,
               I64(int(o.has("complete_tx"))))  # fmt: skip


def _prepare_wait(e: Emitter, *, parity: bool) -> None:
    """Puts the mbarriers of a wait and the phases waited for into the buffers."""
    _, memory, phase, *_ = e.inst.operands
    e.store_vector(address(e, memory, vector=True), e.address_buffer)
    if parity:
        bits = _wide(e, phase)
        wants = e.b.sub(constant(bits, -1), e.b.and_(bits, constant(bits, 1)))
    else:
        token = _wide(e, phase, "b64")
        wants = e.b.lshr(token, constant(token, layout.TOKEN_COUNT))
    e.store_vector(wants, e.value_buffer)


def wait_for_phase(e: Emitter, block: int) -> Any:
    """In front of a try_wait, the first instruction of a basic block: not 0 where its lanes go on."""
    mask = e.active_mask()
    _prepare_wait(e, parity="parity" in e.inst.parts)
    return e.call("mbarrier_wait", e.context, e.warp, I64(block), e.site_address(), e.address_buffer, e.value_buffer,
                  mask, e.mask)  # fmt: skip


@op("mbarrier", allow=("test_wait", "try_wait", "parity", "acquire", "relaxed", *_SCOPES, *_SPACES),
    types=("b64",), operands=(3, 4))  # fmt: skip
def test_wait(e: Emitter, o: Op) -> None:
    """A fourth operand says how long a try_wait may take: as long as it has to."""
    result = e.b.alloca(I64)
    e.b.store(I64(0), result)
    _prepare_wait(e, parity=o.has("parity"))
    with e.where_active() as mask:
        complete = e.call(
            "mbarrier_test", e.context, e.site_address(), e.address_buffer, e.value_buffer, mask, _how(o)
        )
        e.b.store(complete, result)
    lanes = e.b.load(result)
    e.write(0, e.lanes(lanes) if e.vector else e.b.icmp_unsigned("!=", lanes, I64(0)), "pred")


@op("mbarrier", allow=("pending_count",), types=("b64",), operands=2)
def pending_count(e: Emitter, o: Op) -> None:
    token = e.read(1, "b64")
    count = e.b.and_(token, constant(token, layout.MOST_ARRIVALS))
    e.write(0, e.convert_bits(count, I32), "b32")


@op("cp", allow=("async", "mbarrier", "arrive", "noinc", *_SPACES), types=("b64",), operands=1)
def arrive_when_copied(e: Emitter, o: Op) -> None:
    places = address(e, e.inst.operands[0], vector=True)
    with e.where_active() as mask:
        e.store_vector(places, e.address_buffer)
        e.call(
            "async_arrive", e.context, e.site_address(), e.address_buffer, mask, I64(int(not o.has("noinc")))
        )


@op("fence", allow=("proxy", "async", "alias", "tensormap::generic", "generic", "global", "release", "acquire", "cta",
                    "cluster", "gpu", "sys", *_SPACES))  # fmt: skip
def proxy_fence(e: Emitter, o: Op) -> None:
    if o.has("async"):
        with e.where_active():
            e.call("proxy_fence", e.context)


@op("fence", allow=("mbarrier_init", "release", "cluster"))
def mbarrier_init_fence(e: Emitter, o: Op) -> None:
    """For the other blocks of a cluster; those of this block wait at a barrier."""


# -- bulk and tensor copies -----------------------------------------------------------------------------------------

_HINTS = ("L2::cache_hint",)
_DIMENSIONS = ("1d", "2d", "3d", "4d", "5d")
_GLOBAL_TO_SHARED = (
    "async",
    "bulk",
    "global",
    "mbarrier::complete_tx::bytes",
    "shared::cluster",
    "shared::cta",
    "multicast::cluster",
    *_HINTS,
)
_SHARED_TO_GLOBAL = ("async", "bulk", "global", "shared::cta", "bulk_group", *_HINTS)
_SHARED_TO_PEER = ("async", "bulk", "mbarrier::complete_tx::bytes", "shared::cluster", "shared::cta")
_REDUCED = ("u32", "s32", "u64", "s64", "b32", "b64", "f16", "bf16", "f32", "f64")


def _store_coordinates(e: Emitter, coordinates: tuple[Operand, ...]) -> Any:
    """The coordinates of a box as vectors of int64, one behind the other; returns where."""
    wide = [e.b.sext(e.read(at, "s32", vector=True), e.lane_type(64)) for at in coordinates]
    for dimension, value in enumerate(wide):
        e.store_vector(value, e.b.add(e.fragment_buffer, I64(dimension * 256)))
    return e.fragment_buffer


def _tensor_operand(e: Emitter, o: Op, operand: Operand) -> tuple[Operand, ...]:
    """The coordinates of a tensor operand, as many as the instruction has dimensions."""
    coordinates = operand.coordinates if isinstance(operand, Mem) else ()
    if not o.has(f"{len(coordinates)}d"):
        raise e.unsupported()
    return coordinates


def _ranks(e: Emitter, o: Op, following: list[Operand]) -> Any:
    """Of a multicast, the masks of the blocks that get the data, in the buffer behind the mbarriers; else 0."""
    if not o.has("multicast::cluster"):
        return None
    return e.b.zext(e.read(following[0], "u16", vector=True), e.lane_type(64))


def _load(e: Emitter, o: Op, operands: list[Operand], size: Any, at: tuple[Operand, ...]) -> None:
    """`operands`: where to, from where, the mbarrier, then what a multicast has."""
    targets, sources, places = (address(e, operand, vector=True) for operand in operands[:3])
    coordinates, ranks = _store_coordinates(e, at), _ranks(e, o, operands[3:])
    with e.where_active() as mask:
        e.store_vector(targets, e.address_buffer)
        e.store_vector(sources, e.second_buffer)
        e.store_vector(size, e.value_buffer)
        barriers, masks = (e.b.add(e.value_buffer, I64(number * 256)) for number in (1, 2))
        e.store_vector(places, barriers)
        if ranks is not None:
            e.store_vector(ranks, masks)
        e.call("bulk_load", e.context, e.site_address(), e.address_buffer, e.second_buffer, e.value_buffer, barriers,
               coordinates, I64(0) if ranks is None else masks, mask)  # fmt: skip


@op("cp", allow=_GLOBAL_TO_SHARED, operands=(4, 5, 6))
def bulk_load(e: Emitter, o: Op) -> None:
    target, source, size, *others = e.inst.operands
    if not o.has("global"):
        _send(e, target, source, _wide(e, size), others[0], -1)
    else:
        _load(e, o, [target, source, *others], _wide(e, size), ())


def _send(e: Emitter, target: Operand, source: Operand, size: Any, mbarrier: Operand, how: int) -> None:
    """To another block of the cluster."""
    targets, sources, places = (address(e, operand, vector=True) for operand in (target, source, mbarrier))
    with e.where_active() as mask:
        e.store_vector(targets, e.address_buffer)
        e.store_vector(sources, e.second_buffer)
        e.store_vector(size, e.value_buffer)
        barriers = e.b.add(e.value_buffer, I64(256))
        e.store_vector(places, barriers)
        e.call("bulk_to_peer", e.context, e.site_address(), e.address_buffer, e.second_buffer, e.value_buffer, barriers,
               mask, I64(how))  # fmt: skip


@op("cp", allow=("tensor", "tile", *_DIMENSIONS, *_GLOBAL_TO_SHARED), operands=(3, 4, 5))
def tensor_load(e: Emitter, o: Op) -> None:
    _, source, *_ = e.inst.operands
    _load(e, o, list(e.inst.operands), e.splat(I64(0)), _tensor_operand(e, o, source))


def _store(
    e: Emitter, target: Operand, source: Operand, size: Any, at: tuple[Operand, ...], how: int
) -> None:
    targets, sources = address(e, target, vector=True), address(e, source, vector=True)
    coordinates = _store_coordinates(e, at)
    with e.where_active() as mask:
        e.store_vector(targets, e.address_buffer)
        e.store_vector(sources, e.second_buffer)
        e.store_vector(size, e.value_buffer)
        e.call("bulk_store", e.context, e.site_address(), e.address_buffer, e.second_buffer, e.value_buffer,
               coordinates, mask, I64(how))  # fmt: skip


@op("cp", allow=_SHARED_TO_GLOBAL, operands=(3, 4))
def bulk_store(e: Emitter, o: Op) -> None:
    target, source, size, *_ = e.inst.operands
    _store(e, target, source, _wide(e, size), (), -1)


@op("cp", allow=("tensor", "tile", *_DIMENSIONS, *_SHARED_TO_GLOBAL), operands=(2, 3))
def tensor_store(e: Emitter, o: Op) -> None:
    target, source, *_ = e.inst.operands
    _store(e, target, source, e.splat(I64(0)), _tensor_operand(e, o, target), -1)


_OPERATIONS = ("add", "min", "max", "and", "or", "xor", "inc", "dec")


def _reduction(o: Op) -> int:
    """Operation << 8 | type, as bulk_store takes it."""
    kind = {"f16": layout.F16_REDUCED, "bf16": layout.BF16_REDUCED}.get(o.type, TYPE_BYTES[o.type])
    name = next(part for part in o.modifiers if part in _OPERATIONS)
    if name in ("min", "max"):
        operation = getattr(layout, f"ATOM_{name.upper()}_{'S' if o.type[0] == 's' else 'U'}")
    elif o.type in ("f32", "f64"):
        operation = layout.ATOM_ADD_FTZ if o.type == "f32" else layout.ATOM_ADD_F
    else:
        operation = getattr(layout, f"ATOM_{name.upper()}")
    return int(operation) << 8 | kind


@op("cp", allow=("reduce", "noftz", *_OPERATIONS, *_SHARED_TO_GLOBAL), types=_REDUCED, operands=(3, 4))
def bulk_reduce(e: Emitter, o: Op) -> None:
    target, source, size, *_ = e.inst.operands
    if o.type[0] == "f" and int(o.type[1:]) > 16 and not o.has("add"):
        raise e.unsupported()
    _store(e, target, source, _wide(e, size), (), _reduction(o))


@op("cp", allow=("reduce", *_OPERATIONS, *_SHARED_TO_PEER), types=("u32", "s32", "u64", "s64"), operands=4)
def bulk_reduce_to_peer(e: Emitter, o: Op) -> None:
    target, source, size, mbarrier = e.inst.operands
    _send(e, target, source, _wide(e, size), mbarrier, _reduction(o))


@op("cp", allow=("tensor", "tile", "reduce", *_OPERATIONS, *_DIMENSIONS, *_SHARED_TO_GLOBAL), operands=(2, 3))
def tensor_reduce(e: Emitter, o: Op) -> None:
    """The type of the elements is the tensor map's."""
    target, source, *_ = e.inst.operands
    name = next(part for part in o.modifiers if part in _OPERATIONS)
    how = layout.OF_TENSOR | _OPERATIONS.index(name)
    _store(e, target, source, e.splat(I64(0)), _tensor_operand(e, o, target), how)


@op("cp", allow=("async", "bulk", "commit_group"), operands=0)
def commit_bulk(e: Emitter, o: Op) -> None:
    with e.where_active() as mask:
        e.call("bulk_commit", e.context, mask)


@op("cp", allow=("async", "bulk", "wait_group", "read"), operands=1)
def wait_bulk(e: Emitter, o: Op) -> None:
    pending = e.inst.operands[0]
    if not isinstance(pending, Imm):
        raise e.unsupported()
    with e.where_active() as mask:
        e.call("bulk_wait", e.context, I64(int(pending.value)), mask)


@op("cp", allow=("async", "bulk", "prefetch", "tensor", "tile", "L2", "global", *_DIMENSIONS, *_HINTS))
def prefetch(e: Emitter, o: Op) -> None:
    """L2 is taken to hold everything; the sectors are counted."""
    source, *others = e.inst.operands
    sources = address(e, source, vector=True)
    size = e.splat(I64(0)) if o.has("tensor") else _wide(e, others[0])
    with e.where_active() as mask:
        e.store_vector(sources, e.second_buffer)
        e.store_vector(size, e.value_buffer)
        e.call("bulk_prefetch", e.context, e.site_address(), e.second_buffer, e.value_buffer, mask)


@op("prefetch", allow=("tensormap", "param", "const"), operands=1)
def prefetch_map(e: Emitter, o: Op) -> None:
    """The same for a tensor map."""
