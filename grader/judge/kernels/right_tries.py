"""What keeps a right kernel from claims, of changes to its grid and to where its threads begin: each is tried."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import prod

from grader.analysis.occupancy import WARP
from grader.emulator import metrics
from grader.emulator.machine.records import SECTOR, by_line
from grader.errors import WarpladderError
from grader.judge.child.protocol import Launch, Pointer
from grader.judge.claims import costs
from grader.judge.claims.derived import with_sums
from grader.judge.correctness.cases import Case, make
from grader.judge.kernels import overlaps, submission
from grader.judge.kernels.case_runner import CaseRunner
from grader.judge.kernels.kernel_submission import KernelSubmission
from grader.judge.kernels.source_tries import small
from grader.judge.refused import Refused
from grader.workbook import begins, cuda_source, units
from grader.workbook.edit import MOST, SEVERAL, Edit, where
from grader.workbook.expressions import ExpressionError
from grader.workbook.kernel_file import KernelFile, parse_source
from grader.workbook.launches.spec import SM_COUNT, LaunchSpec
from grader.workbook.reference import Problem
from grader.workbook.signature import dtype_of
from grader.workbook.source_file import SourceFile
from grader.workbook.suspects import early, shared_memory
from grader.workbook.suspects.loops import Loop, loops_of
from grader.workbook.suspects.text import looked_at
from grader.workbook.topic import Topic

VECTOR = 16
"""The most bytes that a lane stores by one instruction."""

AGAIN = 1.5
"""Stores of an element from which on it is stored again."""

SHARES = (4, 32)
"""Times as many elements a block that are tried."""

BY_LUCK = (
    "Where both hold values at a time, it comes out right only while the compiler keeps those in registers."
)
"""Of memory that is used for two things at a time."""

_INDEX = re.compile(
    r"(?:\b(?P<front>\w+)\s*\*\s*)?(?P<block>\bblockIdx\.(?P<axis>[xyz])|\bsize_t\(blockIdx\.(?P<cast>[xyz])\))"
    r"(?:\s*\*\s*(?P<behind>[\w.]+))?\s*\+\s*threadIdx\.(?:(?P=axis)|(?P=cast))"
)
_COUNTS = re.compile(r"^\w[\w ]*?\b(?P<name>\w+)\s*=\s*(?P<first>0|[A-Za-z_]\w*)$")
_BY_ONE = r"\+\+{0}|{0}\+\+|{0} \+= 1"
_OF_GRID = re.compile(r"\w+\s*\+=\s*(?P<threads>[^=]*\bgridDim\.[xyz]\b[^=]*)")
_OF_ELEMENT = "1"
"""The step of a loop that counts elements, and not from 0."""
_GRID = re.compile(r"\bgridDim\.([xyz])\b")
_FILLS = re.compile(r"^\w[\w ]*?\b(?P<name>\w+)\s*=\s*(?P<first>0|threadIdx\.x)$")
_CONFLICTS = "shared_conflicts"
_SHARE = re.compile(r"\bcdiv\(([^(),]+),\s*([^(),]+)\)")


def told(runner: CaseRunner, current: KernelSubmission, rung: str) -> str:
    """What a right kernel is to change first, so that it has what `rung` claims; "" for nothing."""
    if len(current.file.launches) != 1 or current.records is None or len(current.file.source) > MOST:
        return ""
    return (
        _stored_again(runner, current, rung)
        or _filled_again(runner, current)
        or _too_many_blocks(runner, current, rung)
        or _not_turned(runner, current, rung)
        or _narrow(runner, current, rung)
    )


def by_luck(current: KernelSubmission) -> str:
    """What is wrong in the text of a kernel that comes out right; "" where nothing is."""
    alike = next(shared_memory.same_address(looked_at(current.file.source)), None)
    return f"{alike[1]} {BY_LUCK}" if alike else ""


_READ_FIRST = (
    "{lines} {reads} before line {asked} asks whether `{condition}`, and so also behind the end of {arrays}. It comes "
    "out right as long as the compiler puts that off until then, which it need not do: read behind the condition."
)


def read_first(runner: CaseRunner, current: KernelSubmission) -> str:
    """Which elements a kernel reads before it asks whether they are there, where its launch has threads for which they
    are not; "" for none."""
    text, limits = cuda_source.plain(current.file.source), runner.child.hello().limits
    kernels = dict.fromkeys(launch.kernel for launch in current.file.launches)
    found = [(kernel, each) for kernel in kernels for each in early.reads(text, kernel)]
    behind: list[early.Early] = []
    for case in small(runner) if found else ():
        if not current.compiled.fits(case.problem, limits):
            continue
        planned = current.compiled.plan(case.problem, limits)
        for launch, name in zip(planned.launches, planned.kernels, strict=True):
            beyond = (
                each
                for kernel, each in found
                if kernel == name and _goes_behind(runner, current, case, launch, each)
            )
            behind += [each for each in beyond if not behind or each.asked == behind[0].asked]
        if behind:
            lines = [*dict.fromkeys(each.line for each in behind)]
            arrays = [f"`{each}`" for each in dict.fromkeys(each.array for each in behind)]
            elements = dict.fromkeys(f"`{each.array}[{each.index}]`" for each in behind)
            return _READ_FIRST.format(
                lines=where(lines).capitalize(),
                reads=f"read{'s' if len(lines) == 1 else ''} {' and '.join(elements)}",
                asked=behind[0].asked,
                condition=behind[0].condition,
                arrays=" and ".join(arrays),
            )
    return ""


def _goes_behind(
    runner: CaseRunner, current: KernelSubmission, case: Case, launch: Launch, read: early.Early
) -> bool:
    """Whether the last thread of a launch reads behind its array."""
    side = "xyz".index(read.axis)
    threads = launch.block[side]
    known = {**cuda_source.numbers(current.file.source), f"blockDim.{read.axis}": threads}
    by = int(read.by) if read.by.isdecimal() else known.get(read.by)
    passed = launch.args[read.place] if read.place < len(launch.args) else None
    array = runner.store.get(case).inputs.get(passed.buffer) if isinstance(passed, Pointer) else None
    kind = dtype_of(re.sub(r"\b(?:const|__restrict__)\b", "", read.kind).strip())
    if by is None or array is None or kind != array.dtype.name:
        return False
    return (launch.grid[side] - 1) * by + threads > array.size


def printing(current: KernelSubmission) -> str:
    """That a kernel prints in so many threads that this is what is counted; "" where it does not."""
    records = current.records or ()
    calls = sum(record.host_calls.get("printf", 0) for record in records)
    lines = cuda_source.lines_that_print(current.file.source)
    if not lines or calls < max(WARP, sum(record.grid_blocks for record in records)):
        return ""
    return costs.PRINTING.format(line=lines[0])


def few_threads(topic: Topic, current: KernelSubmission) -> str:
    """That blocks have fewer threads than a warp has lanes, where those of one of the topic's own kernels have more; ""
    of others."""
    threads = max((prod(record.block) for record in current.records or ()), default=WARP)
    if threads >= WARP or not any(_has_warps(rung.file, topic.sizes_count) for rung in topic.rungs):
        return ""
    return (
        f"Each block has {units.number_of(threads, 'thread')}, and a warp is {WARP}: let a block have 256, and "
        "take elements by `blockIdx.x * blockDim.x + threadIdx.x`. The grid then has as many times fewer blocks, "
        "rounded up with cdiv(a, b), and a condition keeps the threads behind the last element from memory."
    )


def _has_warps(file: SourceFile, sizes: Problem) -> bool:
    """Whether all blocks of a kernel fill a warp, as far as its text tells."""
    if not isinstance(file, KernelFile):
        return False
    values = {**sizes, **cuda_source.numbers(file.source)}
    try:
        return all(prod(side.whole(values) for side in launch.block) >= WARP for launch in file.launches)
    except ExpressionError:
        return False


_LOADED = (
    "The tile is there, and in line {line} each thread reads only what it has stored itself, so that a warp still "
    "loads down a column in line {load}. {place} For that, read the tile by columns, with its indices exchanged."
)


def _not_turned(runner: CaseRunner, current: KernelSubmission, rung: str) -> str:
    """How a tile is read and stored from that exchanges nothing yet, where rows become columns."""
    source = current.file.source
    lines = by_line(chain.from_iterable(record.lines for record in current.records or ()))
    through = [line for _, line in begins.turned_by_itself(source)]
    strided = {line for line, counters in lines.items() if line and costs.strided(counters)}
    tiles = [line for line in through if line in strided and costs.stores_scatter(lines[line])]
    if not tiles:
        loads = [line for line in sorted(strided) if not costs.stores_scatter(lines[line])]
        place = begins.turned(source) if through and loads else ""
        return place and _LOADED.format(load=loads[0], line=through[0], place=place)
    edits = islice(begins.through_tile(source), SEVERAL)
    edit = next((each for each in edits if _holds(runner, current, each.applied(source), rung)), None)
    how = (
        f"With {edit.said}, it reads the tile by columns and stores along a row. {edit.steps}".rstrip()
        if edit
        else "Let threads beside one another store to elements beside one another, along a row, and read the tile by "
        "columns for that, with its indices exchanged."
    )
    return (
        f"The tile is there, and in line {tiles[0]} each thread reads only what it has stored itself, so that a warp "
        f"still stores down a column. {how}"
    )


def _narrow(runner: CaseRunner, current: KernelSubmission, rung: str) -> str:
    """Which constant makes blocks as wide as a warp, where banks conflict since it takes several rows of a block, and
    the rung asks that none do."""
    asked = (claim.expect.names for claim in runner.topic.claims if claim.rung == rung and claim.expect)
    if not any(_CONFLICTS in names for names in asked) or not with_sums(current.counters or {})[_CONFLICTS]:
        return ""
    (launch,) = current.file.launches
    name = launch.block[0].text if len(launch.block) > 1 else ""
    width = int(current.compiled.constants.get(name, WARP))
    if width >= WARP:
        return ""
    declared = rf"(?m)^(?P<before>[ \t]*constexpr\s+\w+\s+{re.escape(name)}\s*=\s*){width}\b"
    wider = re.sub(declared, rf"\g<before>{WARP}", current.file.source)
    if not _holds(runner, current, wider, rung):
        return ""
    return (
        f"A row of the block has {width} threads, so that a warp takes {WARP // width} rows at a time, and some of "
        f"their elements are in the same bank: with `{name} = {WARP}`, as wide as a warp, there are no bank conflicts."
    )


def _stored_again(runner: CaseRunner, current: KernelSubmission, rung: str) -> str:
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
        elements = sum(_elements(lines[each], output.itemsize) for each in stores) / output.size
        return "" if elements < AGAIN else _by_lines(runner, current, rung, name)
    source, first = current.file.source, runner.topic.ladder.ids[0]
    near = (each for each in _begins(source) if each.turns / AGAIN < times < each.turns * AGAIN)
    found = list(islice(near, SEVERAL))
    working = (each for each in found if _holds(runner, current, each.edit.applied(source), first))
    tried = next(working, None)
    # What is stored by an index without the loop's counter is added up there.
    index = " ".join(cuda_source.index_of(source, line, name))
    counted = [each for each in found if re.search(rf"\b{each.counter}\b", index)]
    begin = tried or next(reversed(counted), None)
    if begin is None:
        return _by_others(runner, current, [line], name)
    rest = "" if tried else " What else depends on it, such as a tile, follows."
    return (
        f"Line {line} stores each element of `{name}` {begin.turns} times: a thread takes {begin.turns} in the loop of "
        f"line {begin.loop}, and {begin.like} as if it took one. {begin.edit.said}{rest}"
    )


def _by_lines(runner: CaseRunner, current: KernelSubmission, rung: str, name: str) -> str:
    """Which lines store elements again that another one has stored, and where threads are to begin for the rest that
    vectors leave; "" where they do not."""
    source, found = current.file.source, by_line(chain.from_iterable(r.lines for r in current.records or ()))
    storing = sorted(line for line, counters in found.items() if line and _stored(counters))
    edits = islice(begins.behind_vectors(source), SEVERAL) if len(storing) > 1 else ()
    edit = next((each for each in edits if _holds(runner, current, each.applied(source), rung)), None)
    if edit is None:
        return _by_others(runner, current, storing, name)
    lines = where(storing)
    return (
        f"{lines.capitalize()} store some elements of `{name}` twice. With {edit.said} each is loaded and stored once. "
        f"{edit.why}"
    )


def _by_others(runner: CaseRunner, current: KernelSubmission, lines: Sequence[int], name: str) -> str:
    """That blocks store each other's elements, by a loop that is not known; "" where they do not."""
    tried = max(small(runner), key=lambda case: runner.topic.reference.min_bytes(case.problem), default=None)
    if tried is None or not overlaps.there_are(runner, current.compiled, tried):
        return ""
    return (
        f"{where(lines).capitalize()} store{'s' * (len(lines) == 1)} elements of `{name}` that other threads store as "
        "well. Let each be one thread's: where a "
        "thread takes several, those of the next one begin behind them, and the grid has as many times fewer threads."
    )


def _elements(counters: dict[str, int], nbytes: int) -> float:
    """How many elements of so many bytes are stored in a line, at most: a lane stores up to 16 bytes."""
    sectors = counters.get(metrics.GLOBAL_SECTORS["st"], 0)
    return min(sectors * SECTOR, _stored(counters) * VECTOR) / nbytes


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
    like: str  # what is there as if a thread took one element
    edit: Edit


def _begins(source: str) -> Iterator[_Begin]:
    """Where threads may begin instead, or go on: neighbours in x stay neighbours first, as in memory."""
    text = cuda_source.plain(source)
    for loop in loops_of(text):
        counts = _COUNTS.match(loop.start)
        if counts is None or not re.fullmatch(_BY_ONE.format(name := counts["name"]), loop.step):
            continue
        own = "" if counts["first"] == "0" else rf"{counts['first']}\s*\+\s*"
        several = re.match(rf"{name}\s*<\s*{own}(\w+)\s*(?:$|&&)", loop.condition)
        turns = cuda_source.constant(source, several[1]) if several else None
        if several is None or not turns:
            continue
        line = cuda_source.line_at(text, loop.at)
        for index in _INDEX.finditer(text):
            yield from (
                _Begin(turns, name, line, "the next one begins as near to it", edit)
                for step in _steps(text, loop, index, counts)
                for edit in _edits(source, loop, index, several[1], step)
            )
        for around, edit in _steps_of_grid(text, loop, several[1]):
            yield _Begin(turns, name, line, f"that of line {around} goes on", edit)


def _steps_of_grid(text: str, loop: Loop, turns: str) -> Iterator[tuple[int, Edit]]:
    """The loops around one that go on by a grid's threads, and are to go on by as many times more."""
    for around in loops_of(text):
        by = _OF_GRID.fullmatch(around.step)
        if by and around.inside <= loop.at < around.inside + len(around.body):
            line, at = cuda_source.line_at(text, around.at), text.index(around.step, around.at)
            new = f"{turns} * {by['threads']}"
            start, end = at + by.start("threads"), at + by.end("threads")
            yield line, Edit(f"Go on by `{new}` in line {line}.", line, ((start, end, new),))


def _steps(text: str, loop: Loop, index: re.Match[str], counts: re.Match[str]) -> list[str]:
    """By what a loop goes on from an index each time: "" where it is an element, and none where it does not."""
    counter = counts["name"]
    times = rf"(?:(?P<front>[\w.]+)\s*\*\s*)?\b{counter}\b(?:\s*\*\s*(?P<behind>[\w.]+))?"
    if loop.inside <= index.start() < loop.inside + len(loop.body):
        found = re.compile(rf"\s*\+\s*{times}").match(text, index.end())
    elif named := re.search(r"\b(\w+)\s*=\s*$", text[max(index.start() - 200, 0) : index.start()]):
        if counts["first"] != "0":
            return [_OF_ELEMENT] if counts["first"] == named[1] else []
        found = re.search(rf"\b{named[1]}\s*\+\s*{times}", loop.body)
        found = found or re.search(rf"{times}\s*\+\s*{named[1]}\b", loop.body)
    else:
        found = None
    return [found["front"] or found["behind"] or ""] if found else []


def _edits(source: str, loop: Loop, index: re.Match[str], turns: str, step: str) -> Iterator[Edit]:
    """A thread that begins behind all elements of the threads before it; where a loop goes on by a block's threads,
    behind those of the blocks before its own. Along x a loop is to go on so, too."""
    text = cuda_source.plain(source)
    line = cuda_source.line_at(text, index.start())
    factor, axis = index["front"] or index["behind"], index["axis"] or index["cast"]
    grid = begins.of_grid(source, axis, turns)
    beside = step in ("", _OF_ELEMENT)
    if grid is None or not (beside or step in {factor, *begins.threads_of(source, axis)}):
        return
    change, given = grid
    fewer = f"let `grid` be {change[2]} in place of {given}."
    if not step and axis == "x" and factor:
        begin = f"{index['block']} * ({factor} * {turns}) + threadIdx.x"
        head = text[loop.at : loop.inside]
        by_block = f"{loop.step.strip('+').split()[0]} += {factor}"
        strided = head.replace(loop.step, by_block).replace(f"< {turns}", f"< {turns} * {factor}")
        changes = [(index.start(), index.end(), begin), (loop.at, loop.inside, strided), change]
        said = f"Begin at `{begin}` in line {line}, with the loop `{strided.strip(' {')}`, and {fewer}"
        yield Edit(said, line, tuple(sorted(changes)))
    begin = f"({index[0]}) * {turns}" if beside else f"{turns} * {index[0]}"
    said = f"Begin at `{begin}` in line {line}, and {fewer}"
    yield Edit(said, line, tuple(sorted([(index.start(), index.end(), begin), change])))


def _filled_again(runner: CaseRunner, current: KernelSubmission) -> str:
    """The loop by which each thread of a block fills an array in shared memory that all of them were to fill."""
    source = current.file.source
    text, shared = cuda_source.plain(source), cuda_source.shared_extents(source)
    for loop in loops_of(text) if shared else ():
        counts = _FILLS.match(loop.start)
        if counts is None or not re.fullmatch(_BY_ONE.format(name := counts["name"]), loop.step):
            continue
        filled = re.search(rf"\b(\w+)\[\s*{name}\s*\]\s*=(?!=)", loop.body)
        if filled is None or filled[1] not in shared:
            continue
        first = text.index(loop.start, loop.at) + counts.start("first")
        last = text.index(loop.step, first)
        step = f"{name} += blockDim.x"
        changes = (first, first + len(counts["first"]), "threadIdx.x"), (last, last + len(loop.step), step)
        if _holds(runner, current, Edit("", 0, changes).applied(source), runner.topic.ladder.ids[0]):
            line, behind = cuda_source.line_at(text, loop.at), " from its own place on"
            return (
                f"Line {line}: each thread of the block fills all of `{filled[1]}`"
                f"{'' if counts['first'] == '0' else behind}. Let them share it, with `{name} = threadIdx.x` and "
                f"`{step}`."
            )
    return ""


def _too_many_blocks(runner: CaseRunner, current: KernelSubmission, rung: str) -> str:
    """The grid of a kernel whose loops go on by a grid's threads, and are gone through once, or hardly more often."""
    launch, text = current.file.launches[0], cuda_source.plain(current.file.source)
    steps = set(_GRID.findall(text)) if cuda_source.loops(text) else set()
    if len(steps) != 1 or all(claim.held for claim in current.claims if claim.rung == rung):
        return ""  # what holds all claims of a rung and has not reached it is too slow
    side = begins.side_of(current.file.source, "grid", axis := steps.pop())
    if side is None:
        return ""
    limits = runner.child.hello().limits
    threads = prod(current.compiled.plan(runner.topic.sizes_count, limits).launches[0].block)
    each = max(1, limits["max_threads_per_multiprocessor"] // threads)
    given, start = side
    for fewer in _fewer(runner, launch, axis, given, each):
        change = Edit("", 0, ((start, start + len(given), fewer),))
        if _holds(runner, current, change.applied(current.file.source), rung):
            return (
                f"The loop over the grid is there, and {given} in line {launch.line_of('grid')} is so many blocks that "
                f"a thread goes through it once, or a few times. With {fewer} it has all that {rung} claims."
            )
    return ""


def _fewer(runner: CaseRunner, launch: LaunchSpec, axis: str, given: str, each: int) -> Iterator[str]:
    """Grids with fewer blocks than are given: `each` a multiprocessor, and such that each has more elements at the
    least."""
    at, sizes = "xyz".index(axis), [size.name for size in runner.topic.signature.sizes]
    of_device = SM_COUNT in launch.grid[at].names
    if not of_device:
        yield f"min({SM_COUNT} * {each}, {given})"
    for factor in SHARES:
        share = _SHARE.sub(rf"cdiv(\1, \2 * {factor})", given, count=1)
        if share != given:
            yield share if of_device else f"min({SM_COUNT} * {each}, {share})"
        elif of_device and len(sizes) == 1:
            yield f"min({given}, cdiv({sizes[0]}, {launch.block[at].text} * {factor}))"


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
