"""A recording put together from what a recorder notes, by a process in which no host code runs.

What is noted cannot be taken back or changed: a stranger's code can do to the recorder, in its own process, whatever it
likes, and all that comes of it is another list of calls, which has to be right by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from grader.emulator.streams.commands import (
    MOST_CALLS,
    TOO_MANY,
    Buffer,
    Command,
    Copy,
    Entry,
    Fill,
    Graph,
    LaunchGraph,
    LaunchKernel,
    NewEvent,
    NewStream,
    Pinned,
    Recording,
    Started,
    Stopped,
)

MOST_RUNS = 4
"""Calls of run() that are looked at."""

Work = tuple[str, int | tuple[int, ...]]
"""A copy or a fill and its bytes, or a kernel and its grid."""


def work(recording: Recording) -> Counter[Work]:
    """What there is for the GPU to do, in whatever order and wherever in memory.

    Nothing is checked yet: graphs are not expanded, as small ones may do very much, and may not be there.
    """
    found = _enqueued(recording.commands)
    launched = Counter(item.graph for item in recording.commands if isinstance(item, LaunchGraph))
    for graph, times in launched.items():
        if 0 <= graph < len(recording.graphs):
            for item, count in _enqueued(recording.graphs[graph].commands).items():
                found[item] += times * count
    return found


def _enqueued(commands: Iterable[Command]) -> Counter[Work]:
    """What commands ask for, but for the graphs that they launch."""
    found: Counter[Work] = Counter()
    for command in commands:
        match command:
            case Copy(nbytes=nbytes):
                found["Copy", nbytes] += 1
            case Fill(pattern=pattern, count=count):
                found["Fill", len(pattern) * count] += 1
            case LaunchKernel(kernel=kernel, grid=grid):
                found[kernel, grid] += 1
    return found


class Transcript:
    """The entries so far, of a few calls of run(); `given` are the job's host arrays. `complaint` says why they are no
    recording."""

    def __init__(self, given: Iterable[Buffer]) -> None:
        self._buffers = list(given)
        self._blocking = [True]
        self._events = 0
        self._graphs: list[Graph] = []
        self._commands: list[Command] = []
        self._started = False
        self._first: Recording | None = None
        """Of the first call, once the second has begun."""
        self._ended: list[Counter[Work]] = []
        """Of each call after which another one has begun."""
        self._stopped = False
        self._noted = 0
        self.complaint = ""

    def note(self, entry: Entry) -> None:
        """One more; none once there is something to complain of."""
        self._noted += 1 + (len(entry.commands) if isinstance(entry, Graph) else 0)
        if self._noted > MOST_CALLS:
            self.complaint = self.complaint or TOO_MANY
        if not self.complaint:
            self.complaint = self._add(entry)

    def recording(self) -> Recording:
        """What was noted of preparation and of the first call of run()."""
        return self._first or self._so_far()

    def of_all_calls(self) -> list[Counter[Work]]:
        """What each call gave the GPU to do, two of them at least; for one that has to be the only one, twice the
        same."""
        if self._first is None:
            return [work(self._so_far()), Counter()]
        return [*self._ended, self._ended[0] if self._stopped else work(self._so_far())]

    def _so_far(self) -> Recording:
        return Recording(
            tuple(self._buffers),
            tuple(self._blocking),
            self._events,
            tuple(self._graphs),
            tuple(self._commands),
        )

    def _add(self, entry: Entry) -> str:
        match entry:
            case Buffer() | Pinned():
                return self._memory(entry)
            case NewStream(blocking):
                self._blocking.append(blocking)
            case NewEvent():
                self._events += 1
            case Graph():
                self._graphs.append(entry)
            case Started() if not self._started:
                self._started = True
            case Started() if len(self._ended) + 1 < MOST_RUNS:
                call = self._so_far()
                self._first = self._first or call
                self._ended.append(work(call))
                self._commands, self._noted = [], 0
            case Started():
                return "run() begins too often"
            case Stopped():
                self._stopped = True
            case _ if self._started:
                self._commands.append(entry)
            case _:
                return "there is work before run()"
        return ""

    def _memory(self, entry: Buffer | Pinned) -> str:
        if self._started:
            return "memory is allocated or page-locked in run()"
        if isinstance(entry, Buffer):
            self._buffers.append(entry)
            return "" if entry.nbytes > 0 and not entry.name else "a buffer is empty, or has a job's name"
        if not 0 <= entry.buffer < len(self._buffers) or self._buffers[entry.buffer].space == "device":
            return "what is page-locked is no host memory"
        self._buffers[entry.buffer] = msgspec.structs.replace(self._buffers[entry.buffer], space="pinned")
        return ""
