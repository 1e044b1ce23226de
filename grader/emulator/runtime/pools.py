"""Draws words of a pool by a hash of their place, as a kernel of the judge's does on a device."""

from __future__ import annotations

from numba import uint32

from grader.emulator.runtime.native import pointer
from grader.emulator.runtime.options import native


@native
def draw_words(pool: int, window: int, seed: int, first: int, count: int, to: int) -> int:
    """Words `first` to `first + count` of an array, put at `to`: each is one of the first `window` words at `pool`, a
    power of two. `pool` and `to` are addresses. The hash is that of fresh.cu."""
    words, out = pointer(pool, uint32), pointer(to, uint32)
    mask = uint32(window - 1)
    for i in range(count):
        h = uint32(first + i + seed)
        h = uint32(h ^ (h >> uint32(16)))
        h = uint32(h * uint32(0x85EBCA6B))
        h = uint32(h ^ (h >> uint32(13)))
        h = uint32(h * uint32(0xC2B2AE35))
        h = uint32(h ^ (h >> uint32(16)))
        out[i] = words[h & mask]
    return count
