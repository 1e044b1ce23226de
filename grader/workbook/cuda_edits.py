"""Changes of a few characters that often mend a kernel: indices exchanged, a forgotten `__shared__`, a loop that ends a
step early. Whether one of them does, the judge tries.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from grader.workbook import begins, mixups, own_memory, slips
from grader.workbook.cuda_source import line_at, named_numbers, plain, shared_arrays
from grader.workbook.edit import SEVERAL, Change, Edit, Line, in_place, in_places, instead, lines_of, where
from grader.workbook.slips import numbers

_TWO_INDICES = re.compile(
    r"\b([A-Za-z_]\w*)\[((?:[^\[\]]|\[[^\[\]]{1,60}\]){1,100})\]\[((?:[^\[\]]|\[[^\[\]]{1,60}\]){1,100})\](?!\s*\[)"
)
_ONE_INDEX = re.compile(r"\b([A-Za-z_]\w*)\[([A-Za-z_]\w*)\](?!\s*\[)")
_MOST_ACCESSES = 32  # of a file, that are compared: bounds a stranger's work
_SUM = re.compile(r"([\w.]+)\s*\+\s*(\w+)")
_SUM_COMPARED = re.compile(r"(?:\bif\s*\(|&&|\|\||=\s*\(?)\s*(\w+)\s*\+\s*(\w+)\s*[<>]")
_INDEX_OF_TERM = re.compile(r"\b([A-Za-z_]\w*)\[([A-Za-z_]\w*)(?:\s*\+\s*\w+)?\](?!\s*\[)")
_ROW_COLUMN = re.compile(
    r"\b(\w+)\[\s*(?:\(\s*\w+\s*\)|\w+\()?\s*([A-Za-z_]\w*)\s*\)?\s*\*\s*\w+\s*\+\s*([A-Za-z_]\w*)\s*\]"
)
_TYPE_BEFORE = re.compile(r"\b(?!(?:return|else)\s)\w+\s+$")
_STORED = re.compile(r"\s*(?:[-+*/|&^]|<<|>>)?=(?!=)")
_OF_THREAD = r"(?:[^\]]*\bthreadIdx\b[^\]]*|\s*(?:{names})\s*)"
_STORE_IF = re.compile(
    r"\bif\s*\((?:[^()]|\([^()]*\)){1,300}\)\s*(\{)?\s*((\w+)(?:\[[^\[\]]{1,100}\])+)\s*=(?!=)[^;{}]{1,300};(\s*\})?(?!\s*else)"
)
_LOCAL = re.compile(
    r"^[ \t]+((?:float|double|half|__half|(?:__)?nv_bfloat16|int|unsigned(?:[ \t]+(?:int|long[ \t]+long))?)[ \t]+"
    r"(\w+)((?:\[[^\[\]]*\])*))[ \t]*;"
)
_AXIS = re.compile(r"\b(blockIdx|threadIdx)\.([xyz])\b")
_AXIS_OF_ANY = re.compile(r"\b(?:blockIdx|threadIdx|blockDim|gridDim)\.([xyz])\b")
_BY_X = re.compile(r"\b(\w+)\s*=[^;=]{0,100}\bthreadIdx\.x\s*;")
_LOOP = re.compile(r"\bfor\s*\([^;()]*;\s*([^;()<>=&|]{1,60}?)\s*([<>]=?)\s*([^;()<>=&|]{1,60}?)\s*;")
_IF = re.compile(r"\bif\s*\(\s*([^;()<>=&|]{1,60}?)\s*([<>]=?)\s*([^;()<>=&|]{1,60}?)\s*\)")
_ONE_OF_SEVERAL = re.compile(
    r"(?:\(|&&|\|\||=|\breturn\b)\s*([^;()<>=&|?]{1,60}?)\s*([<>]=?)\s*([^;()<>=&|?]{1,60}?)\s*"
    r"(?=&&|\|\||\)|\?|;)"
)
_INSIDE = re.compile(r"<=?\s*(\w+)\s*&&[^&|<>()]{1,60}<=?\s*(\w+)\s*[);]")
_BEYOND = re.compile(r">=?\s*(\w+)\s*\|\|[^&|<>()]{1,60}>=?\s*(\w+)\s*[);]")

_EMPTY = re.compile(
    r"^([ \t]*)(?:else[ \t]+)?(for|if|while)[ \t]*\((?:[^()]|\((?:[^()]|\([^()]*\)){0,300}\)){1,300}\)[ \t]*(;)"
    r"([ \t]*(?:\n[ \t]*)?\{|[ \t]*\n\1[ \t]+\S)?",
    re.MULTILINE,
)
_SHUFFLE = re.compile(
    r"^([ \t]*(?:for[ \t]*\([^()]*\)[ \t]*\{?[ \t]*)?)(?:(\w+)[ \t]*=[ \t]*)?"
    r"(?=__shfl_(?:down_|up_|xor_)?sync\s*\([^,()]+,\s*(\w+)\s*,)"
)
_PART = re.compile(r"\b(\w+)\s*=\s*(threadIdx\.x|\w+)\s*([%/]|&|>>)\s*\w+\s*[;,]")
_PARTS = {"%": "/", "/": "%", "&": ">>", ">>": "&"}

_OTHER_END = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}

_EVERY_ELEMENT = (
    "Shared memory holds nothing at the start: store every element that is read, also at the edges."
)

_ALONG = "Mostly x, the first number of `grid` and of `block`, runs along the columns, and y along the rows."

_Place = tuple[str, int, Change]
"""An array, the line that is about it, and what is changed there."""


def edits(source: str) -> Iterator[Edit]:
    """The changes to be tried, the likeliest first. Of an element that is stored in one way and read in another both
    places mend it: where it is read comes first."""
    lines = list(lines_of(source))
    yield from _emptied(source)
    yield from begins.edits(source)
    yield from slips.edits(source)
    yield from mixups.edits(source)
    yield from _shuffles(lines)
    yield from _shared(source, lines)
    yield from _parts(lines)
    yield from _stored_if(source)
    yield from _swizzled(source, lines)
    yield from _added_to_other(source, lines)
    yield from _indices(source, lines)
    yield from _as_compared(lines)
    yield from _flat(lines)
    yield from _limits(lines)
    yield from _uneven(lines)
    yield from _axes(lines)
    yield from _all_axes(lines)
    yield from _ends(lines)
    yield from _ends_of_all(lines)
    yield from numbers.edits(source, plain(source), lines)


def _emptied(source: str) -> Iterator[Edit]:
    """No `;` between a condition, or the head of a loop, and what it is meant for: a block, or a line further in."""
    text = plain(source)
    for found in _EMPTY.finditer(text):
        if not found[4] and found[2] != "if":  # a loop that waits
            continue
        at, number = found.start(3), line_at(text, found.start(3))
        why = f"It ends the `{found[2]}`: what follows is done {'once' if found[2] == 'for' else 'in any case'}."
        yield Edit(
            f"the `;` behind `{found[2]} (…)` in line {number} deleted", number, ((at, at + 1, ""),), why
        )


def _shuffles(lines: list[Line]) -> Iterator[Edit]:
    """What a shuffle brings added to what the thread has, in place of it, or of being thrown away."""
    for line in lines:
        found = _SHUFFLE.search(line.text)
        if found and found[2] in (None, found[3]):
            why = "A shuffle gives the value of the other lane, and adds nothing."
            change = (line.start + found.end(1), line.start + found.end(), f"{found[3]} += ")
            yield Edit(f"`{found[3]} += __shfl…` in line {line.number}", line.number, (change,), why)


def _parts(lines: list[Line]) -> Iterator[Edit]:
    """The number of the warp as an index in place of a lane's, or the other way round."""
    parts = [found for line in lines for found in _PART.findall(line.text)]
    others = {
        one: other
        for one, base, sign in parts
        for other, of, opposite in parts
        if base == of and _PARTS[sign] == opposite
    }
    for line in lines:
        for found in _ONE_INDEX.finditer(line.text):
            name, index = found.groups()
            if index in others and not _TYPE_BEFORE.search(line.text[: found.start()]):
                why = "Lanes have the same numbers in every warp."
                yield in_place(line, found, 0, f"{name}[{others[index]}]", why)


def _stored_if(source: str) -> Iterator[Edit]:
    """0 in the elements of shared memory that are only stored where there is an element of the input."""
    text, shared = plain(source), shared_arrays(source)
    stores: list[_Place] = []
    for found in _STORE_IF.finditer(text):
        opened, target, name, closed = found.groups()
        set_before = re.search(
            rf"(?:^|[;{{}}])\s*{re.escape(target)}\s*=(?!=)[^;{{}}]{{1,100}};\s*$", text[: found.start()]
        )
        if name in shared and bool(opened) == bool(closed) and not set_before:
            end = found.end() if opened else found.end() - len(closed or "")
            stores.append((name, line_at(text, found.start()), (end, end, f" else {target} = 0;")))
    for group in _each_and_all(stores):
        each = (f"`{change[2].strip()}` behind the `if` in line {line}" for _, line, change in group)
        changes = tuple(change for _, _, change in group)
        yield Edit(" and ".join(each), group[0][1], changes, _EVERY_ELEMENT)


def _each_and_all(places: list[_Place]) -> list[list[_Place]]:
    return [[place] for place in places] + ([places] if len(places) > 1 else [])


def _shared(source: str, lines: list[Line]) -> Iterator[Edit]:
    """`__shared__` in front of arrays that threads index by their own number, where they meet at barriers, and of what
    they call atomic functions for."""
    if not any("__syncthreads" in line.text for line in lines):
        return
    text = "\n".join(line.text for line in lines)
    own = _OF_THREAD.format(names="|".join(["threadIdx", *dict(named_numbers(text))]))
    arrays: list[_Place] = []
    scalars: set[str] = set()
    atomics = {(each.name, each.declared) for each in own_memory.with_atomics(source)}
    for line in lines:
        found = _LOCAL.search(line.text)
        if not found:
            continue
        by_thread = found[3] and re.search(rf"\b{found[2]}(?:\[[^\]]*\])*\[{own}\]", text)
        if by_thread or (found[2], line.number) in atomics:
            start = line.start + found.start(1)
            arrays.append((found[2], line.number, (start, start, "__shared__ ")))
            scalars |= {found[2]} if not found[3] else set()
    for group in _each_and_all(arrays):
        names = " and ".join(f"`{name}`" for name, _, _ in group)
        lines_in = where([number for _, number, _ in group])
        changes = tuple(change for _, _, change in group)
        what = "a variable" if scalars & {name for name, _, _ in group} else "an array"
        why = f"Without it each thread has {what} of its own."
        yield Edit(f"`__shared__` in front of {names} in {lines_in}", group[0][1], changes, why)


def _by_two_indices(lines: list[Line]) -> Iterator[tuple[Line, re.Match[str]]]:
    """Accesses to elements of two dimensions; declarations are none."""
    for line in lines:
        for found in _TWO_INDICES.finditer(line.text):
            if not _TYPE_BEFORE.search(line.text[: found.start()]):
                yield line, found


def _swizzled(source: str, lines: list[Line]) -> Iterator[Edit]:
    """Columns exchanged by `^` of the row, where some accesses of an array in shared memory have that alone."""
    shared = shared_arrays(source)
    accesses: dict[str, list[tuple[Line, re.Match[str]]]] = {}
    for line, found in _by_two_indices(lines):
        if found[1] in shared:
            accesses.setdefault(found[1], []).append((line, found))
    for name, places in accesses.items():
        key = next(filter(None, (_key(found) for _, found in places)), None)
        others = [(line, found) for line, found in places if key and "^" not in found[3]]
        for line, found in others[:SEVERAL]:
            new = f"{name}[{found[2]}][{found[3]} ^ {(key or '').replace('{}', _bound(found[2]))}]"
            why = f"`{name}` is accessed so elsewhere, and each element has one place."
            yield in_place(line, found, 0, new, why)


def _bound(index: str) -> str:
    """An index as an operand."""
    return index if re.fullmatch(r"[\w.]+", index) else f"({index})"


def _key(access: re.Match[str]) -> str | None:
    """By what an access exchanges columns, with {} in place of its row; None of one that does not."""
    row, (one, sign, other) = access[2].strip(), access[3].partition("^")
    whole = re.compile(rf"(?<![\w.]){re.escape(_bound(row))}(?![\w.])")
    keys = [key for key in (other.strip(), one.strip()) if whole.search(key)]
    return whole.sub("{}", keys[0]) if sign and keys else None


def _added_to_other(source: str, lines: list[Line]) -> Iterator[Edit]:
    """What is added to one of two indices added to the other one, as where the array is accessed elsewhere."""
    shared = shared_arrays(source)
    accesses = [(line, found) for line, found in _by_two_indices(lines) if found[1] in shared]
    for line, found in accesses[:_MOST_ACCESSES]:
        sums = [_SUM.fullmatch(found[side].strip()) for side in (2, 3)]
        for side, total in zip((2, 3), sums, strict=True):
            plain_one = found[5 - side].strip()
            if total is None or sums[3 - side] is not None:
                continue
            elsewhere = re.compile(rf"{re.escape(plain_one)}\s*\+\s*\w+")
            for other, each in accesses[:_MOST_ACCESSES]:
                index = next((each[at] for at in (2, 3) if elsewhere.fullmatch(each[at].strip())), None)
                if each[1] == found[1] and index and (other, each) != (line, found):
                    moved = {side: total[1], 5 - side: f"{plain_one} + {total[2]}"}
                    does = "stores" if _STORED.match(other.text, each.end()) else "reads"
                    why = f"Line {other.number} {does} `{found[1]}` with `{index.strip()}` as an index."
                    yield in_place(line, found, 0, f"{found[1]}[{moved[2]}][{moved[3]}]", why)
                    break


def _indices(source: str, lines: list[Line]) -> Iterator[Edit]:
    """The two indices of one access exchanged, those of the same access wherever it stands, and those of all accesses
    to an array in shared memory that is far from square."""
    read: list[Edit] = []
    stored: list[Edit] = []
    alike: dict[str, list[tuple[Line, re.Match[str]]]] = {}
    of_array: dict[str, list[Edit]] = {}
    for line, found in _by_two_indices(lines):
        name, first, second = found.groups()
        if first == second:
            continue
        edit = in_place(line, found, 0, f"{name}[{second}][{first}]")
        (stored if _STORED.match(line.text, found.end()) else read).append(edit)
        of_array.setdefault(name, []).append(edit)
        alike.setdefault(found[0], []).append((line, found))
    yield from read
    yield from stored
    for places in alike.values():
        name, first, second = places[0][1].groups()
        if len(places) > 1:
            yield in_places(places, 0, f"{name}[{second}][{first}]", "")
    arrays = shared_arrays(source)
    for name, edits_of in of_array.items():
        # A tile whose rows are padded is nearly square: its indices may be exchanged throughout, and nothing changes.
        sides = [[side or 0 for side in array.extents] for array in arrays.get(name, ())]
        if (
            len(edits_of) > 1
            and len(sides) == 1
            and len(sides[0]) == 2
            and max(sides[0]) >= 2 * min(sides[0])
        ):
            lines_in = where([*dict.fromkeys(edit.line for edit in edits_of)])
            changes = tuple(change for edit in edits_of for change in edit.changes)
            yield Edit(f"the two indices of `{name}` exchanged in {lines_in}", edits_of[0].line, changes)


def _as_compared(lines: list[Line]) -> Iterator[Edit]:
    """The sum that a condition compares as the index behind it, in place of one of its terms or another sum."""
    for above, line in ((above, line) for at, above in enumerate(lines) for line in lines[at : at + 3]):
        for compared in dict.fromkeys(_SUM_COMPARED.findall(above.text)):
            terms = " + ".join(compared)
            for found in _INDEX_OF_TERM.finditer(line.text):
                name, index = found.groups()
                if index in compared and found[0].replace(" ", "") != f"{name}[{terms}]".replace(" ", ""):
                    why = f"The condition in line {above.number} compares `{terms}`."
                    yield in_place(line, found, 0, f"{name}[{terms}]", why)


def _flat(lines: list[Line]) -> Iterator[Edit]:
    """Row and column exchanged in an index `row * N + column`."""
    for line in lines:
        for found in _ROW_COLUMN.finditer(line.text):
            name, row, column = found.groups()
            said = f"`{row}` and `{column}` exchanged in the index of `{name}` in line {line.number}"
            changes = tuple(
                (line.start + found.start(side), line.start + found.end(side), found[5 - side])
                for side in (2, 3)
            )
            yield Edit(said, line.number, changes)


def _ends(lines: list[Line]) -> Iterator[Edit]:
    """A comparison by one off, of a loop that then goes on for a step more or less, or of an `if`."""
    for line in lines:
        for found in _LOOP.finditer(line.text):
            if edit := _by_one(line, found, loop=True):
                early = found[2] in ("<", ">")
                why = f"The loop {'ends a step early' if early else 'goes on for a step too many'}."
                yield replace(edit, why=why)
    for line in lines:
        condition = _IF.search(line.text)
        several = () if condition else _ONE_OF_SEVERAL.finditer(line.text)
        for found in [condition] if condition else filter(_may_be_off, several):
            if edit := _by_one(line, found):
                yield edit


def _ends_of_all(lines: list[Line]) -> Iterator[Edit]:
    """The same of all loops that end in the same way, as those that fill a tile and that empty it."""
    alike: dict[str, list[Edit]] = {}
    for line in lines:
        for found in _LOOP.finditer(line.text):
            if edit := _by_one(line, found, loop=True):
                alike.setdefault(edit.said.rpartition(" in line ")[0], []).append(edit)
    for said, edits_of in alike.items():
        if len(edits_of) > 1:
            changes = tuple(change for edit in edits_of for change in edit.changes)
            numbers = where([*dict.fromkeys(edit.line for edit in edits_of)])
            early = "` in place of `" in said and not re.search(r"(?:<=|>=) [^`]*`$", said)
            why = f"The loops {'end a step early' if early else 'go on for a step too many'}."
            yield Edit(f"{said} in {numbers}", edits_of[0].line, changes, why)


def _may_be_off(found: re.Match[str]) -> bool:
    """Whether a comparison among others is one that leaves out the first or the last, or lets in one too many."""
    return found[2] in (">", "<=") or (found[2] == "<" and found[3].endswith(" - 1"))


def _by_one(line: Line, found: re.Match[str], loop: bool = False) -> Edit | None:
    """A comparison that is true once more, or once less. Halved, what is 0 stays 0: no loop goes on behind that."""
    one, sign, other = found.groups()
    if sign == ">" and loop and not other.lstrip("0").isdecimal():
        return None
    new = f"{_OTHER_END[sign]} {other}"
    if sign == ">" and loop:
        new = f"> {int(other) - 1}"
    elif sign == "<" and other.endswith(" - 1"):
        new = f"< {other.removesuffix(' - 1')}"
    start, end = line.start + found.start(2), line.start + found.end(3)
    said = f"{instead(line.text, found.start(1), found.end(3), f'{one} {new}')} in line {line.number}"
    return Edit(said, line.number, ((start, end, new),))


def _limits(lines: list[Line]) -> Iterator[Edit]:
    """The two sizes that indices are compared with, exchanged."""
    for line in lines:
        for found in (*_INSIDE.finditer(line.text), *_BEYOND.finditer(line.text)):
            if found[1] == found[2]:
                continue
            changes = tuple(
                (line.start + found.start(side), line.start + found.end(side), found[3 - side])
                for side in (1, 2)
            )
            said = f"`{found[1]}` and `{found[2]}` exchanged in the condition in line {line.number}"
            yield Edit(said, line.number, changes)


def _uneven(lines: list[Line]) -> Iterator[Edit]:
    """One more x, or y, among the indices of lines that have a block's and a thread's: one of them was to be the
    other."""
    indices = [(line, found) for line in lines if len(found := list(_AXIS.finditer(line.text))) == 2]
    indices = [
        (line, found) for line, found in indices if {one[1] for one in found} == {"blockIdx", "threadIdx"}
    ]
    more = {}
    for name in ("blockIdx", "threadIdx"):
        axes = [one[2] for _, found in indices for one in found if one[1] == name]
        if axes.count("x") != axes.count("y") and "z" not in axes:
            more[name] = max("xy", key=axes.count)
    for line, found in indices if len(indices) > 1 else []:
        wrong = [one for one in found if more.get(one[1]) == one[2]]
        if not more or len(wrong) < len(more):
            continue
        other = {"x": "y", "y": "x"}
        new = " and ".join(f"{one[1]}.{other[one[2]]}" for one in wrong)
        old = " and ".join(one[0] for one in wrong)
        changes = tuple((line.start + one.start(2), line.start + one.end(2), other[one[2]]) for one in wrong)
        yield Edit(f"{new} in place of {old} in line {line.number}", line.number, changes)


def _axes(lines: list[Line]) -> Iterator[Edit]:
    """x and y of a built-in exchanged in lines that follow each other: where a block, or a thread, has another place in
    the output than in the input, they are written twice. In all lines it is the launch that may have them exchanged,
    but for z, which no launch is tried with. Where the text has one of them alone, the other may be 0 throughout: what
    comes out right then does so by accident."""
    for name, one, other in (("blockIdx", "x", "y"), ("threadIdx", "x", "y"), ("blockIdx", "y", "z")):
        turned = {one: other, other: one}
        places = [
            (line.number, line.start + found.start(2), turned[found[2]])
            for line in lines
            for found in _AXIS.finditer(line.text)
            if found[1] == name and found[2] in turned
        ]
        numbers = sorted({number for number, _, _ in places})
        runs = [
            [number for _, number in run]
            for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
        ]
        both = turned.keys() <= {axis for _, _, axis in places}
        if not both or (len(runs) == 1 and other != "z"):
            continue
        if other == "z":
            runs = [numbers]
        # Exchanged where x counts rows, it counts columns, and neighbours in a warp are neighbours in memory.
        for run in sorted(runs, key=lambda run: not _counts_rows(lines, run)):
            changes = tuple((at, at + 1, axis) for number, at, axis in places if number in run)
            said = f"{name}.{one} and {name}.{other} exchanged in {where(run)}"
            yield Edit(said, run[0], changes)


def _counts_rows(lines: Sequence[Line], numbers: Collection[int]) -> bool:
    """Whether what is made of threadIdx.x in some lines is multiplied in an index."""
    names = {found[1] for line in lines if line.number in numbers for found in _BY_X.finditer(line.text)}
    rows = rf"\b(?:{'|'.join(names)})\s*\)?\s*\*\s*\w+\s*\+"
    return bool(names) and any(re.search(rows, line.text) for line in lines)


def _all_axes(lines: list[Line]) -> Iterator[Edit]:
    """x and y of all built-ins exchanged, for a launch that is as it has to be."""
    other = {"x": "y", "y": "x"}
    places = [(line, found) for line in lines for found in _AXIS_OF_ANY.finditer(line.text)]
    if {found[1] for _, found in places} == other.keys():
        changes = tuple(
            (line.start + found.start(1), line.start + found.end(1), other[found[1]])
            for line, found in places
        )
        numbers = list(dict.fromkeys(line.number for line, _ in places))
        yield Edit(f"`.x` and `.y` exchanged in {where(numbers)}", numbers[0], changes, _ALONG)
