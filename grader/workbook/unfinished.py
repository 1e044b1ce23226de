"""Where a text lacks a sign that the compiler asks for only further on: the end of a statement, or of a block."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.workbook.cuda_source import line_at

_EXPECTED = re.compile(r'expected an? "([;,){}\]])"')
_QUALIFIERS = re.compile(r"\s*(?:__\w+__\s+)*")
_AFTER_RETURN = ("expected an expression", "return value type does not match")
"""What is said of the line behind a `return` without a `;`."""
_NESTED = "linkage specification is not allowed"
"""Said of a kernel in a function that has not ended."""
_NAMES = re.compile(r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])'|^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_BRANCHES = re.compile(r"^[ \t]*#[ \t]*(?:if|el)", re.MULTILINE)


def told(message: str, excerpt: str, line: int, text: str) -> str | None:
    """What an error, at a line of a text without comments, has to do with one before; None where it is of the line
    itself."""
    code, _, caret = excerpt.partition("\n")
    if not _QUALIFIERS.fullmatch(code[: len(caret) - len(caret.lstrip())]):
        return None
    bare = _bare(text)
    at = sum(map(len, bare.splitlines(keepends=True)[: line - 1]))
    pairs = [*_pairs(text, at)]
    if still_open := [place for place, closed in pairs if closed is None]:
        inner, not_closed = (
            still_open[-1],
            f"the `{{` in line {line_at(text, still_open[-1])} is not closed before",
        )
        of_function = re.search(r"__(?:global|device)__[^;{}]*$", bare[:at]) and code.startswith("{")
        of_else = code.startswith("else") and re.search(r"\bif\b[^;{}]*$", bare[:inner])
        if message == _NESTED or of_function or (of_else and message == "expected a statement"):
            return f"{not_closed} line {line}"
    elif pairs and message == "expected a declaration":
        return _closes(text, pairs[-1])
    if sign := _EXPECTED.match(message):
        return _ends_without(bare[:at], sign[1], code)
    after_return = message.startswith(_AFTER_RETURN) and re.search(r"\breturn\s*$", bare[:at])
    return _ends_without(bare[:at], ";", code) if after_return else None


def at_end(message: str, text: str) -> str | None:
    """What is missing in a text without comments that ends too early."""
    sign = _EXPECTED.match(message)
    if sign and sign[1] != "}":
        return _ends_without(_bare(text), sign[1], "")
    pairs = [*_pairs(text, len(text))]
    still_open = [place for place, closed in pairs if closed is None]
    if not still_open:
        return None
    nowhere = f"in line {line_at(text, still_open[-1])} is closed nowhere"
    odd = (pair for pair in pairs if pair[1] is not None and _indent(text, pair[0]) != _indent(text, pair[1]))
    first = next(odd, None)
    return f"{_closes(text, first)}, and the one {nowhere}" if first else f"the `{{` {nowhere}"


def _ends_without(before: str, sign: str, code: str) -> str | None:
    """That the last line of code ends without a sign, or without what else would do."""
    if not (last := before.rstrip()) or last.endswith(sign):
        return None
    others = ", a comma or an operator" if sign == ")" and re.match(r"\w", code) else ""
    return f'line {last.count(chr(10)) + 1} ends without a "{sign}"{others}'


def _closes(text: str, pair: tuple[int, int | None]) -> str:
    return f"the `}}` in line {line_at(text, pair[1] or 0)} closes the `{{` in line {line_at(text, pair[0])}"


def _pairs(text: str, end: int) -> Iterator[tuple[int, int | None]]:
    """Where each `{` stands, and the `}` that closes it, in their order; None for none. Nothing of a text of which the
    preprocessor leaves out a part."""
    opened: list[int] = []
    if _BRANCHES.search(text):
        return
    for sign in re.finditer(r"[{}]", _bare(text)[:end]):
        if sign[0] == "{":
            opened.append(sign.start())
        elif opened:
            yield opened.pop(), sign.start()
    yield from ((place, None) for place in opened)


def _bare(text: str) -> str:
    """A text with blanks in place of strings and directives."""
    return _NAMES.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _indent(text: str, place: int) -> str:
    """What stands in front of the line of a place."""
    line = text[text.rfind("\n", 0, place) + 1 : place + 1]
    return line[: len(line) - len(line.lstrip())]
