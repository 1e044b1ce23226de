"""Page-locked, registered and aligned host memory. On the emulator all of it is ordinary memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grader.emulator.driver.context import context_for
from grader.emulator.driver.conversion import unsigned
from grader.emulator.driver.errors import NotEmulated, Status, failure

Order = Literal["C", "F"]
Shape = int | Sequence[int]
HostArray = npt.NDArray[Any]


class HostPointer:
    """Host memory the driver knows of; it stands behind a NumPy array, as its `base`."""

    def __init__(self, array: HostArray) -> None:
        self._state = context_for(self)
        self._valid = True
        self.__array_interface__ = dict(array.__array_interface__)
        self._keeps_alive = array

    def get_device_pointer(self) -> int:
        raise NotEmulated(
            f"{type(self).__name__}.get_device_pointer is not emulated: kernels cannot reach host memory; "
            "copy with memcpy_htod"
        )

    def _invalidate(self, routine: str) -> None:
        if not self._valid:
            raise failure(routine, Status.INVALID_HANDLE)
        self._valid = False


class PagelockedHostAllocation(HostPointer):
    """Behind the arrays of `pagelocked_empty`."""

    def __init__(self, array: HostArray, flags: int) -> None:
        super().__init__(array)
        self._flags = flags

    def free(self) -> None:
        self._invalidate("pagelocked_host_allocation::free")

    def get_flags(self) -> int:
        return self._flags


class AlignedHostAllocation(HostPointer):
    """Behind the arrays of `aligned_empty`."""

    def free(self) -> None:
        self._invalidate("aligned_host_allocation::free")


class RegisteredHostMemory(HostPointer):
    """Behind the arrays of `register_host_memory`."""

    def unregister(self) -> None:
        self._invalidate("registered_host_memory::free")


HostAllocation = PagelockedHostAllocation


def _aligned(shape: Shape, dtype: npt.DTypeLike, order: Order, alignment: int) -> HostArray:
    kind = np.dtype(dtype)
    dimensions = (shape,) if isinstance(shape, int) else tuple(shape)
    size = int(np.prod(dimensions, dtype=np.int64)) * kind.itemsize
    raw = np.empty(size + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return np.ndarray(dimensions, kind, buffer=raw[start : start + size].data, order=order)


def _backed_by(pointer: HostPointer, dtype: np.dtype[Any]) -> HostArray:
    result = np.asarray(pointer)
    return result if result.dtype == dtype else result.view(dtype)


def pagelocked_empty(shape: Shape, dtype: npt.DTypeLike, order: Order = "C", mem_flags: int = 0) -> HostArray:
    """A host array in page-locked memory (ordinary memory on the emulator)."""
    array = _aligned(shape, dtype, order, 4096)
    return _backed_by(PagelockedHostAllocation(array, unsigned(mem_flags, "mem_flags", 32)), array.dtype)


def pagelocked_zeros(shape: Shape, dtype: npt.DTypeLike, order: Order = "C", mem_flags: int = 0) -> HostArray:
    result = pagelocked_empty(shape, dtype, order, mem_flags)
    result.fill(0)
    return result


def pagelocked_empty_like(array: HostArray, mem_flags: int = 0) -> HostArray:
    return pagelocked_empty(array.shape, array.dtype, _order_of(array), mem_flags)


def pagelocked_zeros_like(array: HostArray, mem_flags: int = 0) -> HostArray:
    result = pagelocked_empty_like(array, mem_flags)
    result.fill(0)
    return result


def aligned_empty(shape: Shape, dtype: npt.DTypeLike, order: Order = "C", alignment: int = 4096) -> HostArray:
    """A host array that starts at a multiple of `alignment`, a power of two."""
    if alignment < 1 or alignment & (alignment - 1):
        raise failure("aligned_malloc", Status.INVALID_VALUE, "alignment must be a power of two")
    array = _aligned(shape, dtype, order, alignment)
    return _backed_by(AlignedHostAllocation(array), array.dtype)


def aligned_zeros(shape: Shape, dtype: npt.DTypeLike, order: Order = "C", alignment: int = 4096) -> HostArray:
    result = aligned_empty(shape, dtype, order, alignment)
    result.fill(0)
    return result


def aligned_empty_like(array: HostArray, alignment: int = 4096) -> HostArray:
    return aligned_empty(array.shape, array.dtype, _order_of(array), alignment)


def aligned_zeros_like(array: HostArray, alignment: int = 4096) -> HostArray:
    result = aligned_empty_like(array, alignment)
    result.fill(0)
    return result


def register_host_memory(ary: HostArray, flags: int = 0) -> HostArray:
    """The same memory as a page-locked array; its `base.unregister()` undoes it."""
    unsigned(flags, "register_host_memory: flags", 32)
    if not isinstance(ary, np.ndarray):
        raise failure("register_host_memory", Status.INVALID_VALUE, "ary argument is not a numpy array")
    if not ary.flags.c_contiguous:
        raise failure("register_host_memory", Status.INVALID_VALUE, "ary argument is not contiguous")
    return _backed_by(RegisteredHostMemory(ary), ary.dtype)


def _order_of(array: HostArray) -> Order:
    if array.flags.c_contiguous:
        return "C"
    if array.flags.f_contiguous:
        return "F"
    raise ValueError("could not detect array order")
