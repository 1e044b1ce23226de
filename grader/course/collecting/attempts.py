"""Which of the files that one student handed in count: for each notebook of the assignment the latest with work in it.

A file that holds nothing but what was released is no attempt where another one of the student's may hold the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from grader.course.collecting.answers import Place, Released, holds_work, places
from grader.course.collecting.moments import Moment
from grader.course.collecting.platforms import HandedIn
from grader.course.sources import UnreadableFile


@dataclass(frozen=True)
class Attempt:
    """A file that was handed in, among the others for the same notebook."""

    item: HandedIn
    place: Place | None  # None where it goes nowhere
    number: int = 1  # counted from the first
    of: int = 1
    why_not: str = ""  # why it goes nowhere

    @property
    def counts(self) -> bool:
        """Whether it is the latest."""
        return self.place is not None and self.number == self.of


def of_student(items: Sequence[HandedIn], notebooks: Sequence[Released]) -> list[Attempt]:
    """All that a student handed in, in order: what goes nowhere, and each notebook's attempts, the earliest first.

    Where nothing tells which of several is the latest, none counts.
    """
    items, nowhere = _with_work(_at_one_moment(items), notebooks)
    found = places(notebooks, [item.name for item in items])
    attempts = [
        Attempt(item, None, why_not=item.file.unread or place)
        if isinstance(place, str)
        else Attempt(item, place)
        for item, place in zip(items, found, strict=True)
    ]
    nowhere += [each for each in attempts if each.place is None]
    ordered: list[Attempt] = []
    for notebook in notebooks:
        of_this = [each for each in attempts if each.place is not None and each.place.notebook is notebook]
        whole = [each for each in of_this if each.place is not None and each.place.cell is None]
        if whole and len(whole) < len(of_this):
            why_not = f"{whole[0].item.name} was handed in as well, and counts"
            nowhere += [replace(each, place=None, why_not=why_not) for each in of_this if each not in whole]
        of_this = sorted(whole or of_this, key=_when)
        last = [each for each in of_this if _when(each) == _when(of_this[-1])]
        if len(last) > 1 and _differ(last):
            paths = ", ".join(each.item.file.path for each in last)
            why_not = f"nothing tells which is the latest: {paths}"
            nowhere += [replace(each, place=None, why_not=why_not) for each in of_this]
        else:
            ordered += _numbered(of_this)
    return [*nowhere, *ordered]


def _at_one_moment(items: Sequence[HandedIn]) -> list[HandedIn]:
    """Where all that is known is when a download was made, files of one student differ by nothing in it."""
    bounds = [item.moment.at for item in items if not item.moment.exact]
    return [item if item.moment.exact else replace(item, moment=Moment(max(bounds), False)) for item in items]


def _with_work(
    items: Sequence[HandedIn], notebooks: Sequence[Released]
) -> tuple[list[HandedIn], list[Attempt]]:
    """The files without those that hold no work where another one for the same notebook does, and these."""
    if len(items) < 2:
        return list(items), []
    alone = [(item, places(notebooks, [item.name])[0]) for item in items]
    placed = [(item, place) for item, place in alone if isinstance(place, Place)]
    working = [(item, place) for item, place in placed if _holds_work(item, place)]
    left = [
        Attempt(item, None, why_not=f"there is no work in it, and {others[0].name} was handed in as well")
        for item, place in placed
        if (item, place) not in working
        and (others := [other for other, its in working if its.notebook is place.notebook])
    ]
    return [item for item in items if all(each.item is not item for each in left)], left


def _holds_work(item: HandedIn, place: Place) -> bool:
    """Whether a file holds more than was released; one that cannot be read may."""
    try:
        return holds_work(place, item.file.read())
    except UnreadableFile:
        return True


def _when(attempt: Attempt) -> tuple[datetime, int]:
    return attempt.item.moment.at, attempt.item.number


def _differ(attempts: Sequence[Attempt]) -> bool:
    """Whether files hold different things; one that cannot be read is like no other."""
    try:
        return len({each.item.file.read() for each in attempts}) > 1
    except UnreadableFile:
        return True


def _numbered(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Attempts at one notebook in their order; those that the platform did not send are counted."""
    before = max((each.item.before for each in attempts), default=0)
    return [
        replace(each, number=before + number, of=before + len(attempts))
        for number, each in enumerate(attempts, 1)
    ]
