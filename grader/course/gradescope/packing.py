"""An assignment taken from a course's folder, as it travels to Gradescope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.course import batch
from grader.course.assignment import rung_cell
from grader.course.gradescope.packed import Kernel, Packed, Visibility
from grader.course.restore import Original
from grader.errors import WarpladderError
from grader.workbook.topic import Topic


def of_course(root: Path, assignment: str, visibility: Visibility) -> Packed:
    """Take an assignment from a course's folder. Raises WarpladderError where it has no kernel, or is not known."""
    course, marker = batch.open_course(root)
    notebooks = batch.released(course, assignment)
    kernels = [
        _kernel(notebook, marker.topics[cell.topic], cell, cells)
        for notebook, cells in notebooks.items()
        for cell in cells
        if cell.topic in marker.topics
    ]
    if not kernels:
        remedy = "name one that `ladder course init` made"
        raise WarpladderError(f"the assignment `{assignment}` asks for no kernel", remedy=remedy)
    marked = {rung_cell(kernel.topic, rung) for kernel in kernels for rung in kernel.points}
    graded = [cell.grade_id for cells in notebooks.values() for cell in cells if cell.points]
    others = [name for name in graded if name not in marked]
    ours = marker.marker
    asked = {kernel.topic for kernel in kernels}
    sizes = {topic: sizes for topic, sizes in ours.hidden.sizes.items() if topic in asked}
    hidden = replace(ours.hidden, secret=ours.hidden.seed, sizes=sizes)  # pseudonyms need more of it
    unconfined = tuple(ours.unconfined)
    return Packed(
        assignment, kernels, hidden, ours.device, ours.arch, ours.seconds, visibility, unconfined, others
    )


def _kernel(notebook: str, topic: Topic, cell: Original, cells: Sequence[Original]) -> Kernel:
    """A kernel of a notebook whose cells are `cells`."""
    worth = {item.grade_id: item.points for item in cells}
    rungs = {rung: worth.get(rung_cell(topic.name, rung)) for rung in topic.ladder.ids}
    return Kernel(notebook, topic.name, cell, {rung: most for rung, most in rungs.items() if most})
