"""What a learner's kernel is worth: right or wrong, which rung it reaches, and why not the next."""

from __future__ import annotations

import secrets
import shlex
from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path

from grader.errors import WarpladderError
from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case
from grader.judge.provenance import provenance
from grader.judge.runners.pool import DevicePool, Progress, opened, silent
from grader.results import Grade, Verdict
from grader.workbook import topics
from grader.workbook.reference import Problem
from grader.workbook.source_file import SourceFile, check_name, read_source
from grader.workbook.topic import Topic


def grade(
    topic: Topic,
    file: Path,
    device: str = "auto",
    seed: int | None = None,
    problem_overrides: Problem | None = None,
    progress: Progress | None = None,
    arch: str | None = None,
    pool: Future[DevicePool] | None = None,
) -> Grade:
    """Grade a submission in child processes of its own, or in those of `pool`, which stay.

    It is tried on every size of the topic, with a public seed and with a secret one, then counted at the
    `count` sizes. With `seed`, that is the only one; with `problem_overrides`, only those sizes are tried,
    and neither rung nor points are given: that is how a failing case is run again. Raises WarpladderError for
    a file that cannot be read, or a device or size that is unusable.
    """
    tried = cases_of(topic, seed, problem_overrides)
    check_file(topic.name, file)
    try:
        parsed = parse(topic, file)
    except WarpladderError as error:
        return refused(topic, str(file), "error", str(error))
    report = progress or silent
    whole = not problem_overrides
    with opened(device, arch) if pool is None else nullcontext(pool) as found:
        from grader.judge.graded import graded  # takes long, while children start

        return graded(found.result(), topic, parsed, file, tried, whole, report)


def parse(topic: Topic, file: Path) -> SourceFile:
    """A submission as its topic reads it; raises WarpladderError, naming file and line, and of a kernel of another
    topic that one."""
    if not (other := kernel_of_another(topic, file)):
        return topic.parse(file)
    raise WarpladderError(
        f"its kernel, `{other}`, is one for {other} and not for {topic.name}",
        file=file,
        remedy=f"ladder grade {other} {shlex.quote(str(file))}",
    )


def kernel_of_another(topic: Topic, file: Path) -> str:
    """The other topic whose kernel a submission has; "" where it has none. Raises WarpladderError for what cannot be
    read."""
    return topics.of_kernel(read_source(file, "a source file"), topic)


def check_file(name: str, file: Path) -> None:
    """Raises WarpladderError for what cannot be a submission to what is called `name`, whatever it holds."""
    check_name(file)
    if file.is_dir():
        raise WarpladderError("this is a folder", file=file, remedy="name a file in it")
    if not file.exists():
        raise WarpladderError("there is no such file", file=file, remedy=f"`ladder new {name}` makes one")


def cases_of(topic: Topic, seed: int | None, overrides: Problem | None) -> tuple[Case, ...]:
    """What a grade tries, see `grade`."""
    if overrides:
        problem = topic.problem("count", overrides)
        return cases.at(topic, problem, cases.PUBLIC_SEED if seed is None else seed)
    if seed is not None:
        return cases.public(topic, seed)
    return (*cases.public(topic), *cases.secret(topic, secrets.randbelow(2**31)))


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
