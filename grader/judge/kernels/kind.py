"""How the submissions of a topic are judged in which learners write kernels. What explains and advises is imported once
there is something to say."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from threading import Event
from typing import TypeVar

from grader.analysis.devices import DeviceSpec, board
from grader.analysis.what_if import Modelled
from grader.judge.claims.pace import Model, Times
from grader.judge.correctness.cases import Case, CaseStore, at_count_sizes, make
from grader.judge.kernels import measured, submission, thresholds
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.kernels.large import main_size
from grader.judge.kernels.track import Values
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool, Progress
from grader.judge.submission import Kind, Submission
from grader.judge.timing.bounds import bound
from grader.judge.timing.kept import kept_times
from grader.results import Climb, Code, Profile
from grader.workbook.content import name_of
from grader.workbook.exercises import Exercise
from grader.workbook.expressions import Number
from grader.workbook.kernel_file import KernelFile
from grader.workbook.ladder import Rung
from grader.workbook.reference import Problem
from grader.workbook.topic import KernelTopic

T = TypeVar("T")


@dataclass(frozen=True)
class Kernels(Kind[KernelFile]):
    """Compiled, run on cases and counted; on a GPU, what is wrong there is explained by an emulator."""

    topic: KernelTopic

    def climb(
        self, pool: DevicePool, problem: dict[str, Number], overrides: Problem | None, progress: Progress
    ) -> Climb:
        from grader.judge.kernels import climb

        return climb.climb(pool, self.topic, problem, overrides, progress)

    def examine(
        self,
        pool: DevicePool,
        file: KernelFile,
        name: str,
        tried: Sequence[Case],
        whole: bool,
        progress: Progress,
        store: CaseStore,
    ) -> KernelSubmission:
        current = KernelSubmission(name=name, file=file, blocks_seed=tried[-1].seed)
        unknown = at_count_sizes(self.topic, tried[-1].seed) if whole else ()
        right, left = False, Event()
        with current.stages(), ThreadPoolExecutor(4) as helper:
            progress(file.path.stem, "compile")
            submission.compile_it(current, pool.arch)
            progress(file.path.stem, "judge")

            def begun(work: Callable[[], T]) -> Callable[[], T]:
                """What can be done while a GPU tries the cases has begun; without one all is done in turn."""
                return work if pool.gpu is None else helper.submit(work).result

            counting = partial(self._counted, pool, current, store, tried, unknown, left)
            counted = begun(counting) if whole else None
            needed = partial(Values.of, self.topic, self.topic.sizes_main)
            values = begun(needed) if whole else needed
            seed = secrets.randbelow(2**31)
            looking = partial(main_size.look, current.compiled, self.topic, pool, seed, left)
            looked = begun(looking) if whole else looking
            try:
                with store.ahead(
                    [*tried, *unknown]
                ):  # to the end: who waits for the last one keeps the GPU waiting
                    with pool.judges() as (runner, *others):
                        cases = CaseRunner(self.topic, store, runner, others=others)
                        limits = runner.hello().limits
                        finding = partial(thresholds.found, current.compiled, self.topic, limits)
                        beyond = begun(finding) if whole else finding
                        submission.try_cases(current, cases, tried)
                        if whole:
                            submission.try_beyond(current, cases, beyond(), tried[-1].seed)
                        else:  # so that what is printed as a case's command shows it again
                            submission.try_on_one(current, cases, tried)
                    right = True
                    if counted is not None:
                        progress(file.path.stem, "count")
                        with measured.ahead(pool, current, values):
                            current.take(counted())
                            if current.refusal is None and current.counters is not None:
                                self._note(pool, current, store, self._seen(pool, current, store, looked))
            finally:
                left.set()
        if current.failed:
            self._explain(pool, current, store, again=not right)
        return current

    def _explain(self, pool: DevicePool, current: KernelSubmission, store: CaseStore, again: bool) -> None:
        """Say why it is wrong; `again`: what a GPU has shown is shown once more by an emulator."""
        from grader.judge.kernels import explained

        if again and pool.gpu is not None:
            with pool.emulator() as runner:
                explained.on_emulator(current, CaseRunner(self.topic, store, runner))
        if current.failed:
            explained.lint_signature(current, pool.arch)

    def _counted(
        self,
        pool: DevicePool,
        current: KernelSubmission,
        store: CaseStore,
        tried: Sequence[Case],
        unknown: Sequence[Case],
        left: Event,
    ) -> KernelSubmission:
        """Counters and claims, from an emulator; where the cases run on a GPU, it looks for faults as well, until one
        has failed there."""
        counted = replace(current, cases=[], findings=[])
        with counted.stages(), pool.emulators() as (runner, *others):
            cases = CaseRunner(self.topic, store, runner, others=others)
            if pool.gpu is not None:
                exact = (case for case in tried if case.kind == "exact")
                submission.look_for_faults(counted, cases, takewhile(lambda _: not left.is_set(), exact))
            if not left.is_set():
                submission.launchable(counted, cases, self.topic.sizes_main)
                submission.count(counted, cases, unknown, pool.gpu is not None)
                submission.claim(counted, cases, self.topic.claims, self.topic.claim_sizes)
                if counted.proven and self.topic.claim_sizes == self.topic.sizes_count:
                    beside = thresholds.beside(counted.compiled, self.topic, runner.hello().limits)
                    if beside is not None:
                        submission.claim_beside(counted, cases, beside)
        return counted

    def _seen(
        self,
        pool: DevicePool,
        current: KernelSubmission,
        store: CaseStore,
        looked: Callable[[], main_size.Looked],
    ) -> main_size.Looked:
        """What was seen at large sizes. Where that is wrong, it may be so in blocks that have nothing to do."""
        try:
            return looked()
        except Refused as refused:
            if refused.verdict != "fail":
                raise
            from grader.judge.kernels import idle_blocks

            with pool.emulator() as runner:
                cases = CaseRunner(self.topic, store, runner)
                idle = idle_blocks.told(cases, current.compiled, current.blocks_seed)
            raise refused.saying(f"{idle} {refused.reason}".lstrip()) from None

    def _note(
        self, pool: DevicePool, current: KernelSubmission, store: CaseStore, found: main_size.Looked
    ) -> None:
        """Take note of what was seen at large sizes."""
        current.beyond, current.at_main = found.beyond, found.at_main
        with pool.emulator() as runner:
            cases = CaseRunner(self.topic, store, runner)
            submission.claim_at_main_sizes(current, cases)
            waits = any(record.may_wait for record in found.at_main)
            tries = main_size.ran_whole(found.at_main) and not waits
            current.first = partial(self._first, pool, current, store, tries)

    def _first(
        self, pool: DevicePool, current: KernelSubmission, store: CaseStore, tries: bool, rung: str
    ) -> str:
        """`tries`: changes of it may be tried."""
        from grader.judge.kernels import idle_blocks, right_tries

        if said := right_tries.by_luck(current) or right_tries.printing(current):
            return said
        with pool.emulator() as runner:
            if said := right_tries.read_first(CaseRunner(self.topic, store, runner), current):
                return said
        if not tries:
            return ""
        if few := right_tries.few_threads(self.topic, current):
            return few
        with pool.emulator() as runner:
            cases = CaseRunner(self.topic, store, runner)
            return idle_blocks.told(cases, current.compiled, current.blocks_seed) or right_tries.told(
                cases, current, rung
            )

    def times(
        self, pool: DevicePool, current: Submission, rungs: Sequence[Rung[KernelFile]], progress: Progress
    ) -> Times:
        assert isinstance(current, KernelSubmission), "a kernel"
        if pool.gpu is not None:
            return measured.times(pool, self.topic, current, rungs, progress)
        progress(current.file.path.stem, "model")
        device, main = board(pool.device.name, pool.device.arch), self.topic.sizes_main
        with pool.emulator() as runner:
            cases = CaseRunner(self.topic, CaseStore(self.topic), runner)
            submission.model(current, cases, self.topic.sizes_count, main)
        first = self.topic.ladder.rungs[0]
        asked = [first, *(rung for rung in rungs if rung.id != first.id)]
        found = kept_times(
            self.topic, asked, device, pool.arch, self.model(pool, device, self.topic.sizes_main)
        )
        own, floor = current.modelled, bound(self.topic, self.topic.sizes_main, device)
        seconds = {name: rung.seconds for name, rung in found.items() if rung.seconds is not None}
        return Times(
            None if own is None else own.seconds,
            seconds,
            naive_s=seconds.get(first.id),
            bound_s=None if floor is None else floor.time_s,
            model=None if own is None else Model(own, found, device.sms),
        )

    def once(self, pool: DevicePool, file: KernelFile, name: str) -> KernelSubmission:
        current = KernelSubmission(name=name, file=file)
        with current.stages():
            submission.compile_it(current, pool.arch)
            with pool.emulator() as runner:
                cases = CaseRunner(self.topic, CaseStore(self.topic), runner)
                submission.count(current, cases, [make(self.topic.sizes_count, "exact")], passed_on_gpu=False)
                submission.claim(current, cases, (), self.topic.claim_sizes)
        return current

    def profile(
        self,
        file: Path,
        device: str,
        overrides: Problem | None,
        progress: Progress,
        arch: str | None,
        code: Code | None,
    ) -> Profile:
        from grader.judge.kernels import profile

        return profile.profile(self.topic, file, device, overrides, progress, arch, code)

    def model(
        self, pool: DevicePool, device: DeviceSpec, problem: Problem
    ) -> Callable[[Rung[KernelFile]], Modelled]:
        counted, store = self.topic.problem("count", None), CaseStore(self.topic)

        def model(rung: Rung[KernelFile]) -> Modelled:
            current = KernelSubmission(name=name_of(rung.path), file=rung.file)
            with current.stages():
                submission.compile_it(current, pool.arch)
                with pool.emulator() as runner:
                    cases = CaseRunner(self.topic, store, runner)
                    submission.count(current, cases, [make(counted, "exact")], passed_on_gpu=False)
                    submission.model(current, cases, counted, problem, device)
            if current.refusal is not None or current.modelled is None:
                return Modelled(reason=current.reason_without(rung.path) or "not counted")
            found = current.modelled
            return Modelled(found.seconds, found.limited_by, terms=found.terms, blocks=found.blocks)

        return model


class _Untimed(KernelSubmission):
    """Of blocks of a few threads, in which lanes are idle that nothing is to be done about."""

    def costliest(self, later: Collection[str] = (), wanted: Collection[str] = ()) -> None:
        return None


@dataclass(frozen=True)
class Exercises(Kernels):
    """Kernels that are not timed, counted only where the task asks for more than right numbers, and tried at no sizes
    but the exercise's own."""

    topic: Exercise

    def examine(
        self,
        pool: DevicePool,
        file: KernelFile,
        name: str,
        tried: Sequence[Case],
        whole: bool,
        progress: Progress,
        store: CaseStore,
    ) -> KernelSubmission:
        current = _Untimed(name=name, file=file)
        with current.stages():
            progress(file.path.stem, "compile")
            submission.compile_it(current, pool.arch)
            progress(file.path.stem, "judge")
            with store.ahead(tried), pool.judges() as (runner, *others):
                submission.try_cases(current, CaseRunner(self.topic, store, runner, others=others), tried)
            if pool.gpu is not None:
                with pool.emulator() as runner:
                    submission.look_for_faults(current, CaseRunner(self.topic, store, runner), tried)
            current.facts = {} if whole else None
            if whole and len(self.topic.rungs) > 1:
                progress(file.path.stem, "count")
                with pool.emulator() as runner:
                    counting = CaseRunner(self.topic, store, runner)
                    unknown = at_count_sizes(self.topic, tried[-1].seed)
                    submission.count(current, counting, unknown, pool.gpu is not None)
                    submission.claim(current, counting, self.topic.claims, self.topic.claim_sizes)
        if current.failed:
            self._explain(pool, current, store, again=True)
        return current

    def times(
        self, pool: DevicePool, current: Submission, rungs: Sequence[Rung[KernelFile]], progress: Progress
    ) -> Times:
        return Times(own_s=None)
