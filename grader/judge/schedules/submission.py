"""One schedule on its way through the judge: written down, tried on cases, simulated, its claims checked."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec
import numpy as np

from grader.analysis.devices import DeviceSpec, board
from grader.analysis.model import launch_stats, modelled_time
from grader.emulator.streams import commands as do
from grader.emulator.streams.commands import Recording
from grader.emulator.streams.timeline import ENGINES, Timeline, simulate
from grader.errors import WarpladderError
from grader.judge.child.protocol import Fetch, Operation, Put, Record, Replay, Span, Stage
from grader.judge.claims import scoring
from grader.judge.correctness.cases import Case, CaseData, CaseStore
from grader.judge.correctness.comparison import compare
from grader.judge.correctness.guards import POISON, paint
from grader.judge.correctness.verdict import of_comparison, of_failure, of_input
from grader.judge.kernels import sampling
from grader.judge.kernels.case_run import Outcome, as_bytes
from grader.judge.kernels.case_runner import (
    GPU_SECONDS,
    CaseRunner,
    case_result,
    emulator_seconds,
    instruction_budget,
)
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.kernels.counting import product
from grader.judge.kernels.pool import DevicePool
from grader.judge.kernels.runner import Region, Runner
from grader.judge.kernels.submission import KernelSubmission
from grader.judge.refused import Refused
from grader.judge.schedules.checker import CheckedSchedule, check_schedule, scheduled
from grader.results import Interval
from grader.workbook.expressions import ExpressionError, Number
from grader.workbook.kernel_file import Rung
from grader.workbook.topics import ClaimSpec, Problem, Topic

LATE_OR_MISSING = (
    "A schedule computes nothing itself: look at what each copy and each launch takes, and how many there are; above "
    "all at the last one."
)

FACTS = (
    "htod_bytes",
    "dtoh_bytes",
    "pageable_bytes",
    "device_bytes",
    "calls",
    "waits",
    "launches",
    "streams",
    "enqueued_first",
    "engines_busy",
)
"""What claims on schedules may name besides sizes: see `facts`."""

OWN_WORK = (do.HostCopy, do.HostRead)
"""What the host does itself, with its own memory."""


@dataclass
class ScheduleSubmission(KernelSubmission):
    """What is known of a schedule so far."""

    rehearsed: dict[tuple[tuple[str, int], ...], CheckedSchedule] = field(default_factory=dict)  # by problem
    timeline: Timeline | None = None  # simulated at the sizes that times are for

    @property
    def proven(self) -> bool:
        """Whether claims could be checked."""
        return self.timeline is not None

    def recording(self, problem: Problem) -> Recording | None:
        """What the schedule asks for at a problem's sizes."""
        found = self.rehearsed.get(tuple(problem.items()))
        return None if found is None else found.recording


class KernelClock:
    """The modelled time of launches of a topic's kernel, from a few blocks of the whole problem."""

    def __init__(self, topic: Topic, kernel: Kernel, problem: Problem) -> None:
        self.topic, self.kernel, self.problem = topic, kernel, problem
        self._record: Record | None = None
        self._nbytes = 0
        self._lock = threading.Lock()

    def sample(self, runner: Runner) -> None:
        """Run those blocks, the first time this is called."""
        with self._lock:
            if self._record is not None:
                return
            planned = self.kernel.plan(self.problem, runner.hello().limits)
            self._nbytes = sampling.array_bytes(self.topic, planned, self.problem)
            launches = [sampling.sampled(launch, sampling.MOST_BLOCKS) for launch in planned.launches[:1]]
            budget = instruction_budget(self.topic, self.problem)
            seconds = emulator_seconds(self.topic, self.problem)
            refusal = runner.load(self.kernel, seconds)
            records = refusal or sampling.sample(runner, self.kernel, launches, self._nbytes, budget, seconds)
            if isinstance(records, Refused):
                raise WarpladderError(records.reason, file=self.kernel.rung.path)
            self._record = records[0]

    def seconds(self, device: DeviceSpec, grid: tuple[int, int, int]) -> float:
        """How long a launch of this grid takes alone; a part of a grid is taken to do its part of the work."""
        assert self._record is not None, "sample first"
        record = msgspec.structs.replace(self._record, grid=grid, grid_blocks=product(grid))
        found = modelled_time(device, [launch_stats(record, self._nbytes)])
        return found.seconds - found.terms["launch"]  # what launching costs is the timeline's to know


@dataclass(frozen=True)
class ScheduleJob:
    """What the schedules of a topic share in one climb or grade."""

    session: DevicePool
    topic: Topic
    kernel: Kernel
    clock: KernelClock
    device: DeviceSpec
    problem: Problem  # that times and claims are for

    def simulate(self, recording: Recording) -> Timeline:
        """A recording's run on the device, in simulated time."""
        with self.session.emulator() as runner:
            self.clock.sample(runner)
        return simulate(
            recording, self.device.link, lambda launch: self.clock.seconds(self.device, launch.grid)
        )


def schedule_job(session: DevicePool, topic: Topic, problem: Problem) -> ScheduleJob:
    """Compile the topic's kernel."""
    kernel = prepare(scheduled(topic).file, session.arch)
    clock = KernelClock(topic, kernel, problem)
    device = session.device
    return ScheduleJob(session, topic, kernel, clock, board(device.name, device.arch), problem)


def check_all(current: ScheduleSubmission, shared: ScheduleJob, problems: Iterable[Problem]) -> None:
    """Write the schedule down for every problem, up to the first that shows a fault.

    The child in which the learner's code runs does nothing else, and ends with it.
    """
    runner = Runner("emulator", shared.session.arch, threads=1)
    try:
        for problem in problems:
            key = tuple(problem.items())
            if key in current.rehearsed or current.refusal is not None:
                continue
            found = check_schedule(runner, shared.topic, shared.kernel, current.rung, problem)
            current.rehearsed[key] = found
            printed = runner.printed()
            if found.refusal is not None or not current.printed:
                current.printed = printed
            if found.refusal is not None:
                sizes = ", ".join(f"{name}={value}" for name, value in problem.items())
                reason = f"{found.refusal.reason} (Where {sizes}.)"
                current.refusal = Refused(found.refusal.verdict, reason)
                current.findings.extend(found.findings)
    finally:
        runner.close()


def try_cases(
    current: ScheduleSubmission, shared: ScheduleJob, examiner: CaseRunner, cases: Sequence[Case]
) -> None:
    """Replay the schedule on cases, up to the first that is not a pass."""
    for case in cases:
        recording = current.recording(case.problem)
        if current.refusal is not None or recording is None:
            return
        outcome = replay(examiner, shared.kernel, recording, case)
        current.cases.append(case_result(case, outcome, examiner, current.file))
        current.refusal = outcome.refusal


def replay(examiner: CaseRunner, kernel: Kernel, recording: Recording, case: Case) -> Outcome:
    """Replay a recording on one case and look at what came out."""
    runner, data = examiner.runner, examiner.store.get(case)
    on_gpu = runner.hello().kind == "gpu"
    seconds = GPU_SECONDS if on_gpu else emulator_seconds(examiner.topic, case.problem)
    refusal = runner.load(kernel, seconds)
    if refusal:
        return Outcome(refusal)
    regions = host_regions(runner, examiner.topic, data)
    fill(runner, regions, data)
    operations: list[Operation] = [Stage("", recording, kernel.module)]
    operations += [Put("", region.name, region.offset) for region in regions]
    operations += [Replay("", instruction_budget(examiner.topic, case.problem))]
    operations += [Fetch("", region.name, region.offset) for region in regions]
    reply = runner.ask(operations, seconds)
    if isinstance(reply, Refused):
        return Outcome(reply)
    if reply.failure is not None:
        runner.restart()
        return Outcome(of_failure(reply.failure))
    return looked_at(runner, examiner.topic, regions, data, case)


def host_regions(runner: Runner, topic: Topic, data: CaseData) -> list[Region]:
    """Places in the memory file for the job's host arrays, without guards."""
    arrays = {name: array.nbytes for name, array in data.inputs.items()}
    for item in topic.signature.outputs:
        arrays[item.name] = data.expected[item.name].size * item.dtype.itemsize
    return [Region(r.name, r.offset, r.nbytes, 0) for r in runner.regions(arrays)]


def fill(runner: Runner, regions: Sequence[Region], data: CaseData) -> None:
    """Inputs, and poison where outputs will be."""
    for region in regions:
        if region.name in data.inputs:
            runner.payload(region)[:] = as_bytes(data.inputs[region.name])
        else:
            paint(runner.payload(region), POISON)


def looked_at(runner: Runner, topic: Topic, regions: Sequence[Region], data: CaseData, case: Case) -> Outcome:
    """Compare what a replay left in the memory file."""
    worst, refusal = None, None
    for region in regions:
        if region.name in data.inputs:
            given = data.inputs[region.name]
            changed = np.flatnonzero(runner.payload(region) != as_bytes(given))
            index = None if not len(changed) else (int(changed[0]) // given.itemsize,)
            refusal = refusal or of_input(region.name, index, list(data.expected))
            continue
        dtype, expected = topic.signature[region.name].dtype, data.expected[region.name]
        actual = runner.payload(region).view(dtype).reshape(expected.shape)
        found = compare(region.name, actual, expected, data.allowed[region.name])
        if worst is None or (found.error or 0.0) > (worst.error or 0.0) or not found.right:
            worst = found
        refusal = refusal or of_comparison(found, LATE_OR_MISSING, case.problem)
    return Outcome(refusal, comparison=worst)


def claim(current: ScheduleSubmission, shared: ScheduleJob, claims: Sequence[ClaimSpec]) -> None:
    """Simulate the schedule at the sizes that times are for, and check claims on what that shows."""
    recording = current.recording(shared.problem)
    if current.refusal is not None or recording is None:
        return
    current.timeline = shared.simulate(recording)
    current.facts = facts(recording, current.timeline)
    values = {**shared.problem, **current.facts}
    for item in claims:
        try:
            current.claims.append(scoring.check(item, values))
        except ExpressionError as error:
            file = shared.topic.folder / "topic.toml"
            raise WarpladderError(f"expect: {error}", file=file, line=item.line) from None


def facts(recording: Recording, timeline: Timeline) -> dict[str, Number]:
    """What claims may name: bytes copied each way, of them those of pageable memory, device memory allocated,
    calls that run() makes, those that wait, launches, streams that work is given to, the share of the work that
    is enqueued before the host waits for any, and how many engines are busy at a time, on average."""
    spaces = [buffer.space for buffer in recording.buffers]
    queued = list(recording.queued())
    copies = [item for item in queued if isinstance(item, do.Copy)]
    ways = [(spaces[item.source.buffer], spaces[item.target.buffer], item.nbytes) for item in copies]
    waits = [_waits(item) for item in recording.commands]
    before = recording.commands[: waits.index(True) if True in waits else len(waits)]
    work = [item for item in queued if isinstance(item, do.Copy | do.LaunchKernel | do.Fill)]
    return {
        "htod_bytes": sum(n for source, target, n in ways if source != "device" == target),
        "dtoh_bytes": sum(n for source, target, n in ways if source == "device" != target),
        "pageable_bytes": sum(n for source, target, n in ways if "pageable" in (source, target)),
        "device_bytes": sum(buffer.nbytes for buffer in recording.buffers if buffer.space == "device"),
        "calls": len(recording.commands),
        "waits": sum(waits),
        "launches": sum(isinstance(item, do.LaunchKernel) for item in queued),
        "streams": len({item.stream for item in work}),
        "enqueued_first": _pieces(recording, before) / max(_pieces(recording, recording.commands), 1),
        "engines_busy": sum(timeline.busy(engine) for engine in ENGINES) / timeline.seconds,
    }


def _waits(command: do.Command) -> bool:
    """Whether the host goes on only when something is done."""
    return isinstance(command, do.Synchronise | do.AwaitEvent) or (
        isinstance(command, do.Copy) and command.waits
    )


def _pieces(recording: Recording, commands: Iterable[do.Command]) -> int:
    """How many copies and launches there are, those in graphs included."""
    parts = msgspec.structs.replace(recording, commands=tuple(commands)).queued()
    return sum(isinstance(item, do.Copy | do.LaunchKernel | do.Fill) for item in parts)


def simulated(timeline: Timeline) -> list[Interval]:
    """A simulated run as results show it."""
    return [
        Interval(
            "host_copy" if isinstance(item.command, OWN_WORK) else item.engine,
            max(item.stream, 0),
            item.start_s,
            item.end_s,
            item.command.line,
        )
        for item in timeline.intervals
    ]


def host_copies(timeline: Timeline) -> str:
    """A sentence about the host's own copies, where they take a tenth of the time or more; else nothing."""
    own = [item for item in timeline.intervals if isinstance(item.command, OWN_WORK)]
    seconds = sum(item.end_s - item.start_s for item in own)
    if seconds < 0.1 * timeline.seconds:
        return ""
    lines = sorted({item.command.line for item in own if item.command.line})
    where = f" (line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))})" if lines else ""
    return (
        f"The host's own copies{where} take ≈{1e3 * seconds:.3g} of ≈{1e3 * timeline.seconds:.3g} ms, in which it "
        "enqueues nothing: pin the arrays themselves, with cuda.register_host_memory in __init__, and copy from and "
        "to them."
    )


def measured(recording: Recording, spans: Sequence[Span]) -> list[Interval]:
    """A traced replay as results show it: the engines alone, since events tell nothing of the host.

    The event before a piece of work happens when its stream gets there; the engine may still be at work for
    another stream then. It begins when it has finished that.
    """
    work = list(recording.queued())
    found = []
    free: dict[str, float] = {}
    for span in sorted(spans, key=lambda span: span.end_s):
        command = work[span.command]
        if isinstance(command, do.Copy | do.LaunchKernel | do.Fill):
            engine = engine_of(recording, command)
            start = max(span.start_s, free.get(engine, 0.0))
            free[engine] = span.end_s
            found.append(Interval(engine, command.stream, start, span.end_s, command.line))
    return sorted(found, key=lambda item: item.start_s)


def engine_of(
    recording: Recording, command: do.Copy | do.LaunchKernel | do.Fill
) -> Literal["in", "compute", "out"]:
    """Which engine does a piece of work."""
    if not isinstance(command, do.Copy):
        return "compute"
    into = recording.buffers[command.target.buffer].space == "device"
    out_of = recording.buffers[command.source.buffer].space == "device"
    return "compute" if into and out_of else "in" if into else "out"


def examine(
    rung: Rung,
    file: str,
    shared: ScheduleJob,
    store: CaseStore,
    cases: Sequence[Case],
    claims: Sequence[ClaimSpec] | None,
) -> ScheduleSubmission:
    """Take a schedule as far as it gets: everything but measured times. `claims` None: only the cases."""
    current = ScheduleSubmission(rung, file)
    problems: list[Problem] = [case.problem for case in cases]
    if claims is not None:
        problems += [*scheduled(shared.topic).check_sizes, shared.problem]
    check_all(current, shared, problems)
    with shared.session.judge() as runner:
        try_cases(current, shared, CaseRunner(shared.topic, store, runner), cases)
    if claims is not None:
        claim(current, shared, claims)
    return current
