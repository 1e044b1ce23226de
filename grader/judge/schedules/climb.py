"""Climbing a ladder of schedules: every rung replayed on the cases, and timed or its time simulated.

On a GPU the replays of all rungs take turns, and so do two baselines that bound them: both copies at once, and the
kernel alone. No schedule can be faster than the slower of these.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from grader.emulator.streams.commands import Buffer, Copy, Graph, LaunchGraph, LaunchKernel, Place, Recording
from grader.errors import WarpladderError
from grader.judge.claims.scoring import elsewhere
from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseStore
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.provenance import provenance
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool, Progress, greeting
from grader.judge.runners.runner import Runner
from grader.judge.schedules import intervals, submission
from grader.judge.schedules.job import ScheduleJob, schedule_job
from grader.judge.schedules.submission import ScheduleSubmission
from grader.judge.schedules.track import ReplayCandidate, ReplayTrack
from grader.judge.timing import rounds
from grader.judge.timing.nvml import Watch
from grader.judge.timing.rounds import FEWEST_ROUNDS, ROUNDS, SECONDS_EACH
from grader.judge.timing.statistics import median
from grader.results import Baseline, Bound, Climb, RungResult
from grader.workbook.content import name_of
from grader.workbook.expressions import Number
from grader.workbook.ladder import Rung
from grader.workbook.reference import Problem
from grader.workbook.schedule_file import ScheduleFile
from grader.workbook.topic import ScheduleTopic

COPIES, KERNEL, CPU = "both copies at once", "the kernel alone", "NumPy on the CPU"


def climb(pool: DevicePool, topic: ScheduleTopic, problem: dict[str, Number], progress: Progress) -> Climb:
    """Climb a topic whose rungs are schedules; see `grader.judge.climb.climb`."""
    job = schedule_job(pool, topic, problem)
    store = CaseStore(topic)

    def examine(rung: Rung[ScheduleFile]) -> ScheduleSubmission:
        progress(rung.id, "judge")
        current = ScheduleSubmission(name=name_of(rung.path), file=rung.file)
        with current.stages():
            tried = cases.public(topic)
            sizes = [*(case.problem for case in tried), *topic.kernel.check_sizes, problem]
            submission.check_all(current, job, sizes)
            with pool.judge() as runner:
                submission.try_cases(current, job, CaseRunner(topic, store, runner), tried)
            submission.follow(current, job, problem)
            submission.claim(current, job, topic.ladder.claims_up_to(rung.id))
        if problem != topic.claim_sizes:
            current.claims = elsewhere(current.claims)
        progress(rung.id, "done")
        return current

    climbed = dict(zip(topic.ladder.ids, pool.spread(examine, topic.ladder.rungs), strict=True))
    if pool.gpu is None:
        return _simulated(job, climbed)
    return _measured(job, store, climbed, pool.gpu, progress)


def _simulated(job: ScheduleJob, climbed: Mapping[str, ScheduleSubmission]) -> Climb:
    """Times and timelines from the model."""
    bound = _bound(job, {item.name: job.simulate(item.recording).seconds for item in _baselines(job)})
    naive = climbed[job.topic.ladder.ids[0]].timeline
    rungs = []
    for rung in job.topic.ladder.rungs:
        current = climbed[rung.id]
        found = _rung(rung, current)
        if current.refusal is None and current.timeline is not None:
            seconds = current.timeline.seconds
            found = replace(
                found,
                time_s=seconds,
                time_source="modelled",
                vs_naive=None if naive is None else naive.seconds / seconds,
                vs_bound=bound.time_s / seconds,
                timeline=intervals.simulated(current.timeline),
            )
        rungs.append(found)
    return _climb(job, rungs, [], bound)


def _measured(
    job: ScheduleJob,
    store: CaseStore,
    climbed: Mapping[str, ScheduleSubmission],
    runner: Runner,
    progress: Progress,
) -> Climb:
    """Times from a GPU's clock, timelines from events around each command."""
    watch = Watch(greeting(runner).bus_id)
    try:
        track = ReplayTrack(runner, job)
    except Refused as refused:
        raise WarpladderError(f"nothing could be timed: {refused.reason}") from None
    timed: dict[str, ReplayCandidate] = {}
    for rung, current in climbed.items():
        if current.refusal is None:
            progress(rung, "time")
            timed[rung] = ReplayCandidate(name=rung, recording=current.recorded(job.problem), checked=True)
    baselines = _baselines(job)
    everyone = [*timed.values(), *baselines]
    for candidate in everyone:
        _or_drop_out(track.stage, candidate)
    rounds.measure(track, everyone, watch, random.SystemRandom())
    for candidate in everyone:
        _or_drop_out(track.trace, candidate)
    for rung, candidate in timed.items():
        climbed[rung].refusal = candidate.refusal
    stood = [found for item in baselines if (found := item.baseline()) is not None]
    if not stood:
        raise WarpladderError(f"nothing could be timed: {' '.join(_reasons(baselines))}")
    bound = replace(_bound(job, {item.name: item.time_s for item in stood}), source="measured")
    rungs = [_timed_rung(rung, climbed[rung.id], timed, job, bound) for rung in job.topic.ladder.rungs]
    cpu = on_cpu(job.topic, store, job.problem)
    return _climb(job, rungs, [*stood, *([cpu] if cpu else [])], bound, watch)


def _reasons(candidates: Sequence[ReplayCandidate]) -> list[str]:
    return [item.refusal.reason for item in candidates if item.refusal is not None]


def _or_drop_out(do: Callable[[ReplayCandidate], None], candidate: ReplayCandidate) -> None:
    """Do something for a candidate; one that cannot have it done drops out."""
    if candidate.refusal is None:
        try:
            do(candidate)
        except Refused as refused:
            candidate.refusal = refused.kept()


def _timed_rung(
    rung: Rung[ScheduleFile],
    current: ScheduleSubmission,
    timed: Mapping[str, ReplayCandidate],
    job: ScheduleJob,
    bound: Bound,
) -> RungResult:
    found = _rung(rung, current)
    candidate = timed.get(rung.id)
    if candidate is None or candidate.refusal is not None:
        return found
    first, interval = timed.get(job.topic.ladder.ids[0]), candidate.median
    naive = None if first is None or first.refusal is not None else first.median.value
    return replace(
        found,
        time_s=interval.value,
        time_source="measured",
        time_low_s=interval.low,
        time_high_s=interval.high,
        samples_s=candidate.samples,
        vs_naive=None if naive is None else naive / interval.value,
        vs_bound=bound.time_s / interval.value,
        timeline=intervals.measured(candidate.recording, candidate.spans),
    )


def _baselines(job: ScheduleJob) -> list[ReplayCandidate]:
    """The judge's own recordings: everything copied in and out at once, and every launch of the kernel."""
    kernel = job.topic.kernel
    buffers: list[Buffer] = []
    copies: list[Copy] = []
    for item in job.topic.signature.params:
        if item.kind == "size":
            continue
        nbytes = math.prod(kernel.shape(item.name, job.problem)) * item.dtype.itemsize
        host, device = Place(len(buffers), 0), Place(len(buffers) + 1, 0)
        buffers += [Buffer("pinned", nbytes, item.name), Buffer("device", nbytes)]
        ends = (device, host) if item.kind == "input" else (host, device)
        copies.append(Copy(*ends, nbytes, 1 if item.kind == "input" else 2, False))
    both = Recording(tuple(buffers), (True, False, False), 0, (), tuple(copies))
    # In a graph, so that no launch waits for the host.
    graph = Graph(1, (_launch(job),) * kernel.launches.whole(job.problem))
    room = tuple(Buffer("device", nbytes) for nbytes in _sizes_of_pointers(job))
    alone = Recording(room, (True, False), 0, (graph,), (LaunchGraph(0, 1),))
    return [
        ReplayCandidate(name=COPIES, recording=both, checked=False),
        ReplayCandidate(name=KERNEL, recording=alone, checked=False),
    ]


def _launch(job: ScheduleJob) -> LaunchKernel:
    """One launch of the kernel over the whole problem, on buffers numbered by its pointers."""
    file = job.topic.kernel.file
    values = {**job.problem, **job.kernel.constants}
    first = file.launches[0]
    grid = tuple(side.whole(values) for side in first.grid)
    block = tuple(side.whole(values) for side in first.block)
    args: list[Place | bytes] = []
    for item in file.signature.params:
        if item.kind == "size":
            args.append(int(job.problem[item.name]).to_bytes(item.nbytes, "little"))
        else:
            args.append(Place(sum(isinstance(arg, Place) for arg in args), 0))
    symbol = job.kernel.build.lowered[first.kernel]
    return LaunchKernel(
        symbol, (grid[0], grid[1], grid[2]), (block[0], block[1], block[2]), 0, tuple(args), stream=1
    )


def _sizes_of_pointers(job: ScheduleJob) -> list[int]:
    kernel = job.topic.kernel
    params = [item for item in kernel.file.signature.params if item.kind != "size"]
    return [kernel.reach[item.name].whole(job.problem) * item.dtype.itemsize for item in params]


def on_cpu(topic: ScheduleTopic, store: CaseStore, problem: Problem) -> Baseline | None:
    """NumPy's time for the job on this machine's CPU; None where the topic does not compare with it."""
    if topic.on_cpu is None:
        return None
    inputs = store.get(cases.make(problem, "real")).inputs
    samples: list[float] = []
    began = time.perf_counter()
    while len(samples) < ROUNDS and (
        len(samples) < FEWEST_ROUNDS or time.perf_counter() - began < SECONDS_EACH
    ):
        start = time.perf_counter()
        topic.on_cpu(inputs, problem)
        samples.append(time.perf_counter() - start)
    interval = median(samples)
    return Baseline(CPU, interval.value, interval.low, interval.high, samples)


def _rung(rung: Rung[ScheduleFile], current: ScheduleSubmission) -> RungResult:
    """A rung without its time."""
    return RungResult(
        id=rung.id,
        file=current.name,
        verdict="pass" if current.refusal is None else current.refusal.verdict,
        reason=None if current.refusal is None else current.refusal.reason,
        claims=current.claims,
        findings=current.findings,
        side_step=rung.side_step,
    )


def _bound(job: ScheduleJob, times: Mapping[str, float]) -> Bound:
    by = max(times, key=lambda name: times[name])
    reference = job.topic.reference
    return Bound(
        times[by],
        "copies" if by == COPIES else "kernel",
        reference.min_flop(job.problem),
        reference.min_bytes(job.problem),
    )


def _climb(
    job: ScheduleJob,
    rungs: list[RungResult],
    baselines: list[Baseline],
    bound: Bound,
    watch: Watch | None = None,
) -> Climb:
    gpu = job.pool.gpu
    return Climb(
        topic=job.topic.name,
        device=job.pool.device,
        problem=dict(job.problem),
        counted=None,
        provenance=rounds.watched(provenance(None if gpu is None else gpu.hello().driver), watch),
        rungs=rungs,
        baselines=baselines,
        bound=bound,
    )
