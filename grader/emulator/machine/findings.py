"""From what native code noted to findings that a person can act on."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from grader.emulator.machine.records import Finding
from grader.emulator.machine.worker import Array, Worker
from grader.emulator.ptx.plan import KernelPlan, Site
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import (
    ABSENT,
    FINDING_ADDRESS,
    FINDING_BLOCK,
    FINDING_COUNT,
    FINDING_KINDS,
    FINDING_OTHER,
    FINDING_SLOTS,
    FINDING_THREAD,
    FINDINGS,
    MISALIGNED,
    OUT_OF_BOUNDS,
    RACE,
    UNFINISHED,
    UNINITIALISED,
)

KINDS = {
    OUT_OF_BOUNDS: "out_of_bounds",
    MISALIGNED: "misaligned",
    UNINITIALISED: "uninitialised_shared",
    RACE: "race",
    UNFINISHED: "unfinished_copy",
    ABSENT: "absent_lanes",
}
Shape = tuple[int, int, int]


def _unravel(index: int, shape: Shape) -> Shape:
    return index % shape[0], index // shape[0] % shape[1], index // (shape[0] * shape[1])


def collect(
    plan: KernelPlan, workers: Sequence[Worker], allocations: Array, grid: Shape, block: Shape
) -> tuple[Finding, ...]:
    """The findings of a launch, one a source line and kind, with its first occurrence in the order of the blocks."""
    found = []
    for (line, kind), notes in sorted(_notes(plan, workers).items()):
        site, first = min(notes, key=lambda pair: int(pair[1][FINDING_BLOCK]))
        count = sum(int(note[FINDING_COUNT]) for _, note in notes)
        where = _unravel(int(first[FINDING_BLOCK]), grid), _unravel(int(first[FINDING_THREAD]), block)
        shared_bytes = int(workers[0].context[layout.SHARED_BYTES])
        if kind == RACE and int(first[FINDING_ADDRESS]) >= layout.GLOBAL_BASE:
            message = _stored(site, plan.blocks_wait, first, allocations, grid, block)
        else:
            message = _message(site, kind, first, allocations, block, shared_bytes)
        found.append(Finding(KINDS[kind], line, message, count, *where))
    return (*found, *_barriers(plan, workers, grid))


def _notes(plan: KernelPlan, workers: Sequence[Worker]) -> dict[tuple[int, int], list[tuple[Site, Array]]]:
    """What the workers noted, by source line and kind; a line may be many instructions (unrolled loops)."""
    notes: dict[tuple[int, int], list[tuple[Site, Array]]] = defaultdict(list)
    tables = [worker.site_table() for worker in workers]
    for site in plan.sites:
        for kind in range(FINDING_KINDS):
            start = FINDINGS + kind * FINDING_SLOTS
            for table in tables:
                note = table[site.index][start : start + FINDING_SLOTS]
                if note[FINDING_COUNT]:
                    notes[site.inst.source_line, kind].append((site, note))
    return notes


def _message(site: Site, kind: int, note: Array, allocations: Array, block: Shape, shared_bytes: int) -> str:
    width = int(note[FINDING_OTHER])
    address = int(note[FINDING_ADDRESS])
    where, verb = _access(site, address)
    space = {"generic": "memory"}.get(where, f"{where} memory")
    thread = _unravel(int(note[FINDING_THREAD]), block)
    if kind == OUT_OF_BOUNDS:
        return f"thread {thread} {verb} {width} bytes of {space} {_beyond(where, address, allocations, shared_bytes)}"
    if kind == MISALIGNED:
        return (
            f"thread {thread} {verb} {width} bytes at {address:#x} in {space}, which is no multiple of {width}: "
            "vector accesses need aligned addresses"
        )
    if kind == UNINITIALISED:
        return f"thread {thread} {verb} shared memory at byte {address}, which no thread of the block has written"
    if kind == ABSENT:
        other = _unravel(
            _thread(int(note[FINDING_OTHER])) + int(note[FINDING_THREAD]) // layout.LANES * layout.LANES,
            block,
        )
        return (
            f"thread {other} executes {'.'.join(site.inst.parts[:2])} with thread {thread} in its mask, which is "
            "elsewhere: let all lanes of the mask come here, and put the condition on what they do with the result"
        )
    if kind == UNFINISHED:
        return (
            f"thread {thread} {verb} shared memory at byte {address} while a cp.async to it has not arrived: "
            "wait for its group (cp.async.wait_group, __pipeline_wait_prior) and then for the other threads"
        )
    other = _unravel(_thread(int(note[FINDING_OTHER])), block)
    return (
        f"thread {thread} {verb} shared memory at byte {address}, which thread {other} accesses too with no "
        f"{'__syncwarp() or ' if _same_warp(note) else ''}__syncthreads() in between"
    )


def _stored(site: Site, waits: bool, note: Array, allocations: Array, grid: Shape, block: Shape) -> str:
    """Who reads what another block, or another warp of the block, has stored, or stores another value there.

    `waits`: blocks of the kernel have means to wait for each other.
    """
    packed, number = int(note[FINDING_OTHER]), int(note[FINDING_BLOCK])
    warp = packed & (1 << layout.STORER_EPOCH) - 1
    thread = f"thread {_unravel(int(note[FINDING_THREAD]), block)}"
    inside = _inside(int(note[FINDING_ADDRESS]), allocations) or "in global memory"
    verb, with_what = ("overwrites", ", with another value") if site.operation == "st" else ("reads", "")
    if packed >> layout.STORER_BLOCK == number % layout.BLOCK_NUMBERS:
        other = f"the warp of thread {_unravel(warp * layout.LANES, block)}"
        if warp == int(note[FINDING_THREAD]) // layout.LANES:
            return f"{thread} {verb} what {other} stores {inside} at the same time{with_what}"
        return (
            f"{thread} {verb} what {other} has stored {inside}{with_what}, with no __syncthreads() in between"
        )
    known = math.prod(grid) <= layout.BLOCK_NUMBERS
    storer = f"block {_unravel(packed >> layout.STORER_BLOCK, grid)}" if known else "another block"
    what = f"{thread} of block {_unravel(number, grid)} {verb} what {storer} has stored {inside}{with_what}"
    if waits:
        return (
            f"{what}, and {storer} has executed no __threadfence() since: between the store and the atomic that "
            "announces it there has to be one"
        )
    return f"{what}: blocks of a launch run at the same time, in any order"


def _access(site: Site, address: int) -> tuple[str, str]:
    """The space that a finding is about, and what is done there; a cp.async reads one and writes another."""
    if site.inst.parts[0] != "cp":
        return site.space, {"ld": "reads", "st": "writes"}.get(site.operation, "updates")
    if address >= layout.GLOBAL_BASE:
        return "global", "reads"
    return "shared", "writes"


def _thread(packed: int) -> int:
    """A thread number; where several lanes or warps took part, the first of them stands for all."""
    warp, lane = divmod(packed, layout.LANES) if packed < layout.ANY_WARP * layout.LANES else (0, 0)
    return warp * layout.LANES + lane


def _same_warp(note: Array) -> bool:
    return int(note[FINDING_THREAD]) // layout.LANES == _thread(int(note[FINDING_OTHER])) // layout.LANES


def _beyond(space: str, address: int, allocations: Array, shared_bytes: int) -> str:
    """How far outside the nearest allocation an address lies."""
    if space == "shared":
        return f"at byte {address}, where the block has {shared_bytes or 'no'} bytes"
    if space in ("local", "param"):
        return f"at byte {address}, beyond its end"
    if inside := _inside(address, allocations):
        return f"{inside}, beyond its end"
    nearest, distance = None, 1 << 40
    for low, high in allocations.reshape(-1, 2).tolist():
        gap = address - high if address >= high else low - address
        if 0 <= gap < distance and high:
            nearest, distance = (low, high), gap
    if nearest is None or distance > 1 << 20:
        return f"at {address:#x}, where nothing is allocated"
    size = nearest[1] - nearest[0]
    side = "behind the end" if address >= nearest[1] else "before the start"
    return f"{distance} bytes {side} of an allocation of {size} bytes"


def _inside(address: int, allocations: Array) -> str | None:
    """Where in an allocation an address lies; None: in none."""
    for low, high in allocations.reshape(-1, 2).tolist():
        if low <= address < high:
            return f"at byte {address - low} of an allocation of {high - low} bytes"
    return None


def _barriers(plan: KernelPlan, workers: Sequence[Worker], grid: Shape) -> tuple[Finding, ...]:
    splits = [w.context for w in workers if w.context[layout.BARRIER_SPLITS]]
    if not splits:
        return ()
    first = min(splits, key=lambda c: int(c[layout.BARRIER_SPLIT_BLOCK]))
    lines = sorted(
        _line_before(plan, int(first[slot]))
        for slot in (layout.BARRIER_SPLIT_ONE, layout.BARRIER_SPLIT_OTHER)
    )
    if first[layout.BARRIER_SPLIT_ONE] == first[layout.BARRIER_SPLIT_OTHER]:
        message = (
            f"only some threads of a warp reach the barrier in line {lines[0]} while the others are elsewhere: "
            "__syncthreads() must be reached by all threads of the block together, so take it out of the condition"
        )
    else:
        both = (
            f"lines {lines[0]} and {lines[1]}" if lines[0] != lines[1] else f"two of them in line {lines[0]}"
        )
        message = (
            f"threads of one block wait at different barriers ({both}): "
            "__syncthreads() must be reached by all threads of the block together"
        )
    count = sum(int(c[layout.BARRIER_SPLITS]) for c in splits)
    block = _unravel(int(first[layout.BARRIER_SPLIT_BLOCK]), grid)
    return (Finding("barrier", lines[0], message, count, block, (0, 0, 0)),)


def _line_before(plan: KernelPlan, block: int) -> int:
    """The source line of the barrier in front of a basic block."""
    end = plan.flow.blocks[block - 1].terminator
    return end.source_line if end else 0
