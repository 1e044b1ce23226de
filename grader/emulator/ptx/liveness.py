"""Live variable analysis: the registers whose values are still needed."""

from __future__ import annotations

from grader.emulator.ptx.basic_blocks import EXIT, Block
from grader.emulator.ptx.instructions import destinations, sources


def live_in(blocks: list[Block]) -> list[set[str]]:
    """For each block, the registers read in or after it before they are written."""
    reads: list[set[str]] = []
    writes: list[set[str]] = []
    for block in blocks:
        read: set[str] = set()
        written: set[str] = set()
        for inst in [*block.instructions, *([block.terminator] if block.terminator else [])]:
            read |= {name for name in sources(inst) if name not in written}
            if not inst.predicate:
                written |= set(destinations(inst))
        reads.append(read)
        writes.append(written)
    alive = [set(read) for read in reads]
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            out = set().union(*(alive[s] for s in block.successors if s != EXIT))
            new = reads[block.index] | (out - writes[block.index])
            if new != alive[block.index]:
                alive[block.index] = new
                changed = True
    return alive
