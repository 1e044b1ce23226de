"""A change of a source that may mend it, and the lines that changes are looked for in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.workbook import units
from grader.workbook.cuda_source import plain

LONGEST = 500
"""Characters of a line that are looked at: bounds the work that a stranger's text can ask for."""

SEVERAL = 4
"""Names, offsets and the like of one kind that are tried in place of each other: that bounds it, too."""

MOST = 20_000
"""Characters of a text that are looked at where that takes long: bounds it as well."""

Change = tuple[int, int, str]


@dataclass(frozen=True)
class Edit:
    """A change of a source."""

    said: str
    """What comes between "With" and "it comes out right"."""
    line: int
    """The one that it is about, mostly the first that it changes."""
    changes: tuple[Change, ...]
    """Where each begins and ends in the text, and what stands there then; in order."""
    why: str = ""
    """A sentence on the mistake."""
    any: bool = False
    """Whether it is one of all that there are, and none of a known kind."""
    steps: str = ""
    """Sentences that tell its parts one by one, where they are too many for one sentence."""

    def with_also(self, other: Edit) -> Edit:
        """It together with another one of other places."""
        changes = tuple(sorted((*self.changes, *other.changes)))
        if self.steps:
            return replace(
                self, steps=f"{self.steps} It also takes {other.said.rstrip(',')}.", changes=changes
            )
        return replace(self, said=f"{self.said} and {other.said}", changes=changes)

    def lines(self, source: str) -> set[str]:
        """The lines of the source that it changes, without their indents."""
        text = source.split("\n")
        numbers = (source.count("\n", 0, at) for start, end, _ in self.changes for at in (start, end))
        return {text[number].strip() for number in numbers}

    def of_launch(self, source: str) -> bool:
        """Whether it changes the launch block as well, which stands in comments."""
        text = plain(source)
        return any(source[start:end] != text[start:end] for start, end, _ in self.changes)

    def applied(self, source: str) -> str:
        """The changed source."""
        for start, end, text in reversed(self.changes):
            source = source[:start] + text + source[end:]
        return source


@dataclass(frozen=True)
class Line:
    """A line of a text."""

    number: int
    start: int  # in the text
    text: str  # without comments


def lines_of(source: str) -> Iterator[Line]:
    """The lines of a source, without its comments."""
    start = 0
    for number, text in enumerate(plain(source).split("\n"), 1):
        yield Line(number, start, text[:LONGEST])
        start += len(text) + 1


def lines_around(text: str, start: int, end: int) -> tuple[Line, int, int]:
    """The line of a piece of a text, or those from its first to its last, and where in it the piece is."""
    begins, ends = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    line = Line(text.count("\n", 0, start) + 1, begins, text[begins : ends if ends >= 0 else None])
    return line, start - begins, end - begins


def in_place(line: Line, found: re.Match[str], group: str | int, new: str, why: str = "") -> Edit:
    """Another text in place of a group that was found in a line."""
    return at_place(line, *found.span(group), new, why)


def in_text(text: str, start: int, end: int, new: str, why: str = "") -> Edit:
    """Another text in place of a piece of a text."""
    return at_place(*lines_around(text, start, end), new, why)


def at_place(line: Line, start: int, end: int, new: str, why: str = "") -> Edit:
    """Another text in place of a piece of a line."""
    said = f"{instead(line.text, start, end, new)} in line {line.number}"
    return Edit(said, line.number, ((line.start + start, line.start + end, new),), why)


def instead(text: str, start: int, end: int, new: str) -> str:
    """Another text in place of a piece of a line, with as much of what is around it as makes it one place; where that
    is not enough, which of the pieces that are alike."""
    first, last = _one_place(text, start, end)
    alike = [found.start() for found in _alike(text[first:last], text)]
    number = alike.index(first) + 1 if len(alike) > 1 and first in alike else 0
    which = f"the {units.ORDINALS.get(number, f'{number}th')} " if number else ""
    return f"`{text[first:start]}{new}{text[end:last]}` in place of {which}`{text[first:last]}`"


def all_instead(places: Sequence[tuple[Line, int, int]], new: str) -> str:
    """Another text in several places of lines, with the lines: in place of the piece alone in a line of which all that
    are alike are among them, else as `instead` has it."""
    changed = {(line.number, start, end) for line, start, end in places}
    told: dict[str, list[int]] = {}
    for line, start, end in places:
        old = line.text[start:end]
        all_of_line = {(line.number, *found.span()) for found in _alike(old, line.text)} <= changed
        said = f"`{new}` in place of `{old}`" if all_of_line else instead(line.text, start, end, new)
        told.setdefault(said, []).append(line.number)
    return " and ".join(f"{said} in {where([*dict.fromkeys(numbers)])}" for said, numbers in told.items())


def _one_place(text: str, start: int, end: int) -> tuple[int, int]:
    """A piece of a line that is there once, with both of each pair of brackets: the given one, or that with what is
    around it in its statement, first what stands before it. The given one where that is not enough."""
    first, last = start, end
    if len(text) > LONGEST:
        return start, end
    while (open_ones := _depth(text[first:last])) or not _is_once(text, first, last):
        before = _BEFORE[open_ones < 0].search(text, max(0, first - _WORD), first)
        behind = _BEHIND[open_ones > 0].match(text, last)
        if before and (open_ones <= 0 or not behind):
            first = before.start()
        elif behind:
            last = behind.end()
        else:
            return start, end
        if last - first > _WORD:
            return start, end
    if first < start and (sign := _OPERAND.search(text, max(0, first - _WORD), first + 1)):
        first = sign.start()
    return first, last


_WORD = 100
"""Characters that a piece of a line has at the most with what is around it."""

_OPERAND = re.compile(r"\b[\w.]+\s*(?:[-+*/%&|^<>]|<<|>>)?[-+*/%&|^<>=]$")
"""What an operator stands behind that a piece begins with."""

_BEFORE = [re.compile(rf"(?:\b[\w.]+[(\[]?|[^\w\s;{{}}{ends}])\s*$") for ends in (",", "")]
_BEHIND = [re.compile(rf"\s*(?:[\w.]+|[^\w\s;{{}}{ends}])") for ends in (",", "")]
"""What a piece goes on by: not beyond a comma, but for one in brackets that it has one of alone."""


def _depth(piece: str) -> int:
    """How many brackets are open at the end of a piece; below 0, where one is closed that was not opened."""
    depth = 0
    for sign in re.findall(r"[][()]", piece):
        depth += 1 if sign in "([" else -1
        if depth < 0:
            return depth
    return depth


def _is_once(text: str, first: int, last: int) -> bool:
    return len(_alike(text[first:last], text)) == 1


def _alike(piece: str, text: str) -> list[re.Match[str]]:
    """Where a piece stands in a line, as whole words; nowhere in one that is too long."""
    ends = (r"(?<!\w)" if re.match(r"\w", piece) else "", r"(?!\w)" if re.search(r"\w$", piece) else "")
    return list(re.finditer(ends[0] + re.escape(piece) + ends[1], text)) if len(text) <= LONGEST else []


def in_places(places: Sequence[tuple[Line, re.Match[str]]], group: str | int, new: str, why: str) -> Edit:
    """The same in several lines, in each of which the group is the same text."""
    changes = tuple(
        (line.start + found.start(group), line.start + found.end(group), new) for line, found in places
    )
    said = all_instead([(line, *found.span(group)) for line, found in places], new)
    return Edit(said, places[0][0].number, changes, why)


def in_front(line: Line, at: int, new: str, what: str, why: str) -> Edit:
    """A text that is put into a line, in front of `what`, which stands `at` that character of it."""
    change = (line.start + at, line.start + at, new)
    return Edit(f"`{new.strip()}` in front of {what} in line {line.number}", line.number, (change,), why)


def where(numbers: Sequence[int]) -> str:
    """Lines in words."""
    first, last = numbers[0], numbers[-1]
    if first == last:
        return f"line {first}"
    if len(numbers) > 2 and last - first == len(numbers) - 1:
        return f"lines {first} to {last}"
    return f"lines {', '.join(map(str, numbers[:-1]))} and {last}"
