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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning

from grader.course import sources
from grader.course.assignment import KERNELSPEC, LANGUAGE, cell_id, kernel_cell, metadata, rung_cell
from grader.errors import WarpladderError
from grader.lab.cells import parse_cell
from grader.workbook import topics

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
    """A submission's notebook, see `notebook_of`."""
    return notebook_of(path.read_bytes())


def notebook_of(data: bytes) -> NotebookNode:
    """A notebook of any of nbformat's versions, in UTF-8 or, with a byte-order mark, UTF-16.

    Halves of characters, which no file can hold, become question marks. Raises what a file may make decoders and
    nbformat raise.
    """
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


def cells_of(submission: NotebookNode) -> list[Any]:
    """A notebook's cells, but for those that have not what is read of one: files come from anywhere."""
    return [cell for cell in submission.get("cells", []) if _is_cell(cell)]


def restored(submission: NotebookNode, originals: Sequence[Original]) -> NotebookNode:
    """The notebook to mark: every original once and in its order, each followed by the learner's cells after it.

    Raises Unclear, see `answer`.
    """
    theirs = cells_of(submission)
    answers = {original.grade_id: answer(theirs, original) for original in originals if not original.locked}
    return _put_together(originals, answers, _extras(theirs, originals))


def as_released(originals: Sequence[Original]) -> NotebookNode:
    """The notebook of a submission of which nothing can be taken."""
    return _put_together(originals, {}, {})


def _put_together(
    originals: Sequence[Original], answers: Mapping[str, str], extras: Mapping[str, Sequence[NotebookNode]]
) -> NotebookNode:
    cells = list(extras.get("", []))
    for original in originals:
        cells += [_cell(original, answers.get(original.grade_id)), *extras.get(original.grade_id, [])]
    about = {"kernelspec": dict(KERNELSPEC), "language_info": dict(LANGUAGE)}
    made = nbformat.v4.new_notebook(cells=cells, metadata=about)
    nbformat.validate(made)
    return made


class Unclear(Exception):
    """Nothing tells which cell of a notebook holds an answer; the text says what is wrong with which cells."""


def answer(cells: Sequence[Any], original: Original) -> str:
    """What a learner wrote in an answer's cell, as released where they wrote nothing.

    A cell that was copied is there twice: the last one that differs from what was released is the answer. A kernel may
    as well stand in a cell of the learner's own that defines the same name for the same topic: of several that differ,
    the last one above the graded cells is what these grade. Raises Unclear where one stands below them, where no cell
    is the kernel's, and where the work may stand in one that is another's.
    """
    if original.topic is not None:
        return _kernel(cells, original, original.topic)
    changed = [
        cell["source"]
        for cell in cells
        if grade_id(cell) == original.grade_id and cell["source"].strip() != original.source.strip()
    ]
    return str(changed[-1]) if changed else original.source


def holds_work(cells: Sequence[Any], originals: Sequence[Original]) -> bool:
    """Whether some answer differs from what was released, or may do so."""
    answers = [original for original in originals if not original.locked]
    try:
        return any(is_work(answer(cells, original), original) for original in answers)
    except Unclear:
        return True


def is_work(source: str, original: Original) -> bool:
    """Whether a cell holds anything but what was released."""
    return sources.of_cell(source).strip() not in ("", sources.of_cell(original.source).strip())


def _kernel(cells: Sequence[Any], original: Original, topic: str) -> str:
    meant = _defines(original)
    asked = [
        (place, cell)
        for place, cell in enumerate(cells)
        if grade_id(cell) == original.grade_id or (meant and _keeps(cell) == meant)
    ]
    written = [(place, cell) for place, cell in asked if is_work(cell["source"], original)]
    if not written:
        _check_others(cells, original, topic)
        if not asked:
            remedy = "put it into that of the notebook that was handed out"
            raise Unclear(f"no cell is the one for {topic}'s kernel: {remedy}")
        emptied = [cell["source"] for _, cell in asked if not sources.of_cell(cell["source"]).strip()]
        return str(emptied[-1]) if emptied else original.source
    graded = [
        place for place, cell in enumerate(cells) if (grade_id(cell) or "").startswith(rung_cell(topic, ""))
    ]
    last, cell = written[-1]
    below = bool(graded) and last > graded[0]
    if below and len({sources.of_cell(cell["source"]).strip() for _, cell in written}) > 1:
        places = " and ".join(str(place + 1) for place, _ in written)
        raise Unclear(
            f"the cells {places} each hold another kernel for {topic}, one of them below the graded cells: leave one"
        )
    named = _defines(cell)
    if named and named[1] != topic and named[1] in topics.names():
        raise Unclear(f"the cell {last + 1} says that its kernel is for {named[1]}, and not for {topic}")
    return str(cell["source"])


def _check_others(cells: Sequence[Any], original: Original, topic: str) -> None:
    """Raise Unclear where a cell that is not graded holds a kernel for the topic, or by the name that is graded."""
    meant = _defines(original)
    for place, cell in enumerate(cells):
        kept = _keeps(cell)
        if not meant or not kept or kept == meant or not is_work(cell["source"], original):
            continue
        if kept[1] == topic or kept == (meant[0], None):
            raise Unclear(
                f"the cell {place + 1} holds a kernel that is not graded, and `{meant[0]}` for {topic}, which is, "
                "holds none: put it there"
            )


def _keeps(cell: Any) -> tuple[str, str | None] | None:
    """What a cell of a submission defines, if it is one that the notebook runs."""
    return _defines(cell) if cell["cell_type"] == "code" else None


def _defines(cell: Original | Any) -> tuple[str, str | None] | None:
    """The name and the topic of a cell that keeps a kernel, as the notebook reads it; None of any other cell."""
    source = cell.source if isinstance(cell, Original) else cell["source"]
    try:
        found = parse_cell(sources.without_wrappers(source))
    except WarpladderError:  # nor does the notebook keep it
        return None
    return found and found[:2]


def shown(cells: Sequence[Any], topic: str) -> float | None:
    """The points that a topic's graded cells show in the file as it was saved; None where not all of them do."""
    total = 0.0
    graded = [
        cell for cell in cells if _is_cell(cell) and (grade_id(cell) or "").startswith(rung_cell(topic, ""))
    ]
    for cell in graded:
        values = [
            output.get("data", {}).get("text/plain")
            for output in cell.get("outputs", [])
            if output.get("output_type") == "execute_result"
        ]
        try:
            total += float("".join(values[-1]))
        except (IndexError, TypeError, ValueError):
            return None
    return total if graded else None


def _extras(cells: Sequence[Any], originals: Sequence[Original]) -> dict[str, list[NotebookNode]]:
    """The learner's own cells, by the original they follow; "" for those before the first. They lose their metadata.

    What was an original's copy is among them if it is an answer's; of locked cells a copy says nothing new.
    """
    by_id = {original.grade_id: original for original in originals}
    found: dict[str, list[NotebookNode]] = {}
    seen: set[str] = set()
    after = ""
    for number, cell in enumerate(cells[:_MOST_CELLS]):
        name = grade_id(cell)
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


def grade_id(cell: Any) -> str | None:
    """nbgrader's name of a cell, whatever a file holds; None of a learner's own."""
    about = cell.get("metadata")
    about = about.get("nbgrader") if isinstance(about, dict) else None
    name = about.get("grade_id") if isinstance(about, dict) else None
    return name if isinstance(name, str) else None


def _is_cell(cell: Any) -> bool:
    """Whether it has what is read of a cell."""
    return (
        isinstance(cell, dict)
        and isinstance(cell.get("source"), str)
        and cell.get("cell_type") in ("code", "markdown", "raw")
    )
