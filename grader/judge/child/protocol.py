"""What the judge's parent asks of its child, and what the child answers.

A request is a list of operations, done in order; the reply has one value an operation, and entries of a recording come
before it as they are made. All are MessagePack, each after its length in eight bytes. Arrays do not travel in messages:
they lie in one memory file that both processes map, and operations name their byte offsets in it. The child is told
nothing that would let it judge: it sees regions of bytes, images and launches, never an expected result.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import ml_dtypes  # noqa: F401 (adds bfloat16 to the NumPy dtypes that messages name)
import msgspec
from msgspec import Struct

from grader.emulator.machine.orders import Order
from grader.emulator.machine.records import Accessed, Counted, Finding, Origin, Touched
from grader.emulator.streams.commands import Entry, Recording

MOST_PRINTED = 1 << 16
"""Bytes of a case's output that are looked at."""


class Allocate(Struct, frozen=True, tag=True):
    """A device buffer of `nbytes`, with `guard` further bytes before and after it in the same allocation."""

    buffer: str
    nbytes: int
    guard: int = 0


class Upload(Struct, frozen=True, tag=True):
    """Copy a buffer's whole region, guards included, from the memory file to the device."""

    buffer: str
    offset: int


class Download(Struct, frozen=True, tag=True):
    """Copy a buffer's whole region, guards included, from the device to the memory file."""

    buffer: str
    offset: int


class Fill(Struct, frozen=True, tag=True):
    """Write a 32-bit word over the buffer, not over its guards; a last odd byte or three get the word's first
    bytes."""

    buffer: str
    word: int


class Frame(Struct, frozen=True, tag=True):
    """Write a 32-bit word over both guards of a buffer."""

    buffer: str
    word: int


class Repeat(Struct, frozen=True, tag=True):
    """Fill a buffer with repetitions of the `nbytes` bytes, whole pages, at `offset` in the memory file."""

    buffer: str
    offset: int
    nbytes: int


class Gather(Struct, frozen=True, tag=True):
    """The value is these elements of a buffer, of `itemsize` bytes each."""

    buffer: str
    places: tuple[int, ...]
    itemsize: int


class Load(Struct, frozen=True, tag=True):
    """Load a compiled image and call it `module`."""

    module: str
    image: bytes
    extended: bool = False  # its kernels are launched with clusters, cooperatively, or with tensor maps


class Reload(Struct, frozen=True, tag=True):
    """Load a module again: its variables hold what they held at first."""

    module: str


class Pointer(Struct, frozen=True, tag=True):
    """An argument: the address of a buffer."""

    buffer: str


class Scalar(Struct, frozen=True, tag=True):
    """An argument: one number of a NumPy dtype."""

    dtype: str
    value: int | float


class Tensor(Struct, frozen=True, tag=True):
    """An argument: a buffer as the Tensor Memory Accelerator is to see it. The outermost dimension comes first, and
    strides are in elements, of all dimensions but the innermost."""

    buffer: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int  # bytes
    nan: bool  # what lies outside is NaN, not 0


class Launch(Struct, frozen=True):
    """One kernel launch. `shared_bytes` is dynamic; `zero` names buffers cleared just before, `constant` pairs
    of a module's variable and the buffer copied into it; `blocks` are the linear ids of the only blocks to run
    (emulator only), None for all, and none of them is begun once they have taken the effort of `enough` warp
    instructions; of the block `traced` the record says what it accesses (emulator only)."""

    symbol: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    args: tuple[Pointer | Scalar | Tensor, ...]
    zero: tuple[str, ...] = ()
    constant: tuple[tuple[str, str], ...] = ()
    blocks: tuple[int, ...] | None = None
    enough: int | None = None
    traced: int | None = None
    cluster: tuple[int, int, int] = (1, 1, 1)
    cooperative: bool = False

    @property
    def buffers(self) -> frozenset[str]:
        """Of its arguments, those behind tensor maps included."""
        return frozenset(item.buffer for item in self.args if not isinstance(item, Scalar))


class Run(Struct, frozen=True, tag=True):
    """Launch kernels of a module in order and wait for them. The value is a list of Records, empty on a
    GPU."""

    module: str
    launches: tuple[Launch, ...]
    budget: int | None = None  # warp instructions a block may execute; the emulator stops there
    order: Order = "rising"  # of the blocks, where they communicate (emulator only)
    watch_nan: bool = False  # the records say what made the first infinity and the first NaN (emulator only)


class LibraryArray(Struct, frozen=True):
    """A buffer as a library sees it."""

    buffer: str
    dtype: str
    shape: tuple[int, ...]


class Library(Struct, frozen=True, tag=True):
    """Call a library baseline of `grader.judge.child.baselines` on arrays by parameter name, at these sizes."""

    name: str
    arrays: dict[str, LibraryArray]
    sizes: dict[str, int | float]


class Copy(Struct, frozen=True, tag=True):
    """Copy the first `nbytes` of one buffer to another, on the device."""

    source: str
    target: str
    nbytes: int


class Timed(Struct, frozen=True, tag=True):
    """Do an action between two events, once the `flush` buffer has been overwritten and `before` launched. The
    value is in seconds."""

    action: Run | Library | Copy
    flush: str | None = None
    before: Run | None = None


class Release(Struct, frozen=True, tag=True):
    """Free every buffer; modules stay loaded."""


class Renew(Struct, frozen=True, tag=True):
    """Begin with an emulated device as it is at first: after a launch that failed, its context is of no use."""


class HostData(Struct, frozen=True):
    """A host array that a schedule is given."""

    name: str
    dtype: str
    shape: tuple[int, ...]


class RecordSchedule(Struct, frozen=True, tag=True):
    """Run a schedule against the recorder, and tell each Entry of its recording at once, as a Noted.

    `parameters` follow the kernel in the call of its class. The child that does this has run a learner's code,
    and is trusted with nothing afterwards: the parent keeps the list.
    """

    file: str  # as messages name it
    source: str
    image: bytes  # of the kernel, as the emulator loads it
    symbol: str
    parameters: tuple[HostData | int, ...]


class Stage(Struct, frozen=True, tag=True):
    """Make what a recording needs, and call it `schedule`: buffers, streams, events and graphs.

    What had that name is given back. Schedules share their host arrays of the same name and kind of memory."""

    schedule: str
    recording: Recording
    module: str


class Put(Struct, frozen=True, tag=True):
    """Fill the host array `name` of a staged schedule from the memory file."""

    schedule: str
    name: str
    offset: int


class Fetch(Struct, frozen=True, tag=True):
    """Copy the host array `name` of a staged schedule to the memory file."""

    schedule: str
    name: str
    offset: int


class Replay(Struct, frozen=True, tag=True):
    """Do a staged schedule's commands. The value is the seconds until the device was idle, by the host's
    clock; with `traced`, it is a Trace."""

    schedule: str
    budget: int | None = None  # warp instructions a block may execute; the emulator stops there
    traced: bool = False


class Span(Struct, frozen=True):
    """When one command was worked on; seconds from the start of the replay."""

    command: int  # its place among the recording's `queued()`
    start_s: float
    end_s: float


class Trace(Struct, frozen=True, tag=True):
    """When each command for a stream was worked on, by the device's clock."""

    spans: tuple[Span, ...]


Operation = (
    Allocate
    | Upload
    | Download
    | Fill
    | Frame
    | Repeat
    | Gather
    | Load
    | Reload
    | Run
    | Library
    | Copy
    | Timed
    | Release
    | Renew
    | RecordSchedule
    | Stage
    | Put
    | Fetch
    | Replay
)


class Record(Struct, frozen=True):
    """The emulator's LaunchRecord, as it crosses the pipe; findings name the buffers that they are about."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    registers: int
    status: str
    counters: dict[str, int]
    lines: tuple[Counted, ...]
    findings: tuple[Finding, ...]
    blocks_run: int
    grid_blocks: int
    dram_read_bytes: int
    dram_write_bytes: int
    l2_read_bytes: int
    l2_write_bytes: int
    l2_common_bytes: int
    longest_warp: int
    longest_block: int
    most_loaded_bytes: int
    load_path: int
    shared_used_bytes: int
    reads_beside_writes: int
    copies_beside_reads: int
    bulk_beside_reads: int
    communicates: bool
    may_wait: bool
    touched: tuple[Touched, ...] = ()
    local_bytes: int = 0
    atomics_a_word: float = 0.0
    accessed: tuple[Accessed, ...] = ()
    first_infinity: Origin | None = None
    first_nan: Origin | None = None
    host_calls: dict[str, int] = {}


class Request(Struct, frozen=True):
    """One batch of operations; `capacity` is how many bytes the memory file holds by now."""

    operations: tuple[Operation, ...]
    capacity: int


class Failure(Struct, frozen=True):
    """Why a batch stopped: the operation that could not be done, and the driver's words."""

    operation: int
    kind: str  # the exception's class, such as "LaunchError" or "UnsupportedPtx"
    message: str
    line: int | None = None  # line of the source or of the PTX, where the exception knows it
    status: str | None = None  # CUDA's, such as "ILLEGAL_ADDRESS", where the driver returned one


class Answer(Struct, frozen=True):
    """What comes back for a request: a Reply, and before it a Noted for each entry of a recording."""


class Reply(Answer, frozen=True, tag=True):
    """The values of the operations that were done: Records of a Run, seconds of a Timed or a Replay, the Trace of a
    replay, the bytes of a Gather, None of the others."""

    values: tuple[list[Record] | float | Trace | bytes | None, ...]
    failure: Failure | None = None


class Noted(Answer, frozen=True, tag=True):
    """An entry of the recording that is being made."""

    entry: Entry


DeviceKind = Literal["gpu", "emulator"]


class Hello(Struct, frozen=True):
    """The child's first message: what it found to launch on."""

    kind: DeviceKind
    name: str
    arch: str
    cubins: int  # the major version of CUDA that the driver's cubins are compiled with
    limits: dict[str, int]
    driver: str | None  # CUDA version of the driver, such as "13.0"; None on the emulator
    bus_id: str | None  # PCI bus id of the GPU, by which NVML knows it
    failure: Failure | None = None


Message = TypeVar("Message", Request, Answer, Hello)

_encode = msgspec.msgpack.Encoder().encode
# Made here, before there are threads: see grader/course/orders.py.
_decoders: dict[type, msgspec.msgpack.Decoder[Any]] = {
    Request: msgspec.msgpack.Decoder(Request),
    Answer: msgspec.msgpack.Decoder(Reply | Noted),
    Hello: msgspec.msgpack.Decoder(Hello),
}


MOST_BYTES = 1 << 30
"""Of one message; requests carry compiled images, replies what was counted for each line."""


class NoMessage(Exception):
    """What came is not a message of the kind that is due."""


def encoded(message: Request | Answer | Hello) -> bytes:
    """A message as it is written, its length before it."""
    body = _encode(message)
    return struct.pack("<Q", len(body)) + body


def length_of(head: bytes) -> int:
    """How long a message is that begins with these eight bytes. Raises NoMessage."""
    (length,) = struct.unpack("<Q", head)
    if length > MOST_BYTES:
        raise NoMessage(f"a message of {length:,} bytes, where {MOST_BYTES:,} are the most")
    return int(length)


def decoded(body: bytes, kind: type[Message]) -> Message:
    """The message behind its length. Raises NoMessage."""
    try:
        message: Message = _decoders[kind].decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NoMessage(str(error)) from None
    return message


def check(reply: Reply, operations: Sequence[Operation]) -> None:
    """Raises NoMessage for a reply that cannot be one to these operations: every one has a value of its own kind, up
    to the failed one."""
    done = len(operations) if reply.failure is None else reply.failure.operation
    if not 0 <= done <= len(operations) or len(reply.values) != done:
        raise NoMessage(f"{len(reply.values)} values for {len(operations)} operations")
    for operation, value in zip(operations, reply.values, strict=False):
        due = _value_of(operation)
        if not isinstance(value, due) or (isinstance(value, float) and not 0 <= value < math.inf):
            raise NoMessage(f"{type(value).__name__} for {type(operation).__name__}")


def _value_of(operation: Operation) -> type:
    """The type of what an operation gives."""
    if isinstance(operation, Replay):
        return Trace if operation.traced else float
    return _VALUES.get(type(operation), type(None))


_VALUES: dict[type, type] = {Run: list, Timed: float, Gather: bytes}


def send(descriptor: int, message: Request | Answer | Hello) -> None:
    """Write one message; blocks until the other side has room for it."""
    view = memoryview(encoded(message))
    while view:
        view = view[os.write(descriptor, view) :]


def receive(descriptor: int, kind: type[Message]) -> Message:
    """Read one message of a kind; blocks until it is there. Raises EOFError when the other side is gone."""
    return decoded(_read_exactly(descriptor, length_of(_read_exactly(descriptor, 8))), kind)


def _read_exactly(descriptor: int, length: int) -> bytes:
    body = bytearray()
    while len(body) < length:
        part = os.read(descriptor, min(length - len(body), 1 << 20))
        if not part:
            raise EOFError("the other side of the pipe is closed")
        body += part
    return bytes(body)
