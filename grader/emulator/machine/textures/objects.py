"""Texture objects: what memory they read, and how coordinates become texels.

The handle of an object is the address of what describes it, in a form of this emulator's own (runtime/layout.py); a
kernel hands it to its fetches and looks at nothing in it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from grader.emulator.machine.memory import Memory
from grader.emulator.machine.textures.arrays import CudaArray, Extent, Format
from grader.emulator.runtime import layout

_KINDS = {"unsigned": layout.UNSIGNED, "signed": layout.SIGNED, "float": layout.FLOAT}
_NORMALISED = {"unsigned": layout.UNSIGNED_NORMALISED, "signed": layout.SIGNED_NORMALISED}
ADDRESS_MODES = {"wrap": layout.WRAP, "clamp": layout.CLAMP, "mirror": layout.MIRROR, "border": layout.BORDER}
"""In the order of CUDA's numbers."""
_MOST_LINEAR = 1 << 28
"""Texels of a texture of linear memory (MAXIMUM_TEXTURE1D_LINEAR_WIDTH)."""
ALIGNMENT, PITCH_ALIGNMENT = 512, 32
"""Bytes: of linear memory, from where its allocation begins, and of its pitch."""


@dataclass(frozen=True)
class Resource:
    """The memory of a texture."""

    address: int
    format: Format
    extent: Extent
    pitch: int
    """Bytes from row to row."""
    slice: int = 0
    """Bytes from slice to slice, or from layer to layer."""
    linear: bool = False
    """Linear memory of one dimension, which is read by tex1Dfetch alone: no filter, and 0 outside."""

    def fault(self) -> str | None:
        """Why no texture may have this memory; None where it may."""
        if fault := self.format.fault():
            return fault
        if self.linear and not 1 <= self.extent.width <= _MOST_LINEAR:
            return f"linear memory of {self.extent.width} texels: there may be 1 to {_MOST_LINEAR}"
        if self.pitch % PITCH_ALIGNMENT and not self.linear and not self.slice:
            return f"rows {self.pitch} bytes apart, which is no multiple of {PITCH_ALIGNMENT}"
        if self.pitch < self.extent.width * self.format.nbytes:
            return f"rows of {self.extent.width * self.format.nbytes} bytes, {self.pitch} bytes apart"
        return None


def of_array(array: CudaArray) -> Resource:
    return Resource(array.address, array.format, array.extent, array.row_bytes, array.slice_bytes)


def of_linear(address: int, texel: Format, nbytes: int) -> Resource:
    width = nbytes // max(texel.nbytes, 1)
    return Resource(address, texel, Extent(width), width * texel.nbytes, linear=True)


@dataclass(frozen=True)
class Texture:
    """How a resource is read."""

    resource: Resource
    address_modes: tuple[str, str, str] = ("clamp", "clamp", "clamp")
    """Of ADDRESS_MODES."""
    filtered: bool = False
    """By a linear filter, in place of the nearest texel."""
    normalised_coordinates: bool = False
    normalised_read: bool = False
    """Integers of 8 or 16 bits become floats from 0, or -1, to 1."""
    border: tuple[int, int, int, int] = (0, 0, 0, 0)
    """The border's colour, as 32 bits a channel."""

    def fault(self) -> str | None:
        """Why the driver does not take it; None where it does."""
        if fault := self.resource.fault():
            return fault
        texel = self.resource.format
        if self.normalised_read and texel.kind != "float" and texel.bits == 32:
            return "a normalised read of 32-bit integers: it takes those of 8 or 16 bits"
        if self.filtered and texel.kind != "float" and not self.normalised_read:
            return "a linear filter for integers: it takes floats, or a normalised read"
        return None

    def encoded(self) -> bytes:
        """The bytes that describe it (layout.py)."""
        has, texel = self.resource, self.resource.format
        read = self.normalised_read and texel.kind != "float"
        slots = [0] * (layout.TEXTURE_BYTES // 8)
        slots[layout.I_MAGIC] = layout.TEXTURE_MAGIC
        slots[layout.I_ADDRESS] = has.address
        slots[layout.I_WIDTH : layout.I_DEPTH + 1] = has.extent.width, has.extent.rows, has.extent.slices
        slots[layout.I_PITCH], slots[layout.I_SLICE] = has.pitch, has.slice
        slots[layout.I_BITS], slots[layout.I_CHANNELS] = texel.bits, texel.channels
        slots[layout.I_KIND] = _NORMALISED[texel.kind] if read else _KINDS[texel.kind]
        slots[layout.I_FILTERED] = int(self.filtered and not has.linear)
        slots[layout.I_NORMALISED] = int(self.normalised_coordinates and not has.linear)
        slots[layout.I_MODES : layout.I_MODES + 3] = [ADDRESS_MODES[mode] for mode in self._modes()]
        slots[layout.I_BORDER : layout.I_BORDER + 4] = (0, 0, 0, 0) if has.linear else self.border
        return struct.pack(f"<{len(slots)}q", *slots)

    def _modes(self) -> tuple[str, ...]:
        """Wrapping and mirroring are for normalised coordinates; others are clamped."""
        if self.resource.linear:
            return ("border",) * 3
        if self.normalised_coordinates:
            return self.address_modes
        return tuple(mode if mode == "border" else "clamp" for mode in self.address_modes)


def create(memory: Memory, texture: Texture, *, above: int = 0) -> int:
    """The handle of a new texture object, of which `fault` has nothing to say; at an address from `above` on."""
    handle = memory.alloc(layout.TEXTURE_BYTES, above=above)
    memory.write(handle, texture.encoded())
    return handle


def destroy(memory: Memory, handle: int) -> None:
    """Gives a texture object back."""
    memory.free(handle)
