"""Talks: a question in prose, whose points are then taken one by one, each confirmed by a probe or not."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec

from grader.interview import credit
from grader.interview.interviewer import CLARIFIED, CLARIFIED_PROBE, Interviewer
from grader.interview.points import Point, heard
from grader.interview.probes.kinds import Parameters, Probe
from grader.interview.probes.posing import Posed, pose
from grader.interview.session import Nudged, Probed, Said, Talk

AGAIN = "You spoke of this, and your answer does not go with it. Another case:"
NUDGE = "One more thing, which I have not heard yet."

ANOTHER_DRAW = 20
"""So often is a probe drawn again for a case that differs from the first."""


class Talks:
    """What an interviewer asks in prose and checks."""

    def __init__(self, interviewer: Interviewer) -> None:
        self.interviewer = interviewer
        self.kept = interviewer.kept
        self.clock = interviewer.clock
        self.frontend = interviewer.frontend
        self._no_second: set[str] = set()  # steps of second questions for which there is no other case

    def converse(self, step: str, heading: str, text: str, points: Sequence[Point], name: str) -> None:
        """Ask for free text; then take its points one by one, each confirmed by a probe or not.

        `name` is the entry's, by which checked items are known. Where nothing is said, nothing is checked.
        """
        if self.interviewer.open(step):
            self._talk(step, heading, text, points)
        talk = self.kept.answer(step)
        if not isinstance(talk, Talk) or not talk.text.strip():
            return
        for number, (point, said) in enumerate(zip(points, talk.points, strict=True)):
            self._point(f"{step}.{number}", heading, point, said.heard, name)

    def conversed(self, step: str, points: Sequence[Point]) -> bool:
        """Whether nothing is left of what `converse` asks."""
        talk = self.kept.answer(step)
        if not isinstance(talk, Talk) or not talk.text.strip():
            return talk is not None
        return all(
            self.kept.answer(f"{step}.{number}.probe") is not None
            and self._second(f"{step}.{number}", said.heard) is None
            for number, said in enumerate(talk.points)
        )

    def checked(self, title: str, *steps: str) -> None:
        """Show how the points of these steps were answered; from here on there is no going back."""
        points = [point for step in steps for point in credit.points(self.kept, step)]
        if points:
            with self.clock.paused():
                self.frontend.checked(title, points)
        self.interviewer.told()

    def rate(self, step: str, answer: str) -> None:
        """Show the model answer, and have the candidate rate the own prose by it; that is kept apart from the score."""
        talk = self.kept.answer(step)
        with self.clock.paused():
            if isinstance(talk, Talk) and talk.text.strip() and talk.rated is None:
                self.kept.replace(msgspec.structs.replace(talk, rated=self.frontend.rate(answer)))
            else:
                self.frontend.say(answer, "A senior engineer would say")
        self.interviewer.told()

    def _talk(self, step: str, heading: str, text: str, points: Sequence[Point]) -> None:
        began = self.clock.elapsed_s
        said = (
            self.interviewer.typed(
                self.interviewer.asked(step, heading, text), self.frontend.talk, str, CLARIFIED
            )
            or ""
        )
        talk = Talk(
            step=step,
            asked=text,
            text=said,
            points=[Said(point.weight, point.text, heard(said, point)) for point in points],
            seconds=self.clock.elapsed_s - began,
            late=self.clock.late,
        )
        self.interviewer.keep(talk)

    def _point(self, step: str, heading: str, point: Point, was_heard: bool, name: str) -> None:
        """A point that was heard is probed, and put back as a question where that fails; another is asked for first."""
        nudge = f"{step}.nudge"
        if not was_heard and self.interviewer.open(nudge):
            began = self.clock.elapsed_s
            asked = self.interviewer.asked(nudge, heading, f"{NUDGE} {point.nudge}")
            said = self.interviewer.typed(asked, self.frontend.talk, str, CLARIFIED) or ""
            self.interviewer.keep(
                Nudged(nudge, point.nudge, said, self.clock.elapsed_s - began, self.clock.late)
            )
        order = random.Random(f"{self.kept.seed} {step}").sample(point.probes, len(point.probes))
        first = pose(order[0], f"{self.kept.seed} {step}")
        self._probe(f"{step}.probe", heading, first, name)
        again = self._second(step, was_heard)
        if again is not None and (second := self._another(order, first, step)) is not None:
            self.interviewer.told()
            self._probe(again, heading, second, name, AGAIN)
        elif again is not None:
            self._no_second.add(again)

    def _second(self, step: str, was_heard: bool) -> str | None:
        """The step of the second question, where there is to be one and it was not asked."""
        first, again = self.kept.answer(f"{step}.probe"), f"{step}.again"
        wrong = isinstance(first, Probed) and not first.right and first.given != ""
        asked = self.kept.answer(again) is not None or again in self._no_second
        return again if was_heard and wrong and not asked else None

    def _another(self, probes: Sequence[Probe], first: Posed, step: str) -> Posed | None:
        """Another probe of the point, or another case of its only one; None where there is none."""
        if len(probes) > 1:
            return pose(probes[1], f"{self.kept.seed} {step} again")
        for number in range(ANOTHER_DRAW):
            posed = pose(probes[0], f"{self.kept.seed} {step} again {number}")
            if posed.text != first.text or set(posed.options) != set(first.options):
                return posed
        return None

    def probe(
        self,
        step: str,
        heading: str,
        probe: Probe,
        name: str,
        parameters: Parameters | None = None,
        clarified: str = CLARIFIED_PROBE,
    ) -> None:
        """Ask a probe by itself, with parameters that were drawn elsewhere; `clarified` answers a `?`."""
        posed = pose(probe, f"{self.kept.seed} {step}", parameters)
        self._probe(step, heading, posed, name, clarified=clarified)

    def _probe(
        self,
        step: str,
        heading: str,
        posed: Posed,
        name: str,
        before: str = "",
        clarified: str = CLARIFIED_PROBE,
    ) -> None:
        if not self.interviewer.open(step):
            return
        began = self.clock.elapsed_s
        text = f"{before}\n\n{posed.text}" if before else posed.text
        asked = self.interviewer.asked(step, heading, text, posed.wanted, posed.options, posed.code)
        typed: list[str] = []

        def read(text: str) -> str | float:
            typed[:] = [text]
            return posed.read(text)

        given = self.interviewer.typed(asked, self.frontend.line, read, clarified)
        answer = Probed(
            step=step,
            item=f"{name}/{posed.probe.name}",
            asked=posed.text,
            options=list(posed.options),
            code=list(posed.code),
            unit=posed.unit,
            given="" if given is None else typed[0],
            answer=posed.answer,
            right=given is not None and posed.right(given),
            chance=0.0 if given is None else posed.chance,
            explain=posed.explain,
            seconds=self.clock.elapsed_s - began,
            late=self.clock.late,
        )
        self.interviewer.keep(answer)
