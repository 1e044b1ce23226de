"""Elements that a kernel reads before it asks whether they are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.workbook.cuda_source import KERNEL, kernel_body, line_at
from grader.workbook.edit import MOST
from grader.workbook.suspects.text import sets

_BRANCHES = re.compile(r"[{}]|\b(?:if|for|while|do|switch|return|goto|asm|volatile|__trap|assert)\b")
"""Up to here all threads do all that a kernel's body says."""
_STATEMENT = re.compile(r"[^;]*;")
_CAST = r"(?:(?<!\w)|(?<=\bfloat)|(?<=\bdouble)|(?<=__half2float)|(?<=__bfloat162float))"
_LOADED = re.compile(rf"\b\w+\s*=\s*(?P<value>(?:[^?&|=<>,;()]|{_CAST}\([^?&|=<>,;()]*\))*)(?=[,;])")
_NO_LOAD = re.compile(r"&|\b(?:sizeof|decltype)\b")
_ELEMENT = re.compile(r"(?<![\w.*])(?P<array>\w+)\[\s*(?P<index>[A-Za-z_]\w*)\s*\](?!\s*[\[.])")
_CASTS = re.compile(
    r"\b(?:static_cast<[\w ]+>|size_t|int|unsigned|long long)(?=\()|\((?:size_t|int|unsigned|long long)\)|\s"
)
_OF_GRID = re.compile(
    r"(?:\(?blockIdx\.(?P<a>[xyz])\)?\*(?P<by>[\w.]+)|(?P<first>[\w.]+)\*\(?blockIdx\.(?P<b>[xyz])\)?)"
)


@dataclass(frozen=True)
class Early:
    """A read by a thread's number in the grid, `blockIdx.x * by + threadIdx.x`, and the condition behind it."""

    line: int
    array: str
    place: int
    """Which of its kernel's arguments the array is."""
    kind: str
    """What it is declared as."""
    index: str
    axis: str
    by: str
    asked: int
    """The line of the condition."""
    condition: str


def reads(text: str, kernel: str) -> Iterator[Early]:
    """The reads that all threads do by an index that a later condition compares, in a text without comments."""
    declared = next((each for each in KERNEL.finditer(text[:MOST]) if each["name"] == kernel), None)
    body = kernel_body(text[:MOST], kernel)
    if declared is None or body is None:
        return
    first, whole = body[0], text[slice(*body)]
    branch = _BRANCHES.search(whole)
    front = whole[: branch.start() if branch else 0]
    taken = [each.strip() for each in declared["taken"].split(",")]
    arrays = {each[1]: place for place, one in enumerate(taken) if (each := re.search(r"\*.*?(\w+)$", one))}
    for statement in _STATEMENT.finditer(front):
        loads = [] if _NO_LOAD.search(statement[0]) else _LOADED.finditer(front, *statement.span())
        for found in (each for load in loads for each in _ELEMENT.finditer(front, *load.span("value"))):
            array, index = found["array"], found["index"]
            grid, asked = of_grid(front[: statement.start()], index), _asked(whole, statement.end(), index)
            if array in arrays and grid and asked and sets(whole, index) == 1 and not sets(whole, array):
                line, condition = line_at(text, first + found.start()), line_at(text, first + asked.start(1))
                kind = taken[arrays[array]].partition("*")[0]
                said = " ".join(asked[1].split())
                yield Early(line, array, arrays[array], kind, index, *grid, condition, said)


def of_grid(text: str, name: str) -> tuple[str, str] | None:
    """Of a variable that is a thread's number in the grid, its axis, and by what it multiplies the block's number; None
    of any other."""
    if not (found := re.search(rf"\b{name}\s*=\s*([^,;=]*)[,;]", text)):
        return None
    terms = _CASTS.sub("", found[1]).split("+")
    block = next(filter(None, map(_OF_GRID.fullmatch, terms)), None)
    axis = (block["a"] or block["b"]) if block else ""
    if block is None or len(terms) != 2 or f"threadIdx.{axis}" not in terms:
        return None
    return axis, block["by"] or block["first"]


def _asked(body: str, since: int, index: str) -> re.Match[str] | None:
    """The first condition behind a place that compares an index with the size that ends it."""
    compares = rf"\b{index}\s*(?:<|>=)\s*[A-Za-z_]\w*|[A-Za-z_]\w*\s*(?:>|<=)\s*{index}"
    return re.compile(rf"\bif\s*\((?:[^;{{}}]*?[\s(])?({compares})\s*(?:\)|&&|\|\|)").search(body, since)
