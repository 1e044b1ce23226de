"""A child that may launch on a GPU: CUDA takes most of a second to start, and does so while the child imports."""

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
        ctypes.CDLL("libcuda.so.1").cuInit(0)
