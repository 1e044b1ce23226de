"""Fragments as the runtime sees them: the registers of a warp in memory, one behind the other."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.values import I64, scalar_type, width_of
from grader.emulator.ptx.tree import Operand, Vec
from grader.emulator.runtime.layout import LANES

REGISTER_BYTES = LANES * 4
FRAGMENT_BYTES = 16 * REGISTER_BYTES
"""The largest operand of a warp's product: eight doubles a lane."""


def items(e: Emitter, operand: Operand) -> tuple[Operand, ...]:
    """The registers of a fragment; a single one may stand without braces."""
    return operand.items if isinstance(operand, Vec) else (operand,)


def register_bytes(kind: str) -> int:
    return LANES * width_of(scalar_type(kind)) // 8


def spill(e: Emitter, operand: Operand, at: Any, kind: str = "b32") -> None:
    """Writes the registers of a fragment one behind the other."""
    for index, item in enumerate(items(e, operand)):
        e.store_vector(e.read(item, kind, vector=True), e.b.add(at, I64(index * register_bytes(kind))))


def fill(e: Emitter, operand: Operand, at: Any, kind: str = "b32") -> None:
    """Reads the registers of a fragment back."""
    for index, item in enumerate(items(e, operand)):
        place = e.b.add(at, I64(index * register_bytes(kind)))
        e.write(item, e.load_vector(place, scalar_type(kind)), kind)


def places(e: Emitter) -> tuple[Any, Any, Any, Any]:
    """Room for the operands of a product and its result."""
    a, b, c, d = (e.b.add(e.fragment_buffer, I64(index * FRAGMENT_BYTES)) for index in range(4))
    return a, b, c, d


def register_kind(ptx_type: str) -> str:
    """How the registers of an operand or a sum of this type are read."""
    return ptx_type if ptx_type in ("f64", "f32") else "b32"
