"""The parent's end of a child process: starting it, asking it, and ending it when it does not answer in
time."""

from __future__ import annotations

import mmap
import os
import select
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from grader.emulator.cache import CHOOSE_FOLDER, cache_folder, made_folder
from grader.emulator.runtime.build import prepare
from grader.emulator.streams.commands import Entry
from grader.errors import WarpladderError
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
from grader.sandbox.box import Box
from grader.sandbox.memory import memory_bytes
from grader.sandbox.start import end, how_it_ended, start, takes_more

_LOOK_S = 0.1
"""How often a child that works is looked at: whether it lives, and what memory it has."""

_SHARE_OF_MEMORY = 0.75
"""Of the memory that there is, what one child may have, or all those of a kind that may be at work at a time."""


@dataclass(frozen=True)
class Role:
    """What a child is for: the module that serves there, and what it may do."""

    module: str
    box: Box
    title: str  # in messages
    emulates: bool = False  # it may load the emulator's runtime


def launching(device: str) -> Role:
    """A child that launches: no code of a stranger's runs in it but kernels."""
    gpu = device != "emulator"
    kept = made_folder()
    if kept is None and not gpu:
        raise WarpladderError(
            f"the cache {cache_folder()}, in which compiled kernels are kept, cannot be written",
            remedy=CHOOSE_FOLDER,
        )
    folders = [kept, tempfile.gettempdir() if gpu else None]
    box = Box(writes=tuple(str(folder) for folder in folders if folder), gpu=gpu, open_files=4096)
    module = "grader.judge.child.early" if gpu else "grader.judge.child.server"
    return Role(module, box, "the process that launched the kernel", device != "pycuda")


RECORDING = Role(
    "grader.judge.child.recording",
    Box(threads=False, foreign=True, file_bytes=1 << 20, cpu_seconds=600, open_files=64),
    "the process in which the schedule runs",
)
"""A child in which a stranger's Python runs: it reads the packages that it imports, and writes nothing."""

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
    ) -> None:
        """`at_once`: how many children like this one, which share the memory, may be at work at a time."""
        self._role = role = role or launching(device)
        if role.emulates:
            prepare()  # before the child's clock runs
        self._memory = os.memfd_create("ladder-judge")
        self._map: mmap.mmap | None = None
        self._capacity = 0
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self._seen = 0  # bytes of the output
        child_requests, self._requests = os.pipe()
        self._replies, child_replies = os.pipe()
        for descriptor in (self._requests, self._replies):
            os.set_blocking(descriptor, False)
        descriptors = (child_requests, child_replies, self._memory, *([] if cores is None else [cores]))
        self._process = start(
            role.box,
            role.module,
            [device, arch, "all" if threads is None else str(threads), *map(str, descriptors)],
            stdout=self._output,
            stderr=self._errors,
            pass_fds=descriptors,
            variables=_variables(),
        )
        os.close(child_requests)
        os.close(child_replies)
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
            os.ftruncate(self._memory, nbytes)
            self._map = mmap.mmap(self._memory, nbytes)
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
                view = view[os.write(self._requests, view) :]
            except BrokenPipeError as error:
                raise self._died() from error
        reply = self._reply(clock, note)
        try:
            check(reply, operations)
        except NoMessage as error:
            raise self._babbled(error) from None
        if self._process.poll() is not None:  # whoever answered, it was not the child
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
        start, self._seen = self._seen, os.fstat(self._output.fileno()).st_size
        # Read at a place, because the child writes at the position that the file descriptor has.
        text = os.pread(self._output.fileno(), min(self._seen - start, MOST_PRINTED), start)
        return text.decode(errors="replace")

    def _wait(self, clock: _Clock, writing: bool = False) -> None:
        """Until there is something to read, or room to write. Raises ChildTimeout, or ChildDied for one whose memory
        grows out of bounds."""
        read, write = ([], [self._requests]) if writing else ([self._replies], [])
        while True:
            left = clock.left()
            if any(select.select(read, write, [], max(0.0, min(left, _LOOK_S)))):
                return
            if left <= 0:
                self.close()
                raise ChildTimeout(f"no answer within {clock.seconds:g} s")
            if takes_more(self._process, self._most):
                self.close()
                raise ChildTooLarge(
                    f"{self._role.title} took more than {self._most / 2**30:.1f} GiB of memory"
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
            part = os.read(self._replies, min(length - len(body), 1 << 20))
            if not part:
                raise self._died()
            body += part
        return bytes(body)

    def _babbled(self, error: NoMessage) -> ChildDied:
        self.close()
        return ChildDied(f"{self._role.title} answered with something else: {error}")

    def _died(self) -> ChildDied:
        """What its end says, or that of the pipe, where the process lives on."""
        try:
            how = f"ended with {how_it_ended(self._process.wait(_TO_END_S))}"
        except subprocess.TimeoutExpired:
            how = "stopped answering"
        self._errors.seek(0)
        printed = self._errors.read(MOST_PRINTED).decode(errors="replace").strip().splitlines()
        self.close()
        return ChildDied(": ".join([f"{self._role.title} {how}", *printed[-2:]]))

    def close(self) -> None:
        """End the child, whatever it is doing, and free the memory file. Views taken before stay valid."""
        if self._closed:
            return
        self._closed = True
        end(self._process)
        for descriptor in (self._requests, self._replies, self._memory):
            os.close(descriptor)
        self._errors.close()
        self._output.close()

    def __enter__(self) -> ChildProcess:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


def _most_memory() -> int:
    """Bytes that one child may have where there is no other."""
    return int(_SHARE_OF_MEMORY * memory_bytes())


def _variables() -> dict[str, str]:
    """What a child's libraries are told: where they may keep what they compile, and to start no threads."""
    cache = cache_folder().absolute()
    return {
        "WARPLADDER_CACHE": str(cache),
        "CUPY_CACHE_DIR": str(cache / "cupy"),
        "OPENBLAS_NUM_THREADS": "1",
    }
