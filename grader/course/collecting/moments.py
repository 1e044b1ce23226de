"""When something was handed in, as far as that is known.

Only what a platform writes down is exact. A file's own time is no more than a bound: Canvas and Moodle give every file
the time of the download, and whoever opens a file and saves it gives it another.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from dateutil import parser
from nbgrader.utils import parse_utc

from grader.course.collecting.archive import File

_UNCLEAR = re.compile(r"(?<!\d)\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?!\d)")
"""12.11.2026 and the like, of which nobody knows whether it is in November."""

_JUST = timedelta(seconds=1)


@dataclass(frozen=True)
class Moment:
    """When something was handed in."""

    at: datetime  # in UTC
    exact: bool  # else it was not later than that


def of_file(file: File) -> Moment:
    """Of what nothing else is known."""
    return Moment(file.modified, False)


def read(written: str) -> datetime:
    """A time as a platform writes it, in UTC; one without a time zone is this machine's. Raises ValueError, also where
    day and month could be exchanged, no day is said, or the time zone is not known."""
    _check(written)
    try:
        parsed: datetime = parser.parse(written)
        return parsed.astimezone(UTC)
    except OverflowError:
        raise ValueError(written) from None


def _check(written: str) -> None:
    if _UNCLEAR.search(written):
        raise ValueError("it may be read in two ways: write 2025-03-31 23:59:00 UTC")
    with warnings.catch_warnings():
        warnings.simplefilter("error", parser.UnknownTimezoneWarning)
        try:
            days = {parser.parse(written, default=datetime(2000, 1, day)).date() for day in (1, 2)}
        except (OverflowError, parser.UnknownTimezoneWarning):
            raise ValueError("its time zone is not known: write 2025-03-31 23:59:00 UTC") from None
    if len(days) > 1:
        raise ValueError("it says no day: write 2025-03-31 23:59:00 UTC")


def of_timestamp(written: bytes) -> Moment:
    """What nbgrader's timestamp.txt says, read as nbgrader does, where that is sure. Raises ValueError."""
    try:
        text = written.decode("utf-8-sig").strip()
        _check(text)
        return Moment(parse_utc(text).replace(tzinfo=UTC), True)
    except OverflowError:
        raise ValueError("out of range") from None


def to_timestamp(at: datetime) -> bytes:
    """The same time for nbgrader's timestamp.txt."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC\n".encode()


def in_doubt_for_the_student(moment: Moment, late: bool | None, due: datetime | None) -> Moment:
    """What nbgrader is to be told: where a time is only a bound, it is not after the date; or just after it, where the
    platform calls it late and does not say by how much."""
    if due is None or moment.exact or moment.at <= due:
        return moment
    return Moment(due + _JUST if late else due, False)
