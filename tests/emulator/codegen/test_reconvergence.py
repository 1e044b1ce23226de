"""What lanes must do together: barriers, and warp instructions with a mask."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

from grader.findings.kernels import message

HEAD = 'extern "C" __global__ void k(float* x, int n) { __shared__ float s[64]; int t = threadIdx.x; s[t] = x[t]; '

WRONG = {
    "barrier in a branch": ("if (t < 16) __syncthreads(); x[t] = s[t];", "barrier"),
    "two barriers": (
        "if (t < 32) { __syncthreads(); s[t] += 1; } else { __syncthreads(); } x[t] = s[t];",
        "barrier",
    ),
    "shuffle in a branch": ("if (t < n) x[t] = __shfl_down_sync(~0u, s[t], 1); x[t] += 1;", "absent_lanes"),
    "shuffle after a return": ("if (t < n) x[t] = __shfl_down_sync(~0u, s[t], 1);", "undefined_shuffle"),
    "vote in a branch": ("if (t < n) x[t] = __any_sync(~0u, t == 3); x[t] += 1;", "absent_lanes"),
}

RIGHT = {
    "return before a barrier": "if (t >= n) return; __syncthreads(); x[t] = s[t];",
    "whole warps in a branch": "__syncthreads(); if (t < 32) x[t] = __shfl_down_sync(~0u, s[t], 1);",
    "mask of those who come": "unsigned m = __ballot_sync(~0u, t < n); if (t < n) x[t] = __shfl_sync(m, s[t], 0);",
    "mask that names those who have returned": (
        "if (t % 32 >= 8) return;"
        "for (int i = 0; i < 8; i++) { float v = __shfl_sync(~0u, s[t], i); if (t == i) x[t] = v; }"
    ),
    "barrier in a loop": "for (int i = 0; i < n; i++) { __syncthreads(); if (t == i) x[t] = s[t]; }",
}


@pytest.mark.parametrize("name", WRONG)
def test_lanes_that_should_be_together_are_found_apart(bench: Bench, name: str) -> None:
    body, kind = WRONG[name]
    ran = bench.cuda(HEAD + body + " }", "k", 1, 64, np.ones(64, np.float32), np.int32(40))
    assert kind in ran.findings


@pytest.mark.parametrize("name", RIGHT)
def test_lanes_that_are_together_are_not(bench: Bench, name: str) -> None:
    bench.clean(HEAD + RIGHT[name] + " }", "k", 1, 64, np.ones(64, np.float32), np.int32(40))


SUM = """extern "C" __global__ void k(float* x, int n)
{
    float sum;
    for (int i = 0; i < n; i++) sum += 1;
    x[blockIdx.x * 32 + threadIdx.x] = sum;
}"""


def test_a_register_nobody_wrote_is_nan_in_every_block_and_found(bench: Bench) -> None:
    ran = bench.cuda(SUM, "k", 4, 32, np.zeros(128, np.float32), np.int32(3))
    assert np.isnan(ran.arrays[0]).all()
    assert ran.findings == ["uninitialised"]
    assert ran.record.findings[0].line == 5
    assert "stores a value that was never written" in message(ran.record.findings[0])


UNWRITTEN = """
.visible .entry k(.param .u64 out)
{{
.reg .b32 %r<4>, %t; .reg .b64 %out, %at; .reg .pred %p, %q, %u;
ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 4; add.s64 %at, %at, %out;
setp.lt.u32 %p, %t, 8;
{}
st.global.u32 [%at], %t; ret;
}}
"""
UNWRITTEN_SHOWN = {
    "stored": "st.global.u32 [%at], %r0;",
    "in an address": "cvt.u64.u32 %at, %r0; and.b64 %at, %at, 4; add.s64 %at, %at, %out;",
    "in a branch": "setp.lt.u32 %q, %r0, 4; @%q bra on; add.u32 %t, %t, 0; on:",
    "a guard": "@%u st.global.u32 [%at], %t;",
    "written by some lanes": "@%p mov.u32 %r0, 1; st.global.u32 [%at], %r0;",
    "written on one side": "@%p bra on; mov.u32 %r0, 1; on: st.global.u32 [%at], %r0;",
    "selected": "mov.u32 %r1, 3; selp.b32 %r2, %r1, %r0, %p; st.global.u32 [%at], %r2;",
}
UNWRITTEN_HIDDEN = {
    "not used": "add.u32 %r1, %r0, 1;",
    "stored by those who wrote it": "@%p mov.u32 %r0, 1; @%p st.global.u32 [%at], %r0;",
    "selected by nobody": "@%p mov.u32 %r0, 1; selp.b32 %r2, %r0, %t, %p; st.global.u32 [%at], %r2;",
    "decided by another predicate": "setp.lt.u32 %q, %r0, 4; @%p mov.u32 %r0, 1; @%p setp.lt.u32 %q, %r0, 4;"
    "and.pred %q, %q, %p; @%q add.u32 %t, %t, 0;",
    "written behind a branch that skips its use": "@!%p bra on; mov.u32 %r0, 1; on: @!%p bra off;"
    "st.global.u32 [%at], %r0; off:",
}


@pytest.mark.parametrize("name", UNWRITTEN_SHOWN)
def test_registers_never_written_are_found_where_they_show(bench: Bench, name: str) -> None:
    ran = bench.ptx(UNWRITTEN.format(UNWRITTEN_SHOWN[name]), "k", 1, 32, np.zeros(32, np.uint32))
    assert "uninitialised" in ran.findings


@pytest.mark.parametrize("name", UNWRITTEN_HIDDEN)
def test_registers_never_written_that_nobody_uses_are_no_matter(bench: Bench, name: str) -> None:
    ran = bench.ptx(UNWRITTEN.format(UNWRITTEN_HIDDEN[name]), "k", 1, 32, np.zeros(32, np.uint32))
    assert ran.findings == []


SHUFFLES_FROM_NOBODY = {
    "outside the mask": "if (t % 32 < 16) v = __shfl_down_sync(0xffffu, v, 16);",
    "from those elsewhere": "if (t < n) v = __shfl_down_sync(__activemask(), v, 8);",
    "by a lane that its mask leaves out": "v = __shfl_sync(0xffff0000u, v, 31);",
    "from those that have returned": "if (t >= n) return; __syncthreads(); v = __shfl_down_sync(~0u, v, 8);",
    "among the lanes of a ballot": "unsigned m = __ballot_sync(~0u, t < n); if (t < n) v = __shfl_xor_sync(m, v, 24);",
}


@pytest.mark.parametrize("name", SHUFFLES_FROM_NOBODY)
def test_the_value_of_a_lane_that_takes_no_part_is_found(bench: Bench, name: str) -> None:
    """PTX leaves the value open, an H200 gives 0; it is a finding where it is stored."""
    source = HEAD + "float v = s[t]; " + SHUFFLES_FROM_NOBODY[name] + " x[t] = v; }"
    ran = bench.cuda(source, "k", 1, 64, np.ones(64, np.float32), np.int32(40))
    assert set(ran.arrays[0].tolist()) == {0, 1}
    assert "undefined_shuffle" in ran.findings


SHOWN = {
    "in an address": "x[(int)v] = 1;",
    "in a load's address": "x[t] = s[(int)v];",
    "in a branch": "if (v > 0) for (int i = 0; i < n; ++i) x[t] += i;",
    "in what it is added to": "x[t] = v + 1;",
    "in an atomic": "atomicAdd(x, v);",
    "in another shuffle": "v = __shfl_sync(0xffffu, v, 15); x[t] = v;",
    "in a vote": "x[t] = __any_sync(0xffffu, v > 0);",
    "in a loop": "float w = 0; for (int i = 0; i < n; ++i) { w += v; v = w; } x[t] = w;",
}


@pytest.mark.parametrize("how", SHOWN)
def test_a_value_of_an_absent_lane_is_found_where_it_shows(bench: Bench, how: str) -> None:
    body = "float v = s[t]; if (t < 16) { v = __shfl_down_sync(0xffffu, v, 4); " + SHOWN[how] + " } }"
    ran = bench.cuda(HEAD + body, "k", 1, 64, np.ones(64, np.float32), np.int32(40))
    assert "undefined_shuffle" in ran.findings


def test_a_mask_that_does_not_name_the_lane_is_found(bench: Bench) -> None:
    ran = bench.cuda(
        HEAD + "if (t < 20) x[t] = __any_sync(0xffffu, t == 3); }", "k", 1, 32, np.ones(32, np.float32)
    )
    assert ran.findings == ["absent_lanes"]
    assert "thread (16, 0, 0) executes vote.sync with a mask that does not name it" in message(
        ran.record.findings[0]
    )


def test_a_matrix_product_without_all_lanes_is_found(bench: Bench) -> None:
    source = """#include <mma.h>
    using namespace nvcuda::wmma;
    extern "C" __global__ void k(const half* a, float* c, int n)
    {
        fragment<matrix_a, 16, 16, 16, half, row_major> x;
        fragment<matrix_b, 16, 16, 16, half, col_major> y;
        fragment<accumulator, 16, 16, 16, float> z;
        fill_fragment(z, 0.0f);
        load_matrix_sync(x, a, 16);
        load_matrix_sync(y, a, 16);
        if (threadIdx.x < n) mma_sync(z, x, y, z);
        store_matrix_sync(c, z, 16, mem_row_major);
    }"""
    a, c = np.ones((16, 16), np.float16), np.zeros((16, 16), np.float32)
    assert np.array_equal(bench.clean(source, "k", 1, 32, a, c, np.int32(32))[1], np.full((16, 16), 16))
    assert "absent_lanes" in bench.cuda(source, "k", 1, 32, a, c, np.int32(31)).findings


USED_BY_NOBODY = {
    "a sum of eight lanes": (
        "if (t < 8) { for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xff, v, d); if (t == 0) x[0] = v; }",
        28,
    ),
    "a sum in segments": (
        "if (t < 16) { for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffff, v, d, 16); if (t == 0) x[0] = v; }",
        120,
    ),
    "a sum of those who are there": (
        "unsigned m = __ballot_sync(~0u, t < n); if (t < n) { for (int d = 16; d > 0; d /= 2) {"
        "float o = __shfl_down_sync(m, v, d); if (t + d < n) v += o; } if (t == 0) x[0] = v; }",
        190,
    ),
    "a scan": (
        "if (t < 16) { for (int d = 1; d < 16; d *= 2) { float o = __shfl_up_sync(0xffff, v, d); if (t >= d) v += o; }"
        "if (t == 15) x[0] = v; }",
        120,
    ),
}


@pytest.mark.parametrize("name", USED_BY_NOBODY)
def test_values_of_absent_lanes_that_nobody_uses_are_no_matter(bench: Bench, name: str) -> None:
    body, total = USED_BY_NOBODY[name]
    x = np.arange(32, dtype=np.float32)
    source = HEAD.replace("s[64]", "s[32]") + "float v = s[t]; " + body + " }"
    assert bench.clean(source, "k", 1, 32, x, np.int32(20))[0] == total
