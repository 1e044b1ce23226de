"""Climbing a ladder of schedules: every rung replayed on the cases, and timed or its time simulated.

On a GPU the replays of all rungs take turns, and so do two baselines that bound them: both copies at once, and the
kernel alone. No schedule can be faster than the slower of these.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from grader.emulator.streams.commands import Buffer, Copy, Graph, LaunchGraph, LaunchKernel, Place, Recording
from grader.errors import WarpladderError
from grader.judge.child.protocol import Fetch, Operation, Put, Replay, Span, Stage, Trace
from grader.judge.claims.scoring import claims_up_to, elsewhere
from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case, CaseStore
from grader.judge.correctness.verdict import of_failure
from grader.judge.kernels.pool import DevicePool, Progress, greeting
from grader.judge.kernels.runner import Region, Runner
from grader.judge.provenance import provenance
from grader.judge.refused import Refused
from grader.judge.schedules import submission as schedules
from grader.judge.schedules.checker import scheduled
from grader.judge.schedules.submission import ScheduleJob, ScheduleSubmission
from grader.judge.timing.nvml import Watch
from grader.judge.timing.rounds import FEWEST_ROUNDS, PASS_SECONDS, ROUNDS, SECONDS_EACH
from grader.judge.timing.statistics import median
from grader.results import Baseline, Bound, Climb, RungResult
from grader.workbook.content import name_of
from grader.workbook.kernel_file import Rung
from grader.workbook.topics import Problem, Topic

COPIES, KERNEL, CPU = "both copies at once", "the kernel alone", "NumPy on the CPU"


@dataclass
class Entry:
    """A rung or a baseline in the rounds."""

    name: str
    recording: Recording
    checked: bool
    samples: list[float] = field(default_factory=list)  # seconds, by round
    rounds: int = ROUNDS
    refusal: Refused | None = None
    spans: tuple[Span, ...] = ()  # of one further replay, traced


def climb(session: DevicePool, topic: Topic, problem: dict[str, int], progress: Progress) -> Climb:
    """Climb a topic whose rungs are schedules; see `grader.judge.climb.climb`."""
    shared = schedules.schedule_job(session, topic, problem)
    store = CaseStore(topic)

    def examine(rung: Rung) -> ScheduleSubmission:
        progress(rung.id, "judge")
        claims = claims_up_to(topic, rung.id)
        found = schedules.examine(rung, name_of(rung.path), shared, store, cases.public(topic), claims)
        if problem != topic.sizes_main:
            found.claims = elsewhere(found.claims)
        progress(rung.id, "done")
        return found

    steps = session.spread(examine, topic.rungs)
    baselines = _baselines(shared)
    if session.gpu is None:
        return _simulated(shared, steps, baselines)
    watch = Watch(greeting(session.gpu).bus_id)
    entries = [
        Entry(item.rung.id, recording, checked=True)
        for item in steps
        if item.refusal is None and (recording := item.recording(problem)) is not None
    ]
    for entry in entries:
        progress(entry.name, "time")
    rounds = Rounds(session.gpu, shared, store)
    rounds.measure([*entries, *baselines], watch)
    return _measured(shared, steps, entries, baselines, watch, on_cpu(topic, store, problem))


def on_cpu(topic: Topic, store: CaseStore, problem: Problem) -> Baseline | None:
    """NumPy's time for the job on this machine's CPU; None where the topic does not compare with it."""
    if topic.on_cpu is None:
        return None
    inputs = store.get(cases.make(problem, "real")).inputs
    samples: list[float] = []
    began = time.perf_counter()
    while len(samples) < ROUNDS and (len(samples) < FEWEST_ROUNDS or time.perf_counter() - began < 2.0):
        start = time.perf_counter()
        topic.on_cpu(inputs, problem)
        samples.append(time.perf_counter() - start)
    interval = median(samples)
    return Baseline(CPU, interval.value, interval.low, interval.high, samples)


# ---- baselines ---------------------------------------------------------------------------------------------


def _baselines(shared: ScheduleJob) -> list[Entry]:
    """The judge's own recordings: everything copied in and out at once, and every launch of the kernel."""
    job = scheduled(shared.topic)
    buffers: list[Buffer] = []
    copies: list[Copy] = []
    for item in shared.topic.signature.params:
        if item.kind == "size":
            continue
        nbytes = job.elements[item.name].whole(shared.problem) * item.dtype.itemsize
        host, device = Place(len(buffers), 0), Place(len(buffers) + 1, 0)
        buffers += [Buffer("pinned", nbytes, item.name), Buffer("device", nbytes)]
        ends = (device, host) if item.kind == "input" else (host, device)
        copies.append(Copy(*ends, nbytes, 1 if item.kind == "input" else 2, False))
    both = Recording(tuple(buffers), (True, False, False), 0, (), tuple(copies))
    # In a graph, so that no launch waits for the host.
    graph = Graph(1, (_launch(shared),) * job.launches.whole(shared.problem))
    room = tuple(Buffer("device", nbytes) for nbytes in _sizes_of_pointers(shared))
    alone = Recording(room, (True, False), 0, (graph,), (LaunchGraph(0, 1),))
    return [Entry(COPIES, both, checked=False), Entry(KERNEL, alone, checked=False)]


def _launch(shared: ScheduleJob) -> LaunchKernel:
    """One launch of the kernel over the whole problem, on buffers numbered by its pointers."""
    job, kernel = scheduled(shared.topic), shared.kernel
    values = {**shared.problem, **kernel.constants}
    first = job.file.launches[0]
    grid = tuple(side.whole(values) for side in first.grid)
    block = tuple(side.whole(values) for side in first.block)
    args: list[Place | bytes] = []
    for item in job.file.signature.params:
        if item.kind == "size":
            args.append(int(shared.problem[item.name]).to_bytes(item.nbytes, "little"))
        else:
            args.append(Place(sum(isinstance(arg, Place) for arg in args), 0))
    symbol = kernel.build.lowered[first.kernel]
    return LaunchKernel(
        symbol, (grid[0], grid[1], grid[2]), (block[0], block[1], block[2]), 0, tuple(args), stream=1
    )


def _sizes_of_pointers(shared: ScheduleJob) -> list[int]:
    job = scheduled(shared.topic)
    params = [item for item in job.file.signature.params if item.kind != "size"]
    return [job.reach[item.name].whole(shared.problem) * item.dtype.itemsize for item in params]


# ---- rounds on a GPU ---------------------------------------------------------------------------------------


class Rounds:
    """Replays of many recordings, taking turns on one GPU, with one input."""

    def __init__(self, runner: Runner, shared: ScheduleJob, store: CaseStore) -> None:
        self.runner, self.shared, self.store = runner, shared, store
        self.case: Case = cases.make(shared.problem, "real")
        self.data = store.get(self.case)
        self.regions: list[Region] = schedules.host_regions(runner, shared.topic, self.data)
        self._right: np.ndarray[tuple[int, ...], np.dtype[np.uint8]] | None = None  # outputs found right

    def measure(self, entries: Sequence[Entry], watch: Watch) -> None:
        """Stage and check each, time it in its rounds, check it again, and trace it once."""
        refusal = self.runner.load(self.shared.kernel, PASS_SECONDS)
        if refusal is not None:
            raise WarpladderError(f"nothing could be timed: {refusal.reason}")
        for entry in entries:
            self._ask(entry, [Stage(entry.name, entry.recording, self.shared.kernel.module)])
            self._check(entry, first=True)
            if entry.refusal is None:
                affordable = int(SECONDS_EACH / max(self._time(entry), 1e-9))
                entry.rounds = max(FEWEST_ROUNDS, min(ROUNDS, affordable))
        order = list(entries)
        for number in range(ROUNDS):
            random.SystemRandom().shuffle(order)
            start = time.monotonic()
            for entry in order:
                stride = ROUNDS // entry.rounds
                if entry.refusal is None and number % stride == 0 and number < stride * entry.rounds:
                    entry.samples.append(self._time(entry))
            time.sleep(min(0.1, (time.monotonic() - start) / 2))
            watch.look()
        for entry in entries:
            self._check(entry, first=False)
            self._trace(entry)

    def _ask(self, entry: Entry, operations: Sequence[Operation]) -> list[object]:
        """The values of operations; what fails makes the entry drop out."""
        if entry.refusal is not None:
            return []
        reply = self.runner.ask(operations, PASS_SECONDS)
        if isinstance(reply, Refused):
            raise WarpladderError(f"nothing could be timed: {reply.reason}")
        if reply.failure is not None:
            entry.refusal = of_failure(reply.failure)
        return list(reply.values)

    def _time(self, entry: Entry) -> float:
        values = self._ask(entry, [Replay(entry.name)])
        return float(values[0]) if values and isinstance(values[0], float) else 0.0

    def _trace(self, entry: Entry) -> None:
        values = self._ask(entry, [Replay(entry.name, traced=True)])
        if values and isinstance(values[0], Trace):
            entry.spans = values[0].spans

    def _check(self, entry: Entry, first: bool) -> None:
        """Replay on poisoned outputs, the first time with inputs put in place, and compare what comes out: with
        the bytes that were right, if there are some already."""
        if not entry.checked:
            return
        outputs = [region for region in self.regions if region.name in self.data.expected]
        schedules.fill(self.runner, self.regions if first else outputs, self.data)
        put = [Put(entry.name, item.name, item.offset) for item in (self.regions if first else outputs)]
        fetch = [Fetch(entry.name, item.name, item.offset) for item in outputs]
        self._ask(entry, [*put, Replay(entry.name), *fetch])
        if entry.refusal is not None:
            return
        found = np.concatenate([self.runner.payload(region) for region in outputs])
        if self._right is not None and np.array_equal(found, self._right):
            return
        entry.refusal = schedules.looked_at(
            self.runner, self.shared.topic, self.regions, self.data, self.case
        ).refusal
        if entry.refusal is None:
            self._right = found


# ---- results -----------------------------------------------------------------------------------------------


def _simulated(shared: ScheduleJob, steps: Sequence[ScheduleSubmission], baselines: Sequence[Entry]) -> Climb:
    times = {item.name: shared.simulate(item.recording).seconds for item in baselines}
    bound = _bound(shared, times)
    naive = None if steps[0].timeline is None else steps[0].timeline.seconds
    rungs = []
    for item in steps:
        found = _rung(item)
        if item.refusal is None and item.timeline is not None:
            seconds = item.timeline.seconds
            found = replace(
                found,
                time_s=seconds,
                time_source="modelled",
                vs_naive=None if naive is None else naive / seconds,
                vs_bound=bound.time_s / seconds,
                timeline=schedules.simulated(item.timeline),
            )
        rungs.append(found)
    return _climb(shared, rungs, [], bound)


def _measured(
    shared: ScheduleJob,
    steps: Sequence[ScheduleSubmission],
    entries: Sequence[Entry],
    baselines: Sequence[Entry],
    watch: Watch,
    cpu: Baseline | None,
) -> Climb:
    known = {entry.name: entry for entry in entries}
    stood = [_baseline(entry) for entry in baselines if entry.refusal is None]
    bound = replace(_bound(shared, {item.name: item.time_s for item in stood}), source="measured")
    first = known.get(steps[0].rung.id)
    naive = median(first.samples).value if first is not None and first.refusal is None else None
    rungs = []
    for item in steps:
        entry = known.get(item.rung.id)
        item.refusal = item.refusal or (None if entry is None else entry.refusal)
        found = _rung(item)
        if entry is not None and item.refusal is None:
            interval = median(entry.samples)
            found = replace(
                found,
                time_s=interval.value,
                time_source="measured",
                time_low_s=interval.low,
                time_high_s=interval.high,
                samples_s=entry.samples,
                vs_naive=None if naive is None else naive / interval.value,
                vs_bound=bound.time_s / interval.value,
                timeline=schedules.measured(entry.recording, entry.spans),
            )
        rungs.append(found)
    return _climb(shared, rungs, [*stood, *([cpu] if cpu else [])], bound, watch)


def _rung(item: ScheduleSubmission) -> RungResult:
    """A rung without its time."""
    return RungResult(
        id=item.rung.id,
        file=item.file,
        verdict="pass" if item.refusal is None else item.refusal.verdict,
        reason=None if item.refusal is None else item.refusal.reason,
        claims=item.claims,
        findings=item.findings,
        side_step=item.rung.side_step,
    )


def _baseline(entry: Entry) -> Baseline:
    interval = median(entry.samples)
    return Baseline(entry.name, interval.value, interval.low, interval.high, entry.samples)


def _bound(shared: ScheduleJob, times: dict[str, float]) -> Bound:
    by = max(times, key=lambda name: times[name])
    reference = shared.topic.reference
    return Bound(
        times[by],
        "copies" if by == COPIES else "kernel",
        reference.min_flop(shared.problem),
        reference.min_bytes(shared.problem),
    )


def _climb(
    shared: ScheduleJob,
    rungs: list[RungResult],
    baselines: list[Baseline],
    bound: Bound,
    watch: Watch | None = None,
) -> Climb:
    gpu = shared.session.gpu
    made = provenance(None if gpu is None else gpu.hello().driver)
    if watch is not None:
        made = replace(
            made,
            rounds=ROUNDS,
            power_w=watch.power_w,
            sm_clock_mhz=watch.sm_clock_mhz,
            throttle_reasons=watch.reasons,
        )
    return Climb(
        topic=shared.topic.name,
        device=shared.session.device,
        problem=dict(shared.problem),
        counted=None,
        provenance=made,
        rungs=rungs,
        baselines=baselines,
        bound=bound,
    )
