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
    data, packed, missing = BytesIO(), 0, []
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for page in pages:
            if page.why:
                continue
            handed_in = looked.handed_in[page.student].folder
            named = dict(_named(persons[page.student], handed_in, Path(page.folder), platform))
            for path, file in named.items():
                archive.writestr(zipfile.ZipInfo(path), file.read_bytes(), zipfile.ZIP_DEFLATED)
            packed += bool(named)
            if not named:
                of_group = platform == "canvas" and _handed_in_by_another(handed_in)
                missing.append((page.student, _OTHERS if of_group else _NO_NUMBER[platform]))
    return Packed(data.getvalue(), packed, missing)


def _named(person: Student, handed_in: Path, folder: Path, platform: Platform) -> Iterator[tuple[str, Path]]:
    """A student's pages, each with its path in the zip; none where nothing tells whose they are."""
    origins = submitted.state(handed_in).origins
    own = {name: each for name, each in origins.items() if each.platform == platform and each.person}
    for file in sorted(folder.glob("*.html")):
        if platform == "canvas":
            if (origin := own.get(file.stem)) and origin.number:
                name = bare(person.last_name + person.first_name)
                name = "student" if not name or name.isdecimal() else name
                yield f"{name}_{origin.person}_{origin.number}_{file.name}", file
        else:
            collected = {each.person for each in own.values()}
            numbers = collected or set(person.about.get("moodle_id", "").split())
            if len(numbers) == 1:
                name = _NO_NAME.sub(" ", f"{person.first_name} {person.last_name}".strip() or person.id)
                yield f"{name}_{numbers.pop()}_assignsubmission_file_/{file.name}", file


def _handed_in_by_another(folder: Path) -> bool:
    return any(
        each.platform == "canvas" and not each.person for each in submitted.state(folder).origins.values()
    )
