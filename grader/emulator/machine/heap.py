"""The heap from which kernels take memory by malloc and new: one allocation, divided among them.

What a kernel has not freed is there for later kernels. Pieces lie apart, so that accesses beyond one are found by
kernels that use the heap.
"""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np

from grader.emulator.errors import NotAllocated
from grader.emulator.machine.memory import Memory

HEAP_BYTES = 8 << 20
"""CUDA's cudaLimitMallocHeapSize, unless a program sets another."""
_ALIGNMENT, _GAP = 16, 256


class Heap:
    """First fit, in rising order of addresses: the same in every run."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.base = memory.alloc(HEAP_BYTES)
        self._starts: list[int] = []
        self._sizes: dict[int, int] = {}

    def alloc(self, nbytes: int) -> int:
        """The address of so many bytes; 0 where there is no room."""
        nbytes = max(nbytes, 1)
        start = self.base
        for index, taken in enumerate([*self._starts, self.base + HEAP_BYTES + _GAP]):
            if start + nbytes + _GAP <= taken:
                self._starts.insert(index, start)
                self._sizes[start] = nbytes
                return start
            start = taken + self._sizes.get(taken, 0) + _GAP
            start = -(-start // _ALIGNMENT) * _ALIGNMENT
        return 0

    def free(self, address: int) -> None:
        """Gives a piece back, nothing for 0. Raises NotAllocated for any other address."""
        if address == 0:
            return
        if address not in self._sizes:
            raise NotAllocated(address, 1)
        del self._sizes[address]
        del self._starts[bisect.bisect_left(self._starts, address)]

    def holds(self, address: int) -> bool:
        """Whether an address lies in the heap, in one of its pieces or not."""
        return self.base <= address < self.base + HEAP_BYTES

    def table(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Sorted (first, last + 1) addresses of the device's allocations and, in place of the heap, of its pieces."""
        others = self.memory.table().reshape(-1, 2)
        pieces = [(start, start + self._sizes[start]) for start in self._starts]
        pairs = [pair for pair in others.tolist() if pair[0] != self.base] + pieces
        return np.array(sorted(map(tuple, pairs)) or [(0, 0)], np.int64).ravel()
