"""Hints in three steps: what limits a kernel now, the idea of the next rung, the lines that the rung changes. Of one
that is wrong: the concept, the line, and the line as it should be, as long as what the starter asks for is not done;
then what is wrong, the line, and the change that mends it, where one is known."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from grader.report import console as views
from grader.report import words
from grader.report.reproducing import again
from grader.report.terminal import unbroken
from grader.results import ClaimResult, Grade
from grader.workbook import cuda_source
from grader.workbook.marks import resembled
from grader.workbook.topic import Topic

STEPS = 3
CONTEXT = 2  # lines around a change
FROM_STARTER, FIRST_STEP = "the starter", "a kernel that is right"

OWN_RUNGS = "Both are the workbook's own: yours may have other names, and another grid."
OWN_KERNEL = (
    "It is the workbook's own: it has what yours has, and is fast enough. See what a thread and a block do."
)
_LAUNCH = re.compile(r"//\s*(?:grid|block)\s*=")
SEEN_TO_MEND, ADVISED = "the change that mends it", "what to do"


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

    @property
    def launches(self) -> list[str]:
        """The grids and blocks of the new one, where the changes do not show them."""
        shown = {line[1:] for line in self.changes}
        return [line for line in _code(self.new) if _LAUNCH.match(line) and line not in shown]

    @property
    def own_file(self) -> list[str]:
        """The lines of a rung's own file that stand for themselves, without a text to compare them with; the prose
        above the code is left out."""
        return [] if self.before else _code(self.new)


def aim(topic: Topic, result: Grade, source: str) -> Aim | None:
    """What to go for; None at the top of the ladder. A wrong submission goes for what the starter asks for, as long as
    something of that is left to do in its `source`, and then for what the judge found."""
    ladder = topic.ladder
    if result.verdict == "pass" and not result.hints:
        return None
    starter, step = topic.starter_text, topic.first_step
    if topic.hints:
        return Aim(FIRST_STEP, "", FROM_STARTER, starter, ladder.rungs[0].source, told=topic.hints)
    if result.verdict != "pass" and step is not None:
        pieces = tuple(
            old for old, new in step.mend if old in source and source.count(new) <= starter.count(new)
        )
        if not pieces:
            return Aim(FIRST_STEP, result.reason or "", "", "", "")
        told = f'{step.concept} The lesson tells it under "{step.section}".'
        return Aim(FIRST_STEP, told, FROM_STARTER, starter, topic.mended(step), pieces)
    if result.verdict == "pass" and not result.hints[0].idea:
        begun = resembled(ladder, source) if result.hints[0].claim is not None else None
        if begun is not None and 0 < ladder.place(result.hints[0].rung) < ladder.place(begun):
            # It goes another way than the rung that is next: that of the one which it has begun.
            above = ladder.rungs[ladder.place(begun) - 1]
            return Aim(begun, ladder[begun].idea, above.id, above.source, ladder[begun].source)
        # Where time alone is lacking, it has the idea: how the rung is fast stands in its own kernel.
        slow = result.hints[0].claim is None and result.hints[0].limit is not None
        rung = ladder[result.hints[0].rung]
        return Aim(rung.id, result.hints[0].text, "", "", rung.source if slow else "")
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
    own = [Text(OWN_RUNGS, "dim"), Text()] if found.before and found.before != FROM_STARTER else []
    changes: _Step = (
        f"what changes from {found.before} to {found.name}",
        [*own, Group(*map(_changed, (*found.launches, *found.changes)))],
        [],
    )
    if result.verdict != "pass" and not found.before:
        said = [*views.said(result)]
        seen = said if result.mended is None else [_seen(result)]
        return (
            ("what is wrong", _wrong(result, source), seen),
            ("the line", _wrong_lines(result, source), []),
            (SEEN_TO_MEND if result.mended is not None else ADVISED, _mending(result), said),
        )
    # What cannot be run has no outcome yet that a concept would explain: the compiler's words come first.
    if found.pieces and result.verdict != "error":
        line = ("the line", _lines(result, _places(found.pieces, source), source), [found.idea])
        return ("the concept", idea, [found.idea]), line, ("the line as it should be", *changes[1:])
    limits = _wrong(result, source) if result.verdict != "pass" else _limits(result, source)
    first = ("what limits it now", limits, [*views.said(result), *_needed(result)])
    if found.own_file:
        own_file: _Step = (
            f"how {found.name} does it",
            [Text(OWN_KERNEL, "dim"), Text(), Group(*map(_changed, found.own_file))],
            [],
        )
        _, why = _slow(found.idea)
        return first, ("what takes the time", [Text(why)], [why]), own_file
    if not found.before:
        return (
            first,
            ("what comes first", idea, [found.idea]),
            ("what to change", _first_change(result, source), []),
        )
    return first, (f"the idea of {found.name}", idea, [found.idea]), changes


def _places(pieces: Iterable[str], source: Sequence[str]) -> list[int]:
    """The lines in which pieces of a text begin."""
    text = "\n".join(source)
    return sorted(text[: text.index(piece)].count("\n") + 1 for piece in pieces)


def _lines(result: Grade, numbers: Sequence[int], source: Sequence[str]) -> Iterable[RenderableType]:
    """Lines of the submission that are to be looked at."""
    yield Text(f"Look at line {' and line '.join(map(str, numbers))} of {Path(result.file).name}:")
    yield from (views.line_of(source[number - 1]) for number in numbers)


def _wrong_lines(result: Grade, source: Sequence[str]) -> Iterable[RenderableType]:
    """Where the change is that mends it; else where what the judge found happens, or what was refused stands; of wrong
    values without a fault, where they are stored."""
    named = re.search(r"\blines? (\d+)(?:(?:, \d+)* and (\d+))?", result.mended or "")
    of_mend = [int(each) for each in named.groups() if each] if named else []
    if result.mended_line:
        of_mend = [result.mended_line]
    if of_mend and max(of_mend) <= len(source):
        yield from _lines(result, of_mend, source)
        return
    found = {finding.line for finding in result.findings[:1] if not finding.file}
    found |= {int(line) for line in re.findall(rf"{re.escape(result.file)}:(\d+)", result.reason or "")[:1]}
    numbers = sorted(line for line in found if line and line <= len(source))
    wrong = next((case.first_mismatch for case in result.cases if case.first_mismatch), None)
    # Of several kernels another one may have stored it.
    if not numbers and wrong is not None and len(cuda_source.kernels("\n".join(source))) < 2:
        numbers = cuda_source.stores_to("\n".join(source), wrong.array)
        if numbers:
            yield Text(f"No access is at fault by itself. What is wrong in {wrong.array} is stored there:")
    if numbers:
        yield from _lines(result, numbers, source)
    else:
        yield Text(f"No one line is known for it. The whole outcome: {_graded(result)}")


def _mending(result: Grade) -> Iterable[RenderableType]:
    """The change that the judge has seen to mend a submission; without one, what to look at."""
    if result.mended is not None:
        yield Text(result.mended)
        return
    yield Text(_advised(result) or result.reason or result.verdict)
    failed = next((case.reproduce for case in result.cases if case.reproduce is not None), None)
    yield ""
    if failed is not None:
        yield Text(f"The case that failed is run alone by {again(failed)}")
    else:
        yield Text(f"The whole outcome: {_graded(result)}")


def _first_change(result: Grade, source: Sequence[str]) -> Iterable[RenderableType]:
    """What to change before the idea of a rung is thought of."""
    first = result.hints[0]
    if first.claim is None:  # the judge has tried it
        yield Text(first.text)
    elif result.costliest is not None:
        yield from views.costliest(result.costliest, source)
    else:
        yield Text(
            f"What each line is counted with: ladder profile {result.topic} {shlex.quote(result.file)}"
        )


def _graded(result: Grade) -> str:
    return f"ladder grade {result.topic} {shlex.quote(result.file)}"


def _and_more(step: int, further: str) -> Iterable[RenderableType]:
    """What the next step tells."""
    if step < STEPS:
        yield from ("", Text(f"Ask again, or with --step {step + 1}, for {further}.", "dim"))


def _wrong(result: Grade, source: Sequence[str]) -> Iterable[RenderableType]:
    yield Text("It has to be right before it can be fast.")
    yield Text(_seen(result), views.VERDICT_STYLES[result.verdict])
    # The reason tells of the first finding.
    yield from (views.quoted(finding, source) for finding in result.findings[:1])


def _advised(result: Grade) -> str | None:
    """What mends the first finding, in words."""
    return next((finding.remedy for finding in result.findings[:1] if finding.remedy), None)


def _seen(result: Grade) -> str:
    """Why a submission is wrong, without what mends it, which is the last hint's."""
    reason = result.reason or result.verdict
    mends = result.mended or _advised(result)
    return reason.replace(f" {mends}", "") if mends else reason


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
        rung = missing[0].rung
        needs = "It also claims" if rung == result.rung_reached else f"What {rung} needs as well"
        yield Text(f"Right, and {result.rung_reached} is reached. {needs}:")
        yield views.claims(missing)
        yield from (Text(f"Also: {hint.text}") for hint in result.hints[1:] if hint.claim is None)
    else:
        hint = result.hints[0]
        slow = hint.claim is None and hint.limit is not None
        yield Text(unbroken(_slow(hint.text)[0] if slow else hint.text))
    if result.costliest is not None:
        yield Text()
        yield from views.costliest(result.costliest, source)


def _slow(text: str) -> tuple[str, str]:
    """That a kernel takes too long, in a sentence, and why, where that is known."""
    said, _, why = text.partition(". ")
    return f"{said.removesuffix('.')}.", why or text


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
