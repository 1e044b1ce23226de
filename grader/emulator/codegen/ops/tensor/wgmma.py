"""wgmma: asynchronous products of a warpgroup (PTX ISA 9.7.15), and setmaxnreg, which hands registers to its warps."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import PRODUCT_QUEUE_SLOT, Emitter
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.ops.tensor.fragments import fill, items, register_kind, spill
from grader.emulator.codegen.values import I1, I32, I64
from grader.emulator.ptx.tree import Imm, Operand, Vec
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import LANES
from grader.emulator.runtime.tensor.forms import FACTORS, WARPGROUP_SHAPES, warpgroup_product_of


@op("wgmma", allow=("fence", "sync", "aligned"), operands=0)
def fence(e: Emitter, o: Op) -> None:
    """Orders what was written to registers before the products behind it."""
    e.check_whole_warp()
    e.add_to(e.warp_pointer(layout.W_PRODUCT_FENCES), I64(1))


@op("wgmma", allow=("commit_group", "sync", "aligned"), operands=0)
def commit(e: Emitter, o: Op) -> None:
    e.check_whole_warp()
    e.add_to(e.warp_pointer(layout.W_PRODUCT_GROUPS), I64(1))


@op("wgmma", allow=("wait_group", "sync", "aligned"), operands=1)
def wait(e: Emitter, o: Op) -> None:
    pending = _pending(e)
    e.check_whole_warp()
    queue = I64(e.slots.get(PRODUCT_QUEUE_SLOT, 0))
    e.call("wgmma_wait", e.context, e.warp, queue, pending)


def warpgroup_is_ready(e: Emitter) -> Any:
    """In front of a wait_group, the first instruction of a basic block: not 0 where the warp goes on."""
    return e.call("wgmma_ready", e.context, e.warp, _pending(e))


def _pending(e: Emitter) -> Any:
    """How many groups a wait_group leaves."""
    pending = e.inst.operands[0]
    if not isinstance(pending, Imm):
        raise e.unsupported()
    return I64(int(pending.value))


@op("wgmma", allow=("mma_async", "sync", "aligned", "satfinite", *WARPGROUP_SHAPES, *FACTORS))
def mma_async(e: Emitter, o: Op) -> None:
    """d, a, b, scale-d; of floats the signs of a and b; of halves how those in shared memory lie."""
    product = warpgroup_product_of(e.inst.parts)
    operands = e.inst.operands
    if product is None or e.guard is not None or len(operands) < 4:
        raise e.unsupported()
    d, a, b, scale, *rest = operands
    in_registers = isinstance(a, Vec)
    numbers = [int(x.value) for x in rest if isinstance(x, Imm)]
    signs, columns = numbers[:2], numbers[2:]
    sums = product.n * product.m // (4 * LANES) // (2 if product.d == "f16" else 1)
    floats, halves = product.d != "s32", product.factor.bits == 16
    wanted = 2 * floats + (2 - in_registers) * halves
    if len(rest) != wanted or len(numbers) != wanted or len(items(e, d)) != sums:
        raise e.unsupported()
    if in_registers and len(items(e, a)) != 4:
        raise e.unsupported()
    e.check_whole_warp()
    kind = register_kind(product.d)
    spill(e, d, e.product_buffer, kind)
    if in_registers:
        spill(e, a, e.fragment_buffer)
    a_column, b_column = ([0, *columns] if in_registers else columns) if halves else (0, 0)
    factors = (I64(FACTORS[x].code) for x in (product.a, product.b))
    e.call(
        "wgmma", e.context, e.site_address(), e.warp, I64(e.slots[PRODUCT_QUEUE_SLOT]),
        e.fragment_buffer if in_registers else I64(0), I64(0) if in_registers else _descriptor(e, a), _descriptor(e, b),
        e.product_buffer, *factors, I64(product.sum_code(product.d)), I64(product.n), _holds(e, scale),
        I64(int(floats and signs[0] != signs[1])), I64(a_column), I64(b_column), e.tensor_scratch,
    )  # fmt: skip
    fill(e, d, e.product_buffer, kind)


def _descriptor(e: Emitter, operand: Operand) -> Any:
    """The descriptor, which all lanes have alike."""
    if e.is_uniform(operand):
        return e.read(operand, "b64", vector=False)
    return e.b.extract_element(e.read(operand, "b64", vector=True), I32(0))


def _holds(e: Emitter, scale: Operand) -> Any:
    """scale-d as an int64, likewise; a predicate or a number."""
    if isinstance(scale, Imm):
        return I64(int(bool(scale.value)))
    value = e.read(scale, "pred", vector=not e.is_uniform(scale))
    if not e.is_uniform(scale):
        value = e.b.extract_element(value, I32(0))
    assert value.type == I1
    return e.b.zext(value, I64)


@op("setmaxnreg", allow=("inc", "dec", "sync", "aligned"), types=("u32",), operands=1)
def setmaxnreg(e: Emitter, o: Op) -> None:
    """Moves registers between warps; no result depends on it."""
    count = e.inst.operands[0]
    if not isinstance(count, Imm):
        raise e.unsupported()
    with e.where_active():
        e.call("set_registers", e.warp, e.site_address(), I64(int(count.value)), I64(int(o.has("inc"))))
