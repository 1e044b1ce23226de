"""Loads, stores and atomics (PTX ISA 9.7.9 and 9.7.13).

Every access goes through the runtime, which counts it, checks each lane, and turns addresses into host addresses;
what may not be accessed is a finding, loads zero and stores nothing.
"""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen import ir
from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.arithmetic import extend
from grader.emulator.codegen.ops.half import HALVES
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import I64, constant, scalar_type
from grader.emulator.ptx.plan import Site, access_shape
from grader.emulator.ptx.tree import TYPE_BYTES, Mem, Operand, Reg, Sym, Vec
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import (
    ATOMIC,
    LANES,
    LOAD,
    PARAM_HOST,
    PROGRESS,
    READ_ONLY,
    REDUCTION,
    STORE,
    STRONG_LOAD,
    STRONG_STORE,
)

_EVICTIONS = ("first", "last", "normal", "unchanged")
_CACHE_HINTS = ("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L1::evict_normal", "L1::evict_unchanged",
                "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::64B", "L2::128B", "L2::256B",
                "L2::cache_hint")  # fmt: skip
_ORDERS = ("weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys")
_SPACES = ("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry")
_VECTORS = ("v2", "v4", "v8")
_STRONG = frozenset(("volatile", "relaxed", "acquire", "release"))
_PLAIN = (*_CACHE_HINTS, *_ORDERS, *_SPACES, *_VECTORS)


def fence_before(e: Emitter, o: Op) -> None:
    """A release is a fence and a strong store."""
    if not {"release", "acq_rel"}.isdisjoint(o.modifiers):
        e.call("fence", e.context, I64(int(not o.has("cta"))))


def is_strong(o: Op) -> bool:
    return not _STRONG.isdisjoint(o.modifiers)


def address(e: Emitter, memory: Operand, *, vector: bool) -> Any:
    """base + offset as int64, a vector or a scalar."""
    if not isinstance(memory, Mem):
        raise e.unsupported()
    if memory.base is None:
        base: Any = I64(0)
    elif isinstance(memory.base, Sym):
        base = e.address_of(memory.base.name)
    else:
        # A 32-bit register before the array, with an offset that leads into it, wraps around: hence the sign.
        wide = "b64" if e.registers[memory.base.name].endswith("64") else "b32"
        base = extend(e, e.read(memory.base, wide, vector=vector), 64, True)
    if vector:
        base = e.splat(base)
    offset = I64(memory.offset)
    return e.b.add(base, e.splat(offset) if vector else offset) if memory.offset else base


def allowed_lanes(e: Emitter, site: Site, width: int, kind: int, mask: Any) -> Any:
    """Counts and checks the access whose addresses lie in the address buffer; the mask that may go on."""
    where = e.site_address()
    common = (e.context, where, e.address_buffer, mask, I64(width))
    match site.space:
        case "global":
            return e.call("access_global", *common, I64(kind))
        case "const":
            return e.call("access_constant", *common)
        case "shared":
            return e.call("access_shared", *common, I64(kind), e.scratch)
        case "local":
            return e.call("access_local", *common)
        case "param":
            return e.call("access_param", *common)
    return e.call("access_generic", *common, I64(kind), e.scratch)


def without_hint(e: Emitter, o: Op, count: int) -> tuple[Operand, ...]:
    """The instruction's operands, at most `count`, without a cache policy: that changes no result."""
    operands = e.inst.operands[:-1] if o.has("L2::cache_hint") else e.inst.operands
    if len(operands) > count:
        raise e.unsupported()
    return operands


@op("createpolicy", types=("b64",), operands=(1, 2, 3, 4),
    allow=("fractional", "range", "cvt", "global", "L2", *(f"L2::evict_{how}" for how in _EVICTIONS)))  # fmt: skip
def createpolicy(e: Emitter, o: Op) -> None:
    """A cache policy (PTX ISA 9.7.9.18), of which nothing is read again."""
    e.write(0, I64(0), "b64")


@op("ld", "ldu", allow=_PLAIN, operands=(2, 3))
def load(e: Emitter, o: Op) -> None:
    without_hint(e, o, 2)
    site = e.site_of[id(e.inst)]
    memory = e.inst.operands[1]
    how = STRONG_LOAD if is_strong(o) else READ_ONLY if o.has("nc") else LOAD
    if site.space == "param" and isinstance(memory, Mem) and isinstance(memory.base, Sym):
        _load_parameter(e, memory, *access_shape(e.inst))
    elif site.space in ("global", "const", "shared") and e.is_uniform(memory) and not e.vector:
        _load_uniform(e, site, memory, how)
    else:
        _load_lanes(e, site, memory, how)


def _targets(e: Emitter, count: int) -> tuple[Operand, ...]:
    target = e.inst.operands[0]
    items = target.items if isinstance(target, Vec) else (target,)
    if len(items) != count:
        raise e.unsupported()
    return items


def _load_parameter(e: Emitter, memory: Mem, kind: str, count: int) -> None:
    """A kernel parameter at a fixed place: the same for all lanes, and free (constant bank)."""
    assert isinstance(memory.base, Sym)
    start = e.b.add(e.context_slot(PARAM_HOST), e.b.add(e.address_of(memory.base.name), I64(memory.offset)))
    for index, target in enumerate(_targets(e, count)):
        pointer = e.at(e.b.add(start, I64(index * TYPE_BYTES[kind])), scalar_type(kind))
        e.write(target, e.b.load(pointer, align=1), kind)


def _load_uniform(e: Emitter, site: Site, memory: Operand, how: int) -> None:
    """All lanes read one address: one scalar load."""
    kind, count = access_shape(e.inst)
    width = TYPE_BYTES[kind] * count
    names = {"shared": "access_shared_uniform", "const": "access_constant_uniform"}
    name = names.get(site.space, "access_global_uniform")
    where = address(e, memory, vector=False)
    element = scalar_type(kind)
    results = [e.b.alloca(element) for _ in range(count)]
    for slot in results:
        e.b.store(ir.Constant(element, None), slot)
    with e.where_active() as mask:
        host = e.call(name, e.context, e.site_address(), where, mask, I64(width), I64(how))
        with e.b.if_then(e.b.icmp_unsigned("!=", host, I64(0)), likely=True):
            for index, slot in enumerate(results):
                value = e.at(e.b.add(host, I64(index * TYPE_BYTES[kind])), element)
                e.b.store(e.b.load(value, align=1), slot)
    for target, slot in zip(_targets(e, count), results, strict=True):
        e.write(target, e.b.load(slot), kind)


def _load_lanes(e: Emitter, site: Site, memory: Operand, how: int) -> None:
    kind, count = access_shape(e.inst)
    nbytes = TYPE_BYTES[kind]
    addresses = address(e, memory, vector=True)
    with e.where_active() as mask:
        e.store_vector(addresses, e.address_buffer)
        allowed = allowed_lanes(e, site, nbytes * count, how, mask)
        e.call(f"gather{nbytes}", e.address_buffer, e.value_buffer, allowed, I64(count))
    for index, target in enumerate(_targets(e, count)):
        value = e.load_vector(e.b.add(e.value_buffer, I64(index * nbytes * 32)), scalar_type(kind))
        e.write(target, value, kind)


@op("st", allow=_PLAIN, operands=(2, 3))
def store(e: Emitter, o: Op) -> None:
    without_hint(e, o, 2)
    site = e.site_of[id(e.inst)]
    kind, count = access_shape(e.inst)
    nbytes = TYPE_BYTES[kind]
    source = e.inst.operands[1]
    items = source.items if isinstance(source, Vec) else (source,)
    # Registers are read before the guarded part: what is loaded there does not exist behind it.
    addresses = address(e, e.inst.operands[0], vector=True)
    values = [e.read(item, kind, vector=True) for item in items]
    how = STRONG_STORE if is_strong(o) else STORE
    with e.where_active() as mask:
        fence_before(e, o)
        e.store_vector(addresses, e.address_buffer)
        allowed = allowed_lanes(e, site, nbytes * count, how, mask)
        for index, item in enumerate(values):
            e.store_vector(item, e.b.add(e.value_buffer, I64(index * nbytes * 32)))
        scatter(e, allowed, nbytes, count)
        if how == STRONG_STORE:
            e.add_to(e.context_pointer(PROGRESS), I64(1))


def scatter(e: Emitter, allowed: Any, nbytes: int, count: int) -> None:
    """Stores the `count` elements a lane in the value buffer at the addresses in the address buffer."""
    track(e, e.value_buffer, allowed, nbytes, count)
    e.call(f"scatter{nbytes}", e.address_buffer, e.value_buffer, allowed, I64(count))


def track(e: Emitter, values: Any, allowed: Any, nbytes: int, count: int) -> None:
    """Looks for the races of a store that is about to be done, where they depend on its values; 0: unknown ones."""
    doubtful = e.b.icmp_unsigned("!=", e.context_slot(layout.DOUBTFUL), I64(0))
    with e.b.if_then(doubtful, likely=False):
        e.call("track_stores", e.context, e.site_address(), e.address_buffer, values, allowed, I64(nbytes),
               I64(count))  # fmt: skip


_OPERATIONS = {
    "add": layout.ATOM_ADD, "and": layout.ATOM_AND, "or": layout.ATOM_OR, "xor": layout.ATOM_XOR,
    "exch": layout.ATOM_EXCH, "cas": layout.ATOM_CAS, "inc": layout.ATOM_INC, "dec": layout.ATOM_DEC,
}  # fmt: skip


def _operation(e: Emitter, o: Op) -> int:
    name = next((m for m in o.modifiers if m in (*_OPERATIONS, "min", "max")), "")
    if o.type in HALVES and name == "add":
        return layout.ATOM_ADD_BFLOATS if o.type.startswith("bf16") else layout.ATOM_ADD_HALVES
    if o.type in (*HALVES, "f32", "f64") and name not in ("add", "exch"):
        raise e.unsupported()
    if name in ("min", "max"):
        sign = "S" if o.type[0] == "s" else "U"
        return int(getattr(layout, f"ATOM_{name.upper()}_{sign}"))
    if name == "add" and o.type in ("f32", "f64"):
        return layout.ATOM_ADD_F
    return _OPERATIONS[name]


_ATOMIC_TYPES = ("b16", "u32", "s32", "b32", "u64", "s64", "b64", "f32", "f64", *HALVES)
_ATOMIC_MODIFIERS = (*_ORDERS, *_SPACES, *_OPERATIONS, "min", "max", "noftz", "L2::cache_hint")


@op("atom", allow=_ATOMIC_MODIFIERS, types=_ATOMIC_TYPES, operands=(3, 4, 5))
def atom(e: Emitter, o: Op) -> None:
    target, memory, value, *swap = without_hint(e, o, 4)
    results = _atomic(e, o, memory, [value], swap[0] if swap else value)
    if not (isinstance(target, Reg) and target.name == "_"):
        e.write(target, results()[0], o.type)


@op("red", allow=_ATOMIC_MODIFIERS, types=_ATOMIC_TYPES, operands=(2, 3))
def red(e: Emitter, o: Op) -> None:
    memory, value = without_hint(e, o, 2)
    _atomic(e, o, memory, [value], value)


@op("atom", "red", allow=(*_ORDERS, "global", "add", "noftz", *_VECTORS, "L2::cache_hint"),
    types=("f32", *HALVES), operands=(2, 3, 4))  # fmt: skip
def atomic_vector(e: Emitter, o: Op) -> None:
    """Each element is added by itself: the vector is no one atomic access (PTX ISA 9.7.13.6)."""
    operands = without_hint(e, o, 3)
    *target, memory, values = operands
    if not isinstance(values, Vec) or not all(isinstance(t, Vec) for t in target):
        raise e.unsupported()
    results = _atomic(e, o, memory, list(values.items), values.items[0])
    for vector in target:
        assert isinstance(vector, Vec)
        for register, value in zip(vector.items, results(), strict=True):
            e.write(register, value, o.type)


def _by_operation(e: Emitter, o: Op, site: Site, allowed: Any) -> list[tuple[int, Any]]:
    """What the allowed lanes do: sums of floats depend on which memory they are in."""
    operation = _operation(e, o)
    if operation != layout.ATOM_ADD_F or o.type != "f32" or site.space == "shared":
        return [(operation, allowed)]
    if site.space == "global":
        return [(layout.ATOM_ADD_FTZ, allowed)]
    there = e.call("lanes_in_global", e.context, e.address_buffer, allowed)
    return [(layout.ATOM_ADD_FTZ, there), (layout.ATOM_ADD_F, e.b.xor(allowed, there))]


def _atomic(e: Emitter, o: Op, memory: Operand, values: list[Operand], second: Operand) -> Any:
    """Lane after lane, for each of the values side by side; a function that reads the old ones. Of a compare-and-swap,
    the value is the comparand."""
    site = e.site_of[id(e.inst)]
    nbytes = TYPE_BYTES[o.type]
    integer = f"b{nbytes * 8}"
    addresses = address(e, memory, vector=True)
    given = [e.read(value, integer, vector=True) for value in values]
    seconds = e.read(second, integer, vector=True)
    buffers = [e.b.add(e.value_buffer, I64(index * nbytes * LANES)) for index in range(len(given))]
    with e.where_active() as mask:
        fence_before(e, o)
        e.store_vector(addresses, e.address_buffer)
        how = REDUCTION if site.operation == "red" else ATOMIC
        allowed = allowed_lanes(e, site, nbytes * len(given), how, mask)
        e.store_vector(seconds, e.second_buffer)
        for index, (value, buffer) in enumerate(zip(given, buffers, strict=True)):
            e.store_vector(value, buffer)
            if index:
                here = e.load_vector(e.address_buffer, I64)
                e.store_vector(e.b.add(here, constant(here, nbytes)), e.address_buffer)
            for operation, lanes in _by_operation(e, o, site, allowed):
                changed = e.call(f"atomic{nbytes}", e.address_buffer, buffer, e.second_buffer, buffer, lanes,
                                 I64(operation))  # fmt: skip
                e.add_to(e.context_pointer(PROGRESS), changed)
    return lambda: [e.load_vector(buffer, scalar_type(integer)) for buffer in buffers]
