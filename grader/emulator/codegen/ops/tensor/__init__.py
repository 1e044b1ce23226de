"""Tensor Cores (PTX ISA 9.7.14 and 9.7.15): mma.sync, wmma, and what moves matrices."""

from __future__ import annotations

from grader.emulator.codegen.ops.tensor import matrices, mma, wgmma, wmma

__all__ = ["matrices", "mma", "wgmma", "wmma"]
