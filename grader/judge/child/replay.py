"""A recording's commands, done on a device: in the child, where no learner's code runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from grader.cuda import Cuda
from grader.emulator.streams.commands import (
    DEFAULT_STREAM,
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
    Queued,
    RecordEvent,
    Recording,
    Synchronise,
    WaitForEvent,
)
from grader.judge.child.protocol import Span

NON_BLOCKING = 1
"""CUDA's flag of a stream that does not wait for the default stream."""

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class Hosts:
    """The job's host arrays, shared by the schedules that are staged: by name, kind of memory and size."""

    def __init__(self, device: Cuda) -> None:
        self._driver = device.driver
        self._arrays: dict[Buffer, Bytes] = {}

    def array(self, buffer: Buffer) -> Bytes:
        """The array behind a host buffer; one without a name belongs to one schedule alone."""
        if not buffer.name:
            return self._allocate(buffer)
        if buffer not in self._arrays:
            self._arrays[buffer] = self._allocate(buffer)
        return self._arrays[buffer]

    def shrink(self, staged: Iterable[Staged]) -> None:
        """Forget the arrays that none of these schedules has."""
        used = {buffer for schedule in staged for buffer in schedule.buffers}
        self._arrays = {buffer: array for buffer, array in self._arrays.items() if buffer in used}

    def _allocate(self, buffer: Buffer) -> Bytes:
        if buffer.space == "pinned":
            found: Bytes = self._driver.pagelocked_empty(buffer.nbytes, np.uint8)
            return found
        return np.zeros(buffer.nbytes, np.uint8)


class Staged:
    """What a recording needs, made on a device; the recording can be run any number of times."""

    def __init__(
        self, device: Cuda, recording: Recording, function: Callable[[str], Any], hosts: Hosts
    ) -> None:
        self._driver, self._ext = device.driver, device.ext
        self._recording = recording
        self._function = function
        self._memory = [
            self._driver.mem_alloc(buffer.nbytes) if buffer.space == "device" else hosts.array(buffer)
            for buffer in recording.buffers
        ]
        self._streams: list[Any] = [
            None if number == DEFAULT_STREAM else self._driver.Stream(0 if blocking else NON_BLOCKING)
            for number, blocking in enumerate(recording.blocking)
        ]
        self._events = [self._driver.Event() for _ in range(recording.events)]
        self._graphs = [self._captured(graph.origin, graph.commands) for graph in recording.graphs]

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The recording's."""
        return self._recording.buffers

    def host(self, name: str) -> Bytes:
        """The host buffer that is the job's array of that name."""
        for buffer, memory in zip(self._recording.buffers, self._memory, strict=True):
            if buffer.name == name:
                found: Bytes = memory
                return found
        raise KeyError(name)

    def run(self) -> float:
        """Do everything once; the seconds until the host is through and the device idle."""
        self._driver.Context.synchronize()
        start = time.perf_counter()
        for command in self._recording.commands:
            self._do(command)
        self._driver.Context.synchronize()
        return time.perf_counter() - start

    def trace(self) -> Iterator[Span]:
        """Do everything once, with an event on both sides of each piece of work.

        What a graph holds is enqueued piece by piece, because events inside a graph tell no times.
        """
        driver = self._driver
        driver.Context.synchronize()
        origin = driver.Event()
        origin.record()
        marks = []
        for command in self._recording.commands:
            for item in self._pieces(command):
                stream = None if isinstance(item, Synchronise | AwaitEvent | HostRead | HostCopy) else item
                before, after = driver.Event(), driver.Event()
                if stream is not None:
                    before.record(self._streams[stream.stream])
                self._do(item)
                if stream is not None:
                    after.record(self._streams[stream.stream])
                    marks.append((before, after))
        driver.Context.synchronize()
        for number, (before, after) in enumerate(marks):
            yield Span(number, before.time_since(origin) * 1e-3, after.time_since(origin) * 1e-3)

    def _pieces(self, command: Command) -> Iterable[Any]:
        if isinstance(command, LaunchGraph):
            return self._recording.graphs[command.graph].commands
        return [command]

    def _captured(self, origin: int, commands: Iterable[Queued]) -> Any:
        with self._ext.capture(self._streams[origin]) as graph:
            for command in commands:
                self._do(command)
        return graph

    def _do(self, command: Command) -> None:
        driver, streams = self._driver, self._streams
        match command:
            case Copy():
                self._copy(command)
            case LaunchKernel():
                arguments = [self._argument(item) for item in command.args]
                self._function(command.kernel)(
                    *arguments,
                    grid=command.grid,
                    block=command.block,
                    shared=command.shared_bytes,
                    stream=streams[command.stream],
                )
            case Fill():
                value = int.from_bytes(command.pattern, "little")
                fill = getattr(driver, f"memset_d{8 * len(command.pattern)}_async")
                fill(self._address(command.target), value, command.count, streams[command.stream])
            case RecordEvent():
                self._events[command.event].record(streams[command.stream])
            case WaitForEvent():
                streams[command.stream].wait_for_event(self._events[command.event])
            case LaunchGraph():
                self._graphs[command.graph].launch(streams[command.stream])
            case _:
                self._on_host(command)

    def _on_host(self, command: Synchronise | AwaitEvent | HostRead | HostCopy) -> None:
        match command:
            case Synchronise(stream=int(stream)) if stream != DEFAULT_STREAM:
                self._streams[stream].synchronize()
            case Synchronise():
                self._driver.Context.synchronize()
            case AwaitEvent():
                self._events[command.event].synchronize()
            case HostCopy():
                self._part(command.target, command.nbytes)[:] = self._part(command.source, command.nbytes)
            case HostRead():
                np.max(self._part(command.source, command.nbytes))

    def _copy(self, command: Copy) -> None:
        buffers = self._recording.buffers
        to = buffers[command.target.buffer].space == "device"
        out_of = buffers[command.source.buffer].space == "device"
        kind = {(True, False): "htod", (False, True): "dtoh", (True, True): "dtod"}[to, out_of]
        arguments = [
            self._address(command.target) if to else self._part(command.target, command.nbytes),
            self._address(command.source) if out_of else self._part(command.source, command.nbytes),
            *([command.nbytes] if kind == "dtod" else []),
        ]
        if command.waits:
            getattr(self._driver, f"memcpy_{kind}")(*arguments)
        else:
            getattr(self._driver, f"memcpy_{kind}_async")(*arguments, self._streams[command.stream])

    def _address(self, place: Place) -> int:
        return int(self._memory[place.buffer]) + place.offset

    def _part(self, place: Place, nbytes: int) -> Bytes:
        part: Bytes = self._memory[place.buffer][place.offset : place.offset + nbytes]
        return part

    def _argument(self, item: Place | bytes) -> Any:
        """An address, or a number's bytes as PyCUDA passes them: an integer of as many bytes."""
        if isinstance(item, Place):
            return np.uint64(self._address(item))
        return np.frombuffer(item, f"u{len(item)}")[0]
