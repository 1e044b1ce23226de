"""What can go wrong in the emulator, one class a kind of failure."""

from __future__ import annotations

from grader.emulator.places import GIVEN, UNKNOWN, Place


class EmulatorError(Exception):
    """Base of all errors the emulator raises on purpose."""


class PtxSyntaxError(EmulatorError):
    """The PTX text cannot be read; the message holds the PTX line."""


class UnsupportedPtx(EmulatorError):
    """An instruction, modifier or directive that the emulator does not know.

    It is refused by name, because running it wrongly would be worse than not running it.
    """

    def __init__(self, what: str, ptx_line: int = 0, place: Place = UNKNOWN) -> None:
        in_source = f"source line {place.line}" if place.file == GIVEN else str(place)
        lines = [(in_source, place.line), (f"PTX line {ptx_line}", ptx_line)]
        where = ", ".join(name for name, number in lines if number)
        super().__init__(f"the emulator does not support {what}" + (f" ({where})" if where else ""))
        self.what = what
        self.ptx_line = ptx_line
        self.place = place


class LaunchRefused(EmulatorError):
    """A launch configuration that the device cannot run (too many threads, too much shared memory …)."""


class TooManyRegisters(LaunchRefused):
    """A block whose threads need more registers together than a multiprocessor has."""


class TooManyBlocks(LaunchRefused):
    """A cooperative launch of more blocks than the device holds at a time."""


class ClusterRefused(LaunchRefused):
    """A launch in clusters that the device does not take, or that the grid is no whole number of."""


class MemoryFault(EmulatorError):
    """The host asked for device memory that is not there: bad address, double free, out of memory."""


class OutOfRoom(MemoryFault):
    """What is touched of the device's memory is more than this computer has left."""

    def __init__(self, what: str, nbytes: int, room: int) -> None:
        super().__init__(
            f"{what} {nbytes / 2**30:.2f} GiB of the emulated device's memory, and this computer has "
            f"{max(room, 0) / 2**30:.2f} GiB left"
        )


class NotAllocated(MemoryFault):
    """The host asked for bytes that do not lie within one allocation."""

    def __init__(self, address: int, nbytes: int) -> None:
        super().__init__(f"{nbytes} bytes at {address:#x} are not within an allocation")
        self.address = address
        self.nbytes = nbytes
