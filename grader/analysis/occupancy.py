"""Theoretical occupancy: how many warps of a kernel one multiprocessor (SM) can hold, and why no more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from grader.analysis.devices import Capability, DeviceSpec

WARP = 32
REGISTERS = 65536  # of an SM
REGISTER_UNIT = 256  # registers are given to a warp in multiples of this
QUARTERS = 4  # of an SM, each with a quarter of the registers and whole warps
MAX_BLOCK_THREADS = 1024
MAX_REGISTERS = 255  # of a thread

Limit = Literal["registers", "shared memory", "warps", "blocks", "block size"]


@dataclass(frozen=True)
class Occupancy:
    """How full a SM can be."""

    blocks_per_sm: int  # 0: the kernel cannot be launched at all
    warps_per_sm: int
    fraction: float  # resident warps over the most that a SM can hold
    limited_by: Limit  # what would have to shrink for one block more
    fits: dict[Limit, int] = field(default_factory=dict)  # blocks that each limit alone would admit


def occupancy(
    device: DeviceSpec | Capability, threads: int, registers: int, shared_bytes_per_block: int
) -> Occupancy:
    """Occupancy of blocks of `threads` threads with `registers` registers each.

    `shared_bytes_per_block` is static and dynamic shared memory together, without what CUDA reserves.
    Of equally tight limits, the first of warps (the SM is as full as such blocks get), registers, shared
    memory and blocks is named. The rules are those of CUDA's own calculator, cuda_occupancy.h.
    """
    sm = _capability(device)
    warps = -(-threads // WARP)
    fits: dict[Limit, int] = {
        "warps": sm.warps // warps,
        "registers": _by_registers(warps, registers),
        "shared memory": _by_shared_memory(sm, shared_bytes_per_block),
        "blocks": sm.blocks,
    }
    if threads > MAX_BLOCK_THREADS:
        fits = {"block size": 0}
    if registers > MAX_REGISTERS:
        fits["registers"] = 0
    limited_by = min(fits, key=lambda limit: fits[limit])
    blocks = fits[limited_by]
    return Occupancy(blocks, blocks * warps, blocks * warps / sm.warps, limited_by, fits)


def _by_registers(warps: int, registers: int) -> int:
    """Blocks whose registers fit. A quarter of the SM holds whole warps, so the remainder of each is lost."""
    per_warp = -(-max(registers, 1) * WARP // REGISTER_UNIT) * REGISTER_UNIT
    return REGISTERS // QUARTERS // per_warp * QUARTERS // warps


def _by_shared_memory(sm: Capability, shared_bytes: int) -> int:
    """Blocks whose shared memory fits, with the part that CUDA keeps in each."""
    if shared_bytes > sm.shared_block_bytes:
        return 0
    taken = -(-(shared_bytes + sm.shared_reserved) // sm.shared_unit) * sm.shared_unit
    return sm.shared_bytes // taken if taken else sm.blocks


@dataclass(frozen=True)
class NextStep:
    """The nearest change that puts more warps on a SM; None stands for what can stay as it is."""

    blocks_per_sm: int
    warps_per_sm: int
    fraction: float
    threads: int | None = None  # of a block
    registers: int | None = None  # most that a thread may have
    shared_bytes: int | None = None  # most that a block may have, without what CUDA reserves


def next_step(
    device: DeviceSpec | Capability, threads: int, registers: int, shared_bytes_per_block: int
) -> NextStep | None:
    """What it takes for one block more on a SM: "at 40 registers a sixth block would fit".

    Where a SM holds no more blocks of that many threads whatever they take, it is the nearest other block size with
    which more warps fit. None where the SM is full, or no block size helps.
    """
    sm = _capability(device)
    now = occupancy(sm, threads, registers, shared_bytes_per_block)
    blocks, warps = now.blocks_per_sm + 1, -(-threads // WARP)
    if now.warps_per_sm == sm.warps:
        return None
    if threads > MAX_BLOCK_THREADS or blocks > sm.blocks or blocks * warps > sm.warps:
        return _other_block_size(sm, now, threads, registers, shared_bytes_per_block)
    most_registers, most_shared = _registers_for(warps, blocks), _shared_for(sm, blocks)
    if most_registers < 1 or most_shared < 0:
        return None
    then = occupancy(
        sm, threads, min(registers, most_registers), min(shared_bytes_per_block, most_shared)
    )  # often more than one block more: registers come in large units
    return NextStep(
        then.blocks_per_sm,
        then.warps_per_sm,
        then.fraction,
        registers=most_registers if registers > most_registers else None,
        shared_bytes=most_shared if shared_bytes_per_block > most_shared else None,
    )


def _capability(device: DeviceSpec | Capability) -> Capability:
    return device if isinstance(device, Capability) else device.capability


def _other_block_size(
    sm: Capability, now: Occupancy, threads: int, registers: int, shared_bytes: int
) -> NextStep | None:
    """The nearest number of whole warps a block with which more warps fit."""
    warps = -(-threads // WARP)
    for other in sorted(range(1, MAX_BLOCK_THREADS // WARP + 1), key=lambda w: abs(w - warps)):
        found = occupancy(sm, other * WARP, registers, shared_bytes)
        if found.warps_per_sm > now.warps_per_sm:
            return NextStep(found.blocks_per_sm, found.warps_per_sm, found.fraction, threads=other * WARP)
    return None


def _registers_for(warps: int, blocks: int) -> int:
    """The most registers a thread with which so many blocks fit; 0 where none is few enough."""
    a_quarter = -(-warps * blocks // QUARTERS)  # warps
    per_warp = REGISTERS // QUARTERS // a_quarter // REGISTER_UNIT * REGISTER_UNIT
    return min(per_warp // WARP, MAX_REGISTERS)


def _shared_for(sm: Capability, blocks: int) -> int:
    """The most shared memory a block with which so many blocks fit, without what CUDA reserves."""
    taken = sm.shared_bytes // blocks // sm.shared_unit * sm.shared_unit
    return min(taken - sm.shared_reserved, sm.shared_block_bytes)
