"""Device memory, host memory and copies."""

from __future__ import annotations

import gc
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.driver.arguments import build
from grader.emulator.pycuda_api.driver.conversion import host_bytes

pytestmark = pytest.mark.usefixtures("gpu")


def test_an_allocation_is_an_address() -> None:
    allocation = driver.mem_alloc(100)
    assert int(allocation) % 256 == 0
    assert np.uintp(allocation) == int(allocation)
    assert driver.mem_get_address_range(int(allocation) + 99) == (int(allocation), 100)
    with pytest.raises(driver.LogicError, match="named symbol not found"):
        driver.mem_get_address_range(int(allocation) + 100)


def test_memory_is_freed_explicitly_or_when_forgotten() -> None:
    before = driver.mem_get_info()
    allocation = driver.mem_alloc(1 << 16)
    allocation.free()
    assert driver.mem_get_info() == before
    with pytest.raises(driver.LogicError, match="device_allocation::free failed: invalid resource handle"):
        allocation.free()
    driver.mem_alloc(1 << 16)
    gc.collect()
    assert driver.mem_get_info() == before


def test_memory_runs_out() -> None:
    with pytest.raises(driver.MemoryError, match="cuMemAlloc failed: out of memory"):
        driver.mem_alloc(1 << 40)


def test_the_memory_there_is_is_the_hosts() -> None:
    """Programs that size their arrays by it have to stay within what the host can give."""
    free, total = driver.mem_get_info()
    assert total == min(160 << 30, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    allocation = driver.mem_alloc(3 << 20)
    assert driver.mem_get_info() == (free - (3 << 20), total)
    allocation.free()


@pytest.mark.parametrize(
    ("size", "error"),
    [
        (0, driver.LogicError),
        (-4, OverflowError),
        (4.0, TypeError),
        (np.int64(4), TypeError),
        ("4", TypeError),
    ],
)
def test_sizes_that_pycuda_refuses(size: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        driver.mem_alloc(size)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "i2", "c16", "u1", [("a", "i4"), ("b", "f8")]])
def test_arrays_go_there_and_back(dtype: Any, order: Any) -> None:
    there = np.frombuffer(np.random.default_rng(1).bytes(1200 * np.dtype(dtype).itemsize), dtype)
    there = np.asarray(there.reshape(30, 40), order=order)
    back = driver.from_device_like(driver.to_device(there) if order == "C" else upload(there), there)
    assert back.tobytes() == there.tobytes()


def upload(array: np.ndarray[Any, Any]) -> driver.DeviceAllocation:
    allocation = driver.mem_alloc(array.nbytes)
    driver.memcpy_htod(allocation, array)
    return allocation


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_parts_of_memory_are_copied_exactly(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 300))
    content = bytearray(data.draw(st.binary(min_size=size, max_size=size)))
    allocation = upload(np.frombuffer(content, np.uint8))
    for _ in range(3):
        start = data.draw(st.integers(0, size - 1))
        piece = data.draw(st.binary(min_size=1, max_size=size - start))
        driver.memcpy_htod(int(allocation) + start, piece)
        content[start : start + len(piece)] = piece
    assert driver.from_device(allocation, size, np.uint8).tobytes() == content
    allocation.free()


def test_host_buffers_are_refused_as_pycuda_refuses_them() -> None:
    allocation = driver.mem_alloc(64)
    read_only = np.zeros(4, np.float32)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="not contiguous"):
        driver.memcpy_htod(allocation, np.zeros((4, 4), np.float32)[:, ::2])
    with pytest.raises(ValueError, match="read-only"):
        driver.memcpy_dtoh(read_only, allocation)
    with pytest.raises(TypeError):
        driver.memcpy_htod(allocation, [1, 2])
    with pytest.raises(TypeError, match="dest must be a device address"):
        driver.memcpy_htod(read_only, allocation)
    driver.memcpy_htod(allocation, read_only)
    driver.memcpy_htod(allocation, np.float32(3))
    driver.memcpy_htod(allocation, b"abcd")


def test_copies_beyond_an_allocation_are_errors() -> None:
    allocation = driver.mem_alloc(64)
    with pytest.raises(driver.LogicError, match="cuMemcpyHtoD failed: invalid argument"):
        driver.memcpy_htod(allocation, bytes(65))
    with pytest.raises(driver.LogicError, match="cuMemcpyDtoH failed: invalid argument"):
        driver.memcpy_dtoh(bytearray(65), allocation)
    with pytest.raises(driver.LogicError, match="cuMemsetD32 failed: invalid argument"):
        driver.memset_d32(allocation, 0, 17)


@pytest.mark.parametrize(("width", "value"), [(8, 0xA5), (16, 0xA5B6), (32, 0xA5B6C7D8)])
def test_memset(width: int, value: int) -> None:
    allocation = driver.to_device(bytes(64))
    for suffix, extra in (("", {}), ("_async", {"stream": driver.Stream()})):
        getattr(driver, f"memset_d{width}{suffix}")(allocation, value, 5, **extra)
        words = driver.from_device(allocation, 64 * 8 // width, f"u{width // 8}")
        assert list(words[:5]) == [value] * 5
        assert not words[5:].any()
    with pytest.raises(OverflowError):
        getattr(driver, f"memset_d{width}")(allocation, 1 << width, 1)
    if width > 8:
        with pytest.raises(driver.LogicError, match="multiple"):
            getattr(driver, f"memset_d{width}")(int(allocation) + 1, value, 1)


def test_device_to_device() -> None:
    source, target = driver.to_device(b"warpladder"), driver.to_device(bytes(10))
    driver.memcpy_dtod(int(target) + 4, source, 6)
    driver.memcpy_dtod_async(target, int(source) + 6, 4, driver.Stream())
    assert driver.from_device(target, 10, "u1").tobytes() == b"dderwarpla"


def test_pitched_memory() -> None:
    allocation, pitch = driver.mem_alloc_pitch(100, 4, 4)
    assert pitch == 512
    driver.memset_d8(int(allocation) + 3 * pitch, 1, 512)
    with pytest.raises(driver.LogicError, match="access_size"):
        driver.mem_alloc_pitch(100, 4, 3)


@pytest.mark.parametrize("make", [driver.pagelocked_empty, driver.aligned_empty])
@pytest.mark.parametrize("dtype", ["f4", "c8", [("a", "i1"), ("b", "f8")]])
def test_special_host_arrays(make: Any, dtype: Any) -> None:
    array = make((3, 5), dtype, order="F")
    assert (array.shape, array.dtype, array.flags.f_contiguous) == ((3, 5), np.dtype(dtype), True)
    assert array.ctypes.data % 4096 == 0
    assert make(7, "f4").shape == (7,)
    array.fill(1)
    copy = driver.from_device_like(upload(array), array)
    assert (copy == array).all()


def test_page_locked_arrays_stand_on_their_allocation() -> None:
    array = driver.pagelocked_zeros((2, 2), np.float32, mem_flags=driver.host_alloc_flags.PORTABLE)
    assert not array.any()
    assert isinstance(array.base, driver.PagelockedHostAllocation)
    assert array.base.get_flags() == driver.host_alloc_flags.PORTABLE
    with pytest.raises(driver.NotEmulated, match="get_device_pointer"):
        array.base.get_device_pointer()
    array.base.free()
    with pytest.raises(driver.LogicError, match="invalid resource handle"):
        array.base.free()
    assert driver.pagelocked_zeros_like(np.ones((2, 3), order="F")).flags.f_contiguous


def test_registered_memory_is_the_same_memory() -> None:
    array = np.zeros(8, np.int32)
    registered = driver.register_host_memory(array)
    array[3] = 5
    assert registered[3] == 5
    registered.base.unregister()
    with pytest.raises(driver.LogicError, match="not contiguous"):
        driver.register_host_memory(np.zeros((4, 4))[:, ::2])


def test_as_buffer_is_the_memory_itself() -> None:
    allocation = driver.to_device(b"warpladder")
    allocation.as_buffer(4, 4)[:] = b"LADD"
    assert driver.from_device(allocation, 10, "u1").tobytes() == b"warpLADDer"
    with pytest.raises(driver.LogicError, match="invalid argument"):
        allocation.as_buffer(11)


def test_mapped_and_managed_arrays_share_the_devices_memory() -> None:
    mapped = driver.pagelocked_zeros((2, 2), np.int32, mem_flags=driver.host_alloc_flags.DEVICEMAP)
    managed = driver.managed_zeros((2, 2), np.int32, mem_flags=driver.mem_attach_flags.GLOBAL)
    for array in (mapped, managed):
        array[1, 1] = 7
        address = array.base.get_device_pointer()
        assert (driver.from_device(address, (2, 2), np.int32) == [[0, 0], [0, 7]]).all()
        driver.memset_d32(address, 3, 1)
        assert array[0, 0] == 3
    assert build([managed])[1] == build([np.uint64(managed.base)])[1]
    managed.base.attach(driver.mem_attach_flags.HOST)
    with pytest.raises(driver.LogicError, match="cuMemAllocManaged failed: invalid argument"):
        driver.managed_empty(4, np.int32)
    mapped.base.free()
    with pytest.raises(driver.LogicError, match="no allocation holds"):
        driver.mem_get_address_range(mapped.base.get_device_pointer())


@pytest.mark.parametrize(
    "array", [np.zeros((0, 3)), np.float32(2), np.array(5), b"", np.zeros((2, 3), order="F")]
)
def test_host_bytes_keeps_memory_order(array: Any) -> None:
    expected = array.tobytes(order="A") if isinstance(array, np.ndarray) else bytes(array)
    assert host_bytes(array).tobytes() == expected
