"""A profile in the terminal: each launch, and which source lines its costs come from."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.analysis.cycles import cycles
from grader.emulator import metrics
from grader.emulator.places import GIVEN, Place
from grader.report import console as views
from grader.report import gantt
from grader.results import Interval, LaunchProfile, LineProfile, Profile, SourceLine, whole_lines
from grader.workbook import units

LINES_SHOWN, LAUNCHES_SHOWN, CALLS_SHOWN = 12, 10, 3
NO_LINE = "code without a line, such as printf's"
_LEGEND = (
    "instr: instructions of warps. ld, st: sectors of 32 bytes a request to global memory. confl: bank conflicts. "
    "local: requests to local memory. cost%: the line's share of issued instructions, wavefronts of shared memory "
    "and sectors, each in cycles."
)


def profile(result: Profile, source: Sequence[str]) -> RenderableType:
    """Every launch of a submission; `source` are the submission's lines."""
    head = Text.assemble(
        (result.file, "bold"), f"   {units.problem(result.problem)}   on {result.device.name}"
    )
    parts: list[RenderableType] = [head]
    if result.reason is not None:
        parts.append(Text(result.reason, views.VERDICT_STYLES[result.verdict]))
    if result.timeline:
        copies = _host_copies(result.timeline)
        parts += ["", *copies[:1], gantt.gantt(result.timeline, result.timeline_source)]
        parts += [Text(gantt.LEGEND, "dim"), *copies[1:]]
    for launch in result.launches:
        parts += ["", _launch(launch, source)]
        parts += views.findings(launch.findings, result.file, source)
    parts += ["", Text(_LEGEND + listing(result.launches), "dim")] if result.launches else []
    parts += views.printed(result.printed)
    return Group(*parts)


def listing(launches: Iterable[LaunchProfile]) -> str:
    """What the code below source lines is; "" where there is none."""
    code = [line for launch in launches for line in launch.code]
    if not code:
        return ""
    if code[0].counters is None:
        return " Below a line the SASS that ptxas made of it, with its addresses; what is counted is its PTX."
    return " Below a line its PTX, with the lines of the compiler's text."


def listed(launch: LaunchProfile) -> list[LineProfile]:
    """The source lines of a launch, each once: those that cost something, and those that its code stands at."""
    return whole_lines([*(LineProfile(at.line, "", {}, at.file) for at in launch.code), *launch.lines])


def program(result: Profile, source: Sequence[str]) -> RenderableType:
    """The costliest launches of a program, those that are alike as one; what was found is told elsewhere."""
    shown, left = costliest(result.launches)
    parts: list[RenderableType] = []
    for launch in shown:
        parts += [_launch(launch, source), ""]
    parts += [Text(f"{said}\n", "dim") for said in (_LEGEND if shown else "", left) if said]
    return Group(*parts)


def costliest(launches: Sequence[LaunchProfile]) -> tuple[list[LaunchProfile], str]:
    """Those that are shown, in their order, and what is to be said of the others; "" where there are none."""
    costs = [cycles(launch.counters or {}) for launch in launches]
    chosen = sorted(sorted(range(len(launches)), key=lambda at: -costs[at])[:LAUNCHES_SHOWN])
    others = len(launches) - len(chosen)
    if not others:
        return list(launches), ""
    share = units.percent(1 - sum(costs[at] for at in chosen) / (sum(costs) or 1))
    said = f"{units.number_of(others, 'more kind')} of launches, {share} % of the cost, are in --json alone."
    return [launches[at] for at in chosen], said


def launched(launch: LaunchProfile) -> str:
    """Where a program launches it, and how often."""
    where = f", launched in {_place(launch.launched).words()}" if launch.launched else ""
    return where + (f", {units.count(launch.times)} times, counted together" if launch.times > 1 else "")


def calls(line: LineProfile, of: LaunchProfile) -> list[str]:
    """By which calls a line of inlined functions was run, the costliest first, each with its share of the line; []
    where it was not inlined."""
    parts = [each for each in of.lines if (each.file, each.line) == (line.file, line.line) and each.callers]
    parts.sort(key=lambda each: -cycles(each.counters))
    whole = cycles(line.counters) or 1
    said = [
        f"called in {', and that one in '.join(_place(at).words() for at in each.callers)}"
        + (f": {units.percent(cycles(each.counters) / whole)} %" if len(parts) > 1 else "")
        for each in parts[:CALLS_SHOWN]
    ]
    more = units.number_of(len(parts) - CALLS_SHOWN, "more call")
    return said + ([f"and by {more}"] if len(parts) > CALLS_SHOWN else [])


def _place(at: SourceLine) -> Place:
    return Place(at.file or GIVEN, at.line)


def _launch(launch: LaunchProfile, source: Sequence[str]) -> RenderableType:
    lines = ["", _lines(launch, source)] if launch.lines else []
    return Group(_resources(launch), _counters(launch), *lines)


def _host_copies(timeline: Sequence[Interval]) -> list[Text]:
    """A row above those of the engines for what the host copies itself, and its legend; nothing where it does not."""
    spans = [(item.start_s, item.end_s) for item in timeline if item.engine == "host_copy"]
    if not spans:
        return []
    end = max(item.end_s for item in timeline)
    shares = gantt.busy(spans, end, gantt.WIDTH)
    cells = "".join("█" if share >= 0.5 else "░" if share else " " for share in shares)
    row = f"  {'host':<9}{cells} {units.percent(sum(stop - start for start, stop in spans) / end):>3} %"
    return [Text(row), Text("host: its own copies, from one array of its own to another.", "dim")]


def _resources(launch: LaunchProfile) -> Text:
    limit = f" (limited by {launch.occupancy_limited_by})" if launch.occupancy_limited_by else ""
    spills = f", {launch.spill_bytes} bytes spilled" if launch.spill_bytes else ""
    return Text.assemble(
        (launch.kernel, "bold"),
        f"   grid {units.axes(launch.grid)}, block {units.axes(launch.block)}{launched(launch)}\n",
        f"{launch.registers} registers{spills}, {launch.shared_bytes:,} bytes of shared memory, ",
        f"occupancy {units.percent(launch.occupancy)} %{limit}",
    )


def _counters(launch: LaunchProfile) -> RenderableType:
    """Every counter that is not zero, under Nsight Compute's name."""
    if launch.counters is None:
        return Text("Nothing was counted.", "dim")
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    for name, value in sorted(launch.counters.items()):
        if value:
            table.add_row(name, f"{value:,}")
    if launch.dram_bytes is not None:
        table.add_row("bytes to and from DRAM", f"{launch.dram_bytes:,}")
    return Padding(table, (0, 0, 0, 2))


def _lines(launch: LaunchProfile, source: Sequence[str]) -> RenderableType:
    """The lines that cost most, in the order of the source, indented as there; with its code, all lines."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("source", overflow="fold")
    for column in ("instr", "ld", "st", "confl", "local", "cost%"):
        table.add_column(column, justify="right", no_wrap=True)
    whole = sum(cycles(line.counters) for line in launch.lines) or 1
    most = None if launch.code else LINES_SHOWN
    costly = sorted(listed(launch), key=lambda line: -cycles(line.counters))[:most]
    costly.sort(key=lambda line: (line.file or "", line.line or math.inf))
    texts = [
        source[line.line - 1] if line.file is None and 0 < line.line <= len(source) else line.source
        for line in costly
    ]
    indented = iter(textwrap.dedent("\n".join(map(str.expandtabs, texts))).split("\n"))
    file = None
    for line, text in zip(costly, indented, strict=True):
        if line.file != file:
            file = line.file
            table.add_row("", Text(f"{file}:", "bold"))
        shown = Text(text.rstrip(), "cyan") if line.line else Text(NO_LINE, "dim")
        shown = Text("\n").join([shown, *(Text(said, "dim") for said in calls(line, launch))])
        table.add_row(str(line.line or units.NOTHING), shown, *_cells(line.counters, whole))
        for code in launch.code:
            if (code.file, code.line) == (line.file, line.line):
                cells = [] if code.counters is None else _cells(code.counters, whole)
                table.add_row("", Text(f"  {code.at:>4} {code.text}"), *cells, style="dim")
    return table


def _cells(counters: Mapping[str, int], whole: float) -> list[str]:
    return [
        units.count(counters.get(metrics.WARP_INSTRUCTIONS)),
        views.sectors_a_request(counters, "ld"),
        views.sectors_a_request(counters, "st"),
        views.bank_conflicts(counters),
        views.local_requests(counters),
        units.percent(cycles(counters) / whole),
    ]
