"""What PyCUDA's C++ side accepts as a number, an address or a buffer; the same is refused here.

Boost.Python takes Python's own `int` and nothing that merely converts to one, so `np.int64(4)` and `4.0` are
errors in PyCUDA. A script must not learn otherwise from the emulator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api.driver.emulation import in_context
from grader.emulator.pycuda_api.driver.errors import faults_as_errors


def _type_name(value: object) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def unsigned(value: object, what: str, bits: int = 64) -> int:
    """`value` as an unsigned integer of `bits` bits. Raises TypeError or OverflowError as PyCUDA does."""
    if not isinstance(value, int):
        raise TypeError(f"{what} must be an int, not {_type_name(value)}: wrap it in int()")
    if value < 0:
        raise OverflowError(f"{what}: can't convert negative value to unsigned int")
    if value >> bits:
        raise OverflowError(f"{what}: {value} does not fit into {bits} bits")
    return int(value)


class PointerHolderBase:
    """Base of objects that stand for a device address; override `get_pointer`."""

    def get_pointer(self) -> int:
        raise NotImplementedError(f"{_type_name(self)}.get_pointer")

    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """`size` bytes of the memory itself. On a GPU the host may touch them only if they are managed."""
        memory = in_context("as_buffer").machine.memory
        with faults_as_errors("as_buffer"):
            return memory.view(self.get_pointer() + unsigned(offset, "as_buffer: offset"), size).data

    def __int__(self) -> int:
        return self.get_pointer()

    def __index__(self) -> int:
        return self.get_pointer()


def address(value: object, what: str) -> int:
    """A device address: an int, or an allocation."""
    if isinstance(value, PointerHolderBase):
        return value.get_pointer()
    if not isinstance(value, int):
        hint = ": pass its .gpudata" if hasattr(value, "gpudata") else ""
        raise TypeError(
            f"{what} must be a device address (an allocation or an int), not {_type_name(value)}{hint}"
        )
    return unsigned(value, what)


def host_bytes(value: Any, *, writable: bool = False) -> npt.NDArray[np.uint8]:
    """The bytes of a C- or Fortran-contiguous host buffer, in memory order, without a copy.

    Raises TypeError for what is no buffer, ValueError for an array with gaps or a read-only destination.
    """
    array = value if isinstance(value, np.ndarray) else np.asarray(memoryview(value))
    if not array.flags.forc:
        raise ValueError("ndarray is not contiguous")
    if writable and not array.flags.writeable:
        raise ValueError("buffer source array is read-only")
    return array.reshape(-1, order="A").view(np.uint8)
