"""One kernel on its way through the judge: compiled, tried on cases, counted, its time modelled.

Climbs and grades are made of these steps. Each takes up where the one before left off, and does nothing once
there is a refusal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.analysis.devices import DeviceSpec, board
from grader.analysis.model import ModelledTime
from grader.errors import WarpladderError
from grader.judge.child.protocol import Record
from grader.judge.claims import scoring
from grader.judge.correctness.cases import Case, make
from grader.judge.correctness.verdict import beside
from grader.judge.kernels import counting, sampling, signature_lint
from grader.judge.kernels.case_runner import (
    CaseRunner,
    case_result,
    emulator_seconds,
    instruction_budget,
    work,
)
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.kernels.counting import Resources
from grader.judge.refused import Refused
from grader.results import CaseResult, ClaimResult, FindingResult
from grader.workbook.expressions import ExpressionError, Number
from grader.workbook.kernel_file import Rung
from grader.workbook.topics import ClaimSpec, Problem


@dataclass
class KernelSubmission:
    """What is known of a kernel so far. `refusal` is why it went no further."""

    rung: Rung
    file: str  # as results name it
    kernel: Kernel | None = None
    refusal: Refused | None = None
    cases: list[CaseResult] = field(default_factory=list)
    findings: list[FindingResult] = field(default_factory=list)
    resources: Resources | None = None  # at the sizes that were counted
    records: tuple[Record, ...] | None = None  # of the launches at those sizes; None: not counted
    facts: dict[str, Number] | None = None  # what claims may name besides sizes and counters
    claims: list[ClaimResult] = field(default_factory=list)
    modelled: ModelledTime | None = None
    printed: str = ""  # in the case that failed, or in the first that printed anything

    @property
    def proven(self) -> bool:
        """Whether claims could be checked."""
        return self.records is not None

    @property
    def counters(self) -> dict[str, int] | None:
        """Counters of all launches together; None: not counted."""
        return None if self.records is None else counting.summed(self.records)


def compile_it(step: KernelSubmission, arch: str) -> None:
    """Compile the file."""
    try:
        step.kernel = prepare(step.rung, arch)
    except Refused as error:
        step.refusal = Refused("error", error.reason)


def try_cases(step: KernelSubmission, examiner: CaseRunner, cases: Sequence[Case]) -> None:
    """Run the cases, up to the first that is not a pass."""
    if step.kernel is None or step.refusal is not None:
        return
    for case, outcome in examiner.outcomes(step.kernel, cases):
        step.cases.append(case_result(case, outcome, examiner, step.file))
        step.findings.extend(outcome.findings)
        step.refusal = outcome.refusal
        if outcome.refusal is not None or not step.printed:
            step.printed = outcome.printed


def look_for_faults(step: KernelSubmission, examiner: CaseRunner, cases: Sequence[Case]) -> None:
    """Run cases that a GPU has passed on an emulator, which sees races and accesses that a GPU does not.

    An instruction that the emulator does not know is no fault of the kernel, and ends the search.
    """
    if step.kernel is None or step.refusal is not None:
        return
    for case, outcome in examiner.outcomes(step.kernel, cases):
        if outcome.refusal is not None and outcome.refusal.verdict != "error":
            step.refusal = outcome.refusal
            step.findings.extend(outcome.findings)
            step.cases.append(case_result(case, outcome, examiner, step.file))


def explain(step: KernelSubmission, examiner: CaseRunner, case: Case) -> None:
    """Run a case that failed on a GPU on an emulator: a race that it finds there, with its line, tells a learner more
    than the wrong element does."""
    if step.kernel is None or step.refusal is None or step.refusal.verdict != "fail":
        return
    outcome = examiner.outcome(step.kernel, case)
    if outcome.findings and outcome.refusal is not None:
        step.refusal = beside(outcome.refusal, step.cases[-1].first_mismatch if step.cases else None)
        step.findings.extend(outcome.findings)


def count(step: KernelSubmission, examiner: CaseRunner, problem: Problem, passed_on_gpu: bool) -> None:
    """Run the problem on an emulator, check the result there too, and keep what was counted.

    An instruction that the emulator does not know is no fault of a kernel that a GPU has passed.
    """
    if step.kernel is None or step.refusal is not None:
        return
    case = make(problem, "exact")
    outcome = examiner.outcome(step.kernel, case)
    if outcome.refusal is None:
        hello = examiner.runner.hello()
        step.records = outcome.records
        planned = step.kernel.plan(problem, hello.limits)
        step.resources = counting.resources(step.kernel, planned, hello.arch)
    elif not (passed_on_gpu and outcome.refusal.verdict == "error"):
        step.refusal = outcome.refusal
        step.findings.extend(outcome.findings)
        step.cases.append(case_result(case, outcome, examiner, step.file))


def launchable(step: KernelSubmission, examiner: CaseRunner, problem: Problem) -> None:
    """Whether the device takes the launches at the sizes that the topic is about, which are too large to try."""
    if step.kernel is None or step.refusal is not None:
        return
    try:
        step.kernel.plan(problem, examiner.runner.hello().limits)
    except Refused as error:
        sizes = ", ".join(f"{name} = {value:,}" for name, value in problem.items())
        step.refusal = Refused(
            "error", f"Every case is right, but at the topic's main size, {sizes}: {error.reason}"
        )


def doubt(step: KernelSubmission, arch: str) -> None:
    """Put what is odd about a kernel that failed before the reason."""
    if step.kernel is None or step.refusal is None or step.refusal.verdict != "fail":
        return
    odd = signature_lint.of(step.kernel, arch)
    if odd is not None:
        step.refusal = Refused(step.refusal.verdict, f"{odd} {step.refusal.reason}")


def claim(
    step: KernelSubmission, examiner: CaseRunner, claims: Sequence[ClaimSpec], problem: Problem
) -> None:
    """Check claims on what was counted; without counters none of them is held or broken."""
    if step.refusal is not None:
        return
    values = None
    if step.records is not None and step.resources is not None:
        sizes = examiner.topic.signature.with_derived(problem)
        step.facts = counting.facts(step.resources)
        values = {**counting.summed(step.records), **sizes, **step.facts}
    step.claims = [_checked(item, values, examiner.topic.folder / "topic.toml") for item in claims]


def _checked(claim: ClaimSpec, values: Mapping[str, Number] | None, file: Path) -> ClaimResult:
    """Check one claim; one that names what is not counted is a fault of the topic, not of the kernel."""
    try:
        return scoring.check(claim, values)
    except ExpressionError as error:
        raise WarpladderError(f"expect: {error}", file=file, line=claim.line) from None


def model(
    step: KernelSubmission,
    examiner: CaseRunner,
    counted: Problem,
    problem: Problem,
    device: DeviceSpec | None = None,
) -> None:
    """Model the time at `problem`, from the counted launches if those are its own, else from a few blocks.

    The time is `device`'s, of the architecture that is emulated; without it, that of the emulated GPU.
    """
    if step.kernel is None or step.records is None:
        return
    hello, topic = examiner.runner.hello(), examiner.topic
    spec = device or board(hello.name, hello.arch)
    try:
        planned = step.kernel.plan(problem, {**hello.limits, "multiprocessor_count": spec.sms})
    except Refused as error:
        step.refusal = Refused("error", error.reason)
        return
    room = sampling.array_bytes(topic, planned, problem)
    records: tuple[Record, ...] | Refused = step.records
    if counted != problem:
        blocks = sampling.blocks_to_run(step.records, planned, work(topic, problem) / work(topic, counted))
        launches = [sampling.sampled(launch, blocks) for launch in planned.launches]
        budget, seconds = instruction_budget(topic, problem), emulator_seconds(topic, problem)
        records = sampling.sample(examiner.runner, step.kernel, launches, room, budget, seconds)
    if isinstance(records, Refused):
        step.refusal = records
    else:
        step.modelled = sampling.model(spec, records, room)
