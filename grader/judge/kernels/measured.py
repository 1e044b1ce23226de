"""A submission and rungs beside it, timed on a GPU in the same rounds."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

from grader.analysis.devices import board
from grader.errors import WarpladderError
from grader.judge.child.protocol import Release
from grader.judge.claims.pace import Times
from grader.judge.kernels.compiled import prepare
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.kernels.track import KernelCandidate, KernelTrack, Values
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool, Progress, greeting
from grader.judge.timing import rounds
from grader.judge.timing.bounds import too_fast
from grader.judge.timing.nvml import Watch
from grader.workbook.kernel_file import KernelFile
from grader.workbook.ladder import Rung
from grader.workbook.topic import KernelTopic

OWN = "the submission"


@contextmanager
def ahead(pool: DevicePool, current: KernelSubmission, values: Callable[[], Values]) -> Iterator[None]:
    """While something else is done with an emulator, warm a right submission up on a GPU, and compare what it leaves at
    the main size. Once it is found to be wrong nobody waits for that."""
    if pool.gpu is None:
        yield
        return
    with ThreadPoolExecutor(1) as helper:
        current.track = helper.submit(_track, pool, values)
        current.warm = helper.submit(_warm, pool, current)
        right = False
        try:
            yield
            right = current.refusal is None
        finally:
            if not right and not current.warm.done():
                pool.gpu.interrupt()


def _track(pool: DevicePool, values: Callable[[], Values]) -> KernelTrack:
    made = values()
    with pool.judge() as runner:
        runner.do([Release()], rounds.PASS_SECONDS)  # what an earlier run has left
        return KernelTrack(runner, made)


def _warm(pool: DevicePool, current: KernelSubmission) -> KernelCandidate:
    assert current.track is not None, "a submission is warmed up on its track"
    track = current.track.result()
    with pool.judge():
        own = track.rung(OWN, current.compiled)
        rounds.warm_up(track, own)
    return own


def times(
    pool: DevicePool,
    topic: KernelTopic,
    current: KernelSubmission,
    rungs: Sequence[Rung[KernelFile]],
    progress: Progress,
) -> Times:
    """Measured times at the main sizes. A submission that is wrong there is refused; the workbook's own rungs are
    compared in a climb."""
    progress(current.file.path.stem, "time")
    kernels = {rung.id: prepare(rung.file, pool.arch) for rung in rungs}
    assert current.track is not None, "a submission is counted before it is timed"
    assert current.warm is not None, "and warmed up"
    with pool.judge() as runner:
        try:
            track = current.track.result()
            beside = [track.rung(name, kernel, checked=False) for name, kernel in kernels.items()]
        except Refused as refused:
            raise WarpladderError(f"nothing could be timed: {refused.reason}") from None
        with current.stages():
            own = replace(current.warm.result(), samples=[])
            watch = Watch(greeting(runner).bus_id)
            rounds.measure(track, [own, *beside], watch, random.SystemRandom())
    if current.refusal is not None:
        return rounds.times(None, beside)
    found = rounds.times(own, beside)
    if own.refusal is not None:
        current.refusal = own.refusal if own.refusal.verdict == "fail" else None
    elif found.own_s is not None:
        device = board(pool.device.name, pool.device.arch)
        current.refusal = too_fast(topic, topic.sizes_main, device, found.own_s)
    return found
