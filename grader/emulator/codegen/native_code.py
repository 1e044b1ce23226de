"""Native code of kernels: generated once, kept in the cache, and made better where it is worth it.

Optimising a large kernel takes LLVM longer than running its first launches. So large kernels begin with code that is
made quickly, and are compiled again with care once they have run for a while. Both compute and count the same.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from grader.emulator import target
from grader.emulator.cache import cache_folder, keep, kept
from grader.emulator.codegen.builder import KERNEL_SYMBOL
from grader.emulator.codegen.emitter import register_slots
from grader.emulator.codegen.generator import generate
from grader.emulator.errors import EmulatorError
from grader.emulator.fingerprint import fingerprint
from grader.emulator.ptx.plan import KernelPlan
from grader.emulator.runtime import build

QUICK, CAREFUL = 0, 2
"""LLVM's levels of code generation."""

LARGE = 500
"""PTX instructions from which on quick code comes first."""

RUNTIME_STACK = 1 << 20
"""What the runtime and the caller need of the stack, and the buffers of FunctionBuilder."""

PATIENCE_S = 0.001
"""How long a kernel runs in quick code, for each of its PTX instructions, before it is compiled with care: about what
compiling takes, so that at most half the time is lost whatever comes."""


@dataclass
class _Source:
    """What a kernel's code is made from."""

    plan: KernelPlan
    key: str

    @cached_property
    def bitcode(self) -> bytes:
        """LLVM's, generated once for quick code and for better code."""
        try:
            return bytes(llvm.parse_assembly(generate(self.plan)).as_bitcode())
        except RuntimeError as error:
            raise EmulatorError(f"generated code of {self.plan.name} is not valid: {error}") from error

    def object_code(self, effort: int) -> bytes:
        """The object file, from the cache or made now."""
        entry = _entry(self.key, effort)
        if (found := kept(entry)) is not None:
            return found
        code = target.object_code(llvm.parse_bitcode(self.bitcode), effort)
        keep(entry, code)
        return code


@dataclass
class NativeCode:
    """The code of one kernel, for block shapes whose rows do or do not fill whole warps."""

    plan: KernelPlan
    state_bytes: int
    effort: int
    address: int
    code_bytes: int
    engine: Any
    """Owns the code at `address`."""
    source: _Source | None
    """What better code is made from; None for code that was made with care."""
    seconds: float = 0.0
    """How long launches have taken with this code."""
    tracked: bool = False
    """Threads have met in global memory in an earlier launch: the next is tracked from the start."""

    @property
    def stack_bytes(self) -> int:
        """More than the code's frame on the stack: each 64 bytes of it are written by an instruction of at least 7."""
        return 10 * self.code_bytes + RUNTIME_STACK

    def ran_for(self, seconds: float) -> None:
        """Notes the time of a launch; after enough of them the next one has better code."""
        self.seconds += seconds
        if self.source is not None and self.seconds > PATIENCE_S * _size(self.plan):
            self.effort = CAREFUL
            code = self.source.object_code(CAREFUL)
            self.source = None
            self.code_bytes = len(code)
            self.engine, self.address = _loaded(code)


def native_code(plan: KernelPlan, digest: str) -> NativeCode:
    """Code for a planned kernel; `digest` identifies the module's text.

    Raises UnsupportedPtx for instructions the emulator does not know.
    """
    key = f"{_generator_key()}|{digest}|{plan.name}|{plan.rows_uniform}"
    effort = QUICK if _size(plan) > LARGE and kept(_entry(key, CAREFUL)) is None else CAREFUL
    source = _Source(plan, key)
    code = source.object_code(effort)
    engine, address = _loaded(code)
    better = source if effort == QUICK else None
    return NativeCode(plan, register_slots(plan)[1], effort, address, len(code), engine, better)


def _size(plan: KernelPlan) -> int:
    """PTX instructions of a kernel, the functions it calls included."""
    return sum(len(block.instructions) for block in plan.flow.blocks)


@cache
def _generator_key() -> str:
    """Changes with all that decides what a module's text becomes: our code, the compiler, the processor."""
    code = fingerprint("grader.emulator.ptx.parser", "grader.emulator.codegen.generator")
    return f"{target.target_key('llvmlite')}|{code}"


def _entry(key: str, effort: int) -> Path:
    return cache_folder() / f"kernel-{hashlib.sha256(f'{key}|{effort}'.encode()).hexdigest()[:32]}.o"


def _loaded(code: bytes) -> tuple[Any, int]:
    linked = target.engine()
    for name, address in build.load().addresses.items():
        llvm.add_symbol(target.PREFIX + name, address)
    linked.add_object_file(llvm.ObjectFileRef.from_data(code))
    linked.finalize_object()
    return linked, linked.get_function_address(KERNEL_SYMBOL)
