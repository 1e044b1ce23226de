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
from grader.interview.prompts import Flow
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

    def converse(self, step: str, heading: str, text: str, points: Sequence[Point], name: str) -> Flow[None]:
        """Ask for an answer in prose, which is kept and not scored; then ask a probe for each of its points.

        `name` is the entry's, by which checked items are known. A question that is skipped has no probes.
        """
        talk = yield from self._talk(step, heading, text, points)
        for number, point in enumerate(() if talk.skipped else points):
            seed = f"{self.kept.seed} {step}.{number}"
            asked = f"{step}.{number}.probe"
            yield from self._probe(asked, heading, self._drawn(drawn_probe(point, seed), seed, asked), name)

    def checked(self, title: str, *steps: str) -> Flow[None]:
        """Show how the points of these steps were answered; from here on there is no going back."""
        points = [point for step in steps for point in credit.points(self.kept, step)]
        yield from self.interviewer.checked(title, points)

    def rate(self, step: str, answer: str, before: str | None = None) -> Flow[None]:
        """Show the model answer, and have the candidate rate the own prose by it; that is kept apart from the score.
        The answer is to the step `before` as well, if there is one."""
        talk = self.kept.answer(step)
        earlier = None if before is None else self.kept.answer(before)
        said = [each.text for each in (earlier, talk) if isinstance(each, Talk) and each.text.strip()]
        own = yield from self.interviewer.rated(
            step, answer, "\n\n".join(said), "A senior engineer would say"
        )
        if isinstance(talk, Talk):
            self.kept.replace(msgspec.structs.replace(talk, rated=own))
        self.interviewer.told()

    def _talk(self, step: str, heading: str, text: str, points: Sequence[Point]) -> Flow[Talk]:
        prompt = self.interviewer.prompt(step, "talk", heading, text)
        said, _, seconds = yield from self.interviewer.typed(prompt, str, CLARIFIED, nothing="")
        talk = Talk(
            step=step,
            asked=text,
            text=said or "",
            points=[KeyPoint(point.weight, point.text) for point in points],
            seconds=seconds,
            late=self.clock.late,
            skipped=said is None,
        )
        self.interviewer.keep(talk)
        return talk

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
    ) -> Flow[None]:
        """Ask a probe by itself, with parameters that were drawn elsewhere."""
        yield from self._probe(step, heading, pose(probe, f"{self.kept.seed} {step}", parameters), name)

    def _probe(self, step: str, heading: str, posed: Posed, name: str) -> Flow[None]:
        """Ask a probe, unless time is up."""
        if self.clock.up:
            return
        prompt = self.interviewer.prompt(
            step, "line", heading, posed.text, posed.wanted, posed.options, posed.code, posed.ordered
        )
        read, typed, seconds = yield from self.interviewer.typed(prompt, posed.read, posed.clarified)
        answer = Probed(
            step=step,
            item=f"{name}/{posed.probe.name}",
            asked=posed.text,
            options=list(posed.options),
            code=list(posed.code),
            unit=posed.unit,
            given=typed,
            answer=posed.answer,
            right=read is not None and posed.right(read),
            chance=0.0 if read is None else posed.chance,
            explain=posed.explain,
            seconds=seconds,
            late=self.clock.late,
        )
        self.interviewer.keep(answer)
