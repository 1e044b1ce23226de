"""CUDA arrays, and copies of rows and boxes. Textures of them have to be made by other means: PyCUDA has texture
references, which are gone since CUDA 12, and no texture objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.emulator.machine.textures.arrays import CudaArray, Extent, Format, NumberKind
from grader.emulator.pycuda_api.driver.constants import array3d_flags, array_format
from grader.emulator.pycuda_api.driver.conversion import address, host_bytes, unsigned
from grader.emulator.pycuda_api.driver.emulation import emulation, in_context
from grader.emulator.pycuda_api.driver.errors import (
    LogicError,
    NotEmulated,
    Status,
    failure,
    faults_as_errors,
)
from grader.emulator.pycuda_api.driver.memory import DeviceAllocation, allocate
from grader.emulator.pycuda_api.driver.stream import Stream, in_order
from grader.emulator.streams.recorder import NotRecorded

Bytes = npt.NDArray[np.uint8]
_FORMATS: dict[str, tuple[NumberKind, int]] = {
    "UNSIGNED_INT8": ("unsigned", 8), "UNSIGNED_INT16": ("unsigned", 16), "UNSIGNED_INT32": ("unsigned", 32),
    "SIGNED_INT8": ("signed", 8), "SIGNED_INT16": ("signed", 16), "SIGNED_INT32": ("signed", 32),
    "HALF": ("float", 16), "FLOAT": ("float", 32),
}  # fmt: skip
_DTYPES = {"|u1": "UNSIGNED_INT8", "<u2": "UNSIGNED_INT16", "<u4": "UNSIGNED_INT32", "|i1": "SIGNED_INT8",
           "<i2": "SIGNED_INT16", "<i4": "SIGNED_INT32", "<f4": "FLOAT"}  # fmt: skip
_WIDE = {"<f8": 2, "<c8": 2, "<c16": 4}
"""What PyCUDA puts into several channels of 32 bits."""


class ArrayDescriptor:
    """What an array of one or two dimensions is to be; a height of 0 is one dimension."""

    width = 0
    height = 0
    format = array_format.UNSIGNED_INT8
    num_channels = 0


class ArrayDescriptor3D(ArrayDescriptor):
    """The same for up to three; `flags` are of array3d_flags, and layers count as depth."""

    depth = 0
    flags = 0


class Array:
    """A CUDA array, freed by `free` or when nobody refers to it."""

    def __init__(self, descriptor: ArrayDescriptor) -> None:
        routine = "cuArray3DCreate" if isinstance(descriptor, ArrayDescriptor3D) else "cuArrayCreate"
        self._flags = int(getattr(descriptor, "flags", 0))
        if self._flags & ~(array3d_flags.ARRAY3D_LAYERED | array3d_flags.SURFACE_LDST):
            raise NotEmulated(
                f"{routine}: arrays with flags {self._flags} (cube maps, gathering) are not emulated"
            )
        self._format = array_format(descriptor.format)
        width, height, depth = (
            unsigned(int(getattr(descriptor, name, 0)), routine) for name in ("width", "height", "depth")
        )
        extent = Extent(width, height, depth)
        kind, bits = _FORMATS[self._format.name]
        texel = Format(kind, bits, int(descriptor.num_channels))
        if fault := texel.fault():
            raise failure(routine, Status.INVALID_VALUE, fault)
        nbytes = extent.width * extent.rows * extent.slices * texel.nbytes
        self._memory = allocate(routine, nbytes, DeviceAllocation)
        self._about = CudaArray(
            int(self._memory), texel, extent, bool(self._flags & array3d_flags.ARRAY3D_LAYERED)
        )

    @property
    def handle(self) -> int:
        return self._about.address

    def free(self) -> None:
        self._memory.free()

    def get_descriptor(self) -> ArrayDescriptor:
        return self._described(ArrayDescriptor())

    def get_descriptor_3d(self) -> ArrayDescriptor3D:
        found = self._described(ArrayDescriptor3D())
        assert isinstance(found, ArrayDescriptor3D)
        found.depth, found.flags = self._about.extent.depth, self._flags
        return found

    def _described(self, found: ArrayDescriptor) -> ArrayDescriptor:
        found.width, found.height = self._about.extent.width, self._about.extent.height
        found.format, found.num_channels = self._format, self._about.format.channels
        return found


@dataclass(frozen=True)
class _Side:
    """The bytes that one end of a copy lies in, where it begins, and how far rows and slices lie apart."""

    data: Bytes
    start: int
    pitch: int
    slice: int

    def row(self, y: int, z: int, width: int) -> Bytes:
        first = self.start + z * self.slice + y * self.pitch
        return self.data[first : first + width]


class _StructuredCopy:
    """The fields and the ends that copies of two and three dimensions share."""

    src_x_in_bytes = src_y = src_pitch = dst_x_in_bytes = dst_y = dst_pitch = 0
    src_memory_type = dst_memory_type = src_device = dst_device = 0
    width_in_bytes = height = 0
    _routine = ""

    def __init__(self) -> None:
        self._ends: dict[str, Callable[[int], tuple[Bytes, CudaArray | None]]] = {}

    def set_src_host(self, buffer: Any) -> None:
        self._set_host("src", buffer, writable=False)

    def set_dst_host(self, buffer: Any) -> None:
        self._set_host("dst", buffer, writable=True)

    set_src_unified, set_dst_unified = set_src_host, set_dst_host

    def set_src_array(self, array: Array) -> None:
        self._set_array("src", array)

    def set_dst_array(self, array: Array) -> None:
        self._set_array("dst", array)

    def set_src_device(self, pointer: Any) -> None:
        self._set_device("src", pointer)

    def set_dst_device(self, pointer: Any) -> None:
        self._set_device("dst", pointer)

    def _set_host(self, side: str, buffer: Any, *, writable: bool) -> None:
        data = host_bytes(buffer, writable=writable)
        self._ends[side] = lambda extent: (data, None)

    def _set_array(self, side: str, array: Array) -> None:
        memory, about = in_context(self._routine).machine.memory, array._about
        self._ends[side] = lambda extent: (memory.view(about.address, about.nbytes), about)

    def _set_device(self, side: str, pointer: Any) -> None:
        memory, first = in_context(self._routine).machine.memory, address(pointer, f"{side}_device")
        setattr(self, f"{side}_device", first)
        self._ends[side] = lambda extent: (memory.view(first, extent), None)

    def _side(self, side: str, size: tuple[int, int, int]) -> _Side:
        """One end of a copy of so many bytes, rows and slices."""
        if side not in self._ends:
            raise failure(
                self._routine, Status.INVALID_VALUE, f"there is no set_{side}_host, _device or _array"
            )
        x, y, z, pitch, rows = (
            unsigned(getattr(self, f"{side}_{name}", 0), f"{side}_{name}")
            for name in ("x_in_bytes", "y", "z", "pitch", "height")
        )
        pitch = pitch or self.width_in_bytes
        apart = pitch * (rows or size[1])
        start = z * apart + y * pitch + x
        end = start + (size[2] - 1) * apart + (size[1] - 1) * pitch + size[0]
        data, array = self._ends[side](end)
        if array is not None:
            if not array.holds(x, y, z, *size):
                raise failure(self._routine, Status.INVALID_VALUE, f"the copy leaves the array, its {side}")
            return _Side(data, array.place(x, y, z) - array.address, array.row_bytes, array.slice_bytes)
        if end > data.size or size[0] > pitch:
            detail = f"{end} bytes of {side}, in rows {pitch} bytes apart, of a buffer of {data.size}"
            raise failure(self._routine, Status.INVALID_VALUE, detail)
        return _Side(data, start, pitch, apart)

    def _copy(self, depth: int, stream: Stream | None) -> None:
        if emulation().recorder is not None:
            raise NotRecorded(f"{self._routine} in a schedule: copy rows with memcpy_htod_async and the like")
        size = (unsigned(self.width_in_bytes, "width_in_bytes"), unsigned(self.height, "height"), depth)
        if not all(size):
            return

        def work() -> None:
            with faults_as_errors(self._routine):
                source, target = self._side("src", size), self._side("dst", size)
            for z in range(depth):
                for y in range(size[1]):
                    target.row(y, z, size[0])[:] = source.row(y, z, size[0]).copy()

        in_order(stream, work, lambda recorder: None)


class Memcpy2D(_StructuredCopy):
    """A copy of `height` rows of `width_in_bytes`, from where its fields say."""

    _routine = "cuMemcpy2D"

    def __call__(self, stream: Stream | bool | None = None, *, aligned: bool = False) -> None:
        """`aligned`, as the only argument too: for the hardware's sake; it means nothing here."""
        self._copy(1, None if isinstance(stream, bool) else stream)


class Memcpy3D(_StructuredCopy):
    """The same of `depth` slices, which lie `src_height` and `dst_height` rows apart."""

    src_z = src_height = src_lod = dst_z = dst_height = dst_lod = depth = 0
    _routine = "cuMemcpy3D"

    def __call__(self, stream: Stream | None = None) -> None:
        self._copy(unsigned(self.depth, "depth"), stream)


# -- from NumPy's arrays --------------------------------------------------------------------------------------------


def dtype_to_array_format(dtype: npt.DTypeLike) -> array_format:
    """The format of a channel. Raises TypeError where there is none."""
    found = np.dtype(dtype)
    if found.str not in _DTYPES:
        raise TypeError(f"cannot convert dtype '{found}' to array format")
    return array_format[_DTYPES[found.str]]


def _channels(dtype: np.dtype[Any]) -> tuple[array_format, int]:
    """Wide types are several integers of 32 bits."""
    if dtype.str in _WIDE:
        return array_format.SIGNED_INT32, _WIDE[dtype.str]
    return dtype_to_array_format(dtype), 1


def _is_c(order: str) -> bool:
    if order.upper() not in ("C", "F"):
        raise LogicError("order must be either F or C")
    return order.upper() == "C"


def _filled(descriptor: ArrayDescriptor, source: npt.NDArray[Any], depth: int = 1) -> Array:
    """A new array of this form with what `source` holds, in memory order."""
    result = Array(descriptor)
    copy = Memcpy3D()
    copy.set_src_host(source)
    copy.set_dst_array(result)
    copy.width_in_bytes, copy.height, copy.depth = result._about.row_bytes, max(descriptor.height, 1), depth
    copy()
    return result


def matrix_to_array(matrix: npt.NDArray[Any], order: str, allow_double_hack: bool = False) -> Array:
    """An array of two dimensions, in which the matrix's rows (order "C") or columns ("F") are rows of texels."""
    height, width = matrix.shape if _is_c(order) else matrix.shape[::-1]
    found = ArrayDescriptor()
    found.width, found.height, found.num_channels = width, height, 1
    if matrix.dtype == np.float64 and allow_double_hack:
        found.format, found.num_channels = array_format.SIGNED_INT32, 2
    else:
        found.format = dtype_to_array_format(matrix.dtype)
    return _filled(found, np.asarray(matrix, order="C" if _is_c(order) else "F"))


def make_multichannel_2d_array(ndarray: npt.NDArray[Any], order: str) -> Array:
    """An array of two dimensions from (height, width, channels) in order "C", (channels, width, height) in "F"."""
    height, width, channels = ndarray.shape if _is_c(order) else ndarray.shape[::-1]
    found = ArrayDescriptor()
    found.width, found.height, found.num_channels = width, height, channels
    found.format = dtype_to_array_format(ndarray.dtype)
    return _filled(found, ndarray)


def np_to_array(nparray: npt.NDArray[Any], order: str, allowSurfaceBind: bool = False) -> Array:
    """An array of two or three dimensions of an ndarray of shape ([depth,] height, width)."""
    if order not in ("C", "F"):
        raise LogicError("order must be either F or C")
    if nparray.ndim not in (2, 3):
        raise LogicError("CUDArrays dimensions 2 or 3 supported in CUDA at the moment")
    found = ArrayDescriptor3D() if allowSurfaceBind or nparray.ndim == 3 else ArrayDescriptor()
    depth = nparray.shape[0] if nparray.ndim == 3 else 1
    found.height, found.width = nparray.shape[-2:]
    found.format, found.num_channels = _channels(nparray.dtype)
    if isinstance(found, ArrayDescriptor3D):
        found.depth = depth
        layered = array3d_flags.ARRAY3D_LAYERED if nparray.ndim == 2 else 0
        found.flags = array3d_flags.SURFACE_LDST | layered if allowSurfaceBind else 0
    return _filled(found, nparray, depth)
