"""A learner's source as it stands in a notebook's cell, and what it may not do when others grade it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from grader.emulator.nvrtc.compilation import find_toolkit
from grader.lab.cells import MAGIC, as_file
from grader.workbook.topic import Topic

_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_BETWEEN = r"(?:[^\S\n]|/\*.*?\*/)*"
_DIRECTIVE = re.compile(
    rf"(?:\#|%:|\?\?=){_BETWEEN}(?:include_next|include|import|embed)\b{_BETWEEN}([^\n]*)", re.DOTALL
)
_HEADER = re.compile(r"<([^>\n]+)>|\"([^\"\n]+)\"")
_COMMENT = {
    ".cu": re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL),
    ".py": re.compile(r'#[^\n]*|"""(?:.*?)"""', re.DOTALL),
}


def of_cell(cell: str) -> str:
    """The text to grade of a kernel's cell. An empty line stands for the magic's, so that lines count as in the cell.

    Whatever name and topic the magic gives; a cell without it is all text.
    """
    head, magic, rest = cell.partition(MAGIC)
    if not magic or head.strip():
        return as_file(cell)
    return "\n" * head.count("\n") + as_file(rest.partition("\n")[2])


def foreign_include(text: str) -> tuple[int, str] | None:
    """The first line that brings in a file other than CUDA's headers and ours, and what it names; None: none does.

    The compiler would read any file of the machine that grades, and quote it in its messages. Comments and strings
    are searched as well: a text that only looks like a directive is refused rather than one overlooked. An `#include`
    whose name comes from a macro is refused, too.
    """
    spliced = _SPLICE.sub(lambda splice: "\0" * (len(splice[0]) - 1) + "\1", text)
    # Spliced lines join without a trace; where they were is kept in a table of positions.
    kept = [position for position, sign in enumerate(spliced) if sign not in "\0\1"]
    joined = "".join(spliced[position] for position in kept)
    for directive in _DIRECTIVE.finditer(joined):
        header = _HEADER.match(directive[1].strip())
        name = (header[1] or header[2]) if header else directive[1].strip()
        if header is None or not _is_ours(name):
            return text[: kept[directive.start()]].count("\n") + 1, name
    return None


def _is_ours(name: str) -> bool:
    """Whether a header lies in the folders that the compiler is given."""
    for folder in find_toolkit().includes:
        path = (folder / name).resolve()
        if path.is_relative_to(folder.resolve()) and path.is_file():
            return True
    return False


def fingerprint(topic: Topic, text: str) -> str:
    """The same for sources that differ in comments and white space alone."""
    bare = _COMMENT[topic.suffix].sub(" ", text)
    return hashlib.sha256("".join(bare.split()).encode()).hexdigest()


def of_ladder(topic: Topic) -> Iterator[tuple[str, str]]:
    """Fingerprints of the starter and of every rung, each with what to call it."""
    yield fingerprint(topic, topic.starter.read_text(encoding="utf-8")), "the starter"
    for rung in topic.rungs:
        yield fingerprint(topic, rung.source), f"the ladder's {rung.id}"
