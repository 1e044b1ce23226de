"""Tensor Cores (PTX ISA 9.7.14): mma.sync, ldmatrix, stmatrix, and the wmma instructions.

A wmma fragment's layout is the implementation's own. Here it is that of mma.m16n8k16, which is also what an H200's
SASS uses, so that memory is accessed in the same pieces: operands from global memory in four 32-bit loads, from shared
memory in one ldmatrix; accumulators in pairs where a pair is contiguous, else one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from llvmlite import ir

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.memory import address, allowed_lanes, scatter
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import I32, I64, scalar_type
from grader.emulator.ptx.plan import Site
from grader.emulator.ptx.tree import TYPE_BYTES, Operand, Vec
from grader.emulator.runtime.layout import LANES, LOAD, OPERAND_BF16, OPERAND_F16, OPERAND_TF32, STORE

_KINDS = {"f16": OPERAND_F16, "bf16": OPERAND_BF16, "tf32": OPERAND_TF32}
_SHAPES = {"m16n8k16": 16, "m16n8k8": 8, "m16n8k4": 4}
REGISTER_BYTES = LANES * 4


def items(e: Emitter, operand: Operand) -> tuple[Operand, ...]:
    if not isinstance(operand, Vec):
        raise e.unsupported()
    return operand.items


def spill(e: Emitter, operand: Operand, at: Any, kind: str = "b32") -> None:
    """Writes the registers of a fragment one behind the other."""
    for index, item in enumerate(items(e, operand)):
        e.store_vector(e.read(item, kind, vector=True), e.b.add(at, I64(index * REGISTER_BYTES)))


def fill(e: Emitter, operand: Operand, at: Any, kind: str = "b32") -> None:
    """Reads the registers of a fragment back."""
    for index, item in enumerate(items(e, operand)):
        e.write(item, e.load_vector(e.b.add(at, I64(index * REGISTER_BYTES)), scalar_type(kind)), kind)


def _fragments(e: Emitter, a: Operand, b: Operand, c: Operand) -> tuple[Any, Any, Any, Any]:
    """Copies of the operands in memory, and room for the result."""
    places = [e.b.add(e.fragment_buffer, I64(index * 8 * REGISTER_BYTES)) for index in range(4)]
    for operand, place in zip((a, b, c), places, strict=False):
        spill(e, operand, place)
    return places[0], places[1], places[2], places[3]


@op("mma", allow=("sync", "aligned", "row", "col", *_SHAPES), types=("f16", "bf16", "tf32", "f32"))
def mma(e: Emitter, o: Op) -> None:
    e.check_whole_warp()
    shape = next((m for m in o.modifiers if m in _SHAPES), None)
    d_type, a_type, b_type, c_type = o.types
    depths = {"f16": (16, 8), "bf16": (16, 8), "tf32": (8, 4)}.get(a_type, ())
    same = a_type == b_type and d_type == c_type and (d_type == "f32" or a_type == "f16")
    if not same or _SHAPES.get(str(shape)) not in depths:
        raise e.unsupported()
    d, *operands = e.inst.operands
    a, b, c, result = _fragments(e, operands[0], operands[1], operands[2])
    half = I64(int(d_type == "f16"))
    e.call(
        "mma", a, b, c, result, I64(_KINDS[a_type]), I64(_SHAPES[str(shape)]), half, half, e.tensor_scratch
    )
    fill(e, d, result)


_WMMA = ("sync", "aligned", "row", "col", "m16n16k16")


@op("wmma", allow=("mma", *_WMMA), types=("f16", "bf16", "f32"))
def wmma_mma(e: Emitter, o: Op) -> None:
    """d = a·b + c; the types are d's and c's, then for other operands than f16 also theirs."""
    e.check_whole_warp()
    layouts = [m for m in o.modifiers if m in ("row", "col")]
    d_type, c_type, kind = o.types[0], o.types[-1], o.types[1] if len(o.types) == 4 else "f16"
    d, *operands = e.inst.operands
    a, b, c, result = _fragments(e, operands[0], operands[1], operands[2])
    flags = [
        I64(int(flag))
        for flag in (layouts[0] == "col", layouts[1] == "col", c_type == "f16", d_type == "f16")
    ]
    e.call("wmma", a, b, c, result, I64(_KINDS[kind]), *flags, e.tensor_scratch)
    fill(e, d, result)


# -- matrices in shared memory ------------------------------------------------------------------------------------


def _matrix_access(e: Emitter, site: Site, addresses: Any, count: int, kind: int) -> Any:
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
    allowed = _matrix_access(e, e.site_of[id(e.inst)], addresses, len(target), LOAD)
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
    allowed = _matrix_access(e, e.site_of[id(e.inst)], addresses, count, STORE)
    e.call("matrix_store", e.address_buffer, e.value_buffer, allowed, I64(count), I64(int(o.has("trans"))))


# -- wmma loads and stores ----------------------------------------------------------------------------------------

_SPACES = ("global", "shared", "shared::cta")


def _lane_offsets(e: Emitter, majors: Sequence[int], minors: Sequence[int], stride: Any, nbytes: int) -> Any:
    """Byte offsets major · stride + minor of the lanes, in elements of `nbytes`."""
    vector = ir.VectorType(I64, LANES)
    major, minor = (ir.Constant(vector, [I64(v) for v in values]) for values in (majors, minors))
    return e.b.mul(
        e.b.add(e.b.mul(major, e.splat(stride)), minor), ir.Constant(vector, [I64(nbytes)] * LANES)
    )


def _pieces() -> Iterator[tuple[list[int], list[int]]]:
    """(major, minor) of each lane in the four 8 × 8 quarters of a 16 × 16 matrix, in the order of the registers."""
    for quarter in range(4):
        majors = [(lane >> 2) + 8 * (quarter & 1) for lane in range(LANES)]
        yield majors, [(lane & 3) * 2 + 8 * (quarter >> 1) for lane in range(LANES)]


def _base_and_stride(e: Emitter, memory: Operand, stride: Operand | None) -> tuple[Any, Any]:
    base = address(e, memory, vector=True)
    step: Any = I64(16) if stride is None else e.b.zext(e.read(stride, "b32", vector=False), I64)
    return base, step


@op("wmma", allow=("load", "a", "b", *_WMMA, *_SPACES), types=("f16", "bf16"))
def wmma_load_operand(e: Emitter, o: Op) -> None:
    """A 16 × 16 operand, in memory order; registers 4 to 7 repeat 0 to 3, as the API wants sixteen elements."""
    e.check_whole_warp()
    target, memory, *stride = e.inst.operands
    base, step = _base_and_stride(e, memory, stride[0] if stride else None)
    site = e.site_of[id(e.inst)]
    if site.space == "shared":
        rows, halves = [lane % 16 for lane in range(LANES)], [lane // 16 * 8 for lane in range(LANES)]
        addresses = e.b.add(base, _lane_offsets(e, rows, halves, step, 2))
        allowed = _matrix_access(e, site, addresses, 4, LOAD)
        e.call("matrix_load", e.address_buffer, e.fragment_buffer, allowed, I64(4), I64(0))
    else:
        for index, (majors, minors) in enumerate(_pieces()):
            e.store_vector(e.b.add(base, _lane_offsets(e, majors, minors, step, 2)), e.address_buffer)
            allowed = allowed_lanes(e, site, 4, LOAD, e.active_mask())
            place = e.b.add(e.fragment_buffer, I64(index * REGISTER_BYTES))
            e.call("gather4", e.address_buffer, place, allowed, I64(1))
    registers = items(e, target)
    for index, item in enumerate(registers):
        place = e.b.add(e.fragment_buffer, I64(index % 4 * REGISTER_BYTES))
        e.write(item, e.load_vector(place, I32), "b32")


def _accumulator_accesses(o: Op) -> list[tuple[list[int], list[int], int, int]]:
    """(row, column of each lane, elements a lane, first element) of the accesses an accumulator takes.

    Elements are numbered as in the fragment: quarter by quarter, two columns a lane.
    """
    accesses = []
    for quarter, (rows, columns) in enumerate(_pieces()):
        if o.has("col"):
            for k in range(2):
                accesses.append((rows, [c + k for c in columns], 1, 2 * quarter + k))
        else:
            accesses.append((rows, columns, 2, 2 * quarter))
    return accesses


def _accumulator_addresses(
    e: Emitter, o: Op, base: Any, step: Any, rows: list[int], columns: list[int], nbytes: int
) -> Any:
    majors, minors = (columns, rows) if o.has("col") else (rows, columns)
    return e.b.add(base, _lane_offsets(e, majors, minors, step, nbytes))


@op("wmma", allow=("load", "c", *_WMMA, *_SPACES), types=("f32", "f16"))
def wmma_load_accumulator(e: Emitter, o: Op) -> None:
    e.check_whole_warp()
    target, memory, *stride = e.inst.operands
    base, step = _base_and_stride(e, memory, stride[0] if stride else None)
    nbytes = TYPE_BYTES[o.type]
    for rows, columns, count, first in _accumulator_accesses(o):
        e.store_vector(_accumulator_addresses(e, o, base, step, rows, columns, nbytes), e.address_buffer)
        allowed = allowed_lanes(e, e.site_of[id(e.inst)], nbytes * count, LOAD, e.active_mask())
        place = e.b.add(e.fragment_buffer, I64(first * LANES * nbytes))
        e.call(f"gather{nbytes}", e.address_buffer, place, allowed, I64(count))
    if o.type == "f32":
        fill(e, target, e.fragment_buffer, "f32")
        return
    for index, item in enumerate(items(e, target)):
        low, high = (_half_register(e, 2 * index + k) for k in range(2))
        e.write(item, e.b.or_(low, e.b.shl(high, ir.Constant(high.type, [I32(16)] * LANES))), "b32")


def _half_register(e: Emitter, index: int) -> Any:
    place = e.b.add(e.fragment_buffer, I64(index * LANES * 2))
    return e.b.zext(e.load_vector(place, scalar_type("b16")), ir.VectorType(I32, LANES))


@op("wmma", allow=("store", "d", *_WMMA, *_SPACES), types=("f32", "f16"))
def wmma_store(e: Emitter, o: Op) -> None:
    e.check_whole_warp()
    memory, source, *stride = e.inst.operands
    base, step = _base_and_stride(e, memory, stride[0] if stride else None)
    nbytes = TYPE_BYTES[o.type]
    values = _elements(e, source, o.type)
    for rows, columns, count, first in _accumulator_accesses(o):
        e.store_vector(_accumulator_addresses(e, o, base, step, rows, columns, nbytes), e.address_buffer)
        allowed = allowed_lanes(e, e.site_of[id(e.inst)], nbytes * count, STORE, e.active_mask())
        for k in range(count):
            e.store_vector(values[first + k], e.b.add(e.value_buffer, I64(k * LANES * nbytes)))
        scatter(e, allowed, nbytes, count)


def _elements(e: Emitter, source: Operand, kind: str) -> list[Any]:
    """The eight elements of an accumulator; halves lie two in a register."""
    registers = [e.read(item, "f32" if kind == "f32" else "b32", vector=True) for item in items(e, source)]
    if kind == "f32":
        return registers
    half = ir.VectorType(scalar_type("b16"), LANES)
    sixteen = ir.Constant(ir.VectorType(I32, LANES), [I32(16)] * LANES)
    return [e.b.trunc(v, half) for r in registers for v in (r, e.b.lshr(r, sixteen))]
