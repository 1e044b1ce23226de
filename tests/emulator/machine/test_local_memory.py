"""Local memory: arrays that threads index at run time."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

LOCAL = """
extern "C" __global__ void k(const int* in, int* out, int n)
{
    int box[16]; short small[10]; double wide[5];
    for (int i = 0; i < 16; i++) box[i] = in[(threadIdx.x + i) % n] * (i + 1);
    for (int i = 0; i < 10; i++) small[(i * 7) % 10] = box[i] - i;
    for (int i = 0; i < 5; i++) wide[i] = small[i] / 2.0;
    int sum = 0;
    for (int i = 0; i < n % 16; i++) {
        int j = (box[i] ^ threadIdx.x) & 15;
        int t = box[j]; box[j] = box[i]; box[i] = t + 1;
        sum += small[(unsigned)t % 10] * 3 + (int)wide[(unsigned)box[i] % 5];
    }
    out[threadIdx.x + blockIdx.x * blockDim.x] = sum + box[n & 15];
}
"""


def local_meaning(data: list[int], thread: int, n: int) -> int:
    box = [data[(thread + i) % n] * (i + 1) for i in range(16)]
    small = [0] * 10
    for i in range(10):
        small[i * 7 % 10] = box[i] - i
    wide = [small[i] / 2.0 for i in range(5)]
    total = 0
    for i in range(n % 16):
        j = (box[i] ^ thread) & 15
        t = box[j]
        box[j] = box[i]
        box[i] = t + 1
        total += small[t % (1 << 32) % 10] * 3 + int(wide[box[i] % (1 << 32) % 5])
    return total + box[n & 15]


@pytest.mark.parametrize("block", [32, 40])
def test_local_arrays(bench: Bench, block: int) -> None:
    """Arrays indexed at run time live in local memory, which starts with what an earlier block left there."""
    data = np.random.default_rng(6).integers(-50, 50, 45).astype(np.int32)
    out = bench.clean(LOCAL, "k", 3, block, data, np.zeros(3 * block, np.int32), np.int32(45))[1]
    assert out.tolist() == [local_meaning(data.tolist(), t, 45) for _ in range(3) for t in range(block)]
