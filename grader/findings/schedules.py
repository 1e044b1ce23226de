"""What the judge saw in a schedule that was written down: as data, in words, and as results show it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from grader.emulator.machine.records import Shape, Tool
from grader.results import FindingResult, OtherAccess

Kind = Literal["launch", "order", "unwritten"]

TOOLS: Mapping[Kind, Tool] = {"launch": "memcheck", "order": "racecheck", "unwritten": "initcheck"}
"""The tool of NVIDIA's compute-sanitizer that each kind is nearest to."""


@dataclass(frozen=True)
class Deed:
    """What one command does to memory."""

    command: Literal["copy", "launch", "memset", "host"]
    writes: bool
    line: int | None
    on_host: bool = False  # the host does it itself


@dataclass(frozen=True)
class Memory:
    """The buffer that a finding is about."""

    name: str  # the job's array; empty for a buffer of the schedule's own
    on_device: bool
    nbytes: int


@dataclass(frozen=True)
class OtherKernel:
    """A launch of something that is not the topic's kernel."""

    line: int | None
    kernel: str


@dataclass(frozen=True)
class OtherArguments:
    """A launch whose arguments are not the kernel's."""

    line: int | None
    signature: str


@dataclass(frozen=True)
class OtherSize:
    """A launch that passes another number than the job's."""

    line: int | None
    name: str
    passed: int
    wanted: int


@dataclass(frozen=True)
class OtherBlock:
    """A launch with blocks of a shape that the kernel is not made for."""

    line: int | None
    block: Shape
    wanted: tuple[int, ...]


@dataclass(frozen=True)
class SmallGrid:
    """A launch with too few blocks for the sizes that it passes."""

    line: int | None
    grid: Shape
    wanted: tuple[int, ...]
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class InPlace:
    """A launch that writes into memory that it reads."""

    line: int | None


@dataclass(frozen=True)
class BeyondEnd:
    """A launch that touches bytes behind the end of an allocation."""

    line: int | None
    offset: int
    nbytes: int
    over: int


@dataclass(frozen=True)
class Unordered:
    """Two commands that touch the same bytes in no order; `later` None: what looks at the results in the end."""

    line: int | None
    earlier: Deed
    later: Deed | None
    memory: Memory
    part: tuple[int, int] | None  # the bytes that both touch, where each touches others as well
    vain: int | None = None  # the line of a wait in between for an event that is never recorded


@dataclass(frozen=True)
class ReadUnwritten:
    """A command that reads what nothing has written."""

    line: int | None
    deed: Deed
    memory: Memory
    byte: int


@dataclass(frozen=True)
class ResultUnwritten:
    """A result that nothing has written, or not whole."""

    line: int | None
    memory: Memory
    byte: int  # the first
    partly: bool


ScheduleFinding = (
    OtherKernel
    | OtherArguments
    | OtherSize
    | OtherBlock
    | SmallGrid
    | InPlace
    | BeyondEnd
    | Unordered
    | ReadUnwritten
    | ResultUnwritten
)

_WAIT_AT_THE_END = "Wait for it, with stream.synchronize() or cuda.Context.synchronize()."
_HOST_WAITS = "Let the host wait first: stream.synchronize(), or event.synchronize() for one chunk."
_HOST_LATER = "Copy on the host only once the GPU has finished with that memory."
_ONE_STREAM = (
    "Put both into one stream, or record an event after the first and let the second's stream wait for it: "
    "stream.wait_for_event(event)."
)
_BEFORE_REUSE = (
    "Before memory is used again, wait until what used it last has finished: with an event, or by using each buffer in "
    "one stream only."
)


def results(found: Iterable[ScheduleFinding]) -> list[FindingResult]:
    """Findings as results show them: one for all of a line that differ in nothing but numbers, as those of a loop."""
    alike: dict[object, list[ScheduleFinding]] = {}
    for finding in found:
        alike.setdefault(_alike(finding), []).append(finding)
    return [_result(group[0], len(group)) for group in alike.values()]


def _alike(finding: ScheduleFinding) -> object:
    match finding:
        case OtherKernel(line, kernel):
            return type(finding), line, kernel
        case OtherSize(line, name):
            return type(finding), line, name
        case Unordered(line, earlier, later, memory):
            deeds = [(deed.command, deed.writes) for deed in (earlier, later) if deed]
            return type(finding), line, *deeds, memory.name, memory.on_device
        case ReadUnwritten(line, deed, memory):
            return type(finding), line, deed.command, memory.name, memory.on_device
        case ResultUnwritten(line, memory, partly=partly):
            return type(finding), line, memory.name, partly
    return type(finding), finding.line


def _result(finding: ScheduleFinding, count: int) -> FindingResult:
    kind = kind_of(finding)
    other = None
    if isinstance(finding, Unordered) and finding.later is not None:
        other = OtherAccess(_action(finding.earlier), finding.earlier.line)
    return FindingResult(
        kind=kind,
        line=finding.line,
        message=message(finding),
        count=count,
        tool=TOOLS[kind],
        remedy=remedy(finding),
        action=_own_action(finding),
        array=_array(finding),
        other=other,
    )


def kind_of(finding: ScheduleFinding) -> Kind:
    """The kind that a finding belongs to."""
    if isinstance(finding, Unordered):
        return "order"
    return "unwritten" if isinstance(finding, ReadUnwritten | ResultUnwritten) else "launch"


def _own_action(finding: ScheduleFinding) -> Literal["read", "write"] | None:
    if isinstance(finding, Unordered):
        return _action(finding.later or finding.earlier)
    return "read" if isinstance(finding, ReadUnwritten) else None


def _action(deed: Deed) -> Literal["read", "write"]:
    return "write" if deed.writes else "read"


def _array(finding: ScheduleFinding) -> str | None:
    return (
        finding.memory.name or None
        if isinstance(finding, Unordered | ReadUnwritten | ResultUnwritten)
        else None
    )


def message(finding: ScheduleFinding) -> str:
    """What happened."""
    match finding:
        case OtherKernel():
            return f"`{finding.kernel}` is launched, which is not this topic's kernel"
        case OtherArguments():
            return f"The launch does not pass what the kernel takes: {finding.signature}"
        case OtherSize(_, name, passed, wanted):
            return f"The launch passes {name} = {passed}, the job has {name} = {wanted}"
        case OtherBlock():
            return (
                f"The launch has blocks of {finding.block} threads; the kernel is made for {finding.wanted}"
            )
        case SmallGrid():
            return _small_grid(finding)
        case InPlace():
            return (
                "The launch writes into memory that it reads: its blocks run in any order, and some would read what "
                "others have written"
            )
        case BeyondEnd():
            return (
                f"The launch touches {finding.nbytes:,} bytes from byte {finding.offset:,} on, {finding.over:,} beyond "
                "the end of the allocation"
            )
        case Unordered():
            return _unordered(finding)
        case ReadUnwritten():
            text = (
                f"{_deed(finding.deed)} {_memory(finding.memory)} finds byte {finding.byte:,} never written"
            )
            return f"{text[0].upper()}{text[1:]}"
        case ResultUnwritten():
            return _result_unwritten(finding)


def remedy(finding: ScheduleFinding) -> str | None:
    """What would mend it; None where that is plain from what happened."""
    match finding:
        case SmallGrid():
            return "cdiv rounds up: -(-n // threads)."
        case InPlace():
            return "Let it write to a buffer of its own."
        case BeyondEnd():
            return "Is the last chunk shorter than the others?"
        case Unordered():
            return _order(finding)
        case ReadUnwritten():
            return "Was it copied?"
        case ResultUnwritten(partly=False):
            return (
                "Copy the results back with cuda.memcpy_dtoh_async, also those of a last chunk where the size is not a "
                "multiple of the chunk."
            )
        case ResultUnwritten():
            return "Do chunks reach the end where the size is not a multiple of the chunk?"
    return None


def _small_grid(finding: SmallGrid) -> str:
    sizes = ", ".join(f"{name} = {value}" for name, value in finding.sizes.items())
    blocks, wanted = math.prod(finding.grid), math.prod(finding.wanted)
    has, needs = f"has {blocks:,} block{'' if blocks == 1 else 's'}", f"{wanted:,}"
    if blocks >= wanted:
        has = "is " + " × ".join(f"{side:,}" for side in finding.grid[: len(finding.wanted)])
        needs = " × ".join(f"{side:,}" for side in finding.wanted)
    return f"The grid {has}, where {sizes} needs {needs}: elements at the end stay untouched"


def _unordered(finding: Unordered) -> str:
    memory, first = _memory(finding.memory), _deed(finding.earlier)
    if finding.later is None:
        return f"run() returns while {first} {memory} may still be under way"
    second = _deed(finding.later)
    return f"{second[0].upper()}{second[1:]} {memory} may overlap {first} it: the two are unordered"


def _order(finding: Unordered) -> str:
    """What would put two commands in order."""
    earlier, later = finding.earlier, finding.later
    if later is None:
        return _WAIT_AT_THE_END
    if finding.vain is not None:
        return (
            f"Line {finding.vain} waits for an event that is never recorded, and so for nothing: record "
            "it before, in the stream of the first: event.record(stream)."
        )
    if later.on_host:
        text = _HOST_WAITS
    elif earlier.on_host:
        text = _HOST_LATER
    else:
        text = _ONE_STREAM if earlier.writes and not later.writes else _BEFORE_REUSE
    if finding.part is not None:
        text += (
            f" Only bytes {finding.part[0]:,} to {finding.part[1] - 1:,} are touched by both: is that meant? Offsets "
            "count bytes, not elements."
        )
    return text


def _result_unwritten(finding: ResultUnwritten) -> str:
    memory = finding.memory
    if not finding.partly:
        return f"Nothing is copied to `{memory.name}`, where the results belong"
    return (
        f"`{memory.name}` is not written whole: byte {finding.byte:,} of {memory.nbytes:,} is the first that no copy "
        "fills"
    )


def _memory(memory: Memory) -> str:
    if memory.name:
        return f"`{memory.name}`"
    return f"a {'device' if memory.on_device else 'host'} buffer of {memory.nbytes:,} bytes"


def _deed(deed: Deed) -> str:
    at = f" of line {deed.line}" if deed.line else ""
    return f"the {deed.command}{at} {_doing(deed)}"


def _doing(deed: Deed) -> str:
    if deed.command == "copy":
        return "into" if deed.writes else "out of"
    return "writing" if deed.writes else "reading"
