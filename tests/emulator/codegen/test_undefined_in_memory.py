"""Values that nobody has defined, in shared and local memory: storing them is no fault, using what was stored is."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import THREADS, Bench

from grader.emulator.machine.machine import Machine

TILE = """extern "C" __global__ void k(float* x, int n)
{{
    __shared__ float s[64];
    int t = threadIdx.x, other = 63 - t;
    float v;
    if (t < n) v = x[t];
    {}
    __syncthreads();
    {}
}}"""
"""A tile in part: threads from n on have no item."""

EXCHANGES = {
    "stored and loaded": ("s[t] = v;", "float w = s[other]; if (other < n) x[t] = w;", "x[t] = s[other];"),
    "only stored": ("s[t] = v;", "if (other < n) x[t] = s[other];", "if (other <= n) x[t] = s[other];"),
    "computed with": (
        "s[t] = v;",
        "float w = s[other] * 3; if (other < n) x[t] = w;",
        "float w = s[other] * 3; if (other <= n) x[t] = w;",
    ),
    "stored again": (
        "s[t] = v;",
        "float w = s[other]; __syncthreads(); s[t] = w; __syncthreads(); if (t < n) x[t] = s[other];",
        "float w = s[other]; __syncthreads(); s[t] = w; __syncthreads(); x[t] = s[other];",
    ),
    "decides a branch": (
        "s[t] = v;",
        "if (other < n && s[other] > 0) for (int i = 0; i < n; ++i) x[t] += i;",
        "if (s[other] > 0) for (int i = 0; i < n; ++i) x[t] += i;",
    ),
    "an address": ("s[t] = v;", "if (t < n) x[(int)s[t]] = 1;", "x[(int)s[t] & 1] = 1;"),
    "an address in shared memory": (
        "s[t] = v;",
        "if (t < n) atomicAdd(&s[(int)s[t] * 0 + t], 1.f);",
        "atomicAdd(&s[((int)s[t] & 1) ^ t], 1.f);",
    ),
    "an atomic's operand": (
        "s[t] = v;",
        "float w = s[t]; if (t < n) atomicAdd(x, w);",
        "float w = s[t]; atomicAdd(x, w);",
    ),
    "an atomic's old value": (
        "s[t] = v;",
        "if (t < n) atomicAdd(&s[t], 1.f);",
        "atomicAdd(&s[t], 1.f);",
    ),
    "exchanged": (
        "s[t] = v;",
        "float w = atomicExch(&s[t], 1.f); __syncthreads(); if (t < n) x[t] = w; else x[t] = s[t];",
        "float w = atomicExch(&s[t], 1.f); __syncthreads(); x[t] = w + s[t];",
    ),
    "shuffled": (
        "s[t] = __shfl_xor_sync(~0u, v, 31);",
        "float w = __shfl_xor_sync(~0u, s[t], 31); if (t < n) x[t] = w;",
        "float w = __shfl_xor_sync(~0u, s[t], 31); x[t] = w;",
    ),
    "volatile": (
        "*(volatile float*)&s[t] = v;",
        "float w = *(volatile float*)&s[other]; if (other < n) x[t] = w;",
        "float w = *(volatile float*)&s[other]; x[t] = w;",
    ),
    "by pointers to anywhere": (
        "float* p = n > 99 ? x : s; p[t] = v;",
        "float w = p[other]; if (other < n) x[t] = w;",
        "float w = p[other]; x[t] = w;",
    ),
}
"""What is exchanged → the store, a use that is right, one that is not."""


def run(bench: Bench, store: str, use: str, n: int = 40) -> list[tuple[str, int]]:
    ran = bench.cuda(TILE.format(store, use), "k", 1, 64, np.ones(64, np.float32), np.int32(n))
    assert ran.record.status == "completed"
    return [(found.kind, found.line) for found in ran.record.findings]


@pytest.mark.parametrize("name", EXCHANGES)
def test_an_item_that_is_not_there_is_exchanged_and_thrown_away(bench: Bench, name: str) -> None:
    store, right, _ = EXCHANGES[name]
    assert run(bench, store, right) == []


@pytest.mark.parametrize("name", EXCHANGES)
def test_a_use_of_an_item_that_is_not_there_is_found(bench: Bench, name: str) -> None:
    store, _, wrong = EXCHANGES[name]
    assert set(run(bench, store, wrong)) == {("uninitialised", 9)}


@pytest.mark.parametrize("name", EXCHANGES)
def test_with_all_items_there_the_same_use_is_right(bench: Bench, name: str) -> None:
    store, _, wrong = EXCHANGES[name]
    assert run(bench, store, wrong, n=64) == []


OVERWRITTEN = {
    "by the same store": "for (int i = 0; i < 2; i++) { s[t] = v; __syncwarp(); if (t >= n) v = 2; }",
    "by another store": "s[t] = v; __syncthreads(); if (t >= n) s[t] = 2;",
    "by another thread": "s[t] = v; __syncthreads(); if (other >= n) s[other] = 2;",
    "by a copy": "s[t] = v; __syncthreads(); if (t >= n) __pipeline_memcpy_async(&s[t], &x[t], 4);"
    "__pipeline_commit(); __pipeline_wait_prior(0);",
    "by an exchange": "s[t] = v; if (t >= n) atomicExch(&s[t], 2.f);",
}


@pytest.mark.parametrize("name", OVERWRITTEN)
def test_what_is_overwritten_is_defined(bench: Bench, name: str) -> None:
    source = "#include <cuda_pipeline.h>\n" + TILE.format(OVERWRITTEN[name], "x[t] = s[other];")
    bench.clean(source, "k", 1, 64, np.ones(64, np.float32), np.int32(40))


BY_TYPE = """template <class T> __device__ void turn(T* x, int n, bool all)
{
    __shared__ T s[64];
    int t = threadIdx.x, other = 63 - t;
    T v;
    if (t < n) v = x[t];
    s[t] = v;
    __syncthreads();
    T w = s[other];
    if (all || other < n)
        x[t] = w;
}
struct Wide { double a, b; };
#define KERNEL(T) extern "C" __global__ void k_##T(T* x, int n, int all) { turn(x, n, all); }
KERNEL(char) KERNEL(short) KERNEL(double) KERNEL(float4) KERNEL(Wide)"""


@pytest.mark.parametrize(
    ("name", "size"), [("char", 1), ("short", 2), ("double", 8), ("float4", 16), ("Wide", 16)]
)
def test_items_of_every_width(bench: Bench, name: str, size: int) -> None:
    for everything in (0, 1):
        ran = bench.cuda(
            BY_TYPE, f"k_{name}", 1, 64, np.zeros(64 * size, np.uint8), np.int32(40), np.int32(everything)
        )
        assert set(ran.findings) == ({"uninitialised"} if everything else set())


VECTOR = """
.visible .entry k(.param .u64 out)
{{
.reg .b32 %r<9>, %t; .reg .b64 %out, %at; .reg .b32 %s; .shared .align 16 .b8 box[512];
ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 4; add.s64 %at, %at, %out;
mov.u32 %s, box; mad.lo.u32 %s, %t, 16, %s;
st.shared.v4.u32 [%s], {{%t, %r0, %t, %r1}};
{}
st.global.u32 [%at], %r2; ret;
}}
"""
VECTORS = {
    "an element that was defined": ("ld.shared.u32 %r2, [%s+8];", []),
    "one that was not": ("ld.shared.u32 %r2, [%s+4];", ["uninitialised"]),
    "all, and one that was defined is used": ("ld.shared.v4.u32 {%r3, %r4, %r2, %r5}, [%s];", []),
    "all, and one that was not is used": ("ld.shared.v4.u32 {%r3, %r4, %r5, %r2}, [%s];", ["uninitialised"]),
    "all but those, into nothing": ("ld.shared.v4.u32 {%r3, _, %r2, _}, [%s];", []),
    "one of its bytes": ("ld.shared.u8 %r2, [%s+7];", ["uninitialised"]),
    "one that was overwritten in part": (
        "st.shared.u8 [%s+4], %t; ld.shared.u8 %r2, [%s+4]; ld.shared.u8 %r3, [%s+5]; add.u32 %r2, %r2, 0;",
        [],
    ),
    "what was not overwritten": ("st.shared.u8 [%s+4], %t; ld.shared.u32 %r2, [%s+4];", ["uninitialised"]),
}


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_that_is_undefined_in_part(bench: Bench, name: str) -> None:
    body, findings = VECTORS[name]
    ran = bench.ptx(VECTOR.format(body), "k", 1, 32, np.zeros(32, np.uint32))
    assert ran.findings == findings


LOCAL_PTX = """
.visible .entry k(.param .u64 out, .param .u32 n, .param .u32 read)
{{
.reg .b32 %r<9>, %t, %n, %i; .reg .b64 %out, %at, %p; .reg .pred %q;
.local .align 8 .b8 kept[64];
ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; ld.param.u32 %i, [read];
mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 4; add.s64 %at, %at, %out;
setp.lt.u32 %q, %t, %n; @%q mov.u32 %r0, 7;
mov.u64 %p, kept; {} st{}.v2.u32 [%p+8], {{%t, %r0}}; {}
mul.wide.u32 %p, %i, 4; {{ .reg .b64 %b; mov.u64 %b, kept; {} add.s64 %p, %p, %b; }}
ld{}.u32 %r2, [%p];
setp.lt.u32 %q, %t, 8; @%q st.global.u32 [%at], %r2; ret;
}}
"""


def local(space: str, then: str = "") -> str:
    """A pair in each lane's local memory, whose second element lanes from n on do not have; lanes below 8 use what is
    read."""
    if space == "local":
        return LOCAL_PTX.format("", ".local", then, "", ".local")
    return LOCAL_PTX.format("cvta.local.u64 %p, %p;", "", then, "cvta.local.u64 %b, %b;", "")


@pytest.mark.parametrize("space", ["local", "generic"])
def test_local_memory(bench: Bench, space: str) -> None:
    def findings(n: int, read: int, then: str = "") -> list[str]:
        ran = bench.ptx(
            local(space, then), "k", 2, 64, np.zeros(64, np.uint32), np.uint32(n), np.uint32(read)
        )
        return ran.findings

    assert findings(n=8, read=3) == []  # the lanes that have none throw it away
    assert findings(n=7, read=3) == ["uninitialised"]
    assert findings(n=0, read=2) == []
    assert findings(n=0, read=3, then="st.local.u32 [kept+12], %t;") == []
    anywhere = "{ .reg .b64 %g; mov.u64 %g, kept; cvta.local.u64 %g, %g; st.u32 [%g+12], %t; }"
    assert findings(n=0, read=3, then=anywhere) == []


def test_a_block_inherits_nothing(machine: Machine) -> None:
    """The first block leaves what is undefined; the next ones define it all, in the same memory."""
    source = """extern "C" __global__ void k(float* x, int first)
    {
        __shared__ float s[32];
        float v;
        if (blockIdx.x || first) v = x[threadIdx.x];
        s[threadIdx.x] = v;
        __syncwarp();
        if (blockIdx.x) x[32 * blockIdx.x + threadIdx.x] = s[31 - threadIdx.x];
    }"""
    for _ in range(2):
        Bench(machine).clean(source, "k", 40, 32, np.zeros(40 * 32, np.float32), np.int32(0))


def test_a_race_with_such_a_store_is_found(bench: Bench) -> None:
    assert run(bench, "s[t] = v; s[other] = v;", "if (other < n) x[t] = s[other];")[0] == ("race", 7)


def test_the_same_is_found_on_any_number_of_threads() -> None:
    store, _, wrong = EXCHANGES["stored and loaded"]
    found = [
        Bench(Machine(threads=threads)).cuda(
            TILE.format(store, wrong), "k", 9, 64, np.ones(64, np.float32), np.int32(40)
        ).record.findings
        for threads in THREADS
    ]  # fmt: skip
    assert found[0]
    assert all(one == found[0] for one in found)


SHUFFLED = """extern "C" __global__ void k(float* x, int n)
{{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t >= 40) return;
    s[t] = __shfl_down_sync(__activemask(), x[t], 1);
    {}
}}"""


def test_what_a_shuffle_read_from_an_absent_lane(bench: Bench) -> None:
    """Of the last warp, lane 8 is absent: what lane 7 has from it is stored, and used or not."""
    for use, kinds in (("if (t < 39) x[t] = s[t];", []), ("x[t] = s[t];", ["undefined_shuffle"])):
        ran = bench.cuda(SHUFFLED.format(use), "k", 1, 64, np.ones(64, np.float32), np.int32(40))
        assert [found for found in ran.findings if found != "absent_lanes"] == kinds


AT_ONCE = {
    "global memory": "x[t] = v;",
    "an argument of printf": 'printf("%f", v);',
    "shared memory that ldmatrix reads": (
        's[t] = v; __syncwarp(); unsigned r; asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"'
        ': "=r"(r) : "r"((unsigned)__cvta_generic_to_shared(s) + t % 8 * 16)); if (r == 77) x[0] = 1;'
    ),
}


@pytest.mark.parametrize("name", AT_ONCE)
def test_what_others_read_shows_at_once(bench: Bench, name: str) -> None:
    assert ("uninitialised", 7) in run(bench, AT_ONCE[name], "")
