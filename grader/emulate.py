"""`ladder emulate`: runs somebody's PyCUDA script, unchanged, on a machine without a GPU."""

from __future__ import annotations

import json
import runpy
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import grader.emulator
from grader.emulator.devices import DEFAULT_ARCH
from grader.emulator.machine.machine import LaunchRecord
from grader.emulator.pycuda_api import driver_ext
from grader.emulator.pycuda_api.driver import emulation
from grader.emulator.pycuda_api.driver.stream import Event
from grader.emulator.pycuda_api.shim import NOT_EMULATED, emulated_pycuda
from grader.errors import WarpladderError
from grader.findings import kernels

_EMULATOR = str(Path(grader.emulator.__file__).parent)


@dataclass(frozen=True)
class Outcome:
    """What became of a script."""

    launches: tuple[LaunchRecord, ...]  # in the order of the launches
    failure: str | None  # the script's traceback, or what it gave to sys.exit; None: it ended well
    status: int = 0  # the script's own exit status
    times_read: bool = False  # whether the script asked how long something took between two events

    @property
    def exit_code(self) -> int:
        """The script's own exit status; 1 where it ended well and a launch has findings."""
        return self.status or int(any(launch.findings for launch in self.launches))


def run(
    script: Path, arguments: Sequence[str] = (), *, profile: Path | None = None, arch: str = DEFAULT_ARCH
) -> Outcome:
    """Run `script` as `python script arguments…` would, with the emulator in PyCUDA's place.

    `profile` is a file for the launches as JSON, written even when the script fails; `arch` chooses the
    emulated GPU. Raises WarpladderError for a script, profile or architecture that cannot be used.
    """
    if not script.is_file():
        raise WarpladderError("no such script", file=script)
    if profile is not None and not profile.absolute().parent.is_dir():
        raise WarpladderError("no such folder to write the profile to", file=profile.parent)
    try:
        emulation.reset(arch)
    except ValueError as error:
        raise WarpladderError(str(error)) from None
    driver_ext.watch_nan("once stored")
    times: list[float] = []
    try:
        with _times_noted(times):
            failure, status = _run_script(script, arguments)
    finally:
        launches = tuple(driver_ext.launch_records())
        if profile is not None:
            profile.write_text(json.dumps([_as_json(launch) for launch in launches], indent=2) + "\n")
    return Outcome(launches, failure, status, bool(times))


def _run_script(script: Path, arguments: Sequence[str]) -> tuple[str | None, int]:
    """The script's failure, if it has one, and its exit status, as Python would give it to the shell."""
    with emulated_pycuda(), _started_as(script, arguments), _its_threads_joined():
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            failure = _exit_failure(end.code)
            return failure, end.code & 0xFF if isinstance(end.code, int) else int(failure is not None)
        except ModuleNotFoundError as error:
            if error.name in NOT_EMULATED:
                raise _not_emulated(error, script) from None
            return _as_python_prints_it(error, script), 1
        except Exception as error:
            return _as_python_prints_it(error, script), 1
    return None, 0


@contextmanager
def _started_as(script: Path, arguments: Sequence[str]) -> Iterator[None]:
    """sys.argv and sys.path as Python sets them for a script."""
    argv, path = sys.argv, sys.path
    sys.argv = [str(script), *arguments]
    sys.path = [str(script.resolve().parent), *path]
    try:
        yield
    finally:
        sys.argv, sys.path = argv, path


@contextmanager
def _its_threads_joined() -> Iterator[None]:
    """Python ends when the threads a script has started have ended."""
    before = threading.enumerate()
    yield
    for thread in threading.enumerate():
        if thread not in before and not thread.daemon:
            thread.join()


@contextmanager
def _times_noted(times: list[float]) -> Iterator[None]:
    """Every time that the script reads from two events goes into `times` as well."""
    read = Event.time_since

    def time_since(self: Event, start: Event) -> float:
        times.append(read(self, start))
        return times[-1]

    Event.time_since = time_since  # type: ignore[method-assign]
    try:
        yield
    finally:
        Event.time_since = read  # type: ignore[method-assign]


def _not_emulated(error: ModuleNotFoundError, script: Path) -> WarpladderError:
    """What to do with a script of another package than PyCUDA."""
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(script)
    ]
    return WarpladderError(
        str(error),
        file=script,
        line=lines[0] if lines else None,
        remedy="run this script on a machine with a GPU; `ladder emulate` runs scripts that use PyCUDA",
    )


def _exit_failure(code: str | int | None) -> str | None:
    if code is None or code == 0:
        return None
    return f"the script ended with exit status {code}\n" if isinstance(code, int) else f"{code}\n"


def _as_python_prints_it(error: Exception, script: Path) -> str:
    """The traceback from the script's first frame on, without the emulator's own frames."""
    told = traceback.TracebackException.from_exception(error)
    _leave_scripts_frames(told, str(script))
    return "".join(told.format())


def _leave_scripts_frames(told: traceback.TracebackException, script: str) -> None:
    names = [frame.filename for frame in told.stack]
    start = names.index(script) if script in names else len(names)
    kept = [frame for frame in told.stack[start:] if not frame.filename.startswith(_EMULATOR)]
    told.stack = traceback.StackSummary.from_list(kept)
    for earlier in (told.__cause__, told.__context__):
        if earlier is not None:
            _leave_scripts_frames(earlier, script)


def _as_json(launch: LaunchRecord) -> dict[str, Any]:
    return {
        "kernel": launch.kernel,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "shared_bytes": launch.shared_bytes,
        "registers": launch.registers,
        "counters": launch.counters,
        "findings": [asdict(kernels.result(finding, launch.kernel)) for finding in launch.findings],
    }
