"""Talks: a question that is answered in prose, and then a probe for each point that the answer has to make."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import takewhile

import msgspec

from grader.interview import credit
from grader.interview.interviewer import CLARIFIED, Interviewer
from grader.interview.points import Point
from grader.interview.probes.kinds import Parameters, Probe
from grader.interview.probes.posing import Posed, pose
from grader.interview.session import KeyPoint, Probed, Talk

FIGURE = 10
"""What is smaller may well be the answer of two questions in a row."""

ANOTHER_DRAW = 20
"""So often is a probe drawn again for a figure that nothing before has asked for."""


def drawn_probe(point: Point, seed: str) -> Probe:
    """Which of a point's probes is asked."""
    return random.Random(seed).sample(point.probes, len(point.probes))[0]


class Talks:
    """What an interviewer asks in prose and checks."""

    def __init__(self, interviewer: Interviewer) -> None:
        self.interviewer = interviewer
        self.kept = interviewer.kept
        self.clock = interviewer.clock
        self.frontend = interviewer.frontend

    def converse(self, step: str, heading: str, text: str, points: Sequence[Point], name: str) -> None:
        """Ask for an answer in prose, which is kept and not scored; then ask a probe for each of its points.

        `name` is the entry's, by which checked items are known. A question that is skipped has no probes.
        """
        if self.interviewer.open(step):
            self._talk(step, heading, text, points)
        talk = self.kept.answer(step)
        if not isinstance(talk, Talk) or talk.skipped:
            return
        for number, point in enumerate(points):
            self._point(f"{step}.{number}", heading, point, name)

    def conversed(self, step: str, points: Sequence[Point]) -> bool:
        """Whether nothing is left of what `converse` asks."""
        talk = self.kept.answer(step)
        if not isinstance(talk, Talk) or talk.skipped:
            return talk is not None
        return all(self.kept.answer(f"{step}.{number}.probe") is not None for number in range(len(points)))

    def checked(self, title: str, *steps: str) -> None:
        """Show how the points of these steps were answered; from here on there is no going back."""
        points = [point for step in steps for point in credit.points(self.kept, step)]
        if points:
            with self.clock.paused():
                self.frontend.checked(title, points)
        self.interviewer.told()

    def rate(self, step: str, answer: str, before: str | None = None) -> None:
        """Show the model answer, and have the candidate rate the own prose by it; that is kept apart from the score.
        The answer is to the step `before` as well, if there is one."""
        talk = self.kept.answer(step)
        earlier = None if before is None else self.kept.answer(before)
        said = [each.text for each in (earlier, talk) if isinstance(each, Talk) and each.text.strip()]
        with self.clock.paused():
            own = None
            if said:
                own = self.frontend.rate(answer, "\n\n".join(said))
            else:
                self.frontend.say(answer, "A senior engineer would say")
            if isinstance(talk, Talk):
                self.kept.replace(msgspec.structs.replace(talk, rated=own, looked_back=True))
        self.interviewer.told()

    def _talk(self, step: str, heading: str, text: str, points: Sequence[Point]) -> None:
        began = self.clock.elapsed_s
        asked = self.interviewer.asked(step, heading, text)
        said = self.interviewer.typed(asked, self.frontend.talk, str, CLARIFIED, nothing="")
        talk = Talk(
            step=step,
            asked=text,
            text=said or "",
            points=[KeyPoint(point.weight, point.text) for point in points],
            seconds=self.clock.elapsed_s - began,
            late=self.clock.late,
            skipped=said is None,
        )
        self.interviewer.keep(talk)

    def _point(self, step: str, heading: str, point: Point, name: str) -> None:
        """One of a point's probes, drawn by the session's seed."""
        seed = f"{self.kept.seed} {step}"
        posed = self._drawn(drawn_probe(point, seed), seed, f"{step}.probe")
        self._probe(f"{step}.probe", heading, posed, name)

    def _drawn(self, probe: Probe, seed: str, step: str) -> Posed:
        """The probe, whose figure nothing before this step of the round has asked for, where it can be drawn so."""
        first, asked_about = pose(probe, seed), step.partition(".")[0]
        before = takewhile(lambda each: each.step != step, self.kept.answers)
        known = {
            (each.answer, each.unit)
            for each in before
            if isinstance(each, Probed) and each.step.partition(".")[0] == asked_about
        }
        if first.value is None or first.value < FIGURE or (first.answer, first.unit) not in known:
            return first
        further = (pose(probe, f"{seed} {number}") for number in range(ANOTHER_DRAW))
        return next((each for each in further if (each.answer, each.unit) not in known), first)

    def probe(
        self,
        step: str,
        heading: str,
        probe: Probe,
        name: str,
        parameters: Parameters | None = None,
    ) -> None:
        """Ask a probe by itself, with parameters that were drawn elsewhere."""
        self._probe(step, heading, pose(probe, f"{self.kept.seed} {step}", parameters), name)

    def _probe(self, step: str, heading: str, posed: Posed, name: str) -> None:
        if not self.interviewer.open(step):
            return
        began = self.clock.elapsed_s
        asked = self.interviewer.asked(
            step, heading, posed.text, posed.wanted, posed.options, posed.code, posed.ordered
        )
        typed: list[str] = []

        def read(text: str) -> str | float:
            typed[:] = [text]
            return posed.read(text)

        given = self.interviewer.typed(asked, self.frontend.line, read, posed.clarified)
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
