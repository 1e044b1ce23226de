"""Kernels that are right and whose threads come to their barriers one by one: none has a finding."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

GROUPS = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
"""
HEAD = """
extern "C" __global__ void k(int* x, int n) { __shared__ int s[128]; __shared__ int next; int t = threadIdx.x; """

RIGHT = {
    "thread 0 works before a barrier": (
        "if (t == 0) for (int i = 0; i < n; ++i) s[i] = i * i; __syncthreads(); x[t] = s[t % n];",
        lambda t, n: t % n * (t % n),
    ),
    "thread 0 works long where lanes take turns": (
        "if (t == 0) { s[0] = 0; for (int i = 0; i < 3000; ++i) s[0] += ((volatile int*)x)[127] + i; }"
        "__syncthreads(); x[t] = s[0];",
        lambda t, n: 2999 * 1500,
    ),
    "persistent blocks with a ticket": (
        "while (true) { if (t == 0) next = atomicAdd(x + 127, 1); __syncthreads(); int i = next; __syncthreads();"
        "if (i >= n) break; x[i] = i + 1; __syncthreads(); }",
        lambda t, n: t + 1 if t < n else n + 1 if t == 127 else 0,
    ),
    "lanes of a warp return early": (
        "if (t >= n) return; s[t] = t; __syncthreads(); x[t] = s[n - 1 - t];",
        lambda t, n: n - 1 - t if t < n else 0,
    ),
    "an early return with a store": (
        "s[t] = t;\nif (t >= n) {\nx[t] = -1;\nreturn;\n}\n__syncthreads();\nx[t] = s[n - 1 - t];",
        lambda t, n: n - 1 - t if t < n else -1,
    ),
    "whole warps return early": (
        "if (t >= 64) return; s[t] = t; for (int i = 0; i < n; ++i) { __syncthreads(); int v = s[(t + 1) % 64];"
        "__syncthreads(); s[t] = v; } x[t] = s[t];",
        lambda t, n: (t + n) % 64 if t < 64 else 0,
    ),
    "a loop that lanes leave one by one": (
        "int i = 0; do { if (i * i > t) break; ++i; } while (true); s[t] = i; __syncthreads(); x[t] = s[127 - t];",
        lambda t, n: next(i for i in range(99) if i * i > 127 - t),
    ),
    "a conditional with a barrier in both halves of the program": (
        "for (int i = 0; i < 4; ++i) { if (n > 4) { s[t] = i; __syncthreads(); } else { s[t] = t; __syncthreads(); }"
        "x[t] = s[127 - t]; __syncthreads(); }",
        lambda t, n: 3,
    ),
    "groups of threads": (
        "auto block = cg::this_thread_block(); auto tile = cg::tiled_partition<16>(block); s[t] = t; block.sync();"
        "int v = s[127 - t]; tile.sync(); x[t] = cg::reduce(tile, v, cg::plus<int>());",
        lambda t, n: sum(range(112 - t // 16 * 16, 128 - t // 16 * 16)),
    ),
    "a block's barrier at two places of cooperative groups": (
        "auto block = cg::this_thread_block(); s[t] = t; if (t < 64) { block.sync(); x[t] = s[127 - t]; }"
        "else { block.sync(); x[t] = s[127 - t] + 1; }",
        lambda t, n: 127 - t + (t >= 64),
    ),
    "those who are together": (
        "if (t % 3 == 0) { auto some = cg::coalesced_threads();"
        "x[t] = some.size() + cg::reduce(some, 1, cg::plus<int>()); }",
        lambda t, n: 2 * sum(i % 3 == 0 for i in range(t // 32 * 32, t // 32 * 32 + 32)) if t % 3 == 0 else 0,
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_kernels_have_no_finding(bench: Bench, name: str) -> None:
    body, expected = RIGHT[name]
    source = ("" if "cg::" not in body else GROUPS) + HEAD + body + " }"
    x = bench.clean(source, "k", 1, 128, np.zeros(128, np.int32), np.int32(40), budget=10**7)
    assert x.tolist() == [expected(t, 40) for t in range(128)]


WRONG = {
    "a barrier for some": "s[t] = t; if (t % 32 < n) __syncthreads(); x[t] = s[t] + 1;",
    "a loop of different lengths": "for (int i = 0; i < t % 4; ++i) { s[t] = i; __syncthreads(); } x[t] = s[t];",
    "a barrier on each side": (
        "if (t & 1) { x[t] = 1; __syncthreads(); } else { x[t] = 2; __syncthreads(); } x[t] += 1;"
    ),
    "a barrier behind a loop that some lanes skip": (
        "if (t % 32) { for (int i = 0; i < n; ++i) x[t] += i; __syncthreads(); } x[t] += 1;"
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_barriers_that_only_some_lanes_reach_are_found(bench: Bench, name: str) -> None:
    ran = bench.cuda(HEAD + WRONG[name] + " }", "k", 1, 128, np.zeros(128, np.int32), np.int32(16))
    assert "barrier" in ran.findings


LATCH_ABOVE_HEAD = """
.visible .entry k(.param .u64 out, .param .u32 n)
{
.shared .b32 box[64]; .reg .b32 %t, %o, %v, %i, %n, %base; .reg .b64 %out, %at; .reg .pred %p;
ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mov.u32 %i, 0; mov.u32 %v, 0;
shl.b32 %o, %t, 2; mov.u32 %base, box; add.u32 %o, %o, %base; bra head;
latch: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @!%p bra done;
head: st.shared.u32 [%o], %t; setp.eq.u32 %p, %t, 5; @%p bra alone;
join: bar.sync 0; ld.shared.u32 %base, [box]; add.u32 %v, %v, %base; bar.sync 0; bra latch;
alone: add.u32 %v, %v, 1; bra join;
done: mul.wide.u32 %at, %t, 4; add.s64 %at, %at, %out; st.global.u32 [%at], %v; ret;
}
"""


def test_a_latch_above_the_head_of_its_loop(bench: Bench) -> None:
    ran = bench.ptx(LATCH_ABOVE_HEAD, "k", 1, 64, np.zeros(64, np.uint32), np.uint32(5))
    assert ran.findings == []
    assert ran.arrays[0].tolist() == [5 if t == 5 else 0 for t in range(64)]
