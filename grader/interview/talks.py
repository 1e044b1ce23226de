"""Talks: a question in prose, whose points are then taken one by one, each confirmed by a probe or not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import takewhile

import msgspec

from grader.interview import credit
from grader.interview.interviewer import CLARIFIED, CLARIFIED_PROBE, Interviewer
from grader.interview.points import Point, heard
from grader.interview.probes.kinds import Parameters, Probe
from grader.interview.probes.posing import Posed, pose
from grader.interview.session import Nudged, Probed, Said, Talk

AGAIN = "You spoke of this, and your answer does not go with it. Another case:"
NUDGE = "One more thing, which I have not heard yet."

FIGURE = 10
"""What is smaller may well be the answer of two questions in a row."""

ANOTHER_DRAW = 20
"""So often is a probe drawn again for a case that differs from the first."""


def another(probes: Sequence[Probe], first: Posed, seed: str) -> Posed | None:
    """Another case than `first`, which poses the first of the probes: of the second one, or of the only one.

    Two numbers differ wherever they can be drawn so. None where the only probe always asks the same.
    """
    probe = probes[:2][-1]
    seeds = [f"{seed} {number}" for number in range(ANOTHER_DRAW)]
    if probe is not first.probe:
        seeds.insert(0, seed)
    for case in (pose(probe, each) for each in seeds):
        if case.differs(first):
            return case
    return None if probe is first.probe else pose(probe, seed)


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
        for number, point in enumerate(points):
            self._point(f"{step}.{number}", heading, point, self._heard(step, number, point), name)

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

    def _heard(self, step: str, number: int, point: Point) -> bool:
        """Whether a point was said before it comes up: at once, or where one before it was asked for."""
        talk = self.kept.answer(step)
        assert isinstance(talk, Talk)
        said = talk.points[number]
        since = [self.kept.answer(f"{step}.{each}.nudge") for each in range(number)]
        if said.heard or not self.interviewer.open(f"{step}.{number}.nudge"):
            return said.heard
        if any(heard(each.text, point) for each in since if isinstance(each, Nudged)):
            said = msgspec.structs.replace(said, heard=True)
            points = [*talk.points[:number], said, *talk.points[number + 1 :]]
            self.kept.replace(msgspec.structs.replace(talk, points=points))
            self.interviewer.save()
        return said.heard

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
        first = self._drawn(order[0], f"{self.kept.seed} {step}", f"{step}.probe")
        self._probe(f"{step}.probe", heading, first, name)
        again = self._second(step, was_heard)
        second = another(order, first, f"{self.kept.seed} {step} again") if again is not None else None
        if again is not None and second is not None:
            self.interviewer.told()
            self._probe(again, heading, second, name, AGAIN)
        elif again is not None:
            self._no_second.add(again)

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

    def _second(self, step: str, was_heard: bool) -> str | None:
        """The step of the second question, where there is to be one and it was not asked."""
        first, again = self.kept.answer(f"{step}.probe"), f"{step}.again"
        wrong = isinstance(first, Probed) and not first.right and first.given != ""
        asked = self.kept.answer(again) is not None or again in self._no_second
        return again if was_heard and wrong and not asked else None

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
        asked = self.interviewer.asked(
            step, heading, text, posed.wanted, posed.options, posed.code, posed.ordered
        )
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
