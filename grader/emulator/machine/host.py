"""What a kernel asks of the host while it runs: printf, assert, malloc and free."""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable, Iterator

import numpy as np

from grader.emulator.errors import NotAllocated
from grader.emulator.machine.heap import Heap
from grader.emulator.machine.memory import Memory
from grader.emulator.machine.records import Allocation, Finding, Space
from grader.emulator.places import Place
from grader.emulator.ptx.plan import KernelPlan
from grader.emulator.runtime import layout
from grader.emulator.runtime.layout import LANES, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES

_CALL = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4)
_CONVERSION = re.compile(r"%([-+ #0]*)(\d+|\*)?(?:\.(\d+|\*))?(hh|h|ll|l|z|t)?([diouxXcsfFeEgGaAp%])")
VPRINTF, ASSERT, MALLOC, FREE = range(4)
Shape = tuple[int, int, int]
Read = Callable[[int, int], bytes]
"""Bytes at a generic address, as the running lane sees them: (address, how many). Raises NotAllocated."""

FIFO_BYTES = 1 << 20
"""Of a launch's output that are kept: the room that CUDA gives printf unless told otherwise. CUDA keeps the last lines
and we the first; neither says how many were lost, so a line says that some were."""
_CHUNK = 64
"""Bytes of a text that are read together, at first."""
FULL = f"\n[printf's buffer of {FIFO_BYTES:,} bytes is full: what this launch prints from here on is lost]\n"


class HostCalls:
    """The callback of one launch. Native code calls it with the arguments of all 32 lanes."""

    def __init__(self, memory: Memory, block: Shape, plan: KernelPlan, heap: Heap | None) -> None:
        self.memory = memory
        self.block = block
        self.heap = heap
        self.plan = plan
        self.allocations = memory.table() if heap is None else heap.table()
        """Sorted (first, last + 1) addresses, flat: what the kernel may access."""
        self.failure: Finding | None = None
        self._room = FIFO_BYTES
        self._counts: dict[int, int] = {}  # of arguments, by a format's address
        self._callback = _CALL(self._call)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def _call(self, number: int, context: int, values: int, mask: int) -> int:
        """Non-zero stops the launch. What a lane's call returns takes the place of its first argument."""
        slots = (ctypes.c_int64 * layout.CONTEXT_SLOTS).from_address(context)
        arguments = np.ctypeslib.as_array((ctypes.c_int64 * (8 * LANES)).from_address(values)).reshape(
            8, LANES
        )
        lanes = [lane for lane in range(LANES) if mask >> lane & 1]
        call, function = divmod(number, 1 << layout.CALL_AT)
        place = self.plan.system_calls[call].place
        if function == ASSERT:
            self._assertion(slots, [int(column[lanes[0]]) for column in arguments[:4]], lanes[0])
            return 1
        if function in (MALLOC, FREE):
            return self._on_heap(slots, function, arguments[0], lanes, place)
        first = int(arguments[0][lanes[0]])
        if self._room <= 0 and first in self._counts and (arguments[0][lanes] == first).all():
            arguments[0][lanes] = self._counts[first]
            return 0
        for lane in lanes:
            read = self._reading(slots, lane)
            try:
                text, count = self._formatted(int(arguments[0][lane]), int(arguments[1][lane]), read)
            except NotAllocated as fault:
                self._astray(slots, fault, lane, "printf", place)
                return 1
            self._print(text)
            arguments[0][lane] = count
        return 0

    def _print(self, text: str) -> None:
        if self._room > 0:
            print(text[: self._room], end=FULL if len(text) > self._room else "")
            self._room -= len(text)

    def _where(self, slots: ctypes.Array[ctypes.c_int64], lane: int) -> tuple[Shape, Shape]:
        """blockIdx and threadIdx of a lane of the running warp."""
        number = slots[layout.WARP] * LANES + lane
        width, height, _ = self.block
        thread = (number % width, number // width % height, number // (width * height))
        return (slots[layout.BLOCK_X], slots[layout.BLOCK_Y], slots[layout.BLOCK_Z]), thread

    def _on_heap(
        self,
        slots: ctypes.Array[ctypes.c_int64],
        function: int,
        values: np.ndarray,
        lanes: list[int],
        place: Place,
    ) -> int:
        """malloc, whose results take the place of its sizes, or free."""
        assert self.heap is not None
        for lane in lanes:
            try:
                if function == MALLOC:
                    nbytes = int(values[lane]) & (1 << 64) - 1
                    values[lane] = self.heap.alloc(nbytes)
                    _forget(slots, int(values[lane]), nbytes)
                else:
                    self.heap.free(int(values[lane]))
            except NotAllocated as fault:
                self._astray(slots, fault, lane, "free", place)
                return 1
        self.allocations = self.heap.table()
        slots[layout.ALLOCATIONS] = self.allocations.ctypes.data
        slots[layout.ALLOCATION_COUNT] = len(self.allocations) // 2
        count = len(self.plan.sites)
        sites = (ctypes.c_int64 * (count * layout.SITE_SLOTS)).from_address(slots[layout.SITES])
        for site in range(count):  # what they remember may have been freed
            sites[site * layout.SITE_SLOTS + layout.BOUND_LOW] = 0
            sites[site * layout.SITE_SLOTS + layout.BOUND_HIGH] = 0
        return 0

    def _astray(
        self, slots: ctypes.Array[ctypes.c_int64], fault: NotAllocated, lane: int, function: str, place: Place
    ) -> None:
        block, thread = self._where(slots, lane)
        space, first = _space(fault.address)
        rooms = {"shared": slots[layout.SHARED_BYTES], "local": slots[layout.LOCAL_BYTES]}
        allocation = Allocation(0, rooms[space]) if space in rooms else self.memory.nearest(fault.address)
        self.failure = Finding(
            "out_of_bounds", place, 1, block, thread, action="read", space=space, address=fault.address - first,
            size=fault.nbytes, allocation=allocation, instruction=function,
        )  # fmt: skip

    def _assertion(self, slots: ctypes.Array[ctypes.c_int64], values: list[int], lane: int) -> None:
        text, file, line, function = values
        block, thread = self._where(slots, lane)
        read = self._reading(slots, lane)
        self.failure = Finding(
            "assert", Place(_string(file, read), line & 0xFFFFFFFF), 1, block, thread,
            assertion=_string(text, read), function=_string(function, read),
        )  # fmt: skip

    def _reading(self, slots: ctypes.Array[ctypes.c_int64], lane: int) -> Read:
        """Reads generic addresses for a lane of the running warp."""
        own = (slots[layout.WARP] * LANES + lane) * slots[layout.LOCAL_BYTES]
        windows = (
            (SHARED_WINDOW, slots[layout.SHARED_HOST], slots[layout.SHARED_BYTES]),
            (LOCAL_WINDOW, slots[layout.LOCAL_HOST] + own, slots[layout.LOCAL_BYTES]),
            (PARAM_WINDOW, slots[layout.PARAM_HOST], slots[layout.PARAM_BYTES]),
        )

        def read(address: int, nbytes: int) -> bytes:
            for first, host, size in windows:
                if first <= address < first + WINDOW_BYTES:
                    if address + nbytes > first + size:
                        raise NotAllocated(address, nbytes)
                    return ctypes.string_at(host + address - first, nbytes)
            return self.memory.read(address, nbytes).tobytes()

        return read

    def _formatted(self, format_address: int, values_address: int, read: Read) -> tuple[str, int]:
        """C's printf over the arguments as the compiler packed them (in order, aligned to their size), and how many
        they are."""
        text = _string(format_address, read)
        position = count = 0

        def take(nbytes: int) -> bytes:
            nonlocal position, count
            count += 1
            position = -(-position // nbytes) * nbytes
            data = read(values_address + position, nbytes)
            position += nbytes
            return data

        formatted = "".join(self._pieces(text, take, read))
        self._counts[format_address] = count
        return formatted, count

    def _pieces(self, text: str, take: Callable[[int], bytes], read: Read) -> Iterator[str]:
        end = 0
        for match in _CONVERSION.finditer(text):
            yield text[end : match.start()]
            end = match.end()
            flags, width, precision, length, kind = match.groups()
            if kind == "%":
                yield "%"
                continue
            stars = [struct.unpack("<i", take(4))[0] for part in (width, precision) if part == "*"]
            width = _within(stars.pop(0) if width == "*" else width)
            precision = _within(stars.pop(0) if precision == "*" else precision)
            spec = "%" + flags + width + ("." + precision if precision else "")
            yield self._converted(spec, length or "", kind, take, read)
        yield text[end:]

    def _converted(self, spec: str, length: str, kind: str, take: Callable[[int], bytes], read: Read) -> str:
        if kind == "s":
            return str((spec + "s") % _string(struct.unpack("<Q", take(8))[0], read))
        if kind == "p":
            return str((spec + "s") % hex(struct.unpack("<Q", take(8))[0]))
        if kind == "c":
            return str((spec + "c") % chr(struct.unpack("<i", take(4))[0] & 255))
        if kind in "fFeEgGaA":
            number: float = struct.unpack("<d", take(8))[0]
            return number.hex() if kind in "aA" else str((spec + kind) % number)
        wide = length in ("l", "ll", "z", "t")
        code = "q" if wide else "i"
        value = struct.unpack("<" + (code if kind in "di" else code.upper()), take(8 if wide else 4))[0]
        if kind == "o" and "#" in spec:  # C's octal prefix is a zero
            return str((spec.replace("#", "") + "s") % f"0{value:o}")
        return str((spec + ("d" if kind in "diu" else kind)) % value)


def _string(address: int, read: Read) -> str:
    """The zero-terminated text at an address."""
    data, chunk = bytearray(), _CHUNK
    while len(data) < FIFO_BYTES and 0 not in data:
        try:
            data += read(address + len(data), chunk)
        except NotAllocated:
            if chunk == 1:
                raise
            chunk //= 2  # the memory ends before
    return data.partition(b"\0")[0].decode(errors="replace")


def _space(address: int) -> tuple[Space, int]:
    """The space that a generic address is in, and where it starts."""
    windows: tuple[tuple[Space, int], ...] = (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW))
    found = (each for each in windows if each[1] <= address < each[1] + WINDOW_BYTES)
    return next(found, ("global", 0))


def _forget(slots: ctypes.Array[ctypes.c_int64], address: int, nbytes: int) -> None:
    """What others did with this memory before they freed it is no race with what its new owner does."""
    if slots[layout.RECORDS] and address:
        shift = slots[layout.RECORD_SHIFT]
        first, last = (at - layout.GLOBAL_BASE >> shift for at in (address, address + nbytes - 1))
        granules = max(last - first + 1, 0)
        start = slots[layout.RECORDS] + first * layout.RECORD_BYTES
        ctypes.memset(start, 0, granules * layout.RECORD_BYTES)


def _within(digits: str | int | None) -> str:
    """A width or a precision, no larger than what can be printed; "" where there is none."""
    return "" if digits is None else str(max(-FIFO_BYTES, min(int(digits), FIFO_BYTES)))
