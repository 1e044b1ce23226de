"""Does what `grader.judge.child.protocol` lists, through PyCUDA's driver API, which the emulator has too.

What comes back are raw bytes, times and launch records; nothing here knows an expected result.
"""

from __future__ import annotations

import gc
import mmap
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec
import numpy as np

from grader import cuda
from grader.emulator.machine.records import Accessed, Allocation, Finding, Touched
from grader.judge.child.protocol import (
    Allocate,
    Copy,
    Download,
    Fetch,
    Fill,
    Frame,
    Gather,
    Launch,
    Library,
    Load,
    Operation,
    Pointer,
    Put,
    Record,
    Release,
    Reload,
    Renew,
    Repeat,
    Replay,
    Run,
    Scalar,
    Stage,
    Tensor,
    Timed,
    Trace,
    Upload,
)
from grader.judge.child.replay import Hosts, Staged

Value = list[Record] | float | Trace | bytes | None


@dataclass
class Buffer:
    """A device allocation: the region [base, base + guard + nbytes + guard) and the payload inside it."""

    allocation: Any
    nbytes: int
    guard: int

    @property
    def pointer(self) -> int:
        """Address of the payload."""
        return int(self.allocation) + self.guard

    @property
    def region_bytes(self) -> int:
        """Payload and both guards."""
        return self.nbytes + 2 * self.guard


def _named(finding: Finding, buffers: Mapping[int, tuple[str, Buffer]]) -> Finding:
    """A finding with the name of the buffer that it is about, if it is one of these, by the addresses of their
    allocations."""
    known = (
        None
        if finding.allocation is None or finding.space == "shared"
        else buffers.get(finding.allocation.base)
    )
    if known is None:
        return finding
    name, buffer = known
    return replace(finding, array=name, allocation=Allocation(buffer.pointer, buffer.nbytes))


def _touched(item: Touched, buffers: Mapping[int, tuple[str, Buffer]]) -> Touched:
    """What was touched, with the name of the buffer, if it is one of these."""
    return replace(item, array=buffers[item.base][0]) if item.base in buffers else item


def _accessed(item: Accessed, buffers: Mapping[int, tuple[str, Buffer]]) -> Accessed:
    """What was accessed, with the name of the buffer, if it is one of these."""
    known = item.space == "global" and item.base in buffers
    return replace(item, array=buffers[item.base][0]) if known else item


class Memory:
    """The memory file, mapped; it is mapped again when the parent has made it larger."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._map: mmap.mmap | None = None

    def view(self, offset: int, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """`nbytes` bytes at `offset`, writable."""
        if self._map is None or offset + nbytes > len(self._map):
            self._map = mmap.mmap(self._descriptor, os.fstat(self._descriptor).st_size)
        return np.frombuffer(self._map, dtype=np.uint8, count=nbytes, offset=offset)


class Executor:
    """Does operations, one method each; holds the buffers and modules that they name."""

    def __init__(self, device: cuda.Cuda, memory: Memory) -> None:
        self.memory = memory
        self._begin(device)
        self._do: dict[type, Callable[[Any], Value]] = {
            Allocate: self.allocate,
            Upload: self.upload,
            Download: self.download,
            Fill: self.fill,
            Frame: self.frame,
            Repeat: self.repeat,
            Gather: self.gather,
            Load: self.load,
            Reload: self.reload,
            Run: self.run,
            Library: self.library,
            Copy: self.copy,
            Timed: self.timed,
            Release: self.release,
            Renew: self.renew,
            Stage: self.stage,
            Put: self.put,
            Fetch: self.fetch,
            Replay: self.replay,
        }

    def _begin(self, device: cuda.Cuda) -> None:
        """With nothing on the device."""
        self.device = device
        self.driver = device.driver
        self.buffers: dict[str, Buffer] = {}
        self.modules: dict[str, Any] = {}
        self.images: dict[str, Load] = {}
        self.functions: dict[tuple[str, str], Any] = {}
        self.tensor_maps: dict[tuple[Tensor, int], Any] = {}
        self.staged: dict[str, Staged] = {}
        self.hosts = Hosts(device)

    def do(self, operation: Operation) -> Value:
        """Do one operation and return its value. Raises whatever the driver raises."""
        return self._do[type(operation)](operation)

    def status(self, error: Exception) -> str | None:
        """CUDA's name of the status behind an exception that `do` has raised; None where there is none."""
        if (
            isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
        ):  # Python's own, and CuPy's
            return "OUT_OF_MEMORY"
        found: str | None = self.device.ext.status(error)
        return found

    def allocate(self, op: Allocate) -> None:
        allocation = self.driver.mem_alloc(op.nbytes + 2 * op.guard)
        self.buffers[op.buffer] = Buffer(allocation, op.nbytes, op.guard)

    def upload(self, op: Upload) -> None:
        buffer = self.buffers[op.buffer]
        self.driver.memcpy_htod(buffer.allocation, self.memory.view(op.offset, buffer.region_bytes))

    def download(self, op: Download) -> None:
        buffer = self.buffers[op.buffer]
        self.driver.memcpy_dtoh(self.memory.view(op.offset, buffer.region_bytes), buffer.allocation)

    def fill(self, op: Fill) -> None:
        buffer = self.buffers[op.buffer]
        words, rest = divmod(buffer.nbytes, 4)
        if words:
            self.driver.memset_d32(buffer.pointer, op.word, words)
        for i in range(rest):
            self.driver.memset_d8(buffer.pointer + 4 * words + i, (op.word >> (8 * i)) & 0xFF, 1)

    def frame(self, op: Frame) -> None:
        buffer = self.buffers[op.buffer]
        guard = np.full(buffer.guard // 4, op.word, np.uint32)
        for start in (int(buffer.allocation), buffer.pointer + buffer.nbytes) if len(guard) else ():
            self.driver.memcpy_htod(start, guard)

    def repeat(self, op: Repeat) -> None:
        buffer = self.buffers[op.buffer]
        pattern = self.memory.view(op.offset, op.nbytes).tobytes()
        self.device.ext.fill_repeated(buffer.pointer, buffer.nbytes, pattern)

    def gather(self, op: Gather) -> bytes:
        pointer = self.buffers[op.buffer].pointer
        found = np.empty((len(op.places), op.itemsize), np.uint8)
        for place, target in zip(op.places, found, strict=True):
            self.driver.memcpy_dtoh(target, pointer + op.itemsize * place)
        return found.tobytes()

    def load(self, op: Load) -> None:
        self.images[op.module] = op
        self.reload(Reload(op.module))

    def reload(self, op: Reload) -> None:
        loaded = self.images[op.module]
        load = self.device.ext.extended_module if loaded.extended else self.driver.module_from_buffer
        self.modules[op.module] = load(loaded.image)
        self.functions = {key: item for key, item in self.functions.items() if key[0] != op.module}

    def run(self, op: Run) -> list[Record]:
        """Launch and wait. A launch that does not complete is no failure here: its record says why."""
        self.device.ext.instruction_budget(op.budget)
        try:
            self.launch_all(op)
            self.driver.Context.synchronize()
        except Exception:
            records = self.records()
            if all(record.status == "completed" for record in records):
                raise
            return records
        return self.records()

    def records(self) -> list[Record]:
        """The emulator's records of the launches since the last call."""
        found = self.device.ext.launch_records(clear=True)
        buffers = {int(buffer.allocation): (name, buffer) for name, buffer in self.buffers.items()}
        return [
            msgspec.convert(
                replace(
                    record,
                    findings=tuple(_named(item, buffers) for item in record.findings),
                    touched=tuple(_touched(item, buffers) for item in record.touched),
                    accessed=tuple(_accessed(item, buffers) for item in record.accessed),
                ),
                Record,
                from_attributes=True,
            )
            for record in found
        ]

    def launch_all(self, op: Run) -> None:
        """Enqueue a Run's launches and the clearing of buffers that belongs to them."""
        for launch in op.launches:
            for name in launch.zero:
                buffer = self.buffers[name]
                self.driver.memset_d8(buffer.pointer, 0, buffer.nbytes)
            for variable, name in launch.constant:
                self.set_constant(op.module, variable, self.buffers[name])
            if self.device.kind == "emulator":
                self.device.ext.sampled_blocks(launch.blocks, launch.enough)
                self.device.ext.block_order(op.order)
                self.device.ext.traced_block(launch.traced)
                self.device.ext.watch_nan("always" if op.watch_nan else "never")
            self.launch(op.module, launch)

    def set_constant(self, module: str, variable: str, source: Buffer) -> None:
        """Copy a buffer into a module's variable, on the device."""
        address, room = self.modules[module].get_global(variable)
        if source.nbytes > room:
            raise ValueError(
                f"{source.nbytes:,} bytes do not fit into `{variable}`, which has {room:,}: "
                "let `when` say up to which sizes they do, and a kernel for all others read the array from global "
                "memory, as constant memory has no more than 65,536 bytes"
            )
        self.driver.memcpy_dtod(address, source.pointer, source.nbytes)

    def launch(self, module: str, launch: Launch) -> None:
        function = self.function(module, launch.symbol)
        if (
            launch.shared_bytes
        ):  # with the static part it may be more than the 48 KiB that a kernel gets unasked
            attribute = self.driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
            function.set_attribute(attribute, launch.shared_bytes)
        arguments = [self.argument(argument) for argument in launch.args]
        extended = (
            {"cluster": launch.cluster, "cooperative": launch.cooperative}
            if self.images[module].extended
            else {}
        )
        function(*arguments, grid=launch.grid, block=launch.block, shared=launch.shared_bytes, **extended)

    def function(self, module: str, symbol: str) -> Any:
        key = (module, symbol)
        if key not in self.functions:
            self.functions[key] = self.modules[module].get_function(symbol)
        return self.functions[key]

    def argument(self, argument: Pointer | Scalar | Tensor) -> Any:
        """What PyCUDA packs: an unsigned 64-bit address, or a NumPy scalar of the declared type; and tensor maps."""
        if isinstance(argument, Tensor):
            return self.tensor_map(argument, self.buffers[argument.buffer].pointer)
        if isinstance(argument, Pointer):
            return np.uint64(self.buffers[argument.buffer].pointer)
        return np.dtype(argument.dtype).type(argument.value)

    def tensor_map(self, seen: Tensor, pointer: int) -> Any:
        """A tensor map of the buffer where it lies, encoded once."""
        key = (seen, pointer)
        if key not in self.tensor_maps:
            nbytes = np.dtype(seen.dtype).itemsize
            self.tensor_maps[key] = self.device.ext.tensor_map(
                pointer,
                "UINT8" if seen.dtype == "int8" else seen.dtype.upper(),
                seen.shape[::-1],
                [stride * nbytes for stride in reversed(seen.strides)],
                seen.box[::-1],
                swizzle=seen.swizzle,
                nan_fill=seen.nan,
            )
        return self.tensor_maps[key]

    def library(self, op: Library) -> None:
        self.prepared_library(op)()

    def prepared_library(self, op: Library) -> Callable[[], None]:
        from grader.judge.child import baselines  # needs CuPy, which only a machine with a GPU has

        arrays = {name: (self.buffers[a.buffer].pointer, a.dtype, a.shape) for name, a in op.arrays.items()}
        return baselines.prepare(op.name, arrays, op.sizes)

    def copy(self, op: Copy) -> None:
        source, target = self.buffers[op.source], self.buffers[op.target]
        self.driver.memcpy_dtod(target.pointer, source.pointer, op.nbytes)

    def timed(self, op: Timed) -> float:
        """Seconds between two events around an action.

        The flush empties the L2 cache of what earlier passes left, and takes the GPU longer than the host
        needs to enqueue the rest, so that the cost of launching hides behind it. What is launched before the
        action gives the cache time to write the flush's own bytes back, which the action would else pay for.
        """
        start, end = self.driver.Event(), self.driver.Event()
        enqueue = self.enqueuing(op.action)
        if op.flush is not None:
            self.fill(Fill(op.flush, 0))
        if op.before is not None:
            self.launch_all(op.before)
        start.record()
        enqueue()
        end.record()
        end.synchronize()
        return float(start.time_till(end)) * 1e-3

    def enqueuing(self, action: Run | Library | Copy) -> Callable[[], object]:
        """What enqueues an action. What takes long and can be done beforehand, has been."""
        if isinstance(action, Run):
            return partial(self.launch_all, action)
        return self.prepared_library(action) if isinstance(action, Library) else partial(self.copy, action)

    def release(self, op: Release) -> None:
        for buffer in self.buffers.values():
            buffer.allocation.free()
        self.buffers.clear()

    def renew(self, op: Renew) -> None:
        self._begin(cuda.renewed(self.device))
        gc.collect()  # the memory of the device before

    def stage(self, op: Stage) -> None:
        self.staged.pop(op.schedule, None)
        self.hosts.shrink(self.staged.values())
        self.staged[op.schedule] = Staged(
            self.device, op.recording, lambda symbol: self.function(op.module, symbol), self.hosts
        )

    def put(self, op: Put) -> None:
        host = self.staged[op.schedule].host(op.name)
        host[:] = self.memory.view(op.offset, host.size)

    def fetch(self, op: Fetch) -> None:
        host = self.staged[op.schedule].host(op.name)
        self.memory.view(op.offset, host.size)[:] = host

    def replay(self, op: Replay) -> float | Trace:
        self.device.ext.instruction_budget(op.budget)
        self.device.ext.sampled_blocks(None)
        self.device.ext.block_order("rising")
        self.device.ext.watch_nan("never")
        staged = self.staged[op.schedule]
        found = Trace(tuple(staged.trace())) if op.traced else staged.run()
        self.device.ext.launch_records(clear=True)
        return found
