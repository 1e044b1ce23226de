"""Runs a schedule against the recorder: in a child of its own, the only place where a learner's Python runs.

Nothing of the recording is kept here, where that code could change it: every entry goes to the parent as it is made.
"""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import ModuleType
from typing import Any, TextIO

import numpy as np

from grader.emulator.pycuda_api import driver, driver_ext
from grader.emulator.pycuda_api.driver.emulation import emulation
from grader.emulator.pycuda_api.shim import emulated_pycuda
from grader.emulator.streams.commands import Entry
from grader.emulator.streams.recorder import HostArray, NotRecorded, Recorder
from grader.judge.child.protocol import HostData, Noted, Operation, RecordSchedule, send
from grader.judge.child.server import run
from grader.workbook.schedule_file import CLASS

EXT = "grader.driver_ext"
"""The name under which schedules import what PyCUDA lacks."""

MODULE = "schedule"
"""What a schedule's own module is called."""

MOST_SAID = 2000
"""Characters of an exception's message that are told."""


def main(arguments: list[str]) -> None:
    """Serve what writes schedules down: nothing else."""
    run(arguments, lambda device, memory, replies: Writer(lambda entry: send(replies, Noted(entry))))


MOST_PRINTED = 1 << 13
"""Characters that are kept of what a schedule prints for one size: no more are shown, and what this process may write
for all sizes together has a limit."""


class Writer:
    """Does the one operation of this process; `note` tells the parent of an entry."""

    def __init__(self, note: Callable[[Entry], None]) -> None:
        self._note = note

    def do(self, operation: Operation) -> None:
        """Write a schedule down. Raises ScheduleFailed."""
        if not isinstance(operation, RecordSchedule):
            raise TypeError(f"{type(operation).__name__} is done by the process that launches")
        record(operation, self._note)

    def status(self, error: Exception) -> None:
        """No driver has a say here."""


class ScheduleFailed(Exception):
    """The schedule raised something; the message is Python's or the recorder's, `line` the schedule's own line."""

    def __init__(self, error: BaseException, file: str) -> None:
        told = _said(error) if isinstance(error, NotRecorded) else f"{type(error).__name__}: {_said(error)}"
        super().__init__(told.encode(errors="backslashreplace").decode())
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == file]
        self.line = lines[-1] if lines else None


def _said(error: BaseException) -> str:
    """An exception's message, which its own class makes."""
    try:
        return str(error)[:MOST_SAID]
    except Exception as further:
        return f"its message raises {type(further).__name__}"


def record(op: RecordSchedule, note: Callable[[Entry], None]) -> None:
    """Note everything that the schedule asks for. Raises ScheduleFailed where it raises, or leaves."""
    function = driver.module_from_buffer(op.image).get_function(op.symbol)
    found, recorder = emulation(), Recorder(op.file, note)
    parameters = [item if isinstance(item, int) else _given(recorder, item) for item in op.parameters]
    found.recorder = recorder
    try:
        with (
            _emulated_pycuda(),
            redirect_stdout(_Beginning(sys.stdout, MOST_PRINTED)),
            redirect_stderr(_Beginning(sys.stderr, MOST_PRINTED)),
        ):
            module = sys.modules[MODULE] = ModuleType(MODULE)  # where dataclasses look a class's module up
            module.__file__ = op.file
            exec(compile(op.source, op.file, "exec"), vars(module))
            schedule = vars(module)[CLASS](function, *parameters)
            recorder.start()
            schedule.run()
            _run_again(recorder, schedule)
    except BaseException as error:
        raise ScheduleFailed(error, op.file) from error
    finally:
        found.recorder = None


def _run_again(recorder: Recorder, schedule: Any) -> None:
    """It has to do the same for the next set of data, or to say that it cannot, as where it gives its memory back."""
    recorder.start()
    try:
        with redirect_stdout(_Beginning(sys.stdout, 0)):
            schedule.run()
    except Exception:
        recorder.stop()


class _Beginning(io.TextIOBase):
    """Lets the first characters of what is printed through, and drops the others: they would not be shown."""

    def __init__(self, stream: TextIO, most: int) -> None:
        self._stream, self._left = stream, most

    def write(self, text: str) -> int:
        self._stream.write(text[: self._left])
        self._left = max(0, self._left - len(text))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()


def _given(recorder: Recorder, item: HostData) -> HostArray:
    """A host array that holds nothing, and takes no memory until somebody writes to it."""
    return recorder.given(driver.aligned_empty(item.shape, np.dtype(item.dtype)))


@contextmanager
def _emulated_pycuda() -> Iterator[None]:
    """PyCUDA and the workbook's own extension of it are the emulator's."""
    hidden = sys.modules.get(EXT)
    sys.modules[EXT] = driver_ext
    try:
        with emulated_pycuda():
            yield
    finally:
        del sys.modules[EXT]
        if hidden is not None:
            sys.modules[EXT] = hidden
