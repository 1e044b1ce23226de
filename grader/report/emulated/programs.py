"""What `ladder run` says after a program: its launches, and what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.emulator.cudart.events import Outcome, Refusal
from grader.emulator.machine.records import Finding, LaunchRecord
from grader.emulator.places import Place
from grader.errors import WarpladderError
from grader.findings import host, kernels, origins, remedies
from grader.report import notices
from grader.workbook import units

_MOST_ROWS = 20
_MOST_LINES = 3


def program(console: Console, outcome: Outcome, source: Path) -> None:
    """The launches, one row for those that are alike, and the findings, the host's first."""
    if outcome.refused:
        notices.error(console, _refusal(outcome.refused, source))
    if outcome.launches:
        console.print(_launches(outcome, source))
    for line in (*_host(outcome), *_kernels(outcome, source), *_gone(outcome)):
        console.print(line, soft_wrap=True)
    emulated = units.number_of(len(outcome.launches), "launch", "launches")
    said = f"{source.name}: {emulated} emulated, {units.number_of(outcome.faults, 'finding')}"
    if outcome.times_read:
        said += "; the times between its events are the emulator's own, not a GPU's"
    console.print(Text(said, "dim"))


def _refusal(refused: Refusal, source: Path) -> WarpladderError:
    file, line = (refused.place.file, refused.place.line) if refused.place else (source, None)
    return WarpladderError(refused.what, file=file, line=line, remedy=refused.remedy)


def _launches(outcome: Outcome, source: Path) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("kernel", overflow="fold")
    for column in ("grid", "block", "smem", "regs", "times", "findings"):
        table.add_column(column, justify="right", no_wrap=True)
    alike = Counter(_row(record, place, source) for record, place in outcome.launches)
    for row, times in list(alike.items())[:_MOST_ROWS]:
        *shown, findings = row
        table.add_row(*shown, str(times), Text(findings, "red" if findings != "0" else ""))
    if len(alike) > _MOST_ROWS:
        table.add_row("…", f"{len(alike) - _MOST_ROWS} more rows")
    return table


def _row(record: LaunchRecord, place: Place | None, source: Path) -> tuple[str, ...]:
    line = str(place.line if place and place.file == source.name else place or "?")
    return (
        line, record.kernel, units.axes(record.grid), units.axes(record.block),
        units.kib(record.shared_bytes) if record.shared_bytes else "0", str(record.registers),
        str(len(record.findings)),
    )  # fmt: skip


def _host(outcome: Outcome) -> Iterator[Text]:
    for found in outcome.findings:
        times = f" ({units.count(found.count)} times)" if found.count > 1 else ""
        where = f"{found.place}: " if found.place else ""
        yield _finding(where, found.kind, f"{host.message(found)}{times}. {host.remedy(found)}")


def _kernels(outcome: Outcome, source: Path) -> Iterator[Text]:
    """What kernels did, once a place in the source; and what has made the first NaN."""
    alike: dict[tuple[Place, str, str], list[tuple[Finding, Place | None]]] = {}
    for record, launched in outcome.launches:
        for found in record.findings:
            alike.setdefault((found.place, found.kind, record.kernel), []).append((found, launched))
    for (place, kind, kernel), several in alike.items():
        first = several[0][0]
        where = f"{place.file or source.name}:{place.line}: " if place.line else ""
        by = f"{kernel}{_launched((launched for _, launched in several), source)}"
        yield _finding(
            where, kind, f"{by}: {kernels.message(first)}{_times(several)}. {remedies.remedy(first)}"
        )
    for record, launched in outcome.launches:
        if (origin := origins.told([record])) is not None:
            by = f"{record.kernel}{_launched([launched], source)}"
            yield Text.assemble((f"{source.name}: ", "bold"), f"{by}: {origin}")


def _gone(outcome: Outcome) -> Iterator[Text]:
    for each in outcome.gone:
        yield Text.assemble((f"{each.place}: ", "bold"), f"{each.name} is gone since CUDA 13: {each.instead}")


def _launched(places: Iterable[Place | None], source: Path) -> str:
    """Where launches were made, the first few of them."""
    known = list(dict.fromkeys(place for place in places if place))
    if not known:
        return ""
    shown = [f"line {at.line}" if at.file == source.name else str(at) for at in known[:_MOST_LINES]]
    return f", launched in {', '.join(shown)}" + (" and others" if len(known) > _MOST_LINES else "")


def _times(several: Sequence[tuple[Finding, Place | None]]) -> str:
    """How often a finding was made, and in how many launches."""
    count = sum(found.count for found, _ in several)
    launches = f" in {units.count(len(several))} launches" if len(several) > 1 else ""
    return f" ({units.count(count)} times{launches})" if count > 1 else ""


def _finding(where: str, kind: str, said: str) -> Text:
    return Text.assemble((where, "bold"), (kind.replace("_", " "), "red"), f": {said}")
