"""A coding interview: the versions of a ladder, each written, graded, and talked about, until time is up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.errors import WarpladderError
from grader.interview import session
from grader.interview.interviewer import Interviewer
from grader.interview.points import Point
from grader.interview.prompts import Flow, Work
from grader.interview.rounds import Interview, Ratio, Round, read_interview
from grader.interview.session import Code, Counted, Figure, Session
from grader.interview.talks import Talks
from grader.interview.writing import version
from grader.judge.values import named
from grader.workbook import units
from grader.workbook.expressions import ExpressionError, Number
from grader.workbook.topic import Topic

LIMITS = "What limits this version? Argue from the hardware, with numbers where you have them."
NEXT = "What would you do next, and why should it help?"

Part = Literal["before", "after", "code", "now", "limits", "next"]


@dataclass(frozen=True)
class Step:
    """One question of an interview."""

    id: str
    kind: Literal["opening", "follow_up"] | Part
    number: int = 0  # of the round or follow-up, from 0


def begin(interview: Interview, kernel_file: Path, seed: int, minutes: float | None = None) -> Session:
    """A session in which nothing has been asked yet."""
    return session.begin(
        "interview",
        interview.title,
        [interview.topic],
        seed,
        interview.minutes if minutes is None else minutes,
        topic=interview.topic,
        kernel_file=str(kernel_file),
    )


def all_steps(interview: Interview) -> list[Step]:
    """Every question of an interview, in order."""
    steps = [Step("opening", "opening")]
    for number, item in enumerate(interview.rounds):
        parts: list[Part] = ["code", "limits", "next"]
        if item.ratio is not None:
            parts = ["before", "after", *parts] if number else ["code", "limits", "now", "next"]
        steps += [Step(f"{item.rung}.{part}", part, number) for part in parts]
    return steps + [Step(f"follow_up.{n}", "follow_up", n) for n in range(len(interview.follow_ups))]


def overtaken(interview: Interview, topic: Topic, kept: Session) -> dict[str, str]:
    """Steps that are not asked, because a version written in time for an earlier round has come further.

    By step, the rung which that version reached. Of the furthest round that it reached, what limits it and what
    comes next are asked; of the rounds before, nothing more.
    """
    found: dict[str, str] = {}
    rounds = interview.rounds
    for number, item in enumerate(rounds):
        code = kept.answer(f"{item.rung}.code")
        if not isinstance(code, Code) or code.rung_reached is None or code.late:
            continue
        last = max(
            (n for n, other in enumerate(rounds) if topic.ladder.reaches(code.rung_reached, other.rung)),
            default=0,
        )
        if last > number:
            silent = [f"{item.rung}.{part}" for part in ("limits", "next")]
            for other in rounds[number + 1 : last + 1]:
                silent += [f"{other.rung}.{part}" for part in ("before", "after", "code", "now")]
            for other in rounds[number + 1 : last]:
                silent += [f"{other.rung}.{part}" for part in ("limits", "next")]
            found |= {step: code.rung_reached for step in silent if kept.answer(step) is None}
    return found


def known(interview: Interview, kept: Session) -> set[str]:
    """Questions for the ratio before a round that are not asked, because it was just told.

    It was, where the same ratio of the same version has been answered: of the naive version once it is written,
    or as a prediction that was settled. What such a question is worth, the prediction after it is worth as well.
    """
    told = (
        f"{item.rung}.before"
        for number, item in enumerate(interview.rounds)
        if any(_tells(interview, kept, earlier, number) for earlier in range(number))
    )
    return {step for step in told if kept.answer(step) is None}


def _tells(interview: Interview, kept: Session, earlier: int, number: int) -> bool:
    """Whether an earlier round has told the ratio before a round, for the version that is there by then."""
    rounds = interview.rounds
    one, other = rounds[earlier].ratio, rounds[number].ratio
    if one is None or other is None or (one.text, one.value.text) != (other.text, other.value.text):
        return False
    own = _latest(interview, kept, number)
    rung = rounds[earlier].rung
    shown = _settled(kept, f"{rung}.{'after' if earlier else 'now'}")
    if shown == "own" and own == f"{rung}.code":
        return True
    if shown == "workbook" and earlier == number - 1 and own in (None, f"{rung}.code"):
        return True
    return _settled(kept, f"{rung}.before") == "own" and own == _latest(interview, kept, earlier)


def _settled(kept: Session, step: str) -> str | None:
    """On whose kernel a figure that was shown was counted; None: none was shown."""
    figure = kept.answer(step)
    return figure.counted_on if isinstance(figure, Figure) and figure.answer is not None else None


def _latest(interview: Interview, kept: Session, number: int) -> str | None:
    """The step at which the candidate's latest right version before a round was written."""
    steps = [f"{item.rung}.code" for item in interview.rounds[:number]]
    right = [item.step for item in kept.answers if isinstance(item, Code) and item.facts is not None]
    return next((step for step in reversed(right) if step in steps), None)


def _ahead(asked: int, reached: int) -> str:
    """What is left out where a version is as far as a later one; both count from 1."""

    def versions(first: int, last: int) -> str:
        return f"version {first}" if first == last else f"versions {first} to {last}"

    counts = "counts" if reached == asked + 1 else "count"
    return (
        f"Your kernel is already version {reached}. What limits {versions(asked, reached - 1)}, and what comes next, "
        f"is not asked and not counted; {versions(asked + 1, reached)} {counts} as written."
    )


class Conversation:
    """One interview between the workbook and a candidate."""

    def __init__(self, topic: Topic, interviewer: Interviewer) -> None:
        self.topic = topic
        self.interview = read_interview(topic)
        self.interviewer, self.kept = interviewer, interviewer.kept
        self.talks = Talks(interviewer)
        self._counted: dict[str, Mapping[str, Number]] = {}

    def run(self) -> Flow[None]:
        """Ask until everything is asked, or time is up; then show what would have told too much before."""
        for step in all_steps(self.interview):
            if self.interviewer.clock.up:
                break
            silent = overtaken(self.interview, self.topic, self.kept)
            if step.id not in silent and step.id not in known(self.interview, self.kept):
                yield from self._ask(step)
        self.interviewer.time_is_up()
        if self.kept.answer("opening") is not None:
            yield from self.talks.checked("How you began", "opening")
            yield from self.talks.rate("opening", self.interview.answer)
        for number, item in enumerate(self.interview.rounds):  # those that there was no time for as well
            yield from self._settle(number, item)

    def _ask(self, step: Step) -> Flow[None]:
        if step.kind not in ("code", "limits"):  # which the explanation of a ratio would answer
            yield from self._settle_written()
        if step.kind == "opening":
            text = f"{self.interview.question}\n\nSay it in a few sentences; the code comes after."
            yield from self._converse(step, "To begin with", text, self.interview.points)
        elif step.kind == "follow_up":
            heading = f"A further question, {step.number + 1} of {len(self.interview.follow_ups)}"
            yield from self.interviewer.follow_up(step.id, heading, self.interview.follow_ups[step.number])
        else:
            yield from self._ask_of_round(step, self.interview.rounds[step.number])

    def _ask_of_round(self, step: Step, item: Round) -> Flow[None]:
        heading = f"Version {step.number + 1} of {len(self.interview.rounds)}"
        if step.kind == "code":
            yield from self._code(step, heading, item)
        elif step.kind == "limits":
            yield from self._converse(step, f"{heading}: what limits it", LIMITS, item.limits)
        elif step.kind == "next":
            yield from self._converse(step, f"{heading}: what next", NEXT, item.next)
            yield from self.talks.checked(f"{heading}, looked back at", f"{item.rung}.limits", step.id)
            yield from self.talks.rate(step.id, item.answer, f"{item.rung}.limits")
        elif item.ratio is not None:
            yield from self._ratio(step, heading, item, item.ratio)

    def _converse(self, step: Step, heading: str, text: str, points: tuple[Point, ...]) -> Flow[None]:
        return self.talks.converse(step.id, heading, text, points, self.interview.name)

    def _code(self, step: Step, heading: str, item: Round) -> Flow[None]:
        """A version; what was predicted of it is compared with its counters once its limits are named."""
        yield from version(
            self.interviewer,
            step.id,
            f"{heading}: write it",
            item.ask,
            self.topic,
            item.rung,
            item.hint,
            Path(self.kept.kernel_file),
        )
        silent = overtaken(self.interview, self.topic, self.kept)
        last = max(
            (n for n, other in enumerate(self.interview.rounds) if f"{other.rung}.code" in silent), default=0
        )
        if last > step.number and not self.interviewer.clock.up:
            self.interviewer.say(_ahead(step.number + 1, last + 1))

    def _ratio(self, step: Step, heading: str, item: Round, ratio: Ratio) -> Flow[None]:
        """The ratio of the version that is there, checked at once, or of the one to be written, checked then."""
        sizes = self._sizes()
        question = f"{ratio.text}\n\n(It is counted at {sizes}.)"
        if step.kind == "after":
            text = f"And of the version that you are about to write? {question}"
            if f"{item.rung}.before" in known(self.interview, self.kept):
                text = f"{item.ask}\n\nBefore you write it, of **the version that you are about to write**: {question}"
            yield from self.interviewer.figure(
                step.id, f"{heading}: predict", text, ratio.unit, None, ratio.tolerance, ratio.explain
            )
            return
        answer, own = yield from self._value(ratio, max(step.number - 1, 0), latest=True)
        if step.kind == "before":
            which = "the version that you have" if own == "own" else "the version that we talked about"
            text = f"{item.ask}\n\nBefore you write it, of **{which}**: {question}"
            explain = ""
        else:
            which = "the version that you have just written" if own == "own" else "the naive version"
            text, explain = f"Of {which}: {question}", ratio.explain
        name = f"{heading}: {'before' if step.kind == 'before' else 'in numbers'}"
        yield from self.interviewer.figure(
            step.id, name, text, ratio.unit, answer, ratio.tolerance, explain, own
        )

    def _settle_written(self) -> Flow[None]:
        """Predictions of versions that were written, compared with their counters."""
        for number, item in enumerate(self.interview.rounds):
            if self.kept.answer(f"{item.rung}.code") is not None:
                yield from self._settle(number, item)

    def _settle(self, number: int, item: Round) -> Flow[None]:
        """A prediction, compared; of a version for which there was no time, with the workbook's own."""
        figure = self.kept.answer(f"{item.rung}.after")
        if item.ratio is not None and isinstance(figure, Figure) and figure.answer is None:
            answer, own = yield from self._value(item.ratio, number)
            yield from self.interviewer.settle(figure.step, answer, item.ratio.tolerance, own)

    def _value(
        self, ratio: Ratio, number: int, latest: bool = False
    ) -> Flow[tuple[float, Literal["own", "workbook"]]]:
        """A ratio of the candidate's version of a round, or of the latest; where there is none, the workbook's."""
        rung = self.interview.rounds[number].rung
        own = self._own(None if latest else number)
        if own is not None:
            try:
                return float(ratio.value.evaluate(own)), "own"
            except ExpressionError:
                pass  # such as wavefronts a request, of a version without shared memory
        if rung not in self._counted:
            work = Work(rung, None, lambda _: Counted(rung, self._workbook(rung)))
            event = yield from self.interviewer.done(work)
            assert isinstance(event, Counted)
            self._counted[rung] = event.values
        try:
            return float(ratio.value.evaluate(self._counted[rung])), "workbook"
        except ExpressionError as error:
            raise WarpladderError(str(error), file=self.interview.file, line=ratio.line) from None

    def _workbook(self, rung: str) -> dict[str, Number]:
        """What is counted of a rung of the workbook."""
        return dict(self.interviewer.judge.values(self.topic, self.topic.rung(rung).path))

    def _own(self, number: int | None) -> Mapping[str, Number] | None:
        """What was counted of the candidate's latest right version; None: there is none.

        With `number`, only if it is what that round asks for: it got as far, and not as far as the next.
        """
        codes = [item for item in self.kept.answers if isinstance(item, Code) and item.facts is not None]
        if not codes:
            return None
        if number is not None:
            rungs = [item.rung for item in self.interview.rounds]
            far = [
                self.topic.ladder.reaches(codes[-1].rung_reached, rung) for rung in rungs[number : number + 2]
            ]
            if not far[0] or any(far[1:]):
                return None
        return named(self.topic, codes[-1].counters, codes[-1].facts or {})

    def _sizes(self) -> str:
        return ", ".join(f"{name} = {units.compact(value)}" for name, value in self.topic.claim_sizes.items())
