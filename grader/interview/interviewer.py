"""The interviewer: asks one question at a time, compares the answer with what was to be said, and keeps it.

The candidate answers through a `Frontend`: a terminal, or a script in a test. Time runs while a question is open, and
stops while the judge works and while the candidate reads which key points were found in an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from grader.errors import WarpladderError
from grader.interview import key_points, numbers, session
from grader.interview.bank import FollowUp
from grader.interview.key_points import Point
from grader.interview.session import Answer, Clock, Code, Figure, Rated, Said, Session, Talk
from grader.judge.grade import grade
from grader.judge.runners.pool import Progress
from grader.judge.values import of_file
from grader.results import Grade
from grader.workbook.expressions import Number
from grader.workbook.topic import Topic

HINT_COSTS = 0.25
"""The share of a version's points that a hint takes."""

Action = Literal["grade", "hint", "skip"]


@dataclass(frozen=True)
class Asked:
    """One question, as the candidate sees it."""

    step: str  # such as "02_shared_tile.limits" or "hpc-15.blocks_per_sm"
    heading: str  # such as "Version 3 of 5: what limits it?"
    text: str  # Markdown
    left_s: float | None  # None: no limit
    unit: str = ""  # of a number


class Frontend(Protocol):
    """What shows questions to the candidate and reads answers. KeyboardInterrupt and EOFError break the session off."""

    def say(self, text: str, title: str = "") -> None:
        """Something to read, in Markdown, that asks nothing."""

    def talk(self, asked: Asked) -> str:
        """Free text; "" for no answer."""

    def found(self, talk: Talk) -> Mapping[int, float]:
        """Show which key points were found; the shares that the candidate claims instead, by the point's index."""

    def number(self, asked: Asked) -> str:
        """A number as typed; "" for no answer."""

    def unreadable(self, complaint: str) -> None:
        """What was typed is no number: `number` is asked again."""

    def figured(self, figure: Figure) -> None:
        """Show whether a number is right."""

    def code(self, asked: Asked, file: Path, draft: Code) -> Action:
        """Wait until the candidate has written a version into `file`, wants a hint, or goes on without."""

    def grading(self, file: Path) -> AbstractContextManager[Progress]:
        """While the judge works: what it calls with what it does."""

    def graded(self, result: Grade, rung: str) -> None:
        """Show what the judge says; `rung` was asked for."""

    def rate(self, follow_up: FollowUp) -> float:
        """Show the model answer; how much of it the candidate claims to have said: 0, 0.5 or 1."""

    def time_is_up(self) -> None:
        """Say so."""


class Judge(Protocol):
    """What an interviewer needs of the judge."""

    def grade(self, topic: Topic, file: Path, progress: Progress) -> Grade:
        """Grade a version."""

    def values(self, topic: Topic, file: Path) -> Mapping[str, Number]:
        """What claims may name, of a file of the workbook."""


@dataclass(frozen=True)
class WorkbookJudge:
    """The workbook's own judge."""

    device: str = "auto"
    arch: str | None = None

    def grade(self, topic: Topic, file: Path, progress: Progress) -> Grade:
        """Grade a version on the device."""
        return grade(topic, file, self.device, progress=progress, arch=self.arch)

    def values(self, topic: Topic, file: Path) -> Mapping[str, Number]:
        """Counters always come from the emulator."""
        return of_file(topic, file, self.arch)


class BrokenOff(Exception):
    """The candidate left; everything up to the last answer is kept in `path`."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"broken off; kept in {path}")
        self.path = path


class Interviewer:
    """Asks, scores and keeps, for interviews and quizzes alike."""

    def __init__(
        self,
        kept: Session,
        path: Path,
        frontend: Frontend,
        judge: Judge | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.kept = kept
        self.path = path
        self.frontend = frontend
        self.judge = judge or WorkbookJudge()
        self.clock = clock or Clock(kept.minutes, kept.elapsed_s)

    def save(self) -> None:
        """Write the session down."""
        self.kept.elapsed_s = self.clock.elapsed_s
        session.save(self.kept, self.path)

    def keep(self, answer: Answer) -> None:
        """Add an answer, and write the session down."""
        self.kept.answers.append(answer)
        self.save()

    def talk(self, step: str, heading: str, text: str, points: Sequence[Point], review: bool = True) -> None:
        """Ask for free text. Without `review` the key points found are shown later: they would tell too much now."""
        began = self.clock.elapsed_s
        said = self.frontend.talk(self._asked(step, heading, text))
        found = key_points.find(said, points)
        talk = Talk(
            step=step,
            asked=text,
            text=said,
            points=[Said(point.weight, point.text, how) for point, how in zip(points, found, strict=True)],
            seconds=self.clock.elapsed_s - began,
            late=self.clock.late,
        )
        self.keep(talk)
        if review:
            self.review(step)

    def review(self, step: str) -> None:
        """Show which key points were found in an answer, and let the candidate correct that."""
        talk = self.kept.answer(step)
        if not isinstance(talk, Talk):
            return
        with self.clock.paused():
            corrected = self.frontend.found(talk)
        if corrected:
            points = [
                msgspec.structs.replace(point, self_scored=corrected.get(i, point.self_scored))
                for i, point in enumerate(talk.points)
            ]
            self.kept.replace(msgspec.structs.replace(talk, points=points))
        self.save()

    def figure(
        self,
        step: str,
        heading: str,
        text: str,
        unit: str,
        answer: float | None,
        tolerance: float,
        explain: str,
        counted_on: Literal["own", "workbook", ""] = "",
    ) -> None:
        """Ask for a number; `answer` None: it is settled later."""
        began = self.clock.elapsed_s
        asked = self._asked(step, heading, text, unit)
        given, value = self._number(asked)
        figure = Figure(
            step=step,
            asked=text,
            unit=unit,
            given=given,
            value=value,
            answer=None,
            right=None,
            explain=explain,
            counted_on=counted_on,
            seconds=self.clock.elapsed_s - began,
            late=self.clock.late,
        )
        self.keep(figure)
        if answer is not None:
            self.settle(step, answer, tolerance, counted_on)

    def settle(
        self, step: str, answer: float, tolerance: float, counted_on: Literal["own", "workbook", ""]
    ) -> None:
        """Compare a number that was given with the answer, and show both."""
        figure = self.kept.answer(step)
        if not isinstance(figure, Figure):
            return
        right = figure.value is not None and numbers.right(figure.value, answer, tolerance)
        settled = msgspec.structs.replace(figure, answer=answer, right=right, counted_on=counted_on)
        self.kept.replace(settled)
        self.save()
        with self.clock.paused():
            self.frontend.figured(settled)

    def _number(self, asked: Asked) -> tuple[str, float | None]:
        """What was typed, asked again until it is a number or nothing."""
        while given := self.frontend.number(asked).strip():
            try:
                return given, numbers.read_number(given, asked.unit)
            except ValueError as error:
                self.frontend.unreadable(str(error))
        return "", None

    def follow_up(self, step: str, heading: str, item: FollowUp) -> None:
        """Ask something whose answer the candidate rates."""
        began = self.clock.elapsed_s
        text = self.frontend.talk(self._asked(step, heading, item.ask))
        seconds, late = self.clock.elapsed_s - began, self.clock.late
        with self.clock.paused():
            own = self.frontend.rate(item) if text.strip() else 0.0
            if not text.strip():
                self.frontend.say(item.answer, "A good answer")
        self.keep(Rated(step, item.ask, text, item.answer, own, seconds, late))

    def code(
        self, step: str, heading: str, text: str, topic: Topic, rung: str, hint: str, file: Path
    ) -> Code:
        """Ask for a version until it is what was asked for, the candidate goes on without, or time is up."""
        asked, began = self._asked(step, heading, text), self.clock.elapsed_s
        draft = self.kept.draft
        if draft is None or draft.step != step:
            draft = Code(step, text, topic.name, rung, "", None, None, None, 0.0, 0, False, None, None, 0.0)
        before = draft.seconds
        while True:
            action = self.frontend.code(asked, file, draft)
            draft = msgspec.structs.replace(
                draft, seconds=before + self.clock.elapsed_s - began, late=self.clock.late
            )
            if action == "skip":
                break
            if action == "hint":
                draft = msgspec.structs.replace(draft, hint=True)
                self.frontend.say(hint, "Hint")
            else:
                draft = self._grade(draft, topic, file)
            self.kept.draft = draft
            self.save()
            asked = self._asked(step, heading, text)
            if topic.ladder.reaches(draft.rung_reached, rung) or self.clock.up:
                break
        self.kept.draft = None
        self.keep(draft)
        return draft

    def _grade(self, draft: Code, topic: Topic, file: Path) -> Code:
        """Have the judge look at what is in the file."""
        source = self._source(file)
        if source is None:
            return draft
        if source in (draft.source, topic.starter.read_text(encoding="utf-8")):
            self.frontend.say(
                f"`{file}` has not changed since it was last looked at: save it in your editor."
            )
            return draft
        with self.clock.paused():
            with self.frontend.grading(file) as progress:
                result = self.judge.grade(topic, file, progress)
            self.frontend.graded(result, draft.rung)
        return msgspec.structs.replace(
            draft,
            source=source,
            verdict=result.verdict,
            reason=result.reason,
            rung_reached=result.rung_reached,
            share=code_share(topic, result, draft.rung),
            attempts=draft.attempts + 1,
            counters=result.counters,
            facts=result.facts,
        )

    def _source(self, file: Path) -> str | None:
        try:
            return file.read_text(encoding="utf-8")
        except OSError as error:
            self.frontend.say(f"`{file}` cannot be read: {error.strerror}")
            return None
        except UnicodeDecodeError:
            self.frontend.say(f"`{file}` cannot be read: it is no UTF-8 text")
            return None

    def _asked(self, step: str, heading: str, text: str, unit: str = "") -> Asked:
        return Asked(step, heading, text, self.clock.left_s, unit)


def code_share(topic: Topic, result: Grade, rung: str) -> float:
    """What of the claims' points up to `rung` a grade has earned: 1 where the rung is reached."""
    if result.verdict != "pass" or result.rung_reached is None:
        return 0.0
    if topic.ladder.reaches(result.rung_reached, rung):
        return 1.0
    asked, earned = topic.ladder.up_to(rung), topic.ladder.up_to(result.rung_reached)
    worth = sum(claim.points for claim in result.claims if claim.rung in asked)
    return sum(claim.points for claim in result.claims if claim.rung in earned and claim.held) / worth


def write_starter(topic: Topic, file: Path) -> None:
    """Put the topic's starter where the candidate writes, unless something is there; raises WarpladderError."""
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(topic.starter.read_text(encoding="utf-8"))
    except FileExistsError:
        return
    except OSError as error:
        raise WarpladderError(f"it cannot be written: {error.strerror}", file=file) from None
