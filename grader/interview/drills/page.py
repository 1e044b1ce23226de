"""A kernel's page in the manner of Nsight Compute, in Markdown of 80 columns: what is typed nowhere, but counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader.analysis.cycles import cycles
from grader.emulator import metrics
from grader.interview.counted import counted_file
from grader.interview.drills.looked_at import Modelled, modelled, profiled
from grader.results import Interval, LaunchProfile, LineProfile, whole_lines
from grader.workbook import topics, units

WIDTH = 74  # of a line of a fence: with its frame it fits 80 columns
LINES_SHOWN = 14
_PARTS = {
    "dram": "DRAM",
    "l2": "L2 cache",
    "l1": "L1 cache and shared memory",
    "issue": "instruction issue",
    "fma": "FP32 pipes",
    "fp64": "FP64 pipes",
    "special": "special functions",
    "tensor": "Tensor Cores",
    "latency": "waiting for memory (latency)",
    "atomics": "atomics on one word",
    "cluster": "the network between the SMs of a cluster",
    "launch": "launches",
    "in": "copies in",
    "compute": "kernels",
    "out": "copies out",
}
_ASKED_FOR = {
    "calls": "calls of the host",
    "waits": "calls that wait",
    "launches": "launches",
    "streams": "streams with work",
    "htod_bytes": "bytes copied in",
    "dtoh_bytes": "bytes copied out",
    "pageable_bytes": "of them pageable",
    "device_bytes": "bytes of device memory",
}
"""What is counted of a schedule, its facts by name."""
PIECES_SHOWN = 18
_ZEROS = (
    metrics.SHARED_CONFLICTS["ld"],
    metrics.SHARED_CONFLICTS["st"],
)  # of use where there is shared memory


def page(topic: str, file: Path) -> str:
    """The page of a kernel file, its source included. Raises WarpladderError where it does not run."""
    profile, time = profiled(topic, file), modelled(topic, file)
    main = units.problem(topics.load(topic).sizes_main)
    lines = [
        *_light(time, main, "Bound of the problem" if profile.launches else "Work of the busiest engine")
    ]
    if profile.timeline:
        lines += ["", *_asked_for(topic, file), "", *_trace(profile.timeline)]
    for launch in profile.launches:
        lines += ["", *_launch(launch), "", *_counters(launch), "", *_source_lines(launch)]
    source = file.read_text(encoding="utf-8").rstrip()
    how, language = ("Simulated", "python") if profile.timeline else ("Counted", "cuda")
    return "\n".join(
        [
            f"{how} on the {profile.device.name} at {units.problem(profile.problem)}.",
            "",
            "```text",
            *lines,
            "```",
            "",
            f"`{file.name}`:",
            "",
            f"```{language}",
            *(f"{number:>3}  {line}".rstrip() for number, line in enumerate(source.splitlines(), 1)),
            "```",
        ]
    )


def _light(time: Modelled, main: str, bound: str) -> Iterator[str]:
    """How busy each part is, as in Nsight Compute's “GPU Speed Of Light”, by the time model."""
    seconds = time.time.seconds
    title = "GPU Speed Of Light, modelled at"
    yield from [f"{title} {main}"] if len(title) + len(main) < WIDTH else [title, f"  {main}"]
    yield _row("Duration", units.seconds(seconds, "modelled"))
    yield _row(bound, units.seconds(time.bound_s, "modelled"))
    for name, title in _PARTS.items():
        share = min(1.0, time.time.terms.get(name, 0.0) / seconds)
        if share >= 0.005:
            bar = "█" * round(20 * share)
            yield _row(title, f"{bar:<20} {units.percent(share):>3} %")


def _asked_for(topic: str, file: Path) -> Iterator[str]:
    """What run() asks for."""
    found = counted_file(topic, file)
    yield "API calls and memory"
    for name, title in _ASKED_FOR.items():
        yield _row(title, units.number(found[name]))


def _trace(timeline: Sequence[Interval]) -> Iterator[str]:
    """The first pieces of work, in the manner of a trace of Nsight Systems."""
    work = [item for item in timeline if item.engine in _PARTS]
    yield f"Trace, the first {PIECES_SHOWN} of {len(work)} pieces of work"
    yield f"  {'start':>10} {'duration':>10}  {'stream':>6}  {'line':>4}  what"
    for item in work[:PIECES_SHOWN]:
        start, taken = (
            units.seconds(value, "modelled") for value in (item.start_s, item.end_s - item.start_s)
        )
        yield f"  {start:>10} {taken:>10}  {item.stream:>6}  {item.line or '':>4}  {_PARTS[item.engine]}"


def _launch(launch: LaunchProfile) -> Iterator[str]:
    limit = f", limited by {launch.occupancy_limited_by}" if launch.occupancy_limited_by else ""
    yield f"{launch.kernel}: Launch Statistics and Occupancy"
    yield _row("Grid, block", f"{units.axes(launch.grid)}, {units.axes(launch.block)}")
    yield _row("Registers a thread", f"{launch.registers}")
    if launch.spill_bytes or launch.local_bytes:
        local = f"{launch.local_bytes}, spilled {launch.spill_bytes}"
        yield _row("Local memory a thread, bytes", local)
    yield _row("Shared memory a block, bytes", f"{launch.shared_bytes:,}")
    yield _row("Theoretical occupancy", f"{units.percent(launch.occupancy)} %{limit}")


def _counters(launch: LaunchProfile) -> Iterator[str]:
    """Counters that are not zero, by Nsight Compute's names."""
    counters = launch.counters or {}
    shared = any(counters.get(name, 0) for name in metrics.SHARED_WAVEFRONTS.values())
    yield f"{launch.kernel}: counters"
    for name, value in sorted(counters.items()):
        if value or (shared and name in _ZEROS):
            yield from _counter(name, f"{value:,}")
    for kind in metrics.LOAD_STORE:
        if requests := counters.get(metrics.GLOBAL_REQUESTS[kind], 0):
            sectors = counters.get(metrics.GLOBAL_SECTORS[kind], 0)
            what = "load" if kind == "ld" else "store"
            yield _row(f"sectors a global {what} request", units.digits(sectors / requests))
    if warps := counters.get(metrics.WARP_INSTRUCTIONS, 0):
        threads = counters.get(metrics.THREAD_INSTRUCTIONS, 0)
        yield _row("threads an instruction", units.digits(threads / warps))
    if launch.dram_bytes is not None:
        yield _row("bytes to and from DRAM", f"{launch.dram_bytes:,}")


def _counter(name: str, value: str) -> Iterator[str]:
    """A metric's name is up to 73 characters long."""
    if len(name) + len(value) + 3 > WIDTH:
        yield f"  {name}"
        name = ""
    yield _row(name, value)


def _source_lines(launch: LaunchProfile) -> Iterator[str]:
    """The costliest lines, in the order of the source."""
    whole = sum(cycles(line.counters) for line in launch.lines) or 1
    own = [line for line in whole_lines(launch.lines) if line.line and line.file is None]
    costly = sorted(own, key=lambda line: -cycles(line.counters))
    yield f"{launch.kernel}: Source Counters (ld, st: sectors a request to global memory)"
    yield "  line    instr  ld sectors  st sectors  conflicts    local   cost"
    for line in sorted(costly[:LINES_SHOWN], key=lambda line: line.line):
        yield _line(line, cycles(line.counters) / whole)


def _line(line: LineProfile, share: float) -> str:
    counters = line.counters
    conflicts = sum(counters.get(name, 0) for name in metrics.SHARED_CONFLICTS.values())
    local = sum(counters.get(name, 0) for name in metrics.LOCAL_REQUESTS.values())
    cells = (
        f"  {line.line:>4}",
        f"{units.count(counters.get(metrics.WARP_INSTRUCTIONS)):>8}",
        f"{_sectors(counters, ('ld', 'atom')):>11}",
        f"{_sectors(counters, ('st', 'red')):>11}",
        f"{units.count(conflicts) if conflicts else '':>10}",
        f"{units.count(local) if local else '':>8}",
        f"{units.percent(share):>4} %",
    )
    return " ".join(cells)


def _sectors(counters: Mapping[str, int], kinds: Sequence[str]) -> str:
    """Sectors a request; "" where there is none."""
    requests = sum(counters.get(metrics.GLOBAL_REQUESTS[kind], 0) for kind in kinds)
    sectors = sum(counters.get(metrics.GLOBAL_SECTORS[kind], 0) for kind in kinds)
    return units.digits(sectors / requests) if requests else ""


def _row(title: str, value: str) -> str:
    """A title and a value, which is set to the right of the page where it is a number."""
    return f"  {title} {value:>{WIDTH - 3 - len(title)}}"
