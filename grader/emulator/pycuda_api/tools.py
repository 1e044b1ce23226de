"""`pycuda.tools` on the emulator: the default context, caches per context, C type names, memory pools."""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.arrays.c_types import (
    Argument,
    ScalarArg,
    VectorArg,
    ctype_to_dtype,
    dtype_to_ctype,
    get_arg_type,
    get_or_register_dtype,
    parse_c_arg,
    register_dtype,
)
from grader.emulator.pycuda_api.driver.context import current_state
from grader.emulator.pycuda_api.driver.emulation import ContextState
from grader.emulator.pycuda_api.driver.errors import missing_name
from grader.emulator.pycuda_api.memory_pool import (
    DeviceMemoryPool,
    PageLockedMemoryPool,
    PooledDeviceAllocation,
    bitlog2,
)

__all__ = [
    "Argument",
    "DeviceMemoryPool",
    "PageLockedMemoryPool",
    "PooledDeviceAllocation",
    "ScalarArg",
    "VectorArg",
    "bitlog2",
    "clear_context_caches",
    "context_dependent_memoize",
    "ctype_to_dtype",
    "dtype_to_ctype",
    "get_arg_type",
    "get_default_device",
    "get_or_register_dtype",
    "init_cuda_context_fixture",
    "make_default_context",
    "mark_cuda_test",
    "parse_c_arg",
    "register_dtype",
]

Result = TypeVar("Result")


def make_default_context(
    ctx_maker: Callable[[driver.Device], driver.Context] | None = None,
) -> driver.Context:
    """A context on the device that $CUDA_DEVICE or ~/.cuda_device names, or on the first."""
    device = get_default_device()
    return ctx_maker(device) if ctx_maker else device.make_context()


def get_default_device(default: int = 0) -> driver.Device:
    """The device that $CUDA_DEVICE or ~/.cuda_device names, else the one of number `default`."""
    chosen = os.environ.get("CUDA_DEVICE")
    if chosen is None:
        try:
            chosen = (Path.home() / ".cuda_device").read_text()
        except (OSError, RuntimeError):
            return driver.Device(default)
    return driver.Device(int(chosen))


_memoized: WeakKeyDictionary[ContextState, dict[Any, Any]] = WeakKeyDictionary()


def context_dependent_memoize(function: Callable[..., Result]) -> Callable[..., Result]:
    """Remember results of `function` by its arguments, for the current context alone."""

    @functools.wraps(function)
    def remembered(*arguments: Any, **named: Any) -> Result:
        results = _memoized.setdefault(current_state("context_dependent_memoize"), {})
        key = (function, arguments, frozenset(named.items()))
        if key not in results:
            results[key] = function(*arguments, **named)
        found: Result = results[key]
        return found

    return remembered


def clear_context_caches() -> None:
    """Forget what `context_dependent_memoize` remembers."""
    _memoized.clear()


def init_cuda_context_fixture() -> Iterator[None]:
    """For a pytest fixture to `yield from`: a context of its own for each test."""
    driver.init()
    context = make_default_context()
    try:
        yield
    finally:
        context.pop()
        clear_context_caches()
        gc.collect()


def mark_cuda_test(inner_f: Callable[..., Any]) -> Callable[..., None]:
    """The same test, with a context of its own."""

    # Without functools.wraps: pytest would look for the fixtures of the test inside.
    def test(*arguments: Any, **named: Any) -> None:
        for _ in init_cuda_context_fixture():
            inner_f(*arguments, **named)

    return test


_REMEDIES = {
    "DeviceData": "ask driver.Device(0).get_attributes()",
    "OccupancyRecord": "`ladder occupancy` computes how many blocks fit on an SM",
    "PageLockedAllocator": "driver.pagelocked_empty and PageLockedMemoryPool allocate page-locked memory",
    "DebugMemoryPool": "DeviceMemoryPool has active_blocks, held_blocks, active_bytes and managed_bytes",
}


def __getattr__(name: str) -> Any:
    remedy = _REMEDIES.get(name, f"emulated are {', '.join(__all__)}")
    raise missing_name(f"pycuda.tools.{name} is not emulated; {remedy}")
