"""The one emulated GPU of this process, and what has been asked of it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from grader.emulator import devices
from grader.emulator.machine.host import FIFO_BYTES
from grader.emulator.machine.machine import LaunchRecord, Machine
from grader.emulator.machine.orders import Order
from grader.emulator.machine.origins import Watch
from grader.emulator.pycuda_api.driver import constants
from grader.emulator.pycuda_api.driver.errors import Status, failure

if TYPE_CHECKING:
    from grader.emulator.streams.recorder import Recorder

_handles = itertools.count(0x1000, 0x10)


@dataclass(eq=False)
class ContextState:
    """What CUDA calls a context: it owns memory and dies with its last `Context`."""

    owner: Emulation
    primary: bool
    handle: int = field(default_factory=lambda: next(_handles))
    references: int = 1
    alive: bool = True
    allocations: dict[int, int] = field(default_factory=dict)  # address → bytes
    limits: dict[int, int] = field(
        default_factory=lambda: {0: 1024, 1: 1 << 20, 2: 8 << 20, 3: 2, 4: 2048}  # CUDA's, by `limit`
    )
    cache_config: constants.func_cache = constants.func_cache.PREFER_NONE

    def release(self) -> None:
        self.references -= 1
        if self.references:
            return
        self.alive = False
        if self.primary:
            self.owner.primary = None
        for address in self.allocations:
            self.owner.machine.memory.free(address)
        self.allocations.clear()

    def free(self, address: int) -> None:
        """Free one allocation; memory of a dead context went with it."""
        if self.alive and self.allocations.pop(address, None) is not None:
            self.owner.machine.memory.free(address)


class PushedContext(Protocol):
    """What a thread pushes to make a context current: PyCUDA's `Context`."""

    state: ContextState


class Emulation:
    """A machine of one architecture, its contexts, the launches so far, and how to run the next ones."""

    def __init__(self, arch: str, threads: int | None, *, tells_unset: bool = False) -> None:
        self.device = devices.find(arch)
        self.arch = arch
        self.threads = threads
        self.tells_unset = tells_unset
        self.shared: int | None = None  # the file by which several emulations share these cores
        self.printf_bytes = FIFO_BYTES  # of what a launch prints that are kept
        self.initialised = False
        self.records: list[LaunchRecord] = []
        self.budget: int | None = None  # warp instructions a block
        self.blocks: tuple[int, ...] | None = None  # linear ids of the blocks that launches run; None: all
        self.enough: int | None = None  # warp instructions after which no other of these blocks is begun
        self.traced: int | None = None  # the linear id of the block whose accesses are noted
        self.watch: Watch = "never"  # whether launches look for what makes the first NaN
        self.primary: ContextState | None = None
        self.order: Order = "rising"  # of the blocks, where they communicate
        self.recorder: Recorder | None = None  # notes calls; nothing is copied or launched while there is one
        self.captured: list[Callable[[], object]] | None = None  # work for a graph; None: no capture
        self.busy = threading.RLock()  # one launch at a time: the machine has threads of its own
        self._local = threading.local()

    @cached_property
    def machine(self) -> Machine:
        return Machine(self.arch, self.threads, self.shared, self.printf_bytes)

    @property
    def stack(self) -> list[PushedContext]:
        """The contexts this thread has pushed, the current one last."""
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        found: list[PushedContext] = self._local.stack
        return found


_current = Emulation(devices.DEFAULT_ARCH, None)


def emulation() -> Emulation:
    """The emulation in use, whatever its state."""
    return _current


def reset(arch: str = devices.DEFAULT_ARCH, threads: int | None = None, *, tells_unset: bool = False) -> None:
    """Start over with a fresh GPU of `arch`, its blocks run by `threads` cores (None: all there are). With
    `tells_unset`, kernels that read what nobody has written in memory of mem_alloc are told.

    Everything that belongs to the GPU before (contexts, memory, modules, launch records) is void.
    Raises ValueError for an architecture that is not emulated.
    """
    global _current
    _current = Emulation(arch, threads, tells_unset=tells_unset)


def initialised(routine: str) -> Emulation:
    """The emulation, once `init()` was called; `routine` is the CUDA call to blame if it was not."""
    if not _current.initialised:
        raise failure(routine, Status.NOT_INITIALIZED, "call pycuda.driver.init() first")
    return _current


def in_context(routine: str) -> Emulation:
    """The emulation, if this thread has a current context; `routine` is the CUDA call to blame if not."""
    found = initialised(routine)
    if not (found.stack and found.stack[-1].state.alive):
        raise failure(routine, Status.INVALID_CONTEXT, "no context is current in this thread")
    return found
