"""From what native code noted to findings: one a source line and kind, with what is known of the first occurrence."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from grader.emulator.machine.asynchronous import OF_NO_ACCESS, PHASE_FAULTS, descriptor, phase
from grader.emulator.machine.heap import Heap
from grader.emulator.machine.memory import Memory
from grader.emulator.machine.records import (
    BULK_COPY,
    TENSOR_COPY,
    Absence,
    Access,
    Action,
    Allocation,
    Arrivals,
    Descriptor,
    Finding,
    Kind,
    Phase,
    Scope,
    Shape,
    Space,
)
from grader.emulator.machine.worker import Array, Worker
from grader.emulator.places import UNKNOWN, Place
from grader.emulator.ptx.instructions import is_barrier
from grader.emulator.ptx.plan import KernelPlan, Site, access_shape
from grader.emulator.ptx.registers.undefined import exchanges
from grader.emulator.ptx.tree import TYPE_BYTES
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import (
    ABSENT,
    ABSENT_USED,
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
    OTHER_READ,
    OUT_OF_BOUNDS,
    RACE,
    SITE_SHIFT,
    STORED_READ_ONLY,
    UNFENCED_PRODUCT,
    UNFINISHED,
    UNFINISHED_PRODUCT,
    UNINITIALISED,
    UNWRITTEN_USED,
    WARP_SHIFT,
)

_BEHIND = FINDINGS + FINDING_KINDS * FINDING_SLOTS
"""The slot behind the findings."""
NO_SUCH_BLOCK = FINDING_KINDS
"""A kind beyond those of native code, to which it is an address out of bounds."""
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
    UNFINISHED_PRODUCT: "unfinished_product",
    UNFENCED_PRODUCT: "unfenced_product",
    layout.NO_MBARRIER: "mbarrier",
    layout.OVERRUN: "mbarrier",
    layout.FEW_ARRIVALS: "mbarrier",
    layout.SKIPPED: "mbarrier",
    layout.OTHER_BYTES: "mbarrier",
    layout.WRONG_PARITY: "mbarrier",
    layout.REFILLED: "mbarrier",
    layout.IN_USE: "mbarrier",
    layout.UNFENCED: "proxy_fence",
    layout.BEFORE_TENSOR: "out_of_bounds",
    layout.NOT_BEGUN: "absent_block",
    layout.ENDED: "absent_block",
    layout.APART: "barrier",
    layout.UNREAD: "unfinished_copy",
    layout.LOCAL_MAP: "tensor_map",
    layout.MANY_REGISTERS: "registers",
    layout.BAD_DESCRIPTOR: "descriptor",
    layout.NEVER_WRITTEN: "uninitialised_global",
    NO_SUCH_BLOCK: "absent_block",
}
_ABSENCES: dict[int, Absence] = {
    layout.NOT_BEGUN: "not_begun",
    layout.ENDED: "ended",
    NO_SUCH_BLOCK: "no_such_block",
}
_ACTIONS: dict[str, Action] = {"ld": "read", "tex": "read", "gmma": "read", "st": "write"}
_MANGLED = re.compile(r"_Z\w*?E(\d+)(\w+)")
"""The symbol of a variable in a function or a namespace: its name's length and its name come last, and a number where
there are several of that name."""


def unravel(index: int, shape: Shape) -> Shape:
    """The x, y and z of a linear index."""
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
    cluster: Shape
    heap: Heap | None
    """Of kernels that take memory from it, or give it back."""

    def peer(self, number: int, rank: int) -> Shape:
        """The block of a rank in the cluster of the block with a linear number."""
        places = zip(unravel(number, self.grid), unravel(rank, self.cluster), self.cluster, strict=True)
        x, y, z = (at // blocks * blocks + within for at, within, blocks in places)
        return x, y, z

    def place(self, site: Site) -> Place:
        """Where a site stands. What the compiler makes of its own accord, such as the loop of a memcpy, has no line: it
        counts to the code from which it is reached."""
        blocks, place, block = self.plan.flow.blocks, site.inst.place, site.block
        while not place.line:
            before = next((each for each in blocks[:block] if block in each.successors), None)
            if before is None:
                break
            known = (inst.place for inst in (*before.instructions, before.terminator) if inst is not None)
            place = next((each for each in reversed(list(known)) if each.line), place)
            block = before.index
        return place

    def findings(self, workers: Sequence[Worker]) -> tuple[Finding, ...]:
        """One finding a place and kind, with its first occurrence in the order of the blocks."""
        found = []
        for (_, kind), notes in sorted(
            self._notes(workers).items(), key=lambda item: (item[0][0].order(), item[0][1])
        ):
            site, first = min(notes, key=lambda pair: int(pair[1][FINDING_BLOCK]))
            count = sum(int(note[FINDING_COUNT]) for _, note in notes)
            note = Note(self, site, kind, first)
            found.append(note.finding(count))
        return (*found, *self._barriers(workers))

    def _notes(self, workers: Sequence[Worker]) -> dict[tuple[Place, int], list[tuple[Site, Array]]]:
        """What the workers noted, by place and kind; a place may be many instructions (unrolled loops)."""
        notes: dict[tuple[Place, int], list[tuple[Site, Array]]] = defaultdict(list)
        tables = [worker.site_table() for worker in workers]
        shape = (-1, FINDING_KINDS, FINDING_SLOTS)
        found = np.stack([table[:, FINDINGS:_BEHIND].reshape(shape) for table in tables], axis=2)
        for index, kind, worker in np.argwhere(found[..., FINDING_COUNT]).tolist():
            site = self.plan.sites[index]
            note = found[index, kind, worker]
            exchanged = kind == layout.NEVER_WRITTEN and exchanges(site.inst)
            if not (exchanged or Note(self, site, kind, note).within_a_collective):
                notes[self.place(site), kind].append((site, note))
        return notes

    def _barriers(self, workers: Sequence[Worker]) -> tuple[Finding, ...]:
        """What threads did at barriers that CUDA and PTX forbid: the first of it."""
        faults = [w.context for w in workers if w.context[layout.BARRIER_FAULTS]]
        if not faults:
            return ()
        first = min(faults, key=lambda c: int(c[layout.BARRIER_FAULT_BLOCK]))
        block = unravel(int(first[layout.BARRIER_FAULT_BLOCK]), self.grid)
        place = self._place_before(int(first[layout.BARRIER_FAULT_ONE]))
        packed = int(first[layout.BARRIER_FAULT_OTHER])
        count = sum(int(c[layout.BARRIER_FAULTS]) for c in faults)
        fault = int(first[layout.BARRIER_FAULT])
        if fault == layout.BYPASSED:
            return (Finding("barrier", place, count, block),)
        if fault == layout.SPLIT:
            one, other = sorted((place, self._place_before(packed)), key=Place.order)
            return (Finding("barrier", one, count, block, other=Access(place=other, block=block)),)
        number, arrived, expected = (packed >> shift & layout.FIELD for shift in (40, 20, 0))
        if fault != layout.DEADLOCKED_AT:
            return (Finding("barrier", place, count, block, arrivals=Arrivals(number, None, expected)),)
        arrivals = Arrivals(number, arrived, expected, bool(packed >> layout.HELD_SHIFT & 1))
        return (Finding("barrier", place, count, block, arrivals=arrivals),)

    def _place_before(self, block: int) -> Place:
        """Where the barrier in front of a basic block stands."""
        blocks = self.plan.flow.blocks
        ends = [
            b.terminator
            for b in blocks
            if b.successors == [block] and b.terminator and is_barrier(b.terminator)
        ]
        return ends[0].place if ends else UNKNOWN


class Note:
    """What native code noted of a kind at one site of a launch."""

    def __init__(self, launched: Launched, site: Site, kind: int, note: Array) -> None:
        self.launched, self.site, self.kind = launched, site, kind
        self.number = int(note[FINDING_BLOCK])
        self.warp, self.lane = divmod(int(note[FINDING_THREAD]), 1 << WARP_SHIFT)
        self.address = int(note[FINDING_ADDRESS])
        self.packed = int(note[FINDING_OTHER])
        self.initialised = 0
        if self.kind in PHASE_FAULTS:
            self.initialised, self.address = divmod(self.address, 1 << layout.INIT_AT)
        self.owner = self._owner()

    def _owner(self) -> int | None:
        """The rank of the block whose shared memory is accessed, where the address says one."""
        of_shared = self.site.space in ("shared", "generic") or self.site.inst.parts[0] == "cp"
        rank = (self.address >> layout.RANK_AT) - 1
        blocks = math.prod(self.launched.cluster)
        if not of_shared or not 0 <= rank < layout.MOST_RANKS or blocks == 1:
            return None
        self.address &= (1 << layout.RANK_AT) - 1
        if rank < blocks:
            return rank
        self.kind = NO_SUCH_BLOCK
        return None

    @property
    def within_a_collective(self) -> bool:
        """Whether it is a race of a warp's lanes that cooperative groups have with themselves, of which the kernel's
        author knows nothing: between two reductions of a tile of several warps nothing orders the lanes."""
        if self.kind != RACE or not self.site.inst.collective or self._access()[0] == "global":
            return False
        number, sites = self.packed >> SITE_SHIFT & NO_SITE, self.launched.plan.sites
        warp = self.packed >> WARP_SHIFT & layout.ANY_WARP
        return warp == self.warp and number < len(sites) and sites[number].inst.collective

    def finding(self, count: int) -> Finding:
        if self.kind == ABSENT:
            return self.of_lanes(count)
        if self.kind == layout.APART:
            alive, arrived = divmod(self.packed, 1 << layout.TOKEN_COUNT)
            arrivals = Arrivals(0, arrived, alive)
            return Finding(
                "barrier",
                self.launched.place(self.site),
                count,
                self._block(),
                scope="cluster",
                arrivals=arrivals,
            )
        of_register = self.kind == UNFINISHED_PRODUCT and not self.packed
        if of_register or self.kind in OF_NO_ACCESS:
            return self.of_value(count)
        return self.of_access(count)

    def of_value(self, count: int) -> Finding:
        """A value that nobody has defined, where it shows; or a register that a wgmma still uses."""
        return Finding(
            _KINDS[self.kind],
            self.launched.place(self.site),
            count,
            self._block(),
            self._thread(self.warp, self.lane),
            instruction=".".join(self.site.inst.parts[:2]),
            registers=divmod(self.packed, 1 << 32) if self.kind == layout.MANY_REGISTERS else None,
            descriptor=self._descriptor(),
        )

    def of_lanes(self, count: int) -> Finding:
        """A warp instruction that a lane executes with another in its mask which is elsewhere."""
        return Finding(
            _KINDS[self.kind],
            self.launched.place(self.site),
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
            self.launched.place(self.site),
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
            stored=self._stored(allocation),
            before=self._before(),
            no_texture=self.kind == OUT_OF_BOUNDS and self.site.operation == "tex" and not self.packed,
            in_heap=self._in_heap(space),
            scope=scope,
            of_block=self.kind == RACE
            and space == "global"
            and 0 < self.packed & layout.SCOPED < self.packed,
            blocks_wait=self.kind == RACE and space == "global" and self.launched.plan.blocks_wait,
            fences=self.launched.plan.fences if self.kind == RACE and space == "global" else None,
            spins=self.kind == RACE and space == "global" and self.launched.plan.spins,
            instruction=self._instruction(space),
            other=other,
            phase=self._phase(),
            block_ends=self.kind == layout.UNREAD,
            owner=None if self.owner is None else self.launched.peer(self.number, self.owner),
            absence=_ABSENCES.get(self.kind),
        )

    def _in_heap(self, space: Space) -> bool:
        heap = self.launched.heap
        outside = self.kind == OUT_OF_BOUNDS and space == "global"
        return outside and heap is not None and heap.holds(self.address)

    def _instruction(self, space: Space) -> str | None:
        """A texture's fetch; what reads behind no fence; TENSOR_COPY where it is about where a box begins;
        BULK_COPY where one writes shared memory in a race."""
        if self.site.operation == "tex":
            return ".".join(self.site.inst.parts[:2])
        if self.kind == layout.UNFENCED:
            return self.site.inst.parts[0]
        bulk = self.site.inst.parts[:3] == BULK_COPY.split(".")
        if self.kind == RACE and bulk and self._copied() == ("shared", "write"):
            return BULK_COPY
        begins = self.kind == MISALIGNED and space == "global" and "tensor" in self.site.inst.parts
        return TENSOR_COPY if begins else None

    def _phase(self) -> Phase | None:
        """What is known of the phase of an mbarrier."""
        initialised = self.initialised
        place = self.launched.place(self.launched.plan.sites[initialised - 1]) if initialised else UNKNOWN
        return phase(self.kind, self.packed, place)

    def _descriptor(self) -> Descriptor | None:
        if self.kind != layout.BAD_DESCRIPTOR:
            return None
        return descriptor(self.packed, self.address, self.site.inst.parts, self.launched.shared_bytes)

    def _before(self) -> tuple[int, int] | None:
        if self.kind != layout.BEFORE_TENSOR:
            return None
        at = self.packed & 0xFFFFFFFF
        return self.packed >> 32, at - (at >> 31 << 32)

    def _stored(self, allocation: Allocation | None) -> tuple[int | None, int | None] | None:
        if self.kind != UNINITIALISED or allocation is None:
            return None
        known = (at - 1 for at in divmod(self.packed, 1 << layout.STORED_BEFORE))
        end = allocation.base + allocation.nbytes
        before, behind = (at if allocation.base <= at < end else None for at in known)
        return before, behind

    def _block(self) -> Shape:
        return unravel(self.number, self.launched.grid)

    def _thread(self, warp: int, lane: int) -> Shape:
        """A thread's index; of several lanes, that of the warp's first."""
        return unravel(warp * LANES + (lane if lane < LANES else 0), self.launched.block)

    def _access(self) -> tuple[Space, Action]:
        """The space that a finding is about, and what is done there; a cp.async reads one and writes another."""
        if self.site.inst.parts[0] == "cp":
            return self._copied()
        if self.site.inst.parts[0] == "mbarrier":
            return "shared", "atomic"
        if self.site.inst.parts[1:2] == ["async"]:  # st.async, red.async
            return "shared", "write"
        space = cast(Space, self.site.space)
        if space == "generic" and self.address >= GLOBAL_BASE:
            space = "global"
        return space, _ACTIONS.get(self.site.operation, "atomic")

    def _copied(self) -> tuple[Space, Action]:
        """What a copy does: it reads one space and writes another; on its mbarrier it arrives."""
        from_shared, in_global = self.site.operation in ("st", "red"), self.address >= GLOBAL_BASE
        if self.site.operation == "sync" or _KINDS[self.kind] == "mbarrier":
            return "shared", "atomic"
        return "global" if in_global else "shared", "read" if from_shared != in_global else "write"

    def _size(self) -> int | None:
        if self.kind in (OUT_OF_BOUNDS, MISALIGNED):
            return self.packed or None
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
        if self.kind not in (RACE, UNFINISHED, STORED_READ_ONLY, UNFINISHED_PRODUCT, layout.UNFENCED):
            return None, None
        if space == "global":
            return self._recorded()
        lane, who = self.packed & LANE_FIELD, self.packed >> WARP_SHIFT & layout.ANY_WARP
        rank, warp = divmod(who, layout.RANK_WARPS) if who != layout.ANY_WARP else (0, who)
        block = (
            self.launched.peer(self.number, rank) if math.prod(self.launched.cluster) > 1 else self._block()
        )
        scope: Scope = "cluster" if block != self._block() else "warp" if warp == self.warp else "block"
        number, sites = self.packed >> SITE_SHIFT & NO_SITE, self.launched.plan.sites
        other = Access(
            "read" if self.packed & OTHER_READ else "write",
            self.launched.place(sites[number]) if number < len(sites) else UNKNOWN,
            block,
            None if warp >= layout.ASYNC_WARP else self._thread(warp, lane),
            warp < layout.ASYNC_WARP and lane >= LANES,
            layout.ASYNC_WARP <= warp < layout.RANK_WARPS,
        )
        return other, scope

    def _recorded(self) -> tuple[Access, Scope]:
        """The access to a word of global memory that a record is of (layout.py)."""
        action: Action = "read" if self.packed < 0 else "write"
        packed = self.packed % (1 << layout.RECORD_TIME)
        block, warp = packed >> layout.RECORD_BLOCK, packed >> WARP_SHIFT & (layout.RECORD_WARPS - 1)
        if block != self.number % layout.BLOCK_NUMBERS:
            known = math.prod(self.launched.grid) <= layout.BLOCK_NUMBERS
            return Access(action, block=unravel(block, self.launched.grid) if known else None), "grid"
        other = Access(action, block=self._block(), thread=self._thread(warp, 0), any_of_warp=True)
        return other, "warp" if warp == self.warp else "block"


def source_name(symbol: str) -> str | None:
    """A variable's name in the source, from its symbol; None where the symbol does not tell."""
    found = _MANGLED.fullmatch(symbol)
    if found:
        return found[2][: int(found[1])]
    return None if symbol.startswith("_Z") else symbol
