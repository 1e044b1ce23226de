"""PTX as it is shown: the instructions of a kernel, each with its line in the text and its place in the source."""

from __future__ import annotations

import re
from itertools import takewhile

from grader.emulator.places import Listed
from grader.emulator.ptx.parser import parse
from grader.emulator.ptx.tree import Label

_POSITION = re.compile(r"\s*\.loc\s")


def listed(text: str, kernel: str) -> list[Listed]:
    """What a kernel may execute: its instructions, and those of functions that were not inlined, in the order of the
    text. Several of one line, as in inline assembly, are one."""
    lines = text.splitlines()
    found: dict[int, Listed] = {}
    for function in parse(text).functions.values():
        labels: list[str] = []
        for item in function.body if function.name == kernel or not function.is_entry else []:
            if isinstance(item, Label):
                labels.append(f"{item.name}:")
            elif item.ptx_line not in found:
                said = " ".join([*labels, *_statement(lines[item.ptx_line - 1 :])])
                found[item.ptx_line] = Listed(str(item.ptx_line), said, item.place)
                labels.clear()
    return [found[line] for line in sorted(found)]


def _statement(lines: list[str]) -> list[str]:
    """The words of the first lines, up to the one with a semicolon."""
    begun = list(takewhile(lambda line: ";" not in line, lines))
    return " ".join(lines[: len(begun) + 1]).split()


def numbered(text: str) -> str:
    """The same program, whose places are the lines of `text`: what counts by place then counts by instruction."""
    bodies = (function.body for function in parse(text).functions.values())
    starts = {item.ptx_line for body in bodies for item in body if not isinstance(item, Label)}
    said = []
    for number, line in enumerate(text.splitlines(), 1):
        said += [f".loc 1 {number} 0"] if number in starts else []
        said += [] if _POSITION.match(line) else [line]
    return "\n".join(said) + "\n"
