"""The runtime's calls about the device's own memory pool, from which cudaMallocAsync takes."""

from __future__ import annotations

import ctypes

from grader.emulator.cudart.calls.memory import MemoryCalls
from grader.emulator.cudart.native import store_int, store_word
from grader.emulator.cudart.status import CudaError, NotEmulated, Status

_POOL = 0x10
_REUSE = (1, 2, 3)
"""cudaMemPoolReuseFollowEventDependencies and the like: an int each."""
_RELEASE_THRESHOLD = 4

_Access = ctypes.c_int32 * 3
"""cudaMemAccessDesc: the location's type and number, and what the location may do."""
_DEVICE = 1
"""cudaMemLocationTypeDevice."""
_READ_WRITE = 3
"""cudaMemAccessFlagsProtReadWrite."""


class PoolCalls:
    """Methods are named as the runtime's functions, and take their arguments as 64-bit words."""

    def __init__(self, memory: MemoryCalls) -> None:
        self.memory = memory
        self._values = {_RELEASE_THRESHOLD: 0} | dict.fromkeys(_REUSE, 1)

    def cudaDeviceGetDefaultMemPool(self, out: int, device: int) -> None:
        if device:
            raise CudaError(Status.InvalidDevice, "there is device 0 alone")
        store_word(out, _POOL)

    cudaDeviceGetMemPool = cudaDeviceGetDefaultMemPool

    def cudaMemPoolSetAttribute(self, pool: int, attribute: int, value: int) -> None:
        """Wishes about how long freed memory is kept: the emulator gives it back at once."""
        self._check(pool, attribute)
        ctype = ctypes.c_int32 if attribute in _REUSE else ctypes.c_uint64
        self._values[attribute] = ctype.from_address(value).value

    def cudaMemPoolGetAttribute(self, pool: int, attribute: int, out: int) -> None:
        self._check(pool, attribute)
        store = store_int if attribute in _REUSE else store_word
        store(out, self._values[attribute])

    def cudaMemPoolSetAccess(self, pool: int, wanted: int, count: int) -> None:
        """The one device there is has access to its own pool, and keeps it."""
        self._check(pool)
        for kind, device, flags in (_Access * count).from_address(wanted):
            if kind != _DEVICE or device:
                raise CudaError(Status.InvalidDevice, "there is device 0 alone")
            if flags != _READ_WRITE:
                raise CudaError(Status.InvalidValue, "a device's own pool is for it to read and write")

    def cudaMemPoolTrimTo(self, pool: int, kept: int) -> None:
        self._check(pool)

    def cudaMallocFromPoolAsync(self, out: int, nbytes: int, pool: int, stream: int) -> None:
        self._check(pool)
        self.memory.cudaMallocAsync(out, nbytes, stream)

    def _check(self, pool: int, attribute: int = _RELEASE_THRESHOLD) -> None:
        if pool != _POOL:
            raise CudaError(Status.InvalidValue, "this is no memory pool")
        if attribute not in self._values:
            raise NotEmulated(f"the attribute {attribute} of a memory pool (cudaMemPoolAttr)")
