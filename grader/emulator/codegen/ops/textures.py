"""Fetches of textures (PTX ISA 9.7.10.3), as nvcc has them for texture objects: the handle is in a register."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.ops.registry import Op, op
from grader.emulator.codegen.values import I64
from grader.emulator.ptx.tree import Mem, Operand, Reg, Vec
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import LANES

_SHAPES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2}
"""Coordinates beside the layer, which comes first where there is an `a`."""


@op("tex", allow=("v4", *_SHAPES), types=("f32", "s32", "u32"), operands=2)
def fetch(e: Emitter, o: Op) -> None:
    target, place = e.inst.operands
    shape = next((each for each in o.modifiers if each in _SHAPES), "")
    of_texture = isinstance(place, Mem) and isinstance(place.base, Reg) and isinstance(target, Vec)
    if not of_texture or not shape or len(o.types) != 2 or o.type == "u32":
        raise e.unsupported()
    assert isinstance(place, Mem)
    assert isinstance(target, Vec)
    assert place.base is not None
    handles = e.read(place.base, "b64", vector=True)
    how = _SHAPES[shape] | layout.FLOATS * (o.type == "f32") | layout.LAYERED * (shape[0] == "a")
    coordinates = _coordinates(e, place.coordinates, shape)
    with e.where_active() as mask:
        e.store_vector(handles, e.address_buffer)
        for dimension, value in coordinates.items():
            e.store_vector(value, e.b.add(e.fragment_buffer, I64(dimension * LANES * 8)))
        e.call("texture_fetch", e.context, e.site_address(), e.address_buffer, e.fragment_buffer, e.second_buffer,
               e.value_buffer, mask, I64(how))  # fmt: skip
    for channel, register in enumerate(target.items):
        value = e.load_vector(e.b.add(e.value_buffer, I64(channel * LANES * 8)), I64)
        e.write(register, e.b.trunc(value, e.lane_type(32)), "b32")


def _coordinates(e: Emitter, operands: tuple[Operand, ...], shape: str) -> dict[int, Any]:
    """Dimension → the coordinate's 32 bits as a vector of int64; the layer counts as the third dimension."""
    layer, rest = (operands[:1], operands[1:]) if shape[0] == "a" else ((), operands)
    if len(rest) < _SHAPES[shape]:
        raise e.unsupported()
    named = dict(enumerate(rest[: _SHAPES[shape]])) | ({2: layer[0]} if layer else {})
    return {
        dimension: e.b.sext(e.read(operand, "b32", vector=True), e.lane_type(64))
        for dimension, operand in named.items()
    }
