"""Sizes too large to emulate whole are looked at: a few blocks of each launch are run on arrays of full size.

Inputs are one pattern of a prime number of pages, repeated, which takes no more memory than the pattern; outputs and
scratch arrays are memory that is not there until it is written. Blocks at the ends of the grid are run and others that
nobody knows beforehand. What they do must stay inside of the arrays; what they write must be right, wherever it
follows from inputs alone; and with what is known of them, all blocks together must be able to write every output and
to read every input. A kernel whose blocks wait for others, or take too long or too
much memory, is not looked at any further.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import cached_property, partial
from threading import Event
from typing import Any

import numpy as np
from msgspec.structs import replace

from grader.emulator.machine.orders import CROWDED, Order
from grader.emulator.machine.records import WORD
from grader.findings.phrases import below_device_memory
from grader.judge.child.protocol import (
    Allocate,
    Gather,
    Launch,
    Operation,
    Record,
    Release,
    Reload,
    Repeat,
    Reply,
    Run,
)
from grader.judge.correctness.cases import bound
from grader.judge.correctness.comparison import held, number, within
from grader.judge.correctness.findings import MOST_OF_AN_INT, ArrayType, located, results
from grader.judge.correctness.verdict import NO_MEMORY, of_failure, of_findings, of_records
from grader.judge.kernels.case_run import as_bytes, named, records_of
from grader.judge.kernels.compiled import Kernel, Planned
from grader.judge.kernels.counting import product
from grader.judge.kernels.fresh import PATTERN_BYTES, drawn, even_tables
from grader.judge.kernels.large import other_ways, rare_blocks
from grader.judge.kernels.large.coverage import BEYOND, COVER, OTHERWISE, PASSED, RANGES, atomics, uncovered
from grader.judge.kernels.large.one_sum import OneSum, is_one, of_all_blocks, only_goes_on
from grader.judge.kernels.limits import Limits
from grader.judge.kernels.sampling import LONGEST_BLOCK
from grader.judge.kernels.thresholds import dimensions
from grader.judge.refused import GridEnds, Lost, NoRoom, Refused
from grader.judge.runners.pool import DevicePool
from grader.judge.runners.runner import Runner
from grader.results import FindingResult
from grader.workbook import compiler, units
from grader.workbook.cuda_source import index_of
from grader.workbook.reference import Problem, Sampled
from grader.workbook.suspects import integers
from grader.workbook.topic import KernelTopic

Array = np.ndarray[Any, np.dtype[Any]]

MOST_BLOCKS, MOST_ELSEWHERE = 64, 16
"""Blocks of a launch that are run at most at the main size, and at others; of a grid that has no more, all are."""

ENOUGH, ENOUGH_ELSEWHERE = 3_000_000, 1_000_000
"""Warp instructions of a launch's blocks after which no other is begun, at the main size and at others."""

LONGEST_ELSEWHERE = 8_000_000
"""Warp instructions of a block at other sizes, as LONGEST_BLOCK at the main size: one that waits for others, which are
not run, takes all of them."""

WAITING = {"budget exhausted", "starved", "waiting in vain"}
"""Launches of which nothing can be compared: a block takes long, or waits for others, which need not have been run."""

FURTHEST = 65_535 * 16
"""Beyond it, a kernel need not be launched at all. A grid may end before: it has to be right so far and no further."""

BEYOND_A_SHORT = 70_001
"""A size that 16 bits do not hold, with a sign or without."""

MULTIPROCESSORS = 64
"""How many times as many as the device has, beyond the main size."""

SECONDS = 120.0

TERMS = 1 << 19
"""So many terms of sums are added up at most to know what outputs must be."""

SLACK = 16.0
"""Times the topic's error bound: an index that is wrong errs by far more, and algorithms with transforms by less."""


@dataclass(frozen=True)
class Patterns:
    """What inputs consist of, by name."""

    arrays: Mapping[str, Array]

    def read(self, name: str, places: Array) -> Array:
        """Elements of an input in float64."""
        pattern = self.arrays[name]
        found: Array = pattern[places % len(pattern)].astype(np.float64)
        return found

    def at(self, topic: KernelTopic, problem: Problem, seed: int) -> Patterns:
        """With the tables of a problem, which are there as a whole."""
        return Patterns({**self.arrays, **even_tables(topic, problem, np.random.default_rng(seed))})


def patterns(topic: KernelTopic, rng: np.random.Generator) -> Patterns:
    """Patterns of elements drawn from the topic's own exact inputs; ones, where what is added is counted."""
    found = drawn(topic, rng, "exact", PATTERN_BYTES)
    if is_one(topic, topic.sizes_main):
        found = {name: np.ones_like(array) for name, array in found.items()}
    return Patterns(found)


@dataclass(frozen=True)
class Looked:
    """What was found of a kernel that is right wherever an int counts an array's elements."""

    at_main: Sequence[Record] = ()
    """Of its launches at the main size, of the blocks that were run, to their end or not; none: there is no room."""

    beyond: str | None = None
    """Why it is wrong where an array has more elements than an int counts; None where it is not."""


def look(kernel: Kernel, topic: KernelTopic, pool: DevicePool, seed: int, left: Event) -> Looked:
    """Look at a kernel at the topic's main size and at its other large sizes, as many at a time as there are emulators.
    Raises Refused.

    Where reference.py says nothing about single elements, nothing is looked at. Once it is `left`, since the kernel is
    wrong elsewhere, no further size is looked at, and nothing that is found is of use.
    """
    if topic.sampled is None:
        return Looked()
    known = patterns(topic, np.random.default_rng(seed))
    sampled = topic.sampled
    with pool.emulator() as runner:
        limits = runner.hello().limits
    elsewhere = [
        *topic.sampled_cases,
        *other_ways.found(kernel, topic, limits["multiprocessor_count"]),
        *_beyond_shorts(kernel, topic, limits),
    ]

    def tried(problem: Problem, meet: bool) -> Sequence[Record] | Refused:
        if left.is_set():
            return ()
        try:
            return _records(kernel, topic, sampled, problem, pool, known, seed, meet)
        except Refused as refused:
            return refused

    # Whether blocks meet is known once the main size was looked at. Those that update global memory do, and few others:
    # where there are emulators for it the other sizes are looked at meanwhile, as if that were known.
    likely = compiler.updates_global_memory(kernel.build.ptx)
    meanwhile = [(problem, likely) for problem in elsewhere] if pool.jobs > 1 else []
    at_main, *said = pool.spread(lambda size: tried(*size), [(topic.sizes_main, True), *meanwhile])
    if isinstance(at_main, Refused):
        raise at_main
    meet = not ran_whole(at_main) or any(record.may_wait or record.communicates for record in at_main)
    if meet != likely or not meanwhile:
        said = pool.spread(lambda problem: tried(problem, meet), elsewhere)
    refused = [outcome for outcome in said if isinstance(outcome, Refused)]
    for outcome in refused:
        if not isinstance(outcome, _Beyond):
            raise outcome
    return Looked(at_main, refused[0].reason if refused else None)


def _beyond_shorts(kernel: Kernel, topic: KernelTopic, limits: Limits) -> list[Problem]:
    """Small problems but for one size, which loops that count in 16 bits and fewer do not reach."""
    if not any(rare_blocks.counts_in_few_bits(kernel, symbol) for symbol in kernel.build.lowered.values()):
        return []
    least = min(topic.judge_cases, key=topic.reference.min_bytes)
    found: list[Problem] = []
    for problem in ({**least, name: BEYOND_A_SHORT} for name in dimensions(topic)):
        with suppress(Refused):
            if _endless(kernel, kernel.plan(problem, limits)) is not None:
                found.append(problem)
    return found


def _endless(kernel: Kernel, planned: Planned) -> str | None:
    """Which loop does not end, since it counts in too few bits; None where none is known."""
    for launch in planned.launches:
        given = rare_blocks.given_to(launch)
        for comparison in rare_blocks.followed(kernel, launch.symbol):
            if (sides := comparison.out_of_reach(given)) is not None:
                most, bound = sides
                line = f"in line {comparison.line}" if comparison.line else "of the kernel"
                return f"A loop {line} counts to {most:,} at the most, and is to end at {bound:,}: count in an int."
    return None


def ran_whole(records: Sequence[Record]) -> bool:
    """Whether blocks came to their end: only then can be told what they do."""
    return bool(records) and all(record.status == "completed" for record in records)


def took_too_long(records: Sequence[Record]) -> bool:
    """Whether a block was stopped that waits for no other."""
    return any(record.status == "budget exhausted" and not record.may_wait for record in records)


class _Beyond(Refused):
    """Of a kernel that is wrong where an int does not count the elements of an array."""


def _records(
    kernel: Kernel,
    topic: KernelTopic,
    sampled: Sampled,
    problem: Problem,
    pool: DevicePool,
    known: Patterns,
    seed: int,
    meet: bool,
) -> Sequence[Record]:
    """Of a kernel's launches at one problem. Raises Refused."""
    rng = random.Random(f"{seed} {problem}")
    planned: Planned | None = None
    try:
        with pool.emulator() as runner:
            planned = _planned(kernel, topic, _limits(runner, meet or bool(topic.table_names)), problem)
            if planned is not None and any(launch.cooperative for launch in planned.launches):
                planned = _planned(kernel, topic, runner.hello().limits, problem)  # for which there is room
            if planned is None:
                return ()
            at_problem = known.at(topic, problem, seed)
            return Look(kernel, topic, sampled, problem, planned, at_problem).run(runner, rng)
    except Refused as refused:
        reason, by_an_int = refused.reason, _counted_by_an_int(topic, problem)
        source = kernel.file.source
        if narrow := (by_an_int and integers.rounded(source)) or integers.too_small(source):
            for general in (RANGES, OTHERWISE) if by_an_int else (RANGES, OTHERWISE, COVER):
                reason = reason.replace(general, narrow)
        if isinstance(refused, Lost) or by_an_int:
            said = f"Every case is right, but at {_where(topic, problem)}: {reason}"
            raise refused.saying(said) from None
        so_far = f"Right wherever an int counts the elements; at {units.problem(problem)} (a few blocks of it are run)"
        if planned is None:
            so_far = f"Every case is right, but not every size. At {units.problem(problem)}"
        raise _Beyond(refused.verdict, f"{so_far}: {reason}") from None


def _counted_by_an_int(topic: KernelTopic, problem: Problem) -> bool:
    """Whether an int counts the elements of every array, as it has to at the main size."""
    return problem == topic.sizes_main or not other_ways.beyond_an_int(topic, problem)


def _limits(runner: Runner, as_it_is: bool) -> Limits:
    """Of a device with more multiprocessors: a grid that grows with them, and not with the problem, leaves less to do
    for each block. The device is as it is where blocks may meet, and wait for each other, or have shares of what tables
    say, which would be too small to be even."""
    limits = runner.hello().limits
    return (
        limits
        if as_it_is
        else {**limits, "multiprocessor_count": MULTIPROCESSORS * limits["multiprocessor_count"]}
    )


def _planned(kernel: Kernel, topic: KernelTopic, limits: Limits, problem: Problem) -> Planned | None:
    """The launches for a problem; None for one that a kernel need not reach, and does not. Raises Refused."""
    try:
        return kernel.plan(problem, limits)
    except Refused as refused:
        ends = isinstance(refused, GridEnds) or max(problem.values()) > FURTHEST
        if problem != topic.sizes_main and ends:
            return None
        raise


def _where(topic: KernelTopic, problem: Problem) -> str:
    size = "the topic's main size, " if problem == topic.sizes_main else ""
    return f"{size}{units.problem(problem)} (a few blocks of it are run)"


@dataclass(frozen=True)
class Look:
    """A kernel at one problem."""

    kernel: Kernel
    topic: KernelTopic
    sampled: Sampled
    problem: Problem
    planned: Planned
    patterns: Patterns

    @cached_property
    def arrays(self) -> dict[str, ArrayType]:
        """Every array the kernel is given, by name."""
        signature = self.topic.signature
        shapes = self.sampled.shapes(self.problem)
        found = {name: ArrayType(signature[name].dtype, shape) for name, shape in shapes.items()}
        return found | {item.name: ArrayType(item.dtype, item.shape) for item in self.planned.scratch}

    @cached_property
    def one_sum(self) -> bool:
        """Whether what blocks add is counted."""
        return self.problem == self.topic.sizes_main and is_one(self.topic, self.problem)

    def run(self, runner: Runner, rng: random.Random) -> Sequence[Record]:
        """Run some blocks of every launch, and look at what they did: their records, none where there is no room for
        it. Raises Refused."""
        at_main = self.problem == self.topic.sizes_main
        most, enough = (MOST_BLOCKS, ENOUGH) if at_main else (MOST_ELSEWHERE, ENOUGH_ELSEWHERE)
        longest = LONGEST_BLOCK if at_main else LONGEST_ELSEWHERE
        launches = [
            of_all_blocks(launch)
            if self.one_sum and only_goes_on(launch, self.topic)
            else self._of_some_blocks(launch, most, enough, rng)
            for launch in self.planned.launches
        ]
        runner.load(self.kernel, SECONDS)
        run = Run(self.kernel.module, tuple(launches), longest)
        try:
            reply = runner.ask([*self._allocations(runner), run], SECONDS)
        except NoRoom:  # what blocks have stored far apart takes a page each
            return ()
        records = located(
            named(records_of(reply), self.planned.kernels),
            self.arrays,
            self.kernel.file.source,
            self.problem,
        )
        if self._ended_early(runner, reply, records, longest):
            return records
        try:
            self._check(runner, records)
        finally:
            runner.do([Release(), *self._reloading(runner, records)], SECONDS)
        return records

    def _of_some_blocks(self, launch: Launch, most: int, enough: int, rng: random.Random) -> Launch:
        """A launch of some of its blocks. Memory is zero already."""
        rare = rare_blocks.found(self.kernel, launch, rng)
        return replace(launch, blocks=blocks_to_run(launch.grid, most, rng, rare), enough=enough, zero=())

    def _reloading(self, runner: Runner, records: Sequence[Record]) -> list[Operation]:
        """Gives the module's variables their first values, where blocks have written to some: a count of blocks that
        are done is of no use if the others were never run."""
        written = any(
            item.array is None and item.written_bytes for record in records for item in record.touched
        )
        return [self.kernel.load(runner.hello().kind, runner.hello().cubins)] if written else []

    def _ended_early(self, runner: Runner, reply: Reply, records: Sequence[Record], longest: int) -> bool:
        """Whether there is nothing more to look at: a block that waits for others, or no such memory here. Raises
        Refused for a fault."""
        found = of_findings([self.with_ranges(item) for item in results(records)])
        stopped = {record.status for record in records} - {"completed"}
        if reply.failure is None and found is None and not stopped:
            return False
        runner.restart()
        if found is not None:
            raise found
        endless = _endless(self.kernel, self.planned) if "budget exhausted" in stopped else None
        if endless is not None:
            raise Refused("timeout", endless)
        if stopped & WAITING or (reply.failure is not None and reply.failure.status == NO_MEMORY):
            return True
        refusal = of_records(records, longest)
        if refusal is None and reply.failure is not None:
            refusal = of_failure(reply.failure)
        assert refusal is not None, "a launch that did not complete says why"
        raise refusal

    def with_ranges(self, finding: FindingResult) -> FindingResult:
        """A finding outside of the arrays, with what an int holds where an array has more elements, or where an index
        goes on beyond its last one and becomes negative."""
        counts = {name: math.prod(array.shape) for name, array in self.arrays.items()}
        largest = max(counts, key=counts.__getitem__)
        if finding.kind != "out_of_bounds":
            return finding
        if counts[largest] <= MOST_OF_AN_INT:
            below = finding.array is None or (finding.element or 0) < 0  # of whichever array lies nearest
            too_far = integers.too_far(self.kernel.file.source) if below else ""
            too_far = too_far or self._passed(finding)
            return replaced(finding, remedy=too_far) if too_far else finding
        if finding.array is not None:
            narrow = integers.too_small(self.kernel.file.source) or self._passed(finding)
            return replaced(finding, remedy=narrow) if narrow else finding
        remedy = f"`{largest}` has {counts[largest]:,} elements, more than an int counts. {RANGES}"
        return replaced(finding, remedy=remedy)

    def _passed(self, finding: FindingResult) -> str:
        """That the index of a finding is one of an int that has become negative; "" where it is not negative."""
        if not below_device_memory(finding.address) and (finding.element or 0) >= 0:
            return ""
        index, _ = index_of(self.kernel.file.source, finding.line or 0, finding.array or "")
        # What is read from memory is the index of another array, and what it was read by has passed.
        innermost = re.findall(r"\[([^\[\]]*)\]", index)
        index = innermost[0].strip() if innermost else index
        return PASSED.format(index=f"The index, `{index}`," if index else "The index")

    def _allocations(self, runner: Runner) -> list[Operation]:
        """Every array, and the patterns of inputs."""
        found: list[Operation] = [Allocate(name, array.nbytes) for name, array in self.arrays.items()]
        regions = runner.regions({name: array.nbytes for name, array in self.patterns.arrays.items()})
        for region in regions:
            runner.payload(region)[:] = as_bytes(self.patterns.arrays[region.name])
            found.append(Repeat(region.name, region.offset, region.nbytes))
        return found

    def _check(self, runner: Runner, records: Sequence[Record]) -> None:
        self._check_inputs(records)
        for item in self.topic.signature.outputs:
            words = self._words(item.name, records)
            if words and item.dtype.itemsize <= WORD:
                self._compare(runner, item.name, words)
        signature = self.topic.signature
        inputs, outputs = (
            {item.name: self.arrays[item.name].nbytes for item in items}
            for items in (signature.inputs, signature.outputs)
        )
        if self.topic.reference.min_bytes(self.problem) < sum(inputs.values()) + sum(outputs.values()):
            inputs = {}  # some bytes are of no use
        reason = uncovered(self.planned.launches, records, inputs, outputs)
        if reason is not None:
            raise Refused("fail", reason)
        if self.one_sum:
            sums = OneSum(partial(self._elements, runner), self.topic, self.problem, self.arrays, records)
            order: Order = CROWDED if any(record.may_wait for record in records) else "rising"
            refusal = sums.refusal(lambda problem: self._sum_of_all(runner, problem, order))
            if refusal is not None:
                raise refusal

    def _sum_of_all(self, runner: Runner, problem: Problem, order: Order) -> float | None:
        """The only output, of a problem of which all blocks are run; None where they wait for each other."""
        whole = replaced(self, problem=problem, planned=self.kernel.plan(problem, runner.hello().limits))
        run = Run(self.kernel.module, whole.planned.launches, order=order)
        runner.do([Release(), Reload(self.kernel.module)], SECONDS)
        reply = runner.ask([*whole._allocations(runner), run], SECONDS)
        if reply.failure is not None or {record.status for record in records_of(reply)} != {"completed"}:
            return None
        (output,) = self.topic.signature.outputs
        return float(self._elements(runner, output.name, [0])[0])

    def _check_inputs(self, records: Sequence[Record]) -> None:
        """Raises Refused where a block stores into an input; an atomic may leave what is there."""
        inputs = {item.name for item in self.topic.signature.inputs}
        for record in records:
            for item in record.touched:
                if item.array in inputs and item.written_bytes and not atomics(record):
                    raise Refused(
                        "fail",
                        f"`{record.kernel}` writes to its input `{item.array}`. {RANGES}",
                    )

    def _words(self, name: str, records: Sequence[Record]) -> tuple[int, ...]:
        """Some words of an output that blocks have written from inputs alone, in the last launch that writes it."""
        known: set[str | None] = {item.name for item in self.topic.signature.inputs} | {None}
        partial: set[str | None] = set()
        words: tuple[int, ...] = ()
        for record in records:
            read = {
                item.array
                for item in record.touched
                if item.only_read_bytes or (item.read_bytes and item.array in partial)
            }
            alone = not atomics(record) and read <= known
            whole = alone and record.blocks_run == record.grid_blocks
            for item in record.touched:
                if item.array == name and item.written_bytes:
                    words = item.words if alone else ()
                if item.written_bytes and item.array not in partial:
                    (known if whole else partial).add(item.array)
            known -= partial
        return words

    def _elements(self, runner: Runner, name: str, places: Sequence[int]) -> Array:
        """Elements of an array."""
        dtype = self.arrays[name].dtype
        (value,) = runner.do([Gather(name, tuple(places), dtype.itemsize)], SECONDS).values
        assert isinstance(value, bytes)
        return np.frombuffer(value, dtype)

    def _compare(self, runner: Runner, name: str, words: Sequence[int]) -> None:
        """Compare words of an output with what they must be. Raises Refused."""
        tolerance, array = self.topic.tolerance, self.arrays[name]
        terms = float(tolerance.terms[name].evaluate(self.problem))
        affordable = int(TERMS / terms) if tolerance.lambda_ else len(words)
        if affordable == 0:
            return
        each = WORD // array.dtype.itemsize  # elements of a word
        chosen = np.array(sorted({*words[:: -(-len(words) // affordable)], words[-1]}), np.int64)
        places = (chosen[:, None] * each + np.arange(each)).reshape(-1)
        places = places[places < math.prod(array.shape)]
        actual = self._elements(runner, name, places.tolist())
        expected, magnitude = self.sampled.elements(self.patterns.read, self.problem, name, places)
        allowed = SLACK * bound(self.topic, self.problem, name, magnitude)
        right = within(actual, expected, allowed)
        if not right.all():
            others = np.isin(places // each, places[right] // each)
            right |= (actual == 0) & others  # as of a word whose other half alone was written
        wrong = np.flatnonzero(~right)
        if len(wrong):
            first = wrong[0]
            index = ", ".join(str(i) for i in np.unravel_index(places[first], array.shape))
            due = held(expected[first], actual.dtype)
            beyond = np.isinf(due) and np.isfinite(expected[first])
            raise Refused(
                "fail",
                f"`{name}`[{index}] is {units.element(number(actual[first]))}, expected "
                f"{units.element(number(due))}. {len(wrong)} of {len(places)} elements that were looked at "
                f"are wrong. {BEYOND.format(right=units.element(number(expected[first]))) if beyond else OTHERWISE}",
            )


def blocks_to_run(
    grid: tuple[int, int, int], most: int, rng: random.Random, rare: Sequence[int] = ()
) -> tuple[int, ...]:
    """The blocks of a grid to run, those that matter most first: some that are drawn, the ends of the grid, the second
    block, since the first ones are often given what is left over, those that are `rare`, and pairs of which the
    second's number differs in one bit: an index that has lost that bit makes both do the same."""
    total = product(grid)
    if total <= most:
        return tuple(rng.sample(range(total), total))
    drawn = [rng.randrange(total) for _ in range(most)]
    x, y, _ = grid
    corners = [x - 1, total - x, x * (y - 1), total - x * y]
    bits = reversed(range(total.bit_length()))
    pairs = [pair for block, bit in zip(drawn[1:], bits, strict=False) for pair in (block, block ^ 1 << bit)]
    wanted = [drawn[0], 0, total - 1, 1, *rare, *drawn[1:4], *corners, *pairs, *drawn]
    return tuple(list(dict.fromkeys(block for block in wanted if 0 <= block < total))[:most])
