"""The runtime's calls about kernels: registration, launches, attributes, occupancy."""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from grader.emulator.cudart.calls.stream import StreamCalls
from grader.emulator.cudart.events import Block, Launched
from grader.emulator.cudart.native import host_view, store_int, store_word
from grader.emulator.cudart.state import State
from grader.emulator.cudart.status import CudaError, NotEmulated, Status
from grader.emulator.cudart.uses import Work
from grader.emulator.cudart.waiting import PROT_NONE, Waiting
from grader.emulator.devices import max_active_blocks
from grader.emulator.errors import (
    ClusterRefused,
    LaunchRefused,
    OutOfRoom,
    TooManyBlocks,
    TooManyRegisters,
)
from grader.emulator.machine.launch import Shape
from grader.emulator.machine.machine import Kernel, LoadedModule
from grader.emulator.machine.records import NOT_COMPLETED, LaunchRecord
from grader.emulator.machine.tracing.extents import Extents

_MAX_DYNAMIC, _CARVEOUT, _NON_PORTABLE = 8, 9, 14
_REFUSALS: tuple[tuple[type[LaunchRefused], Status], ...] = (
    (TooManyBlocks, Status.CooperativeLaunchTooLarge),
    (TooManyRegisters, Status.LaunchOutOfResources),
    (ClusterRefused, Status.InvalidClusterSize),
    (LaunchRefused, Status.InvalidConfiguration),
)


@dataclass
class KernelState:
    """A kernel, as the program knows it."""

    kernel: Kernel
    most_dynamic: int
    """Bytes of dynamic shared memory that a launch may ask for."""
    non_portable: bool = False
    """Clusters of more than 8 blocks are allowed."""


class KernelCalls:
    """Methods are named as the runtime's functions, and take their arguments as 64-bit words."""

    def __init__(
        self, state: State, waiting: Waiting, streams: StreamCalls, symbols: dict[int, tuple[int, int]]
    ) -> None:
        self.state, self.waiting, self.streams = state, waiting, streams
        self.modules: list[LoadedModule] = []
        """Of the translation units."""
        self.symbols = symbols
        self.handles = itertools.count(0x10, 0x10)  # below all functions of the program
        self._kernels: dict[int, KernelState] = {}

    # -- registration -----------------------------------------------------------------------------------------
    def register_module(self, module: LoadedModule) -> int:
        """Its number, by which its kernels and variables are registered."""
        self.modules.append(module)
        return len(self.modules) - 1

    def register_function(self, module: int, host: int, name: int) -> None:
        kernel = self.modules[module].kernels.get(_string(name))
        if kernel is not None:
            self._register(host, kernel)

    def _register(self, function: int, kernel: Kernel) -> None:
        most = self.state.machine.device.attributes["max_shared_memory_per_block"]
        self._kernels[function] = KernelState(kernel, max(0, most - kernel.static_shared_bytes))

    def handle_of(self, kernel: Kernel) -> int:
        """What stands for a kernel that the program has no function for."""
        known = next((each for each, state in self._kernels.items() if state.kernel is kernel), None)
        if known is not None:
            return known
        handle = next(self.handles)
        self._register(handle, kernel)
        return handle

    def register_variable(self, module: int, host: int, name: int) -> None:
        found = self.modules[module].globals.get(_string(name))
        if found is not None:
            self.symbols[host] = found
            self.add_variable(_string(name), found)

    def add_variable(self, name: str, found: tuple[int, int]) -> None:
        """Copies may name a variable's memory, (address, bytes)."""
        self.state.add(Block(*found, name, []), "variable")

    def register_managed(self, module: int, pointer: int, name: int) -> None:
        """`pointer`: where the program looks up the address of its __managed__ variable."""
        found = self.modules[module].globals.get(_string(name))
        if found is not None:
            address, nbytes = found
            initial = self.state.memory.read(address, nbytes)
            self.state.memory.share(address)
            self.state.memory.write(address, initial)
            store_word(pointer, address)
            self.symbols[address] = found  # what a call that takes a symbol is given
            self.state.add(Block(address, nbytes, _string(name), []), "managed variable")

    # -- launches ---------------------------------------------------------------------------------------------
    def cudaLaunchCooperativeKernel(
        self, function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, arguments: int, shared: int,
        stream: int,
    ) -> None:  # fmt: skip
        self._launch(function, (gx, gy, gz), (bx, by, bz), arguments, shared, stream, cooperative=True)

    def cudaLaunchKernel(
        self, function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, arguments: int, shared: int,
        stream: int,
    ) -> None:  # fmt: skip
        self._launch(function, (gx, gy, gz), (bx, by, bz), arguments, shared, stream)

    def cudaLaunchKernelExC(
        self, function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, arguments: int, shared: int,
        stream: int, cx: int, cy: int, cz: int, cooperative: int, unknown: int, early: int,
    ) -> None:  # fmt: skip
        if unknown:
            raise NotEmulated(f"the launch attribute {unknown} (cudaLaunchAttributeID)")
        self._launch(
            function, (gx, gy, gz), (bx, by, bz), arguments, shared, stream, bool(cooperative),
            (cx, cy, cz) if cx or cy or cz else None, bool(early),
        )  # fmt: skip

    def _launch(
        self, function: int, grid: Shape, block: Shape, arguments: int, shared: int, stream: int,
        cooperative: bool = False, cluster: Shape | None = None, early: bool = False,
    ) -> None:  # fmt: skip
        self.streams.check(stream)
        found = self._kernel(function)
        kernel = found.kernel
        if shared > found.most_dynamic:
            reason = (
                f"{shared} bytes of dynamic shared memory; this kernel may have {found.most_dynamic}, more after "
                "cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, …)"
            )
            self._failed(CudaError(Status.InvalidValue, reason))
        parameters = _packed(kernel, arguments)
        work, before = self.waiting.kernel(stream, early=early)
        extents = Extents() if self.waiting.uses.several else None
        try:
            record = self.state.machine.launch(
                kernel, grid, block, parameters, shared, cooperative=cooperative, cluster=cluster,
                non_portable=found.non_portable, watch="once stored", extents=extents,
            )  # fmt: skip
        except OutOfRoom as error:
            self._failed(CudaError(Status.MemoryAllocation, str(error)))
        except LaunchRefused as error:
            status = next(status for kind, status in _REFUSALS if isinstance(error, kind))
            self._failed(CudaError(status, str(error)), empty=0 in grid)
        self.state.tell(Launched(record, self.state.call.frames, self._blocks_of(record)))
        self.state.impaired |= any(finding.kind != "uninitialised_global" for finding in record.findings)
        # What waits for other kernels has an order of its own.
        if extents is not None and not record.may_wait:
            behind = self.waiting.clocks.of(work.stream) if _waits_for_kernels(kernel) else before
            self.waiting.uses.launch(extents, work, behind)
        self._guard_arguments(kernel, parameters, work)
        if record.status != "completed":
            asserted = any(finding.kind == "assert" for finding in record.findings)
            ended = Status.LaunchFailure if record.status == "trap" else Status.LaunchTimeout
            self.state.sticky = Status.Assert if asserted else ended
            self.state.impaired = True
            if not record.findings:
                self.state.note(
                    "launch_failed", detail=self.state.sticky.cuda_name, reason=NOT_COMPLETED[record.status]
                )

    def kept_arguments(self, function: int, arguments: int) -> int:
        """Arguments of a kernel for later: where there are pointers to copies of them."""
        sizes = [each.nbytes for each in self._kernel(function).kernel.params]
        places = [ctypes.c_uint64.from_address(arguments + 8 * number).value for number in range(len(sizes))]
        copies = [self.state.kept(address, nbytes) for address, nbytes in zip(places, sizes, strict=True)]
        words = (ctypes.c_uint64 * len(copies))(*copies)
        return self.state.kept(ctypes.addressof(words), ctypes.sizeof(words))

    def _failed(self, error: CudaError, *, empty: bool = False) -> NoReturn:
        """A launch that the device refuses."""
        self.state.note("launch_failed", detail=error.status.cuda_name, reason=error.reason, empty=empty)
        raise CudaError(error.status, error.reason, noted=True)

    def kernel(self, function: int) -> Kernel:
        """Raises CudaError where this is none."""
        return self._kernel(function).kernel

    def _kernel(self, function: int) -> KernelState:
        if function not in self._kernels:
            raise CudaError(Status.InvalidDeviceFunction, "this is no kernel of the program")
        return self._kernels[function]

    def _blocks_of(self, record: LaunchRecord) -> list[Block]:
        """The allocations that a launch's findings are about, and those that were there before."""
        found: dict[int, Block] = {}
        for finding in record.findings:
            if finding.space != "global" or finding.address is None:
                continue
            inside = self.state.allocation(finding.address)
            near = self.state.allocation(finding.allocation.base) if finding.allocation else None
            for block in (
                inside and inside.block, not inside and self.state.freed(finding.address), near and near.block,
            ):  # fmt: skip
                if block:
                    found[block.base] = block
        return list(found.values())

    def _guard_arguments(self, kernel: Kernel, parameters: bytes, work: Work) -> None:
        """Managed and page-locked memory that a kernel has pointers to, or names, is the host's once it has waited; or
        at any time, where the kernel is written for that."""
        places = [at for each in kernel.params for at in range(each.offset, each.offset + each.nbytes - 7, 8)]
        pointers = [int.from_bytes(parameters[at : at + 8], "little") for at in places]
        named = {name for code in kernel.compiled.values() for name in code.plan.symbols}
        pointers += [kernel.module.globals[name][0] for name in sorted(named)]
        found = [each for each in map(self.state.allocation, pointers) if each and each.host_sees]
        if found and not _meets_host(kernel):
            for each in found:
                self.waiting.guard(each, each.base, each.nbytes, PROT_NONE, work)

    # -- attributes and occupancy -----------------------------------------------------------------------------
    def cudaFuncSetAttribute(self, function: int, attribute: int, value: int) -> None:
        found = self._kernel(function)
        if attribute == _MAX_DYNAMIC:
            most = self.state.machine.device.attributes["max_shared_memory_per_block_optin"]
            most -= found.kernel.static_shared_bytes
            if value > most:
                raise CudaError(
                    Status.InvalidValue, f"this kernel can have {most} bytes of dynamic shared memory"
                )
            found.most_dynamic = value
        elif attribute == _NON_PORTABLE:
            found.non_portable = bool(value)
        elif attribute != _CARVEOUT:
            raise CudaError(Status.NotSupported, f"the attribute {attribute} of a kernel is not emulated")

    def cudaFuncSetCacheConfig(self, function: int, config: int) -> None:
        self._kernel(function)

    def cudaFuncSetSharedMemConfig(self, function: int, config: int) -> None:
        self._kernel(function)

    def cudaFuncGetAttributes(self, out: int, function: int) -> None:
        found = self._kernel(function)
        kernel = found.kernel
        most = kernel.max_threads or self.state.machine.device.attributes["max_threads_per_block"]
        values = (
            kernel.static_shared_bytes, 0, kernel.local_bytes, most, kernel.registers, _architecture(kernel),
            found.most_dynamic,
        )  # fmt: skip
        for number, value in enumerate(values):
            store_word(out + 8 * number, value)

    def cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        self, out: int, function: int, threads: int, shared: int
    ) -> None:
        kernel = self._kernel(function).kernel
        if not 1 <= threads <= 1024:
            raise CudaError(Status.InvalidValue, f"a block of {threads} threads")
        total = kernel.static_shared_bytes + shared
        store_int(out, max_active_blocks(self.state.machine.device, threads, kernel.registers, total))

    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags = cudaOccupancyMaxActiveBlocksPerMultiprocessor

    def cudaOccupancyAvailableDynamicSMemPerBlock(
        self, out: int, function: int, blocks: int, threads: int
    ) -> None:
        kernel, device = self._kernel(function).kernel, self.state.machine.device
        most = device.attributes["max_shared_memory_per_block_optin"] - kernel.static_shared_bytes
        sizes = range(most // 128 * 128, -1, -128)
        static = kernel.static_shared_bytes
        fits = (
            n for n in sizes if max_active_blocks(device, threads, kernel.registers, static + n) >= blocks
        )
        store_word(out, next(fits, 0))


def _meets_host(kernel: Kernel) -> bool:
    """Whether a kernel that was launched has atomics, fences or other operations of system scope, by which it and the
    host may change the same memory at the same time."""
    return any("sys" in opcode for opcode in _opcodes(kernel))


def _waits_for_kernels(kernel: Kernel) -> bool:
    """Whether a kernel that was launched has a cudaGridDependencySynchronize()."""
    return ["griddepcontrol", "wait"] in _opcodes(kernel)


def _opcodes(kernel: Kernel) -> Iterator[list[str]]:
    """Of each instruction, in its parts."""
    flows = (code.plan.flow for code in kernel.compiled.values())
    return (inst.parts for flow in flows for block in flow.blocks for inst in block.instructions)


def _architecture(kernel: Kernel) -> int:
    """What a kernel's PTX is for, as 90 of sm_90a."""
    found = re.search(r"\d+", kernel.module.tree.target)
    return int(found[0]) if found else 0


def _packed(kernel: Kernel, arguments: int) -> bytes:
    """The arguments, to which the program has pointers, as the kernel's .param space has them."""
    size = max((each.offset + each.nbytes for each in kernel.params), default=0)
    packed = bytearray(size)
    for number, each in enumerate(kernel.params):
        address = ctypes.c_uint64.from_address(arguments + 8 * number).value
        packed[each.offset : each.offset + each.nbytes] = host_view(address, each.nbytes).tobytes()
    return bytes(packed)


def _string(address: int) -> str:
    return ctypes.string_at(address).decode()
