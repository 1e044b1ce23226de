"""Records of launches that nobody made."""

from __future__ import annotations

from typing import Any

from grader.emulator.places import GIVEN, Place
from grader.judge.child.protocol import Record


def record(**changes: Any) -> Record:
    """One block of a warp, which completed and did nothing, but for what `changes` says."""
    values: dict[str, Any] = {
        "kernel": "k",
        "grid": (1, 1, 1),
        "block": (32, 1, 1),
        "shared_bytes": 0,
        "registers": 8,
        "status": "completed",
        "counters": {},
        "lines": (),
        "findings": (),
        "blocks_run": 1,
        "grid_blocks": 1,
        "dram_read_bytes": 0,
        "dram_write_bytes": 0,
        "l2_read_bytes": 0,
        "l2_common_bytes": 0,
        "l2_write_bytes": 0,
        "longest_warp": 0,
        "longest_block": 0,
        "most_loaded_bytes": 0,
        "load_path": 0,
        "shared_used_bytes": 0,
        "reads_beside_writes": 0,
        "copies_beside_reads": 0,
        "bulk_beside_reads": 0,
        "communicates": False,
        "may_wait": False,
    }
    return Record(**(values | changes))


def at(line: int) -> Place:
    """A line of the file that was given to the compiler."""
    return Place(GIVEN, line)
