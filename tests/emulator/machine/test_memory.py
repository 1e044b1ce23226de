"""Loads and stores: all types and vector widths in every state space, generic addresses, parameters.

Every access is tried with addresses that differ from lane to lane, with one address for the warp, and under a guard.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulated import Array, Bench

TYPES = {
    "u8": np.uint8, "s8": np.int8, "u16": np.uint16, "s16": np.int16, "u32": np.uint32, "s32": np.int32,
    "u64": np.uint64, "s64": np.int64, "f32": np.float32, "f64": np.float64, "b8": np.uint8, "b16": np.uint16,
    "b32": np.uint32, "b64": np.uint64,
}  # fmt: skip
PATTERN = np.random.default_rng(9).integers(0, 256, 4096, dtype=np.uint8)


def load_kernel(kind: str, register: str, modifiers: str, index: str) -> str:
    """Copies elements of `kind`, widened to a register, to one 64-bit word a thread; odd lanes only under a guard."""
    size = np.dtype(TYPES[kind]).itemsize
    return f"""
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .b64 %in, %out, %at, %to; .reg .b32 %i, %lane, %k; .reg .pred %odd, %more; .reg .{register} %v, %g; .reg .b64 %w;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %lane, %tid.x; mov.u32 %k, 0;
and.b32 %i, %lane, 1; setp.ne.u32 %odd, %i, 0;
again:
mov.u32 %i, {index};
mul.wide.u32 %at, %i, {size}; add.s64 %at, %at, %in;
ld{modifiers}.{kind} %v, [%at+{2 * size}];
mov.b{register[1:]} %g, 0; @%odd ld{modifiers}.{kind} %g, [%at+{2 * size}];
mad.lo.u32 %i, %k, 32, %lane; mul.wide.u32 %to, %i, 16; add.s64 %to, %to, %out;
st.global.b{register[1:]} [%to], %v; st.global.b{register[1:]} [%to+8], %g;
add.u32 %k, %k, 1; setp.lt.u32 %more, %k, 8; @%more bra again;
ret;
}}
"""


@pytest.mark.parametrize("index", ["%lane", "%k"], ids=["by lane", "uniform"])
@pytest.mark.parametrize("kind", TYPES)
def test_loads_of_every_type(bench: Bench, kind: str, index: str) -> None:
    """Narrow types fill their register with the sign, or with zeros."""
    dtype = np.dtype(TYPES[kind])
    register = f"f{dtype.itemsize * 8}" if kind[0] == "f" else "b64" if dtype.itemsize == 8 else "b32"
    data: Array = PATTERN[: 64 * dtype.itemsize].view(dtype)
    ran = bench.ptx(
        load_kernel(kind, register, ".global", index), "k", 1, 32, data, np.zeros((8, 32, 2), np.uint64)
    )
    assert ran.findings == []
    k, lane = np.mgrid[0:8, 0:32]
    values = data[(lane if index == "%lane" else k) + 2]
    words = values.astype(np.int64 if kind[0] == "s" else np.uint64) if kind[0] != "f" else values
    bits = words.view(f"u{words.itemsize}").astype(np.uint64)
    if register == "b32":
        bits &= np.uint64(0xFFFFFFFF)
    assert np.array_equal(ran.arrays[1][..., 0], bits)
    assert np.array_equal(ran.arrays[1][..., 1], np.where(lane % 2 == 1, bits, np.uint64(0)))


@pytest.mark.parametrize("modifiers", [
    ".global.nc", ".global.ca", ".global.cg", ".global.cs", ".global.cv", ".volatile.global", ".relaxed.gpu.global",
    ".acquire.sys.global", ".weak.global", ".global.nc.L1::no_allocate.L2::128B", "", "u.global",
])  # fmt: skip
@pytest.mark.parametrize("index", ["%lane", "%k"], ids=["by lane", "uniform"])
def test_ways_to_load(bench: Bench, modifiers: str, index: str) -> None:
    data = PATTERN[:256].view(np.uint32)
    ran = bench.ptx(
        load_kernel("u32", "b32", modifiers, index), "k", 1, 32, data, np.zeros((8, 32, 2), np.uint64)
    )
    k, lane = np.mgrid[0:8, 0:32]
    assert np.array_equal(ran.arrays[1][..., 0], data[(lane if index == "%lane" else k) + 2])


SPACES = ("global", "shared", "local", "generic", "generic shared", "generic local")


def vector_kernel(space: str, kind: str, count: int) -> str:
    """Through `space` and back: loads a vector, stores it there, loads it again, stores it to the result."""
    dtype = np.dtype(TYPES[kind])
    size = dtype.itemsize * count
    register = f"{'f' if kind[0] == 'f' else 'b'}{max(dtype.itemsize * 8, 16)}"
    names = [f"%v{i}" for i in range(count)]
    vector = f"{{{', '.join(names)}}}" if count > 1 else names[0]
    suffix = f".v{count}.{kind}" if count > 1 else f".{kind}"
    where = space.split()[-1]
    window = "" if where == "generic" or space == where else f"cvta.{where}.u64 %base, %base;"
    base = {"shared": "mov.u64 %base, box;", "local": "mov.u64 %base, bag;"}.get(
        where, "mov.u64 %base, %box;"
    )
    access = "" if space.startswith("generic") else f".{space}"
    return f"""
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 box)
{{
.shared .align 16 .b8 box[2048]; .local .align 16 .b8 bag[2048];
.reg .b64 %in, %out, %box, %base, %at, %near; .reg .b32 %lane, %other; .reg .{register} {", ".join(names)};
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %box, [box];
mov.u32 %lane, %tid.x; {base} {window}
mul.wide.u32 %at, %lane, {size}; add.s64 %near, %at, %base; add.s64 %in, %at, %in; add.s64 %out, %at, %out;
ld.global{suffix} {vector}, [%in];
st{access}{suffix} [%near], {vector};
{
        ""
        if where == "local"
        else f'''bar.sync 0;
xor.b32 %other, %lane, 3; mul.wide.u32 %at, %other, {size}; add.s64 %near, %at, %base;'''
    }
ld{access}{suffix} {vector}, [%near];
st.global{suffix} [%out], {vector};
ret;
}}
"""


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(("kind", "count"), [
    ("u8", 1), ("u8", 2), ("u8", 4), ("u16", 1), ("u16", 2), ("u16", 4), ("b32", 1), ("f32", 2), ("f32", 4),
    ("b64", 1), ("u64", 2), ("f64", 2),
])  # fmt: skip
def test_vectors_in_every_space(bench: Bench, space: str, kind: str, count: int) -> None:
    """Lanes read what a neighbour wrote, except in local memory, which is each lane's own."""
    dtype = np.dtype(TYPES[kind])
    nbytes = 64 * dtype.itemsize * count
    data = PATTERN[:nbytes].view(dtype).reshape(64, count)
    ran = bench.ptx(
        vector_kernel(space, kind, count), "k", 1, 64, data, np.zeros_like(data), np.zeros(2048, np.uint8)
    )
    assert ran.findings == []
    order = np.arange(64) if space.endswith("local") else np.arange(64) ^ 3
    assert ran.arrays[1].tobytes() == data[order].tobytes()


def test_mixed_generic_addresses(bench: Bench) -> None:
    """In one instruction some lanes read global, some shared, some local memory."""
    source = """
    extern "C" __global__ void k(const int* in, int* out)
    {
        __shared__ int box[64];
        int bag[8];
        int t = threadIdx.x;
        for (int i = 0; i < 8; i++) bag[i] = in[t] + i;
        box[t] = in[t] * 2;
        __syncthreads();
        const int* from = t % 3 == 0 ? &in[t] : t % 3 == 1 ? &box[63 - t] : &bag[t & 7];
        out[t] = *from;
        __syncthreads();
        int* to = t % 2 ? &box[t] : &bag[in[t] & 7];
        atomicAdd(to, 1000);
        *to += 1;
        out[64 + t] = box[t] + bag[in[t] & 7];
    }
    """
    data = np.arange(100, 164, dtype=np.int32)
    ran = bench.cuda(source, "k", 1, 64, data, np.zeros(128, np.int32))
    t = np.arange(64)
    seen = np.choose(t % 3, [data, data[63 - t] * 2, data + (t & 7)])
    assert ran.record.findings == ()
    assert np.array_equal(ran.arrays[1][:64], seen)
    assert np.array_equal(ran.arrays[1][64:], data * 2 + data + (data & 7) + 1001)


def test_stores_in_one_instruction_to_one_place(bench: Bench) -> None:
    """Which lane wins is open, which is a finding; the emulator lets the highest."""
    source = 'extern "C" __global__ void k(int* out) { out[threadIdx.x / 4] = threadIdx.x; }'
    ran = bench.cuda(source, "k", 1, 32, np.zeros(8, np.int32))
    assert ran.arrays[0].tolist() == [3, 7, 11, 15, 19, 23, 27, 31]
    assert ran.findings == ["race"]


def test_parameters_by_value(bench: Bench) -> None:
    """Structures and small types among the parameters keep C's layout."""
    source = """
    struct Deep { char tag; float xy[2]; short n; long long big; };
    extern "C" __global__ void k(char c, Deep deep, const int* in, unsigned short h, double d, bool b, int* out)
    {
        int t = threadIdx.x;
        const float* xy = deep.xy;
        out[t] = c + deep.tag + (int)(xy[t & 1] * 4) + deep.n + (int)(deep.big >> 33) + in[t] + h + (int)d + b;
    }
    """
    deep = np.zeros(1, np.dtype([("tag", "i1"), ("xy", "f4", 2), ("n", "i2"), ("big", "i8")], align=True))
    deep[0] = (-3, [0.25, 2.5], -100, 9 << 33)
    data = np.arange(32, dtype=np.int32)
    arguments: tuple[Any, ...] = (
        np.int8(-5), deep[0], data, np.uint16(60000), np.float64(-7.9), np.bool_(True), np.zeros(32, np.int32),
    )  # fmt: skip
    out = bench.clean(source, "k", 1, 32, *arguments)[1]
    assert np.array_equal(out, -5 - 3 + np.where(data & 1, 10, 1) - 100 + 9 + data + 60000 - 7 + 1)


SEEN = """
import ctypes, resource
from grader.emulator.machine.memory import GAP, Memory
from grader.emulator.runtime.layout import GLOBAL_BASE

memory = Memory(1 << 28)
address = memory.alloc(1 << 20, above=GLOBAL_BASE + GAP)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
memory.share(address)
seen = (ctypes.c_uint8 * (1 << 20)).from_address(address)
seen[3 << 16] = 7
assert memory.view(address, 1 << 20)[3 << 16] == 7
memory.view(address, 1 << 20)[5] = 9
assert seen[5] == 9
memory.free(address)
"""


def test_memory_that_the_host_sees_takes_no_file_whose_size_may_be_limited() -> None:
    """In a process of its own: the arenas of a hundred devices of other tests reach down to this address."""
    subprocess.run([sys.executable, "-c", SEEN], check=True, cwd=Path(__file__).parents[3])
