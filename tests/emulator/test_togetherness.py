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
