"""Patterns that show what a kernel wrote, or did not write.

Outputs start as *poison*: an element still poisoned was never written, and a sum with an output's poison can be told
as well. Scratch arrays hold another word, which an output shows that was computed from one before it was set. On a GPU
every buffer also lies between two *guard zones*, which must come back as they were; the emulator finds accesses out of
bounds by itself, so buffers there are exact. All these patterns are NaN in every floating-point type, so that a sum
which reads them shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.judge.correctness import pieces

POISON = 0x7FFD7FFD
"""The word that unwritten memory holds. NVIDIA's arithmetic gives 0x7FFFFFFF as its NaN, so no sum makes this
one."""

UNSET = 0x7FFC7FFC
"""The word that scratch arrays hold at the start. As a float it is a quiet NaN, which a CPU's arithmetic passes on."""

SIGNALLING = {
    "float16": (0x7DBD, 1 << 9),
    "float32": (0x7FBD7FBD, 1 << 22),
    "float64": (0x7FF57FBD7FBD7FBD, 1 << 51),
}
"""What outputs hold at the start, by type: a NaN that signals, and the bit that arithmetic sets in it to quiet it. A
CPU keeps the other bits, so on the emulator a sum shows that it was added to what lay there."""

GUARD = 0x7FFB7FFB
"""The word that guard zones hold."""

GUARD_BYTES = 256 * 1024
"""Size of one guard zone on a GPU: more than a row of any judged case, and a multiple of every alignment."""

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Array = np.ndarray[Any, np.dtype[Any]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Damage:
    """Where a guard zone was written."""

    side: str  # "before" or "after" the buffer
    distance: int  # bytes between the buffer's edge and the nearest damaged byte: 0 is the very next byte
    nbytes: int  # how many bytes of that zone changed


def paint(view: Bytes, word: int) -> None:
    """Fill bytes with a repeated word; a last odd byte or three get the word's first bytes."""
    whole = len(view) // 4 * 4
    pieces.copy(view[:whole].view(np.uint32), np.broadcast_to(np.uint32(word), whole // 4))
    view[whole:] = np.frombuffer(word.to_bytes(4, "little"), np.uint8)[: len(view) - whole]


def paint_output(view: Bytes, dtype: np.dtype[Any]) -> None:
    """Fill an output's bytes with what says that nobody wrote there."""
    if dtype.name not in SIGNALLING:
        paint(view, POISON)
        return
    view.view(f"u{dtype.itemsize}")[:] = SIGNALLING[dtype.name][0]


def frame(region: Bytes, guard: int) -> Bytes:
    """Paint both guard zones of a region and return the payload between them."""
    if guard:
        paint(region[:guard], GUARD)
        paint(region[-guard:], GUARD)
    return region[guard : len(region) - guard]


def damage(region: Bytes, guard: int) -> Damage | None:
    """The damage nearest to the payload, after it first, since running past the end is the usual fault."""
    if not guard:
        return None
    pattern = np.frombuffer(GUARD.to_bytes(4, "little"), np.uint8)
    for side, zone in (("after", region[-guard:]), ("before", region[:guard])):
        if (zone.view(np.uint32) == GUARD).all():
            continue
        changed = np.flatnonzero((zone.reshape(-1, 4) != pattern).ravel())
        distance = int(changed[0]) if side == "after" else guard - 1 - int(changed[-1])
        return Damage(side, distance, len(changed))
    return None


def unwritten(output: Array) -> Mask:
    """Which elements, in memory order, still hold what they held at the start; none for types of one byte, which
    cannot be told."""
    mask = _holds(output, POISON)
    if output.dtype.name in SIGNALLING:
        mask |= output.reshape(-1).view(f"u{output.itemsize}") == SIGNALLING[output.dtype.name][0]
    return mask


def unset(output: Array) -> Mask:
    """Which elements, in memory order, hold what scratch arrays hold at the start; none for types of one byte."""
    return _holds(output, UNSET)


def _holds(output: Array, word: int) -> Mask:
    size = output.dtype.itemsize
    if size not in (2, 4, 8):
        return np.zeros(output.size, dtype=bool)
    pattern = int.from_bytes(word.to_bytes(4, "little") * 2, "little") & ((1 << 8 * size) - 1)
    mask: Mask = output.reshape(-1).view(f"u{size}") == pattern
    return mask


def added_to(output: Array, expected: Array) -> Mask:
    """Which elements, in memory order, are a sum with what an output held at the start: of integers where some are more
    than that."""
    if output.dtype.kind in "iu":
        whole = expected.reshape(-1).astype(np.int64).astype(output.dtype)
        sums = _holds(output.reshape(-1) - whole, POISON)
        return sums if whole[sums].any() else np.zeros_like(sums)
    if output.dtype.name not in SIGNALLING:
        return np.zeros(output.size, dtype=bool)
    pattern, quiet = SIGNALLING[output.dtype.name]
    mask: Mask = output.reshape(-1).view(f"u{output.itemsize}") == pattern | quiet
    return mask
