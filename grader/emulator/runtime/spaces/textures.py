"""Textures: which texels a coordinate reads, and what becomes of them (CUDA C++ Programming Guide, "Texture Fetching").

Coordinates are turned into texels in double precision. For a linear filter a coordinate is rounded to the nearest 256th
of a texel, so that weights have 8 bits of fraction, and 1 is one of them; products are added up in double precision and
rounded once. A texel whose weight is 0 is not read.
"""

from __future__ import annotations

import math

import numpy as np
from numba import float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

from grader.emulator.runtime.findings import note
from grader.emulator.runtime.layout import (  # fmt: skip
    ARENA_BYTES,
    BORDER,
    FLOAT,
    FLOATS,
    GLOBAL_BASE,
    HOST_DELTA,
    I_ADDRESS,
    I_BITS,
    I_BORDER,
    I_CHANNELS,
    I_DEPTH,
    I_FILTERED,
    I_KIND,
    I_MAGIC,
    I_MODES,
    I_NORMALISED,
    I_PITCH,
    I_SLICE,
    I_WIDTH,
    LANES,
    LAYERED,
    MIRROR,
    OUT_OF_BOUNDS,
    READ_ONLY,
    SIGNED,
    SIGNED_NORMALISED,
    TEXTURE_BYTES,
    TEXTURE_MAGIC,
    UNSIGNED,
    UNSIGNED_NORMALISED,
    WRAP,
)
from grader.emulator.runtime.native import (
    bits_to_double,
    bits_to_float,
    double_to_bits,
    float_to_bits,
    half_to_float,
    pointer,
    trailing_zeros,
)
from grader.emulator.runtime.options import native
from grader.emulator.runtime.races.paths import access_aside

_CHANNELS = 4
_FAR = 1e9
"""Texels beyond which a coordinate is as good as any other."""


@native
def _texture(context: int, handle: int) -> int:
    """Where the slots of a texture object lie; 0 where there is none of that handle."""
    c = pointer(context, int64)
    offset = handle - GLOBAL_BASE
    if offset < 0 or offset > c[ARENA_BYTES] - TEXTURE_BYTES or offset & (TEXTURE_BYTES - 1):
        return int64(0)
    found = handle + c[HOST_DELTA]
    return found if pointer(found, int64)[I_MAGIC] == TEXTURE_MAGIC else int64(0)


@native
def _place(t: int, dimension: int, bits: int, floats: int) -> float:
    """A coordinate in texels: whole numbers lie between two of them."""
    i = pointer(t, int64)
    if not floats:
        return float64(int32(bits)) + 0.5
    at = float64(bits_to_float(uint32(bits)))
    mode = i[I_MODES + dimension]
    if i[I_NORMALISED]:
        if mode == WRAP:
            at -= np.floor(at)
        elif mode == MIRROR:
            at -= 2 * np.floor(at / 2)
        at *= i[I_WIDTH + dimension]
    if not at > -_FAR:  # NaN is neither
        return float64(-_FAR)
    return min(at, _FAR)


@native
def _first_and_weight(t: int, dimension: int, bits: int, floats: int) -> tuple[int, int]:
    """The first texel that a coordinate reads in a dimension, and the weight of the one behind it in 256ths."""
    at = _place(t, dimension, bits, floats)
    if not floats or pointer(t, int64)[I_FILTERED] == 0:
        return int64(math.floor(at)), int64(0)
    steps = int64(math.floor((at - 0.5) * 256 + 0.5))
    return steps >> 8, steps & 255


@native
def _inside(index: int, extent: int, mode: int) -> int:
    """The texel that is read for one outside of the texture; -1 for the border's colour."""
    if 0 <= index < extent:
        return index
    if mode == BORDER or extent <= 0:
        return int64(-1)
    if mode == WRAP:
        return index % extent
    if mode == MIRROR:
        index %= 2 * extent
        return index if index < extent else 2 * extent - 1 - index
    return min(max(index, int64(0)), extent - 1)


@native
def _texel(t: int, coordinates: int, lane: int, how: int, corner: int) -> tuple[int, int]:
    """The address of the texel in a corner of what a lane reads, -1 for the border's, and its weight, of 256 to the
    power of the dimensions. A corner has a bit for each dimension in which it is the second."""
    i, at = pointer(t, int64), pointer(coordinates, int64)
    dimensions = how & 3
    weight, address = int64(1), i[I_ADDRESS]
    for dimension in range(dimensions):
        first, second = _first_and_weight(t, int64(dimension), at[dimension * LANES + lane], how & FLOATS)
        behind = (corner >> dimension) & 1
        weight *= second if behind else 256 - second
        index = _inside(first + behind, i[I_WIDTH + dimension], i[I_MODES + dimension])
        step = i[I_BITS] * i[I_CHANNELS] >> 3 if dimension == 0 else i[I_PITCH + dimension - 1]
        address = address + index * step if index >= 0 and address >= 0 else int64(-1)
    if how & LAYERED and address >= 0:
        address += min(max(at[2 * LANES + lane], int64(0)), i[I_DEPTH] - 1) * i[I_SLICE]
    return address, weight


@native
def _converted(t: int, host: int, channel: int) -> int:
    """An element of a texel at a host address, as the 32 bits that a fetch gives."""
    i = pointer(t, int64)
    bits, kind = i[I_BITS], i[I_KIND]
    if bits == 32:
        return int64(pointer(host, uint32)[channel])
    if kind == FLOAT:
        return int64(float_to_bits(half_to_float(pointer(host, uint16)[channel])))
    if kind in (UNSIGNED, UNSIGNED_NORMALISED):
        number = int64(pointer(host, uint8)[channel]) if bits == 8 else int64(pointer(host, uint16)[channel])
    else:
        number = int64(pointer(host, int8)[channel]) if bits == 8 else int64(pointer(host, int16)[channel])
    if kind in (UNSIGNED, SIGNED):
        return number
    most = (int64(1) << bits - (1 if kind == SIGNED_NORMALISED else 0)) - 1
    return int64(float_to_bits(float32(max(number / most, -1.0))))


@native
def _add(t: int, results: int, lane: int, host: int, weight: int, whole: int) -> None:
    """Adds a texel, at a host address or the border's for 0, to what a lane gets."""
    i = pointer(t, int64)
    r = pointer(results, int64)
    for channel in range(min(i[I_CHANNELS], int64(_CHANNELS))):
        value = _converted(t, host, int64(channel)) if host else i[I_BORDER + channel]
        place = channel * LANES + lane
        if weight == whole:
            r[place] = value
        else:
            share = float64(bits_to_float(uint32(value))) * (weight / whole)
            r[place] = int64(double_to_bits(bits_to_double(uint64(r[place])) + share))


@native
def _round(t: int, results: int, lane: int) -> None:
    """What was added up in double precision, as a float's bits."""
    r = pointer(results, int64)
    for channel in range(min(pointer(t, int64)[I_CHANNELS], int64(_CHANNELS))):
        place = channel * LANES + lane
        r[place] = int64(float_to_bits(float32(bits_to_double(uint64(r[place])))))


@native
def _fetch(
    context: int, site: int, t: int, coordinates: int, places: int, results: int, mask: int, how: int
) -> None:
    """What the lanes of the mask read of one texture, corner by corner."""
    i, p = pointer(t, int64), pointer(places, int64)
    filtered = how & FLOATS and i[I_FILTERED] != 0
    whole = int64(1) << 8 * (how & 3)
    mixed = int64(0)
    for corner in range(1 << (how & 3) if filtered else 1):
        reads = int64(0)
        for lane in range(LANES):
            if not (mask >> lane) & 1:
                continue
            address, weight = _texel(t, coordinates, int64(lane), how, int64(corner))
            if weight == 0:
                continue
            mixed |= int64(weight != whole) << lane
            if address < 0:
                _add(t, results, int64(lane), int64(0), weight, whole)
            else:
                p[lane] = address
                reads |= int64(1) << lane
        if reads == 0:
            continue
        allowed = access_aside(context, site, places, reads, i[I_BITS] * i[I_CHANNELS] >> 3, int64(READ_ONLY))
        for lane in range(LANES):
            if (allowed >> lane) & 1:
                weight = _texel(t, coordinates, int64(lane), how, int64(corner))[1]
                _add(t, results, int64(lane), p[lane], weight, whole)
    for lane in range(LANES):
        if (mixed >> lane) & 1:
            _round(t, results, int64(lane))


@native
def texture_fetch(
    context: int, site: int, handles: int, coordinates: int, places: int, results: int, mask: int, how: int
) -> None:
    """One warp instruction. A lane has a texture object's handle and 32 bits of each coordinate, as int64, and gets
    4 times 32 bits likewise; what the texture has no channel for is 0. `how`: see FLOATS. `places` are 32 int64."""
    h, r = pointer(handles, int64), pointer(results, int64)
    for place in range(_CHANNELS * LANES):
        r[place] = 0
    left = mask
    while left:
        handle = h[trailing_zeros(left)]
        group = int64(0)
        for lane in range(LANES):
            group |= int64((left >> lane) & 1 and h[lane] == handle) << lane
        left &= ~group
        t = _texture(context, handle)
        if t:
            _fetch(context, site, t, coordinates, places, results, group, how)
        else:
            note(context, site, OUT_OF_BOUNDS, trailing_zeros(group), handle, int64(0))
