"""Pointers that are moved on to a thread's element, or are to be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.workbook.cuda_source import KERNEL, kernel_body, line_at, numbers_in_grid
from grader.workbook.edit import Edit, Line, in_place

_PARAMETER = re.compile(r"\*\s*(?:__restrict__\s+)?(\w+)")
_FIRST = r"(?:^|[;{{}}=(,+])\s*(?P<all>\*\s*(?P<name>{names}))\b(?!\s*[\[+(])"


def left_behind(text: str) -> Iterator[Edit]:
    """An array that stays at its beginning, where the others are moved on by the same."""
    for kernel in KERNEL.finditer(text):
        begins, ends = kernel_body(text, kernel["name"]) or (kernel.end(), len(text))
        body = text[begins:ends]
        arrays = _PARAMETER.findall(kernel["taken"])
        moved = {name: re.search(rf"\b{name}\s*\+=\s*([^;]{{1,100}});", body) for name in arrays}
        steps = {found[1].strip() for found in moved.values() if found}
        left = [
            name for name in arrays if not moved[name] and re.search(rf"(?<![\w\s)])\s*\*\s*{name}\b", body)
        ]
        if len(steps) == len(left) == 1 and len(arrays) > 1:
            last = max(found.end() for found in moved.values() if found)
            at, (step,), (name,) = begins + last, steps, left
            line = line_at(text, at)
            why = f"Else all threads go to the beginning of `{name}`."
            yield Edit(
                f"`{name} += {step};` behind line {line}", line, ((at, at, f" {name} += {step};"),), why
            )


def at_beginning(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """The first element of an array that a kernel takes, in place of the thread's own."""
    arrays = {name for kernel in KERNEL.finditer(text) for name in _PARAMETER.findall(kernel["taken"])}
    first, numbers = re.compile(_FIRST.format(names="|".join(sorted(arrays)))), numbers_in_grid(text)
    for line in lines if arrays else ():
        for found in first.finditer(line.text):
            for number in numbers:
                why = f"`*{found['name']}` is element 0, for each thread."
                yield in_place(line, found, "all", f"{found['name']}[{number}]", why)
