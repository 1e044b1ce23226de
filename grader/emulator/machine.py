"""An emulated GPU: memory, modules, launches."""

from __future__ import annotations

import hashlib
import math
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from grader.emulator import codegen, devices, kernel, ptx
from grader.emulator.cache import cache_folder, write_atomically
from grader.emulator.errors import EmulatorError, LaunchRefused
from grader.emulator.launch import Launch, Shape
from grader.emulator.memory import Memory, reserve
from grader.emulator.nvrtc import Resources, resources_of
from grader.emulator.records import Finding, LaunchRecord
from grader.emulator.runtime import build, layout
from grader.emulator.worker import Worker

__all__ = ["Finding", "Kernel", "LaunchRecord", "LoadedModule", "Machine"]

_NO_BUDGET = 1 << 62
_ARENA_BYTES = 160 << 30
"""Address space for global memory, room for gaps included."""


@dataclass
class Kernel:
    """One entry function of a loaded module."""

    name: str
    module: LoadedModule
    params: tuple[ptx.Param, ...]
    registers: int
    """Per thread; 0 where the image does not tell."""
    reported_shared_bytes: int | None
    local_bytes: int
    """Per thread; 0 where the image does not tell."""
    max_threads: int | None
    """Threads a block may have by the kernel's own declaration (__launch_bounds__)."""
    compiled: dict[bool, Compiled] = field(default_factory=dict)

    @property
    def static_shared_bytes(self) -> int:
        """Static shared memory of a block: as ptxas reported it, else as the emulator lays it out."""
        if self.reported_shared_bytes is not None:
            return self.reported_shared_bytes
        return kernel.plan_kernel(self.module.tree, self.name, rows_uniform=True).static_shared_bytes


@dataclass
class Compiled:
    """Native code of a kernel, for block shapes whose rows do or do not fill whole warps."""

    plan: kernel.KernelPlan
    address: int
    state_bytes: int
    engine: Any


@dataclass
class LoadedModule:
    """A module whose variables have their place in the machine's memory."""

    tree: ptx.Module
    digest: str
    kernels: dict[str, Kernel] = field(default_factory=dict)
    globals: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Variable → (address, bytes)."""


class Machine:
    """A device of the architecture `arch`, run by `threads` threads of the host (as many as it has, by default)."""

    def __init__(self, arch: str = devices.DEFAULT_ARCH, threads: int | None = None) -> None:
        self.device = devices.find(arch)
        self.limits = dict(self.device.attributes)
        self.memory = Memory(_ARENA_BYTES)
        self.threads = threads or len(os.sched_getaffinity(0))
        self.runtime = build.load()
        self._touched = [reserve(self.memory.capacity // 32) for _ in range(2)]
        self._workers: list[Worker] = []
        self._lock = threading.Lock()

    # -- modules ----------------------------------------------------------------------------------------------
    def load(self, image: bytes | str) -> LoadedModule:
        """Reads an image (PTX, with ptxas's report as comments where known) and places its variables.

        Raises PtxSyntaxError, and UnsupportedPtx for declarations the emulator does not know; instructions are
        looked at when a kernel is first launched.
        """
        text = image.decode() if isinstance(image, bytes) else image
        text = text.rstrip("\0")
        resources = resources_of("\n".join(s[3:] for s in text.splitlines() if s.startswith("// ptxas")))
        module = LoadedModule(ptx.parse(text), hashlib.sha256(text.encode()).hexdigest())
        self._place_variables(module)
        for function in module.tree.functions.values():
            if function.is_entry:
                module.kernels[function.name] = _kernel(module, function, resources.get(function.name))
        return module

    def _place_variables(self, module: LoadedModule) -> None:
        variables = [v for v in module.tree.variables.values() if v.space in ("global", "const")]
        for variable in variables:
            address = self.memory.alloc(max(variable.nbytes, 1))
            module.globals[variable.name] = (address, variable.nbytes)
            if variable.initial is not None:
                self.memory.write(address, variable.initial)
        for variable in variables:
            for offset, name, addend in variable.pointers:
                target = module.globals[name][0] + addend
                self.memory.write(module.globals[variable.name][0] + offset, target.to_bytes(8, "little"))

    def unload(self, module: LoadedModule) -> None:
        """Gives back the memory of a module's variables."""
        for address, _ in module.globals.values():
            self.memory.free(address)
        module.globals.clear()

    # -- launches ---------------------------------------------------------------------------------------------
    def launch(
        self, kernel: Kernel, grid: Shape, block: Shape, params: bytes, shared_bytes: int = 0,
        budget: int | None = None, blocks: Sequence[int] | None = None,
    ) -> LaunchRecord:  # fmt: skip
        """Runs a kernel to its end and says what it counted and found.

        `params` holds the arguments as the kernel's .param space does. `shared_bytes` is dynamic shared memory.
        A block may execute at most `budget` warp instructions. `blocks` are linear block numbers to run in
        place of all. Raises LaunchRefused for a configuration the device does not allow, UnsupportedPtx for
        instructions the emulator does not know.
        """
        found = kernel
        self._check(found, grid, block, found.static_shared_bytes + shared_bytes)
        with self._lock:
            compiled = _compiled(found, block[0] % layout.LANES == 0)
            launch = Launch(
                memory=self.memory, touched=self._touched, plan=compiled.plan, code=compiled.address,
                state_bytes=compiled.state_bytes, variables=found.module.globals, grid=grid, block=block,
                shared_bytes=compiled.plan.static_shared_bytes + shared_bytes, params=params,
                budget=budget or _NO_BUDGET, sm_count=self.limits["multiprocessor_count"],
            )  # fmt: skip
            linears = np.arange(math.prod(grid)) if blocks is None else np.asarray(blocks)
            workers = self.workers(1 if compiled.plan.serial else min(self.threads, len(linears)))
            status = launch.run(workers, linears.astype(np.int64))
            return launch.record(workers, found.registers, status, len(linears))

    def _check(self, kernel: Kernel, grid: Shape, block: Shape, shared_bytes: int) -> None:
        limits = self.limits
        threads = block[0] * block[1] * block[2]
        for axis, name in enumerate("xyz"):
            for what, shape in (("block", block), ("grid", grid)):
                most = limits[f"max_{what}_dim_{name}"]
                if not 1 <= shape[axis] <= most:
                    raise LaunchRefused(f"{what}.{name} is {shape[axis]}; the device allows 1 to {most}")
        if threads > limits["max_threads_per_block"]:
            most = limits["max_threads_per_block"]
            raise LaunchRefused(f"a block of {threads} threads; the device allows {most}")
        if kernel.max_threads and threads > kernel.max_threads:
            raise LaunchRefused(
                f"a block of {threads} threads; __launch_bounds__ allows {kernel.max_threads}"
            )
        most = limits["max_shared_memory_per_block_optin"]
        if shared_bytes > most:
            raise LaunchRefused(f"{shared_bytes} bytes of shared memory a block; the device has {most}")
        if kernel.registers * threads > limits["max_registers_per_block"]:
            raise LaunchRefused(
                f"{threads} threads of {kernel.registers} registers; a block has {limits['max_registers_per_block']}"
            )

    def workers(self, count: int) -> list[Worker]:
        while len(self._workers) < count:
            self._workers.append(Worker(self.memory.capacity, self.runtime))
        return self._workers[:count]


def _kernel(module: LoadedModule, function: ptx.Function, found: Resources | None) -> Kernel:
    return Kernel(
        function.name, module, tuple(function.params), found.registers if found else 0,
        found.shared_bytes if found else None, found.local_bytes if found else 0, function.max_threads,
    )  # fmt: skip


def _compiled(found: Kernel, rows_uniform: bool) -> Compiled:
    if rows_uniform not in found.compiled:
        plan = kernel.plan_kernel(found.module.tree, found.name, rows_uniform=rows_uniform)
        code = _object_code(plan, found.module.digest)
        engine = build.engine()
        for name, address in build.load().addresses.items():
            llvm.add_symbol(build.PREFIX + name, address)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        address = engine.get_function_address(codegen.KERNEL_SYMBOL)
        found.compiled[rows_uniform] = Compiled(plan, address, codegen.register_slots(plan)[1], engine)
    return found.compiled[rows_uniform]


@lru_cache
def _generator_key() -> str:
    """Changes with every source file that decides what code is generated."""
    here = Path(__file__).parent
    digest = hashlib.sha256(build.processor_key().encode())
    for path in sorted([*here.glob("*.py"), *(here / "ops").glob("*.py"), here / "runtime" / "layout.py"]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _object_code(plan: kernel.KernelPlan, digest: str) -> bytes:
    """The kernel's native code, from the cache or generated now."""
    key = hashlib.sha256(f"{_generator_key()}|{digest}|{plan.name}|{plan.rows_uniform}".encode()).hexdigest()
    entry = cache_folder() / f"kernel-{key[:32]}.o"
    if entry.exists():
        return entry.read_bytes()
    try:
        module = llvm.parse_assembly(codegen.generate(plan))
    except RuntimeError as error:
        raise EmulatorError(f"generated code of {plan.name} is not valid: {error}") from error
    code = bytes(build.target_machine().emit_object(module))
    write_atomically(entry, code)
    return code
