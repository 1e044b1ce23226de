"""Our steps among nbgrader's: what it runs on each notebook when assignments are generated and submissions graded.

nbgrader takes a graded cell's last value for its mark, and gives full marks to a cell without output. So MarkKernels
comes last before the marks are saved, and sets the outputs of our graded cells, whatever the notebook left there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import IO, Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import ClearSolutions, Execute, NbGraderPreprocessor
from traitlets import Bool, Float, Integer, Unicode
from traitlets import List as ListTrait

from grader.course import feedback, hidden, sources, typeset
from grader.course.assignment import kernel_cell, rung_cell
from grader.course.marking import SECONDS, Marker
from grader.course.restore import Original, Unclear, as_released, cells_of, read, restored, shown
from grader.emulator.runtime.build import prepare
from grader.errors import WarpladderError
from grader.lab import show
from grader.results import Grade
from grader.sandbox.confine import hide
from grader.sandbox.means import means
from grader.sandbox.scratch import Scratch
from grader.workbook import topics
from grader.workbook.topic import Topic

Resources = dict[str, Any]

UNREADABLE = "unreadable"
"""In a notebook's metadata, why what was handed in cannot be marked."""
SHOWN = "shown"
"""In a notebook's metadata, the points that each topic's graded cells showed when it was handed in."""
NO_NOTEBOOK = "The file that was handed in is no notebook that can be read ({reason})"
NOT_MARKED = "{reason}: nothing in it was marked. The assignment stands here as it was released."
NOT_RUN = "The cell was not run: {reason}."


MAGICS_LANGUAGES = {"CUDA C++": "cuda", "Python": "python"}
"""What nbconvert colours a cell of each language as."""


class SubmissionExporter(NotebookExporter):
    """Reads a submission; what is no notebook becomes an empty one that says so."""

    def from_file(
        self, file_stream: IO[str], resources: Resources | None = None, **options: Any
    ) -> tuple[str, Resources]:
        """As NotebookExporter's, for any file, which is read by its name."""
        try:
            found = read(Path(file_stream.name))
        except Exception as error:  # whatever a file may hold, the class goes on
            self.log.warning("%s is no notebook: %s", file_stream.name, error)
            found = nbformat.v4.new_notebook(
                metadata={UNREADABLE: NO_NOTEBOOK.format(reason=type(error).__name__)}
            )
        return self.from_notebook_node(found, resources=resources, **options)


class KeepStarters(ClearSolutions):
    """Takes solutions out of an assignment, and leaves a kernel's starter in: that is no solution."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: Resources, index: int
    ) -> tuple[NotebookNode, Resources]:
        """As ClearSolutions', but for the cells of kernels."""
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if name.startswith(kernel_cell("")) and self.begin_solution_delimeter not in cell.source:
            return cell, resources
        return super().preprocess_cell(cell, resources, index)


class RestoreCells(NbGraderPreprocessor):
    """Puts a submission's cells back in place, see `restore`: missing, copied, moved and changed ones."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """The notebook to mark; what was none, or does not tell which kernel counts, says so."""
        known = originals(resources)
        try:
            made = restored(nb, known)
        except Unclear as error:
            made = as_released(known)
            made.metadata[UNREADABLE] = f"In the file that was handed in {error}"
        if UNREADABLE in nb.metadata and not nb.cells:
            made.metadata[UNREADABLE] = nb.metadata[UNREADABLE]
        made.metadata[SHOWN] = {each.topic: shown(cells_of(nb), each.topic) for each in known if each.topic}
        return made, resources


class RunNotebook(Execute):
    """Runs a submission's own Python, if asked to: only graded cells of an instructor's own need it.

    The class goes on whatever happens. Graded cells that did not get to run say so by an error, where nbgrader would
    give an empty one full marks.
    """

    enabled = Bool(
        False, help="Run submissions' own Python on this machine, in the name of whoever autogrades."
    ).tag(config=True)
    total_seconds = Float(300.0, help="After this long, a notebook's remaining cells are not run.").tag(
        config=True
    )

    def preprocess(
        self, nb: NotebookNode, resources: Resources, km: Any = None
    ) -> tuple[NotebookNode, Resources]:
        """Run the cells in an empty folder."""
        prepare()  # before a cell's clock runs
        self._ends = time.monotonic() + self.total_seconds
        reason = "the notebook was stopped before"
        with Scratch() as folder:
            where = {**resources, "metadata": {**resources.get("metadata", {}), "path": str(folder)}}
            try:
                super().preprocess(nb, where, km)
            except Exception as error:  # a process that died, a cell that cannot be interrupted
                self.log.warning("the notebook could not be run to its end: %s", error)
                reason = f"the notebook's process ended before ({type(error).__name__})"
        for cell in nb.cells:
            if cell.cell_type == "code" and cell.get("execution_count") is None and cell.source.strip():
                cell.outputs = [*cell.outputs, _error("NotRun", NOT_RUN.format(reason=reason))]
        return nb, resources

    def preprocess_cell(
        self, cell: NotebookNode, resources: Resources, index: int
    ) -> tuple[NotebookNode, Resources]:
        """Run a cell, while there is time."""
        if time.monotonic() < self._ends:
            self.timeout: int = max(1, min(self.timeout or 30, round(self._ends - time.monotonic())))
            return super().preprocess_cell(cell, resources, index)
        return cell, resources


class MarkKernels(NbGraderPreprocessor):
    """Marks the kernels of a submission, and puts points and feedback into its graded cells."""

    hidden = Unicode("hidden.toml", help="The file of the course's hidden cases.").tag(config=True)
    cache = Unicode(".marks", help="The folder where marks are kept by the content of the source.").tag(
        config=True
    )
    device = Unicode(
        "emulator", help="What kernels run on: emulator or pycuda. Counts are the emulator's."
    ).tag(config=True)
    arch = Unicode("", help="The GPU to emulate, such as sm_80; sm_90a if not given.").tag(config=True)
    gpu = Unicode(
        "",
        help="The GPU that marks are made on, as its driver calls it, such as NVIDIA H200. Without it, this machine's.",
    ).tag(config=True)
    unconfined = ListTrait(
        Unicode(), help="Topics whose submissions are Python and run where only limits confine them."
    ).tag(config=True)
    seconds = Integer(
        int(SECONDS), help="After this long, a submission is taken for one that does not end."
    ).tag(config=True)

    @property
    def topics(self) -> dict[str, Topic]:
        """The workbook's topics."""
        return _topics()

    @cached_property
    def marker(self) -> Marker:
        """What marks sources; raises WarpladderError where the hidden cases cannot be read."""
        if not means().files:
            hide()  # from schedules, which may read what this user may: hidden cases, in memory, and the environment
        cases = hidden.load(Path(self.hidden), self.topics)
        return Marker(
            Path(self.cache),
            cases,
            self.device,
            self.arch or None,
            self.seconds,
            self.gpu,
            tuple(self.unconfined),
        )

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Set the outputs of graded cells. Raises WarpladderError where a cell cannot be marked."""
        known = originals(resources)
        if UNREADABLE in nb.metadata:
            _unread(nb, NOT_MARKED.format(reason=nb.metadata[UNREADABLE]))
            return nb, resources
        graded = {kernel: self._graded(nb, kernel) for kernel in known if kernel.topic is not None}
        cells = {cell.metadata.nbgrader.grade_id: cell for cell in nb.cells if "nbgrader" in cell.metadata}
        ours: set[str] = set()
        for kernel, found in graded.items():
            cells[kernel.grade_id].metadata["magics_language"] = MAGICS_LANGUAGES[found.topic.language]
            for original in known:
                rung = original.grade_id.removeprefix(rung_cell(found.topic.name, ""))
                if original.points is not None and original.grade_id == rung_cell(found.topic.name, rung):
                    _set(cells[original.grade_id], found, rung, original.points)
                    ours.add(original.grade_id)
        _refuse_unmarked([item for item in known if item.grade_id not in ours], cells)
        _silence(nb, ours, {item.grade_id for item in known if item.topic is None})
        return nb, resources

    def _graded(self, nb: NotebookNode, kernel: Original) -> _Graded:
        name = kernel.topic or ""
        if name not in self.topics:
            raise WarpladderError(f"the cell `{kernel.grade_id}` belongs to no topic of this workbook")
        topic = self.topics[name]
        cell = next(cell for cell in nb.cells if _name(cell) == kernel.grade_id)
        text = sources.of_cell(cell.source)
        mark = self.marker.mark(topic, text)
        against = feedback.against(nb.metadata.get(SHOWN, {}).get(name), mark)
        return _Graded(topic, mark.shown(topic), text.splitlines(), against)


@dataclass(frozen=True)
class _Graded:
    """What became of a kernel's cell."""

    topic: Topic
    grade: Grade  # as learners may see it
    source: list[str]  # its lines
    against: str  # that the notebook showed more; "" where it did not


class TypesetProse(NbGraderPreprocessor):
    """Makes prose readable where feedback and formgrader show it, see `typeset`."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Formulas become MathML in the assignment's cells; what learners wrote stays text."""
        for cell in nb.cells:
            if cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("locked"):
                cell.source = typeset.formulas(cell.source)
        return nb, resources


class TypesetComments(NbGraderPreprocessor):
    """Makes what graders wrote in formgrader readable where feedback shows it, see `typeset`."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Formulas become MathML in comments."""
        for cell in nb.cells:
            about = cell.metadata.get("nbgrader", {})
            if about.get("comment"):
                about["comment"] = typeset.formulas(about["comment"])
        return nb, resources


@cache
def _topics() -> dict[str, Topic]:
    """Read once: nbgrader makes its preprocessors anew for each notebook."""
    return topics.discover()


def originals(resources: Resources) -> list[Original]:
    """The cells of the assignment as the gradebook has them, in their order."""
    about = resources["nbgrader"]
    return released(about["db_url"], about["assignment"], about["notebook"])


def released(db_url: str, assignment: str, notebook: str) -> list[Original]:
    """The cells of a notebook of an assignment."""
    with Gradebook(db_url) as gradebook:
        return of_gradebook(gradebook.find_notebook(notebook, assignment))


def of_gradebook(notebook: Any) -> list[Original]:
    """The cells of a notebook of nbgrader's gradebook."""
    points = {cell.name: float(cell.max_score) for cell in (*notebook.grade_cells, *notebook.task_cells)}
    answers = {cell.name for cell in notebook.solution_cells}
    tasks = {cell.name for cell in notebook.task_cells}
    return [
        Original(
            grade_id=cell.name,
            cell_type=cell.cell_type,
            source=cell.source,
            locked=cell.locked,
            solution=cell.name in answers,
            points=points.get(cell.name),
            task=cell.name in tasks,
            checksum=cell.checksum,
        )
        for cell in notebook.source_cells
    ]


def _set(cell: NotebookNode, found: _Graded, rung: str, most: float) -> None:
    """Make a graded cell's only output the rung's feedback, and its value the mark."""
    topic = found.topic
    if rung not in topic.ladder.ids:
        remedy = "generate the assignment anew with this version of the workbook"
        raise WarpladderError(f"{topic.name} has no rung `{rung}` any more", remedy=remedy)
    mark = feedback.scaled(topic, found.grade, rung, most)
    view = feedback.of_rung(topic, found.grade, rung, found.source, found.against)
    data = {"text/plain": str(mark), "text/html": show.as_html(view)}
    cell.execution_count = 1
    cell.outputs = [nbformat.v4.new_output("execute_result", data=data, execution_count=1)]


def _unread(nb: NotebookNode, why: str) -> None:
    """Make why there is no mark the only output of every graded cell, for which nbgrader counts nothing."""
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [_error("NoNotebook", why)], None


def _refuse_unmarked(others: list[Original], cells: dict[str, NotebookNode]) -> None:
    """Raise WarpladderError for a graded code cell that nobody ran: nbgrader would give it full marks."""
    for original in others:
        if original.points is None or original.solution or original.cell_type != "code":
            continue
        cell = cells[original.grade_id]
        if not cell.outputs and cell.get("execution_count") is None:
            remedy = "set c.RunNotebook.enabled = True in nbgrader_config.py"
            message = (
                f"the graded cell `{original.grade_id}` is Python of your own, and notebooks are not run"
            )
            raise WarpladderError(message, remedy=remedy)


def _silence(nb: NotebookNode, ours: set[str], instructors: set[str]) -> None:
    """Drop what learners' cells left when the notebook was run: it ran where hidden cases lie, and a compiler's
    message, too, quotes any file that a kernel includes. Of the instructor's own cells text stays: what they show is up
    to the learner's code, and HTML would run in the instructor's browser."""
    for cell in nb.cells:
        if cell.cell_type != "code" or _name(cell) in ours:
            continue
        if _name(cell) not in instructors:
            cell.outputs, cell.execution_count = [], None
        else:
            for output in cell.outputs:
                if "data" in output:
                    output.data = {kind: text for kind, text in output.data.items() if kind == "text/plain"}
                    output.metadata = {}


def _name(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _error(name: str, text: str) -> NotebookNode:
    return nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[text])
