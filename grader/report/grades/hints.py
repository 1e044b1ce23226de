"""Hints in three steps: what limits a kernel now, the idea of the next rung, the lines that the rung changes. Of one
that is wrong: the concept, the line, and the line as it should be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from grader.report import console as views
from grader.report import words
from grader.results import ClaimResult, Grade
from grader.workbook.topic import Topic

STEPS = 3
CONTEXT = 2  # lines around a change
FROM_STARTER, FIRST_STEP = "the starter", "a kernel that is right"

AGAIN = "The idea of a rung, and the lines that it changes, are told once nothing comes before them."


@dataclass(frozen=True)
class Aim:
    """What the hints lead to, and from where: two sources that are compared."""

    name: str  # such as a rung's
    idea: str
    before: str  # the name of what it is compared with; "": something comes before any rung's idea
    old: str
    new: str
    pieces: tuple[
        str, ...
    ] = ()  # of `old` that are to be mended, where a wrong submission goes on from there
    told: tuple[str, ...] = ()  # the steps in words, where they do not follow from the two

    @property
    def changes(self) -> list[str]:
        """The lines that differ, as a unified diff without its head; the prose above the code is left out."""
        old, new = _code(self.old), _code(self.new)
        return list(difflib.unified_diff(old, new, n=CONTEXT, lineterm=""))[2:]


def aim(topic: Topic, result: Grade) -> Aim | None:
    """What to go for; None at the top of the ladder. A wrong submission goes for what the starter asks for."""
    ladder = topic.ladder
    if result.verdict == "pass" and not result.hints:
        return None
    starter, step = topic.starter_text, topic.first_step
    if topic.hints:
        return Aim(FIRST_STEP, "", FROM_STARTER, starter, ladder.rungs[0].source, told=topic.hints)
    if result.verdict != "pass" and step is not None:
        told = f'{step.concept} The lesson tells it under "{step.section}".'
        pieces = tuple(old for old, _ in step.mend)
        return Aim(FIRST_STEP, told, FROM_STARTER, starter, topic.mended(step), pieces)
    if result.verdict == "pass" and not result.hints[0].idea:
        return Aim(result.hints[0].rung, result.hints[0].text, "", "", "")
    wanted = ladder[result.hints[0].rung if result.verdict == "pass" else ladder.ids[0]]
    place = ladder.place(wanted.id)
    below = (FROM_STARTER, starter) if place == 0 else (ladder.ids[place - 1], ladder.rungs[place - 1].source)
    return Aim(wanted.id, wanted.idea, *below, wanted.source)


def hint(
    step: int, result: Grade, found: Aim | None, source: Sequence[str], lesson: str = ""
) -> RenderableType:
    """One step, 1 to 3; `source` are the submission's lines, `lesson` is where the lesson is read."""
    if found is None:
        return Text("The top of the ladder is reached: there is no further rung to hint at.")
    head = (f"Hint {step} of {STEPS}", "bold")
    if found.told:
        said = found.told[step - 1]
        return Group(Text.assemble(head, ": ", said), *words.told([said]), *_and_more(step, "more"))
    steps = _steps(result, found, source)
    title, body, shown = steps[step - 1]
    parts: list[RenderableType] = [Text.assemble(head, f": {title}"), "", *body, *words.told(shown)]
    if step == 1 and lesson:
        parts += ["", Text(f"The lesson: {lesson}")]
    return Group(*parts, *_and_more(step, steps[step][0] if step < STEPS else ""))


_Step = tuple[str, Iterable[RenderableType], Iterable[str | None]]
"""A title, what is shown, and those of its texts whose words are told."""


def _steps(result: Grade, found: Aim, source: Sequence[str]) -> tuple[_Step, _Step, _Step]:
    idea = [Text(found.idea)]
    changes: _Step = (
        f"what changes from {found.before} to {found.name}",
        [Group(*map(_changed, found.changes))],
        [],
    )
    # What cannot be run has no outcome yet that a concept would explain: the compiler's words come first.
    if found.pieces and result.verdict != "error":
        line = ("the line", _line(result, found, source), [found.idea])
        return ("the concept", idea, [found.idea]), line, ("the line as it should be", *changes[1:])
    limits = _wrong(result, source) if result.verdict != "pass" else _limits(result, source)
    first = ("what limits it now", limits, [*views.said(result), *_needed(result)])
    if not found.before:
        return first, ("what comes first", idea, [found.idea]), ("what comes then", [Text(AGAIN)], [])
    return first, (f"the idea of {found.name}", idea, [found.idea]), changes


def _line(result: Grade, found: Aim, source: Sequence[str]) -> Iterable[RenderableType]:
    """The lines of the submission that are to be mended: the starter's that stand there still, else that of what the
    judge found."""
    text = "\n".join(source)
    lines = [text[: text.index(piece)].count("\n") + 1 for piece in found.pieces if piece in text]
    at = f" of {Path(result.file).name}"
    if lines:
        yield Text(f"Look at line {' and line '.join(map(str, sorted(lines)))}{at}:")
        yield from (views.line_of(source[number - 1]) for number in sorted(lines))
        return
    yield Text("What the starter asks for is changed in your file. The judge found:")
    yield Text(result.reason or result.verdict, views.VERDICT_STYLES[result.verdict])
    yield from (views.quoted(finding, source) for finding in result.findings[:1])


def _and_more(step: int, further: str) -> Iterable[RenderableType]:
    """What the next step tells."""
    if step < STEPS:
        yield from ("", Text(f"Ask again, or with --step {step + 1}, for {further}.", "dim"))


def _wrong(result: Grade, source: Sequence[str]) -> Iterable[RenderableType]:
    yield Text("It has to be right before it can be fast.")
    yield Text(result.reason or result.verdict, views.VERDICT_STYLES[result.verdict])
    # The reason tells of the first finding.
    yield from (views.quoted(finding, source) for finding in result.findings[:1])


def _missing(result: Grade) -> list[ClaimResult]:
    """What the rung that is hinted at claims, and the submission does not."""
    return [claim for claim in result.claims if claim.rung == result.hints[0].rung and not claim.held]


def _needed(result: Grade) -> Iterable[str]:
    """The words of what `_limits` shows."""
    if result.hints:
        yield from (claim.text for claim in _missing(result))
        yield result.hints[0].text


def _limits(result: Grade, source: Sequence[str]) -> Iterable[RenderableType]:
    missing = _missing(result)
    if missing:
        yield Text(f"Right, and {result.rung_reached} is reached. What {missing[0].rung} needs as well:")
        yield views.claims(missing)
    else:
        yield Text(result.hints[0].text)
    if result.costliest is not None:
        yield Text()
        yield from views.costliest(result.costliest, source)


def _code(source: str) -> list[str]:
    """The lines of a file below the prose at its head: from the launch block on, or after the docstring."""
    lines = source.splitlines()
    if source.startswith('"""'):
        end = next((n for n, line in enumerate(lines) if n and line.endswith('"""')), 0)
        return lines[end + 1 :]
    start = next((n for n, line in enumerate(lines) if "/// launch" in line), 0)
    return [line for line in lines[start:] if not line.startswith("// side_step")]


def _changed(line: str) -> Text:
    """A line of the diff, which is never broken into two."""
    style = {"+": "green", "-": "red", "@": "dim"}.get(line[:1], "")
    return Text("..." if line.startswith("@@") else line, style, no_wrap=True, overflow="ignore")
