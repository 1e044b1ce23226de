"""Notes what host code asks of `pycuda.driver`, instead of doing it.

While an emulation has a recorder, memory is allocated but nothing is copied or launched: the emulator's
`pycuda.driver` tells the recorder of each call, and the recorder notes it at once with those who keep the list. Host
arrays that hold the job's data are `HostArray`s, so that reading them is noted too. What they hold is not the data: a
schedule cannot depend on it.
"""

from __future__ import annotations

import bisect
import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from grader.emulator.streams import captures
from grader.emulator.streams.commands import (
    DEFAULT_STREAM,
    MOST_CALLS,
    TOO_MANY,
    AwaitEvent,
    Buffer,
    Command,
    Copy,
    Entry,
    Fill,
    Graph,
    HostCopy,
    HostRead,
    LaunchGraph,
    LaunchKernel,
    NewEvent,
    NewStream,
    Pinned,
    Place,
    Queued,
    RecordEvent,
    Space,
    Started,
    Stopped,
    Synchronise,
    WaitForEvent,
)


class NotRecorded(Exception):
    """The host code does what cannot be written down; the message says what to do instead."""


class _Region:
    """The addresses of one buffer."""

    def __init__(self, start: int, nbytes: int, number: int) -> None:
        self.start, self.nbytes, self.number = start, nbytes, number


MOST_ARRIVES = 1 << 20
"""Bytes of a copy to the host that are put there."""


class Recorder:
    """Hears of calls and notes what they ask for with `note`. `file` is the host code's, to know the lines that calls
    are made in."""

    def __init__(self, file: str, note: Callable[[Entry], None]) -> None:
        self._file, self._send = file, note
        self._room = MOST_CALLS
        self._buffers = 0
        self._regions: dict[bool, list[_Region]] = {False: [], True: []}  # by whether it is the device's
        self._streams: dict[Any, int] = {}
        self._events: dict[Any, int] = {}
        self._graphs = 0
        self._captured: list[Queued] | None = None
        self._first: Command | None = None
        self._running = False
        self.arrives: Callable[[np.ndarray[Any, np.dtype[np.uint8]]], None] = _zeros
        """Puts into the host's memory what a copy to it brings: what a kernel would have made nobody knows here."""

    def _note(self, entry: Entry) -> None:
        self._count()
        self._send(entry)

    def _count(self) -> None:
        """Nobody waits for what is refused later."""
        if self._room == 0:
            raise NotRecorded(TOO_MANY)
        self._room -= 1

    def start(self) -> None:
        """run() begins: what was asked for up to here was preparation, or the run before. Raises NotRecorded where
        preparation was work."""
        if self._first is not None and not self._running:
            raise NotRecorded(
                f"line {self._first.line}: __init__ gives the GPU work, but there is no data before run(): allocate "
                "memory, make streams, events and graphs in __init__, and do the rest in run()"
            )
        self._running, self._room = True, MOST_CALLS
        self._note(Started())

    def stop(self) -> None:
        """run() has raised when it was called again."""
        self._send(Stopped())

    # ---- memory --------------------------------------------------------------------------------------------

    def given(self, array: np.ndarray[Any, np.dtype[Any]]) -> HostArray:
        """The job's next array, which those who keep the list know: their first buffers."""
        self._add(False, array.ctypes.data, array.nbytes)
        return self.host_array(array)

    def allocated(self, space: Space, address: int, nbytes: int) -> None:
        """Memory that copies may name from now on."""
        if self._running:
            raise NotRecorded(
                "memory is allocated in run(), which takes longer than most copies: allocate it in __init__"
            )
        self._add(space == "device", address, nbytes)
        self._note(Buffer(space, nbytes))

    def _add(self, device: bool, address: int, nbytes: int) -> None:
        regions = self._regions[device]
        # What lay there before was freed.
        regions[:] = [r for r in regions if r.start + r.nbytes <= address or r.start >= address + nbytes]
        bisect.insort(regions, _Region(address, nbytes, self._buffers), key=lambda region: region.start)
        self._buffers += 1

    def pinned(self, address: int, nbytes: int) -> None:
        """Host memory that is page-locked from now on; memory that nobody knew of is the host code's own."""
        if self._running:
            raise NotRecorded(
                "memory is page-locked in run(), which takes longer than most copies: do it in __init__"
            )
        region = self._region(address, False)
        if region is None:
            self.allocated("pinned", address, nbytes)
        elif (region.start, region.nbytes) != (address, nbytes):
            raise NotRecorded("only a part of an array is registered: register whole arrays")
        else:
            self._note(Pinned(region.number))

    def mapped(self) -> NoReturn:
        """Memory that kernels and the host share, without copies that could be written down. Raises NotRecorded."""
        raise NotRecorded(
            "memory that the host and kernels share, managed or mapped with DEVICEMAP, is not followed: allocate "
            "device memory, and copy"
        )

    def _region(self, address: int, device: bool) -> _Region | None:
        regions = self._regions[device]
        index = bisect.bisect_right(regions, address, key=lambda region: region.start) - 1
        found = regions[index] if index >= 0 else None
        return found if found is not None and address < found.start + found.nbytes else None

    def place(self, address: int, nbytes: int, device: bool) -> Place:
        """Where an address lies. Raises NotRecorded for memory that nobody allocated, or not that much."""
        region = self._region(address, device)
        if region is None:
            what = (
                "device memory that was not allocated"
                if device
                else "a host array of its own making: use the arrays it was given, or pagelocked_empty"
            )
            raise NotRecorded(f"this call uses {what}")
        over = address + nbytes - region.start - region.nbytes
        if over > 0:
            raise NotRecorded(
                f"{nbytes:,} bytes from byte {address - region.start:,} on end {over:,} "
                f"bytes beyond the allocation of {region.nbytes:,}: is the last chunk shorter than the others?"
            )
        return Place(region.number, address - region.start)

    def host_array(self, array: np.ndarray[Any, np.dtype[Any]]) -> HostArray:
        """The same memory as an array whose reads are noted."""
        found = array.view(HostArray)
        found.recorder = self
        return found

    # ---- calls ---------------------------------------------------------------------------------------------

    def copy(self, target: tuple[int, bool], source: tuple[int, bool], nbytes: int, stream: Any) -> None:
        """A copy between addresses, each with whether it is the device's; `stream` False: a call that waits."""
        to = self.place(target[0], nbytes, target[1])
        origin = self.place(source[0], nbytes, source[1])
        number = self._stream(None if stream is False else stream)
        if nbytes:
            self._queue(Copy(to, origin, nbytes, number, stream is False, self._line()))
        if 0 < nbytes <= MOST_ARRIVES and not target[1]:
            memory = (ctypes.c_uint8 * nbytes).from_address(target[0])
            self.arrives(np.ctypeslib.as_array(memory))

    def fill(self, target: int, pattern: bytes, count: int, stream: Any) -> None:
        place = self.place(target, len(pattern) * count, True)
        self._queue(Fill(place, pattern, count, self._stream(stream), self._line()))

    def launch(
        self,
        kernel: str,
        shape: tuple[tuple[int, int, int], tuple[int, int, int], int],
        arguments: Sequence[bytes],
        stream: Any,
    ) -> None:
        """A launch of grid, block and dynamic shared bytes; eight bytes that are an address are one."""
        args = tuple(self._argument(argument) for argument in arguments)
        self._queue(LaunchKernel(kernel, *shape, args, self._stream(stream), self._line()))

    def _argument(self, argument: bytes) -> Place | bytes:
        if len(argument) == 8 and self._region(int.from_bytes(argument, "little"), True) is not None:
            return self.place(int.from_bytes(argument, "little"), 0, True)
        return argument

    def stream(self, stream: Any, blocking: bool) -> None:
        """A new stream."""
        self._streams[stream] = len(self._streams) + 1  # the default stream is 0
        self._note(NewStream(blocking))

    def event(self, event: Any) -> None:
        """A new event."""
        self._events[event] = len(self._events)
        self._note(NewEvent())

    def record_event(self, event: Any, stream: Any) -> None:
        self._queue(RecordEvent(self._events[event], self._stream(stream), self._line()))

    def wait_for_event(self, stream: Any, event: Any) -> None:
        self._queue(WaitForEvent(self._events[event], self._stream(stream), self._line()))

    def await_event(self, event: Any) -> None:
        """The host waits; a query counts as well, since only its "yes" lets a schedule go on."""
        self._host(AwaitEvent(self._events[event], self._line()))

    def synchronise(self, stream: Any) -> None:
        """The host waits for a stream, or with "all" for the context."""
        self._host(Synchronise(None if stream == "all" else self._stream(stream), self._line()))

    def host_read(self, address: int, nbytes: int) -> None:
        if nbytes:
            self._host(HostRead(self.place(address, nbytes, False), nbytes, self._line()))

    def host_copy(self, target: int, source: int, nbytes: int) -> None:
        if nbytes:
            to, origin = self.place(target, nbytes, False), self.place(source, nbytes, False)
            self._host(HostCopy(to, origin, nbytes, self._line()))

    @contextmanager
    def capture(self, origin: Any) -> Iterator[int]:
        """Calls inside go into a graph, whose number this is."""
        if self._captured is not None:
            raise NotRecorded("a capture inside a capture")
        number, self._captured = self._graphs, []
        try:
            yield number
            graph = Graph(self._stream(origin), tuple(self._captured))
            if refused := captures.complaint(graph.origin, graph.commands):
                raise NotRecorded(refused)
            self._graphs += 1
            self._note(graph)
        finally:
            self._captured = None

    def launch_graph(self, graph: int, stream: Any) -> None:
        self._host(LaunchGraph(graph, self._stream(stream), self._line()))

    def _queue(self, command: Queued) -> None:
        if self._captured is None:
            self._do(command)
            return
        self._count()
        if not captures.is_capturable(command):
            raise NotRecorded("a capture takes asynchronous calls in streams of their own alone")
        self._captured.append(command)

    def _host(self, command: Command) -> None:
        if self._captured is not None:
            raise NotRecorded("the host cannot wait, read or launch inside a capture")
        self._do(command)

    def _do(self, command: Command) -> None:
        self._first = self._first or command
        self._note(command)

    def _stream(self, stream: Any) -> int:
        return DEFAULT_STREAM if stream is None else self._streams[stream]

    def _line(self) -> int | None:
        """The line of the host code that is being run."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self._file:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
        return None


class HostArray(np.ndarray[Any, np.dtype[Any]]):
    """A host array whose reads are noted. It can be sliced, copied from and to, and read; not computed into."""

    recorder: Recorder | None = None

    def __array_finalize__(self, parent: Any) -> None:
        self.recorder = getattr(parent, "recorder", None)

    @property
    def base(self) -> Any:
        """What owns the memory, as PyCUDA has it, with `unregister()` or `free()`; of a slice, the array."""
        found = super().base
        return found.base if type(found) is np.ndarray else found

    def _read(self) -> np.ndarray[Any, np.dtype[Any]]:
        """The plain array, its read noted."""
        if self.recorder is not None:
            self.recorder.host_read(*_extent(self))
        return self.view(np.ndarray)

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if not isinstance(found, np.ndarray) and self.recorder is not None:
            index = np.arange(self.size).reshape(self.shape)[key] if self.ndim > 1 else range(self.size)[key]
            address = self.ctypes.data + int(index) * self.itemsize
            self.recorder.host_read(address, self.itemsize)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        target = super().__getitem__(key)
        if not isinstance(value, HostArray) or not isinstance(target, HostArray) or self.recorder is None:
            raise NotRecorded(
                "a schedule moves data, it does not make any: assign a slice of one host array to another"
            )
        if target.nbytes != value.nbytes or target.dtype != value.dtype:
            raise NotRecorded(f"{value.nbytes} bytes are assigned to {target.nbytes}")
        if target.strides != value.strides and not (target.flags.c_contiguous and value.flags.c_contiguous):
            raise NotRecorded("an array is assigned to one that has its elements in another order")
        self.recorder.host_copy(_extent(target)[0], *_extent(value))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        if any(isinstance(item, HostArray) for item in named.get("out", ())):
            raise NotRecorded("a schedule moves data, it does not make any: compute on the GPU")
        return getattr(ufunc, method)(*(_plain(item) for item in inputs), **named)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.copyto:
            return _copy_to(*args, **kwargs)
        return function(*(_plain(item) for item in args), **{k: _plain(v) for k, v in kwargs.items()})

    def copy(self, order: Any = "C") -> Any:
        return self._read().copy(order)


def _zeros(memory: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
    memory[...] = 0


def _copy_to(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """np.copyto, of whole host arrays."""
    if not isinstance(dst, HostArray) or where is not True:
        raise NotRecorded(
            "a schedule moves data, it does not make any: copy from one host array to another, whole"
        )
    dst[...] = src


def _plain(item: Any) -> Any:
    return item._read() if isinstance(item, HostArray) else item


def _extent(array: np.ndarray[Any, np.dtype[Any]]) -> tuple[int, int]:
    """Address and bytes of an array without gaps."""
    if not array.flags.forc:
        raise NotRecorded("only contiguous parts of an array can be copied or read: slice its first axis")
    return array.ctypes.data, array.nbytes
