"""How PTX types look as LLVM types, one lane or a whole warp of them."""

from __future__ import annotations

from typing import Any

from grader.emulator.codegen import ir
from grader.emulator.runtime.layout import LANES

I1, I8, I16, I32, I64 = (ir.IntType(n) for n in (1, 8, 16, 32, 64))
F16, F32, F64 = ir.HalfType(), ir.FloatType(), ir.DoubleType()

_SCALARS = {
    "pred": I1,
    "b8": I8, "u8": I8, "s8": I8,
    "b16": I16, "u16": I16, "s16": I16, "f16": I16, "bf16": I16,
    "b32": I32, "u32": I32, "s32": I32, "f16x2": I32, "bf16x2": I32, "tf32": I32, "f32": F32,
    "b64": I64, "u64": I64, "s64": I64, "f64": F64,
    "e4m3x2": I16, "e5m2x2": I16, "u16x2": I32, "s16x2": I32,
}  # fmt: skip


def scalar_type(ptx_type: str) -> Any:
    """The LLVM type that holds one lane of a PTX type; half types are held as their bits."""
    return _SCALARS[ptx_type]


def is_vector(value: Any) -> bool:
    return isinstance(value.type, ir.VectorType)


def element_of(llvm_type: Any) -> Any:
    return llvm_type.element if isinstance(llvm_type, ir.VectorType) else llvm_type


def width_of(llvm_type: Any) -> int:
    """Bits of one lane."""
    element = element_of(llvm_type)
    return {F16: 16, F32: 32, F64: 64}.get(element) or int(element.width)


def shaped(element: Any, like: Any) -> Any:
    """The type `element`, 32 of them where the value `like` is a vector."""
    return ir.VectorType(element, LANES) if is_vector(like) else element


def constant(like: Any, value: int | float) -> Any:
    """A constant of the type of the value `like`, in all its lanes."""
    return ir.Constant(like.type, value)


def suffix(llvm_type: Any) -> str:
    """How LLVM spells a type in the name of an overloaded intrinsic."""
    if isinstance(llvm_type, ir.VectorType):
        return f"v{llvm_type.count}{suffix(llvm_type.element)}"
    return {F16: "f16", F32: "f32", F64: "f64"}.get(llvm_type) or f"i{llvm_type.width}"
