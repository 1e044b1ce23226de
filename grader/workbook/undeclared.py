"""Names that the compiler does not know: where one is declared that it may mean, or what it may be written for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.workbook.cuda_source import FUNCTION, KERNEL, line_at
from grader.workbook.edit import MOST
from grader.workbook.expressions import nearest
from grader.workbook.suspects.loops import body_of

_TYPED = (
    r"(?<![\w.])(?!return\b|else\b|goto\b)[A-Za-z_]\w*(?:<[^<>;]{{0,60}}>)?"
    r"[\s*&]+(?P<name>{name})\s*(?=[=;,\[\])])(?!==)"
)
_ALSO = r"(?<=,)\s*\*?\s*(?P<name>{name})\s*(?==(?!=)|;|\[)"
SHORT = 2
"""Characters of a name that is like too many others."""

_ANY = r"[A-Za-z_]\w*"


@dataclass(frozen=True)
class _Function:
    """Of a file: from where to where it goes, its parameters."""

    start: int
    end: int
    name: str
    parameters: str


def remedy(name: str, line: int, text: str) -> str | None:
    """What to do about a name that is unknown in a line of a text without comments; None where that is not known."""
    text = text[:MOST]
    at = sum(len(each) + 1 for each in text.split("\n")[: line - 1])
    functions = [*_functions(text)]
    own = next((each for each in functions if each.start <= at < each.end), None)
    if own is None:
        return None
    places = [*_declared(name, text)]
    if before := [place for place in places if own.start <= place < at]:
        declared, (end, what) = line_at(text, before[-1]), _scope(text, before[-1])
        return (
            f"`{name}` is declared in line {declared}, and known up to line {line_at(text, end)}, the end of {what}: "
            f"declare it in front of {what}"
        )
    if behind := [place for place in places if at <= place < own.end]:
        declared = line_at(text, behind[0])
        return f"`{name}` is declared in line {declared}, and known from there on: put that line in front of this one"
    here, indexed = text[at:].partition("\n")[0], re.search(rf"\b{name}\s*\[", text) is not None
    is_set = re.search(rf"\b{name}\s*=(?!=)", text) is not None
    unused = [each for each, pointer in _unused(own, text) if pointer is indexed and not is_set]
    if len(unused) == 1:
        return (
            f"no line declares `{name}`, and none uses the parameter `{unused[0]}`: are they to be the same?"
        )
    for other in functions:
        if any(other.start <= place < other.end for place in places):
            return f"`{name}` belongs to `{other.name}`, and `{own.name}` does not know it: pass it as an argument"
    patterns = [pattern.format(name=_ANY) for pattern in (_TYPED, _ALSO)]
    known = {found["name"] for pattern in patterns for found in re.finditer(pattern, text)}
    alike = nearest(name, sorted(known - {name})) if len(name) > SHORT else ""
    if alike:
        return alike.removeprefix(", ")
    declare = "give it a type and a value in front of this one"
    if re.match(rf"\s*{name}\s*=(?!=)", here):
        declare = "write its type in front of it, where it is first set"
    elif indexed:
        declare = "declare the array in front of this one"
    return f"no line declares `{name}`: {declare}"


def _functions(text: str) -> Iterator[_Function]:
    for found in (*KERNEL.finditer(text), *FUNCTION.finditer(text)):
        end = text.find("\n}", found.end())
        name = found["name"] if found.re is KERNEL else found[1]
        yield _Function(found.start(), end if end >= 0 else len(text), name, found["taken"])


def _declared(name: str, text: str) -> Iterator[int]:
    """Where variables and parameters of a name are declared, in order."""
    found = [each.start("name") for each in re.finditer(_TYPED.format(name=name), text)]
    return iter(
        sorted({*found, *(each.start("name") for each in re.finditer(_ALSO.format(name=name), text))})
    )


def _unused(function: _Function, text: str) -> Iterator[tuple[str, bool]]:
    """The parameters that a function does nothing with, each with whether it is a pointer."""
    for each in function.parameters.split(","):
        names = re.findall(_ANY, each)
        if names and len(re.findall(rf"\b{names[-1]}\b", text[function.start : function.end])) == 1:
            yield names[-1], "*" in each


def _scope(text: str, place: int) -> tuple[int, str]:
    """Where what is declared at a place is known no longer, and the end of what that is."""
    deep = 0
    for found in re.compile(r"[(){}]").finditer(text, place):
        deep += {"(": 1, "{": 1, ")": -1, "}": -1}[found[0]]
        if deep < 0:
            if found[0] == "}":
                return found.start(), "the braces around it"
            return found.end() + len(body_of(text, found.end())) - 1, "the loop"
    return len(text), "the file"
