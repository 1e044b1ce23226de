"""Memory that this computer has not: told before it is touched, though the device has it."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from emulated import HEADER, pack

from grader.emulator.errors import OutOfRoom
from grader.emulator.machine import room
from grader.emulator.machine.machine import Machine

FILL = """
.visible .entry fill(.param .u64 to)
{
.reg .b64 %to, %at; .reg .b32 %i, %n, %t; .reg .f32 %zero;
ld.param.u64 %to, [to];
mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %n, %t;
mul.wide.u32 %at, %i, 4096; add.s64 %at, %at, %to; mov.f32 %zero, 0f00000000;
st.global.f32 [%at], %zero;
ret;
}
"""
MORE = 192 << 20


def held() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096


def only(monkeypatch: pytest.MonkeyPatch, nbytes: int) -> None:
    """So many bytes are left."""
    limit = (held() + nbytes) * room.MARGIN // (room.MARGIN - 1)
    monkeypatch.setattr(room, "memory_bytes", lambda: limit)


def test_a_copy_of_more_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Machine().memory
    first = memory.alloc(64 << 30)
    only(monkeypatch, MORE)
    memory.fill(first, b"\1", MORE // 2)
    with pytest.raises(OutOfRoom, match=r"^this writes 31\.91 GiB of .* this computer has 0\.\d+ GiB left$"):
        memory.fill(first, b"\0", 32 << 30)
    memory.fill(first, b"\2", MORE // 2)  # it is there already
    assert (memory.look(first, MORE // 2) == 2).all()


def test_a_launch_that_touches_more_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine()
    kernel = machine.load(HEADER + FILL).kernels["fill"]
    first = machine.memory.alloc(4 << 30)
    machine.launch(kernel, (1, 1, 1), (32, 1, 1), pack([first]))
    only(monkeypatch, MORE)
    before = held()
    with pytest.raises(OutOfRoom, match=r"touches too much of 4\.00 GiB of .* has 0\.\d+ GiB left$"):
        machine.launch(kernel, (4096, 1, 1), (256, 1, 1), pack([first]))
    assert held() - before < 4 * MORE
    machine.memory.free(first)
    first = machine.memory.alloc(1 << 20)
    machine.memory.write(first, np.ones(1 << 18, np.float32))
    assert machine.launch(kernel, (1, 1, 1), (32, 1, 1), pack([first])).status == "completed"


def test_arrays_of_the_host_are_refused_that_do_not_fit_beside_the_devices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gc.collect()  # other tests' machines, whose address space would be given back in between
    machine = Machine()
    memory, first = machine.memory, machine.memory.alloc(64 << 30)
    only(monkeypatch, 3 * MORE)
    with room.bounded():
        np.zeros(2 * MORE, np.uint8)
        memory.fill(first, b"\1", 2 * MORE)
        with pytest.raises(MemoryError):
            np.zeros(2 * MORE, np.uint8)
        other = Machine()  # address space, which is no memory
        with pytest.raises(MemoryError):
            np.zeros(2 * MORE, np.uint8)
        memory.free(first)
        np.zeros(2 * MORE, np.uint8)
        assert other.memory.allocated() == 0
    np.zeros(4 * MORE, np.uint8)
