"""Marking processes on this machine, each asked by a thread of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from queue import SimpleQueue

import msgspec

from grader.course.engines.process import Process
from grader.course.orders import Answer, Order, on_gpu
from grader.emulator.machine.cores import usable
from grader.emulator.runtime.build import prepare


@dataclass(frozen=True)
class Threads:
    """So many marking processes, which share the machine's cores."""

    jobs: int

    def answers(self, orders: Sequence[Order], seconds: float) -> Iterator[tuple[int, Answer]]:
        """See `Engine`. On a GPU one order is at work at a time: times are measured there."""
        jobs = 1 if on_gpu(orders) else min(self.jobs, len(orders))
        if not jobs:
            return
        prepare()  # once, and here, where a terminal shows how far it is
        processes = [Process() for _ in range(jobs)]
        free: SimpleQueue[Process] = SimpleQueue()
        for process in processes:
            free.put(process)
        threads = max(1, usable() // jobs)

        def one(order: Order) -> Answer:
            process = free.get()
            try:
                return process.ask(msgspec.structs.replace(order, threads=threads, jobs=jobs), seconds)
            finally:
                free.put(process)

        pool = ThreadPoolExecutor(jobs)
        try:
            places = {pool.submit(one, order): place for place, order in enumerate(orders)}
            for done in as_completed(places):
                yield places[done], done.result()
        finally:  # the caller may have had enough
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.end()
            pool.shutdown()
            for process in processes:
                process.close()
