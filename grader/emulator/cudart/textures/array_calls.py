"""The runtime's calls about CUDA arrays, and about memory of three dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from grader.emulator.cudart.calls.memory import MemoryCalls
from grader.emulator.cudart.native import store_int, store_word
from grader.emulator.cudart.state import State
from grader.emulator.cudart.status import CudaError, NotEmulated, Status
from grader.emulator.cudart.textures.structures import KINDS, texel_format, words_at
from grader.emulator.cudart.uses import DEFAULT
from grader.emulator.machine.textures.arrays import CudaArray, Extent

_LAYERED = 1
_FLAGS = {4: "cudaArrayCubemap", 8: "cudaArrayTextureGather", 16: "cudaArrayColorAttachment", 64: "cudaArraySparse",
          128: "cudaArrayDeferredMapping"}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """Where one end of a copy in three dimensions begins: an address, bytes from row to row and from slice to slice."""

    address: int
    pitch: int
    slice: int


class ArrayCalls:
    """Methods are named as the runtime's functions, and take their arguments as 64-bit words."""

    def __init__(self, state: State, memory: MemoryCalls) -> None:
        self.state, self.memory = state, memory
        self._arrays: dict[int, CudaArray] = {}

    # -- arrays -----------------------------------------------------------------------------------------------
    def cudaMallocArray(self, out: int, texel: int, width: int, height: int, flags: int) -> None:
        self.cudaMalloc3DArray(out, texel, width, height, 0, flags)

    def cudaMalloc3DArray(
        self, out: int, texel: int, width: int, height: int, depth: int, flags: int
    ) -> None:
        for bit, name in _FLAGS.items():
            if flags & bit:
                raise NotEmulated(f"arrays of {name} are not emulated")
        found = texel_format(texel)
        layered = bool(flags & _LAYERED)
        if not width or (depth and not height and not layered):
            raise CudaError(Status.InvalidValue, f"an array of {width} × {height} × {depth} texels")
        about = CudaArray(0, found, Extent(width, height, depth), layered)
        base = self.state.allocate(about.nbytes, "array").base
        self._arrays[base] = CudaArray(base, found, about.extent, layered)
        store_word(out, base)

    def cudaFreeArray(self, array: int) -> None:
        self.memory.free(array, ("array",))
        self._arrays.pop(array, None)

    def cudaGetChannelDesc(self, texel: int, array: int) -> None:
        form = self.array(array).format
        bits = [form.bits if channel < form.channels else 0 for channel in range(4)]
        for number, value in enumerate((*bits, KINDS.index(form.kind))):
            store_int(texel + 4 * number, value)

    def cudaArrayGetInfo(self, texel: int, extent: int, flags: int, array: int) -> None:
        found = self.array(array)
        if texel:
            self.cudaGetChannelDesc(texel, array)
        sizes = found.extent.width, found.extent.height, found.extent.depth
        for number, size in enumerate(sizes) if extent else ():
            store_word(extent + 8 * number, size)
        if flags:
            store_int(flags, _LAYERED if found.layered else 0)

    def array(self, array: int) -> CudaArray:
        """The array of a handle. Raises CudaError where there is none."""
        if array not in self._arrays:
            raise CudaError(Status.InvalidResourceHandle, "this is no CUDA array, or it was freed")
        return self._arrays[array]

    # -- copies to and from arrays ----------------------------------------------------------------------------
    def cudaMemcpy2DToArray(
        self, to: int, x: int, y: int, source: int, pitch: int, width: int, height: int, kind: int
    ) -> None:
        self._copy2d((to, x, y), (source, pitch), width, height, kind, None)

    def cudaMemcpy2DToArrayAsync(
        self,
        to: int,
        x: int,
        y: int,
        source: int,
        pitch: int,
        width: int,
        height: int,
        kind: int,
        stream: int,
    ) -> None:
        self._copy2d((to, x, y), (source, pitch), width, height, kind, stream)

    def cudaMemcpy2DFromArray(
        self, to: int, pitch: int, source: int, x: int, y: int, width: int, height: int, kind: int
    ) -> None:
        self._copy2d((to, pitch), (source, x, y), width, height, kind, None)

    def cudaMemcpy2DFromArrayAsync(
        self,
        to: int,
        pitch: int,
        source: int,
        x: int,
        y: int,
        width: int,
        height: int,
        kind: int,
        stream: int,
    ) -> None:
        self._copy2d((to, pitch), (source, x, y), width, height, kind, stream)

    def cudaMemcpy2DArrayToArray(
        self, to: int, to_x: int, to_y: int, source: int, x: int, y: int, width: int, height: int, kind: int
    ) -> None:
        self._copy2d((to, to_x, to_y), (source, x, y), width, height, kind, None)

    def cudaMemcpyToArray(self, to: int, x: int, y: int, source: int, nbytes: int, kind: int) -> None:
        self._copy_run((to, x, y), (source,), nbytes, kind, None)

    def cudaMemcpyToArrayAsync(
        self, to: int, x: int, y: int, source: int, nbytes: int, kind: int, stream: int
    ) -> None:
        self._copy_run((to, x, y), (source,), nbytes, kind, stream)

    def cudaMemcpyFromArray(self, to: int, source: int, x: int, y: int, nbytes: int, kind: int) -> None:
        self._copy_run((to,), (source, x, y), nbytes, kind, None)

    def cudaMemcpyFromArrayAsync(
        self, to: int, source: int, x: int, y: int, nbytes: int, kind: int, stream: int
    ) -> None:
        self._copy_run((to,), (source, x, y), nbytes, kind, stream)

    def _copy_run(
        self, to: tuple[int, ...], source: tuple[int, ...], nbytes: int, kind: int, stream: int | None
    ) -> None:
        """Bytes in a row; an end is (address,), or (array, x in bytes, y)."""
        places = [self._run(*end, nbytes) if len(end) == 3 else end[0] for end in (to, source)]
        self.memory.copy(places[0], nbytes, places[1], nbytes, nbytes, 1, kind, stream)

    def _copy2d(
        self,
        to: tuple[int, ...],
        source: tuple[int, ...],
        width: int,
        height: int,
        kind: int,
        stream: int | None,
    ) -> None:
        """An end is (address, pitch), or (array, x in bytes, y)."""
        places = [
            self._box(*end, 0, (width, height, 1)) if len(end) == 3 else Part(end[0], end[1], 0)
            for end in (to, source)
        ]
        self.memory.copy(
            places[0].address,
            places[0].pitch,
            places[1].address,
            places[1].pitch,
            width,
            height,
            kind,
            stream,
        )

    def _box(self, array: int, x: int, y: int, z: int, size: tuple[int, int, int]) -> Part:
        """A box in an array: its place and its extents in bytes, rows, slices."""
        found = self.array(array)
        if not found.holds(x, y, z, *size):
            raise CudaError(Status.InvalidValue, _outside(found, (x, y, z), size))
        return Part(found.place(x, y, z), found.row_bytes, found.slice_bytes)

    def _run(self, array: int, x: int, y: int, nbytes: int) -> int:
        """The address of bytes of an array in a row, which go on in the next row of texels."""
        found = self.array(array)
        if not found.holds(x, y, 0, 0, 0, 0) or found.place(x, y) + nbytes > found.address + found.nbytes:
            raise CudaError(Status.InvalidValue, _outside(found, (x, y, 0), (nbytes, 1, 1)))
        return found.place(x, y)

    # -- three dimensions -------------------------------------------------------------------------------------
    def cudaMalloc3D(self, out: int, pitch: int, width: int, height: int, depth: int) -> None:
        self.memory.cudaMallocPitch(out, pitch, width, height * depth)

    def cudaMemset3D(
        self, address: int, pitch: int, rows: int, value: int, width: int, height: int, depth: int
    ) -> None:
        self.cudaMemset3DAsync(address, pitch, rows, value, width, height, depth, DEFAULT)

    def cudaMemset3DAsync(
        self,
        address: int,
        pitch: int,
        rows: int,
        value: int,
        width: int,
        height: int,
        depth: int,
        stream: int,
    ) -> None:
        for z in range(depth):
            self.memory.cudaMemset2DAsync(address + z * rows * pitch, pitch, value, width, height, stream)

    def cudaMemcpy3D(self, about: int, kind: int) -> None:
        self._copy3d(about, kind, None)

    def cudaMemcpy3DAsync(self, about: int, kind: int, stream: int) -> None:
        self._copy3d(about, kind, stream)

    def _copy3d(self, about: int, kind: int, stream: int | None) -> None:
        """`about` are a Copy3D's words: of both ends an array, a place, and a pointer; then extents."""
        words = words_at(about, 17)
        ends, (width, height, depth) = (words[:7], words[7:14]), words[14:]
        arrays = [self.array(end[0]) for end in ends if end[0]]
        texel = arrays[0].format.nbytes if arrays else 1  # with an array, extents count its texels
        if any(bool(end[0]) == bool(end[4]) for end in ends):
            raise CudaError(Status.InvalidValue, "each side of the copy is either an array or a pointer")
        size = width * texel, height, depth
        to, source = (self._part(end, size) for end in ends)
        for z in range(depth):
            self.memory.copy(
                to.address + z * to.slice, to.pitch, source.address + z * source.slice, source.pitch, size[0],
                height, kind, stream,
            )  # fmt: skip

    def _part(self, end: list[int], size: tuple[int, int, int]) -> Part:
        array, x, y, z, pointer, pitch, rows = end
        if array:
            return self._box(array, x * self.array(array).format.nbytes, y, z, size)
        slice_bytes = pitch * rows
        return Part(pointer + z * slice_bytes + y * pitch + x, pitch, slice_bytes)


def _outside(array: CudaArray, place: tuple[int, int, int], size: tuple[int, int, int]) -> str:
    box = " × ".join(f"{at} to {at + count}" for at, count in zip(place, size, strict=True))
    extent = f"{array.row_bytes} × {array.extent.rows} × {array.extent.slices}"
    return f"bytes, rows and slices {box} of an array of {extent}"
