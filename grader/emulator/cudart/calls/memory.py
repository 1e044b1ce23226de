"""The runtime's calls about memory: allocations, copies, symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from grader.emulator.cudart.events import Block
from grader.emulator.cudart.native import host_view, store_int, store_word
from grader.emulator.cudart.state import Allocation, Copied, State
from grader.emulator.cudart.status import CudaError, NotEmulated, Status
from grader.emulator.cudart.uses import DEFAULT, Work
from grader.emulator.cudart.waiting import PROT_NONE, PROT_READ, Waiting
from grader.emulator.runtime.layout import UNWRITTEN

_KINDS = {0: (False, False), 1: (True, False), 2: (False, True), 3: (True, True)}
"""cudaMemcpyKind → whether (destination, source) is on the device; 4, the default, asks the addresses."""
_NAMES = {
    0: "cudaMemcpyHostToHost", 1: "cudaMemcpyHostToDevice", 2: "cudaMemcpyDeviceToHost", 3: "cudaMemcpyDeviceToDevice",
}  # fmt: skip
_TYPES = {"device": 2, "variable": 2, "managed": 3, "managed variable": 3, "pinned": 1, "registered": 1}
"""Kind of an allocation → cudaMemoryType; 0 is memory that the runtime does not know."""
_STREAM_ORDERED = ("cudaMallocAsync", "cudaMallocFromPoolAsync")
_PITCH = 512
Side = Literal["destination", "source"]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass
class End:
    """One end of a copy."""

    side: Side
    address: int
    on_device: bool
    """The copy takes it for device memory."""
    allocation: Allocation | None
    """What the runtime knows of it."""


class MemoryCalls:
    """Methods are named as the runtime's functions, and take their arguments as 64-bit words."""

    def __init__(self, state: State, waiting: Waiting, symbols: dict[int, tuple[int, int]]) -> None:
        self.state, self.waiting = state, waiting
        self.symbols = symbols
        """Host address of a variable → (device address, bytes)."""

    # -- allocations ------------------------------------------------------------------------------------------
    def cudaMalloc(self, out: int, nbytes: int) -> None:
        store_word(out, self.state.allocate(nbytes, "device").base if nbytes else 0)

    def cudaMallocAsync(self, out: int, nbytes: int, stream: int) -> None:
        """The memory is there for what comes behind this in the stream."""
        made = self.state.allocate(nbytes, "device") if nbytes else None
        self.waiting.uses.whole(made, self.waiting.work(stream))
        store_word(out, made.base if made else 0)

    def cudaMallocPitch(self, out: int, pitch_out: int, width: int, height: int) -> None:
        pitch = -(-width // _PITCH) * _PITCH
        store_word(pitch_out, pitch)
        self.cudaMalloc(out, pitch * height)

    def cudaMallocManaged(self, out: int, nbytes: int, flags: int) -> None:
        if not nbytes:
            raise CudaError(Status.InvalidValue, "an allocation of 0 bytes")
        store_word(out, self.state.allocate(nbytes, "managed").base)

    def cudaMallocHost(self, out: int, nbytes: int) -> None:
        store_word(out, self.state.allocate(nbytes, "pinned").base if nbytes else 0)

    def cudaHostAlloc(self, out: int, nbytes: int, flags: int) -> None:
        self.cudaMallocHost(out, nbytes)

    def cudaHostGetDevicePointer(self, out: int, host: int, flags: int) -> None:
        found = self.state.allocation(host)
        if found and found.kind == "registered":
            raise NotEmulated(
                "cudaHostGetDevicePointer is not emulated for memory that cudaHostRegister was given",
                "allocate the memory with cudaHostAlloc instead",
            )
        if found is None or found.kind != "pinned":
            raise CudaError(
                Status.InvalidValue, "this memory is not page-locked by cudaHostAlloc or cudaMallocHost"
            )
        store_word(out, host)

    def cudaHostGetFlags(self, out: int, host: int) -> None:
        store_int(out, 0)

    def cudaHostRegister(self, address: int, nbytes: int, flags: int) -> None:
        if self.state.allocation(address):
            raise CudaError(Status.HostMemoryAlreadyRegistered)
        self.state.add(Block(address, nbytes, self.state.call.name, self.state.call.frames), "registered")

    def cudaHostUnregister(self, address: int) -> None:
        found = self.state.allocation(address)
        if found is None or found.kind != "registered":
            raise CudaError(Status.HostMemoryNotRegistered)
        self.waiting.waited()
        self.state.forget(found)

    def cudaFree(self, address: int) -> None:
        """Waits for the device, but not with memory of cudaMallocAsync."""
        found = self.state.allocation(address)
        ordered = found is not None and found.block.call in _STREAM_ORDERED
        self.free(address, ("device", "managed"), self.waiting.at_once() if ordered else None)

    def cudaFreeAsync(self, address: int, stream: int) -> None:
        """The memory is there for what comes before this in the stream; nothing is waited for."""
        self.free(address, ("device", "managed"), self.waiting.work(stream))

    def cudaFreeHost(self, address: int) -> None:
        self.free(address, ("pinned",))

    def free(self, address: int, kinds: tuple[str, ...], work: Work | None = None) -> None:
        """Gives back an allocation of one of the kinds, nothing for 0; as a piece of work, or the host waits."""
        if not address:
            return
        found = self.state.allocation(address)
        if found and found.base == address and found.kind in kinds:
            if work is None:
                self.waiting.waited()
            else:
                self.waiting.uses.whole(found, work)
            self.tell_of_part(found)
            self.state.free(found)
            return
        freed = self.state.freed(address)
        if found is None and freed and freed.base == address:
            self.state.note("double_free", block=freed, other_call="cudaFree", other=freed.freed or [])
            raise CudaError(Status.InvalidValue, noted=True)
        raise CudaError(Status.InvalidValue, _not_freeable(found, address, self.state.call.name))

    def cudaMemGetInfo(self, free: int, total: int) -> None:
        for out, value in zip((free, total), self.state.memory.info(), strict=True):
            store_word(out, value)

    def cudaPointerGetAttributes(self, out: int, address: int) -> None:
        found = self.state.allocation(address)
        store_word(out, _TYPES[found.kind] if found else 0)
        store_word(out + 8, address if found and found.kind != "registered" else 0)

    def cudaMemPrefetchAsync(self, address: int, nbytes: int, where: int, flags: int, stream: int) -> None:
        self._managed(address, nbytes)

    def cudaMemAdvise(self, address: int, nbytes: int, advice: int, where: int) -> None:
        self._managed(address, nbytes)

    def _managed(self, address: int, nbytes: int) -> None:
        found = self.state.allocation(address)
        if found is None or not found.kind.startswith("managed") or not found.holds(address, nbytes):
            raise CudaError(Status.InvalidValue, "this is no managed memory of that size")

    # -- filling ----------------------------------------------------------------------------------------------
    def cudaMemset(self, address: int, value: int, nbytes: int) -> None:
        self.cudaMemsetAsync(address, value, nbytes, DEFAULT)

    def cudaMemsetAsync(self, address: int, value: int, nbytes: int, stream: int) -> None:
        self.cudaMemset2DAsync(address, nbytes, value, nbytes, 1, stream)

    def cudaMemset2D(self, address: int, pitch: int, value: int, width: int, height: int) -> None:
        self.cudaMemset2DAsync(address, pitch, value, width, height, DEFAULT)

    def cudaMemset2DAsync(
        self, address: int, pitch: int, value: int, width: int, height: int, stream: int
    ) -> None:
        self.fill(address, pitch, bytes([value & 0xFF]), width, height, stream)

    def fill(self, address: int, pitch: int, value: bytes, width: int, height: int, stream: int) -> None:
        """Sets `height` rows of `width` bytes to a value again and again."""
        _check_pitch(width, pitch)
        if not width * height:
            return
        end = End("destination", address, True, self.state.allocation(address))
        self._check_device(end, pitch * (height - 1) + width)
        work = self.waiting.work(stream)
        held = np.resize(np.frombuffer(value, np.uint8), width)
        for row in range(height):
            self.state.memory.view(address + row * pitch, width)[:] = held
        self.waiting.uses.rows(end.allocation, address, pitch, width, height, work, writes=True)
        self._guard(end, pitch * (height - 1) + width, PROT_NONE, work)

    # -- copies -----------------------------------------------------------------------------------------------
    def cudaMemcpy(self, to: int, source: int, nbytes: int, kind: int) -> None:
        self.copy(to, nbytes, source, nbytes, nbytes, 1, kind, None)

    def cudaMemcpyAsync(self, to: int, source: int, nbytes: int, kind: int, stream: int) -> None:
        self.copy(to, nbytes, source, nbytes, nbytes, 1, kind, stream)

    def cudaMemcpy2D(
        self, to: int, to_pitch: int, source: int, pitch: int, width: int, height: int, kind: int
    ) -> None:
        self.copy(to, to_pitch, source, pitch, width, height, kind, None)

    def cudaMemcpy2DAsync(
        self, to: int, to_pitch: int, source: int, pitch: int, width: int, height: int, kind: int, stream: int
    ) -> None:
        self.copy(to, to_pitch, source, pitch, width, height, kind, stream)

    def cudaMemcpyToSymbol(self, symbol: int, source: int, nbytes: int, offset: int, kind: int) -> None:
        self.copy(self._symbol(symbol) + offset, nbytes, source, nbytes, nbytes, 1, kind, None)

    def cudaMemcpyToSymbolAsync(
        self, symbol: int, source: int, nbytes: int, offset: int, kind: int, stream: int
    ) -> None:
        self.copy(self._symbol(symbol) + offset, nbytes, source, nbytes, nbytes, 1, kind, stream)

    def cudaMemcpyFromSymbol(self, to: int, symbol: int, nbytes: int, offset: int, kind: int) -> None:
        self.copy(to, nbytes, self._symbol(symbol) + offset, nbytes, nbytes, 1, kind, None)

    def cudaMemcpyFromSymbolAsync(
        self, to: int, symbol: int, nbytes: int, offset: int, kind: int, stream: int
    ) -> None:
        self.copy(to, nbytes, self._symbol(symbol) + offset, nbytes, nbytes, 1, kind, stream)

    def cudaGetSymbolAddress(self, out: int, symbol: int) -> None:
        store_word(out, self._symbol(symbol))

    def cudaGetSymbolSize(self, out: int, symbol: int) -> None:
        self._symbol(symbol)
        store_word(out, self.symbols[symbol][1])

    def _symbol(self, host: int) -> int:
        if host not in self.symbols:
            raise CudaError(
                Status.InvalidSymbol, "this is no __device__ or __constant__ variable of the program"
            )
        return self.symbols[host][0]

    def copy(
        self,
        to: int,
        to_pitch: int,
        source: int,
        pitch: int,
        width: int,
        height: int,
        kind: int,
        stream: int | None,
    ) -> None:
        """A copy of `height` rows; without a stream the host waits for it."""
        _check_pitch(width, min(to_pitch, pitch))
        if not width * height:
            return
        ends = self._ends(to, source, kind)
        extents = [each * (height - 1) + width for each in (to_pitch, pitch)]
        for end, nbytes in zip(ends, extents, strict=True):
            if end.on_device or end.allocation:
                self._check_device(end, nbytes)
        rows = self._rows_that_fit(ends, extents, (to_pitch, pitch), width, height)
        if height == 1:
            self._note_part(ends, width)
        self._note_never_written(ends, pitch, rows)
        work = self.waiting.work(DEFAULT if stream is None else stream)
        for row, nbytes in enumerate(rows):
            held = self._read(ends[1], row * pitch, nbytes)
            self._written(ends[0], row * to_pitch, nbytes)[:] = held
            if ends[0].on_device and _of_host(ends[1]):
                self._leave_unwritten(ends[0], row * to_pitch, held)
        for end, step in zip(ends, (to_pitch, pitch), strict=True):
            writes = end.side == "destination"
            self.waiting.uses.rows(end.allocation, end.address, step, width, height, work, writes=writes)
        pageable = not all(end.on_device or end.allocation for end in ends)
        if stream is None or (pageable and stream not in self.waiting.nodes):
            self.waiting.waited(self.waiting.clocks.of(work.stream))  # with pageable memory, every copy waits
            return
        for end, nbytes, protection in zip(ends, extents, (PROT_NONE, PROT_READ), strict=True):
            self._guard(end, nbytes, protection, work)

    def _leave_unwritten(self, to: End, offset: int, held: Bytes) -> None:
        """What nobody has written on the host counts as written by nobody on the device, if a kernel reads it."""
        address, words = to.address + offset, held[: held.size // 4 * 4].view(np.uint32) == UNWRITTEN
        if address % 4 == 0 and to.allocation is not None and words.any():
            self.state.memory.unwrite(address, words)
            to.allocation.block.hollow = (self.state.call.name, self.state.call.frames)

    def _written(self, end: End, offset: int, nbytes: int) -> Bytes:
        """Bytes that are about to be written."""
        if _of_host(end):
            return host_view(end.address + offset, nbytes)
        return self.state.memory.view(end.address + offset, nbytes)

    def _read(self, end: End, offset: int, nbytes: int) -> Bytes:
        """A copy of bytes."""
        if _of_host(end):
            return host_view(end.address + offset, nbytes).copy()
        return self.state.memory.read(end.address + offset, nbytes)

    def _guard(self, end: End, nbytes: int, protection: int, work: Work) -> None:
        if end.allocation and end.allocation.host_sees:
            self.waiting.guard(end.allocation, end.address, nbytes, protection, work)

    def _ends(self, to: int, source: int, kind: int) -> tuple[End, End]:
        """The two ends of a copy. Raises CudaError, with a finding, where `kind` contradicts them."""
        if kind > 4:
            raise CudaError(Status.InvalidValue, "there is no such direction")
        found = []
        sides: tuple[Side, Side] = ("destination", "source")
        for index, (side, address) in enumerate(zip(sides, (to, source), strict=True)):
            there = self.state.on_device(address)
            wanted = there if kind == 4 else _KINDS[kind][index]
            allocation = self.state.allocation(address)
            sees = allocation is not None and allocation.kind not in ("device", "variable", "array")
            if not sees and wanted != there:
                self.state.note(
                    "copy_direction", side=side, detail=_NAMES[kind], block=allocation and allocation.block
                )
                raise CudaError(Status.InvalidValue, noted=True)
            found.append(End(side, address, wanted or there, allocation))
        return found[0], found[1]

    def _check_device(self, end: End, nbytes: int) -> None:
        if end.allocation is None:
            freed = self.state.freed(end.address)
            if freed:
                self.state.note("use_after_free", side=end.side, block=freed, other=freed.freed or [])
                raise CudaError(Status.InvalidValue, noted=True)
            raise CudaError(Status.InvalidValue, f"the {end.side} is no memory of the device")
        if end.allocation.kind == "array" and not _takes_arrays(self.state.call.name):
            reason = f"the {end.side} is a CUDA array, which {self.state.call.name} does not take"
            raise CudaError(Status.InvalidValue, reason)
        room = end.allocation.base + end.allocation.nbytes - end.address
        if nbytes > room:
            self.state.note(
                "copy_size",
                side=end.side,
                nbytes=nbytes,
                room=room,
                block=end.allocation.block,
                detail="large",
            )
            raise CudaError(Status.InvalidValue, noted=True)

    def _rows_that_fit(
        self, ends: tuple[End, End], extents: list[int], pitches: tuple[int, int], width: int, height: int
    ) -> list[int]:
        """Bytes of each row. A GPU would copy beyond the end of a block of the host's; this stops there, and tells."""
        rows = [width] * height
        for end, nbytes, pitch in zip(ends, extents, pitches, strict=True):
            known = None if end.on_device or end.allocation else self.state.native.block(end.address)
            room = known[0] + known[1] - end.address if known else nbytes
            if nbytes > room and known:
                self.state.note(
                    "copy_size", side=end.side, nbytes=nbytes, room=room, block=Block(known[0], known[1], "", []),
                    detail="large",
                )  # fmt: skip
                rows = [min(had, max(0, room - row * pitch)) for row, had in enumerate(rows)]
        return rows

    def _note_never_written(self, ends: tuple[End, End], pitch: int, rows: list[int]) -> None:
        """A copy to the host of nothing that anybody has written, though all went well. That a part of it was not is
        usual: the unused end of an array, what lies between rows."""
        to, source = ends
        if (
            to.on_device
            or source.allocation is None
            or source.allocation.kind != "device"
            or self.state.impaired
        ):
            return
        memory = self.state.memory
        parts = [(source.address + row * pitch, nbytes) for row, nbytes in enumerate(rows) if nbytes]
        if parts and all(memory.never_written(first, nbytes) for first, nbytes in parts):
            block = source.allocation.block
            self.state.note(
                "never_written", nbytes=sum(rows), block=block, other_call=block.call, other=block.frames
            )

    # -- copies of a part -------------------------------------------------------------------------------------
    def _note_part(self, ends: tuple[End, End], nbytes: int) -> None:
        """Notes copies between the device and a block of the host's, to tell at the end which have left most out."""
        for end, other in (ends, ends[::-1]):
            if end.allocation is None or end.allocation.kind != "device" or other.allocation is not None:
                continue
            known = self.state.native.block(other.address)
            about = Copied(self.state.call.name, self.state.call.frames, known[1] if known else 0)
            if known and known[0] != other.address:
                about = Copied(about.call, about.frames, 0)
            copies = end.allocation.copied.setdefault(end.side, [])
            copies.append((end.address - end.allocation.base, nbytes, about))

    def tell_of_part(self, allocation: Allocation) -> None:
        """An array that was copied once, and only a fourth or an eighth of it: elements were taken for bytes."""
        for copies in allocation.copied.values():
            offset, nbytes, about = copies[0]
            whole = allocation.nbytes
            if any((o, n) != (offset, nbytes) for o, n, _ in copies) or offset or about.host_bytes != whole:
                continue
            if whole in (4 * nbytes, 8 * nbytes):
                self.state.note(
                    "copy_size", call=about.call, frames=about.frames, nbytes=nbytes, room=whole, detail="small",
                    block=allocation.block,
                )  # fmt: skip


def _of_host(end: End) -> bool:
    return end.allocation is None or end.allocation.kind == "registered"


def _takes_arrays(call: str) -> bool:
    return "Array" in call or "3D" in call or call == "cudaGraphAddMemcpyNode"


def _check_pitch(width: int, pitch: int) -> None:
    if width > pitch:
        raise CudaError(Status.InvalidPitchValue, f"rows of {width} bytes, {pitch} bytes apart")


def _not_freeable(found: Allocation | None, address: int, call: str) -> str:
    if found is None:
        return f"{address:#x} is no memory that the runtime gave"
    if found.base != address:
        return f"{address:#x} lies {address - found.base} bytes inside an allocation"
    return f"{call} does not free what {found.block.call} gave"
