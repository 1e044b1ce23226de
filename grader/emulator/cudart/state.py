"""What the calls of one program share: the machine, its allocations, errors, and whom to tell."""

from __future__ import annotations

import bisect
import ctypes
import mmap
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec

from grader.emulator.cudart.events import Block, Event, Failed, Noted
from grader.emulator.cudart.native import Native
from grader.emulator.cudart.status import CudaError, Status, of_driver
from grader.emulator.errors import MemoryFault
from grader.emulator.machine.machine import Machine
from grader.emulator.machine.memory import GAP
from grader.emulator.runtime.layout import GLOBAL_BASE

_HOST_SEES = ("managed", "pinned", "managed variable")
OWNED = ("device", "array", "managed", "pinned")
"""Kinds of memory that the program has to give back."""


@dataclass
class Allocation:
    """Memory that the program has from the runtime."""

    block: Block
    kind: str
    """"device", "array", "managed", "pinned", "registered"; "variable" or "managed variable" of the code."""
    copied: dict[str, list[tuple[int, int, Copied]]] = field(default_factory=dict)

    @property
    def base(self) -> int:
        return self.block.base

    @property
    def nbytes(self) -> int:
        return self.block.nbytes

    @property
    def host_sees(self) -> bool:
        return self.kind in _HOST_SEES

    def holds(self, address: int, nbytes: int = 1) -> bool:
        return self.base <= address and address + nbytes <= self.base + self.nbytes


@dataclass(frozen=True)
class Copied:
    """A copy between an allocation and a block of the host's, from the beginning of both."""

    call: str
    frames: list[int]
    host_bytes: int


@dataclass
class Call:
    """The call that is being served."""

    name: str
    frames: list[int]


class State:
    """One program's state."""

    native: Native

    def __init__(self, machine: Machine, report: int, *, on_trial: bool = False) -> None:
        self.machine = machine
        self.memory = machine.memory
        self.call = Call("", [])
        self.lock = threading.Lock()
        """Held while a call is served: the program may have several threads."""
        self.last_error = Status.Success
        self.sticky = Status.Success
        self.times_read = False
        self.impaired = False
        """Something went wrong for which memory may not have been written."""
        self.printed: list[str] = []
        """What kernels have printed that the host has not waited for."""
        self.printing: Call | None = None
        self.on_free: Callable[[Allocation], None] = lambda allocation: None
        self._kept: list[object] = []
        self._report = report
        self._on_trial = on_trial
        self._unasked: list[Noted] = []
        self._starts: list[int] = []
        self._live: dict[int, Allocation] = {}
        self._freed: list[Block] = []
        self._highest = 0

    # -- the host ---------------------------------------------------------------------------------------------
    @contextmanager
    def serving(self, call: Call) -> Iterator[None]:
        """What is done is done for this call."""
        before, self.call = self.call, call
        yield
        self.call = before

    def call_host(self, function: int, data: int) -> None:
        """Calls a function of the program's."""
        call = self.call
        self.lock.release()
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function)(data)
        self.lock.acquire()
        self.call = call

    def kept(self, address: int, nbytes: int) -> int:
        """The address of a copy of the host's memory, which stays."""
        copy = ctypes.create_string_buffer(ctypes.string_at(address, nbytes), nbytes)
        self._kept.append(copy)
        return ctypes.addressof(copy)

    # -- telling ----------------------------------------------------------------------------------------------
    def tell(self, event: Event) -> None:
        os.write(self._report, msgspec.json.encode(event) + b"\n")

    def note(self, kind: str, **about: object) -> None:
        """Tells of something the current call did wrong."""
        about.setdefault("call", self.call.name)
        about.setdefault("frames", self.call.frames)
        self.tell(Noted(kind=kind, **about))  # type: ignore[arg-type]

    def failed(self, error: CudaError) -> int:
        """An error that a call returns, told at the end unless the program asks; one of the runtime's is the last error
        from now on."""
        of_runtime = self.call.name.startswith("cuda")
        status = error.status if of_runtime else of_driver(error.status)
        if of_runtime:
            self.last_error = status
        self.impaired = True
        if self._on_trial:
            self.tell(Failed(self.call.name, self.call.frames, status.cuda_name, error.reason))
        if not error.noted:
            self._unasked.append(
                Noted("unchecked_error", self.call.name, self.call.frames, status.cuda_name, error.reason)
            )
        return int(status)

    def asked(self) -> None:
        """The program has asked for the last error."""
        self._unasked.clear()

    def tell_unasked(self) -> None:
        for note in self._unasked:
            self.tell(note)

    # -- allocations ------------------------------------------------------------------------------------------
    def allocate(self, nbytes: int, kind: str) -> Allocation:
        """New memory, in no place where there was other memory before, as long as there is such a place."""
        start = self.fresh()
        if kind in _HOST_SEES:
            start = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        try:
            address = self._placed(nbytes, start, unset=kind == "device")
        except MemoryFault as fault:
            raise CudaError(Status.MemoryAllocation, str(fault)) from None
        self._highest = max(self._highest, address + nbytes + GAP)
        if kind in _HOST_SEES:
            self.memory.share(address)
        return self.add(Block(address, nbytes, self.call.name, self.call.frames), kind)

    def fresh(self) -> int:
        """An address from which on there was never any memory."""
        return max(self._highest, GLOBAL_BASE + self.memory.extent() + GAP)

    def _placed(self, nbytes: int, start: int, *, unset: bool) -> int:
        try:
            return self.memory.alloc(nbytes, above=start, unset=unset)
        except MemoryFault:
            address = self.memory.alloc(nbytes, unset=unset)
            if address % mmap.PAGESIZE:
                self.memory.free(address)
                raise
            return address

    def add(self, block: Block, kind: str) -> Allocation:
        found = self._live[block.base] = Allocation(block, kind)
        bisect.insort(self._starts, block.base)
        return found

    def free(self, allocation: Allocation) -> None:
        """Gives an allocation back; the next one is put elsewhere, so that pointers to this one are known as such."""
        self.on_free(allocation)
        if allocation.kind != "registered":
            self.memory.free(allocation.base)
        self.forget(allocation)
        allocation.block.freed = self.call.frames
        self._freed.append(allocation.block)

    def forget(self, allocation: Allocation) -> None:
        self._starts.remove(allocation.base)
        del self._live[allocation.base]

    def allocation(self, address: int) -> Allocation | None:
        """What an address lies in."""
        index = bisect.bisect_right(self._starts, address) - 1
        found = self._live[self._starts[index]] if index >= 0 else None
        return found if found and found.holds(address) else None

    def freed(self, address: int) -> Block | None:
        """What an address lay in that has been given back since; the last one, if several."""
        return next((b for b in reversed(self._freed) if b.base <= address < b.base + b.nbytes), None)

    def live(self) -> list[Allocation]:
        return [self._live[start] for start in self._starts]

    def on_device(self, address: int) -> bool:
        return GLOBAL_BASE <= address < GLOBAL_BASE + self.memory.capacity

    # -- printf -----------------------------------------------------------------------------------------------
    def write(self, text: str) -> int:
        """What kernels print; it is shown once the host has waited for them. (This object is their sys.stdout.)"""
        self.printed.append(text)
        self.printing = self.call
        return len(text)

    def flush(self) -> None:
        """Kernels print line by line; there is nothing to do here."""

    def show_printed(self) -> None:
        if self.printed:
            self.native.print("".join(self.printed))
            self.printed.clear()
