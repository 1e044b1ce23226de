"""One launch: hands blocks to workers, then puts together what they counted and found."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from mmap import MADV_DONTNEED, PAGESIZE, mmap
from typing import Any

import numpy as np

from grader.emulator.machine.counters import l2_bytes, tally
from grader.emulator.machine.findings import Launched
from grader.emulator.machine.host import HostCalls
from grader.emulator.machine.memory import Memory, host_address
from grader.emulator.machine.records import Finding, LaunchRecord
from grader.emulator.machine.worker import Array, Worker
from grader.emulator.ptx.plan import KernelPlan
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import GLOBAL_BASE, LANES

Shape = tuple[int, int, int]
_STATUS = {
    layout.DONE: "completed",
    layout.BUDGET_SPENT: "budget exhausted",
    layout.TRAPPED: "trap",
    layout.DEADLOCKED: "deadlock",
}
_CHUNKS_A_WORKER = 16


@dataclass
class LaunchExecution:
    """Everything that one launch is."""

    memory: Memory
    touched: Sequence[mmap]
    """A byte per 32-byte sector of the arena: loaded, and which words were stored."""
    last_writers: mmap
    """4 bytes per word, as far as anything is allocated: its last writer."""
    plan: KernelPlan
    code: int
    state_bytes: int
    variables: dict[str, tuple[int, int]]
    grid: Shape
    block: Shape
    shared_bytes: int
    params: bytes
    budget: int
    sm_count: int

    def run(self, workers: Sequence[Worker], linears: Array) -> int:
        """Runs the blocks with these linear numbers; the first status that is not DONE, if any."""
        self.allocations = self.memory.table()
        self.calls = HostCalls(self.memory, self.block)
        held = self._held()
        shared_slots = self._slots(held)
        for worker in workers:
            worker.prepare(self.plan, shared_slots, self.shared_bytes, self.state_bytes)
        chunks = self._chunks(linears, len(workers))
        guard = threading.Lock()

        def work(worker: Worker) -> int:
            while True:
                with guard:
                    chunk = next(chunks, None)
                if chunk is None:
                    return layout.DONE
                status = worker.run(self.code, chunk)
                if status != layout.DONE:
                    return status

        if len(workers) == 1:
            return work(workers[0])
        with ThreadPoolExecutor(len(workers)) as pool:
            return max(pool.map(work, workers))

    def _held(self) -> dict[str, np.ndarray[Any, Any]]:
        """Arrays that native code reads; kept alive by the caller."""
        addresses = [self.variables[name][0] for name in self.plan.symbols]
        constants = [self.variables[name] for name in self.plan.constants]
        size = max(self.plan.param_bytes, len(self.params), 1)
        blocks = min(math.prod(self.grid), layout.BLOCK_NUMBERS) if self.plan.blocks_wait else 0
        return {
            "fences": np.zeros(blocks, np.int64),
            "symbols": np.array([*addresses, 0], np.int64),
            "constants": np.array([[at, at + nbytes] for at, nbytes in constants] + [[0, 0]], np.int64),
            "params": np.frombuffer(self.params.ljust(size, b"\0"), np.uint8).copy(),
            "tids": thread_indices(self.block),
        }

    def _slots(self, held: dict[str, np.ndarray[Any, Any]]) -> dict[str, int]:
        """The context slots that are the same for all workers."""
        self.arrays = held
        return {
            "HOST_DELTA": self.memory.host_delta,
            "ALLOCATIONS": self.allocations.ctypes.data,
            "ALLOCATION_COUNT": len(self.allocations) // 2,
            "PARAM_HOST": held["params"].ctypes.data,
            "PARAM_BYTES": self.plan.param_bytes,
            "TIDS": held["tids"].ctypes.data,
            "CONSTANTS": held["constants"].ctypes.data,
            "CONSTANT_COUNT": len(self.plan.constants),
            "SYMBOLS": held["symbols"].ctypes.data,
            "TOUCHED_READ": host_address(self.touched[0]),
            "TOUCHED_WRITE": host_address(self.touched[1]),
            "LAST_WRITERS": host_address(self.last_writers),
            "FENCES": held["fences"].ctypes.data if self.plan.blocks_wait else 0,
            "WARPS_WAIT": int(self.plan.warps_wait),
            "THREADS": math.prod(self.block),
            "BLOCK_BUDGET": self.budget,
            "SM_COUNT": self.sm_count,
            "HOST_CALL": self.calls.address,
            **dict(zip(("GRID_X", "GRID_Y", "GRID_Z"), self.grid, strict=True)),
            **dict(zip(("BLOCK_DIM_X", "BLOCK_DIM_Y", "BLOCK_DIM_Z"), self.block, strict=True)),
        }

    def _chunks(self, linears: Array, workers: int) -> Iterator[Array]:
        size = max(1, len(linears) // (workers * _CHUNKS_A_WORKER)) if workers > 1 else max(len(linears), 1)
        return iter([linears[i : i + size] for i in range(0, len(linears), size)])

    def record(self, workers: Sequence[Worker], registers: int, status: int, blocks_run: int) -> LaunchRecord:
        """What the launch counted and found."""
        sites = np.sum([w.site_table() for w in workers], axis=0)
        blocks = np.sum([w.blocks for w in workers], axis=0).reshape(-1, 2)
        lanes = np.sum([w.lanes for w in workers], axis=0)
        counted = tally(self.plan, blocks, lanes, sites)
        l2_read, l2_written = l2_bytes(self.plan, sites)
        found = Launched(
            self.plan, self.memory, self.variables, self.grid, self.block, self.shared_bytes
        ).findings(workers)
        return LaunchRecord(
            kernel=self.plan.name, grid=self.grid, block=self.block, shared_bytes=self.shared_bytes,
            registers=registers, status=_STATUS[status], counters=counted.total,
            line_counters={line: dict(values) for line, values in sorted(counted.lines.items())},
            findings=found + self._trap(workers, status), blocks_run=blocks_run, grid_blocks=math.prod(self.grid),
            dram_read_bytes=32 * self._touched_sectors(self.touched[0]),
            dram_write_bytes=32 * self._touched_sectors(self.touched[1]),
            l2_read_bytes=l2_read, l2_write_bytes=l2_written,
        )  # fmt: skip

    def _trap(self, workers: Sequence[Worker], status: int) -> tuple[Finding, ...]:
        if status != layout.TRAPPED:
            return ()
        return (self.calls.failure or Finding("trap", 0, 1),)

    def _touched_sectors(self, area: mmap) -> int:
        """How many sectors were touched; clears the marks."""
        marks = np.frombuffer(area, np.uint8)
        total = 0
        for low, high in self.allocations.reshape(-1, 2).tolist():
            if high == 0:
                continue
            first, last = (low - GLOBAL_BASE) // 32, -(-(high - GLOBAL_BASE) // 32)
            total += int(np.count_nonzero(marks[first:last]))
            inner, end = -(-first // PAGESIZE) * PAGESIZE, last // PAGESIZE * PAGESIZE
            if end - inner < 64 * PAGESIZE:
                marks[first:last] = 0
                continue
            marks[first:inner] = 0
            marks[end:last] = 0
            area.madvise(MADV_DONTNEED, inner, end - inner)
        return total


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
