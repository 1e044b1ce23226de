"""Asynchronous copies to shared memory (PTX ISA 9.7.9.25): cp.async and its groups."""

from __future__ import annotations

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.memory import address
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import I64
from grader.emulator.ptx.tree import Imm

_HINTS = ("L2::64B", "L2::128B", "L2::256B")


@op("cp", allow=("async", "ca", "cg", "shared", "shared::cta", "global", *_HINTS))
def copy(e: Emitter, o: Op) -> None:
    target, source, width, *rest = e.inst.operands
    if not isinstance(width, Imm) or len(rest) > 1:
        raise e.unsupported()
    sizes = (
        e.b.zext(e.read(rest[0], "b32", vector=True), e.lane_type(64))
        if rest
        else e.splat(I64(int(width.value)))
    )
    destinations, sources = address(e, target, vector=True), address(e, source, vector=True)
    with e.where_active() as mask:
        e.store_vector(sources, e.address_buffer)
        e.store_vector(destinations, e.second_buffer)
        e.store_vector(sizes, e.value_buffer)
        e.call("async_copy", e.context, e.site_address(), e.second_buffer, e.address_buffer, e.value_buffer, mask,
               I64(int(width.value)))  # fmt: skip


@op("cp", allow=("async", "commit_group"))
def commit(e: Emitter, o: Op) -> None:
    with e.where_active():
        e.call("async_commit", e.context)


@op("cp", allow=("async", "wait_group", "wait_all"))
def wait(e: Emitter, o: Op) -> None:
    pending = -1 if o.has("wait_all") else int(e.inst.operands[0].value)  # type: ignore[union-attr]
    with e.where_active():
        e.call("async_wait", e.context, I64(pending))
