"""What native code is compiled for: this processor, and how its functions are found."""

from __future__ import annotations

import importlib.metadata
import sys
from typing import Any

import llvmlite.binding as llvm

PREFIX = "warp_"
"""Before each function's name in the object file."""


QUICK, CAREFUL = 0, 2
"""LLVM's levels of code generation."""


def target_machine(effort: int = CAREFUL) -> llvm.TargetMachine:
    """LLVM's code generator for this processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=effort, reloc="pic",
        codemodel="jitdefault",
    )  # fmt: skip


def engine() -> Any:
    """An empty execution engine, into which object files are loaded."""
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())


def optimised(module: llvm.ModuleRef) -> llvm.ModuleRef:
    """The module after LLVM's passes of level 3, as Numba sets them."""
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization, options.slp_vectorization = True, False
    passes = llvm.create_pass_builder(target_machine(), options)
    passes.getModulePassManager().run(module, passes)
    return module


def object_code(module: llvm.ModuleRef, effort: int = CAREFUL) -> bytes:
    """The object file of a module."""
    return bytes(target_machine(effort).emit_object(module))


def target_key(*compilers: str) -> str:
    """What native code depends on besides its source: this processor, and the versions of those who compile."""
    versions = [importlib.metadata.version(name) for name in compilers]
    features = llvm.get_host_cpu_features().flatten()
    return "|".join([*versions, llvm.get_host_cpu_name(), features, sys.platform])
