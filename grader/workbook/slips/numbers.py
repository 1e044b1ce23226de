"""The number of a thread: an index that is made of threadIdx, blockIdx, blockDim and gridDim in another way than the
number of a thread in the grid or in its block, or that of its block; and the place of a row and a column in an array.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise, product

from grader.workbook.begins import side_of
from grader.workbook.cuda_source import int_sizes, numbers, plain, shared_extents
from grader.workbook.edit import MOST, SEVERAL, Edit, Line, in_place, in_places, lines_of
from grader.workbook.small_edits import constants_of

_MOST = 24
"""Changes that are tried: a text of tiles has many such indices, and they are right."""

_MOST_INDICES = 64
"""Indices that are looked at: bounds the work that a stranger's text can ask for."""

_APART = 3
"""Lines that a row's index may be away from its column's."""

_STORED = re.compile(r"\s*[-+*/]?=(?!=)")
_IN_GRID = re.compile(r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\.([xy])\b")
_EXPRESSION = r"(?P<all>[-+*().\w \t]{1,120}?)\s*"
_LONE = re.compile(r"(?:thread|block)Idx\.[xy]")
_SET = re.compile(rf"\b(?P<name>[A-Za-z_]\w*)\s*=(?!=)\s*{_EXPRESSION}[;,]")
_AT = re.compile(rf"(?P<name>\b[A-Za-z_]\w*)\[\s*{_EXPRESSION}\]")
_DECLARED = re.compile(
    rf"^\s*(?:const\s+)?(?:int|unsigned(?:\s+int)?|size_t|long(?:\s+long)?|auto)\s+{_SET.pattern}"
)
_SETS = r"\b{name}\s*(?:\+\+|--|[-+*/%&|^]?=(?!=))|(?:\+\+|--)\s*{name}\b"
_ALONE = {"grid": "threadIdx", "block": "blockIdx"}
"""What tells all threads apart where a grid, or a block, has one."""

_WHOLE = r"[\[(<>=!&|,;?:]\s*(?P<all>{index})\s*(?=[\])<>=!&|,;?:])"
_CAST = ("size_t", "int", "unsigned", "long")

_Place = tuple[Line, re.Match[str]]


@dataclass(frozen=True)
class _Index:
    """An index, of a variable or of accesses, and the places where it stands. A change of it is one of all that there
    are: the number in its block may do for a thread of any block, and then all blocks do the same."""

    name: str  # of the variable
    places: Sequence[_Place]

    @property
    def text(self) -> str:
        return self.places[0][1]["all"]

    @property
    def line(self) -> int:
        return self.places[0][0].number

    @property
    def axes(self) -> str:
        return "".join(dict.fromkeys(_IN_GRID.findall(self.text)))

    def edit(self, new: str, why: str) -> Edit:
        """Another text wherever it stands."""
        if len(self.places) == 1:
            return replace(in_place(*self.places[0], "all", new, why), any=True)
        return replace(in_places(self.places, "all", new, why), any=True)


def edits(source: str, text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """The changes to be tried, of one index and then of several: those first of which the text is no usual one."""
    sizes, _ = int_sizes(text)
    plane = bool(re.search(r"\b(?:thread|block)Idx\.y\b", text)) or side_of(source, "block", "y") is not None
    known = (*_CAST, *sizes, *constants_of(source))
    found = [*islice(_indices(text[:MOST], lines, known), _MOST_INDICES)]
    unusual_first = sorted(found, key=lambda index: bool(_LONE.fullmatch(index.text)))
    singles = chain.from_iterable(_numbers(source, index, plane) for index in unusual_first)
    yield from islice(singles, _MOST)
    if plane:
        yield from islice(_planes(source, lines, found, sizes), _MOST)


def lines(source: str) -> tuple[int, ...]:
    """The lines that changes of an index are about."""
    return tuple({edit.line for edit in edits(source, plain(source), list(lines_of(source)))})


def _indices(text: str, lines: Sequence[Line], known: Sequence[str]) -> Iterator[_Index]:
    """The indices of threads: made of nothing but built-in variables, sizes, constants and numbers; or a number, where
    an index is that throughout."""
    asks = "threadIdx" in text or "blockIdx" in text
    shared = shared_extents(text)
    told = set[str]()
    for line in lines:
        for found in _SET.finditer(line.text):
            if _of_threads(found["all"], known) or (found["all"].isdecimal() and _stays(text, line, found)):
                yield _Index(found["name"], [(line, found)])
        for places in _alike(line):
            index = places[0][1]["all"]
            if any(
                found["name"] in shared for _, found in places
            ):  # by the number in a block, as nearly all are
                continue
            stores = any(_STORED.match(line.text, found.end()) for _, found in places)
            if _of_threads(index, known) or (index.isdecimal() and stores and not asks):
                yield _Index("", places)
            if _of_threads(index, known) and index not in told:
                told.add(index)
                everywhere = re.compile(_WHOLE.format(index=re.escape(index)))
                yield _Index(
                    "", [(each, found) for each in lines for found in everywhere.finditer(each.text)]
                )


def _alike(line: Line) -> Iterator[list[_Place]]:
    """The accesses of a line, by their index. What stands behind a type is an array's size."""
    by_text: dict[str, list[_Place]] = {}
    for found in _AT.finditer(line.text):
        if not re.search(r"\w\s+$", line.text[: found.start()]):
            by_text.setdefault(found["all"], []).append((line, found))
    yield from by_text.values()


def _of_threads(text: str, known: Sequence[str]) -> bool:
    names = re.findall(r"[A-Za-z_][\w.]*", text)
    return any(map(_IN_GRID.fullmatch, names)) and all(
        name in known or _IN_GRID.fullmatch(name) for name in names
    )


def _stays(text: str, line: Line, found: re.Match[str]) -> bool:
    """Whether a number is given to an index once and for all."""
    declared = _DECLARED.match(line.text)
    name = re.escape(found["name"])
    return (
        declared is not None
        and declared["name"] == found["name"]
        and bool(re.search(rf"\[\s*{name}\s*\]", text))
        and len(re.findall(_SETS.format(name=name), text)) == 1
    )


def _in_grid(source: str, index: _Index, axis: str) -> str:
    """The number of a thread in the grid, with the constant of the block, or a number or constant that is as large,
    where the text goes by that."""
    side = side_of(source, "block", axis)
    threads = f"blockDim.{axis}"
    if side is not None and "blockDim" not in index.text:
        values = numbers(source)
        many = _value(side[0], values)
        named = side[0] if side[0] in constants_of(source) else threads
        used = re.findall(r"(?<![\w.])\w+\b(?!\s*[.(])", index.text)
        threads = next((each for each in used if many is not None and _value(each, values) == many), named)
    return f"blockIdx.{axis} * {threads} + threadIdx.{axis}"


def _value(text: str, values: Mapping[str, int]) -> int | None:
    return int(text) if text.isdecimal() else values.get(text)


def _numbers(source: str, index: _Index, plane: bool) -> Iterator[Edit]:
    """The numbers of a thread and of its block in place of an index that is not a thread's in the grid, the likelier
    first: where there is one block, or each has one thread, the shorter ones."""
    wholes = {axis: _in_grid(source, index, axis) for axis in ("xy" if plane else index.axes or "x")}
    if any(_same(index.text, whole) for whole in wholes.values()):
        return
    for axis in dict.fromkeys((*index.axes, *wholes)):
        whole = wholes.get(axis) or _in_grid(source, index, axis)
        many = whole.removeprefix(f"blockIdx.{axis} * ").removesuffix(f" + threadIdx.{axis}")
        whys = {
            whole: f"A thread's number in the grid counts the threads of the blocks before its own, `{many}` in each, "
            "and those before it in its block.",
            f"threadIdx.{axis}": f"Threads of a block are told apart by threadIdx, which counts from 0 along {axis}.",
            f"blockIdx.{axis}": f"All threads of a block have its number, blockIdx.{axis}.",
        }
        alone = [part for key, part in _ALONE.items() if (side_of(source, key, axis) or ("",))[0] == "1"]
        for new in sorted(whys, key=lambda new: new.partition(".")[0] not in alone or new == whole):
            own = axis in index.axes or not index.axes
            if not _same(index.text, new) and (own or not new.startswith("blockIdx") or new == whole):
                yield index.edit(new, whys[new])


def _same(one: str, other: str) -> bool:
    """Whether two sums of products are the same, but for the order of their terms."""

    def terms(text: str) -> list[list[str]]:
        return sorted(
            sorted(re.sub(r"\((?:size_t|int|unsigned)\)|\s", "", term).split("*")) for term in text.split("+")
        )

    return terms(one) == terms(other)


def _planes(
    source: str, lines: Sequence[Line], found: Sequence[_Index], sizes: Sequence[str]
) -> Iterator[Edit]:
    """A row and a column, each by its side of the grid, and the place of their element in the array."""
    named = [index for index in found if index.name]
    for one, other in islice(pairwise(named), SEVERAL):
        if other.line - one.line > _APART:
            continue
        # Rows are counted along y; of two that are not told apart by their sides the first may be either.
        apart = [("y", "x"), ("x", "y")]
        apart.sort(key=lambda axes: (one.axes, other.axes) != axes)
        for axes in apart[: 1 if (one.axes, other.axes) in apart else 2]:
            wanted = [_in_grid(source, index, axis) for index, axis in zip((one, other), axes, strict=True)]
            changed = [
                index.edit(new, "Columns are counted along x, and rows along y.")
                for index, new in zip((one, other), wanted, strict=True)
                if not _same(index.text, new)
            ]
            if changed:
                yield _together(changed)
            row, column = (one.name, other.name) if axes[0] == "y" else (other.name, one.name)
            for place in islice(_flat(lines, other.line, (row, column), sizes), SEVERAL):
                # Mostly the second size counts the columns.
                for size, (first, second) in product(sizes[::-1], ((row, column), (column, row))):
                    new = f"{first} * {size} + {second}"
                    if not _same(place.text, new):
                        why = f"In front of a row lie all rows before it, with `{size}` elements each."
                        yield _together([*changed, place.edit(new, why)])


def _flat(
    lines: Sequence[Line], above: int, names: tuple[str, str], sizes: Sequence[str]
) -> Iterator[_Index]:
    """What is made of a row and a column, or of one of them, below a line."""
    for line in lines[above:]:
        alike = [*_alike(line)]
        each = [[place] for group in alike if len(group) > 1 for place in group]
        for group in (*([(line, found)] for found in _SET.finditer(line.text)), *alike, *each):
            used = re.findall(r"[A-Za-z_][\w.]*", group[0][1]["all"])
            if {*names} & {*used} and all(name in (*names, *sizes, *_CAST) for name in used):
                yield _Index("", group)


def _together(changed: Sequence[Edit]) -> Edit:
    """Several changes as one."""
    said = " and ".join(edit.said for edit in changed)
    changes = tuple(sorted(change for edit in changed for change in edit.changes))
    return Edit(said, changed[0].line, changes, changed[-1].why, any=True)
