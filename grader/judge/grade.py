"""What a learner's kernel is worth: right or wrong, which rung it reaches, and why not the next."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

from grader.errors import WarpladderError
from grader.judge.claims import hints, scoring
from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case, CaseStore
from grader.judge.kernels import submission
from grader.judge.kernels.case_runner import CaseRunner, accuracy
from grader.judge.kernels.pool import DevicePool, Progress, silent
from grader.judge.kernels.submission import KernelSubmission
from grader.judge.provenance import provenance
from grader.judge.schedules import submission as schedules
from grader.judge.schedules.submission import ScheduleSubmission
from grader.results import Grade, Hint, Verdict
from grader.workbook.kernel_file import Rung
from grader.workbook.topics import Problem, Topic


def grade(
    topic: Topic,
    file: Path,
    device: str = "auto",
    seed: int | None = None,
    problem_overrides: Problem | None = None,
    progress: Progress | None = None,
    arch: str | None = None,
) -> Grade:
    """Grade a submission in child processes of its own.

    It is tried on every size of the topic, with a public seed and with a secret one, then counted at the
    `count` sizes. With `seed`, that is the only one; with `problem_overrides`, only those sizes are tried,
    and neither rung nor points are given: that is how a failing case is run again. Raises WarpladderError for
    a file that cannot be read, or a device or size that is unusable.
    """
    tried = _cases(topic, seed, problem_overrides)
    if file.is_dir():
        raise WarpladderError("this is a folder", file=file, remedy="name a file in it")
    if not file.is_file():
        raise WarpladderError(
            "there is no such file", file=file, remedy=f"`ladder new {topic.name}` makes one"
        )
    try:
        rung = topic.parse(file)
    except WarpladderError as error:
        return refused(topic, str(file), "error", str(error))
    report = progress or silent
    examine = _examine_kernel if topic.kernel is None else _examine_schedule
    with DevicePool(device, arch, jobs=1) as session:
        current = examine(session, topic, rung, str(file), tried, not problem_overrides, report)
        report(rung.id, "done")
        return _result(session, topic, current, whole=not problem_overrides)


def _examine_kernel(
    session: DevicePool,
    topic: Topic,
    rung: Rung,
    file: str,
    tried: Sequence[Case],
    whole: bool,
    report: Progress,
) -> KernelSubmission:
    """Everything about a kernel; `whole`: its counters and claims, too."""
    current = KernelSubmission(rung, file)
    report(rung.id, "compile")
    submission.compile_it(current, session.arch)
    store = CaseStore(topic)
    report(rung.id, "judge")
    _judge(session, current, store, tried)
    if whole:
        report(rung.id, "count")
        _count(session, current, store, tried)
    submission.doubt(current, session.arch)
    return current


def _examine_schedule(
    session: DevicePool,
    topic: Topic,
    rung: Rung,
    file: str,
    tried: Sequence[Case],
    whole: bool,
    report: Progress,
) -> KernelSubmission:
    """Everything about a schedule; `whole`: its timeline and claims, too."""
    report(rung.id, "compile")
    shared = schedules.schedule_job(session, topic, topic.sizes_main)
    report(rung.id, "judge")
    claims = topic.claims if whole else None
    return schedules.examine(rung, file, shared, CaseStore(topic), tried, claims)


def _cases(topic: Topic, seed: int | None, overrides: Problem | None) -> tuple[Case, ...]:
    if overrides:
        problem = topic.problem("count", overrides)
        return tuple(cases.make(problem, kind, seed or cases.PUBLIC_SEED) for kind in cases.KINDS)
    if seed is not None:
        return cases.public(topic, seed)
    return (*cases.public(topic), *cases.secret(topic, secrets.randbelow(2**31)))


def _judge(session: DevicePool, current: KernelSubmission, store: CaseStore, tried: Sequence[Case]) -> None:
    """The cases, on the device; where that is a GPU, an emulator says what is behind one that fails."""
    with session.judge() as runner:
        submission.try_cases(current, CaseRunner(store.topic, store, runner), tried)
    if session.gpu is not None and current.cases:
        with session.emulator() as runner:
            submission.explain(current, CaseRunner(store.topic, store, runner), tried[len(current.cases) - 1])


def _count(session: DevicePool, current: KernelSubmission, store: CaseStore, tried: Sequence[Case]) -> None:
    """Counters and claims, from an emulator; where the cases ran on a GPU, it looks for faults as well."""
    topic, on_gpu = store.topic, session.gpu is not None
    with session.emulator() as runner:
        examiner = CaseRunner(topic, store, runner)
        if on_gpu:
            submission.look_for_faults(current, examiner, [case for case in tried if case.kind == "exact"])
        submission.launchable(current, examiner, topic.sizes_main)
        submission.count(current, examiner, topic.sizes_count, on_gpu)
        submission.claim(current, examiner, topic.claims, topic.sizes_count)


def _result(session: DevicePool, topic: Topic, current: KernelSubmission, whole: bool) -> Grade:
    refusal, counters = current.refusal, current.counters
    gpu = session.gpu
    order = [rung.id for rung in topic.rungs]
    reached = scoring.reached(order, current.claims) if refusal is None and current.proven else None
    return Grade(
        topic=topic.name,
        file=current.file,
        verdict="pass" if refusal is None else refusal.verdict,
        reason=None if refusal is None else refusal.reason,
        rung_reached=reached,
        points=0 if reached is None else scoring.points(order, reached, current.claims),
        max_points=topic.max_points,
        cases=current.cases,
        findings=current.findings,
        claims=current.claims,
        hints=_hints(topic, current, reached, whole),
        device=session.device,
        counted=None if counters is None else topic.sizes_count,
        counters=counters,
        counter_source=None if counters is None else "emulated",
        facts=current.facts,
        provenance=provenance(None if gpu is None else gpu.hello().driver),
        accuracy=accuracy(topic, current.cases),
        printed=current.printed,
    )


def _hints(topic: Topic, current: KernelSubmission, reached: str | None, whole: bool) -> list[Hint]:
    if current.refusal is not None:
        return []
    if reached is not None:
        found = hints.next_rung(topic, reached, current.claims)
        if found and isinstance(current, ScheduleSubmission) and current.timeline is not None:
            found += [Hint(found[0].rung, text) for text in [schedules.host_copies(current.timeline)] if text]
        return found
    first = topic.rungs[0].id
    if not whole:
        return [
            Hint(first, "Only the sizes of this call were tried; grade without --set for rung and points.")
        ]
    return [
        Hint(first, "The result is right, but the emulator could not count it, so its rung is not known.")
    ]


def refused(topic: Topic, file: str, verdict: Verdict, reason: str) -> Grade:
    """The grade of a submission that no case was tried on."""
    return Grade(
        topic=topic.name,
        file=file,
        verdict=verdict,
        reason=reason,
        rung_reached=None,
        points=0,
        max_points=topic.max_points,
        cases=[],
        findings=[],
        claims=[],
        hints=[],
        provenance=provenance(),
    )
