"""How often a kernel that sums its inputs has each element in its sum, found by giving elements weights of their own.

That a sum is wrong says little. Which elements are left out, or added twice, and what these have in common in terms of
the launch, leads to the line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from grader.emulator.metrics import WARP_INSTRUCTIONS
from grader.judge.child.protocol import Launch
from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case, CaseData
from grader.judge.correctness.comparison import Comparison
from grader.judge.correctness.places import Span, common
from grader.judge.kernels.case_run import CaseRun, Outcome
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.compiled import Kernel
from grader.judge.kernels.large.one_sum import EXACT, is_one
from grader.judge.kernels.missing import GO_ON, LEFT
from grader.workbook import units
from grader.workbook.cuda_source import handed_on

Array = np.ndarray[Any, np.dtype[Any]]

MOST = 1100
"""Elements of which each is counted: several blocks of most kernels, and a second of runs."""

MOST_INSTRUCTIONS = 1 << 26
"""Of all warps, were each element given a run of its own; several share one, so that it takes two seconds at worst."""

BITS = (2, 8)
"""Of a sum, so many tell how often one element was added: the fewer, the fewer runs. The more, for kernels that add an
element more often."""

WARP = 32

VECTORS = (4, 8, 16)
"""Elements of a vector, of floats, halves or bytes."""

SHOWN = 3
"""Elements that are named where they have nothing in common."""

HALVES = "A tree's first step has to add the upper half of the block to the lower."
STEP = "A tree halves its step from half of the block to 1: is one of the steps left out?"
WARPS = (
    "Each warp has a sum of its own: all of them have to be added, with an atomicAdd by one thread of each warp, or in "
    "shared memory, by one warp behind a __syncthreads()."
)
SHUFFLE = "Each step has to add what a shuffle brings: v += __shfl_down_sync(0xffffffff, v, offset)."
ONE_THREAD = (
    "What the other threads load never reaches it: a variable without __shared__ is each thread's own. Have each "
    "thread store to shared memory, and look at where each step reads, and where it stores."
)
OF_ONE_ELEMENT = (
    "The other threads' elements are not added, though they may lie in `{array}`, in shared memory: before one thread "
    "hands its own on, add all that the block has there, with a __syncthreads() behind each step. Where there is a "
    "tree, look at where each step reads, and where it stores."
)
ALL_BLOCKS = (
    "Does the index leave out the blocks before its own? It begins at blockIdx.x * blockDim.x + threadIdx.x."
)
OF_FIRST_BLOCK = (
    "The first block's alone are in it: shared memory is a block's own, and each block has to hand on "
    "what it holds."
)
REST = f"They are the last N % {{vector}}: {LEFT}"


@dataclass(frozen=True)
class Kept(CaseData):
    """Keeps what comes out, and finds nothing wrong with it."""

    outputs: dict[str, Array] = field(default_factory=dict)

    def compare(self, name: str, actual: Array, block: int = 0) -> Comparison:
        self.outputs[name] = actual.copy()
        return Comparison(None, 0.0, 0, None, None)


def affordable(outcome: Outcome) -> int:
    """How many runs like one take no longer together than a learner waits."""
    return MOST_INSTRUCTIONS // max(executed(outcome), 1)


def executed(outcome: Outcome) -> int:
    """Instructions of all warps in a run."""
    return sum(record.counters.get(WARP_INSTRUCTIONS, 0) for record in outcome.records)


@dataclass(frozen=True)
class _Sums:
    """A kernel that adds up an input, for one problem."""

    runner: CaseRunner
    run: CaseRun

    @property
    def size(self) -> int:
        (array,) = self.run.data.inputs.values()
        return array.size

    @cached_property
    def outcome(self) -> Outcome:
        """On the case's own numbers."""
        return self.runner.once(self.run)

    @property
    def wrong(self) -> bool:
        return self.outcome.refusal is not None

    def affords(self, runs: int) -> bool:
        """Whether so many runs take no longer than a learner waits."""
        return runs <= affordable(self.outcome)

    @property
    def launch(self) -> Launch:
        """The first launch, which is given the input."""
        return self.run.planned.launches[0]

    def said(self, counts: Array) -> str:
        """What there is to say of how often each element is added."""
        launches = self.run.planned.launches
        shared = handed_on(self.run.kernel.file.source)
        said = in_words(counts, launches[0], launches[-1], shared)
        return f"Counted at {units.case(self.run.case.problem)}: {said}"

    def of(self, terms: Array) -> float:
        """What it makes of these elements; NaN where it does not come to an end."""
        ((name, array),) = self.run.data.inputs.items()
        inputs = {name: terms.astype(array.dtype).reshape(array.shape)}
        kept = Kept(inputs, self.run.data.expected, self.run.data.allowed, "")
        outcome = self.runner.once(replace(self.run, data=kept))
        return math.nan if outcome.refusal else float(next(iter(kept.outputs.values())).reshape(-1)[0])

    def counts(self, places: Sequence[int], bits: int) -> list[int] | None:
        """How often each of these elements is added, where so many bits hold that; None: they do not."""
        found: list[int] = []
        base, digits = 1 << bits, (EXACT - 1).bit_length() // bits
        for start in range(0, len(places), digits):
            some = places[start : start + digits]
            terms = np.zeros(self.size)
            terms[list(some)] = [base**digit for digit in range(len(some))]
            total = self.of(terms)
            if not (0 <= total <= EXACT and total == int(total)):
                return None
            found += [int(total) // base**digit % base for digit in range(len(some))]
        return found

    def all_counts(self) -> Array | None:
        """How often each element is added; None where that is not known."""
        if not self.affords(self.size):
            return None
        together = self.of(np.ones(self.size))
        for bits in BITS:
            counts = self.counts(range(self.size), bits)
            if counts is not None and sum(counts) == together:
                return np.array(counts)
        return None

    def end(self) -> int | None:
        """The element from which on none is added, where all before it are added once; None where there is none."""
        if not self.affords(self.size.bit_length()):
            return None
        known, wrong = -1, self.size
        while wrong - known > 1:
            places = sorted({int(at) for at in np.linspace(known, wrong, 13)[1:-1]} - {known, wrong})
            counts = self.counts(places, BITS[0])
            if counts is None:
                return None
            known = max([known, *(at for at, count in zip(places, counts, strict=True) if count)])
            wrong = min([wrong, *(at for at, count in zip(places, counts, strict=True) if not count)])
        behind = np.arange(self.size) >= wrong
        return wrong if self.of(behind) == 0 and self.of(~behind) == wrong < self.size else None


def told(runner: CaseRunner, kernel: Kernel, case: Case) -> str:
    """Which elements a wrong sum has lost, or has more than once; "" where that is not known, or there is no such
    sum."""
    topic = runner.topic
    # One output at one size, as of a single element, is not one at others.
    if case.kind != "exact" or len(topic.signature.inputs) != 1:
        return ""
    if not all(is_one(topic, problem) for problem in topic.judge_cases):
        return ""
    few = [each for each in topic.judge_cases if topic.input_elements(each) <= MOST]
    tried = (_sums(runner, kernel, cases.make(problem, "exact")) for problem in reversed(few))
    largest = next((sums for sums in tried if sums.wrong), None)
    failed = _sums(runner, kernel, case)
    if largest is None:
        end = failed.end()
        return "" if end is None else failed.said((np.arange(failed.size) < end).astype(int))
    counts = largest.all_counts()
    if counts is None or (counts == 1).all():
        return ""
    if not _common(counts, largest.launch) and failed.size < largest.size:
        fewer = failed.all_counts()
        if fewer is not None and _common(fewer, failed.launch):
            return failed.said(fewer)
    return largest.said(counts)


def _sums(runner: CaseRunner, kernel: Kernel, case: Case) -> _Sums:
    planned = kernel.plan(case.problem, runner.child.hello().limits)
    return _Sums(runner, CaseRun(kernel, planned, case, runner.store.get(case)))


def in_words(counts: Array, launch: Launch, last: Launch | None = None, shared: Sequence[str] = ()) -> str:
    """What elements have in common that are not added once. `last`: the launch that stores the sum, where it is
    another one. `shared`: arrays in shared memory by which threads hand on what they have."""
    block, blocks = math.prod(launch.block), math.prod(launch.grid)
    adding = launch if last is None or math.prod(last.grid) > 1 else last
    lost, more = counts == 0, counts > 1
    if lost.all():
        return "no element is ever added: is the condition in front of that ever true?"
    step = _stride(counts, block * blocks)
    if step:
        return (
            f"threads go on by {step} elements, and the grid has {block * blocks} threads, so that element {step} is "
            f"added {counts[step]} times. Add gridDim.x * blockDim.x to the index, a size_t."
        )
    if not more.any():
        parts = _of_parts(lost, blocks, math.prod(adding.block))
        return _of_lost(lost, block, blocks, parts, shared)
    if not lost.any():
        return f"{_of_more(counts, block, blocks)}."
    others = _of_lost(lost, block, blocks, shared=shared)
    if np.array_equal(lost, ~more):
        others = (
            f"the others never. {ALL_BLOCKS if common(more) == Span(0, block, len(more), len(more)) else ''}"
        )
    return f"{_of_more(counts, block, blocks)}, and {others}".strip()


def _common(counts: Array, launch: Launch) -> bool:
    """Whether elements have something in common that are not added once."""
    if _stride(counts, math.prod(launch.block) * math.prod(launch.grid)):
        return True
    return all(common(marked) is not None for marked in (counts == 0, counts > 1) if marked.any())


def _stride(counts: Array, threads: int) -> int:
    """By how many elements threads go on that come upon those of others; 0 where that is not what happens."""
    step = int(np.argmax(counts > 1))
    return step if step and np.array_equal(counts, _of_stride(step, threads, len(counts))) else 0


def _of_stride(step: int, threads: int, size: int) -> Array:
    """How often each element is added where so many threads begin at one each, and go on by a step until the end."""
    at = np.arange(size)
    counts: Array = at // step + 1 - np.maximum(0, -((threads - 1 - at) // step))
    return counts


def _of_more(counts: Array, block: int, blocks: int) -> str:
    """Elements that are added more than once."""
    more = counts > 1
    times, span = np.unique(counts[more]), common(more)
    first = int(np.argmax(more))
    if len(times) > 1 or (span is None and not more.all()):
        return (
            f"{_many(more)} elements are added more than once, element {first} is added {counts[first]} times"
        )
    known = {blocks: ", as often as the grid has blocks", block: ", as often as a block has threads"}
    if times[0] == 2 and span is not None:  # of two blocks, by accident
        known = {}
    which = "all elements are" if span is None else _elements(span, block)
    return f"{which} added {times[0]} times{known.get(int(times[0]), '')}"


def _of_parts(lost: Array, blocks: int, adding: int) -> str:
    """Where what is lost begins with the elements of the first block whose partial sum no thread is left for, of one
    block that adds them."""
    first = int(np.argmax(lost))
    each = first // adding  # elements of a partial sum
    if not each or first % adding or not lost[first:].all() or -(-len(lost) // each) != blocks:
        return ""
    return (
        f"They are those of all blocks from number {adding} on. There are {blocks} partial sums, and one block of "
        f"{adding} threads adds one a thread: let each of its threads go on by {adding} until all are added."
    )


def _of_lost(lost: Array, block: int, blocks: int, parts: str = "", shared: Sequence[str] = ()) -> str:
    """Elements that are never added, or those that alone are, where they are fewer. `parts`: of which partial sums
    they are."""
    kept = common(~lost)
    if kept is not None and 2 * int(lost.sum()) > len(lost):
        alone = f"only {_elements(kept, block)} in the sum ({_many(~lost)})."
        return f"{alone} {parts or _why_alone(kept, block, blocks, shared)}".strip()
    span = common(lost)
    if span is None:
        places = np.flatnonzero(lost)
        first = ", ".join(str(at) for at in places[:SHOWN])
        if len(places) <= SHOWN:
            return f"elements {first} are never added."
        return f"{_many(lost)} elements are never added, the first of them {first}."
    return f"{_elements(span, block)} never added ({_many(lost)}). {parts or _why_lost(span, block, blocks)}".strip()


def _many(marked: Array) -> str:
    return f"{marked.sum()} of {len(marked)}"


def _elements(span: Span, block: int) -> str:
    """Elements in words, and the verb: by the threads that load them where those are the first to think of."""
    if span.once and span.end == span.size:
        return f"the elements from {span.first} on are"
    if span.once:
        return f"{span.named('element')} {'is' if span.end - span.first == 1 else 'are'}"
    if span.period == block:
        return f"the elements of {span.named('thread')} of each block are"
    if span.period == WARP:
        return f"the elements of {span.named('lane')} of each warp are"
    return f"elements i with {span.condition('i')} are"


def _why_alone(kept: Span, block: int, blocks: int, shared: Sequence[str]) -> str:
    if kept.first == 0 and kept.end == block * blocks:
        return _of_grid(kept.period, kept, block, blocks)
    if kept.first == 0 and kept.end == block and kept.period in (kept.size, block * blocks):
        return OF_FIRST_BLOCK
    if kept.period == WARP and kept.end - kept.first == 1:
        return SHUFFLE
    if kept.period != block or kept.first:
        return ""
    alone = OF_ONE_ELEMENT.format(array=shared[0]) if shared else ONE_THREAD
    return {1: alone, WARP: WARPS}.get(kept.end, HALVES if 2 * kept.end <= block else "")


def _why_lost(lost: Span, block: int, blocks: int) -> str:
    if lost.first == block * blocks:
        return _of_grid(lost.period, lost, block, blocks)
    if lost.once and lost.end == lost.size:
        rest = next((each for each in VECTORS if lost.end - lost.first == lost.size % each), 0)
        if rest:
            return REST.format(vector=rest)
    if lost.first == block and lost.end == lost.period == block * blocks:
        return OF_FIRST_BLOCK
    if not lost.once and lost.upper_half and lost.period <= block:
        return HALVES if lost.period == block else STEP
    return ""


def _of_grid(step: int, span: Span, block: int, blocks: int) -> str:
    """Of a grid whose threads take one element each, or go on too far."""
    has = f"The grid has {block * blocks} threads ({units.number_of(blocks, 'block')} of {block})"
    return f"{has}. {GO_ON}" if span.once else f"{has}, and they go on by {step} elements."
