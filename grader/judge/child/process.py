"""The parent's end of a child process: asking it, and ending it when it does not answer in time."""

from __future__ import annotations

import mmap
import os
import select
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from grader.emulator.streams.commands import Entry
from grader.judge.child.begun import Begun, Role, begin
from grader.judge.child.protocol import (
    MOST_PRINTED,
    Answer,
    Hello,
    Message,
    NoMessage,
    Noted,
    Operation,
    Reply,
    Request,
    check,
    decoded,
    encoded,
    length_of,
)
from grader.sandbox.memory import memory_bytes
from grader.sandbox.start import end, how_it_ended, takes_more

_LOOK_S = 0.1
"""How often a child that works is looked at: whether it lives, and what memory it has."""

_SHARE_OF_MEMORY = 0.75
"""Of the memory that there is, what one child may have, or all those of a kind that may be at work at a time."""

_TO_START_S = 600.0
"""How long a child may take to say hello. No kernel runs yet, and nothing is compiled, but where the cache can keep
nothing: then each child compiles the emulator's runtime for itself."""

_TO_END_S = 2.0
"""How long a child that has closed its pipe may take to end."""


class ChildTimeout(Exception):
    """The child did not answer in time, and was ended."""


class ChildDied(Exception):
    """The child ended without an answer; the message says how, with the last lines it printed."""


class ChildTooLarge(ChildDied):
    """The child took more memory than it may have, and was ended."""


class ChildUnusable(Exception):
    """The child found nothing to launch on; the message is the driver's."""


class _Clock:
    """Seconds that a whole message may take."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds; below 0 when they are over."""
        return self._end - time.monotonic()


class ChildProcess:
    """One child process and the memory file shared with it.

    Starting does not wait, but for the emulator's runtime where a machine has none yet: the child imports and finds
    its device while the parent does other things, and `hello` waits for it. `ask` sends a batch of operations. A worker
    whose child has ended cannot be used again. What the child says is data: a message that is late, too long or none
    ends it.
    """

    def __init__(
        self,
        device: str,
        arch: str = "",
        threads: int | None = None,
        role: Role | None = None,
        cores: int | None = None,
        at_once: int = 1,
        begun: Begun | None = None,
    ) -> None:
        """`at_once`: how many children like this one, which share the memory, may be at work at a time; `begun`: the
        child, begun with the other arguments before."""
        self._begun = begun or begin(device, arch, threads, role, cores)
        self._map: mmap.mmap | None = None
        self._capacity = 0
        self._seen = 0  # bytes of the output
        self._hello: Hello | None = None
        self._greeting = threading.Lock()
        self._closed = False
        self._most = _most_memory() // at_once

    def hello(self) -> Hello:
        """What the child launches on. Raises ChildUnusable where that is nothing."""
        with self._greeting:  # of several threads that need it, one reads it
            if self._hello is None:
                self._hello = self._receive(Hello, _Clock(_TO_START_S))
        if self._hello.failure is not None:
            raise ChildUnusable(self._hello.failure.message)
        return self._hello

    def reserve(self, nbytes: int) -> None:
        """Make the memory file at least this large. Views taken before stay valid."""
        if nbytes > self._capacity:
            os.ftruncate(self._begun.memory, nbytes)
            self._map = mmap.mmap(self._begun.memory, nbytes)
            self._capacity = nbytes

    def view(self, offset: int, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """`nbytes` bytes of the memory file at `offset`, shared with the child and writable."""
        if self._map is None:
            raise ValueError("reserve memory before looking at it")
        return np.frombuffer(self._map, dtype=np.uint8, count=nbytes, offset=offset)

    def ask(
        self,
        operations: Sequence[Operation],
        timeout_s: float,
        note: Callable[[Entry], None] = lambda entry: None,
    ) -> Reply:
        """Have a batch done; `note` is told what a recorder notes, as it comes. Raises ChildTimeout or ChildDied; a
        driver's error comes back in the reply."""
        self.hello()
        clock = _Clock(timeout_s)
        view = memoryview(encoded(Request(tuple(operations), self._capacity)))
        while view:
            self._wait(clock, writing=True)
            try:
                view = view[os.write(self._begun.requests, view) :]
            except BrokenPipeError as error:
                raise self._died() from error
        reply = self._reply(clock, note)
        try:
            check(reply, operations)
        except NoMessage as error:
            raise self._babbled(error) from None
        if self._begun.process.poll() is not None:  # whoever answered, it was not the child
            raise self._died()
        return reply

    def _reply(self, clock: _Clock, note: Callable[[Entry], None]) -> Reply:
        """The reply, once everything is noted that comes before it."""
        while isinstance(answer := self._receive(Answer, clock), Noted):
            note(answer.entry)
        assert isinstance(answer, Reply)
        return answer

    def printed(self) -> str:
        """What kernels and schedules have printed since this was last asked, or its first MOST_PRINTED bytes."""
        start, self._seen = self._seen, os.fstat(self._begun.output.fileno()).st_size
        # Read at a place, because the child writes at the position that the file descriptor has.
        text = os.pread(self._begun.output.fileno(), min(self._seen - start, MOST_PRINTED), start)
        return text.decode(errors="replace")

    def _wait(self, clock: _Clock, writing: bool = False) -> None:
        """Until there is something to read, or room to write. Raises ChildTimeout, or ChildDied for one whose memory
        grows out of bounds."""
        read, write = ([], [self._begun.requests]) if writing else ([self._begun.replies], [])
        while True:
            left = clock.left()
            if any(select.select(read, write, [], max(0.0, min(left, _LOOK_S)))):
                return
            if left <= 0:
                self.close()
                raise ChildTimeout(f"no answer within {clock.seconds:g} s")
            if takes_more(self._begun.process, self._most):
                self.close()
                raise ChildTooLarge(
                    f"{self._begun.role.title} took more than {self._most / 2**30:.1f} GiB of memory"
                )

    def _receive(self, kind: type[Message], clock: _Clock) -> Message:
        """One whole message before the clock runs out."""
        try:
            return decoded(self._read(length_of(self._read(8, clock)), clock), kind)
        except NoMessage as error:
            raise self._babbled(error) from None

    def _read(self, length: int, clock: _Clock) -> bytes:
        body = bytearray()
        while len(body) < length:
            self._wait(clock)
            part = os.read(self._begun.replies, min(length - len(body), 1 << 20))
            if not part:
                raise self._died()
            body += part
        return bytes(body)

    def _babbled(self, error: NoMessage) -> ChildDied:
        self.close()
        return ChildDied(f"{self._begun.role.title} answered with something else: {error}")

    def _died(self) -> ChildDied:
        """What its end says, or that of the pipe, where the process lives on."""
        try:
            how = f"ended with {how_it_ended(self._begun.process.wait(_TO_END_S))}"
        except subprocess.TimeoutExpired:
            how = "stopped answering"
        self._begun.errors.seek(0)
        printed = self._begun.errors.read(MOST_PRINTED).decode(errors="replace").strip().splitlines()
        self.close()
        return ChildDied(": ".join([f"{self._begun.role.title} {how}", *printed[-2:]]))

    def interrupt(self) -> None:
        """End the child while another thread waits for its answer."""
        end(self._begun.process)

    def close(self, wait: bool = True) -> None:
        """End the child, whatever it is doing, and free the memory file. Views taken before stay valid. A GPU's memory
        takes long to be given back: not all `wait` for it."""
        if self._closed:
            return
        self._closed = True
        self._begun.close(wait)

    def __enter__(self) -> ChildProcess:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


def _most_memory() -> int:
    """Bytes that one child may have where there is no other."""
    return int(_SHARE_OF_MEMORY * memory_bytes())
