"""How long a recording takes on a GPU: a discrete-event simulation of its queues and engines.

A device has three engines, and each does one thing at a time: one copies in, one copies out, one computes. A
command may start when the commands before it in its stream, the events that its stream waits for and the default
stream's rules allow it; of those that may, an engine takes the one that was enqueued first. Both copy engines
together are slower than twice one. The host enqueues a command at a time, and waits where it is told to; copies
of pageable memory go through the driver's own buffer, and hold the host up. Kernels are never run two at a time:
each is taken to fill the device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

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
    Queued,
    RecordEvent,
    Recording,
    Synchronise,
    WaitForEvent,
)

Engine = Literal["host", "in", "compute", "out"]
ENGINES: tuple[Engine, ...] = ("in", "compute", "out")


@dataclass(frozen=True)
class Link:
    """How fast a host and its device are; bytes a second, and seconds."""

    copy_in: float  # from pinned memory to the device
    copy_out: float
    copy_both: float  # both directions together, where both copy at once
    pageable_in: float
    pageable_out: float
    device_copy: float  # bytes read plus bytes written within the device
    host_copy: float  # bytes copied within the host's memory
    call_s: float  # the host's time for one call
    graph_node_s: float  # the device's for each piece of work of a graph
    wait_s: float  # from the end of some work to the host that waited for it going on
    start_s: float  # from the moment work of a stream may start to its start; in a graph it is graph_node_s


@dataclass(frozen=True)
class Interval:
    """What an engine, or the host, did from `start_s` to `end_s`; seconds from the first call."""

    engine: Engine
    stream: int
    start_s: float
    end_s: float
    command: Command


@dataclass(frozen=True)
class Timeline:
    """A simulated run."""

    seconds: float  # until the host had returned and all work was done
    intervals: tuple[Interval, ...]  # by start


@dataclass(eq=False)
class _Work:
    """A piece of work for an engine."""

    command: Queued | None  # None: a graph has ended
    engine: Engine
    amount: float  # bytes of a copy to or from the host, seconds of anything else
    rate: float  # amount a second
    after: list[_Work]
    issued: float
    start: float | None = None
    end: float | None = None
    left: float = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.amount


def simulate(recording: Recording, link: Link, kernel_s: Callable[[LaunchKernel], float]) -> Timeline:
    """Run a recording's commands in simulated time; `kernel_s` is how long a launch takes alone."""
    simulation = _Simulation(recording, link, kernel_s)
    for command in recording.commands:
        simulation.do(command)
    return simulation.result()


class _Simulation:
    """The device at `now`, and the host, which is always ahead of it or as far."""

    def __init__(self, recording: Recording, link: Link, kernel_s: Callable[[LaunchKernel], float]) -> None:
        self.recording, self.link, self.kernel_s = recording, link, kernel_s
        self.host = 0.0
        self.now = 0.0
        self.waiting: list[_Work] = []  # in the order they were enqueued
        self.active: dict[Engine, _Work] = {}
        self.done: list[_Work] = []
        self.tails: dict[tuple[int, int], list[_Work]] = {}  # by (graph launch, stream): what is last in it
        self.events: dict[tuple[int, int], list[_Work]] = {}
        self.graphs = 0
        self.on_host: list[Interval] = []

    def do(self, command: Command) -> None:
        match command:
            case HostRead() | HostCopy():
                self._on_host(command, command.nbytes / self.link.host_copy)
            case Synchronise(stream=None):
                self._wait(command, [work for tail in self.tails.values() for work in tail])
            case Synchronise(stream=int(stream)):
                self._wait(command, self.tails.get((0, stream), []))
            case AwaitEvent(event=event):
                self._wait(command, self.events.get((0, event), []))
            case LaunchGraph():
                self.host += self.link.call_s
                self._launch_graph(command)
            case Copy() | Fill() | LaunchKernel() | RecordEvent() | WaitForEvent():
                self.host += self.link.call_s
                work = self._enqueue(command, 0)
                if work is not None and isinstance(command, Copy) and self._holds_up(command):
                    self._wait(command, [work])

    def result(self) -> Timeline:
        self._advance([work for tail in self.tails.values() for work in tail])
        intervals = [*self.on_host]
        for work in self.done:
            if work.command is not None and work.start is not None and work.end is not None:
                intervals.append(
                    Interval(work.engine, work.command.stream, work.start, work.end, work.command)
                )
        seconds = max([self.host, *(item.end_s for item in intervals)])
        return Timeline(seconds, tuple(sorted(intervals, key=lambda item: item.start_s)))

    # ---- the host ------------------------------------------------------------------------------------------

    def _on_host(self, command: Command, seconds: float) -> None:
        self.on_host.append(Interval("host", -1, self.host, self.host + seconds, command))
        self.host += seconds

    def _wait(self, command: Command, works: list[_Work]) -> None:
        self._advance(works)
        ends = [work.end for work in works if work.end is not None]
        until = max([self.host, *ends]) + self.link.wait_s
        self.on_host.append(Interval("host", -1, self.host, until, command))
        self.host = until

    def _holds_up(self, command: Copy) -> bool:
        buffers = self.recording.buffers
        spaces = (buffers[command.target.buffer].space, buffers[command.source.buffer].space)
        return command.waits or "pageable" in spaces

    # ---- the queues ----------------------------------------------------------------------------------------

    def _enqueue(self, command: Queued, graph: int) -> _Work | None:
        key = (graph, command.stream)
        tail = self.tails.setdefault(key, [])
        after = [*tail, *(self._default_order(command.stream) if graph == 0 else [])]
        if isinstance(command, RecordEvent):
            self.events[graph, command.event] = after
            return None
        if isinstance(command, WaitForEvent):
            self.tails[key] = [*tail, *self.events.get((graph, command.event), [])]
            return None
        work = self._work(command, after)
        work.left += work.rate * (self.link.graph_node_s if graph else self.link.start_s)
        self.tails[key] = [work]
        self.waiting.append(work)
        return work

    def _default_order(self, stream: int) -> list[_Work]:
        """What the default stream's rules make a command of a stream wait for."""
        blocking = self.recording.blocking
        if stream != DEFAULT_STREAM:
            return self.tails.get((0, DEFAULT_STREAM), []) if blocking[stream] else []
        others = [number for number, keeps in enumerate(blocking) if keeps]
        return [work for other in others for work in self.tails.get((0, other), [])]

    def _work(self, command: Copy | Fill | LaunchKernel, after: list[_Work]) -> _Work:
        link = self.link
        if isinstance(command, LaunchKernel):
            return _Work(command, "compute", self.kernel_s(command), 1.0, after, self.host)
        if isinstance(command, Fill):
            seconds = len(command.pattern) * command.count / link.device_copy
            return _Work(command, "compute", seconds, 1.0, after, self.host)
        buffers = self.recording.buffers
        target, source = buffers[command.target.buffer].space, buffers[command.source.buffer].space
        if source == target == "device":
            return _Work(command, "compute", 2 * command.nbytes / link.device_copy, 1.0, after, self.host)
        engine: Engine = "in" if target == "device" else "out"
        pinned, pageable = (
            (link.copy_in, link.pageable_in) if engine == "in" else (link.copy_out, link.pageable_out)
        )
        rate = pageable if "pageable" in (source, target) else pinned
        return _Work(command, engine, command.nbytes, rate, after, self.host)

    def _launch_graph(self, command: LaunchGraph) -> None:
        self.graphs += 1
        graph = self.recording.graphs[command.graph]
        outer = [*self.tails.get((0, command.stream), []), *self._default_order(command.stream)]
        streams = {item.stream for item in graph.commands}
        for stream in streams:
            self.tails[self.graphs, stream] = list(outer)
        for item in graph.commands:
            self._enqueue(item, self.graphs)
        self.tails[0, command.stream] = [work for s in streams for work in self.tails.pop((self.graphs, s))]

    # ---- the engines ---------------------------------------------------------------------------------------

    def _advance(self, works: list[_Work]) -> None:
        """Let time pass on the device until all of `works` are done."""
        while any(work.end is None for work in works):
            self._start_what_can()
            rates = self._rates()
            steps = [work.left / rates[engine] for engine, work in self.active.items()]
            steps += [work.issued - self.now for work in self.waiting if work.issued > self.now]
            step = min(steps)
            self.now += step
            for engine, work in list(self.active.items()):
                work.left -= step * rates[engine]
                if work.left <= 1e-9 * work.amount + 1e-15:
                    work.end = self.now
                    self.done.append(self.active.pop(engine))

    def _start_what_can(self) -> None:
        for work in list(self.waiting):
            ready = work.issued <= self.now and all(other.end is not None for other in work.after)
            if ready and work.engine not in self.active:
                work.start = self.now
                self.active[work.engine] = work
                self.waiting.remove(work)

    def _rates(self) -> dict[Engine, float]:
        """What each active engine does a second; two copies at once share what there is."""
        rates = {engine: work.rate for engine, work in self.active.items()}
        both = rates.get("in", 0.0) + rates.get("out", 0.0)
        if "in" in rates and "out" in rates and both > self.link.copy_both:
            for engine in ("in", "out"):
                rates[engine] *= self.link.copy_both / both
        return rates
