"""Native code of kernels: generated once and kept in the cache.

LLVM makes it quickly. More care takes it three times as long and wins nothing: code for all lanes of a warp at once
waits for memory, and what accesses cost to count is in the runtime, which is optimised.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from grader.areas import EMULATOR, fingerprint
from grader.emulator import target
from grader.emulator.cache import cache_folder, keep, kept
from grader.emulator.codegen.builder import KERNEL_SYMBOL
from grader.emulator.codegen.emitter import register_slots
from grader.emulator.codegen.generator import generate
from grader.emulator.errors import EmulatorError
from grader.emulator.ptx.plan import KernelPlan
from grader.emulator.runtime import build

RUNTIME_STACK = 1 << 20
"""What the runtime and the caller need of the stack, and the buffers of FunctionBuilder."""


@dataclass
class NativeCode:
    """The code of one kernel, for block shapes whose rows do or do not fill whole warps."""

    plan: KernelPlan
    state_bytes: int
    address: int
    code_bytes: int
    engine: Any
    """Owns the code at `address`."""
    tracked: bool = False
    """Threads have met in global memory in an earlier launch: the next is tracked from the start."""

    @property
    def stack_bytes(self) -> int:
        """More than the code's frame on the stack: each 64 bytes of it are written by an instruction of at least 7."""
        return 10 * self.code_bytes + RUNTIME_STACK


def native_code(plan: KernelPlan, digest: str) -> NativeCode:
    """Code for a planned kernel; `digest` identifies the module's text.

    Raises UnsupportedPtx for instructions the emulator does not know.
    """
    entry = _entry(f"{_generator_key()}|{digest}|{plan.name}|{plan.rows_uniform}|{bool(plan.watched)}")
    code = kept(entry)
    if code is None:
        code = target.object_code(_module(plan), target.QUICK)
        keep(entry, code)
    engine, address = _loaded(code)
    return NativeCode(plan, register_slots(plan)[1], address, len(code), engine)


def _module(plan: KernelPlan) -> llvm.ModuleRef:
    try:
        return llvm.parse_assembly(generate(plan))
    except RuntimeError as error:
        raise EmulatorError(f"generated code of {plan.name} is not valid: {error}") from error


@cache
def _generator_key() -> str:
    """Changes with all that decides what a module's text becomes: our code, the compiler, the processor."""
    return f"{target.target_key('llvmlite')}|{fingerprint(EMULATOR)}"


def _entry(key: str) -> Path:
    return cache_folder() / f"kernel-{hashlib.sha256(key.encode()).hexdigest()[:32]}.o"


def _loaded(code: bytes) -> tuple[Any, int]:
    linked = target.engine()
    for name, address in build.load().addresses.items():
        llvm.add_symbol(target.PREFIX + name, address)
    linked.add_object_file(llvm.ObjectFileRef.from_data(code))
    linked.finalize_object()
    return linked, linked.get_function_address(KERNEL_SYMBOL)
