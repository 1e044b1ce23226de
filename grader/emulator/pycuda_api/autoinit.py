"""`pycuda.autoinit` on the emulator: importing it makes a context current, which is popped when Python ends."""

from __future__ import annotations

import atexit

from grader.emulator.pycuda_api import driver
from grader.emulator.pycuda_api.tools import clear_context_caches, make_default_context

driver.init()
context = make_default_context()
device = context.get_device()


@atexit.register
def _finish_up() -> None:
    if driver.Context.get_current() is context:
        driver.Context.pop()
    clear_context_caches()
