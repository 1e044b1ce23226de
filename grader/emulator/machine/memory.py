"""Global memory: one arena of address space, in which allocations lie apart from each other.

The arena is reserved, not used: a page costs memory once it is written. Device addresses begin at a fixed place, so
that sectors and alignment are the same in every run, and unmapped gaps make an access beyond an allocation visible.
"""

from __future__ import annotations

import bisect
import ctypes
import mmap
from typing import Any

import numpy as np

from grader.emulator.errors import MemoryFault, NotAllocated
from grader.emulator.machine.records import Allocation
from grader.emulator.runtime.layout import GLOBAL_BASE

ALIGNMENT = 256
GAP = 1 << 20
"""Bytes between allocations that belong to nobody."""
_PAGE = mmap.PAGESIZE
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # Python names it since 3.13; the value is Linux's


def reserve(nbytes: int) -> mmap.mmap:
    """Zeroed memory that takes room only where it is written."""
    return mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)


def host_address(area: Any) -> int:
    """Where a writable buffer lies in this process."""
    return ctypes.addressof(ctypes.c_char.from_buffer(area))


class Area:
    """Memory beside the arena, as large as the allocations need; zero at first."""

    def __init__(self) -> None:
        self._area = reserve(1 << 26)

    def address(self, nbytes: int) -> int:
        """Where the area lies, which has room for so many bytes. What it held is lost where it has to grow."""
        size = len(self._area)
        while size < nbytes:
            size *= 2
        if size > len(self._area):
            self._area = reserve(size)
        return host_address(self._area)

    def view(self, dtype: Any) -> np.ndarray[Any, np.dtype[Any]]:
        return np.frombuffer(self._area, dtype)

    def clear(self) -> None:
        """Gives its pages back to the system."""
        self._area.madvise(mmap.MADV_DONTNEED)


class Memory:
    """The allocations of one device; addresses are device addresses, sizes are in bytes."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self._area = self._reserve_most(nbytes)
        self.capacity = len(self._area)
        self.host_delta = host_address(self._area) - GLOBAL_BASE
        self._view = np.frombuffer(self._area, np.uint8)
        self._starts: list[int] = []
        self._sizes: dict[int, int] = {}

    @staticmethod
    def _reserve_most(nbytes: int) -> mmap.mmap:
        """As much of `nbytes` as the process may reserve (a limit on address space may leave less)."""
        size = max(nbytes, 1 << 26)
        while True:
            try:
                return reserve(size)
            except (OSError, ValueError, MemoryError):
                if size <= 1 << 26:
                    raise
                size //= 2

    # -- allocations ------------------------------------------------------------------------------------------
    def alloc(self, nbytes: int) -> int:
        """The address of `nbytes` new bytes, 256-byte aligned, all zero.

        Raises MemoryFault where nbytes is not positive or the device has no such room.
        """
        if nbytes <= 0:
            raise MemoryFault(f"an allocation of {nbytes} bytes")
        start = GLOBAL_BASE + GAP
        for index, taken in enumerate(self._starts):
            if taken - GAP >= start + nbytes:
                return self._take(index, start, nbytes)
            start = self._align(taken + self._sizes[taken] + GAP)
        if start + nbytes + GAP > GLOBAL_BASE + self.capacity:
            raise MemoryFault(
                f"out of memory: {nbytes} bytes asked for, {self.info()[0]} of {self.nbytes} free"
            )
        return self._take(len(self._starts), start, nbytes)

    @staticmethod
    def _align(address: int) -> int:
        return (address + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT

    def _take(self, index: int, start: int, nbytes: int) -> int:
        self._starts.insert(index, start)
        self._sizes[start] = nbytes
        return start

    def free(self, address: int) -> None:
        """Gives an allocation back. Raises MemoryFault where `address` begins none."""
        if address not in self._sizes:
            raise MemoryFault(f"{address:#x} is not the address of an allocation (freed twice?)")
        nbytes = self._sizes.pop(address)
        self._starts.remove(address)
        self._clear(address - GLOBAL_BASE, nbytes)

    def _clear(self, offset: int, nbytes: int) -> None:
        """Zeros a range; whole pages are given back to the system."""
        first, last = -(-offset // _PAGE) * _PAGE, (offset + nbytes) // _PAGE * _PAGE
        if last - first < 16 * _PAGE:
            self._view[offset : offset + nbytes] = 0
            return
        self._view[offset:first] = 0
        self._view[last : offset + nbytes] = 0
        self._area.madvise(mmap.MADV_DONTNEED, first, last - first)

    def info(self) -> tuple[int, int]:
        """(free, total) bytes."""
        return self.nbytes - sum(self._sizes.values()), self.nbytes

    def extent(self) -> int:
        """Bytes of the arena from its beginning to the end of the last allocation."""
        return self._starts[-1] + self._sizes[self._starts[-1]] - GLOBAL_BASE if self._starts else 0

    def table(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Sorted (first, last + 1) addresses of the live allocations, flat."""
        return np.array([x for s in self._starts for x in (s, s + self._sizes[s])] or [0, 0], np.int64)

    def nearest(self, address: int) -> Allocation | None:
        """The allocation that an address lies in, or else the nearest; None where none is within GAP."""
        index = bisect.bisect_right(self._starts, address)
        around = [
            Allocation(start, self._sizes[start]) for start in self._starts[max(index - 1, 0) : index + 1]
        ]
        distances = [max(each.base - address, address - each.base - each.nbytes, -1) for each in around]
        found = min(zip(distances, around, strict=True), key=lambda pair: pair[0], default=None)
        return found[1] if found and found[0] <= GAP else None

    # -- contents ---------------------------------------------------------------------------------------------
    def view(self, address: int, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The bytes themselves, writable. Raises NotAllocated where they are not within one allocation."""
        index = bisect.bisect_right(self._starts, address) - 1
        start = self._starts[index] if index >= 0 else 0
        if index < 0 or address + nbytes > start + self._sizes[start]:
            raise NotAllocated(address, nbytes)
        offset = address - GLOBAL_BASE
        return self._view[offset : offset + nbytes]

    def write(self, address: int, data: Any) -> None:
        """Copies a buffer (anything with the buffer protocol) to the device."""
        source = np.frombuffer(data, np.uint8)
        self.view(address, source.nbytes)[:] = source

    def restore(self, words: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        """Sets words of the arena, by their numbers."""
        self._view.view(np.uint32)[words] = values

    def read(self, address: int, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """A copy of `nbytes` bytes."""
        return self.view(address, nbytes).copy()

    def copy(self, destination: int, source: int, nbytes: int) -> None:
        """Device to device; the ranges may overlap."""
        self.view(destination, nbytes)[:] = self.view(source, nbytes).copy()

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        """`count` repetitions of `pattern`."""
        target = self.view(address, len(pattern) * count)
        target.reshape(count, len(pattern))[:] = np.frombuffer(pattern, np.uint8)
