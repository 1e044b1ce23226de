"""When which engine works, as results show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from grader.emulator.streams import commands as do
from grader.emulator.streams.commands import Recording
from grader.emulator.streams.timeline import Timeline
from grader.judge.child.protocol import Span
from grader.results import Interval

OWN_WORK = (do.HostCopy, do.HostRead)
"""What the host does itself, with its own memory."""


def simulated(timeline: Timeline) -> list[Interval]:
    """A simulated run as results show it."""
    return [
        Interval(
            "host_copy" if isinstance(item.command, OWN_WORK) else item.engine,
            max(item.stream, 0),
            item.start_s,
            item.end_s,
            item.command.line,
        )
        for item in timeline.intervals
    ]


def measured(recording: Recording, spans: Sequence[Span]) -> list[Interval]:
    """A traced replay as results show it: the engines alone, since events tell nothing of the host.

    The event before a piece of work happens when its stream gets there; the engine may still be at work for
    another stream then. It begins when it has finished that.
    """
    work = list(recording.queued())
    found = []
    free: dict[str, float] = {}
    for span in sorted(spans, key=lambda span: span.end_s):
        command = work[span.command]
        if isinstance(command, do.Copy | do.LaunchKernel | do.Fill):
            engine = engine_of(recording, command)
            start = max(span.start_s, free.get(engine, 0.0))
            free[engine] = span.end_s
            found.append(Interval(engine, command.stream, start, span.end_s, command.line))
    return sorted(found, key=lambda item: item.start_s)


def engine_of(
    recording: Recording, command: do.Copy | do.LaunchKernel | do.Fill
) -> Literal["in", "compute", "out"]:
    """Which engine does a piece of work."""
    if not isinstance(command, do.Copy):
        return "compute"
    into = recording.buffers[command.target.buffer].space == "device"
    out_of = recording.buffers[command.source.buffer].space == "device"
    return "compute" if into and out_of else "in" if into else "out"
