"""Launches from within kernels (CUDA's dynamic parallelism): what a kernel has asked for runs once it has ended.

CUDA does not say when such a launch begins, only that it may when its thread asks for it, and that those into the
stream for tail launches begin after the kernel. A kernel cannot wait for what it launches.

The device runtime's two functions are PTX here: the buffer that holds a launch's arguments comes from the heap, behind
a head that says what is launched, and the launches of a kernel are linked from the newest to the oldest.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.machine.heap import Heap
from grader.emulator.machine.memory import Memory
from grader.emulator.ptx.tree import Module

Shape = tuple[int, int, int]

_LAUNCH = "__cudaCDP2LaunchDeviceV2"
_LIST = "$launches"
_HEAD = struct.Struct("<QQ3I3IIIQ")
"""The next launch, the kernel, its grid, its block, its dynamic shared memory, padding, the stream."""
_HEAD_BYTES, _ARGUMENT_BYTES = 64, 4096
_TAIL = 3
"""The stream for tail launches."""
DEEPEST = 24
"""So deep may launches nest."""

_RUNTIME = f"""
.global .align 8 .b8 {_LIST}[16];
.func (.param .b64 buffer) __cudaCDP2GetParameterBufferV2(
	.param .b64 kernel, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared)
{{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	.param .b64 nbytes;
	st.param.b64 [nbytes+0], {_HEAD_BYTES + _ARGUMENT_BYTES};
	.param .b64 piece;
	call.uni (piece), malloc, (nbytes);
	ld.param.b64 %rd1, [piece+0];
	setp.eq.s64 %p1, %rd1, 0;
	@%p1 bra $no_room;
	ld.param.b64 %rd2, [kernel];
	st.global.u64 [%rd1+8], %rd2;
	ld.param.b32 %r1, [grid+0];
	ld.param.b32 %r2, [grid+4];
	ld.param.b32 %r3, [grid+8];
	ld.param.b32 %r4, [block+0];
	ld.param.b32 %r5, [block+4];
	ld.param.b32 %r6, [block+8];
	ld.param.b32 %r7, [shared];
	st.global.u32 [%rd1+16], %r1;
	st.global.u32 [%rd1+20], %r2;
	st.global.u32 [%rd1+24], %r3;
	st.global.u32 [%rd1+28], %r4;
	st.global.u32 [%rd1+32], %r5;
	st.global.u32 [%rd1+36], %r6;
	st.global.u32 [%rd1+40], %r7;
	add.s64 %rd3, %rd1, {_HEAD_BYTES};
	st.param.b64 [buffer+0], %rd3;
	ret;
$no_room:
	mov.u64 %rd2, {_LIST};
	atom.global.exch.b64 %rd3, [%rd2+8], 1;
	st.param.b64 [buffer+0], %rd1;
	ret;
}}
.func (.param .b32 status) {_LAUNCH}(.param .b64 buffer, .param .b64 stream)
{{
	.reg .b32 %r<2>;
	.reg .b64 %rd<6>;
	ld.param.b64 %rd1, [buffer];
	ld.param.b64 %rd2, [stream];
	add.s64 %rd3, %rd1, -{_HEAD_BYTES};
	st.global.u64 [%rd3+48], %rd2;
	mov.u64 %rd4, {_LIST};
	atom.global.exch.b64 %rd5, [%rd4], %rd3;
	st.global.u64 [%rd3], %rd5;
	mov.u32 %r1, 0;
	st.param.b32 [status+0], %r1;
	ret;
}}
"""


@dataclass(frozen=True)
class Child:
    """One launch that a kernel has asked for."""

    kernel: str
    grid: Shape
    block: Shape
    shared_bytes: int
    params: bytes


def with_runtime(text: str) -> str:
    """A module's PTX, with the functions of the device runtime where it launches kernels."""
    return text + _RUNTIME if _LAUNCH in text else text


def launches_kernels(variables: dict[str, tuple[int, int]]) -> bool:
    return _LIST in variables


def taken(variables: dict[str, tuple[int, int]], tree: Module, memory: Memory, heap: Heap) -> list[Child]:
    """What the kernel that has just run asked for, in the order of its asking; it is asked for no more.

    Raises UnsupportedPtx where there was no room for all of them.
    """
    address = variables[_LIST][0]
    at, lost = struct.unpack("<QQ", memory.read(address, 16).tobytes())
    memory.write(address, bytes(16))
    found: list[tuple[bool, Child]] = []
    names = list(tree.functions)
    while at:
        after, kernel, gx, gy, gz, bx, by, bz, shared, _, stream = _HEAD.unpack(
            memory.read(at, _HEAD.size).tobytes()
        )
        function = tree.functions[names[kernel // 16 - 1]]
        nbytes = max((each.offset + each.nbytes for each in function.params), default=0)
        params = memory.read(at + _HEAD_BYTES, nbytes).tobytes()
        found.append((stream == _TAIL, Child(function.name, (gx, gy, gz), (bx, by, bz), shared, params)))
        heap.free(at)
        at = after
    if lost:
        raise UnsupportedPtx(f"more than {len(found)} launches from within one launch")
    found.reverse()  # the newest came first
    return [child for tail in (False, True) for last, child in found if last == tail]
