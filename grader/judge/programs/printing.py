"""Programs that are told by what they print: run with fixed arguments, whose output is known to the letter."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.emulator import devices
from grader.emulator.cudart import process
from grader.emulator.cudart.events import Outcome, Trial
from grader.emulator.cudart.process import CompiledProgram
from grader.findings import compiling
from grader.judge.programs.judging import LIMIT_S, MOST_READ
from grader.judge.programs.mistakes import seen
from grader.results import FindingResult, Grade, Verdict


@dataclass(frozen=True)
class Expected:
    """One run: what the program is given, and what it prints on its standard streams."""

    arguments: tuple[str, ...]
    prints: str


def judge_output(file: Path, runs: Sequence[Expected], arch: str = devices.DEFAULT_ARCH) -> Grade:
    """Compile a program and run it on the emulator, up to the first run that is wrong.

    It passes where nothing is found, its status is 0 and its output is as expected. What does not compile is an error
    of the grade; a machine that cannot compile raises WarpladderError.
    """
    try:
        with compiling.in_words(file), process.compiled(file, arch) as program:
            for expected in runs:
                result = _one(program, expected, file)
                if result.verdict != "pass":
                    return result
    except compiling.NotCompiled as error:
        return _grade(file, "error", str(error))
    return _grade(file, "pass")


def _one(program: CompiledProgram, expected: Expected, file: Path) -> Grade:
    with tempfile.TemporaryFile() as output:
        outcome = program.run(expected.arguments, trial=Trial(), output=output, limit_s=LIMIT_S)
        output.seek(0)
        text = output.read(MOST_READ).decode(errors="replace")
    call = " ".join((file.name, *expected.arguments))
    if outcome.timed_out:
        return _grade(file, "timeout", f"`{call}` has not ended after {LIMIT_S:.0f} s: an endless loop?")
    if outcome.refused is not None:
        return _grade(file, "error", f"{outcome.refused.what}. Remedy: {outcome.refused.remedy}.")
    if found := seen(outcome) or _wrong(outcome, expected, text):
        first = found[0]
        where = f"{file}:{first.line}: " if first.line else ""
        remedy = f" {first.remedy}" if first.remedy else ""
        return _grade(file, "fail", f"`{call}`: {where}{first.message}.{remedy}", found)
    return _grade(file, "pass")


def _wrong(outcome: Outcome, expected: Expected, text: str) -> list[FindingResult]:
    if text.split() != expected.prints.split():
        message = f"it prints {text.strip()!r}, and {expected.prints.strip()!r} is right"
        return [FindingResult("output", None, message)]
    if outcome.status:
        return [FindingResult("status", None, f"it ends with status {outcome.status}")]
    return []


def _grade(
    file: Path, verdict: Verdict, reason: str | None = None, findings: Sequence[FindingResult] = ()
) -> Grade:
    """A grade without points: such programs belong to no ladder."""
    return Grade(
        topic="program", file=str(file), verdict=verdict, reason=reason, rung_reached=None, points=0, max_points=0,
        cases=[], findings=list(findings), claims=[], hints=[],
    )  # fmt: skip
