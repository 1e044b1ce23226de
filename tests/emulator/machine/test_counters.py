"""Counters against counts derived by hand: sectors, requests, bank wavefronts, arithmetic, instructions, bytes.

Patterns of global memory are for one warp of 32 lanes unless they say otherwise; a sector has 32 bytes, and arrays
begin at a multiple of 256. Patterns of shared memory give wavefronts, and how many of them an
access without conflicts takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulated import Bench, Ran

from grader.emulator import metrics
from grader.emulator.machine.records import Counted, by_line
from grader.emulator.places import GIVEN, Place

GLOBAL_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
GLOBAL_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
LOCAL_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_local_op_{}.sum"
LOCAL_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_local_op_{}.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
ISSUED = "smsp__sass_inst_executed_op_{}_{}.sum"
ARITHMETIC = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"

# name → element type, index in terms of t, sectors of one warp's access
GLOBAL_PATTERNS = {
    "coalesced": ("float", "t", 4),
    "backwards": ("float", "31 - t", 4),
    "shuffled": ("float", "(t * 7) & 31", 4),
    "stride 2": ("float", "2 * t", 8),
    "stride 3": ("float", "3 * t", 12),
    "stride 8": ("float", "8 * t", 32),
    "a column": ("float", "100 * t", 32),
    "misaligned by one": ("float", "t + 1", 5),
    "misaligned by a sector": ("float", "t + 8", 4),
    "one address": ("float", "5", 1),
    "two addresses": ("float", "(t & 1) * 64", 2),
    "two rows": ("float", "(t & 15) + (t >> 4) * 64", 4),
    "bytes": ("unsigned char", "t", 1),
    "bytes, misaligned": ("unsigned char", "t + 20", 2),
    "halves": ("short", "t", 2),
    "doubles": ("double", "t", 8),
    "doubles, stride 2": ("double", "2 * t", 16),
    "float2": ("float2", "t", 8),
    "float4": ("float4", "t", 16),
    "float4, stride 2": ("float4", "2 * t", 32),
    "float4, one address": ("float4", "3", 1),
}


def source_of(patterns: dict[str, tuple[str, str, Any]], body: str) -> str:
    kernels = [
        body.replace("TYPE", kind).replace("INDEX", index).replace("NAME", f"k{number}")
        for number, (kind, index, _) in enumerate(patterns.values())
    ]
    return "\n".join(kernels)


GLOBAL_SOURCE = source_of(GLOBAL_PATTERNS, """
extern "C" __global__ void load_NAME(const TYPE* in, TYPE* out) { int t = threadIdx.x; out[t] = in[INDEX + t * 0]; }
extern "C" __global__ void store_NAME(const TYPE* in, TYPE* out) { int t = threadIdx.x; out[INDEX + t * 0] = in[t]; }
""")  # fmt: skip


@pytest.mark.parametrize("name", GLOBAL_PATTERNS)
def test_global_memory(bench: Bench, name: str) -> None:
    number = list(GLOBAL_PATTERNS).index(name)
    _, _, sectors = GLOBAL_PATTERNS[name]
    data = np.zeros(4096, np.float32)
    for side in ("ld", "st"):
        ran = bench.cuda(GLOBAL_SOURCE, f"{'load' if side == 'ld' else 'store'}_k{number}", 1, 32, data, data)
        assert ran.findings == []
        assert ran.counters[GLOBAL_REQUESTS.format(side)] == 1
        assert ran.counters[GLOBAL_SECTORS.format(side)] == sectors


# Of benchmarks/l1.cu on an H100: index of a float in terms of t, lines, wavefronts of L1's data.
L1_PATTERNS = {
    "t": (1, 1),
    "t + 1": (2, 1),
    "2 * t": (2, 2),
    "8 * t": (8, 8),
    "9 * t": (9, 1),
    "32 * t": (32, 32),
    "33 * t": (32, 1),
    "512 * (t / 4) + t % 4": (8, 8),
    "516 * (t / 4) + t % 4": (8, 1),
    "1024 * (t / 8) + t % 8": (4, 4),
    "1032 * (t / 8) + t % 8": (4, 1),
    "0": (1, 1),
}
WIDE_PATTERNS = {
    "t": (4, 4),
    "t + 1": (5, 4),
    "2 * t": (8, 8),
    "128 * (t / 8) + t % 8": (4, 4),
    "128 * (t / 4) + t % 4": (8, 8),
    "132 * (t / 4) + t % 4": (8, 4),
    "8 * t": (32, 32),
}


def test_lines_and_wavefronts_of_l1(bench: Bench) -> None:
    patterns = [("float", *item) for item in L1_PATTERNS.items()]
    patterns += [("float4", *item) for item in WIDE_PATTERNS.items()]
    source = "".join(
        f"""
        extern "C" __global__ void k{number}(const {kind}* in, {kind}* out)
        {{
            int t = threadIdx.x;
            out[t] = in[{index}];
        }}"""
        for number, (kind, index, _) in enumerate(patterns)
    )
    data, out = np.zeros(1 << 14, np.float32), np.zeros(128, np.float32)
    counted = []
    for number in range(len(patterns)):
        ran = bench.cuda(source, f"k{number}", 1, 32, data, out)
        counted.append(
            (ran.counters[metrics.GLOBAL_LINES["ld"]], ran.counters[metrics.GLOBAL_WAVEFRONTS["ld"]])
        )
    assert counted == [expected for _, _, expected in patterns]


# name → element type, index in terms of t, (wavefronts of a load, of a store, wavefronts without a conflict)
SHARED_PATTERNS: dict[str, tuple[str, str, tuple[int, int, int]]] = {
    **{f"stride {n}": ("int", f"{n} * t", (ways, ways, 1))
       for n, ways in [(1, 1), (2, 2), (3, 1), (4, 4), (6, 2), (8, 8), (16, 16), (31, 1), (32, 32), (33, 1), (40, 8)]},
    "one word": ("int", "7", (1, 1, 1)),
    "two words of a bank": ("int", "(t & 1) * 32", (2, 2, 1)),
    "two words of two banks": ("int", "(t & 1) * 33", (1, 1, 1)),
    "bytes": ("char", "t", (1, 1, 1)),
    "bytes of a bank": ("char", "(t & 3) + (t >> 2) * 128", (8, 8, 1)),
    "halves": ("short", "t", (1, 1, 1)),
    "halves, stride 2": ("short", "2 * t", (1, 1, 1)),
    "halves, stride 4": ("short", "4 * t", (2, 2, 1)),
    # 8 bytes a lane: each half of the warp by itself
    "doubles": ("double", "t", (2, 2, 2)),
    "doubles, stride 2": ("double", "2 * t", (4, 4, 2)),
    "doubles, stride 3": ("double", "3 * t", (2, 2, 2)),
    "doubles, stride 16": ("double", "16 * t", (32, 32, 2)),
    # 16 bytes a lane: each quarter of the warp by itself
    "float4": ("float4", "t", (4, 4, 4)),
    "float4, stride 2": ("float4", "2 * t", (8, 8, 4)),
    "float4, stride 8": ("float4", "8 * t", (32, 32, 4)),
    "float4, stride 9": ("float4", "9 * t", (4, 4, 4)),
}  # fmt: skip

SHARED_SOURCE = source_of(SHARED_PATTERNS, """
extern "C" __global__ void load_NAME(TYPE* out)
{
    extern __shared__ float4 box[];
    int t = threadIdx.x;
    for (int i = t; i < 2048; i += 32) ((volatile int*)box)[i] = i;
    __syncthreads();
    out[t] = ((TYPE*)box)[INDEX];
}
extern "C" __global__ void store_NAME(TYPE* in)
{
    extern __shared__ float4 box[];
    int t = threadIdx.x;
    ((TYPE*)box)[INDEX] = in[t];
    __syncthreads();
    if (((volatile int*)box)[t * 0] == 12345) in[t] = ((TYPE*)box)[0];
}
""")  # fmt: skip


@pytest.mark.parametrize("name", SHARED_PATTERNS)
def test_shared_memory(bench: Bench, name: str) -> None:
    number = list(SHARED_PATTERNS).index(name)
    load, store, least = SHARED_PATTERNS[name][2]
    out = np.zeros(512, np.uint8)
    ran = bench.cuda(SHARED_SOURCE, f"load_k{number}", 1, 32, out, shared_bytes=8192)
    assert ran.counters[WAVEFRONTS.format("ld")] == load
    assert ran.counters[CONFLICTS.format("ld")] == load - least
    assert ran.counters[CONFLICTS.format("st")] == 0
    ran = bench.cuda(SHARED_SOURCE, f"store_k{number}", 1, 32, out, shared_bytes=8192)
    assert ran.counters[WAVEFRONTS.format("st")] == store
    assert ran.counters[CONFLICTS.format("st")] == store - least


def wide_loads(bench: Bench, kind: str, address: str) -> Ran:
    """One load of vectors, lane by lane: PTX, so that nobody sees what the addresses have in common."""
    text = f"""
.visible .entry k(.param .u64 out)
{{
.shared .align 16 .b8 box[4096]; .reg .b32 %t, %a, %o; .reg .b32 %x<4>; .reg .b64 %at, %w<2>; .reg .pred %p;
mov.u32 %t, %tid.x; mov.u32 %o, 0;
fill: shl.b32 %a, %t, 2; mad.lo.u32 %a, %o, 128, %a; st.shared.u32 [%a], %t; add.u32 %o, %o, 1;
setp.lt.u32 %p, %o, 32; @%p bra fill;
bar.sync 0;
{address}
{"ld.shared.v4.u32 {%x0, %x1, %x2, %x3}, [%a];" if kind == "16" else "ld.shared.v2.u32 {%x0, %x1}, [%a];"}
ld.param.u64 %at, [out]; mul.wide.u32 %w0, %t, 4; add.s64 %at, %at, %w0; st.global.u32 [%at], %x0; ret;
}}
"""
    return bench.ptx(text, "k", 1, 32, np.zeros(32, np.uint32))


@pytest.mark.parametrize(("kind", "address", "wavefronts", "least"), [
    ("16", "shr.u32 %a, %t, 1; shl.b32 %a, %a, 4;", 2, 2),  # lane i and i ^ 1 have one address: two quarters at once
    ("16", "and.b32 %a, %t, 29; shl.b32 %a, %a, 4;", 4, 2),  # likewise i and i ^ 2, over twice the span
    ("16", "and.b32 %a, %t, 27; shl.b32 %a, %a, 4;", 4, 4),  # i and i ^ 4 do not help
    ("16", "and.b32 %a, %t, 1; shl.b32 %a, %a, 4;", 2, 2),
    ("8", "shr.u32 %a, %t, 1; shl.b32 %a, %a, 3;", 1, 1),
    ("8", "and.b32 %a, %t, 29; shl.b32 %a, %a, 3;", 2, 1),
    ("8", "and.b32 %a, %t, 15; shl.b32 %a, %a, 3;", 2, 2),
    ("8", "and.b32 %a, %t, 7; shl.b32 %a, %a, 4;", 2, 2),
])  # fmt: skip
def test_wide_loads_that_share_addresses(
    bench: Bench, kind: str, address: str, wavefronts: int, least: int
) -> None:
    ran = wide_loads(bench, kind, address)
    assert ran.counters[WAVEFRONTS.format("ld")] == wavefronts
    assert ran.counters[CONFLICTS.format("ld")] == wavefronts - least


OTHER = """
typedef unsigned int uint;
extern "C" __global__ void axpy(const float* x, float* y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaf(a, x[i], y[i]);
}

extern "C" __global__ void polynomial(float* x, double* d, int n)
{
    float v = x[threadIdx.x]; double w = d[threadIdx.x];
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
        v = fmaf(v, v, 0.5f); v = __fadd_rn(v, 1.0f); v = __fmul_rn(v, 0.25f); w = fma(w, w, 0.5);
    }
    x[threadIdx.x] = v; d[threadIdx.x] = w;
}

extern "C" __global__ void half_of_them(const float* x, float* y)
{
    int t = threadIdx.x;
    if (t % 2) { y[t] = x[t] + 1.0f; asm volatile("// a side of its own" ::: "memory"); }
    else y[t] = x[t] * 3.0f;
}

extern "C" __global__ void few(const float* x, float* y)
{
    if (threadIdx.x == 77) y[0] = x[0];
    if (threadIdx.x < 3) y[threadIdx.x + 8] = x[threadIdx.x + 8];
}

extern "C" __global__ void count(uint* one, uint* many, uint* tickets)
{
    int t = threadIdx.x;
    atomicAdd(one, 1);
    atomicAdd(&many[t], 1);
    tickets[t] = atomicAdd(&many[t], 1);
}

extern "C" __global__ void twice(const float* x, float* y, int n)
{
    float s = 0;
    for (int r = 0; r < 2; ++r)
        for (int i = threadIdx.x; i < n; i += blockDim.x) s += ((volatile const float*)x)[i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

extern "C" __global__ void bag(const int* in, int* out, int n)
{
    int box[8];
    for (int i = 0; i < 8; ++i) box[i] = in[i];
    int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; ++i) s += ((volatile int*)box)[in[i]];
    out[threadIdx.x] = s;
}

extern "C" __global__ void generic(const int* in, int* out)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    box[2 * t] = t;
    __syncthreads();
    const int* from = in[0] ? &box[2 * t] : &in[t];
    out[t] = *from;
}
"""


def test_a_grid(bench: Bench) -> None:
    """1000 elements in blocks of 256: 32 warps, of which the last has 8 threads inside."""
    x = np.ones(1000, np.float32)
    ran = bench.cuda(OTHER, "axpy", 4, 256, x, x, np.float32(2), np.int32(1000))
    assert ran.counters[ARITHMETIC.format("ffma")] == 1000
    assert ran.counters[GLOBAL_REQUESTS.format("ld")] == 64
    assert ran.counters[GLOBAL_SECTORS.format("ld")] == 250
    assert ran.counters[GLOBAL_REQUESTS.format("st")] == 32
    assert ran.counters[GLOBAL_SECTORS.format("st")] == 125
    assert ran.counters[ISSUED.format("global", "st")] == 32
    assert (ran.record.dram_read_bytes, ran.record.dram_write_bytes) == (8000, 4000)
    assert (ran.record.l2_read_bytes, ran.record.l2_write_bytes) == (8000, 4000)


def test_counters_of_some_blocks(bench: Bench) -> None:
    x = np.ones(1000, np.float32)
    ran = bench.cuda(OTHER, "axpy", 4, 256, x, x, np.float32(2), np.int32(1000), blocks=[3, 1])
    assert (ran.record.blocks_run, ran.record.grid_blocks) == (2, 4)
    assert ran.counters[ARITHMETIC.format("ffma")] == 256 + 232
    assert ran.arrays[1].tolist() == [1] * 256 + [3] * 256 + [1] * 256 + [3] * 232


def test_arithmetic(bench: Bench) -> None:
    ran = bench.cuda(OTHER, "polynomial", 1, 64, np.zeros(64, np.float32), np.zeros(64), np.int32(10))
    for name, amount in [
        ("ffma", 640),
        ("fadd", 640),
        ("fmul", 640),
        ("dfma", 640),
        ("dadd", 0),
        ("dmul", 0),
        ("hfma", 0),
    ]:
        assert ran.counters[ARITHMETIC.format(name)] == amount


def test_two_sides_of_a_branch(bench: Bench) -> None:
    x = np.ones(32, np.float32)
    ran = bench.cuda(OTHER, "half_of_them", 1, 32, x, x)
    assert ran.counters[ARITHMETIC.format("fadd")] == 16
    assert ran.counters[ARITHMETIC.format("fmul")] == 16


def test_who_does_not_access_memory_does_not_count(bench: Bench) -> None:
    """The first condition holds for nobody, the second for three lanes of one warp."""
    x = np.ones(64, np.float32)
    ran = bench.cuda(OTHER, "few", 1, 64, x, x)
    for side in ("ld", "st"):
        assert ran.counters[GLOBAL_REQUESTS.format(side)] == 1
        assert ran.counters[GLOBAL_SECTORS.format(side)] == 1


def test_atomics(bench: Bench) -> None:
    """One address for all: one lane acts. Without a use of the result it is a reduction."""
    zeros = np.zeros(64, np.uint32)
    ran = bench.cuda(OTHER, "count", 1, 64, zeros[:1], zeros, zeros)
    assert ran.counters[GLOBAL_REQUESTS.format("red")] == 4
    assert ran.counters[GLOBAL_SECTORS.format("red")] == 2 + 8
    assert ran.counters[GLOBAL_REQUESTS.format("atom")] == 2
    assert ran.counters[GLOBAL_SECTORS.format("atom")] == 8
    assert ran.counters[GLOBAL_REQUESTS.format("ld")] == 0


@pytest.mark.parametrize(
    ("statement", "sectors"),
    [
        ("atomicAdd(words, t)", 1),
        ("atomicAdd(words + blockIdx.x, t)", 1),
        ("atomicMax(words, t)", 1),
        ("atomicAdd((unsigned long long*)words, 1ull)", 1),
        ("atomicAdd((unsigned long long*)words, (unsigned long long)t)", 32),
        ("atomicAdd((float*)words, float(t))", 32),
        ("atomicAdd(words + threadIdx.y, t)", 32),
        ("atomicAdd(words + t / 32, t)", 32),
        ("atomicExch(words, t)", 32),
        ("t = atomicMax(words, t)", 32),
        ("t = atomicAdd(words, t)", 1),
        ("atomicAdd(words + t / 8 * 8, t)", 32),
    ],
)
def test_lanes_that_update_one_word_take_turns(bench: Bench, statement: str, sectors: int) -> None:
    """Unless the compiler knows that it is one word for all, and adds up what it is given, as SASS for sm_90 shows.

    On an H100 an atomic of a warp on one word took as long as one on 32 sectors (benchmarks/expansions.cu)."""
    source = f"""extern "C" __global__ void k(int* words, int* out)
{{
    int t = threadIdx.x;
    {statement};
    out[t] = t;
}}"""
    ran = bench.cuda(source, "k", 1, (32, 1), np.zeros(64, np.int32), np.zeros(32, np.int32))
    assert sum(ran.counters[GLOBAL_SECTORS.format(kind)] for kind in ("red", "atom")) == sectors


def test_sectors_of_atomics_at_random(bench: Bench) -> None:
    """A sector is accessed as often as the lanes that are at one of its words, the most of them; arrays lie further
    apart than 32 bits reach."""
    source = """extern "C" __global__ void k(const int* at, int* near, int* far, unsigned long long* wide, int* out)
{
    const int i = 32 * blockIdx.x + threadIdx.x, place = at[i];
    if (place < 0) return;
    atomicAdd(place & 1 ? near + place : far + place, 1);
    out[i] = (int)atomicAdd(wide + place, 1ull);
}"""
    rng, memory = np.random.default_rng(5), bench.machine.memory
    at = np.concatenate(
        [rng.integers(-most // 4, most, 32) for most in (4, 16, 64, 256, 4096)], dtype=np.int32
    )
    between, far = memory.alloc(5 << 30), memory.alloc(4 * 4096)
    memory.free(between)
    near, wide = np.zeros(4096, np.int32), np.zeros(4096, np.uint64)
    ran = bench.cuda(source, "k", 5, 32, at, near, far, wide, np.zeros(160, np.int32))
    updated = ran.arrays[1] + memory.read(far, 4 * 4096).view(np.int32)
    memory.free(far)
    hits = np.bincount(at[at >= 0], minlength=4096)
    assert np.array_equal(updated, hits)
    assert np.array_equal(ran.arrays[2], hits)
    narrow = 0
    for lanes in at.reshape(5, 32):
        narrow += sum(rounds(lanes[(lanes >= 0) & (lanes % 2 == odd)], 8) for odd in (0, 1))
    assert ran.counters[GLOBAL_SECTORS.format("red")] == narrow
    wider = sum(rounds(lanes[lanes >= 0], 4) for lanes in at.reshape(5, 32))
    assert ran.counters[GLOBAL_SECTORS.format("atom")] == wider


def rounds(places: np.ndarray[Any, Any], a_sector: int) -> int:
    """Accesses of all sectors by atomics at these places, so many a sector."""
    each, count = np.unique(places, return_counts=True)
    return sum(int(count[each // a_sector == sector].max()) for sector in set(each // a_sector))


WIDE = """
extern "C" __global__ void wide(const float4* a, const float* b, float* out)
{
    const int i = threadIdx.x;
    const float4 v = a[i];
    out[2 * i] = v.x + v.y + v.z + v.w + b[i];
}
"""


def test_sectors_that_neighbours_would_take(bench: Bench) -> None:
    """16 of a float4 a lane, 4 of a float, and 4 of the store that touches 8."""
    arrays = (np.ones(size, np.float32) for size in (128, 32, 64))
    ran = bench.cuda(WIDE, "wide", 1, 32, *arrays)
    assert (ran.counters[GLOBAL_SECTORS.format("ld")], ran.counters[GLOBAL_SECTORS.format("st")]) == (20, 8)
    assert ran.counters[metrics.IDEAL_SECTORS] == 16 + 4 + 4


AGAIN = """
extern "C" __global__ void again(const float* in, float* out, int n, int barrier)
{
    float sum = 0.0f;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            sum += in[(pass && !barrier) ? n - 1 - i : i];
        }
        if (barrier) {
            __syncthreads();
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize(
    ("kib", "shared", "barrier", "times"),
    [
        (200, 0, 1, 1),  # less than an H200's multiprocessor has
        (300, 0, 1, 2),
        (200, 128 << 10, 1, 2),  # shared memory takes half of that
        (300, 0, 0, 1),  # what the other warp has loaded, at some time before: it may run beside this one
    ],
)
def test_what_is_loaded_again_comes_from_l2_where_l1_has_lost_it(
    bench: Bench, kib: int, shared: int, barrier: int, times: int
) -> None:
    n = kib << 8
    arguments = (np.ones(n, np.float32), np.zeros(64, np.float32), np.int32(n), np.int32(barrier))
    ran = bench.cuda(AGAIN, "again", 1, 64, *arguments, shared_bytes=shared)
    assert ran.record.l2_read_bytes == times * 4 * n
    assert ran.record.dram_read_bytes == 4 * n


def test_blocks_share_an_l1_cache(bench: Bench) -> None:
    """A row of 100 KiB a block: three blocks a multiprocessor lose theirs, and two do not."""
    n = 100 << 8
    for blocks, times in ((2 * 132, 1), (3 * 132, 2)):
        out = np.zeros(64 * blocks, np.float32)
        ran = bench.cuda(AGAIN, "again", blocks, 64, np.ones(n, np.float32), out, np.int32(n), np.int32(1))
        assert ran.record.l2_read_bytes == blocks * times * 4 * n
        assert ran.record.l2_common_bytes == (blocks - 1) * 4 * n
        assert ran.record.most_loaded_bytes == 4 * n


IN_TURN = """
typedef unsigned long long U64;
__device__ unsigned at(void* p) { return (unsigned)__cvta_generic_to_shared(p); }

#define KERNEL(name) extern "C" __global__ void name(const float* in, float* out)
#define SETUP const int t = threadIdx.x, warp = t / 32, lane = t % 32; float x = 0.0f;

KERNEL(side_by_side) { SETUP x = in[t]; __syncthreads(); out[t] = x; }
KERNEL(at_barriers)
{
    SETUP
    for (int turn = 0; turn < 4; ++turn) {
        if (warp == turn) x = in[t];
        __syncthreads();
    }
    out[t] = x;
}
KERNEL(at_barriers_of_two_warps)
{
    SETUP
    if (warp > 0) asm volatile("bar.sync %0, 64;" :: "r"(warp) : "memory");
    x = in[t];
    if (warp < 3) asm volatile("bar.arrive %0, 64;" :: "r"(warp + 1) : "memory");
    out[t] = x;
}
KERNEL(by_a_flag)
{
    __shared__ volatile int flag;
    SETUP
    if (t == 0) flag = 0;
    __syncthreads();
    while (flag != warp) { }
    x = in[t];
    __threadfence_block();
    __syncwarp();
    if (lane == 0) flag = warp + 1;
    out[t] = x;
}
KERNEL(by_phases)
{
    __shared__ U64 b[4];
    SETUP
    if (t < 4) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(at(b + t)) : "memory");
    __syncthreads();
    for (int done = warp == 0; !done;) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at(b + warp - 1)) : "memory");
    }
    x = in[t];
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(at(b + warp)) : "memory");
    out[t] = x;
}
KERNEL(by_copies)
{
    __shared__ float copied[128];
    SETUP
    for (int turn = 0; turn < 4; ++turn) {
        if (warp == turn) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(copied + t)), "l"(in + t));
        __syncthreads();
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[t] = copied[t];
}
"""


@pytest.mark.parametrize(
    ("kernel", "sectors"),
    [
        ("side_by_side", 4),  # what one warp loads
        ("at_barriers", 16),  # what all four load
        ("at_barriers_of_two_warps", 16),
        ("by_a_flag", 16),
        ("by_phases", 16),
        ("by_copies", 0),  # nobody waits for what is loaded so
    ],
)
def test_loads_that_come_one_after_the_other(bench: Bench, kernel: str, sectors: int) -> None:
    ran = bench.cuda(IN_TURN, kernel, 2, 128, np.ones(128, np.float32), np.zeros(128, np.float32))
    assert ran.record.load_path == 2 * sectors


def test_what_caches_hold(bench: Bench) -> None:
    """Read twice by each of 3 blocks: memory is read once, each block's L1 fetches it once, requests count all."""
    x = np.ones(512, np.float32)
    ran = bench.cuda(OTHER, "twice", 3, 64, x, np.zeros(192, np.float32), np.int32(512))
    assert ran.counters[GLOBAL_SECTORS.format("ld")] == 3 * 2 * 64
    assert ran.record.dram_read_bytes == 2048
    assert ran.record.l2_read_bytes == 3 * 2048
    assert ran.record.dram_write_bytes == 192 * 4


def test_local_memory(bench: Bench) -> None:
    """Words of neighbouring lanes are neighbours in memory: four sectors for a word of a whole warp."""
    data = np.array([0, 3, 1, 7, 2, 2, 5, 6], np.int32)
    ran = bench.cuda(OTHER, "bag", 1, 32, data, np.zeros(32, np.int32), np.int32(5))
    assert ran.counters[LOCAL_REQUESTS.format("ld")] == 5
    assert ran.counters[LOCAL_SECTORS.format("ld")] == 20
    stores = ran.counters[LOCAL_REQUESTS.format("st")]  # the compiler may join some of the eight
    assert 2 <= stores <= 8
    assert ran.counters[LOCAL_SECTORS.format("st")] == 8 * 4


@pytest.mark.parametrize("first", [0, 1])
def test_generic_addresses_count_where_they_lead(bench: Bench, first: int) -> None:
    data = np.full(32, first, np.int32)
    ran = bench.cuda(OTHER, "generic", 1, 32, data, np.zeros(32, np.int32))
    assert ran.findings == []
    assert ran.counters[GLOBAL_SECTORS.format("ld")] == (1 if first else 5)
    assert ran.counters[WAVEFRONTS.format("ld")] == (2 if first else 0)
    assert ran.counters[CONFLICTS.format("ld")] == (1 if first else 0)


def test_instructions(bench: Bench) -> None:
    """Five instructions for all 96 threads, three more on one side for 8 lanes of each warp."""
    text = """
.visible .entry k()
{
.reg .b32 %t, %x; .reg .pred %p;
mov.u32 %t, %tid.x;
and.b32 %x, %t, 31;
setp.lt.u32 %p, %x, 8;
@!%p bra end;
add.u32 %x, %x, 1;
@%p add.u32 %x, %x, 1;
mov.u32 %t, %x;
end: ret;
}
"""
    ran = bench.ptx(text, "k", 2, 96)
    assert ran.counters["smsp__inst_executed.sum"] == 2 * 3 * (5 + 3)
    assert ran.counters["smsp__thread_inst_executed.sum"] == 2 * 3 * (5 * 32 + 3 * 8)


def test_a_predicated_off_instruction_is_executed_but_accesses_nothing(bench: Bench) -> None:
    text = """
.visible .entry k(.param .u64 out)
{
.reg .b32 %t; .reg .pred %p; .reg .b64 %at; .reg .f32 %f;
ld.param.u64 %at, [out]; mov.u32 %t, %tid.x; mov.f32 %f, 0f3F800000;
setp.ge.u32 %p, %t, 32;
@%p st.global.u32 [%at], %t;
@%p fma.rn.f32 %f, %f, %f, %f;
ret;
}
"""
    ran = bench.ptx(text, "k", 1, 40, np.zeros(1, np.uint32))
    assert ran.counters[ISSUED.format("global", "st")] == 2
    assert ran.counters[GLOBAL_REQUESTS.format("st")] == 1
    assert ran.counters[ARITHMETIC.format("ffma")] == 8


def test_counters_by_line(bench: Bench) -> None:
    x = np.ones(1000, np.float32)
    ran = bench.cuda(OTHER, "axpy", 4, 256, x, x, np.float32(2), np.int32(1000))
    line = OTHER[: OTHER.index("y[i] = fmaf")].count("\n") + 1
    at_line = by_line(ran.record.lines)[line]
    assert at_line[ARITHMETIC.format("ffma")] == 1000
    assert at_line[GLOBAL_SECTORS.format("ld")] == 250
    for metric, total in ran.counters.items():
        assert sum(item.counters.get(metric, 0) for item in ran.record.lines) == total


def test_what_calls_led_to_adds_up_by_line() -> None:
    other = Place("tile.cuh", 1)
    counted = [
        Counted(Place(GIVEN, 2), {"a": 4}),
        Counted(Place(GIVEN, 1, Place(GIVEN, 2)), {"a": 1}),
        Counted(Place(GIVEN, 1), {"a": 2, "b": 3}),
        Counted(other, {"a": 5}),
    ]
    assert by_line(counted) == {0: {"a": 5}, 1: {"a": 3, "b": 3}, 2: {"a": 4}}


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("x = __expf(x);", 1),
        ("x = rsqrtf(x);", 1),
        ("x = x / y;", 1),
        ("x = sqrtf(x);", 1),
        ("x = x * y + x;", 0),
        ('double d; asm volatile("cvt.f64.f32 %0, %1;" : "=d"(d) : "f"(x)); x = d;', 2),
        ("long long i = x; x = i & 3;", 2),
        ("unsigned i = x; x = i & 3;", 0),
        ("x = __brev(__float_as_uint(x)) & __popc(__float_as_uint(y));", 2),
        ("x = __popcll(__float_as_uint(x) * 77ull << 9) + __clz(__float_as_uint(y));", 3),
    ],
)
def test_special_functions(bench: Bench, statement: str, count: int) -> None:
    """Of one warp; a division and an exact root begin with one each, and bits are counted 32 at a time."""
    body = f"float x = v[threadIdx.x], y = v[32]; {statement} v[threadIdx.x] = x;"
    source = f'extern "C" __global__ void k(float* v) {{ {body} }}'
    ran = bench.cuda(source, "k", 1, 32, np.ones(33, np.float32))
    assert ran.counters.get(metrics.SPECIAL_FUNCTIONS, 0) == count


@pytest.mark.parametrize(
    ("statement", "device", "system"),
    [
        ("__threadfence();", 1, 0),
        ("__threadfence_system();", 0, 1),
        ("__threadfence_block();", 0, 0),
        ('asm volatile("fence.acq_rel.cluster;");', 1, 0),
        ('asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(v));', 1, 0),
        ('asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(t) : "l"(v));', 0, 0),
    ],
)
def test_fences(bench: Bench, statement: str, device: int, system: int) -> None:
    """Of two warps: those for which SASS has a MEMBAR that waits for more than the block."""
    source = f'extern "C" __global__ void k(unsigned* v) {{ unsigned t = 0; {statement} v[0] = t; }}'
    ran = bench.cuda(source, "k", 1, 64, np.zeros(1, np.uint32))
    found = [ran.counters.get(metrics.FENCES[scope], 0) for scope in ("gl", "sys")]
    assert found == [2 * device, 2 * system]


@pytest.mark.parametrize(
    ("asked", "slept"), [("100", 200), ("t % 4 * 50", 300), ("t < 32 ? 5 : 2000000", 1_000_005)]
)
def test_sleep(bench: Bench, asked: str, slept: int) -> None:
    """Of two warps: as long as its last lane, a millisecond at most."""
    source = (
        f'extern "C" __global__ void k(int* v) {{ int t = threadIdx.x; __nanosleep({asked}); v[t] = t; }}'
    )
    assert bench.cuda(source, "k", 1, 64, np.zeros(64, np.int32)).counters[metrics.SLEPT] == slept


@pytest.mark.parametrize(
    ("prefetch", "sectors"),
    [
        ('"prefetch.global.L2 [%0];" :: "l"(v + 4 * t)', 16),  # 16 bytes a lane
        ('"prefetch.global.L2 [%0];" :: "l"(v + t % 2)', 1),
        ('"cp.async.bulk.prefetch.L2.global [%0], %1;" :: "l"(v), "r"(512)', 32 * 16),
    ],
)
def test_prefetches(bench: Bench, prefetch: str, sectors: int) -> None:
    """Of one warp. What they bring is neither loaded nor stored."""
    source = (
        f'extern "C" __global__ void k(float* v) {{ int t = threadIdx.x; asm volatile({prefetch}, "r"(t)); }}'
    )
    ran = bench.cuda(source, "k", 1, 32, np.ones(128, np.float32)).record
    assert ran.counters.get(metrics.PREFETCHED, 0) == sectors
    assert (ran.l2_read_bytes, ran.l2_write_bytes, ran.dram_read_bytes) == (0, 0, 0)


def test_spilled_registers_are_loaded_and_stored_as_often_as_the_kernel_goes_round(bench: Bench) -> None:
    """32 floats beside their addresses in 32 registers: PTX, which has no such limit, says nothing of it."""
    found = {}
    for bounds in ("64", "1024, 2"):
        source = f"""extern "C" __global__ void __launch_bounds__({bounds}) k(float* v, int n) {{
            float x[32];
            for (int i = 0; i < 32; ++i) x[i] = v[i * 64 + threadIdx.x];
            for (int r = 0; r < n; ++r)
                for (int i = 0; i < 32; ++i) x[i] += x[(i * 7 + 1) % 32] * x[(i * 5) % 32];
            for (int i = 0; i < 32; ++i) v[i * 64 + threadIdx.x] = x[i];
        }}"""
        for rounds in (1, 100):
            ran = bench.cuda(source, "k", 1, 64, np.ones(2048, np.float32), np.int32(rounds))
            found[bounds, rounds] = [ran.counters.get(metrics.SPILLED[kind], 0) for kind in ("ld", "st")]
            assert bool(ran.record.local_bytes) == bool(found[bounds, rounds][0])
    assert found["64", 1] == found["64", 100] == [0, 0]
    once, often = found["1024, 2", 1], found["1024, 2", 100]
    assert all(10 < many / few < 100 for few, many in zip(once, often, strict=True))


VIDEO = 'asm("{} %0, %0, %1, %1;" : "+r"(x) : "r"(y))'


@pytest.mark.parametrize(
    ("kind", "statement", "slots", "doubles"),
    [
        ("double", "x = x / y", 18, 8),
        ("double", "x = sqrt(x) + y", 17, 9),
        ("double", "x = x * y + x", 0, 1),
        ("float", "x = x / y", 11, 0),
        ("float", "x = __fdividef(x, y)", 0, 0),
        ("unsigned", "x = x % y", 16, 0),
        ("unsigned", "x = x % 7u", 0, 0),
        ("unsigned long long", "x = (x | 1ull << 40) % y", 130, 0),
        ("long long", "x = (x | 1ll << 40) / y", 143, 0),
        ("unsigned", VIDEO.format("vadd4.s32.s32.s32.sat"), 42, 0),
        ("unsigned", VIDEO.format("vset2.s32.u32.ge"), 15, 0),
        ("unsigned", "x = __vabsdiffu4(x, y)", 0, 0),
    ],
)
def test_what_ptxas_makes_many_instructions_of(
    bench: Bench, kind: str, statement: str, slots: int, doubles: int
) -> None:
    """Of one warp."""
    body = f"{kind} x = v[threadIdx.x], y = v[32]; {statement}; v[threadIdx.x] = x;"
    source = f'extern "C" __global__ void k({kind}* v) {{ {body} }}'
    data = np.ones(33, {"double": "f8", "float": "f4", "unsigned": "u4"}.get(kind, "i8"))
    found = bench.cuda(source, "k", 1, 32, data).counters
    assert found.get(metrics.EXPANDED, 0) == slots
    assert found.get(metrics.FP64_INSTRUCTIONS, 0) == doubles


@pytest.mark.parametrize(
    ("width", "place", "conflicts"),
    [
        (4, "4 * t", 0),
        (4, "8 * t", 1),
        (4, "128 * t", 31),
        (4, "132 * t", 0),
        (16, "16 * t", 0),
        (16, "32 * t", 4),
        (16, "128 * t", 28),
    ],
)
def test_bank_conflicts_of_asynchronous_copies(bench: Bench, width: int, place: str, conflicts: int) -> None:
    """Beyond one wavefront, or four for 16 bytes a lane."""
    source = f"""extern "C" __global__ void k(const float4* in, float* out)
{{
    __shared__ float4 tile[320];
    const int t = threadIdx.x;
    const unsigned at = __cvta_generic_to_shared(tile) + {place};
    asm volatile("cp.async.ca.shared.global [%0], [%1], {width};" :: "r"(at), "l"(in + t) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[t] = *(float*)((char*)tile + {place});
}}"""
    ran = bench.cuda(source, "k", 1, 32, np.zeros(128, np.float32), np.zeros(32, np.float32))
    assert ran.counters.get(metrics.COPY_CONFLICTS, 0) == conflicts


@pytest.mark.parametrize(
    ("statement", "additions"),
    [
        ("atomicAdd(x, 1.0f)", 48),
        ("x[threadIdx.x] = atomicAdd(tile, 1.0f)", 48),
        ("if (threadIdx.x < 5) atomicAdd((double*)x, 1.0)", 5),
        ("atomicAdd((__half2*)x, __half2{})", 96),
        ("atomicAdd((float4*)x, float4{})", 192),
        ("atomicAdd((int*)x, 1)", 0),
        ("atomicExch(x, 1.0f)", 0),
    ],
)
def test_numbers_that_memory_adds(bench: Bench, statement: str, additions: int) -> None:
    source = f"""#include <cuda_fp16.h>
    extern "C" __global__ void k(float* x) {{ __shared__ float tile[1]; tile[0] = 0; __syncthreads(); {statement}; }}"""
    found = bench.cuda(source, "k", 1, 48, np.zeros(48, np.float32)).counters
    assert found.get(metrics.MEMORY_ADDITIONS, 0) == additions
