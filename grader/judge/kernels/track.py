"""Passes of kernels, libraries and copies on one GPU, over buffers that they share.

In each round inputs get values that nobody has seen before. Before each timed pass they are written anew, outputs and
scratch arrays are poisoned, and a buffer larger than twice the L2 cache is overwritten and read again: nothing that
matters is found in the cache, nothing lies there that has to be written back first, and the queue is busy while the
host enqueues the pass. The warm-up is on the same inputs in every run, on which every element is compared; the passes
of any later round may be looked at as well. All inputs are made on the GPU, of words that are drawn from a pool.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from grader.judge.child.baselines import TITLES
from grader.judge.child.protocol import (
    Allocate,
    Copy,
    Download,
    Fill,
    Frame,
    Gather,
    Launch,
    Library,
    LibraryArray,
    Operation,
    Reply,
    Run,
    Scalar,
    Timed,
    Upload,
)
from grader.judge.correctness import pieces
from grader.judge.correctness.cases import bound, check_room, yardstick_error
from grader.judge.correctness.comparison import within
from grader.judge.correctness.guards import GUARD, POISON, UNSET, damage, frame, unwritten
from grader.judge.correctness.verdict import of_comparison, of_guards
from grader.judge.kernels import fresh
from grader.judge.kernels.case_run import as_bytes
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.kernels.fresh import Fresh
from grader.judge.kernels.large.results import Known, results
from grader.judge.kernels.limits import Limits
from grader.judge.refused import Refused
from grader.judge.runners.runner import PAGE, Runner
from grader.judge.timing.bounds import only_reads
from grader.judge.timing.rounds import PASS_SECONDS, ROUNDS, WARM_UP, Candidate
from grader.results import Accuracy
from grader.workbook.kernel_file import parse_kernel_file
from grader.workbook.reference import Problem, Sampled
from grader.workbook.signature import parse_signature
from grader.workbook.topic import Topic

Array = np.ndarray[Any, np.dtype[Any]]

VERIFIED, VERIFIED_WHOLE = 0.25, 0.0625
"""The share of rounds whose outputs are looked at, at most: at some elements, or at all of them, which takes longer."""

LOOKING_SECONDS = 1.0
"""So long all rounds together are looked at, by what the last look has taken, where these shares would take longer."""

PLACES, TERMS, PARTS = 256, 1 << 20, 16
"""So many elements of an output are looked at then, and so many operations done for it, in so many parts; where one
element takes more, inputs are copied back and all of the output is compared."""

SLACK = 64.0
"""Times the topic's error bound, so that algorithms with transforms keep it; results of other inputs err by far
more."""

MOST_SUMS = 2
"""An element of a matrix is added to its row's sum and to its column's."""

FLUSH_BYTES = 512 << 20
"""Written before each pass, unless twice the L2 cache is more: about a tenth of a millisecond on a large
GPU."""

COPY, READ = "device copy", "device read"
FLUSH, SOURCE, TARGET, DIGEST = "ladder/flush", "ladder/source", "ladder/target", "ladder/digest"
READ_KERNEL = Path(__file__).with_name("read.cu")
READ_SIGNATURE = parse_signature("read(const int* in, int* out, int N)")
DIGEST_KERNEL = Path(__file__).with_name("digest.cu")
DIGEST_SIGNATURE = parse_signature(
    "digest(const unsigned* in, unsigned long long* out, unsigned long long N, unsigned BEFORE)"
)
DIGEST_WORDS = 4
"""Of the two numbers that tell an output from all others."""
READ_PACK = 16
"""The kernel that reads, and the bytes of the packs that its N counts."""


class _Round:
    """What inputs hold in one round, and what must come out.

    Where outputs are compared as a whole, what is expected is found once for all candidates: for long sums that takes
    longer than all of their passes.
    """

    def __init__(self, number: int, inputs: Fresh, share: float) -> None:
        self.number = number
        self.inputs = inputs
        self.verified = random.random() < share
        self.expected: dict[str, Array] = {}  # by output, once they are needed
        self.bounds: dict[str, Array] = {}  # of those whose results are not exact


@dataclass(kw_only=True)
class KernelCandidate(Candidate):
    """A rung, a library's routine, or a copy."""

    action: Run | Library | Copy
    error: float | None = None  # the largest found of the warm-up's results, over what is allowed
    error_bound: str | None = None  # the algorithm whose error bound held, where the topic's own did not


@dataclass(frozen=True)
class Values:
    """What inputs are drawn from, and what must come of the warm-up: all that takes no GPU."""

    topic: Topic
    problem: Problem
    warm_up: Fresh
    known: Known
    rounds: dict[str, Array]  # pools, by input
    tables: dict[str, Array]  # of rounds
    sums: bool  # whether rounds have inputs of which every sum is exact

    @classmethod
    def of(cls, topic: Topic, problem: Problem) -> Values:
        """Raises WarpladderError where this machine's memory cannot hold what outputs are compared with.

        Where sums grow with the inputs, the error bound is wider than what a share of them makes of the sum: such
        inputs are integers, and nothing but the exact sum is right.
        """
        check_room(topic, problem)
        warm_up, rng = Fresh.known(topic, problem), np.random.default_rng()
        sums = topic.only_adds(problem, MOST_SUMS)
        made = fresh.balanced if sums else partial(fresh.drawn, kind="real")
        pools = made(topic, rng, nbytes=fresh.POOL_BYTES)
        tables = topic.tables(problem, rng)
        return cls(topic, problem, warm_up, Known(topic, problem, warm_up), pools, tables, sums)


class KernelTrack:
    """The buffers that candidates share on the GPU, and one pass of one candidate over them.

    Raises Refused where the GPU cannot be given them.
    """

    def __init__(self, runner: Runner, values: Values) -> None:
        self.runner = runner
        self.topic, self.problem = topic, problem = values.topic, values.problem
        self.only_reads = only_reads(topic, problem)
        self.flush_bytes = max(FLUSH_BYTES, 2 * runner.hello().limits["l2_cache_size"])
        nbytes = topic.reference.min_bytes(problem)
        self._shapes = topic.shapes(problem)
        self.moved = nbytes if self.only_reads else nbytes // 2
        self._reader = prepare(parse_kernel_file(READ_KERNEL, READ_SIGNATURE), runner.hello().arch)
        self._filler = fresh.prepared(runner.hello().arch)
        self._digester = prepare(parse_kernel_file(DIGEST_KERNEL, DIGEST_SIGNATURE), runner.hello().arch)
        self._kernels = [self._reader, self._filler, self._digester]
        self._values = values
        self._round = self._round_of(WARM_UP)
        self._scratch: dict[str, int] = {}
        self._look_s = 0.0
        """Seconds of the last look at an output; before, of the warm-up's at all of it."""
        self._set_up()
        self._settle = self._read(FLUSH, self.flush_bytes)

    def _set_up(self) -> None:
        """Give a child everything that passes need."""
        self._generation = self.runner.generation
        for item in self.topic.signature.inputs:
            values = self._values
            for given, whose in (
                ({**values.rounds, **values.tables}, "rounds"),
                ({**values.warm_up.pools, **values.warm_up.tables}, "warm-up"),
            ):
                self._place(_pool(item.name, whose), given[item.name])
            self._allocate(item.name, self._input_bytes[item.name])
        for item in self.topic.signature.outputs:
            self._allocate(item.name, self._output_bytes(item.name))
        self._do([Allocate(DIGEST, DIGEST_WORDS * fresh.WORD)])
        self._do([Allocate(SOURCE, _whole_words(self.moved))])
        self._do([Allocate(TARGET, 4 if self.only_reads else self.moved), Allocate(FLUSH, self.flush_bytes)])
        self._do([Allocate(name, nbytes) for name, nbytes in self._scratch.items()])
        for kernel in self._kernels:
            self.runner.load(kernel, PASS_SECONDS)
        first = self.topic.signature.inputs[0].name
        self._do([self._from_pool(self._values.warm_up, first, SOURCE, _whole_words(self.moved))])

    def _place(self, name: str, array: Array) -> None:
        """Allocate a buffer between guards and fill it."""
        (region,) = self.runner.regions({name: array.nbytes})
        frame(self.runner.bytes_of(region), region.guard)[:] = as_bytes(array)
        self._do([Allocate(name, region.nbytes, region.guard), Upload(name, region.offset)])

    def _allocate(self, name: str, nbytes: int) -> None:
        """Allocate a buffer between guards, with anything in it."""
        self._do([Allocate(name, nbytes, self.runner.guard), Frame(name, GUARD)])

    def _do(self, operations: Sequence[Operation]) -> Reply:
        if self.runner.generation != self._generation:  # a candidate has ended the child
            self._set_up()
        return self.runner.do(operations, PASS_SECONDS)

    def rung(self, name: str, kernel: Kernel, checked: bool = True) -> KernelCandidate:
        """A kernel as a candidate; its scratch arrays share buffers with those of other kernels."""
        planned = kernel.plan(self.problem, self.runner.hello().limits)
        names = {item.name: f"ladder/scratch {i}" for i, item in enumerate(planned.scratch)}
        for item in planned.scratch:
            self._reserve(names[item.name], int(np.prod(item.shape)) * item.dtype.itemsize)
        self.runner.load(kernel, PASS_SECONDS)
        self._kernels.append(kernel)
        launches = tuple(renamed(launch, names) for launch in planned.launches)
        return KernelCandidate(name=name, action=Run(kernel.module, launches), checked=checked)

    def _reserve(self, name: str, nbytes: int) -> None:
        if self._scratch.get(name, 0) < nbytes:
            self._do([Allocate(name, nbytes)])
            self._scratch[name] = nbytes

    def library(self, name: str) -> KernelCandidate:
        """The topic's library routine as a candidate."""
        signature = self.topic.signature
        arrays = {
            item.name: LibraryArray(item.name, str(item.dtype), self._shapes[item.name])
            for item in (*signature.inputs, *signature.outputs)
        }
        action = Library(name, arrays, dict(self.problem))
        return KernelCandidate(name=TITLES.get(name, name), action=action, checked=False)

    def ceiling(self) -> KernelCandidate:
        """What memory can do at best: a copy that reads and writes as many bytes as the problem has to move, or, of
        a problem that only reads, a read of them."""
        if not self.only_reads:
            return KernelCandidate(name=COPY, action=Copy(SOURCE, TARGET, self.moved), checked=False)
        return KernelCandidate(name=READ, action=self._read(SOURCE, self.moved), checked=False)

    def _read(self, buffer: str, nbytes: int) -> Run:
        """A launch that reads a buffer."""
        return reading(self._reader, buffer, nbytes, TARGET, self.runner.hello().limits)

    def run(self, candidate: KernelCandidate, number: int) -> float:
        """Seconds of one pass, whose outputs may be looked at. Raises Refused."""
        if number != self._round.number:
            self._round = self._round_of(number)
        before = [
            *(Fill(name, POISON) for name in self._outputs),
            *(Fill(name, UNSET) for name in self._scratch),
        ]
        timed = Timed(candidate.action, FLUSH, self._settle)
        seconds = self._do([*before, *self._filling(self._round.inputs), timed]).values[-1]
        assert isinstance(seconds, float)
        if candidate.checked and number != WARM_UP and self._round.verified:
            self._verify()
        return seconds

    def _round_of(self, number: int) -> _Round:
        """Warm-ups, of which there may be several, have the inputs whose results are known; others draw theirs."""
        if number == WARM_UP:
            return _Round(number, self._values.warm_up, 1.0)
        inputs = Fresh.of(self._values.rounds, self._values.tables)
        most = VERIFIED_WHOLE if self._whole else VERIFIED
        return _Round(number, inputs, min(most, LOOKING_SECONDS / (ROUNDS * max(self._look_s, 1e-9))))

    @property
    def _outputs(self) -> list[str]:
        return [item.name for item in self.topic.signature.outputs]

    def _filling(self, inputs: Fresh) -> list[Operation]:
        """What gives all inputs their values."""
        return [self._from_pool(inputs, name, name, nbytes) for name, nbytes in self._input_bytes.items()]

    def _from_pool(self, inputs: Fresh, name: str, target: str, nbytes: int) -> Run | Copy:
        """What fills a buffer with values of the input `name`: a table is copied."""
        pool = _pool(name, "warm-up" if inputs is self._values.warm_up else "rounds")
        if name in inputs.tables:
            return Copy(pool, target, nbytes)
        return inputs.filling(self._filler, pool, target, nbytes, self.runner.hello().limits)

    @property
    def _input_bytes(self) -> dict[str, int]:
        """Of each input, in whole words."""
        return {
            item.name: _whole_words(math.prod(self._shapes[item.name]) * item.dtype.itemsize)
            for item in self.topic.signature.inputs
        }

    def check(self, candidate: KernelCandidate, number: int) -> None:
        """Compare the outputs that the last pass left. Raises Refused for a wrong one."""
        if number != WARM_UP:
            self._verify()
            return
        known = self._values.known
        before = known.seconds
        for name in self._outputs:
            digest = self._digest(name)
            comparison = known.known_by(name, digest) or known.compare(name, self._fetched(name), digest)
            candidate.error_bound = candidate.error_bound or comparison.bound
            if comparison.error is not None:
                candidate.error = max(candidate.error or 0.0, comparison.error)
            if not comparison.right:
                wrong = of_comparison(comparison, known.data.advice, self.problem)
                assert wrong is not None, "a comparison that found something wrong"
                raise wrong
        if self._whole:
            self._look_s = known.seconds - before

    def _digest(self, name: str) -> str:
        """Of an output and of what is around it, in hexadecimal. Bytes that fill no word are the last of a guard."""
        nbytes, guard = self._output_bytes(name), self.runner.guard
        words = {"N": (nbytes + 2 * guard) // fresh.WORD, "BEFORE": guard // fresh.WORD}
        planned = self._digester.plan(words, self.runner.hello().limits)
        launches = tuple(renamed(launch, {"in": name, "out": DIGEST}) for launch in planned.launches)
        added_up = Gather(DIGEST, tuple(range(DIGEST_WORDS)), fresh.WORD)
        value = self._do([Fill(DIGEST, 0), Run(self._digester.module, launches), added_up]).values[-1]
        assert isinstance(value, bytes)
        return value.hex()

    def _output_bytes(self, name: str) -> int:
        return math.prod(self._shapes[name]) * self.topic.signature[name].dtype.itemsize

    def _fetched(self, name: str) -> Array:
        """An output, copied back, until something else is. Raises Refused where something around it has changed."""
        dtype, shape = self.topic.signature[name].dtype, self._shapes[name]
        (region,) = self.runner.regions({name: self._output_bytes(name)})
        _fault_in(self.runner.bytes_of(region))
        self._do([Download(name, region.offset)])
        wrong = of_guards(name, damage(self.runner.bytes_of(region), region.guard), dtype.itemsize)
        if wrong is not None:
            raise wrong
        return self.runner.payload(region).view(dtype).reshape(shape)

    @cached_property
    def _whole(self) -> bool:
        """Whether all of the outputs has to be looked at, if any of them."""
        return any(self._looked_at(name) == 0 for name in self._outputs)

    def _looked_at(self, name: str) -> int:
        """How many elements of an output are looked at; 0: it has to be all of them."""
        if self.topic.sampled is None or self.topic.signature[name].dtype.itemsize > fresh.WORD:
            return 0
        work = max(self.topic.reference.min_flop(self.problem) / 2, self.topic.input_elements(self.problem))
        return min(PLACES, int(TERMS / max(self._terms(name), work / math.prod(self._shapes[name]))))

    def _terms(self, name: str) -> float:
        """How many terms the topic says the sums of an output have; 1 where it computes nothing."""
        tolerance = self.topic.tolerance
        return float(tolerance.terms[name].evaluate(self.problem)) if tolerance.lambda_ else 1.0

    def _verify(self) -> None:
        """Look at what the last pass, on this round's inputs, has left. Raises Refused where it is wrong."""
        start = time.monotonic()
        for name in self._outputs:
            if self._whole or self.topic.sampled is None:
                expected, allowed = self._expected(name)
                actual = self._fetched(name)
            else:
                actual, expected, allowed = self._some(self.topic.sampled, name)
            right = within(actual, expected, SLACK * allowed) | (actual == expected)
            wrong = int(np.count_nonzero(~right))
            if wrong:
                raise _kept(name, wrong, int(np.count_nonzero(unwritten(actual))), actual.size)
        self._look_s = time.monotonic() - start

    @property
    def _bounded(self) -> bool:
        """Whether results of rounds may be off at all."""
        return self.topic.rounds and not self._values.sums

    def _some(self, sampled: Sampled, name: str) -> tuple[Array, Array, Array]:
        """Elements of an output at places drawn now: as they are, as they should be, and how far they may be off."""
        places = np.random.default_rng().integers(0, math.prod(self._shapes[name]), self._looked_at(name))
        dtype = self.topic.signature[name].dtype
        (value,) = self._do([Gather(name, tuple(places.tolist()), dtype.itemsize)]).values
        assert isinstance(value, bytes)
        # A few at a time, whose terms stay in a core's caches: threads would wait for each other for longer.
        parts = np.array_split(places, PARTS)
        found = [sampled.elements(self._round.inputs.read, self.problem, name, part) for part in parts]
        expected, magnitude = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        allowed = bound(self.topic, self.problem, name, magnitude) if self._bounded else 0.0 * magnitude
        return np.frombuffer(value, dtype), expected, allowed

    def _expected(self, name: str) -> tuple[Array, Array]:
        """All of an output as it should be, and how far its elements may be off."""
        if not self._round.expected:
            inputs = self._round.inputs.arrays(self.topic, self.problem)
            self._round.expected, self._round.bounds = results(
                self.topic, inputs, self.problem, self._bounded
            )
        expected = self._round.expected[name]
        return expected, self._round.bounds.get(name, np.zeros(()))

    @cached_property
    def _yardstick_error(self) -> float | None:
        """Of the warm-up's results, by the topic's yardstick of accuracy."""
        return yardstick_error(self.topic, self.problem, self._values.known.data)

    def accuracy(self, candidate: KernelCandidate) -> Accuracy | None:
        """A candidate's largest error, and the yardstick's on the same data; None without a yardstick. A grade does not
        show it: the yardstick takes longer than all passes of some kernels."""
        yardstick = self.topic.tolerance.yardstick
        if yardstick is None or candidate.error is None or self._yardstick_error is None:
            return None
        return Accuracy(dict(self.problem), candidate.error, yardstick, self._yardstick_error)


def _fault_in(memory: Array) -> None:
    """Have the pages there that an output is copied back to: a copy from the device would wait for each of them."""

    def touch(parts: Iterator[slice]) -> None:
        for part in parts:
            memory[part][::PAGE] = 0

    pieces.done(touch, memory.size, pieces.PIECE_BYTES)


def _pool(name: str, whose: str) -> str:
    """The buffer that holds what values of an input are drawn from."""
    return f"ladder/pool of {name}, {whose}"


def _kept(name: str, wrong: int, holes: int, looked_at: int) -> Refused:
    """A timed pass whose output is wrong, though the warm-up's was right."""
    never = f", of which {holes} were never written" if holes else ""
    return Refused(
        "fail",
        f"`{name}` was right in the warm-up and is wrong in a timed pass, on inputs with other values: {wrong} of "
        f"{looked_at} elements that were looked at{never}. Is anything kept from earlier launches, or left out of "
        "later ones?",
    )


def _whole_words(nbytes: int) -> int:
    """Bytes, rounded up to words."""
    return -(-nbytes // fresh.WORD) * fresh.WORD


def reading(reader: Kernel, buffer: str, nbytes: int, target: str, limits: Limits) -> Run:
    """A launch of the kernel that reads: of a buffer of so many bytes, with a word of `target` to write to."""
    planned = reader.plan({"N": max(1, nbytes // READ_PACK)}, limits)
    names = {"in": buffer, "out": target}
    return Run(reader.module, tuple(renamed(launch, names) for launch in planned.launches))


def renamed(launch: Launch, names: Mapping[str, str]) -> Launch:
    """A launch with its buffers called otherwise."""
    args = tuple(
        argument
        if isinstance(argument, Scalar)
        else msgspec.structs.replace(argument, buffer=names.get(argument.buffer, argument.buffer))
        for argument in launch.args
    )
    zero = tuple(names.get(name, name) for name in launch.zero)
    constant = tuple((variable, names.get(name, name)) for variable, name in launch.constant)
    return msgspec.structs.replace(launch, args=args, zero=zero, constant=constant)
