"""Marking processes wherever dask has workers: on this machine, on several, on a cluster.

Each thread of a worker has a marking process of its own, which stays warm. An order whose worker dies goes to another:
dask sees to that, and so to a GPU being one order's alone, which is a resource that workers offer.
"""

from __future__ import annotations

import itertools
import logging
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import dask
import distributed
import msgspec
from distributed.security import Security

from grader.course.engines.engine import Engine
from grader.course.engines.process import Process
from grader.course.orders import Answer, Order, as_answer, as_order, on_gpu
from grader.emulator.machine.cores import usable
from grader.emulator.runtime.build import prepare
from grader.errors import WarpladderError
from grader.judge.timing.nvml import gpu_count
from grader.sandbox.scratch import Scratch

GPU = {"GPU": 1}
"""What an order asks of a worker where the course's device is a GPU."""

FOLDER = "WARPLADDER_MARKING"
"""The variable that names the folder in which a worker's marking processes have theirs."""

DEATHS = 1
"""Workers that an order may outlive here, before it counts as what killed them."""

_SECONDS = 20.0
"""How long a scheduler may take to answer."""

_LOCAL = "127.0.0.1"

_SETTINGS = {
    "distributed.scheduler.allowed-failures": DEATHS,
    "distributed.scheduler.http.routes": [],  # pages that any user of this machine could open
    "distributed.worker.http.routes": [],
}

_here = threading.local()


def answer(order: bytes, seconds: float) -> bytes:
    """What a worker does: an Order in JSON, answered by the marking process of this thread."""
    if not hasattr(_here, "process"):
        _here.process = Process(folder=os.environ.get(FOLDER))
    found: Answer = _here.process.ask(as_order(order), seconds)
    return msgspec.json.encode(found)


class Local:
    """Workers on this machine, started when there is something to mark: `jobs` of them, or one for each GPU."""

    def __init__(self, jobs: int, stack: ExitStack) -> None:
        self._jobs = jobs
        self._stack = stack
        self._client: distributed.Client | None = None

    def answers(self, orders: Sequence[Order], seconds: float) -> Iterator[tuple[int, Answer]]:
        """See `Engine`."""
        if not orders:
            return
        prepare()  # once, and here, where a terminal shows how far it is
        gpus = visible_gpus() if on_gpu(orders) else []
        if self._client is None:
            # A worker that is killed leaves its folder: it lies in one that is removed at the end.
            folder = str(self._stack.enter_context(Scratch()))
            workers = [_worker(folder, gpu) for gpu in gpus] or [_worker(folder)] * self._jobs
            self._client = self._stack.enter_context(_cluster(workers))
        jobs = min(len(gpus) or self._jobs, len(orders))
        yield from _answers(self._client, orders, seconds, max(1, usable() // jobs), jobs)


class Remote:
    """The workers of a scheduler that somebody else has started."""

    def __init__(self, client: distributed.Client) -> None:
        self._client = client

    def answers(self, orders: Sequence[Order], seconds: float) -> Iterator[tuple[int, Answer]]:
        """See `Engine`. Who started the workers knows how many share a machine, so each is taken to have one core."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        if on_gpu(orders) and workers and not any("GPU" in worker["resources"] for worker in workers):
            remedy = "start them by `dask worker --resources GPU=1`, one for each GPU"
            raise WarpladderError("the course's device is a GPU, and no worker offers one", remedy=remedy)
        yield from _answers(self._client, orders, seconds, 1 if len(orders) > 1 else None)


@contextmanager
def local(jobs: int) -> Iterator[Engine]:
    """Workers on this machine."""
    with ExitStack() as stack:
        yield Local(jobs, stack)


@contextmanager
def remote(address: str) -> Iterator[Engine]:
    """A scheduler's workers. Raises WarpladderError where none answers."""
    try:
        client = distributed.Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:  # TypeError: tls:// without certificates
        remedy = (
            "give its address, such as tcp://host:8786; tls:// needs certificates in dask's configuration"
        )
        raise WarpladderError(
            f"no scheduler of dask's answers at {address}: {error}", remedy=remedy
        ) from None
    with client:
        yield Remote(client)


def visible_gpus() -> list[str]:
    """Numbers or names of the GPUs that this process may use, as CUDA_VISIBLE_DEVICES has them. Raises WarpladderError
    where there are none."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    found = [str(number) for number in range(gpu_count())] if given is None else given.split(",")
    if not any(found):
        remedy = "name those to use in CUDA_VISIBLE_DEVICES, or set c.MarkKernels.device"
        raise WarpladderError("the course's device is a GPU, and none is found here", remedy=remedy)
    return [name for name in found if name]


def _answers(
    client: distributed.Client,
    orders: Sequence[Order],
    seconds: float,
    threads: int | None,
    jobs: int | None = None,
) -> Iterator[tuple[int, Answer]]:
    """No more orders are given than workers have threads: all those of a worker that dies are suspected of its death.
    Raises WarpladderError where the scheduler is gone."""
    resources = GPU if on_gpu(orders) else None
    left = iter(enumerate(orders))
    places: dict[distributed.Future, int] = {}
    running = distributed.as_completed(loop=client.loop)

    def give() -> None:
        room = max(1, sum(client.nthreads().values())) - len(places)
        for place, order in itertools.islice(left, room):
            asked = msgspec.json.encode(msgspec.structs.replace(order, threads=threads, jobs=jobs))
            future = client.submit(answer, asked, seconds, pure=False, retries=1, resources=resources)
            places[future] = place
            running.add(future)

    try:
        give()
        for future in running:
            found = places.pop(future), _result(future)
            give()
            yield found
    except OSError as error:
        remedy = "start it and its workers again, then run this again: the marks that were kept stay"
        raise WarpladderError(f"dask's scheduler does not answer any more: {error}", remedy=remedy) from None
    finally:  # the caller may have had enough
        client.cancel(list(places), force=True)


def _result(future: distributed.Future) -> Answer:
    """An answer, or that there is none: whatever went wrong, it was not the source that was judged."""
    try:
        return as_answer(future.result())
    except Exception as error:
        return Answer(complaint=f"{type(error).__name__}: {error}")


def _worker(folder: str, gpu: str | None = None) -> Mapping[str, Any]:
    """One worker of this machine; it has a GPU to itself, or none."""
    variables = {FOLDER: folder} | ({} if gpu is None else {"CUDA_VISIBLE_DEVICES": gpu})
    own = {"env": variables} | ({} if gpu is None else {"resources": GPU})
    return {"nthreads": 1, "memory_limit": 0, "host": _LOCAL, "silence_logs": logging.CRITICAL, **own}


@contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """For what starts processes that are ended from here: Ctrl-C, which reaches them as well, is not for them. They
    inherit that it is ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say so
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _cluster(workers: Sequence[Mapping[str, Any]]) -> Iterator[distributed.Client]:
    """A scheduler and workers that no other user of this machine can talk to: who can, runs what they like as us."""
    security = Security.temporary()
    nannies = {
        place: {"cls": distributed.Nanny, "options": {**worker, "security": security}}
        for place, worker in enumerate(workers)
    }
    options = {"protocol": "tls://", "host": _LOCAL, "port": 0, "dashboard": False, "security": security}
    scheduler = {"cls": distributed.Scheduler, "options": options}
    with dask.config.set(_SETTINGS):
        with _ignored_interrupts():
            started = distributed.SpecCluster(
                workers=nannies, scheduler=scheduler, security=security, silence_logs=logging.CRITICAL
            )
        with (
            started as cluster,
            distributed.Client(cluster, security=security, set_as_default=False) as client,
        ):
            yield client
