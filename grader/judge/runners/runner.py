"""A child that can be asked again and again, whatever the last kernel did to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from grader.emulator.streams.commands import Entry
from grader.judge.child.begun import Begun, Role
from grader.judge.child.process import ChildDied, ChildProcess, ChildTimeout, ChildTooLarge
from grader.judge.child.protocol import DeviceKind, Hello, Load, Operation, Reload, Renew, Reply
from grader.judge.correctness.guards import GUARD_BYTES
from grader.judge.correctness.verdict import of_clock, of_death, of_delay, of_end, of_failure
from grader.judge.refused import Refused
from grader.sandbox.memory import memory_bytes
from grader.workbook import units

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

PAGE = 4096

MOST_BYTES = memory_bytes() // 4
"""Of a case's arrays together: the memory file and the device hold each once."""


@dataclass(frozen=True)
class Region:
    """One array's place in the memory file: guard, payload, guard."""

    name: str
    offset: int
    nbytes: int  # of the payload
    guard: int

    @property
    def size(self) -> int:
        """Bytes of the whole region."""
        return self.nbytes + 2 * self.guard


class Loadable(Protocol):
    """A compiled kernel file."""

    @property
    def module(self) -> str:
        """What the child calls its module."""

    @property
    def uses_variables(self) -> bool:
        """Whether its code uses variables of the module, which launches may change."""

    def load(self, kind: DeviceKind, cubins: int) -> Load:
        """The operation that loads it. Raises Refused."""


class Runner:
    """A child that is started again when a kernel has ended it, and what it has loaded."""

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
        self._start = (device, arch, threads, role, cores, at_once)
        self._crowded = at_once > 1
        self._foreign = role is not None and role.box.foreign
        """What runs in the child is a stranger's own: its end, and its delay, are that code's."""
        self._worker = ChildProcess(*self._start, begun=begun)
        self._loaded: set[str] = set()
        self.generation = 0
        """How many children there were before this one: each begins with nothing loaded or allocated."""

    def hello(self) -> Hello:
        """What the child launches on. Raises ChildUnusable where that is nothing."""
        return self._worker.hello()

    @property
    def guard(self) -> int:
        """Bytes of a guard zone: none on the emulator, which finds accesses out of bounds by itself."""
        return GUARD_BYTES if self.hello().kind == "gpu" else 0

    def close(self, wait: bool = True) -> None:
        """End the child; see `ChildProcess.close`."""
        self._worker.close(wait)

    def interrupt(self) -> None:
        """End what the child does. Who waits for it, in another thread, is told that it has died."""
        self._worker.interrupt()

    def restart(self) -> None:
        """End the child and start another, with nothing loaded."""
        self._worker.close()
        self._worker = ChildProcess(*self._start)
        self._loaded.clear()
        self.generation += 1

    def renew(self, timeout_s: float) -> None:
        """Have nothing loaded and nothing on the device, after a launch that has failed: a context is of no more use
        then. An emulator begins anew in its child, a GPU in another one."""
        if self.hello().kind == "gpu":
            self.restart()
            return
        self.ask([Renew()], timeout_s)
        self._loaded.clear()
        self.generation += 1

    def ask(
        self,
        operations: Sequence[Operation],
        timeout_s: float,
        note: Callable[[Entry], None] = lambda entry: None,
    ) -> Reply:
        """Have a batch done; `note` is told what a recorder notes. Raises Refused for a child that does not live to
        answer, and replaces it."""
        try:
            return self._worker.ask(operations, timeout_s, note)
        except ChildTimeout:
            self.restart()
            own = self._foreign or self._start[0] != "emulator"
            raise (of_clock if own else of_delay)(timeout_s) from None
        except ChildDied as error:
            self.restart()
            # Alone it might have had room: what is told of it must not hang on how many are judged at a time.
            too_large = isinstance(error, ChildTooLarge)
            own = self._foreign and not (self._crowded and too_large)
            raise (of_end(str(error)) if own else of_death(str(error), too_large)) from None

    def do(self, operations: Sequence[Operation], timeout_s: float) -> Reply:
        """Have a batch done whole. Raises Refused where an operation fails, too."""
        reply = self.ask(operations, timeout_s)
        if reply.failure is not None:
            raise of_failure(reply.failure)
        return reply

    def printed(self) -> str:
        """What was printed since this was last asked; nothing of a child that had to be ended."""
        return self._worker.printed()

    def load(self, kernel: Loadable, timeout_s: float) -> None:
        """Load a kernel's module unless it is loaded. Raises Refused."""
        if kernel.module in self._loaded:
            return
        hello = self.hello()
        self.do([kernel.load(hello.kind, hello.cubins)], timeout_s)
        self._loaded.add(kernel.module)

    def load_afresh(self, kernel: Loadable, timeout_s: float) -> None:
        """Load a kernel's module with its variables as they are at first, whatever earlier launches left there."""
        if kernel.module not in self._loaded:
            self.load(kernel, timeout_s)
        elif kernel.uses_variables:
            self.do([Reload(kernel.module)], timeout_s)

    def regions(self, arrays: Mapping[str, int]) -> list[Region]:
        """Places for arrays of these sizes in bytes, in a memory file that is made large enough. Raises Refused for
        more than this machine has room for: scratch arrays are as large as a launch block says."""
        guard, offset, found = self.guard, 0, []
        for name, nbytes in arrays.items():
            region = Region(name, offset, nbytes, guard)
            found.append(region)
            offset += -(-region.size // PAGE) * PAGE
        if offset > MOST_BYTES:
            raise Refused(
                "error",
                f"Its arrays take {units.count(offset)} bytes together, and {units.count(MOST_BYTES)} are the most "
                "that are tried here. Make the scratch arrays smaller.",
            )
        self._worker.reserve(offset)
        return found

    def bytes_of(self, region: Region) -> Bytes:
        """A region's bytes, guards included."""
        return self._worker.view(region.offset, region.size)

    def payload(self, region: Region) -> Bytes:
        """A region's bytes between the guards."""
        return self._worker.view(region.offset + region.guard, region.nbytes)
