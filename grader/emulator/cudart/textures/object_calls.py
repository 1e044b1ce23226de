"""The runtime's calls about texture objects."""

from __future__ import annotations

from grader.emulator.cudart.native import store_word
from grader.emulator.cudart.state import State
from grader.emulator.cudart.status import CudaError, NotEmulated, Status
from grader.emulator.cudart.textures.array_calls import ArrayCalls
from grader.emulator.cudart.textures.structures import texel_format, words_at
from grader.emulator.errors import MemoryFault
from grader.emulator.machine.textures import objects
from grader.emulator.machine.textures.arrays import Extent
from grader.emulator.machine.textures.objects import ADDRESS_MODES, Resource, Texture

_OF_ARRAY, _OF_MIPMAPS, _OF_LINEAR = 0, 1, 2
_INTEGERS_AS_FLOATS = 1


class TextureCalls:
    """Methods are named as the runtime's functions, and take their arguments as 64-bit words."""

    def __init__(self, state: State, arrays: ArrayCalls) -> None:
        self.state, self._arrays = state, arrays
        self._objects: set[int] = set()

    def cudaCreateTextureObject(self, out: int, resource: int, texel: int, reading: int, view: int) -> None:
        """Words as runtime.cpp puts them: of the resource its type, memory, extents; how it is read."""
        x, y, z, filters, reads, normalised, *border, linear_rgb = words_at(reading, 11)
        if view:
            raise NotEmulated("cudaResourceViewDesc is not emulated")
        if linear_rgb:
            raise NotEmulated("cudaTextureDesc::sRGB is not emulated")
        names = list(ADDRESS_MODES)
        if max(x, y, z) >= len(names):
            raise CudaError(Status.InvalidValue, "there is no such address mode")
        texture = Texture(
            self._resource(words_at(resource, 5), texel), (names[x], names[y], names[z]), filtered=bool(filters),
            normalised_coordinates=bool(normalised), normalised_read=reads == _INTEGERS_AS_FLOATS,
            border=(border[0], border[1], border[2], border[3]),
        )  # fmt: skip
        if fault := texture.fault():
            raise CudaError(Status.InvalidValue, fault)
        try:
            handle = objects.create(self.state.memory, texture, above=self.state.fresh())
        except MemoryFault as fault_of_memory:
            raise CudaError(Status.MemoryAllocation, str(fault_of_memory)) from None
        self._objects.add(handle)
        store_word(out, handle)

    def cudaDestroyTextureObject(self, handle: int) -> None:
        if handle not in self._objects:
            raise CudaError(Status.InvalidValue, f"{handle:#x} is no texture object, or it was destroyed")
        self._objects.remove(handle)
        objects.destroy(self.state.memory, handle)

    def _resource(self, words: list[int], texel: int) -> Resource:
        kind, memory, first, height, pitch = words
        if kind == _OF_MIPMAPS:
            raise NotEmulated("cudaResourceTypeMipmappedArray is not emulated")
        if kind == _OF_ARRAY:
            return objects.of_array(self._arrays.array(memory))
        if kind == _OF_LINEAR:
            found = objects.of_linear(memory, texel_format(texel), first)
        else:
            found = Resource(memory, texel_format(texel), Extent(first, height), pitch)
        last = found.extent.width * found.format.nbytes + pitch * (found.extent.rows - 1)
        allocation = self.state.allocation(memory)
        if allocation is None or not allocation.holds(memory, max(last, 1)):
            raise CudaError(
                Status.InvalidValue, "the texture's memory is not within one allocation of the device"
            )
        if (memory - allocation.base) % objects.ALIGNMENT:
            raise CudaError(
                Status.InvalidValue, f"the texture's memory is not aligned to {objects.ALIGNMENT} bytes"
            )
        return found
