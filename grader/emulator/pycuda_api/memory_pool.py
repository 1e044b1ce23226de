"""PyCUDA's memory pools: what is given back to a pool waits there for the next request of its size."""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.driver.conversion import PointerHolderBase, unsigned
from grader.emulator.pycuda_api.driver.errors import Status, failure
from grader.emulator.pycuda_api.driver.host_memory import Order, Shape


def bitlog2(value: int) -> int:
    """The number of the highest bit that is set, 0 for 0."""
    return max(value, 1).bit_length() - 1


class _Pool:
    """Blocks by the number of their bin. A bin spans a quarter of a power of two; its largest size is allocated.

    `active_blocks` and `active_bytes` say what is in use, `held_blocks` what waits, `managed_bytes` both in bytes.
    """

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make
        self._held: defaultdict[int, list[Any]] = defaultdict(list)
        self._holds = True
        self.active_blocks = self.held_blocks = self.active_bytes = self.managed_bytes = 0

    def bin_number(self, size: int) -> int:
        """The bin of a request of `size` bytes."""
        exponent = bitlog2(size)
        return 4 * exponent + (max(size, 1) << 2 >> exponent) % 4

    def alloc_size(self, bin_number: int) -> int:
        """How many bytes are allocated for a request of this bin: its largest."""
        exponent, quarter = divmod(bin_number, 4)
        return ((5 + quarter << exponent) - 1) >> 2

    def free_held(self) -> None:
        """Free what waits in the pool."""
        self._held.clear()
        self.managed_bytes, self.held_blocks = self.active_bytes, 0

    def stop_holding(self) -> None:
        """Free what waits, and from now on whatever is given back."""
        self._holds = False
        self.free_held()

    def _take(self, size: int) -> tuple[int, Any]:
        """A block, and the number of its bin. Where memory is short, what waits is freed."""
        number = self.bin_number(size)
        nbytes = self.alloc_size(number)
        if self._held[number]:
            block = self._held[number].pop()
            self.held_blocks -= 1
        else:
            try:
                block = self._make(nbytes)
            except driver.MemoryError:
                self.free_held()
                block = self._make(nbytes)
            self.managed_bytes += nbytes
        self.active_blocks += 1
        self.active_bytes += nbytes
        return number, block

    def _give_back(self, number: int, block: Any) -> None:
        nbytes = self.alloc_size(number)
        self.active_blocks -= 1
        self.active_bytes -= nbytes
        if self._holds:
            self._held[number].append(block)
            self.held_blocks += 1
        else:
            self.managed_bytes -= nbytes


class PooledDeviceAllocation(PointerHolderBase):
    """Device memory that goes back to its pool by `free`, or when nobody refers to it."""

    def __init__(self, pool: _Pool, size: int) -> None:
        number, block = pool._take(size)
        self._pointer = block.get_pointer()
        self.size = size
        self._release = weakref.finalize(self, pool._give_back, number, block)
        self._release.atexit = False

    def get_pointer(self) -> int:
        return int(self._pointer)

    def free(self) -> None:
        if not self._release.alive:
            raise failure("pooled_device_allocation::free", Status.INVALID_HANDLE, "freed before")
        self._release()


class DeviceMemoryPool(_Pool):
    """Device memory by size; its `allocate` is an `allocator` of arrays."""

    def __init__(self) -> None:
        super().__init__(driver.mem_alloc)

    def allocate(self, size: int) -> PooledDeviceAllocation:
        """At least `size` bytes of device memory."""
        return PooledDeviceAllocation(self, unsigned(size, "allocate: size"))


class PooledHostAllocation:
    """Behind the arrays of a PageLockedMemoryPool: when the last one is gone, their memory goes back."""

    def __init__(self, pool: _Pool, size: int) -> None:
        number, block = pool._take(size)
        self.__array_interface__ = block.__array_interface__
        self._release = weakref.finalize(self, pool._give_back, number, block)
        self._release.atexit = False


class PageLockedMemoryPool(_Pool):
    """Host arrays in page-locked memory, by size."""

    def __init__(self) -> None:
        super().__init__(lambda nbytes: driver.pagelocked_empty(nbytes, np.uint8))

    def allocate(self, shape: Shape, dtype: npt.DTypeLike, order: Order = "C") -> npt.NDArray[Any]:
        """A host array, not initialised."""
        like = np.broadcast_to(np.empty((), dtype), shape)
        memory = np.asarray(PooledHostAllocation(self, like.nbytes))[: like.nbytes]
        return memory.view(dtype).reshape(like.shape, order=order)
