"""The order in which a compiler writes the basic blocks of a kernel changes nothing: not what it computes, not what is
counted, not what is found."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from emulated import Bench, Ran, cuda_image
from random_programs import TABLE, Writer

KERNELS = """
extern "C" __global__ void reduce(float* x, int n)
{
    __shared__ float s[96];
    int t = threadIdx.x;
    if (t == 0) for (int i = 0; i < n; ++i) x[100] += i;
    __syncthreads();
    for (int i = 0; i < n; ++i) {
        s[t] = x[t];
        if (t % 3 == 0) { for (int k = 0; k < t; ++k) { if (k % 5 == 2) continue; s[t] += k; if (s[t] > 1e6f) break; } }
        else if (t % 3 == 1) continue;
        if (t < 8) s[t] *= 2;
    }
    __syncthreads();
    float v = s[95 - t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (t % 32 == 0) x[t] = v;
}

extern "C" __global__ void apart(float* x, int n)
{
    __shared__ float s[96];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t < n) __syncthreads();
    for (int i = 0; i < t; ++i) { if (s[i] > 3) continue; x[t] += s[i]; if (i == n) break; }
    if (t >= 64) x[t] = __shfl_down_sync(~0u, x[t], 1);
    else if (t & 1) x[t] = __shfl_xor_sync(~0u, x[t], 1);
}

extern "C" __global__ void spin(float* x, int n)
{
    for (bool done = false; !done;) {
        if (atomicCAS((int*)x + 127, 0x43000000, 1) == 0x43000000) {
            for (int i = 0; i < n; ++i) { if (i % 3 == 1) continue; *(volatile float*)(x + 110) += i; }
            __threadfence();
            atomicExch((int*)x + 127, 0x43000000);
            done = true;
        }
    }
    __syncthreads();
    x[threadIdx.x] += 1;
}
"""


def shuffled(text: str, kernel: str, seed: int | None) -> str:
    """A PTX text with one kernel, whose basic blocks all end with a jump and stand in random order (unless None)."""
    start = text.index("{", text.index(f".entry {kernel}("))
    lines = [line.strip() for line in text[start + 1 : text.index("\n}", start)].splitlines()]
    declarations = [line for line in lines if line.startswith(".") and not line.startswith(".loc")]
    blocks, place = [["$start:"]], ""
    for line in lines:
        if line.startswith("$"):
            blocks.append([line, place])  # a block keeps the source line it begins in
        elif line not in declarations:
            blocks[-1].append(line)
            place = line if line.startswith(".loc") else place
    for block, after in pairwise(blocks):
        block.append(f"bra {after[0].rstrip(':')};")
    first, *rest = blocks
    if seed is not None:
        random.Random(seed).shuffle(rest)
    head = text[: text.index(".visible .entry")] + text[text.index(f".visible .entry {kernel}(") : start + 1]
    return "\n".join([head, *declarations, *(line for block in [first, *rest] for line in block), "}"])


@pytest.mark.parametrize(("kernel", "n"), [("reduce", 40), ("apart", 40), ("spin", 8)])
def test_kernels_with_their_blocks_in_any_order(bench: Bench, kernel: str, n: int) -> None:
    text = cuda_image(KERNELS).decode()
    x = np.arange(1, 129, dtype=np.float32)

    def run(seed: int | None) -> Ran:
        loaded = bench.machine.load(shuffled(text, kernel, seed)).kernels[kernel]
        return bench.run(loaded, 1, 96, x, np.int32(n))

    written = run(None)
    assert written.record.status == "completed"
    assert bool(written.findings) == (kernel == "apart")
    for seed in range(4):
        other = run(seed)
        assert other.arrays[0].tobytes() == written.arrays[0].tobytes()
        assert other.counters == written.counters
        assert other.record.lines == written.record.lines
        assert other.record.findings == written.record.findings


@pytest.mark.parametrize("structured", [True, False], ids=["structured", "jumps"])
@pytest.mark.parametrize("seed", range(2000, 2004))
def test_random_programs_in_any_order(bench: Bench, seed: int, structured: bool) -> None:
    """Every node ends with a jump here, so that only the order differs."""
    rng = np.random.default_rng(seed)
    data, table = (rng.integers(0, 1 << 32, n, dtype=np.uint32) for n in (64, TABLE))
    results = []
    for order in range(3):
        program = Writer(seed, structured)
        random.Random(order).shuffle(inner := program.order[1:])
        program.order[1:] = inner
        text = program.ptx("k", explicit=True)
        out = np.zeros((64, 9), np.uint32)
        results.append(bench.ptx(text, "k", 2, 32, data, table, out, np.uint32(seed), budget=10**7))
    for other in results[1:]:
        assert np.array_equal(other.arrays[2], results[0].arrays[2])
        assert other.counters == results[0].counters
