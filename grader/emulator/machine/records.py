"""What a launch leaves behind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something a kernel did that it must not do."""

    kind: str
    """"out_of_bounds", "misaligned", "uninitialised_shared", "race", "unfinished_copy", "absent_lanes", "barrier",
    "trap" or "assert"."""
    line: int
    """In the source; 0 where the compiler kept none."""
    message: str
    count: int
    """How often it happened, once a lane."""
    block: tuple[int, int, int]
    """blockIdx and threadIdx of the first occurrence, in the order of the blocks."""
    thread: tuple[int, int, int]


@dataclass(frozen=True)
class LaunchRecord:
    """One launch: what ran, what it counted, what was wrong with it."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    """Static and dynamic, per block."""
    registers: int
    """Per thread, as ptxas allotted them."""
    status: str
    """"completed", "budget exhausted" or "trap"."""
    counters: dict[str, int]
    """By Nsight Compute's metric name."""
    line_counters: dict[int, dict[str, int]]
    """The same by source line; a line is there only with what it caused."""
    findings: tuple[Finding, ...]
    blocks_run: int
    grid_blocks: int
    dram_read_bytes: int
    """Distinct 32-byte sectors loaded by the launch: what a cold, large enough L2 fetches."""
    dram_write_bytes: int
    l2_read_bytes: int
    """Distinct sectors a block loaded, summed over blocks: what a cold L1 of its own would fetch."""
    l2_write_bytes: int
    """Sectors stored: L1 passes every store on."""
