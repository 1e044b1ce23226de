"""Theoretical occupancy: how many warps of a kernel one multiprocessor (SM) can hold, and why no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from grader.analysis.devices import Capability, DeviceSpec

WARP = 32
REGISTERS = 65536  # of a SM
REGISTER_UNIT = 256  # registers are given to a warp in multiples of this
QUARTERS = 4  # of a SM, each with a quarter of the registers and whole warps
MAX_BLOCK_THREADS = 1024

Limit = Literal["registers", "shared memory", "warps", "blocks", "block size"]


@dataclass(frozen=True)
class Occupancy:
    """How full a SM can be."""

    blocks_per_sm: int  # 0: the kernel cannot be launched at all
    warps_per_sm: int
    fraction: float  # resident warps over the most that a SM can hold
    limited_by: Limit  # what would have to shrink for one block more


def occupancy(
    device: DeviceSpec | Capability, threads: int, registers: int, shared_bytes_per_block: int
) -> Occupancy:
    """Occupancy of blocks of `threads` threads with `registers` registers each.

    `shared_bytes_per_block` is static and dynamic shared memory together, without what CUDA reserves.
    Of equally tight limits, the first of warps (the SM is as full as such blocks get), registers, shared
    memory and blocks is named.
    """
    sm = device if isinstance(device, Capability) else device.capability
    warps = -(-threads // WARP)
    fits: dict[Limit, int] = {
        "warps": sm.warps // warps,
        "registers": _by_registers(warps, registers),
        "shared memory": _by_shared_memory(sm, shared_bytes_per_block),
        "blocks": sm.blocks,
    }
    if threads > MAX_BLOCK_THREADS:
        fits = {"block size": 0}
    limited_by = min(fits, key=lambda limit: fits[limit])
    blocks = fits[limited_by]
    return Occupancy(blocks, blocks * warps, blocks * warps / sm.warps, limited_by)


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
