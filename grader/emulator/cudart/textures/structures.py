"""The runtime's structures about textures, as the program or runtime.cpp has put them into memory."""

from __future__ import annotations

import numpy as np

from grader.emulator.cudart.native import host_view
from grader.emulator.cudart.status import CudaError, NotEmulated, Status
from grader.emulator.machine.textures.arrays import Format, NumberKind

KINDS: tuple[NumberKind, ...] = ("signed", "unsigned", "float")
"""In the order of cudaChannelFormatKind."""


def words_at(address: int, count: int) -> list[int]:
    """Words of the runtime's."""
    return [int(word) for word in host_view(address, 8 * count).view(np.uint64)]


def texel_format(texel: int) -> Format:
    """Of a cudaChannelFormatDesc of the program's."""
    *bits, kind = (int(number) for number in host_view(texel, 20).view(np.int32))
    if kind >= len(KINDS):
        raise NotEmulated(
            f"cudaChannelFormatKind {kind} is not emulated", "use signed or unsigned integers, or floats"
        )
    channels = sum(map(bool, bits))
    found = Format(KINDS[kind], bits[0], channels)
    if any(each not in (0, bits[0]) for each in bits) or not all(bits[:channels]):
        raise CudaError(Status.InvalidChannelDescriptor, f"channels of {', '.join(map(str, bits))} bits")
    if fault := found.fault():
        raise CudaError(Status.InvalidChannelDescriptor, fault)
    return found
