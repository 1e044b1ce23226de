"""`ladder emulate`: runs somebody's PyCUDA script, unchanged, on a machine without a GPU."""

from __future__ import annotations

import json
import re
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
from grader.emulator.machine import room
from grader.emulator.machine.machine import LaunchRecord
from grader.emulator.pycuda_api import driver_ext
from grader.emulator.pycuda_api.driver import emulation
from grader.emulator.pycuda_api.driver.stream import Event
from grader.emulator.pycuda_api.shim import NotEmulatedModule, emulated_pycuda
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
        emulation.reset(arch, tells_unset=True)
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
    with room.bounded(), emulated_pycuda(), _started_as(script, arguments), _its_threads_joined():
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            failure = _exit_failure(end.code)
            return failure, end.code & 0xFF if isinstance(end.code, int) else int(failure is not None)
        except Exception as error:
            if (refusal := _refusal(error, script)) is not None:
                raise refusal from None
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


_ON_GPUS = {"numba": "Numba", "cuda": "CUDA Python", "torch": "PyTorch", "jax": "JAX", "warp": "NVIDIA Warp"}
"""Packages that launch kernels in ways of their own, by the names of their modules; some do without a GPU, too."""
_OF_A_GPU = re.compile("cuda|gpu|nvidia", re.IGNORECASE)
_WITH_PYCUDA = ("mako", "platformdirs", "pytools")
"""Packages that are installed with PyCUDA, so that its scripts rely on them, and not with Warpladder."""
_INSTEAD = {
    "numba.cuda": "NUMBA_ENABLE_CUDASIM=1 python {script} runs it in Numba's own simulator",
    "triton": "TRITON_INTERPRET=1 python {script} runs its kernels in Triton's own interpreter",
}
_ELSEWHERE = "run this script on a machine with a GPU"


def _refusal(error: Exception, script: Path) -> WarpladderError | None:
    """What to do with a script whose packages are not here; None where that is not why it fails."""
    if isinstance(error, ModuleNotFoundError) and error.name in _WITH_PYCUDA:
        said, remedy = f"{error.name} is not installed; PyCUDA brings it along", f"pip install {error.name}"
    elif (found := _not_emulated(error)) is not None:
        said, instead = found
        remedy = f"{instead.format(script=script)}; `ladder emulate` runs scripts that use PyCUDA"
    else:
        return None
    frames = traceback.extract_tb(error.__traceback__)
    line = next((frame.lineno for frame in frames if frame.filename == str(script)), None)
    return WarpladderError(said, file=script, line=line, remedy=remedy)


def _not_emulated(error: Exception) -> tuple[str, str] | None:
    """That a script wants a GPU by way of another package than PyCUDA, and what to do; None where it does not."""
    if isinstance(error, NotEmulatedModule):
        return str(error), _INSTEAD.get(error.module, _ELSEWHERE)
    if isinstance(error, ModuleNotFoundError) and error.name in _ON_GPUS:
        return f"{_ON_GPUS[error.name]} is not installed, and not emulated", _ELSEWHERE
    if (package := _raised_in(error)) is not None and _OF_A_GPU.search(str(error)):
        reason = str(error).partition("\n")[0]
        return f"{_ON_GPUS[package]} is not emulated, and finds no GPU: {reason}", _ELSEWHERE
    return None


def _raised_in(error: Exception) -> str | None:
    """The package of _ON_GPUS that an error comes out of."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        _, installed, below = frame.filename.rpartition("-packages/")
        package = below.partition("/")[0]
        if installed and package in _ON_GPUS:
            return package
    return None


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
