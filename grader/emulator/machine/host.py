"""What a kernel asks of the host while it runs: printf, assert, malloc and free."""

from __future__ import annotations

import bisect
import ctypes
import math
import re
import struct
from array import array
from collections import Counter
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
_NAMES = {VPRINTF: "printf", MALLOC: "malloc", FREE: "free"}
EFFORT = {VPRINTF: 64, MALLOC: 32, FREE: 32}
"""A lane's call takes as long as so many warp instructions."""
BYTES_FILLED = 64
"""By malloc, in the time of a warp instruction."""
LINE_EFFORT = 512
"""The same for what is printed in a buffer that has room."""
Shape = tuple[int, int, int]
Read = Callable[[int, int], bytes]
"""Bytes at a generic address, as the running lane sees them: (address, how many). Raises NotAllocated."""

FIFO_BYTES = 1 << 20
"""Of a launch's output that are kept, unless told otherwise: the room that CUDA gives printf. CUDA keeps the last lines
and we the first; neither says how many were lost, so a line says that some were."""
_CHUNK = 64
"""Bytes of a text that are read together, at first."""
FULL = "\n[printf's buffer of {:,} bytes is full: what this launch prints from here on is lost]\n"


class HostCalls:
    """The callback of one launch. Native code calls it with the arguments of all 32 lanes."""

    def __init__(
        self, memory: Memory, block: Shape, plan: KernelPlan, heap: Heap | None, fifo_bytes: int
    ) -> None:
        self.memory = memory
        self.block = block
        self.heap = heap
        self.plan = plan
        self.allocations = memory.table() if heap is None else heap.table()
        """Sorted (first, last + 1) addresses, flat: what the kernel may access when it begins."""
        self._live = array("q", self.allocations.tolist())
        """The same at any time; native code reads it where it lies."""
        self.failure: Finding | None = None
        self.made: Counter[str] = Counter()
        """Calls, once a lane, by function."""
        self.exhausted = False
        """Whether calls have taken the time of a block's budget, or of what the launch's blocks have together."""
        self._efforts: Counter[int] = Counter()  # warp instructions, by a block's serial
        self._effort = 0  # of all blocks
        self._fifo_bytes = self._room = fifo_bytes  # less than none is left once something is lost
        self._counts: dict[int, int] = {}  # of arguments, by a format's address
        self._callback = _CALL(self._call)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def _call(self, number: int, context: int, values: int, mask: int) -> int:
        """A status other than 0 stops the launch. What a lane's call returns takes the place of its first argument."""
        slots = (ctypes.c_int64 * layout.CONTEXT_SLOTS).from_address(context)
        arguments = (ctypes.c_int64 * (8 * LANES)).from_address(values)
        lanes = [lane for lane in range(LANES) if mask >> lane & 1]
        call, function = divmod(number, 1 << layout.CALL_AT)
        place = self.plan.system_calls[call].place
        if function == ASSERT:
            self._assertion(slots, [arguments[i * LANES + lanes[0]] for i in range(4)], lanes[0])
            return layout.TRAPPED
        self.made[_NAMES[function]] += len(lanes)
        self._charge(slots, EFFORT[function] * len(lanes))
        if function == VPRINTF:
            status = self._prints(slots, arguments, lanes, place)
        else:
            status = self._on_heap(slots, function, arguments, lanes, place)
        return status or (layout.BUDGET_SPENT if self.exhausted else 0)

    def _charge(self, slots: ctypes.Array[ctypes.c_int64], effort: int) -> None:
        block = slots[layout.BLOCK_SERIAL]
        self._efforts[block] += effort
        self._effort += effort
        together = self._effort > slots[layout.LAUNCH_BUDGET]
        self.exhausted |= together or self._efforts[block] > slots[layout.BLOCK_BUDGET]

    def _prints(
        self,
        slots: ctypes.Array[ctypes.c_int64],
        arguments: ctypes.Array[ctypes.c_int64],
        lanes: list[int],
        place: Place,
    ) -> int:
        """printf, whose results take the place of the addresses of its formats."""
        formats = arguments[:LANES]
        if self._room < 0 and all(formats[lane] in self._counts for lane in lanes):
            arguments[:LANES] = [self._counts.get(at, 0) for at in formats]
            return 0
        texts: dict[int, str] = {}
        for lane in lanes:
            at = formats[lane]
            self._charge(slots, LINE_EFFORT)
            read = self._reading(slots, lane)
            try:
                if at not in texts or _space(at)[0] != "global":
                    texts[at] = _string(at, read)
                text, self._counts[at] = self._formatted(texts[at], arguments[LANES + lane], read)
            except NotAllocated as fault:
                self._astray(slots, fault, lane, "printf", place)
                return layout.TRAPPED
            self._print(text)
            arguments[lane] = self._counts[at]
        return 0

    def _print(self, text: str) -> None:
        if self._room >= 0:
            full = len(text) > self._room
            print(text[: self._room], end=FULL.format(self._fifo_bytes) if full else "")
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
        values: ctypes.Array[ctypes.c_int64],
        lanes: list[int],
        place: Place,
    ) -> int:
        """malloc, whose results take the place of its sizes, or free."""
        assert self.heap is not None
        for lane in lanes:
            try:
                if function == MALLOC:
                    values[lane] = self._take(slots, values[lane] & (1 << 64) - 1)
                else:
                    self._give_back(values[lane])
            except NotAllocated as fault:
                self._astray(slots, fault, lane, "free", place)
                return layout.TRAPPED
        slots[layout.ALLOCATIONS], count = self._live.buffer_info()
        slots[layout.ALLOCATION_COUNT] = count // 2
        if function == FREE and self.plan.sites:  # what sites remember may have been freed
            shape = (len(self.plan.sites), layout.SITE_SLOTS)
            sites = (ctypes.c_int64 * math.prod(shape)).from_address(slots[layout.SITES])
            np.ctypeslib.as_array(sites).reshape(shape)[:, (layout.BOUND_LOW, layout.BOUND_HIGH)] = 0
        return 0

    def _take(self, slots: ctypes.Array[ctypes.c_int64], nbytes: int) -> int:
        assert self.heap is not None
        address = self.heap.alloc(nbytes)
        if address:
            self._charge(slots, nbytes // BYTES_FILLED)
            at = bisect.bisect_left(self._live, address)
            self._live[at:at] = array("q", (address, address + max(nbytes, 1)))
            _forget(slots, address, nbytes)
        return address

    def _give_back(self, address: int) -> None:
        """Raises NotAllocated."""
        assert self.heap is not None
        self.heap.free(address)
        if address:
            at = bisect.bisect_left(self._live, address)
            del self._live[at : at + 2]

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

    def _formatted(self, text: str, values_address: int, read: Read) -> tuple[str, int]:
        """C's printf over the arguments as the compiler packed them (in order, aligned to their size), and how many
        they are."""
        position = count = 0

        def take(nbytes: int) -> bytes:
            nonlocal position, count
            count += 1
            position = -(-position // nbytes) * nbytes
            data = read(values_address + position, nbytes)
            position += nbytes
            return data

        formatted = "".join(self._pieces(text, take, read))
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
    if slots[layout.RECORDS]:
        shift = slots[layout.RECORD_SHIFT]
        first, last = (at - layout.GLOBAL_BASE >> shift for at in (address, address + nbytes - 1))
        granules = max(last - first + 1, 0)
        start = slots[layout.RECORDS] + first * layout.RECORD_BYTES
        ctypes.memset(start, 0, granules * layout.RECORD_BYTES)


def _within(digits: str | int | None) -> str:
    """A width or a precision, no larger than what can be printed; "" where there is none."""
    return "" if digits is None else str(max(-FIFO_BYTES, min(int(digits), FIFO_BYTES)))
