"""How an index is formed: of a thread, a warp and a lane, of a run of neighbours, and from the end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from grader.workbook.cuda_source import int_sizes, numbers_in_grid, shared_arrays
from grader.workbook.edit import SEVERAL, Edit, Line, at_place, in_place, in_places
from grader.workbook.suspects.text import ADDED

_PART = re.compile(r"\b\w+\s*=\s*(?P<base>[\w.]+)\s*(?P<sign>[/%])\s*(?P<by>\w+)\s*;")
_DIVIDED = re.compile(
    r"\b(?P<name>\w+)\s*=\s*(?P<base>[A-Za-z_][\w.]*)\s*(?P<sign>[/%])\s*(?P<by>[A-Za-z_]\w*|32)\s*;"
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
_UNSIGNED_FROM = re.compile(
    r"\b(?:unsigned(?:\s+(?:int|long(?:\s+long)?))?|size_t|u?int(?:32|64)_t)\s+\w+\s*=\s*"
    r"(?P<both>(?P<one>\w+)\s*-\s*(?P<other>\w+))\s*[;,]"
)
_OF_TWO = re.compile(
    r"\b(?P<array>\w+)\[\s*(?P<row>[\w.]+(?:\[[^\[\]]{1,40}\])?)\s*\*\s*(?P<by>\w+)\s*\+\s*"
    r"(?P<column>[^\[\]*]{1,60}?(?:\[[^\[\]]{1,40}\])?)\s*\]"
)
_BY_ATOMIC = re.compile(r"\batomic\w+\s*\(\s*&\s*$")
_NAME_OF_THREAD = re.compile(r"\b(\w+)\s*=(?!=)[^;=\[]{0,100}\bthreadIdx\.x")
_ACCESSES = 16  # that are compared: bounds a stranger's work
_BESIDE = {"blockIdx": "threadIdx", "threadIdx": "blockIdx", "gridDim": "blockIdx", "blockDim": "threadIdx"}
_OWN_TWICE = re.compile(
    r"(?P<first>\b(?P<what>blockIdx|threadIdx)\.(?P<axis>[xyz]))\s*\)?\s*\*\s*[\w.]+\s*\+\s*(?P<second>(?P=what)\.(?P<other>[xyz])\b)"
)
_OWN_BLOCK = re.compile(
    r"\b(?P<array>\w+)(?:\[[^\[\]]{1,40}\])?\[\s*(?P<block>blockIdx\.(?P<axis>[xyz]))\s*\]"
)
_COUNTED = re.compile(
    r"(?:\batomic(?:Add|Inc)\w*\(\s*(?:&\s*\w+\[|\w+\s*\+)|(?:\+\+|--)\s*\w+\[|\b\w+\[(?=[^\[\]]*\](?:\s*\+=|\+\+)))"
    r"\s*(?P<index>[A-Za-z_][\w.]*)\s*(?=[\],])"
)
_OF_INTEGERS = re.compile(
    r"\bconst\s+(?:unsigned|signed|char|short|int|long|u?int(?:8|16|32)_t|uchar|\s)+\*\s*(?:(?:const|__restrict__)\s+)*"
    r"(\w+)\s*[,)]"
)
"""An array of integers that a kernel only reads."""
_MANY_EACH = re.compile(r"\(\s*[^()]*\bthreadIdx\.x\s*\)\s*\*\s*(?P<many>\w+)\s*;")
_ONE_EACH = re.compile(r"\[\s*(?P<one>threadIdx\.x)\s*\+")
_WARP = ("32", "warpSize")
_OF_WARP = "The remainder counts lanes in a warp, the quotient warps."
_OF_ROW = "The quotient counts rows, the remainder columns."
_SWIZZLED_ROW = re.compile(
    r"\b(?P<array>\w+)\[(?P<row>[^\[\]^]{1,40})\^[^\[\]^]{1,40}\]\s*\[(?P<place>[^\[\]^]{1,40})\]"
)


def parts(lines: Sequence[Line]) -> Iterator[Edit]:
    """Quotient and remainder exchanged, as of a thread's warp and lane."""
    found = [(line, part) for line in lines for part in _PART.finditer(line.text)]
    for line in lines:
        for part in _DIVIDED.finditer(line.text):
            if sum(each["base"] == part["base"] for _, each in found) == 1:
                sign = {"/": "%", "%": "/"}[part["sign"]]
                new = f"{part['base']} {sign} {part['by']}"
                why = _OF_WARP if part["by"] in _WARP else _OF_ROW
                yield at_place(line, part.start("base"), part.end("by"), new, why)
    for (one, first), (other, second) in pairwise(found):
        same = first["base"] == second["base"] and first["by"] == second["by"]
        if same and first["sign"] != second["sign"]:
            changes = tuple(
                (line.start + part.start("sign"), line.start + part.end("sign"), sign)
                for line, part, sign in ((one, first, second["sign"]), (other, second, first["sign"]))
            )
            said = f"`/` and `%` exchanged in lines {one.number} and {other.number}"
            yield Edit(said, one.number, changes, _OF_WARP if first["by"] in _WARP else "")


def swizzled(lines: Sequence[Line]) -> Iterator[Edit]:
    """A row that is exchanged with others where places in it are."""
    for line in lines:
        for found in _SWIZZLED_ROW.finditer(line.text):
            row, place = found["row"].strip(), found["place"].strip()
            new = f"{found['array']}[{row}][({place}) ^ {row}]"
            why = "Elements change places within a row of the tile, and rows stay where they are."
            yield in_place(line, found, 0, new, why)


def from_the_end(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """An index that is counted from the end, and is the number of elements for the last."""
    sizes = "|".join(int_sizes(text)[0])
    counted = re.compile(
        rf"(?:=|\[)\s*(?P<both>(?P<size>{sizes})\s*-\s*(?:\w+\()?(?P<by>[A-Za-z_]\w*)\)?)\s*[;\]]"
    )
    taken: dict[str, list[tuple[Line, re.Match[str]]]] = {}
    for line in lines if sizes else ():
        for found in counted.finditer(line.text):
            taken.setdefault(found["both"], []).append((line, found))
    for places in taken.values():
        size, by = places[0][1].group("size", "by")
        why = f"The last index is `{size} - 1`, and so it is for a `{by}` of 0."
        yield in_places(places, "both", f"{size} - 1 - {by}", why)


def products(lines: Sequence[Line]) -> Iterator[Edit]:
    """What a thread takes, counted for the threads of its block alone."""
    for line in lines:
        for found in _PRODUCT.finditer(line.text):
            new = f"({found['first']}) * {found['by']}"
            why = "`*` is done before `+`, and the threads of all blocks in front take as many each."
            yield in_place(line, found, "all", new, why)


def turned(lines: Sequence[Line]) -> Iterator[Edit]:
    """The number of the thread in its block times the threads of a block, and that of the block added."""
    for line in lines:
        for found in _TURNED.finditer(line.text):
            new = re.sub(r"threadIdx|blockIdx", lambda each: _OTHER_INDEX[each[0]], found["all"])
            why = "In front of a block lie as many elements as all blocks before it have threads."
            yield in_place(line, found, "all", new, why)


def runs(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
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
                if most != "0" and (counts or most.isupper() or most.isdecimal()):
                    one = start if start.isidentifier() else f"({start})"
                    why = f"The threads in front of a thread take `{most}` elements each."
                    yield in_place(line, found, "start", f"{one} * {most}", why)


def below_0(lines: Sequence[Line]) -> Iterator[Edit]:
    """A difference of numbers without a sign, that would be below 0."""
    for line in lines:
        for found in _UNSIGNED_FROM.finditer(line.text):
            new = f"{found['one']} < {found['other']} ? 0 : {found['both']}"
            yield in_place(line, found, "both", new, "An unsigned number below 0 becomes a very large one.")


def layouts(lines: Sequence[Line]) -> Iterator[Edit]:
    """An element whose two numbers have changed places, in an array that is accessed by them elsewhere. Where lanes
    update elements side by side, each in a bank of its own, that line is changed last."""
    every = [(line, found) for line in lines for found in _OF_TWO.finditer(line.text)][:_ACCESSES]
    names = (name for line in lines for name in _NAME_OF_THREAD.findall(line.text))
    own = re.compile("|".join([r"\bthreadIdx\.x", *(rf"\b{name}\b" for name in dict.fromkeys(names))]))

    def last(place: tuple[Line, re.Match[str]]) -> int:
        line, found = place
        updated = _BY_ATOMIC.search(line.text[: found.start()]) or ADDED.match(line.text, found.end())
        if not updated:
            return 1
        return 2 if own.search(re.sub(r"\[.*", "", found["column"])) else 0

    for line, found in sorted(every, key=last):
        for _, other in every:
            if other["array"] == found["array"] and other["by"] != found["by"]:
                row, column = found.group("column", "row")
                row = row if re.fullmatch(r"[\w.]+(?:\[[^\[\]]*\])?", row) else f"({row})"
                new = f"{found['array']}[{row} * {other['by']} + {column}]"
                yield in_place(line, found, 0, new, f"Elsewhere it is `{other[0]}`.")


def counted(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """An element's place as the index of what is counted, where its value was to be that."""
    arrays = [*dict.fromkeys(_OF_INTEGERS.findall(text))][:SEVERAL]
    loaded = rf"\b(\w+)\s*=\s*(?:{'|'.join(arrays)})\[[^\[\]]{{1,60}}\]\s*;"
    values = [*dict.fromkeys(re.findall(loaded, text))][:SEVERAL]
    in_grid = numbers_in_grid(text)
    for line in lines if arrays else ():
        for found in _COUNTED.finditer(line.text):
            index = found["index"]
            places = [*dict.fromkeys((index, *in_grid))][:SEVERAL]
            elements = [f"{array}[{place}]" for array in arrays for place in places]
            for new in (*values, *elements) if index not in values else ():
                why = "The value of an element says which count goes up, and not where the element lies."
                yield in_place(line, found, "index", new, why)


def of_many(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A place among the elements of a block, of threads that have several each, counted as if they had one."""
    if not (many := _MANY_EACH.search(text)):
        return
    for line in lines:
        for found in _ONE_EACH.finditer(line.text):
            new = f"threadIdx.x * {many['many']}"
            yield in_place(
                line, found, "one", new, f"The threads in front have {many['many']} elements each."
            )


def own_twice(lines: Sequence[Line]) -> Iterator[Edit]:
    """A number of the block, or the thread, for both: for the elements of blocks before, and for the own one."""
    for line in lines:
        for found in _OWN_TWICE.finditer(line.text):
            of_thread = found["what"] == "threadIdx"
            group, name, axis = (
                ("first", "blockIdx", found["axis"]) if of_thread else ("second", "threadIdx", found["other"])
            )
            why = f"blockIdx.{axis} counts the blocks before its own, and threadIdx.{axis} the threads in it."
            yield in_place(line, found, group, f"{name}.{axis}", why)


def in_own_block(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """The block's number in an array of shared memory, which each block has of its own."""
    shared = shared_arrays(source)
    for line in lines if shared else ():
        for found in _OWN_BLOCK.finditer(line.text):
            if found["array"] in shared:
                why = f"Each block has a `{found['array']}` of its own, with an element for each thread."
                yield in_place(line, found, "block", f"threadIdx.{found['axis']}", why)


def along_one_axis(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A number along y where no line has that along x, or the other way round in a kernel of matrices."""
    for name, beside in _BESIDE.items():
        axes = re.findall(rf"\b{name}\.([xy])\b", text)
        other = "x" if {*axes} == {"y"} else "y" if len(axes) > 1 and {*axes} == {"x"} else ""
        for line in lines if other == "x" or (other and f"{beside}.y" in text) else ():
            for found in re.finditer(rf"\b{name}\.[xy]\b", line.text):
                yield in_place(line, found, 0, f"{name}.{other}", f"Else no line has {name}.{other}.")
