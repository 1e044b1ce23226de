"""What becomes of a file that was handed in: which notebook of the assignment it is, and a kernel's file as a notebook.

A notebook stays as it is, byte for byte, whatever is in it: what cannot be read is for those who mark to say. The text
of a .cu file, or of a schedule's .py, goes into the answer's cell of the notebook that was released.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from grader.course import restore
from grader.course.assignment import kernel_cell
from grader.course.restore import Original, cells_of, grade_id, is_work, notebook_of, read
from grader.course.sources import EMPTY, UnreadableFile, text_of
from grader.errors import WarpladderError
from grader.lab.cells import MAGIC
from grader.workbook.topic import Topic

NOTEBOOK = ".ipynb"
_COPY = re.compile(r"(?P<stem>.+?)(?: ?\(\d+\)|-\d+)")
"""What browsers call a second download, and Canvas a second upload: by it nobody knows which was worked on last."""
_SHOWN_AS_TEXT = re.compile(r"(\.(?:ipynb|cu|py))\.(?:txt|json)$", re.IGNORECASE)
"""What some browsers add to a name."""


@dataclass(frozen=True)
class Released:
    """A notebook of an assignment, as it was handed out."""

    name: str  # without .ipynb
    path: Path
    kernels: Sequence[tuple[Topic, Original]]  # the answers' cells that hold kernels
    cells: Sequence[Original]  # all of it

    def kernel(self, suffix: str, stem: str) -> Original | None:
        """The cell for a file of that kind; where there are several, the one of the topic that the file is named
        after."""
        cells = [(topic.name, cell) for topic, cell in self.kernels if topic.suffix == suffix]
        named = [cell for name, cell in cells if name == stem]
        return named[0] if named else cells[0][1] if len(cells) == 1 else None


@dataclass(frozen=True)
class Place:
    """Where a file goes."""

    notebook: Released
    cell: (
        Original | None
    )  # which the file's text goes into; None for a notebook, which takes the place as it is


def places(notebooks: Sequence[Released], names: Sequence[str]) -> list[Place | str]:
    """Where the files that one student handed in go, in their order; or why one goes nowhere.

    What is named after a notebook, or after a topic of its kernels, goes there. Of a single notebook also a file of
    another name may be the answer: where it is the only one that was handed in.
    """
    suffixes = {NOTEBOOK, *(topic.suffix for notebook in notebooks for topic, _ in notebook.kernels)}
    split = [_split(name) for name in names]
    named = [
        next((place for notebook in notebooks if (place := _at(notebook, stem, suffix))), None)
        for stem, suffix in split
    ]
    first = next((name for name, place in zip(names, named, strict=True) if place), None)
    others = {
        _uncopied(stem)
        for (stem, suffix), place in zip(split, named, strict=True)
        if suffix in suffixes and not place
    }
    return [
        place or _unnamed(notebooks, stem, suffix, suffixes, first, len(others))
        for (stem, suffix), place in zip(split, named, strict=True)
    ]


def _unnamed(
    notebooks: Sequence[Released], stem: str, suffix: str, suffixes: set[str], named: str | None, others: int
) -> Place | str:
    """The place of a file that is named after nothing. `named`: another one of the student's that is."""
    if suffix not in suffixes:
        return f"it is none of {', '.join(sorted(suffixes))}"
    names = ", ".join(notebook.name for notebook in notebooks)
    if len(notebooks) > 1:
        return f"it is not named after a notebook of the assignment: {names}"
    if named is not None:
        return f"{named} is named after the assignment, and counts"
    if others > 1:
        return f"{others} files are handed in, and this one is not called {names}"
    only = notebooks[0]
    cell = None if suffix == NOTEBOOK else only.kernel(suffix, _uncopied(stem))
    if suffix != NOTEBOOK and cell is None:
        return f"{names} has several kernels: name it after its topic"
    return Place(only, cell)


def _at(notebook: Released, stem: str, suffix: str) -> Place | None:
    """The place of a file that is named after the notebook, or after a topic of its kernels."""
    for bare in (stem, _uncopied(stem)):
        cell = None if suffix == NOTEBOOK else notebook.kernel(suffix, bare)
        named = bare.casefold() == notebook.name.casefold()
        if suffix == NOTEBOOK and named:
            return Place(notebook, None)
        if cell is not None and (named or bare == cell.topic):
            return Place(notebook, cell)
    return None


def _split(name: str) -> tuple[str, str]:
    path = Path(_SHOWN_AS_TEXT.sub(r"\1", name))
    return path.stem, path.suffix.lower()


def _uncopied(stem: str) -> str:
    """A name without the number of a copy."""
    found = _COPY.fullmatch(stem)
    return found["stem"] if found else stem


def holds_work(place: Place, data: bytes) -> bool:
    """Whether a file holds more than was released. What cannot be read may; an empty file does not."""
    if not data.strip():
        return False
    try:
        if place.cell is None:
            return restore.holds_work(cells_of(notebook_of(data)), place.notebook.cells)
        return is_work(text_of(data)[0], place.cell)
    except Exception:  # whatever a file may hold
        return True


def _check_topics(notebook: Released, data: bytes) -> None:
    """Raise UnreadableFile for the notebook of another assignment. What cannot be read, others tell."""
    try:
        names = {grade_id(cell) or "" for cell in json.loads(data)["cells"]}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return
    asked = {cell.grade_id for _, cell in notebook.kernels}
    others = sorted(name for name in names - asked if name.startswith(kernel_cell("")))
    if asked and others and not asked & names:
        whose = ", ".join(name.removeprefix(kernel_cell("")) for name in others)
        raise UnreadableFile(f"it is the notebook of {whose}, and not of {notebook.name}")


def filled(place: Place, data: bytes) -> tuple[bytes, str]:
    """The notebook to mark of what was handed in, and what there is to say of it; "" if nothing.

    Raises UnreadableFile for an empty file and what is no text, and WarpladderError where the assignment was not
    released.
    """
    if place.cell is None:
        if not data.strip():
            raise UnreadableFile(EMPTY)
        _check_topics(place.notebook, data)
        return data, ""
    text, said = text_of(data)
    if not place.notebook.path.is_file():
        remedy = f"nbgrader generate_assignment {place.notebook.path.parent.name}"
        raise WarpladderError("the notebook to hand out is missing", file=place.notebook.path, remedy=remedy)
    notebook = read(place.notebook.path)
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
    if place.cell.grade_id not in cells:
        message = f"it has no cell `{place.cell.grade_id}`, and the gradebook has"
        remedy = f"nbgrader generate_assignment --force {place.notebook.path.parent.name}"
        raise WarpladderError(message, file=place.notebook.path, remedy=remedy)
    magic = place.cell.source.partition("\n")[0]
    body = text.partition("\n")[2] if text.startswith(MAGIC) else text
    cells[place.cell.grade_id].source = f"{magic}\n{body}"
    return nbformat.writes(notebook).encode() + b"\n", said
