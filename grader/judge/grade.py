"""What a learner's kernel is worth: right or wrong, which rung it reaches, and why not the next."""

from __future__ import annotations

import secrets
from pathlib import Path

from grader.errors import WarpladderError
from grader.judge.claims import hints
from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case
from grader.judge.kernels.case_runner import accuracy
from grader.judge.kinds import kind_of
from grader.judge.provenance import provenance
from grader.judge.runners.pool import DevicePool, Progress, silent
from grader.judge.submission import Submission
from grader.results import Grade, Hint, Verdict
from grader.workbook.reference import Problem
from grader.workbook.topic import Topic


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
    if not file.exists():
        raise WarpladderError(
            "there is no such file", file=file, remedy=f"`ladder new {topic.name}` makes one"
        )
    try:
        parsed = topic.parse(file)
    except WarpladderError as error:
        return refused(topic, str(file), "error", str(error))
    report = progress or silent
    whole = not problem_overrides
    with DevicePool(device, arch, jobs=1) as pool:
        current = kind_of(topic).examine(pool, parsed, str(file), tried, whole, report)
        report(file.stem, "done")
        return _result(pool, topic, current, whole)


def _cases(topic: Topic, seed: int | None, overrides: Problem | None) -> tuple[Case, ...]:
    if overrides:
        problem = topic.problem("count", overrides)
        return tuple(
            cases.make(problem, kind, cases.PUBLIC_SEED if seed is None else seed) for kind in cases.KINDS
        )
    if seed is not None:
        return cases.public(topic, seed)
    return (*cases.public(topic), *cases.secret(topic, secrets.randbelow(2**31)))


def _result(pool: DevicePool, topic: Topic, current: Submission, whole: bool) -> Grade:
    refusal, counters, gpu = current.refusal, current.counters, pool.gpu
    reached = topic.ladder.reached(current.claims) if refusal is None and current.proven else None
    return Grade(
        topic=topic.name,
        file=current.name,
        verdict="pass" if refusal is None else refusal.verdict,
        reason=None if refusal is None else refusal.reason,
        rung_reached=reached,
        points=0 if reached is None else topic.ladder.paid(reached, current.claims),
        max_points=topic.max_points,
        cases=current.cases,
        findings=current.findings,
        claims=current.claims,
        hints=_hints(topic, current, reached, whole),
        device=pool.device,
        counted=None if counters is None else topic.sizes_count,
        counters=counters,
        counter_source=None if counters is None else "emulated",
        facts=current.facts,
        provenance=provenance(None if gpu is None else gpu.hello().driver),
        accuracy=accuracy(topic, current.cases),
        printed=current.printed,
    )


def _hints(topic: Topic, current: Submission, reached: str | None, whole: bool) -> list[Hint]:
    if current.refusal is not None:
        return []
    if reached is not None:
        found = hints.next_rung(topic.ladder, reached, current.claims)
        if found and (advice := current.advice()):
            found.append(Hint(found[0].rung, advice))
        return found
    first = topic.ladder.ids[0]
    if not whole:
        text = "Only the sizes of this call were tried; grade without --set for rung and points."
    else:
        text = "The result is right, but the emulator could not count it, so its rung is not known."
    return [Hint(first, text)]


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
