"""A whole class marked before nbgrader autogrades it: several submissions at a time, and a table of what they are.

The marks are kept where MarkKernels finds them, so `nbgrader autograde` then has little left to do.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from grader.course import feedback, marking, sources
from grader.course.engines.engine import Engine
from grader.course.folder import CONFIG
from grader.course.gradebook import database, entries
from grader.course.likeness import tokens
from grader.course.orders import Marked
from grader.course.preprocessors import MarkKernels
from grader.course.restore import Original, Unclear, answer, read, shown
from grader.errors import WarpladderError
from grader.results import Grade
from grader.workbook import topics
from grader.workbook.cuda_source import launched
from grader.workbook.topic import Topic


@dataclass(frozen=True)
class Submission:
    """One kernel that a student handed in."""

    student: str
    topic: Topic
    source: str
    shown: float | None = None  # points that the graded cells show in the notebook as it was saved


@dataclass(frozen=True)
class Row:
    """What became of it."""

    student: str
    topic: str
    grade: Grade | None  # as it counts; null where it could not be marked
    note: str = ""  # what to look at, or why there is no mark
    absent: bool = (
        False  # others of the assignment's notebooks were handed in: this one counts as not handed in
    )


def open_course(root: Path) -> tuple[CourseDirectory, MarkKernels]:
    """A course's folders and its marker, as nbgrader_config.py sets them up. Raises WarpladderError."""
    if not (root / CONFIG).is_file():
        remedy = "name a folder that `ladder course init` made"
        raise WarpladderError(
            "this is no course: nbgrader's configuration is missing", file=root, remedy=remedy
        )
    config: Config = PyFileConfigLoader(CONFIG, str(root.resolve())).load_config()
    return CourseDirectory(config=config), MarkKernels(config=config)


def collect(course: CourseDirectory, known: dict[str, Topic], assignment: str) -> Iterator[Submission | Row]:
    """The kernels that were submitted to an assignment, student by student; a row for each that is not there.

    Raises WarpladderError where the assignment is not known to the gradebook.
    """
    handed_in = folders(course, assignment)
    kernels = _kernels(course, assignment)
    notebooks = {f"{notebook}.ipynb" for notebook, _ in kernels}
    for notebook, kernel in kernels:
        for student, folder in handed_in.items():
            found = _submitted(student, known[kernel.topic or ""], folder / f"{notebook}.ipynb", kernel)
            if isinstance(found, Row) and any((folder / name).is_file() for name in notebooks):
                found = replace(found, absent=not (folder / f"{notebook}.ipynb").is_file())
            yield found


def nothing_submitted(course: CourseDirectory, assignment: str) -> WarpladderError:
    """That there is nothing to look at."""
    where = Path(course.submitted_directory) / "STUDENT" / assignment
    return WarpladderError(f"nobody has submitted anything to `{assignment}`", remedy=f"put it into {where}")


def folders(course: CourseDirectory, assignment: str) -> dict[str, Path]:
    """The folders that were submitted to an assignment, by student."""
    submitted = course.submitted_directory
    student_of = re.compile(
        course.format_path(submitted, "(?P<student>[^/]+)", re.escape(assignment), escape=True)
    )
    found = sorted(glob.glob(course.format_path(submitted, "*", glob.escape(assignment))))
    matched = ((student_of.fullmatch(folder), Path(folder)) for folder in found)
    return {student["student"]: folder for student, folder in matched if student and folder.is_dir()}


def _submitted(student: str, topic: Topic, path: Path, kernel: Original) -> Submission | Row:
    if not path.is_file():
        return Row(student, topic.name, None, _absent(path))
    try:
        cells = read(path).cells
    except Exception as error:  # whatever a file may hold, the class goes on
        return Row(student, topic.name, None, f"{path.name} is no notebook: {type(error).__name__}")
    try:
        return Submission(student, topic, sources.of_cell(answer(cells, kernel)), shown(cells, topic.name))
    except Unclear as error:
        return Row(student, topic.name, None, f"in {path.name} {error}")


def _kernels(course: CourseDirectory, assignment: str) -> list[tuple[str, Original]]:
    """The answers' cells of an assignment that hold kernels, each with its notebook's name."""
    return [
        (notebook, cell)
        for notebook, cells in released(course, assignment).items()
        for cell in cells
        if cell.topic is not None
    ]


def released(course: CourseDirectory, assignment: str) -> Mapping[str, list[Original]]:
    """An assignment's notebooks, by name, and their cells as they were released. Raises WarpladderError where the
    gradebook does not know the assignment."""
    with database.opened(course) as gradebook:
        return entries.assignment(gradebook, assignment).notebooks


def _absent(path: Path) -> str:
    """What stands in a student's row in place of a mark: nbgrader will not find the notebook, either."""
    others = sorted(f"`{item.name}`" for item in path.parent.iterdir())
    found = f"there is {', '.join(others)}" if others else "the folder is empty"
    return f"no {path.name}; {found}"


def mark(
    marker: MarkKernels,
    submissions: Sequence[Submission],
    engine: Engine | None = None,
    again: bool = False,
    done: Callable[[str], None] = lambda student: None,
) -> list[Row]:
    """Have an engine mark submissions, each source once; `again`: those marked before, too.

    `done` is called with each student whose submission is marked.
    """
    first: dict[tuple[str, str], Submission] = {}
    for item in submissions:
        first.setdefault((item.topic.name, item.source), item)

    items = list(first.values())
    found = marking.mark_all(
        marker.marker,
        [(item.topic, item.source) for item in items],
        engine,
        again,
        lambda place: done(items[place].student),
    )
    marks = dict(zip(first, found, strict=True))
    same = alike(submissions)
    rows = []
    for item in submissions:
        marked = marks[item.topic.name, item.source]
        if isinstance(marked, str):
            rows.append(Row(item.student, item.topic.name, None, marked))
        else:
            notes = (same.get((item.student, item.topic.name), ""), *doubts(item, marked))
            rows.append(
                Row(item.student, item.topic.name, marked.shown(item.topic), "; ".join(filter(None, notes)))
            )
    return rows


def doubts(item: Submission, marked: Marked) -> Iterator[str]:
    """What to look at in a mark: that the notebook shows more, why the source was not run, whose kernel it may be."""
    grade = marked.shown(item.topic)
    yield feedback.against(item.shown, marked)
    if grade.verdict == "error":
        yield (grade.reason or "").partition("\n")[0]
    launches = {name.partition("<")[0] for name in launched(item.source)}
    others = {*topics.names()} - {item.topic.name}
    if grade.verdict != "pass" and launches and launches <= others:
        yield f"it launches {' and '.join(sorted(launches))}, as another topic does"


def alike(submissions: Sequence[Submission]) -> dict[tuple[str, str], str]:
    """For students whose source is also somebody else's, but for names, comments and white space: whose."""
    asked = {item.topic.name: item.topic for item in submissions}
    ladders = {name: dict(tokens.of_ladder(topic)) for name, topic in asked.items()}
    students: dict[tuple[str, str], list[str]] = {}
    for item in submissions:
        own = (item.topic.name, tokens.fingerprint(item.topic, item.source))
        students.setdefault(own, []).append(item.student)
    found = {}
    for (topic, print_), names in students.items():
        for name in names:
            if print_ in ladders[topic]:
                found[name, topic] = ladders[topic][print_]
            elif len(names) > 1:
                others = [other for other in names if other != name]
                more = f" and {len(others) - 2} more" if len(others) > 2 else ""
                found[name, topic] = f"as {', '.join(others[:2])}{more}"
    return found
