"""Fences, warp barriers, hints and calls of the system's functions; branches are the code generator's own."""

from __future__ import annotations

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.memory import address
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import I32, I64
from grader.emulator.ptx.basic_blocks import BARRIER_RESULT
from grader.emulator.ptx.calls.inline import SYSTEM_CALLS
from grader.emulator.ptx.instructions import is_partial_warp_barrier
from grader.emulator.ptx.tree import Sym, Vec
from grader.emulator.runtime import layout

_SCOPES = ("cta", "gl", "sys", "gpu", "cluster", "sc", "acq_rel", "acquire", "release", "level")


@op("membar", "fence", allow=_SCOPES)
def fence(e: Emitter, o: Op) -> None:
    """Memory is sequentially consistent here; a fence only orders for the search for races."""
    with e.where_active():
        e.call("fence", e.context, I64(int(not o.has("cta"))))


@op("bar", "barrier", allow=("warp", "sync"))
def warp_barrier(e: Emitter, o: Op) -> None:
    """__syncwarp: orders the lanes for the race check; in the emulator they already run in step."""
    if is_partial_warp_barrier(e.inst):
        masks = e.read(e.inst.operands[0], "b32", vector=True)
        with e.where_active() as active:
            e.check_named(e.inst.operands[0], active)
            e.store_vector(masks, e.value_buffer)
            e.call("meet_lanes", e.context, e.value_buffer, active)
        return
    with e.where_active():
        e.add_to(e.context_pointer(layout.CLOCK), I64(1))
        e.b.store(e.context_slot(layout.CLOCK), e.warp_pointer(layout.W_SYNC_CLOCK))


@op(BARRIER_RESULT, allow=("popc", "and", "or"), types=("u32", "pred"), operands=1)
def barrier_result(e: Emitter, o: Op) -> None:
    """What the threads at a bar.red said together: how many, all, or any."""
    true, threads = (e.b.load(e.warp_pointer(slot)) for slot in (layout.W_TRUE, layout.W_THREADS))
    if o.has("popc"):
        e.write(0, e.b.trunc(true, I32), "u32")
    else:
        holds = ("==", threads) if o.has("and") else ("!=", I64(0))
        e.write(0, e.b.icmp_unsigned(holds[0], true, holds[1]), "pred")


@op("nanosleep", types=("u32",), operands=1)
def nanosleep(e: Emitter, o: Op) -> None:
    """Takes no time here, but what it would take is counted."""
    durations = e.b.zext(e.read(e.inst.operands[0], "u32", vector=True), e.lane_type(64))
    with e.where_active() as mask:
        e.store_vector(durations, e.value_buffer)
        e.call("count_sleep", e.site_address(), e.value_buffer, mask)


@op(
    "prefetch",
    "prefetchu",
    allow=("global", "local", "L1", "L2", "L2::evict_normal", "L2::evict_last"),
    operands=1,
)
def prefetch(e: Emitter, o: Op) -> None:
    """Changes no result; the sectors are counted."""
    if not o.has("local"):
        addresses = address(e, e.inst.operands[0], vector=True)
        with e.where_active() as mask:
            e.store_vector(addresses, e.address_buffer)
            e.call("count_prefetch", e.site_address(), e.address_buffer, mask)


@op("applypriority", "pmevent", "griddepcontrol",
    allow=("global", "L2", "L2::evict_normal", "wait", "launch_dependents"))  # fmt: skip
def hint(e: Emitter, o: Op) -> None:
    """Hints change no result."""


@op("call", allow=("uni",))
def system_call(e: Emitter, o: Op) -> None:
    """printf, assert, malloc and free: the host is called with each lane's arguments, and says whether to go on."""
    outputs, name, arguments = e.inst.operands
    assert isinstance(name, Sym)
    assert isinstance(outputs, Vec)
    assert isinstance(arguments, Vec)
    place = next(index for index, inst in enumerate(e.plan.system_calls) if inst is e.inst)
    number = place << layout.CALL_AT | SYSTEM_CALLS.index(name.name)
    values = [e.read(argument, "b64", vector=True) for argument in arguments.items]
    with e.where_active() as mask:
        for index, value in enumerate(values):
            e.store_vector(value, e.b.add(e.value_buffer, I64(index * 256)))
        stop = e.call_host(I64(number), e.context, e.value_buffer, mask)
        with e.b.if_then(e.b.icmp_unsigned("!=", stop, I64(0)), likely=False):
            e.b.ret(stop)
    for output in outputs.items:
        e.write(output, e.load_vector(e.value_buffer, I64), "b64")
