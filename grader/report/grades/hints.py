"""Hints in three steps: what limits a kernel now, the idea of the next rung, the lines that the rung changes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from grader.emulator import metrics
from grader.report import console as views
from grader.results import Grade, LineProfile, Profile
from grader.workbook import units
from grader.workbook.ladder import Rung
from grader.workbook.source_file import SourceFile
from grader.workbook.topic import Topic

STEPS = 3
SECTOR, WAVEFRONT = 32, 128  # bytes
CONTEXT = 2  # lines around a change
COALESCED = "4 are neighbouring floats, 16 neighbouring float4s"
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


def hint(
    step: int, result: Grade, found: Aim | None, costs: Profile | None, source: Sequence[str]
) -> RenderableType:
    """One step, 1 to 3; `costs` is a profile of the submission, `source` are its lines."""
    if found is None:
        return Text("The top of the ladder is reached: there is no further rung to hint at.")
    head = (f"Hint {step} of {STEPS}", "bold")
    if step == 1:
        parts: list[RenderableType] = [Text.assemble(head, ": what limits it now"), ""]
        parts += _wrong(result, source) if result.verdict != "pass" else _limits(result, costs)
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


def _limits(result: Grade, costs: Profile | None) -> Iterable[RenderableType]:
    missing = [claim for claim in result.claims if claim.rung == result.hints[0].rung and not claim.held]
    if missing:
        yield Text(f"Right, and {result.rung_reached} is reached. What {missing[0].rung} needs as well:")
        yield views.claims(missing)
    else:
        yield Text(result.hints[0].text)
    costly = None if costs is None else costliest(costs)
    if costly is not None:
        line, share = costly
        traffic = f"{units.percent(share)} % of the traffic between threads and L1 or shared memory"
        yield Text(f"\nLine {line.line} costs most: {traffic}.")
        yield Padding(Text(line.source, "cyan"), (0, 0, 0, 2))
        yield from (Padding(Text(text), (0, 0, 0, 2)) for text in _costs(line.counters))


def costliest(costs: Profile) -> tuple[LineProfile, float] | None:
    """The source line that moves most through L1 and shared memory, and its share; None where nothing is moved."""
    lines = [line for launch in costs.launches for line in launch.lines]
    total = sum(_moved(line.counters) for line in lines)
    known = [line for line in lines if line.line]
    if not total or not known:
        return None
    most = max(known, key=lambda line: _moved(line.counters))
    return most, _moved(most.counters) / total


def _moved(counters: Mapping[str, int]) -> int:
    """Bytes: sectors of global and local memory, wavefronts of shared memory. Bank conflicts are wavefronts too."""
    sectors = (*metrics.GLOBAL_SECTORS.values(), *metrics.LOCAL_SECTORS.values())
    moved = SECTOR * sum(counters.get(name, 0) for name in sectors)
    return moved + WAVEFRONT * sum(counters.get(name, 0) for name in metrics.SHARED_WAVEFRONTS.values())


def _costs(counters: Mapping[str, int]) -> Iterable[str]:
    """What is dear about a line, in the words of the profile's columns."""
    for kind, name in (("ld", "load"), ("st", "store")):
        requests = counters.get(metrics.GLOBAL_REQUESTS[kind], 0)
        if requests:
            sectors = counters.get(metrics.GLOBAL_SECTORS[kind], 0) / requests
            yield f"a {name} request touches {units.digits(sectors)} sectors ({COALESCED})"
    conflicts = sum(counters.get(metrics.SHARED_CONFLICTS[kind], 0) for kind in metrics.LOAD_STORE)
    wavefronts = sum(counters.get(metrics.SHARED_WAVEFRONTS[kind], 0) for kind in metrics.LOAD_STORE)
    if conflicts:
        yield f"{units.count(conflicts)} of its {units.count(wavefronts)} wavefronts are bank conflicts"
    local = sum(counters.get(name, 0) for name in metrics.LOCAL_SECTORS.values())
    if local:
        yield f"{units.count(local)} sectors of local memory: an array or spilled registers"


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
