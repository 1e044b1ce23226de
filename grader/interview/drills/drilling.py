"""A session of drills: each one given, its steps asked, then how it went."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.errors import WarpladderError
from grader.interview import session
from grader.interview.drills.drill import Drill, Format, find
from grader.interview.interviewer import Interviewer, Judge
from grader.interview.reading import Level
from grader.interview.room import Back, Frontend
from grader.interview.session import Clock, Session
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

    def __init__(
        self,
        what: Format[Any],
        drills: Mapping[str, Drill],
        kept: Session,
        path: Path,
        frontend: Frontend,
        judge: Judge | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.what = what
        self.drills = [find(drills, name, what.name) for name in kept.questions]
        self.interviewer = Interviewer(kept, path, frontend, judge, clock)
        self.talks = Talks(self.interviewer)
        self.kept = kept

    def run(self) -> Session:
        """Ask until everything is asked, or time is up. Raises BrokenOff where the candidate leaves."""
        return self.interviewer.sit(self._every)

    def _every(self) -> None:
        for number, drill in enumerate(self.drills):
            self._drill(drill, f"{number + 1} of {len(self.drills)}: {drill.title}")

    def _drill(self, drill: Drill, heading: str) -> None:
        """A drill; what was asked before the session was broken off is not asked again."""
        parameters = drill.drawn(self.kept.seed)
        steps = {f"{drill.name}.{step.probe.name}": step for step in drill.steps}
        further = [f"{drill.name}.{name}" for name, _ in drill.further]
        if not any(self.interviewer.open(name) for name in (*steps, *further)):
            return
        self.interviewer.frontend.say(drill.given(parameters), heading)
        for name, step in steps.items():
            while self.interviewer.open(name):
                self.interviewer.told()  # its text may tell what was asked before it
                try:
                    self.talks.probe(name, heading, step.probe, f"{self.what.name}/{drill.name}", parameters)
                except Back:
                    self.interviewer.back()
        self.what.after(drill, self.talks, drill.name)
