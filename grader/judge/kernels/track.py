"""Passes of kernels, libraries and copies on one GPU, over buffers that they share.

In each round inputs get values that nobody has seen before. Before each timed pass they are written anew, outputs and
scratch arrays are poisoned, and a buffer larger than twice the L2 cache is overwritten and read again: nothing that
matters is found in the cache, nothing lies there that has to be written back first, and the queue is busy while the
host enqueues the pass. The warm-up is on known inputs, on which every element is compared; the passes of any later
round may be looked at as well.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from grader.judge.correctness.cases import PUBLIC_SEED, Case, CaseStore, make
from grader.judge.correctness.comparison import error_bound
from grader.judge.correctness.guards import POISON, UNSET, damage, frame, unwritten
from grader.judge.correctness.verdict import of_comparison, of_guards
from grader.judge.kernels import fresh
from grader.judge.kernels.case_run import as_bytes
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.kernels.fresh import Fresh
from grader.judge.refused import Refused
from grader.judge.runners.runner import Runner
from grader.judge.timing.bounds import only_reads
from grader.judge.timing.rounds import PASS_SECONDS, WARM_UP, Candidate
from grader.results import Accuracy
from grader.workbook.kernel_file import parse_kernel_file
from grader.workbook.reference import Problem, Sampled
from grader.workbook.signature import parse_signature
from grader.workbook.topic import Topic

Array = np.ndarray[Any, np.dtype[Any]]

KNOWN, FRESH = 0, 1
"""The two sets of inputs, and a candidate's actions on them."""

VERIFIED = 0.25
"""The share of rounds whose outputs are looked at."""

PLACES, TERMS = 256, 1 << 20
"""So many elements of an output are looked at then, and so many terms of sums added up for it; where one sum has more,
inputs are copied back and all of the output is compared."""

SLACK = 64.0
"""Times the topic's error bound, so that algorithms with transforms keep it; results of other inputs err by far
more."""

MOST_SUMS = 2
"""An element of a matrix is added to its row's sum and to its column's."""

FLUSH_BYTES = 512 << 20
"""Written before each pass, unless twice the L2 cache is more: about a tenth of a millisecond on a large
GPU."""

COPY, READ = "device copy", "device read"
FLUSH, SOURCE, TARGET = "ladder/flush", "ladder/source", "ladder/target"
READ_KERNEL = Path(__file__).with_name("read.cu")
READ_SIGNATURE = parse_signature("read(const int* in, int* out, int N)")
READ_PACK = 16
"""The kernel that reads, and the bytes of the packs that its N counts."""


class _Round:
    """What inputs hold in one round, and what must come out.

    Where outputs are compared as a whole, what is expected is found once for all candidates: for long sums that takes
    longer than all of their passes.
    """

    def __init__(self, number: int, pools: Mapping[str, Array]) -> None:
        self.number = number
        self.inputs = Fresh.of(pools)
        self.verified = random.random() < VERIFIED
        self.expected: dict[str, tuple[Array, Array]] = {}  # and magnitudes, by output, once they are needed


@dataclass(kw_only=True)
class KernelCandidate(Candidate):
    """A rung, a library's routine, or a copy."""

    actions: tuple[Run | Library | Copy, ...]  # on KNOWN and on FRESH inputs
    accuracy: Accuracy | None = None  # the largest error found, where the topic has a yardstick
    error_bound: str | None = None  # the algorithm whose error bound held, where the topic's own did not


class KernelTrack:
    """The buffers that candidates share on the GPU, and one pass of one candidate over them.

    Raises Refused where the GPU cannot be given them.
    """

    def __init__(self, runner: Runner, topic: Topic, store: CaseStore, problem: Problem) -> None:
        self.runner = runner
        self.topic = topic
        self.problem = problem
        self.store = store
        self.known = make(problem, "real", PUBLIC_SEED)
        self.only_reads = only_reads(topic, problem)
        self.flush_bytes = max(FLUSH_BYTES, 2 * runner.hello().limits["l2_cache_size"])
        data, nbytes = store.get(self.known), topic.reference.min_bytes(problem)
        self._shapes = {name: array.shape for name, array in {**data.inputs, **data.expected}.items()}
        self.moved = nbytes if self.only_reads else nbytes // 2
        self._reader = prepare(parse_kernel_file(READ_KERNEL, READ_SIGNATURE), runner.hello().arch)
        self._filler = fresh.prepared(runner.hello().arch)
        self._kernels = [self._reader, self._filler]
        self._sums = topic.only_adds(problem, MOST_SUMS)
        self._pools = self._drawn()
        self._round = _Round(WARM_UP, self._pools)
        self._scratch: dict[str, int] = {}
        self._set_up()
        self._settle = self._read(FLUSH, self.flush_bytes)

    def _drawn(self) -> dict[str, Array]:
        """What fresh inputs are drawn from. Where sums grow with the inputs, the error bound is wider than what a share
        of them makes of the sum: such inputs are integers, and nothing but the exact sum is right."""
        rng, nbytes = np.random.default_rng(), fresh.WORD * fresh.POOL
        if self._sums:
            return fresh.balanced(self.topic, rng, nbytes)
        return fresh.drawn(self.topic, rng, "real", nbytes)

    def _set_up(self) -> None:
        """Give a child everything that passes need."""
        self._generation = self.runner.generation
        data = self.store.get(self.known)
        for name, array in data.inputs.items():
            self._place(f"{name}@{KNOWN}", array)
            self._place(f"pool of {name}", self._pools[name])
            (region,) = self.runner.regions({name: _whole_words(array.nbytes)})
            self._do([Allocate(f"{name}@{FRESH}", region.nbytes, region.guard)])
        for name, expected in data.expected.items():
            nothing = np.zeros((), self.topic.signature[name].dtype)
            self._place(name, np.broadcast_to(nothing, expected.shape))
        noise = np.random.default_rng(0).bytes(self.moved)
        self._place(SOURCE, np.frombuffer(noise, np.uint8))
        self._do([Allocate(TARGET, 4 if self.only_reads else self.moved), Allocate(FLUSH, self.flush_bytes)])
        self._do([Allocate(name, nbytes) for name, nbytes in self._scratch.items()])
        for kernel in self._kernels:
            self.runner.load(kernel, PASS_SECONDS)

    def _place(self, name: str, array: Array) -> None:
        """Allocate a buffer between guards and fill it."""
        (region,) = self.runner.regions({name: array.nbytes})
        frame(self.runner.bytes_of(region), region.guard)[:] = as_bytes(array)
        self._do([Allocate(name, region.nbytes, region.guard), Upload(name, region.offset)])

    def _do(self, operations: Sequence[Operation]) -> Reply:
        if self.runner.generation != self._generation:  # a candidate has ended the child
            self._set_up()
        return self.runner.do(operations, PASS_SECONDS)

    def rung(self, name: str, kernel: Kernel) -> KernelCandidate:
        """A kernel as a candidate; its scratch arrays share buffers with those of other kernels."""
        planned = kernel.plan(self.problem, self.runner.hello().limits)
        names = {item.name: f"ladder/scratch {i}" for i, item in enumerate(planned.scratch)}
        for item in planned.scratch:
            self._reserve(names[item.name], int(np.prod(item.shape)) * item.dtype.itemsize)
        self.runner.load(kernel, PASS_SECONDS)
        self._kernels.append(kernel)
        actions = tuple(
            Run(kernel.module, tuple(renamed(launch, self._names(i) | names) for launch in planned.launches))
            for i in (KNOWN, FRESH)
        )
        return KernelCandidate(name=name, actions=actions, checked=True)

    def _reserve(self, name: str, nbytes: int) -> None:
        if self._scratch.get(name, 0) < nbytes:
            self._do([Allocate(name, nbytes)])
            self._scratch[name] = nbytes

    def _names(self, index: int) -> dict[str, str]:
        """The buffers of an input set by parameter name."""
        return {item.name: f"{item.name}@{index}" for item in self.topic.signature.inputs}

    def library(self, name: str) -> KernelCandidate:
        """The topic's library routine as a candidate."""
        signature = self.topic.signature
        actions = []
        for i in (KNOWN, FRESH):
            names = self._names(i)
            arrays = {
                item.name: LibraryArray(
                    names.get(item.name, item.name), str(item.dtype), self._shapes[item.name]
                )
                for item in (*signature.inputs, *signature.outputs)
            }
            actions.append(Library(name, arrays, self.known.problem))
        return KernelCandidate(name=TITLES.get(name, name), actions=tuple(actions), checked=False)

    def ceiling(self) -> KernelCandidate:
        """What memory can do at best: a copy that reads and writes as many bytes as the problem has to move, or, of
        a problem that only reads, a read of them."""
        if not self.only_reads:
            copy = Copy(SOURCE, TARGET, self.moved)
            return KernelCandidate(name=COPY, actions=(copy, copy), checked=False)
        read = self._read(SOURCE, self.moved)
        return KernelCandidate(name=READ, actions=(read, read), checked=False)

    def _read(self, buffer: str, nbytes: int) -> Run:
        """A launch that reads a buffer."""
        planned = self._reader.plan({"N": max(1, nbytes // READ_PACK)}, self.runner.hello().limits)
        launches = tuple(renamed(launch, {"in": buffer, "out": TARGET}) for launch in planned.launches)
        return Run(self._reader.module, launches)

    def run(self, candidate: KernelCandidate, number: int) -> float:
        """Seconds of one pass, whose outputs may be looked at. Raises Refused."""
        warm_up = number == WARM_UP
        if number != self._round.number:
            self._round = _Round(number, self._pools)
        before = [
            *(Fill(name, POISON) for name in self._outputs),
            *(Fill(name, UNSET) for name in self._scratch),
        ]
        timed = Timed(candidate.actions[KNOWN if warm_up else FRESH], FLUSH, self._settle)
        seconds = self._do([*before, *([] if warm_up else self._filling()), timed]).values[-1]
        assert isinstance(seconds, float)
        if candidate.checked and not warm_up and self._round.verified:
            self._verify()
        return seconds

    @property
    def _outputs(self) -> list[str]:
        return [item.name for item in self.topic.signature.outputs]

    def _filling(self) -> list[Operation]:
        """What gives the inputs the values of this round."""
        limits = self.runner.hello().limits
        return [
            self._round.inputs.filling(self._filler, f"pool of {name}", f"{name}@{FRESH}", nbytes, limits)
            for name, nbytes in self._input_bytes.items()
        ]

    @property
    def _input_bytes(self) -> dict[str, int]:
        """Of each input, in whole words."""
        inputs = self.store.get(self.known).inputs
        return {name: _whole_words(array.nbytes) for name, array in inputs.items()}

    def check(self, candidate: KernelCandidate, number: int) -> None:
        """Compare the outputs that the last pass left. Raises Refused for a wrong one."""
        if number != WARM_UP:
            self._verify()
            return
        data = self.store.get(self.known)
        for item in self.topic.signature.outputs:
            actual = self._fetched(item.name, data.expected[item.name].shape)
            comparison = data.compare(item.name, actual)
            candidate.error_bound = candidate.error_bound or comparison.bound
            self._note_error(candidate, self.known, comparison.error)
            wrong = of_comparison(comparison, data.advice, self.problem)
            if wrong is not None:
                raise wrong

    def _fetched(self, name: str, shape: tuple[int, ...]) -> Array:
        """An output, copied back. Raises Refused where something around it has changed."""
        dtype = self.topic.signature[name].dtype
        (region,) = self.runner.regions({name: math.prod(shape) * dtype.itemsize})
        self._do([Download(name, region.offset)])
        wrong = of_guards(name, damage(self.runner.bytes_of(region), region.guard), dtype.itemsize)
        if wrong is not None:
            raise wrong
        return self.runner.payload(region).view(dtype).reshape(shape).copy()

    def _verify(self) -> None:
        """Look at what the last pass, on this round's inputs, has left. Raises Refused where it is wrong."""
        tolerance = self.topic.tolerance
        for item in self.topic.signature.outputs:
            terms = float(tolerance.terms[item.name].evaluate(self.problem)) if tolerance.lambda_ else 1.0
            count = min(PLACES, int(TERMS / terms))
            if self.topic.sampled is None or count == 0 or item.dtype.itemsize != fresh.WORD:
                actual = self._fetched(item.name, self._shapes[item.name])
                expected, magnitude = self._expected(item.name)
            else:
                actual, expected, magnitude = self._some(self.topic.sampled, item.name, count)
            lambda_ = 0.0 if self._sums else SLACK * tolerance.lambda_
            allowed = error_bound(lambda_, terms, tolerance.unit, magnitude)
            with np.errstate(invalid="ignore"):
                wrong = int(
                    np.count_nonzero(~((np.abs(actual - expected) <= allowed) | (actual == expected)))
                )
            if wrong:
                raise _kept(item.name, wrong, int(np.count_nonzero(unwritten(actual))), actual.size)

    def _some(self, sampled: Sampled, name: str, count: int) -> tuple[Array, Array, Array]:
        """Elements of an output at places drawn now: what they are, what they should be, and magnitudes."""
        places = np.random.default_rng().integers(0, math.prod(self._shapes[name]), count)
        (value,) = self._do([Gather(name, tuple(places.tolist()))]).values
        assert isinstance(value, bytes)
        expected, magnitude = sampled.elements(self._round.inputs.read, self.problem, name, places)
        return np.frombuffer(value, self.topic.signature[name].dtype), expected, magnitude

    def _expected(self, name: str) -> tuple[Array, Array]:
        """All of an output as it should be, and its magnitudes, from inputs as they were before any kernel ran."""
        if not self._round.expected:
            self._do(self._filling())
            inputs = {}
            for item in self.topic.signature.inputs:
                (region,) = self.runner.regions({item.name: self._input_bytes[item.name]})
                self._do([Download(f"{item.name}@{FRESH}", region.offset)])
                elements = self.runner.payload(region).view(item.dtype)[: math.prod(self._shapes[item.name])]
                inputs[item.name] = elements.reshape(self._shapes[item.name]).copy()
            reference = self.topic.reference
            expected = reference.reference(inputs, self.problem)
            magnitudes = expected if self._sums else reference.magnitude(inputs, self.problem)
            self._round.expected = {
                output: (expected[output], magnitudes[output]) for output in self._outputs
            }
        return self._round.expected[name]

    def _note_error(self, candidate: KernelCandidate, case: Case, error: float | None) -> None:
        """Keep the largest error, and the yardstick's on the same data."""
        yardstick, beside = self.topic.tolerance.yardstick, self.store.yardstick_error(case)
        if yardstick is None or beside is None or error is None:
            return
        if candidate.accuracy is None or error > candidate.accuracy.error:
            candidate.accuracy = Accuracy(case.problem, error, yardstick, beside)


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
