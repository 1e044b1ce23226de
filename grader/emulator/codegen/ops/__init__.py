"""What each PTX instruction does, one module an opcode family.

A handler reads its operands from the emitter, builds LLVM IR, and writes its results. It is registered with the
modifiers it understands; an instruction with any other modifier is refused by name.
"""

from __future__ import annotations

from grader.emulator.codegen.ops import (
    arithmetic,
    async_copy,
    clusters,
    compare,
    control,
    convert,
    floating,
    half,
    logic,
    memory,
    simd,
    tensor,
    textures,
    transactions,
    warp,
)
from grader.emulator.codegen.ops.registry import handle

__all__ = [
    "arithmetic",
    "async_copy",
    "clusters",
    "compare",
    "control",
    "convert",
    "floating",
    "half",
    "handle",
    "logic",
    "memory",
    "simd",
    "tensor",
    "textures",
    "transactions",
    "warp",
]
