"""What host code asks of a GPU, as data: copies, launches, events and waits, in the order of the calls.

`grader.emulator.streams.recorder` notes such a list, piece by piece, while host code runs against the emulator's
`pycuda.driver`; others check it, replay it on a device, and simulate how long it takes. Nothing in it is an address:
memory is named by a buffer's number and an offset in bytes, streams and events by their numbers. Stream 0 is the
default stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

DEFAULT_STREAM = 0

MOST_CALLS = 20_000
"""Calls that are written down, those inside graphs included."""

TOO_MANY = f"it makes more than {MOST_CALLS:,} calls: use larger chunks"

Space = Literal["device", "pinned", "pageable"]


class Buffer(Struct, frozen=True, tag=True):
    """One allocation. `name` is that of a parameter of the job, "" for what the host code made itself."""

    space: Space
    nbytes: int
    name: str = ""


class Place(Struct, frozen=True):
    """A byte of a buffer."""

    buffer: int
    offset: int


class Copy(Struct, frozen=True, tag=True):
    """Copy `nbytes` in a stream; `waits` is true of the calls without `_async`."""

    target: Place
    source: Place
    nbytes: int
    stream: int
    waits: bool
    line: int | None = None


class Fill(Struct, frozen=True, tag=True):
    """Write a pattern of 1, 2 or 4 bytes `count` times over device memory."""

    target: Place
    pattern: bytes
    count: int
    stream: int
    line: int | None = None


class LaunchKernel(Struct, frozen=True, tag=True):
    """Launch a kernel; an argument is a device address, or the bytes of a number."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    args: tuple[Place | bytes, ...]
    stream: int
    line: int | None = None


class RecordEvent(Struct, frozen=True, tag=True):
    """Mark the point in a stream that an event stands for from now on."""

    event: int
    stream: int
    line: int | None = None


class WaitForEvent(Struct, frozen=True, tag=True):
    """What is given to a stream from now on starts after the event."""

    event: int
    stream: int
    line: int | None = None


class Synchronise(Struct, frozen=True, tag=True):
    """The host waits for a stream; None: for all of them."""

    stream: int | None
    line: int | None = None


class AwaitEvent(Struct, frozen=True, tag=True):
    """The host waits for an event."""

    event: int
    line: int | None = None


class HostRead(Struct, frozen=True, tag=True):
    """The host looks at its own memory."""

    source: Place
    nbytes: int
    line: int | None = None


class HostCopy(Struct, frozen=True, tag=True):
    """The host copies within its own memory."""

    target: Place
    source: Place
    nbytes: int
    line: int | None = None


class LaunchGraph(Struct, frozen=True, tag=True):
    """Enqueue everything that a graph holds, as one piece of work of a stream."""

    graph: int
    stream: int
    line: int | None = None


Queued = Copy | Fill | LaunchKernel | RecordEvent | WaitForEvent
"""What a graph can hold."""

Command = Queued | Synchronise | AwaitEvent | HostRead | HostCopy | LaunchGraph


class Graph(Struct, frozen=True, tag=True):
    """Work captured from streams, of which `origin` is the one that the capture began in."""

    origin: int
    commands: tuple[Queued, ...]


class Pinned(Struct, frozen=True, tag=True):
    """A buffer of pageable memory is page-locked: all of its copies are."""

    buffer: int


class NewStream(Struct, frozen=True, tag=True):
    """The next stream; `blocking` when it keeps to the default stream's order."""

    blocking: bool


class NewEvent(Struct, frozen=True, tag=True):
    """The next event."""


class Started(Struct, frozen=True, tag=True):
    """run() begins, and what follows is timed; or it begins again."""


class Stopped(Struct, frozen=True, tag=True):
    """run() cannot be called again, and says so."""


Entry = Buffer | Pinned | NewStream | NewEvent | Graph | Started | Stopped | Command
"""What a recorder notes."""


class Recording(Struct, frozen=True, tag=True):
    """All that host code asked for, and what it needs for that."""

    buffers: tuple[Buffer, ...]
    blocking: tuple[bool, ...]  # by stream: whether it keeps to the default stream's order
    events: int
    graphs: tuple[Graph, ...]
    commands: tuple[Command, ...]

    def expanded(self) -> Iterator[Command]:
        """The commands, those of launched graphs in their place."""
        for command in self.commands:
            if isinstance(command, LaunchGraph):
                yield from self.graphs[command.graph].commands
            else:
                yield command

    def queued(self) -> Iterator[Queued]:
        """Those for streams."""
        for command in self.expanded():
            if isinstance(command, Copy | Fill | LaunchKernel | RecordEvent | WaitForEvent):
                yield command
