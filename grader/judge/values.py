"""What claims may name, of one kernel or schedule: sizes, counters and facts, without judging it."""

from __future__ import annotations

from pathlib import Path

from grader.errors import WarpladderError
from grader.judge.claims.derived import with_sums
from grader.judge.kinds import kind_of
from grader.judge.runners.pool import DevicePool
from grader.results import Grade
from grader.workbook.expressions import Number
from grader.workbook.topic import Topic


def of_file(topic: Topic, file: Path, arch: str | None = None) -> dict[str, Number]:
    """Run a file once on the emulator, at the sizes that claims are for.

    Raises WarpladderError for a file that is unusable or wrong there.
    """
    with DevicePool("emulator", arch, jobs=1) as pool:
        current = kind_of(topic).once(pool, topic.parse(file), str(file))
    if current.refusal is not None or current.facts is None:
        reason = "it was not counted" if current.refusal is None else current.refusal.reason
        raise WarpladderError(reason, file=file)
    return named(topic, current.counters, current.facts)


def of_grade(topic: Topic, grade: Grade) -> dict[str, Number] | None:
    """The same of a submission that was graded; None where it did not pass, or was not counted."""
    if grade.verdict != "pass" or grade.facts is None:
        return None
    return named(topic, grade.counters, grade.facts)


def named(topic: Topic, counters: dict[str, int] | None, facts: dict[str, Number]) -> dict[str, Number]:
    """Counters, their sums and facts, with the sizes that they are for."""
    return {
        **(with_sums(counters) if counters else {}),
        **topic.signature.with_derived(topic.claim_sizes),
        **facts,
    }
