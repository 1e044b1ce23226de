"""What the workbook needs of a device and PyCUDA does not have; `grader.driver_ext` on the emulator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from grader.emulator import devices
from grader.emulator.machine.machine import LaunchRecord
from grader.emulator.machine.orders import Order
from grader.emulator.machine.origins import Watch
from grader.emulator.machine.tensor_maps import TensorMap
from grader.emulator.pycuda_api.driver import Device, Function, Module, Stream, module_from_buffer
from grader.emulator.pycuda_api.driver.emulation import emulation
from grader.emulator.pycuda_api.driver.errors import Error, Status, failure
from grader.emulator.pycuda_api.driver.function import Together
from grader.emulator.pycuda_api.driver.stream import in_order


def launch_records(clear: bool = True) -> list[LaunchRecord]:
    """The records of the launches so far, oldest first; `clear` forgets them.

    A launch that did not complete (status "trap", "budget exhausted", …) has a record too, though
    its call raised; a launch that was refused has none.
    """
    found = emulation()
    records = list(found.records)
    if clear:
        found.records.clear()
    return records


def instruction_budget(limit: int | None) -> None:
    """Stop launches from now on of which a block executes more than `limit` warp instructions, or all blocks together
    more than four times as many; None: never."""
    emulation().budget = limit


def sampled_blocks(blocks: Sequence[int] | None, enough: int | None = None) -> None:
    """Run only these blocks (linear ids) of launches from now on, to count them; None: all blocks.

    They are run in this order, and none any more once they have taken the effort of `enough` warp instructions.
    """
    emulation().blocks = None if blocks is None else tuple(blocks)
    emulation().enough = enough


def traced_block(block: int | None) -> None:
    """Note what the block with this linear id accesses, in launches from now on: their records' `accessed`; None: do
    not."""
    emulation().traced = block


def fill_repeated(pointer: int, nbytes: int, pattern: bytes) -> None:
    """Fill an allocation with repetitions of `pattern`, which has whole pages and is all the memory that this takes."""
    emulation().machine.memory.repeat(pointer, nbytes, pattern)


def block_order(order: Order) -> None:
    """Run the blocks of launches from now on in this order, where they communicate."""
    emulation().order = order


def watch_nan(watch: Watch) -> None:
    """Whether launches from now on look for what makes the first infinity and the first NaN, their records'
    `first_infinity` and `first_nan`; "once stored": until one is found."""
    emulation().watch = watch


def max_active_blocks(image: bytes, symbol: str, block_threads: int, dynamic_shared: int) -> int:
    """Blocks of kernel `symbol` that fit on one multiprocessor at a time; 0 if one does not fit."""
    function: Function = module_from_buffer(image).get_function(symbol)
    shared = function.shared_size_bytes + dynamic_shared
    return devices.max_active_blocks(emulation().device, block_threads, function.num_regs, shared)


def status(error: Exception) -> str | None:
    """CUDA's name of the status behind an exception, such as "OUT_OF_MEMORY"; None where it has none."""
    return error.status.name if isinstance(error, Error) and error.status else None


def device_limits() -> dict[str, int]:
    """The device's attributes by PyCUDA's names in lower case, such as "max_threads_per_block"."""
    return {str(attribute).lower(): int(value) for attribute, value in Device(0).get_attributes().items()}


def tensor_map(
    address: int,
    data_type: str,
    dims: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    *,
    element_strides: Sequence[int] | None = None,
    swizzle: int = 0,
    l2_promotion: int = 0,
    nan_fill: bool = False,
) -> np.void:
    """A tensor map for TMA, 128 bytes that a kernel takes as `const __grid_constant__ CUtensorMap`.

    It may be any argument of an extended_module's kernels; PyCUDA's own launches pack it unaligned. data_type: a name
    of CUtensorMapDataType, such as "FLOAT16". dims and box are in elements, innermost first; strides in bytes, of all
    dimensions but the innermost; element_strides, every how many elements are copied (default 1). swizzle and
    l2_promotion: 0, or a number of bytes. Outside the tensor are zeros, or with nan_fill NaN. Raises LogicError where
    the driver does not take it.
    """
    steps = element_strides or [1] * len(dims)
    described = TensorMap(int(address), data_type, dims, strides, box, steps, swizzle, nan_fill)
    fault = described.fault()
    if l2_promotion not in (0, 64, 128, 256):
        fault = f"promotion to {l2_promotion} bytes in L2"
    if fault:
        raise failure("cuTensorMapEncodeTiled", Status.INVALID_VALUE, fault)
    return np.void(described.encoded())


class ExtendedFunction:
    """A kernel that can be launched with clusters and cooperatively."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self.set_attribute = function.set_attribute

    def __call__(
        self,
        *args: object,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int = 0,
        cluster: tuple[int, int, int] = (1, 1, 1),
        cooperative: bool = False,
    ) -> None:
        """Launch in the default stream. Raises LogicError where the device refuses it."""
        together = Together(cluster if math.prod(cluster) > 1 else None, cooperative)
        self._function.launch_together(*args, grid=grid, block=block, shared=shared, together=together)


class ExtendedModule:
    """A module whose functions are such."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self.get_global = module.get_global

    def get_function(self, symbol: str) -> ExtendedFunction:
        """A kernel by its symbol."""
        return ExtendedFunction(self._module.get_function(symbol))


def extended_module(image: bytes) -> ExtendedModule:
    """Load PTX whose kernels PyCUDA could not launch on a GPU."""
    return ExtendedModule(module_from_buffer(image))


class Graph:
    """Work that was captured, to be enqueued again and again with one call."""

    def __init__(self) -> None:
        self._number: int | None = None  # the recorder's
        self._work: list[Callable[[], object]] = []

    def launch(self, stream: Stream) -> None:
        """Enqueue everything in the graph, as one piece of work of `stream`."""
        number = self._number
        in_order(
            stream,
            self._run,
            lambda recorder: None if number is None else recorder.launch_graph(number, stream),
        )

    def _run(self) -> None:
        for work in self._work:
            work()


@contextmanager
def capture(stream: Stream) -> Iterator[Graph]:
    """Inside the block, asynchronous calls are not done but become the graph.

    The capture begins in `stream`; other streams join it by waiting for one of its events, and have to be
    waited for by `stream` before the block ends.
    """
    found, graph = emulation(), Graph()
    if found.recorder is not None:
        with found.recorder.capture(stream) as graph._number:
            yield graph
        return
    found.captured = graph._work
    try:
        yield graph
    finally:
        found.captured = None
