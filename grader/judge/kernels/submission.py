"""One kernel on its way through the judge: compiled, tried on cases, counted, its time modelled."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from grader.analysis.devices import DeviceSpec, board
from grader.analysis.occupancy import WARP
from grader.judge.child.protocol import Hello, Record
from grader.judge.claims.derived import with_sums
from grader.judge.correctness.cases import Case, make, unlike
from grader.judge.kernels import counting, sampling, thresholds
from grader.judge.kernels.case_runner import CaseRunner, emulator_seconds, work
from grader.judge.kernels.compiled import Kernel, Planned, prepare
from grader.judge.kernels.counting import Resources
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.kernels.large.main_size import ran_whole, took_too_long
from grader.judge.kernels.thresholds import Threshold
from grader.judge.refused import Refused
from grader.judge.submission import check_claims
from grader.workbook import units
from grader.workbook.expressions import Number
from grader.workbook.ladder import ClaimSpec
from grader.workbook.reference import Problem

LITTLE_WORK = 8
"""Operations an element, up to which a block of a warp or more has no use for one element alone."""

MANY = 1024
"""Elements from which on it is no edge of a small case that blocks are as many."""


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
    quick = [case for case, beyond in cases.items() if not beyond.thorough]
    try:
        with runner.store.ahead([*cases]):
            _run(current, runner, cases, quick)
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


def claim_beside(current: KernelSubmission, runner: CaseRunner, problem: Problem) -> None:
    """Claims have to hold at another problem as well, of a kernel that asks whether it is given the counted one."""
    ((case, outcome),) = runner.outcomes(current.compiled, [make(problem, "exact")])
    if outcome.refusal is not None:
        current.tried(runner, case, outcome)
        raise outcome.refusal
    planned = current.compiled.plan(problem, runner.child.hello().limits)
    used = _resources(current, planned, runner.child.hello())
    sizes = runner.topic.signature.with_derived(problem)
    values = {**with_sums(counting.summed(outcome.records)), **sizes, **counting.facts(used, outcome.records)}
    there = check_claims(runner.topic, runner.topic.claims, [values])
    current.claims = [
        replace(beside, at=dict(problem)) if here.held and beside.held is False else here
        for here, beside in zip(current.claims, there, strict=True)
    ]


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
