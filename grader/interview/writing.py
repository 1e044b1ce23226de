"""A file that the candidate writes, or changes, until the judge is content: a version of a ladder, a mended drill."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from grader.interview.interviewer import Interviewer
from grader.interview.prompts import HINT, Entry, Flow, Judged, Mended, Prompt, Work
from grader.interview.session import Code, Graded
from grader.judge.runners.pool import Progress
from grader.results import Grade
from grader.sandbox.scratch import Scratch
from grader.workbook.topic import Topic

_KERNEL = re.compile(r"(__global__[^{}]*\n\{\n).*?^\}\n", re.DOTALL | re.MULTILINE)
_RUN = re.compile(r"    def run\(self\):\n.*", re.DOTALL)
"""What is to be written: the body of a starter's kernel, the last method of its schedule."""


@dataclass(frozen=True)
class Worth:
    """What a version is worth."""

    share: float  # of the points, from 0 to 1; 1 ends the task
    said: str = ""  # what is to be said of it besides the judge's verdict, in Markdown


@dataclass(frozen=True)
class Task:
    """A file to be written."""

    step: str
    heading: str
    text: str  # what is asked for, in Markdown
    hint: str  # shown where the candidate asks for one, at a quarter of the points
    topic: str  # whose judge looks at it
    file: Path
    starter: str  # what lies there at first
    judge: Callable[[Path, Progress], Grade]
    worth: Callable[[Grade, str], Worth]  # what a grade of a source earns
    rung: str = ""  # of the topic's ladder, that is asked for; "" for a change


def write(interviewer: Interviewer, task: Task) -> Flow[Code]:
    """Ask for a version until it earns everything, the candidate goes on without, or time is up."""
    draft = Code(
        step=task.step,
        asked=task.text,
        topic=task.topic,
        rung=task.rung,
        source="",
        verdict=None,
        reason=None,
        rung_reached=None,
        share=0.0,
        attempts=0,
        hint=False,
        counters=None,
        facts=None,
        seconds=0.0,
        file=str(task.file),
    )
    interviewer.began()
    text = task.text if task.rung else f"{task.text} The file is `{task.file}`."
    while draft.share < 1:
        reply = yield from interviewer.asked(
            Prompt(
                task.step,
                "code",
                task.heading,
                text,
                interviewer.clock.left_s,
                file=task.file,
                starter=task.starter,
                draft=draft,
            )
        )
        draft = msgspec.structs.replace(
            draft, seconds=draft.seconds + reply.seconds, late=interviewer.clock.late
        )
        if reply.do == "skip":
            break
        if reply.do == "hint":
            draft = msgspec.structs.replace(draft, hint=True)
            interviewer.say(task.hint, HINT)
        elif reply.typed in (draft.source, task.starter):
            interviewer.say(
                f"`{task.file}` has not changed since it was last looked at: save it in your editor."
            )
        else:
            draft = yield from _graded(interviewer, task, draft, reply.typed)
        if interviewer.clock.up:
            break
    interviewer.keep(draft)
    interviewer.told()
    return draft


def _graded(interviewer: Interviewer, task: Task, draft: Code, source: str) -> Flow[Code]:
    """Have the judge look at what is in the file."""
    work = Work(task.step, task.file, lambda progress: Graded(task.step, _judged(task, source, progress)))
    event = yield from interviewer.done(work)
    assert isinstance(event, Graded)
    result = event.grade
    worth = task.worth(result, source)
    interviewer.show(_entry(task, result, worth, source.splitlines()))
    if task.rung and worth.share == 1:
        interviewer.counted = result
        yield from interviewer.go_on()
    return msgspec.structs.replace(
        draft,
        source=source,
        verdict=result.verdict,
        reason=result.reason,
        rung_reached=result.rung_reached if task.rung else None,
        share=worth.share,
        attempts=draft.attempts + 1,
        counters=result.counters,
        facts=result.facts,
    )


def _judged(task: Task, source: str, progress: Progress) -> Grade:
    """What the judge says of a source: of a copy of it, where the file has become another since."""
    with suppress(OSError, UnicodeDecodeError):
        if task.file.read_text(encoding="utf-8") == source:
            return task.judge(task.file, progress)
    with Scratch() as folder:
        copy = folder / task.file.name
        copy.write_text(source, encoding="utf-8")
        return replace(task.judge(copy, progress), file=str(task.file))


def _entry(task: Task, result: Grade, worth: Worth, source: list[str]) -> Entry:
    if task.rung:
        return Judged(result, task.rung, source)
    return Mended(result, f"{verdict(result)} {worth.said}".rstrip(), source)


def verdict(result: Grade) -> str:
    """The judge's verdict of a change, in Markdown; why it is so stands elsewhere."""
    if result.verdict == "pass":
        return f"**Right**{f', in all {len(result.cases)} cases' if result.cases else ''}."
    return f"**Not yet** ({result.verdict})."


def version(
    interviewer: Interviewer,
    step: str,
    heading: str,
    text: str,
    topic: Topic,
    rung: str,
    hint: str,
    file: Path,
) -> Flow[Code]:
    """Ask for a version of a ladder; the arguments are a Task's."""
    task = Task(
        step=step,
        heading=heading,
        text=text,
        hint=hint,
        topic=topic.name,
        file=file,
        starter=unwritten(topic),
        judge=lambda file, progress: interviewer.judge.grade(topic, file, progress),
        worth=lambda result, source: Worth(code_share(topic, result, rung)),
        rung=rung,
    )
    return (yield from write(interviewer, task))


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
