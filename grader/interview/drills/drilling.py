"""A session of drills: each one given, its steps asked, then how it went."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from grader.errors import WarpladderError
from grader.interview import session
from grader.interview.drills.drill import Drill, Format, find
from grader.interview.interviewer import Interviewer
from grader.interview.prompts import Flow, Given
from grader.interview.reading import Level
from grader.interview.session import Session
from grader.interview.talks import Talks


def choose(
    drills: Mapping[str, Drill],
    names: Sequence[str],
    what: Format[Any],
    level: Level | None,
    topic: str | None,
    seed: int,
    count: int,
) -> list[Drill]:
    """Those named; else so many drawn, of a level and a topic where these are given. Raises WarpladderError."""
    if names:
        return [find(drills, name, what.name) for name in dict.fromkeys(names)]
    left = [
        drill
        for drill in drills.values()
        if (level is None or drill.level == level) and (topic is None or topic in drill.topics)
    ]
    if not left:
        raise WarpladderError(
            "there is none of that level and topic", remedy=f"`ladder {what.name} --list` shows all"
        )
    return random.Random(seed).sample(left, min(count, len(left)))


def begin(what: Format[Any], drills: Sequence[Drill], seed: int, minutes: float | None = None) -> Session:
    """A session in which nothing has been asked yet; it takes as long as its drills do."""
    title = drills[0].title if len(drills) == 1 else f"{len(drills)} drills: {what.name}"
    names = [drill.name for drill in drills]
    return session.begin(
        what.name, title, names, seed, sum(drill.minutes for drill in drills) if minutes is None else minutes
    )


class Drilling:
    """Drills between the workbook and a candidate."""

    def __init__(self, what: Format[Any], drills: Mapping[str, Drill], interviewer: Interviewer) -> None:
        """Raises WarpladderError where a drill is no longer there."""
        self.what = what
        self.interviewer, self.kept = interviewer, interviewer.kept
        self.drills = [find(drills, name, what.name) for name in self.kept.questions]
        self.talks = Talks(interviewer)

    def run(self) -> Flow[None]:
        """Ask until everything is asked, or time is up."""
        for number, drill in enumerate(self.drills):
            if not self.interviewer.clock.up:
                yield from self._drill(drill, f"{number + 1} of {len(self.drills)}: {drill.title}")
        self.interviewer.time_is_up()

    def _drill(self, drill: Drill, heading: str) -> Flow[None]:
        parameters = drill.drawn(self.kept.seed)
        self.interviewer.show(Given(heading, drill.given(parameters)))
        for step in drill.steps:
            self.interviewer.told()  # its text may tell what was asked before it
            name = f"{drill.name}.{step.probe.name}"
            yield from self.talks.probe(
                name, heading, step.probe, f"{self.what.name}/{drill.name}", parameters
            )
        yield from self.what.after(drill, self.talks, drill.name)
