"""Which words of an allocation nobody has written: by the host, by launches, after memory was freed."""

from __future__ import annotations

import random

import numpy as np
import pytest
from emulated import HEADER, THREADS, pack

from grader.emulator.errors import NotAllocated
from grader.emulator.machine.machine import Machine
from grader.emulator.machine.memory import Memory

ADD = """
.visible .entry add(.param .u64 to)
{
.reg .b64 %to, %at; .reg .b32 %i, %n, %b, %v;
ld.param.u64 %to, [to];
mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %v, %tid.x; mad.lo.u32 %i, %i, %n, %v;
mul.wide.u32 %at, %i, 4; add.s64 %at, %at, %to;
ld.global.u32 %v, [%at]; add.u32 %v, %v, 1; st.global.u32 [%at], %v;
ret;
}
"""


def test_words_are_written_once_a_byte_of_theirs_is() -> None:
    memory, random_ = Memory(1 << 26), random.Random(3)
    for _ in range(300):
        base, written = memory.alloc(300, unset=True), set()
        for _ in range(random_.randrange(4)):
            first, count = random_.randrange(300), random_.choice((1, 3, 4, 33, 100))
            count = min(count, 300 - first)
            memory.view(base + first, count)
            written |= set(range(first // 4, (first + count - 1) // 4 + 1))
        for _ in range(20):
            first = random_.randrange(300)
            count = random_.randrange(1, 301 - first)
            inside = range(first // 4, (first + count - 1) // 4 + 1)
            assert memory.never_written(base + first, count) == written.isdisjoint(inside)
        memory.free(base)


def test_a_large_array_is_written_as_a_whole_and_given_back_as_a_whole() -> None:
    nbytes = 9 << 30  # whose marks are pages of a file
    memory, places = Memory(1 << 34), (0, 4096, nbytes // 2, nbytes - 4)
    for written in (True, False):
        base = memory.alloc(nbytes, unset=True)
        if written:
            memory.repeat(base, nbytes, bytes(range(256)) * (1 << 14))
        assert [memory.never_written(base + place, 4) for place in places] == [not written] * len(places)
        memory.free(base)


def test_to_look_is_not_to_write() -> None:
    memory = Memory(1 << 26)
    base, usual = memory.alloc(4096, unset=True), memory.alloc(4096)
    assert not memory.look(base, 8).any()
    memory.read(base, 4096)
    assert memory.never_written(base, 4096)
    assert not memory.never_written(usual, 4096)
    with pytest.raises(ValueError, match="read-only"):
        memory.look(base, 8)[0] = 1
    with pytest.raises(NotAllocated):
        memory.look(base, 4097)


@pytest.mark.parametrize("threads", THREADS)
def test_what_is_found_is_the_same_on_any_number_of_threads(threads: int) -> None:
    machine = Machine(threads=threads)
    kernel = machine.load(HEADER + ADD).kernels["add"]
    n = 64 * 256
    base = machine.memory.alloc(n * 4, unset=True)
    machine.memory.write(base + 4 * 1000, np.zeros(500, np.int32))
    (found,) = machine.launch(kernel, (n // 256, 1, 1), (256, 1, 1), pack([base])).findings
    assert (found.kind, found.count, found.address) == ("uninitialised_global", n - 500, base)
    assert (found.block, found.thread, found.action) == ((0, 0, 0), (0, 0, 0), "read")
    assert machine.launch(kernel, (n // 256, 1, 1), (256, 1, 1), pack([base])).findings == ()
    assert (machine.memory.read(base, n * 4).view(np.int32) == 2).all()
    machine.memory.free(base)
    assert machine.memory.alloc(n * 4, unset=True) == base
    assert machine.memory.never_written(base, n * 4)
