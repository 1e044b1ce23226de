"""Vectors: conditions that let whole ones pass, and what is left behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from grader.workbook.cuda_source import KERNEL, bytes_of, constant, line_at
from grader.workbook.suspects.early import of_grid
from grader.workbook.suspects.loops import body_of, loops_of
from grader.workbook.suspects.text import looked_at

_MOST = 100  # conditions and arrays that are looked at: bounds a stranger's work
_VECTORS = (2, 4, 8, 16)
_IF = re.compile(r"\bif\s*\((?P<condition>(?:[^(){};]|\([^(){};]{0,60}\)){1,200})\)")
_CHOICE = re.compile(r"(?P<condition>(?:[^;={}?]|[<>!=]=){1,120})\?(?P<taken>[^;?:]{1,200}):")
_COMPARED = re.compile(
    r"(?P<left>[^<>]+?)\s*(?P<sign><=?)\s*(?P<bound>\w+)(?:\s*(?P<by>[-/])\s*(?P<number>\w+))?"
)
_VIEW = re.compile(
    r"\b(?P<name>\w+)\s*=\s*(?:reinterpret_cast\s*<\s*(?:const\s+)?(?P<kind>\w+)\s*\*\s*>"
    r"|\(\s*(?:const\s+)?(?P<other>\w+)\s*\*\s*\))\s*\(?\s*(?P<array>\w+)\s*\)?\s*;"
)
_INPUT = re.compile(r"\bconst\s+(?P<kind>\w+)\s*\*\s*(?:const\s+|__restrict__\s+)*(?P<name>\w+)")


_BELOW = re.compile(
    r"(?P<name>\w+) ?< ?(?P<size>\w+)(?: ?/ ?(?P<by>\w+))?"
    r"|(?P<many>\d+) ?\* ?(?P<own>\w+) ?\+ ?(?:(?P<last>\d+) ?<|(?P=many) ?<=) ?(?P<most>\w+)"
)
_QUOTIENT = re.compile(r"\b(\w+)\s*=\s*(\w+)\s*/\s*(\w+)\s*;")
_ONE_OF_REST = (
    "Behind the body of `if ({own})` in line {line}, let threads take these one each: with `if ({name} < {size} % "
    "{by})`, the element `{size} / {by} * {by} + {name}`."
)


@dataclass(frozen=True)
class Whole:
    """A condition that lets whole vectors of an array pass."""

    line: int
    condition: str
    size: str
    by: int
    array: str


@dataclass(frozen=True)
class _Guarded:
    start: int
    end: int
    condition: str
    at: int


def only_whole(source: str) -> Iterator[Whole]:
    """Inputs that are loaded as vectors alone, each on a condition that lets only whole ones pass."""
    text = _without_views(looked_at(source))
    kernels = list(KERNEL.finditer(text))
    if len(kernels) != 1 or text.count("__global__") != 1:
        return
    begins, parts = kernels[0].end(), list(_guarded(text))
    for given in islice(_INPUT.finditer(kernels[0]["taken"]), _MOST):
        kind, name = given["kind"], given["name"]
        found = [(part, whole) for part in parts if (whole := _whole(text, part, kind, name)) is not None]
        rest = list(text[begins:])
        for part, _ in found:
            rest[max(part.start - begins, 0) : part.end - begins] = " " * (part.end - max(part.start, begins))
        if found and not re.search(rf"\b{name}\b", "".join(rest)):
            yield found[0][1]


def one_of_rest(source: str) -> str:
    """Where each thread of the grid takes a whole vector, on a condition: how it takes one element of what is left as
    well; "" of another kernel, and of one that has something for what is left."""
    text = looked_at(source)
    if text.count("__global__") != 1 or "Idx.y" in text:
        return ""
    quotients = {name: (size, by) for name, size, by in _QUOTIENT.findall(text)}
    for found in islice(_IF.finditer(text), _MOST):
        own = " ".join(found["condition"].split())
        compared = _BELOW.fullmatch(own)
        name = compared and (compared["name"] or compared["own"])
        if not compared or not name or not of_grid(text, name):
            continue
        size, by = compared["size"] or compared["most"], compared["by"] or compared["many"]
        size, by = (size, by) if by else quotients.get(size, ("", ""))
        if compared["last"] and int(compared["last"]) != int(by) - 1:
            continue
        alone = not re.match(r"\s*else\b", text[found.end() + len(body_of(text, found.end())) :])
        in_loop = any(each.inside <= found.start() < each.inside + len(each.body) for each in loops_of(text))
        if alone and not in_loop and constant(text, by) in _VECTORS and not re.search(rf"\b{size}\s*%", text):
            return _ONE_OF_REST.format(
                own=own, line=line_at(text, found.start()), name=name, size=size, by=by
            )
    return ""


def _without_views(text: str) -> str:
    """A text with arrays that are cast where they are accessed, in place of pointers of another type to them."""
    for found in islice(_VIEW.finditer(text), _MOST):
        own = f"(({found['kind'] or found['other']}*){found['array']})"
        text = re.sub(
            rf"\b{found['name']}\b(?!\s*=(?!=))", own, text.replace(found[0], f"{found['name']} = 0;", 1)
        )
    return text


def _guarded(text: str) -> Iterator[_Guarded]:
    """What is done on a condition: behind an `if`, in a loop, in front of a `:`."""
    for found in islice(_IF.finditer(text), _MOST):
        end = found.end() + len(body_of(text, found.end()))
        yield _Guarded(found.end(), end, found["condition"], found.start("condition"))
    for loop in islice(loops_of(text), _MOST):
        yield _Guarded(loop.inside, loop.inside + len(loop.body), loop.condition, loop.at)
    for found in islice(_CHOICE.finditer(text), _MOST):
        first = found.start("condition") + len(found["condition"]) - len(found["condition"].lstrip())
        yield _Guarded(*found.span("taken"), found["condition"], first)


def _whole(text: str, part: _Guarded, kind: str, array: str) -> Whole | None:
    """Of a part that loads vectors of an array, as many elements as its condition asks for at a time."""
    inside = text[part.start : part.end]
    vectors = re.findall(rf"\b(\w+)\s*\*\s*>?\s*\)?\s*\(?\s*&?\s*{array}\b", inside)
    many = {bytes_of(vector) / (bytes_of(kind) or 1) for vector in vectors}
    if len(vectors) != len(re.findall(rf"\b{array}\b", inside)) or len(many) != 1 or "||" in part.condition:
        return None
    for each in part.condition.split("&&"):
        own = each.strip().strip("()").strip()
        compared = _COMPARED.fullmatch(own)
        if compared and (by := _at_a_time(text, compared)) in _VECTORS and {by} == many:
            names = set(re.findall(r"[A-Za-z_]\w*", compared["left"])) & set(re.findall(r"\w+", inside))
            if names:
                return Whole(line_at(text, part.at), " ".join(own.split()), compared["bound"], by, array)
    return None


def _at_a_time(text: str, compared: re.Match[str]) -> int:
    """How many elements a condition asks for, by what is added to an index or taken off its bound; 0 of another."""
    number = constant(text, compared["number"]) if compared["number"] else 0
    added = re.search(r"\+\s*(\w+|\(\s*\w+\s*-\s*1\s*\))\s*$", compared["left"])
    more = constant(text, added[1]) if added else 0
    if number is None or more is None or (compared["by"] == "/" and (more or compared["sign"] == "<=")):
        return 0
    return number if compared["by"] == "/" else number + more + (compared["sign"] == "<")
