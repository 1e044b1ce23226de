"""A change of a source that may mend it, and the lines that changes are looked for in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


def in_place(line: Line, found: re.Match[str], group: str | int, new: str, why: str = "") -> Edit:
    """Another text in place of a group that was found in a line."""
    start, end = found.span(group)
    said = f"{instead(line.text, start, end, new)} in line {line.number}"
    return Edit(said, line.number, ((line.start + start, line.start + end, new),), why)


def instead(text: str, start: int, end: int, new: str) -> str:
    """Another text in place of a piece of a line, with as much of what is around it as makes it one place."""
    first, last = _one_place(text, start, end)
    return f"`{text[first:start]}{new}{text[end:last]}` in place of `{text[first:last]}`"


def _one_place(text: str, start: int, end: int) -> tuple[int, int]:
    """A piece of a line that is there once, with both of each pair of brackets: the given one, or that with what is
    around it in its statement, first what stands before it. The given one where that is not enough."""
    first, last = start, end
    if len(text) > LONGEST:
        return start, end
    while (open_ones := _depth(text[first:last])) or not _is_once(text, first, last):
        before, behind = _BEFORE.search(text, max(0, first - _WORD), first), _BEHIND.match(text, last)
        if before and (open_ones <= 0 or not behind):
            first = before.start()
        elif behind:
            last = behind.end()
        else:
            return start, end
        if last - first > _WORD:
            return start, end
    return first, last


_WORD = 100
"""Characters that a piece of a line has at the most with what is around it."""

_BEFORE = re.compile(r"(?:\b[\w.]+[(\[]?|[^\w\s;{},])\s*$")
_BEHIND = re.compile(r"\s*(?:[\w.]+|[^\w\s;{},])")


def _depth(piece: str) -> int:
    """How many brackets are open at the end of a piece; below 0, where one is closed that was not opened."""
    depth = 0
    for sign in re.findall(r"[][()]", piece):
        depth += 1 if sign in "([" else -1
        if depth < 0:
            return depth
    return depth


def _is_once(text: str, first: int, last: int) -> bool:
    piece = text[first:last]
    ends = (r"(?<!\w)" if piece[:1].isalnum() else "", r"(?!\w)" if piece[-1:].isalnum() else "")
    return len(re.findall(ends[0] + re.escape(piece) + ends[1], text)) == 1


def in_places(places: Sequence[tuple[Line, re.Match[str]]], group: str | int, new: str, why: str) -> Edit:
    """The same in several lines, in each of which the group is the same text."""
    changes = tuple(
        (line.start + found.start(group), line.start + found.end(group), new) for line, found in places
    )
    numbers = [*dict.fromkeys(line.number for line, _ in places)]
    said = f"`{new}` in place of `{places[0][1][group]}` in {where(numbers)}"
    return Edit(said, numbers[0], changes, why)


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
