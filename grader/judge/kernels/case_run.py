"""One run of one kernel on one case, and everything that it did."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from grader.emulator.machine.orders import Order
from grader.judge.child.protocol import Allocate, Download, Operation, Record, Release, Reply, Run, Upload
from grader.judge.correctness import pieces
from grader.judge.correctness.cases import Case, CaseData
from grader.judge.correctness.comparison import Comparison
from grader.judge.correctness.findings import ArrayType, located, results
from grader.judge.correctness.guards import UNSET, damage, frame, paint, paint_output
from grader.judge.correctness.verdict import (
    REPEATING,
    of_comparison,
    of_failure,
    of_findings,
    of_guards,
    of_input,
    of_records,
)
from grader.judge.kernels.compiled import Kernel, Planned
from grader.judge.refused import Refused
from grader.judge.runners.runner import Region, Runner
from grader.results import FindingResult
from grader.workbook import compiler

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class CaseRun:
    """A kernel, planned for a case, with the case's data."""

    kernel: Kernel
    planned: Planned
    case: Case
    data: CaseData
    order: Order = "rising"  # of the blocks, where they communicate
    multiprocessors: int | None = None  # of a smaller device, for which the launches are planned
    watch_nan: bool = False  # the records say what made the first NaN
    after: CaseRun | None = None
    """The module has been called before and was not loaded again: for that case, then on this one's arrays where they
    held other values, then where but one value was another, or, if it is the `third_call`, the last of these alone."""
    third_call: bool = False

    def dtype(self, name: str) -> np.dtype[Any]:
        """The element type of an array, by name."""
        return self.kernel.file.dtype(name)

    def sizes(self) -> dict[str, int]:
        """Bytes of every array, by name."""
        return {name: array.nbytes for name, array in self.arrays().items()}

    def arrays(self) -> dict[str, ArrayType]:
        """Every array the kernel is given, by name: inputs, outputs, scratch."""
        shapes: dict[str, tuple[int, ...]] = {name: array.shape for name, array in self.data.inputs.items()}
        shapes |= {name: array.shape for name, array in self.data.expected.items()}
        shapes |= {item.name: item.shape for item in self.planned.scratch}
        return {name: ArrayType(self.dtype(name), shape) for name, shape in shapes.items()}

    def may_flush(self, output: str) -> bool:
        """Whether subnormals in an output may be zeros: its elements are computed, and the hardware itself flushes."""
        return output in self.data.allowed and compiler.adds_floats_in_global_memory(self.kernel.build.ptx)

    @property
    def flushes(self) -> bool:
        """Whether an operation of the kernel makes zeros of subnormals."""
        return ".ftz" in self.kernel.build.ptx


@dataclass
class Outcome:
    """What running one case has shown so far. `refusal` None, once it has been run to the end, is a pass."""

    refusal: Refused | None = None
    records: tuple[Record, ...] = ()  # of each launch; empty on a GPU
    findings: tuple[FindingResult, ...] = ()
    comparison: Comparison | None = None  # of the first wrong output, else of the one with the largest error
    printed: str = ""  # by the kernel
    planned: Planned | None = None  # the launches that showed it


def repeats(outcome: Outcome) -> bool:
    """Whether it was stopped because it stores again and again what is there: no try takes longer than that."""
    return any(record.status == REPEATING for record in outcome.records)


def run(runner: Runner, case_run: CaseRun, budget: int | None, timeout_s: float, outcome: Outcome) -> None:
    """Run a kernel once and look at everything it did. Raises Refused; `outcome` has what is known by then."""
    outcome.planned = case_run.planned
    runner.load_afresh(case_run.kernel, timeout_s)
    if case_run.after is not None:
        _call(runner, case_run.after, budget, timeout_s)
    regions = runner.regions(case_run.sizes())
    for region in regions:
        _lay_out(runner, region, case_run)
    run_all = Run(
        case_run.kernel.module, case_run.planned.launches, budget, case_run.order, case_run.watch_nan
    )
    call: list[Operation] = [*(Upload(region.name, region.offset) for region in regions), run_all]
    allocate: list[Operation] = [Allocate(region.name, region.nbytes, region.guard) for region in regions]
    fetch: list[Operation] = [*(Download(region.name, region.offset) for region in regions), Release()]
    runner.printed()
    runner.ask(allocate, timeout_s)
    if case_run.after is not None:
        given = [region for region in regions if region.name in case_run.data.inputs]
        for change in (_change_a_quarter, _change_one)[case_run.third_call :]:
            elements = [region for region in given if region.name not in case_run.data.tables]
            _change(runner, elements, case_run, change)
            runner.ask(call, timeout_s)
            for region in given:
                _lay_out(runner, region, case_run)
    reply = runner.ask([*call, *fetch], timeout_s)
    outcome.printed = runner.printed()
    outcome.records = located(
        named(records_of(reply), case_run.planned.kernels),
        case_run.arrays(),
        case_run.kernel.file.source,
        case_run.case.problem,
        case_run.kernel.file.given,
    )
    outcome.findings = tuple(results(outcome.records))
    stopped = of_records(outcome.records, budget)
    if stopped is None and reply.failure is not None:
        stopped = of_failure(reply.failure)
    if stopped is not None:
        runner.renew(timeout_s)
        raise of_findings(outcome.findings) or stopped
    outcome.comparison = compare_outputs(runner, case_run, regions)
    refusal = (
        of_findings(outcome.findings)
        or _of_arrays(runner, case_run, regions, outcome.comparison)
        or of_comparison(
            outcome.comparison,
            case_run.data.advice,
            case_run.case.problem,
            case_run.kernel.file.unset,
            case_run.kernel.file.source,
        )
    )
    if refusal is not None:
        raise refusal


def _call(runner: Runner, case_run: CaseRun, budget: int | None, timeout_s: float) -> None:
    """Run a kernel on a case, whatever comes of it."""
    regions = runner.regions(case_run.sizes())
    for region in regions:
        _lay_out(runner, region, case_run)
    allocate = [Allocate(region.name, region.nbytes, region.guard) for region in regions]
    upload = [Upload(region.name, region.offset) for region in regions]
    run_all = Run(case_run.kernel.module, case_run.planned.launches, budget, case_run.order)
    runner.ask([*allocate, *upload, run_all, Release()], timeout_s)


Change = Callable[[Array, np.random.Generator], None]


def _change(runner: Runner, inputs: Sequence[Region], case_run: CaseRun, change: Change) -> None:
    """Changes elements of each input, for a call whose results nobody looks at: what it keeps of them is of no use."""
    rng = np.random.default_rng(case_run.case.seed)
    for region in inputs:
        change(runner.payload(region).view(case_run.dtype(region.name)), rng)


def _change_a_quarter(elements: Array, rng: np.random.Generator) -> None:
    elements[rng.random(len(elements)) < 0.25] = elements[:1]


def _change_one(elements: Array, rng: np.random.Generator) -> None:
    elements[rng.integers(len(elements))] += 1


def records_of(reply: Reply) -> tuple[Record, ...]:
    """The launch records in a reply."""
    return tuple(record for value in reply.values if isinstance(value, list) for record in value)


def named(records: Sequence[Record], kernels: Sequence[str]) -> tuple[Record, ...]:
    """Records of launches with the kernels' names as the launch block has them, instead of mangled ones."""
    pairs = zip(records, kernels, strict=False)  # of the launches after one that failed there are no records
    return tuple(msgspec.structs.replace(record, kernel=kernel) for record, kernel in pairs)


def _lay_out(runner: Runner, region: Region, case_run: CaseRun) -> None:
    """Write guards, and the input or a pattern between them, into the memory file."""
    payload = frame(runner.bytes_of(region), region.guard)
    if region.name in case_run.data.inputs:
        payload[:] = as_bytes(case_run.data.inputs[region.name])
    elif region.name in case_run.data.expected:
        paint_output(payload, case_run.dtype(region.name))
    else:
        paint(payload, UNSET)


def as_bytes(array: Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """An array's bytes in memory order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def compare_outputs(runner: Runner, case_run: CaseRun, regions: Sequence[Region]) -> Comparison:
    """The first output that is wrong, or else the one with the largest error."""
    found: list[Comparison] = []
    block = max(math.prod(launch.block) for launch in case_run.planned.launches)
    for region in regions:
        if region.name in case_run.data.expected:
            expected = case_run.data.expected[region.name]
            actual = runner.payload(region).view(case_run.dtype(region.name)).reshape(expected.shape)
            comparison = case_run.data.compare(region.name, actual, block)
            if comparison.flushes and not case_run.flushes:  # they are lost in a larger sum, or rounded away
                comparison = replace(comparison, flushes=False)
            excused = comparison.flushed and case_run.may_flush(region.name)
            found.append(comparison.excused() if excused else comparison)
    wrong = [comparison for comparison in found if not comparison.right]
    return wrong[0] if wrong else max(found, key=lambda comparison: comparison.error or 0.0)


def _of_arrays(
    runner: Runner, case_run: CaseRun, regions: Sequence[Region], comparison: Comparison
) -> Refused | None:
    """Damage around any array, or a change in an input."""
    for region in regions:
        around = damage(runner.bytes_of(region), region.guard)
        refusal = of_guards(region.name, around, case_run.dtype(region.name).itemsize)
        if refusal:
            return refusal
    outputs = list(case_run.data.expected)
    for region in regions:
        if region.name in case_run.data.inputs:
            changed = first_change(runner, region, case_run.data.inputs[region.name])
            if changed is not None:
                return of_input(region.name, changed, outputs, unwritten=comparison.never_written)
    return None


def first_change(runner: Runner, region: Region, given: Array) -> tuple[int, ...] | None:
    """The index of the first element of an input that is not what it was given, bit for bit."""
    now, before = runner.payload(region), as_bytes(given)
    if pieces.equal(now, before):
        return None
    element = int(np.argmax(now != before)) // given.itemsize
    return tuple(int(i) for i in np.unravel_index(element, given.shape))
