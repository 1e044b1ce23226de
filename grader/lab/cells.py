"""The kernels of a notebook: each `%%kernel` cell by its name, and the workbook's rungs as "topic/rung"."""

from __future__ import annotations

import atexit
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.errors import WarpladderError
from grader.sandbox.scratch import Scratch
from grader.workbook import topics
from grader.workbook.content import content_root
from grader.workbook.expressions import nearest
from grader.workbook.source_file import as_read
from grader.workbook.topic import Topic

MAGIC = "%%kernel"
SYNTAX = f"write {MAGIC} NAME, or {MAGIC} NAME --topic TOPIC, as the first line of the cell"

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class Cell:
    """A kernel with a name: a cell of the notebook, or a rung of the workbook."""

    name: str  # "mine"; "transpose/02_shared_tile" for a rung
    topic: str | None  # the topic it is a submission to; None: a kernel of one's own
    text: str = field(repr=False)  # line numbers count as in the cell
    path: Path = field(repr=False)  # the file that holds the text

    def load_topic(self) -> Topic:
        """The topic it is a submission to; raises WarpladderError where it is none."""
        if self.topic is None:
            message = f"`{self.name}` belongs to no topic, so it is not known what it should compute"
            raise WarpladderError(
                message, remedy=f"write {MAGIC} {self.name} --topic TOPIC, or use lab.count"
            )
        return topics.load(self.topic)


_cells: dict[str, Cell] = {}


def parse_line(line: str) -> tuple[str, str | None]:
    """NAME and TOPIC of the magic's line, what stands after `%%kernel`; raises WarpladderError."""
    name, *options = line.split() or [""]
    if not _NAME.fullmatch(name):
        raise WarpladderError(
            f"`{name}` is no name for a kernel" if name else "the name is missing", remedy=SYNTAX
        )
    if not options:
        return name, None
    if len(options) == 1 and options[0].startswith("--topic="):
        options = options[0].split("=", 1)
    if len(options) != 2 or options[0] != "--topic":
        raise WarpladderError(f"`{MAGIC} {line.strip()}` cannot be read", remedy=SYNTAX)
    return name, options[1]


def parse_cell(source: str) -> tuple[str, str | None, str] | None:
    """NAME, TOPIC and the text to compile of a cell's source; None where it is no `%%kernel` cell.

    Nothing is run and nothing is kept. Raises WarpladderError for a magic line that cannot be read.
    """
    first, _, body = source.partition("\n")
    if first.split()[:1] != [MAGIC]:
        return None
    name, topic = parse_line(first.removeprefix(MAGIC))
    return name, topic, as_file(body)


def as_file(body: str) -> str:
    """What is compiled of a cell's body: an empty line for the magic's, so that line numbers are the cell's."""
    return "\n" + as_read(body).rstrip("\n") + "\n"


def keep(name: str, topic: str | None, text: str) -> Cell:
    """Keep a kernel's text under a name, in place of an earlier one; raises WarpladderError for no such topic."""
    suffix = ".cu" if topic is None else topics.load(topic).suffix
    path = session_folder() / f"{name}{suffix}"
    path.write_text(text, encoding="utf-8")
    _cells[name] = Cell(name, topic, text, path)
    return _cells[name]


def variant(name: str, of: str, replace: Mapping[str, str] | None = None, /, **constants: int) -> Cell:
    """Keep a kernel under NAME that is another one with a few changes, and give it.

    `lab.variant("wide", "gemm/04_register_tile_2d", TN=16)` changes the line `constexpr int TN = 8;`; `replace` has
    further text and what stands in its place, everywhere in the kernel. Raises WarpladderError for what is not found.
    """
    base = cell(of)
    text = base.text
    for constant, value in constants.items():
        wanted = f"constexpr int {constant} = "
        text, times = re.subn(rf"\b{wanted}[^;]*;", f"{wanted}{value};", text)
        _found(times, of, wanted)
    for before, after in (replace or {}).items():
        _found(text.count(before), of, before)
        text = text.replace(before, after)
    return keep(name, base.topic, text)


def _found(times: int, name: str, text: str) -> None:
    if not times:
        raise WarpladderError(f"there is no `{text}` in `{name}`", remedy="lab.source shows its text")


def cell(name: str) -> Cell:
    """The kernel kept under a name, or the rung "topic/rung"; raises WarpladderError where there is none."""
    topic_name, slash, rung_id = name.partition("/")
    if slash:
        rung = topics.load(topic_name).rung(rung_id)
        return Cell(name, topic_name, rung.source, rung.path)
    if name not in _cells:
        message = f"there is no kernel `{name}`{nearest(name, list(_cells))}"
        raise WarpladderError(
            message, remedy=f"run the cell that begins with {MAGIC} {name}, or name TOPIC/RUNG"
        )
    return _cells[name]


def lines_of(file: str) -> list[str]:
    """The lines of a kernel by its file's name, as results give it, to quote those that a finding names."""
    texts = {kept.path.name: kept.text for kept in _cells.values()}
    below = content_root() / file
    return (texts.get(file) or (below.read_text(encoding="utf-8") if below.is_file() else "")).splitlines()


@functools.cache
def session_folder() -> Path:
    """Where the cells of this session lie as files, until it ends."""
    folder = Scratch()
    atexit.register(folder.close)
    return folder.path
