"""What the compiler warns of and often is the mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from grader.emulator.nvrtc.compilation import Diagnostic
from grader.workbook.cuda_source import comma_index
from grader.workbook.suspects.sums import DECLARED, names_of, no_value
from grader.workbook.suspects.syntax import of_copy
from grader.workbook.suspects.text import ADDED, Said

_LONGEST = 500  # characters of a line that are looked at: bounds a stranger's work

_UNSET = re.compile(r'variable "(\w+)" is used before its value is set')
_ASSIGNED = re.compile(r"\b(?:if|while)\s*\(.*?([\w.\[\]]+)\s*=(?!=)\s*([^=&|;()]+)")
_UNSIGNED = re.compile(r"([\w.][^()<>=&|;]*?)\s*(>=|<)\s*0\b")
_FOR = re.compile(r"\bfor\s*\([^;]*;(?P<condition>[^;]*);(?P<step>(?:[^()]|\([^()]*\))*)\)")
_COMMA = re.compile(
    r"\b(?P<head>if|while)\s*\((?P<first>(?:[^(),]|\([^()]*\))*[<>=](?:[^(),]|\([^()]*\))*),(?P<second>(?:[^(),]|\([^()]*\))*)\)"
)
_NO_STEP = re.compile(r"^(\w+)\s*([-+*/]|<<|>>)\s*(?=[\w(])")
_PARAMETER = re.compile(r'parameter "(\w+)" was set but never used')


def told(text: str, warnings: Sequence[Diagnostic]) -> Iterator[Said]:
    """What the warnings for a text say of the mistake."""
    lines = text.split("\n")
    for item in warnings:
        tell = next((tell for sign, tell in _WARNINGS.items() if sign in item.message), None)
        if tell is not None and 0 < item.line <= len(lines):
            sentence = tell(text, lines[item.line - 1][:_LONGEST], item)
            yield from [(item.line, sentence)] if sentence else []


def _unset(text: str, line: str, item: Diagnostic) -> str:
    name = _UNSET.search(item.message)
    before = "\n".join(text.split("\n")[: item.line])
    declared = [found for found in DECLARED.finditer(before) if name and name[1] in names_of(found)]
    added = bool(name and re.search(rf"\b{name[1]}\b{ADDED.pattern}", line))
    if name is None or not declared:
        return f"Line {item.line}: `{name[1]}` is read here before it has a value." if name else ""
    return no_value(text, declared[-1], name[1], item.line, added)


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
    if named := re.fullmatch(r"(__(?:sync|threadfence)\w*);", what):
        return f"Line {item.line}: `{named[1]}` without parentheses calls nothing: `{named[1]}();`."
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
    if both := _COMMA.search(line):
        joined = f"{both['first'].strip()} && {both['second'].strip()}"
        return (
            f"Line {item.line}: of two conditions with a comma in between only the last counts: "
            f"`{both['head']} ({joined})`."
        )
    if comma := comma_index(line, text):
        return f"Line {item.line}: {comma}."
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
    return of_copy(item.line, kind[1], name)


_WARNINGS: dict[str, Callable[[str, str, Diagnostic], str]] = {
    "is used before its value is set": _unset,
    'use of "=" where "==" may have been intended': _compares,
    "pointless comparison of unsigned integer with zero": _never_below,
    "expression has no effect": _no_effect,
    "was set but never used": _copied,
}
"""Of NVRTC's warnings those that often are the mistake."""
