"""What is known of a class: its submissions, and the marks that are kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.course import batch
from grader.course.batch import Submission
from grader.course.hidden import Hidden
from grader.course.orders import Marked
from grader.errors import WarpladderError
from grader.workbook.topic import Topic


@dataclass(frozen=True)
class Kept:
    """A submission and its mark."""

    student: str
    topic: Topic
    source: str
    marked: Marked


@dataclass(frozen=True)
class Unmarked:
    """A submission that has no mark, and why."""

    student: str
    topic: str
    note: str


@dataclass(frozen=True)
class Class:
    """An assignment's submissions, those of each of its topics."""

    course_id: str
    hidden: Hidden
    submissions: Sequence[Submission]  # all that could be read
    kept: Sequence[Kept]  # those that were marked
    unmarked: Sequence[Unmarked]  # the others
    unread: Sequence[Unmarked]  # students whose submission could not be read

    @property
    def topics(self) -> list[Topic]:
        """The topics that somebody handed something in for."""
        return list({item.topic.name: item.topic for item in self.submissions}.values())

    def needs_marks(self, assignment: str) -> None:
        """Raise WarpladderError where nobody's mark is known."""
        if not self.kept:
            raise WarpladderError(
                f"no mark of `{assignment}` is known", remedy=f"ladder course mark {assignment}"
            )


def of_course(root: Path, assignment: str) -> Class:
    """Read what was submitted to an assignment, and look up its marks. Raises WarpladderError for a folder that is no
    course, an unknown assignment, and where nobody has submitted anything."""
    course, marker = batch.open_course(root)
    collected = list(batch.collect(course, marker.topics, assignment))
    if not collected:
        raise batch.nothing_submitted(course, assignment)
    submissions = [item for item in collected if isinstance(item, Submission)]
    kept = []
    unmarked = []
    unread = [
        Unmarked(row.student, row.topic, row.note)
        for row in collected
        if isinstance(row, batch.Row) and not row.absent
    ]
    for item in submissions:
        found = marker.marker.known(item.topic, item.source)
        if found is None:
            unmarked.append(Unmarked(item.student, item.topic.name, "not marked yet, or changed since"))
        else:
            kept.append(Kept(item.student, item.topic, item.source, found))
    return Class(str(course.course_id), marker.marker.hidden, submissions, kept, unmarked, unread)
