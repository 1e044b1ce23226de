"""One launch: hands blocks to workers, then puts together what they counted and found."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from grader.emulator import metrics
from grader.emulator.codegen.native_code import NativeCode
from grader.emulator.devices import EmulatedDevice, max_active_blocks
from grader.emulator.errors import OutOfRoom, UnsupportedPtx
from grader.emulator.machine import clusters, room
from grader.emulator.machine.counters import l2_bytes, tally
from grader.emulator.machine.findings import Launched
from grader.emulator.machine.heap import Heap
from grader.emulator.machine.host import FIFO_BYTES, HostCalls
from grader.emulator.machine.memory import Memory
from grader.emulator.machine.orders import CROWDED, SWITCHED, Order, arranged, of_warps, seed
from grader.emulator.machine.origins import Origins, Watch
from grader.emulator.machine.records import Finding, LaunchRecord, Touched
from grader.emulator.machine.tracing.block_trace import BlockTrace
from grader.emulator.machine.tracing.extents import Extents
from grader.emulator.machine.tracing.touched import TouchedByBlocks
from grader.emulator.machine.tracing.traces import Marks, Traces, warps_of
from grader.emulator.machine.worker import Array, Worker, Workers
from grader.emulator.places import UNKNOWN, Place
from grader.emulator.ptx.instructions import is_warpgroup_product
from grader.emulator.ptx.plan import Site
from grader.emulator.ptx.tree import Instruction
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import LANES

Shape = tuple[int, int, int]
_STATUS = {
    layout.DONE: "completed",
    layout.BUDGET_SPENT: "budget exhausted",
    layout.LAUNCH_BUDGET_SPENT: "launch budget exhausted",
    layout.REPEATING: "repeating",
    layout.TRAPPED: "trap",
    layout.DEADLOCKED: "deadlock",
    layout.STARVED: "starved",
    layout.WAITING_IN_VAIN: "waiting in vain",
}
_MOST = {
    layout.MANY_COPIES: f"more than {layout.BULK_COPIES} bulk copies and arrivals under way",
    layout.MANY_MBARRIERS: f"more than {layout.MBARRIERS} mbarriers",
}
_CHUNKS_A_WORKER = 16

TOGETHER = 4
"""Budgets of a block that the blocks of a launch may take together. Blocks that take turns may take one each: how often
a block looks for what it waits for says nothing of the work."""

STORED_AGAIN_EFFORT = 512
"""A block's budget has a store of what is there already for each so many warp instructions. To track one takes as long
as some 64, so an eighth of the budget's time goes by before a launch is stopped for them."""

NO_BUDGET = 1 << 60

WORTH_A_THREAD = 0.002
"""Seconds that blocks have to take for other threads to help: to start one takes a good part of a millisecond."""

PAGE_EFFORT = 16
"""Looking at a page of marks takes as long as so many warp instructions."""

MATRIX_EFFORT = 32
"""A Tensor Core product takes as long as so many other warp instructions."""

FEWEST = 3
"""Sampled blocks that are run whatever they take: the ends of the grid and another."""


@dataclass
class _Strand:
    """Sampled blocks that are run one after the other, a cluster a row, and where they leave their marks.

    Where it is looked at what each has touched, no other is begun from `fewest` on once they have taken `enough`.
    """

    members: Array
    marks: Marks
    touched: TouchedByBlocks | None = None
    fewest: float = 0.0
    enough: float = math.inf


@dataclass
class LaunchExecution:
    """Everything that one launch is."""

    memory: Memory
    traces: Traces
    compiled: NativeCode
    variables: dict[str, tuple[int, int]]
    grid: Shape
    block: Shape
    shared_bytes: int
    params: bytes
    budget: int
    device: EmulatedDevice
    registers: int
    local_bytes: int
    spilled_bytes: tuple[int, int]
    """Loaded and stored, see `Kernel`."""
    cluster: Shape
    """Blocks of a cluster in each direction."""
    trace: BlockTrace | None = None
    heap: Heap | None = None
    """Where the kernel uses it."""
    printf_bytes: int = FIFO_BYTES
    """Of its output that are kept."""
    workspace: int = 0
    """Where a cooperative launch synchronises its grid."""
    watch: Watch = "never"
    """Whether to look for the origin of a NaN, as far as the code does (`KernelPlan.watched`)."""
    extents: Extents | None = None
    """To be filled in."""
    found: tuple[Touched, ...] = ()
    """By sampled blocks."""
    updated_first: int = 0
    """Words that atomics of the first sampled block have updated."""

    def run(self, workers: Workers, order: Order) -> LaunchRecord | None:
        """Runs all blocks; None: without a trace, because it takes code that looks for the origin of a NaN, which may
        need another stack.

        Where threads may have met in global memory, or not all went well, the launch is undone and repeated on one
        thread in the given order, with its accesses tracked: so what is found depends on nothing but the kernel, its
        data and the order. So is what is the first NaN, which is looked for on one thread.
        """
        self._prepare()
        linears = self._arranged("rising")
        if not (self.compiled.tracked or self.plan.meets or order != "rising"):
            most = 1 if self.plan.serial or self.plan.watched else workers.most
            status, used = self._attempt(workers, most, linears, self._slots(), self.blocks)
            conflict, again = (
                any(worker.context[slot] for worker in used) for slot in (layout.CONFLICT, layout.AGAIN)
            )
            if status == layout.DONE and not conflict and not self.traces.conflict(self.plan, again=again):
                if not (self._looks_later and self.traces.stored_nan()):
                    return self.record(used, status, len(linears), tracked=False)
                self._undo()
                return None
            self.compiled.tracked = status == layout.DONE
            self._undo()
        if self._looks_later:  # a tracked launch cannot be undone
            return None
        slots = self._slots() | self.traces.tracking_slots(
            self.plan, warps_of(self.block), math.prod(self.grid), late=order == SWITCHED
        )
        slots |= {
            "RANDOM": seed(order),
            "WARP_TURNS": of_warps(order),
            "MULTIPROCESSORS": self._multiprocessors(order),
        }
        residents = self._residents(len(linears), order) if self._takes_turns(order) else self.blocks
        status, used = self._attempt(workers, 1, self._arranged(order), slots, residents)
        return self.record(used, status, len(linears), tracked=True)

    @property
    def _looks_later(self) -> bool:
        """Whether this code does not look for the origin of a NaN, and another would have to."""
        return self.watch == "once stored" and self.plan.watched is None

    def _undo(self) -> None:
        self.traces.undo()
        self.traces.clear(self.plan, tracked=False)

    @property
    def blocks(self) -> int:
        """Of a cluster."""
        return math.prod(self.cluster)

    def _arranged(self, order: Order) -> Array:
        """All blocks in the order in which they begin; those of a cluster begin together."""
        members = clusters.together(self.grid, self.cluster)
        return members[arranged(np.arange(len(members)), order)].ravel()

    def sample(self, workers: Workers, linears: Array, enough: int | None) -> LaunchRecord:
        """Runs some blocks, each with all of its cluster. That threads meet in global memory is not looked for.

        With `enough`, none is begun from FEWEST on once they have taken so many warp instructions of the usual effort,
        and the record says what each of them has touched. Blocks that have nothing to do with each other are dealt to
        as many strands as run whatever they take, on idle cores: a strand stops at its share, so that how many cores
        there are means nothing.
        """
        self._prepare()
        slots = self._slots() | {"LAUNCH_BUDGET": NO_BUDGET, "OWNERS": 0, "UNDO": 0}
        slots["LENIENT"] = layout.WITH_WARPS if self.plan.fences else 0  # what is published is not kept
        members = clusters.whole(linears, self.grid, self.cluster).reshape(-1, self.blocks)
        apart = not (self.plan.serial or self.plan.meets or any(map(_updates, self.plan.sites)))
        if enough is None and apart:
            blocks = [_Strand(cluster[None], self.traces.marks) for cluster in members]
            return self.record(*self._side_by_side(workers, blocks, slots, to_the_end=False), tracked=False)
        count = -(-FEWEST // self.blocks) if apart else 1
        strands = [
            _Strand(
                members[first::count],
                marks,
                TouchedByBlocks(marks.loaded, marks.stored, self.allocations, self.blocks, FEWEST // count),
                FEWEST / count,
                math.inf if enough is None else enough / count,
            )
            for first, marks in enumerate(self.traces.apart(count))
        ]
        done = self._side_by_side(workers, strands, slots, to_the_end=True)
        self.found = self._found(strands)
        return self.record(*done, tracked=False)

    def _side_by_side(
        self, workers: Workers, strands: Sequence[_Strand], slots: dict[str, int], *, to_the_end: bool
    ) -> tuple[list[Worker], int, int]:
        """Runs strands, on a thread each where cores are idle; with `to_the_end` those behind one that has failed as
        well. Who worked, the worst status, and how many blocks were run."""
        left = deque(strands)

        def work(worker: Worker) -> tuple[int, int]:
            status, run = layout.DONE, 0
            worker.prepare(self.plan, slots, self.shared_bytes, self.compiled.state_bytes, self.blocks)
            with suppress(IndexError):  # none is left
                while to_the_end or status == layout.DONE:
                    ended, blocks = self._run_strand(worker, left.popleft())
                    status, run = max(status, ended), run + blocks
            return status, run

        with workers.others(min(workers.most, len(strands)) - 1) as others:
            used = [workers.first, *others]
            with ThreadPoolExecutor(len(used)) as pool:
                statuses, runs = zip(*pool.map(work, used), strict=True)
        return used, max(statuses), sum(runs)

    def _run_strand(self, worker: Worker, strand: _Strand) -> tuple[int, int]:
        """Runs the blocks of a strand one after the other: the status of the last, and how many were run."""
        worker.leave_marks_in(strand.marks.slots())
        before, effort, looking, status, run = worker.blocks[::2].copy(), 0, 0, layout.DONE, 0
        for cluster in strand.members:
            if status != layout.DONE or (run >= strand.fewest and effort >= strand.enough):
                break
            status = worker.run(self.compiled.address, cluster)
            run += self.blocks
            if strand.touched is not None:
                if run == self.blocks and any(map(_updates, self.plan.sites)):
                    self.updated_first = self.traces.updated_words()
                looking += PAGE_EFFORT * strand.touched.look()
                effort = looking + int((worker.blocks[::2] - before) @ self._efforts)
        return status, run

    def _found(self, strands: Sequence[_Strand]) -> tuple[Touched, ...]:
        """What the blocks of all strands have touched. Their marks are put together."""
        together, *others = (strand.touched for strand in strands if strand.touched is not None)
        for strand in strands[1:]:
            self.traces.marks.move(strand.marks, self.traces.ranges())
        together.join(others)
        return together.found()

    @cached_property
    def _efforts(self) -> Array:
        """What a warp's way through each basic block takes, in warp instructions of the usual effort."""
        return np.array(
            [
                sum(MATRIX_EFFORT if _multiplies_matrices(inst) else 1 for inst in block.instructions)
                + (block.terminator is not None)
                for block in self.plan.flow.blocks
            ],
            np.int64,
        )

    def _prepare(self) -> None:
        self.plan = self.compiled.plan
        self.calls = HostCalls(self.memory, self.block, self.plan, self.heap, self.printf_bytes)
        self.allocations = self.calls.allocations

    def _takes_turns(self, order: Order) -> bool:
        return self.plan.blocks_wait and (self.plan.may_spin or order == SWITCHED)

    @cached_property
    def _fit(self) -> int:
        """Blocks that a multiprocessor holds at a time."""
        return max_active_blocks(self.device, math.prod(self.block), self.registers, self.shared_bytes)

    def _residents(self, blocks: int, order: Order) -> int:
        """How many of the blocks the device, or one multiprocessor of it, holds at a time.

        A cooperative launch of more blocks than the device holds is refused: they are all there.
        """
        most = self._fit * self._multiprocessors(order)
        return max(1, min(blocks, most) // self.blocks) * self.blocks

    def _multiprocessors(self, order: Order) -> int:
        """Those that hold blocks."""
        crowded = order == CROWDED and not self.workspace
        return 1 if crowded else self.device.attributes["multiprocessor_count"]

    def _attempt(
        self, workers: Workers, most: int, linears: Array, slots: dict[str, int], residents: int
    ) -> tuple[int, list[Worker]]:
        """Runs the blocks on at most so many threads; a status that is not DONE, if any, and who worked. What threads
        have executed is added up, so that how many they are means nothing."""
        used: list[Worker] = []

        def ready(worker: Worker) -> Worker:
            worker.prepare(self.plan, slots, self.shared_bytes, self.compiled.state_bytes, residents)
            used.append(worker)
            return worker

        def stop() -> None:
            for worker in used:
                worker.context[layout.LAUNCH_BUDGET] = -1

        allocated = self.memory.allocated()
        with room.guarded(allocated, stop) as guard:
            status = self._run(workers, most, linears, ready)
        if guard.stopped:
            self.traces.give_back(self.plan)
            raise OutOfRoom("the launch touches too much of", allocated, guard.before)
        executed = sum(int(worker.context[layout.EXECUTED]) for worker in used)
        spent = status == layout.DONE and executed > slots["LAUNCH_BUDGET"]
        return layout.LAUNCH_BUDGET_SPENT if spent else status, used

    def _run(self, workers: Workers, most: int, linears: Array, ready: Callable[[Worker], Worker]) -> int:
        first = ready(workers.first)
        start = time.perf_counter()
        chunks = deque(self._chunks(linears, min(most, len(linears))))
        status = first.run(self.compiled.address, chunks.popleft())

        def work(worker: Worker) -> int:
            status = layout.DONE
            with suppress(IndexError):  # no chunk is left
                while status == layout.DONE and not worker.context[layout.CONFLICT]:  # else it is undone
                    status = worker.run(self.compiled.address, chunks.popleft())
            return status

        seconds_left = (time.perf_counter() - start) * len(chunks)
        if status != layout.DONE:
            return status
        if most == 1 or seconds_left < WORTH_A_THREAD:
            return work(first)
        with workers.others(min(most - 1, len(chunks))) as others, ThreadPoolExecutor(most) as pool:
            helped = pool.map(work, map(ready, others))
            return max([work(first), *helped])

    def _held(self) -> dict[str, np.ndarray[Any, Any]]:
        """Arrays that native code reads; kept alive by the caller."""
        addresses = [self.variables[name][0] for name in self.plan.symbols]
        constants = [self.variables[name] for name in self.plan.constants]
        size = max(self.plan.param_bytes, len(self.params), 1)
        return {
            "symbols": np.array([*addresses, 0], np.int64),
            "constants": np.array([[at, at + nbytes] for at, nbytes in constants] + [[0, 0]], np.int64),
            "params": np.frombuffer(self.params.ljust(size, b"\0"), np.uint8).copy(),
            "tids": thread_indices(self.block),
        }

    def _slots(self) -> dict[str, int]:
        """The context slots that are the same for all workers."""
        held = self.arrays = self._held()
        self.origins = Origins()
        return self.traces.slots(self.plan) | {
            "HOST_DELTA": self.memory.host_delta,
            "GRID_WORKSPACE": self.workspace,
            "ALLOCATIONS": self.allocations.ctypes.data,
            "ALLOCATION_COUNT": len(self.allocations) // 2,
            "PARAM_HOST": held["params"].ctypes.data,
            "PARAM_BYTES": self.plan.param_bytes,
            "TIDS": held["tids"].ctypes.data,
            "CONSTANTS": held["constants"].ctypes.data,
            "CONSTANT_COUNT": len(self.plan.constants),
            "SYMBOLS": held["symbols"].ctypes.data,
            "THREADS": math.prod(self.block),
            "BLOCK_BUDGET": self.budget,
            "LAUNCH_BUDGET": TOGETHER * self.budget,
            "MOST_STORED_AGAIN": self.budget // STORED_AGAIN_EFFORT,
            "LAUNCHED_AT": time.time_ns(),
            "MULTIPROCESSORS": self._multiprocessors("rising"),
            "SM_COUNT": self.device.attributes["multiprocessor_count"],
            "WARP_SLOTS": self.device.attributes["max_threads_per_multiprocessor"] // LANES,
            "HOST_CALL": self.calls.address,
            "TRACE": self.trace.begin() if self.trace else 0,
            "CLUSTER_SIZE": self.blocks,
            "REGISTERS": self._registers_to_move(),
            "KEPT": self._kept_sectors(),
            "ORIGINS": self.origins.notes.ctypes.data,
            **dict(zip(("CLUSTER_X", "CLUSTER_Y", "CLUSTER_Z"), self.cluster, strict=True)),
            **dict(zip(("GRID_X", "GRID_Y", "GRID_Z"), self.grid, strict=True)),
            **dict(zip(("BLOCK_DIM_X", "BLOCK_DIM_Y", "BLOCK_DIM_Z"), self.block, strict=True)),
        }

    def _registers_to_move(self) -> int:
        """What REGISTERS says. ptxas ignores setmaxnreg in kernels whose number of threads it does not know; warps are
        given registers by eights a thread."""
        known = "setmaxnreg" in self.plan.uses and self.plan.max_threads
        return -(-self.registers // 8) * 8 if known else 0

    def _kept_sectors(self) -> int:
        """A block's share of the L1 cache, in sectors: what shared memory leaves of the memory that both are in, among
        the blocks that a multiprocessor holds."""
        held = max(
            1, min(self._fit, -(-math.prod(self.grid) // self.device.attributes["multiprocessor_count"]))
        )
        reserved = self.device.attributes["reserved_shared_memory_per_block"]
        return max(0, self.device.l1_bytes // held - self.shared_bytes - reserved) // 32

    def _chunks(self, linears: Array, workers: int) -> list[Array]:
        if workers == 1:
            return [linears]
        size = max(1, len(linears) // self.blocks // (workers * _CHUNKS_A_WORKER)) * self.blocks
        return [linears[i : i + size] for i in range(0, len(linears), size)]

    def record(
        self, workers: Sequence[Worker], status: int, blocks_run: int, *, tracked: bool
    ) -> LaunchRecord:
        """What the launch counted and found."""
        sites = np.sum([w.site_table() for w in workers], axis=0)
        blocks = np.sum([w.blocks for w in workers], axis=0).reshape(-1, 2)
        lanes = np.sum([w.lanes for w in workers], axis=0)
        counted = tally(self.plan, blocks, lanes, sites, self.spilled_bytes)
        l2_read, l2_written = l2_bytes(self.plan, sites)
        if self.watch == "once stored" and not self.traces.stored_nan():
            self.origins = Origins()
        launched = Launched(
            self.plan, self.memory, self.variables, self.grid, self.block, self.shared_bytes, self.cluster,
            self.heap,
        )  # fmt: skip
        found = launched.findings(workers)
        loaded, stored = self.traces.sectors()
        by_blocks = sum(int(w.context[layout.FIRST_LOADED]) for w in workers)  # without bulk copies
        atomics_a_word = self._atomics_a_word(sites, blocks_run)
        if self.extents is not None:
            self.extents.take(self.traces, self.plan)
        self.traces.keep_written()
        self.traces.clear(self.plan, tracked=tracked)
        self._refuse_without_room(workers)
        return LaunchRecord(
            kernel=self.plan.name, grid=self.grid, block=self.block, shared_bytes=self.shared_bytes,
            registers=self.registers, status=self._status(status), counters=counted.total,
            lines=counted.lines(),
            findings=found + self._trap(status, blocks), blocks_run=blocks_run, grid_blocks=math.prod(self.grid),
            dram_read_bytes=32 * loaded, dram_write_bytes=32 * stored,
            l2_read_bytes=l2_read, l2_write_bytes=l2_written,
            l2_common_bytes=32 * max(0, by_blocks - loaded),
            longest_warp=max(int(w.context[layout.LONGEST_WARP]) for w in workers),
            longest_block=max(int(w.context[layout.LONGEST_BLOCK]) for w in workers),
            most_loaded_bytes=32 * max(int(w.context[layout.MOST_LOADED]) for w in workers), touched=self.found,
            load_path=sum(int(w.context[layout.LOAD_PATH]) for w in workers),
            shared_used_bytes=max(int(w.context[layout.SHARED_USED]) for w in workers) << self.plan.shadow_shift,
            reads_beside_writes=sum(int(w.context[layout.READS_BESIDE_WRITES]) for w in workers),
            copies_beside_reads=sum(int(w.context[layout.COPIES_BESIDE_READS]) for w in workers),
            bulk_beside_reads=sum(int(w.context[layout.BULK_BESIDE_READS]) for w in workers),
            communicates=tracked or self.plan.serial, may_wait=self.plan.may_spin and self.plan.blocks_wait,
            local_bytes=self.local_bytes, atomics_a_word=atomics_a_word,
            accessed=self.trace.accessed(launched) if self.trace else (),
            first_infinity=self.origins.first(layout.FIRST_INFINITY, self.plan, self.grid, self.block),
            first_nan=self.origins.first(layout.FIRST_NAN, self.plan, self.grid, self.block),
            host_calls=dict(self.calls.made),
        )  # fmt: skip

    def _status(self, status: int) -> str:
        by_calls = status == layout.BUDGET_SPENT and self.calls.exhausted
        return "calls exhausted" if by_calls else _STATUS[status]

    def _refuse_without_room(self, workers: Sequence[Worker]) -> None:
        """Raises UnsupportedPtx where a block needed more of something than the emulator keeps."""
        for worker in workers:
            what = _MOST.get(int(worker.context[layout.NO_ROOM]))
            if what:
                raise UnsupportedPtx(f"{what} in a block, as {self.plan.name} has")

    def _atomics_a_word(self, sites: np.ndarray[Any, Any], run: int) -> float:
        """Blocks that were not run are taken to update as many words for the first time as those after the first."""
        lanes = sum(int(sites[site.index][_updating(site)]) for site in self.plan.sites if _updates(site))
        words = float(self.traces.updated_words()) if lanes else 0.0
        if not words:  # lanes that were out of bounds have updated nothing
            return 0.0
        blocks = math.prod(self.grid)
        if run < blocks:
            each = (words - self.updated_first) / (run - 1) if run > 1 else words
            words = self.updated_first + each * (blocks - 1)
        return lanes * blocks / run / words

    def _trap(self, status: int, executed: Array) -> tuple[Finding, ...]:
        """What ended the launch: a call of the host, or the trap that it came to."""
        if status != layout.TRAPPED:
            return ()
        if self.calls.failure:
            return (replace(self.calls.failure, place=self._asserted(self.calls.failure.place)),)
        ends = (block.terminator for block in self.plan.flow.blocks if executed[block.index][0])
        places = {end.place for end in ends if end and end.parts[0] == "trap"}
        function = "grid.sync()" if self.plan.synchronises_grid and not self.workspace else None
        return (Finding("trap", places.pop() if len(places) == 1 else UNKNOWN, 1, instruction=function),)

    def _asserted(self, place: Place) -> Place:
        """Where an assertion stands, with the calls that led there if all of that line have the same."""
        calls = (
            inst for block in self.plan.flow.blocks for inst in block.instructions if inst.parts[0] == "call"
        )
        found = {inst.place for inst in calls if inst.place.line == place.line}
        return found.pop() if len(found) == 1 else place


def _multiplies_matrices(inst: Instruction) -> bool:
    return "mma" in inst.parts[:2] or is_warpgroup_product(inst)


def _updating(site: Site) -> int:
    """The slot of what updates words one after the other: lanes, or one for all of a warp."""
    return layout.REQUESTS if site.combined else layout.ACCESS_LANES


def _updates(site: Site) -> bool:
    return site.operation in metrics.ATOMICS and site.space in ("global", "generic")


def thread_indices(block: Shape) -> np.ndarray[Any, np.dtype[np.int32]]:
    """tid.x, tid.y, tid.z of every lane: int32 of shape (warps, 3, 32)."""
    threads = math.prod(block)
    number = np.arange(-(-threads // LANES) * LANES)
    axes = (number % block[0], number // block[0] % block[1], number // (block[0] * block[1]))
    table = np.stack([axis.reshape(-1, LANES) for axis in axes], axis=1).astype(np.int32)
    room = np.zeros(table.size + 32, np.int32)  # native code reads whole aligned vectors
    start = (-room.ctypes.data % 128) // 4
    room[start : start + table.size] = table.ravel()
    return room[start:]
