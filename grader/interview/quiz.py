"""A quiz: questions of the bank, with free text, numbers drawn at random, and kernels where they are wanted."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader.errors import WarpladderError
from grader.interview import numbers
from grader.interview.bank import FollowUp, KernelQuestion, NumberQuestion, Question
from grader.interview.interviewer import BrokenOff, Frontend, Interviewer, Judge, write_starter
from grader.interview.numbers import Drawn
from grader.interview.session import Clock, Session
from grader.workbook.topic import Topic

HINT = "`ladder climb` shows what each version of the ladder buys, and the kernels say how."


def choose(
    bank: Mapping[str, Question], ids: Sequence[str], topic: str | None, seed: int, count: int | None
) -> list[Question]:
    """The questions of a quiz: those named, else those of a topic, else all; with `count`, so many of them drawn.

    Raises WarpladderError for an unknown id, or where nothing is left to ask.
    """
    for question_id in ids:
        if question_id not in bank:
            message = f"there is no question `{question_id}`"
            raise WarpladderError(message, remedy="`ladder quiz --list` shows every question")
    chosen = [bank[question_id] for question_id in dict.fromkeys(ids)] or list(bank.values())
    if topic is not None:
        chosen = [question for question in chosen if topic in question.topics]
    if not chosen:
        raise WarpladderError(f"no question belongs to {topic}", remedy="`ladder quiz --list` shows all")
    if count is None or count >= len(chosen):
        return chosen
    return random.Random(seed).sample(chosen, count)


def begin(questions: Sequence[Question], seed: int, minutes: float = 0, kernels: bool = False) -> Session:
    """A session in which nothing has been asked yet."""
    ids = [question.id for question in questions]
    return Session(
        kind="quiz",
        title=f"{questions[0].id} {questions[0].title}"
        if len(ids) == 1
        else f"A quiz of {len(ids)} questions",
        topic="",
        questions=ids,
        minutes=minutes,
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        seed=seed,
        kernel_file="",
        kernels=kernels,
    )


def draw(question: Question, number: NumberQuestion, seed: int) -> Drawn:
    """A number question as a quiz of that seed asks it."""
    return numbers.draw(question, number, random.Random(f"{seed} {question.id}.{number.id}"))


def drawn_numbers(question: Question, seed: int) -> Iterator[Drawn]:
    """All number questions of a question."""
    for number in question.numbers:
        yield draw(question, number, seed)


class Quiz:
    """A quiz between the workbook and a candidate."""

    def __init__(
        self,
        bank: Mapping[str, Question],
        topics: Mapping[str, Topic],
        kept: Session,
        path: Path,
        frontend: Frontend,
        judge: Judge | None = None,
        clock: Clock | None = None,
    ) -> None:
        missing = [question_id for question_id in kept.questions if question_id not in bank]
        if missing:
            raise WarpladderError(f"the bank has no {', '.join(missing)} any more", file=path)
        self.questions = [bank[question_id] for question_id in kept.questions]
        self.topics = topics
        self.interviewer = Interviewer(kept, path, frontend, judge, clock)
        self.kept = kept

    def run(self) -> Session:
        """Ask until everything is asked, or time is up. Raises BrokenOff where the candidate leaves."""
        try:
            self.interviewer.save()
            for number, question in enumerate(self.questions):
                self._question(question, f"Question {number + 1} of {len(self.questions)}: {question.title}")
            if self.interviewer.clock.up:
                self.interviewer.frontend.time_is_up()
            self.kept.over = True
            self.interviewer.save()
        except (KeyboardInterrupt, EOFError):
            self.interviewer.save()
            raise BrokenOff(self.interviewer.path) from None
        return self.kept

    def _open(self, step: str) -> bool:
        """Whether a step is still to be asked."""
        return self.kept.answer(step) is None and not self.interviewer.clock.up

    def _question(self, question: Question, heading: str) -> None:
        if self._open(question.id):
            self.interviewer.talk(question.id, heading, question.question, question.points)
        for number in question.numbers:
            if self._open(f"{question.id}.{number.id}"):
                self._number(question, number, heading)
        for kernel in question.kernels if self.kept.kernels else ():
            if self._open(f"{question.id}.{kernel.topic}.{kernel.rung}"):
                self._kernel(question, kernel, heading)
        follow_up = f"{question.id}.follow_up"
        if self._open(follow_up):
            self.interviewer.frontend.say(model_answer(question), "A senior engineer would say")
            self.interviewer.follow_up(
                follow_up, f"{question.title}: a further question", self._drawn(question)
            )

    def _number(self, question: Question, number: NumberQuestion, heading: str) -> None:
        drawn = draw(question, number, self.kept.seed)
        step = f"{question.id}.{number.id}"
        self.interviewer.figure(
            step, heading, drawn.text, number.unit, drawn.answer, number.tolerance, drawn.explain
        )

    def _kernel(self, question: Question, kernel: KernelQuestion, heading: str) -> None:
        topic = self.topics[kernel.topic]
        file = self.interviewer.path.with_name(f"{question.id}-{kernel.topic}{topic.suffix}")
        write_starter(topic, file)
        step = f"{question.id}.{kernel.topic}.{kernel.rung}"
        self.interviewer.code(step, heading, kernel.ask, topic, kernel.rung, HINT, file)

    def _drawn(self, question: Question) -> FollowUp:
        """One of the question's follow-ups."""
        return random.Random(f"{self.kept.seed} {question.id}").choice(question.follow_ups)


def model_answer(question: Question) -> str:
    """The model answer with the wrong ones that circulate, in Markdown."""
    wrong = "\n\n".join(f"**Wrong: “{item.says}”** {item.correction}" for item in question.common_errors)
    return f"{question.answer}\n\n{wrong}"
