"""What one traced block accesses: by all its threads, by one instruction of a warp, by its first thread."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from emulated import THREADS, Bench

from grader.emulator.machine.machine import Machine

SOURCE = """
#include <cuda_pipeline.h>
__constant__ float factors[4];

extern "C" __global__ void k(const float* in, const float* one, float* out, unsigned* count)
{
    __shared__ float tile[64];
    __shared__ float copied[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __pipeline_memcpy_async(&copied[threadIdx.x], &in[i], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const float other = tile[63 - threadIdx.x] + copied[threadIdx.x];
    if (threadIdx.x % 2 == 0) {
        out[i] = other * one[2] * factors[1];
    }
    if (threadIdx.x == 40) {
        atomicAdd(count, 1u);
    }
}
"""


def words(found: Iterable[int]) -> tuple[int, ...]:
    """The bytes of some words, none of them neighbours."""
    return tuple(edge for word in found for edge in (4 * word, 4 * word + 4))


# space, action, array, bytes by the block, by one instruction of warp 0, by thread 0; of block 2, the arrays' bytes
# begin where it says
EXPECTED = {
    ("global", "read", "in"): ((512, 768), (512, 640), (512, 516)),
    ("shared", "write", "tile"): ((0, 256), (0, 128), (0, 4)),
    ("shared", "write", "copied"): ((0, 256), (0, 128), (0, 4)),
    # Even threads alone use what they read.
    ("shared", "read", "tile"): (words(range(1, 64, 2)), words(range(33, 64, 2)), words([63])),
    ("shared", "read", "copied"): (words(range(0, 64, 2)), words(range(0, 32, 2)), words([0])),
    ("global", "read", "one"): ((8, 12), (8, 12), (8, 12)),
    ("const", "read", "factors"): ((4, 8), (4, 8), (4, 8)),
    ("global", "write", "out"): (words(range(128, 192, 2)), words(range(128, 160, 2)), words([128])),
    ("global", "atomic", "count"): ((0, 4), (), ()),
}


def accessed(bench: Bench, **launch: Any) -> dict[Any, Any]:
    arrays = [
        np.ones(256, np.float32),
        np.ones(4, np.float32),
        np.zeros(256, np.float32),
        np.zeros(1, np.uint32),
    ]
    ran = bench.cuda(SOURCE, "k", 4, 64, *arrays, **launch)
    assert ran.record.status == "completed"
    places = sorted(item.base for item in ran.record.accessed if item.space == "global")
    names = dict(zip(dict.fromkeys(places), ("in", "one", "out", "count"), strict=True)) if places else {}
    return {
        (item.space, item.action, item.array or names.get(item.base)): (item.block, item.warp, item.thread)
        for item in ran.record.accessed
    }


@pytest.mark.parametrize("threads", THREADS)
def test_a_traced_block_says_what_it_accesses_of_each_array(threads: int) -> None:
    assert accessed(Bench(Machine(threads=threads)), traced=2) == EXPECTED


def test_a_block_that_is_sampled_alone_is_traced_as_well() -> None:
    assert accessed(Bench(Machine(threads=1)), traced=2, blocks=[2]) == EXPECTED


def test_without_a_traced_block_nothing_is_kept() -> None:
    assert accessed(Bench(Machine(threads=1))) == {}
    assert accessed(Bench(Machine(threads=1)), traced=2, blocks=[1]) == {}


def test_a_launch_that_is_repeated_is_traced_once() -> None:
    """Two blocks that store one word make the launch be undone and run again, with its accesses tracked."""
    source = 'extern "C" __global__ void k(float* out) { out[threadIdx.x + blockIdx.x] = 1.0f; }'
    ran = Bench(Machine(threads=2)).cuda(source, "k", 2, 32, np.zeros(64, np.float32), traced=1)
    (found,) = ran.record.accessed
    assert (found.block, found.warp, found.thread) == ((4, 132), (4, 132), (4, 8))
