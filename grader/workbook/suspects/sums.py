"""Sums: what they begin with, and what leaves them again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from grader.workbook.cuda_source import line_at
from grader.workbook.suspects.loops import Loop, loops_of
from grader.workbook.suspects.text import ADDED, Said, looked_at, sets

_LOOPS = 100  # of a file, and sums by atomicAdd, that are looked at: bounds a stranger's work

DECLARED = re.compile(
    r"^[ \t]*((?:float|double|(?:__)?half|(?:__)?nv_bfloat16|(?:unsigned[ \t]+)?(?:long[ \t]+long|long|short|char|int)"
    r"|unsigned|size_t|u?int\d+_t)[ \t]+)(\w+(?:\[[^\[\]\n]*\])*(?:[ \t]*,[ \t]*\w+(?:\[[^\[\]\n]*\])*)*)[ \t]*;",
    re.MULTILINE,
)
_SET = re.compile(r"(?:\[[^\[\]]*\])*\s*=(?!=)([^;]{0,200});")
_ADDS = re.compile(
    r"(?:^|(?<=[;{})\n]))\s*(?P<all>(?P<sum>[A-Za-z_]\w*)\s*(?:(?P<sign>[-+])=|=\s*(?P=sum)\s*(?=[-+]))(?P<value>[^;{}]{1,200}));"
)
"""A statement that adds to a variable, or subtracts from it."""
_ELEMENTS = re.compile(
    r"\b(?P<array>[A-Za-z_]\w*)\s*\[|\b(?P<function>[A-Za-z_]\w*)\s*\(\s*(?P<of>[A-Za-z_]\w*)\s*,"
)
"""An array of which an element is read, or a function that is passed an array to read one of it."""
_IN_BRACKETS = re.compile(r"[\[(](?:[^()\[\]]|[\[(][^()\[\]]*[\])])*[\])]")
_RETURNED = re.compile(
    r"\b(?P<kind>float|double|int|unsigned)\s+(?P<name>\w+)\s*=\s*atomicAdd\(\s*&?\s*"
    r"(?P<target>\w+(?:\[[^\[\]]{1,60}\])?)\s*,\s*(?P<value>[^;]{1,100}?)\s*\)\s*;"
)
_HANDED_ON = re.compile(
    r"\b(?:if\s*\((?P<condition>(?:[^(){};]|\([^(){};]*\)){1,200})\)|else)\s*\{"
    r"(?P<block>[^{}]{0,200}?(?:,\s*(?P<to>\w+)\s*\)|\+?=\s*(?P<stored>\w+))\s*;[^{}]{0,200})\}"
)
_ELEMENT = r"(?:\*\s*)?[A-Za-z_]\w*(?:\s*\[(?:[^\[\];=]|\[[^\[\];=]{1,60}\]){1,100}\])*"
_ATOMIC = re.compile(
    rf"(?:(?P<kind>\b(?:const\s+)?(?:unsigned\s+)?(?!return\b)\w+)\s+(?P<name>\w+)|(?:^|(?<=[;{{}})]))\s*(?P<to>{_ELEMENT}))"
    r"\s*(?P<sign>[-+|&^]?=)(?!=)\s*(?P<atomic>atomic\w+)\s*\(\s*"
    r"(?P<at>(?:[^(),;\[\]]|\([^(),;]{1,60}\)|\[(?:[^\[\];]|\[[^\[\];]{1,60}\]){1,100}\]){1,150}?)\s*,"
)
"""What an atomic function returns, and where that goes: to a new variable, or to an element."""
_COPIED = re.compile(
    rf"(?:^|(?<=[;{{}})]))\s*(?P<to>{_ELEMENT})\s*=(?!=)\s*(?P<value>(?P<name>\w+)(?:\s*[-+|&^]\s*[\w.]+)?)\s*;"
)
"""A variable, or what is made of it, stored to an element."""
_ZEROS = {"float": "0.0f", "double": "0.0"}


_ADDS_SUM = re.compile(
    r"(?:^|(?<=[;{}]))\s*(?P<all>(?:if\s*\((?P<condition>[^();{}]{1,100})\)\s*)?"
    r"(?:atomicAdd\s*\(\s*(?P<at>[^;{}]{1,100}?)\s*,\s*(?P<sum>[A-Za-z_]\w*)\s*\)"
    r"|(?P<to>\*\s*\w+|\w+\s*\[[^;{}=]{1,100}?\])\s*\+=\s*(?P<added>[A-Za-z_]\w*))\s*;)"
)
"""What is added to memory, in a statement of its own."""
_LEAVES = re.compile(r"\b(?:return|goto)\b")


def without_value(text: str) -> Iterator[Said]:
    """Variables without a value that are added to, before anything else is done with them: in a loop the compiler does
    not warn of that."""
    for declared in DECLARED.finditer(text):
        for name in names_of(declared):
            use = re.compile(rf"(?<![.\w])(?<!->){name}\b").search(text, declared.end())
            added = bool(use and ADDED.match(text, use.end()))
            if use and (added or _of_itself(text, use, name)):
                line, used = (line_at(text, at) for at in (declared.start(2), use.start()))
                yield line, no_value(text, declared, name, used, added)


def _of_itself(text: str, use: re.Match[str], name: str) -> bool:
    """Whether a variable is set by what it was: `most = fmaxf(most, x)`."""
    found = _SET.match(text, use.end())
    return bool(found and "?" not in found[1] and re.search(rf"(?<![.\w&]){name}\b", found[1]))


def no_value(text: str, declared: re.Match[str], name: str, used: int, added: bool) -> str:
    """That a declared variable is used, or added to, before it has a value."""
    line, kind, sizes = line_at(text, declared.start(2)), declared[1].strip(), names_of(declared)[name]
    where = "" if used == line else f" in line {used}"
    if not added:
        return f"Line {line}: `{name}` has no value before it is read{where}: set it first."
    begin = f"{kind} {name}{sizes} = {'{}' if sizes else _ZEROS.get(kind, '0')};"
    return f"Line {line}: `{name}` has no value before it is added to{where}: `{begin}`."


def names_of(declared: re.Match[str]) -> dict[str, str]:
    """The variables of a declaration, with their dimensions."""
    return dict(re.findall(r"(\w+)((?:\[[^\[\]]*\])*)\s*(?:,|$)", declared[2]))


def before_adding(text: str) -> Iterator[Said]:
    """What atomicAdd returns, which is without the thread's own number, handed on as the sum."""
    for found in islice(_RETURNED.finditer(text), _LOOPS):
        name, target, end = found["name"], found["target"], text.find("\n}", found.end())
        behind = text[found.end() : end if end >= 0 else len(text)]
        handed_on = re.search(rf"\batomicAdd\([^;]*,\s*{name}\s*\)\s*;|(?<![=!<>])=\s*{name}\s*;", behind)
        to_itself = handed_on and re.search(rf"{re.escape(target)}\s*$", behind[: handed_on.start()])
        if handed_on and not to_itself and not re.fullmatch(r"1[uUlL]*", found["value"]):
            line, used = line_at(text, found.start()), line_at(text, found.end() + handed_on.start())
            instead = f"take `{target}` in place of `{name}` in line {used}"
            yield (
                line,
                f"Line {line}: atomicAdd returns what `{target}` was before this thread has added to it, and not the "
                f"sum: {instead}, once all have added, which in a block is behind a __syncthreads().",
            )


def undone(text: str) -> Iterator[Said]:
    """What an atomic function returns, stored to the element that it has changed."""
    for found in islice(_ATOMIC.finditer(text), _LOOPS):
        at, line, where = _element(found["at"], pointer=True), line_at(text, found.start("atomic")), ""
        to, stores = found["to"] or "", f"{found['to']} {found['sign']}"
        if not to:
            end = text.find("\n}", found.end())
            copies = _COPIED.finditer(text[: end if end >= 0 else len(text)], found.end())
            own = (each for each in copies if each["name"] == found["name"] and _element(each["to"]) == at)
            again = next(own, None)
            between = text[found.end() : again.start()] if again else ""
            if again is None or any(sets(between, each) for each in re.findall(r"\b[A-Za-z_]\w*", at)):
                continue
            to, stores = again["to"], f"{again['to']} = {again['value']};"
            where = f" in line {line_at(text, again.start('to'))}"
        if _element(to) == at:
            yield (
                line,
                f"Line {line}: {found['atomic']} changes `{to}` itself, and returns what was there before, with which "
                f"`{stores}`{where} then stores over it: leave `{stores}` out.",
            )


def _element(written: str, pointer: bool = False) -> str:
    """An element as it is written alike everywhere, `*p` as `p[0]`, and what a `pointer` such as `x + i` points to."""
    plain = "".join(written.split())
    if pointer and plain.startswith("&"):
        return plain[1:]
    if not pointer and not plain.startswith("*"):
        return plain
    name, _, index = plain.removeprefix("*").partition("+")
    return f"{name}[{index or 0}]"


def last_runs(text: str) -> Iterator[Said]:
    """Counts that are handed on where something changes, as where another run begins, and not behind the loop."""
    for loop in islice(loops_of(text), _LOOPS):
        start = loop.inside
        end = text.find("\n}", start + len(loop.body))
        behind = text[start + len(loop.body) : end if end >= 0 else len(text)]
        for found in _HANDED_ON.finditer(loop.body):
            name = found["to"] or found["stored"]
            again = re.search(rf"\b{name}\s*=\s*(?:0|1)\b[.\w]*\s*;", found["block"])
            condition = found["condition"] or _condition_of_else(loop.body, found.start())
            changed = [
                each
                for each in re.findall(r"(?<![\w.])[A-Za-z_]\w*", condition)
                if sets(found["block"], each)
            ]
            declared_there = re.search(rf"\w\s+{name}\s*=", loop.body)
            if again and changed and not declared_there and not re.search(rf"\b{name}\b", behind):
                line = line_at(text, start + found.start("block") + found["block"].index(name))
                yield (
                    line,
                    f"Line {line}: `{name}` is handed on where a condition holds, and what it has when the loop ends "
                    "never is: do the same once more behind the loop.",
                )


def grows(text: str) -> Iterator[Said]:
    """Sums that are added to memory in each turn of the loop that adds them up, always at the same place."""
    every = sorted(islice(loops_of(text), _LOOPS), key=lambda loop: loop.inside)
    for loop in every:
        around = [each for each in every if each.inside < loop.inside < each.inside + len(each.body)]
        for found in islice(_ADDS_SUM.finditer(loop.body), _LOOPS):
            name = found["sum"] or found["added"]
            before = loop.body[: found.start()]
            if before.count("{") - before.count("}") != loop.body.lstrip().startswith("{"):
                continue
            # Of loops around one another, behind the outermost that does not begin the sum anew.
            outermost = next((each for each in (*around, loop) if _only_adds(text, each, name)), None)
            place = f"{found['condition'] or ''} {found['at'] or found['to']}"
            used = re.findall(r"(?<![\w.])[A-Za-z_]\w*", place)
            does = _all_of(outermost).replace(found["all"], "") if outermost else ""
            if outermost and not any(sets(does, each) for each in used) and not _LEAVES.search(does):
                line, behind = line_at(text, loop.inside + found.start("all")), line_at(text, outermost.at)
                yield (
                    line,
                    f"Line {line}: each turn of the loop adds all that `{name}` has by then, so that what the turns "
                    f"before have added up is added again: put `{' '.join(found['all'].split())}` behind the loop that "
                    f"begins in line {behind}.",
                )


def _only_adds(text: str, loop: Loop, name: str) -> bool:
    """Whether a loop does nothing to a variable that was set before it but to add to it."""
    adds = re.findall(
        rf"\b{name}\s*(?:\+=|=\s*{name}\s*\+|=\s*(?:__)?fmaf?\w*\([^;]*,\s*{name}\s*\)\s*;)", loop.body
    )
    begun = re.search(rf"\w\s+{name}\s*=(?!=)", text[: min(loop.at, loop.inside)])
    return bool(begun and adds) and len(adds) == sets(_all_of(loop), name)


def _all_of(loop: Loop) -> str:
    return f"{loop.start};{loop.condition};{loop.step};{loop.body}"


def _condition_of_else(body: str, place: int) -> str:
    """The last condition in front of an `else`."""
    found = re.findall(r"\bif\s*\(((?:[^(){};]|\([^(){};]*\)){1,200})\)", body[:place])
    return found[-1] if found else ""


def running(source: str) -> str:
    """The first sum from which elements are subtracted that were added to it, in a sentence that says what mends it; ""
    for none."""
    text = looked_at(source)
    added: dict[str, set[str]] = {}
    end = 0
    for found in islice(_ADDS.finditer(text), _LOOPS):
        if "\n}" in text[end : found.start()]:  # of another function
            added.clear()
        end = found.end()
        name, sign = found["sum"], found["sign"] or "+"
        terms = [(by if sign == "+" else _OPPOSITE[by], term) for by, term in _terms(found["value"])]
        own = {
            by: _arrays(text[: found.start()], [term for each, term in terms if each == by]) for by in "+-"
        }
        known = added.setdefault(name, set())
        known |= own["+"]
        if known & own["-"]:
            return (
                f"Line {line_at(text, found.start('all'))}: `{' '.join(found['all'].split())}` takes back what was "
                f"added. `{name}` keeps all that was rounded off on the way, and an infinity or NaN for ever. Make "
                "each output by additions alone: what a few neighbouring outputs have in common can be added up once, "
                "and to that the other elements of each."
            )
    return ""


_OPPOSITE = {"+": "-", "-": "+"}


def _terms(value: str) -> Iterator[tuple[str, str]]:
    """The terms of a sum, each with the sign that it has: what stands in brackets is one."""
    depth, start, sign = 0, 0, "+"
    for at, character in enumerate(value):
        depth += (character in "([") - (character in ")]")
        if depth == 0 and character in "+-":
            if term := value[start:at].strip():
                yield sign, term
            start, sign = at + 1, character
    yield sign, value[start:].strip()


def _arrays(before: str, terms: Iterable[str]) -> set[str]:
    """The arrays of which terms are elements, and no products; of a variable, those of what it was last set to."""
    found = set[str]()
    for term in terms:
        values = re.findall(rf"\b{term}\s*=(?!=)([^;{{}}]{{1,200}});", before) if term.isidentifier() else []
        value = values[-1] if values else term
        if not re.search(r"[*/]", _IN_BRACKETS.sub("", value)):
            for each in _ELEMENTS.finditer(value):
                found.add(each["array"] or f"{each['function']}({each['of']})")
    return found


def counted_up(source: str, array: str) -> int:
    """The first line in which an atomic function updates an array that nothing else stores to; 0 for none."""
    text = looked_at(source)
    atomic = re.search(rf"\batomic\w+\(\s*(?:&\s*)?{array}\b", text)
    stored = re.search(rf"(?:\b{array}\s*\[[^\[\]]{{1,80}}\]|\*\s*{array})\s*=(?!=)", text)
    return line_at(text, atomic.start()) if atomic and not stored else 0
