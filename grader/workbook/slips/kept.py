"""Values that are read once, in front of a loop that goes on to other elements, and used for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from grader.workbook.cuda_source import line_at
from grader.workbook.edit import SEVERAL, Change, Edit, all_instead, lines_around
from grader.workbook.suspects.loops import Loop, loops_of

_MOST_VALUES, _MOST_LOOPS = 32, 8  # that are looked at: bounds a stranger's work

_SETS = re.compile(
    r"(?:^|(?<=[;{}]))[ \t]*(?:const[ \t]+)?"
    r"(?:(?:float|double|int|uint|char|uchar|half|__half|unsigned|auto)[234]?[ \t]+)?"
    r"(?:const[ \t]+)?(?P<all>[A-Za-z_]\w*[ \t]*=(?!=)[^;{}\n]{1,200});",
    re.MULTILINE,
)
_ONE = re.compile(r"\b(?P<name>\w+)\s*=(?!=)\s*(?P<value>(?:[^,()=]|\((?:[^()]|\([^()]*\))*\))+)")
_IN_SHARED = re.compile(r"(?<=[;{])\s*(?P<name>\w+\[[\w.]+\])\s*=(?!=)\s*(?P<value>\w+\[[A-Za-z_]\w*\])\s*;")
_KERNEL = re.compile(r"\b__(?:global|device)__\b")
_BRACKETS = re.compile(r"\[([^\[\]]{1,100})\]")
_POINTER = re.compile(r"(?:^|[(=,+])\s*\*\s*([A-Za-z_]\w*)|\b([A-Za-z_]\w*)\s*\[")
_COUNTER = re.compile(r"(?:[\w ]*\b)?(?P<name>\w+)\s*=\s*(?P<first>.*[A-Za-z_].*)$")
_SUM = re.compile(r"[-+*/%?<>&|]")
_INSIDE = re.compile(r"\[[^\[\]]*\]|\((?:[^()]|\([^()]*\))*\)")


@dataclass(frozen=True)
class _Value:
    """A variable, or an element in shared memory, what it is set to, and where in the text that ends."""

    name: str
    text: str
    end: int
    line: int


def edits(text: str) -> Iterator[Edit]:
    """What a loop reads anew in place of such a value: of each, and of all that one loop uses."""
    values = [*islice(_values(text), _MOST_VALUES)]
    for loop in islice(loops_of(text), _MOST_LOOPS):
        found: list[tuple[_Value, Edit]] = []
        for value in values if loop.body else ():
            before = value.end <= loop.at and not _KERNEL.search(text, value.end, loop.at)
            if before and (new := _anew(text, value, loop)):
                found += [(value, edit) for edit in _in_loop(text, value, loop, new)]
        yield from (edit for _, edit in found)
        if 1 < len(found) <= SEVERAL:
            _, edit = found[0]
            for _, other in found[1:]:
                edit = edit.with_also(other)
            yield Edit(edit.said, edit.line, edit.changes, _why([value for value, _ in found]))


def _values(text: str) -> Iterator[_Value]:
    for sets in _SETS.finditer(text):
        for one in _ONE.finditer(sets["all"]):
            if _BRACKETS.search(one["value"]) or _POINTER.search(one["value"]):
                yield _Value(one["name"], one["value"].strip(), sets.end(), line_at(text, sets.start("all")))
    for one in _IN_SHARED.finditer(text):
        yield _Value(one["name"], one["value"], one.end(), line_at(text, one.start("name")))


def _in_loop(text: str, value: _Value, loop: Loop, new: str) -> Iterator[Edit]:
    """The value read anew wherever the loop uses it, and none where it sets it."""
    read = re.compile(rf"(?<![\w.]){re.escape(value.name)}(?!\w)(?!\s*(?:[-+*/]?=(?!=)|\+\+|--))")
    used = [*read.finditer(text, loop.inside, loop.inside + len(loop.body))]
    if used:
        new = f"({new})" if _SUM.search(_INSIDE.sub("", new)) else new
        places = [lines_around(text, *each.span()) for each in used]
        changes: tuple[Change, ...] = tuple((*each.span(), new) for each in used)
        yield Edit(all_instead(places, new), places[0][0].number, changes, _why([value]))


def _why(values: list[_Value]) -> str:
    sets = " and ".join(f"line {value.line} sets `{value.name}`" for value in values)
    return f"{sets[0].upper()}{sets[1:]} once, before the loop, which goes on to other elements."


def _anew(text: str, value: _Value, loop: Loop) -> str:
    """How a loop reads the element that it has come to; "" where it does not go on."""
    indices = _BRACKETS.findall(value.text)
    names = chain.from_iterable(re.findall(r"(?<![\w.])[A-Za-z_]\w*", index) for index in indices)
    pointers = (one or other for one, other in _POINTER.findall(value.text))
    if any(_changes(loop, name) for name in dict.fromkeys(chain(names, pointers))):
        return value.text
    if counter := _COUNTER.match(loop.start):
        first, name = counter["first"].strip(), counter["name"]
        for begins in (first, *re.findall(rf"\b(\w+)\s*=\s*{re.escape(first)}\s*;", text)):
            new = _with_index(value.text, begins, name)
            if new != value.text and begins != name:
                return new
    for index in indices:
        moved = index.isidentifier() and re.search(
            rf"\b(\w+)\s*=[^;=]*\b{index}\b[^;=]*", f"{loop.start};{loop.body}"
        )
        if moved and moved[1] not in (value.name, index):
            return value.text.replace(f"[{index}]", f"[{moved[1]}]")
    return ""


def _with_index(text: str, old: str, new: str) -> str:
    """A text with another one in place of what its indices have."""
    own = re.compile(rf"(?<![\w.]){re.escape(old)}(?!\w)")
    return _BRACKETS.sub(lambda found: own.sub(new, found[0]), text)


def _changes(loop: Loop, name: str) -> bool:
    """Whether a loop goes on by a variable."""
    changes = rf"(?<![\w.]){name}\s*(?:(?:[-+*/]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*{name}\b"
    return re.search(changes, f"{loop.step};{loop.body}") is not None
