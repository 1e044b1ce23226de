"""When something was handed in, as far as that is known.

Only what a platform writes down is exact. A file's own time is no more than a bound: Canvas and Moodle give every file
the time of the download, and whoever opens a file and saves it gives it another.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from dateutil import parser
from nbgrader.utils import parse_utc

from grader.course.collecting.archive import File


@dataclass(frozen=True)
class Moment:
    """When something was handed in."""

    at: datetime  # in UTC
    exact: bool  # else it was not later than that


def of_file(file: File) -> Moment:
    """Of what nothing else is known."""
    return Moment(file.modified, False)


def read(written: str) -> datetime:
    """A time as a platform writes it, in UTC; one without a time zone is this machine's. Raises ValueError."""
    try:
        parsed: datetime = parser.parse(written)
        return parsed.astimezone(UTC)
    except OverflowError:
        raise ValueError(written) from None


def of_timestamp(written: bytes) -> Moment:
    """What nbgrader's timestamp.txt says, read as nbgrader does. Raises ValueError."""
    try:
        return Moment(parse_utc(written.decode().strip()).replace(tzinfo=UTC), True)
    except OverflowError:
        raise ValueError("out of range") from None


def to_timestamp(at: datetime) -> bytes:
    """The same time for nbgrader's timestamp.txt."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC\n".encode()


def in_doubt_for_the_student(moment: Moment, late: bool | None, due: datetime | None) -> Moment:
    """What nbgrader is to be told: where a time is only a bound, and nobody calls it late, it is not after the date."""
    if due is None or moment.exact or late or moment.at <= due:
        return moment
    return Moment(due, False)
