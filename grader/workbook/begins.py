"""Where what a thread, a block or a row takes begins: in the grid, in memory, in the output, which may be another place
than in the input, and which condition belongs to it. Each has a text that tells it, and a change that mends it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice

from grader.workbook.cuda_source import (
    arrays_in,
    factors,
    int_sizes,
    line_at,
    named_numbers,
    plain,
    shared_arrays,
    statement,
    turned_against,
    written_out,
)
from grader.workbook.cuda_source import guard as guard_of
from grader.workbook.edit import (
    LONGEST,
    SEVERAL,
    Change,
    Edit,
    Line,
    in_place,
    in_places,
    in_text,
    instead,
    lines_around,
    lines_of,
    where,
)
from grader.workbook.suspects.shared_memory import of_own_elements

_IN_BLOCK = re.compile(r"=\s*(?P<start>threadIdx\.x)\s*;")
_OTHER_AXIS = re.compile(
    r"\bblockIdx\.(?P<of>[xyz])\s*\*\s*blockDim\.(?P<by>[xyz])\b|\bblockDim\.(?P<times>[xyz])\s*\*\s*blockIdx\.(?P<its>[xyz])\b"
)
_CAST = r"(?:\(\s*[\w ]+\)\s*|[\w<>]+\s*\(\s*)?"
_FLAT = rf"(?<![\w.]){_CAST}{{}}\s*\)?\s*\*\s*\w+\s*\+\s*{{}}\b"
_OF_GRID = re.compile(
    rf"\b(?P<name>\w+)\s*=\s*(?P<all>(?P<before>threadIdx\.[xy]\s*\+\s*)?{_CAST}(?:blockIdx\.(?P<axis>[xy])\s*\)?\s*\*\s*"
    r"(?P<by>\w+(?:\.[xy])?)|(?P<times>\w+(?:\.[xy])?)\s*\*\s*blockIdx\.(?P<its>[xy]))(?P<behind>\s*\+\s*(?:threadIdx\.[xy]|[a-z]\w*))?)\s*;"
)
_BY_BLOCKS = re.compile(r"^cdiv\((?P<size>[^(),]+),\s*(?P<each>[^(),]+)\)$")
_SIDE = re.compile(r'"(?P<text>[^"]*)"|(?P<number>\d+)')
_ROWS = (
    re.compile(r"=\s*\w+\s*\+\s*(?P<row>[A-Za-z_][\w.]*)\s*;"),
    re.compile(r"&\s*\w+\[\s*(?P<row>[A-Za-z_][\w.]*)\s*\]"),
    re.compile(r"(?:\[|=)\s*(?P<row>[A-Za-z_]\w*)\s*\+\s*[A-Za-z_]\w*\s*[\];]"),
)
_ADVANCED = re.compile(
    r"\*\s*(?:const\s+|__restrict__\s+)*\w+\s*=\s*\w+\s*\+\s*(?P<by>[^;]{1,80});"
    r"|\*\s*(?:const\s+|__restrict__\s+)*\w+\s*=\s*&\s*\w+\[(?P<at>[^\[\]]{1,80})\]\s*;"
    r"|^\s*\w+\s*\+=\s*(?P<on>[^;\[\]]{1,80});"
)
_BLOCK_AT = re.compile(r"\b(?P<name>\w+)\s*=\s*blockIdx\.(?P<axis>[xy])\s*\*\s*\w+(?:\.[xy])?\s*(?=[;,])")
_ALL_AT = (
    r"\b(?P<name>\w+)\s*=\s*(?P<all>(?:{own}\s*\+\s*)?blockIdx\.(?P<axis>[xy])\s*\*\s*\w+(?:\.[xy])?(?:\s*\+\s*{own})?)"
    r"\s*(?=[;,])"
)
_BARRIER = re.compile(r"\b__syncthreads\(\)\s*;")
_CONST = re.compile(r"\bconst\s+(?=\w)")
_THESE = "these changes"
_ANEW = "Behind the barrier in line {line}, set both anew: `{sets}`."
_ALONE = re.compile(
    r"\b(?P<condition>if\s*\(\s*(?:(?:threadIdx\.x|\w+)\s*==\s*0|!\s*(?:threadIdx\.x|\w+))\s*\))\s*\{?\s*"
    r"(?:atomicAdd\(\s*(?:\w+|&\s*\w+\[\s*0\s*\])\s*,\s*(?P<sum>[A-Za-z_]\w*)\s*\)"
    r"|(?P<stores>(?P<to>\w+\[\s*(?:0|blockIdx\.[xyz])\s*\])\s*=(?!=)\s*(?P<stored>[A-Za-z_]\w*))\s*;)"
)
_ADDED_BY_ALL = re.compile(
    r"(?<=[;{}])\s*(?P<adds>atomicAdd\(\s*(?:\w+|&\s*\w+\[\s*0\s*\])\s*,\s*(?P<array>\w+)\[)"
    r"(?P<at>\s*(?:threadIdx\.x|[A-Za-z_]\w*)\s*)(?P<rest>\]\s*\)\s*;)"
)
_COUNTS = re.compile(
    r"\bfor\s*\(\s*(?:int|unsigned|size_t)\s+(?P<name>\w+)\s*=\s*0\s*;\s*(?P<condition>(?P=name)\s*<=?\s*\w+)\s*;[^;{}]*\)\s*\{?"
)
_BY_ROWS = re.compile(
    r"\bfor\s*\(\s*(?:int|unsigned|size_t)\s+(?P<name>\w+)\s*=\s*0\s*;\s*(?P<goes>(?P=name)\s*<\s*\w+\s*;\s*"
    r"(?:(?P=name)\s*(?:\+\+|\+=\s*\d+)|\+\+\s*(?P=name)))\s*\)"
)
_TILE = re.compile(r"\b__shared__\s+[\w ]{1,40}?\b\w+\s*\[\s*(?P<rows>\w+)\s*\]\s*\[")
_LEAVES = re.compile(
    r"(?P<leaves>\bif\s*\((?P<condition>(?:[^()]|\([^()]*\)){1,200})\)\s*(?:return\s*;|\{\s*return\s*;\s*\}))"
)
_IF = r"(?P<if>\bif\s*\((?P<condition>(?:[^()]|\([^()]*\)){1,200})\))\s*"
_ENTERS = re.compile(rf"{_IF}\{{")
_ENTERS_LOOP = re.compile(rf"{_IF}(?:for\s*\((?:[^()]|\([^()]*\)){{1,200}}\)\s*)?\{{")
_RIGHT_BEFORE = re.compile(rf"{_IF}$")
_BEYOND = re.compile(r"[\w. ]+>=[\w. ]+(?:\|\|[\w. ]+>=[\w. ]+){0,3}")
_LOAD = re.compile(
    r"(?<=[;{}])\s*(?P<load>\w+(?:\[[^\[\]]{1,60}\]){1,2}\s*=(?!=)\s*(?P<value>[^;{}]{1,200}));"
)
_SUM = r"[A-Za-z_][\w.]*(?: *\+ *[\w.]+){0,8}"
_TO = r"(?:\(\s*\w+\s*\)\s*)?(?:[\w<>]*\(\s*(?P<{0}s>" + _SUM + r")\s*\)|(?P<{0}>[A-Za-z_][\w.]*))"
_STORE_2 = re.compile(
    rf"(?:\b\w+\[|\b(?P<flat>\w+)\s*=(?!=))\s*(?:(?P<first>{_SUM})\s*\+\s*)?{_TO.replace('{0}', 'one')}\s*\*\s*"
    rf"{_TO.replace('{0}', 'other')}(?:\s*\+\s*(?P<last>{_SUM}))?\s*(?(flat);|\]\s*=(?!=))"
)
_STORE_1 = re.compile(r"(?<![\w.])(?P<array>\w+)\[\s*(?P<element>[^\[\]]{1,100}?)\s*\]\s*[-+]?=(?!=)")
_GIVEN = re.compile(r"\*\s*(?:__restrict__\s+)?(\w+)\s*[,)]")
_MANY = r"(?:\d+|[A-Z]\w*|blockDim\.x)"
_TIMES = rf"(?:\bthreadIdx\.x\s*\*\s*{_MANY}|(?<![\w.]){_MANY}\s*\*\s*threadIdx\.x)"
_GRIDS = re.compile(r"^// *grid *= *\[(.*)\]", re.MULTILINE)
_IN_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_BOUND = re.compile(r"(?:<|>=)\s*(\w+)")
_COMPARED = re.compile(
    r"(?<=[(&|])\s*(?P<what>[A-Za-z_][\w.]*(?:\s*\+\s*[\w.]+){0,8})\s*(?:<|>=)\s*(?P<size>\w+)\s*(?=[)&|])"
)
_BLOCK_AS_THREAD = re.compile(rf"{_TIMES}\s*\+\s*blockIdx\.x\b|\bblockIdx\.x\s*\+\s*{_TIMES}(?![\w.])")
_OTHER = {"x": "y", "y": "x"}
_MOST_INDICES = 32  # of a file, that are followed: bounds a stranger's work


def edits(source: str) -> Iterator[Edit]:
    """The changes to be tried."""
    text, lines = plain(source), list(lines_of(source))
    yield from _in_grid(text, lines)
    yield from _other_axis(lines)
    yield from _of_several(source, text, lines)
    yield from _guarded(text)
    yield from _by_rows(source, text)
    yield from _barrier_of_some(text)
    yield from _turned(lines)
    yield from _turned_twice(text)
    yield from _turned_behind(text, lines)
    yield from _sizes_behind(text)
    yield from _sizes_of_bounds(source, text)
    yield from _stored_where(text)
    yield from _along_rows_where(source, text)
    yield from _alone(text)
    yield from _by_all(text)
    yield from _without_thread(text, lines)
    yield from _offsets(text, lines)
    yield from _rows(text, lines)


def _in_grid(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Threads that go on by those of a grid begin at their number in the block."""
    for line in lines if "gridDim" in text else ():
        for found in _IN_BLOCK.finditer(line.text):
            new = "blockIdx.x * blockDim.x + threadIdx.x"
            yield in_place(line, found, "start", new, "Else all blocks begin with the same elements.")


def _without_thread(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """An element of a block's, in a kernel that never looks at a thread's number along its axis."""
    for line in lines if "__global__" in text else ():
        for found in _OF_BLOCK_ALONE.finditer(line.text):
            if f"threadIdx.{found['axis']}" not in text:
                new = f"{found['all']} + threadIdx.{found['axis']}"
                yield in_place(line, found, "all", new, "Else all threads of a block have the same element.")


def _other_axis(lines: Sequence[Line]) -> Iterator[Edit]:
    """Blocks of one axis times the threads of another."""
    for line in lines:
        for found in _OTHER_AXIS.finditer(line.text):
            axis, side = found["of"] or found["its"], "by" if found["of"] else "times"
            if found[side] != axis:
                new = found[0].replace(f"blockDim.{found[side]}", f"blockDim.{axis}")
                why = f"Along {axis} a block has blockDim.{axis} threads."
                yield in_place(line, found, 0, new, why)


def _of_several(source: str, text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """What takes several elements a thread begins behind one a thread of all before it: a block whose threads go on by
    a block, or a thread whose elements lie beside one another."""
    every = ((line, found) for line in lines for found in _OF_GRID.finditer(line.text))
    for line, found in islice(every, _MOST_INDICES):
        side, axis = "by" if found["by"] else "times", found["axis"] or found["its"]
        threads = "|".join(map(re.escape, {found[side], *threads_of(source, axis)}))
        apart = rf"(?<![\w.]){found['name']}\s*\+\s*(?:(?P<times>\w+)\s*\*\s*)?(?:{threads})\b(?!\s*[*.])"
        times = {each["times"] or "1" for each in re.finditer(apart, text)}
        most = [str(int(each) + 1) for each in times if each.isdecimal()]
        most += [steps for each in times if (steps := _steps(text, each))]
        for many in sorted(most)[-1:]:
            why = f"A block takes {many} elements a thread, and so do those before it."
            further = in_place(line, found, side, f"({many} * {found[side]})", why)
            yield from _with_grid(source, further, axis, many)
        for many, step in _steps_of(text, found["name"]):
            why = f"A block takes {many} elements a thread, and so do those before it."
            further = in_place(line, found, side, f"({many} * {found[side]})", why)
            yield further
            own = found[side]
            if step["step"] != own:
                by = in_text(text, *step.span("step"), own)
                said, changes = f"{further.said}, and {by.said}", tuple(sorted(further.changes + by.changes))
                why = f"{why} The threads of a block go on by `{own}`, as many as there are."
                yield Edit(f"{said},", line.number, changes, why)
        beside = rf"(?<![\w.]){found['name']}\s*\+\s*([A-Za-z_]\w*)(?!\s*[\w.*(])"
        of_thread = found["before"] or found["behind"]
        for step in list(dict.fromkeys(re.findall(beside, text)))[:SEVERAL] if of_thread else ():
            if many := _steps(text, step):
                why = f"A thread takes {many} elements, and so do those before it."
                further = in_place(line, found, "all", f"({found['all']}) * {many}", why)
                yield from _with_grid(source, further, axis, many)


def _steps_of(text: str, name: str) -> Iterator[tuple[str, re.Match[str]]]:
    """How many elements a loop takes that a thread begins at its own, and the step from one to the next."""
    begun = "|".join([name, *re.findall(rf"\b(\w+)\s*=\s*{name}\s*[;,]", text)][:SEVERAL])
    for found in islice(
        re.finditer(rf"\b(?:{begun})\s*\+\s*(?P<count>\w+)\s*\*\s*(?P<step>\w+)", text), SEVERAL
    ):
        if many := _steps(text, found["count"]):
            yield many, found
    for found in islice(
        re.finditer(rf"\b(?:{begun})\s*\+\s*(?P<count>[a-z]\w*)\b(?!\s*[*(.\[])", text), SEVERAL
    ):
        counted = re.search(
            rf"\b{found['count']}\s*=\s*0\s*;\s*{found['count']}\s*<\s*(?P<to>[\w *]+?)\s*;\s*"
            rf"{found['count']}\s*\+=\s*(?P<step>\w+)",
            text,
        )
        if counted and (many := _quotient(counted["to"], counted["step"])):
            yield many, counted
    for found in islice(re.finditer(rf"\b(?:{begun})\s*\+=\s*(?P<step>\w+)\s*[;,)]", text), SEVERAL):
        head = text[text.rfind("for", 0, found.start()) : found.start()]
        counted = re.search(r"\b(\w+)\s*=\s*0\s*;\s*\1\s*<\s*(?P<many>\w+)\s*[;&]", head)
        limit = re.search(rf"(?:<|min\()\s*(?:{begun})\s*\+\s*(?P<to>[\w *]+)", text[: found.end()])
        if many := counted["many"] if counted else _quotient(limit["to"], found["step"]) if limit else "":
            yield many, found


def _quotient(total: str, step: str) -> str:
    """How many steps make a total, a product with the step or a number; "" where that is not plain."""
    factors = re.split(r"\s*\*\s*", total.strip())
    if step in factors and len(factors) == 2:
        factors.remove(step)
        return factors[0]
    if total.strip().isdecimal() and step.isdecimal() and int(step):
        return str(int(total) // int(step))
    return ""


def _with_grid(source: str, edit: Edit, axis: str, many: str) -> Iterator[Edit]:
    """A change by which a block takes several times as much, with a grid of as many fewer blocks, where that can be
    told, and alone."""
    if grid := of_grid(source, axis, many):
        change, _ = grid
        line, start, end = lines_around(source, *change[:2])
        said = f"{edit.said}, and {instead(line.text, start, end, change[2])} in `grid`"
        yield replace(edit, said=said, changes=tuple(sorted((change, *edit.changes))))
    yield edit


def threads_of(source: str, axis: str) -> set[str]:
    """The names of the threads that a block has along an axis."""
    sides = side_of(source, "block", axis)
    return {f"blockDim.{axis}", *((sides[0],) if sides else ())}


def of_grid(source: str, axis: str, many: str) -> tuple[Change, str] | None:
    """The change of the only grid, of which each block takes so many times as much as one element a thread, and what
    stands there; None of one that does not count such blocks."""
    side, block = side_of(source, "grid", axis), side_of(source, "block", axis)
    blocks = _BY_BLOCKS.match(side[0]) if side else None
    if side is None or block is None or blocks is None or blocks["each"] != block[0]:
        return None
    text, start = side
    fewer = f"cdiv({blocks['size']}, {blocks['each']} * {many})"
    return (start, start + len(text), fewer), text


def side_of(source: str, key: str, axis: str) -> tuple[str, int] | None:
    """A side of the only grid, or block, and where it stands; None of several launches, or where there is none."""
    lines = list(re.finditer(rf"^// *{key} *= *\[(.*)\]", source, re.MULTILINE))
    sides = list(_SIDE.finditer(source, *lines[0].span(1))) if len(lines) == 1 else []
    at = "xyz".index(axis)
    key = next((key for key in ("text", "number") if at < len(sides) and sides[at][key]), "")
    return (sides[at][key], sides[at].start(key)) if key else None


def _steps(text: str, name: str) -> str:
    """How often a loop is gone through that counts so from 0; "" where there is none."""
    limit = re.search(rf"\b{name}\s*=\s*0\s*;\s*{name}\s*<\s*(\w+)\s*(?:;|&&)", text)
    return limit[1] if limit else ""


def _guarded(text: str) -> Iterator[Edit]:
    """A thread's elements beside one another that are guarded by the first of them, or not at all."""
    sizes, _ = int_sizes(text)
    for found in islice(_COUNTS.finditer(text), SEVERAL):
        name, body = found["name"], text[found.end() : text.find("}", found.end())]
        for each in dict.fromkeys(re.findall(rf"(?<![\w.])[A-Za-z_]\w*\s*\+\s*{name}\b(?!\s*[\w.*(])", body)):
            for size in sizes:
                new = f"{found['condition']} && {each} < {size}"
                why = f"The last elements of a thread may lie behind the end: guard each of them, `{each}`."
                yield in_text(text, *found.span("condition"), new, why)


def _by_rows(source: str, text: str) -> Iterator[Edit]:
    """Loops that are to go over the rows of a tile, by as many as a block has threads along y."""
    side, tile = side_of(source, "block", "y"), _TILE.search(text)
    if side is None or tile is None:
        return
    threads, rows = side[0], tile["rows"]
    changes: list[Change] = []
    alike: dict[tuple[str, str], list[int]] = {}
    for found in islice(_BY_ROWS.finditer(text), SEVERAL):
        new = f"{found['name']} < {rows}; {found['name']} += {threads}"
        if new != " ".join(found["goes"].split()):
            changes.append((*found.span("goes"), new))
            alike.setdefault((new, found["goes"]), []).append(line_at(text, found.start()))
    if changes and threads != rows and re.fullmatch(r"\w+", threads):
        said = (f"`{new}` in place of `{old}` in {where(lines)}" for (new, old), lines in alike.items())
        why = f"A block has {threads} threads along y for the {rows} rows of the tile."
        yield Edit(" and ".join(said), min(chain(*alike.values())), tuple(changes), why)


_FILL_NOTHING = "Threads that do not come to the barrier fill no part of shared memory for the others."


def _barrier_of_some(text: str) -> Iterator[Edit]:
    """Threads that return in front of a barrier, or stay outside of an `if` around it, load nothing for the others, and
    store nothing of what those have loaded: the condition is to be the loads' alone, and the store may need its own."""
    sizes, _ = int_sizes(text)
    barrier = _BARRIER.search(text)
    if barrier is None or len(sizes) not in (1, 2):
        return
    for guard in _guards(text, barrier.start()):
        store, own = _own_condition(text, barrier.end(), sizes)
        if store is not None:  # where the loads have conditions of their own
            kept = f"if ({guard.inside})"
            said = f"{guard.said} deleted and `{kept}` in front of the store in line {line_at(text, store)}"
            changes = (*guard.deleted, (store, store, f"{kept} "))
            yield Edit(said, guard.line, tuple(sorted(changes)), _FILL_NOTHING)
        between = text[guard.end : barrier.start()]
        loads = list(_LOAD.finditer(text, guard.end, barrier.start()))
        if not loads or "{" in between or "}" in between:
            continue
        inside = f"if ({guard.inside})"
        loaded: list[Change] = [(load.start("load"), load.start("load"), f"{inside} ") for load in loads]
        in_load = f"`{inside}` in front of the load"
        if len(sizes) == 1:  # whoever adds up what is loaded needs an element of each thread
            loaded = [(*load.span("value"), f"{guard.inside} ? {load['value']} : 0") for load in loads]
            in_load = f"`{guard.inside} ? {loads[0]['value']} : 0` in the load"
        lines = [*dict.fromkeys(line_at(text, load.start("load")) for load in loads)]
        said = f"{guard.said} deleted and {in_load} in {where(lines)}"
        why = "Threads that do not come to the barrier load nothing for others, and store nothing of what those load."
        yield Edit(said, guard.line, tuple(sorted((*guard.deleted, *loaded))), why)
        if store is not None:
            said = f"{guard.said} deleted, {in_load} in {where(lines)} and `{own}` in front of the store in line "
            changes = (*guard.deleted, *loaded, (store, store, f"{own} "))
            yield Edit(f"{said}{line_at(text, store)}", guard.line, tuple(sorted(changes)), why)


@dataclass(frozen=True)
class _Guard:
    """A condition by which some threads do not come to a barrier."""

    said: str
    line: int
    end: int  # where what it is about begins
    deleted: tuple[Change, ...]  # what stands there without it
    inside: str  # what holds of the threads that come


def _guards(text: str, barrier: int) -> Iterator[_Guard]:
    """The first returns in front of a barrier, and each `if` whose braces are around it."""
    for found in islice(_LEAVES.finditer(text, 0, barrier), SEVERAL):
        line, condition = line_at(text, text.index("return", found.end("condition"))), found["condition"]
        # Plain ones are turned round, so that it reads as where they are on an element.
        plain_one = _BEYOND.fullmatch(condition)
        inside = condition.replace(">=", "<").replace("||", "&&") if plain_one else f"!({condition})"
        yield _Guard(
            f"the `return` in line {line}", line, found.end(), ((*found.span("leaves"), ""),), inside
        )
    for found in islice(_ENTERS.finditer(text, 0, barrier), SEVERAL):
        line, closes = line_at(text, found.start()), _closing(text, found.end())
        if closes > barrier:
            deleted = ((*found.span(), ""), (closes, closes + 1, ""))
            yield _Guard(
                f"the `if` in line {line} and its braces", line, found.end(), deleted, found["condition"]
            )


def _closing(text: str, start: int) -> int:
    """Where the brace is closed that is open at a place; -1 where it is not."""
    depth = 1
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return start + brace.start()
    return -1


def _own_condition(text: str, start: int, sizes: Sequence[str]) -> tuple[int | None, str]:
    """Where the first store to an array behind a place stands, and the condition that it needs; None where there is
    none."""
    if len(sizes) == 1:
        given = _GIVEN.findall(text)
        found = next((each for each in _STORE_1.finditer(text, start) if each["array"] in given), None)
        return (found.start(), f"if ({found['element']} < {sizes[0]})") if found else (None, "")
    store = _stored(text, start, sizes)
    if store is None:
        return None, ""
    return store.start, f"if ({store.inside(sizes)})"


@dataclass(frozen=True)
class _Stored:
    """A store to an element of a matrix."""

    start: int
    row: str
    size: str  # how long a row is
    column: str
    index: str  # the variable that has the place in memory; "" for none

    def inside(self, sizes: Sequence[str]) -> str:
        """The condition that it needs, of a matrix of these two sizes."""
        (other,) = {*sizes} - {self.size}
        return f"{self.row} < {other} && {self.column} < {self.size}"


def _stored(text: str, start: int, sizes: Sequence[str]) -> _Stored | None:
    """The first store to an element of a matrix behind a place, its index in whatever order; None where there is
    none."""
    return next(_stores(text, start, sizes), None)


def _stores(text: str, start: int, sizes: Sequence[str]) -> Iterator[_Stored]:
    """The stores to elements of matrices behind a place, also by an index that is set there."""
    for found in _STORE_2.finditer(text, start):
        factors = [found["one"] or found["ones"], found["other"] or found["others"]]
        size = next((factor for factor in reversed(factors) if factor in sizes), None)
        column = " + ".join(filter(None, (found["first"], found["last"])))
        by = re.compile(rf"\b\w+\[\s*{found['flat']}\s*\]\s*=(?!=)")
        store = by.search(text, found.end()) if found["flat"] else found
        if size is not None and column and store:
            factors.remove(size)
            yield _Stored(store.start(), factors[0], size, column, found["flat"] or "")


def _turned(lines: Sequence[Line]) -> Iterator[Edit]:
    """Names of a block's row and column of elements, exchanged in lines that follow each other."""
    names = {found["axis"]: found["name"] for line in lines for found in _BLOCK_AT.finditer(line.text)}
    if len(names) < len(_OTHER):
        return
    one, other = names["x"], names["y"]
    turned = {one: other, other: one}
    either = re.compile(rf"(?<![\w.])(?:{one}|{other})\b(?!\s*=(?!=))")
    places = [(line, found) for line in lines for found in either.finditer(line.text)]
    numbers = list(dict.fromkeys(line.number for line, _ in places))
    runs = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    for run in reversed([[number for _, number in run] for _, run in runs]):  # the output comes last
        inside = [(line, found) for line, found in places if line.number in run]
        if {found[0] for _, found in inside} == turned.keys():
            changes = tuple(
                (line.start + found.start(), line.start + found.end(), turned[found[0]])
                for line, found in inside
            )
            why = "Where rows become columns, those of blocks do as well."
            yield Edit(f"`{one}` and `{other}` exchanged in {where(run)}", run[0], changes, why)


def _turned_twice(text: str) -> Iterator[Edit]:
    """A thread's numbers exchanged behind the barrier, but for the indices of a tile that is read with these
    exchanged: of a tile and a place that are both turned, each thread has the element of another place."""
    barriers = list(_BARRIER.finditer(text))
    names = {axis: name for name, axis in reversed(named_numbers(text))}
    x, y = (names.get(axis, f"threadIdx.{axis}") for axis in "xy")
    if len(barriers) != 1 or not (tiles := "|".join(shared_arrays(text))):
        return
    at = barriers[0].end()
    end = at + len(text[at:].partition("\n}")[0])
    element = re.compile(
        rf"\b(?P<tile>{tiles})\[\s*(?P<row>[^\[\]]{{1,60}}?)\s*\]\[\s*(?P<column>[^\[\]]{{1,60}}?)\s*\]"
    )
    stored = {found.group("tile", "row", "column") for found in element.finditer(text, 0, at)}
    read = list(element.finditer(text, at, end))
    turned = [each for each in read if {each["row"], each["column"]} == {x, y}]
    if not any(each.group("tile", "column", "row") in stored for each in turned):
        return
    own = re.compile(rf"(?<![\w.])(?:{re.escape(x)}|{re.escape(y)})(?!\w|\s*=(?!=))")
    places = [
        found
        for found in own.finditer(text, at, end)
        if not any(each.start() < found.start() < each.end() for each in read)
    ]
    if {found[0] for found in places} == {x, y}:
        changes = tuple((*found.span(), y if found[0] == x else x) for found in places)
        numbers = [*dict.fromkeys(line_at(text, found.start()) for found in places)]
        tile = turned[0]["tile"]
        said = f"`{x}` and `{y}` exchanged in {where(numbers)}"
        if any(line_at(text, each.start()) in numbers for each in read):
            said += f", but not in the indices of `{tile}`,"
        why = f"`{tile}` is read with its indices exchanged already."
        yield Edit(said, numbers[0], changes, why)


def _turned_behind(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """The place of a thread in the input is that in the output, where a tile is turned: blocks, or threads, are to
    change places behind the barrier, and the condition may have to be about the new place."""
    places = _all_at(lines)
    barriers = [(line, found) for line in lines for found in _BARRIER.finditer(line.text)]
    if not places or len(barriers) != 1:
        return
    constants = {
        (place.line.start + const.start(), place.line.start + const.end(), "")
        for place in places
        for const in _CONST.finditer(place.line.text)
    }
    ((line, barrier),) = barriers
    at = line.start + barrier.end()
    store = _stored(text, at, int_sizes(text)[0])
    conditions = [edit for edit in _stored_where(text) if edit.line > line.number]
    for built_in, why in _TURNED.items():
        sets = " ".join(f"{place.name} = {place.turned(built_in)};" for place in places)
        behind = f"`{sets}` behind the barrier in line {line.number}"
        changes = (*sorted(constants), (at, at, f" {sets}"))
        if built_in == "threadIdx" and not (in_row := _in_row(store, places)):
            if in_row is False:
                yield _turned_before(places, constants, line, at)
            why = ""
        edit = Edit(behind, line.number, changes, why)
        if declared := _without_const(places):
            edit = replace(
                edit, said=_THESE, steps=f"{declared}. {_ANEW.format(line=line.number, sets=sets)}"
            )
        yield edit
        for other in (*conditions, *_sizes_behind(text)):
            yield edit.with_also(other)


def _in_row(store: _Stored | None, places: Sequence[_Place]) -> bool | None:
    """Whether threads beside one another store to one row, where their numbers have changed places; None where that is
    not plain."""
    found = [place for place in places if store and place.name in re.findall(r"\w+", store.column)]
    return found[0].own == "y" if len(found) == 1 else None


def _turned_before(places: Sequence[_Place], constants: Iterable[Change], line: Line, at: int) -> Edit:
    """The places of threads in the input turned, and those in the output as these were."""
    sets = " ".join(f"{place.name} = {place.text};" for place in places)
    inputs = " and ".join(f"`{place.name}` to `{place.turned('threadIdx')}`" for place in places)
    turned: list[Change] = []
    for place in places:
        start = place.line.start + place.line.text.index(place.text, place.start - place.line.start)
        turned.append((start, start + len(place.text), place.turned("threadIdx")))
    numbers = where([*dict.fromkeys(place.line.number for place in places)])
    declared = ". ".join(filter(None, (f"In {numbers}, set {inputs}", _without_const(places))))
    return Edit(
        _THESE,
        places[0].line.number,
        tuple(sorted((*constants, *turned, (at, at, f" {sets}")))),
        _TURNED["threadIdx"],
        steps=f"{declared}. {_ANEW.format(line=line.number, sets=sets)}",
    )


def _without_const(places: Iterable[_Place]) -> str:
    """That places which are set anew are declared without const, without a full stop; "" where they are."""
    constant = [place for place in places if _CONST.search(place.line.text)]
    names = " and ".join(f"`{place.name}`" for place in constant)
    numbers = [*dict.fromkeys(place.line.number for place in constant)]
    return f"Declare {names} without `const` in {where(numbers)}" if names else ""


def through_tile(source: str) -> Iterator[Edit]:
    """A tile of which each thread reads its own element, while rows become columns: with its indices exchanged, and the
    threads behind the barrier, neighbours store to neighbouring elements of a row."""
    text, lines = plain(source), list(lines_of(source))
    for array, number in turned_by_itself(source):
        (line,) = (line for line in lines if line.number == number)
        read = re.search(rf"\b{array}\[([^\[\]]{{1,100}})\]\[([^\[\]]{{1,100}})\](?!\s*=(?!=))", line.text)
        for edit in _turned_behind(text, lines) if read else ():
            if read and edit.why != _TURNED["blockIdx"]:
                exchanged = in_place(line, read, 0, f"{array}[{read[2]}][{read[1]}]")
                yield edit.with_also(exchanged)


def turned_by_itself(source: str) -> Iterator[tuple[str, int]]:
    """Tiles of which each thread reads its own element and stores it where rows have become columns, and the line."""
    for array, line in of_own_elements(source).items():
        stored = arrays_in(source, line, "global", stored=True)
        if any(turned_against(source, line, name) for name in stored):
            yield array, line


def _sizes_behind(text: str) -> Iterator[Edit]:
    """Behind the barrier the sizes stand as in front of it, in the condition and in the index, where rows have become
    columns: either alone mends nothing."""
    sizes, _ = int_sizes(text)
    barriers = list(_BARRIER.finditer(text))
    if len(barriers) != 1 or len(sizes) != 2:
        return
    store = _stored(text, behind := barriers[0].end(), sizes)
    places = list(re.finditer(rf"(?<![\w.])(?:{'|'.join(sizes)})\b", text[behind:]))
    if store is None or {found[0] for found in places} != {*sizes}:
        return
    turned = dict(zip(sizes, reversed(sizes), strict=True))
    changes = tuple((behind + found.start(), behind + found.end(), turned[found[0]]) for found in places)
    numbers = [*dict.fromkeys(line_at(text, at) for at, _, _ in changes)]
    yield Edit(
        f"`{sizes[0]}` and `{sizes[1]}` exchanged in {where(numbers)}",
        line_at(text, store.start),
        changes,
        f"Where rows become columns, `{store.size}` is how many rows the output has, and "
        f"`{turned[store.size]}` how long each is: its index and the condition go by these.",
    )


def _sizes_of_bounds(source: str, text: str) -> Iterator[Edit]:
    """The two sizes exchanged wherever they are no part of an index: in conditions, and in `grid`. Where the
    indices have rows and columns change places, it is these that still go by the others."""
    sizes, begins = int_sizes(text)
    store = _stored(text, begins, sizes) if len(sizes) == 2 else None
    if store is None:
        return
    either = re.compile(rf"(?<![\w.])(?:{'|'.join(sizes)})\b")
    body = _IN_BRACKETS.sub(lambda index: " " * len(index[0]), text[begins:])
    bounds = [begins + found.start() for found in _BOUND.finditer(body) if found[1] in sizes]
    lines = (either.finditer(source, *line.span()) for line in _GRIDS.finditer(source))
    of_grid = [(found.start(), found[0]) for found in chain.from_iterable(lines)]
    of_body = [(begins + found.start(), found[0]) for found in either.finditer(body)]
    if len(bounds) < len(sizes):
        return
    turned = dict(zip(sizes, reversed(sizes), strict=True))
    grids, numbers = ({line_at(text, found): None for found, _ in part} for part in (of_grid, of_body))
    in_grid = f"`grid` in {where([*grids])} and in " if grids else ""
    row, column = (" ".join(name.split()) for name in (store.row, store.column))
    yield Edit(
        f"`{sizes[0]}` and `{sizes[1]}` exchanged in {in_grid}{where([*numbers])}",
        line_at(text, bounds[0]),
        tuple((at, at + len(size), turned[size]) for at, size in (*of_grid, *of_body)),
        f"By the index in line {line_at(text, store.start)}, `{row}` is a row of the output, one of "
        f"`{turned[store.size]}`, and `{column}` a column, one of `{store.size}`: that is what the condition and "
        "the grid are to go by.",
    )


_OF_BLOCK_ALONE = re.compile(
    r"=\s*(?P<all>(?:\w+\s*\*\s*)?(?:size_t\()?blockIdx\.(?P<axis>[xyz])\)?(?:\s*\*\s*[\w.]+)?)\s*;"
)
_PARTS = re.compile(r"\b(?P<name>\w+)\s*=\s*(?P<of>[A-Za-z_]\w*)\s*/\s*(?P<by>\d+)\s*;")


def behind_vectors(source: str) -> Iterator[Edit]:
    """Where threads begin behind so many elements as there are vectors, and may begin behind those of the vectors."""
    text = plain(source)
    for part in _PARTS.finditer(text):
        name, by = part["name"], part["by"]
        for begin in re.finditer(rf"(?<=[=+(])\s*(\b{name}\b)(?=\s*\+)|\+\s*(\b{name}\b)(?=\s*;)", text):
            place = begin.span(1 if begin[1] else 2)
            line, new = line_at(text, place[0]), f"{by} * {name}"
            yield Edit(
                f"`{new}` in place of `{name}` in line {line},",
                line,
                ((*place, new),),
                f"`{name}` counts vectors, of {by} elements each.",
            )


def turned(source: str) -> str:
    """Where a thread is to write where blocks turn tiles of a matrix, or to read from where warps write along a row
    already; "" where its place in the input is not plain."""
    places = {place.axis: place for place in _all_at(list(lines_of(source)))}
    if not places or places["x"].own == places["y"].own:
        return ""
    text, row, column = plain(source), places["y"], places["x"]  # of the input
    if re.search(rf"{_FLAT.format(column.name, row.name)}\s*\](?!\s*=(?!=))", text):
        row, column = column, row
    if row.own == "y":
        written = f"row `{row.turned('blockIdx')}`, column `{column.turned('blockIdx')}` of the output"
        return f"Let a thread write to {written}, on a condition about these. {_TURNED['blockIdx']}"
    if not re.search(rf"{_FLAT.format(column.name, row.name)}\s*\]\s*=(?!=)", text):
        return ""
    read = f"row `{row.turned('threadIdx')}`, column `{column.turned('threadIdx')}` of the input"
    return (
        f"Let a thread read from {read}, on a condition about these, and store on the condition that is there. Threads "
        "beside one another then read elements beside one another, as they write them already."
    )


def side_of_rows(source: str) -> str:
    """The side of the grid, x or y, along which the rows of what a kernel stores are counted; "" where that is not
    plain."""
    text = plain(source)
    sizes, begins = int_sizes(text)
    store = _stored(text, begins, sizes) if len(sizes) == 2 else None
    sides = {place.name: place.axis for place in _all_at(list(lines_of(source)))}
    return sides.get(store.row, "") if store else ""


def rows_become_columns(source: str) -> bool:
    """Whether rows of two lengths are indexed, as they are where a matrix is transposed, or none that can be seen."""
    sizes, _ = int_sizes(plain(source))
    factors_of = {
        name
        for line in range(1, source.count("\n") + 2)
        for stored in (True, False)
        for array in arrays_in(source, line, "global", stored)
        for name in factors(source, line, array)
    }
    return len(factors_of & {*sizes}) != 1


@dataclass(frozen=True)
class _Place:
    """Where a thread's place along one side of the grid is set."""

    line: Line
    start: int  # of the name, in the text
    name: str
    axis: str
    text: str
    own: str
    """The side along which the thread's number in its block is."""
    others: Mapping[str, str]
    """A thread's numbers in its block as they are written, each with the one along the other side."""

    def turned(self, built_in: str) -> str:
        """With its block's number, or its own in the block, along the other side."""
        if built_in == "blockIdx":
            return self.text.replace(f"blockIdx.{self.axis}", f"blockIdx.{_OTHER[self.axis]}")
        return re.sub(_either(self.others), lambda own: self.others[own[0]], self.text)


def _either(names: Iterable[str]) -> str:
    return rf"(?<![\w.])(?:{'|'.join(map(re.escape, names))})(?!\w)"


def _places(lines: Sequence[Line]) -> Iterator[_Place]:
    """Wherever a thread's place along x or y is set."""
    numbers = (number for line in lines for number in named_numbers(line.text))
    named = {axis: name for name, axis in numbers if axis in _OTHER}
    ways = ({axis: f"threadIdx.{axis}" for axis in _OTHER}, named)
    axes = {written: axis for way in ways for axis, written in way.items()}
    others = {
        written: other for way in ways for axis, written in way.items() if (other := way.get(_OTHER[axis]))
    }
    pattern = re.compile(_ALL_AT.format(own=_either(others)))
    for line in lines:
        for found in pattern.finditer(line.text):
            if own := re.search(_either(others), found["all"]):
                start = line.start + found.start("name")
                yield _Place(line, start, found["name"], found["axis"], found["all"], axes[own[0]], others)


def _all_at(lines: Sequence[Line]) -> list[_Place]:
    """Where a thread's places along x and y are set, each once; [] of others."""
    places = list(_places(lines))
    both = {place.axis for place in places} == _OTHER.keys() and len(places) == len(_OTHER)
    return places if both else []


_TURNED = {
    "blockIdx": "Where rows become columns, those of blocks do as well.",
    "threadIdx": "Threads beside one another then write elements beside one another, which others have read.",
}
"""What changes places, and why."""


def of_block(source: str) -> Edit | None:
    """threadIdx and blockIdx exchanged in the only index that has a thread's number times the threads of a block."""
    found = [(line, each) for line in lines_of(source) for each in _BLOCK_AS_THREAD.finditer(line.text)]
    if len(found) != 1:
        return None
    ((line, index),) = found
    new = index[0].replace("thread", "_").replace("blockIdx", "threadIdx").replace("_", "block")
    why = "Blocks lie one behind another, and the threads of a block beside each other."
    return in_place(line, index, 0, new, why)


def along_rows(source: str) -> Edit | None:
    """The names of a thread's row and column exchanged where they are set, of a kernel in whose indices x counts rows;
    None of another."""
    found = {place.axis: place for place in _places(list(lines_of(source)))}
    if found.keys() != _OTHER.keys():
        return None
    names = {axis: place.name for axis, place in found.items()}
    text = plain(source)
    if not re.search(_FLAT.format(names["x"], names["y"]), text):
        return None
    if re.search(_FLAT.format(names["y"], names["x"]), text):
        return None
    changes = sorted(
        (place.start, place.start + len(place.name), names[_OTHER[axis]]) for axis, place in found.items()
    )
    numbers = sorted({place.line.number for place in found.values()})
    said = f"`{names['x']}` and `{names['y']}` exchanged in {where(numbers)}"
    why = "x is to run along a row, so that the threads of a warp take elements that lie beside one another."
    return Edit(said, numbers[0], tuple(changes), why)


def _stored_where(text: str) -> Iterator[Edit]:
    """An element is stored on a condition about another one, such as that which was read: it is changed, or, where the
    element is only known behind it, moved to the store."""
    sizes, begins = int_sizes(text)
    why = "The condition is about the element that is stored."
    for store in islice(_stores(text, begins, sizes), SEVERAL) if len(sizes) == 2 else ():
        inside = store.inside(sizes)
        names = "|".join(re.findall(r"[A-Za-z_]\w*", f"{store.row} {store.column}")) or "$^"
        for found in _conditions(text, begins, store.start):
            if store.index and re.search(rf"\b{store.index}\b", found["condition"]):
                continue
            if not re.search(rf"(?<![\w.])(?:{names})\s*=(?!=)", text[found.end() : store.start]):
                leaves = found.re is _LEAVES
                new = inside.replace("<", ">=").replace("&&", "||") if leaves else inside
                if _parts_of(new) != _parts_of(found["condition"]):
                    yield in_text(text, *found.span("condition"), new, why)
                continue
            start, end = found.span("leaves" if found.re is _LEAVES else "if")
            line, own = line_at(text, start), f"if ({inside}) "
            old = " ".join(text[start:end].split())
            said = f"`{old}` in line {line} left out, and `{own.strip()}` in front of the assignment in line "
            changes = ((start, end, ""), (store.start, store.start, own))
            yield Edit(f"{said}{line_at(text, store.start)},", line, changes, why)


def _parts_of(condition: str) -> set[str]:
    """What has to hold together, or by itself, of a condition, in whatever order it stands."""
    return {re.sub(r"\s+", "", part) for part in re.split(r"&&|\|\|", condition)}


def _conditions(text: str, start: int, store: int) -> Iterator[re.Match[str]]:
    """The conditions of a store: right in front of it, around it, and those by which threads leave before it, as far
    as they stand behind the last barrier."""
    start = max([start, *(barrier.end() for barrier in _BARRIER.finditer(text, start, store))])
    if found := _RIGHT_BEFORE.search(text, max(start, store - LONGEST), store):
        yield found
    for found in islice(_ENTERS_LOOP.finditer(text, start, store), SEVERAL):
        if _closing(text, found.end()) > store:
            yield found
    yield from islice(_LEAVES.finditer(text, start, store), SEVERAL)


def stored_elsewhere(source: str, line: int) -> bool:
    """Whether what a line reads is stored to a matrix on a condition about another element than that, as about one of
    the input, as far as that is plain."""
    text = plain(source)
    sizes, _ = int_sizes(text)
    start = sum(map(len, text.splitlines(keepends=True)[: line - 1]))
    store = _stored(text, start, sizes) if len(sizes) == 2 else None
    at = guard_of(source, line)
    if store is None or at is None or guard_of(source, line_at(text, store.start)) != at:
        return False
    (other,) = {*sizes} - {store.size}
    of_store = {_terms(store.row): other, _terms(store.column): store.size}
    compared = [(_terms(found["what"]), found["size"]) for found in _bounds(source, at, sizes)]
    exchanged = any(what in of_store and of_store[what] != size for what, size in compared)
    return exchanged or bool(_of_another(source, text, store, at, sizes))


def of_another(source: str) -> str:
    """What the condition of a store to a matrix compares where that is none of the stored element's row and column; ""
    where it is, and where that is not plain."""
    text = plain(source)
    sizes, begins = int_sizes(text)
    for store in islice(_stores(text, begins, sizes), SEVERAL) if len(sizes) == 2 else ():
        at = guard_of(source, line := line_at(text, store.start))
        behind = [line_at(text, found.start()) for found in _BARRIER.finditer(text, begins, store.start)]
        if at is None or not behind or at < behind[-1]:
            continue
        if compared := _of_another(source, text, store, at, sizes):
            return OF_ANOTHER.format(
                condition=at, compared=compared, line=line, row=store.row, column=store.column
            )
    return ""


OF_ANOTHER = (
    "the condition in line {condition} is about `{compared}`, and line {line} stores by row `{row}` and column "
    "`{column}`. Let it be about these."
)


def _bounds(source: str, at: int, sizes: Sequence[str]) -> list[re.Match[str]]:
    """What a condition compares with sizes of the problem."""
    return [found for found in _COMPARED.finditer(statement(source, at)) if found["size"] in sizes]


def _of_another(source: str, text: str, store: _Stored, at: int, sizes: Sequence[str]) -> str:
    """What a condition compares that hangs on the block and is neither row nor column of what is stored; "" for
    nothing."""
    names, line = (store.row, store.column), line_at(text, store.start)
    own = {_terms(value) for name in names for value in (name, written_out(source, line, name))}
    for found in _bounds(source, at, sizes):
        value = written_out(source, at, found["what"])
        if "blockIdx" in value and own.isdisjoint({_terms(found["what"]), _terms(value)}):
            return found["what"]
    return ""


def _terms(total: str) -> tuple[str, ...]:
    """What is added up, in whatever order."""
    return tuple(sorted(re.sub(r"\s", "", total).split("+")))


def _along_rows_where(source: str, text: str) -> Iterator[Edit]:
    """Row and column exchanged where they are set, and the condition on which their element is stored with that."""
    if exchanged := along_rows(source):
        for edit in _stored_where(text):
            said, why = f"{exchanged.said} and {edit.said}", f"{exchanged.why} {edit.why}"
            yield replace(
                exchanged, said=said, changes=tuple(sorted((*exchanged.changes, *edit.changes))), why=why
            )


def _alone(text: str) -> Iterator[Edit]:
    """One thread hands on what is a thread's own."""
    for found in islice(_ALONE.finditer(text), SEVERAL):
        own = found["sum"] or found["stored"]
        declared = re.search(rf"(?P<shared>__shared__\s+)?\b(?:float|double|int)\s+{own}\b", text)
        if declared and not declared["shared"]:
            line = line_at(text, found.start())
            why = f"`{own}` is a variable of each thread, and not one of the block's."
            said, changes = f"`{found['condition']}` in line {line} deleted", [(*found.span("condition"), "")]
            if found["stores"]:
                adds = f"atomicAdd(&{found['to']}, {own})"
                stored = in_text(text, *found.span("stores"), adds)
                said, changes = f"{said} and {stored.said}", [*changes, *stored.changes]
            yield Edit(said, line, tuple(changes), why)


def _by_all(text: str) -> Iterator[Edit]:
    """All threads of a block hand on what its first one is to hand on, of an array in shared memory."""
    shared, named = shared_arrays(text), named_numbers(text)
    first = f"if ({next((name for name, axis in named if axis == 'x'), 'threadIdx.x')} == 0) "
    for found in islice(_ADDED_BY_ALL.finditer(text), SEVERAL):
        if found["array"] in shared:
            line, start = line_at(text, found.start("adds")), found.start("adds")
            why = f"Each thread of a block adds, and `{found['array']}[0]` alone is the block's sum."
            changes = ((start, start, first), (*found.span("at"), "0"))
            yield Edit(f"`{first}{found['adds']}0{found['rest']}` in line {line}", line, changes, why)


def _offsets(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A condition on the index behind a pointer that does not begin where its array does."""
    sizes, _ = int_sizes(text)
    taken = (found for line in lines for found in _ADVANCED.finditer(line.text))
    offsets = dict.fromkeys((found["by"] or found["at"] or found["on"]).strip() for found in taken)
    own = re.compile(rf"(?P<own>\bthreadIdx\.x|\b[A-Za-z_]\w*)(?=\s*(?:<|>=)\s*(?:{'|'.join(sizes)})\b)")
    for offset in list(offsets)[:SEVERAL] if sizes else ():
        for line in lines:
            for found in own.finditer(line.text):
                why = f"The pointers begin `{offset}` elements behind their arrays' first."
                yield in_place(line, found, "own", f"{offset} + {found['own']}", why)


def _rows(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A row that is not multiplied by its length."""
    sizes, begins = int_sizes(text)
    places: dict[str, list[tuple[Line, re.Match[str]]]] = {}
    for line in lines if len(sizes) == 2 else ():
        for found in (each for pattern in _ROWS for each in pattern.finditer(line.text)):
            if line.start > begins and "threadIdx" not in line.text:
                places.setdefault(found["row"], []).append((line, found))
    for row, found_in in list(places.items())[:SEVERAL]:
        found_in.sort(key=lambda place: place[0].start + place[1].start("row"))
        for size in sizes:
            yield in_places(
                found_in, "row", f"size_t({row}) * {size}", f"In front of a row lie `{size}` elements a row."
            )
