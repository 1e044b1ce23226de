"""Initialisation, devices and contexts."""

from __future__ import annotations

import threading

import pytest

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.driver.emulation import reset


@pytest.fixture(autouse=True)
def _fresh() -> None:
    reset()


def test_nothing_works_before_init() -> None:
    for call in (lambda: driver.Device(0), driver.Device.count, lambda: driver.mem_alloc(4)):
        with pytest.raises(driver.LogicError, match="failed: initialization error"):
            call()


@pytest.mark.parametrize(
    ("call", "routine"),
    [
        (lambda: driver.mem_alloc(4), "cuMemAlloc"),
        (driver.mem_get_info, "cuMemGetInfo"),
        (driver.Context.synchronize, "cuCtxSynchronize"),
        (driver.Context.get_device, "cuCtxGetDevice"),
        (lambda: driver.module_from_buffer(b""), "cuModuleLoadDataEx"),
        (driver.Stream, "explicit_context_dependent"),
        (driver.Event, "explicit_context_dependent"),
        (lambda: driver.pagelocked_empty(4, "f"), "explicit_context_dependent"),
    ],
)
def test_calls_without_a_context_say_so(call, routine) -> None:  # type: ignore[no-untyped-def]
    driver.init()
    with pytest.raises(driver.LogicError, match=f"{routine} failed: invalid device context"):
        call()


def test_there_is_one_device() -> None:
    driver.init()
    assert driver.Device.count() == 1
    assert driver.Device(0) == driver.Device(driver.Device(0).pci_bus_id())
    assert driver.Device(0).name() == "NVIDIA H200 (emulated)"
    assert driver.Device(0).compute_capability() == (9, 0)
    with pytest.raises(driver.LogicError, match="cuDeviceGet failed: invalid device ordinal"):
        driver.Device(1)


def test_the_architecture_chooses_the_device() -> None:
    reset("sm_80")
    driver.init()
    device = driver.Device(0)
    assert device.compute_capability() == (8, 0)
    assert device.get_attribute(driver.device_attribute.MULTIPROCESSOR_COUNT) == 108
    assert device.max_shared_memory_per_block_optin == 163 * 1024
    with pytest.raises(ValueError, match="no emulated GPU of architecture 'sm_30'; there are sm_75, "):
        reset("sm_30")


def test_every_attribute_has_a_value() -> None:
    driver.init()
    attributes = driver.Device(0).get_attributes()
    assert set(attributes) == set(driver.device_attribute)
    assert attributes[driver.device_attribute.COMPUTE_MODE] is driver.compute_mode.DEFAULT
    with pytest.raises(AttributeError, match="foo"):
        driver.Device(0).foo  # noqa: B018
    with pytest.raises(TypeError):
        driver.Device(0).get_attribute(16)  # type: ignore[arg-type]


def test_contexts_form_a_stack() -> None:
    driver.init()
    first = driver.Device(0).make_context()
    second = driver.Device(0).make_context()
    assert first != second
    assert driver.Context.get_current() is second
    first.push()
    assert driver.Context.get_current() is first
    driver.Context.pop()
    second.detach()
    assert driver.Context.get_current() is first
    first.pop()
    assert driver.Context.get_current() is None
    with pytest.raises(driver.LogicError, match="cannot pop non-current context"):
        driver.Context.pop()


def test_a_detached_context_cannot_come_back() -> None:
    driver.init()
    context = driver.Device(0).make_context()
    context.detach()
    with pytest.raises(driver.LogicError, match="cannot detach from invalid context"):
        context.detach()
    with pytest.raises(driver.LogicError, match="invalid device context"):
        context.push()


def test_memory_goes_with_its_context() -> None:
    driver.init()
    outer = driver.Device(0).make_context()
    free, _ = driver.mem_get_info()
    inner = driver.Device(0).make_context()
    allocation = driver.mem_alloc(1 << 20)
    assert driver.mem_get_info()[0] < free
    inner.detach()
    assert driver.mem_get_info()[0] == free
    allocation.free()  # silently nothing, as in PyCUDA
    outer.pop()


def test_the_primary_context_is_shared_and_counted() -> None:
    driver.init()
    first = driver.Device(0).retain_primary_context()
    second = driver.Device(0).retain_primary_context()
    assert first == second
    assert driver.Context.get_current() is None
    first.push()
    allocation = driver.mem_alloc(64)
    driver.Context.pop()
    first.detach()
    second.push()
    assert driver.from_device(allocation, 64, "u1").size == 64
    driver.Context.pop()
    second.detach()


def test_each_thread_has_its_own_stack() -> None:
    driver.init()
    driver.Device(0).make_context()
    seen: list[object] = []
    thread = threading.Thread(target=lambda: seen.append(driver.Context.get_current()))
    thread.start()
    thread.join()
    assert seen == [None]


@pytest.mark.usefixtures("gpu")
def test_limits_and_cache_configuration_are_remembered() -> None:
    driver.Context.set_limit(driver.limit.STACK_SIZE, 4096)
    assert driver.Context.get_limit(driver.limit.STACK_SIZE) == 4096
    driver.Context.set_cache_config(driver.func_cache.PREFER_L1)
    assert driver.Context.get_cache_config() is driver.func_cache.PREFER_L1
