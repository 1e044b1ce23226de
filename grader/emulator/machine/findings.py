"""From what native code noted to findings: one a source line and kind, with what is known of the first occurrence."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from grader.emulator.machine.memory import Memory
from grader.emulator.machine.records import (
    Access,
    Action,
    Allocation,
    Arrivals,
    Finding,
    Kind,
    Scope,
    Shape,
    Space,
)
from grader.emulator.machine.worker import Array, Worker
from grader.emulator.ptx.instructions import is_barrier
from grader.emulator.ptx.plan import KernelPlan, Site, access_shape
from grader.emulator.ptx.tree import TYPE_BYTES
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import (
    ABSENT,
    ABSENT_USED,
    ANY_WARP,
    FINDING_ADDRESS,
    FINDING_BLOCK,
    FINDING_COUNT,
    FINDING_KINDS,
    FINDING_OTHER,
    FINDING_SLOTS,
    FINDING_THREAD,
    FINDINGS,
    GLOBAL_BASE,
    LANE_FIELD,
    LANES,
    MISALIGNED,
    NO_SITE,
    NO_WRITE,
    OTHER_READ,
    OUT_OF_BOUNDS,
    RACE,
    SITE_SHIFT,
    STORED_READ_ONLY,
    UNFINISHED,
    UNINITIALISED,
    UNWRITTEN_USED,
    WARP_SHIFT,
)

_KINDS: dict[int, Kind] = {
    OUT_OF_BOUNDS: "out_of_bounds",
    MISALIGNED: "misaligned",
    UNINITIALISED: "uninitialised_shared",
    RACE: "race",
    UNFINISHED: "unfinished_copy",
    ABSENT: "absent_lanes",
    STORED_READ_ONLY: "stored_read_only",
    UNWRITTEN_USED: "uninitialised",
    ABSENT_USED: "undefined_shuffle",
}
_ACTIONS: dict[str, Action] = {"ld": "read", "st": "write"}
_MANGLED = re.compile(r"_Z\w*?E(\d+)(\w+)")
"""The symbol of a variable in a function or a namespace: its name's length and its name come last, and a number where
there are several of that name."""


def _unravel(index: int, shape: Shape) -> Shape:
    return index % shape[0], index // shape[0] % shape[1], index // (shape[0] * shape[1])


@dataclass(frozen=True)
class Launched:
    """What findings need to know of a launch."""

    plan: KernelPlan
    memory: Memory
    variables: dict[str, tuple[int, int]]
    """Variable → (address, bytes)."""
    grid: Shape
    block: Shape
    shared_bytes: int

    def findings(self, workers: Sequence[Worker]) -> tuple[Finding, ...]:
        """One finding a source line and kind, with its first occurrence in the order of the blocks."""
        found = []
        for (_, kind), notes in sorted(self._notes(workers).items()):
            site, first = min(notes, key=lambda pair: int(pair[1][FINDING_BLOCK]))
            count = sum(int(note[FINDING_COUNT]) for _, note in notes)
            note = Note(self, site, kind, first)
            found.append(note.finding(count))
        return (*found, *self._barriers(workers))

    def _notes(self, workers: Sequence[Worker]) -> dict[tuple[int, int], list[tuple[Site, Array]]]:
        """What the workers noted, by source line and kind; a line may be many instructions (unrolled loops)."""
        notes: dict[tuple[int, int], list[tuple[Site, Array]]] = defaultdict(list)
        tables = [worker.site_table() for worker in workers]
        for site in self.plan.sites:
            for kind in range(FINDING_KINDS):
                start = FINDINGS + kind * FINDING_SLOTS
                for table in tables:
                    note = table[site.index][start : start + FINDING_SLOTS]
                    if note[FINDING_COUNT]:
                        notes[site.inst.source_line, kind].append((site, note))
        return notes

    def _barriers(self, workers: Sequence[Worker]) -> tuple[Finding, ...]:
        """What threads did at barriers that CUDA and PTX forbid: the first of it."""
        faults = [w.context for w in workers if w.context[layout.BARRIER_FAULTS]]
        if not faults:
            return ()
        first = min(faults, key=lambda c: int(c[layout.BARRIER_FAULT_BLOCK]))
        block = _unravel(int(first[layout.BARRIER_FAULT_BLOCK]), self.grid)
        line = self._line_before(int(first[layout.BARRIER_FAULT_ONE]))
        packed = int(first[layout.BARRIER_FAULT_OTHER])
        count = sum(int(c[layout.BARRIER_FAULTS]) for c in faults)
        fault = int(first[layout.BARRIER_FAULT])
        if fault == layout.BYPASSED:
            return (Finding("barrier", line, count, block),)
        if fault == layout.SPLIT:
            lines = sorted((line, self._line_before(packed)))
            return (
                Finding("barrier", lines[0], count, block, other=Access(line=lines[1] or None, block=block)),
            )
        number, arrived, expected = (packed >> shift & layout.FIELD for shift in (40, 20, 0))
        arrivals = Arrivals(number, arrived if fault == layout.DEADLOCKED_AT else None, expected)
        return (Finding("barrier", line, count, block, arrivals=arrivals),)

    def _line_before(self, block: int) -> int:
        """The source line of the barrier in front of a basic block."""
        blocks = self.plan.flow.blocks
        ends = [
            b.terminator
            for b in blocks
            if b.successors == [block] and b.terminator and is_barrier(b.terminator)
        ]
        return ends[0].source_line if ends else 0


class Note:
    """What native code noted of a kind at one site of a launch."""

    def __init__(self, launched: Launched, site: Site, kind: int, note: Array) -> None:
        self.launched, self.site, self.kind = launched, site, kind
        self.number = int(note[FINDING_BLOCK])
        self.warp, self.lane = divmod(int(note[FINDING_THREAD]), 1 << WARP_SHIFT)
        self.address = int(note[FINDING_ADDRESS])
        self.packed = int(note[FINDING_OTHER])

    def finding(self, count: int) -> Finding:
        if self.kind == ABSENT:
            return self.of_lanes(count)
        return self.of_value(count) if self.kind in (UNWRITTEN_USED, ABSENT_USED) else self.of_access(count)

    def of_value(self, count: int) -> Finding:
        """A value that nobody has defined, where it shows."""
        return Finding(
            _KINDS[self.kind],
            self.site.inst.source_line,
            count,
            self._block(),
            self._thread(self.warp, self.lane),
            instruction=".".join(self.site.inst.parts[:2]),
        )

    def of_lanes(self, count: int) -> Finding:
        """A warp instruction that a lane executes with another in its mask which is elsewhere."""
        return Finding(
            _KINDS[self.kind],
            self.site.inst.source_line,
            count,
            self._block(),
            self._thread(self.warp, self.lane),
            other=Access(block=self._block(), thread=self._thread(self.warp, self.packed)),
            instruction=".".join(self.site.inst.parts[:2]),
        )

    def of_access(self, count: int) -> Finding:
        """An access to memory."""
        space, action = self._access()
        allocation = self._allocation(space)
        other, scope = self._other(space)
        return Finding(
            _KINDS[self.kind],
            self.site.inst.source_line,
            count,
            self._block(),
            self._thread(self.warp, self.lane),
            self.lane >= LANES,
            action,
            space,
            self.address,
            self._size(),
            allocation,
            self._array(space, allocation),
            scope=scope,
            blocks_wait=self.kind == RACE and space == "global" and self.launched.plan.blocks_wait,
            fences=self.kind == RACE and space == "global" and self.launched.plan.fences,
            other=other,
        )

    def _block(self) -> Shape:
        return _unravel(self.number, self.launched.grid)

    def _thread(self, warp: int, lane: int) -> Shape:
        """A thread's index; of several lanes, that of the warp's first."""
        return _unravel(warp * LANES + (lane if lane < LANES else 0), self.launched.block)

    def _access(self) -> tuple[Space, Action]:
        """The space that a finding is about, and what is done there; a cp.async reads one and writes another."""
        if self.site.inst.parts[0] == "cp":
            return ("global", "read") if self.address >= GLOBAL_BASE else ("shared", "write")
        space = cast(Space, self.site.space)
        if space == "generic" and self.address >= GLOBAL_BASE:
            space = "global"
        return space, _ACTIONS.get(self.site.operation, "atomic")

    def _size(self) -> int | None:
        if self.kind in (OUT_OF_BOUNDS, MISALIGNED):
            return self.packed
        if self.site.inst.parts[0] not in ("ld", "st"):
            return None
        element, count = access_shape(self.site.inst)
        return TYPE_BYTES[element] * count

    def _allocation(self, space: Space) -> Allocation | None:
        if space == "shared":
            return self._shared_variable()[1]
        if space == "local":
            return Allocation(0, self.launched.plan.local_bytes)
        if space == "param":
            return Allocation(0, self.launched.plan.param_bytes)
        return self.launched.memory.nearest(self.address)

    def _array(self, space: Space, allocation: Allocation | None) -> str | None:
        """The variable of the kernel's source that an access lies in, or nearest to."""
        if space == "shared":
            name = self._shared_variable()[0]
            return source_name(name) if name else None
        base = allocation.base if allocation else None
        names = [name for name, (address, _) in self.launched.variables.items() if address == base]
        return source_name(names[0]) if len(names) == 1 else None

    def _shared_variable(self) -> tuple[str | None, Allocation]:
        """The variable that an access lies in, or nearest to, and its place; all of the block's shared memory where
        that is not known, or the access lies outside of it."""
        everything, places = Allocation(0, self.launched.shared_bytes), self.launched.plan.shared
        before = {name: place for name, place in places.items() if place[0] <= self.address}
        nearest = [
            name for name, (start, _) in before.items() if start == max(at for at, _ in before.values())
        ]
        if len(nearest) != 1:
            return None, everything
        start, nbytes = before[nearest[0]]
        end = start + nbytes if nbytes else everything.nbytes
        return nearest[0], Allocation(start, end - start) if self.address < end else everything

    def _other(self, space: Space) -> tuple[Access | None, Scope | None]:
        """The access that a race is with, or the copy that has not arrived; and the group that both belong to."""
        if self.kind not in (RACE, UNFINISHED, STORED_READ_ONLY):
            return None, None
        if space == "global":
            return self._recorded()
        lane, warp = self.packed & LANE_FIELD, self.packed >> WARP_SHIFT & ANY_WARP
        scope: Scope = "warp" if warp == self.warp else "block"
        if self.packed == NO_WRITE:  # nothing is known of it
            return None, scope
        number, sites = self.packed >> SITE_SHIFT & NO_SITE, self.launched.plan.sites
        other = Access(
            "read" if self.packed & OTHER_READ else "write",
            sites[number].inst.source_line or None if number < len(sites) else None,
            self._block(),
            None if warp == ANY_WARP else self._thread(warp, lane),
            warp != ANY_WARP and lane >= LANES,
        )
        return other, scope

    def _recorded(self) -> tuple[Access, Scope]:
        """The access to a word of global memory that a record is of (layout.py)."""
        action: Action = "read" if self.packed < 0 else "write"
        packed = self.packed % (1 << layout.RECORD_TIME)
        block, warp = packed >> layout.RECORD_BLOCK, packed >> WARP_SHIFT & (layout.RECORD_WARPS - 1)
        if block != self.number % layout.BLOCK_NUMBERS:
            known = math.prod(self.launched.grid) <= layout.BLOCK_NUMBERS
            return Access(action, block=_unravel(block, self.launched.grid) if known else None), "grid"
        other = Access(action, block=self._block(), thread=self._thread(warp, 0), any_of_warp=True)
        return other, "warp" if warp == self.warp else "block"


def source_name(symbol: str) -> str | None:
    """A variable's name in the source, from its symbol; None where the symbol does not tell."""
    found = _MANGLED.fullmatch(symbol)
    if found:
        return found[2][: int(found[1])]
    return None if symbol.startswith("_Z") else symbol
