"""What the program's process tells its parent, one JSON object a line; and what the parent makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from grader.emulator.machine.records import LaunchRecord
from grader.emulator.places import Place

Frames = list[int]
"""Return addresses in the program, innermost first."""

HostKind = Literal[
    "unchecked_error",
    "launch_failed",
    "too_early",
    "unordered",
    "copy_size",
    "copy_direction",
    "never_written",
    "use_after_free",
    "double_free",
    "leak",
    "lost_output",
    "crash",
]


class Block(msgspec.Struct):
    """An allocation of the program's."""

    base: int
    nbytes: int
    call: str
    frames: Frames
    freed: Frames | None = None
    """Where it was given back."""
    hollow: tuple[str, Frames] | None = None
    """The last copy to it of memory of the host's that nobody had written."""


class Loaded(msgspec.Struct, tag="loaded"):
    """The program lies in memory from here on: what addr2line knows are distances from it."""

    base: int


class Launched(msgspec.Struct, tag="launch"):
    record: LaunchRecord
    frames: Frames
    blocks: list[Block] = []
    """Those that the findings are about."""


class Noted(msgspec.Struct, tag="note"):
    """Something that the host did which it must not do."""

    kind: HostKind
    call: str
    frames: Frames
    detail: str = ""
    """Of an error, CUDA's name; else what happened, in words where no field has it."""
    reason: str = ""
    """Of an error, what the emulator adds."""
    nbytes: int = 0
    room: int = 0
    side: Literal["", "source", "destination"] = ""
    empty: bool = False
    block: Block | None = None
    other_call: str = ""
    other: Frames = []
    writes: bool = False
    other_writes: bool = False
    first: int = 0
    last: int = 0
    beside_default: bool = False
    one_stream: bool = False


class Crashed(msgspec.Struct, tag="crash"):
    """The program touched memory that is not there."""

    address: int
    writes: bool
    frames: Frames
    block: Block | None = None


class Refused(msgspec.Struct, tag="refused"):
    """The program asked for what is not there without a GPU."""

    what: str
    remedy: str
    frames: Frames


class Called(msgspec.Struct, tag="call"):
    """A call of the runtime; told of programs on trial alone, as is Failed."""

    name: str
    frames: Frames
    direction: int | None = None
    """Of cudaMemcpy and cudaMemcpyAsync, the cudaMemcpyKind."""


class Failed(msgspec.Struct, tag="failed"):
    """A call returned an error, whether the program looked at it or not."""

    call: str
    frames: Frames
    error: str
    reason: str


class Ended(msgspec.Struct, tag="end"):
    """The program came to its end."""

    times_read: bool
    handles: list[tuple[str, Frames]] = []
    """The calls that made the streams and events that are not destroyed."""


Event = Loaded | Launched | Noted | Crashed | Refused | Called | Failed | Ended


class Trial(msgspec.Struct):
    """How a judge runs a program: its calls are told, and one may fail that would not."""

    fails: int | None = None
    """The call that fails, by its number among all calls of the runtime."""
    status: int = 0
    """What it returns, as cudaError_t."""
    while_running: bool = False
    """The launch returns no error: its kernel fails with that one, as a waiting call will say."""


@dataclass(frozen=True)
class HostFinding:
    """Something the host's code did that it must not do, as data. Words are put to it elsewhere."""

    kind: HostKind
    place: Place | None
    """Where; None where no line is known."""
    call: str
    """The function of the runtime; "" where it was none."""
    error: str = ""
    """CUDA's name of the error."""
    reason: str = ""
    """What the emulator knows beyond it."""
    array: str | None = None
    """The name of the memory in the source."""
    nbytes: int = 0
    """Of the copy, or of what was lost."""
    room: int = 0
    """Bytes that there are."""
    side: Literal["", "source", "destination"] = ""
    other_call: str = ""
    other: Place | None = None
    """The call that this is about: the copy that was not waited for, the free, the allocation."""
    inside: Place | None = None
    """Of what a kernel did: the line that did it, with the calls that led there."""
    address: int = 0
    writes: bool = False
    empty: bool = False
    """Of a launch: it has no blocks."""
    other_writes: bool = False
    first: int = 0
    last: int = 0
    """Of two accesses without an order: the first byte that both touch, and the one behind the last."""
    beside_default: bool = False
    """One of the two is in the default stream."""
    one_stream: bool = False
    """Both are in one stream: the second is a kernel that may begin before the first has ended."""
    count: int = 1


@dataclass(frozen=True)
class Refusal:
    """What the program asked for and is not there."""

    what: str
    remedy: str
    place: Place | None


@dataclass(frozen=True)
class HostCall:
    """A call of the runtime."""

    name: str
    place: Place | None
    direction: int | None = None
    """Of cudaMemcpy and cudaMemcpyAsync, the cudaMemcpyKind."""


@dataclass(frozen=True)
class HostError:
    """A call of the runtime that returned an error."""

    call: str
    place: Place | None
    error: str
    """CUDA's name of it."""
    reason: str
    """What the emulator knows beyond it."""


@dataclass(frozen=True)
class Gone:
    """A name that CUDA 13 has no more, what there is instead, and where the program first has it."""

    name: str
    instead: str
    place: Place


@dataclass
class Outcome:
    """What became of a program."""

    launches: list[tuple[LaunchRecord, Place | None]] = field(default_factory=list)
    findings: list[HostFinding] = field(default_factory=list)
    refused: Refusal | None = None
    status: int = 0
    """The program's own exit status, as a shell gives it."""
    times_read: bool = False
    """It asked how long something took between two events."""
    emulated: bool = True
    """False where it ran on a GPU: then neither launches nor findings are known."""
    timed_out: bool = False
    """It was ended because it took longer than it may."""
    calls: list[HostCall] = field(default_factory=list)
    """Of a program on trial: all calls of the runtime, in their order."""
    errors: list[HostError] = field(default_factory=list)
    """Of a program on trial: what calls returned, whether the program looked at it or not."""
    undestroyed: list[HostCall] = field(default_factory=list)
    """The calls that made streams and events that the program has not destroyed."""
    gone: Sequence[Gone] = ()
    """What the program has from before CUDA 13."""

    @property
    def faults(self) -> int:
        """Findings of the host and of the kernels."""
        return len(self.findings) + sum(len(record.findings) for record, _ in self.launches)

    @property
    def exit_code(self) -> int:
        """The program's own exit status; 1 where it ended well and there are findings; 2 where it was refused."""
        return 2 if self.refused else self.status or int(self.faults > 0)
