"""An emulated GPU: memory, modules, launches."""

from __future__ import annotations

import hashlib
import math
import mmap
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from grader.emulator import collection, devices
from grader.emulator.codegen.native_code import NativeCode, native_code
from grader.emulator.errors import LaunchRefused, TooManyBlocks, TooManyRegisters, UnsupportedPtx
from grader.emulator.machine import children, clusters
from grader.emulator.machine.cores import Cores, usable
from grader.emulator.machine.heap import Heap
from grader.emulator.machine.host import FIFO_BYTES
from grader.emulator.machine.launch import NO_BUDGET, LaunchExecution, Shape
from grader.emulator.machine.memory import ALIGNMENT, ARENA_BYTES, Memory
from grader.emulator.machine.orders import Order
from grader.emulator.machine.origins import Watch
from grader.emulator.machine.records import Finding, LaunchRecord
from grader.emulator.machine.tracing.block_trace import BlockTrace
from grader.emulator.machine.tracing.extents import Extents
from grader.emulator.machine.tracing.traces import Traces
from grader.emulator.machine.worker import Workers
from grader.emulator.nvrtc.compilation import resources_of
from grader.emulator.ptx.parser import parse
from grader.emulator.ptx.plan import KernelPlan, plan_kernel
from grader.emulator.ptx.tree import Function, Module, Param
from grader.emulator.runtime import layout

__all__ = ["Finding", "Kernel", "LaunchRecord", "LoadedModule", "Machine"]

_T = TypeVar("_T")
_IMAGES = 8
"""So many images are kept, those that were loaded last."""
_WORKSPACE_BYTES = 8
_USUAL_STACK = 4 << 20
"""Bytes of the stack that any thread has to spare."""
_MOST_STACK = 1 << 30


@dataclass
class Kernel:
    """One entry function of a loaded module."""

    name: str
    module: LoadedModule
    params: tuple[Param, ...]
    registers: int
    """Per thread; 0 where the image does not tell."""
    reported_shared_bytes: int | None
    local_bytes: int
    """Per thread; 0 where the image does not tell."""
    spilled_bytes: tuple[int, int]
    """That a thread loads and stores, as ptxas spells its code out, of registers that it has spilled."""
    max_threads: int | None
    """Threads a block may have by the kernel's own declaration (__launch_bounds__)."""
    cluster: Shape
    """Blocks of a cluster by the kernel's own declaration (__cluster_dims__)."""
    compiled: dict[tuple[bool, bool], NativeCode] = field(default_factory=dict)
    planned: dict[tuple[bool, bool], KernelPlan] = field(default_factory=dict)
    """By the same keys: to plan a kernel takes nearly as long as to generate its code."""

    def code_for(self, *, rows_uniform: bool, watch: bool = False) -> NativeCode:
        """Native code for blocks whose rows fill whole warps, or do not; made when first asked for. With `watch` it
        notes what makes the first infinity and the first NaN."""
        key = (rows_uniform, watch)
        if key not in self.compiled:
            with collection.put_off():
                plan = self._plan(rows_uniform=rows_uniform, watch=watch)
                self.compiled[key] = native_code(plan, self.module.digest)
        return self.compiled[key]

    def _plan(self, *, rows_uniform: bool, watch: bool = False) -> KernelPlan:
        key = (rows_uniform, watch)
        if key not in self.planned:
            self.planned[key] = plan_kernel(
                self.module.tree, self.name, rows_uniform=rows_uniform, watch=watch
            )
        return self.planned[key]

    @cached_property  # each launch asks, and to plan a large kernel takes seconds
    def static_shared_bytes(self) -> int:
        """Static shared memory of a block: as ptxas reported it, else as the emulator lays it out."""
        if self.reported_shared_bytes is not None:
            return self.reported_shared_bytes
        return self._plan(rows_uniform=True).static_shared_bytes


@dataclass
class LoadedModule:
    """A module whose variables have their place in the machine's memory."""

    tree: Module
    digest: str
    kernels: dict[str, Kernel] = field(default_factory=dict)
    globals: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Variable → (address, bytes)."""


class Image:
    """What is made of the text of a module once, however often it is loaded."""

    def __init__(self, text: str) -> None:
        self.resources = resources_of("\n".join(s[3:] for s in text.splitlines() if s.startswith("// ptxas")))
        with collection.put_off():
            self.tree = parse(children.with_runtime(text))
        self.digest = hashlib.sha256(text.encode()).hexdigest()
        self.compiled: dict[str, dict[tuple[bool, bool], NativeCode]] = {}
        """By kernel, see `Kernel.compiled`."""


class Machine:
    """A device of the architecture `arch`, run by `threads` threads of the host (as many as it has cores, by default);
    with `shared`, the file of a `Cores`, by as many of them as there are idle cores, and by one in any case.
    Of what a launch prints, `printf_bytes` are kept."""

    def __init__(
        self,
        arch: str = devices.DEFAULT_ARCH,
        threads: int | None = None,
        shared: int | None = None,
        printf_bytes: int = FIFO_BYTES,
    ) -> None:
        self.device = devices.find(arch)
        self.limits = dict(self.device.attributes)
        self.memory = Memory(ARENA_BYTES)
        self.threads = threads or usable()
        self.printf_bytes = printf_bytes
        self._cores = Cores(self.threads, shared)
        self._traces = Traces(self.memory)
        self._workers = Workers(self.memory.capacity, self._cores)
        self._lock = threading.Lock()
        self._images: dict[str, Image] = {}
        self._nan_found = False
        """A launch's record says where the first NaN was made."""

    @cached_property
    def heap(self) -> Heap:
        """What kernels take by malloc; the device has it from the first of them on."""
        return Heap(self.memory)

    # -- modules ----------------------------------------------------------------------------------------------
    def load(self, image: bytes | str) -> LoadedModule:
        """Reads an image (PTX, with ptxas's report as comments where known) and places its variables.

        Raises PtxSyntaxError, and UnsupportedPtx for declarations of the module that the emulator does not know; what
        it does not know of a function counts when a kernel is first launched that calls it.
        """
        text = image.decode() if isinstance(image, bytes) else image
        text = text.rstrip("\0")
        known = self._images.pop(text, None) or Image(text)
        self._images[text] = known
        if len(self._images) > _IMAGES:
            self._images.pop(next(iter(self._images)))
        module = LoadedModule(known.tree, known.digest)
        self._place_variables(module)
        for function in module.tree.functions.values():
            if function.is_entry:
                module.kernels[function.name] = _kernel(module, function, known)
        return module

    def _place_variables(self, module: LoadedModule) -> None:
        variables = [v for v in module.tree.variables.values() if v.space in ("global", "const")]
        for variable in variables:
            alignment = mmap.PAGESIZE if variable.managed else ALIGNMENT  # so that the host can be shown it
            address = self.memory.alloc(max(variable.nbytes, 1), alignment=alignment)
            module.globals[variable.name] = (address, variable.nbytes)
            if variable.initial is not None:
                self.memory.write(address, variable.initial)
        for variable in variables:
            for offset, name, addend in variable.pointers:
                known = name in module.globals
                target = addend + (module.globals[name][0] if known else module.tree.code_address(name))
                self.memory.write(module.globals[variable.name][0] + offset, target.to_bytes(8, "little"))

    def unload(self, module: LoadedModule) -> None:
        """Gives back the memory of a module's variables."""
        for address, _ in module.globals.values():
            self.memory.free(address)
        module.globals.clear()

    def children(self, module: LoadedModule) -> list[children.Child]:
        """What the last launch of a module's kernel has launched, which is to be launched now. Raises UnsupportedPtx
        where that is more than there is room for."""
        if not children.launches_kernels(module.globals):
            return []
        return children.taken(module.globals, module.tree, self.memory, self.heap)

    # -- launches ---------------------------------------------------------------------------------------------
    def launch(
        self, kernel: Kernel, grid: Shape, block: Shape, params: bytes, shared_bytes: int = 0,
        budget: int | None = None, blocks: Sequence[int] | None = None, enough: int | None = None,
        order: Order = "rising", traced: int | None = None, cooperative: bool = False,
        cluster: Shape | None = None, non_portable: bool = False, watch: Watch = "never",
        extents: Extents | None = None,
    ) -> LaunchRecord:  # fmt: skip
        """Runs a kernel to its end and says what it counted and found.

        `params` holds the arguments as the kernel's .param space does. `shared_bytes` is dynamic shared memory. A block
        may execute at most `budget` warp instructions, and all together TOGETHER times as many; what they ask of the
        host may take the time of as many again. `blocks` are linear
        block numbers to run in place of all, in this order, and none any more once they have taken the effort of
        `enough` warp instructions. `order` is the order of the blocks where all run, in kernels whose blocks
        communicate. Of the block `traced` it is noted what it accesses. The blocks of a `cooperative` launch, which
        have to be under way at the same time, may synchronise. `cluster` are the blocks of a cluster, those of the
        kernel's declaration by default; more than 8 have to be allowed as `non_portable`. `watch` is when the
        record says where the first infinity and the first NaN were made. `extents` are filled in. Raises
        LaunchRefused for a configuration that the device does not allow, UnsupportedPtx for instructions that the
        emulator does not know.
        """
        self._check(kernel, grid, block, kernel.static_shared_bytes + shared_bytes)
        shape = clusters.chosen(kernel.cluster, cluster)
        clusters.check(shape, grid, self.device, non_portable=non_portable)
        if cooperative:
            self._check_cooperative(kernel, grid, block, kernel.static_shared_bytes + shared_bytes)
        with self._lock, self._cores.idle(1), self._workspace(cooperative) as workspace:
            code = partial(kernel.code_for, rows_uniform=block[0] % layout.LANES == 0)
            if watch == "once stored" and self._nan_found:
                watch = "never"
            compiled = code(watch=watch == "always")
            launch = LaunchExecution(
                memory=self.memory, traces=self._traces, compiled=compiled, variables=kernel.module.globals,
                grid=grid, block=block, shared_bytes=compiled.plan.static_shared_bytes + shared_bytes, params=params,
                budget=budget or NO_BUDGET, device=self.device, registers=kernel.registers, cluster=shape,
                local_bytes=kernel.local_bytes, spilled_bytes=kernel.spilled_bytes,
                trace=None if traced is None else BlockTrace(traced), workspace=workspace,
                heap=self.heap if compiled.plan.allocates else None, printf_bytes=self.printf_bytes,
                watch=watch, extents=extents,
            )  # fmt: skip
            if blocks is not None:
                sample = partial(launch.sample, self._workers, np.asarray(blocks, np.int64), enough)
                return on_stack(compiled.stack_bytes, sample)
            record = on_stack(compiled.stack_bytes, partial(launch.run, self._workers, order))
            if record is None:
                launch = replace(launch, compiled=code(watch=True))
                record = on_stack(launch.compiled.stack_bytes, partial(launch.run, self._workers, order))
                assert record is not None, "watched code looks for everything"
            self._nan_found = self._nan_found or record.first_nan is not None
            return record

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
            raise TooManyRegisters(
                f"{threads} threads of {kernel.registers} registers; a block has {limits['max_registers_per_block']}"
            )

    def _check_cooperative(self, kernel: Kernel, grid: Shape, block: Shape, shared_bytes: int) -> None:
        fit = devices.max_active_blocks(self.device, math.prod(block), kernel.registers, shared_bytes)
        most = fit * self.limits["multiprocessor_count"]
        if math.prod(grid) > most:
            reason = f"{math.prod(grid)} blocks; the device holds {most} of this kernel's at a time"
            raise TooManyBlocks(reason)

    @contextmanager
    def _workspace(self, cooperative: bool) -> Iterator[int]:
        """The address of zeros by which a grid may synchronise; 0 where its launch is not cooperative."""
        if not cooperative:
            yield 0
            return
        address = self.memory.alloc(_WORKSPACE_BYTES)
        self.memory.write(address, bytes(_WORKSPACE_BYTES))
        try:
            yield address
        finally:
            self.memory.free(address)


def on_stack(nbytes: int, work: Callable[[], _T]) -> _T:
    """Does the work where the stack, and that of threads it starts, has so many bytes: quickly made code of a large
    kernel has a frame of many megabytes."""
    if nbytes <= _USUAL_STACK:
        return work()
    if nbytes > _MOST_STACK:
        raise UnsupportedPtx(f"a kernel whose code needs {nbytes >> 20} MiB of stack")
    before = threading.stack_size(-(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE)
    try:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(work).result()
    finally:
        threading.stack_size(before)


def _kernel(module: LoadedModule, function: Function, image: Image) -> Kernel:
    found = image.resources.get(function.name)
    return Kernel(
        function.name, module, tuple(function.params), found.registers if found else 0,
        found.shared_bytes if found else None, found.local_bytes if found else 0,
        (found.spill_load_bytes, found.spill_store_bytes) if found else (0, 0), function.max_threads,
        compiled=image.compiled.setdefault(function.name, {}), cluster=function.cluster,
    )  # fmt: skip
