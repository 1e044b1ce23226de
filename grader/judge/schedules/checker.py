"""A schedule written down for one problem, and whether that list can be trusted: nothing runs on a device here.

The list comes from a process in which a learner's code ran. It is looked at as data: every place has to lie in
its buffer, every launch has to be of the topic's kernel with the job's numbers, accesses to the same memory have to
be ordered, and the results have to be written whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grader.emulator.streams import captures
from grader.emulator.streams.commands import (
    DEFAULT_STREAM,
    MOST_CALLS,
    AwaitEvent,
    Buffer,
    Command,
    Copy,
    Fill,
    HostCopy,
    HostRead,
    LaunchGraph,
    LaunchKernel,
    Place,
    RecordEvent,
    Recording,
    WaitForEvent,
)
from grader.emulator.streams.ordering import Extent, Hazard, extents, hazards
from grader.emulator.streams.transcript import Transcript
from grader.findings import schedules
from grader.findings.schedules import (
    BeyondEnd,
    Deed,
    InPlace,
    Memory,
    OtherArguments,
    OtherBlock,
    OtherKernel,
    OtherSize,
    ReadUnwritten,
    ResultUnwritten,
    ScheduleFinding,
    SmallGrid,
    Unordered,
)
from grader.judge.child.protocol import Failure, HostData, RecordSchedule
from grader.judge.kernels.compiled import Kernel
from grader.judge.refused import Refused
from grader.judge.runners.runner import Runner
from grader.judge.schedules import launches
from grader.results import FindingResult
from grader.workbook.reference import Problem
from grader.workbook.schedule_file import ScheduleFile
from grader.workbook.signature import Parameter
from grader.workbook.topic import ScheduledKernel, ScheduleTopic

SECONDS = 60.0
"""After this long a schedule that is only written down hangs."""


@dataclass(frozen=True)
class CheckedSchedule:
    """What became of writing a schedule down. `recording` None: `refusal` says why there is none."""

    recording: Recording | None
    refusal: Refused | None = None
    findings: tuple[FindingResult, ...] = ()


def check_schedule(
    runner: Runner, topic: ScheduleTopic, kernel: Kernel, file: ScheduleFile, problem: Problem
) -> CheckedSchedule:
    """Write a schedule down for a problem, in an emulator's child that is used for nothing else, and check it."""
    job = topic.kernel
    parameters = tuple(_parameter(item, job, problem) for item in topic.signature.params)
    transcript = Transcript(_given(item) for item in parameters if isinstance(item, HostData))
    operation = RecordSchedule(
        file.path.name,
        file.source,
        kernel.load("emulator").image,
        _symbol(kernel),
        parameters,
    )
    try:
        reply = runner.ask([operation], SECONDS, transcript.note)
    except Refused as refused:
        return CheckedSchedule(None, _of_hanging(refused))
    if reply.failure is not None:
        return CheckedSchedule(None, _of_failure(reply.failure, file))
    if transcript.complaint:
        return CheckedSchedule(None, _unreplayable(transcript.complaint))
    first, again, *with_other_data = transcript.of_all_calls()
    if first != again:
        return CheckedSchedule(None, _of_the_first_call_only(first.total(), again.total()))
    for other in with_other_data:
        if first != other:
            return CheckedSchedule(None, _of_the_data(first.total(), other.total()))
    return Checker(topic, kernel, problem, transcript.recording()).check()


def _symbol(kernel: Kernel) -> str:
    return kernel.build.lowered[kernel.file.kernels[0]]


def _parameter(item: Parameter, job: ScheduledKernel, problem: Problem) -> HostData | int:
    if item.kind == "size":
        return int(problem[item.name])
    return HostData(item.name, str(item.dtype), job.shape(item.name, problem))


def _given(item: HostData) -> Buffer:
    """One of the job's host arrays, in a recording."""
    return Buffer("pageable", math.prod(item.shape) * np.dtype(item.dtype).itemsize, item.name)


def _of_the_first_call_only(first: int, again: int) -> Refused:
    sizes = "" if first != again else ", of other sizes"
    return Refused(
        "fail",
        "run() is called again for every new set of data, and has to do the same each time: the first call asks for "
        f"{first:,} copies, fills and launches, the second for {again:,}{sizes}. What does it keep from call to call?",
    )


def _of_the_data(first: int, other: int) -> Refused:
    sizes = "" if first != other else ", of other sizes"
    return Refused(
        "fail",
        "run() has to do the same for all data of a size: with zeros in the host arrays it asks for "
        f"{first:,} copies, fills and launches, with other numbers for {other:,}{sizes}. Leave out what looks at "
        "the numbers: they may be any.",
    )


def _unreplayable(complaint: str) -> Refused:
    return Refused("error", f"The schedule cannot be replayed: {complaint}.")


def _of_hanging(refusal: Refused) -> Refused:
    if refusal.verdict != "timeout":
        return Refused(
            "error",
            f"The schedule does not come to its end: {refusal.reason.partition(' If this happens')[0]}",
        )
    reason = (
        f"Writing the schedule down had not ended after {SECONDS:g} s: nothing is copied or computed "
        "there, so look for a loop that does not end."
    )
    return Refused("timeout", reason)


def _of_failure(failure: Failure, file: ScheduleFile) -> Refused:
    where = f"{file.path.name}:{failure.line}: " if failure.line else ""
    lines = file.source.splitlines()
    known = failure.line is not None and 1 <= failure.line <= len(lines)
    quoted = f" (`{lines[failure.line - 1].strip()}`)" if failure.line and known else ""
    message = failure.message.rstrip(".") or "it failed without a word"
    return Refused("error", f"{where}{message[0].upper()}{message[1:]}{quoted}.")


class Checker:
    """Looks at one recording."""

    def __init__(self, topic: ScheduleTopic, kernel: Kernel, problem: Problem, recording: Recording) -> None:
        self.topic, self.kernel, self.problem, self.recording = topic, kernel, problem, recording
        self.job = topic.kernel
        self.signature = self.job.file.signature
        self.inputs = [item.name for item in topic.signature.inputs]
        self.outputs = [item.name for item in topic.signature.outputs]

    def check(self) -> CheckedSchedule:
        """All checks, in the order in which one makes sense of the next."""
        for complaint in self.malformed():
            return CheckedSchedule(None, _unreplayable(complaint))
        found = list(self.wrong_launches()) or self.out_of_order()
        found = found or [*self.unwritten()]
        if not found:
            return CheckedSchedule(self.recording)
        shown, more = schedules.results(found), len(found) - 1
        others = f" ({more} more like this.)" if more else ""
        line = f"Line {shown[0].line}: " if shown[0].line else ""
        remedy = f" {shown[0].remedy}" if shown[0].remedy else ""
        refusal = Refused("fail", f"{line}{shown[0].message}.{remedy}{others}")
        return CheckedSchedule(self.recording, refusal, tuple(shown))

    # ---- whether it can be replayed at all: only a forged one cannot, or one that is too long ----------------

    def malformed(self) -> Iterator[str]:
        """What no recorder notes, and what no replay would see the end of."""
        recording = self.recording
        for command in (
            *recording.commands,
            *(item for graph in recording.graphs for item in graph.commands),
        ):
            yield from self._malformed(command)
        for graph in recording.graphs:
            if not 0 < graph.origin < len(recording.blocking) or not all(
                map(captures.is_capturable, graph.commands)
            ):
                yield "a graph holds what no capture takes"
            if refused := captures.complaint(graph.origin, graph.commands):
                yield refused
        launched = [command.graph for command in recording.commands if isinstance(command, LaunchGraph)]
        if all(0 <= graph < len(recording.graphs) for graph in launched):
            pieces = sum(len(recording.graphs[graph].commands) for graph in launched)
            if pieces > MOST_CALLS:
                yield f"its graphs do {pieces:,} things, more than {MOST_CALLS:,}: use larger chunks"

    def _malformed(self, command: Command) -> Iterator[str]:
        streams, events = len(self.recording.blocking), self.recording.events
        stream = getattr(command, "stream", None)
        if stream is not None and not 0 <= stream < streams:
            yield f"there is no stream {stream}"
        if isinstance(command, RecordEvent | WaitForEvent | AwaitEvent) and not 0 <= command.event < events:
            yield f"there is no event {command.event}"
        if isinstance(command, Fill) and not (len(command.pattern) in (1, 2, 4) and command.count >= 0):
            yield f"a fill of {len(command.pattern)} bytes, {command.count} times"
        if isinstance(command, WaitForEvent) and command.stream == DEFAULT_STREAM:
            yield "the default stream cannot be told to wait"
        if isinstance(command, LaunchGraph) and not (
            0 <= command.graph < len(self.recording.graphs) and command.stream != DEFAULT_STREAM
        ):
            yield "a graph is launched that there is not"
        if isinstance(command, Copy) and not self._to_or_from_device(command):
            yield f"line {command.line}: a copy of a stream is within the host's memory"
        for place, nbytes, device in _places(command):
            if not self._inside(place, nbytes, device):
                yield f"line {command.line}: {nbytes} bytes at {place} are in no buffer of that kind"

    def _to_or_from_device(self, copy: Copy) -> bool:
        ends = [place.buffer for place in (copy.target, copy.source)]
        there = [self.recording.buffers[end] for end in ends if 0 <= end < len(self.recording.buffers)]
        return any(buffer.space == "device" for buffer in there)

    def _inside(self, place: Place, nbytes: int, device: bool | None) -> bool:
        if not 0 <= place.buffer < len(self.recording.buffers):
            return False
        buffer = self.recording.buffers[place.buffer]
        right_kind = device is None or device == (buffer.space == "device")
        return right_kind and nbytes >= 0 and 0 <= place.offset <= place.offset + nbytes <= buffer.nbytes

    # ---- launches ------------------------------------------------------------------------------------------

    def wrong_launches(self) -> Iterator[ScheduleFinding]:
        """Launches of something else, beyond an array's end, or with other numbers than the job's."""
        for command in self.recording.queued():
            if isinstance(command, LaunchKernel) and (wrong := self._wrong_launch(command)):
                yield wrong

    def _wrong_launch(self, launch: LaunchKernel) -> ScheduleFinding | None:
        line = launch.line
        if launch.kernel != _symbol(self.kernel):
            return OtherKernel(line, launch.kernel)
        values = launches.values(self.job, launch)
        if values is None:
            return OtherArguments(line, str(self.signature))
        reached = {size for item in self.job.reach.values() for size in item.names}
        for name, value in values.items():
            if name not in reached and self.problem.get(name, value) != value:
                return OtherSize(line, name, value, int(self.problem[name]))
        first = self.job.file.launches[0]
        wanted = tuple(side.whole({**values, **self.kernel.constants}) for side in first.grid)
        threads = tuple(int(side.whole({**values, **self.kernel.constants})) for side in first.block)
        if launch.block != threads:
            return OtherBlock(line, launch.block, threads)
        if any(side < least for side, least in zip(launch.grid, wanted, strict=False)):
            return SmallGrid(line, launch.grid, wanted, {name: values[name] for name in sorted(reached)})
        return self._onto_itself(launch) or self._beyond_end(launch)

    def _onto_itself(self, launch: LaunchKernel) -> InPlace | None:
        """A launch that writes where it reads, unless the kernel may do that to the very same elements."""
        touched = self.reach(launch)
        for into in (extent for extent in touched if extent.writes):
            for out_of in (extent for extent in touched if not extent.writes):
                same = (into.place, into.nbytes) == (out_of.place, out_of.nbytes)
                if _overlap(into, out_of) and not (same and self.job.in_place):
                    return InPlace(launch.line)
        return None

    def _beyond_end(self, launch: LaunchKernel) -> BeyondEnd | None:
        for extent in self.reach(launch):
            buffer = self.recording.buffers[extent.place.buffer]
            over = extent.place.offset + extent.nbytes - buffer.nbytes
            if over > 0:
                return BeyondEnd(launch.line, extent.place.offset, extent.nbytes, over)
        return None

    def reach(self, launch: LaunchKernel) -> Sequence[Extent]:
        """The bytes that a launch reads and writes."""
        return launches.reach(self.job, launch)

    # ---- order ---------------------------------------------------------------------------------------------

    def out_of_order(self) -> list[ScheduleFinding]:
        """Accesses to the same memory that nothing orders, and the results looked at before they are there."""
        results = [
            number for number, buffer in enumerate(self.recording.buffers) if buffer.name in self.outputs
        ]
        return [self._unordered(hazard) for hazard in hazards(self.recording, self.reach, results)]

    def _unordered(self, hazard: Hazard) -> Unordered:
        earlier, later = _deed(hazard.earlier, hazard.earlier_writes), None
        if hazard.later is not None:
            later = _deed(hazard.later, hazard.later_writes)
        line = (later or earlier).line
        memory, vain = self._memory(hazard.buffer), self._waits_in_vain(hazard)
        return Unordered(line, earlier, later, memory, hazard.part, vain)

    def _waits_in_vain(self, hazard: Hazard) -> int | None:
        """The line of the last wait between the two for an event that is never recorded. One that is recorded later
        says nothing: in a first round there may be nothing to wait for."""
        commands = self.recording.commands
        recorded = {command.event for command in commands if isinstance(command, RecordEvent)}
        found, between = None, False
        for command in commands:
            match command:
                case WaitForEvent(event=event) | AwaitEvent(event=event) if between and event not in recorded:
                    found = command.line
            between = between or command is hazard.earlier
            if command is hazard.later:
                break
        return found

    def _memory(self, number: int) -> Memory:
        buffer = self.recording.buffers[number]
        return Memory(buffer.name, buffer.space == "device", buffer.nbytes)

    # ---- completeness --------------------------------------------------------------------------------------

    def unwritten(self) -> Iterator[ScheduleFinding]:
        """Parts of the results, or of what launches read, that nothing has written."""
        written: dict[int, list[tuple[int, int]]] = {}
        for number, buffer in enumerate(self.recording.buffers):
            if buffer.name in self.inputs:
                written[number] = [(0, buffer.nbytes)]
        for command in self.recording.expanded():
            touched = () if isinstance(command, HostRead) else extents(command, self.reach)
            for extent in (item for item in touched if not item.writes):
                hole = _hole(written.get(extent.place.buffer, []), extent.place.offset, extent.nbytes)
                if hole is not None:
                    deed, memory = _deed(command, False), self._memory(extent.place.buffer)
                    yield ReadUnwritten(command.line, deed, memory, hole)
            for extent in (item for item in touched if item.writes):
                end = extent.place.offset + extent.nbytes
                _cover(written.setdefault(extent.place.buffer, []), extent.place.offset, end)
        for number, buffer in enumerate(self.recording.buffers):
            if buffer.name in self.outputs:
                hole = _hole(written.get(number, []), 0, buffer.nbytes)
                if hole is not None:
                    yield ResultUnwritten(None, self._memory(number), hole, bool(written.get(number)))


def _places(command: Command) -> Iterator[tuple[Place, int, bool | None]]:
    """The memory that a command names, its bytes, and whether it has to be the device's (None: either)."""
    match command:
        case Copy():
            yield command.target, command.nbytes, None
            yield command.source, command.nbytes, None
        case HostCopy():
            yield command.target, command.nbytes, False
            yield command.source, command.nbytes, False
        case HostRead():
            yield command.source, command.nbytes, False
        case Fill():
            size = len(command.pattern)
            yield command.target, size * command.count if size in (1, 2, 4) else -1, True
        case LaunchKernel():
            for item in command.args:
                if isinstance(item, Place):
                    yield item, 0, True


def _deed(command: Command, writes: bool) -> Deed:
    """What a command does to memory."""
    match command:
        case Copy():
            return Deed("copy", writes, command.line)
        case HostCopy():
            return Deed("copy", writes, command.line, on_host=True)
        case LaunchKernel():
            return Deed("launch", writes, command.line)
        case Fill():
            return Deed("memset", writes, command.line)
    return Deed("host", writes, command.line, on_host=True)


def _cover(parts: list[tuple[int, int]], first: int, last: int) -> None:
    """Add [first, last) to disjoint, sorted parts."""
    kept = [part for part in parts if part[1] < first or part[0] > last]
    touched = [part for part in parts if not (part[1] < first or part[0] > last)]
    first = min([first, *(part[0] for part in touched)])
    last = max([last, *(part[1] for part in touched)])
    parts[:] = sorted([*kept, (first, last)])


def _overlap(one: Extent, other: Extent) -> bool:
    first, second = one.place.offset, other.place.offset
    apart = first + one.nbytes <= second or second + other.nbytes <= first
    return one.place.buffer == other.place.buffer and not apart


def _hole(parts: Sequence[tuple[int, int]], first: int, nbytes: int) -> int | None:
    """The first byte of a range that the parts leave out."""
    for low, high in parts:
        if low <= first < high:
            return None if high >= first + nbytes else high
    return first if nbytes else None
