"""What the workbook needs of a GPU and PyCUDA does not bind, through cuda-bindings.

Both work on CUDA's current context, which PyCUDA's calls made current. For the emulator,
`grader.emulator.pycuda_api.driver_ext` has the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pycuda.driver
from cuda.bindings import driver as cu

from grader.emulator.machine.machine import LaunchRecord
from grader.emulator.machine.orders import Order
from grader.errors import WarpladderError


def launch_records(clear: bool = True) -> list[LaunchRecord]:
    """Nothing: a GPU keeps no records of launches."""
    return []


def instruction_budget(limit: int | None) -> None:
    """Without effect: a GPU cannot count; a kernel that hangs is ended from outside, by the clock."""


def sampled_blocks(blocks: Sequence[int] | None, enough: int | None = None) -> None:
    """Only the emulator can run some blocks of a grid alone; anything but None raises WarpladderError."""
    if blocks is not None:
        raise WarpladderError("a GPU runs all blocks of a grid", remedy="use --device emulator")


def block_order(order: Order) -> None:
    """Without effect: a GPU begins blocks in an order of its own."""


def traced_block(block: int | None) -> None:
    """Only the emulator sees addresses; anything but None raises WarpladderError."""
    if block is not None:
        raise WarpladderError("a GPU tells no addresses", remedy="use --device emulator")


def fill_repeated(pointer: int, nbytes: int, pattern: bytes) -> None:
    """Fill an allocation with repetitions of `pattern`."""
    filled = min(len(pattern), nbytes)
    pycuda.driver.memcpy_htod(pointer, pattern[:filled])
    while filled < nbytes:
        step = min(filled, nbytes - filled)
        pycuda.driver.memcpy_dtod(pointer + filled, pointer, step)
        filled += step


def max_active_blocks(image: bytes, symbol: str, block_threads: int, dynamic_shared: int) -> int:
    """Blocks of kernel `symbol` that fit on one multiprocessor at a time; 0 if one does not fit."""
    with _loaded(image) as module:
        function = _checked("cuModuleGetFunction", cu.cuModuleGetFunction(module, symbol.encode()))
        opt_in = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        _checked("cuFuncSetAttribute", cu.cuFuncSetAttribute(function, opt_in, dynamic_shared))
        occupancy = cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, block_threads, dynamic_shared)
        return int(_checked("cuOccupancyMaxActiveBlocksPerMultiprocessor", occupancy))


def status(error: Exception) -> str | None:
    """CUDA's name of the status behind an exception, such as "OUT_OF_MEMORY"; None where it has none.

    PyCUDA keeps the status in its message alone: "cuCtxSynchronize failed: misaligned address", and sometimes more
    behind " - ". The words are `cuGetErrorString`'s, so it is asked which status they belong to.
    """
    if not isinstance(error, pycuda.driver.Error):
        return None
    words = str(error).partition(" failed: ")[2].partition(" - ")[0]
    for code in cu.CUresult:
        known, text = cu.cuGetErrorString(code)
        if known == cu.CUresult.CUDA_SUCCESS and text.decode() == words:
            return str(code.name).removeprefix("CUDA_ERROR_")
    return None


def device_limits() -> dict[str, int]:
    """The device's attributes by PyCUDA's names in lower case, such as "max_threads_per_block"."""
    device = pycuda.driver.Context.get_device()
    return {str(attribute).lower(): int(value) for attribute, value in device.get_attributes().items()}


@contextmanager
def _loaded(image: bytes) -> Iterator[Any]:
    module = _checked("cuModuleLoadData", cu.cuModuleLoadData(image))
    try:
        yield module
    finally:
        cu.cuModuleUnload(module)


def _checked(routine: str, result: tuple[Any, ...]) -> Any:
    """The value of a cuda-bindings call, which returns (status, value) or (status,)."""
    status, *values = result
    if status != cu.CUresult.CUDA_SUCCESS:
        raise WarpladderError(f"{routine} failed: {status.name}")
    return values[0] if values else None


class Graph:
    """Work that was captured, to be enqueued again and again with one call."""

    def __init__(self) -> None:
        self._executable: Any = None

    def launch(self, stream: pycuda.driver.Stream) -> None:
        """Enqueue everything in the graph, as one piece of work of `stream`."""
        _checked("cuGraphLaunch", cu.cuGraphLaunch(self._executable, cu.CUstream(stream.handle)))


@contextmanager
def capture(stream: pycuda.driver.Stream) -> Iterator[Graph]:
    """Inside the block, asynchronous calls are not done but become the graph.

    The capture begins in `stream`; other streams join it by waiting for one of its events, and have to be
    waited for by `stream` before the block ends.
    """
    graph, handle = Graph(), cu.CUstream(stream.handle)
    mode = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
    _checked("cuStreamBeginCapture", cu.cuStreamBeginCapture(handle, mode))
    yield graph
    captured = _checked("cuStreamEndCapture", cu.cuStreamEndCapture(handle))
    graph._executable = _checked("cuGraphInstantiate", cu.cuGraphInstantiate(captured, 0))
