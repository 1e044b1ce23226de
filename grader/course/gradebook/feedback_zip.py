"""Feedback pages as the zip that a learning platform takes back, file by file named as in its own download.

Moodle ("Upload multiple feedback files in a zip", mod/assign/feedback/file/importziplib.php) goes by folders
`NAME_NUMBER_assignsubmission_file_`, where NAME has no underscore and NUMBER is the participant's in this assignment.
Canvas ("Re-Upload Submissions", Assignment#generate_comments_from_files) goes by files `NAME_USER_FILE_…`: the first
two parts of digits alone are the user and the file that was handed in, which must be a file of that submission.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from grader.course.collecting import submitted
from grader.course.gradebook.export import Platform, people
from grader.course.gradebook.feedback import Page
from grader.course.gradebook.standing import look
from grader.course.preprocessors import MarkKernels
from grader.course.roster import Student, bare

_NO_NUMBER = {
    "moodle": "its participant's number is not known: give it as moodle_id in roster.csv",
    "canvas": "no file of it was collected from Canvas, which goes by that",
}
_TWICE = {
    "moodle": "{} has the same participant's number: take out of submitted/ whichever is not that participant's",
    "canvas": "{} has the same file from Canvas, which goes by that: take out of submitted/ whichever is not theirs",
}
_OTHERS = "another of the group handed it in, and Canvas shows it to all of them"
_NO_NAME = re.compile(r"[^\w .-]|_")


@dataclass(frozen=True)
class Packed:
    """Feedback for a platform."""

    data: bytes  # a zip
    students: int  # whose pages are in it
    missing: list[tuple[str, str]]  # students whose pages are not, and why


def pack(
    course: CourseDirectory, marker: MarkKernels, name: str, pages: Sequence[Page], platform: Platform
) -> Packed:
    """The pages that are up to date. Raises WarpladderError for an assignment that is not known."""
    looked = look(course, marker, name)
    persons = {person.id: person for person in people(course, looked, platform)}
    folders = {page.student: looked.handed_in[page.student].folder for page in pages if not page.why}
    named = {
        page.student: list(_named(persons[page.student], folders[page.student], Path(page.folder), platform))
        for page in pages
        if page.student in folders
    }
    whose: dict[str, set[str]] = {}
    for student, files in named.items():
        for each in files:
            whose.setdefault(each.number, set()).add(student)
    data, packed, missing = BytesIO(), 0, []
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, files in named.items():
            others = sorted({other for each in files for other in whose[each.number]} - {student})
            if not files:
                of_group = platform == "canvas" and _handed_in_by_another(folders[student])
                missing.append((student, _OTHERS if of_group else _NO_NUMBER[platform]))
            elif others:
                missing.append((student, _TWICE[platform].format(", ".join(others))))
            else:
                packed += 1
                for each in files:
                    archive.writestr(zipfile.ZipInfo(each.path), each.file.read_bytes(), zipfile.ZIP_DEFLATED)
    return Packed(data.getvalue(), packed, missing)


@dataclass(frozen=True)
class _Named:
    """A page as a platform finds whose it is."""

    number: str  # of the participant in Moodle, of the file that was handed in in Canvas
    path: str  # in the zip
    file: Path


def _named(person: Student, handed_in: Path, folder: Path, platform: Platform) -> Iterator[_Named]:
    """A student's pages; none where nothing tells whose they are."""
    origins = submitted.state(handed_in).origins
    own = {name: each for name, each in origins.items() if each.platform == platform and each.person}
    for file in sorted(folder.glob("*.html")):
        if platform == "canvas":
            if (origin := own.get(file.stem)) and origin.number:
                name = bare(person.last_name + person.first_name)
                name = "student" if not name or name.isdecimal() else name
                number = f"{origin.person}_{origin.number}"
                yield _Named(number, f"{name}_{number}_{file.name}", file)
        else:
            collected = {each.person for each in own.values()}
            numbers = collected or set(person.about.get("moodle_id", "").split())
            if len(numbers) == 1:
                name = _NO_NAME.sub(" ", f"{person.first_name} {person.last_name}".strip() or person.id)
                (number,) = numbers
                yield _Named(number, f"{name}_{number}_assignsubmission_file_/{file.name}", file)


def _handed_in_by_another(folder: Path) -> bool:
    return any(
        each.platform == "canvas" and not each.person for each in submitted.state(folder).origins.values()
    )
