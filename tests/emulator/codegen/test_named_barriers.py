"""The 16 barriers of a block: bar.sync with a number of threads, bar.arrive, bar.red, and what PTX forbids there."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import Bench

from grader.findings.kernels import message

VOTES = """
extern "C" __global__ void votes(const int* in, int* out)
{
    int t = threadIdx.x, n = blockDim.x;
    out[t] = __syncthreads_count(in[t] > 0);
    out[n + t] = __syncthreads_and(in[t] > 0) != 0;
    out[2 * n + t] = __syncthreads_or(in[t] > 0) != 0;
}

// Threads that have returned have no vote.
extern "C" __global__ void fewer(const int* in, int* out)
{
    int t = threadIdx.x;
    if (t >= 40) return;
    out[t] = __syncthreads_count(in[t] > 0) + 100 * (__syncthreads_and(in[t] >= 0) != 0);
}
"""


@pytest.mark.parametrize("threads", [32, 96, 70, 7])
@pytest.mark.parametrize("ones", [0, 1, 5, None])
def test_votes_of_a_block(bench: Bench, threads: int, ones: int | None) -> None:
    data = np.zeros(threads, np.int32)
    data[: threads if ones is None else ones] = 1
    _, out = bench.clean(VOTES, "votes", 2, threads, data, np.zeros(3 * threads, np.int32))
    count = int(data.sum())
    expected = [count, int(count == threads), int(count > 0)]
    assert out.reshape(3, threads).tolist() == [[value] * threads for value in expected]


def test_votes_without_those_that_returned(bench: Bench) -> None:
    _, out = bench.clean(VOTES, "fewer", 1, 64, np.ones(64, np.int32), np.zeros(64, np.int32))
    assert out.tolist() == [140] * 40 + [0] * 24


PIPELINE = """
__device__ void sync(int barrier) { asm volatile("bar.sync %0, 64;" :: "r"(barrier) : "memory"); }
__device__ void arrive(int barrier) { asm volatile("bar.arrive %0, 64;" :: "r"(barrier) : "memory"); }

// Warp 0 fills two buffers in turn, warp 1 adds them up: as many barriers as there are states of a buffer.
extern "C" __global__ void pipeline(const int* in, int* out, int rounds)
{
    __shared__ int buffer[2][32];
    int lane = threadIdx.x % 32, sum = 0;
    if (threadIdx.x < 32) {
        for (int i = 0; i < rounds; ++i) {
            if (i > 1) sync(4 + i % 2);
            buffer[i % 2][lane] = in[i * 32 + lane];
            arrive(2 + i % 2);
        }
    } else {
        for (int i = 0; i < rounds; ++i) {
            sync(2 + i % 2);
            sum += buffer[i % 2][31 - lane];
            if (i + 2 < rounds) arrive(4 + i % 2);
        }
        out[lane] = sum;
    }
}

// Half of the warps meet by themselves while the others have gone.
extern "C" __global__ void halves(int* out)
{
    __shared__ int box[128];
    int t = threadIdx.x, group = t / 64;
    box[t] = t;
    for (int i = 0; i < 3 + group; ++i) {
        asm volatile("barrier.sync %0, %1;" :: "r"(group + 1), "r"(64) : "memory");
        int v = box[t ^ 63];
        asm volatile("barrier.sync %0, %1;" :: "r"(group + 1), "r"(64) : "memory");
        box[t] = v;
    }
    out[t] = box[t];
}
"""


@pytest.mark.parametrize("rounds", [1, 2, 3, 8])
def test_a_producer_and_a_consumer(bench: Bench, rounds: int) -> None:
    data = np.arange(rounds * 32, dtype=np.int32).reshape(rounds, 32)
    _, out = bench.clean(PIPELINE, "pipeline", 1, 64, data, np.zeros(32, np.int32), np.int32(rounds))
    assert out.tolist() == data.sum(0)[::-1].tolist()


def test_groups_of_warps(bench: Bench) -> None:
    out = bench.clean(PIPELINE, "halves", 2, 128, np.zeros(128, np.int32))
    t = np.arange(128)
    assert out.tolist() == np.where(t < 64, t ^ 63, t).tolist()


def kernel(body: str) -> str:
    return f'extern "C" __global__ void k(int* x, int n) {{ int t = threadIdx.x; {body} x[t] = t; }}'


FORBIDDEN = {
    "no multiple of 32": (
        'asm volatile("bar.sync 1, %0;" :: "r"(n + 8));',
        "barrier 1 for 40 threads",
        "completed",
    ),
    "no such barrier": (
        'asm volatile("bar.sync %0, 64;" :: "r"(n - 10));',
        "barrier 22 for 64 threads",
        "completed",
    ),
    "too few arrive": ('if (t < 32) asm volatile("bar.sync 3, 64;");', "barrier 3: 32 of 64", "deadlock"),
    "another barrier": (
        'if (t < 32) asm volatile("bar.sync 3, 64;"); else __syncthreads();',
        "barrier 3: 32 of 64",
        "deadlock",
    ),
    "two groups of lanes": (
        'if (t < 16) asm volatile("barrier.sync 5;"); else asm volatile("barrier.sync 6;");',
        "barrier 5: 16 of 64",
        "deadlock",
    ),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_what_ptx_forbids_is_found(bench: Bench, name: str) -> None:
    body, what, status = FORBIDDEN[name]
    ran = bench.cuda(kernel(body), "k", 1, 64, np.zeros(64, np.int32), np.int32(32))
    assert ran.record.status == status
    assert ran.findings == ["barrier"]
    assert what in message(ran.record.findings[0])


def test_other_spellings_are_refused(bench: Bench) -> None:
    from grader.emulator.errors import UnsupportedPtx

    with pytest.raises(UnsupportedPtx, match=r"barrier\.tree\.sync"):
        bench.ptx(".visible .entry k() { barrier.tree.sync 0; ret; }", "k", 1, 64)
