"""The parent's end of a child process: starting it, asking it, and ending it when it does not answer in
time."""

from __future__ import annotations

import mmap
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np

from grader.judge.child.protocol import Hello, Message, Operation, Reply, Request, receive, send

MOST_PRINTED = 1 << 16
"""Bytes of a case's output that are looked at."""


class ChildTimeout(Exception):
    """The child did not answer in time, and was ended."""


class ChildDied(Exception):
    """The child ended without an answer; the message says how, with the last lines it printed."""


class ChildUnusable(Exception):
    """The child found nothing to launch on; the message is the driver's."""


class ChildProcess:
    """One child process and the memory file shared with it.

    Starting does not wait: the child imports and finds its device while the parent does other things, and
    `hello` waits for it. `ask` sends a batch of operations. A worker whose child has ended cannot be used
    again.
    """

    def __init__(self, device: str, arch: str = "", threads: int | None = None) -> None:
        self._memory = os.memfd_create("ladder-judge")
        self._map: mmap.mmap | None = None
        self._capacity = 0
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self._seen = 0  # bytes of the output
        child_requests, self._requests = os.pipe()
        self._replies, child_replies = os.pipe()
        descriptors = (child_requests, child_replies, self._memory)
        arguments = [device, arch, "all" if threads is None else str(threads), *map(str, descriptors)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "grader.judge.child", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._errors,
            pass_fds=descriptors,
        )
        os.close(child_requests)
        os.close(child_replies)
        self._hello: Hello | None = None
        self._closed = False

    def hello(self, timeout_s: float = 120.0) -> Hello:
        """What the child launches on. Raises ChildUnusable where that is nothing."""
        if self._hello is None:
            self._wait(timeout_s)
            self._hello = self._receive(Hello)
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

    def ask(self, operations: Sequence[Operation], timeout_s: float) -> Reply:
        """Have a batch done. Raises ChildTimeout or ChildDied; a driver's error comes back in the reply."""
        self.hello()
        try:
            send(self._requests, Request(tuple(operations), self._capacity))
        except BrokenPipeError as error:
            raise self._died() from error
        self._wait(timeout_s)
        return self._receive(Reply)

    def printed(self) -> str:
        """What kernels and schedules have printed since this was last asked, or its first MOST_PRINTED bytes."""
        start, self._seen = self._seen, os.fstat(self._output.fileno()).st_size
        # Read at a place, because the child writes at the position that the file descriptor has.
        text = os.pread(self._output.fileno(), min(self._seen - start, MOST_PRINTED), start)
        return text.decode(errors="replace")

    def _wait(self, timeout_s: float) -> None:
        ready, _, _ = select.select([self._replies], [], [], timeout_s)
        if not ready:
            self.close()
            raise ChildTimeout(f"no answer within {timeout_s:g} s")

    def _receive(self, kind: type[Message]) -> Message:
        try:
            return receive(self._replies, kind)
        except EOFError as error:
            raise self._died() from error

    def _died(self) -> ChildDied:
        code = self._process.wait()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self._errors.seek(0)
        printed = self._errors.read().decode(errors="replace").strip().splitlines()
        self.close()
        return ChildDied(": ".join([f"the process that launched the kernel ended with {how}", *printed[-2:]]))

    def close(self) -> None:
        """End the child, whatever it is doing, and free the memory file. Views taken before stay valid."""
        if self._closed:
            return
        self._closed = True
        self._process.kill()
        self._process.wait()
        for descriptor in (self._requests, self._replies, self._memory):
            os.close(descriptor)
        self._errors.close()
        self._output.close()

    def __enter__(self) -> ChildProcess:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()
