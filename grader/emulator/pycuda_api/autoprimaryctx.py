"""`pycuda.autoprimaryctx` on the emulator: as autoinit, with the context that all libraries share."""

from __future__ import annotations

import atexit

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.tools import clear_context_caches, make_default_context


def _retain_and_push(device: driver.Device) -> driver.Context:
    context = device.retain_primary_context()
    context.push()
    return context


driver.init()
context = make_default_context(_retain_and_push)
device = context.get_device()


@atexit.register
def _finish_up() -> None:
    if driver.Context.get_current() is context:
        driver.Context.pop()
    clear_context_caches()
