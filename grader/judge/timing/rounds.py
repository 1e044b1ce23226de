"""Measuring times on a GPU: every rung and every baseline in the same rounds.

A round times each candidate once, in an order drawn anew, and ends with a rest, so that heat, power limits
and other users of the machine meet all of them alike. Before each timed pass the outputs are poisoned, and a
buffer larger than twice the L2 cache is overwritten and read again: nothing that matters is found in the
cache, nothing lies there that has to be written back first, and the queue is busy while the host enqueues the
pass. Input sets take turns. Each candidate's output is compared after its warm-up pass, and again after a
round that nobody knows beforehand.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from grader.errors import WarpladderError
from grader.judge.child.baselines import TITLES
from grader.judge.child.protocol import (
    Allocate,
    Copy,
    Download,
    Fill,
    Launch,
    Library,
    LibraryArray,
    Operation,
    Pointer,
    Reply,
    Run,
    Timed,
    Upload,
)
from grader.judge.correctness.cases import PUBLIC_SEED, Case, CaseStore, make
from grader.judge.correctness.guards import POISON, damage, frame
from grader.judge.correctness.verdict import of_comparison, of_failure, of_guards
from grader.judge.kernels.case_run import as_bytes
from grader.judge.kernels.compiled import Kernel, Planned, prepare
from grader.judge.kernels.runner import Runner
from grader.judge.refused import Refused
from grader.judge.timing.bounds import only_reads
from grader.judge.timing.nvml import Watch
from grader.results import Accuracy
from grader.workbook.kernel_file import parse_kernel_file
from grader.workbook.signature import parse_signature
from grader.workbook.topics import Problem, Topic

Array = np.ndarray[Any, np.dtype[Any]]

ROUNDS = 31
FEWEST_ROUNDS = 5
SECONDS_EACH = 2.0
"""A candidate is timed in ROUNDS rounds, or in as many as fit into SECONDS_EACH, but in FEWEST_ROUNDS at
least."""

INPUT_SETS = 2
FLUSH_BYTES = 512 << 20
"""Written before each pass, unless twice the L2 cache is more: about a tenth of a millisecond on a large
GPU."""

PASS_SECONDS = 60.0
"""After this long a timed pass is taken for an endless loop."""

COPY, READ = "device copy", "device read"
FLUSH, SOURCE, TARGET = "ladder/flush", "ladder/source", "ladder/target"
READ_KERNEL = Path(__file__).with_name("read.cu")
READ_SIGNATURE = parse_signature("read(const int* in, int* out, int N)")
READ_PACK = 16
"""The kernel that reads, and the bytes of the packs that its N counts."""


@dataclass
class Candidate:
    """A rung or a baseline in the rounds, and what was measured of it so far."""

    name: str
    actions: tuple[Run | Library | Copy, ...]  # one for each input set
    checked: bool  # whether its output is compared: rungs are, libraries are trusted
    samples: list[float] = field(default_factory=list)  # seconds, by round
    rounds: int = ROUNDS
    refusal: Refused | None = None  # why it dropped out
    accuracy: Accuracy | None = None  # the largest error found, where the topic has a yardstick
    error_bound: str | None = None  # the algorithm whose error bound held, where the topic's own did not

    def takes_part(self, number: int) -> bool:
        """Whether it is timed in a round: the slow ones in fewer, spread over all of them."""
        stride = ROUNDS // self.rounds
        return self.refusal is None and number % stride == 0 and number < stride * self.rounds


class Track:
    """The buffers that candidates share on the GPU, and one pass of one candidate over them.

    Raises WarpladderError where the GPU cannot be given them.
    """

    def __init__(self, runner: Runner, topic: Topic, store: CaseStore, problem: Problem) -> None:
        self.runner = runner
        self.topic = topic
        self.store = store
        self.sets = tuple(make(problem, "real", PUBLIC_SEED + i) for i in range(INPUT_SETS))
        self.only_reads = only_reads(topic, problem)
        self.flush_bytes = max(FLUSH_BYTES, 2 * runner.hello().limits["l2_cache_size"])
        self._scratch: dict[str, int] = {}
        data = store.get(self.sets[0])
        signature = topic.signature
        self._shapes = {name: array.shape for name, array in {**data.inputs, **data.expected}.items()}
        for i, case in enumerate(self.sets):
            for name, array in store.get(case).inputs.items():
                self._place(f"{name}@{i}", array)
        for name, expected in data.expected.items():
            self._place(name, np.broadcast_to(np.zeros((), signature[name].dtype), expected.shape))
        nbytes = topic.reference.min_bytes(problem)
        noise = np.random.default_rng(0).bytes(nbytes if self.only_reads else nbytes // 2)
        self._place(SOURCE, np.frombuffer(noise, np.uint8))
        self._do([Allocate(TARGET, 4 if self.only_reads else len(noise)), Allocate(FLUSH, self.flush_bytes)])
        self.moved = len(noise)
        self._reader = prepare(parse_kernel_file(READ_KERNEL, READ_SIGNATURE), runner.hello().arch)
        if refusal := runner.load(self._reader, PASS_SECONDS):
            raise WarpladderError(f"nothing could be timed: {refusal.reason}")
        self._settle = self._read(FLUSH, self.flush_bytes)

    def _place(self, name: str, array: Array) -> None:
        """Allocate a buffer between guards and fill it."""
        (region,) = self.runner.regions({name: array.nbytes})
        frame(self.runner.bytes_of(region), region.guard)[:] = as_bytes(array)
        self._do([Allocate(name, region.nbytes, region.guard), Upload(name, region.offset)])

    def _do(self, operations: Sequence[Operation]) -> Reply:
        reply = self.runner.ask(operations, PASS_SECONDS)
        if isinstance(reply, Refused):
            raise WarpladderError(f"nothing could be timed: {reply.reason}")
        if reply.failure is not None:
            reason = of_failure(reply.failure).reason
            raise WarpladderError(
                f"nothing could be timed: {reason}", remedy="choose smaller sizes with --set"
            )
        return reply

    def rung(self, kernel: Kernel, planned: Planned) -> Candidate:
        """A kernel as a candidate; its scratch arrays share buffers with those of other kernels."""
        names = {item.name: f"ladder/scratch {i}" for i, item in enumerate(planned.scratch)}
        for item in planned.scratch:
            self._reserve(names[item.name], int(np.prod(item.shape)) * item.dtype.itemsize)
        refusal = self.runner.load(kernel, PASS_SECONDS)
        actions = tuple(
            Run(kernel.module, tuple(renamed(launch, self._names(i) | names) for launch in planned.launches))
            for i in range(INPUT_SETS)
        )
        return Candidate(kernel.rung.id, actions, checked=True, refusal=refusal)

    def _reserve(self, name: str, nbytes: int) -> None:
        if self._scratch.get(name, 0) < nbytes:
            self._do([Allocate(name, nbytes)])
            self._scratch[name] = nbytes

    def _names(self, index: int) -> dict[str, str]:
        """The buffers of an input set by parameter name."""
        return {item.name: f"{item.name}@{index}" for item in self.topic.signature.inputs}

    def library(self, name: str) -> Candidate:
        """The topic's library routine as a candidate."""
        signature = self.topic.signature
        actions = []
        for i in range(INPUT_SETS):
            names = self._names(i)
            arrays = {
                item.name: LibraryArray(
                    names.get(item.name, item.name), str(item.dtype), self._shapes[item.name]
                )
                for item in (*signature.inputs, *signature.outputs)
            }
            actions.append(Library(name, arrays, self.sets[i].problem))
        return Candidate(TITLES.get(name, name), tuple(actions), checked=False)

    def ceiling(self) -> Candidate:
        """What memory can do at best: a copy that reads and writes as many bytes as the problem has to move, or, of
        a problem that only reads, a read of them."""
        if not self.only_reads:
            return Candidate(COPY, (Copy(SOURCE, TARGET, self.moved),) * INPUT_SETS, checked=False)
        read = self._read(SOURCE, self.moved)
        return Candidate(READ, (read,) * INPUT_SETS, checked=False)

    def _read(self, buffer: str, nbytes: int) -> Run:
        """A launch that reads a buffer."""
        planned = self._reader.plan({"N": max(1, nbytes // READ_PACK)}, self.runner.hello().limits)
        launches = tuple(renamed(launch, {"in": buffer, "out": TARGET}) for launch in planned.launches)
        return Run(self._reader.module, launches)

    def time(self, candidate: Candidate, index: int) -> None:
        """One timed pass on an input set; a pass that fails makes the candidate drop out."""
        poison = [Fill(item.name, POISON) for item in self.topic.signature.outputs]
        reply = self.runner.ask([*poison, Timed(candidate.actions[index], FLUSH, self._settle)], PASS_SECONDS)
        if isinstance(reply, Refused):
            candidate.refusal = reply
        elif reply.failure is not None:
            candidate.refusal = of_failure(reply.failure)
        else:
            seconds = reply.values[-1]
            assert isinstance(seconds, float)
            candidate.samples.append(seconds)

    def check(self, candidate: Candidate, index: int) -> None:
        """Compare the outputs that the candidate's last pass left; a wrong one makes it drop out."""
        if not candidate.checked or candidate.refusal is not None:
            return
        case = self.sets[index]
        data = self.store.get(case)
        for item in self.topic.signature.outputs:
            expected = data.expected[item.name]
            (region,) = self.runner.regions({item.name: expected.size * item.dtype.itemsize})
            self._do([Download(item.name, region.offset)])
            around = damage(self.runner.bytes_of(region), region.guard)
            actual = self.runner.payload(region).view(item.dtype).reshape(expected.shape)
            comparison = data.compare(item.name, actual)
            candidate.refusal = (
                candidate.refusal
                or of_guards(item.name, around, item.dtype.itemsize)
                or of_comparison(comparison, data.advice, case.problem)
            )
            candidate.error_bound = candidate.error_bound or comparison.bound
            self._note_error(candidate, case, comparison.error)

    def _note_error(self, candidate: Candidate, case: Case, error: float | None) -> None:
        """Keep the largest error, and the yardstick's on the same data."""
        yardstick, beside = self.topic.tolerance.yardstick, self.store.yardstick_error(case)
        if yardstick is None or beside is None or error is None:
            return
        if candidate.accuracy is None or error > candidate.accuracy.error:
            candidate.accuracy = Accuracy(case.problem, error, yardstick, beside)


def renamed(launch: Launch, names: Mapping[str, str]) -> Launch:
    """A launch with its buffers called otherwise."""
    args = tuple(
        Pointer(names.get(argument.buffer, argument.buffer)) if isinstance(argument, Pointer) else argument
        for argument in launch.args
    )
    zero = tuple(names.get(name, name) for name in launch.zero)
    constant = tuple((variable, names.get(name, name)) for variable, name in launch.constant)
    return msgspec.structs.replace(launch, args=args, zero=zero, constant=constant)


def measure(track: Track, candidates: Sequence[Candidate], watch: Watch, rng: random.Random) -> None:
    """Warm every candidate up, check it, time it in all its rounds, and check it again."""
    for candidate in candidates:
        _warm_up(track, candidate)
    secret = rng.randrange(ROUNDS // 2, ROUNDS)
    order = list(candidates)
    for number in range(ROUNDS):
        rng.shuffle(order)
        _round(track, [candidate for candidate in order if candidate.takes_part(number)], number)
        watch.look()
        if number == secret:
            for candidate in candidates:
                track.time(candidate, number % INPUT_SETS)
                track.check(candidate, number % INPUT_SETS)


def _warm_up(track: Track, candidate: Candidate) -> None:
    """Two passes that do not count: the first loads code, the second says how long a pass takes."""
    for index in range(2):
        if candidate.refusal is None:
            track.time(candidate, index % INPUT_SETS)
    track.check(candidate, 1 % INPUT_SETS)
    if candidate.refusal is None:
        affordable = int(SECONDS_EACH / max(candidate.samples[-1], 1e-9))
        candidate.rounds = max(FEWEST_ROUNDS, min(ROUNDS, affordable))
    candidate.samples.clear()


def _round(track: Track, candidates: Sequence[Candidate], number: int) -> None:
    """Time each candidate once, and rest for half as long as that took."""
    start = time.monotonic()
    for candidate in candidates:
        track.time(candidate, number % INPUT_SETS)
    time.sleep(min(0.2, (time.monotonic() - start) / 2))
