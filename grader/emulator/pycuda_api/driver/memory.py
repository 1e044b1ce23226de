"""Device memory, and copies to, from and within it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from grader.emulator.errors import MemoryFault
from grader.emulator.machine.memory import Memory
from grader.emulator.pycuda_api.driver.context import current_state
from grader.emulator.pycuda_api.driver.conversion import PointerHolderBase, address, host_bytes, unsigned
from grader.emulator.pycuda_api.driver.emulation import ContextState, emulation, in_context
from grader.emulator.pycuda_api.driver.errors import Status, failure, faults_as_errors
from grader.emulator.pycuda_api.driver.stream import Stream, in_order

Shape = int | Sequence[int]
HostArray = npt.NDArray[Any]
Allocation = TypeVar("Allocation", bound="DeviceAllocation")


class DeviceAllocation(PointerHolderBase):
    """Memory on the device, freed by `free` or when nobody refers to it. `int()` gives its address."""

    def __init__(self, pointer: int, state: ContextState) -> None:
        self._pointer = pointer
        self._release = weakref.finalize(self, state.free, pointer)
        self._release.atexit = False

    def get_pointer(self) -> int:
        return self._pointer

    def free(self) -> None:
        if not self._release.alive:
            raise failure("device_allocation::free", Status.INVALID_HANDLE, "freed before")
        self._release()


def mem_alloc(bytes: int) -> DeviceAllocation:
    """`bytes` bytes of device memory, aligned to 256. Raises MemoryError when there is not enough."""
    size = unsigned(bytes, "mem_alloc: bytes")
    return allocate("cuMemAlloc", size, DeviceAllocation, unset=emulation().tells_unset)


def allocate(
    routine: str, size: int, kind: Callable[[int, ContextState], Allocation], *, unset: bool = False
) -> Allocation:
    """`size` bytes of device memory in the current context; `routine` is the CUDA call to blame. With `unset`, kernels
    that read what nobody has written there are told."""
    state = current_state(routine)
    if size == 0:
        raise failure(routine, Status.INVALID_VALUE, "0 bytes were asked for")
    pointer = _find_room(routine, state.owner.machine.memory, size, unset=unset)
    state.allocations[pointer] = size
    if state.owner.recorder is not None:
        state.owner.recorder.allocated("device", pointer, size)
    return kind(pointer, state)


def _find_room(routine: str, memory: Memory, size: int, *, unset: bool) -> int:
    try:
        return memory.alloc(size, unset=unset)
    except MemoryFault:
        gc.collect()  # as PyCUDA does: allocations in reference cycles may still be held
    try:
        return memory.alloc(size, unset=unset)
    except MemoryFault as fault:
        raise failure(routine, Status.OUT_OF_MEMORY, str(fault)) from None


def mem_alloc_like(ary: HostArray) -> DeviceAllocation:
    return mem_alloc(ary.nbytes)


def mem_alloc_pitch(width: int, height: int, access_size: int) -> tuple[DeviceAllocation, int]:
    """Rows of `width` bytes, each starting at a multiple of 512; returns the memory and the row pitch."""
    if access_size not in (4, 8, 16):
        raise failure("cuMemAllocPitch", Status.INVALID_VALUE, "access_size must be 4, 8 or 16")
    pitch = -(-unsigned(width, "mem_alloc_pitch: width", 32) // 512) * 512
    return mem_alloc(pitch * unsigned(height, "mem_alloc_pitch: height", 32)), pitch


def mem_get_info() -> tuple[int, int]:
    """Free and total bytes of the emulated GPU's memory."""
    free, total = in_context("cuMemGetInfo").machine.memory.info()
    return free, total


def mem_get_address_range(ptr: Any) -> tuple[int, int]:
    """Base address and size of the allocation that `ptr` points into."""
    pointer = address(ptr, "mem_get_address_range: ptr")
    for base, size in current_state("cuMemGetAddressRange").allocations.items():
        if base <= pointer < base + size:
            return base, size
    raise failure("cuMemGetAddressRange", Status.NOT_FOUND, f"no allocation holds {pointer:#x}")


def memcpy_htod(dest: Any, src: Any) -> None:
    """Copy a contiguous host buffer to device address `dest`."""
    _htod("cuMemcpyHtoD", dest, src, False)


def memcpy_htod_async(dest: Any, src: Any, stream: Stream | None = None) -> None:
    _htod("cuMemcpyHtoDAsync", dest, src, stream)


def _htod(routine: str, dest: Any, src: Any, stream: Stream | Literal[False] | None) -> None:
    """`stream` False: the default stream, and the call waits."""
    target, data = address(dest, "dest"), host_bytes(src)
    memory = in_context(routine).machine.memory
    with faults_as_errors(routine):
        in_order(
            stream or None,
            lambda: memory.write(target, data),
            lambda recorder: recorder.copy((target, True), (data.ctypes.data, False), data.size, stream),
        )


def memcpy_dtoh(dest: Any, src: Any) -> None:
    """Fill the contiguous, writable host buffer `dest` from device address `src`."""
    _dtoh("cuMemcpyDtoH", dest, src, False)


def memcpy_dtoh_async(dest: Any, src: Any, stream: Stream | None = None) -> None:
    _dtoh("cuMemcpyDtoHAsync", dest, src, stream)


def _dtoh(routine: str, dest: Any, src: Any, stream: Stream | Literal[False] | None) -> None:
    """`stream` False: the default stream, and the call waits."""
    source, data = address(src, "src"), host_bytes(dest, writable=True)
    memory = in_context(routine).machine.memory

    def copy() -> None:
        data[:] = memory.look(source, data.size)

    with faults_as_errors(routine):
        in_order(
            stream or None,
            copy,
            lambda recorder: recorder.copy((data.ctypes.data, False), (source, True), data.size, stream),
        )


def memcpy_dtod(dest: Any, src: Any, size: int) -> None:
    """Copy `size` bytes from device address `src` to `dest`."""
    _dtod("cuMemcpyDtoD", dest, src, size, None)


def memcpy_dtod_async(dest: Any, src: Any, size: int, stream: Stream | None = None) -> None:
    _dtod("cuMemcpyDtoDAsync", dest, src, size, stream)


def _dtod(routine: str, dest: Any, src: Any, size: int, stream: Stream | None) -> None:
    target, source, count = address(dest, "dest"), address(src, "src"), unsigned(size, "size")
    memory = in_context(routine).machine.memory
    with faults_as_errors(routine):
        in_order(
            stream,
            lambda: memory.copy(target, source, count),
            lambda recorder: recorder.copy((target, True), (source, True), count, stream),
        )


def memset_d8(dest: Any, data: int, size: int) -> None:
    """Set `size` bytes to `data`."""
    _memset("cuMemsetD8", 1, dest, data, size, None)


def memset_d16(dest: Any, data: int, size: int) -> None:
    """Set `size` 16-bit words to `data`."""
    _memset("cuMemsetD16", 2, dest, data, size, None)


def memset_d32(dest: Any, data: int, size: int) -> None:
    """Set `size` 32-bit words to `data`."""
    _memset("cuMemsetD32", 4, dest, data, size, None)


def memset_d8_async(dest: Any, data: int, size: int, stream: Stream | None = None) -> None:
    _memset("cuMemsetD8Async", 1, dest, data, size, stream)


def memset_d16_async(dest: Any, data: int, size: int, stream: Stream | None = None) -> None:
    _memset("cuMemsetD16Async", 2, dest, data, size, stream)


def memset_d32_async(dest: Any, data: int, size: int, stream: Stream | None = None) -> None:
    _memset("cuMemsetD32Async", 4, dest, data, size, stream)


def _memset(routine: str, width: int, dest: Any, data: int, size: int, stream: Stream | None) -> None:
    target, count = address(dest, "dest"), unsigned(size, "size")
    pattern = unsigned(data, "data", 8 * width).to_bytes(width, "little")
    memory = in_context(routine).machine.memory
    if target % width:
        raise failure(routine, Status.INVALID_VALUE, f"the address must be a multiple of {width}")
    with faults_as_errors(routine):
        in_order(
            stream,
            lambda: memory.fill(target, pattern, count),
            lambda recorder: recorder.fill(target, pattern, count, stream),
        )


def to_device(bf_obj: Any) -> DeviceAllocation:
    """New device memory that holds a copy of a host buffer."""
    data = memoryview(bf_obj).tobytes()
    result = mem_alloc(len(data))
    memcpy_htod(result, data)
    return result


def from_device(devptr: Any, shape: Shape, dtype: npt.DTypeLike, order: Any = "C") -> HostArray:
    """A new host array with a copy of device memory."""
    result = np.empty(shape, dtype, order)
    memcpy_dtoh(result, devptr)
    return result


def from_device_like(devptr: Any, other_ary: HostArray) -> HostArray:
    result = np.empty_like(other_ary)
    memcpy_dtoh(result, devptr)
    return result
