"""What lanes must do together: barriers, and warp instructions with a mask."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

HEAD = 'extern "C" __global__ void k(float* x, int n) { __shared__ float s[64]; int t = threadIdx.x; s[t] = x[t]; '

WRONG = {
    "barrier in a branch": ("if (t < 16) __syncthreads(); x[t] = s[t];", "barrier"),
    "two barriers": (
        "if (t < 32) { __syncthreads(); s[t] += 1; } else { __syncthreads(); } x[t] = s[t];",
        "barrier",
    ),
    "shuffle in a branch": ("if (t < n) x[t] = __shfl_down_sync(~0u, s[t], 1);", "absent_lanes"),
    "vote in a branch": ("if (t < n) x[t] = __any_sync(~0u, t == 3); x[t] += 1;", "absent_lanes"),
}

RIGHT = {
    "return before a barrier": "if (t >= n) return; __syncthreads(); x[t] = s[t];",
    "whole warps in a branch": "__syncthreads(); if (t < 32) x[t] = __shfl_down_sync(~0u, s[t], 1);",
    "mask of those who come": "unsigned m = __ballot_sync(~0u, t < n); if (t < n) x[t] = __shfl_sync(m, s[t], 0);",
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


def test_a_register_nobody_wrote_is_nan_in_every_block(bench: Bench) -> None:
    source = """extern "C" __global__ void k(float* x, int n)
    {
        float sum;
        for (int i = 0; i < n; i++) sum += 1;
        x[blockIdx.x * 32 + threadIdx.x] = sum;
    }"""
    ran = bench.cuda(source, "k", 4, 32, np.zeros(128, np.float32), np.int32(3))
    assert np.isnan(ran.arrays[0]).all()


SHUFFLES_FROM_NOBODY = {
    "outside the mask": "if (t % 32 < 16) v = __shfl_down_sync(0xffffu, v, 16);",
    "from those elsewhere": "if (t < n) v = __shfl_down_sync(__activemask(), v, 8);",
    "by a lane that its mask leaves out": "v = __shfl_sync(0xffff0000u, v, 31);",
    "from those that have returned": "if (t >= n) return; __syncthreads(); v = __shfl_down_sync(~0u, v, 8);",
    "among the lanes of a ballot": "unsigned m = __ballot_sync(~0u, t < n); if (t < n) v = __shfl_xor_sync(m, v, 24);",
}


@pytest.mark.parametrize("name", SHUFFLES_FROM_NOBODY)
def test_the_value_of_a_lane_that_takes_no_part_is_nan(bench: Bench, name: str) -> None:
    """PTX leaves the value open. It is no finding, since nobody may use it; where it is used, the result shows it."""
    source = HEAD + "float v = s[t]; " + SHUFFLES_FROM_NOBODY[name] + " x[t] = v; }"
    (values,) = bench.cuda(source, "k", 1, 64, np.ones(64, np.float32), np.int32(40)).arrays[:1]
    assert set(values[~np.isnan(values)]) == {1}
    assert 0 < np.isnan(values).sum() < 64


def test_integers_of_absent_lanes_are_minus_one(bench: Bench) -> None:
    source = """extern "C" __global__ void k(int* x)
    {
        if (threadIdx.x < 16) x[threadIdx.x] = __shfl_down_sync(0xffff, x[threadIdx.x], 1);
    }"""
    assert bench.clean(source, "k", 1, 32, np.arange(32, dtype=np.int32)).tolist() == [
        *range(1, 16),
        -1,
        *range(16, 32),
    ]


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
