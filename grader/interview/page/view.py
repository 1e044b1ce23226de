"""What the candidate sees: what was said, asked and answered, and what is to be done now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.interview.page.room import Room
from grader.interview.page.sittings import Break
from grader.interview.prompts import HINT, Answered, Entry, Given, Judged, Mended, Placed, Prompt, Said


@dataclass(frozen=True)
class View:
    """A room at one moment."""

    version: int
    number: int
    open: Prompt | Break | None  # None: the interviewer or the judge is at work
    working: str  # on what; "" where it is not the judge
    source: str  # what the editor has in it at first
    left_s: float | None  # None: no limit
    replies: int
    heading: str  # of the last question; "" before the first
    entries: Sequence[Placed]

    @classmethod
    def of(cls, room: Room) -> View:
        """What there is to see."""
        sitting = room.sat.sitting if room.sat is not None else None
        asks = sitting.interviewer if sitting is not None else None
        left = asks.clock.left_s if asks is not None else None
        return cls(
            version=room.version,
            number=room.number,
            open=room.open,
            working=room.working,
            source=room.source,
            left_s=left - sitting.seconds if left is not None and sitting is not None else None,
            replies=asks.replies if asks is not None else 0,
            heading=asks.heading if asks is not None else "",
            entries=tuple(asks.entries) if asks is not None else (),
        )

    @property
    def stage(self) -> object:
        """The part of a day that is about to begin."""
        return self.open.stage if isinstance(self.open, Break) else None

    @property
    def timed(self) -> bool:
        """Whether the clock runs."""
        return isinstance(self.open, Prompt) and self.open.timed

    @property
    def given(self) -> list[Entry]:
        """What the question is about."""
        given: list[Entry] = [placed.entry for placed in self.entries if isinstance(placed.entry, Given)]
        return given[-1:] if self.timed else []

    @property
    def came(self) -> Sequence[object]:
        """What has come since the last reply; where code is written, the last verdict and the hint."""
        if isinstance(self.open, Break):
            return self.open.came
        return [placed.entry for placed in self.entries if self._came(placed)]

    @property
    def earlier(self) -> list[Entry]:
        """The rest."""
        shown = self.given
        return [
            placed.entry
            for placed in self.entries
            if not self._came(placed) and not any(placed.entry is each for each in shown)
        ]

    def _came(self, placed: Placed) -> bool:
        entry, asked = placed.entry, self.open
        if isinstance(entry, Answered) or any(entry is each for each in self.given):
            return False
        if placed.replies == self.replies:
            return True
        if not isinstance(asked, Prompt) or asked.form != "code" or placed.step != asked.step:
            return False
        if isinstance(entry, Judged | Mended):
            judged = [each.entry for each in self.entries if isinstance(each.entry, Judged | Mended)]
            return entry is judged[-1]
        return isinstance(entry, Said) and entry.title == HINT
