"""What is often wrong with a launch: x taken for y, one number of elements for another. Whether it is that is tried."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from msgspec import structs

from grader.judge.child.protocol import Launch
from grader.judge.correctness import cases
from grader.judge.correctness.cases import Case
from grader.judge.correctness.findings import AXES
from grader.judge.kernels.case_runner import SMALL, CaseRunner, work
from grader.judge.kernels.compiled import Kernel, Planned
from grader.judge.kernels.limits import Limits
from grader.judge.kernels.source_tries import compiled, everywhere
from grader.judge.refused import Refused
from grader.workbook import begins, cuda_source
from grader.workbook.cuda_source import plain
from grader.workbook.edit import MOST, Edit, instead
from grader.workbook.expressions import Expression, parse
from grader.workbook.reference import Problem

_STRING = re.compile(r'"([^"]*)"')
_SIDE = re.compile(r'"[^"]*"|(?<=[\[,\s])\d+')
_STEPPING = (
    r"\bfor\s*\(\s*(?:(?:const|unsigned|int|size_t)\s+)*(?P<name>\w+)\s*=\s*(?:{own})\s*;[^;]*;"
    r"\s*(?P=name)\s*\+=\s*(?P<step>\w+)\s*\)"
)
_Way = Callable[[Launch, Launch], Launch]

MOST_EXCHANGED = 4
"""Launches of a file of which any two are exchanged."""

LARGER = 4
"""Cases that what mends a small one has to mend as well: at a single row or column many things are the same."""


@dataclass(frozen=True)
class _Exchanged(Kernel):
    """A kernel with its launches changed, on whatever device and in whatever order they run."""

    way: _Way
    sizes: Sequence[str]

    def plan(self, problem: Problem, limits: Limits) -> Planned:
        """The changed launches. Raises Refused."""
        planned = super().plan(problem, limits)
        turned = self._of_turned_sizes(problem, limits) or planned
        changed = tuple(map(self.way, planned.launches, turned.launches))
        if any(math.prod(launch.block) > limits["max_threads_per_block"] for launch in changed):
            raise Refused("error", "A block has more threads than there may be.")
        return replace(planned, launches=changed)

    def differs(self, problem: Problem, limits: Limits) -> bool:
        """Whether it is another launch for a problem."""
        return self.fits(problem, limits) and self.plan(problem, limits) != super().plan(problem, limits)

    def _of_turned_sizes(self, problem: Problem, limits: Limits) -> Planned | None:
        """The launches where a matrix has as many rows as this one has columns; None of other problems."""
        if len(self.sizes) != 2:
            return None
        turned = dict(zip(self.sizes, (problem[size] for size in reversed(self.sizes)), strict=True))
        try:
            return super().plan({**problem, **turned}, limits)
        except Refused:
            return None


def to_be_right(runner: CaseRunner, case: Case) -> list[Case]:
    """A case that is wrong, and those that what mends it has to get right as well."""
    small = [problem for problem in runner.topic.judge_cases if work(runner.topic, problem) <= SMALL]
    larger = sorted(small, key=runner.topic.reference.min_bytes)[-LARGER:]
    return [case, *(cases.make(problem, "exact") for problem in larger)]


def mended(runner: CaseRunner, kernel: Kernel, case: Case) -> str:
    """What makes a case come out right that does not, of what is often exchanged in a launch block, and is right in
    larger ones as well; "" for nothing, and where the task gives the launch block as it is."""
    if kernel.file.given.issuperset(map(str.strip, kernel.file.block)):
        return ""
    tried, sizes = to_be_right(runner, case), [size.name for size in runner.topic.signature.sizes]
    limits = runner.child.hello().limits
    if one := _of_block(runner, kernel, tried) or by_steps(runner, kernel, case):
        return one
    for said, way in WAYS.items():
        if (_of_one_side(kernel) and said in OF_TWO_SIDES) or (_of_rows(kernel) and said == OF_BLOCK):
            continue
        changed = _Exchanged(kernel.file, kernel.build, kernel.constants, way, sizes)
        if changed.differs(case.problem, limits) and everywhere(runner, changed, tried):
            # At larger sizes a grid has more blocks, and so a block more threads.
            if not all(changed.fits(problem, limits) for problem in runner.topic.judge_cases):
                continue
            own = _IN_KERNEL.get(said)
            if own and (one := _of_kernel(runner, kernel, tried, own(kernel.file.source))):
                return one
            if said == SIZES and (one := _of_one_size(runner, kernel)):
                return f"With {one} in the launch block it comes out right."
            also = _or_in_kernel(kernel, said)
            return f"With {said} exchanged in the launch block{also} it comes out right."
    ways = (_of_sizes, _of_zeros, _of_order, _of_counts)
    return next(filter(None, (way(runner, kernel, tried) for way in ways)), "")


def _of_kernel(runner: CaseRunner, kernel: Kernel, tried: Sequence[Case], edit: Edit | None) -> str:
    """What is exchanged in the kernel instead: the launch is then right as it is."""
    changed = compiled(kernel, [edit]) if edit else ()
    mends = any(everywhere(runner, each, tried) for _, each in changed)
    return f"With {edit.said} it comes out right. {edit.why}" if edit and mends else ""


def _of_zeros(runner: CaseRunner, kernel: Kernel, tried: Sequence[Case]) -> str:
    """An array set to zero before the first launch that takes it alone, where later ones erase what that has added."""
    file = kernel.file
    for name in dict.fromkeys(name for launch in file.launches[1:] for name in launch.zero):
        takers = [at for at, launch in enumerate(file.launches) if name in launch.args]
        erasing = [file.launches[at] for at in takers[1:] if name in file.launches[at].zero]
        if not erasing:
            continue
        launches = [
            replace(launch, zero=tuple(each for each in launch.zero if each != name))
            for launch in file.launches
        ]
        first = launches[takers[0]]
        launches[takers[0]] = replace(first, zero=(*first.zero, name))
        changed = replace(kernel, file=replace(file, launches=tuple(launches)))
        if everywhere(runner, changed, tried):
            return (
                f"With `{name}` in `zero` of the launch in line {first.line} alone it comes out right: in line "
                f"{erasing[0].line_of('zero')} it is set to zero once more, and what was added to it is lost."
            )
    return ""


def _of_order(runner: CaseRunner, kernel: Kernel, tried: Sequence[Case]) -> str:
    """Two launches exchanged that take the same scratch array, which the later one may have to fill for the other."""
    file = kernel.file
    for (at, early), (place, late) in combinations(enumerate(file.launches[:MOST_EXCHANGED]), 2):
        both = [item.name for item in file.scratch if item.name in early.args and item.name in late.args]
        if not both:
            continue
        launches = list(file.launches)
        launches[at], launches[place] = late, early
        changed = replace(kernel, file=replace(file, launches=tuple(launches)))
        if everywhere(runner, changed, tried):
            return (
                f"With the launches in lines {early.line} and {late.line} exchanged it comes out right. They run in "
                f"their order, and `{late.kernel}` has to fill `{both[0]}` before `{early.kernel}` reads it."
            )
    return ""


def _of_counts(runner: CaseRunner, kernel: Kernel, tried: Sequence[Case]) -> str:
    """Another number passed to a launch than that of the elements of a scratch array that it takes."""
    file, sizes = kernel.file, [size.name for size in runner.topic.signature.sizes]
    for at, launch in enumerate(file.launches):
        for scratch in (item for item in file.scratch if item.name in launch.args and len(item.shape) == 1):
            (count,) = scratch.shape
            for place, passed in enumerate(launch.args):
                text = passed.text if isinstance(passed, Expression) else passed
                if (isinstance(passed, str) and passed not in sizes) or text == count.text:
                    continue
                args = (*launch.args[:place], count, *launch.args[place + 1 :])
                launches = (*file.launches[:at], replace(launch, args=args), *file.launches[at + 1 :])
                changed = replace(kernel, file=replace(file, launches=launches))
                if everywhere(runner, changed, tried):
                    number = launch.line_of("args")
                    line = file.source.split("\n")[number - 1]
                    said, there = f"`{count.text}` in place of `{text}`", [*_STRING.finditer(line)]
                    if len(there) == len(launch.args):  # all of them in one line
                        said = instead(line, *there[place].span(1), count.text)
                    return f"With {said} in line {number} it comes out right. `{scratch.name}` has as many elements."
    return ""


def _of_block(runner: CaseRunner, kernel: Kernel, tried: Sequence[Case]) -> str:
    """The block by which a kernel counts, where that of its only launch differs along several axes: with one of them
    alone it would be wrong again. Not where x and y are exchanged."""
    source, specs = kernel.file.source, kernel.file.launches
    planned = kernel.plan(tried[0].problem, runner.child.hello().limits).launches
    differ = cuda_source.other_blocks(source, planned[0].block) if len(specs) == len(planned) == 1 else []
    counted = {found.axis: found.factor for found in differ if found.factor}
    exchanged = all(found.threads == planned[0].block["yxz".index(found.axis)] for found in differ)
    if len(differ) < 2 or len(counted) < len(differ) or exchanged:
        return ""
    x, y, z = (
        parse(counted[axis]) if axis in counted else side
        for axis, side in zip(AXES, specs[0].block, strict=True)
    )
    used = {name: value for name, value in cuda_source.numbers(source).items() if name in counted.values()}
    file = replace(kernel.file, launches=(replace(specs[0], block=(x, y, z)),))
    if not everywhere(runner, replace(kernel, file=file, constants=kernel.constants | used), tried):
        return ""
    texts = [side.text if side.text.isdecimal() else f'"{side.text}"' for side in (x, y, z)]
    block, line = ", ".join(texts[: 2 if z.text == "1" else 3]), specs[0].line_of("block")
    first, *others = differ
    counts = [f"Line {first.line} counts {first.threads} threads a block in {first.axis}"]
    counts += [f"line {each.line} counts {each.threads} in {each.axis}" for each in others]
    return f"With `block = [{block}]` in line {line} it comes out right. {', and '.join(counts)}."


def by_steps(runner: CaseRunner, kernel: Kernel, case: Case) -> str:
    """As many threads along an axis as a loop of the only launch's kernel steps by, which begins at the thread's own
    number: where there are more, several do the same."""
    specs, limits = kernel.file.launches, runner.child.hello().limits
    source = plain(kernel.file.source)
    known, text = cuda_source.numbers(source), source[:MOST]
    for place, axis in enumerate(AXES if len(specs) == 1 else ()):
        own = "|".join(
            [rf"threadIdx\.{axis}", *(name for name, of in cuda_source.named_numbers(text) if of == axis)]
        )
        loop = re.search(_STEPPING.format(own=own), text)
        threads = kernel.plan(case.problem, limits).launches[0].block[place]
        step = loop["step"] if loop else ""
        count = known.get(step, int(step) if step.isdecimal() else threads)
        if loop is None or count == threads:
            continue
        block = [*specs[0].block]
        block[place] = parse(step)
        file = replace(kernel.file, launches=(replace(specs[0], block=(block[0], block[1], block[2])),))
        changed = replace(kernel, file=file, constants=kernel.constants | {step: count})
        if everywhere(runner, changed, to_be_right(runner, case)):
            said = _side_instead(kernel, specs[0].line_of("block"), specs[0].block, place, step)
            line = text.count("\n", 0, loop.start()) + 1
            return f"With {said} it comes out right: the loop in line {line} goes on by {count} threads along {axis}."
    return ""


def _of_sizes(runner: CaseRunner, kernel: Kernel, tried: Sequence[Case]) -> str:
    """Another size in one side of a grid."""
    file, sizes = kernel.file, [size.name for size in runner.topic.signature.sizes]
    for at, launch in enumerate(file.launches):
        for place, text in _with_other_sizes(launch.grid, sizes):
            grid = [*launch.grid]
            grid[place] = parse(text)
            changed = replace(launch, grid=(grid[0], grid[1], grid[2]))
            launches = (*file.launches[:at], changed, *file.launches[at + 1 :])
            if everywhere(runner, replace(kernel, file=replace(file, launches=launches)), tried):
                said = _side_instead(kernel, launch.line_of("grid"), launch.grid, place, text)
                return f"With {said} it comes out right."
    return ""


def _with_other_sizes(grid: Sequence[Expression], sizes: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The sides of a grid with one size changed to another, each with its place."""
    for (place, side), size, other in product(enumerate(grid), sizes, sizes):
        for found in re.finditer(rf"\b{size}\b", side.text) if size != other else ():
            yield place, f"{side.text[: found.start()]}{other}{side.text[found.end() :]}"


def _side_instead(kernel: Kernel, number: int, sides: Sequence[Expression], place: int, text: str) -> str:
    """Another text in place of one side of a grid or a block, with its line: of the side alone where it is there."""
    line = kernel.file.source.split("\n")[number - 1]
    there = [*_SIDE.finditer(line)]
    if place < len(there) and there[place][0].strip('"') == sides[place].text:
        quoted = text if text.isdecimal() else f'"{text}"'
        return f"{instead(line, *there[place].span(), quoted)} in line {number}"
    return f"`{text}` in place of `{sides[place].text}` in line {number}"


def _of_one_side(kernel: Kernel) -> bool:
    """Whether grids have one side and no kernel asks for another: turned, each block does what all of them do."""
    grids = [launch.grid for launch in kernel.file.launches]
    return (
        all(side.text == "1" for grid in grids for side in grid[1:])
        and "blockIdx.y" not in kernel.file.source
    )


def _of_rows(kernel: Kernel) -> bool:
    """Whether blocks have one side: another belongs to a kernel of matrices."""
    return all(side.text == "1" for launch in kernel.file.launches for side in launch.block[1:])


def _of_one_size(runner: CaseRunner, kernel: Kernel) -> str:
    """The other size in place of the only one that `grid` has; "" where it has both."""
    sizes = [size.name for size in runner.topic.signature.sizes]
    texts = [side.text for launch in kernel.file.launches for side in launch.grid]
    there = [size for size in sizes if any(re.search(rf"\b{size}\b", text) for text in texts)]
    return (
        f"`{(set(sizes) - {there[0]}).pop()}` in place of `{there[0]}` in `grid`" if len(there) == 1 else ""
    )


def _or_in_kernel(kernel: Kernel, said: str) -> str:
    """What is the same as x and y of `grid` exchanged, in a kernel that knows its block by blockIdx alone."""
    source = kernel.file.source
    named = "blockIdx.y" in source and not any(
        word in source for word in ("gridDim", "cluster", "group_index")
    )
    if said != GRID or not named or len(kernel.file.launches) > 1:
        return ""
    return ", or blockIdx.x and blockIdx.y in the kernel,"


def _turned(shape: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, z = shape
    return y, x, z


GRID, BOTH, SIZES = "x and y of `grid`", "x and y of `grid` and `block`", "the two sizes in `grid`"
BLOCK, OF_BLOCK = "`grid` and `block`", "x and y of `block`"

OF_TWO_SIDES = (GRID, BOTH)

_IN_KERNEL: Mapping[str, Callable[[str], Edit | None]] = {
    **dict.fromkeys((*OF_TWO_SIDES, SIZES), begins.along_rows),
    BLOCK: begins.of_block,
}
"""What may be as it has to be, where the kernel takes rows for columns, or threads for blocks."""

WAYS: Mapping[str, _Way] = {
    GRID: lambda launch, _: structs.replace(launch, grid=_turned(launch.grid)),
    OF_BLOCK: lambda launch, _: structs.replace(launch, block=_turned(launch.block)),
    BOTH: lambda launch, _: structs.replace(launch, grid=_turned(launch.grid), block=_turned(launch.block)),
    BLOCK: lambda launch, _: structs.replace(launch, grid=launch.block, block=launch.grid),
    SIZES: lambda launch, turned: structs.replace(launch, grid=turned.grid),
}
"""What is often exchanged, and the launch where it is not, from it and from that of a problem of exchanged sizes."""
