"""Which elements of each array one block of a kernel accesses: as a whole, by one instruction of a warp, by one thread.

The kernel is run on the emulator at sizes so small that a block's part of an array can be seen, and what is kept are
the addresses that it accessed.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from grader.emulator.machine.records import Accessed
from grader.errors import WarpladderError
from grader.judge.child.protocol import Launch, Pointer, Record
from grader.judge.correctness import cases
from grader.judge.correctness.cases import CaseStore
from grader.judge.correctness.findings import ArrayType, shape_in_shared
from grader.judge.kernels import case_run
from grader.judge.kernels.case_run import CaseRun, Outcome
from grader.judge.kernels.case_runner import emulator_seconds, instruction_budget
from grader.judge.kernels.compiled import Kernel, prepare
from grader.judge.kernels.counting import product
from grader.judge.kernels.limits import Limits
from grader.judge.refused import Refused
from grader.judge.runners.pool import DevicePool, greeting
from grader.judge.runners.runner import Runner
from grader.results import Accesses, ArrayAccess, LaunchAccesses
from grader.workbook.cuda_source import SharedArray, shared_arrays
from grader.workbook.expressions import Number
from grader.workbook.kernel_file import KernelFile
from grader.workbook.launches.plan import PlannedLaunch, plan
from grader.workbook.reference import Problem
from grader.workbook.topic import KernelTopic, Topic

ENOUGH, FEW = 4, 2
"""Blocks of the largest grid: with four, a block's part is seen beside others'; with two still, where there are not
more."""

FIXED_SHARE = 4
"""A size that no grid depends on, such as the length of a row that a thread goes along, is this part of what is
counted."""

ROUNDS = 2
"""Where the grid has no more blocks than multiprocessors hold, each block has to go round so often."""

MOST_BYTES = 1 << 18
"""Of all arrays together, for the sake of these rounds."""

MANY_MULTIPROCESSORS = 1 << 16
"""Of the GPU that launch blocks are told of: so many that no grid is limited by them."""

WORD = 4
"""Bytes of an element whose type is not known."""


def of_file(topic: Topic, file: Path, arch: str | None = None) -> Accesses:
    """The accesses of a submission. Raises WarpladderError for a schedule, and for a kernel that cannot be compiled or
    does not run."""
    if not isinstance(topic, KernelTopic):
        raise WarpladderError(
            "a schedule accesses no arrays", file=file, remedy="`ladder profile` has its timeline"
        )
    (found,) = of_files(topic, [topic.parse(file)], arch)
    return found


def if_any(topic: Topic, file: Path, arch: str | None = None) -> Accesses | None:
    """The same, and None where there is nothing to draw."""
    try:
        return of_file(topic, file, arch)
    except WarpladderError:
        return None


def of_files(topic: KernelTopic, files: Sequence[KernelFile], arch: str | None = None) -> Iterator[Accesses]:
    """The accesses of several kernel files, such as a topic's rungs, one after the other."""
    with DevicePool("emulator", arch, jobs=1, threads=1) as pool, pool.emulator() as runner:
        for file in files:
            try:
                kernel = prepare(file, pool.arch)
                yield _accesses(topic, kernel, runner)
            except Refused as refused:
                raise WarpladderError(refused.reason, file=file.path) from None


def _accesses(topic: KernelTopic, kernel: Kernel, runner: Runner) -> Accesses:
    limits = {**greeting(runner).limits, "multiprocessor_count": _multiprocessors(topic, kernel)}
    problem = small_problem(topic, kernel, limits)
    made = cases.make(problem, "exact")
    case = CaseRun(kernel, kernel.plan(problem, limits), made, CaseStore(topic).get(made))
    given = {name for launch in case.planned.launches for name in launch.buffers}
    found: list[LaunchAccesses] = []
    # A block may have nothing to do: the last ones finish what others began, and a table may leave one out.
    for chosen in (lambda blocks: blocks // 2, lambda blocks: blocks - 1, lambda blocks: 0):
        found = max(found, _run(topic, case, runner, chosen), key=lambda traced: len(_accessed(traced)))
        if _accessed(found) >= given:
            break
    return Accesses(topic.name, str(kernel.file.path), problem, found)


def _multiprocessors(topic: KernelTopic, kernel: Kernel) -> int:
    """Of the GPU that launch blocks are told of: one, so that small arrays keep all of its blocks busy, or FEW where
    one has a single block."""
    on_one = _grids(_launches(kernel, topic.sizes_count, 1))
    return FEW if max(map(product, on_one), default=FEW) < FEW else 1


def _run(
    topic: KernelTopic, case: CaseRun, runner: Runner, chosen: Callable[[int], int]
) -> list[LaunchAccesses]:
    """The launches, of whose blocks one is traced: the one that is `chosen` of so many. Raises Refused for a kernel
    that does not run to its end; what it computes may be wrong."""
    launches = tuple(replace(item, traced=chosen(product(item.grid))) for item in case.planned.launches)
    case = dataclasses.replace(case, planned=dataclasses.replace(case.planned, launches=launches))
    problem, outcome = case.case.problem, Outcome()
    limit = instruction_budget(topic, problem), emulator_seconds(topic, problem)
    try:
        case_run.run(runner, case, *limit, outcome)
    except Refused:
        if [record.status for record in outcome.records] != ["completed"] * len(launches):
            raise
    declared = shared_arrays(case.kernel.file.source)
    pairs = zip(launches, outcome.records, strict=True)
    return [_launch(launch, record, case.arrays(), declared) for launch, record in pairs]


def _accessed(launches: Sequence[LaunchAccesses]) -> set[str]:
    """The arrays in global memory that the traced blocks access."""
    return {item.array for launch in launches for item in launch.arrays if item.space == "global"}


# ---- sizes -------------------------------------------------------------------------------------------------


def small_problem(topic: KernelTopic, kernel: Kernel, limits: Limits) -> dict[str, Number]:
    """The smallest sizes at which every block has all that it can do, and the largest grid ENOUGH blocks, or as many as
    there can be; where a kernel has a fixed number of blocks, each of them goes round ROUNDS times."""
    sizes = (size.name for size in topic.signature.sizes)
    growing = {name for name in sizes if _grows(kernel, name, topic.sizes_count)}

    def rank(problem: Problem) -> tuple[Number, ...]:
        """What is better comes first."""
        launches = _launches(kernel, problem, limits["multiprocessor_count"])
        unlimited = _launches(kernel, problem)
        if not launches or not unlimited:
            return (len(problem) + 2,)
        nbytes = topic.reference.min_bytes(problem)
        blocks, threads = max((product(launch.grid), product(launch.block)) for launch in launches)
        wanted = max(product(launch.grid) for launch in unlimited)
        idle = sum(
            _grids(_launches(kernel, {**problem, name: 2 * problem[name]})) == _grids(unlimited)
            for name in growing
        )
        idle += blocks * threads > 2 * nbytes // WORD
        goes_round = wanted >= ROUNDS * blocks and nbytes <= MOST_BYTES
        enough = sum(blocks >= least for least in (FEW, ENOUGH))
        return idle, not goes_round, -enough, nbytes, sum(problem.values())

    return min(_candidates(_cut(kernel, topic.sizes_count, growing), growing), key=rank)


def _cut(kernel: Kernel, counted: Problem, growing: Collection[str]) -> Problem:
    """The counted sizes, with a share of those on which no grid depends, if there is a kernel for that; and more of the
    others where a single block would do all."""
    cut = {
        name: max(value // FIXED_SHARE, min(value, FIXED_SHARE))
        for name, value in counted.items()
        if isinstance(value, int) and name not in growing
    }
    problem = {**counted, **cut} if _launches(kernel, {**counted, **cut}) else dict(counted)
    while growing and _most_blocks(kernel, problem) < FEW:
        problem |= {name: 2 * problem[name] for name in growing}
    return problem


def _most_blocks(kernel: Kernel, problem: Problem) -> int:
    """Of the largest grid."""
    return max(map(product, _grids(_launches(kernel, problem))), default=FEW)


def _candidates(counted: Problem, growing: Collection[str]) -> Iterator[dict[str, Number]]:
    """Sizes, with those on which grids depend halved again and again, down to their square root."""
    choices = [
        [value >> times for times in range(value.bit_length() // 2 + 1)]
        if isinstance(value, int) and name in growing
        else [value]
        for name, value in counted.items()
    ]
    for values in itertools.product(*choices):
        yield dict(zip(counted, values, strict=True))


def _grows(kernel: Kernel, size: str, problem: Problem) -> bool:
    """Whether there are more blocks where a size is larger."""
    larger, usual = (
        sum(map(product, _grids(_launches(kernel, {**problem, size: times * problem[size]}))))
        for times in (16, 1)
    )
    return larger > usual


def _grids(launches: Sequence[PlannedLaunch]) -> list[tuple[int, int, int]]:
    return [launch.grid for launch in launches]


def _launches(
    kernel: Kernel, problem: Problem, multiprocessors: int = MANY_MULTIPROCESSORS
) -> tuple[PlannedLaunch, ...]:
    """The launches for a problem; none where it has none."""
    try:
        return plan(kernel.file, problem, kernel.constants, multiprocessors).launches
    except WarpladderError:
        return ()


# ---- results -----------------------------------------------------------------------------------------------


def _launch(
    launch: Launch,
    record: Record,
    arrays: Mapping[str, ArrayType],
    declared: Mapping[str, Sequence[SharedArray]],
) -> LaunchAccesses:
    number, (x, y, _) = launch.traced or 0, launch.grid
    known = dict(arrays) | {variable: arrays[name] for variable, name in launch.constant}
    return LaunchAccesses(
        kernel=record.kernel,
        grid=list(launch.grid),
        block=list(launch.block),
        traced=[number % x, number // x % y, number // (x * y)],
        arrays=_in_order([_array(item, known, declared) for item in record.accessed], launch),
    )


def _in_order(found: Sequence[ArrayAccess], launch: Launch) -> list[ArrayAccess]:
    """The same with neighbours that are accessed in one way in the order of the kernel's arguments: of loads in a row
    the compiler has chosen the order."""
    names = [item.buffer for item in launch.args if isinstance(item, Pointer)]
    groups = itertools.groupby(found, key=lambda item: (item.space, item.action))
    return [
        item
        for _, group in groups
        for item in sorted(
            group, key=lambda item: names.index(item.array) if item.array in names else len(names)
        )
    ]


def _array(
    item: Accessed, arrays: Mapping[str, ArrayType], declared: Mapping[str, Sequence[SharedArray]]
) -> ArrayAccess:
    name, width = item.array or "", WORD
    shape: tuple[int, ...] = (-(-item.nbytes // width),)
    if item.space == "shared":
        width, shape = shape_in_shared(declared, name, item.nbytes) or (width, shape)
    elif name in arrays:
        width, shape = arrays[name].dtype.itemsize, arrays[name].shape
    block, warp, thread = (_elements(part, width) for part in (item.block, item.warp, item.thread))
    return ArrayAccess(name, item.space, item.action, list(shape), block, warp, thread)


def _elements(found: Sequence[int], width: int) -> list[int]:
    """Pairs of elements that are accessed whole or in part, from pairs of bytes."""
    pairs: list[list[int]] = []
    for first, last in zip(found[::2], found[1::2], strict=True):
        start, end = first // width, -(-last // width)
        if pairs and start <= pairs[-1][1]:
            pairs[-1][1] = max(pairs[-1][1], end)
        else:
            pairs.append([start, end])
    return list(itertools.chain.from_iterable(pairs))
