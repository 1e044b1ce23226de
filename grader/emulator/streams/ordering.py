"""Hazards of a recording: commands that touch the same memory and that nothing puts in order.

What runs on a device by itself is ordered by streams, by events and by the host's waiting, and by nothing else:
not by the order of the calls, nor by how long things usually take. Each access carries a vector clock; two
accesses to the same bytes, of which one writes, are a finding unless one happens before the other. So a fault is
found in every run, not only where the timing is unlucky.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from grader.emulator.streams.commands import (
    DEFAULT_STREAM,
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
Clock = dict[Thread, int]


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


@dataclass(frozen=True)
class _Access:
    first: int
    last: int  # the byte after the last
    writes: bool
    thread: Thread
    number: int  # in its thread's order
    command: Command


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
        self._clocks: dict[Thread, Clock] = {}
        self._numbers: dict[Thread, int] = {}
        self._host: Clock = {}
        self._events: dict[tuple[int, int], Clock] = {}
        self._accesses: list[list[_Access]] = [[] for _ in recording.buffers]
        self._graphs = 0  # launched so far
        self.found: list[Hazard] = []

    def do(self, command: Command) -> None:
        match command:
            case HostRead() | HostCopy():
                self._by_host(command)
            case Synchronise(stream=None):
                for clock in list(self._clocks.values()):
                    join(self._host, clock)
            case Synchronise(stream=int(stream)):
                join(self._host, self._of((0, stream)))
            case AwaitEvent(event=event):
                join(self._host, self._events.get((0, event), {}))
            case LaunchGraph():
                self._launch_graph(command)
            case Copy() | Fill() | LaunchKernel() | RecordEvent() | WaitForEvent():
                self._queued(command, 0)

    def look(self, buffer: int) -> None:
        """The results are looked at, by the host that has just returned."""
        whole = HostRead(Place(buffer, 0), self._recording.buffers[buffer].nbytes)
        self._touch(
            HOST, self._tick(HOST, self._host), whole, Extent(whole.source, whole.nbytes, False), True
        )

    def _of(self, thread: Thread) -> Clock:
        return self._clocks.setdefault(thread, {})

    def _tick(self, thread: Thread, clock: Clock) -> Clock:
        """The thread's next step."""
        self._numbers[thread] = clock[thread] = self._numbers.get(thread, 0) + 1
        return clock

    def _by_host(self, command: HostRead | HostCopy) -> None:
        clock = self._tick(HOST, self._host)
        for extent in extents(command, self._reach):
            self._touch(HOST, clock, command, extent)

    def _queued(self, command: Queued, graph: int) -> None:
        """A command in a stream; `graph` is 0 for those that were enqueued by themselves."""
        thread = (graph, command.stream)
        clock = self._of(thread)
        if graph == 0:
            join(clock, self._host)
            self._keep_default_order(command.stream, clock)
        match command:
            case RecordEvent():
                self._events[graph, command.event] = dict(clock)
            case WaitForEvent():
                join(clock, self._events.get((graph, command.event), {}))
            case _:
                self._tick(thread, clock)
                for extent in extents(command, self._reach):
                    self._touch(*self._who(command, extent, thread, clock), command, extent)
        if isinstance(command, Copy) and (command.waits or self._spaces(command) == ("pageable", "device")):
            join(self._host, clock)

    def _keep_default_order(self, stream: int, clock: Clock) -> None:
        """The default stream and those that keep to its order wait for each other."""
        if stream != DEFAULT_STREAM:
            if self._recording.blocking[stream]:
                join(clock, self._of((0, DEFAULT_STREAM)))
            return
        for other, blocking in enumerate(self._recording.blocking):
            if blocking:
                join(clock, self._of((0, other)))

    def _spaces(self, command: Copy) -> tuple[str, str]:
        buffers = self._recording.buffers
        return buffers[command.target.buffer].space, buffers[command.source.buffer].space

    def _who(self, command: Queued, extent: Extent, thread: Thread, clock: Clock) -> tuple[Thread, Clock]:
        """Pageable memory is read by the host, into a buffer of the driver's, before the call returns."""
        pageable = self._recording.buffers[extent.place.buffer].space == "pageable"
        if isinstance(command, Copy) and not extent.writes and pageable:
            return HOST, self._tick(HOST, self._host)
        return thread, clock

    def _launch_graph(self, command: LaunchGraph) -> None:
        """The graph's first work waits for the stream, the stream for the graph's last work."""
        self._graphs += 1
        graph = self._recording.graphs[command.graph]
        outer = self._of((0, command.stream))
        join(outer, self._host)
        self._keep_default_order(command.stream, outer)
        streams = {item.stream for item in graph.commands}
        for stream in streams:
            join(self._of((self._graphs, stream)), outer)
        for item in graph.commands:
            self._queued(item, self._graphs)
        for stream in streams:
            join(outer, self._of((self._graphs, stream)))

    def _touch(
        self, thread: Thread, clock: Clock, command: Command, extent: Extent, last: bool = False
    ) -> None:
        buffer, first = extent.place.buffer, extent.place.offset
        new = _Access(first, first + extent.nbytes, extent.writes, thread, clock[thread], command)
        kept: list[_Access] = []
        for old in self._accesses[buffer]:
            ordered = old.number <= clock.get(old.thread, 0)
            overlaps = old.first < new.last and new.first < old.last and old.command is not command
            if overlaps and not ordered and (old.writes or new.writes):
                later = None if last else command
                common = max(old.first, new.first), min(old.last, new.last)
                part = common if common not in ((old.first, old.last), (new.first, new.last)) else None
                self.found.append(Hazard(old.command, later, buffer, old.writes, new.writes, part))
                return
            covered = new.first <= old.first and old.last <= new.last
            if not (ordered and covered and new.writes):
                kept.append(old)
        kept.append(new)
        self._accesses[buffer] = kept


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


def join(clock: Clock, other: Clock) -> None:
    """Let everything that `other` knows happen before what follows in `clock`."""
    for thread, number in other.items():
        if clock.get(thread, 0) < number:
            clock[thread] = number
