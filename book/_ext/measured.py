"""Tables of measured ladders, drawn from the records in measurements/<gpu>/<topic>.json: no figure is typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from docutils import nodes

from grader.analysis.devices import DeviceSpec
from grader.analysis.roofline import LEVELS, NAMES, roofs
from grader.report import console, gantt, pictures
from grader.results import Climb, RungResult, load
from grader.workbook import units

Cell = str | nodes.Node
Columns = Mapping[str, Callable[[RungResult], str]]

KERNELS: Columns = {
    "registers": lambda rung: units.count(rung.registers),
    "shared": lambda rung: units.kib(rung.shared_bytes),
    "occupancy %": lambda rung: units.percent(rung.occupancy),
    "load sectors a request": lambda rung: console.sectors_a_request(rung.counters, "ld"),
    "store sectors a request": lambda rung: console.sectors_a_request(rung.counters, "st"),
    "bank conflicts": lambda rung: console.bank_conflicts(rung.counters),
}


def _share(engine: str) -> Callable[[RungResult], str]:
    return lambda rung: units.percent(gantt.shares(rung.timeline, rung.time_s).get(engine))


ROOFLINE = (
    "How high a rung stands was measured. How far to the right follows from what the emulator counted at smaller "
    "sizes, scaled: loads as the operations grow, stores and bytes of DRAM as the bytes do. Above 100 %: ptxas merges "
    "loads that are counted one by one."
)

SCHEDULES: Columns = {f"{engine} %": _share(engine) for engine in gantt.ROWS}


def records(root: Path, topic: str) -> list[Path]:
    """The records of a topic, one a GPU."""
    return sorted((root / "measurements").glob(f"*/{topic}.json"))


def read(path: Path) -> Climb:
    """A record; raises msgspec.ValidationError where it is not one."""
    return load(path, Climb)


def ladder(climb: Climb, links: Mapping[str, str], ids: Iterable[str]) -> nodes.table:
    """A row a rung, then the library's and the bound's; `links` are the ids of sections on rungs, `ids` those of the
    ladder's rungs, of which some may not have been measured."""
    schedules = any(rung.timeline for rung in climb.rungs)
    further = SCHEDULES if schedules else KERNELS
    library = any(rung.vs_library is not None for rung in climb.rungs)
    heads = ["rung", "time", "× naive", *(["% library"] if library else []), "% bound", *further]
    rows: dict[str, list[Cell]] = {
        rung.id: [
            _name(rung, links),
            units.seconds(rung.time_s, rung.time_source),
            units.ratio(rung.vs_naive),
            *([units.percent(rung.vs_library)] if library else []),
            units.percent(rung.vs_bound),
            *(value(rung) for value in further.values()),
        ]
        for rung in climb.rungs
    }
    none = [""] * (len(heads) - 2)
    for missing in {*ids} - {*rows}:
        rows[missing] = [_linked(missing, missing, links), console.NOT_MEASURED, *none]
    yardsticks = [[name, time, *none] for name, time in _yardsticks(climb)]
    return table(heads, [*(rows[name] for name in sorted(rows)), *yardsticks])


def overview(climbs: Iterable[tuple[nodes.Node, Climb]]) -> nodes.table:
    """A row a ladder, under the name that is given with it: from its naive rung to its fastest."""
    rows: list[list[Cell]] = []
    for name, climb in climbs:
        timed = [rung for rung in climb.rungs if rung.time_s is not None]
        fastest = min(timed, key=lambda rung: rung.time_s or 0)
        rows.append(
            [
                name,
                units.seconds(climb.rungs[0].time_s, climb.rungs[0].time_source),
                units.seconds(fastest.time_s, fastest.time_source),
                units.ratio(fastest.vs_naive),
                units.percent(fastest.vs_library),
                units.percent(fastest.vs_bound),
                climb.device.name,
            ]
        )
    heads = ["ladder", "naive", "fastest", "× naive", "% library", "% bound", "on"]
    return table(heads, rows)


def reached(spec: DeviceSpec) -> nodes.table:
    """A row a roof: what loops that do nothing else reached on a board, and what its data sheet says."""
    found = roofs(spec)
    sheet = {"dram": spec.peak_dram, "fma": spec.peak_flop, "tensor": spec.peak_tensor}
    rows: list[list[Cell]] = []
    for roof, name in NAMES.items():
        rate, unit = getattr(found, roof), "B/s" if roof in LEVELS else "FLOP/s"
        promised = sheet.get(roof)
        rows.append(
            [
                "Tensor, by mma.sync" if roof == "tensor" else name,
                units.rate(rate, unit),
                units.NOTHING if promised is None else units.rate(promised, unit),
                units.NOTHING if promised is None else units.percent(rate / promised),
            ]
        )
    return table(["roof", "reached", "data sheet", "%"], rows)


def drawn(climb: Climb) -> list[nodes.Node]:
    """The pictures of a ladder: its rungs at their times and, of kernels, the roofline."""
    made = [figure(pictures.ladder_for_pages(climb))]
    if any(rung.intensity for rung in climb.rungs):
        made.append(figure(pictures.roofline(climb), ROOFLINE))
    return made


def timeline(climb: Climb, rung: RungResult) -> nodes.Node:
    """The picture of when each engine works under a schedule."""
    title = f"{rung.id}, {units.problem(climb.problem)}, {climb.device.name}"
    return figure(pictures.intervals(rung.timeline, rung.time_source, title), gantt.INSTRUMENTED)


def figure(svg: str, caption: str = "") -> nodes.raw:
    """A picture that scrolls in itself where the page is narrower than can be read."""
    said = f"<figcaption>{caption}</figcaption>" if caption else ""
    return nodes.raw("", f'<figure class="picture" tabindex="0">{svg}{said}</figure>', format="html")


def _name(rung: RungResult, links: Mapping[str, str]) -> nodes.Node:
    return _linked(f"{rung.id} {console.SIDE_STEP}" if rung.side_step else rung.id, rung.id, links)


def _linked(text: str, rung: str, links: Mapping[str, str]) -> nodes.Node:
    if rung not in links:
        return nodes.Text(text)
    return nodes.reference("", text, refid=links[rung], internal=True)


def _yardsticks(climb: Climb) -> Iterable[tuple[str, str]]:
    for baseline in climb.baselines:
        yield baseline.name, units.seconds(baseline.time_s)
    if climb.bound is not None:
        yield f"the bound: {climb.bound.by}", units.seconds(climb.bound.time_s, climb.bound.source)


def provenance(climb: Climb) -> str:
    """What the figures are, in sentences."""
    made = climb.provenance
    said = [f"Times: {climb.device.name}, {units.problem(climb.problem)}, measured on {made.date[:10]}"]
    said[0] += f" in {made.rounds} rounds" if made.rounds else ""
    said[0] += f" at {made.sm_clock_mhz} MHz" if made.sm_clock_mhz else ""
    said[0] += f", compiled by NVRTC {made.nvrtc}, driver for CUDA {made.driver}."
    if climb.counted is not None:
        said.append(f"Counters: the emulator's, at {units.problem(climb.counted)}.")
    if any(rung.timeline for rung in climb.rungs):
        said.append("in, compute, out: how much of the time each engine works.")
    if any(rung.side_step for rung in climb.rungs):
        said.append(
            f"{console.SIDE_STEP} for understanding, not for speed: an idea that need not be faster here."
        )
    return " ".join(said)


def table(heads: Sequence[str], rows: Sequence[Sequence[Cell]], kind: str = "ladder-table") -> nodes.table:
    """A table of docutils; in a ladder's, all columns but the first are numbers, and stand to the right."""
    group = nodes.tgroup(cols=len(heads))
    group += [nodes.colspec(colwidth=1) for _ in heads]
    group += nodes.thead("", _row([nodes.Text(head) for head in heads]))
    group += nodes.tbody("", *(_row(row) for row in rows))
    return nodes.table("", group, classes=[kind])


def _row(cells: Sequence[Cell]) -> nodes.row:
    made = [nodes.Text(cell) if isinstance(cell, str) else cell for cell in cells]
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in made))
