"""Arrays and variables of a thread's own: those that were to be the block's, and those that no registers can hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from grader.workbook.cuda_source import FUNCTION, KERNEL, line_at
from grader.workbook.suspects.loops import body_of
from grader.workbook.suspects.text import looked_at

_TYPE = (
    r"(?:(?:unsigned|signed)(?:\s+(?:int|long\s+long|long|short|char))?|int|long\s+long|long|float|double|half2?|__half2?"
    r"|(?:__)?nv_bfloat162?|u?int(?:32|64)_t|size_t)"
)
_DECLARED = re.compile(
    rf"(?P<before>[;{{}}][^;{{}}()]{{0,60}}?)\b{_TYPE}\s+(?P<all>\w+(?:[^;(){{}}=]{{0,200}}))(?=[;={{])"
)
_OTHERS = re.compile(r"\b(?:__shared__|__device__|__constant__|static|extern|typedef|using)\b")
_NAMED = re.compile(r"(?P<name>\w+)\s*(?P<array>(?:\[[^\[\]]{0,80}\]\s*)*)\s*")
_PLACE = r"\(\s*(?:&\s*\(?\s*(?P<of>\w+)\s*(?=[,\[)])|(?P<pointer>\w+)\s*(?=[,+)]))"
_ATOMIC = re.compile(rf"\b(?P<function>atomic[A-Z]\w+)\s*{_PLACE}")
_Call = tuple[re.Match[str], str, str, bool]
"""A call, the atomic function that it leads to, for which name, and whether it is passed that one's address."""
_Body = tuple[int, int, str, list[str]]
"""Where a body begins and ends, and of a function its name and the names of what it takes."""
_ARGUMENT = re.compile(r"(?:[^(),\[\]]|\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])+")


@dataclass(frozen=True)
class Atomic:
    """An atomic function that is called for what is each thread's own, or is passed it by another function."""

    name: str
    declared: int
    """The line of its declaration."""
    is_array: bool
    function: str
    line: int
    """The line of the kernel in which that is called."""


def with_atomics(source: str) -> Iterator[Atomic]:
    """What a file's functions have of their own, and call atomic functions for."""
    text = looked_at(source)
    all_bodies = list(bodies(text))
    for begins, ends, _, _ in all_bodies:
        own = declared(text, begins, ends)
        calls: list[_Call] = [
            (found, found["function"], found["of"] or found["pointer"], bool(found["of"]))
            for found in _ATOMIC.finditer(text, begins, ends)
        ]
        calls += _passed(text, begins, ends, all_bodies)
        for found, function, name, address in sorted(calls, key=lambda each: each[0].start()):
            at, is_array = own.get(name, (0, False))
            if at and (address or is_array):
                yield Atomic(name, line_at(text, at), is_array, function, line_at(text, found.start()))


_SET = re.compile(r"\b(?P<name>\w+)\s*=(?!=)(?P<to>[^;=]{1,80});(?=(?P<head>[^;{}]{1,80};)?)")
_INDICES = re.compile(r"(?<![\w.])(?P<name>[A-Za-z_]\w*)(?P<all>(?:\s*\[[^\[\]]{1,80}\])+)")
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_CONSTANT = re.compile(
    r"\bconstexpr\s+\w+\s+(\w+)|#\s*define\s+(\w+)|[<,]\s*(?:int|bool|unsigned)\s+(\w+)\s*[,>]"
)
_TYPES = {"int", "unsigned", "size_t", "long", "static_cast", "sizeof"}


def with_unknown_index(source: str, line: int) -> dict[str, tuple[int, str]]:
    """The arrays of a thread's own, in the function with a line, that an index is unknown for when the file is
    compiled: no register can be chosen by it. With each the line and the name in the index that is unknown. A loop's
    variable is known where its start and end are: the loop is unrolled."""
    text = looked_at(source)
    constants = {name for found in _CONSTANT.findall(text) for name in found} | _TYPES
    found: dict[str, tuple[int, str]] = {}
    for begins, ends, _, _ in bodies(text):
        if not line_at(text, begins) <= line <= line_at(text, ends):
            continue
        arrays = {name for name, (_, is_array) in declared(text, begins, ends).items() if is_array}
        known = {*constants}
        for each in sorted(
            chain(_SET.finditer(text, begins, ends), _INDICES.finditer(text, begins, ends)),
            key=re.Match.start,
        ):
            if each.re is _SET:
                loop = text[: each.start()].rstrip().endswith(("(", "(int", "(unsigned", "(size_t"))
                asked = each["to"] + (each["head"] or "" if loop else "")
                names = {*_WORD.findall(asked)} - {each["name"]}
                (known.add if names <= known and "[" not in asked else known.discard)(each["name"])
            elif each["name"] in arrays and (
                unknown := [w for w in _WORD.findall(each["all"]) if w not in known]
            ):
                found.setdefault(each["name"], (line_at(text, each.start()), unknown[0]))
    return found


def declared(text: str, begins: int, ends: int) -> dict[str, tuple[int, bool]]:
    """By name: where what is a thread's own is declared in a body, and whether it is an array. Pointers and references
    are left out, and what the body declares in shared memory as well."""
    found: dict[str, tuple[int, bool]] = {}
    for each in _DECLARED.finditer(text, begins - 1, ends):
        if _OTHERS.search(each["before"]):
            continue
        for one in _ARGUMENT.finditer(each["all"]):
            if named := _NAMED.fullmatch(one[0].strip()):
                found.setdefault(named["name"], (each.start("all") + one.start(), bool(named["array"])))
    shared = re.findall(r"__shared__\s[^;]{0,200}?(\w+)\s*(?=[\[;,])", text[begins:ends])
    return {name: place for name, place in found.items() if name not in shared}


def bodies(text: str) -> Iterator[_Body]:
    """Where functions and kernels begin and end, with the names of functions and of what they take."""
    for found in chain(KERNEL.finditer(text), FUNCTION.finditer(text)):
        ends = found.end() - 1 + len(body_of(text, found.end() - 1).removesuffix("}"))
        of_function = found.re is FUNCTION
        taken = [(re.findall(r"\w+", each) or [""])[-1] for each in found["taken"].split(",")]
        yield found.end(), ends, found[1] if of_function else "", taken


def _passed(text: str, begins: int, ends: int, all_bodies: list[_Body]) -> Iterator[_Call]:
    """The calls in a body of functions that call an atomic function for what they are passed, with that."""
    for first, last, name, taken in all_bodies:
        called = {found["of"] or found["pointer"]: found for found in _ATOMIC.finditer(text, first, last)}
        for at, parameter in enumerate(taken if name and first != begins else ()):
            for call in (
                re.compile(rf"\b{name}\s*\(").finditer(text, begins, ends) if parameter in called else ()
            ):
                given = next(islice(_ARGUMENT.finditer(text, call.end(), ends), at, None), None)
                if given and (passed := re.match(r"\s*(&?)\s*\(?(\w+)", given[0])):
                    yield call, called[parameter]["function"], passed[2], bool(passed[1])
