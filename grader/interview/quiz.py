"""A quiz: questions of the bank, with free text, probes drawn at random, and kernels where they are wanted."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from grader.errors import WarpladderError
from grader.interview import session
from grader.interview.bank import GENERAL, ROLES, FollowUp, KernelQuestion, Question, find, known_role
from grader.interview.interviewer import Interviewer
from grader.interview.prompts import Flow
from grader.interview.session import Code, Session
from grader.interview.talks import Talks
from grader.interview.writing import version
from grader.workbook.topic import Topic

HINT = "`ladder climb` shows what each version of the ladder buys, and the kernels say how."


def choose(
    bank: Mapping[str, Question],
    names: Sequence[str],
    topic: str | None,
    seed: int,
    count: int | None,
    role: str | None = None,
) -> list[Question]:
    """The questions of a quiz: those named, else those of a topic and of a role; with `count`, so many of them drawn.

    Without a role, a topic is asked whole; without both, the role is "kernels". Raises WarpladderError for an unknown
    name or role, or where nothing is left to ask.
    """
    named = {found.name: found for found in (find(bank, name) for name in names)}
    wanted = known_role(role or (GENERAL if topic else ROLES[0]))
    chosen = list(named.values()) or [question for question in bank.values() if question.is_for(wanted)]
    if topic is not None:
        chosen = [question for question in chosen if topic in question.topics]
    if not chosen:
        raise WarpladderError(f"no question belongs to {topic}", remedy="`ladder quiz --list` shows all")
    if count is None or count >= len(chosen):
        return chosen
    return random.Random(seed).sample(chosen, count)


def begin(questions: Sequence[Question], seed: int, minutes: float = 0, kernels: bool = False) -> Session:
    """A session in which nothing has been asked yet."""
    names = [question.name for question in questions]
    title = questions[0].title if len(names) == 1 else f"A quiz of {len(names)} questions"
    return session.begin("quiz", title, names, seed, minutes, kernels=kernels)


class Quiz:
    """A quiz between the workbook and a candidate."""

    def __init__(
        self, bank: Mapping[str, Question], topics: Mapping[str, Topic], interviewer: Interviewer
    ) -> None:
        """Raises WarpladderError where a question is no longer there."""
        self.interviewer, self.kept = interviewer, interviewer.kept
        missing = [name for name in self.kept.questions if name not in bank]
        if missing:
            raise WarpladderError(f"the bank has no {', '.join(missing)} any more", file=interviewer.path)
        self.questions = [bank[name] for name in self.kept.questions]
        self.topics = topics
        self.talks = Talks(interviewer)

    def run(self) -> Flow[None]:
        """Ask until everything is asked, or time is up."""
        for number, question in enumerate(self.questions):
            if not self.interviewer.clock.up:
                yield from self._question(
                    question, f"Question {number + 1} of {len(self.questions)}: {question.title}"
                )
        self.interviewer.time_is_up()

    def _question(self, question: Question, heading: str) -> Flow[None]:
        yield from self.talks.converse(
            question.name, heading, question.question, question.points, question.name
        )
        for kernel in question.kernels if self.kept.kernels else ():
            if not self.interviewer.clock.up:
                yield from self._kernel(question, kernel, heading)
        yield from self.talks.checked(question.title, question.name)
        yield from self.talks.rate(question.name, model_answer(question))
        if not self.interviewer.clock.up:
            further = f"{question.title}: a further question"
            yield from self.interviewer.follow_up(
                f"{question.name}.follow_up", further, self._drawn(question)
            )

    def _kernel(self, question: Question, kernel: KernelQuestion, heading: str) -> Flow[Code]:
        topic = self.topics[kernel.topic]
        file = self.interviewer.path.with_name(f"{question.name}-{kernel.topic}{topic.suffix}")
        step = f"{question.name}.{kernel.topic}.{kernel.rung}"
        return version(self.interviewer, step, heading, kernel.ask, topic, kernel.rung, HINT, file)

    def _drawn(self, question: Question) -> FollowUp:
        """One of the question's follow-ups."""
        return random.Random(f"{self.kept.seed} {question.name}").choice(question.follow_ups)


def model_answer(question: Question) -> str:
    """The model answer with the wrong ones that circulate, in Markdown."""
    wrong = "\n\n".join(f"**Wrong: “{item.says}”** {item.correction}" for item in question.common_errors)
    return f"{question.answer}\n\n{wrong}"
