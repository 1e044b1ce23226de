"""Slips in what a kernel computes with: where a loop begins, how far it goes on, how an index is formed, what stands
for elements that are not there. Each has a text that tells it, and a change that mends it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from grader.workbook.cuda_source import FUNCTION, bytes_of, int_sizes, line_at, plain, shared_extents
from grader.workbook.edit import SEVERAL, Edit, Line, in_front, in_place, in_places, lines_of, where

_HALVING = re.compile(
    r"\b(?P<name>\w+)\s*=\s*(?P<start>[^;=\n]{1,40}?)\s*;\s*(?:while\s*\(\s*)?(?P=name)\s*(?:>\s*0|>=\s*1|!=\s*0)\s*[;)]"
    r"(?=[^~]{0,400}?\b(?P=name)\s*(?:/=\s*2|>>=\s*1|=\s*(?P=name)\s*(?:/\s*2|>>\s*1))\s*[;)])"
)
_OTHER_BUFFER = re.compile(r"\[\s*(?:1\s*-\s*(\w+)|(\w+)\s*\^\s*1)\s*\]")
_LOADED = re.compile(r"=\s*(\w+)\[\s*([A-Za-z_]\w*)\s*\]\s*;")
_PART = re.compile(r"\b\w+\s*=\s*(?P<base>[\w.]+)\s*(?P<sign>[/%])\s*(?P<by>\w+)\s*;")
_WITH_HALO = re.compile(r"\[\s*([A-Za-z_]\w*)\s*\+\s*([A-Za-z_]\w*)\s*\]")
_BEHIND_HALO = re.compile(r"\b(\w+)\s*=\s*threadIdx\.x\s*\+\s*\w+\s*;")
_INDEX = re.compile(r"\b(\w+)\[([^\[\]]{1,100})\]")
_RIGHT_HALO = re.compile(
    r"\b(?P<array>\w+)\[(?P<index>\s*(?:threadIdx\.x|\w+)\s*\+\s*(?:blockDim\.x|\w+)\s*)\]\s*=(?!=)"
)
_BY_ROWS = re.compile(
    r"\b(?P<array>\w+)(?:\[[^\[\]]{1,60}\])*?\[\s*(?P<row>[\w.]+)\s*\+\s*(?P<by>[A-Za-z_]\w*)\s*\]"
)
_BEGUN = re.compile(
    r"\b(?:float|double|int|unsigned)\s+(?P<sum>\w+)\s*=\s*(?P<first>(?P<array>\w+)\[[^\[\]]{1,60}\])\s*;"
)
_AS_ANOTHER = re.compile(r"\b(?P<name>\w+)\s*=\s*(?P<first>[A-Za-z_]\w*)\s*\+\s*[^;=]{1,60};")
_FILLS = re.compile(r"\bif\s*\(\s*threadIdx\.([xy])\s*==\s*0\s*\)")
_CUT = re.compile(r"(?<!unsigned )\b(int|unsigned|short|long)\s+\w+\s*=(?!\s*reinterpret_cast)[^;=]{0,100}\[")
_CUT_SUM = re.compile(r"^\s*(int|unsigned|long)\s+(\w+)\s*=\s*0\s*;")
_CUT_SHARED = re.compile(r"__shared__\s+(int|unsigned)\s+\w+\s*\[")
_CUT_RESULT = re.compile(
    r"__device__\s+(?:(?:inline|static|constexpr|__forceinline__|__noinline__)\s+)*(int|unsigned|long)\s+\w+\s*\([^()]*\bfloat\s+\w"
)
_CLAMPED = re.compile(
    r"=\s*(?P<clamp>(?P<one>[\w+ -]{1,40}?)\s*>=?\s*0\s*\?\s*(?P=one)\s*:\s*0"
    r"|max\(\s*(?P<two>[^,()]{1,40}),\s*0\s*\))\s*;"
)
_CLAMPED_IF = re.compile(
    r"\bif\s*\(\s*(?P<name>\w+)\s*(?:<\s*0|<=\s*-\s*1|>=?\s*\w+(?:\s*-\s*1)?)\s*\)\s*\{?\s*"
    r"(?P<set>(?P=name)\s*=\s*(?:0|\w+\s*-\s*1)\s*;)"
)
_BETWEEN = r"(?P<clamp>(?:max|min)\((?:[^()]{0,60}\b)?(?:max|min)\([^()]{1,80}\)[^()]{0,60}\))"
_CLAMPED_INDEX = re.compile(rf"\b(?P<array>\w+)\[\s*{_BETWEEN}\s*\]")
_CLAMPED_PLACE = re.compile(rf"\b(?P<name>\w+)\s*=\s*{_BETWEEN}\s*;")
_OR_ANOTHER = re.compile(r"\?[^:;?]{1,100}:\s*(\w+\[[^\[\]]{1,60}\])\s*;")
_VECTORS = re.compile(r"\b(\w+)\s*=\s*\w+\s*/\s*(2|4|8|16)\s*;")
_ROUNDED_UP = re.compile(r"=\s*(\(\s*(\w+)\s*\+\s*(\d+)\s*\)\s*/\s*(\d+))\s*;")
_DIVIDED = re.compile(
    r"\b(?P<name>\w+)\s*=\s*(?P<base>[A-Za-z_][\w.]*)\s*(?P<sign>[/%])\s*(?P<by>[A-Za-z_]\w*|32)\s*;"
)
_ONE_OF_REST = re.compile(r"\b(\w+)\s*==\s*0\s*&&\s*(\w+\s*%\s*\w+)(?:\s*(?:!=|>)\s*0)?")
_CAST = re.compile(
    r"(?:\breinterpret_cast\s*<|\()\s*(?:const\s+)?(?P<wide>[A-Za-z_][\w ]*?)\s*(?:const\s*)?\*\s*[>)]\s*"
    r"(?:\(\s*|\(?\s*&\s*)(?P<place>(?P<array>\w+)\s*[+[]\s*(?P<index>[A-Za-z_]\w*)\s*(?:\]|(?=\))))"
)
_LEFT_AT = re.compile(
    r"\bif\s*\((?:[^();{}]|\([^()]{0,100}\)){0,100}[<>](?:[^();{}]|\([^()]{0,100}\)){0,100}\)\s*\{?\s*(?P<leave>break)\s*;"
)
_BY_BLOCK = re.compile(r"\+=\s*(blockDim\.x|[A-Z][A-Z_0-9]*)\s*\)|=\s*(blockDim\.x)\s*;")
_BY_BLOCKS = re.compile(r"\+=\s*(gridDim\.x)\s*\)")
_ALL_OF_THEM = re.compile(
    r"\bfor\s*\(\s*(?:int|size_t|unsigned)\s+(?P<index>\w+)\s*=\s*(?P<start>0|threadIdx\.x)\s*;\s*(?P=index)\s*<\s*\w+\s*;"
    r"\s*(?P<step>\+\+(?P=index)|(?P=index)\+\+|(?P=index)\s*\+=\s*(?:blockDim\.x|[A-Z][A-Z_0-9]*))\s*\)"
)

_ROUNDED_DOWN = re.compile(
    r"\b(?:int|unsigned|size_t|auto)\s+\w+\s*=\s*(?P<both>(?P<size>\w+)\s*/\s*(?P<by>\w+))\s*;"
)
_OF_BLOCK = r"(?P<first>blockIdx\.(?P<axis>[xyz])\s*\*\s*(?:\w+|blockDim\.[xyz])\s*\+\s*threadIdx\.(?P=axis))"
_PRODUCT = re.compile(rf"=\s*(?P<all>{_OF_BLOCK}\s*\*\s*(?P<by>\w+))\s*[;+]")
_OTHER_INDEX = {"threadIdx": "blockIdx", "blockIdx": "threadIdx"}
_RUN = re.compile(rf"\b(?P<name>\w+)\s*=\s*(?P<start>[A-Za-z_]\w*|{_OF_BLOCK})\s*;")
_TURNED = re.compile(
    r"\b(?P<all>threadIdx\.(?P<axis>[xyz])\s*\*\s*(?:[A-Za-z_]\w*|blockDim\.(?P=axis)|\d+)\s*\+\s*blockIdx\.(?P=axis)"
    r"|blockIdx\.(?P<one>[xyz])\s*\+\s*threadIdx\.(?P=one)\s*\*\s*(?:[A-Za-z_]\w*|blockDim\.(?P=one)|\d+)"
    r"|(?:[A-Za-z_]\w*|blockDim\.(?P<other>[xyz]))\s*\*\s*threadIdx\.(?P<by>[xyz])\s*\+\s*blockIdx\.(?P=by))"
)
_FROM = re.compile(
    r"\bfor\s*\([^;=]{0,40}?\b(?P<name>\w+)\s*=\s*(?P<start>[A-Za-z_]\w*|blockIdx\.[xyz]\s*\*\s*\w+)(?:\s*\+[^;]{1,40})?;"
    r"\s*(?P=name)\s*<=?\s*(?P<end>\w+)\s*(?:;|&&)"
)
_ONE_THREAD = re.compile(
    r"\bif\s*\(\s*(?:threadIdx\.x|\w+)\s*==\s*0\s*\)|\bif\s*\(\s*!\s*(?:threadIdx\.x|\w+)\s*\)"
)
_STORED_AT = re.compile(r"(?:^|[;{)])\s*(?P<array>\w+)\[(?P<index>[^\[\]]{1,60})\]\s*=(?!=)")
_UNSIGNED_FROM = re.compile(
    r"\b(?:unsigned(?:\s+(?:int|long(?:\s+long)?))?|size_t|u?int(?:32|64)_t)\s+\w+\s*=\s*"
    r"(?P<both>(?P<one>\w+)\s*-\s*(?P<other>\w+))\s*[;,]"
)
_ADDS_ALL = re.compile(
    r"^[ \t]*(?P<add>)atomicAdd\(\s*(?:\w+|&\s*\w+\[(?:0|blockIdx\.[xyz])\])\s*,\s*[A-Za-z_]\w*(?:\[0\])?\s*\)\s*;"
)
_REST = re.compile(r"\bif\s*\(\s*(?P<one>)threadIdx\.x\s*<\s*(?:\w+\s*(?:%|&)\s*)?\w+\s*\)")
_REST_LOOP = re.compile(
    r"\bfor\s*\([^;=]{0,20}?\b(?P<name>\w+)\s*=\s*(?:\w+\s*[*]\s*)?[A-Za-z_]\w*\s*(?:/\s*\w+\s*\*\s*\w+\s*)?"
    r"\+\s*threadIdx\.x\s*;\s*(?P<one>)(?P=name)\s*<\s*\w+\s*;"
)
_ARGUMENTS = r"(?:[^();]|\((?:[^()]|\([^()]*\))*\)){1,300}"
_ARGUMENT = re.compile(r"\s*((?:[^(),\[\]]|\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])+?)\s*(?:,|$)")
_WARP = ("32", "warpSize")
_OF_WARP = "The remainder counts lanes in a warp, the quotient warps."
_OF_ROW = "The quotient counts rows, the remainder columns."
_INTEGERS_CUT = "An integer keeps no fractions."

_LOOP = re.compile(r"\b(for|while|do|switch)\b")

_MOST, _CALLS = 20_000, 20  # characters, and calls, that are looked at: bounds a stranger's work

HALF_A_WARP = 16
"""Lanes, by which the first of a warp's shuffles goes."""


def edits(source: str) -> Iterator[Edit]:
    """The changes to be tried."""
    text, lines = plain(source), list(lines_of(source))
    yield from _starts(text, lines)
    yield from _buffers(text, lines)
    yield from _short_arrays(source, lines)
    yield from _parts(lines)
    yield from _halos(lines)
    yield from _behind_halo(text, lines)
    yield from _right_halo(source, lines)
    yield from _begins_of_tiles(source, lines)
    yield from _windows(source, lines)
    yield from _rows_of_tile(lines)
    yield from _begun_with(text, lines)
    yield from _unguarded(text, lines)
    yield from _who_fills(lines)
    yield from _cut(text, lines)
    yield from _at_ends(lines)
    yield from _clamped(text, lines)
    yield from _vectors(text, lines)
    yield from _casts(text, lines)
    yield from islice(_left(text[:_MOST]), SEVERAL)
    yield from _from_the_end(text, lines)
    yield from _strides(lines)
    yield from _rounded_down(lines)
    yield from _products(lines)
    yield from _turned(lines)
    yield from _runs(text, lines)
    yield from _loop_ends(lines)
    yield from _below_0(lines)
    yield from _of_one_thread(source, lines)
    yield from islice(_exchanged(text[:_MOST]), _CALLS)
    yield from _one_of_all(lines)


def _starts(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A loop that halves its step begins with another than half of a warp, or of what there is."""
    for found in _HALVING.finditer(text):
        start, line = found["start"], lines[line_at(text, found.start()) - 1]
        of_block = re.sub(r"\s*/\s*\d+$", "", start) + " / 2"
        new = str(HALF_A_WARP) if start.isdigit() else of_block
        if new != start:
            far = int(start) > HALF_A_WARP if start.isdigit() else "/" not in start
            why = (
                "The first step reaches too far."
                if far
                else "The first step leaves out what lies further on."
            )
            said = f"`{found['name']} = {new}` in place of `{found['name']} = {start}` in line {line.number}"
            yield Edit(said, line.number, ((*found.span("start"), new),), why)


def _buffers(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
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


def _short_arrays(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """An array in shared memory is read by an index that goes further than it."""
    extents = shared_extents(source)
    for line in lines:
        for found in _LOADED.finditer(line.text):
            name, index = found.groups()
            if name in extents:
                new = f"{index} < {extents[name]} ? {name}[{index}] : 0"
                change = (line.start + found.start(1), line.start + found.end() - 1, new)
                said = f"`{new}` in place of `{name}[{index}]` in line {line.number}"
                yield Edit(said, line.number, (change,), f"`{name}` has no more elements.")


def _parts(lines: Sequence[Line]) -> Iterator[Edit]:
    """Quotient and remainder exchanged, as of a thread's warp and lane."""
    found = [(line, part) for line in lines for part in _PART.finditer(line.text)]
    for line in lines:
        for part in _DIVIDED.finditer(line.text):
            if sum(each["base"] == part["base"] for _, each in found) == 1:
                sign = {"/": "%", "%": "/"}[part["sign"]]
                new = f"{part['base']} {sign} {part['by']}"
                change = (line.start + part.start("sign"), line.start + part.end("sign"), sign)
                said = (
                    f"`{new}` in place of `{part['base']} {part['sign']} {part['by']}` in line {line.number}"
                )
                yield Edit(said, line.number, (change,), _OF_WARP if part["by"] in _WARP else _OF_ROW)
    for (one, first), (other, second) in pairwise(found):
        same = first["base"] == second["base"] and first["by"] == second["by"]
        if same and first["sign"] != second["sign"]:
            changes = tuple(
                (line.start + part.start("sign"), line.start + part.end("sign"), sign)
                for line, part, sign in ((one, first, second["sign"]), (other, second, first["sign"]))
            )
            said = f"`/` and `%` exchanged in lines {one.number} and {other.number}"
            yield Edit(said, one.number, changes, _OF_WARP)


def _halos(lines: Sequence[Line]) -> Iterator[Edit]:
    """A tile with a halo at one end only."""
    for line in lines:
        if "__shared__" in line.text:
            for found in _WITH_HALO.finditer(line.text):
                new = f"[{found[1]} + 2 * {found[2]}]"
                yield in_place(line, found, 0, new, "A tile has a halo at either end.")


def _behind_halo(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
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


def _right_halo(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
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
            changes = tuple(
                (line.start + found.start("on"), line.start + found.end("on"), f" + {block}")
                for line, found in places
            )
            numbers = [line.number for line, _ in places]
            said = (
                f"`{first} + {block}` in place of `{first} + {halo}` in {where(list(dict.fromkeys(numbers)))}"
            )
            why = f"The halo on the right lies behind all `{block}` elements of the block."
            yield Edit(said, numbers[0], changes, why)


def _begins_of_tiles(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A tile with a halo that begins at the block's own elements, or behind them."""
    for block, halo in dict.fromkeys(_with_halos(source).values()):
        of_block = rf"blockIdx\.[xyz]\s*\*\s*(?:{re.escape(block)}|blockDim\.[xyz])"
        begins = re.compile(rf"=\s*(?P<all>(?P<own>{of_block})(?:\s*\+\s*{re.escape(halo)})?)\s*[;,]")
        for line in lines:
            for found in begins.finditer(line.text):
                why = f"The tile begins `{halo}` elements in front of the block's own: the halo on the left."
                yield in_place(line, found, "all", f"{found['own']} - {halo}", why)


def _windows(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
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


def _rows_of_tile(lines: Sequence[Line]) -> Iterator[Edit]:
    """A tile that is stored several rows by a thread, and read one, or the other way round."""
    taken = {each.group("array", "row", "by") for line in lines for each in _BY_ROWS.finditer(line.text)}
    for line in lines:
        for array, row, by in sorted(taken)[:_CALLS]:
            one = re.compile(rf"\b{array}(?:\[[^\[\]]{{1,60}}\])*?\[(?P<row>\s*{re.escape(row)}\s*)\]")
            for found in one.finditer(line.text):
                if not re.search(rf"\[[^\[\]]*\b{by}\b", found[0]):
                    why = f"Else all steps of the loop take the same of `{array}`."
                    yield in_place(line, found, "row", f"{row} + {by}", why)


def _begun_with(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A sum that begins with an element which a loop adds as well."""
    for line in lines:
        for found in _BEGUN.finditer(line.text):
            if re.search(rf"\b{found['sum']}\s*\+=[^;]{{0,100}}\b{found['array']}\[", text[line.start :]):
                why = f"The loop adds `{found['first']}` too."
                yield in_place(line, found, "first", "0", why)


def _unguarded(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A second element that is stored, or added, by a thread of which a condition knows the first alone."""
    for another in islice(_AS_ANOTHER.finditer(text[:_MOST]), _CALLS):
        name, first = another["name"], another["first"]
        limit = re.search(rf"\bif\s*\(\s*{first}\s*(?:<|>=)\s*(\w+)\s*\)", text)
        if limit and not re.search(rf"\b{name}\s*(?:<|>=)", text):
            stored, added = rf"\w+\[\s*{name}\s*\]\s*[-+*]?=(?!=)", rf"\w+\s*\+=[^;]*\[\s*{name}\s*\]"
            taken = re.compile(rf"^\s*(?P<own>)(?:{stored}|{added})")
            for line in lines:
                if found := taken.search(line.text):
                    new = f"if ({name} < {limit[1]}) "
                    why = "Each element that a thread takes has a condition of its own."
                    yield in_front(line, found.start("own"), new, "the assignment", why)


def _who_fills(lines: Sequence[Line]) -> Iterator[Edit]:
    """The threads along one axis fill a tile, of which each element belongs to one along the other."""
    for at, line in enumerate(lines):
        found = _FILLS.search(line.text)
        store = re.compile(rf"\[[^\]]*threadIdx\.{found[1]}[^\]]*\]\s*=(?!=)") if found else None
        stores = [each.number for each in lines[at : at + 3] if store and store.search(each.text)]
        if found and stores:
            other = {"x": "y", "y": "x"}[found[1]]
            change = (line.start + found.start(1), line.start + found.end(1), other)
            said = f"`threadIdx.{other} == 0` in place of `threadIdx.{found[1]} == 0` in line {line.number}"
            why = f"Where threadIdx.{found[1]} is 0 for all of them, they all store the same element."
            yield Edit(said, stores[0], (change,), why)


def _cut(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Numbers on their way through an integer."""
    for line in lines if "float" in text else ():
        sums = _CUT_SUM.search(line.text)
        added = sums and re.search(rf"\b{sums[2]}\s*\+=[^;]{{0,100}}\[", text)
        cut = (pattern.search(line.text) for pattern in (_CUT, _CUT_SHARED, _CUT_RESULT))
        for found in (*cut, sums if added else None):
            if found:
                yield in_place(line, found, 1, "float", _INTEGERS_CUT)


def _at_ends(lines: Sequence[Line]) -> Iterator[Edit]:
    """An element in place of those beyond the ends of an array, which are not there."""
    for line in lines:
        for found in _CLAMPED.finditer(line.text):
            new = (found["one"] or found["two"]).strip()
            why = "Else the first element stands for all in front of it, which are not there."
            yield in_place(line, found, "clamp", new, why)
        for found in _OR_ANOTHER.finditer(line.text):
            yield in_place(line, found, 1, "0", "What is not there adds nothing.")


def _clamped(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Indices beyond the ends that are set to the first or the last element, all of them."""
    found = [(line, each) for line in lines for each in _CLAMPED_IF.finditer(line.text)]
    why = "Else an element at an end stands for those beyond it, which are not there."
    for name in dict.fromkeys(each["name"] for _, each in found):
        own = [(line, each) for line, each in found if each["name"] == name]
        new = _leaves(text, own[0][0].start)
        changes = tuple(
            (line.start + each.start("set"), line.start + each.end("set"), new) for line, each in own
        )
        old = " and ".join(f"`{each['set']}` in line {line.number}" for line, each in own)
        yield Edit(f"`{new}` in place of {old}", own[0][0].number, changes, why)
    for line in lines:
        for each in _CLAMPED_INDEX.finditer(line.text):
            for place, size in _between(each["clamp"]):
                new = f"({place} >= 0 && {place} < {size} ? {each['array']}[{place}] : 0)"
                yield in_place(line, each, 0, new, why)
        for each in _CLAMPED_PLACE.finditer(line.text):
            for place, size in _between(each["clamp"]):
                name, leaves = each["name"], _leaves(text, line.start)
                new = f"{name} = {place}; if ({name} < 0 || {name} >= {size}) {leaves}"
                yield in_place(line, each, 0, new, why)


def _leaves(text: str, at: int) -> str:
    """What goes on without an element: in a kernel's loop, or in a function that gives one."""
    device, kernel = (text.rfind(word, 0, at) for word in ("__device__", "__global__"))
    return "continue;" if kernel > device else "return 0;"


def _between(clamp: str) -> Iterator[tuple[str, str]]:
    """The place that is kept between 0 and a size, and the size, in whatever order they stand."""
    terms = [each.strip() for each in re.sub(r"\b(?:max|min)\b|[()]", "", clamp).split(",")]
    sizes = [size[1] for each in terms if (size := re.fullmatch(r"(\w+)\s*-\s*1", each))]
    places = [each for each in terms if each != "0" and not re.fullmatch(r"\w+\s*-\s*1", each)]
    if len(terms) == 3 and len(sizes) == len(places) == 1:
        yield places[0], sizes[0]


def _vectors(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Vectors counted as elements, one too many of them, or one element of several that are left behind them."""
    counts = dict(_VECTORS.findall(text))
    for line in lines:
        for name, width in counts.items():
            for found in re.finditer(rf"(?<![*\w] )(?<!\w)\b{name}\b(?=\s*\+)", line.text):
                why = f"`{name}` counts vectors of {width} elements."
                yield in_place(line, found, 0, f"{width} * {name}", why)
        for found in _ROUNDED_UP.finditer(line.text):
            if int(found[3]) == int(found[4]) - 1:
                why = "The last one would go beyond the end: what is left is taken one by one."
                yield in_place(line, found, 1, f"{found[2]} / {found[4]}", why)
        for found in _ONE_OF_REST.finditer(line.text):
            why = "Several elements may be left, and a thread takes one."
            yield in_place(line, found, 0, f"{found[1]} < {found[2]}", why)


def _casts(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Pointers that go on by an element where an access takes several, all of those by the same index."""
    taken: dict[tuple[str, int], list[tuple[Line, re.Match[str]]]] = {}
    for line in lines:
        for found in _CAST.finditer(line.text):
            array = re.search(rf"\b([\w]+)\s*\*\s*(?:__restrict__\s+)?{found['array']}\b", text)
            each, wide = bytes_of(array[1] if array else ""), bytes_of(found["wide"])
            if each and wide > each:
                taken.setdefault((found["index"], wide // each), []).append((line, found))
    for (index, many), places in taken.items():
        first, arrays = places[0][1], dict.fromkeys(found["array"] for _, found in places)
        old = first["place"]
        new = re.sub(rf"\b{index}\b", f"{many} * {index}", old)
        others = " and ".join(f"`{each}`" for each in arrays if each != first["array"])
        edit = in_places(places, "index", f"{many} * {index}", f"Each access takes {many} elements.")
        numbers = where([*dict.fromkeys(line.number for line, _ in places)])
        said = f"`{new}` in place of `{old}`{others and f', and so for {others},'} in {numbers}"
        yield replace(edit, said=said)


def _left(text: str) -> Iterator[Edit]:
    """A loop that is left where it comes upon what is outside, and behind which there is more inside."""
    for found in _LEFT_AT.finditer(text):
        loop = list(_LOOP.finditer(text, 0, found.start()))
        if loop and loop[-1][1] == "for":
            number = line_at(text, found.start("leave"))
            said = f"`continue` in place of `break` in line {number}"
            why = "`break` ends the loop, and the steps behind this one are left out too."
            yield Edit(said, number, ((*found.span("leave"), "continue"),), why)


def _from_the_end(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """An index that is counted from the end, and is the number of elements for the last."""
    sizes = "|".join(int_sizes(text)[0])
    counted = re.compile(rf"(?:=|\[)\s*(?P<both>(?P<size>{sizes})\s*-\s*(?P<by>[A-Za-z_]\w*))\s*[;\]]")
    taken: dict[str, list[tuple[Line, re.Match[str]]]] = {}
    for line in lines if sizes else ():
        for found in counted.finditer(line.text):
            taken.setdefault(found["both"], []).append((line, found))
    for places in taken.values():
        size, by = places[0][1].group("size", "by")
        why = f"The last index is `{size} - 1`, and so it is for a `{by}` of 0."
        yield in_places(places, "both", f"{size} - 1 - {by}", why)


def _strides(lines: Sequence[Line]) -> Iterator[Edit]:
    """Threads that go on by a block, where other blocks have taken what comes next, or by as many as there are
    blocks."""
    for line in lines:
        for found in _BY_BLOCK.finditer(line.text):
            side = 1 if found[1] else 2
            new = f"gridDim.x * {found[side]}"
            yield in_place(line, found, side, new, "Other blocks have what lies in between.")
        for found in _BY_BLOCKS.finditer(line.text):
            new = "gridDim.x * blockDim.x"
            yield in_place(line, found, 1, new, "A grid has as many threads; gridDim.x is its blocks.")
        for found in _ALL_OF_THEM.finditer(line.text):
            start = "blockIdx.x * blockDim.x + threadIdx.x"
            step = f"{found['index']} += gridDim.x * blockDim.x"
            changes = tuple(
                (line.start + found.start(group), line.start + found.end(group), new)
                for group, new in (("start", start), ("step", step))
            )
            said = f"`{found['index']} = {start}` and `{step}` in line {line.number}"
            whose = "thread" if found["start"] == "0" else "block"
            yield Edit(said, line.number, changes, f"Else each {whose} does what all of them were to share.")


def _rounded_down(lines: Sequence[Line]) -> Iterator[Edit]:
    """How many tiles a side has, without the last that is partly filled."""
    for line in lines:
        for found in _ROUNDED_DOWN.finditer(line.text):
            size, by = found["size"], found["by"]
            if by != "1" and not size.isdigit():
                new = f"({size} + {by} - 1) / {by}"
                yield in_place(
                    line, found, "both", new, "`/` rounds down, and the last one is partly filled."
                )


def _products(lines: Sequence[Line]) -> Iterator[Edit]:
    """What a thread takes, counted for the threads of its block alone."""
    for line in lines:
        for found in _PRODUCT.finditer(line.text):
            new = f"({found['first']}) * {found['by']}"
            why = "`*` is done before `+`, and the threads of all blocks in front take as many each."
            yield in_place(line, found, "all", new, why)


def _turned(lines: Sequence[Line]) -> Iterator[Edit]:
    """The number of the thread in its block times the threads of a block, and that of the block added."""
    for line in lines:
        for found in _TURNED.finditer(line.text):
            new = re.sub(r"threadIdx|blockIdx", lambda each: _OTHER_INDEX[each[0]], found["all"])
            why = "In front of a block lie as many elements as all blocks before it have threads."
            yield in_place(line, found, "all", new, why)


def _runs(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A run of neighbours that begins at its thread's number, where the threads in front have runs as well."""
    for line in lines:
        for found in _RUN.finditer(line.text):
            name, start = found["name"], found["start"]
            by = dict.fromkeys(
                re.findall(rf"(?<![\w.]){name}\s*\+\s*(\w+)\b(?!\s*[*.(])", text[line.start :])
            )
            for step in list(by)[:SEVERAL]:
                # What is added is the run's length, or what counts up to it.
                counts = re.search(rf"\b{step}\s*=\s*0\s*;\s*{step}\s*<\s*(\w+)\s*;", text)
                most = counts[1] if counts else step
                if most != "0" and (counts or most.isupper() or most.isdigit()):
                    one = start if start.isidentifier() else f"({start})"
                    why = f"The threads in front of a thread take `{most}` elements each."
                    yield in_place(line, found, "start", f"{one} * {most}", why)


def _loop_ends(lines: Sequence[Line]) -> Iterator[Edit]:
    """A loop that begins where the block does, and ends where the first block does."""
    for line in lines:
        for found in _FROM.finditer(line.text):
            if found["start"] != "threadIdx" and found["start"] != found["end"]:
                new = f"{found['start']} + {found['end']}"
                yield in_place(
                    line, found, "end", new, f"The loop begins at `{found['start']}`, and not at 0."
                )


def _below_0(lines: Sequence[Line]) -> Iterator[Edit]:
    """A difference of numbers without a sign, that would be below 0."""
    for line in lines:
        for found in _UNSIGNED_FROM.finditer(line.text):
            new = f"{found['one']} < {found['other']} ? 0 : {found['both']}"
            yield in_place(line, found, "both", new, "An unsigned number below 0 becomes a very large one.")


def _of_one_thread(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """What one thread of a block stores, at a place by its own number."""
    shared = shared_extents(source)
    for at, line in enumerate(lines):
        if _ONE_THREAD.search(line.text):
            for below in lines[at : at + _CALLS // 2]:
                found = _STORED_AT.search(below.text)
                if found and found["array"] not in shared and "blockIdx" not in found["index"]:
                    why = "A block has one sum, and its place is the number of the block."
                    yield in_place(below, found, "index", "blockIdx.x", why)


def _exchanged(text: str) -> Iterator[Edit]:
    """Two arguments that follow each other, of a call of a function of the file that takes the same types for both."""
    for function in FUNCTION.finditer(text):
        kinds = [re.sub(r"\w+\s*$", "", each).strip() for each in function["taken"].split(",")]
        same = [at for at, (one, other) in enumerate(pairwise(kinds)) if one == other]
        for call in re.finditer(rf"\b{function[1]}\s*\(({_ARGUMENTS})\)", text[function.end() :]):
            start = function.end() + call.start(1)
            places = [(start + found.start(1), start + found.end(1)) for found in _ARGUMENT.finditer(call[1])]
            for at in same if len(places) == len(kinds) else ():
                (one, one_end), (other, other_end) = places[at], places[at + 1]
                first, second = text[one:one_end], text[other:other_end]
                number = line_at(text, one)
                said = f"`{first}` and `{second}` exchanged in the call of `{function[1]}` in line {number}"
                taken = " ".join(function["taken"].split())
                why = f"It is `{function[1]}({taken})`."
                if first != second:
                    yield Edit(said, number, ((one, one_end, second), (other, other_end, first)), why)


def _one_of_all(lines: Sequence[Line]) -> Iterator[Edit]:
    """What each thread of a block adds, or each block does, in place of one of them."""
    for line in lines:
        for found in _ADDS_ALL.finditer(line.text):
            why = "Else each thread of the block adds the sum of all of them."
            yield in_front(line, found.start("add"), "if (threadIdx.x == 0) ", "`atomicAdd`", why)
        for found in (*_REST.finditer(line.text), *_REST_LOOP.finditer(line.text)):
            why = "Else each block takes what is left."
            what = "the condition" if found.re is _REST else "the loop's condition"
            yield in_front(line, found.start("one"), "blockIdx.x == 0 && ", what, why)
