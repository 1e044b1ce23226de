"""A child that may launch on a GPU: CUDA and its context take most of a second to start, and do so while the child
imports."""

from __future__ import annotations

import contextlib
import ctypes
import threading


def main(arguments: list[str]) -> None:
    """Serve what launches, as `server.main` does."""
    threading.Thread(target=_start_cuda, daemon=True).start()
    from grader.judge.child import server

    server.main(arguments)


def _start_cuda() -> None:
    """Whether that worked is seen when the device is picked, which waits for it."""
    with contextlib.suppress(OSError):
        driver, device, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
        if not driver.cuInit(0) and not driver.cuDeviceGet(ctypes.byref(device), 0):
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
