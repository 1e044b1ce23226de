"""Moodle's grading worksheet, which says what its archives do not: when each participant handed in, and until when.

Its column Status, in English, has what mod/assign/gradingtable.php puts there, such as "Submitted for grading - 4 days
late - Extension granted until: Wednesday, 2 April 2025, 11:59 PM".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from grader.course import roster
from grader.course.collecting import moments
from grader.course.collecting.moments import Moment
from grader.course.collecting.platforms import Download, HandedIn
from grader.errors import WarpladderError

PARTICIPANT, NAME, EMAIL, STATUS, MODIFIED = (
    "Identifier",
    "Full name",
    "Email address",
    "Status",
    "Last modified (submission)",
)
_NUMBER = re.compile(r"\d+$")
_SUBMITTED, _LATE, _EXTENSION = "Submitted for grading", " late", "Extension granted until:"
_NOT_SUBMITTED = ("No submission", "Draft (not submitted)")


@dataclass(frozen=True)
class Participant:
    """What the worksheet says of one."""

    name: str
    email: str
    moment: Moment | None  # None where nothing was handed in
    late: bool | None = None  # as Moodle says
    extension: datetime | None = None  # Moodle's, in UTC
    not_submitted: str = ""  # what Moodle calls work that is not handed in, or no longer


def read(path: Path) -> dict[str, Participant]:
    """Participants by their numbers. Raises WarpladderError, with its line, for what cannot be read."""
    found = {}
    for line, row in roster.table(path, (PARTICIPANT, MODIFIED)):
        number = _NUMBER.search(row[PARTICIPANT])
        if number is None:
            message, remedy = f"`{row[PARTICIPANT]}` is no participant", "download it from Moodle once more"
            raise WarpladderError(message, file=path, line=line, remedy=remedy)
        written = row[MODIFIED]
        said = row.get(STATUS, "").split(" - ")
        try:
            moment = Moment(moments.read(written), True) if written.strip("-") else None
            late = any(part.endswith(_LATE) for part in said) if said[0] == _SUBMITTED else None
            granted = [part.removeprefix(_EXTENSION).strip() for part in said if part.startswith(_EXTENSION)]
            extension = moments.read(written := granted[0]) if granted else None
        except ValueError:
            message = f"`{written}` is no time that can be read"
            remedy = "set your language in Moodle to English, and download it once more"
            raise WarpladderError(message, file=path, line=line, remedy=remedy) from None
        not_submitted = said[0] if said[0] in _NOT_SUBMITTED else ""
        about = (row.get(NAME, ""), row.get(EMAIL, ""), moment, late, extension, not_submitted)
        found[number[0]] = Participant(*about)
    return found


def applied(download: Download, participants: dict[str, Participant]) -> Download:
    """The same, with what the worksheet says. Raises WarpladderError where it is not Moodle's, or another
    assignment's."""
    if download.platform != "moodle":
        remedy = "leave --worksheet out"
        raise WarpladderError("a grading worksheet goes with a download from Moodle", remedy=remedy)
    if not any(item.person.id in participants for item in download.handed_in):
        remedy = "give the worksheet of this assignment"
        raise WarpladderError("none of its participants is in the download", remedy=remedy)

    def told(item: HandedIn) -> HandedIn:
        about = participants.get(item.person.id)
        if about is None:
            return item
        name = about.name or item.person.name
        person = replace(item.person, name=name, email=about.email)
        return replace(
            item,
            person=person,
            moment=about.moment or item.moment,
            late=about.late,
            extension=about.extension,
            not_submitted=about.not_submitted,
        )

    return replace(download, handed_in=[told(item) for item in download.handed_in])
