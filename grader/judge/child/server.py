"""The process that only launches. It is started, confined, with `DEVICE ARCH THREADS REQUESTS REPLIES MEMORY
[CORES]`.

It never sees an expected result, and the parent trusts nothing it says about being right. REQUESTS, REPLIES, MEMORY
and CORES, by which several emulators share the cores, are file descriptors; standard output is for what kernels and
schedules print.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable
from typing import Protocol

from grader import cuda
from grader.judge.child.executor import Executor, Memory, Value
from grader.judge.child.protocol import MOST_PRINTED, Failure, Hello, Operation, Reply, Request, receive, send


class Doer(Protocol):
    """What does operations."""

    def do(self, operation: Operation) -> Value:
        """Do one and return its value. Raises whatever goes wrong."""

    def status(self, error: Exception) -> str | None:
        """CUDA's name of the status behind an exception that `do` has raised; None where there is none."""


def failure(operation: int, error: Exception, status: str | None = None) -> Failure:
    """An exception as the parent will read it."""
    line = getattr(error, "line", None)
    return Failure(
        operation, type(error).__name__, str(error), line if isinstance(line, int) else None, status
    )


def serve(requests: int, replies: int, executor: Doer) -> None:
    """Answer requests until the parent closes its end."""
    while True:
        request = receive(requests, Request)
        values: list[Value] = []
        problem: Failure | None = None
        for index, operation in enumerate(request.operations):
            try:
                values.append(executor.do(operation))
            except Exception as error:  # the parent decides what a failure means
                problem = failure(index, error, executor.status(error))
                break
        flush()
        send(replies, Reply(tuple(values), problem))


def flush() -> None:
    """Have everything that was printed so far lie in the parent's file; a GPU's driver prints through C."""
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)


def hello(device: cuda.Cuda) -> Hello:
    """What this child launches on."""
    about = (device.kind, device.name, device.arch, device.cubins, device.ext.device_limits())
    if device.kind == "emulator":
        return Hello(*about, None, None)
    number = device.driver.get_driver_version()
    version = f"{number // 1000}.{number % 1000 // 10}"
    bus_id = device.driver.Device(0).pci_bus_id()
    return Hello(*about, version, bus_id)


def main(arguments: list[str]) -> None:
    """Serve what launches."""
    run(arguments, lambda device, memory, replies: launching(device, memory))


def launching(device: cuda.Cuda, memory: int) -> Executor:
    """What launches on a device, ready to."""
    if device.kind == "emulator":
        from grader.emulator.runtime import build

        build.load()  # now: no kernel's clock runs yet
    return Executor(device, Memory(memory))


def run(arguments: list[str], executor: Callable[[cuda.Cuda, int, int], Doer]) -> None:
    """Pick the device, say hello, serve. `executor` is given the device, MEMORY and REPLIES."""
    kind, arch, threads, *descriptors = arguments
    requests, replies, memory, *cores = map(int, descriptors)
    try:
        device = cuda.select(kind, arch or None)
        if device.kind == "emulator":
            from grader.emulator.pycuda_api.driver.emulation import emulation

            emulation().threads = None if threads == "all" else int(threads)
            emulation().shared = cores[0] if cores else None
            # Half, so that its words of what is lost are looked at too.
            emulation().printf_bytes = MOST_PRINTED // 2
        does, greeting = executor(device, memory, replies), hello(device)
    except Exception as error:
        send(replies, Hello("emulator", "", arch, 0, {}, None, None, failure(0, error)))
        return
    send(replies, greeting)
    with contextlib.suppress(EOFError):
        serve(requests, replies, does)
