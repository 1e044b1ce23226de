"""Arrays in shared memory: where they begin, how a tile is swizzled, and what a store leaves in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise, product

from grader.workbook import own_memory
from grader.workbook.cuda_source import line_at, numbers_in_grid, shared_arrays, shared_extents
from grader.workbook.suspects.text import Said, looked_at, sets

_EXTERN_SHARED = re.compile(
    r"\bextern\s+__shared__\s+(?:(?:__align__|alignas)\s*\([^()]{1,60}\)\s*)?"
    r"(?P<kind>[A-Za-z_][\w: ]*?)\s+(?P<name>\w+)\s*\[\s*\]"
)
_SWIZZLED = re.compile(
    r"\b(?P<array>\w+)\s*\[(?P<row>[^\[\]]{1,100})\]\s*\[\s*(?P<all>[A-Za-z_][\w.]*\s*\^\s*[A-Za-z_][\w.]*)\s*\]"
)
_KEPT = re.compile(
    r"\bif\s*\((?:[^(){};]|\([^(){};]{0,100}\)){1,200}\)\s*\{?\s*(?P<array>\w+)\s*(?:\[[^\[\]]{1,60}\]\s*){1,3}=(?!=)"
    r"[^;?\[]{0,100}?\b(?P<from>\w+)\[[^;?]{1,200};(?![\s}]*else\b)"
)
_AROUND = re.compile(
    r"\bfor\s*\(\s*int\s+(?P<offset>\w+)\s*=\s*(?:-\s*(?P<radius>\w+)\s*;\s*(?P=offset)\s*<=\s*(?P=radius)\s*;"
    r"|0\s*;\s*(?P=offset)\s*<=\s*2\s*\*\s*(?P<both>\w+)\s*;)"
)
_BODY = 400
"""Characters behind the head of a loop, among which what it reads is looked for."""
_LOOP = re.compile(r"\b(?:for|while)\s*\(")
_DECLARED = re.compile(r"__shared__[^;]{1,300};")
_ELEMENT = re.compile(
    r"\b(?P<array>[A-Za-z_]\w*)\b(?P<index>(?:\s*\[[^\[\]]{1,100}\]){0,3})(?P<store>\s*=(?!=))?"
)
_ONE_INDEX = (
    r"(?:\s*\[\s*(?P<index>(?:[^\[\]]|\[[^\[\]]*\]){1,100}?)\s*\]"
    r"(?:(?P<sets>\s*=(?!=))|(?P<adds>\s*(?:[-+]=|\+\+)))?)"
)
_HEAD = re.compile(r"\bfor\s*\((?:[^()]|\([^()]*\)){1,200}\)")
_OF_THREAD = re.compile(r"\bthreadIdx\.[xyz]\b")
_NO_SUM = re.compile(r"[^\w.+*()\[\]]|\w\(")


def same_address(text: str) -> Iterator[Said]:
    """Arrays without a size in a kernel's shared memory, of which there is one piece."""
    for one, other in pairwise(_EXTERN_SHARED.finditer(text)):
        if one["name"] != other["name"] and "\n}" not in text[one.end() : other.start()]:
            line, first, second = line_at(text, other.start()), one["name"], other["name"]
            kind = " ".join(other["kind"].split())
            yield (
                line,
                f"Line {line}: `{first}` and `{second}` begin at the same address, as all extern __shared__ arrays of "
                "a kernel do: have one of them, and the other as a pointer behind its elements: "
                f"`{kind}* {second} = reinterpret_cast<{kind}*>({first} + …);`.",
            )


def of_grid(text: str) -> Iterator[Said]:
    """Arrays in shared memory accessed by a thread's number in the grid, along x."""
    accesses, extents = _without_declarations(text), shared_extents(text)
    in_grid = [name for name, axis in numbers_in_grid(text).items() if axis == "x"]
    for name, index in product(extents, in_grid):
        if found := re.search(rf"\b{name}\[\s*{index}\s*\]", accesses):
            line = line_at(text, found.start())
            yield (
                line,
                f"Line {line}: `{index}` counts the threads of all blocks, and `{name}` is the block's own, with "
                f"{extents[name]} elements: index it by threadIdx.x.",
            )


def not_shared(text: str) -> Iterator[Said]:
    """An array of each thread's own in which a thread sets the element of its number, and adds to others."""
    of_thread = ["threadIdx.x", *re.findall(r"\b(\w+)\s*=\s*threadIdx\.x\s*[;,]", text)]
    counted = re.findall(rf"\b(\w+)\s*=\s*(?:{'|'.join(map(re.escape, of_thread))})\s*;", text)
    for begins, ends, _, _ in own_memory.bodies(text):
        own = own_memory.declared(text, begins, ends) if "__syncthreads" in text[begins:ends] else {}
        for name in (name for name, (_, is_array) in own.items() if is_array):
            first = text.find(name, own[name][0]) + len(name)
            _, end, behind = re.split(r"([;={])", text[first:ends], maxsplit=1)
            accesses = [*re.finditer(rf"\b{name}\b{_ONE_INDEX}?", behind)]
            sets = {found["index"] for found in accesses if found["sets"]}
            adds = [found for found in accesses if found["adds"] and found["index"] not in sets]
            of_number = len(sets) == 1 and sets <= {*of_thread, *counted}
            if end == ";" and adds and of_number and all(found["index"] for found in accesses):
                line = line_at(text, ends - len(behind) + adds[0].start())
                yield (
                    line,
                    f"Line {line}: `{name}`, declared in line {line_at(text, first)}, is each thread's own, and a "
                    f"thread sets only `{name}[{sets.pop()}]` in it: where the block is to have one, write "
                    "`__shared__` in front of its declaration, and add with atomicAdd.",
                )


def _without_declarations(text: str) -> str:
    """A text with blanks in place of what declares shared memory."""
    return _DECLARED.sub(lambda found: " " * len(found[0]), text)


def swizzles(text: str) -> Iterator[Said]:
    """Columns of a square tile exchanged by their row, where that leads out of it."""
    tiles = shared_arrays(text)
    for found in _SWIZZLED.finditer(text):
        for rows, side in (tile.extents for tile in tiles.get(found["array"], ()) if len(tile.extents) == 2):
            if side is not None and rows == side and side & (side - 1):
                line, both = line_at(text, found.start("all")), 1 << side.bit_length()
                yield (
                    line,
                    f"Line {line}: `{found['all']}` goes up to {both - 1} where the two go up to {side - 1}: give "
                    f"`{found['array']}` a side that is a power of two, {both // 2} or {both}, or pad its rows in "
                    "place of that.",
                )


def swizzled_by_matrix(text: str) -> Iterator[Said]:
    """Columns of a tile exchanged by a row or column of the matrix, which goes on beyond the tile."""
    tiles, in_matrix = shared_arrays(text), set(re.findall(r"\b(\w+)\s*=[^;=%&]*\bblockIdx\b[^;=%&]*;", text))
    for name, value in re.findall(r"\b(\w+)\s*=\s*([^;=%&]{1,100});", text):
        if in_matrix & {*re.findall(r"[A-Za-z_]\w*", value)} and not re.search(r"[-\[]", value):
            in_matrix.add(name)
    for found in _SWIZZLED.finditer(text):
        one, other = re.split(r"\s*\^\s*", found["all"])
        beyond = [each for each in (one, other) if each in in_matrix]
        if found["array"] in tiles and len(beyond) == 1:
            line, own = line_at(text, found.start()), other if beyond == [one] else one
            row = found["row"].strip()
            yield (
                line,
                f"Line {line}: `{beyond[0]}` counts from the beginning of the matrix, so that `{found['all']}` leads "
                f"out of a row of `{found['array']}`: exchange by the row in the tile, "
                f"`{found['array']}[{row}][{own} ^ {row}]`.",
            )


def without_halo(text: str) -> Iterator[Said]:
    """A tile with one element a thread, of which each thread reads those on both sides as well."""
    of_thread = [r"threadIdx\.x", *re.findall(r"\b(\w+)\s*=\s*threadIdx\.x\s*;", text)]
    for found in _AROUND.finditer(text):
        offset, radius = found["offset"], found["radius"] or found["both"]
        read = re.compile(
            rf"\b(?P<array>\w+)\s*\[\s*(?:(?P<own>{'|'.join(of_thread)})\s*\+\s*{offset}|{offset}\s*\+\s*"
            rf"(?P<other>{'|'.join(of_thread)}))\s*\]"
        ).search(text, found.end(), found.end() + _BODY)
        array = read["array"] if read else ""
        if not read or (extent := shared_extents(text).get(array)) is None:
            continue
        own, own_index = read["own"] or read["other"], read[0]
        stored = re.search(rf"\b{array}\s*\[\s*{re.escape(own)}\s*\]\s*=(?!=)", text)
        # What is beyond the tile may come from elsewhere.
        elsewhere = re.search(rf"<\s*{re.escape(extent)}\b", text[found.end() : read.start()])
        if stored and not elsewhere and _is_block(text, extent):
            line = line_at(text, read.start())
            yield (
                line,
                f"Line {line}: `{own_index}` reads up to {radius} elements on each side of the thread's own, and "
                f"`{array}` has the block's {extent} alone: `{array}[{extent} + 2 * {radius}]`, a thread's own at "
                f"`{array}[{own} + {radius}]`, and load the {radius} elements in front of the block's and the {radius} "
                "behind them there too.",
            )
            return


def _is_block(text: str, extent: str) -> bool:
    """Whether blocks begin so many elements apart, as written or as a number of threads that is no sum."""
    if re.search(rf"\bblockIdx\.x\s*\*\s*{re.escape(extent)}\s*[+;]", text):
        return True
    threads = "blockIdx.x * blockDim.x" in text and extent.isidentifier()
    return threads and not re.search(rf"\b{extent}\s*=[^;]*\+", text)


def kept(source: str) -> str:
    """The first store to shared memory that leaves elements as an earlier step of a loop has left them, by its line, in
    a sentence that says what mends it; "" for none."""
    text, shared = looked_at(source), shared_arrays(source)
    given = set(re.findall(r"\*\s*(?:__restrict__\s+)?(\w+)\s*[,)]", text))
    for found in _KEPT.finditer(text):
        again = _LOOP.search(text, max(text.rfind("\n}", 0, found.start()), 0), found.start())
        if again and found["array"] in shared and found["from"] in given - shared.keys():
            return (
                f"Line {line_at(text, found.start('array'))}: where the condition does not hold, `{found['array']}` "
                "keeps what an earlier step has stored there, and zero times that is NaN where it is NaN or infinite: "
                "store 0 there."
            )
    return ""


def of_own_elements(source: str, barrier: bool = True) -> Mapping[str, int]:
    """Arrays in shared memory of which each thread plainly reads only what it has stored itself, though threads meet at
    a `barrier`; and a line that reads them. The index is the same wherever they are accessed, and a sum that has the
    thread's number along every axis, so that it is no other thread's."""
    text = _without_declarations(looked_at(source))
    if barrier and "__syncthreads" not in text:
        return {}
    axes, arrays = set(_OF_THREAD.findall(text)), shared_arrays(source)
    indices: dict[str, set[str]] = {}
    stored: set[str] = set()
    read: dict[str, int] = {}
    for found in _ELEMENT.finditer(text):
        name = found["array"]
        if name in arrays:
            indices.setdefault(name, set()).add(_in_full(text, found["index"]))
            if found["store"]:
                stored.add(name)
            else:
                read.setdefault(name, line_at(text, found.start()))
    alike = {name: each for name, (each, *others) in indices.items() if not others and name in stored}
    return {
        name: read[name]
        for name, index in alike.items()
        if name in read and axes and axes == set(_OF_THREAD.findall(index)) and not _NO_SUM.search(index)
    }


def _in_full(text: str, index: str) -> str:
    """An index with the values of what it names, without spaces; what has several has a sign that no sum has."""
    named = re.compile(r"(?<![\w.])[A-Za-z_]\w*\b(?!\.)")
    return "".join(named.sub(lambda found: _value(text, found[0]), index).split())


def _value(text: str, name: str) -> str:
    """What a variable is set to; its name, where it is not set, or by loops with the same head; and ? otherwise."""
    heads = {"".join(head.split()) for head in _HEAD.findall(text) if re.search(rf"\b{name}\s*=(?!=)", head)}
    apart = _HEAD.sub("", text)
    if heads or not sets(apart, name):
        return name if len(heads) < 2 and not sets(apart, name) else "?"
    found = re.search(rf"\b{name}\s*=(?!=)\s*([^;,]{{1,200}})[;,]", apart)
    return f"({found[1]})" if found and sets(apart, name) == 1 else "?"
