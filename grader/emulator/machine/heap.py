"""The heap from which kernels take memory by malloc and new: one allocation, divided among them.

What a kernel has not freed is there for later kernels. Pieces lie apart, so that accesses beyond one are found by
kernels that use the heap. What has no value yet, also where it was freed, holds a NaN.
"""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np

from grader.emulator.errors import NotAllocated
from grader.emulator.machine.memory import Memory
from grader.emulator.runtime.layout import UNWRITTEN

HEAP_BYTES = 8 << 20
"""CUDA's cudaLimitMallocHeapSize, unless a program sets another."""
_ALIGNMENT, _GAP = 16, 256


class Heap:
    """First fit, in rising order of addresses: the same in every run."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.base = memory.alloc(HEAP_BYTES)
        self._sizes: dict[int, int] = {}
        self._holes = [(self.base, self.base + HEAP_BYTES + _GAP)]
        """What is free, by address: (first, last + 1). Between them lie the pieces, each with its gap."""

    def alloc(self, nbytes: int) -> int:
        """The address of so many bytes; 0 where there is no room."""
        nbytes = max(nbytes, 1)
        taken = _with_gap(nbytes)
        for index, (start, end) in enumerate(self._holes):
            if start + taken <= end:
                left = [(start + taken, end)] if start + taken < end else []
                self._holes[index : index + 1] = left
                self._sizes[start] = nbytes
                self.memory.fill(start, UNWRITTEN.to_bytes(4, "little"), -(-nbytes // 4))
                return start
        return 0

    def free(self, address: int) -> None:
        """Gives a piece back, nothing for 0. Raises NotAllocated for any other address."""
        if address == 0:
            return
        if address not in self._sizes:
            raise NotAllocated(address, 1)
        start, end = address, address + _with_gap(self._sizes.pop(address))
        first = last = bisect.bisect_left(self._holes, (start, end))
        if first > 0 and self._holes[first - 1][1] == start:
            first -= 1
            start = self._holes[first][0]
        if last < len(self._holes) and self._holes[last][0] == end:
            end = self._holes[last][1]
            last += 1
        self._holes[first:last] = [(start, end)]

    def holds(self, address: int) -> bool:
        """Whether an address lies in the heap, in one of its pieces or not."""
        return self.base <= address < self.base + HEAP_BYTES

    def table(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Sorted (first, last + 1) addresses of the device's allocations and, in place of the heap, of its pieces."""
        others = self.memory.table().reshape(-1, 2)
        pieces = [(start, start + nbytes) for start, nbytes in self._sizes.items()]
        pairs = [pair for pair in others.tolist() if pair[0] != self.base] + pieces
        return np.array(sorted(map(tuple, pairs)) or [(0, 0)], np.int64).ravel()


def _with_gap(nbytes: int) -> int:
    """What a piece takes: the next one begins at a multiple of _ALIGNMENT."""
    return -(-(nbytes + _GAP) // _ALIGNMENT) * _ALIGNMENT
