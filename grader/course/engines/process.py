"""A marking process, seen from the one that asks it."""

from __future__ import annotations

import os
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from grader import modules
from grader.course.orders import Answer, Order, as_answer
from grader.emulator.runtime.build import prepare
from grader.sandbox.scratch import Scratch
from grader.sandbox.start import end, how_it_ended, lasting

_PART = 1 << 16

_TO_END_S = 2.0
"""How long a process that has closed its pipe may take to end."""


class Process:
    """A marking process that is warm after its first order: it answers one after the other.

    It is started when it is first asked, in an empty folder, and told which process started it. One that dies, or takes
    too long, is ended with all that it started, and the next order has a new one.
    """

    def __init__(self, command: Sequence[str] = (), folder: str | None = None) -> None:
        self._command = command or modules.command("grader.course.worker")
        self._folder = folder  # in which its own is made; None: where temporary ones are
        self._running: _Running | None = None

    def ask(self, order: Order, seconds: float) -> Answer:
        """The answer to an order; a complaint where there is none within `seconds`, or the process dies. The emulator's
        runtime is there before the clock runs."""
        prepare()
        running = self._running = self._running or _Running(self._command, self._folder)
        try:
            return as_answer(running.ask(msgspec.json.encode(order) + b"\n", seconds))
        except TimeoutError:
            self.close()
            return Answer(complaint=f"it was not done after {seconds:g} s")
        except msgspec.DecodeError as error:
            self.close()
            return Answer(complaint=f"the marking process answered with something else: {error}")
        except (EOFError, BrokenPipeError):
            said = running.last_words()
            self.close()
            return Answer(complaint=f"the marking process ended with {said}")

    def end(self) -> None:
        """End the process and all that it started; whoever has asked it, in another thread, is told so."""
        if self._running is not None:
            self._running.end()

    def close(self) -> None:
        """End it, and remove what it leaves. For when nobody waits for an answer."""
        if self._running is not None:
            self._running.close()
            self._running = None


class _Running:
    """A marking process that was started."""

    def __init__(self, command: Sequence[str], folder: str | None) -> None:
        self._folder = Scratch(None if folder is None else Path(folder))
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = lasting(
            lambda: subprocess.Popen(
                [*command, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                cwd=self._folder.path,
                env=_variables(),
                start_new_session=True,
            )
        )

    def ask(self, line: bytes, seconds: float) -> bytes:
        """The line that it answers a line with. Raises TimeoutError, EOFError or BrokenPipeError."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        ends = time.monotonic() + seconds
        answer = bytearray()
        self._process.stdin.write(line)
        self._process.stdin.flush()
        while not answer.endswith(b"\n"):
            if not select.select([self._process.stdout], [], [], max(0.0, ends - time.monotonic()))[0]:
                raise TimeoutError
            part = os.read(self._process.stdout.fileno(), _PART)
            if not part:
                raise EOFError
            answer += part
        return bytes(answer)

    def last_words(self) -> str:
        """How it ended, and what it said last: of one that has closed its pipe."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_TO_END_S)
        self.end()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()[-1:]
        return ": ".join([how_it_ended(self._process.returncode), *said])

    def end(self) -> None:
        end(self._process)

    def close(self) -> None:
        self.end()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with suppress(BrokenPipeError):  # of what it was never told
                if stream is not None:
                    stream.close()
        self._folder.close()


def _variables() -> dict[str, str]:
    """Its environment: its libraries start no threads."""
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
