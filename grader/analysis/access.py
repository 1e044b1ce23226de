"""What one access of a warp to memory takes: the sectors of global memory, the wavefronts and banks of shared memory.

The rules are the emulator's (`grader.emulator.runtime.patterns`), which an H200 bears out; here they answer for one
access at a time and say which lanes collide, for pictures and exercises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LANES = 32
BANKS = 32
WORD = 4  # bytes of a bank's word
SECTOR = 32  # bytes
LINE = 128  # bytes

Addresses = Sequence[int | None]
"""The byte address of each lane of a warp, lane 0 first; None for a lane that does not take part."""


@dataclass(frozen=True)
class Wavefront:
    """One turn of shared memory, in which each bank serves one word."""

    words: dict[int, int]  # bank → the word it serves (byte address / 4)
    lanes: dict[int, tuple[int, ...]]  # bank → the lanes that get that word


@dataclass(frozen=True)
class SharedAccess:
    """One instruction of a warp on shared memory."""

    wavefronts: tuple[Wavefront, ...]
    groups: int  # wavefronts it would take without conflicts

    @property
    def conflicts(self) -> int:
        """Wavefronts more than without conflicts: what Nsight Compute's data_bank_conflicts counts."""
        return len(self.wavefronts) - self.groups


@dataclass(frozen=True)
class GlobalAccess:
    """One instruction of a warp on global memory."""

    lanes: dict[int, tuple[int, ...]]  # sector (byte address / 32) → the lanes that touch it
    bytes_used: int  # distinct bytes that lanes asked for

    @property
    def sectors(self) -> int:
        """Sectors that are fetched or written, each of 32 bytes."""
        return len(self.lanes)

    @property
    def efficiency(self) -> float:
        """Bytes that were asked for over bytes that are moved; 0 where no lane takes part."""
        return self.bytes_used / (SECTOR * self.sectors) if self.lanes else 0.0


def shared_access(addresses: Addresses, width: int = 4, *, store: bool = False) -> SharedAccess:
    """Banks and wavefronts of an access of `width` bytes a lane (1, 2, 4, 8 or 16).

    Up to 4 bytes a lane the warp is served together, as 8 bytes in two halves and as 16 bytes in quarters; two
    neighbouring groups of a load merge where every lane i has the address of lane i^1, or every one that of i^2.
    Raises ValueError for another width, more than 32 lanes, or an address that is no multiple of the width.
    """
    active = _active(addresses, width)
    size = LANES if width <= WORD else LANES * WORD // width
    if width > WORD and not store and (_paired(active, 1) or _paired(active, 2)):
        size *= 2
    groups = [
        {lane: address for lane, address in active.items() if start <= lane < start + size}
        for start in range(0, LANES, size)
    ]
    groups = [group for group in groups if group]
    return SharedAccess(tuple(turn for group in groups for turn in _turns(group, width)), len(groups))


def global_access(addresses: Addresses, width: int = 4) -> GlobalAccess:
    """Sectors of an access of `width` bytes a lane. Raises ValueError as `shared_access` does."""
    active = _active(addresses, width)
    lanes: dict[int, list[int]] = {}
    for lane, address in active.items():
        lanes.setdefault(address // SECTOR, []).append(lane)
    used = {byte for address in active.values() for byte in range(address, address + width)}
    return GlobalAccess({sector: tuple(lanes[sector]) for sector in sorted(lanes)}, len(used))


def _active(addresses: Addresses, width: int) -> dict[int, int]:
    if width not in (1, 2, 4, 8, 16):
        raise ValueError(f"a lane accesses 1, 2, 4, 8 or 16 bytes, not {width}")
    if len(addresses) > LANES:
        raise ValueError(f"a warp has {LANES} lanes, not {len(addresses)}")
    active = {lane: address for lane, address in enumerate(addresses) if address is not None}
    for lane, address in active.items():
        if address % width or address < 0:
            raise ValueError(f"lane {lane}: address {address} is no multiple of {width} bytes")
    return active


def _paired(active: dict[int, int], distance: int) -> bool:
    return all(active.get(lane ^ distance, address) == address for lane, address in active.items())


def _turns(group: dict[int, int], width: int) -> list[Wavefront]:
    """Each bank serves one word a turn: the words of the first lanes first."""
    vectors: dict[int, list[int]] = {}  # the lanes of each distinct word, or wider vector
    for lane, address in group.items():
        vectors.setdefault(address // max(width, WORD), []).append(lane)
    turns: list[Wavefront] = []
    for vector, lanes in vectors.items():
        first = vector * max(width, WORD) // WORD
        for word in range(first, first + max(width // WORD, 1)):
            turn = next((turn for turn in turns if word % BANKS not in turn.words), None)
            if turn is None:
                turn = Wavefront({}, {})
                turns.append(turn)
            turn.words[word % BANKS] = word
            turn.lanes[word % BANKS] = tuple(lanes)
    return turns
