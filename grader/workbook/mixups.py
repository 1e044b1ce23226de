"""What is taken for something else in a kernel: one size for the other, elements for vectors, bits for bytes, a new
variable for the one that is there, one atomic for another. Each has a text that tells it, and a change that mends it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.workbook.cuda_source import FUNCTION, int_sizes, plain, shared_extents
from grader.workbook.edit import SEVERAL, Edit, Line, in_front, in_place, in_places, in_text, lines_of
from grader.workbook.slips.tiles import FLAT

_COMPONENT = re.compile(r"\b(?!threadIdx|blockIdx|blockDim|gridDim)\w+(?:\[\w+\])?\.([xyzw])\b")
_SETS_ONE = re.compile(rf"{_COMPONENT.pattern}\s*[-+*]?=(?!=)(?P<value>[^;]{{1,200}});")
_MAKES = re.compile(r"\b(make_\w+[234]\s*\()[^();]{1,200}(?=\))")
_ARGUMENT = re.compile(r"[^,]+")
_OF_BLOCK = re.compile(r"\batomicAdd\(\s*&\s*\w+\[\s*(blockIdx\.[xyz])\s*\]")
_VECTOR_POINTER = re.compile(
    r"\b(?:float|int|uint|double)([24])\s*\*\s*(?:const\s+|__restrict__\s+)*(\w+)\s*="
)
_OF_VECTORS = (
    r"(?:[<(]\s*(?:const\s+)?(?:float|int|uint|double)(?P<wide>[24])\s*(?:const\s*)?\*\s*[>)]\s*\(?\s*\w+\s*\)|"
    r"\b(?P<name>\w+))\s*\[\s*"
)
_BY_ROWS = r"[^\[\];]{0,100}?(?P<times>\*\s*(?P<by>[A-Za-z_]\w*))\s*[+\];]"
_VECTOR_INDEX = re.compile(rf"{_OF_VECTORS}(?:{_BY_ROWS}|(?P<index>[A-Za-z_]\w*)\s*[+\]])")
_PART = re.compile(r"\b\w+\s*=\s*(?P<base>[\w.]+)\s*[/%]\s*(?P<by>[A-Za-z_]\w*)\s*;")
_TILE_STEP = re.compile(
    r"\bfor\s*\([^;=]{0,20}?\b(?P<name>\w+)\s*=\s*(?:0|threadIdx\.y)\s*;\s*(?P=name)\s*<\s*\w+\s*;"
    r"\s*(?P=name)\s*\+=\s*(?P<step>\w+(?:\s*/\s*\w+)?)\s*\)"
)
_CHOSEN = re.compile(
    r"=\s*[\w.\[\]]+\s*(?P<sign>[-+*])\s*(?P<all>[^?;=()]{1,60}\?[^;?]{1,100}:[^;?]{1,60}?)\s*;"
)
_NO_SIGN = re.compile(
    r"\b(?P<kind>auto|unsigned(?:\s+int)?|uint32_t|(?P<wide>size_t|uint64_t))\s+(?P<name>\w+)\s*=[^;=]{0,60}"
    r"\b(?:block|thread)Idx\."
)
_ATOMIC = re.compile(r"\b(atomic(?:Inc|Dec|Exch|Sub|Max|Min|Or|Xor))\s*\(")
_OF_BYTES = re.compile(
    r"(?P<shift>>>\s*(?:\d\s*\*\s*)?(?P<by>[A-Za-z_]\w*))\s*\)?\s*&\s*(?:0[xX][fF]{2}|255)[uU]?\b"
)
_ONCE = re.compile(r"\b(if)\s*\(\s*(\w+)\s*<\s*\w+\s*\)\s*\{[^{}]{0,1000}\b\2\s*\+=[^{}]{0,200}\}")
_DECLARED = re.compile(
    r"^\s*(?P<kind>(?:float|double|int|unsigned|size_t|auto|half|float4)\s+)(?P<name>\w+)\s*=(?!=)"
)
_WARP = re.compile(r"\b(\w+)\s*=\s*threadIdx\.x\s*(?:/\s*(?:32|warpSize)|>>\s*5)\s*[;,]")
_CLEARED = re.compile(
    r"(?<![=,)(]\s)\b(?P<array>\w+)\[\s*(?P<index>\w+(?:\.x)?)\s*\]\s*=\s*(?P<value>0(?:\.0?f?|u)?)\s*;"
)
_HANDED_ON = re.compile(
    r"\batomicAdd\s*\(\s*(?P<place>&\s*(?P<to>\w+)\s*\[\s*(?P<own>[\w.]+)\s*\]|(?P<base>\w+)\s*\+\s*(?P<by>[\w.]+))\s*,"
    r"\s*(?P<array>\w+)\s*\[\s*(?P<index>[\w.]+)\s*\]\s*\)\s*;"
)

_WRAPS = {
    "atomicInc": "atomicInc(p, n) begins again at 0 behind n.",
    "atomicDec": "atomicDec(p, n) counts down.",
    "atomicExch": "atomicExch(p, v) stores v, and what others have added is lost.",
}


def edits(source: str) -> Iterator[Edit]:
    """The changes to be tried."""
    text, lines = plain(source), list(lines_of(source))
    yield from _operators(lines)
    yield from _components(lines)
    yield from _vectors(text, lines)
    yield from _shadowed(lines)
    yield from _unsigned(text, lines)
    yield from _once(text)
    yield from _steps(text, lines)
    yield from _of_a_block(source, lines)
    yield from _pitches(source, lines)
    yield from _sizes(text, lines)


def _operators(lines: Sequence[Line]) -> Iterator[Edit]:
    """An atomic that does not add, a place of one sum that is each block's own, shifts by bytes, and `?:` behind an
    operator that binds more strongly."""
    for line in lines:
        for found in _ATOMIC.finditer(line.text):
            yield in_place(line, found, 1, "atomicAdd", _WRAPS.get(found[1], ""))
        for found in _OF_BLOCK.finditer(line.text):
            yield in_place(line, found, 1, "0", "All blocks add to the same element.")
        for found in _OF_BYTES.finditer(line.text):
            yield in_place(
                line, found, "shift", f">> (8 * {found['by']})", "A shift counts bits, and a byte has 8."
            )
        for found in _CHOSEN.finditer(line.text):
            why = f"`{found['sign']}` is done before `?:`, and belongs to its condition."
            yield in_place(line, found, "all", f"({found['all']})", why)


def _components(lines: Sequence[Line]) -> Iterator[Edit]:
    """One component of a vector that is computed from another: a line, or an argument, that was copied."""
    for line in lines:
        parts = [(each[1], each.span("value")) for each in _SETS_ONE.finditer(line.text)]
        for made in _MAKES.finditer(line.text):
            arguments = _ARGUMENT.finditer(line.text, made.end(1), made.end())
            parts += zip("xyzw", (each.span() for each in arguments), strict=False)
        for component, span in parts:
            for found in _COMPONENT.finditer(line.text, *span):
                if found[1] != component:
                    new = f"{found[0][: -len(found[1])]}{component}"
                    yield in_place(line, found, 0, new, f"It is about component {component}.")


def _vectors(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Rows counted in elements, in the index of vectors."""
    widths = {name: width for width, name in _VECTOR_POINTER.findall(text)}
    for line in lines:
        for found in _VECTOR_INDEX.finditer(line.text):
            width = found["wide"] or widths.get(found["name"] or "")
            if width and found["by"]:
                yield _of_row(line, found, width)
            elif width:
                set_to = re.compile(rf"\b{found['index']}\s*=(?!=){_BY_ROWS}")
                for above in lines:
                    if above.number < line.number and (formed := set_to.search(above.text)):
                        yield _of_row(above, formed, width)


def _of_row(line: Line, found: re.Match[str], width: str) -> Edit:
    by = found["by"]
    why = f"A row of {by} elements has {by} / {width} vectors."
    return in_place(line, found, "times", f"* ({by} / {width})", why)


def _shadowed(lines: Sequence[Line]) -> Iterator[Edit]:
    """A variable that is declared again in an inner block, where the outer one was to be set."""
    depth, declared = 0, dict[str, tuple[int, int]]()
    for line in lines:
        found = _DECLARED.match(line.text)
        if found:
            outer = declared.get(found["name"])
            if outer and outer[0] < depth:
                why = f"That is a variable of its own, and the one of line {outer[1]} stays what it was."
                name = found["name"]
                change = (line.start + found.start("kind"), line.start + found.end("kind"), "")
                said = f"`{name} =` in place of `{found['kind']}{name} =` in line {line.number}"
                yield Edit(said, line.number, (change,), why)
            else:
                declared[found["name"]] = depth, line.number
        depth += line.text.count("{") - line.text.count("}")
        declared = {name: place for name, place in declared.items() if place[0] <= depth}


def _unsigned(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """An index without a sign, from which something is subtracted."""
    for line in lines:
        for found in _NO_SIGN.finditer(line.text):
            name = found["name"]
            if less := re.search(rf"(?<![\w.]){name}\s*-(?![-=])\s*\w+", text):
                what = found["kind"] if found["wide"] else "threadIdx"
                why = f"{what} is unsigned, and `{less[0]}` below 0 becomes a very large number."
                yield in_place(line, found, "kind", "long long" if found["wide"] else "int", why)


def _once(text: str) -> Iterator[Edit]:
    """An `if` whose body goes on to the next element, as that of a loop."""
    for found in _ONCE.finditer(text):
        why = f"`{found[2]}` goes on to a next element, which an `if` does not come back for."
        yield in_text(text, *found.span(1), "while", why)


def _steps(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Loops over the rows of a tile that go on by another number than the rows of threads that a block has."""
    if "threadIdx.y" not in text:
        return
    places: dict[str, list[tuple[Line, re.Match[str]]]] = {}
    for line in lines:
        for found in _TILE_STEP.finditer(line.text):
            places.setdefault(found["step"], []).append((line, found))
    for found_in in places.values():
        yield in_places(found_in, "step", "blockDim.y", "The threads of a block take as many rows at a time.")


def _of_a_block(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A warp's sum stored by all of its lanes, and an array that has more elements than a block threads to clear it."""
    extents = shared_extents(source)
    warps = [name for line in lines for name in _WARP.findall(line.text)]
    for line in lines:
        for array in extents:
            for warp in warps:
                if found := re.match(rf"\s*(?={array}\[\s*{warp}\s*\]\s*=(?!=))", line.text):
                    new, what = "if (threadIdx.x % 32 == 0) ", f"`{array}[{warp}] = …`"
                    why = "Else all lanes store there, and only lane 0 has the sum of its warp."
                    yield in_front(line, found.end(), new, what, why)
        for found in _CLEARED.finditer(line.text):
            array = found["array"]
            if array in extents:
                step = f"k < {extents[array]}; k += blockDim.x"
                loop = f"for (int k = threadIdx.x; {step}) {array}[k] = {found['value']};"
                why = f"`{array}` may have more elements than a block threads."
                yield in_place(line, found, 0, loop, why)
        for found in _HANDED_ON.finditer(line.text):
            array, to = found["array"], found["to"] or found["base"]
            if array in extents and found["index"] == (found["own"] or found["by"]):
                step = f"k < {extents[array]}; k += blockDim.x"
                loop = f"for (int k = threadIdx.x; {step}) atomicAdd(&{to}[k], {array}[k]);"
                why = f"`{array}` has more elements than the block threads."
                yield in_place(line, found, 0, loop, why)


def _pitches(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Rows of a tile that are longer where it is stored than where it is read."""
    shared = shared_extents(source)
    found_in = [
        (line, found) for line in lines for found in FLAT.finditer(line.text) if found["array"] in shared
    ]
    for line, found in reversed(found_in):  # where it is read first
        others = {other["by"] for _, other in found_in if other["array"] == found["array"]} - {found["by"]}
        for other in sorted(others)[:SEVERAL]:
            why = f"Else its rows are not as long here as elsewhere: `{other}`."
            yield in_place(line, found, "times", f"* {other}", why)


def _sizes(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """One of a problem's two sizes for the other: in one place, or where a flat index is taken apart."""
    sizes, begins = int_sizes(text)
    if len(sizes) != 2:
        return
    other = dict(zip(sizes, reversed(sizes), strict=True))
    parts: dict[tuple[str, str], list[tuple[Line, re.Match[str]]]] = {}
    body = [line for line in lines if line.start > begins]
    for line in body:
        for found in _PART.finditer(line.text):
            if found["by"] in other:
                parts.setdefault((found["base"], found["by"]), []).append((line, found))
    for (_, size), found_in in parts.items():
        if len(found_in) > 1:
            yield in_places(found_in, "by", other[size], f"A row has `{other[size]}` elements.")
    place = re.compile(
        rf"(?P<front>(?:[-+*/%]|(?<![<>])[<>])=?\s*)\b(?P<one>{'|'.join(sizes)})\b|\b(?P<two>{'|'.join(sizes)})(?P<behind>\s*%)"
    )
    functions = "|".join(function[1] for function in FUNCTION.finditer(text)) or "(?!)"
    own = re.compile(rf"\b(?:{functions})\s*(?P<passed>\([^(){{}};]{{1,200}}\))")
    for line in body:
        for call in own.finditer(line.text):
            for found in re.finditer(rf"\b(?:{'|'.join(sizes)})\b(?=\s*[,)])", call["passed"]):
                new = other[found[0]]
                front, behind = call["passed"][: found.start()], call["passed"][found.end() :]
                name = call[0].removesuffix(call["passed"])
                yield in_place(line, call, 0, f"{name}{front}{new}{behind}")
        for found in place.finditer(line.text):
            new = other[found["one"] or found["two"]]
            yield in_place(line, found, 0, f"{found['front'] or ''}{new}{found['behind'] or ''}")
