"""Running a whole ladder: every rung judged, counted, and timed or its time modelled."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping, Sequence

from grader.analysis.devices import board
from grader.judge.claims.scoring import claims_up_to, elsewhere
from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseStore
from grader.judge.kernels import counting, submission
from grader.judge.kernels.case_runner import CaseRunner, accuracy, error_bound
from grader.judge.kernels.pool import DevicePool, Progress, greeting, silent
from grader.judge.kernels.runner import Runner
from grader.judge.kernels.submission import KernelSubmission
from grader.judge.provenance import provenance
from grader.judge.schedules import climb as schedule_climb
from grader.judge.timing import rounds
from grader.judge.timing.bounds import bound, too_fast
from grader.judge.timing.nvml import Watch
from grader.judge.timing.rounds import Candidate, Track
from grader.judge.timing.statistics import Median, median
from grader.results import Accuracy, Baseline, Climb, Provenance, RungResult
from grader.workbook.content import name_of
from grader.workbook.kernel_file import Rung
from grader.workbook.topics import Problem, Topic


def climb(
    topic: Topic,
    device: str = "auto",
    problem_overrides: Problem | None = None,
    progress: Progress | None = None,
    jobs: int = 2,
    arch: str | None = None,
) -> Climb:
    """Climb a topic's ladder.

    `device` is "auto", "pycuda" or "emulator", `arch` the GPU that is emulated. Without a GPU, times are
    modelled; with one, they are measured, and counters are still the emulator's. Sizes given in
    `problem_overrides` are those of the times, and on the emulator those of the counters, too. `jobs` rungs
    are emulated at a time; how many makes no difference to any number. Raises WarpladderError where the
    device or a size is unusable.
    """
    main = topic.problem("main", problem_overrides)
    with DevicePool(device, arch, jobs) as session:
        if topic.kernel is not None:
            return schedule_climb.climb(session, topic, main, progress or silent)
        ladder = _Ladder(session, topic, main, problem_overrides or None, progress or silent)
        steps = session.spread(ladder.examine, topic.rungs)
        gpu = session.gpu
        measured = _Measured() if gpu is None else ladder.measure(gpu, steps)
        return ladder.result(steps, measured)


@dataclasses.dataclass(frozen=True)
class _Measured:
    """What a GPU's clock said. Empty on the emulator."""

    rungs: Mapping[str, Candidate] = dataclasses.field(default_factory=dict)
    library: Candidate | None = None
    ceiling: Candidate | None = None  # a copy or a read of the problem's bytes
    watch: Watch | None = None
    flush_bytes: int | None = None


class _Ladder:
    """One climb: what its rungs share."""

    def __init__(
        self,
        session: DevicePool,
        topic: Topic,
        main: dict[str, int],
        overrides: Problem | None,
        progress: Progress,
    ) -> None:
        self.session = session
        self.topic = topic
        self.main = main
        self.on_gpu = session.gpu is not None
        self.counted = topic.problem("count", None if self.on_gpu else overrides)
        self.progress = progress
        self.store = CaseStore(topic)

    def examine(self, rung: Rung) -> KernelSubmission:
        """Take a rung as far as it gets: everything but measured times."""
        current = KernelSubmission(rung, name_of(rung.path))
        self.progress(rung.id, "compile")
        submission.compile_it(current, self.session.arch)
        if self.on_gpu:
            with self.session.judge() as runner:
                self._judge(current, runner)
            with self.session.emulator() as runner:
                self._count(current, runner)
        else:
            with self.session.emulator() as runner:
                self._judge(current, runner)
                self._count(current, runner)
                self.progress(rung.id, "model")
                submission.model(current, self._examiner(runner), self.counted, self.main)
        self.progress(rung.id, "done")
        return current

    def _examiner(self, runner: Runner) -> CaseRunner:
        return CaseRunner(self.topic, self.store, runner)

    def _judge(self, current: KernelSubmission, runner: Runner) -> None:
        self.progress(current.rung.id, "judge")
        submission.try_cases(current, self._examiner(runner), cases.public(self.topic))

    def _count(self, current: KernelSubmission, runner: Runner) -> None:
        self.progress(current.rung.id, "count")
        examiner = self._examiner(runner)
        submission.count(current, examiner, self.counted, self.on_gpu)
        submission.claim(current, examiner, claims_up_to(self.topic, current.rung.id), self.counted)
        if self.counted != self.topic.sizes_count:
            current.claims = elsewhere(current.claims)

    def measure(self, runner: Runner, steps: Sequence[KernelSubmission]) -> _Measured:
        """Time every rung that has passed so far, with the baselines in the same rounds."""
        passed = [item for item in steps if item.refusal is None and item.kernel is not None]
        hello = greeting(runner)
        watch = Watch(hello.bus_id)
        track = Track(runner, self.topic, self.store, self.main)
        rungs: dict[str, Candidate] = {}
        for item in passed:
            self.progress(item.rung.id, "time")
            assert item.kernel is not None
            rungs[item.rung.id] = track.rung(item.kernel, item.kernel.plan(self.main, hello.limits))
        library = None if self.topic.library is None else track.library(self.topic.library)
        ceiling = track.ceiling()
        everyone = [*rungs.values(), *([library] if library else []), ceiling]
        rounds.measure(track, everyone, watch, random.SystemRandom())
        return _Measured(rungs, library, ceiling, watch, track.flush_bytes)

    def result(self, steps: Sequence[KernelSubmission], measured: _Measured) -> Climb:
        """Everything put together."""
        device = self.session.device
        spec = board(device.name, device.arch)
        for item in steps:
            if (candidate := measured.rungs.get(item.rung.id)) is not None:
                item.refusal = candidate.refusal or too_fast(
                    self.topic, self.main, spec, median(candidate.samples).value
                )
        times = {item.rung.id: _time(item, measured.rungs.get(item.rung.id)) for item in steps}
        library = None if measured.library is None else _baseline(measured.library)
        ceiling = None if measured.ceiling is None else _baseline(measured.ceiling)
        floor = bound(self.topic, self.main, spec, None if ceiling is None else ceiling.time_s)
        naive = times[self.topic.rungs[0].id]
        against = {
            "vs_naive": None if naive is None else naive.seconds,
            "vs_library": None if library is None else library.time_s,
            "vs_bound": None if floor is None else floor.time_s,
        }
        return Climb(
            topic=self.topic.name,
            device=device,
            problem=self.main,
            counted=self.counted,
            provenance=_provenance(self.session, measured),
            rungs=[
                rung_result(item, times[item.rung.id], against, self._errors(item, measured))
                for item in steps
            ],
            baselines=[item for item in (library, ceiling) if item is not None],
            bound=floor,
        )

    def _errors(self, item: KernelSubmission, measured: _Measured) -> _Errors:
        """At the sizes that were timed, or else the worst of the cases."""
        candidate = measured.rungs.get(item.rung.id)
        if candidate is None:
            return _Errors(accuracy(self.topic, item.cases), error_bound(item.cases))
        return _Errors(candidate.accuracy, error_bound(item.cases) or candidate.error_bound)


@dataclasses.dataclass(frozen=True)
class _Errors:
    """What is known of a rung's errors."""

    accuracy: Accuracy | None = None
    bound: str | None = None  # the algorithm whose error bound held, where the topic's own did not


@dataclasses.dataclass(frozen=True)
class _Time:
    """A rung's time, and how it is known."""

    seconds: float
    interval: Median | None = None  # of measured times
    samples: list[float] | None = None
    limited_by: str | None = None  # of modelled times


def _time(item: KernelSubmission, candidate: Candidate | None) -> _Time | None:
    if item.refusal is not None:
        return None
    if candidate is not None:
        interval = median(candidate.samples)
        return _Time(interval.value, interval, candidate.samples)
    return (
        None if item.modelled is None else _Time(item.modelled.seconds, limited_by=item.modelled.limited_by)
    )


def rung_result(
    item: KernelSubmission,
    time: _Time | None,
    against: Mapping[str, float | None],
    errors: _Errors | None = None,
) -> RungResult:
    """A rung as results show it; `against` are the times it is compared with."""
    counters, used = item.counters, item.resources
    nbytes = None if item.records is None else counting.dram_bytes(item.records)
    flop = None if counters is None else counting.flop(counters)
    interval = None if time is None else time.interval
    ratios = {
        name: None if time is None or other is None else other / time.seconds
        for name, other in against.items()
    }
    return RungResult(
        id=item.rung.id,
        file=item.file,
        verdict="pass" if item.refusal is None else item.refusal.verdict,
        reason=None if item.refusal is None else item.refusal.reason,
        time_s=None if time is None else time.seconds,
        time_source=None if time is None else "modelled" if interval is None else "measured",
        time_low_s=None if interval is None else interval.low,
        time_high_s=None if interval is None else interval.high,
        time_limited_by=None if time is None else time.limited_by,
        samples_s=None if time is None else time.samples,
        vs_naive=ratios["vs_naive"],
        vs_library=ratios["vs_library"],
        vs_bound=ratios["vs_bound"],
        registers=None if used is None else used.registers,
        shared_bytes=None if used is None else used.shared_bytes,
        spill_bytes=None if used is None else used.spill_bytes,
        occupancy=None if used is None else used.occupancy.fraction,
        occupancy_limited_by=None if used is None else used.occupancy.limited_by,
        flop=flop,
        dram_bytes=nbytes,
        intensity=flop / nbytes if flop is not None and nbytes else None,
        counters=counters,
        counter_source=None if counters is None else "emulated",
        claims=item.claims,
        findings=item.findings,
        side_step=item.rung.side_step,
        accuracy=None if errors is None else errors.accuracy,
        error_bound=None if errors is None else errors.bound,
        l2_bytes=None if item.records is None else counting.l2_bytes(item.records),
    )


def _baseline(candidate: Candidate) -> Baseline | None:
    """A baseline as results show it; None where it could not be run, such as a library without CuPy."""
    if candidate.refusal is not None:
        return None
    interval = median(candidate.samples)
    return Baseline(candidate.name, interval.value, interval.low, interval.high, candidate.samples)


def _provenance(session: DevicePool, measured: _Measured) -> Provenance:
    gpu = session.gpu
    made = provenance(None if gpu is None else gpu.hello().driver)
    if measured.watch is None:
        return made
    return dataclasses.replace(
        made,
        rounds=rounds.ROUNDS,
        l2_flush_bytes=measured.flush_bytes,
        power_w=measured.watch.power_w,
        sm_clock_mhz=measured.watch.sm_clock_mhz,
        throttle_reasons=measured.watch.reasons,
    )
