"""Judging a program: right on sizes that nobody knew, nothing found by the emulator, and failures that are reported."""

from __future__ import annotations

import random
import secrets
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from grader.emulator import devices
from grader.emulator.cudart import process
from grader.emulator.cudart.events import Outcome, Trial
from grader.emulator.cudart.process import CompiledProgram
from grader.findings import compiling
from grader.judge.grade import check_file
from grader.judge.programs.mistakes import Run, of_run
from grader.judge.programs.planting import missed, plants
from grader.judge.provenance import provenance
from grader.judge.runners.pool import Progress, check_arch, silent
from grader.results import CaseResult, ClaimResult, Device, FindingResult, Grade, Reproduce, Verdict
from grader.workbook.programs import Program
from grader.workbook.reference import Problem
from grader.workbook.source_file import read_source

LIMIT_S = 30.0
"""Seconds for one run of a program; a right one takes about one."""
MOST_READ = 1 << 20
"""Bytes that are read of what a run prints."""
SEEDS = 2**31


def judge(
    exercise: Program,
    file: Path,
    *,
    arch: str = devices.DEFAULT_ARCH,
    seed: int | None = None,
    only: Problem | None = None,
    progress: Progress = silent,
) -> Grade:
    """Judge a file on the emulator. With `only`, it is run with those arguments alone: how a failing run is seen again.

    Raises WarpladderError for a file that cannot be read, for arguments that are not the program's, and for a machine
    that cannot compile; what is wrong with the program is the grade's.
    """
    check_file(exercise.name, file)
    check_arch(arch)
    source = read_source(file, "a CUDA C++ program").splitlines()
    seed = secrets.randbelow(SEEDS) if seed is None else seed
    problems = exercise.reference.runs(random.Random(seed)) if only is None else [exercise.problem(only)]
    grade = _Grading(exercise, file, source, seed, progress, arch)
    progress(file.stem, "compile")
    with ExitStack() as stack:
        try:
            with compiling.in_words(file):
                program = stack.enter_context(process.compiled(file, arch))
        except compiling.NotCompiled as error:
            return grade.refused("error", str(error))
        return grade.of(program, problems, plant=only is None)


@dataclass
class _Grading:
    exercise: Program
    file: Path
    source: Sequence[str]
    seed: int
    progress: Progress
    arch: str

    def of(self, program: CompiledProgram, problems: Sequence[Problem], *, plant: bool) -> Grade:
        """All runs, up to the first with a mistake; then those with a failure."""
        self.progress(self.file.stem, "judge")
        cases: list[CaseResult] = []
        right: list[tuple[Problem, Outcome]] = []
        for problem in problems:
            run = self._run(program, problem)
            if (refusal := self._refusal(run.outcome)) is not None:
                return replace(
                    refusal, cases=[*cases, self._case(problem, refusal.verdict)], printed=run.text
                )
            if found := of_run(self.exercise, run):
                failed = self._case(problem, "fail")
                return self._failed([*cases, failed], found, 0, printed=run.text)
            cases.append(self._case(problem, "pass"))
            right.append((problem, run.outcome))
        return self._with_failures(program, *right[0], cases) if plant else self._passed(cases, [], 0)

    def _with_failures(
        self, program: CompiledProgram, problem: Problem, right: Outcome, cases: list[CaseResult]
    ) -> Grade:
        claims, found = [], []
        for planted in plants(right):
            run = self._run(program, problem, planted.trial)
            mistake = missed(planted, run.outcome, run.text)
            claims.append(ClaimResult(planted.text, mistake is None, None))
            found += [] if mistake is None else [mistake]
        if found:
            return self._failed(cases, found, self.exercise.points // 2, claims)
        return self._passed(cases, claims, self.exercise.points)

    def _run(self, program: CompiledProgram, problem: Problem, trial: Trial | None = None) -> Run:
        with tempfile.TemporaryFile() as output:
            arguments = [str(problem[name]) for name in self.exercise.arguments]
            outcome = program.run(arguments, trial=trial or Trial(), output=output, limit_s=LIMIT_S)
            output.seek(0)
            text = output.read(MOST_READ).decode(errors="replace")
        return Run(problem, outcome, text, self.source)

    def _refusal(self, outcome: Outcome) -> Grade | None:
        if outcome.timed_out:
            return self.refused(
                "timeout", f"The program has not ended after {LIMIT_S:.0f} s: an endless loop?"
            )
        if outcome.refused is not None:
            refusal = outcome.refused
            at = f"{self.file}:{refusal.place.line}: " if refusal.place else ""
            return self.refused("error", f"{at}{refusal.what}. Remedy: {refusal.remedy}.")
        return None

    # -- grades -----------------------------------------------------------------------------------------------
    def refused(self, verdict: Verdict, reason: str) -> Grade:
        """The grade of a program that could not be compiled, or run to its end."""
        return self._grade(verdict, reason)

    def _failed(
        self, cases: list[CaseResult], found: list[FindingResult], points: int, claims: Sequence[ClaimResult] = (),
        printed: str = "",
    ) -> Grade:  # fmt: skip
        first = found[0]
        at = f"{self.file}:{first.line}: " if first.line else ""
        reason = f"{at}{first.message}. {first.remedy or ''}".rstrip()
        return replace(
            self._grade("fail", reason), cases=cases, findings=found, points=points, claims=list(claims),
            printed=printed,
        )  # fmt: skip

    def _passed(self, cases: list[CaseResult], claims: list[ClaimResult], points: int) -> Grade:
        return replace(self._grade("pass", None), cases=cases, claims=claims, points=points)

    def _grade(self, verdict: Verdict, reason: str | None) -> Grade:
        device = Device("emulator", f"{devices.find(self.arch).name} (emulated)", self.arch)
        return Grade(
            topic=self.exercise.name, file=str(self.file), verdict=verdict, reason=reason, rung_reached=None, points=0,
            max_points=self.exercise.points, cases=[], findings=[], claims=[], hints=[], device=device,
            provenance=provenance(),
        )  # fmt: skip

    def _case(self, problem: Problem, verdict: Verdict) -> CaseResult:
        again = None if verdict == "pass" else self._again(problem)
        return CaseResult(dict(problem), self.seed, verdict, None, None, kind="exact", reproduce=again)

    def _again(self, problem: Problem) -> Reproduce:
        return Reproduce(self.exercise.name, str(self.file), dict(problem), self.seed)
