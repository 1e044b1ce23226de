"""One kernel on its way through the judge: compiled, tried on cases, counted, its time modelled."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from grader.analysis.devices import DeviceSpec, board
from grader.analysis.model import ModelledTime
from grader.analysis.occupancy import WARP
from grader.emulator.machine.records import by_line
from grader.findings.remedies import SAME_CHANGE
from grader.judge.child.protocol import Hello, Record
from grader.judge.claims import costs
from grader.judge.claims.derived import with_sums
from grader.judge.correctness.cases import Case, make, unlike
from grader.judge.kernels import (
    counting,
    sampling,
    thresholds,
)
from grader.judge.kernels.case_run import Outcome
from grader.judge.kernels.case_runner import (
    CaseRunner,
    case_result,
    emulator_seconds,
    work,
)
from grader.judge.kernels.compiled import Kernel, Planned, prepare
from grader.judge.kernels.counting import Resources
from grader.judge.kernels.large.main_size import ran_whole, took_too_long
from grader.judge.kernels.thresholds import Threshold
from grader.judge.refused import Refused
from grader.judge.submission import Submission, check_claims
from grader.results import LineCost
from grader.workbook import cuda_source, units
from grader.workbook.expressions import Number
from grader.workbook.kernel_file import KernelFile
from grader.workbook.ladder import ClaimSpec
from grader.workbook.reference import Problem
from grader.workbook.suspects import shared_memory

if TYPE_CHECKING:
    from grader.judge.kernels.track import KernelTrack


LITTLE_WORK = 8
"""Operations an element, up to which a block of a warp or more has no use for one element alone."""

MANY = 1024
"""Elements from which on it is no edge of a small case that blocks are as many."""

_OWN_ELEMENTS = (
    "In line {line} each thread reads only what it has stored itself in `{array}`, so that `{array}` exchanges "
    "nothing: leave it out, or have each thread read what another has stored."
)

_OF_SOME = (
    "The __syncthreads() in line {line} stands behind the `if` of line {condition}, which depends on the thread. CUDA "
    "allows a barrier in conditional code only where the condition evaluates identically for all threads of the block: "
    "put it in front of the `if` or behind, and the condition on the loads and on the stores."
)


@dataclass(kw_only=True)
class KernelSubmission(Submission):
    """What is known of a kernel file so far."""

    file: KernelFile
    kernel: Kernel | None = None  # once it is compiled
    last: Case | None = None  # that it was tried on
    resources: Resources | None = None  # at the sizes that were counted
    counted: tuple[
        tuple[Record, ...], ...
    ] = ()  # of each case at those sizes, its launches; empty: not counted
    at_main: Sequence[Record] = ()  # some blocks of its launches at the main size; none: not looked at
    modelled: ModelledTime | None = None
    track: Future[KernelTrack] | None = None  # what it is timed on; None: no GPU, or not counted

    @property
    def records(self) -> tuple[Record, ...] | None:
        """Of the launches at the sizes that were counted, in the first case; None: not counted."""
        return self.counted[0] if self.counted else None

    @property
    def counters(self) -> dict[str, int] | None:
        """Counters of all launches together; None: not counted."""
        return None if self.records is None else counting.summed(self.records)

    @property
    def source(self) -> str:
        return self.file.source

    def costliest(self, later: Collection[str] = ()) -> LineCost | None:
        if self.records is None:
            return None
        lines = by_line(chain.from_iterable(record.lines for record in self.records))
        threads = {math.prod(record.block) for record in self.records}
        return costs.costliest(lines, self.source, later, *(threads if len(threads) == 1 else ()))

    def advice(self) -> str:
        """About barriers behind a thread's own condition, and shared memory by which threads hand nothing on to each
        other."""
        source = self.file.source
        barriers = cuda_source.barriers_of_some(source)
        own = shared_memory.of_own_elements(source)
        return " ".join(
            (
                *(_OF_SOME.format(line=line, condition=condition) for line, condition in barriers),
                *(_OWN_ELEMENTS.format(array=array, line=line) for array, line in own.items()),
            )
        )

    @property
    def failed(self) -> bool:
        """Whether it was run, and is wrong."""
        return self.kernel is not None and self.refusal is not None and self.refusal.verdict == "fail"

    def take(self, counted: KernelSubmission) -> None:
        """What an emulator has found of the same file."""
        self.refusal, self.facts, self.claims = counted.refusal, counted.facts, counted.claims
        self.counted, self.resources = counted.counted, counted.resources
        self.mended, self.mended_line = counted.mended, counted.mended_line
        self.cases += counted.cases
        self.findings += counted.findings

    @property
    def compiled(self) -> Kernel:
        """The kernel, for the stages after the first."""
        assert self.kernel is not None, "compile first"
        return self.kernel

    def tried(self, runner: CaseRunner, case: Case, outcome: Outcome) -> None:
        """Take note of a case."""
        self.last = case
        self.cases.append(case_result(case, outcome, runner, self.name))
        self.findings.extend(outcome.findings)

    def mended_by(self, change: str, line: int | None = None) -> None:
        """A change after which nothing is found any more: what else would mend a finding need not, and may mislead."""
        self.mended, self.mended_line = change, line
        self.findings = [
            replace(finding, remedy=SAME_CHANGE if place else change)
            for place, finding in enumerate(self.findings)
        ]


def compile_it(current: KernelSubmission, arch: str) -> None:
    """Compile the file."""
    current.kernel = prepare(current.file, arch)


def try_cases(current: KernelSubmission, runner: CaseRunner, cases: Sequence[Case]) -> None:
    """Run the cases, up to the first that is not a pass."""
    largest = max((case.problem for case in cases), key=runner.topic.reference.min_bytes)
    _check_grid(runner, current.compiled, largest)
    try:
        _run(current, runner, cases)
    except Refused as refused:
        said = unlike(runner.topic, current.last) if current.last and refused.verdict == "fail" else ""
        raise refused.saying(f"{refused.reason}{said}") from None


def _check_grid(runner: CaseRunner, kernel: Kernel, problem: Problem) -> None:
    """Raises Refused for a grid that has a block for each element, where an element is hardly work for a thread."""
    topic, sampled = runner.topic, runner.topic.sampled
    if sampled is None:
        return
    elements = max(math.prod(shape) for shape in sampled.shapes(problem).values())
    if elements < MANY or topic.reference.min_flop(problem) > LITTLE_WORK * elements:
        return
    for launch in kernel.plan(problem, runner.child.hello().limits).launches:
        blocks, threads = math.prod(launch.grid), math.prod(launch.block)
        if blocks >= elements and threads >= WARP:
            raise Refused(
                "error",
                f"At {units.problem(dict(problem))} the grid has {blocks:,} blocks of {threads:,} threads for "
                f"{elements:,} elements: a block, and not a thread, for each. `grid` counts blocks: divide by the "
                "threads of a block, and round up, as cdiv(N, BLOCK) does.",
            )


def _run(
    current: KernelSubmission, runner: CaseRunner, cases: Iterable[Case], quick: Collection[Case] = ()
) -> None:
    for case, outcome in runner.outcomes(current.compiled, cases, quick):
        current.tried(runner, case, outcome)
        if outcome.refusal is not None or not current.printed:
            current.printed = outcome.printed
        if outcome.refusal is not None:
            from grader.judge.kernels.explained import explained

            raise explained(current, runner, case, outcome, outcome.refusal)


def try_beyond(current: KernelSubmission, runner: CaseRunner, found: Sequence[Threshold], seed: int) -> None:
    """Run cases of sizes that were found, from which on the kernel goes another way than in all of its topic's."""
    cases = {case: beyond for beyond in found for case in beyond.cases(seed)}
    try:
        _run(current, runner, cases, quick=[case for case, beyond in cases.items() if not beyond.thorough])
    except Refused as refused:
        said = cases[current.last].said if current.last in cases else ""
        raise refused.saying(f"{refused.reason} {said}".rstrip()) from None
    try_on_one(current, runner, [make(thresholds.longest(runner.topic), "real", seed, secret=True)])


def try_on_one(current: KernelSubmission, runner: CaseRunner, cases: Iterable[Case]) -> None:
    """Run real cases where the grid is made for the device, as for a single multiprocessor: there blocks have as much
    to do each as at far larger sizes."""
    for case in (case for case in cases if case.kind == "real"):
        outcome = runner.on_one(current.compiled, case)
        if outcome is None:
            continue
        current.tried(runner, case, outcome)
        if outcome.refusal is not None:
            said = "With the grid as if the GPU had one multiprocessor, so that each block has more to do"
            raise outcome.refusal.saying(f"{said}: {outcome.refusal.reason}")


def look_for_faults(current: KernelSubmission, runner: CaseRunner, cases: Iterable[Case]) -> None:
    """Run cases that a GPU has passed on an emulator, which sees races and accesses that a GPU does not.

    An instruction that the emulator does not know is no fault of the kernel, and ends the search.
    """
    for case, outcome in runner.outcomes(current.compiled, cases):
        if outcome.refusal is None:
            continue
        if outcome.refusal.verdict == "error":
            return
        current.tried(runner, case, outcome)
        raise outcome.refusal


def count(current: KernelSubmission, runner: CaseRunner, cases: Sequence[Case], passed_on_gpu: bool) -> None:
    """Run cases of one problem on an emulator, check the results there too, and keep what was counted in each.

    An instruction that the emulator does not know is no fault of a kernel that a GPU has passed.
    """
    counted = []
    for case, outcome in runner.outcomes(current.compiled, cases):
        if outcome.refusal is None:
            counted.append(outcome.records)
        elif passed_on_gpu and outcome.refusal.verdict == "error":
            return
        else:
            from grader.judge.kernels.explained import as_it_grows

            current.tried(runner, case, outcome)
            raise as_it_grows(current, runner, case, outcome, outcome.refusal)
    hello = runner.child.hello()
    current.counted = tuple(counted)
    planned = current.compiled.plan(cases[0].problem, hello.limits)
    current.resources = _resources(current, planned, hello)


def _resources(current: KernelSubmission, planned: Planned, hello: Hello) -> Resources:
    return counting.resources(current.compiled, planned, hello.arch, hello.limits["multiprocessor_count"])


def launchable(current: KernelSubmission, runner: CaseRunner, problem: Problem) -> None:
    """Whether the device takes the launches at the sizes that the topic is about, which are too large to try."""
    try:
        current.compiled.plan(problem, runner.child.hello().limits)
    except Refused as refused:
        sizes = ", ".join(f"{name} = {value:,}" for name, value in problem.items())
        raise Refused(
            refused.verdict, f"Every case is right, but at the topic's main size, {sizes}: {refused.reason}"
        ) from None


def claim(
    current: KernelSubmission, runner: CaseRunner, claims: Sequence[ClaimSpec], problem: Problem
) -> None:
    """Check claims on what was counted in every case; without counters none of them is held or broken."""
    values: list[dict[str, Number]] = []
    if current.resources is not None:
        sizes = runner.topic.signature.with_derived(problem)
        facts = [counting.facts(current.resources, records) for records in current.counted]
        current.facts = facts[0]
        values = [
            {**with_sums(counting.summed(records)), **sizes, **found}
            for records, found in zip(current.counted, facts, strict=True)
        ]
    current.claims = check_claims(runner.topic, claims, values)


def claim_at_main_sizes(current: KernelSubmission, runner: CaseRunner) -> None:
    """Claims have to hold at the main sizes as well, by what some blocks did there: a kernel may have the idea at the
    counted sizes alone."""
    records = current.at_main
    if not ran_whole(records):
        return
    hello, topic = runner.child.hello(), runner.topic
    planned = current.compiled.plan(topic.sizes_main, hello.limits)
    if current.records is not None and sampling.several_kinds(current.compiled, planned.launches):
        # Those that were run are drawn to show faults, the rarer the likelier, and do not stand for all.
        with suppress(Refused):
            growth = work(topic, topic.sizes_main) / work(topic, topic.sizes_count)
            blocks = sampling.blocks_to_run(current.records, planned, growth)
            records = _of_some_blocks(current, runner, planned, topic.sizes_main, blocks)
    used = _resources(current, planned, hello)
    sizes = topic.signature.with_derived(topic.sizes_main)
    values = {**with_sums(counting.of_whole_grids(records)), **sizes, **counting.facts(used, records)}
    there = check_claims(topic, topic.claims, [values])
    current.claims = [
        replace(at_main, at_main=True) if here.held and at_main.held is False else here
        for here, at_main in zip(current.claims, there, strict=True)
    ]


def model(
    current: KernelSubmission,
    runner: CaseRunner,
    counted: Problem,
    problem: Problem,
    device: DeviceSpec | None = None,
) -> None:
    """Model the time at `problem`, from the counted launches if those are its own, else from a few blocks.

    The time is `device`'s, of the architecture that is emulated; without it, that of the emulated GPU. What was
    not counted has no modelled time.
    """
    if current.records is None:
        return
    hello, topic = runner.child.hello(), runner.topic
    spec = device or board(hello.name, hello.arch)
    planned = current.compiled.plan(problem, {**hello.limits, "multiprocessor_count": spec.sms})
    room = sampling.array_bytes(topic, planned, problem)
    records: Sequence[Record] | None = current.records
    if counted != problem:
        records = _at_larger_sizes(current, current.records, runner, planned, problem, counted)
    # Of a few blocks that draw their work, one may have drawn all that there is.
    longest = [0 if sampling.takes_turns([record]) else record.longest_warp for record in current.at_main]
    current.modelled = None if records is None else sampling.model(spec, records, room, longest)


def _at_larger_sizes(
    current: KernelSubmission,
    counted: Sequence[Record],
    runner: CaseRunner,
    planned: Planned,
    problem: Problem,
    smaller: Problem,
) -> Sequence[Record] | None:
    """Records at `problem`, of a few blocks, or from those at smaller sizes where a few blocks do not tell.

    A few do not where the work of blocks differs, where one takes too long, and where they wait for each other or take
    from each other's work. Where tables make it differ, they are even for these blocks. None: a block does far more
    than at the smaller sizes, and was stopped.
    """
    topic = runner.topic
    growth = work(topic, problem) / work(topic, smaller)
    pairs = zip(counted, planned.launches, strict=False)
    grown = [sampling.grown(record, launch, growth) for record, launch in pairs]
    if any(map(sampling.uneven, counted)) or any(map(sampling.too_long, grown)):
        return grown
    blocks = sampling.blocks_to_run(counted, planned, growth)
    try:
        found = _of_some_blocks(current, runner, planned, problem, blocks)
    except Refused as refused:
        alone = refused.verdict == "timeout" and not sampling.takes_turns(counted)
        return None if alone else grown
    if took_too_long(current.at_main):
        return None
    doubtful = sampling.takes_turns(counted) and sampling.executed(found) > 2 * sampling.executed(grown)
    if doubtful:
        return grown
    if not topic.table_names or len(found) != len(counted):  # others are launched at other sizes
        return found
    return [
        sampling.as_uneven(record, before) if topic.table_names.intersection(launch.buffers) else record
        for record, before, launch in zip(found, counted, planned.launches, strict=True)
    ]


def _of_some_blocks(
    current: KernelSubmission, runner: CaseRunner, planned: Planned, problem: Problem, blocks: int
) -> Sequence[Record]:
    """Records of launches of which so many blocks are run. Raises Refused."""
    topic = runner.topic
    room = sampling.array_bytes(topic, planned, problem)
    seconds = emulator_seconds(topic, problem)
    runner.child.load_afresh(current.compiled, seconds)
    inputs = sampling.contents(topic, problem)
    return sampling.sample_kinds(
        runner.child, current.compiled, planned.launches, blocks, current.blocks_seed, room, seconds, inputs
    )
