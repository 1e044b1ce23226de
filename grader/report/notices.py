"""Everything the command line says that is not a result of judging: errors, lists, diagnoses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.emulator.machine.records import LaunchRecord
from grader.errors import WarpladderError
from grader.findings import origins
from grader.findings.kernels import message
from grader.findings.remedies import remedy
from grader.report import console as views
from grader.visible import visible
from grader.workbook import units

if TYPE_CHECKING:
    from grader.workbook.exercises import Exercise
    from grader.workbook.programs import Program
    from grader.workbook.topic import Topic


def error(console: Console, problem: WarpladderError) -> None:
    """Print what is wrong, where, and what to do about it. Lines of the message keep their own breaks; in a pipe, and
    in a file, nothing is broken, so that a path can be searched for."""
    piped = not console.is_terminal
    place = visible(":".join(str(part) for part in (problem.file, problem.line) if part is not None))
    text = Text.assemble(("error: ", "bold red"), (f"{place}: " if place else "", "bold"), problem.message)
    console.print(text, soft_wrap=piped or "\n" in problem.message)
    if problem.remedy:
        remedy = Text.assemble(("→ ", "bold green"), problem.remedy)
        console.print(Padding(remedy, (0, 0, 0, 2)) if not piped else Text("  ") + remedy, soft_wrap=piped)


def unremembered(console: Console) -> None:
    """That a session goes on without a history."""
    console.print(
        Text("note: The session goes on; its card is shown, and nothing is remembered of it.", "yellow")
    )


def unconfined(left: str) -> RenderableType:
    """That little stands between what is run and this machine; `left` says what it may do, without its name."""
    said = f"Little confines what is graded here: it {left}. `ladder doctor` says what would keep it in."
    return Text(f"note: {said}", "yellow")


def topics(
    found: Sequence[Topic],
    exercises: Sequence[Exercise],
    programs: Sequence[Program],
    reached: Mapping[str, int],
) -> RenderableType:
    """Each topic with its rungs in the order of study, the small exercises, and the whole programs; `reached` says of
    how many rungs of a topic or an exercise a learner has had kernels, which are ticked."""
    parts: list[RenderableType] = []
    for number, topic in enumerate(found, 1):
        parts.append(Text.assemble(f"{number:2}  ", (topic.name, "bold"), f"   {topic.title}"))
        parts.append(Padding(Text(str(topic.signature), "dim"), (0, 0, 0, 4)))
        ticked = reached[topic.name]
        rungs = _ticked((rung.id, place < ticked) for place, rung in enumerate(topic.rungs))
        parts += [Padding(rungs, (0, 0, 0, 4)), ""]
    parts.append(
        Text.assemble(("small exercises", "bold"), "   One idea each, before and between the ladders")
    )
    done = _ticked((each.name, reached[each.name] == len(each.rungs)) for each in exercises)
    parts += [Padding(done, (0, 0, 0, 2)), ""]
    for item in programs:
        parts.append(Text.assemble((item.name, "bold"), f"   {item.title}"))
        usage = f"{' '.join(item.arguments)} → {', '.join(item.prints)}; without a ladder"
        parts += [Padding(Text(usage, "dim"), (0, 0, 0, 2)), ""]
    said = "ladder climb TOPIC runs a ladder, ladder new TOPIC or EXERCISE starts your own kernel"
    page = "ladder learn is a page for both"
    parts.append(Text(f"In the order of study. {said}, {page}, ladder next says what to do now.", "dim"))
    return Group(*parts)


def _ticked(found: Iterable[tuple[str, bool]]) -> Text:
    """Names in a row, of which some are ticked."""
    row = Text()
    for name, tick in found:
        row.append("✓ " if tick else "", "green").append(name.replace(" ", "\u00a0")).append("  ")
    return row


def topics_json(found: Sequence[Topic], exercises: Sequence[Exercise]) -> bytes:
    """The same as JSON: a list of objects with name, title, rungs, sizes, the library's name, and the small exercises
    that prepare the topic."""
    listed = [
        {
            "name": topic.name,
            "title": topic.title,
            "rungs": list(topic.ladder.ids),
            "sizes": {"main": topic.sizes_main, "count": topic.sizes_count},
            "library": topic.library,
            "exercises": [
                {"name": each.name, "title": each.title} for each in exercises if each.before == topic.name
            ],
        }
        for topic in found
    ]
    return msgspec.json.format(msgspec.json.encode(listed), indent=2) + b"\n"


class _Check(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def found(self) -> str: ...
    @property
    def needed_for(self) -> str: ...
    @property
    def required(self) -> bool: ...
    @property
    def remedy(self) -> str | None: ...


class _Diagnosis(Protocol):
    @property
    def checks(self) -> Sequence[_Check]: ...
    @property
    def device(self) -> str: ...
    @property
    def usable(self) -> bool: ...


def doctor(diagnosis: _Diagnosis) -> RenderableType:
    """What was found, and what to type where something is missing."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(width=1)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in diagnosis.checks:
        good = check.state == "ok"
        text = Text(check.found)
        if not good:
            text.append(f"\nneeded for {check.needed_for}", "dim")
        if check.remedy:
            text.append(f"\n→ {check.remedy}", "green")
        table.add_row(views.mark(True if good else False if check.required else None), check.name, text)
    device = "the GPU" if diagnosis.device == "gpu" else "the emulator"
    state = Text(f"Kernels run on {device}." if diagnosis.usable else "No kernel can run yet.", "bold")
    return Group(table, "", state)


def emulation(
    console: Console,
    launches: Sequence[LaunchRecord],
    failure: str | None,
    script: Path,
    times_read: bool = False,
) -> None:
    """What the emulator has to say after a script: its failure, faults its kernels made, and whose times it read."""
    if failure is not None:
        console.print(Text(failure.rstrip()), soft_wrap=True)
    for number, launch in enumerate(launches):
        for finding in launch.findings:
            where = f"launch {number}, {launch.kernel}"
            where += f", {finding.place.words()}" if finding.place.line else ""
            times = f" ({units.count(finding.count)} times)" if finding.count > 1 else ""
            kind = finding.kind.replace("_", " ")
            said = f": {message(finding)}{times}. {remedy(finding)}"
            told = Text.assemble((f"{where}: ", "bold"), (kind, "red"), said)
            console.print(told, soft_wrap=not console.is_terminal)
        if (origin := origins.told([launch])) is not None:
            told = Text.assemble((f"launch {number}, {launch.kernel}: ", "bold"), str(origin))
            console.print(told, soft_wrap=not console.is_terminal)
    emulated = units.number_of(len(launches), "launch", "launches")
    faults = sum(len(launch.findings) for launch in launches)
    said = f"{emulated} emulated, {units.number_of(faults, 'finding')}"
    if times_read:
        said += "; the times between its events are the emulator's own, not a GPU's"
    console.print(Text(f"{script.name}: {said}", "dim"))
