"""A modelled time at sizes too large to emulate: a few blocks are run, and stand for all."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, repeat
from typing import Any

import numpy as np
from msgspec.structs import replace

from grader.analysis.devices import DeviceSpec
from grader.analysis.model import ModelledTime, launch_stats, modelled_time
from grader.emulator import metrics
from grader.emulator.machine.records import Counted
from grader.judge.child.protocol import Allocate, Launch, Operation, Record, Release, Repeat, Run
from grader.judge.correctness.cases import PUBLIC_SEED
from grader.judge.correctness.verdict import of_failure, of_records
from grader.judge.kernels.case_run import as_bytes, named, records_of
from grader.judge.kernels.compiled import Kernel, Planned
from grader.judge.kernels.counting import product, tensor_flop
from grader.judge.kernels.fresh import PATTERN_BYTES, drawn, even_tables
from grader.judge.kernels.large import rare_blocks
from grader.judge.runners.runner import Runner
from grader.workbook.reference import Problem
from grader.workbook.topic import Topic

Array = np.ndarray[Any, np.dtype[Any]]

FEWEST_BLOCKS, MOST_BLOCKS = 2, 8
INSTRUCTIONS = 8_000_000
"""Blocks of each launch that are run: as many as take about so many warp instructions, within these limits.
Each stands for a share of the grid that follows the one before, so that edges weigh no more than they do."""

TENSOR_FLOP = 512
"""Additions and multiplications of a Tensor Core that are emulated in the time of another warp instruction."""

LONGEST_BLOCK = 64_000_000
"""Warp instructions: a block that executes more is not run. Those of the ladders execute a hundredth of it."""

MANY_TIMES = 8.0

AMOUNTS = (
    "dram_read_bytes",
    "dram_write_bytes",
    "l2_read_bytes",
    "l2_write_bytes",
    "l2_common_bytes",
    "load_path",
    "reads_beside_writes",
    "copies_beside_reads",
    "bulk_beside_reads",
)
"""Of a record, besides its counters: twice as many blocks have twice as much of it."""

MOSTS = ("longest_warp", "longest_block", "most_loaded_bytes", "shared_used_bytes")
"""Of a record: of its blocks, that with the most."""


def blocks_to_run(counted: Sequence[Record], planned: Planned, growth: float) -> int:
    """How many blocks of each launch to run at a size with `growth` times the work of the counted one: as many as can
    be afforded of those that take longest."""
    heaviest = max(
        _effort(record.counters) * growth / product(launch.grid)
        for record, launch in zip(counted, planned.launches, strict=False)
    )
    return int(max(FEWEST_BLOCKS, min(MOST_BLOCKS, INSTRUCTIONS / max(heaviest, 1.0))))


def _effort(counters: dict[str, int]) -> float:
    """What a launch takes to emulate, in warp instructions of the usual effort."""
    return counters[metrics.WARP_INSTRUCTIONS] + tensor_flop(counters) / TENSOR_FLOP


def sampled(
    launch: Launch, count: int, seed: int | None = None, among: Sequence[int] | None = None
) -> Launch:
    """A launch reduced to `count` of its blocks, or as it is where there are no more: one of each of `count` equal
    shares of the grid, or of those that it is `among`, drawn by a seed, or that in the middle. Who knew which could be
    fast in them alone.

    The second half mirrors the first: where blocks do more and more along the grid, as behind a causal mask, two that
    mirror each other do twice what a block does on average.
    """
    if product(launch.grid) <= count:
        return launch
    among = range(product(launch.grid)) if among is None else among
    blocks, count = len(among), min(count, len(among))
    if seed is None:
        chosen = tuple((2 * i + 1) * blocks // (2 * count) for i in range(count))
    else:
        rng, ends = random.Random(seed), (i * blocks // count for i in range(count + 1))
        of_each = [rng.randrange(first, end) for first, end in pairwise(ends)]
        half = count // 2
        chosen = (*of_each[: count - half], *(blocks - 1 - block for block in reversed(of_each[:half])))
    return replace(launch, blocks=tuple(among[place] for place in chosen))


def array_bytes(topic: Topic, planned: Planned, problem: Problem) -> int:
    """Bytes of all arrays of a problem together: inputs are read, outputs written, scratch goes both ways."""
    scratch = sum(math.prod(item.shape) * item.dtype.itemsize for item in planned.scratch)
    return topic.reference.min_bytes(problem) + scratch


def contents(topic: Topic, problem: Problem) -> dict[str, Array]:
    """Elements of the topic's inputs, by name: floats as in real data, and whole numbers as in exact cases, which may
    say which word is updated. Tables are the problem's, and even."""
    rng = np.random.default_rng(PUBLIC_SEED)
    found = drawn(topic, rng, "real", PATTERN_BYTES)
    whole = {name for name in found if topic.signature[name].dtype.kind in "iu"}
    exact = drawn(topic, rng, "exact", PATTERN_BYTES) if whole else {}
    return found | {name: exact[name] for name in whole} | even_tables(topic, problem, rng)


def sample(
    runner: Runner,
    kernel: Kernel,
    launches: Sequence[Launch],
    room: int,
    budget: int,
    timeout_s: float,
    inputs: Mapping[str, Array],
) -> tuple[Record, ...]:
    """The records of launches of a few blocks each. Raises Refused.

    `inputs` are the elements, repeated, of the arrays that they name; all others are zero. Every array is given `room`
    bytes, as much as all of them need: the emulator has no memory behind addresses that are not touched. Nothing is
    copied into constant memory.
    """
    names = {name for launch in launches for name in launch.buffers}
    before: list[Operation] = [Allocate(name, room) for name in sorted(names)]
    given = {name: array for name, array in inputs.items() if name in names}
    sizes = {name: array.nbytes for name, array in given.items()}
    for region in runner.regions(sizes) if sizes else ():
        runner.payload(region)[:] = as_bytes(given[region.name])
        before.append(Repeat(region.name, region.offset, region.nbytes))
    run = Run(kernel.module, tuple(replace(launch, constant=()) for launch in launches), budget)
    reply = runner.ask([*before, run, Release()], timeout_s)
    written = {symbol: name for name, symbol in kernel.build.lowered.items()}
    records = named(records_of(reply), [written[launch.symbol] for launch in launches])
    refusal = of_records(records, budget)
    if refusal is None and reply.failure is not None:
        refusal = of_failure(reply.failure)
    if refusal is not None:
        runner.restart()
        raise refusal
    return records


def sample_kinds(
    runner: Runner,
    kernel: Kernel,
    launches: Sequence[Launch],
    count: int,
    seed: int | None,
    room: int,
    timeout_s: float,
    inputs: Mapping[str, Array],
) -> tuple[Record, ...]:
    """The records of launches of which `count` blocks each are run, as many of every kind: see `rare_blocks.kinds`.
    Where there are several, a record is that of all blocks. Raises Refused."""
    kinds = [_kinds(kernel, launch, count, seed) for launch in launches]
    run = [launch for each in kinds for launch, _ in each]
    records = iter(sample(runner, kernel, run, room, LONGEST_BLOCK, timeout_s, inputs))
    return tuple(of_kinds([(next(records), blocks) for _, blocks in each]) for each in kinds)


def several_kinds(kernel: Kernel, launches: Sequence[Launch]) -> bool:
    """Whether blocks of some launch are of several kinds."""
    return any(len(rare_blocks.kinds(kernel, launch, random.Random(0))) > 1 for launch in launches)


def _kinds(kernel: Kernel, launch: Launch, count: int, seed: int | None) -> list[tuple[Launch, int]]:
    """A launch of some blocks of each kind, and how many of the kind there are to those of others."""
    blocks = product(launch.grid)
    kinds = rare_blocks.kinds(kernel, launch, random.Random(seed or 0)) if blocks > count else []
    if len(kinds) < 2:
        return [(sampled(launch, count, seed), blocks)]
    of_each = max(FEWEST_BLOCKS, count // len(kinds))
    return [(sampled(launch, of_each, seed, among), len(among)) for among in kinds]


def of_kinds(kinds: Sequence[tuple[Record, int]]) -> Record:
    """The record of all blocks of a launch, of records of some blocks of each kind, with how many of the kind there
    are to those of others; what all blocks of a kind have in common is their share of what all have."""
    (first, _), *others = kinds
    if not others:
        return first
    of_all, blocks = sum(number for _, number in kinds), first.grid_blocks
    shares = [(record, number / of_all) for record, number in kinds]
    whole = [_times(record, share * blocks / record.blocks_run) for record, share in shares]
    common = sum(share * record.l2_common_bytes / max(1, record.blocks_run - 1) for record, share in shares)
    return replace(
        first,
        blocks_run=blocks,
        counters=_added(record.counters for record in whole),
        lines=tuple(line for record in whole for line in record.lines),
        host_calls=_added(record.host_calls for record in whole),
        **{name: sum(getattr(record, name) for record in whole) for name in AMOUNTS}
        | {name: max(getattr(record, name) for record in whole) for name in MOSTS}
        | {"l2_common_bytes": round(common * (blocks - 1))},
        atomics_a_word=sum(share * record.atomics_a_word for record, share in shares),
    )


def _added(counted: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for counters in counted:
        total.update(counters)
    return dict(total)


def _times(record: Record, factor: float) -> Record:
    """A record of so many times as much work of the same kind."""

    def times(counters: Mapping[str, int]) -> dict[str, int]:
        return {name: round(value * factor) for name, value in counters.items()}

    return replace(
        record,
        counters=times(record.counters),
        lines=tuple(Counted(item.place, times(item.counters)) for item in record.lines),
        host_calls=times(record.host_calls),
        **{name: round(getattr(record, name) * factor) for name in AMOUNTS},
    )


def grown(record: Record, launch: Launch, growth: float) -> Record:
    """The record of a launch at a size with `growth` times the work, from the whole launch at a smaller one.

    It stands for `launch`; of what the caches keep at either size, nothing is known. That each word that atomics update
    is updated more often is not assumed: they may update more words.
    """
    blocks = product(launch.grid)
    each = growth * record.blocks_run / blocks  # times what a block does
    return replace(
        _times(record, each),
        grid=launch.grid,
        grid_blocks=blocks,
        longest_warp=round(record.longest_warp * each),
        longest_block=round(record.longest_block * each),
        most_loaded_bytes=round(record.most_loaded_bytes * each),
    )


def as_uneven(record: Record, counted: Record) -> Record:
    """The record of blocks that had even tables, where tables are as those of the counted launch: what a block's
    longest warp does is as many times what blocks do on average."""
    executed = counted.counters[metrics.WARP_INSTRUCTIONS] / counted.grid_blocks
    mean = record.counters[metrics.WARP_INSTRUCTIONS] / record.blocks_run
    return replace(record, longest_warp=round(mean * counted.longest_warp / executed))


def uneven(record: Record) -> bool:
    """Whether some block does many times what others do: a few of them say little of the rest."""
    each = record.counters[metrics.WARP_INSTRUCTIONS] / record.blocks_run
    return record.longest_warp > MANY_TIMES * each


def too_long(record: Record) -> bool:
    """Whether a block does more than is worth running."""
    return record.counters[metrics.WARP_INSTRUCTIONS] > LONGEST_BLOCK * record.grid_blocks


def takes_turns(records: Sequence[Record]) -> bool:
    """Whether blocks get values from each other through atomics: a ticket for their work, or a sign to wait for."""
    return any(record.counters[metrics.GLOBAL_REQUESTS["atom"]] for record in records)


def executed(records: Sequence[Record]) -> float:
    """Warp instructions of whole launches, from the blocks of them that were run."""
    return sum(
        record.counters[metrics.WARP_INSTRUCTIONS] * record.grid_blocks / record.blocks_run
        for record in records
    )


def model(
    device: DeviceSpec, records: Sequence[Record], nbytes: int, longest: Sequence[int] = ()
) -> ModelledTime:
    """The modelled time of launches on a device; `nbytes` are all arrays of the problem together, `longest` are the
    instructions of each launch's longest warp among other blocks that were run at these sizes."""
    known = [*longest, *[0] * len(records)]
    return modelled_time(device, list(map(launch_stats, records, repeat(nbytes), known)))
