"""Pointers that go on from element to element, and what `sizeof` makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from grader.workbook.cuda_source import int_sizes, line_at
from grader.workbook.suspects.loops import Loop, loops_of
from grader.workbook.suspects.text import Said, sets

_SOME = 20  # pointers, and loops, of a file that are looked at: bounds a stranger's work

_SET_TO = re.compile(r"\*\s*(?:const\s+|__restrict__\s+)*(?P<name>\w+)\s*=\s*(?P<at>[^;,={}]{1,200});")
_START = re.compile(r"(?:[\w ]+\s)?(?P<name>\w+)\s*=\s*(?P<start>[A-Za-z_][\w.]*)")
_CAST = re.compile(r"\bstatic_cast<[\w ]+>|\(\s*(?:size_t|int|long long)\s*\)|\bsize_t(?=\s*\()|[()\s]")
_SIZE_OF = re.compile(r"\bsizeof\s*(?:\(\s*(\w+)\s*\)|(\w+)\b)")


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


def sizes(text: str) -> Iterator[Said]:
    """The bytes of a pointer, taken for those of what it points to."""
    for found in islice(_SIZE_OF.finditer(text), _SOME):
        name = found[1] or found[2]
        pointer = rf"\w\s*\*\s*(?:const\s+|__restrict__\s+)*{name}\s*(?:[,);]|=\s*(?P<of>[^;]{{1,200}});)"
        declared = re.search(pointer, text)
        if declared is None or re.search(rf"\w\s+{name}\s*\[", text):
            continue
        line, of = line_at(text, found.start()), re.search(r"&\s*(\w+)\s*\)?$", declared["of"] or "")
        instead = f"`sizeof({of[1]})`" if of else "give the number of elements"
        yield (
            line,
            f"Line {line}: `{name}` is a pointer, so `{found[0]}` is 8, the bytes of an address, whatever lies there: "
            f"{instead}.",
        )
