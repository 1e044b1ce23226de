"""Runs a schedule against the recorder: in a child of its own, the only place where a learner's Python runs.

Nothing of the recording is kept here, where that code could change it: every entry goes to the parent as it is made.
"""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
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


MOST_FILLED = 1 << 20
"""Bytes of host arrays that numbers are put into."""

Numbers = np.ndarray[Any, np.dtype[Any]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


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
    arrays = [item.view(np.ndarray) for item in parameters if isinstance(item, HostArray)]
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
            _run_again(recorder, schedule, arrays)
    except BaseException as error:
        raise ScheduleFailed(error, op.file) from error
    finally:
        found.recorder = None


def _run_again(recorder: Recorder, schedule: Any, arrays: Sequence[Numbers]) -> None:
    """It has to do the same for the next set of data, whatever that is, or to say that it cannot, as where it gives its
    memory back."""
    with redirect_stdout(_Beginning(sys.stdout, 0)):
        recorder.start()
        try:
            schedule.run()
        except Exception:
            recorder.stop()
            return
        for fill in (_with_identities, _with_any_numbers) if _few(arrays) else ():
            for array in arrays:
                fill(array)
            if fill is _with_any_numbers:  # until then, each copy to the host brings the same
                recorder.arrives = _other_numbers()
            recorder.start()
            schedule.run()


def _few(arrays: Sequence[Numbers]) -> bool:
    return sum(array.nbytes for array in arrays) <= MOST_FILLED


def _with_identities(array: Numbers) -> None:
    """The identity, or ones where it is no matrix."""
    array[...] = np.eye(*array.shape) if array.ndim == 2 else 1


def _with_any_numbers(array: Numbers) -> None:
    array[...] = np.random.default_rng(0).standard_normal(array.shape)


def _other_numbers() -> Callable[[Bytes], None]:
    """Copies that bring other numbers each time."""
    rng = np.random.default_rng(0)

    def arrives(memory: Bytes) -> None:
        memory[...] = rng.standard_normal(-(-len(memory) // 4), np.float32).view(np.uint8)[: len(memory)]

    return arrives


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
    """A host array of zeros. One with much room takes no memory until somebody writes to it."""
    array = driver.aligned_empty(item.shape, np.dtype(item.dtype))
    if array.nbytes <= MOST_FILLED:
        array.fill(0)
    return recorder.given(array)


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
