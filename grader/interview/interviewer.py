"""The interviewer: asks one question at a time, checks what is known with probes, and keeps every answer.

Nothing here waits, or touches a file: see `grader.interview.prompts`. Time runs while a question is open, and stops
while the judge works and while the candidate reads how it went.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import msgspec

from grader.interview.bank import FollowUp
from grader.interview.credit import Point
from grader.interview.probes import numbers
from grader.interview.prompts import (
    Answered,
    Checked,
    Entry,
    Figured,
    Flow,
    Form,
    Placed,
    Prompt,
    Said,
    Work,
)
from grader.interview.session import Answer, Clock, Counted, Do, Figure, Graded, Rated, Reply, Session
from grader.judge.grade import grade
from grader.judge.runners.pool import Progress
from grader.judge.values import of_file
from grader.results import Grade
from grader.workbook.expressions import Number
from grader.workbook.topic import Topic

HINT_COSTS = 0.25
"""The share of a version's points that a hint takes."""

WORDS: dict[Do, tuple[str, ...]] = {"clarify": ("?",), "skip": ("skip", "跳过"), "back": ("back", "返回")}
"""What a candidate may type in the place of an answer."""

_UNLESS_SAID = "Unless the question says otherwise, the GPU is an H200 and the language is CUDA C++."
CLARIFIED = (
    "Say how it works, with the numbers that you know, and say where it does not hold. The short questions that follow "
    f"check each point, and `skip` passes them as well. {_UNLESS_SAID}"
)
CLARIFIED_FOLLOW_UP = f"A few sentences are enough: what happens, and why. {_UNLESS_SAID}"

RATINGS: dict[Do, float | None] = {"yes": 1.0, "partly": 0.5, "no": 0.0, "pass": None}

LONGEST_LINE = 40
"""What is longer is prose, and kept as it is typed."""

T = TypeVar("T")


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


class Interviewer:
    """Asks, scores and keeps, for interviews and quizzes alike."""

    def __init__(self, kept: Session, path: Path, judge: Judge) -> None:
        """`kept` has no answers yet; `path` is its file, beside which kernels are written."""
        self.kept = kept
        self.path = path
        self.judge = judge
        self.clock = Clock(kept.minutes)
        self.entries: list[Placed] = []
        self.heading = ""  # of the last question
        self.replies = 0
        self.came = 0  # of the entries, those that were there when a question was last answered
        self.counted: Grade | None = None  # the version whose counters are asked about, and not shown yet
        self._step = ""  # of the last question
        self._shown = 0  # of the answers, those that are not asked again, since something was told after them
        self._began: list[int] = []  # for each answer, how many events there were when it was first asked for

    # ---- shown -----------------------------------------------------------------------------------------------

    def show(self, entry: Entry) -> None:
        """Something to read, which waits for nothing."""
        self.entries.append(Placed(entry, self._step, self.replies))

    def say(self, text: str, title: str = "") -> None:
        """Something to read, in Markdown."""
        self.show(Said(title, text))

    def time_is_up(self) -> None:
        """Say so, if it is."""
        if self.clock.up:
            self.say("**Time is up.**")

    def checked(self, title: str, points: list[Point]) -> Flow[None]:
        """Show how the probe of each point was answered; from here on there is no going back."""
        if points:
            self.show(Checked(title, points))
            yield from self.go_on()
        self.told()

    def go_on(self) -> Flow[None]:
        """Leave the candidate time to read."""
        yield from self.asked(Prompt(self._step, "go_on"))

    def rated(self, step: str, answer: str, said: str, otherwise: str) -> Flow[float | None]:
        """Show a model answer beside what was said, to be rated by it: 0, 0.5 or 1; None where it is not.

        Where nothing was said, the model answer is shown under the title `otherwise`.
        """
        if not said:
            self.say(answer, otherwise)
            return None
        reply = yield from self.asked(Prompt(step, "rate", answer=answer, said=said))
        return RATINGS[reply.do]

    # ---- asked -----------------------------------------------------------------------------------------------

    def asked(self, prompt: Prompt) -> Flow[Reply]:
        """What the candidate does about a prompt."""
        if prompt.timed:
            self._step, self.heading = prompt.step, prompt.heading
        event = yield prompt
        assert isinstance(event, Reply)
        self.replies += 1
        self.clock.elapsed_s += event.seconds
        if prompt.timed:
            self.came = len(self.entries)
        return event

    def done(self, work: Work) -> Flow[Graded | Counted]:
        """What the judge's work comes to."""
        event = yield work
        assert not isinstance(event, Reply)
        return event

    def prompt(
        self,
        step: str,
        form: Form,
        heading: str,
        text: str,
        wanted: str = "",
        options: tuple[str, ...] = (),
        code: tuple[str, ...] = (),
        ordered: bool = False,
    ) -> Prompt:
        """A question, as it stands now."""
        left, back = self.clock.left_s, self.can_take_back
        return Prompt(step, form, heading, text, left, wanted, options, code, ordered, back)

    def typed(
        self, prompt: Prompt, read: Callable[[str], T], clarified: str, nothing: T | None = None
    ) -> Flow[tuple[T | None, str, float]]:
        """What was typed, asked again until it can be read; how it was typed, and the seconds it took.

        `nothing` for an empty line, None for `skip`.
        """
        self.began()
        doubted, seconds = "", 0.0
        while True:
            reply = yield from self.asked(prompt)
            seconds += reply.seconds
            typed, complaint = plain(reply.typed), ""
            if reply.do == "skip":
                return None, "", seconds
            if reply.do == "back":
                self.say("You cannot go back here: a later step may have shown the answer.")
            elif reply.do == "clarify":
                self.say(clarified)
            elif not typed:
                return nothing, "", seconds
            else:
                try:
                    found = read(typed)
                except numbers.Doubtful as doubt:
                    if typed != doubted:
                        doubted, complaint = typed, str(doubt)
                    else:
                        found, typed = read(doubt.meant), doubt.meant
                except ValueError as error:
                    complaint = str(error)
                if not complaint:
                    self.show(Answered(prompt.text, reply.typed))
                    return found, typed, seconds
            prompt = dataclasses.replace(
                prompt,
                typed=reply.typed,
                complaint=complaint,
                left_s=self.clock.left_s,
                back=self.can_take_back,
            )

    # ---- kept ------------------------------------------------------------------------------------------------

    def began(self) -> None:
        """An answer is asked for from here on."""
        self._began.append(len(self.kept.events))

    def keep(self, answer: Answer) -> None:
        """Add an answer."""
        self.kept.answers.append(answer)

    @property
    def can_take_back(self) -> bool:
        """Whether there is an answer since which nothing was told."""
        return len(self.kept.answers) > self._shown

    @property
    def taken_back(self) -> int:
        """How many events there were before the last answer was asked for."""
        return self._began[len(self.kept.answers) - 1]

    def told(self) -> None:
        """Something was told: what was answered before is not asked again."""
        self._shown = len(self.kept.answers)

    # ---- numbers of the candidate's own kernels ----------------------------------------------------------------

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
    ) -> Flow[None]:
        """Ask for a number; `answer` None: it is settled later."""
        prompt = self.prompt(step, "line", heading, text, numbers.wanted(unit))
        value, given, seconds = yield from self.typed(
            prompt, lambda typed: numbers.read_number(typed, unit), numbers.clarified(text, unit, tolerance)
        )
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
            seconds=seconds,
            late=self.clock.late,
        )
        self.keep(figure)
        if answer is not None:
            yield from self.settle(step, answer, tolerance, counted_on)

    def settle(
        self, step: str, answer: float, tolerance: float, counted_on: Literal["own", "workbook", ""]
    ) -> Flow[None]:
        """Compare a number that was given with the answer, and show both."""
        figure = self.kept.answer(step)
        if not isinstance(figure, Figure):
            return
        right = figure.value is not None and numbers.right(figure.value, answer, tolerance)
        settled = msgspec.structs.replace(figure, answer=answer, right=right, counted_on=counted_on)
        self.kept.replace(settled)
        self.show(Figured(settled, self.counted if counted_on == "own" else None))
        self.counted = None
        self.told()
        yield from self.go_on()

    def follow_up(self, step: str, heading: str, item: FollowUp) -> Flow[None]:
        """Ask something whose answer the candidate rates."""
        prompt = self.prompt(step, "talk", heading, item.ask)
        said, _, seconds = yield from self.typed(prompt, str, CLARIFIED_FOLLOW_UP)
        rated = Rated(step, item.ask, said or "", item.answer, None, seconds, self.clock.late)
        self.keep(rated)
        self.told()
        own = yield from self.rated(step, item.answer, rated.text, "A good answer")
        self.kept.replace(msgspec.structs.replace(rated, self_scored=own))


def plain(typed: str) -> str:
    """What was typed, in the signs of a Latin keyboard: ？ is ?, and １６ is 16."""
    return unicodedata.normalize("NFKC", typed).strip() if len(typed) <= LONGEST_LINE else typed.strip()


def meant(reply: Reply, before: str) -> Reply:
    """What was typed in the place of an answer: a word by itself. What was typed `before` is not lost by that."""
    word = plain(reply.typed).lower()
    for do, words in WORDS.items():
        if reply.do == "send" and word in words:
            return msgspec.structs.replace(reply, do=do, typed=before)
    return reply
