"""What the workbook needs of a device and PyCUDA does not have; `grader.driver_ext` on the emulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from grader.emulator import devices
from grader.emulator.machine.machine import LaunchRecord
from grader.emulator.machine.orders import Order
from grader.emulator.pycuda_api.driver import Device, Function, Stream, module_from_buffer
from grader.emulator.pycuda_api.driver.emulation import emulation
from grader.emulator.pycuda_api.driver.errors import Error
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
