"""One student's deadline moved: nbgrader's extensions, which the late policy, `collect` and every table go by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from grader.course import roster
from grader.course.collecting import book
from grader.course.folder import CACHE
from grader.course.gradebook import database, entries
from grader.course.gradebook.lock import alone
from grader.errors import WarpladderError
from grader.workbook.expressions import nearest


@dataclass(frozen=True)
class Extended:
    """A student's deadline."""

    student: str
    due: datetime  # UTC
    extension_s: float  # seconds after the others'; 0: none


def extend(
    course: CourseDirectory, name: str, students: Sequence[str], by: timedelta | datetime | None
) -> list[Extended]:
    """Give students an extension: so much time, or until then; None takes it back. It replaces an earlier one.

    Raises WarpladderError for an assignment without a date, a student whom neither the gradebook nor the roster knows,
    and a time that is not after the date. Nothing is changed then.
    """
    root = Path(course.root)
    with alone(root / CACHE, f"ladder course extend {name}"), database.opened(course) as opened:
        due = entries.assignment(opened, name).due
        if due is None:
            remedy = f'nbgrader db assignment add {name} --duedate "2025-03-31 23:59:00 UTC"'
            raise WarpladderError(f"`{name}` has no due date to extend", remedy=remedy)
        due = due.replace(tzinfo=UTC)
        more = by - due if isinstance(by, datetime) else by or timedelta()
        if by is not None and more <= timedelta():
            raise WarpladderError(f"that is not after the due date, {due:%Y-%m-%d %H:%M} UTC")
        enrolled, listed = book.students(opened), roster.read(root / roster.FILE)
        known = {each.id: each for each in roster.joined(enrolled, listed)}
        for student in students:
            if student not in known:
                remedy = f"give an id of the gradebook or of {roster.FILE}"
                raise WarpladderError(
                    f"there is no student `{student}`{nearest(student, known)}", remedy=remedy
                )
        book.enrol(opened, enrolled, [known[student] for student in students])
        for student in students:
            opened.update_or_create_submission(name, student)
            opened.grant_extension(name, student, minutes=more / timedelta(minutes=1))
        return [Extended(student, due + more, more.total_seconds()) for student in students]
