"""PyCUDA's exceptions, and CUDA's statuses as PyCUDA words them: "cuMemAlloc failed: out of memory"."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum

from grader.emulator.errors import MemoryFault, OutOfRoom


class Error(Exception):
    """Base of all errors of the driver."""

    status: Status | None = None
    """What the CUDA call returned; PyCUDA says it in the message alone."""


class MemoryError(Error):
    """Not enough device memory."""


class LogicError(Error):
    """The call itself is wrong: an argument, a handle, a missing context."""


class LaunchError(Error):
    """A kernel did not start or did not finish."""


class RuntimeError(Error):
    """Something outside the program is missing: a device, a file, code for this architecture."""


class CompileError(Error):
    """The compiler refused the source. `stderr` is what it said."""

    def __init__(
        self, msg: str, command_line: Sequence[str], stdout: str | None = None, stderr: str | None = None
    ) -> None:
        super().__init__(msg, command_line, stdout, stderr)
        self.msg = msg
        self.command_line = command_line
        self.stdout = stdout
        self.stderr = stderr

    def __str__(self) -> str:
        text = self.msg
        if self.command_line:
            text += f"\n[command: {' '.join(self.command_line)}]"
        if self.stdout:
            text += f"\n[stdout:\n{self.stdout}]"
        if self.stderr:
            text += f"\n[stderr:\n{self.stderr}]"
        return text


# Tracebacks shall read as PyCUDA's do.
for _class in (Error, MemoryError, LogicError, LaunchError, RuntimeError):
    _class.__module__ = "pycuda._driver"
CompileError.__module__ = "pycuda.driver"


class NotEmulated(Error, NotImplementedError):
    """PyCUDA can do it, the emulator cannot; the message names it."""


NO_REFERENCES = (
    "texture and surface references are gone since CUDA 12, and PyCUDA makes no texture objects: "
    "read global memory"
)


def no_references(asked: str) -> NotEmulated:
    """The refusal of `asked`, which is about texture or surface references."""
    return NotEmulated(f"{asked}: {NO_REFERENCES}")


class Status(Enum):
    """CUDA's statuses that can come up, with the text `cuGetErrorString` has for them."""

    INVALID_VALUE = "invalid argument"
    OUT_OF_MEMORY = "out of memory"
    NOT_INITIALIZED = "initialization error"
    INVALID_DEVICE = "invalid device ordinal"
    INVALID_CONTEXT = "invalid device context"
    NO_BINARY_FOR_GPU = "no kernel image is available for execution on the device"
    INVALID_PTX = "a PTX JIT compilation failed"
    FILE_NOT_FOUND = "file not found"
    INVALID_HANDLE = "invalid resource handle"
    NOT_FOUND = "named symbol not found"
    LAUNCH_OUT_OF_RESOURCES = "too many resources requested for launch"
    LAUNCH_TIMEOUT = "the launch timed out and was terminated"
    ASSERT = "device-side assert triggered"
    LAUNCH_FAILED = "unspecified launch failure"
    COOPERATIVE_LAUNCH_TOO_LARGE = "too many blocks in cooperative launch"
    INVALID_CLUSTER_SIZE = "a kernel launch error has occurred due to cluster misconfiguration"


_CLASSES: dict[Status, type[Error]] = {
    Status.OUT_OF_MEMORY: MemoryError,
    Status.NO_BINARY_FOR_GPU: RuntimeError,
    Status.FILE_NOT_FOUND: RuntimeError,
    Status.LAUNCH_OUT_OF_RESOURCES: LaunchError,
    Status.LAUNCH_TIMEOUT: LaunchError,
    Status.LAUNCH_FAILED: LaunchError,
}


def failure(routine: str, status: Status, detail: str = "") -> Error:
    """The exception PyCUDA raises when `routine` returns `status`; `detail` is what the emulator adds."""
    text = f"{routine} failed: {status.value}"
    error = _CLASSES.get(status, LogicError)(f"{text} - {detail}" if detail else text)
    error.status = status
    return error


@contextmanager
def faults_as_errors(routine: str) -> Iterator[None]:
    """Addresses that are no good in here are an invalid argument of `routine`; that memory is short is told as such."""
    try:
        yield
    except OutOfRoom as fault:
        raise failure(routine, Status.OUT_OF_MEMORY, str(fault)) from None
    except MemoryFault as fault:
        raise failure(routine, Status.INVALID_VALUE, str(fault)) from None


def missing_name(message: str) -> Exception:
    """What a module's `__getattr__` raises: AttributeError, in a `from … import` ImportError.

    There Python would put words of its own in place of an AttributeError's.
    """
    asking = sys._getframe(2)
    importing = dis.opname[asking.f_code.co_code[asking.f_lasti]] == "IMPORT_FROM"
    return ImportError(message) if importing else AttributeError(message)
