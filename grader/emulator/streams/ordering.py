"""Hazards of a recording: commands that touch the same memory and that nothing puts in order.

Streams, events and the host's waiting give commands their order (`clocks`); what they do to each buffer is held against
that order (`accesses`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from grader.emulator.streams.accesses import Access, Accesses, Bytes
from grader.emulator.streams.clocks import Clock, Clocks, join
from grader.emulator.streams.commands import (
    DEFAULT_STREAM,
    MOST_CALLS,
    AwaitEvent,
    Command,
    Copy,
    Fill,
    HostCopy,
    HostRead,
    LaunchGraph,
    LaunchKernel,
    Place,
    Queued,
    RecordEvent,
    Recording,
    Synchronise,
    WaitForEvent,
)

Thread = tuple[int, int]
"""Who does something in order: (launch of a graph, stream), or the host."""

HOST: Thread = (-1, -1)


@dataclass(frozen=True)
class Extent:
    """Bytes of a buffer that a command touches."""

    place: Place
    nbytes: int
    writes: bool


Reach = Callable[[LaunchKernel], Sequence[Extent]]
"""What a launch touches."""


@dataclass(frozen=True)
class Hazard:
    """Two commands that touch the same bytes in no order. `later` None: what looks at the results in the end."""

    earlier: Command
    later: Command | None
    buffer: int
    earlier_writes: bool
    later_writes: bool
    part: tuple[int, int] | None = None
    """The bytes that both touch, where that is only a part of what either does; the second is behind the last."""


def hazards(recording: Recording, reach: Reach, results: Iterable[int]) -> list[Hazard]:
    """The first hazard of every command with those before it; `results` are buffers read after the end."""
    run = _Run(recording, reach)
    for command in recording.commands:
        run.do(command)
    for buffer in results:
        run.look(buffer)
    return run.found


class _Run:
    """The clocks after the commands so far."""

    def __init__(self, recording: Recording, reach: Reach) -> None:
        self._recording = recording
        self._reach = reach
        blocking = ((0, stream) for stream, blocks in enumerate(recording.blocking) if blocks)
        self._clocks: Clocks[Thread] = Clocks((0, DEFAULT_STREAM), blocking)
        self._events: dict[tuple[int, int], Clock[Thread]] = {}
        self._accesses: list[Accesses[Thread, Command]] = [
            Accesses(2 * MOST_CALLS) for _ in recording.buffers
        ]
        self._graphs = 0  # launched so far
        self.found: list[Hazard] = []

    def do(self, command: Command) -> None:
        match command:
            case HostRead() | HostCopy():
                self._by_host(command)
            case Synchronise(stream=None):
                self._clocks.host_waits()
            case Synchronise(stream=int(stream)):
                self._clocks.host_waits(self._clocks.of((0, stream)))
            case AwaitEvent(event=event):
                self._clocks.host_waits(self._events.get((0, event), {}))
            case LaunchGraph():
                self._launch_graph(command)
            case Copy() | Fill() | LaunchKernel() | RecordEvent() | WaitForEvent():
                self._queued(command, 0)

    def look(self, buffer: int) -> None:
        """The results are looked at, by the host that has just returned."""
        whole = HostRead(Place(buffer, 0), self._recording.buffers[buffer].nbytes)
        host = self._clocks.host
        self._clocks.step(HOST, host)
        self._touch(HOST, host, whole, Extent(whole.source, whole.nbytes, False), True)

    def _by_host(self, command: HostRead | HostCopy) -> None:
        self._clocks.step(HOST, self._clocks.host)
        for extent in extents(command, self._reach):
            self._touch(HOST, self._clocks.host, command, extent)

    def _queued(self, command: Queued, graph: int) -> None:
        """A command in a stream; `graph` is 0 for those that were enqueued by themselves."""
        thread = (graph, command.stream)
        clock = self._clocks.of(thread) if graph else self._clocks.enqueue(thread)
        match command:
            case RecordEvent():
                self._events[graph, command.event] = dict(clock)
            case WaitForEvent():
                join(clock, self._events.get((graph, command.event), {}))
            case _:
                self._clocks.step(thread, clock)
                for extent in extents(command, self._reach):
                    self._touch(*self._who(command, extent, thread, clock), command, extent)
        if isinstance(command, Copy) and (command.waits or self._spaces(command) == ("pageable", "device")):
            self._clocks.host_waits(clock)

    def _spaces(self, command: Copy) -> tuple[str, str]:
        buffers = self._recording.buffers
        return buffers[command.target.buffer].space, buffers[command.source.buffer].space

    def _who(
        self, command: Queued, extent: Extent, thread: Thread, clock: Clock[Thread]
    ) -> tuple[Thread, Clock[Thread]]:
        """Pageable memory is read by the host, into a buffer of the driver's, before the call returns."""
        pageable = self._recording.buffers[extent.place.buffer].space == "pageable"
        if isinstance(command, Copy) and not extent.writes and pageable:
            self._clocks.step(HOST, self._clocks.host)
            return HOST, self._clocks.host
        return thread, clock

    def _launch_graph(self, command: LaunchGraph) -> None:
        """The graph's first work waits for the stream, the stream for the graph's last work."""
        self._graphs += 1
        graph = self._recording.graphs[command.graph]
        outer = self._clocks.enqueue((0, command.stream))
        streams = {item.stream for item in graph.commands}
        for stream in streams:
            join(self._clocks.of((self._graphs, stream)), outer)
        for item in graph.commands:
            self._queued(item, self._graphs)
        for stream in streams:
            join(outer, self._clocks.of((self._graphs, stream)))

    def _touch(
        self, thread: Thread, clock: Clock[Thread], command: Command, extent: Extent, last: bool = False
    ) -> None:
        buffer, first = extent.place.buffer, extent.place.offset
        where = Bytes(first, first + extent.nbytes)
        new = Access(where, extent.writes, thread, clock[thread], command)
        met = self._accesses[buffer].add(new, clock)
        if met is None:
            return
        old, common = met
        same = (common.first, common.last)
        whole = same in ((old.where.first, old.where.last), (where.first, where.last))
        self.found.append(
            Hazard(
                old.deed, None if last else command, buffer, old.writes, new.writes, None if whole else same
            )
        )


def extents(command: Command, reach: Reach) -> Sequence[Extent]:
    """The bytes a command touches."""
    match command:
        case Copy() | HostCopy():
            return [
                Extent(command.source, command.nbytes, False),
                Extent(command.target, command.nbytes, True),
            ]
        case HostRead():
            return [Extent(command.source, command.nbytes, False)]
        case Fill():
            return [Extent(command.target, len(command.pattern) * command.count, True)]
        case LaunchKernel():
            return reach(command)
    return []
