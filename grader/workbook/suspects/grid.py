"""What the blocks of a grid share: rows and columns, tickets, and the elements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.workbook.cuda_source import int_sizes, line_at
from grader.workbook.suspects.text import Said, sets

_SIDE = re.compile(r"\b(?P<name>\w+)\s*=[^;=]{0,80}\bblockIdx\.(?P<axis>[xy])\b[^;=]{0,80}[;,]")
_TICKET = r"atomic(?:Add\s*\([^(),;]{1,60},\s*1[uUlL]*|Inc\s*\([^(),;]{1,60},[^(),;]{1,60})\s*\)"
_BLOCKS = re.compile(r"\b(\w+)\s*=\s*gridDim\.[xyz](?:\s*\*\s*gridDim\.[xyz])*\s*;")
_ALL_THREADS = r"\(\s*(?:gridDim\.x\s*\*\s*(?:blockDim\.x|\w+)|(?:blockDim\.x|\w+)\s*\*\s*gridDim\.x)\s*\)"

_OF_GRID = re.compile(r"\b(?P<name>\w+)\s*=(?=[^;=]*\bblockIdx\b)[^;=]*\bthreadIdx\b[^;=]*;")


def one_side(text: str) -> Iterator[Said]:
    """A thread's row compared with its column: half of the elements, and a diagonal, are then nobody's."""
    names = {axis: name for name, axis in _SIDE.findall(text)}
    if len(names) == 2:
        one, other = (rf"\b{name}\b" for name in names.values())
        for found in re.finditer(
            rf"{one}\s*[<>]=?\s*{other}(?!\s*[-+*/%])|{other}\s*[<>]=?\s*{one}(?!\s*[-+*/%])", text
        ):
            line = line_at(text, found.start())
            yield (
                line,
                f"Line {line}: `{found[0]}` compares a row with a column. Nothing is exchanged in place where `out` is "
                "an array of its own: every thread moves its element, and rows and columns may differ in number.",
            )


def tickets(text: str) -> Iterator[Said]:
    """What an atomic function returns, which is one less than the blocks that have come, taken for their number."""
    names = re.findall(rf"\b(\w+)\s*=\s*{_TICKET}\s*;", text)
    kept = "|".join([_TICKET, *(rf"(?<![\w.]){name}" for name in names)])
    blocks = "|".join([r"gridDim\.[xyz]", r"\w*[bB]locks", *_BLOCKS.findall(text)])
    all_blocks = rf"(?P<blocks>(?<![\w.])(?:{blocks})(?:\s*\*\s*(?:{blocks}))*)"
    behind = r"(?!\w|\s*[-+*/.(\[])"
    for pattern in (
        rf"(?:{kept})\s*(?:[!=]=|>=)\s*{all_blocks}{behind}",
        rf"{all_blocks}\s*[!=]=\s*(?:{kept}){behind}",
    ):
        for found in re.finditer(pattern, text):
            line = line_at(text, found.start("blocks"))
            yield (
                line,
                f"Line {line}: an atomic function returns what was there before: the last block gets "
                f"`{found['blocks']} - 1`, and none `{found['blocks']}`. Compare with the first.",
            )


def shares(text: str) -> Iterator[Said]:
    """Shares of the elements that are rounded down, of which nothing else takes what is left over."""
    sizes, blocks = "|".join(int_sizes(text)[0]), "|".join([r"gridDim\.[xyz]", *_BLOCKS.findall(text)])
    share = rf"\b(?P<name>\w+)\s*=\s*(?P<all>(?P<size>{sizes})\s*/\s*(?P<by>{blocks}|{_ALL_THREADS}))\s*;"
    for found in re.finditer(share, text) if sizes else ():
        name, size, by = found.group("name", "size", "by")
        one = re.escape(by)
        if re.search(rf"\b{size}\s*[-%]|{one}\s*-\s*1\b|\b{name}\s*\*\s*{one}|{one}\s*\*\s*{name}\b", text):
            continue  # which is for what is left over
        end = re.compile(rf"\b(\w+\s*[=<])\s*(\w+\s*\+\s*{name})\s*;").search(text, found.end())
        until = f"`{end[1]} min({end[2]}, {size})`" if end else f"an end at `{size}`"
        line = line_at(text, found.start("all"))
        yield (
            line,
            f"Line {line}: `{found['all']}` rounds down, to 0 where `{size}` is smaller, and nobody takes what is left "
            f"over: `({size} + {by} - 1) / {by}`, and {until}.",
        )


def not_there(text: str) -> Iterator[Said]:
    """A thread by a number that follows from a size, of a grid whose threads go on by all of them: it need not have as
    many."""
    sizes = "|".join(int_sizes(text)[0])
    if not sizes or not re.search(r"\+=[^;){}]*\bgridDim\b|\b\w+\s*=[^;=]*\bgridDim\b", text):
        return
    counts = "|".join(re.findall(rf"\b(\w+)\s*=\s*(?:{sizes})\s*(?:/|>>)\s*\w+\s*;", text))
    number = rf"(?P<number>(?:{sizes})\s*(?:/|>>|-)\s*\w+{f'|{counts}' if counts else ''})"
    for of_grid in _OF_GRID.finditer(text):
        name = of_grid["name"]
        for found in re.finditer(rf"\bif\s*\(\s*{name}\s*==\s*{number}\s*(?:\)|&&)", text):
            if sets(text, name) == 1:
                line = line_at(text, found.start())
                yield (
                    line,
                    f"Line {line}: where `{found['number']}` is large, the grid has no thread of that number, as its "
                    f"threads go on by all of them: let thread 0 do it, `{name} == 0`.",
                )
