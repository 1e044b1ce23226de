"""One launch: hands blocks to workers, then puts together what they counted and found."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.emulator import metrics
from grader.emulator.codegen.native_code import NativeCode
from grader.emulator.devices import EmulatedDevice, max_active_blocks
from grader.emulator.machine.block_trace import BlockTrace
from grader.emulator.machine.counters import l2_bytes, tally
from grader.emulator.machine.findings import Launched
from grader.emulator.machine.host import HostCalls
from grader.emulator.machine.memory import Memory
from grader.emulator.machine.orders import CROWDED, SWITCHED, Order, arranged, seed
from grader.emulator.machine.records import Finding, LaunchRecord, Touched
from grader.emulator.machine.touched import TouchedByBlocks
from grader.emulator.machine.traces import Traces, warps_of
from grader.emulator.machine.worker import Array, Worker
from grader.emulator.ptx.plan import KernelPlan, Site
from grader.emulator.ptx.tree import Instruction
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import LANES

Shape = tuple[int, int, int]
_STATUS = {
    layout.DONE: "completed",
    layout.BUDGET_SPENT: "budget exhausted",
    layout.LAUNCH_BUDGET_SPENT: "launch budget exhausted",
    layout.TRAPPED: "trap",
    layout.DEADLOCKED: "deadlock",
    layout.STARVED: "starved",
}
_CHUNKS_A_WORKER = 16

TOGETHER = 4
"""Budgets of a block that the blocks of a launch may take together. Blocks that take turns may take one each: how often
a block looks for what it waits for says nothing of the work."""

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
    trace: BlockTrace | None = None
    found: tuple[Touched, ...] = ()
    """By sampled blocks."""
    updated_first: int = 0
    """Words that atomics of the first sampled block have updated."""

    def run(self, workers: Sequence[Worker], linears: Array, order: Order) -> LaunchRecord:
        """Runs the blocks with these linear numbers.

        Where threads may have met in global memory, or not all went well, the launch is undone and repeated on one
        thread in the given order, with its accesses tracked: so what is found depends on nothing but the kernel, its
        data and the order.
        """
        self._prepare()
        if not (self.compiled.tracked or self.plan.meets or order != "rising"):
            status = self._attempt(workers, linears, self._slots())
            conflict = any(worker.context[layout.CONFLICT] for worker in workers)
            if status == layout.DONE and not conflict and not self.traces.conflict(self.plan):
                return self.record(workers, status, len(linears), tracked=False)
            self.compiled.tracked = status == layout.DONE
            self.traces.undo()
            self.traces.clear(self.plan, tracked=False)
        slots = self._slots() | self.traces.tracking_slots(
            self.plan, warps_of(self.block), math.prod(self.grid), late=order == SWITCHED
        )
        slots["RANDOM"] = seed(order)
        residents = self._residents(len(linears), order) if self._takes_turns(order) else 1
        status = self._attempt(workers[:1], arranged(linears, order), slots, residents)
        return self.record(workers[:1], status, len(linears), tracked=True)

    def sample(self, worker: Worker, linears: Array, enough: int | None) -> LaunchRecord:
        """Runs blocks one after the other, from FEWEST on only until they have taken `enough`, in warp instructions of
        the usual effort. That threads meet in global memory is not looked for."""
        self._prepare()
        slots = self._slots() | {"LAUNCH_BUDGET": NO_BUDGET}
        slots["LENIENT"] = layout.WITH_WARPS if self.plan.fences else 0  # what is published is not kept
        worker.prepare(self.plan, slots, self.shared_bytes, self.compiled.state_bytes, residents=1)
        touched = TouchedByBlocks(self.traces.loaded, self.traces.stored, self.allocations)
        efforts, looking = _efforts(self.plan), 0
        effort, status, run = 0, layout.DONE, 0
        while (
            run < len(linears)
            and status == layout.DONE
            and (enough is None or effort < enough or run < FEWEST)
        ):
            status = worker.run(self.compiled.address, linears[run : run + 1])
            run += 1
            if run == 1 and any(map(_updates, self.plan.sites)):
                self.updated_first = self.traces.updated_words()
            looking += PAGE_EFFORT * touched.look()
            effort = looking + int(worker.blocks[::2] @ efforts)
        self.found = touched.found()
        return self.record([worker], status, run, tracked=False)

    def _prepare(self) -> None:
        self.plan = self.compiled.plan
        self.allocations = self.memory.table()
        self.calls = HostCalls(self.memory, self.block)

    def _takes_turns(self, order: Order) -> bool:
        return self.plan.blocks_wait and (self.plan.may_spin or order == SWITCHED)

    def _residents(self, blocks: int, order: Order) -> int:
        """How many of the blocks the device, or one multiprocessor of it, holds at a time."""
        threads = math.prod(self.block)
        fit = max_active_blocks(self.device, threads, self.registers, self.shared_bytes)
        multiprocessors = 1 if order == CROWDED else self.device.attributes["multiprocessor_count"]
        return max(1, min(blocks, fit * multiprocessors))

    def _attempt(
        self, workers: Sequence[Worker], linears: Array, slots: dict[str, int], residents: int = 1
    ) -> int:
        """Runs the blocks; a status that is not DONE, if any. What threads have executed is added up, so that how many
        they are means nothing."""
        for worker in workers:
            worker.prepare(self.plan, slots, self.shared_bytes, self.compiled.state_bytes, residents)
        status = self._run(workers, linears)
        executed = sum(int(worker.context[layout.EXECUTED]) for worker in workers)
        spent = status == layout.DONE and executed > slots["LAUNCH_BUDGET"]
        return layout.LAUNCH_BUDGET_SPENT if spent else status

    def _run(self, workers: Sequence[Worker], linears: Array) -> int:
        first, *others = workers
        start = time.perf_counter()
        chunks = deque(self._chunks(linears, len(workers)))
        status = first.run(self.compiled.address, chunks.popleft())

        def work(worker: Worker) -> int:
            status = layout.DONE
            with suppress(IndexError):  # no chunk is left
                while status == layout.DONE:
                    status = worker.run(self.compiled.address, chunks.popleft())
            return status

        seconds_left = (time.perf_counter() - start) * len(chunks)
        if status != layout.DONE:
            return status
        if not others or seconds_left < WORTH_A_THREAD:
            return work(first)
        with ThreadPoolExecutor(len(others)) as pool:
            helped = pool.map(work, others)
            return max(work(first), *helped)

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
        return self.traces.slots() | {
            "HOST_DELTA": self.memory.host_delta,
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
            "SM_COUNT": self.device.attributes["multiprocessor_count"],
            "HOST_CALL": self.calls.address,
            "TRACE": self.trace.begin() if self.trace else 0,
            **dict(zip(("GRID_X", "GRID_Y", "GRID_Z"), self.grid, strict=True)),
            **dict(zip(("BLOCK_DIM_X", "BLOCK_DIM_Y", "BLOCK_DIM_Z"), self.block, strict=True)),
        }

    def _chunks(self, linears: Array, workers: int) -> list[Array]:
        size = max(1, len(linears) // (workers * _CHUNKS_A_WORKER)) if workers > 1 else max(len(linears), 1)
        return [linears[i : i + size] for i in range(0, len(linears), size)]

    def record(
        self, workers: Sequence[Worker], status: int, blocks_run: int, *, tracked: bool
    ) -> LaunchRecord:
        """What the launch counted and found."""
        sites = np.sum([w.site_table() for w in workers], axis=0)
        blocks = np.sum([w.blocks for w in workers], axis=0).reshape(-1, 2)
        lanes = np.sum([w.lanes for w in workers], axis=0)
        counted = tally(self.plan, blocks, lanes, sites)
        l2_read, l2_written = l2_bytes(self.plan, sites)
        launched = Launched(self.plan, self.memory, self.variables, self.grid, self.block, self.shared_bytes)
        found = launched.findings(workers)
        loaded, stored = self.traces.sectors()
        atomics_a_word = self._atomics_a_word(sites, blocks_run)
        self.traces.clear(self.plan, tracked=tracked)
        return LaunchRecord(
            kernel=self.plan.name, grid=self.grid, block=self.block, shared_bytes=self.shared_bytes,
            registers=self.registers, status=_STATUS[status], counters=counted.total,
            line_counters={line: dict(values) for line, values in sorted(counted.lines.items())},
            findings=found + self._trap(workers, status), blocks_run=blocks_run, grid_blocks=math.prod(self.grid),
            dram_read_bytes=32 * loaded, dram_write_bytes=32 * stored,
            l2_read_bytes=l2_read, l2_write_bytes=l2_written,
            longest_warp=max(int(w.context[layout.LONGEST_WARP]) for w in workers), touched=self.found,
            shared_used_bytes=max(int(w.context[layout.SHARED_USED]) for w in workers) << self.plan.shadow_shift,
            reads_beside_writes=sum(int(w.context[layout.READS_BESIDE_WRITES]) for w in workers),
            communicates=tracked or self.plan.serial, may_wait=self.plan.may_spin and self.plan.blocks_wait,
            atomics_a_word=atomics_a_word, accessed=self.trace.accessed(launched) if self.trace else (),
        )  # fmt: skip

    def _atomics_a_word(self, sites: np.ndarray[Any, Any], run: int) -> float:
        """Blocks that were not run are taken to update as many words for the first time as those after the first."""
        lanes = sum(int(sites[site.index][layout.ACCESS_LANES]) for site in self.plan.sites if _updates(site))
        words = float(self.traces.updated_words()) if lanes else 0.0
        if not words:  # lanes that were out of bounds have updated nothing
            return 0.0
        blocks = math.prod(self.grid)
        if run < blocks:
            each = (words - self.updated_first) / (run - 1) if run > 1 else words
            words = self.updated_first + each * (blocks - 1)
        return lanes * blocks / run / words

    def _trap(self, workers: Sequence[Worker], status: int) -> tuple[Finding, ...]:
        if status != layout.TRAPPED:
            return ()
        return (self.calls.failure or Finding("trap", 0, 1),)


def _efforts(plan: KernelPlan) -> Array:
    """What a warp's way through each basic block takes, in warp instructions of the usual effort."""
    return np.array(
        [
            sum(MATRIX_EFFORT if _multiplies_matrices(inst) else 1 for inst in block.instructions)
            + (block.terminator is not None)
            for block in plan.flow.blocks
        ],
        np.int64,
    )


def _multiplies_matrices(inst: Instruction) -> bool:
    return "mma" in inst.parts[:2]


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
