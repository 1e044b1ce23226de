"""A submission's cells put back in place: what an assignment locks is as it was released, whatever became of it.

Of what a learner hands in, three things are taken: what their answer cells hold, and cells of their own, which carry
no mark. Everything else, text, order, points and metadata of the assignment's cells, comes from the gradebook, where
`nbgrader generate_assignment` kept it.
"""

from __future__ import annotations

import codecs
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning

from grader.course.assignment import KERNELSPEC, LANGUAGE, cell_id, kernel_cell, metadata
from grader.lab.cells import MAGIC

_KERNEL = kernel_cell("")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""An escape of half a character; two such may be a whole one."""
_MOST_CELLS = 1000
"""Of a learner's own; nobody writes as many, and pages with more do not open."""


@dataclass(frozen=True)
class Original:
    """A cell of the assignment as it was released."""

    grade_id: str
    cell_type: str  # code or markdown
    source: str
    locked: bool  # learners read it, and do not change it
    solution: bool  # learners write their answer in it
    points: float | None = None  # null where it is not graded
    task: bool = False  # nbgrader's third kind: points for work in cells around it
    checksum: str | None = None

    @property
    def topic(self) -> str | None:
        """The topic whose kernel is written in this cell."""
        return (
            self.grade_id.removeprefix(_KERNEL)
            if self.grade_id.startswith(_KERNEL) and self.solution
            else None
        )


@contextmanager
def without_warnings() -> Iterator[None]:
    """Read a submission without nbformat's warnings of copied cells and of those without an id: they are put back."""
    with warnings.catch_warnings():
        for category in (DuplicateCellId, MissingIDFieldWarning):
            warnings.simplefilter("ignore", category)
        yield


def read(path: Path) -> NotebookNode:
    """A submission of any of nbformat's versions, in UTF-8 or, with a byte-order mark, UTF-16.

    Halves of characters, which no file can hold, become question marks. Raises what a file may make decoders and
    nbformat raise.
    """
    data = path.read_bytes()
    coding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    text = data.decode(coding)
    with without_warnings():
        notebook = nbformat.reads(_whole(text) if _HALF.search(text) else text, as_version=4)
        nbformat.validate(notebook)
    return notebook


def _whole(text: str) -> str:
    """JSON without escapes of halves of characters that stand alone."""
    parsed = json.dumps(json.loads(text), ensure_ascii=False)
    return parsed.encode("utf-8", "replace").decode()


def restored(submission: NotebookNode, originals: Sequence[Original]) -> NotebookNode:
    """The notebook to mark: every original once and in its order, each followed by the learner's cells after it."""
    theirs = [cell for cell in submission.get("cells", []) if _is_cell(cell)]
    answers = {original.grade_id: answer(theirs, original) for original in originals if not original.locked}
    extras = _extras(theirs, originals)
    cells = list(extras.get("", []))
    for original in originals:
        cells += [_cell(original, answers.get(original.grade_id)), *extras.get(original.grade_id, [])]
    about = {"kernelspec": dict(KERNELSPEC), "language_info": dict(LANGUAGE)}
    made = nbformat.v4.new_notebook(cells=cells, metadata=about)
    nbformat.validate(made)
    return made


def answer(cells: Sequence[Any], original: Original) -> str:
    """What a learner wrote in an answer's cell.

    A cell that was copied is there twice: the last one that differs from what was released is the answer. Where none
    is left with its name, the last cell that begins with the `%%kernel` line of that topic is; else there is none, and
    the cell is as released.
    """
    named = [cell["source"] for cell in cells if _grade_id(cell) == original.grade_id]
    changed = [source for source in named if source.strip() != original.source.strip()]
    if changed:
        return str(changed[-1])
    if not named and original.topic is not None:
        first = original.source.partition("\n")[0].split()
        kernels = [cell["source"] for cell in cells if cell["source"].partition("\n")[0].split() == first]
        if kernels and first[:1] == [MAGIC]:
            return str(kernels[-1])
    return original.source


def _extras(cells: Sequence[Any], originals: Sequence[Original]) -> dict[str, list[NotebookNode]]:
    """The learner's own cells, by the original they follow; "" for those before the first. They lose their metadata.

    What was an original's copy is among them if it is an answer's; of locked cells a copy says nothing new.
    """
    by_id = {original.grade_id: original for original in originals}
    found: dict[str, list[NotebookNode]] = {}
    seen: set[str] = set()
    after = ""
    for number, cell in enumerate(cells[:_MOST_CELLS]):
        name = _grade_id(cell)
        if name in by_id and name not in seen:
            seen.add(name)
            after = name
        elif name not in by_id or not by_id[name].locked:
            found.setdefault(after, []).append(_own(cell, number))
    return found


def _cell(original: Original, answered: str | None) -> NotebookNode:
    """An original, with the learner's answer if it takes one."""
    make = nbformat.v4.new_code_cell if original.cell_type == "code" else nbformat.v4.new_markdown_cell
    about = metadata(original.grade_id, original.locked, original.solution, original.points)
    about["nbgrader"] |= {"cell_type": original.cell_type}
    if original.task:
        about["nbgrader"] |= {"task": True, "grade": False}
    if original.checksum is not None:
        about["nbgrader"]["checksum"] = original.checksum
    source = original.source if answered is None else answered
    if original.cell_type == "markdown" and source != original.source:
        source = as_text(source)
    return make(source, id=cell_id(original.grade_id), metadata=about)


def _own(cell: Any, number: int) -> NotebookNode:
    """A cell of the learner's own: its text alone."""
    if cell["cell_type"] == "code":
        return nbformat.v4.new_code_cell(cell["source"], id=f"own-{number}")
    return nbformat.v4.new_markdown_cell(as_text(cell["source"]), id=f"own-{number}")


def as_text(written: str) -> str:
    """Markdown that shows what a learner wrote as it was typed, as a block of code.

    Rendered, it would be a page of the learner's in the instructor's browser: formgrader leaves HTML, links to scripts
    and diagrams as they are, and is served from where points can be set and files be read.
    """
    longest = max((len(run) for run in re.findall("`+", written)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{written}\n{fence}"


def _grade_id(cell: Any) -> str | None:
    about = cell.get("metadata")
    about = about.get("nbgrader") if isinstance(about, dict) else None
    name = about.get("grade_id") if isinstance(about, dict) else None
    return name if isinstance(name, str) else None


def _is_cell(cell: Any) -> bool:
    """Whether it has what is read of a cell: files come from anywhere."""
    return (
        isinstance(cell, dict)
        and isinstance(cell.get("source"), str)
        and cell.get("cell_type") in ("code", "markdown", "raw")
    )
