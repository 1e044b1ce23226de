"""What a drill asks after its steps: a file is written for the candidate, who changes it until the judge is content."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grader.interview.interviewer import Interviewer, write_once
from grader.interview.session import Code
from grader.judge.runners.pool import Progress
from grader.results import Grade


@dataclass(frozen=True)
class Worth:
    """What a change is worth."""

    share: float  # of the points, from 0 to 1; 1 ends the task
    said: str = ""  # what is to be said of it besides the judge's verdict, in Markdown


@dataclass(frozen=True)
class Task:
    """A file to be changed."""

    step: str
    heading: str
    text: str  # what is asked for, in Markdown
    hint: str  # shown where the candidate asks for one, at a quarter of the points
    topic: str  # whose judge looks at it
    source: str  # that lies there at first
    judge: Callable[[Path, Progress], Grade]
    worth: Callable[[Grade, str], Worth]  # what a grade of a source earns


def file_of(interviewer: Interviewer, name: str, suffix: str) -> Path:
    """Where the candidate writes: beside the session's file, and named after it, so that each session has its own.

    Of several drills each has its number: a drill's name may hint at what is asked.
    """
    names = interviewer.kept.questions
    number = f"-{names.index(name) + 1}" if len(names) > 1 else ""
    return interviewer.path.with_name(f"{interviewer.path.stem}{number}{suffix}")


def mend(interviewer: Interviewer, task: Task, file: Path) -> Code:
    """Ask for a change until it is what was asked for, the candidate goes on without, or time is up.

    Raises WarpladderError where the file cannot be written.
    """
    write_once(task.source, file)
    began, draft = interviewer.clock.elapsed_s, interviewer.kept.draft
    if draft is None or draft.step != task.step:
        draft = Code(
            task.step, task.text, task.topic, "", "", None, None, None, 0.0, 0, False, None, None, 0.0
        )
    before = draft.seconds
    while draft.share < 1:
        asked = interviewer.asked(task.step, task.heading, f"{task.text} The file is `{file}`.")
        action = interviewer.frontend.code(asked, file, draft)
        seconds = before + interviewer.clock.elapsed_s - began
        draft = msgspec.structs.replace(draft, seconds=seconds, late=interviewer.clock.late)
        if action == "skip":
            break
        if action == "hint":
            draft = msgspec.structs.replace(draft, hint=True)
            interviewer.frontend.say(task.hint, "Hint")
        else:
            draft = _graded(interviewer, task, file, draft)
        interviewer.kept.draft = draft
        interviewer.save()
        if interviewer.clock.up:
            break
    interviewer.kept.draft = None
    interviewer.keep(draft)
    return draft


def _graded(interviewer: Interviewer, task: Task, file: Path, draft: Code) -> Code:
    source = interviewer.source_of(file)
    if source is None:
        return draft
    if source in (draft.source, task.source):
        interviewer.frontend.say(
            f"`{file}` has not changed since it was last looked at: save it in your editor."
        )
        return draft
    with interviewer.clock.paused():
        with interviewer.frontend.grading(file) as progress:
            result = task.judge(file, progress)
        worth = task.worth(result, source)
        interviewer.frontend.mended(result, f"{verdict(result)} {worth.said}".rstrip())
    return msgspec.structs.replace(
        draft,
        source=source,
        verdict=result.verdict,
        reason=result.reason,
        share=worth.share,
        attempts=draft.attempts + 1,
        counters=result.counters,
        facts=result.facts,
    )


def verdict(result: Grade) -> str:
    """The judge's verdict of a change, in Markdown; why it is so stands elsewhere."""
    if result.verdict == "pass":
        return f"**Right**{f', in all {len(result.cases)} cases' if result.cases else ''}."
    return f"**Not yet** ({result.verdict})."


def difference(before: str, after: str) -> str:
    """What a change is, line by line, in Markdown."""
    return "\n".join(["```diff", *_compared(before, after, 1), "```"])


def changed(before: str, after: str) -> int:
    """How many lines a change takes out or puts in, whichever are more; blank ones count as well."""
    signs = [line[0] for line in _compared(before, after, 0)]
    return max(signs.count("-"), signs.count("+"))


def _compared(before: str, after: str, around: int) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=around, lineterm="")
    return list(lines)[2:]
