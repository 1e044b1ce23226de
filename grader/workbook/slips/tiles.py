"""Arrays in shared memory: which of two, how long, with which halo, who fills them, and where they are read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from grader.workbook.cuda_source import constant, numbers, plain, shared_extents
from grader.workbook.edit import SEVERAL, Edit, Line, in_place, in_places

_ROWS = 20  # that are looked at: bounds a stranger's work

_OTHER_BUFFER = re.compile(r"\[\s*(?:1\s*-\s*(\w+)|(\w+)\s*\^\s*1)\s*\]")
_LOADED = re.compile(
    r"(?P<begins>(?<![=!<>])=|[(,]|\breturn\b)?\s*(?P<all>(?<![\w.&])(?P<array>\w+)"
    r"\[\s*(?P<index>[A-Za-z_][\w.]*(?:\s*%\s*\w+)?)\s*\])(?!\s*(?:[.\[]|[-+*/%&|^]?=(?!=)|\+\+|--))"
    r"(?P<ends>\s*[;,)])?"
)
"""An element by the number of a thread, or of a lane, and whether it is all of an assignment or of an argument."""
_WITH_HALO = re.compile(
    r"(?:__shared__[^;]*\[|[<>]=?|\bconst(?:expr)?\s+\w+\s+\w+\s*=)\s*"
    r"(?P<both>(?P<one>[A-Za-z_]\w*)\s*\+\s*(?P<other>[A-Za-z_]\w*))(?=\s*(?:[];)]|&&|\|\||-\s*1\b))"
)
_BEHIND_HALO = re.compile(r"\b(\w+)\s*=\s*threadIdx\.x\s*\+\s*\w+\s*;")
_INDEX = re.compile(r"\b(\w+)\[([^\[\]]{1,100})\]")
_RIGHT_HALO = re.compile(
    r"\b(?P<array>\w+)\[(?P<index>\s*(?:threadIdx\.x|\w+)\s*\+\s*(?:blockDim\.x|\w+)\s*)\]\s*=(?!=)"
)
_BY_ROWS = re.compile(
    r"\b(?P<array>\w+)(?:\[[^\[\]]{1,60}\])*?\[\s*(?P<row>[\w.]+)\s*\+\s*(?P<by>[A-Za-z_]\w*)\s*\]"
)
FLAT = re.compile(
    r"\b(?P<array>\w+)\[[^\[\]]{0,60}?(?P<times>\*\s*(?P<by>\w+|\([^()\[\]]{1,60}\)))\s*\+[^\[\]]{1,60}\]"
)
"""An access to an array of one dimension by rows of a length."""
_FACTOR = re.compile(r"(?<![\w.])(\w+|\([^()]{1,60}\))(?=\s*\*)|(?<=\*)\s*(\w+|\([^()]{1,60}\))")
_CONSTANT = re.compile(r"\b(?:constexpr|const)\s+\w+\s+(?P<all>(?P<name>\w+)\s*=\s*(?P<most>\d+))\s*;")
_LOOP_TO = re.compile(r"\bfor\s*\([^;]{0,60}\b\w+\s*=\s*0\s*;\s*\w+\s*<\s*([A-Z]\w*)\s*;[^;)]{0,40}\+=")
_OF_BLOCK = re.compile(r"\bblockIdx\.(?P<axis>[xyz])\s*\*\s*(?P<many>blockDim\.(?P=axis))\b")
_FILLS = re.compile(r"\bif\s*\(\s*(threadIdx\.([xy])\s*==\s*0)\s*\)")


def buffers(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """The other of two buffers."""
    names = {one or other for one, other in _OTHER_BUFFER.findall(text)}
    for line in reversed(lines):  # where the result is read, before where the steps are
        for found in re.finditer(r"\[\s*(\w+)\s*\]|" + _OTHER_BUFFER.pattern, line.text):
            name = found[2] or found[3]
            if name or found[1] in names:
                new = f"[{name}]" if name else f"[1 - {found[1]}]"
                yield in_place(
                    line, found, 0, new, "The buffers change places after each step, the last one too."
                )


def short_arrays(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """An array in shared memory is read by an index that goes further than it."""
    extents = shared_extents(source)
    loads = (
        (line, found)
        for line in lines
        for found in _LOADED.finditer(line.text if "__shared__" not in line.text else "")
        if found["array"] in extents and not re.search(rf"\b{re.escape(found['index'])}\s*<", line.text)
    )
    for line, found in islice(loads, _ROWS):
        name, index = found["array"], found["index"]
        new = f"{index} < {extents[name]} ? {name}[{index}] : 0"
        whole = found["begins"] and found["ends"]
        why = f"`{name}` has no more elements."
        yield in_place(line, found, "all", new if whole else f"({new})", why)


def lengths(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """An array in shared memory whose length counts rows as shorter than its indices do, or is the number of its last
    element."""
    extents = shared_extents(source)
    rows = {(found["array"], found["by"]) for line in lines for found in FLAT.finditer(line.text)}
    rows |= {pair for pair in _factors(lines) if pair[0] in extents and constant(source, pair[1]) is not None}
    for line in lines:
        for name in extents if "__shared__" in line.text else ():
            for by in sorted(by for array, by in rows if array == name)[:_ROWS]:
                declared = re.search(
                    rf"\b{name}\s*\[\s*(?P<all>(?:[\w.]+\s*\*\s*)*(?P<row>\w+))\s*\]", line.text
                )
                if declared and (changed := _by_rows(source, declared, by)):
                    why = f"A row of `{name}` has `{by.strip('()')}` elements where it is accessed."
                    yield in_place(line, declared, *changed, why)
        defined = _CONSTANT.search(line.text)
        for name, extent in extents.items() if defined else ():
            most = int(defined["most"]) if defined and defined["name"] == extent else 0
            in_launch = re.search(rf"^\s*//.*\b{extent}\b", source, re.MULTILINE)
            if defined and most and not most & (most + 1) and not in_launch:
                why = f"`{name}` has `{extent}` elements, and element 0 is the first: the last is {most - 1}."
                yield in_place(line, defined, "all", f"{extent} = {most + 1}", why)


def _factors(lines: Sequence[Line]) -> set[tuple[str, str]]:
    """Arrays, and what stands in front of or behind a `*` in their indices, in whatever order."""
    return {
        (name, one or other)
        for line in lines
        for name, index in _INDEX.findall(line.text)
        for one, other in _FACTOR.findall(index)
    }


def _by_rows(source: str, declared: re.Match[str], by: str) -> tuple[str, str] | None:
    """What is to be replaced in an array's declared length that has rows too short, and by what."""
    if declared["all"] != declared["row"]:
        return ("row", by) if by not in (declared["row"], f"({declared['row']})") else None
    length, row = constant(source, declared["all"]), constant(source, by)
    if not length or not row or row < 2 or length % (row - 1) or length % row == 0:
        return None
    return "all", f"{length // (row - 1)} * {by}"  # rows are one longer, as those that are padded


def halos(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A tile with a halo at one end only: in its length, in how far it is filled, or in both."""
    known, alike = numbers(source), dict[tuple[str, str], list[tuple[Line, re.Match[str]]]]()
    for line in lines if "__shared__" in source else ():
        for found in _WITH_HALO.finditer(line.text):
            one, other = found["one"], found["other"]
            if "__shared__" not in line.text and not {one, other} <= known.keys():
                continue
            first = known.get(one, 0) < known.get(other, 0) and one in known
            new = f"2 * {one} + {other}" if first else f"{one} + 2 * {other}"
            alike.setdefault((found["both"], new), []).append((line, found))
    for (_, new), places in alike.items():
        for some in (places, *([place] for place in places[:SEVERAL])):
            yield in_places(some, "both", new, "A tile has a halo at either end.")


def behind_halo(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A place in a tile by threadIdx.x, where another variable counts the halo in front as well."""
    for name in _BEHIND_HALO.findall(text):
        for line in lines:
            for found in _INDEX.finditer(line.text):
                new = re.sub(r"\bthreadIdx\.x\b", name, found[2])
                if new != found[2]:
                    why = f"`{name}` counts the elements in front of the thread's own too."
                    yield in_place(line, found, 0, f"{found[1]}[{new}]", why)


def _with_halos(source: str) -> dict[str, tuple[str, str]]:
    """The tiles with a halo at either end: by name, a block's own elements and those of a halo, as they are written."""
    tiles = {}
    for name, extent in shared_extents(source).items():
        constant = re.search(rf"\b{re.escape(extent)}\s*=\s*([\w\s+*]{{1,60}});", plain(source))
        sides = re.sub(
            r"\b2\s*\*\s*(\w+)|\b([A-Za-z_]\w*)\s*\*\s*2\b",
            r"\1\2 + \1\2",
            constant[1] if constant else extent,
        )
        terms = Counter(each.strip() for each in sides.split("+"))
        if sorted(terms.values()) == [1, 2]:
            (halo, _), (block, _) = terms.most_common()
            tiles[name] = block, halo
    return tiles


def right_halo(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """The halo behind a block's own elements, stored as if there were none in front of them, or fetched from the
    middle of them."""
    tiles = _with_halos(source)
    for line in lines:
        for found in _RIGHT_HALO.finditer(line.text):
            block, halo = tiles.get(found["array"], ("", ""))
            index = found["index"].strip()
            names = set(re.split(r"\s*\+\s*", index))
            if names & {block, "blockDim.x"} and halo not in names:
                why = f"The tile has `{halo}` elements in front of the block's own too."
                yield in_place(line, found, "index", f"{index} + {halo}", why)
    for block, halo in dict.fromkeys(tiles.values()):
        taken: dict[str, list[tuple[Line, re.Match[str]]]] = {}
        outside = (
            rf"\b(?:{'|'.join(tiles)})\[[^\[\]]*\]"
            rf"|(?<![\w.])(?P<first>[A-Za-z_]\w*)(?P<on>\s*\+\s*{halo})\b(?!\s*[-+*])"
        )
        for line in lines:
            for found in re.finditer(outside, line.text) if not re.search(r"\bfor\b", line.text) else ():
                if found["first"] not in (None, block):
                    taken.setdefault(found["first"], []).append((line, found))
        for first, places in taken.items():
            why = f"The halo on the right lies behind all `{block}` elements of the block."
            yield in_places(places, 0, f"{first} + {block}", why)


def begins(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A tile with a halo that begins at the block's own elements, or behind them."""
    for block, halo in dict.fromkeys(_with_halos(source).values()):
        of_block = rf"blockIdx\.[xyz]\s*\*\s*(?:{re.escape(block)}|blockDim\.[xyz])"
        pattern = re.compile(rf"=\s*(?P<all>(?P<own>{of_block})(?:\s*\+\s*{re.escape(halo)})?)\s*[;,]")
        for line in lines:
            for found in pattern.finditer(line.text):
                why = f"The tile begins `{halo}` elements in front of the block's own: the halo on the left."
                yield in_place(line, found, "all", f"{found['own']} - {halo}", why)


def windows(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A window in a tile with a halo that begins at another place than its thread's own."""
    tiles = _with_halos(source)
    reads = rf"\b(?P<array>{'|'.join(tiles)})\[(?P<index>[^\[\]]+)\](?!\s*=(?!=))"
    for line in lines if tiles else ():
        for found in re.finditer(reads, line.text) if "__shared__" not in line.text else ():
            index, (_, halo) = found["index"], tiles[found["array"]]
            less = re.sub(rf"\s*\+\s*{halo}\b|\b{halo}\s*\+\s*", "", index, count=1)
            for new in (less,) if less != index else (f"{index} + {halo}", f"{index} - {halo}"):
                why = f"The tile begins `{halo}` elements in front of the block's own, and so does the first window."
                yield in_place(line, found, "index", new, why)


def rows(lines: Sequence[Line]) -> Iterator[Edit]:
    """A tile that is stored several rows by a thread, and read one, or the other way round."""
    taken = {each.group("array", "row", "by") for line in lines for each in _BY_ROWS.finditer(line.text)}
    for line in lines:
        for array, row, by in sorted(taken)[:_ROWS]:
            one = re.compile(rf"\b{array}(?:\[[^\[\]]{{1,60}}\])*?\[(?P<row>\s*{re.escape(row)}\s*)\]")
            for found in one.finditer(line.text):
                if not re.search(rf"\[[^\[\]]*\b{by}\b", found[0]):
                    why = f"Else all steps of the loop take the same of `{array}`."
                    yield in_place(line, found, "row", f"{row} + {by}", why)


def blocks_apart(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """How far blocks are apart, where the threads of each go on in a loop to as many as a constant says."""
    ends = [*dict.fromkeys(_LOOP_TO.findall(text))][:SEVERAL]
    for line in lines if ends else ():
        for found in _OF_BLOCK.finditer(line.text):
            for end in ends:
                why = f"A block goes on to `{end}` in a loop, and so do those before it."
                yield in_place(line, found, "many", end, why)


def who_fills(lines: Sequence[Line]) -> Iterator[Edit]:
    """The threads along one axis fill a tile, of which each element belongs to one along the other."""
    for at, line in enumerate(lines):
        found = _FILLS.search(line.text)
        store = re.compile(rf"\[[^\]]*threadIdx\.{found[2]}[^\]]*\]\s*=(?!=)") if found else None
        stores = [each.number for each in lines[at : at + 3] if store and store.search(each.text)]
        if found and stores:
            other = {"x": "y", "y": "x"}[found[2]]
            why = f"Where threadIdx.{found[2]} is 0 for all of them, they all store the same element."
            yield replace(in_place(line, found, 1, f"threadIdx.{other} == 0", why), line=stores[0])
