"""One thread's share of a launch: its context, its counters, the memory its blocks use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from grader.emulator.machine.cores import Cores
from grader.emulator.machine.memory import host_address, reserve
from grader.emulator.ptx.plan import RESERVED, KernelPlan
from grader.emulator.ptx.registers.undefined import UNWRITTEN
from grader.emulator.runtime import build, layout
from grader.emulator.runtime.build import Runtime
from grader.emulator.runtime.layout import LANES

Array = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def aligned(nbytes: int, dtype: Any = np.int64) -> np.ndarray[Any, Any]:
    """A zeroed array that begins at a multiple of 128 bytes."""
    raw = np.zeros(nbytes + 128, np.uint8)
    start = -raw.ctypes.data % 128
    return raw[start : start + nbytes].view(dtype)


class Worker:
    """Kept from launch to launch: the memo of address patterns and the stamps of sectors are worth keeping."""

    def __init__(self, capacity: int, runtime: Runtime) -> None:
        self.context: Array = aligned(layout.CONTEXT_SLOTS * 8)
        self.stamps = reserve(capacity // 32 * 8)
        table = layout.PATTERN_TABLE * layout.PATTERN_ENTRY * 8
        self.patterns = [aligned(table), aligned(table)]
        self.shadows: list[Array] = [aligned(8) for _ in range(5)]
        self.shared = aligned(128, np.uint8)
        self.local = aligned(128, np.uint8)
        self.states = aligned(128, np.uint8)
        self.queues = aligned(128, np.uint8)
        self.transactions = aligned(128, np.uint8)
        self.clusters = aligned(128, np.uint8)
        self._multiplied = False  # by wgmma, in the last launch
        self._run = runtime.function("run_blocks", 4)
        self._set(STAMPS=host_address(self.stamps), PATTERNS_GLOBAL=self.patterns[0].ctypes.data,
                  PATTERNS_SHARED=self.patterns[1].ctypes.data, CLOCK=1)  # fmt: skip

    def _set(self, **slots: int) -> None:
        for name, value in slots.items():
            self.context[getattr(layout, name)] = value

    def prepare(
        self, plan: KernelPlan, launch: dict[str, int], shared_bytes: int, state_bytes: int, residents: int
    ) -> None:
        """Makes room for the blocks of a launch, of which `residents` are under way at a time; `launch` are the context
        slots all workers share."""
        warps = -(-launch["THREADS"] // LANES)
        blocks = launch["CLUSTER_SIZE"]
        self._start_clock_anew()
        if self._multiplied:
            self._forget_products()
        self._multiplied = "wgmma" in plan.uses
        local_bytes = (plan.local_bytes + 15) // 16 * 16
        state_bytes = (state_bytes + 127) // 128 * 128
        known_at, known = layout.W_KNOWN * 8, layout.KNOWN_WARPS if plan.transactions else warps
        if blocks > 1:
            known_at, known = state_bytes, blocks * layout.RANK_WARPS
            state_bytes += known * 8
        in_part = plan.parts_meet or blocks > 1
        shared_room = (shared_bytes + 127) // 128 * 128
        queue_bytes = warps * layout.ASYNC_WARP_BYTES if "cp" in plan.uses else 0
        shadow_bytes = ((shared_bytes >> plan.shadow_shift) + 1) * 8
        local_room, writes_bytes = local_bytes * warps * LANES, shadow_bytes
        if any(
            found.memory for found in plan.flow.undefined.values()
        ):  # and what is undefined (spaces/undefined.py)
            local_room, writes_bytes = 2 * local_room, (1 + len(plan.flow.undefined)) * shadow_bytes
        unwritten = layout.UNWRITTEN_MARKS if "local" in plan.flow.undefined[UNWRITTEN].memory else 0
        self.shared = _room(self.shared, shared_room * residents, np.uint8)
        self.local = _room(self.local, local_room * residents, np.uint8)
        self.states = _room(self.states, state_bytes * warps * residents, np.uint8)
        self.queues = _room(self.queues, queue_bytes * residents, np.uint8)
        mbarrier_bytes = (layout.M_NOW + 2 * known) * 8
        room = layout.X_MBARRIERS * 8 + layout.MBARRIERS * mbarrier_bytes
        transaction_bytes = (room + 127) // 128 * 128 if plan.transactions else 0
        self.transactions = _room(self.transactions, transaction_bytes * residents, np.uint8)
        visits = (3 + blocks * layout.VISIT_SLOTS) * known * 8
        cluster_bytes = visits if plan.clusters or blocks > 1 else 0
        self.clusters = _room(self.clusters, cluster_bytes * residents // blocks, np.uint8)
        readers_bytes = shadow_bytes * warps if in_part else 0
        clocks_bytes = warps * LANES * LANES * 8 if plan.lanes_meet else 0
        visitors_bytes = shadow_bytes * blocks if blocks > 1 else 0
        sizes = (writes_bytes, shadow_bytes, readers_bytes, clocks_bytes, visitors_bytes)
        self.shadows = [
            _room(shadow, nbytes * residents, np.int64)
            for shadow, nbytes in zip(self.shadows, sizes, strict=True)
        ]
        self.sites: Array = aligned(max(len(plan.sites), 1) * layout.SITE_SLOTS * 8)
        self.site_table()[plan.of_block, layout.BLOCK_SCOPE] = 1
        self.blocks: Array = aligned(len(plan.flow.blocks) * 16)
        self.lanes: Array = aligned(max(len(plan.guarded), 1) * 8)
        self._set(
            SHARED_HOST=self.shared.ctypes.data, SHARED_BYTES=shared_bytes, LOCAL_HOST=self.local.ctypes.data,
            LOCAL_BYTES=local_bytes, WARP_STATES=self.states.ctypes.data, WARP_BYTES=state_bytes,
            SHADOW_WRITES=self.shadows[0].ctypes.data,
            SHADOW_READS=self.shadows[1].ctypes.data, SHADOW_SHIFT=plan.shadow_shift, SITES=self.sites.ctypes.data,
            SHADOW_READERS=self.shadows[2].ctypes.data if in_part else 0, SHADOW_VISITORS=self.shadows[4].ctypes.data,
            KNOWN_AT=known_at, KNOWN_COUNT=known, MBARRIER_ENTRY=mbarrier_bytes, RANK=0, HERE=0,
            CLUSTER=self.clusters.ctypes.data if cluster_bytes else 0,
            LANE_CLOCKS=self.shadows[3].ctypes.data if plan.lanes_meet else 0,
            BLOCK_COUNTS=self.blocks.ctypes.data, LANE_COUNTS=self.lanes.ctypes.data, WARPS=warps,
            ASYNC=self.queues.ctypes.data if queue_bytes else 0,
            TRANSACTIONS=self.transactions.ctypes.data if transaction_bytes else 0,
            BARRIER_FAULTS=0, BLOCKS=len(plan.flow.blocks), CONFLICT=0, AGAIN=0, DOUBTFUL=0, BLOCK_VECTOR=0, RESIDENT=0,
            LAUNCH_CLOCK=int(self.context[layout.CLOCK]), RESIDENT_COUNT=residents, LONGEST_WARP=0, LONGEST_BLOCK=0,
            SHARED_USED=0, PROGRESS=0, ADVANCED=0, STORED_AGAIN=0,
            RESERVED_BYTES=RESERVED.nbytes if RESERVED.name in plan.shared else 0,
            INTERVAL_READS=0, INTERVAL_WRITES=0, READS_BESIDE_WRITES=0, COPIES_BESIDE_READS=0, EXECUTED=0, NO_ROOM=0,
            BULK_LOADS=0, BULK_READS=0, BULK_BESIDE=0, BULK_BESIDE_READS=0,
            UNDEFINED_LEFT=0, FIRST_LOADED=0, MOST_LOADED=0, LOAD_PATH=0, LOCAL_MARKS=unwritten if local_bytes else 0,
            **launch,
        )  # fmt: skip
        strides = {
            layout.SHARED_HOST: shared_room, layout.LOCAL_HOST: local_room,
            layout.WARP_STATES: state_bytes * warps, layout.ASYNC: queue_bytes, layout.SHADOW_WRITES: writes_bytes,
            layout.TRANSACTIONS: transaction_bytes, layout.SHADOW_READS: shadow_bytes,
            layout.SHADOW_READERS: readers_bytes, layout.SHADOW_VISITORS: visitors_bytes,
            layout.LANE_CLOCKS: clocks_bytes, layout.RESIDENT: 1,
        }  # fmt: skip
        self.residents = self._places(strides, residents)
        cluster, rank = np.divmod(np.arange(residents), blocks)
        for slot, values in (
            (layout.RANK, rank),
            (layout.HERE, rank),
            (layout.CLUSTER, cluster * cluster_bytes),
        ):
            self.residents[:, layout.HELD_SLOTS.index(slot)] += values
        self._set(RESIDENTS=self.residents.ctypes.data)

    def _start_clock_anew(self) -> None:
        """Where the clock may become too large for records of accesses, they are forgotten, and it begins at 1."""
        if self.context[layout.CLOCK] >= layout.LATE:
            self._set(CLOCK=1)
            for shadow in self.shadows:
                shadow[:] = 0

    def _forget_products(self) -> None:
        """What wgmma reads is recorded as later than all else until it is waited for, which in another launch it never
        is."""
        _, reads, readers, *_ = self.shadows
        reads[reads >> layout.ACCESSOR_BITS >= layout.NEVER] = 0
        readers[readers >= layout.NEVER] = 0

    def _places(self, strides: dict[int, int], residents: int) -> Array:
        """What the held slots are at first for each block that is under way: each has memory of its own."""
        table = np.zeros((residents, layout.HELD_BYTES // 8), np.int64)
        for column, slot in enumerate(layout.HELD_SLOTS):
            table[:, column] = self.context[slot] + strides.get(slot, 0) * np.arange(residents)
        return table

    def leave_marks_in(self, slots: dict[str, int]) -> None:
        """Marks of what blocks touch are left there from now on."""
        self._set(**slots)

    def run(self, kernel: int, linears: Array) -> int:
        """Runs the blocks one after the other; the status of the last."""
        return self._run(self.context.ctypes.data, kernel, linears.ctypes.data, len(linears))

    def site_table(self) -> Array:
        return self.sites.reshape(-1, layout.SITE_SLOTS)


class Workers:
    """Of one machine: a worker that every launch has, and others, for a launch that is worth it, on idle cores."""

    def __init__(self, capacity: int, cores: Cores) -> None:
        self.most = cores.count
        self._capacity, self._cores = capacity, cores
        self._others: list[Worker] = []

    @cached_property
    def first(self) -> Worker:
        """The one that every launch has."""
        return self._made()

    @contextmanager
    def others(self, most: int) -> Iterator[list[Worker]]:
        """One for each core that is idle now, at most so many."""
        with self._cores.idle(most) as count:
            self._others += [self._made() for _ in range(count - len(self._others))]
            yield self._others[:count]

    def _made(self) -> Worker:
        return Worker(self._capacity, build.load())


def _room(array: np.ndarray[Any, Any], nbytes: int, dtype: Any) -> np.ndarray[Any, Any]:
    return array if array.nbytes >= nbytes else aligned(max(nbytes, 128), dtype)
