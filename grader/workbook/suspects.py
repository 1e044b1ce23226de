"""What is wrong in a kernel's text whatever it is run on: what the compiler warns of and often is the mistake, and what
it lets pass, such as a sum that begins with nothing. That a kernel is wrong is known before anybody looks here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from grader.emulator.nvrtc.compilation import Diagnostic
from grader.workbook.cuda_source import plain

_LONGEST, _MOST = (
    500,
    20_000,
)  # characters of a line, and of a text, that are looked at: bounds a stranger's work

_DECLARED = re.compile(
    r"^[ \t]*((?:float|double|(?:__)?half|(?:__)?nv_bfloat16|(?:unsigned[ \t]+)?(?:long[ \t]+long|long|short|char|int)"
    r"|unsigned|size_t|u?int\d+_t)[ \t]+)(\w+(?:\[[^\[\]\n]*\])*(?:[ \t]*,[ \t]*\w+(?:\[[^\[\]\n]*\])*)*)[ \t]*;",
    re.MULTILINE,
)
_ADDED = re.compile(r"(?:\[[^\[\]]*\])*\s*(?:(?:[-+*/%&|^]|<<|>>)=(?!=)|\+\+|--)")
_SET = re.compile(r"(?:\[[^\[\]]*\])*\s*=(?!=)([^;]{0,200});")
_UNSET = re.compile(r'variable "(\w+)" is used before its value is set')
_ASSIGNED = re.compile(r"\b(?:if|while)\s*\(.*?([\w.\[\]]+)\s*=(?!=)\s*([^=&|;()]+)")
_UNSIGNED = re.compile(r"([\w.][^()<>=&|;]*?)\s*(>=|<)\s*0\b")
_EMPTY_WHILE = re.compile(
    r"^([ \t]*)while[ \t]*\((?:[^()]|\([^()]*\)){1,300}\)[ \t]*;(?=[ \t]*(?:\n[ \t]*)?\{|[ \t]*\n\1[ \t]+\S)",
    re.MULTILINE,
)
_FOR = re.compile(r"\bfor\s*\([^;]*;(?P<condition>[^;]*);(?P<step>(?:[^()]|\([^()]*\))*)\)")
_NO_STEP = re.compile(r"^(\w+)\s*([-+*/]|<<|>>)\s*(?=[\w(])")
_UNBRACED = re.compile(
    r"^([ \t]*)(if|for|while)[ \t]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\)){0,100}\)){1,300}\)[ \t]*\n"
    r"(?P<own>\1[ \t]+)[^\n{};]{1,300};[ \t]*(?P<more>(?:\n(?P=own)[^ \t\n{}#][^\n{};]{0,300};[ \t]*)+)$",
    re.MULTILINE,
)
_PARAMETER = re.compile(r'parameter "(\w+)" was set but never used')
_FOR_STEP = re.compile(r"\bfor\s*\([^;()]*;[^;]*;\s*(\w+)\s*=(?!=)\s*([^;(){}\[\]]{1,100})\)")


def said(source: str, warnings: Sequence[Diagnostic], file: str) -> str:
    """The first of what is suspicious, by the line, in a sentence that says what mends it; "" for nothing."""
    text = plain(source[:_MOST])
    own = [item for item in warnings if item.file == file]
    return min(
        chain(_warned(text, own), _sums(text), _steps(text), _waits(text), _unbraced(text)), default=(0, "")
    )[1]


_Said = tuple[int, str]
"""A line, and a sentence about it."""


def _warned(text: str, warnings: Sequence[Diagnostic]) -> Iterator[_Said]:
    lines = text.split("\n")
    for item in warnings:
        tell = next((tell for sign, tell in _WARNINGS.items() if sign in item.message), None)
        if tell is not None and 0 < item.line <= len(lines):
            sentence = tell(text, lines[item.line - 1][:_LONGEST], item)
            yield from [(item.line, sentence)] if sentence else []


def _unset(text: str, line: str, item: Diagnostic) -> str:
    name = _UNSET.search(item.message)
    before = "\n".join(text.split("\n")[: item.line])
    declared = [found for found in _DECLARED.finditer(before) if name and name[1] in _names(found)]
    added = bool(name and re.search(rf"\b{name[1]}\b{_ADDED.pattern}", line))
    if name is None or not declared:
        return f"Line {item.line}: `{name[1]}` is read here before it has a value." if name else ""
    return _no_value(text, declared[-1], name[1], item.line, added)


_ZEROS = {"float": "0.0f", "double": "0.0"}


def _no_value(text: str, declared: re.Match[str], name: str, used: int, added: bool) -> str:
    line, kind, sizes = _line_of(text, declared.start(2)), declared[1].strip(), _names(declared)[name]
    where = "" if used == line else f" in line {used}"
    if not added:
        return f"Line {line}: `{name}` has no value before it is read{where}: set it first."
    begin = f"{kind} {name}{sizes} = {'{}' if sizes else _ZEROS.get(kind, '0')};"
    return f"Line {line}: `{name}` has no value before it is added to{where}: `{begin}`."


def _compares(text: str, line: str, item: Diagnostic) -> str:
    if not (found := _ASSIGNED.search(line)):
        return f"Line {item.line}: `=` sets and does not compare: `==`."
    name, value = found[1], found[2].strip()
    return f"Line {item.line}: `{name} = {value}` sets `{name}` and compares nothing: `{name} == {value}`."


def _never_below(text: str, line: str, item: Diagnostic) -> str:
    found = _UNSIGNED.search(line)
    if "threadIdx" in line or "blockIdx" in line:  # which says too much, and no more
        return ""
    if found and re.search(
        rf"(?<!\w){re.escape(found[1])}\s*<[^<]", line[found.end() :]
    ):  # what is below 0 is not less
        return ""
    always = {">=": "always", "<": "never"}
    what = (
        f"`{found[1]} {found[2]} 0` is {always[found[2]]} true" if found else "the comparison tells nothing"
    )
    return f"Line {item.line}: {what}, since an unsigned number is not below 0: use an int."


def _no_effect(text: str, line: str, item: Diagnostic) -> str:
    what = line.strip()
    if re.fullmatch(r"\w+;", what):  # as who wants no warning of what is not used writes
        return ""
    if head := _FOR.search(line):
        step = head["step"].strip()
        if "," in head["condition"]:
            return (
                f"Line {item.line}: of conditions with a comma in between only the last counts: write `&&`."
            )
        assigned = _NO_STEP.sub(r"\1 \2= ", step)
        mend = f": `{assigned}`" if assigned != step else ""
        return f"Line {item.line}: the step `{step}` of the loop changes nothing{mend}."
    if "==" in what:
        return f"Line {item.line}: `{what}` compares and sets nothing: `=`."
    return f"Line {item.line}: `{what}` computes a value that nothing keeps: assign it, with `=` or `+=`."


def _copied(text: str, line: str, item: Diagnostic) -> str:
    """A parameter that a function sets, and whose caller sees nothing of it."""
    found = _PARAMETER.search(item.message)
    name = found[1] if found else ""
    kind = re.search(rf"[(,]\s*([\w ]+?)\s+{name}\s*[,)]", line)
    if kind is None or "__global__" in line:
        return ""
    return (
        f"Line {item.line}: `{name}` is a copy, and what is stored to it is lost when the function ends: return it, or "
        f"take a reference, `{kind[1]}& {name}`."
    )


_WARNINGS: dict[str, Callable[[str, str, Diagnostic], str]] = {
    "is used before its value is set": _unset,
    'use of "=" where "==" may have been intended': _compares,
    "pointless comparison of unsigned integer with zero": _never_below,
    "expression has no effect": _no_effect,
    "was set but never used": _copied,
}
"""Of NVRTC's warnings those that often are the mistake."""


def _sums(text: str) -> Iterator[_Said]:
    """Variables without a value that are added to, before anything else is done with them: in a loop the compiler does
    not warn of that."""
    for declared in _DECLARED.finditer(text):
        for name in _names(declared):
            use = re.compile(rf"(?<![.\w])(?<!->){name}\b").search(text, declared.end())
            added = bool(use and _ADDED.match(text, use.end()))
            if use and (added or _of_itself(text, use, name)):
                line, used = (_line_of(text, at) for at in (declared.start(2), use.start()))
                yield line, _no_value(text, declared, name, used, added)


def _of_itself(text: str, use: re.Match[str], name: str) -> bool:
    """Whether a variable is set by what it was: `most = fmaxf(most, x)`."""
    found = _SET.match(text, use.end())
    return bool(found and "?" not in found[1] and re.search(rf"(?<![.\w&]){name}\b", found[1]))


def _names(declared: re.Match[str]) -> dict[str, str]:
    """The variables of a declaration, with their dimensions."""
    return dict(re.findall(r"(\w+)((?:\[[^\[\]]*\])*)\s*(?:,|$)", declared[2]))


def _steps(text: str) -> Iterator[_Said]:
    """Loops whose step sets their index to what never changes."""
    for found in _FOR_STEP.finditer(text):
        name, value = found[1], found[2].strip()
        names = re.findall(r"(?<!\.)\b[A-Za-z_]\w*", value)
        if name not in names and all(_sets(text, each) <= 1 for each in names):
            line, step = _line_of(text, found.start()), f"`{name} = {value}`"
            yield (
                line,
                f"Line {line}: the step {step} sets `{name}` to the same each time: `{name} += {value}`.",
            )


def _waits(text: str) -> Iterator[_Said]:
    """Loops that end before what looks like their body."""
    for found in _EMPTY_WHILE.finditer(text):
        line = _line_of(text, found.end())
        yield line, f"Line {line}: the `;` behind `while (…)` ends the loop in front of its body: delete it."


def _unbraced(text: str) -> Iterator[_Said]:
    """Lines that stand as far in as the one that a condition, or a loop, without braces is for."""
    for found in _UNBRACED.finditer(text):
        line = _line_of(text, found.start(2))
        last = line + 1 + found["more"].count("\n")
        yield (
            line,
            f"Line {line}: without braces the `{found[2]}` is for line {line + 1} alone: put {{ }} around lines "
            f"{line + 1} to {last}.",
        )


def _sets(text: str, name: str) -> int:
    """How often a variable is given a value."""
    return len(re.findall(rf"\b{name}\b(?:{_ADDED.pattern}|\s*=(?!=))|(?:\+\+|--)\s*{name}\b", text))


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
