"""wmma: products of whole matrices, whose fragments' layout is the implementation's own.

Here it is that of mma.sync, which is also what an H200's SASS uses, so that memory is accessed in the same pieces:
operands from global memory in 32-bit loads, 16 × 16 halves from shared memory in one ldmatrix; accumulators in pairs
where a pair is contiguous, else one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grader.emulator.codegen import ir
from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.memory import address, allowed_lanes, scatter
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.ops.tensor.fragments import (
    fill,
    items,
    places,
    register_kind,
    spill,
)
from grader.emulator.codegen.ops.tensor.matrices import matrix_access
from grader.emulator.codegen.ops.tensor.mma import HOW
from grader.emulator.codegen.values import I32, I64, scalar_type
from grader.emulator.ptx.tree import TYPE_BYTES, Operand
from grader.emulator.runtime.layout import LANES, LOAD, STORE
from grader.emulator.runtime.tensor.forms import FACTORS, SHAPES, operand_spread, product_of, shape_of


@op("wmma", allow=("mma", *HOW), types=(*FACTORS, "f32", "s32"), operands=4)
def wmma_mma(e: Emitter, o: Op) -> None:
    e.check_whole_warp()
    product = product_of(e.inst.parts)
    if product is None:
        raise e.unsupported()
    layouts = [m for m in o.modifiers if m in ("row", "col")]
    d, *operands = e.inst.operands
    a, b, c, result = places(e)
    kinds = (product.a, product.b, product.c)
    for operand, place, kind in zip(operands, (a, b, c), kinds, strict=True):
        spill(e, operand, place, register_kind(kind))
    if product.bitwise:
        e.call(
            "mma_bits", a, b, c, result, I64(product.m), I64(product.k), I64(int(product.bitwise == "xor"))
        )
    else:
        sizes = (I64(size) for size in (product.m, product.n, product.k))
        columns = (I64(int(layout == "col")) for layout in layouts)
        sums = (I64(product.sum_code(kind)) for kind in (product.c, product.d))
        kind_of_factors = I64(product.factor.code)
        e.call("wmma", a, b, c, result, kind_of_factors, *sizes, *columns, *sums, e.tensor_scratch)
    fill(e, d, result, register_kind(product.d))


# -- wmma loads and stores ----------------------------------------------------------------------------------------

_MEMORY = ("sync", "aligned", "row", "col", *SHAPES, "global", "shared", "shared::cta")


def _lane_offsets(e: Emitter, majors: Sequence[int], minors: Sequence[int], stride: Any, bits: int) -> Any:
    """Byte offsets of the lanes' elements, major · stride + minor, of so many bits each."""
    vector = ir.VectorType(I64, LANES)
    major, minor = (ir.Constant(vector, [I64(v) for v in values]) for values in (majors, minors))
    elements = e.b.add(e.b.mul(major, e.splat(stride)), minor)
    return e.b.lshr(e.b.mul(elements, e.splat(I64(bits))), e.splat(I64(3)))


def _base_and_stride(e: Emitter, memory: Operand, stride: Operand | None) -> tuple[Any, Any]:
    base = address(e, memory, vector=True)
    shape = shape_of(e.inst.parts)
    if shape is None:
        raise e.unsupported()
    step: Any = (
        I64(_tight_stride(e, shape)) if stride is None else e.b.zext(e.read(stride, "b32", vector=False), I64)
    )
    return base, step


def _tight_stride(e: Emitter, shape: tuple[int, int, int]) -> int:
    """The length of a row, or a column, where none is given: of the matrix as it is."""
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (k, n)}.get(e.inst.parts[2], (m, n))
    return rows if "col" in e.inst.parts else columns


@op("wmma", allow=("load", "a", "b", *_MEMORY, *FACTORS), types=tuple(FACTORS))
def wmma_load_operand(e: Emitter, o: Op) -> None:
    """An operand in memory order; where the API wants more elements than there are, registers repeat the first."""
    e.check_whole_warp()
    spread = operand_spread(e.inst.parts)
    if spread is None:
        raise e.unsupported()
    factor, nbytes = spread.factor, spread.factor.register_bytes
    target, memory, *stride = e.inst.operands
    base, step = _base_and_stride(e, memory, stride[0] if stride else None)
    site = e.site_of[id(e.inst)]
    if site.is_matrix:
        rows, halves = [lane % 16 for lane in range(LANES)], [lane // 16 * 8 for lane in range(LANES)]
        addresses = e.b.add(base, _lane_offsets(e, rows, halves, step, factor.bits))
        allowed = matrix_access(e, site, addresses, 4, LOAD)
        e.call("matrix_load", e.address_buffer, e.fragment_buffer, allowed, I64(4), I64(0))
    else:
        for register in range(spread.registers):
            offsets = _lane_offsets(e, *spread.places(register), step, factor.bits)
            e.store_vector(e.b.add(base, offsets), e.address_buffer)
            allowed = allowed_lanes(e, site, nbytes, LOAD, e.active_mask())
            place = e.b.add(e.fragment_buffer, I64(register * LANES * nbytes))
            e.call(f"gather{nbytes}", e.address_buffer, place, allowed, I64(1))
    kind = register_kind(e.inst.parts[-1])
    for index, item in enumerate(items(e, target)):
        place = e.b.add(e.fragment_buffer, I64(index % spread.registers * LANES * nbytes))
        e.write(item, e.load_vector(place, scalar_type(kind)), kind)


def _accumulator_accesses(e: Emitter, o: Op) -> Iterator[tuple[list[int], list[int], int, int]]:
    """(row, column of each lane, elements a lane, first element) of the accesses an accumulator takes.

    Elements are numbered as in the fragment: 8 × 8 pieces one below the other, then side by side, two columns a lane.
    """
    shape = shape_of(e.inst.parts)
    assert shape is not None
    below = shape[0] // 8
    for piece in range(below * shape[1] // 8):
        rows = [(lane >> 2) + 8 * (piece % below) for lane in range(LANES)]
        columns = [(lane & 3) * 2 + 8 * (piece // below) for lane in range(LANES)]
        if o.has("col"):
            for k in range(2):
                yield rows, [c + k for c in columns], 1, 2 * piece + k
        else:
            yield rows, columns, 2, 2 * piece


def _accumulator_addresses(
    e: Emitter, o: Op, base: Any, step: Any, rows: list[int], columns: list[int], nbytes: int
) -> Any:
    majors, minors = (columns, rows) if o.has("col") else (rows, columns)
    return e.b.add(base, _lane_offsets(e, majors, minors, step, 8 * nbytes))


_SUMS = ("f32", "f16", "s32", "f64")


@op("wmma", allow=("load", "c", *_MEMORY), types=_SUMS)
def wmma_load_accumulator(e: Emitter, o: Op) -> None:
    e.check_whole_warp()
    target, memory, *stride = e.inst.operands
    base, step = _base_and_stride(e, memory, stride[0] if stride else None)
    nbytes = TYPE_BYTES[o.type]
    for rows, columns, count, first in _accumulator_accesses(e, o):
        e.store_vector(_accumulator_addresses(e, o, base, step, rows, columns, nbytes), e.address_buffer)
        allowed = allowed_lanes(e, e.site_of[id(e.inst)], nbytes * count, LOAD, e.active_mask())
        place = e.b.add(e.fragment_buffer, I64(first * LANES * nbytes))
        e.call(f"gather{nbytes}", e.address_buffer, place, allowed, I64(count))
    if o.type != "f16":
        fill(e, target, e.fragment_buffer, o.type)
        return
    for index, item in enumerate(items(e, target)):
        low, high = (_half_register(e, 2 * index + k) for k in range(2))
        e.write(item, e.b.or_(low, e.b.shl(high, ir.Constant(high.type, [I32(16)] * LANES))), "b32")


def _half_register(e: Emitter, index: int) -> Any:
    place = e.b.add(e.fragment_buffer, I64(index * LANES * 2))
    return e.b.zext(e.load_vector(place, scalar_type("b16")), ir.VectorType(I32, LANES))


@op("wmma", allow=("store", "d", *_MEMORY), types=_SUMS)
def wmma_store(e: Emitter, o: Op) -> None:
    e.check_whole_warp()
    memory, source, *stride = e.inst.operands
    base, step = _base_and_stride(e, memory, stride[0] if stride else None)
    nbytes = TYPE_BYTES[o.type]
    values = _elements(e, source, o.type)
    for rows, columns, count, first in _accumulator_accesses(e, o):
        e.store_vector(_accumulator_addresses(e, o, base, step, rows, columns, nbytes), e.address_buffer)
        allowed = allowed_lanes(e, e.site_of[id(e.inst)], nbytes * count, STORE, e.active_mask())
        for k in range(count):
            e.store_vector(values[first + k], e.b.add(e.value_buffer, I64(k * LANES * nbytes)))
        scatter(e, allowed, nbytes, count)


def _elements(e: Emitter, source: Operand, kind: str) -> list[Any]:
    """The elements of an accumulator; halves lie two in a register."""
    if kind != "f16":
        return [e.read(item, kind, vector=True) for item in items(e, source)]
    registers = [e.read(item, "b32", vector=True) for item in items(e, source)]
    half = ir.VectorType(scalar_type("b16"), LANES)
    sixteen = ir.Constant(ir.VectorType(I32, LANES), [I32(16)] * LANES)
    return [e.b.trunc(v, half) for r in registers for v in (r, e.b.lshr(r, sixteen))]
