"""Pools keep what is given back, and give it out again."""

from __future__ import annotations

import numpy as np
import pytest

from grader.emulator.pycuda_api import driver, gpuarray
from grader.emulator.pycuda_api.tools import DeviceMemoryPool, PageLockedMemoryPool, bitlog2

pytestmark = pytest.mark.usefixtures("gpu")


@pytest.mark.parametrize("value", [0, 1, 2, 3, 17, 0xAFFE, 1 << 40])
def test_bitlog2(value: int) -> None:
    assert bitlog2(value) == len(f"{max(value, 1):b}") - 1


def test_a_bin_holds_what_it_is_asked_for_and_little_more() -> None:
    pool = DeviceMemoryPool()
    for size in [*range(2000), *(3**k for k in range(20))]:
        number = pool.bin_number(size)
        taken = pool.alloc_size(number)
        assert size <= taken <= max(1.25 * size, 1)
        assert pool.bin_number(taken) == number
        assert pool.bin_number(taken + 1) > number


def test_device_memory_comes_back_and_goes_out_again() -> None:
    pool = DeviceMemoryPool()
    first = pool.allocate(1000)
    address = int(first)
    taken = pool.alloc_size(pool.bin_number(1000))
    assert (pool.active_blocks, pool.held_blocks) == (1, 0)
    assert (pool.active_bytes, pool.managed_bytes) == (taken, taken)
    first.free()
    assert (pool.active_blocks, pool.held_blocks) == (0, 1)
    assert (pool.active_bytes, pool.managed_bytes) == (0, taken)
    with pytest.raises(driver.LogicError, match="freed before"):
        first.free()
    again = pool.allocate(1010)
    assert int(again) == address
    del again
    assert pool.held_blocks == 1
    pool.free_held()
    assert (pool.held_blocks, pool.managed_bytes) == (0, 0)
    with pytest.raises(driver.LogicError, match="no allocation holds"):
        driver.mem_get_address_range(address)


def test_a_pool_that_stopped_holding_frees_at_once() -> None:
    pool = DeviceMemoryPool()
    kept = pool.allocate(5000)
    address = int(kept)
    pool.stop_holding()
    assert driver.mem_get_address_range(address)[0] == address
    kept.free()
    assert (pool.held_blocks, pool.managed_bytes) == (0, 0)
    with pytest.raises(driver.LogicError, match="no allocation holds"):
        driver.mem_get_address_range(address)


def test_a_pool_gives_back_where_memory_is_short() -> None:
    pool = DeviceMemoryPool()
    half = driver.mem_get_info()[0] // 2
    pool.allocate(half).free()
    assert pool.held_blocks == 1
    pool.allocate(2 * half * 3 // 4).free()


def test_a_pool_is_an_allocator_of_arrays() -> None:
    pool = DeviceMemoryPool()
    host = np.arange(100, dtype=np.float32)
    array = gpuarray.to_gpu(host, allocator=pool.allocate)
    total = gpuarray.sum(array + array)
    assert pool.active_blocks == 2
    assert total.allocator == pool.allocate
    assert total.get() == 2 * host.sum()
    del array, total
    assert pool.active_blocks == 0


def test_page_locked_arrays_go_back_with_the_last_look_at_them() -> None:
    pool = PageLockedMemoryPool()
    array = pool.allocate((3, 4), np.float32, order="F")
    assert (array.shape, array.dtype, array.flags.f_contiguous) == ((3, 4), np.float32, True)
    address = array.ctypes.data
    array[:] = 7
    look = array[1]
    del array
    assert (pool.active_blocks, pool.held_blocks) == (1, 0)
    assert (look == 7).all()
    del look
    assert (pool.active_blocks, pool.held_blocks) == (0, 1)
    assert pool.allocate(12, np.float32).ctypes.data == address
