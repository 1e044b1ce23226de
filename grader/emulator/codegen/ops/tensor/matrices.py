"""ldmatrix, stmatrix and movmatrix: 8 × 8 matrices between shared memory and registers, or between registers."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.memory import address, allowed_lanes, track
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.ops.tensor.fragments import fill, items, spill
from grader.emulator.codegen.values import I64
from grader.emulator.ptx.plan import Site
from grader.emulator.runtime.layout import LOAD, STORE


def matrix_access(e: Emitter, site: Site, addresses: Any, count: int, kind: int) -> Any:
    """Counts one ldmatrix or stmatrix: the first 8·count lanes each access a row of 16 bytes."""
    mask = e.b.and_(e.active_mask(), I64((1 << 8 * count) - 1))
    e.store_vector(addresses, e.address_buffer)
    return allowed_lanes(e, site, 16, kind, mask)


@op(
    "ldmatrix",
    allow=("sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta"),
    types=("b16",),
)
def ldmatrix(e: Emitter, o: Op) -> None:
    e.check_whole_warp()
    target = items(e, e.inst.operands[0])
    addresses = address(e, e.inst.operands[1], vector=True)
    allowed = matrix_access(e, e.site_of[id(e.inst)], addresses, len(target), LOAD)
    e.call(
        "matrix_load", e.address_buffer, e.value_buffer, allowed, I64(len(target)), I64(int(o.has("trans")))
    )
    fill(e, e.inst.operands[0], e.value_buffer)


@op(
    "stmatrix",
    allow=("sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta"),
    types=("b16",),
)
def stmatrix(e: Emitter, o: Op) -> None:
    e.check_whole_warp()
    count = len(items(e, e.inst.operands[1]))
    addresses = address(e, e.inst.operands[0], vector=True)
    spill(e, e.inst.operands[1], e.value_buffer)
    allowed = matrix_access(e, e.site_of[id(e.inst)], addresses, count, STORE)
    track(e, I64(0), allowed, 16, 1)
    e.call("matrix_store", e.address_buffer, e.value_buffer, allowed, I64(count), I64(int(o.has("trans"))))


@op("movmatrix", allow=("sync", "aligned", "m8n8", "trans"), types=("b16",), operands=2)
def movmatrix(e: Emitter, o: Op) -> None:
    """The transpose of a matrix whose rows lie in four lanes each."""
    if not o.has("trans"):
        raise e.unsupported()
    e.check_whole_warp()
    spill(e, e.inst.operands[1], e.fragment_buffer)
    e.call("matrix_transpose", e.fragment_buffer, e.value_buffer)
    fill(e, e.inst.operands[0], e.value_buffer)
