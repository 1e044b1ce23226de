"""The ends of an array: what stands for elements that are not there, and a last tile that is partly filled."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from grader.workbook.cuda_source import int_sizes, line_at, numbers_in_grid, shared_extents
from grader.workbook.edit import MOST, SEVERAL, Edit, Line, in_front, in_place, in_text
from grader.workbook.suspects.loops import loops_of

_INDICES = 20  # that are looked at: bounds a stranger's work

_STORES = 4  # likewise
_WIDE = r"(?:\(\s*(?:size_t|long long)\s*\)\s*|(?:size_t|long long)\s*\(\s*)?"
_STORE = re.compile(
    rf"^\s*(?P<to>\w+\[\s*(?:(?P<one>[A-Za-z_]\w*)|{_WIDE}(?P<row>[A-Za-z_]\w*)\s*\)?\s*\*\s*(?P<by>\w+)\s*\+\s*"
    r"(?P<column>[A-Za-z_]\w*))\s*\]\s*[-+*]?=(?!=)[^;]*;\s*)$"
)
_ADDS = re.compile(
    r"^\s*(?P<to>)atomicAdd\(\s*(?:&\s*\w+\[\s*(?P<one>[A-Za-z_][\w.]*)\s*\]|\w+\s*\+\s*(?P<other>[A-Za-z_][\w.]*))\s*,"
    r"\s*(?P<from>\w+)\[(?P<index>[^\[\]]{1,60})\]\s*\)\s*;"
)
_AS_ANOTHER = re.compile(r"\b(?P<name>\w+)\s*=\s*(?P<first>[A-Za-z_]\w*)\s*\+\s*[^;=]{1,60};")
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
_ONLY_BEHIND = re.compile(
    r"(?:\bif\s*\(|&&|\|\||=\s*\(?|(?<!\w)(?<!\w )\()\s*"
    r"(?P<whole>(?P<place>[A-Za-z_]\w*(?:\s*[+-]\s*\w+){0,2})\s*(?P<sign><|>=)\s*[A-Za-z_]\w*)\s*(?=\)|&&|\|\||\?)"
)
_OR_ANOTHER = re.compile(r"\?[^:;?]{1,100}:\s*(\w+\[[^\[\]]{1,60}\])\s*;")
_NEARER = re.compile(
    r"(?:\b(?P<name>\w+)\s*=|(?P<sign><=?))\s*(?:\w+::)?min(?:<\w+>)?\("
    r"\s*(?P<one>[^(),]{1,60}?)\s*,\s*(?P<other>[^(),]{1,60}?)\s*\)\s*;"
)
_NO_FARTHER = re.compile(
    r"\bif\s*\(\s*(?P<name>\w+)\s*>\s*(?P<size>[A-Za-z_]\w*)\s*\)\s*\{?\s*(?P=name)\s*=\s*(?P=size)\s*;"
)
_NO_FARTHER_PLACE = re.compile(
    r"\b(?P<name>\w+)\s*=\s*(?P<all>\(?\s*(?P<place>[^;?<>=]{1,60}?)\s*>=?\s*(?P<size>[A-Za-z_]\w*)\s*\)?\s*\?\s*(?P=size)"
    r"\s*:\s*(?P=place))\s*;"
)
_ON_ELEMENT = re.compile(
    r"(?P<condition>\bif\s*\(\s*(?P<name>[A-Za-z_]\w*)\s*<\s*[A-Za-z_]\w*\s*\)\s*)"
    r"(?:\{(?P<body>[^{}]{1,300})\}|(?P<one>[^;{}]{1,200};))(?!\s*else\b)"
)
_ROW_OF = re.compile(
    r"(?:\(|\[\s*)\s*(?P<row>\w+\s*\+[^()\[\];]{1,40}?)\s*\)?\s*\*\s*(?P<length>[A-Za-z_]\w*)\s*\+"
)
_OF_A_TREE = re.compile(
    r"^\s*(?P<to>(?P<array>\w+)\[\s*(?P<own>[A-Za-z_][\w.]*)\s*\]\s*(?:\+=|=\s*(?P=array)\[\s*(?P=own)\s*\]\s*\+)\s*"
    r"(?P=array)\[\s*(?P=own)\s*\+\s*(?P<step>\w+)\s*\]\s*;)"
)
_NEXT = re.compile(r"^\s*(?P<own>)\w+\[\s*(?P<index>(?P<first>[A-Za-z_]\w*)\s*\+\s*\w+)\s*\]\s*[-+*]?=(?!=)")
_ROUNDED_DOWN = re.compile(
    r"\b(?:int|unsigned|size_t|auto)\s+(?P<name>\w+)\s*=\s*(?P<both>(?P<size>\w+)\s*/\s*(?P<by>\w+))\s*;"
)


def unguarded(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A second element that is stored, or added, by a thread of which a condition knows the first alone."""
    for another in islice(_AS_ANOTHER.finditer(text[:MOST]), _INDICES):
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
    yield from _unguarded_next(text, lines)


def _unguarded_next(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """The same by an index that adds to the first one's, all of a thread's at once."""
    stores = [(line, found) for line in lines if (found := _NEXT.search(line.text))][:_STORES]
    for first in dict.fromkeys(found["first"] for _, found in stores):
        limit = re.search(rf"\bif\s*\(\s*{first}\s*(?:<|>=)\s*(\w+)\s*\)", text)
        own = [(line, found) for line, found in stores if found["first"] == first]
        if limit and not re.search(rf"\b{first}\s*\+\s*\w+\s*(?:<|>=)", text):
            why = "Each element that a thread takes has a condition of its own."
            guards = (
                in_front(
                    line, found.start("own"), f"if ({found['index']} < {limit[1]}) ", "the assignment", why
                )
                for line, found in own
            )
            yield functools.reduce(Edit.with_also, guards)


def guardless(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A store by an index that no condition knows, of which each thread has one."""
    sizes, body = int_sizes(text)
    stores = ((line, found) for line in lines if (found := _STORE.search(line.text)))
    why = "A thread that has no element must not touch memory."
    for line, found in islice(stores, _STORES):
        row, by, column = found["row"], found["by"], found["column"] or found["one"]
        if not any(name and re.search(rf"\b{name}\b\s*[<>]", text[body:]) for name in (row, column)):
            for size in sizes[:SEVERAL]:
                held = f"{column} < {size}" if row is None else f"{row} < {size} && {column} < {by}"
                if size != by:
                    yield in_front(line, found.start("to"), f"if ({held}) ", "the assignment", why)


def of_a_tree(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A step of a tree in which each thread adds, also those that have nothing to add to."""
    for line in lines:
        if found := _OF_A_TREE.search(line.text):
            own, step = found["own"], found["step"]
            halves = re.search(rf"\b{step}\s*(?:/=\s*2|>>=\s*1|=\s*{step}\s*(?:/\s*2|>>\s*1))\s*[;)]", text)
            if halves and not re.search(rf"{re.escape(own)}\s*(?:<|>=)\s*{step}\b", text):
                why = f"In each step `{step}` threads have something to add."
                yield in_front(line, found.start("to"), f"if ({own} < {step}) ", "the assignment", why)


def handed_on(source: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Elements of an array in shared memory that threads add to others, of which there are more than elements."""
    extents = shared_extents(source)
    for line in lines:
        found = _ADDS.search(line.text)
        if found and (extent := extents.get(found["from"])):
            index = found["one"] or found["other"]
            if found["index"].strip() == index:
                why = f"`{found['from']}` has {extent} elements, and a block more threads."
                yield in_front(line, found.start("to"), f"if ({index} < {extent}) ", "`atomicAdd`", why)


def in_front_of_0(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A place from which something is subtracted, and which is only kept from being behind the end."""
    less = {*re.findall(r"\b(\w+)\s*=(?!=)[^;,=]{0,60}-", text[:MOST])}
    for line in lines:
        for found in _ONLY_BEHIND.finditer(line.text):
            place, whole = found["place"].strip(), found["whole"]
            loop = re.search(r".*\b(?:for|while)\b(.*)", line.text[: found.start()])
            in_head = loop is not None and loop[1].count("(") > loop[1].count(")")
            tested = re.search(rf"{re.escape(place)}\s*(?:>=|<)\s*0\b", line.text)
            if not (in_head or tested) and ("-" in place or less & {*re.findall(r"\w+", place)}):
                new = f"{place} >= 0 && {whole}" if found["sign"] == "<" else f"{place} < 0 || {whole}"
                why = "A place below 0 is in front of the first element."
                yield in_place(line, found, "whole", new, why)


def at_ends(lines: Sequence[Line]) -> Iterator[Edit]:
    """An element in place of those beyond the ends of an array, which are not there."""
    for line in lines:
        for found in _CLAMPED.finditer(line.text):
            new = (found["one"] or found["two"]).strip()
            why = "Else the first element stands for all in front of it, which are not there."
            yield in_place(line, found, "clamp", new, why)
        for found in _OR_ANOTHER.finditer(line.text):
            yield in_place(line, found, 1, "0", "What is not there adds nothing.")


def clamped(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
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


def nearer(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """The nearer of two ends of a loop, one of which is the last place that is taken, and the other the first that is
    not."""
    for line in lines:
        for found in _NEARER.finditer(line.text):
            ends = re.search(rf"[^<](<=?)\s*{found['name']}\b", text) if found["name"] else None
            sign = ends[1] if ends else found["sign"]
            for side in ("other", "one") if sign else ():
                if sign == "<=" and found[side].isidentifier():
                    why = f"A loop with `<=` takes its end too, and the last element has the number {found[side]} - 1."
                    yield in_place(line, found, side, f"{found[side]} - 1", why)
                elif sign == "<" and not found[side].isidentifier():
                    why = f"A loop with `<` ends before `{found[side]}`."
                    yield in_place(line, found, side, f"{found[side]} + 1", why)
    for pattern, group, form in (
        (_NO_FARTHER, 0, "if ({name} >= {size}) {name} = {size} - 1;"),
        (_NO_FARTHER_PLACE, "all", "{place} >= {size} ? {size} - 1 : {place}"),
    ):
        for found in pattern.finditer(text[:MOST]):
            if re.search(rf"<=\s*{found['name']}\b", text):
                size, new = found["size"], form.format(**found.groupdict())
                why = f"A loop with `<=` takes its end too, and the last element has the number {size} - 1."
                yield in_text(text, *found.span(group), new, why)


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


def of_another(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """A condition on a thread's element in front of what each thread does with its number in the block."""
    in_grid = numbers_in_grid(text)
    for found in _ON_ELEMENT.finditer(text):
        body, name = found["body"] or found["one"], found["name"]
        if name in in_grid and not re.search(rf"\b{name}\b", body) and re.search(r"\w\[", body):
            condition = " ".join(found["condition"].split())
            why = f"What is done there is about the threads of the block, and not about element `{name}`."
            line = line_at(text, found.start())
            yield Edit(f"`{condition}` in line {line} left out", line, ((*found.span("condition"), ""),), why)


def each_row(text: str) -> Iterator[Edit]:
    """Rows that a thread takes in a loop, of which the first alone is compared with how many there are."""
    sizes, _ = int_sizes(text)
    for loop in islice(loops_of(text), SEVERAL) if len(sizes) == 2 else ():
        counter = re.match(r"\w[\w ]*?\b(\w+)\s*=", loop.start)
        for found in _ROW_OF.finditer(loop.body) if counter else ():
            row, length = found["row"].strip(), found["length"]
            if length in sizes and counter and re.search(rf"\b{counter[1]}\b", row):
                (other,) = {*sizes} - {length}
                condition = loop.condition.strip()
                at = text.index(condition, loop.at)
                why = "Each row that a thread takes has to be there."
                yield in_text(text, at, at + len(condition), f"{condition} && {row} < {other}", why)


def rounded_down(lines: Sequence[Line]) -> Iterator[Edit]:
    """How many tiles a side has, without the last that is partly filled."""
    for line in lines:
        for found in _ROUNDED_DOWN.finditer(line.text):
            size, by = found["size"], found["by"]
            if by != "1" and not size.isdecimal():
                new = f"({size} + {by} - 1) / {by}"
                yield in_place(
                    line, found, "both", new, "`/` rounds down, and the last one is partly filled."
                )
                yield from _shares(lines, line, found, new)


def _shares(lines: Sequence[Line], line: Line, found: re.Match[str], rounded: str) -> Iterator[Edit]:
    """The same of the share of a thread, which then may end behind the last element."""
    ends = re.compile(rf"=\s*(?P<end>\w+\s*\+\s*{found['name']})\s*;")
    for other in lines:
        if end := ends.search(other.text):
            inside = f"min({end['end']}, {found['size']})"
            changes = tuple(
                (each.start + match.start(group), each.start + match.end(group), new)
                for each, match, group, new in ((line, found, "both", rounded), (other, end, "end", inside))
            )
            said = f"`{rounded}` in line {line.number} and `{inside}` in line {other.number}"
            why = "`/` rounds down, and what is left over is in no thread's share."
            yield Edit(said, line.number, changes, why)
