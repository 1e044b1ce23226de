"""Macros whose parameters stand without parentheses, or that multiply by another size than is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from itertools import islice

from grader.workbook.cuda_source import int_sizes, line_at
from grader.workbook.edit import MOST, SEVERAL, Edit, in_text
from grader.workbook.slips.values import ARGUMENT, ARGUMENTS
from grader.workbook.small_edits import BINDS
from grader.workbook.suspects.syntax import MACRO, outside

_SIGN = r"<<|>>|&&|\|\||[<>=!]=|[-+*/%&|^<>?]"
_FRONT, _BEHIND = re.compile(rf"({_SIGN}|[!~)])\s*$"), re.compile(rf"\s*({_SIGN}|->|[.\[])")
_OF_TWO = re.compile(rf"(?<=[\w)\]])\s*({_SIGN})")
_DEFINES = re.compile(r"^[ \t]*#[ \t]*define\b[^\n]*\Z", re.MULTILINE)
_AS_TEXT = "A macro is put in as text"
_CHOICE, _OF_ONE = -1, 7
"""How tightly `?` binds, and what has one operand or stands behind it, as BINDS has the operators of two."""


def edits(text: str) -> Iterator[Edit]:
    """Changes of macros: their parentheses, and the size by which they multiply."""
    yield from unbracketed(text)
    sizes, _ = int_sizes(text)
    for macro in _with_parameters(text):
        for factor in re.finditer(r"(?<=\*)\s*\(?(\w+)", macro["body"]):
            begin = macro.start("body")
            for other in sizes if factor[1] in sizes else ():
                if other != factor[1]:
                    yield in_text(text, begin + factor.start(1), begin + factor.end(1), other)


def unbracketed(text: str) -> Iterator[Edit]:
    """Parentheses around the parameters of a macro of whose arguments its operators take a part alone, and around all
    of it; then of all such macros together."""
    found = [edit for macro in _with_parameters(text) if (edit := _of(text[:MOST], macro))]
    yield from found
    if len(found) > 1:
        yield reduce(Edit.with_also, found)


def _with_parameters(text: str) -> Iterator[re.Match[str]]:
    return islice((found for found in MACRO.finditer(text[:MOST]) if found["taken"]), SEVERAL)


def _of(text: str, macro: re.Match[str]) -> Edit | None:
    """The change of a macro; None of one of which no argument is taken apart."""
    names, body = [each.strip() for each in macro["taken"].split(",")], macro["body"]
    why, handed_on = "", False
    for call in re.compile(rf"\b{macro['name']}\s*\(({ARGUMENTS})\)").finditer(text, macro.end()):
        passed = [each[1].strip() for each in ARGUMENT.finditer(call[1])]
        for name, given in zip(names, passed, strict=False):
            sign = next(filter(None, (_takes_apart(body, at, given) for at in _places(body, name))), "")
            if sign and not why:
                line = line_at(text, call.start())
                why = f"{_AS_TEXT}, and `{sign}` takes a part of `{given}` in line {line} alone."
        handed_on = handed_on or bool(_DEFINES.search(text[: call.start()]))
    if not why and not handed_on:
        return None
    beside = {at for name in names for at in _places(body, name) if any(_signs(body, at))}
    new = "".join(
        f"({each[0]})" if each.span() in beside else each[0] for each in re.finditer(r"\w+|\W", body)
    )
    if _OF_TWO.search(_bare(body)) and not re.search(r"[;{]|(?<![<>=!])=(?!=)", body):
        new = f"({new})"
    return in_text(text, *macro.span("body"), new, why or f"{_AS_TEXT}, and so is what it is passed.")


def _places(body: str, name: str) -> list[tuple[int, int]]:
    """Where a macro's text has a parameter, but for what is made a string or a part of a name."""
    return [found.span() for found in re.finditer(rf"(?<![\w.#])(?<!# ){name}\b(?!\s*##)", body)]


def _signs(body: str, at: tuple[int, int]) -> tuple[str, str]:
    """The operators in front of a piece of a macro's text and behind it; "" for none."""
    front, behind = _FRONT.search(body[: at[0]]), _BEHIND.match(body, at[1])
    return front[1] if front else "", behind[1] if behind else ""


def _takes_apart(body: str, at: tuple[int, int], given: str) -> str:
    """An operator of a macro's text that takes only a part of what is put in at a place; "" where none does."""
    front, behind = _signs(body, at)
    least = min((BINDS.get(sign, _CHOICE) for sign in _OF_TWO.findall(_bare(given))), default=_OF_ONE)
    if behind and (_CHOICE if behind == "?" else BINDS.get(behind, _OF_ONE)) > least:
        return behind
    two = re.search(rf"[\w)\]]\s*{re.escape(front)}\s*$", body[: at[0]])
    binds = BINDS.get(front, _CHOICE) if two else _OF_ONE
    taken = front not in ("", ")", "?") and (binds > least or (binds == least and front in ("-", "/", "%")))
    return front if taken else ""


def _bare(text: str) -> str:
    """What stands in no parentheses or brackets, and is no template's."""
    return outside(re.sub(r"\[[^\[\]]*\]|<[\w ,]*>(?=\()", "0", text))
