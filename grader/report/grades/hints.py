"""Hints in three steps: what limits a kernel now, the idea of the next rung, the lines that the rung changes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from grader.report import console as views
from grader.results import Grade
from grader.workbook.ladder import Rung
from grader.workbook.source_file import SourceFile
from grader.workbook.topic import Topic

STEPS = 3
CONTEXT = 2  # lines around a change
FROM_STARTER = "the starter"


@dataclass(frozen=True)
class Aim:
    """What the hints lead to: a rung, and the source that its file is compared with."""

    rung: Rung[SourceFile]
    before: str  # the name of what it is compared with
    source: str

    @property
    def changes(self) -> list[str]:
        """The lines that differ, as a unified diff without its head; the prose above the code is left out."""
        old, new = _code(self.source), _code(self.rung.source)
        return list(difflib.unified_diff(old, new, n=CONTEXT, lineterm=""))[2:]


def aim(topic: Topic, result: Grade) -> Aim | None:
    """What to go for; None at the top of the ladder. A wrong submission goes for rung 0, from the starter."""
    ladder = topic.ladder
    if result.verdict == "pass" and not result.hints:
        return None
    wanted = result.hints[0].rung if result.verdict == "pass" else ladder.ids[0]
    place = ladder.place(wanted)
    if place == 0:
        return Aim(ladder[wanted], FROM_STARTER, topic.starter.read_text(encoding="utf-8"))
    below = ladder.rungs[place - 1]
    return Aim(ladder[wanted], below.id, below.source)


def hint(step: int, result: Grade, found: Aim | None, source: Sequence[str]) -> RenderableType:
    """One step, 1 to 3; `source` are the submission's lines."""
    if found is None:
        return Text("The top of the ladder is reached: there is no further rung to hint at.")
    head = (f"Hint {step} of {STEPS}", "bold")
    if step == 1:
        parts: list[RenderableType] = [Text.assemble(head, ": what limits it now"), ""]
        parts += _wrong(result, source) if result.verdict != "pass" else _limits(result, source)
    elif step == 2:
        parts = [Text.assemble(head, f": the idea of {found.rung.id}"), ""]
        parts.append(Text(found.rung.idea))
    else:
        parts = [Text.assemble(head, f": what changes from {found.before} to {found.rung.id}"), ""]
        parts.append(Group(*(_changed(line) for line in found.changes)))
    if step < STEPS:
        further = ("the idea of the next rung, in words", "the lines that differ between the rungs")[step - 1]
        parts += ["", Text(f"Ask again, or with --step {step + 1}, for {further}.", "dim")]
    return Group(*parts)


def _wrong(result: Grade, source: Sequence[str]) -> Iterable[RenderableType]:
    yield Text("It has to be right before it can be fast.")
    yield Text(result.reason or result.verdict, views.VERDICT_STYLES[result.verdict])
    yield from views.findings(result.findings[:1], result.file, source)


def _limits(result: Grade, source: Sequence[str]) -> Iterable[RenderableType]:
    missing = [claim for claim in result.claims if claim.rung == result.hints[0].rung and not claim.held]
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
    style = {"+": "green", "-": "red", "@": "dim"}.get(line[:1], "")
    return Text("..." if line.startswith("@@") else line, style)
