"""What keeps a right kernel from claims, of changes to its grid and to where its threads begin: each is tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from math import prod

from grader.emulator import metrics
from grader.emulator.machine.records import by_line
from grader.errors import WarpladderError
from grader.judge.correctness.cases import make
from grader.judge.kernels import submission
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.submission import KernelSubmission
from grader.judge.refused import Refused
from grader.workbook import cuda_source
from grader.workbook.edit import MOST, SEVERAL, Change, Edit
from grader.workbook.kernel_file import parse_source
from grader.workbook.suspects.loops import Loop, loops_of

AGAIN = 1.5
"""Stores of an element from which on it is stored again."""

RESIDENT = 2048
"""Threads that a multiprocessor holds."""

_INDEX = re.compile(
    r"(?:\b(?P<front>\w+)\s*\*\s*)?(?P<block>\bblockIdx\.(?P<axis>[xyz])|\bsize_t\(blockIdx\.(?P<cast>[xyz])\))"
    r"(?:\s*\*\s*(?P<behind>[\w.]+))?\s*\+\s*threadIdx\.(?:(?P=axis)|(?P=cast))"
)
_COUNTS = re.compile(r"^\w[\w ]*?\b(?P<name>\w+)\s*=\s*0$")
_BY_BLOCKS = re.compile(r"^cdiv\((?P<size>[^(),]+),\s*(?P<each>[^(),]+)\)$")
_QUOTED = re.compile(r'"([^"]*)"')
_GRID = re.compile(r"\bgridDim\.([xyz])\b")


def told(runner: CaseRunner, current: KernelSubmission, rung: str) -> str:
    """What a right kernel is to change first, so that it has what `rung` claims; "" for nothing."""
    if len(current.file.launches) != 1 or current.records is None or len(current.file.source) > MOST:
        return ""
    return _stored_again(runner, current) or _too_many_blocks(runner, current, rung)


def _stored_again(runner: CaseRunner, current: KernelSubmission) -> str:
    """How often each element is stored, by which loop, and where threads are to begin, with the grid."""
    lines = by_line(chain.from_iterable(record.lines for record in current.records or ()))
    stores = {line: _stored(counters) for line, counters in lines.items() if line}
    line = max(stores, key=stores.__getitem__, default=0)
    case = make(runner.topic.sizes_count, "exact")
    outputs = runner.store.get(case).expected
    if len(outputs) != 1 or not stores:
        return ""
    ((name, output),) = outputs.items()
    times = stores[line] / output.size
    if times < AGAIN:
        return ""
    source, first = current.file.source, runner.topic.ladder.ids[0]
    near = (each for each in _begins(current) if each.turns / AGAIN < times < each.turns * AGAIN)
    found = list(islice(near, SEVERAL))
    working = (each for each in found if _holds(runner, current, each.edit.applied(source), first))
    tried = next(working, None)
    # What is stored by an index without the loop's counter is added up there.
    index = " ".join(cuda_source.index_of(source, line, name))
    counted = [each for each in found if re.search(rf"\b{each.counter}\b", index)]
    begin = tried or next(reversed(counted), None)
    if begin is None:
        return ""
    rest = "" if tried else " What else depends on it, such as a tile, follows."
    return (
        f"Line {line} stores each element of `{name}` {begin.turns} times: a thread takes {begin.turns} in the loop of "
        f"line {begin.loop}, and the next one begins as near to it as if it took one. {begin.edit.said}{rest}"
    )


def _stored(counters: dict[str, int]) -> float:
    """How many stores lanes have made in a line."""
    instructions = counters.get(metrics.WARP_INSTRUCTIONS, 0)
    lanes = counters.get(metrics.THREAD_INSTRUCTIONS, 0) / max(instructions, 1)
    return counters.get(metrics.GLOBAL_REQUESTS["st"], 0) * lanes


@dataclass(frozen=True)
class _Begin:
    """Another place where threads begin that take several elements each."""

    turns: int
    counter: str  # of the loop
    loop: int  # its line
    edit: Edit


def _begins(current: KernelSubmission) -> Iterator[_Begin]:
    """Where threads may begin instead: neighbours in x stay neighbours first, as in memory."""
    source = current.file.source
    text = cuda_source.plain(source)
    for loop in loops_of(text):
        counts = _COUNTS.match(loop.start)
        name = counts["name"] if counts else ""
        bound = re.fullmatch(rf"{name}\s*<\s*(\w+)", loop.condition) if name else None
        turns = cuda_source.constant(source, bound[1]) if bound else None
        if bound is None or not turns or not re.fullmatch(rf"\+\+{name}|{name}\+\+|{name} \+= 1", loop.step):
            continue
        for index in _INDEX.finditer(text):
            grid = _grid(current, "xyz".index(index["axis"] or index["cast"]), bound[1])
            if grid is None or not _goes_on(text, loop, index, name):
                continue
            yield from (
                _Begin(turns, name, cuda_source.line_at(text, loop.at), edit)
                for edit in _edits(text, loop, index, bound[1], grid)
            )


def _goes_on(text: str, loop: Loop, index: re.Match[str], name: str) -> bool:
    """Whether a loop goes on from an index, an element at a time."""
    if loop.inside <= index.start() < loop.inside + len(loop.body):
        return re.compile(rf"\s*\+\s*{name}\b").match(text, index.end()) is not None
    named = re.search(r"\b(\w+)\s*=\s*$", text[max(index.start() - 200, 0) : index.start()])
    return named is not None and bool(
        re.search(rf"\b{named[1]}\s*\+\s*{name}\b|\b{name}\s*\+\s*{named[1]}\b", loop.body)
    )


def _edits(
    text: str, loop: Loop, index: re.Match[str], turns: str, grid: tuple[Change, str]
) -> Iterator[Edit]:
    line = cuda_source.line_at(text, index.start())
    factor, axis = index["front"] or index["behind"], index["axis"] or index["cast"]
    if axis == "x" and factor:
        begin = f"{index['block']} * ({factor} * {turns}) + threadIdx.x"
        head = text[loop.at : loop.inside]
        step = f"{loop.step.strip('+').split()[0]} += {factor}"
        strided = head.replace(loop.step, step).replace(f"< {turns}", f"< {turns} * {factor}")
        changes = [(index.start(), index.end(), begin), (loop.at, loop.inside, strided), grid[0]]
        said = f"Begin at `{begin}` in line {line}, with the loop `{strided.strip(' {')}`, and {grid[1]}"
        yield Edit(said, line, tuple(sorted(changes)))
    begin = f"({index[0]}) * {turns}"
    said = f"Begin at `{begin}` in line {line}, and {grid[1]}"
    yield Edit(said, line, tuple(sorted([(index.start(), index.end(), begin), grid[0]])))


def _grid(current: KernelSubmission, axis: int, turns: str) -> tuple[Change, str] | None:
    """The change of a grid of which each block takes so many times as much."""
    given = current.file.launches[0].grid
    blocks = _BY_BLOCKS.match(given[axis].text) if axis < len(given) else None
    if blocks is None:
        return None
    fewer = f"cdiv({blocks['size']}, {blocks['each']} * {turns})"
    change = _of_grid(current, axis, fewer)
    return change and (change, f"let `grid` be {fewer} in place of {given[axis].text}.")


def _of_grid(current: KernelSubmission, axis: int, text: str) -> Change | None:
    """The change of one side of a grid that stands in a line."""
    source, launch = current.file.source, current.file.launches[0]
    lines = source.splitlines(keepends=True)
    line = launch.line_of("grid")
    sides = list(_QUOTED.finditer(lines[line - 1]))
    if axis >= len(sides) or sides[axis][1] != launch.grid[axis].text:
        return None
    start = sum(map(len, lines[: line - 1]))
    return start + sides[axis].start(1), start + sides[axis].end(1), text


def _too_many_blocks(runner: CaseRunner, current: KernelSubmission, rung: str) -> str:
    """The grid of a kernel whose loops go on by a grid's threads, and are gone through once."""
    launch, text = current.file.launches[0], cuda_source.plain(current.file.source)
    steps = set(_GRID.findall(text)) if cuda_source.loops(text) else set()
    if len(steps) != 1:
        return ""
    axis = "xyz".index(steps.pop())
    if axis >= len(launch.grid) or "SMS" in launch.grid[axis].names:
        return ""
    planned = current.compiled.plan(runner.topic.sizes_count, runner.child.hello().limits)
    given = launch.grid[axis].text
    fewer = f"min(SMS * {max(1, RESIDENT // prod(planned.launches[0].block))}, {given})"
    change = _of_grid(current, axis, fewer)
    if change is None or not _holds(
        runner, current, Edit("", 0, (change,)).applied(current.file.source), rung
    ):
        return ""
    return (
        f"The loop over the grid is there, and {given} in line {launch.line_of('grid')} is so many blocks that a "
        f"thread goes through it once, or a few times. With {fewer}, a few blocks a multiprocessor, it has all that "
        f"{rung} claims."
    )


def _holds(runner: CaseRunner, current: KernelSubmission, text: str, rung: str) -> bool:
    """Whether a changed text is right, and has what a rung claims."""
    try:
        file = parse_source(text, current.file.signature, current.file.path)
        changed = KernelSubmission(name=current.name, file=file)
        submission.compile_it(changed, current.compiled.build.arch)
        if current.last is not None and runner.outcome(changed.compiled, current.last).refusal is not None:
            return False
        case = make(runner.topic.sizes_count, "exact")
        submission.count(changed, runner, [case], passed_on_gpu=False)
    except (Refused, WarpladderError):
        return False
    submission.claim(changed, runner, runner.topic.claims, runner.topic.claim_sizes)
    return all(claim.held for claim in changed.claims if claim.rung == rung)
