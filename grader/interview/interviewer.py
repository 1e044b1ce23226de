"""The interviewer: asks one question at a time, checks what is known with probes, and keeps every answer.

The candidate answers through a `Frontend`: a terminal, or a script in a test. Time runs while a question is open, and
stops while the judge works and while the candidate reads how it went.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import msgspec

from grader.errors import WarpladderError
from grader.interview import session
from grader.interview.bank import FollowUp
from grader.interview.probes import numbers
from grader.interview.room import Asked, Back, Frontend
from grader.interview.session import Answer, Begun, Clock, Code, Figure, Rated, Session
from grader.judge.grade import grade
from grader.judge.runners.pool import Progress
from grader.judge.values import of_file
from grader.results import Grade
from grader.workbook.expressions import Number
from grader.workbook.topic import Topic

HINT_COSTS = 0.25
"""The share of a version's points that a hint takes."""

CLARIFY, SKIP, BACK = "?", ("skip", "跳过"), ("back", "返回")
"""What a candidate may type in the place of an answer."""

_UNLESS_SAID = "Unless the question says otherwise, the GPU is an H200 and the language is CUDA C++."
CLARIFIED = (
    "Say how it works, with the numbers that you know, and say where it does not hold. The short questions that follow "
    f"check each point, and `skip` passes them as well. {_UNLESS_SAID}"
)
CLARIFIED_FOLLOW_UP = f"A few sentences are enough: what happens, and why. {_UNLESS_SAID}"

LONGEST_LINE = 40
"""What is longer is prose, and kept as it is typed."""

T = TypeVar("T")

_KERNEL = re.compile(r"(__global__[^{}]*\n\{\n).*?^\}\n", re.DOTALL | re.MULTILINE)
_RUN = re.compile(r"    def run\(self\):\n.*", re.DOTALL)
"""What is to be written: the body of a starter's kernel, the last method of its schedule."""


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
        self._seen = session.stamp(path)

    def sit(self, ask: Callable[[], None], close: Callable[[], None] = lambda: None) -> Session:
        """Ask until everything is asked, or time is up; then close, once.

        Raises BrokenOff where the candidate leaves.
        """
        if self.kept.over:
            return self.kept
        try:
            self.save()
            ask()
            if self.clock.up:
                self.frontend.time_is_up()
            close()
            self.kept.over = True
            self.save()
        except (KeyboardInterrupt, EOFError):
            self.save()
            raise BrokenOff(self.path) from None
        return self.kept

    def save(self) -> None:
        """Write the session down. Raises WarpladderError where another program has written it since."""
        if session.stamp(self.path) != self._seen:
            raise WarpladderError(
                "another program has written this session since",
                file=self.path,
                remedy="go on in one of the two",
            )
        self.kept.elapsed_s = self.clock.elapsed_s
        session.save(self.kept, self.path)
        self._seen = session.stamp(self.path)

    def keep(self, answer: Answer) -> None:
        """Add an answer, and write the session down."""
        self.kept.answers.append(answer)
        self.save()

    def open(self, step: str) -> bool:
        """Whether a step is still to be asked."""
        return self.kept.answer(step) is None and not self.clock.up

    def back(self) -> None:
        """Forget the last answer, so that it is asked again with what was typed, where nothing was told since."""
        if self.kept.take_back():
            self.save()
        else:
            self.frontend.say("You cannot go back here: a later step may have shown the answer.")

    def told(self) -> None:
        """Something was told: what was answered before is not asked again."""
        self.kept.shown = len(self.kept.answers)
        self.save()

    def typed(
        self,
        asked: Asked,
        ask: Callable[[Asked], str],
        read: Callable[[str], T],
        clarified: str,
        nothing: T | None = None,
    ) -> T | None:
        """What was typed, asked again until it can be read; `nothing` for an empty line, None for `skip`.

        Raises Back.
        """
        doubted, typed = "", ""
        while (typed := _plain(self._asked_once(asked, ask))) and typed.lower() not in SKIP:
            if typed.lower() in BACK:
                raise Back
            if typed == CLARIFY:
                self.frontend.say(clarified)
                continue
            try:
                return read(typed)
            except numbers.Doubtful as doubt:
                if typed == doubted:
                    return read(doubt.meant)
                doubted = typed
                self.frontend.unreadable(str(doubt))
            except ValueError as error:
                self.frontend.unreadable(str(error))
        return None if typed else nothing

    def _asked_once(self, asked: Asked, ask: Callable[[Asked], str]) -> str:
        """An answer; lines of one that is broken off are kept, and shown where it is taken up again."""
        if self.kept.begun is not None and self.kept.begun.step == asked.step:
            asked = dataclasses.replace(asked, begun=self.kept.begun.text)
        else:
            self.kept.begun = None

        def keep(text: str) -> None:
            self.kept.begun = Begun(asked.step, text) if text else None
            self.save()

        try:
            typed = ask(dataclasses.replace(asked, keep=keep))
            if _plain(typed) != CLARIFY:
                self.kept.begun = None
            return typed
        except (KeyboardInterrupt, EOFError):
            if text := self.frontend.begun():
                self.kept.begun = Begun(asked.step, text)
            raise

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
    ) -> None:
        """Ask for a number; `answer` None: it is settled later."""
        began = self.clock.elapsed_s
        asked, typed = self.asked(step, heading, text, numbers.wanted(unit)), [""]

        def read(text: str) -> float:
            number = numbers.read_number(text, unit)
            typed[:] = [text]
            return number

        value = self.typed(asked, self.frontend.line, read, numbers.clarified(text, unit, tolerance))
        figure = Figure(
            step=step,
            asked=text,
            unit=unit,
            given=typed[0],
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
        self.told()

    def follow_up(self, step: str, heading: str, item: FollowUp) -> None:
        """Ask something whose answer the candidate rates."""
        began = self.clock.elapsed_s
        text = (
            self.typed(self.asked(step, heading, item.ask), self.frontend.talk, str, CLARIFIED_FOLLOW_UP)
            or ""
        )
        seconds, late = self.clock.elapsed_s - began, self.clock.late
        rated = Rated(step, item.ask, text, item.answer, None, seconds, late)
        self.keep(rated)  # before anything is shown: what was typed is not lost
        with self.clock.paused():
            own = self.frontend.rate(item.answer, text) if text else None
            if not text:
                self.frontend.say(item.answer, "A good answer")
        self.kept.replace(msgspec.structs.replace(rated, self_scored=own))
        self.told()

    def code(
        self,
        step: str,
        heading: str,
        text: str,
        topic: Topic,
        rung: str,
        hint: str,
        file: Path,
        shown: str = "",
    ) -> Code:
        """Ask for a version until it earns everything, the candidate goes on without, or time is up.

        `shown` is said in the place of `text` where that has just been read.
        """
        asked, began = self.asked(step, heading, shown or text), self.clock.elapsed_s
        draft = self.kept.draft
        if draft is None or draft.step != step:
            draft = Code(
                step,
                text,
                topic.name,
                rung,
                "",
                None,
                None,
                None,
                0.0,
                0,
                False,
                None,
                None,
                0.0,
                file=str(file),
            )
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
            asked = self.asked(step, heading, shown or text)
            if draft.share == 1 or self.clock.up:
                break
        self.kept.draft = None
        self.keep(draft)
        self.told()
        return draft

    def _grade(self, draft: Code, topic: Topic, file: Path) -> Code:
        """Have the judge look at what is in the file."""
        source = self.source_of(file)
        if source is None:
            return draft
        if source in (draft.source, unwritten(topic)):
            self.frontend.say(
                f"`{file}` has not changed since it was last looked at: save it in your editor."
            )
            return draft
        with self.clock.paused():
            with self.frontend.grading(file) as progress:
                result = self.judge.grade(topic, file, progress)
            judged = msgspec.structs.replace(
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
            self.kept.draft = judged  # before it is shown: what was graded is not lost
            self.save()
            self.frontend.graded(result, draft.rung)
        return judged

    def source_of(self, file: Path) -> str | None:
        """What the candidate has written; None, said why, where it cannot be read."""
        try:
            return file.read_text(encoding="utf-8")
        except OSError as error:
            self.frontend.say(f"`{file}` cannot be read: {error.strerror}")
            return None
        except UnicodeDecodeError:
            self.frontend.say(f"`{file}` cannot be read: it is no UTF-8 text")
            return None

    def asked(
        self,
        step: str,
        heading: str,
        text: str,
        wanted: str = "",
        options: tuple[str, ...] = (),
        code: tuple[str, ...] = (),
        ordered: bool = False,
    ) -> Asked:
        return Asked(
            step, heading, text, self.clock.left_s, wanted, options, code, ordered, self.kept.can_take_back
        )


def _plain(typed: str) -> str:
    """What was typed, in the signs of a Latin keyboard: ？ is ?, and １６ is 16."""
    return unicodedata.normalize("NFKC", typed).strip() if len(typed) <= LONGEST_LINE else typed.strip()


def code_share(topic: Topic, result: Grade, rung: str) -> float:
    """What of the claims' points up to `rung` a grade has earned: 1 where it is reached and all of them hold."""
    if result.verdict != "pass" or result.rung_reached is None:
        return 0.0
    asked, earned = topic.ladder.up_to(rung), topic.ladder.up_to(result.rung_reached)
    claims = [claim for claim in result.claims if claim.rung in asked]
    if topic.ladder.reaches(result.rung_reached, rung) and all(claim.held for claim in claims):
        return 1.0
    worth = sum(claim.points for claim in claims)
    return sum(claim.points for claim in claims if claim.rung in earned and claim.held) / worth


def unwritten(topic: Topic) -> str:
    """What version 1 begins from: of the topic's starter the signature, and how it is launched."""
    starter = topic.starter.read_text(encoding="utf-8")
    if topic.suffix == ".py":
        return _RUN.sub("    def run(self):\n        pass  # your schedule\n", starter)
    return _KERNEL.sub(r"\1    // Your kernel.\n}\n", starter)


def write_unwritten(topic: Topic, file: Path) -> None:
    """Put that where the candidate writes, unless something is there; raises WarpladderError."""
    write_once(unwritten(topic), file)


def write_once(text: str, file: Path) -> None:
    """Put a text where the candidate writes, unless something is there; raises WarpladderError."""
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError:
        return
    except OSError as error:
        raise WarpladderError(f"it cannot be written: {error.strerror}", file=file) from None
