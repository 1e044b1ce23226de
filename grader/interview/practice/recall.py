"""What is asked again: items one by one, each by its probe alone, with what is right after each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from grader.errors import WarpladderError
from grader.history.items import Item
from grader.interview import credit, session
from grader.interview.interviewer import Interviewer
from grader.interview.practice.catalogue import Askable
from grader.interview.prompts import Flow
from grader.interview.session import Probed, Session
from grader.interview.talks import Talks


def begin(items: Sequence[Item], seed: int) -> Session:
    """A session in which nothing has been asked yet."""
    return session.begin("today", "Today", [item.key for item in items], seed)


def unfinished(path: Path) -> Session | None:
    """A day that was broken off, or whose answers were not written into the history yet: then its file would be gone.
    One that cannot be read is begun anew."""
    with suppress(WarpladderError):
        return session.load(path)
    return None


class Recall:
    """Items between the workbook and a candidate."""

    def __init__(self, askable: Mapping[str, Askable], interviewer: Interviewer) -> None:
        """What the workbook no longer asks is left out."""
        self.interviewer, self.kept = interviewer, interviewer.kept
        self.askable = [askable[key] for key in self.kept.questions if key in askable]
        self.talks = Talks(interviewer)

    def run(self) -> Flow[None]:
        """Ask until everything is asked."""
        for number, found in enumerate(self.askable):
            yield from self._ask(found, f"{number + 1} of {len(self.askable)}: {found.item.title}")

    def _ask(self, found: Askable, heading: str) -> Flow[None]:
        step = found.item.key
        yield from self.talks.probe(step, heading, found.probe, step.rpartition("/")[0])
        answer = self.kept.answer(step)
        if isinstance(answer, Probed):
            shown = msgspec.structs.replace(answer, asked="")  # it was just read
            yield from self.interviewer.checked("", [credit.Point(1, found.point.text, shown)])
