"""Climbing a ladder of kernels: every rung judged, counted, and timed or its time modelled."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

from grader.analysis.devices import board
from grader.errors import WarpladderError
from grader.judge.claims.scoring import elsewhere
from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseStore
from grader.judge.kernels import counting, parts, submission
from grader.judge.kernels.case_runner import CaseRunner, accuracy, error_bound
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.kernels.track import KernelCandidate, KernelTrack, Values
from grader.judge.provenance import provenance
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool, Progress, greeting
from grader.judge.runners.runner import Runner
from grader.judge.timing import rounds
from grader.judge.timing.bounds import bound, too_fast
from grader.judge.timing.nvml import Watch
from grader.judge.timing.statistics import Median
from grader.results import Accuracy, Climb, RungResult
from grader.workbook.content import name_of
from grader.workbook.expressions import Number
from grader.workbook.kernel_file import KernelFile
from grader.workbook.ladder import Rung
from grader.workbook.launches.plan import plan
from grader.workbook.reference import Problem
from grader.workbook.topic import KernelTopic


def climb(
    pool: DevicePool,
    topic: KernelTopic,
    problem: dict[str, Number],
    overrides: Problem | None,
    progress: Progress,
) -> Climb:
    """Climb a topic whose rungs are kernels; see `grader.judge.climb.climb`."""
    ladder = KernelClimb(pool, topic, problem, overrides, progress)
    found = pool.spread(ladder.examine, topic.ladder.rungs)
    climbed = dict(zip(topic.ladder.ids, found, strict=True))
    measured = _Measured() if pool.gpu is None else ladder.measure(pool.gpu, climbed)
    return ladder.result(climbed, measured)


@dataclass(frozen=True)
class _Measured:
    """What a GPU's clock said. Empty on the emulator."""

    rungs: Mapping[str, KernelCandidate] = field(default_factory=dict)
    accuracies: Mapping[str, Accuracy | None] = field(default_factory=dict)
    library: KernelCandidate | None = None
    ceiling: KernelCandidate | None = None  # a copy or a read of the problem's bytes
    watch: Watch | None = None
    flush_bytes: int | None = None


class KernelClimb:
    """One climb: what its rungs share."""

    def __init__(
        self,
        pool: DevicePool,
        topic: KernelTopic,
        main: dict[str, Number],
        overrides: Problem | None,
        progress: Progress,
    ) -> None:
        self.pool = pool
        self.topic = topic
        self.main = main
        self.on_gpu = pool.gpu is not None
        self.counted = topic.problem("count", None if self.on_gpu else overrides)
        self.progress = progress
        self.store = CaseStore(topic)

    def examine(self, rung: Rung[KernelFile]) -> KernelSubmission:
        """Take a rung as far as it gets: everything but measured times."""
        current = KernelSubmission(name=name_of(rung.path), file=rung.file)
        with current.stages():
            self.progress(rung.id, "compile")
            submission.compile_it(current, self.pool.arch)
            if self.on_gpu:
                self.progress(rung.id, "judge")
                with self.pool.judge() as runner:
                    submission.try_cases(current, self._cases(runner), cases.public(self.topic))
                with self.pool.emulator() as runner:
                    self._count(rung.id, current, runner)
            else:
                with self.pool.emulator() as runner:
                    self.progress(rung.id, "judge")
                    self._judge(current, runner)
                    self._count(rung.id, current, runner)
                    self.progress(rung.id, "model")
                    submission.model(current, self._cases(runner), self.counted, self.main)
        self.progress(rung.id, "done")
        return current

    def _cases(self, runner: Runner) -> CaseRunner:
        return CaseRunner(self.topic, self.store, runner)

    def _judge(self, current: KernelSubmission, runner: Runner) -> None:
        """On this emulator, and on those that no rung needs."""
        tried = cases.public(self.topic)
        later = (self.counted, self.main)
        found = parts.run_all(current.compiled, self._cases(runner), tried, later, self._beside)
        submission.try_cases(current, found, tried)

    def _beside(self, work: Callable[[CaseRunner], None]) -> Future[None]:
        return self.pool.beside(lambda runner: work(self._cases(runner)))

    def _count(self, rung: str, current: KernelSubmission, runner: Runner) -> None:
        self.progress(rung, "count")
        submission.count(current, self._cases(runner), [cases.make(self.counted, "exact")], self.on_gpu)
        claims = self.topic.ladder.claims_up_to(rung)
        submission.claim(current, self._cases(runner), claims, self.counted)
        if self.counted != self.topic.claim_sizes:
            current.claims = elsewhere(current.claims)

    def measure(self, runner: Runner, climbed: Mapping[str, KernelSubmission]) -> _Measured:
        """Time every rung that has passed so far, with the baselines in the same rounds."""
        watch = Watch(greeting(runner).bus_id)
        try:
            track = KernelTrack(runner, Values.of(self.topic, self.main))
        except Refused as refused:
            raise WarpladderError(f"nothing could be timed: {refused.reason}") from None
        timed: dict[str, KernelCandidate] = {}
        for rung, current in climbed.items():
            if current.refusal is None:
                self.progress(rung, "time")
                with current.stages():
                    timed[rung] = track.rung(rung, current.compiled)
        library = None if self.topic.library is None else track.library(self.topic.library)
        ceiling = track.ceiling()
        everyone = [*timed.values(), *([library] if library else []), ceiling]
        rounds.measure(track, everyone, watch, random.SystemRandom())
        accuracies = {rung: track.accuracy(candidate) for rung, candidate in timed.items()}
        return _Measured(timed, accuracies, library, ceiling, watch, track.flush_bytes)

    def result(self, climbed: Mapping[str, KernelSubmission], measured: _Measured) -> Climb:
        """Everything put together."""
        device = self.pool.device
        spec = board(device.name, device.arch)
        for rung, candidate in measured.rungs.items():
            climbed[rung].refusal = candidate.refusal or too_fast(
                self.topic, self.main, spec, candidate.median.value
            )
        times = {rung: _time(current, measured.rungs.get(rung)) for rung, current in climbed.items()}
        library = None if measured.library is None else measured.library.baseline()
        ceiling = None if measured.ceiling is None else measured.ceiling.baseline()
        floor = bound(self.topic, self.main, spec, None if ceiling is None else ceiling.time_s)
        naive = times[self.topic.ladder.ids[0]]
        against = {
            "vs_naive": None if naive is None else naive.seconds,
            "vs_library": None if library is None else library.time_s,
            "vs_bound": None if floor is None else floor.time_s,
        }
        gpu = self.pool.gpu
        made = provenance(None if gpu is None else gpu.hello().driver)
        return Climb(
            topic=self.topic.name,
            device=device,
            problem=self.main,
            counted=self.counted,
            provenance=rounds.watched(made, measured.watch, measured.flush_bytes),
            rungs=[
                rung_result(
                    rung,
                    climbed[rung.id],
                    times[rung.id],
                    against,
                    self._errors(rung.id, climbed, measured),
                    self.launches_others(climbed[rung.id], spec.sms),
                )
                for rung in self.topic.ladder.rungs
            ],
            baselines=[item for item in (library, ceiling) if item is not None],
            bound=floor,
        )

    def launches_others(self, item: KernelSubmission, sms: int) -> bool:
        """Whether other kernels are counted than are timed, as where a row goes to several blocks while there are few:
        then the counts do not grow as the problem does."""
        if item.records is None or item.refusal is not None:
            return False
        counted, timed = (
            [launch.kernel for launch in plan(item.file, sizes, item.compiled.constants, sms).launches]
            for sizes in (self.counted, self.main)
        )
        return counted != timed

    def _errors(self, rung: str, climbed: Mapping[str, KernelSubmission], measured: _Measured) -> _Errors:
        """At the sizes that were timed, or else the worst of the cases."""
        tried, candidate = climbed[rung].cases, measured.rungs.get(rung)
        if candidate is None:
            return _Errors(accuracy(self.topic, tried), error_bound(tried))
        return _Errors(measured.accuracies[rung], error_bound(tried) or candidate.error_bound)


@dataclass(frozen=True)
class _Errors:
    """What is known of a rung's errors."""

    accuracy: Accuracy | None = None
    bound: str | None = None  # the algorithm whose error bound held, where the topic's own did not


@dataclass(frozen=True)
class _Time:
    """A rung's time, and how it is known."""

    seconds: float
    interval: Median | None = None  # of measured times
    samples: list[float] | None = None
    limited_by: str | None = None  # of modelled times


def _time(item: KernelSubmission, candidate: KernelCandidate | None) -> _Time | None:
    if item.refusal is not None:
        return None
    if candidate is not None:
        interval = candidate.median
        return _Time(interval.value, interval, candidate.samples)
    return (
        None if item.modelled is None else _Time(item.modelled.seconds, limited_by=item.modelled.limited_by)
    )


def rung_result(
    rung: Rung[KernelFile],
    item: KernelSubmission,
    time: _Time | None,
    against: Mapping[str, float | None],
    errors: _Errors | None = None,
    other_kernel: bool = False,
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
        id=rung.id,
        file=item.name,
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
        side_step=rung.side_step,
        accuracy=None if errors is None else errors.accuracy,
        error_bound=None if errors is None else errors.bound,
        l2_bytes=None if item.records is None else counting.l2_bytes(item.records),
        other_kernel=other_kernel,
    )
