"""Global memory: one arena of address space, in which allocations lie apart from each other.

The arena is reserved, not used: a page costs memory once it is written. Device addresses begin at a fixed place, so
that sectors and alignment are the same in every run, and unmapped gaps make an access beyond an allocation visible.
"""

from __future__ import annotations

import bisect
import ctypes
import mmap
import os
from typing import Any

import numpy as np

from grader.emulator.errors import MemoryFault, NotAllocated
from grader.emulator.machine import room
from grader.emulator.machine.records import SECTOR, WORD, WORDS, Allocation
from grader.emulator.runtime.layout import GLOBAL_BASE

ALIGNMENT = 256
ARENA_BYTES = 160 << 30
"""Address space of a device's global memory, from GLOBAL_BASE on, room for gaps included."""
GAP = 1 << 20
"""Bytes between allocations that belong to nobody."""
MANY_MARKS, MARKS_IN_FILE = 1 << 28, 1 << 23
"""Marks of written sectors that are all set: so many are pages of one file of so many."""
IN_FILE = 4
"""Repetitions of a pattern that lie in its file: a mapping stands for so many."""
_PAGE = mmap.PAGESIZE
_FEW, _MANY = 64, 8192
"""Pages that are zeroed faster than they are given back and taken again; so many that this is done all the same."""
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # Python names it since 3.13; the value is Linux's
_FIXED = 0x10  # MAP_FIXED, which Python does not name
_FIXED_NOREPLACE = 0x100000
_MAY_MOVE, _MOVE_TO = 1, 2  # of mremap: MREMAP_MAYMOVE, MREMAP_FIXED

_C = ctypes.CDLL(None, use_errno=True)
_C.mmap.restype = ctypes.c_void_p
_C.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_ssize_t]
_C.mremap.restype = ctypes.c_void_p
_C.mremap.argtypes = [ctypes.c_void_p, *[ctypes.c_size_t] * 2, ctypes.c_int, ctypes.c_void_p]
_C.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_C.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]


def reserve(nbytes: int) -> mmap.mmap:
    """Zeroed memory that takes room only where it is written."""
    with room.unbounded():
        return mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)


def _map(area: mmap.mmap, offset: int, nbytes: int, file: int) -> None:
    """Puts pages of a file, or of zeros where it is -1, in the place of an area's own."""
    flags = mmap.MAP_PRIVATE | _FIXED | _NO_RESERVE | (mmap.MAP_ANONYMOUS if file < 0 else 0)
    protection = mmap.PROT_READ | mmap.PROT_WRITE
    _checked(_C.mmap(host_address(area) + offset, nbytes, protection, flags, file, 0))


def host_address(area: Any) -> int:
    """Where a writable buffer lies in this process."""
    return ctypes.addressof(ctypes.c_char.from_buffer(area))


def resident(area: mmap.mmap, offset: int, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """For each page of a part of `area`, whether it has memory behind it; `offset` is a multiple of a page."""
    found = np.zeros(-(-nbytes // _PAGE), np.uint8)
    _checked(_C.mincore(host_address(area) + offset, nbytes, found.ctypes.data))
    return found & np.uint8(1)


def zero(area: mmap.mmap, first: int, last: int) -> None:
    """Zeros the bytes [first, last) of an area. Many whole pages are given back to the system, unless all were in use:
    then the next launch would take them again, one by one, and to take one may stop all threads of the host."""
    view: Any = np.frombuffer(area, np.uint8)
    inner, end = -(-first // _PAGE) * _PAGE, last // _PAGE * _PAGE
    pages = (end - inner) // _PAGE
    if pages < _FEW or (pages < _MANY and resident(area, inner, end - inner).all()):
        view[first:last] = 0
        return
    view[first:inner] = 0
    view[end:last] = 0
    area.madvise(mmap.MADV_DONTNEED, inner, end - inner)


def _checked(result: int | None) -> None:
    """Raises OSError for what a call of the C library returns where it fails."""
    if result is None or ctypes.c_ssize_t(result).value == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _aligned(address: int, alignment: int) -> int:
    return -(-address // alignment) * alignment


class Area:
    """Memory beside the arena, as large as the allocations need; zero at first."""

    def __init__(self) -> None:
        self._area = reserve(1 << 26)

    def address(self, nbytes: int) -> int:
        """Where the area lies, which has room for so many bytes. What it held is lost where it has to grow."""
        size = len(self._area)
        while size < nbytes:
            size *= 2
        if size > len(self._area):
            self._area = reserve(size)
        return host_address(self._area)

    def view(self, dtype: Any) -> np.ndarray[Any, np.dtype[Any]]:
        return np.frombuffer(self._area, dtype)

    def clear(self) -> None:
        """Gives its pages back to the system."""
        self._area.madvise(mmap.MADV_DONTNEED)


class Written:
    """Which words of the arena were ever written: a byte for each sector, a bit for each of its words. A word counts as
    written once any of its bytes is."""

    def __init__(self, capacity: int) -> None:
        self.area = reserve(capacity // SECTOR)
        # Of a large array all marks are set at once: a fault a page would take longer than the marks.
        self.area.madvise(mmap.MADV_HUGEPAGE)
        self._marks: Any = np.frombuffer(self.area, np.uint8)
        self._in_file: list[tuple[int, int]] = []  # pages, by their marks

    def mark(self, address: int, nbytes: int) -> None:
        """These bytes are written."""
        first, last = _words(address, nbytes)
        begin, end = -(-first // WORDS), last // WORDS
        head, tail = 0xFF << first % WORDS & 0xFF, (1 << last % WORDS) - 1
        if begin > end:  # in the middle of one sector
            self._marks[end] |= head & tail
            return
        self._set(begin, end)
        if first % WORDS:
            self._marks[begin - 1] |= head
        if tail:
            self._marks[end] |= tail

    def _set(self, begin: int, end: int) -> None:
        inner, outer = -(-begin // _PAGE) * _PAGE, end // _PAGE * _PAGE
        if outer - inner < MANY_MARKS:
            self._marks[begin:end] = 0xFF
            return
        self._marks[begin:inner] = self._marks[outer:end] = 0xFF
        self._in_file.append((inner, outer))
        file = os.memfd_create("ladder-written")
        try:
            os.write(file, b"\xff" * MARKS_IN_FILE)
            for start in range(inner, outer, MARKS_IN_FILE):
                _map(self.area, start, min(MARKS_IN_FILE, outer - start), file)
        finally:
            os.close(file)

    def unmark(self, address: int, words: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """Those of the words from `address` on are not written any more."""
        first = (address - GLOBAL_BASE) // WORD
        bits = np.packbits(np.concatenate([np.zeros(first % WORDS, bool), words]), bitorder="little")
        self._marks[first // WORDS : first // WORDS + len(bits)] &= ~bits

    def any(self, address: int, nbytes: int) -> bool:
        """Whether any of these bytes may have been written."""
        first, last = _words(address, nbytes)
        begin, end = first // WORDS, -(-last // WORDS)
        if self._marks[begin + 1 : end - 1].any():
            return True
        ends = np.unpackbits(self._marks[[begin, end - 1]], bitorder="little")
        inside = np.arange(2 * WORDS) >= first % WORDS
        inside &= np.arange(2 * WORDS) < 2 * WORDS - (-last % WORDS)
        if end - begin == 1:  # twice the same sector
            inside = np.tile(inside[:WORDS] & inside[WORDS:], 2)
        return bool((ends.astype(bool) & inside).any())

    def forget(self, address: int, nbytes: int) -> None:
        """Nothing of an allocation is written any more."""
        first = (address - GLOBAL_BASE) // SECTOR
        last = first + -(-nbytes // SECTOR)
        for inner, outer in [pages for pages in self._in_file if first <= pages[0] < last]:
            self._in_file.remove((inner, outer))
            _map(self.area, inner, outer - inner, -1)
        zero(self.area, first, last)


def _words(address: int, nbytes: int) -> tuple[int, int]:
    """The first word of the arena that these bytes lie in, and the one behind the last."""
    return (address - GLOBAL_BASE) // WORD, -(-(address + nbytes - GLOBAL_BASE) // WORD)


class Memory:
    """The allocations of one device; addresses are device addresses, sizes are in bytes."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self._area = self._reserve_most(nbytes)
        self.capacity = len(self._area)
        self.host_delta = host_address(self._area) - GLOBAL_BASE
        self._view = np.frombuffer(self._area, np.uint8)
        self._starts: list[int] = []
        self._sizes: dict[int, int] = {}
        self._repeated: set[int] = set()  # allocations whose pages stand for a file's
        self._shared: set[int] = set()  # allocations that the host sees at their device address
        self._written = Written(self.capacity)
        self._unset: set[int] = set()  # allocations that hold nothing before somebody writes there
        self._set: set[int] = set()  # the others, once all their words are marked as written

    @staticmethod
    def _reserve_most(nbytes: int) -> mmap.mmap:
        """As much of `nbytes` as the process may reserve (a limit on address space may leave less)."""
        size = max(nbytes, 1 << 26)
        while True:
            try:
                return reserve(size)
            except (OSError, ValueError, MemoryError):
                if size <= 1 << 26:
                    raise
                size //= 2

    # -- allocations ------------------------------------------------------------------------------------------
    def alloc(self, nbytes: int, above: int = 0, alignment: int = ALIGNMENT, *, unset: bool = False) -> int:
        """The address of `nbytes` new bytes, aligned (to 256 bytes at least) and not below `above`, all zero. With
        `unset` it is a finding that a kernel reads what nobody has written there.

        Raises MemoryFault where nbytes is not positive or the device has no such room.
        """
        if nbytes <= 0:
            raise MemoryFault(f"an allocation of {nbytes} bytes")
        start = _aligned(max(GLOBAL_BASE + GAP, above), alignment)
        for index, taken in enumerate(self._starts):
            if taken - GAP >= start + nbytes:
                return self._take(index, start, nbytes, unset=unset)
            start = max(start, _aligned(taken + self._sizes[taken] + GAP, alignment))
        if start + nbytes + GAP > GLOBAL_BASE + self.capacity:
            free = self.nbytes - self.allocated()
            raise MemoryFault(f"out of memory: {nbytes} bytes asked for, {free} of {self.nbytes} free")
        return self._take(len(self._starts), start, nbytes, unset=unset)

    def _take(self, index: int, start: int, nbytes: int, *, unset: bool) -> int:
        self._starts.insert(index, start)
        self._sizes[start] = nbytes
        if unset:
            self._unset.add(start)
        return start

    def free(self, address: int) -> None:
        """Gives an allocation back. Raises MemoryFault where `address` begins none."""
        if address not in self._sizes:
            raise MemoryFault(f"{address:#x} is not the address of an allocation (freed twice?)")
        nbytes = self._sizes.pop(address)
        self._starts.remove(address)
        if address in self._repeated:
            self._repeated.remove(address)
            _map(self._area, -(-address // _PAGE) * _PAGE - GLOBAL_BASE, nbytes, -1)
        if address in self._shared:
            self._shared.remove(address)
            _map(self._area, address - GLOBAL_BASE, nbytes, -1)
            _checked(_C.munmap(address, nbytes))
        zero(self._area, address - GLOBAL_BASE, address - GLOBAL_BASE + nbytes)
        if address in self._unset or address in self._set:
            self._written.forget(address, nbytes)
            self._unset.discard(address)
            self._set.discard(address)
        if nbytes >= room.LARGE:
            room.renew()

    def info(self) -> tuple[int, int]:
        """(free, total) bytes: the host's memory, as far as the arena reaches.

        More may be allocated: what is never written takes none of it.
        """
        total = min(self.nbytes, os.sysconf("SC_PHYS_PAGES") * _PAGE)
        return max(total - self.allocated(), 0), total

    def allocated(self) -> int:
        """Bytes of all allocations."""
        return sum(self._sizes.values())

    def extent(self) -> int:
        """Bytes of the arena from its beginning to the end of the last allocation."""
        return self._starts[-1] + self._sizes[self._starts[-1]] - GLOBAL_BASE if self._starts else 0

    def table(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Sorted (first, last + 1) addresses of the live allocations, flat."""
        return np.array([x for s in self._starts for x in (s, s + self._sizes[s])] or [0, 0], np.int64)

    def nearest(self, address: int) -> Allocation | None:
        """The allocation that an address lies in, or else the nearest; None where none is within GAP."""
        index = bisect.bisect_right(self._starts, address)
        around = [
            Allocation(start, self._sizes[start]) for start in self._starts[max(index - 1, 0) : index + 1]
        ]
        distances = [max(each.base - address, address - each.base - each.nbytes, -1) for each in around]
        found = min(zip(distances, around, strict=True), key=lambda pair: pair[0], default=None)
        return found[1] if found and found[0] <= GAP else None

    # -- what was never written -------------------------------------------------------------------------------
    def unset(self) -> list[tuple[int, int]]:
        """(address, bytes) of the allocations that were made so."""
        return [(start, self._sizes[start]) for start in sorted(self._unset)]

    def written(self) -> mmap.mmap | None:
        """What says which words were ever written, for kernels to look at and to add to; None where there are no
        allocations in which that matters. Others count as written."""
        if not self._unset:
            return None
        for start in self._sizes.keys() - self._unset - self._set:
            self._set.add(start)
            self._written.mark(start, self._sizes[start])
        return self._written.area

    def never_written(self, address: int, nbytes: int) -> bool:
        """Whether nobody has written any of these bytes, which have to lie within one allocation."""
        return self._around(address, nbytes) in self._unset and not self._written.any(address, nbytes)

    def unwrite(self, address: int, words: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """Those of the words from `address` on count as never written, where that matters."""
        if self._around(address, WORD * len(words)) in self._unset:
            self._written.unmark(address, words)

    # -- contents ---------------------------------------------------------------------------------------------
    def view(self, address: int, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The bytes themselves, to be written: they count as written from now on. Raises NotAllocated where they are
        not within one allocation, OutOfRoom where this computer has not so much memory."""
        around = self._around(address, nbytes)
        if nbytes >= room.LARGE:
            self._check_room(address - GLOBAL_BASE, nbytes)
        if around in self._unset and nbytes:
            self._written.mark(address, nbytes)
        offset = address - GLOBAL_BASE
        return self._view[offset : offset + nbytes]

    def _check_room(self, offset: int, nbytes: int) -> None:
        start = offset // _PAGE * _PAGE
        there = int(np.count_nonzero(resident(self._area, start, offset + nbytes - start))) * _PAGE
        room.check(max(nbytes - there, 0))

    def look(self, address: int, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The bytes themselves, read-only. Raises NotAllocated as `view` does."""
        self._around(address, nbytes)
        offset = address - GLOBAL_BASE
        found = self._view[offset : offset + nbytes]
        found.flags.writeable = False
        return found

    def _around(self, address: int, nbytes: int) -> int:
        """The address of the allocation that has these bytes. Raises NotAllocated where none has."""
        index = bisect.bisect_right(self._starts, address) - 1
        start = self._starts[index] if index >= 0 else 0
        if index < 0 or address + nbytes > start + self._sizes[start]:
            raise NotAllocated(address, nbytes)
        return start

    def write(self, address: int, data: Any) -> None:
        """Copies a buffer (anything with the buffer protocol) to the device."""
        source = np.frombuffer(data, np.uint8)
        self.view(address, source.nbytes)[:] = source

    def words(self, first: int, count: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
        """Words of the arena, by their numbers, as they are now."""
        return self._view.view(np.uint32)[first : first + count]

    def restore(self, words: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        """Sets words of the arena, by their numbers."""
        self._view.view(np.uint32)[words] = values

    def read(self, address: int, nbytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """A copy of `nbytes` bytes."""
        return self.look(address, nbytes).copy()

    def copy(self, destination: int, source: int, nbytes: int) -> None:
        """Device to device; the ranges may overlap."""
        self.view(destination, nbytes)[:] = self.read(source, nbytes)

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        """`count` repetitions of `pattern`."""
        target = self.view(address, len(pattern) * count)
        target.reshape(count, len(pattern))[:] = np.frombuffer(pattern, np.uint8)

    def repeat(self, address: int, nbytes: int, pattern: bytes) -> None:
        """Fills an allocation with repetitions of `pattern`, which has whole pages.

        They take little more memory than the pattern does: all of them are the same pages of one file, and a page that
        is written becomes a copy.
        """
        head = -address % _PAGE
        self.view(address, min(head, nbytes))[:] = np.frombuffer(pattern[:head], np.uint8)[:nbytes]
        if nbytes <= head:
            return
        self._repeated.add(address)
        self._written.mark(address, nbytes)
        file = os.memfd_create("ladder-pattern")
        try:
            once = pattern[head:] + pattern[:head]
            for _ in range(IN_FILE):
                os.write(file, once)
            for start in range(head, nbytes, IN_FILE * len(pattern)):
                _map(
                    self._area,
                    address + start - GLOBAL_BASE,
                    min(IN_FILE * len(pattern), nbytes - start),
                    file,
                )
        finally:
            os.close(file)

    def share(self, address: int) -> None:
        """Lets this process see an allocation at its device address as well, as managed memory is seen. The allocation
        begins a page. Raises OSError where something else lies at that address."""
        nbytes = self._sizes[address]
        flags = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | _FIXED_NOREPLACE
        _checked(_C.mmap(address, nbytes, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0))
        # The same pages once more, in the arena (mremap(2), "if old_size is zero"): no file, whose size may be limited.
        _checked(_C.mremap(address, 0, nbytes, _MAY_MOVE | _MOVE_TO, address + self.host_delta))
        self._shared.add(address)
