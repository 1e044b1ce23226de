"""The child processes of one climb, grade or profile: which there are, and work spread over them."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import TypeVar

from grader.emulator import devices
from grader.emulator.devices import DEFAULT_ARCH
from grader.errors import WarpladderError
from grader.judge.child.process import ChildDied, ChildTimeout, ChildUnusable
from grader.judge.child.protocol import Hello
from grader.judge.runners.first import First, begin_first, emulators, shared_cores
from grader.judge.runners.runner import Runner
from grader.results import Device

Item = TypeVar("Item")
Result = TypeVar("Result")

Progress = Callable[[str, str], None]
"""Called with a rung's id and what is done with it: "compile", "judge", "count", "model", "time" or "done".
It may be called from several threads."""

REMEDY = "run `ladder doctor`, or use --device emulator"


class DevicePool:
    """One GPU runner, where there is a GPU, and `jobs` emulators of the same architecture; None: as many as one grade
    has work for, and a second runner on the GPU for its cases.

    Emulators share the machine's cores, or `threads` of them: a launch runs on those that no other has, and on one
    in any case. `pools`: how many pools like this one are at work on this machine; `at_once` is how many submissions
    that makes. `first`: what was begun of it before. Nothing waits for a child until it is needed, but where nothing
    else than CUDA says whether there is a GPU, and of which architecture.
    """

    def __init__(
        self,
        device: str = "auto",
        arch: str | None = None,
        jobs: int | None = 2,
        threads: int | None = None,
        pools: int = 1,
        first: First | None = None,
    ) -> None:
        self.gpu, self.arch = _gpu(first or begin_first(device, arch), arch)
        if arch is not None:
            check_arch(arch)
        self._also_on_gpu = [Runner("pycuda")] if self.gpu is not None and jobs is None else []
        self.at_once = (jobs or 1) * pools
        begun = first.emulators if first else ()
        self.jobs = jobs = len(begun) or jobs or emulators()
        self._gpu_in_use = threading.Lock()
        self._lock = threading.Lock()
        self._working = 0  # how many have work for an emulator, or will have
        self._waiting: list[tuple[Future[None], Callable[[Runner], None]]] = []
        self._helpers = ThreadPoolExecutor(jobs)
        self._cores = first.cores if first and begun else shared_cores(jobs)
        self._emulators = [
            Runner("emulator", self.arch, threads, cores=self._cores, begun=child)
            for child in begun or [None] * jobs
        ]
        self._free: queue.Queue[Runner] = queue.Queue()
        for runner in self._emulators:
            self._free.put(runner)

    @property
    def device(self) -> Device:
        """The device that kernels are judged on."""
        hello = greeting(self.gpu or self._emulators[0])
        return Device(hello.kind, hello.name, hello.arch)

    @contextmanager
    def emulator(self) -> Iterator[Runner]:
        """An emulator of one's own, as soon as one is free."""
        runner = self._free.get()
        try:
            greeting(runner)
            yield runner
        finally:
            self._free.put(runner)

    @contextmanager
    def emulators(self) -> Iterator[list[Runner]]:
        """An emulator of one's own, as soon as one is free, and others that are free then: all, or where they work
        beside a GPU half of all that there are, as two have work for them at the same time."""
        most = self.jobs if self.gpu is None else self.jobs // 2
        with self.emulator() as runner, ExitStack() as taken:
            others: list[Runner] = []
            with suppress(queue.Empty):
                while len(others) + 1 < most:
                    others.append(self._free.get_nowait())
                    taken.callback(self._free.put, others[-1])
            yield [runner, *others]

    @contextmanager
    def judge(self) -> Iterator[Runner]:
        """The runner that correctness is judged on: the GPU, or an emulator."""
        if self.gpu is None:
            with self.emulator() as runner:
                yield runner
        else:
            with self._gpu_in_use:
                greeting(self.gpu)
                yield self.gpu

    @contextmanager
    def judges(self) -> Iterator[list[Runner]]:
        """The runners that correctness is judged on: emulators, or children that share the GPU, where it takes more
        than one. A case takes most of its time before and behind its launch."""
        if self.gpu is None:
            with self.emulators() as runners:
                yield runners
        else:
            with self.judge() as gpu:
                yield [gpu, *filter(_launches, self._also_on_gpu)]

    def spread(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """`work` done on all items, as many at a time as there are emulators; results in the items' order."""

        def one(item: Item) -> Result:
            try:
                return work(item)
            finally:
                self._done()

        with self._lock:
            self._working += len(items)
        with ThreadPoolExecutor(len(self._emulators)) as pool:
            return list(pool.map(one, items))

    def beside(self, work: Callable[[Runner], None]) -> Future[None]:
        """`work` with an emulator of its own, begun once none of the items above needs it. Until then the work may be
        cancelled. Whoever asks last is served first: that file took longest to compile."""
        future: Future[None] = Future()
        with self._lock:
            self._waiting.append((future, work))
        self._begin()
        return future

    def _begin(self) -> None:
        """Begin the work that waits for emulators which are not needed."""
        with self._lock:
            while self._waiting and self._working < len(self._emulators):
                future, work = self._waiting.pop()
                if future.set_running_or_notify_cancel():
                    self._working += 1
                    self._helpers.submit(self._help, future, work)

    def _help(self, future: Future[None], work: Callable[[Runner], None]) -> None:
        try:
            with self.emulator() as runner:
                work(runner)
            future.set_result(None)
        except BaseException as error:  # of whoever asked
            future.set_exception(error)
        finally:
            self._done()

    def _done(self) -> None:
        with self._lock:
            self._working -= 1
        self._begin()

    def close(self) -> None:
        """End every child."""
        self._helpers.shutdown()
        for runner in (self.gpu, *self._also_on_gpu, *self._emulators):
            if runner is not None:
                runner.close(wait=False)
        if self._cores is not None:
            os.close(self._cores)
            self._cores = None

    def __enter__(self) -> DevicePool:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


@contextmanager
def opened(device: str, arch: str | None, first: First | None = None) -> Iterator[Future[DevicePool]]:
    """A grade's pool, while what it is for is still read: children take a second to start. Where there can be none,
    whoever asks for it is told why. Its emulators run cases, and look at a topic's large sizes, at the same time."""
    with ThreadPoolExecutor(1) as helper:
        pool = helper.submit(DevicePool, device, arch, None, first=first)
        try:
            yield pool
        finally:
            if pool.exception() is None:
                pool.result().close()
            elif first is not None:
                first.close_emulators()


def greeting(runner: Runner) -> Hello:
    """A runner's hello. Raises WarpladderError where its child cannot be used."""
    try:
        return runner.hello()
    except (ChildUnusable, ChildDied, ChildTimeout) as error:
        raise WarpladderError(f"there is no device to launch on: {error}", remedy=REMEDY) from None


def _launches(runner: Runner) -> bool:
    """Whether a runner's child can be used."""
    try:
        greeting(runner)
    except WarpladderError:
        return False
    return True


def _gpu(first: First, arch: str | None) -> tuple[Runner | None, str]:
    """A runner on the GPU, None where "auto" finds none; and the architecture to compile for. Raises WarpladderError
    where "pycuda" finds no GPU."""
    if first.child is None:
        return None, first.arch or DEFAULT_ARCH
    runner = Runner(first.device, arch or "", begun=first.child)
    if first.arch is not None:
        return runner, first.arch
    try:
        hello = greeting(runner)
    except WarpladderError:
        runner.close()
        raise
    if hello.kind == "gpu":
        return runner, hello.arch
    runner.close()
    return None, hello.arch


def check_arch(arch: str) -> None:
    """Raises WarpladderError for an architecture that no device is emulated of."""
    try:
        devices.find(arch)
    except ValueError as error:
        raise WarpladderError(str(error), remedy="give one of these to --arch") from None


def silent(rung: str, stage: str) -> None:
    """Reports no progress."""
