"""What a capture takes, by CUDA's rules: who notes a graph and who checks a noted one ask the same.

A capture begins in one stream, its origin. Another stream joins it by waiting for an event that was recorded in it, and
what a stream is given before that is not captured at all. In the end the origin has to wait, directly or by way of
others, for all that was captured: CUDA gives no graph otherwise (cudaErrorStreamCaptureUnjoined).
"""

from __future__ import annotations

from collections.abc import Iterable

from grader.emulator.streams.clocks import Clock, join
from grader.emulator.streams.commands import DEFAULT_STREAM, Copy, Queued, RecordEvent, WaitForEvent
from grader.emulator.streams.ordering import Thread


def is_capturable(command: Queued) -> bool:
    """Whether a capture takes such a call at all."""
    return command.stream != DEFAULT_STREAM and not (isinstance(command, Copy) and command.waits)


def complaint(origin: int, commands: Iterable[Queued]) -> str:
    """What CUDA would refuse of these commands, captured from the stream `origin` on; "" if nothing."""
    clocks: dict[int, Clock[Thread]] = {
        origin: {}
    }  # by stream that has joined: what its next work comes after
    events: dict[int, Clock[Thread]] = {}
    last: dict[int, Queued] = {}
    for command in commands:
        stream = command.stream
        if isinstance(command, WaitForEvent):
            if command.event not in events:
                return f"{_line(command)}a capture waits only for events that were recorded in it before"
            join(clocks.setdefault(stream, {}), events[command.event])
        elif stream not in clocks:
            return (
                f"{_line(command)}this stream is not part of the capture: let it first wait for an event that a "
                "stream of the capture has recorded"
            )
        elif isinstance(command, RecordEvent):
            events[command.event] = dict(clocks[stream])
        else:
            clocks[stream][0, stream] = clocks[stream].get((0, stream), 0) + 1
            last[stream] = command
    for stream, command in last.items():
        if clocks[origin].get((0, stream), 0) < clocks[stream][0, stream]:
            return (
                f"{_line(command)}the capture ends before its first stream has waited for this: record an event "
                "behind the stream's last work and let the first stream wait for it"
            )
    return ""


def _line(command: Queued) -> str:
    return "" if command.line is None else f"line {command.line}: "
