"""The process that a program runs in.

    python -m grader.emulator.cudart.child PARENT FOLDER REPORT ARCH TRIAL SOURCE [ARGS…]

PARENT is the process that started it, REPORT the descriptor of a pipe, for what happens, TRIAL is JSON of a `Trial`, or
null. The process ends as the program does, or with its parent.
"""

from __future__ import annotations

import ctypes
import inspect
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from grader.sandbox.confine import end_with_parent

if __name__ == "__main__":  # before the imports below, which take a while
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # it is the program's, and so is what Ctrl-C does
    end_with_parent(int(sys.argv.pop(1)))

import msgspec

from grader.emulator.cudart.calls.capture import CaptureCalls
from grader.emulator.cudart.calls.device import DeviceCalls
from grader.emulator.cudart.calls.driver import DriverCalls
from grader.emulator.cudart.calls.graph import GraphCalls
from grader.emulator.cudart.calls.kernel import KernelCalls
from grader.emulator.cudart.calls.memory import MemoryCalls
from grader.emulator.cudart.calls.modules import SAME, ModuleCalls
from grader.emulator.cudart.calls.pool import PoolCalls
from grader.emulator.cudart.calls.stream import StreamCalls
from grader.emulator.cudart.events import Called, Ended, Loaded, Refused, Trial
from grader.emulator.cudart.files import LIBRARY, RUNTIME, digest_of, ptx_of
from grader.emulator.cudart.native import Native, host_view, until_zero
from grader.emulator.cudart.state import OWNED, Call, State
from grader.emulator.cudart.status import ELSEWHERE, CudaError, NotEmulated, Status
from grader.emulator.cudart.textures.array_calls import ArrayCalls
from grader.emulator.cudart.textures.object_calls import TextureCalls
from grader.emulator.cudart.waiting import Waiting
from grader.emulator.errors import EmulatorError, OutOfRoom
from grader.emulator.machine.machine import Machine

_STAYS = {
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaDeviceReset",
}
"""Calls that work on after a kernel has spoilt the device."""
_INTERNAL = 70
_VERSION = re.compile(r"_v\d$")
"""What the header adds to some of the driver's names."""


class Runtime:
    """Serves a program's calls."""

    def __init__(self, folder: Path, report: int, arch: str, trial: Trial | None, source: Path) -> None:
        self._folder, self._source = folder, source
        self._trial = trial
        self._calls = 0
        self.state = State(Machine(arch), report, on_trial=trial is not None)
        self.waiting = Waiting(self.state)
        self._methods: dict[str, tuple[Callable[..., int | None], int]] = {}
        self._add_methods()
        self.state.native = Native(folder / RUNTIME, self._forward, self._end, report)

    def _add_methods(self) -> None:
        symbols: dict[int, tuple[int, int]] = {}
        self.streams = streams = StreamCalls(self.state, self.waiting)
        self.memory_calls = MemoryCalls(self.state, self.waiting, symbols)
        self.kernels = KernelCalls(self.state, self.waiting, streams, symbols)
        devices = DeviceCalls(self.state, self.waiting)
        arrays = ArrayCalls(self.state, self.memory_calls)
        textures = TextureCalls(self.state, arrays)
        driver = DriverCalls(self.state, devices)
        pool = PoolCalls(self.memory_calls)
        graphs = GraphCalls(self.state, self.waiting, streams, self.memory_calls, arrays, self.kernels)
        captures = CaptureCalls(graphs)
        modules = ModuleCalls(self.state, self.memory_calls, self.kernels, devices, self._source)
        groups = (
            streams, self.memory_calls, pool, arrays, textures, self.kernels, devices, driver, modules, graphs,
            captures,
        )  # fmt: skip
        for group in groups:
            for name, method in inspect.getmembers(group, inspect.ismethod):
                if name.startswith("cu"):
                    self._add(name, captures.capturable(method))
        self._methods |= {name: self._methods[other] for name, other in SAME.items()}
        self._add("attribute", devices.attribute)
        self._add("__cudaRegisterFunction", self.kernels.register_function)
        self._add("__cudaRegisterVar", self.kernels.register_variable)
        self._add("__cudaRegisterManagedVar", self.kernels.register_managed)
        self._add("__cudaRegisterFatBinary", self._register_module)

    def loaded(self) -> None:
        """The program lies in memory."""
        first, last = _program_lies_at(self._folder / LIBRARY)
        self.state.native.program_lies_at(first, last)
        self.state.tell(Loaded(first))

    def _register_module(self, binary: int, nbytes: int) -> int:
        """Each translation unit registers its code before anything else of the program runs."""
        if not self.kernels.modules:
            self.loaded()
        ptx = self._folder / ptx_of(digest_of(host_view(binary, nbytes).tobytes()))
        return self.kernels.register_module(self.state.machine.load(ptx.read_text()))

    def _add(self, name: str, method: Callable[..., int | None]) -> None:
        self._methods[name] = method, len(inspect.signature(method).parameters)

    def _forward(self, name: bytes, arguments: Any, frames: Any) -> int:
        """One call of the program's: its status, or what it returns. Nothing may leave here as an exception. The
        program may have several threads: one is served at a time."""
        with self.state.lock:
            try:
                self.state.call = Call(_VERSION.sub("", name.decode()), until_zero(frames))
                return self._serve(*self._methods[self.state.call.name], arguments)
            except (EmulatorError, NotEmulated) as error:
                self._refuse(error)
            except BaseException:
                traceback.print_exc()
                os._exit(_INTERNAL)

    def _refuse(self, error: EmulatorError | NotEmulated) -> NoReturn:
        remedy = error.remedy if isinstance(error, NotEmulated) else ELSEWHERE
        self.state.tell(Refused(str(error), remedy, self.state.call.frames))
        ctypes.CDLL(None).fflush(None)  # what the program has printed
        os._exit(2)

    def _serve(self, method: Callable[..., int | None], count: int, arguments: Any) -> int:
        try:
            if self.state.sticky and self.state.call.name not in _STAYS:
                self.waiting.waited()
                raise CudaError(self.state.sticky, noted=True)
            given = [int(arguments[index]) for index in range(count)]
            planted = self._planted(given)
            if planted is not None and not planted.while_running:
                raise CudaError(Status(planted.status), noted=True)
            answer = method(*given) or 0
            if planted is not None:
                self.state.sticky = Status(planted.status)
            return answer
        except OutOfRoom as error:
            return self.state.failed(CudaError(Status.MemoryAllocation, str(error)))
        except CudaError as error:
            return self.state.failed(error)

    def _planted(self, given: list[int]) -> Trial | None:
        """Tells of a call, if the program is on trial; what the trial has for it, if it is the one that fails."""
        name = self.state.call.name
        if self._trial is None or not name.startswith("cuda"):
            return None
        direction = given[3] if name in ("cudaMemcpy", "cudaMemcpyAsync") else None
        self.state.tell(Called(name, self.state.call.frames, direction))
        self._calls += 1
        return self._trial if self._trial.fails == self._calls - 1 else None

    def _end(self) -> None:
        try:
            self._tell_end()
        except BaseException:
            traceback.print_exc()
            os._exit(_INTERNAL)

    def _tell_end(self) -> None:
        """What can be told only when the program has ended."""
        self.waiting.look_for_faults()
        if self.state.printed and self.state.printing:
            call = self.state.printing
            self.state.note(
                "lost_output", call=call.name, frames=call.frames, nbytes=len("".join(self.state.printed))
            )
        for allocation in self.state.live():
            self.memory_calls.tell_of_part(allocation)
            if allocation.kind in OWNED and not self.state.sticky:  # else cudaFree does nothing any more
                block = allocation.block
                self.state.note(
                    "leak", call=block.call, frames=block.frames, nbytes=block.nbytes, block=block
                )
        self.state.tell_unasked()
        self.state.tell(Ended(self.state.times_read, self.streams.undestroyed()))


def main() -> None:
    folder, report, arch, trial, source, *arguments = sys.argv[1:]
    runtime = Runtime(
        Path(folder), int(report), arch, msgspec.json.decode(trial, type=Trial | None), Path(source)
    )
    sys.stdout = runtime.state  # where kernels print to
    libc = ctypes.CDLL(None)
    library = ctypes.CDLL(str(Path(folder) / LIBRARY))
    if not runtime.kernels.modules:
        runtime.loaded()
    given = (ctypes.c_char_p * (len(arguments) + 2))(
        *[os.fsencode(text) for text in (source, *arguments)], None
    )
    library.main.restype = ctypes.c_int
    libc.exit(library.main(len(arguments) + 1, given, _environment()))


def _program_lies_at(library: Path) -> tuple[int, int]:
    """The addresses of a library that is loaded in this process: the first, and the last + 1."""
    ranges = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    bounds = [words[0].split("-") for words in ranges if words[-1] == str(library)]
    return int(bounds[0][0], 16), int(bounds[-1][1], 16)


def _environment() -> Any:
    return ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        traceback.print_exc()
        os._exit(_INTERNAL)  # Python's own end would call what the program's end calls
