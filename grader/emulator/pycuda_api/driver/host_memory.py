"""NumPy arrays in special host memory: page-locked, registered, aligned, managed.

On the emulator page-locked memory is ordinary memory. What kernels can reach too (managed memory, and
page-locked memory allocated with DEVICEMAP) lies in the device's own memory, which the host can see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api.driver.constants import host_alloc_flags, mem_attach_flags
from grader.emulator.pycuda_api.driver.context import context_for
from grader.emulator.pycuda_api.driver.conversion import unsigned
from grader.emulator.pycuda_api.driver.emulation import emulation
from grader.emulator.pycuda_api.driver.errors import NotEmulated, Status, failure
from grader.emulator.pycuda_api.driver.memory import DeviceAllocation, allocate
from grader.emulator.pycuda_api.driver.stream import Stream, in_order
from grader.emulator.streams.recorder import MOST_ARRIVES

Order = Literal["C", "F"]
Shape = int | Sequence[int]
HostArray = npt.NDArray[Any]


class HostPointer:
    """Host memory the driver knows of; it stands behind a NumPy array, as its `base`."""

    def __init__(self, array: HostArray, mapped: DeviceAllocation | None = None) -> None:
        context_for(self)
        self._array = array  # owns the memory
        self._mapped = mapped
        self._valid = True

    def get_device_pointer(self) -> int:
        """Where kernels find this memory."""
        if self._mapped is None:
            raise NotEmulated(
                f"{type(self).__name__}.get_device_pointer: on the emulator, kernels reach host memory only "
                "if pagelocked_empty allocated it with mem_flags=host_alloc_flags.DEVICEMAP"
            )
        return self._mapped.get_pointer()

    def _release(self, routine: str) -> None:
        if not self._valid:
            raise failure(routine, Status.INVALID_HANDLE)
        self._valid = False
        if self._mapped is not None:
            self._mapped.free()


class PagelockedHostAllocation(HostPointer):
    """Behind the arrays of `pagelocked_empty`."""

    def __init__(self, array: HostArray, flags: int, mapped: DeviceAllocation | None) -> None:
        super().__init__(array, mapped)
        self._flags = flags

    def free(self) -> None:
        self._release("pagelocked_host_allocation::free")

    def get_flags(self) -> int:
        return self._flags


class AlignedHostAllocation(HostPointer):
    """Behind the arrays of `aligned_empty`."""

    def free(self) -> None:
        self._release("aligned_host_allocation::free")


class RegisteredHostMemory(HostPointer):
    """Behind the arrays of `register_host_memory`."""

    def unregister(self) -> None:
        self._release("registered_host_memory::free")


HostAllocation = PagelockedHostAllocation


class ManagedAllocation(DeviceAllocation):
    """Behind the arrays of `managed_empty`: memory of the host and the device at once."""

    def get_device_pointer(self) -> int:
        return self.get_pointer()

    def attach(self, mem_flags: int, stream: Stream | None = None) -> None:
        """Who may use the memory; on the emulator everybody may at any time."""
        unsigned(mem_flags, "attach: mem_flags", 32)
        in_order(stream, lambda: None, lambda recorder: None)


def pagelocked_empty(shape: Shape, dtype: npt.DTypeLike, order: Order = "C", mem_flags: int = 0) -> HostArray:
    """A host array in page-locked memory, which kernels reach too if `mem_flags` has DEVICEMAP."""
    mapped = None
    if unsigned(mem_flags, "mem_flags", 32) & host_alloc_flags.DEVICEMAP:
        _shared_with_kernels()
        mapped = allocate("cuMemHostAlloc", _nbytes(shape, dtype), DeviceAllocation)
        array = _array_in(mapped, shape, dtype, order)
    else:
        array = _aligned(shape, dtype, order, 4096)
    return _noted("pinned", _standing_on(PagelockedHostAllocation(array, mem_flags, mapped), array))


def aligned_empty(shape: Shape, dtype: npt.DTypeLike, order: Order = "C", alignment: int = 4096) -> HostArray:
    """A host array that starts at a multiple of `alignment`, a power of two."""
    if alignment < 1 or alignment & (alignment - 1):
        raise failure("aligned_malloc", Status.INVALID_VALUE, "alignment must be a power of two")
    array = _aligned(shape, dtype, order, alignment)
    return _noted("pageable", _standing_on(AlignedHostAllocation(array), array))


def managed_empty(shape: Shape, dtype: npt.DTypeLike, order: Order = "C", mem_flags: int = 0) -> HostArray:
    """An array that host and kernels share. `mem_flags` (`mem_attach_flags`) is GLOBAL or HOST."""
    if mem_flags not in (mem_attach_flags.GLOBAL, mem_attach_flags.HOST):
        raise failure("cuMemAllocManaged", Status.INVALID_VALUE, "mem_flags must be GLOBAL or HOST")
    _shared_with_kernels()
    allocation = allocate("cuMemAllocManaged", _nbytes(shape, dtype), ManagedAllocation)
    return _standing_on(allocation, _array_in(allocation, shape, dtype, order))


Maker = Callable[..., HostArray]


def _variants(empty: Maker) -> tuple[Maker, Maker, Maker]:
    """The zeros, empty_like and zeros_like of one kind of memory; `last` is its flags or alignment."""

    def zeros(shape: Shape, dtype: npt.DTypeLike, order: Order = "C", *last: int, **named: int) -> HostArray:
        result = empty(shape, dtype, order, *last, **named)
        result.fill(0)
        return result

    def empty_like(array: HostArray, *last: int, **named: int) -> HostArray:
        return empty(array.shape, array.dtype, _order_of(array), *last, **named)

    def zeros_like(array: HostArray, *last: int, **named: int) -> HostArray:
        return zeros(array.shape, array.dtype, _order_of(array), *last, **named)

    return zeros, empty_like, zeros_like


pagelocked_zeros, pagelocked_empty_like, pagelocked_zeros_like = _variants(pagelocked_empty)
aligned_zeros, aligned_empty_like, aligned_zeros_like = _variants(aligned_empty)
managed_zeros, managed_empty_like, managed_zeros_like = _variants(managed_empty)


def register_host_memory(ary: HostArray, flags: int = 0) -> HostArray:
    """The same memory as a page-locked array; its `base.unregister()` undoes it."""
    unsigned(flags, "register_host_memory: flags", 32)
    if not isinstance(ary, np.ndarray):
        raise failure("register_host_memory", Status.INVALID_VALUE, "ary argument is not a numpy array")
    if not ary.flags.c_contiguous:
        raise failure("register_host_memory", Status.INVALID_VALUE, "ary argument is not contiguous")
    found = _standing_on(RegisteredHostMemory(ary), ary)
    recorder = emulation().recorder
    if recorder is None:
        return found
    recorder.pinned(ary.ctypes.data, ary.nbytes)
    return recorder.host_array(found)


def _shared_with_kernels() -> None:
    """Raises where a recorder writes down what is copied."""
    recorder = emulation().recorder
    if recorder is not None:
        recorder.mapped()


def _noted(space: Literal["pinned", "pageable"], array: HostArray) -> HostArray:
    """The array, as the recorder wants it where there is one."""
    recorder = emulation().recorder
    if recorder is None:
        return array
    recorder.allocated(space, array.ctypes.data, array.nbytes)
    if array.nbytes <= MOST_ARRIVES:
        array.fill(0)  # what lies in fresh memory by chance decides nothing
    return recorder.host_array(array)


def _dimensions(shape: Shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _nbytes(shape: Shape, dtype: npt.DTypeLike) -> int:
    return int(np.prod(_dimensions(shape), dtype=np.int64)) * np.dtype(dtype).itemsize


def _aligned(shape: Shape, dtype: npt.DTypeLike, order: Order, alignment: int) -> HostArray:
    size = _nbytes(shape, dtype)
    raw = np.empty(size + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return np.ndarray(_dimensions(shape), dtype, buffer=raw[start : start + size].data, order=order)


def _array_in(allocation: DeviceAllocation, shape: Shape, dtype: npt.DTypeLike, order: Order) -> HostArray:
    memory = allocation.as_buffer(_nbytes(shape, dtype))
    return np.ndarray(_dimensions(shape), dtype, buffer=memory, order=order)


def _standing_on(base: HostPointer | ManagedAllocation, array: HostArray) -> HostArray:
    """The same memory as an array whose `base` is the object that owns it."""
    base.__array_interface__ = array.__array_interface__  # type: ignore[union-attr]
    result = np.asarray(base)
    del base.__array_interface__  # type: ignore[union-attr]  # or np.uintp(base) would read the array
    return result if result.dtype == array.dtype else result.view(array.dtype)


def _order_of(array: HostArray) -> Order:
    if array.flags.c_contiguous:
        return "C"
    if array.flags.f_contiguous:
        return "F"
    raise ValueError("could not detect array order")
