"""What claims on schedules may name: what run() asks for, and how well the engines are used."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from grader.emulator.streams import commands as do
from grader.emulator.streams.commands import Recording
from grader.emulator.streams.ordering import Reach
from grader.emulator.streams.timeline import ENGINES, Timeline
from grader.emulator.streams.useful import useful
from grader.judge.schedules.intervals import OWN_WORK
from grader.workbook.expressions import Number


def facts(
    recording: Recording, timeline: Timeline, reach: Reach, results: Collection[str]
) -> dict[str, Number]:
    """What claims may name: bytes copied each way, of them those of pageable memory, device memory allocated,
    calls that run() makes, those that wait, launches, streams that work is given to, the share of the work that
    is enqueued before the host waits for any, what of all work of its kind the largest copy or launch is, and how
    many engines are busy at a time with what `results`, names of arrays, come from, on average."""
    spaces = [buffer.space for buffer in recording.buffers]
    queued = list(recording.queued())
    copies = [item for item in queued if isinstance(item, do.Copy)]
    ways = [(spaces[item.source.buffer], spaces[item.target.buffer], item.nbytes) for item in copies]
    waits = [_waits(item) for item in recording.commands]
    before = recording.commands[: waits.index(True) if True in waits else len(waits)]
    work = [item for item in queued if isinstance(item, do.Copy | do.LaunchKernel | do.Fill)]
    return {
        "htod_bytes": sum(n for source, target, n in ways if source != "device" == target),
        "dtoh_bytes": sum(n for source, target, n in ways if source == "device" != target),
        "pageable_bytes": sum(n for source, target, n in ways if "pageable" in (source, target)),
        "device_bytes": sum(buffer.nbytes for buffer in recording.buffers if buffer.space == "device"),
        "calls": len(recording.commands),
        "waits": sum(waits),
        "launches": sum(isinstance(item, do.LaunchKernel) for item in queued),
        "streams": len({item.stream for item in work}),
        "enqueued_first": _pieces(recording, before) / max(_pieces(recording, recording.commands), 1),
        "largest_piece": max(map(_largest, _sizes(spaces, work, reach)), default=1.0),
        "engines_busy": _busy(timeline, useful(recording, reach, results)) / timeline.seconds,
    }


def _busy(timeline: Timeline, shares: Mapping[int, float]) -> float:
    """Seconds that engines work on what results come from, all three together; `shares` as `useful` says."""
    return sum(
        (item.end_s - item.start_s) * shares[id(item.command)]
        for item in timeline.intervals
        if item.engine in ENGINES
    )


def _sizes(
    spaces: Sequence[do.Space], work: Iterable[do.Copy | do.LaunchKernel | do.Fill], reach: Reach
) -> Iterable[list[int]]:
    """Bytes of each copy in, of each copy out, and those that each launch touches."""
    found: dict[str, list[int]] = {}
    for item in work:
        if isinstance(item, do.LaunchKernel):
            found.setdefault("launch", []).append(sum(extent.nbytes for extent in reach(item)))
        elif isinstance(item, do.Copy) and spaces[item.source.buffer] != spaces[item.target.buffer]:
            found.setdefault(spaces[item.target.buffer], []).append(item.nbytes)
    return found.values()


def _largest(sizes: Sequence[int]) -> float:
    """The share of the largest."""
    return max(sizes) / max(sum(sizes), 1)


def _waits(command: do.Command) -> bool:
    """Whether the host goes on only when something is done."""
    return isinstance(command, do.Synchronise | do.AwaitEvent) or (
        isinstance(command, do.Copy) and command.waits
    )


def _pieces(recording: Recording, commands: Iterable[do.Command]) -> int:
    """How many copies and launches there are, those in graphs included."""
    parts = msgspec.structs.replace(recording, commands=tuple(commands)).queued()
    return sum(isinstance(item, do.Copy | do.LaunchKernel | do.Fill) for item in parts)


def host_copies(timeline: Timeline) -> str:
    """A sentence about the host's own copies, where they take a tenth of the time or more; else nothing."""
    own = [item for item in timeline.intervals if isinstance(item.command, OWN_WORK)]
    seconds = sum(item.end_s - item.start_s for item in own)
    if seconds < 0.1 * timeline.seconds:
        return ""
    lines = sorted({item.command.line for item in own if item.command.line})
    where = f" (line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))})" if lines else ""
    return (
        f"The host's own copies{where} take ≈{1e3 * seconds:.3g} of ≈{1e3 * timeline.seconds:.3g} ms, in which it "
        "enqueues nothing: pin the arrays themselves, with cuda.register_host_memory in __init__, and copy from and "
        "to them."
    )
