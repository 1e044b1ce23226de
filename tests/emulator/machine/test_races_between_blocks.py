"""Races in kernels whose blocks communicate: each wrong one beside its right twin, on 1, 2 and 16 threads of the host.

A kernel is `k(a, b)` of two arrays of ints, which are zero at first.
"""

from __future__ import annotations

import numpy as np
import pytest
from emulated import THREADS, Bench, Ran, marked

from grader.emulator.machine.machine import Machine

HEAD = 'extern "C" __global__ void k(int* a, int* b)\n{\n    const int t = threadIdx.x, g = blockIdx.x;\n'

WRONG = {
    "zero beside atomics": "if (g == 0 && t == 0) *a = 0;\n atomicAdd(a, t); //",
    "zero beside atomics whose results are used": "if (g == 0 && t == 0) *a = 0;\n b[g * 64 + t] = atomicAdd(a, 1); //",
    "fence behind the counter": """
        __shared__ bool last; if (t == 0) b[g] = g;
        if (t == 0) { last = atomicAdd(a, 1) == gridDim.x - 1; __threadfence(); } __syncthreads();
        if (last && t < gridDim.x) a[8 + t] = b[t]; //""",
    "no barrier before the fence": """
        __shared__ bool last; b[64 * g + t] = g;
        if (t == 0) { __threadfence(); last = atomicAdd(a, 1) == gridDim.x - 1; } __syncthreads();
        if (last && t < gridDim.x) a[8 + t] = b[64 * t + 40]; //""",
    "barrier behind the fence of one thread": """
        __shared__ bool last; b[64 * g + t] = g; if (t == 0) __threadfence(); __syncthreads();
        if (t == 0) last = atomicAdd(a, 1) == gridDim.x - 1; __syncthreads();
        if (last && t < gridDim.x) a[8 + t] = b[64 * t + 40]; //""",
    "flag without a fence": """
        volatile int* flag = a; if (t) return;
        if (g == 0) { b[0] = 5; flag[0] = 1; }
        else { while (!flag[0]) {} b[g] = b[0]; } //""",
    "fence for the block alone": """
        volatile int* flag = a; if (t) return;
        if (g == 0) { b[0] = 5; __threadfence_block(); flag[0] = 1; }
        else { while (!flag[0]) {} b[g] = b[0]; } //""",
    "lock without a fence": """
        if (t) return; while (atomicCAS(a, 0, 1)) {}
        *b += 1; //
        atomicExch(a, 0);""",
    "sum with a fence alone": """
        if (t) return;
        *b += 1; //
        __threadfence();""",
    "prefix without waiting": """
        if (t) return; volatile int* flag = a;
        int s = g; if (g) s += b[g - 1]; //
        b[g] = s;
        __threadfence(); flag[g] = 1;""",
    "last block by number": """
        if (t) return; b[g] = g + 1; __threadfence(); atomicAdd(a, 1);
        if (g == gridDim.x - 1) for (int i = 0; i < g; ++i) a[8] += b[i]; //""",
    "shift in place": """
        const int i = g * 64 + t; const int next = i + 1 < 256 ? a[i + 1] : 0;
        a[i] = next + 1; //""",
    "suppression in place": """
        const int i = g * 64 + t; bool keep = true;
        for (int j = 0; j < i; ++j) keep = keep && a[j] != 7; //
        if (!keep || i % 9 == 0) a[i] = 7 + i; //""",
    "shift of bytes": """
        char* c = (char*)a; const int i = g * 64 + t; const char next = c[i + 1];
        c[i] = next + 1; //""",
    "different values": "b[t] = g; //",
    "read-only cache": """
        const int i = g * 64 + t; b[i] = i; __syncthreads();
        a[i] = __ldg(b + i); //""",
    "counter that is set back at once": """
        if (t) return; b[g] = 1; __threadfence();
        atomicAdd(a, 1); //
        if (g == 2) *a = 0; //""",
    "flag in shared memory without a fence": """
        __shared__ int flag; volatile int* f = &flag; if (t == 0) flag = 0; __syncthreads();
        if (t == 0) { b[g] = 5; *f = 1; }
        if (t == 32) { while (!*f) {} a[g] = b[g]; } //""",
}

RIGHT = {
    "zero by the block that adds": "if (t == 0) a[g] = 0; __syncthreads(); atomicAdd(a + g, t);",
    "last block": """
        __shared__ bool last; b[64 * g + t] = g; __syncthreads();
        if (t == 0) { __threadfence(); last = atomicAdd(a, 1) == gridDim.x - 1; } __syncthreads();
        if (last && t < gridDim.x) a[8 + t] = b[64 * t + 40];
        if (last && t == 0) *a = 0;""",
    "last block, each with a fence": """
        __shared__ bool last; b[64 * g + t] = g; __threadfence(); __syncthreads();
        if (t == 0) last = atomicInc((unsigned*)a, gridDim.x - 1) == gridDim.x - 1; __syncthreads();
        if (last) for (int i = t; i < 64 * gridDim.x; i += 64) atomicAdd(a + 8, b[i]);""",
    "flag": """
        volatile int* flag = a; if (t) return;
        if (g == 0) { b[0] = 5; __threadfence(); flag[0] = 1; }
        else { while (!flag[0]) {} __threadfence(); b[g] = b[0]; }""",
    "flag of a later block": """
        volatile int* flag = a; if (t) return;
        if (g == gridDim.x - 1) { b[g] = 5; __threadfence(); flag[0] = 1; }
        else { while (!flag[0]) {} b[g] = b[gridDim.x - 1]; }""",
    "lock": """
        if (t % 32) return; while (atomicCAS(a, 0, 1)) {}
        __threadfence(); *b += 1; __threadfence(); atomicExch(a, 0);""",
    "lock of all threads": """
        bool done = false;
        while (!done) if (!atomicCAS(a, 0, 1)) {
            __threadfence(); *b += 1; __threadfence(); atomicExch(a, 0); done = true; }""",
    "look back": """
        if (t) return; volatile int* flag = a;
        int s = g; if (g) { while (!flag[g - 1]) {} __threadfence(); s += b[g - 1]; }
        b[g] = s; __threadfence(); flag[g] = 1;""",
    "ticket": """
        __shared__ int mine; if (t == 0) mine = atomicAdd(a, 1); __syncthreads();
        const int before = mine; volatile int* flag = a + 1; volatile int* sums = b;
        if (t == 0) { int s = 1; if (before) { while (!flag[before - 1]) {} __threadfence(); s += sums[before - 1]; }
                      sums[before] = s; __threadfence(); flag[before] = 1; }""",
    "persistent blocks": """
        __shared__ int item;
        while (true) { if (t == 0) item = atomicAdd(a, 1); __syncthreads(); const int i = item; __syncthreads();
                       if (i >= 8) return; b[64 * i + t] = i; }""",
    "grid barrier": """
        volatile int* gate = a + 1; b[64 * g + t] = g; __syncthreads();
        if (t == 0) { __threadfence(); if (atomicAdd(a, 1) == gridDim.x - 1) { *a = 0; __threadfence(); *gate = 1; }
                      else while (!*gate) {} __threadfence(); }
        __syncwarp(); __syncthreads(); a[8 + 64 * g + t] = b[64 * ((g + 1) % gridDim.x) + t];""",
    "release and acquire": """
        if (t) return; int seen = 0;
        if (g == 0) { b[0] = 5; asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(a) : "memory"); }
        else { while (!seen) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(a) : "memory");
               b[g] = b[0]; }""",
    "compare and swap": """
        int old = *b, seen; do { seen = old; old = atomicCAS(b, seen, seen + t); } while (old != seen);""",
    "look before a maximum": "if (*b < g * t) atomicMax(b, g * t);",
    "one value": "b[t] = 7; *a = 5;",
    "bytes of one word": "((char*)a)[g] = g; ((short*)b)[64 * g + t] = t;",
    "in place": "const int i = g * 64 + t; a[i] = a[i] * 2 + 1; a[i] += 1;",
    "flag in shared memory": """
        __shared__ int flag; volatile int* f = &flag; if (t == 0) flag = 0; __syncthreads();
        if (t == 0) { b[g] = 5; __threadfence_block(); *f = 1; }
        if (t == 32) { while (!*f) {} __threadfence_block(); a[g] = b[g]; }""",
    "latch": """
        __shared__ int left, x[64]; if (t == 0) left = 64; __syncthreads();
        x[t] = t; __threadfence_block(); atomicSub(&left, 1);
        while (atomicAdd(&left, 0) > 0) {} __threadfence_block(); b[64 * g + t] = x[63 - t];""",
}


@pytest.fixture(scope="module", params=THREADS)
def threads(request: pytest.FixtureRequest) -> Bench:
    return Bench(Machine(threads=request.param))


def run(bench: Bench, body: str, **launch: str) -> Ran:
    arrays = np.zeros(1024, np.int32), np.zeros(1024, np.int32)
    return bench.cuda(HEAD + body + "\n}", "k", 4, 64, *arrays, budget=1 << 20, **launch)


@pytest.mark.parametrize("name", WRONG)
def test_a_race_is_found(threads: Bench, name: str) -> None:
    ran = run(threads, WRONG[name])
    kind = "stored_read_only" if name == "read-only cache" else "race"
    assert {finding.kind for finding in ran.record.findings} == {kind}
    assert {finding.line for finding in ran.record.findings} <= marked(HEAD + WRONG[name])
    assert ran.record.findings == run(threads, WRONG[name]).record.findings


@pytest.mark.parametrize("order", ["rising", "reversed", "shuffled", "switched"])
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_ordered_is_none(bench: Bench, name: str, order: str) -> None:
    ran = run(bench, RIGHT[name], order=order)
    assert ran.record.status == "completed"
    assert ran.record.findings == ()


@pytest.mark.parametrize("name", RIGHT)
def test_nor_with_other_numbers_of_threads(threads: Bench, name: str) -> None:
    assert run(threads, RIGHT[name]).record.findings == ()


def test_findings_do_not_depend_on_the_threads() -> None:
    found = [
        [run(Bench(Machine(threads=count)), body).record.findings for body in WRONG.values()]
        for count in THREADS
    ]
    places = [
        [[(f.kind, f.line, f.count, f.block, f.thread, f.other) for f in findings] for findings in each]
        for each in found
    ]
    assert places[0] == places[1] == places[2]


REDUCTIONS = {
    "histogram": "atomicAdd(&b[(t * t + g) & 63], 1);",
    "of the others' sum it reads": "atomicAdd(&b[t & 7], g); a[64 * g + t] = b[8 + (t & 7)] + b[t & 7];",
    "a store beside it": "atomicAdd(&b[t & 7], 1); if (g == 2) b[5] = t;",
    "two operations": "atomicAdd(&b[t & 7], 3); atomicMax(&b[t & 3], g);",
    "out of bounds": "atomicAdd(&b[(64 * g + t) * 5], 1);",
    "misaligned": "atomicAdd((int*)((char*)b + (g == 1 && t % 9 == 2 ? 2 : 4 * t)), 1);",
    "words of 64 bits": "atomicMin((long long*)a + (t & 15), (long long)g - t);",
    "floats": "atomicAdd((float*)&b[t & 3], 1.0f / (1 + 64 * g + t));",
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_do_not_depend_on_the_threads(name: str) -> None:
    one, *others = (run(Bench(Machine(threads=count)), REDUCTIONS[name]) for count in THREADS)
    found = {"a store beside it": ["race"], "out of bounds": ["out_of_bounds"], "misaligned": ["misaligned"]}
    assert one.findings == found.get(name, [])
    assert one.record.communicates
    for other in others:
        assert other.record == one.record
        assert all(map(np.array_equal, other.arrays, one.arrays))
