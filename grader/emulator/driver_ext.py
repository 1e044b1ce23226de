"""What the workbook needs of a device and PyCUDA does not have; the twin of `grader.driver_ext`."""

from __future__ import annotations

from collections.abc import Sequence

from grader.emulator import devices
from grader.emulator.driver import Device, Function, module_from_buffer
from grader.emulator.driver.emulation import emulation
from grader.emulator.machine import LaunchRecord


def launch_records(clear: bool = True) -> list[LaunchRecord]:
    """The records of the launches so far, oldest first; `clear` forgets them.

    A launch that did not complete (status "trap", "budget exhausted") has a record too, though
    its call raised; a launch that was refused has none.
    """
    found = emulation()
    records = list(found.records)
    if clear:
        found.records.clear()
    return records


def instruction_budget(limit: int | None) -> None:
    """Stop launches from now on whose block executes more than `limit` warp instructions; None: never."""
    emulation().budget = limit


def sampled_blocks(blocks: Sequence[int] | None) -> None:
    """Run only these blocks (linear ids) of launches from now on, to count them; None: all blocks."""
    emulation().blocks = None if blocks is None else tuple(blocks)


def max_active_blocks(image: bytes, symbol: str, block_threads: int, dynamic_shared: int) -> int:
    """Blocks of kernel `symbol` that fit on one multiprocessor at a time; 0 if one does not fit."""
    function: Function = module_from_buffer(image).get_function(symbol)
    shared = function.shared_size_bytes + dynamic_shared
    return devices.max_active_blocks(emulation().device, block_threads, function.num_regs, shared)


def device_limits() -> dict[str, int]:
    """The device's attributes by PyCUDA's names in lower case, such as "max_threads_per_block"."""
    return {str(attribute).lower(): int(value) for attribute, value in Device(0).get_attributes().items()}
