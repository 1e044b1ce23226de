"""Trying a kernel on cases: the part of judging that climbs and grades share."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice
from queue import SimpleQueue

from msgspec import structs

from grader.analysis.occupancy import WARP
from grader.emulator import metrics
from grader.emulator.machine.orders import CROWDED, EVEN_FIRST, ORDERS, REVERSED, SWITCHED, Order
from grader.findings import origins
from grader.findings.origins import Told
from grader.judge.child.protocol import Record
from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case, CaseStore
from grader.judge.correctness.verdict import (
    of_later_call,
    of_meetings,
    of_one_multiprocessor,
    of_order,
    of_warps,
)
from grader.judge.kernels import case_run, sampling
from grader.judge.kernels.case_run import CaseRun, Outcome
from grader.judge.kernels.compiled import Kernel, Planned
from grader.judge.kernels.counting import product
from grader.judge.kernels.limits import Limits
from grader.judge.refused import Lost, Refused
from grader.judge.runners.runner import Runner
from grader.results import Accuracy, CaseResult
from grader.workbook import cuda_source
from grader.workbook.reference import Problem
from grader.workbook.topic import Topic

GPU_SECONDS = 8.0
"""After this long a case on a GPU is an endless loop: its longest honest relative takes milliseconds."""

EMULATOR_SECONDS = 300.0
EMULATOR_RATE = 50e6
"""The last guard on the emulator, where the instruction budget has long spoken: these seconds, and one more
for so many operations and bytes of the problem."""

AT_THE_END = 0.5
"""Seconds that cases under way have left where another is refused: the larger ones may take long."""

SMALL = 1 << 18
"""Up to so many operations and bytes, a case of a kernel whose blocks communicate is run in every order."""

MIDDLE = 1 << 21
"""Likewise, where it keeps something from call to call: calls in which its blocks take turns. It has tens of blocks, so
that hardly any is the last one by chance."""

FEW_MULTIPROCESSORS = 5
"""Of a smaller device: there the cases, which are small, are more than one tile for each."""

OTHER_MULTIPROCESSORS = (114, 78, 188)
"""Of other devices, in turn over the sizes: an H100 on PCIe, an H20, and an RTX PRO 6000, which has more."""

ON_FEWER = "As if the GPU had"
"""How the reason begins why a kernel is wrong on such a device."""

BLOCKS = 1_000_000
"""So many blocks the emulator always runs, and one more for each operation or byte of the problem."""


def work(topic: Topic, problem: Problem) -> int:
    """A measure of how much there is to do: the operations and bytes that no algorithm can do without."""
    return topic.reference.min_flop(problem) + topic.reference.min_bytes(problem)


def instruction_budget(topic: Topic, problem: Problem) -> int:
    """Warp instructions that one block may execute on the emulator before its loop is called endless.

    A naive kernel needs about ten instructions a multiply-add or an element moved, shared among all its
    threads. This is enough for a single thread to do the whole problem alone, or for a block to fill a tile of which
    the problem needs a corner, and the same on every machine. Of all ladders, an implicit GEMM takes most for that, 3.3
    million; a product of K = 3000 whose sums lie in local memory takes 16 million.
    """
    return 24_000_000 + 16 * work(topic, problem)


def emulator_seconds(topic: Topic, problem: Problem) -> float:
    """How long the emulator may take for a problem before its process is ended."""
    return EMULATOR_SECONDS + work(topic, problem) / EMULATOR_RATE


@dataclass(frozen=True)
class CaseRunner:
    """Tries kernels on a topic's cases, in one runner, or of several cases in others as well."""

    topic: Topic
    store: CaseStore
    child: Runner
    most: int | None = None  # warp instructions of a block, where a case's own budget is larger
    others: Sequence[Runner] = ()

    def outcomes(
        self, kernel: Kernel, cases: Iterable[Case], quick: Collection[Case] = ()
    ) -> Iterator[tuple[Case, Outcome]]:
        """Cases with their outcomes, in their order, up to the first that is refused; those that are `quick` are not
        run thoroughly.

        The first is run alone: most kernels that are wrong are wrong there. The others are run as many at a time as
        there are children; none runs any more when a refusal is told, and one that takes long by then is ended.
        """
        children: SimpleQueue[Runner] = SimpleQueue()
        for child in (self.child, *self.others):
            children.put(child)
        at_work: set[Runner] = set()

        def run(case: Case) -> Outcome:
            child = children.get()
            at_work.add(child)
            try:
                alone = replace(self, child=child, others=())
                return alone.outcome(kernel, case, thorough=case not in quick)
            finally:
                at_work.remove(child)
                children.put(child)

        left, begun, ahead = iter(cases), deque[tuple[Case, Future[Outcome]]](), 1
        with ThreadPoolExecutor(1 + len(self.others)) as pool:
            while True:
                begun.extend((case, pool.submit(run, case)) for case in islice(left, ahead - len(begun)))
                if not begun:
                    return
                case, future = begun.popleft()
                outcome = future.result()
                if outcome.refusal is not None:
                    _end(pool, [other for _, other in begun], at_work)
                    left, begun = iter(()), deque()
                yield case, outcome
                ahead = 1 + 2 * len(self.others)

    def outcome(self, kernel: Kernel, case: Case, *, thorough: bool = True) -> Outcome:
        """Run one case and look at everything the kernel did; `thorough`: on a smaller device as well, with blocks in
        other orders, and after other calls."""
        outcome = Outcome()
        try:
            self._run(kernel, case, outcome, thorough)
        except Refused as refused:
            outcome.refusal = refused.kept()
        return outcome

    def _run(self, kernel: Kernel, case: Case, outcome: Outcome, thorough: bool) -> None:
        hello = self.child.hello()
        planned = kernel.plan(case.problem, hello.limits)
        if hello.kind == "emulator":
            _check_number_of_blocks(planned, work(self.topic, case.problem))
        attempt = CaseRun(kernel, planned, case, self.store.get(case))
        self._once(attempt, outcome)
        if not thorough:
            return
        again = []
        fewer = self._on_fewer(kernel, case, planned) or self._on_others(kernel, case, planned, outcome)
        if fewer is not None:
            again.append(replace(attempt, planned=fewer[0], multiprocessors=fewer[1]))
        if any(record.communicates for record in outcome.records):
            again += [replace(attempt, order=order) for order in self._orders(case, outcome.records)]
        elif any(map(_warps_meet, outcome.records)) and work(self.topic, case.problem) <= SMALL:
            again.append(replace(attempt, order=REVERSED))
        if kernel.meets_in_part and work(self.topic, case.problem) <= SMALL:
            again.append(replace(attempt, order=EVEN_FIRST))
        if _may_wait(outcome.records):
            if self._crowded_later(kernel):
                again.insert(0, replace(attempt, order=CROWDED))
        elif kernel.asks_for_multiprocessor and work(self.topic, case.problem) <= SMALL:
            again.append(replace(attempt, order=CROWDED))
        if case.kind == "exact" and kernel.keeps_state:
            before = self._other(kernel, case)
            again += [
                replace(attempt, order=order, after=replace(before, order=order), third_call=third)
                for order, third in self._later_calls(case, outcome.records)
            ]
        for other in again:
            self._run_again(other, self._seconds(case), outcome)

    def on_one(self, kernel: Kernel, case: Case) -> Outcome | None:
        """Run one case on a device of one multiprocessor; None where the grid is the same there, or there is none."""
        limits = self.child.hello().limits
        planned = on_fewer(kernel, case.problem, limits, multiprocessors=1)
        if planned is None or planned.launches == kernel.plan(case.problem, limits).launches:
            return None
        return self.once(CaseRun(kernel, planned, case, self.store.get(case)))

    def once(self, attempt: CaseRun) -> Outcome:
        """Run a case as it is planned, and in no other way."""
        outcome = Outcome()
        try:
            self._once(attempt, outcome)
        except Refused as refused:
            outcome.refusal = refused.kept()
        return outcome

    def origin_of_nan(self, kernel: Kernel, case: Case) -> Told | None:
        """Which operation of a case makes the first NaN; None where none does, and on a GPU."""
        planned = kernel.plan(case.problem, self.child.hello().limits)
        attempt = CaseRun(kernel, planned, case, self.store.get(case), watch_nan=True)
        return origins.told(self.once(attempt).records)

    def _once(self, attempt: CaseRun, outcome: Outcome) -> None:
        budget = self.budget(attempt.case)
        case_run.run(self.child, attempt, budget, self._seconds(attempt.case), outcome)

    def budget(self, case: Case) -> int:
        """Warp instructions that a block may execute."""
        budget = instruction_budget(self.topic, case.problem)
        return budget if self.most is None else min(budget, self.most)

    def _seconds(self, case: Case) -> float:
        """How long a case may take on this device."""
        on_gpu = self.child.hello().kind == "gpu"
        return GPU_SECONDS if on_gpu else emulator_seconds(self.topic, case.problem)

    def _on_fewer(self, kernel: Kernel, case: Case, planned: Planned) -> tuple[Planned, int] | None:
        """The launches on a smaller device, and its multiprocessors, where the kernel computes with their number: of
        an exact case among the topic's. Where the grids alone do, of the largest small one, on a single multiprocessor:
        the blocks go round there too. None: they are the same, or are not possible there."""
        if case.kind != "exact" or case.problem not in self.topic.judge_cases:
            return None
        limits = self.child.hello().limits
        fewer = on_fewer(kernel, case.problem, limits)
        if fewer is not None and _computed(fewer) != _computed(planned):
            return fewer, FEW_MULTIPROCESSORS
        if case.problem != self._largest_small():
            return None
        one = on_fewer(kernel, case.problem, limits, multiprocessors=1)
        return None if one is None or one.launches == planned.launches else (one, 1)

    def _on_others(
        self, kernel: Kernel, case: Case, planned: Planned, outcome: Outcome
    ) -> tuple[Planned, int] | None:
        """The launches on another device, and its multiprocessors, where the kernel computes with their number: of a
        real case among the topic's that is not large. What waits for blocks that all fit is not run with more."""
        if case.kind != "real" or case.secret or case.problem not in self.topic.judge_cases:
            return None
        limits, place = self.child.hello().limits, self.topic.judge_cases.index(case.problem)
        count = OTHER_MULTIPROCESSORS[place % len(OTHER_MULTIPROCESSORS)]
        waits = not outcome.records or _may_wait(outcome.records)  # a GPU does not say
        if count > limits["multiprocessor_count"] and waits:
            return None
        other = on_fewer(kernel, case.problem, limits, count)
        middle = work(self.topic, case.problem) <= MIDDLE
        return (other, count) if middle and other and _computed(other) != _computed(planned) else None

    def _largest_small(self) -> Problem | None:
        """The topic's small size with the most work."""
        small = [size for size in self.topic.judge_cases if work(self.topic, size) <= SMALL]
        return max(small, key=lambda size: work(self.topic, size), default=None)

    def _orders(self, case: Case, records: Sequence[Record]) -> Sequence[Order]:
        """The orders in which to run the blocks besides that of their numbers: all for a small case, else one, so that
        they take turns over the sizes; and the one in which blocks take turns at accesses, which shows how they share
        work that they draw by a counter, and whether what they wait for was set before."""
        others = ORDERS[1:]
        if work(self.topic, case.problem) <= SMALL:
            return others
        drawn = sampling.takes_turns(records) and any(map(sampling.uneven, records))
        turns = drawn or _may_wait(records)
        one = others[int(sum(case.problem.values())) % len(others)]
        return (one, SWITCHED) if turns and one != SWITCHED else (one,)

    def _later_calls(self, case: Case, records: Sequence[Record]) -> Iterator[tuple[Order, bool]]:
        """In which orders blocks run where a kernel is called again, and whether the third call is looked at. What one
        call leaves to the next in a variable hangs on which of its blocks come last, where they communicate."""
        yield ORDERS[0], self._is_every_other(case)
        if work(self.topic, case.problem) <= MIDDLE and any(record.communicates for record in records):
            yield SWITCHED, False
            yield SWITCHED, True

    def _crowded_later(self, kernel: Kernel) -> bool:
        """Whether there are more blocks at the main size than the device holds at a time."""
        limits = self.child.hello().limits
        try:
            planned = kernel.plan(self.topic.sizes_main, limits)
        except Refused:  # which is said when that size is looked at
            return False
        each = limits["max_threads_per_multiprocessor"], limits["max_blocks_per_multiprocessor"]
        threads, blocks = (limits["multiprocessor_count"] * most for most in each)
        grids = ((product(launch.grid), product(launch.block)) for launch in planned.launches)
        return any(count > blocks or count * size > threads for count, size in grids)

    def _is_every_other(self, case: Case) -> bool:
        """Whether a case is every other one of the topic's sizes: results of odd and of even calls are compared."""
        sizes = self.topic.judge_cases
        return case.problem in sizes and sizes.index(case.problem) % 2 == 1

    def _other(self, kernel: Kernel, case: Case) -> CaseRun:
        """A case of another size: of the one before this one's among the topic's; with special values, if there are
        any, which would be kept as well. Raises Refused."""
        sizes = self.topic.judge_cases
        place = sizes.index(case.problem) if case.problem in sizes else 0
        kind = case.kind if self.topic.special_inputs is None else cases.SPECIAL
        other = cases.make(sizes[place - 1], kind, case.seed)
        planned = kernel.plan(other.problem, self.child.hello().limits)
        return CaseRun(kernel, planned, other, self.store.get(other))

    def _run_again(self, attempt: CaseRun, seconds: float, outcome: Outcome) -> None:
        """Run a case in another order, or after others. What it counts there is not kept, but for how blocks share
        their work: of what is drawn by a counter, a block that runs alone takes all. Raises Refused."""
        again = Outcome()
        runs = (attempt, attempt.after) if attempt.after else (attempt,)
        budget = max(self.budget(each.case) for each in runs)
        try:
            case_run.run(self.child, attempt, budget, seconds, again)
        except Lost:
            raise
        except Refused as refused:
            outcome.findings, outcome.comparison = again.findings, again.comparison
            outcome.planned = again.planned
            raise self._of_again(refused, attempt, outcome) from None
        if attempt.order == SWITCHED and not attempt.after:
            outcome.records = tuple(map(_shared_as, outcome.records, again.records))

    def _of_again(self, refused: Refused, attempt: CaseRun, first: Outcome) -> Refused:
        if attempt.after:
            return of_later_call(refused, cuda_source.has_static(attempt.kernel.file.source))
        if attempt.order == EVEN_FIRST:
            return of_meetings(refused)
        if attempt.order == CROWDED and not _may_wait(first.records):
            return of_one_multiprocessor(refused)
        if attempt.order != ORDERS[0]:
            blocks_meet = any(record.communicates and record.grid_blocks > 1 for record in first.records)
            return of_order(refused, attempt.order) if blocks_meet else of_warps(refused)
        count = attempt.multiprocessors
        device = f"{count} multiprocessors" if count != 1 else "one multiprocessor"
        more = count and count > self.child.hello().limits["multiprocessor_count"]
        so_that = "there are more blocks" if more else "each block has more to do"
        return refused.saying(f"{ON_FEWER} {device}, so that {so_that}: {refused.reason}")


def _end(pool: ThreadPoolExecutor, begun: Collection[Future[Outcome]], at_work: Collection[Runner]) -> None:
    """Have no case run any more: of those that were begun, the children that are still at work are replaced."""
    pool.shutdown(wait=False, cancel_futures=True)
    wait(begun, AT_THE_END)
    late = [*at_work]
    for child in late:
        child.interrupt()
    pool.shutdown()
    for child in late:
        child.restart()


def on_fewer(
    kernel: Kernel, problem: Problem, limits: Limits, multiprocessors: int = FEW_MULTIPROCESSORS
) -> Planned | None:
    """The launches for a problem on a device with few multiprocessors; None where they are not possible there."""
    try:
        return kernel.plan(problem, {**limits, "multiprocessor_count": multiprocessors})
    except Refused:
        return None


def _computed(planned: Planned) -> list[tuple[str, tuple[object, ...]]]:
    """Which kernels are launched, with which arguments."""
    return [(launch.symbol, launch.args) for launch in planned.launches]


def _may_wait(records: Collection[Record]) -> bool:
    """Whether blocks may wait for others."""
    return any(record.may_wait for record in records)


def _warps_meet(record: Record) -> bool:
    """Whether warps of a block may meet at atomics, which are no race in whatever order they come."""
    return math.prod(record.block) > WARP and any(map(record.counters.get, metrics.SHARED_ATOMICS.values()))


def _shared_as(record: Record, other: Record) -> Record:
    """A record whose blocks share the work as another's do, if those share it more evenly."""
    return structs.replace(
        record,
        longest_warp=min(record.longest_warp, other.longest_warp),
        longest_block=min(record.longest_block, other.longest_block),
        most_loaded_bytes=min(record.most_loaded_bytes, other.most_loaded_bytes),
        load_path=min(record.load_path, other.load_path),
    )


def _check_number_of_blocks(planned: Planned, operations: int) -> None:
    """Refuse blocks in such numbers that most have nothing to do, and the emulator would not come to an end."""
    blocks = sum(product(launch.grid) for launch in planned.launches)
    if blocks > BLOCKS + operations:
        raise Refused(
            "error",
            f"The grids have {blocks:,} blocks, where the problem has only {operations:,} operations and bytes. "
            "Compute `grid` from the sizes, with cdiv.",
        )


def case_result(case: Case, outcome: Outcome, runner: CaseRunner, file: str) -> CaseResult:
    """A case as results show it."""
    refusal, comparison = outcome.refusal, outcome.comparison
    return CaseResult(
        problem=case.problem,
        seed=None if case.secret and refusal is None else case.seed,
        verdict="pass" if refusal is None else refusal.verdict,
        error=None if comparison is None else comparison.error,
        first_mismatch=None if comparison is None else comparison.mismatch,
        kind=case.kind,
        reason=None if refusal is None else refusal.reason,
        reproduce=None if refusal is None else case.reproduce(runner.topic.name, file),
        yardstick_error=None if comparison is None else runner.store.yardstick_error(case),
        error_bound=None if comparison is None else comparison.bound,
    )


def error_bound(cases: Sequence[CaseResult]) -> str | None:
    """The algorithm whose error bound was needed for a case, if any was."""
    return next((case.error_bound for case in cases if case.error_bound is not None), None)


def accuracy(topic: Topic, cases: Sequence[CaseResult]) -> Accuracy | None:
    """The case with the largest error, among those that the topic's yardstick was applied to and whose error is a
    number: of an infinity where none belongs, the case itself says all."""
    found = [
        Accuracy(case.problem, case.error, topic.tolerance.yardstick, case.yardstick_error)
        for case in cases
        if topic.tolerance.yardstick is not None
        and case.error is not None
        and math.isfinite(case.error)
        and case.yardstick_error is not None
    ]
    return max(found, key=lambda item: item.error, default=None)
