"""Pointers that go on from element to element, and what `sizeof` makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from grader.workbook.cuda_source import FUNCTION, KERNEL, bytes_of, int_sizes, line_at
from grader.workbook.suspects.loops import Loop, loops_of
from grader.workbook.suspects.text import Said, sets

_ROW_TYPE = re.compile(r"\b(?:typedef\s+\w+\s+(\w+)\s*\[\s*(\w+)\s*\]\s*;)")
_AS_ROWS = re.compile(
    r"(?:\(\*\s*(?:const\s+)?(?P<name>\w+)\s*\)\s*\[\s*(?P<length>\w+)\s*\]|\b(?P<kind>[A-Z]\w*)\s*\*\s*(?:const\s+)?(?P<other>\w+))"
    r"\s*=[^;]{0,80}?\(?\s*(?P<array>\w+)\s*\)?\s*;"
)
_SOME = 20  # pointers, and loops, of a file that are looked at: bounds a stranger's work

_SET_TO = re.compile(r"\*\s*(?:const\s+|__restrict__\s+)*(?P<name>\w+)\s*=\s*(?P<at>[^;,={}]{1,200});")
_START = re.compile(r"(?:[\w ]+\s)?(?P<name>\w+)\s*=\s*(?P<start>[A-Za-z_][\w.]*)")
_CAST = re.compile(r"\bstatic_cast<[\w ]+>|\(\s*(?:size_t|int|long long)\s*\)|\bsize_t(?=\s*\()|[()\s]")
_DIVIDES = re.compile(r"(?<!sizeof)(?<!\))\s*/\s*$")
_NEAR = 8  # characters in front of it
_SIZE_OF = re.compile(r"\bsizeof\s*(?:\(\s*(\w+)\s*\)|(\w+)\b)")
_OVER = re.compile(
    r"\s*/\s*sizeof\s*(?:\(\s*(?P<kind>(?:unsigned |long )?\w+)\s*\)|\(\s*\*\s*\w+\s*\)|\*\s*\w+"
    r"|\(\s*\w+(?:\[\w*\])+\s*\)|\w+(?:\[\w*\])+)"
)
"""By what bytes are divided where the number of elements is meant."""
_POINTER = (
    r"(?:^|[;{}]|\bfor\s*\()\s*(?:(?:const|volatile|unsigned|long)\s+)*(?P<kind>\w+)(?:\s+const)?\s*\*\s*"
    r"(?:(?:const|volatile|__restrict__|__restrict)\s+)*"
)


@dataclass(frozen=True)
class _Walk:
    """A pointer, what it was set to, and how a loop behind that moves it."""

    name: str
    set_to: str
    loop: Loop
    moved: str
    by: str  # "1" for `++`
    place: int  # of that in the text


def _walks(text: str) -> Iterator[_Walk]:
    """The loops that move a pointer which is set in front of them, with each move that they make."""
    loops = [*islice(loops_of(text), _SOME)]
    for pointer in islice(_SET_TO.finditer(text), _SOME):
        name, end = pointer["name"], text.find("\n}", pointer.end())
        moves = re.compile(
            rf"(?<![\w.]){name}\s*(?:\+\+|\+=(?P<by>(?:[^;,()]|\([^;()]*\))*))|\+\+\s*{name}\b"
        )
        for loop in loops:
            if pointer.end() <= loop.inside and (end < 0 or loop.at < end):
                for found in moves.finditer(text, min(loop.at, loop.inside), loop.inside + len(loop.body)):
                    by = (found["by"] or "1").strip()
                    yield _Walk(name, pointer["at"].strip(), loop, found[0].strip(), by, found.start())


def not_set_back(text: str) -> Iterator[Said]:
    """Pointers that begin where a loop does, go on with it, and stay there when that loop begins again."""
    walks = [*_walks(text)]
    for walk in walks:
        begins = _START.fullmatch(walk.loop.start)
        if begins is None or not _has(walk.set_to, begins["start"]):
            continue
        for outer in (each.loop for each in walks if each.name == walk.name and each.place == walk.place):
            around = outer.at < walk.loop.at and walk.loop.body in outer.body
            own = sets(f"{walk.loop.step}; {walk.loop.body}", walk.name)
            alone = sets(outer.body, walk.name) == own
            if around and alone and not sets(outer.body, begins["start"]):
                line = line_at(text, walk.place)
                yield (
                    line,
                    f"Line {line}: `{walk.moved}` goes on with the loop in line {line_at(text, walk.loop.at)}, and "
                    f"nothing sets `{walk.name}` back when that begins again: set it to `{walk.set_to}` inside the "
                    f"loop in line {line_at(text, outer.at)}.",
                )


def _has(text: str, name: str) -> bool:
    return bool(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text))


def short_rows(text: str) -> Iterator[Said]:
    """Pointers that begin in a row, and go on by as many elements as their loop does by rows."""
    for walk in _walks(text):
        begins = _START.fullmatch(walk.loop.start)
        step = re.fullmatch(r"\w+\s*\+=(.*)|\+\+\w+|\w+\+\+", walk.loop.step)
        if begins is None or step is None or (step[1] or "1").strip() != _CAST.sub("", walk.by):
            continue
        row = rf"(?<![\w.]){re.escape(begins['start'])}\s*\)*\s*\*\s*(\w+)"
        length = re.search(row, walk.set_to)
        if length and length[1] in int_sizes(text)[0]:
            line, many = line_at(text, walk.place), walk.by
            whole = length[1] if many == "1" else f"size_t({many}) * {length[1]}"
            yield (
                line,
                f"Line {line}: the loop goes on by {many if many == '1' else f'`{many}`'} row"
                f"{'' if many == '1' else 's'}, and `{walk.name}` by as many elements, where a row has `{length[1]}`: "
                f"`{walk.name} += {whole}`.",
            )


def rows_of_its_own(text: str) -> Iterator[Said]:
    """A matrix taken for rows as long as a constant, which are as long as one of its sizes."""
    kinds = {found[1]: found[2] for found in _ROW_TYPE.finditer(text)}
    kernel = KERNEL.search(text)
    arrays = re.findall(r"\*\s*(?:__restrict__\s+)?(\w+)", kernel["taken"]) if kernel else []
    for found in islice(_AS_ROWS.finditer(text), _SOME):
        length = found["length"] or kinds.get(found["kind"] or "", "")
        name, array = found["name"] or found["other"], found["array"]
        both = re.search(rf"\b{name}\[(?P<row>[^\[\]]{{1,60}})\]\[(?P<column>[^\[\]]{{1,60}})\]", text)
        if length and both and array in arrays and len(int_sizes(text)[0]) > 1 and "blockIdx" in text:
            line, row, column = (
                line_at(text, found.start("array")),
                both["row"].strip(),
                both["column"].strip(),
            )
            yield (
                line,
                f"Line {line}: a row of `{name}` is always {length} elements long, and one of `{array}` as long as the "
                f"matrix has columns, so that element ({row}, {column}) lies at `{row}` times that, plus `{column}`: "
                "index the array itself so.",
            )


def sizes(text: str) -> Iterator[Said]:
    """The bytes of a pointer, taken for those of what it points to."""
    heads = [each for head in (FUNCTION, KERNEL) for each in islice(head.finditer(text), _SOME)]
    for found in islice(_SIZE_OF.finditer(text), _SOME):
        name, line = found[1] or found[2], line_at(text, found.start())
        head = max((each for each in heads if each.end() <= found.start()), key=re.Match.start, default=None)
        body = text[head.end() if head else 0 : found.start()]
        if re.search(rf"\b(?!return\b|else\b)\w+\s+{name}\s*\[|\(\s*&\s*{name}\s*\)", body):
            continue
        taken = head["taken"] if head else ""
        pointer = re.search(
            rf"{_POINTER}{name}\s*(?P<of>[,;]|=[^;]{{1,200}};)", f"{taken.replace(',', ';')};{body}"
        )
        array = re.search(rf"(?P<kind>\w+)\s+{name}\s*(?P<of>(?:\[[^\[\]]*\]\s*)+)(?:,|$)", taken)
        declared = pointer or array
        if declared is None:
            continue
        divides = _DIVIDES.search(text, max(0, found.start() - _NEAR), found.start())
        quotient = _OVER.match(text, found.end())
        is_what = "a pointer" if pointer else "a pointer, as each parameter is that is written as an array"
        of_rows = (
            quotient and not quotient["kind"] and declared["of"].count("[") > max(1, quotient[0].count("["))
        )
        width = bytes_of(quotient["kind"] or declared["kind"]) if quotient and not of_rows else 0
        comes_to = f", and `{found[0]}{quotient[0]}` is {8 // width}" if quotient and width else ""
        instead = f"`sizeof({declared['kind']})`" if divides else _instead(text, found, declared, quotient)
        yield (
            line,
            f"Line {line}: `{name}` is {is_what}, so `{found[0]}` is 8, the bytes of an address{comes_to}, whatever "
            f"lies there: {instead}.",
        )


def _instead(text: str, size: re.Match[str], declared: re.Match[str], quotient: re.Match[str] | None) -> str:
    """What is to stand in the place of the bytes of a pointer, with what they are divided by."""
    of = re.search(r"(?P<at>&\s*)?\b(?P<name>\w+)\s*\)?\s*;$", declared["of"])
    if of and (of["at"] or re.search(rf"\w\s+{of['name']}\s*\[", text)):
        return f"`sizeof({of['name']})`"
    extents = [each.strip() for each in re.findall(r"\[([^\[\]]*)\]", declared["of"])]
    if quotient and not quotient["kind"]:
        extents = extents[: max(1, quotient[0].count("["))]
    many = " * ".join(extents) if all(extents) else ""
    divided = quotient is not None or re.match(r"\s*/", text[size.end() :])
    if many:
        alone = (
            f"write `{many}` in place of `{size[0]}{quotient[0]}`"
            if quotient
            else f"the elements are `{many}`"
        )
        return alone if divided else f"{alone}, and their bytes `{many} * sizeof({declared['kind']})`"
    of_bytes = not divided and bytes_of(declared["kind"]) > 1
    also = f", or for their bytes that times `sizeof({declared['kind']})`" if of_bytes else ""
    return f"give the number of elements{also}"
