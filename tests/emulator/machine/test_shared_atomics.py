"""What atomics on shared memory are counted as, against what Nsight Compute counted on an H200 (CUDA 13.0).

One warp; the figures are of one execution. An H200's are SASS's: ptxas makes a loop of a load and a compare-and-swap
where shared memory cannot do the sum itself, and that is what is counted here as well.
"""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

from grader.emulator import metrics

LANES = {
    "distinct": "t",
    "pairs": "t / 2",
    "fours": "t / 4",
    "one": "0",
    "stride 2": "2 * t",
    "stride 8": "8 * t",
}
UPDATES = {
    "counted": ("int", "atomicAdd(word, 1);"),
    "a ticket": ("int", "out[t] = atomicAdd(word, 1);"),
    "largest": ("int", "atomicMax(word, in[t]);"),
    "exchanged": ("int", "out[t] = atomicExch(word, t);"),
    "floats": ("float", "atomicAdd(word, 1.0f);"),
    "doubles": ("double", "atomicAdd(word, 1.0);"),
    "long": ("unsigned long long", "atomicAdd(word, 1ull);"),
}
SERIAL = {"distinct": 1, "pairs": 2, "fours": 4, "one": 32, "stride 2": 2, "stride 8": 8}
COUNTED_UP = {**SERIAL, "pairs": 1, "fours": 1, "one": 1}

# update → wavefronts of atomics (by lanes), then how many of its instructions there are, and of which kind
ALU = {"counted": COUNTED_UP, "a ticket": SERIAL, "largest": SERIAL, "exchanged": SERIAL}
LOOPS = {
    "floats": 2,
    "doubles": 4,
    "long": 4,
}  # wavefronts a turn; doubles on one word take 96 in place of 128

SOURCE = "".join(
    f"""
extern "C" __global__ void k{i}_{j}(const int* in, int* out)
{{
    __shared__ {kind} words[256];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 32) words[i] = 0;
    __syncthreads();
    {kind}* word = words + {lanes};
    {update}
}}
"""
    for i, (kind, update) in enumerate(UPDATES.values())
    for j, lanes in enumerate(LANES.values())
)


def counted(bench: Bench, update: str, lanes: str) -> dict[str, int]:
    name = f"k{list(UPDATES).index(update)}_{list(LANES).index(lanes)}"
    ran = bench.cuda(SOURCE, name, 1, 32, np.arange(32, dtype=np.int32), np.zeros(32, np.int32))
    assert ran.findings == []
    return ran.counters


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("update", ALU)
def test_what_shared_memory_does_itself(bench: Bench, update: str, lanes: str) -> None:
    counters = counted(bench, update, lanes)
    assert counters[metrics.SHARED_ATOMICS["alu"]] == 1
    assert counters[metrics.SHARED_WAVEFRONTS["atom"]] == ALU[update][lanes]
    assert counters.get(metrics.SHARED_CONFLICTS["atom"], 0) == ALU[update][lanes] - 1
    assert metrics.SHARED_ATOMICS["cas"] not in counters


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("update", LOOPS)
def test_what_ptxas_makes_a_loop_of(bench: Bench, update: str, lanes: str) -> None:
    counters = counted(bench, update, lanes)
    turns = SERIAL[lanes]
    assert counters[metrics.SHARED_ATOMICS["cas"]] == turns
    assert counters[metrics.SHARED_INSTRUCTIONS["ld"]] == turns
    assert counters[metrics.SHARED_WAVEFRONTS["atom"]] == LOOPS[update] * turns
    assert metrics.SHARED_ATOMICS["alu"] not in counters
    assert metrics.SHARED_CONFLICTS["atom"] not in counters


def test_a_compare_and_swap_of_ones_own_is_one(bench: Bench) -> None:
    source = SOURCE.replace("out[t] = atomicAdd(word, 1);", "out[t] = atomicCAS(word, 0, t);")
    ran = bench.cuda(source, "k1_0", 1, 32, np.zeros(32, np.int32), np.zeros(32, np.int32))
    assert ran.counters[metrics.SHARED_ATOMICS["cas"]] == 1
    assert ran.counters[metrics.SHARED_WAVEFRONTS["atom"]] == 1
