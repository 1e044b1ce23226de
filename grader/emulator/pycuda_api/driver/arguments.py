"""Kernel arguments: how Python values become the bytes of a parameter buffer, and `In`, `Out`, `InOut`.

A format string says what each argument is, in the letters of the `struct` module (and of NumPy's type
characters): b B h H i I l L q Q n N ? f d P, F and D for complex numbers, c, "16s" for bytes as they are,
x for a byte of padding. Numbers are aligned to their size, byte strings are not.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.emulator.pycuda_api.driver.conversion import PointerHolderBase
from grader.emulator.pycuda_api.driver.host_memory import ManagedAllocation
from grader.emulator.pycuda_api.driver.memory import (
    DeviceAllocation,
    mem_alloc_like,
    memcpy_dtoh,
    memcpy_htod,
)
from grader.emulator.pycuda_api.driver.stream import Stream

_SIZES = {code: struct.calcsize(code) for code in "xbBcsphHiIlLnNqQ?fdP"} | {"F": 8, "D": 16}
_UNALIGNED = "xbBcsp?"
_ITEM = re.compile(r"\s*(\d*)(\D)\s*")


def pack(format: str, *values: Any) -> bytes:
    """The parameter buffer. Raises struct.error for a bad format, a wrong count or an unfit value."""
    places, total = _layout(format)
    if len(places) != len(values):
        raise struct.error(f"pack requires exactly {len(places)} arguments")
    buffer = bytearray(total)
    for (code, offset, size), value in zip(places, values, strict=True):
        buffer[offset : offset + size] = _encode(code, size, value)
    return bytes(buffer)


def _layout(format: str) -> tuple[list[tuple[str, int, int]], int]:
    """Code, offset and size of every value in a format string, and the size of it all."""
    text, offset = format.removeprefix("@").strip(), 0
    places = []
    if text and text[-1].isdigit():
        raise struct.error("repeat count given without format specifier")
    for repeat, code in _ITEM.findall(text):
        if code not in _SIZES:
            raise struct.error(f"bad char in struct format: {code!r}")
        count, size = int(repeat or 1), _SIZES[code]
        if code not in _UNALIGNED:
            alignment = size // 2 if code in "FD" else size
            offset = -(-offset // alignment) * alignment
        if code in "sp":
            count, size = 1, count
        if code != "x":
            places += [(code, offset + i * size, size) for i in range(count)]
        offset += count * size
    return places, offset


def _encode(code: str, size: int, value: Any) -> bytes:
    if code == "s":
        return _raw_bytes(value)[:size].ljust(size, b"\0")
    if code in "FD":
        return _complex(code, value)
    if code == "f":  # through double, as C does it: what is too large becomes infinite
        double = struct.unpack("d", struct.pack("d", value))
        with np.errstate(over="ignore"):
            return np.float32(double[0]).tobytes()
    try:
        return struct.pack(f"{size}p" if code == "p" else code, value)
    except OverflowError as error:
        raise struct.error(str(error)) from None


def _raw_bytes(value: Any) -> bytes:
    try:
        view = memoryview(value)
    except TypeError:
        raise struct.error("argument for 's' must be a bytes object") from None
    if not view.c_contiguous:
        raise ValueError("ndarray is not C-contiguous")
    return view.tobytes()


def _complex(code: str, value: Any) -> bytes:
    kind = np.complex64 if code == "F" else np.complex128
    try:
        return np.asarray(value).astype(kind).tobytes() if not isinstance(value, str) else _no_complex()
    except (TypeError, ValueError):
        return _no_complex()


def _no_complex() -> bytes:
    raise struct.error("required argument is not a complex")


class ArgumentHandler:
    """A host array that is given memory on the device for one launch."""

    def __init__(self, ary: Any) -> None:
        self.array = ary
        self.dev_alloc: DeviceAllocation | None = None

    def get_device_alloc(self) -> DeviceAllocation:
        if self.dev_alloc is None:
            try:
                self.dev_alloc = mem_alloc_like(self.array)
            except AttributeError:
                raise TypeError(
                    f"could not determine array length of '{type(self.array)}': "
                    "unsupported array type or not an array"
                ) from None
        return self.dev_alloc

    def pre_call(self, stream: Stream | None) -> None:
        """Called before the launch."""


class In(ArgumentHandler):
    """Copied to the device before the launch."""

    def pre_call(self, stream: Stream | None) -> None:
        memcpy_htod(self.get_device_alloc(), self.array)


class Out(ArgumentHandler):
    """Copied back from the device after the launch."""

    def post_call(self, stream: Stream | None) -> None:
        memcpy_dtoh(self.array, self.get_device_alloc())


class InOut(In, Out):
    """Copied to the device before, and back after the launch."""


def build(arguments: Sequence[Any]) -> tuple[list[ArgumentHandler], bytes]:
    """The handlers among the arguments of a launch, and the parameter buffer.

    Raises TypeError for anything whose type in C is unknown, such as Python's int and float: a scalar must be
    a NumPy scalar, np.int32(n) or np.float32(x).
    """
    handlers = [argument for argument in arguments if isinstance(argument, ArgumentHandler)]
    described = [_describe(index, argument) for index, argument in enumerate(arguments)]
    return handlers, pack("".join(format for format, _ in described), *(value for _, value in described))


def build_apart(
    arguments: Sequence[Any], places: Sequence[tuple[int, int]]
) -> tuple[list[ArgumentHandler], bytes]:
    """The same for a launch that gets each argument by a pointer, and knows where its kernel wants it: `places` are
    (offset, bytes). Where number or sizes differ, as `build` has it."""
    handlers = [argument for argument in arguments if isinstance(argument, ArgumentHandler)]
    values = [pack(*_describe(index, argument)) for index, argument in enumerate(arguments)]
    if [len(value) for value in values] != [nbytes for _, nbytes in places]:
        return build(arguments)
    buffer = bytearray(max((offset + nbytes for offset, nbytes in places), default=0))
    for value, (offset, nbytes) in zip(values, places, strict=True):
        buffer[offset : offset + nbytes] = value
    return handlers, bytes(buffer)


def _describe(index: int, argument: Any) -> tuple[str, Any]:
    """Format letter and value of one argument."""
    if isinstance(argument, np.number):
        return argument.dtype.char, argument
    if isinstance(argument, PointerHolderBase):
        return "P", argument.get_pointer()
    if isinstance(argument, ArgumentHandler):
        return "P", argument.get_device_alloc().get_pointer()
    if isinstance(argument, np.ndarray):
        if isinstance(argument.base, ManagedAllocation):
            return "P", argument.base.get_pointer()
        return f"{argument.nbytes}s", argument
    if isinstance(argument, np.void):
        return f"{argument.itemsize}s", argument.tobytes()
    interface = getattr(argument, "__cuda_array_interface__", None)
    if interface:
        return "P", interface["data"][0]
    try:
        return "P", int(np.uintp(argument.gpudata))
    except AttributeError:
        raise TypeError(
            f"invalid type on parameter #{index} (0-based): {type(argument).__name__}; "
            "pass a NumPy scalar such as np.int32(n), or np.uintp(address) for an address, device memory, or In, "
            "Out, InOut of an array"
        ) from None


def prepared_format(types: str | Sequence[npt.DTypeLike]) -> str:
    """The format string of `Function.prepare`'s argument types."""
    return "".join(_prepared_letter(kind) for kind in types)


def _prepared_letter(kind: Any) -> str:
    if isinstance(kind, str):
        return kind
    if isinstance(kind, type) and issubclass(kind, np.number):
        return np.dtype(kind).char
    if isinstance(kind, np.dtype):
        return f"{kind.itemsize}s" if kind.char == "V" else kind.char
    return np.dtype(np.uintp).char
