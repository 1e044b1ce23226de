"""When something was handed in, as far as that is known.

A platform's archive rarely says so. Canvas and today's Moodle give every file the time of the download, which is no
more than a bound: nothing in the archive was handed in later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from dateutil import parser
from nbgrader.utils import parse_utc

from grader.course.collecting.archive import File

_A_DOWNLOAD = timedelta(minutes=10)
"""An archive is written in less."""


@dataclass(frozen=True)
class Moment:
    """When something was handed in."""

    at: datetime  # in UTC
    exact: bool  # else it was not later than that


def of_files(files: Sequence[File]) -> dict[str, Moment]:
    """When each file was last written, by its path; a bound where these are the times of a download: all at nearly the
    same time, or each file a little later than the one before it."""
    times = [file.modified for file in files]
    at_once = bool(times) and max(times) - min(times) <= _A_DOWNLOAD
    exact = not at_once and any(later < earlier for earlier, later in pairwise(times))
    return {file.path: Moment(file.modified, exact) for file in files}


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
