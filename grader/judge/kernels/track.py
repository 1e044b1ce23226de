"""Passes of kernels, libraries and copies on one GPU, over buffers that they share.

Before each timed pass the outputs are poisoned, and a buffer larger than twice the L2 cache is overwritten and read
again: nothing that matters is found in the cache, nothing lies there that has to be written back first, and the queue
is busy while the host enqueues the pass. Input sets take turns.
"""

from __future__ import annotations

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
from grader.judge.correctness.verdict import of_comparison, of_guards
from grader.judge.kernels.case_run import as_bytes
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.runners.runner import Runner
from grader.judge.timing.bounds import only_reads
from grader.judge.timing.rounds import PASS_SECONDS, Candidate
from grader.results import Accuracy
from grader.workbook.kernel_file import parse_kernel_file
from grader.workbook.reference import Problem
from grader.workbook.signature import parse_signature
from grader.workbook.topic import Topic

Array = np.ndarray[Any, np.dtype[Any]]

INPUT_SETS = 2
FLUSH_BYTES = 512 << 20
"""Written before each pass, unless twice the L2 cache is more: about a tenth of a millisecond on a large
GPU."""

COPY, READ = "device copy", "device read"
FLUSH, SOURCE, TARGET = "ladder/flush", "ladder/source", "ladder/target"
READ_KERNEL = Path(__file__).with_name("read.cu")
READ_SIGNATURE = parse_signature("read(const int* in, int* out, int N)")
READ_PACK = 16
"""The kernel that reads, and the bytes of the packs that its N counts."""


@dataclass(kw_only=True)
class KernelCandidate(Candidate):
    """A rung, a library's routine, or a copy."""

    actions: tuple[Run | Library | Copy, ...]  # one for each input set
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
        self.sets = tuple(make(problem, "real", PUBLIC_SEED + i) for i in range(INPUT_SETS))
        self.only_reads = only_reads(topic, problem)
        self.flush_bytes = max(FLUSH_BYTES, 2 * runner.hello().limits["l2_cache_size"])
        data, nbytes = store.get(self.sets[0]), topic.reference.min_bytes(problem)
        self._shapes = {name: array.shape for name, array in {**data.inputs, **data.expected}.items()}
        self.moved = nbytes if self.only_reads else nbytes // 2
        self._reader = prepare(parse_kernel_file(READ_KERNEL, READ_SIGNATURE), runner.hello().arch)
        self._kernels = [self._reader]
        self._scratch: dict[str, int] = {}
        self._set_up()
        self._settle = self._read(FLUSH, self.flush_bytes)

    def _set_up(self) -> None:
        """Give a child everything that passes need."""
        self._generation = self.runner.generation
        for i, case in enumerate(self.sets):
            for name, array in self.store.get(case).inputs.items():
                self._place(f"{name}@{i}", array)
        for name, expected in self.store.get(self.sets[0]).expected.items():
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
            for i in range(INPUT_SETS)
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
        for i in range(INPUT_SETS):
            names = self._names(i)
            arrays = {
                item.name: LibraryArray(
                    names.get(item.name, item.name), str(item.dtype), self._shapes[item.name]
                )
                for item in (*signature.inputs, *signature.outputs)
            }
            actions.append(Library(name, arrays, self.sets[i].problem))
        return KernelCandidate(name=TITLES.get(name, name), actions=tuple(actions), checked=False)

    def ceiling(self) -> KernelCandidate:
        """What memory can do at best: a copy that reads and writes as many bytes as the problem has to move, or, of
        a problem that only reads, a read of them."""
        if not self.only_reads:
            copy = Copy(SOURCE, TARGET, self.moved)
            return KernelCandidate(name=COPY, actions=(copy,) * INPUT_SETS, checked=False)
        read = self._read(SOURCE, self.moved)
        return KernelCandidate(name=READ, actions=(read,) * INPUT_SETS, checked=False)

    def _read(self, buffer: str, nbytes: int) -> Run:
        """A launch that reads a buffer."""
        planned = self._reader.plan({"N": max(1, nbytes // READ_PACK)}, self.runner.hello().limits)
        launches = tuple(renamed(launch, {"in": buffer, "out": TARGET}) for launch in planned.launches)
        return Run(self._reader.module, launches)

    def run(self, candidate: KernelCandidate, number: int) -> float:
        """Seconds of one pass on the round's input set. Raises Refused."""
        poison = [Fill(item.name, POISON) for item in self.topic.signature.outputs]
        timed = Timed(candidate.actions[number % INPUT_SETS], FLUSH, self._settle)
        seconds = self._do([*poison, timed]).values[-1]
        assert isinstance(seconds, float)
        return seconds

    def check(self, candidate: KernelCandidate, number: int) -> None:
        """Compare the outputs that the last pass left. Raises Refused for a wrong one."""
        case = self.sets[number % INPUT_SETS]
        data = self.store.get(case)
        for item in self.topic.signature.outputs:
            expected = data.expected[item.name]
            (region,) = self.runner.regions({item.name: expected.size * item.dtype.itemsize})
            self._do([Download(item.name, region.offset)])
            around = damage(self.runner.bytes_of(region), region.guard)
            actual = self.runner.payload(region).view(item.dtype).reshape(expected.shape)
            comparison = data.compare(item.name, actual)
            candidate.error_bound = candidate.error_bound or comparison.bound
            self._note_error(candidate, case, comparison.error)
            wrong = of_guards(item.name, around, item.dtype.itemsize)
            wrong = wrong or of_comparison(comparison, data.advice, case.problem)
            if wrong is not None:
                raise wrong

    def _note_error(self, candidate: KernelCandidate, case: Case, error: float | None) -> None:
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
