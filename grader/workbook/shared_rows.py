"""Rows of arrays in shared memory: which thread goes along which, and which lane has a copy of its own in each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from grader.workbook.cuda_source import (
    BY_ONE,
    bytes_of,
    cast_to,
    constant,
    index_of,
    lines_of_kernel,
    named_numbers,
    plain,
    pointee,
    shared_arrays,
    statement,
    updated_in,
    written_out,
)

WORD = 4
"""Bytes that a bank holds in a row."""

BANKS_BYTES = 32 * WORD
"""What the 32 banks hold in a row."""

_MOST_LINES = 100  # that are looked at: bounds the work that a stranger's text can ask for
_ACCESS = re.compile(r"\b([A-Za-z_]\w*)\s*((?:\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*)+)")
_PART = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
_PLACE = re.compile(r"\b([A-Za-z_]\w*)\s*((?:\[[^\[\]]*\]\s*)+|\+[^;()]+)")
_LANE = re.compile(r"(?P<thread>threadIdx\.x|\w+)\s*(?P<sign>[%&])\s*(?P<by>\w+)")


@dataclass(frozen=True)
class Row:
    """A row of an array of which a thread takes a column in each turn of a loop; neighbouring lanes have neighbouring
    rows."""

    array: str
    apart: int  # bytes from one row to the next
    thread: str  # the number of the thread whose row it is, as it is written
    column: str  # the loop's counter
    columns: int  # turns
    nbytes: int  # of an access

    @property
    def in_one_bank(self) -> bool:
        """Whether a column of all rows is in one bank, and in different ones where each lane begins at another column
        and goes round."""
        return self.apart % BANKS_BYTES == 0 and self.columns * self.nbytes % BANKS_BYTES == 0


def row_of_thread(source: str, line: int) -> Row | None:
    """The row along which a thread goes in a line; None where none is to be seen."""
    heads = [text for number, text in lines_of_kernel(source, line).items() if number <= line]
    loop = next(filter(None, map(BY_ONE.search, reversed(heads))), None)
    columns = constant(source, loop["many"]) if loop is not None and loop["start"] == "0" else None
    if loop is None or not columns:
        return None
    for name, brackets in _ACCESS.findall(statement(source, line)):
        *parts, column = (part.strip() for part in _PART.findall(brackets))
        if name in shared_arrays(source):
            array = name
            if not parts:
                parts, column = _terms(source, line, column, loop["counter"])
        else:
            array, parts = _pointed_to(source, line, name)
        nbytes = pointee(source, line, array) if array != name else _itemsize(source, array)
        of_row = _of_thread(source, array, parts)
        if column == loop["counter"] and of_row and nbytes in (4, 8, 16):
            thread, apart = of_row
            return Row(array, apart, thread, column, columns, nbytes)
    return None


def _terms(source: str, line: int, index: str, counter: str) -> tuple[list[str], str]:
    """Of an index that is a sum with a loop's counter the rest, and the counter; else nothing of use."""
    terms = _sum(index if index == counter else written_out(source, line, index))
    return ([each for each in terms if each != counter], counter) if counter in terms else ([], "")


def _pointed_to(source: str, line: int, name: str) -> tuple[str, list[str]]:
    """The array in shared memory to a row of which a pointer was set, and by which index; empty where none was."""
    arrays = shared_arrays(source)
    set_to = written_out(source, line, name)
    found = next((each for each in _PLACE.finditer(set_to) if set_to != name and each[1] in arrays), None)
    if found is None:
        return "", []
    parts = [part.strip() for part in _PART.findall(found[2])] or [found[2].lstrip("+ ")]
    return found[1], [part for part in parts if part != "0"]


def _of_thread(source: str, array: str, parts: list[str]) -> tuple[str, int] | None:
    """The thread's number of which a row is, as it is written, and how many bytes rows are apart."""
    declared = shared_arrays(source).get(array, ())
    if len(parts) != 1 or len(declared) != 1:
        return None
    threads = _threads(source)
    itemsize, extents = declared[0].itemsize, declared[0].extents
    if len(extents) == 2:
        return (parts[0], itemsize * (extents[1] or 0)) if parts[0] in threads else None
    factors = [factor.strip() for factor in parts[0].split("*")]
    for thread, words in (factors, factors[::-1]) if len(factors) == 2 else ():
        if thread in threads and (many := constant(source, words)):
            return thread, itemsize * many
    return None


def _threads(source: str) -> set[str]:
    """A thread's number along x in its block, as it is written."""
    return {"threadIdx.x", *(name for name, axis in named_numbers(plain(source)) if axis == "x")}


def _itemsize(source: str, array: str) -> int:
    return max((one.itemsize for one in shared_arrays(source).get(array, ())), default=0)


def widest(source: str, array: str) -> int:
    """The bytes of the widest access to an array by a pointer that is cast; 0 for none."""
    return max((bytes_of(cast_to(source, line, array)) for line in _lines_with(source, array)), default=0)


def copies_by_lane(source: str, array: str) -> tuple[int | None, ...]:
    """Of each line that updates an array in shared memory, in which each lane of a warp has a copy of its own: how many
    bytes rows of such copies are apart, None where that is not to be seen; () where lanes have none."""
    lines = [line for line in _lines_with(source, array) if array in updated_in(source, line)]
    return tuple(_copies(source, array, lines))


def _lines_with(source: str, array: str) -> list[int]:
    """The first lines that name an array."""
    named = (line for line, text in enumerate(plain(source).splitlines(), 1) if array in text)
    return [*islice(named, _MOST_LINES)]


def _copies(source: str, array: str, lines: list[int]) -> Iterator[int | None]:
    """Copies of other elements than words are in no bank of their own, however far rows are apart."""
    word = _itemsize(source, array) == WORD
    for line in lines:
        parts = next(
            (
                _PART.findall(brackets)
                for name, brackets in _ACCESS.findall(statement(source, line))
                if name == array
            ),
            [],
        )
        if len(parts) == 2 and _is_lane(source, line, parts[1]):
            columns = {one.extents[-1] for one in shared_arrays(source).get(array, ())}
            yield WORD * (columns.pop() or 0) if word and len(columns) == 1 else None
        elif len(parts) < 2:
            terms = _sum(index_of(source, line, array)[0])
            others = [each for each in terms if not _is_lane(source, line, each)]
            if len(others) < len(terms):
                words = re.fullmatch(r".*\*\s*(\w+)", others[0]) if len(others) == 1 else None
                many = constant(source, words[1]) if words and word else None
                yield many and WORD * many


def lane_first(source: str, line: int, array: str) -> tuple[str, str] | None:
    """Of a line that updates a lane's copy whose elements lie beside one another: the access as it is written, and with
    its indices exchanged, so that the lanes' copies of an element do; None of any other."""
    for name, brackets in _ACCESS.findall(statement(source, line)):
        parts = [part.strip() for part in _PART.findall(brackets)]
        if name != array:
            continue
        if len(parts) == 2 and _is_lane(source, line, parts[0]) and not _is_lane(source, line, parts[1]):
            return f"{array}[{parts[0]}][{parts[1]}]", f"{array}[{parts[1]}][{parts[0]}]"
        terms = _sum(parts[0]) if len(parts) == 1 else []
        if len(terms) != 2:
            continue
        for copy, element in (terms, terms[::-1]):
            factors = [factor.strip() for factor in copy.split("*")]
            lane = next((each for each in factors if _is_lane(source, line, each)), "")
            if len(factors) == 2 and lane:
                element = element if re.fullmatch(r"\w+|\w+\[[^\[\]]*\]", element) else f"({element})"
                return f"{array}[{parts[0]}]", f"{array}[{element} * {BANKS_BYTES // WORD} + {lane}]"
    return None


def _is_lane(source: str, line: int, text: str) -> bool:
    found = _LANE.fullmatch(written_out(source, line, text.strip().strip("()")).strip().strip("()"))
    if found is None or found["thread"] not in _threads(source):
        return False
    by = 32 if found["by"] == "warpSize" else constant(source, found["by"])
    return by == (32 if found["sign"] == "%" else 31)


def _sum(index: str) -> list[str]:
    """What an index adds up, but in parentheses."""
    return [term.strip() for term in re.split(r"\+(?![^(]*\))", index)]
