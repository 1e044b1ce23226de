"""What lanes of a warp tell each other: shfl, vote, match, redux, activemask, elect, __syncwarp.

Instructions are tried with all lanes, with some, and with a membermask that differs between halves of a warp (as
tiles of cooperative groups use it); CUDA kernels show the usual idioms. Lanes named in a mask wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emulated import Array, Bench

LANES = range(32)
FULL = 0xFFFFFFFF
HALVES = [0xFFFF if lane < 16 else 0xFFFF0000 for lane in LANES]


def run(bench: Bench, body: str, *columns: Any, results: int = 1) -> list[list[int]]:
    """One warp: %a, %b and %c hold a word a lane of the columns; %r0, %r1 … are the results."""
    arrays = [np.array(column, np.uint64).astype(np.uint32) for column in columns]
    loads = "".join(f"ld.global.u32 %{name}, [%at+{128 * i}];" for i, name in enumerate("abc"[: len(arrays)]))
    stores = "".join(f"st.global.u32 [%to+{128 * i}], %r{i};" for i in range(results))
    text = f"""
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .b32 %a, %b, %c, %r<4>, %x<4>, %lane; .reg .b64 %at, %to, %w<4>; .reg .pred %p<4>;
ld.param.u64 %at, [in]; ld.param.u64 %to, [out]; mov.u32 %lane, %laneid;
mul.wide.u32 %w0, %lane, 4; add.s64 %at, %at, %w0; add.s64 %to, %to, %w0; {loads}
mov.u32 %r0, 77; mov.u32 %r1, 77; mov.u32 %r2, 77; mov.u32 %r3, 77;
{body}
end: {stores}
ret;
}}
"""
    data = np.concatenate([*arrays, np.zeros(32, np.uint32)])
    ran = bench.ptx(text, "k", 1, 32, data, np.zeros((results, 32), np.uint32), budget=10**6)
    assert ran.record.status == "completed"
    return ran.arrays[1].tolist()


def source_lane(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The pseudocode of the PTX ISA, 9.7.9.6."""
    segment, clamp, step = c >> 8 & 31, c & 31, b & 31
    highest = lane & segment | clamp & ~segment & 31
    lowest = lane & segment
    j = {"up": lane - step, "down": lane + step, "bfly": lane ^ step, "idx": lowest | step & ~segment & 31}[
        mode
    ]
    holds = j >= highest if mode == "up" else j <= highest
    return (j if holds else lane), holds


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("width", [32, 16, 8, 2])
def test_shuffle(bench: Bench, mode: str, width: int) -> None:
    """With steps that differ from lane to lane and segments of several widths, as __shfl_sync makes them."""
    clamp = (32 - width) << 8 | (0 if mode == "up" else 31)
    values = [1000 + 3 * lane for lane in LANES]
    for steps in ([lane * 7 % 37 for lane in LANES], [1] * 32, [width // 2] * 32):
        words, holds = run(bench, f"shfl.sync.{mode}.b32 %r0|%p0, %a, %b, %c, -1; selp.u32 %r1, 1, 0, %p0;",
                           values, steps, [clamp] * 32, results=2)  # fmt: skip
        expected = [source_lane(mode, lane, steps[lane], clamp) for lane in LANES]
        assert words == [values[source] for source, _ in expected]
        assert holds == [int(inside) for _, inside in expected]


def test_shuffle_among_some(bench: Bench) -> None:
    """Lanes that are elsewhere take no part and keep their values."""
    (words,) = run(bench, """
        setp.lt.u32 %p0, %lane, 16; @%p0 bra end;
        shfl.sync.bfly.b32 %r0, %a, 1, 31, 0xFFFF0000;""", [lane * 5 for lane in LANES])  # fmt: skip
    assert words == [77] * 16 + [5 * (lane ^ 1) for lane in range(16, 32)]


PREDICATES = [lane % 3 == 0 for lane in LANES]
MASKS = {
    "everybody": [FULL] * 32,
    "halves": HALVES,
    "pairs": [3 << (lane & ~1) for lane in LANES],
    "odd and even": [0xAAAAAAAA if lane & 1 else 0x55555555 for lane in LANES],
}
VOTES: dict[str, Callable[[list[bool]], bool]] = {
    "all": all, "any": any, "uni": lambda votes: all(votes) or not any(votes),
}  # fmt: skip


def members(mask: int) -> list[int]:
    return [lane for lane in LANES if mask >> lane & 1]


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("how", VOTES)
def test_vote(bench: Bench, how: str, masks: list[int]) -> None:
    for votes in (PREDICATES, [True] * 32, [False] * 32, [lane < 16 for lane in LANES]):
        body = f"setp.ne.u32 %p0, %a, 0; vote.sync.{how}.pred %p1, %p0, %b; selp.u32 %r0, 1, 0, %p1;"
        (words,) = run(bench, body, votes, masks)
        assert words == [int(VOTES[how]([votes[m] for m in members(mask)])) for mask in masks]
        negated = body.replace("%p0, %b", "!%p0, %b")
        assert run(bench, negated, votes, masks)[0] == [
            int(VOTES[how]([not votes[m] for m in members(mask)])) for mask in masks
        ]


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS.keys())
def test_ballot(bench: Bench, masks: list[int]) -> None:
    (words,) = run(bench, "setp.ne.u32 %p0, %a, 0; vote.sync.ballot.b32 %r0, %p0, %b;", PREDICATES, masks)
    assert words == [sum(1 << m for m in members(mask) if PREDICATES[m]) for mask in masks]


def test_ballot_with_a_constant_mask(bench: Bench) -> None:
    (words,) = run(bench, """
        setp.ge.u32 %p1, %lane, 8; @%p1 bra end;
        setp.ne.u32 %p0, %a, 0; vote.sync.ballot.b32 %r0, %p0, 0xFF;""", PREDICATES)  # fmt: skip
    assert words == [0b01001001] * 8 + [77] * 24


def test_the_active_lanes(bench: Bench) -> None:
    words, others = run(bench, """
        activemask.b32 %r0; setp.lt.u32 %p0, %lane, 5; @%p0 bra end;
        activemask.b32 %r1;""", results=2)  # fmt: skip
    assert words == [FULL] * 32
    assert others == [77] * 5 + [FULL & ~31] * 27


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS.keys())
def test_match(bench: Bench, masks: list[int]) -> None:
    values = [lane * lane % 5 for lane in LANES]
    (words,) = run(bench, "match.any.sync.b32 %r0, %a, %b;", values, masks)
    assert words == [sum(1 << m for m in members(masks[lane]) if values[m] == values[lane]) for lane in LANES]
    for column in (values, [9] * 32, [lane // 16 for lane in LANES]):
        words, flags = run(
            bench, "match.all.sync.b32 %r0|%p0, %a, %b; selp.u32 %r1, 1, 0, %p0;", column, masks, results=2
        )
        same = [len({column[m] for m in members(mask)}) == 1 for mask in masks]
        assert words == [mask if alike else 0 for mask, alike in zip(masks, same, strict=True)]
        assert flags == [int(alike) for alike in same]


def test_match_of_long_words(bench: Bench) -> None:
    values = [lane % 4 for lane in LANES]
    (words,) = run(bench, "mov.b64 %w1, {0, %a}; match.any.sync.b64 %r0, %w1, -1;", values)
    assert words == [sum(1 << m for m in LANES if m % 4 == lane % 4) for lane in LANES]


def signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


REDUCTIONS: dict[str, Callable[[list[int]], int]] = {
    "add.u32": sum, "min.u32": min, "max.u32": max,
    "min.s32": lambda words: min(signed(w) for w in words), "max.s32": lambda words: max(signed(w) for w in words),
    "and.b32": lambda words: int(np.bitwise_and.reduce(words)),
    "or.b32": lambda words: int(np.bitwise_or.reduce(words)),
    "xor.b32": lambda words: int(np.bitwise_xor.reduce(words)),
}  # fmt: skip


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("how", REDUCTIONS)
def test_reduction(bench: Bench, how: str, masks: list[int]) -> None:
    values = np.random.default_rng(2).integers(0, 1 << 32, 32).tolist()
    (words,) = run(bench, f"redux.sync.{how} %r0, %a, %b;", values, masks)
    assert words == [REDUCTIONS[how]([values[m] for m in members(mask)]) % (1 << 32) for mask in masks]


def test_election(bench: Bench) -> None:
    words, chosen = run(bench, """
        setp.lt.u32 %p0, %lane, 5; @%p0 bra end;
        elect.sync %r0|%p1, 0xFFFFFFE0; selp.u32 %r1, 1, 0, %p1;""", results=2)  # fmt: skip
    assert words == [77] * 5 + [5] * 27
    assert chosen == [77] * 5 + [1] + [0] * 26


def test_a_matrix_is_transposed(bench: Bench) -> None:
    """Lane i holds elements 2 (i % 4) and the next of row i / 4 (PTX ISA 9.7.14.5.17)."""
    matrix = np.random.default_rng(1).integers(0, 1 << 16, (8, 8)).astype(np.uint16)
    [got] = run(bench, "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %a;", matrix.view(np.uint32).ravel())
    np.testing.assert_array_equal(np.array(got, np.uint32).view(np.uint16).reshape(8, 8), matrix.T)


def test_lanes_named_in_a_mask_wait_for_each_other(bench: Bench) -> None:
    """The shuffle stands before one of the sides that lead to it: nobody may run it until all are there."""
    (words,) = run(bench, """
        bra fork;
        join: shfl.sync.bfly.b32 %r0, %x0, 16, 31, -1; bra end;
        fork: setp.lt.u32 %p0, %lane, 16; @%p0 bra one;
        add.u32 %x0, %a, 1000; bra join;
        one: add.u32 %x0, %a, 2000; bra join;""", list(LANES))  # fmt: skip
    assert words == [1000 + (lane ^ 16) if lane < 16 else 2000 + (lane ^ 16) for lane in LANES]


CUDA = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu

extern "C" __global__ void sums(const int* in, int* out)
{
    int v = in[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(FULL, v, step);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = v;
}

extern "C" __global__ void scan(const int* in, int* out)
{
    int lane = threadIdx.x % 32, v = in[threadIdx.x];
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(FULL, v, step);
        if (lane >= step) v += other;
    }
    out[threadIdx.x] = v;
}

extern "C" __global__ void wide(const double* in, double* out, long long* counts)
{
    double v = in[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) v = fmax(v, __shfl_xor_sync(FULL, v, step));
    out[threadIdx.x] = v;
    long long mine = (long long)threadIdx.x << 33;
    counts[threadIdx.x] = __shfl_sync(FULL, mine, threadIdx.x + 1, 8);
}

extern "C" __global__ void tiles(const int* in, int* sums, unsigned* ballots, int* ranks)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int v = in[threadIdx.x];
    ballots[threadIdx.x] = tile.ballot(v > 0) | tile.any(v > 5) << 16 | tile.all(v > -3) << 17;
    for (int step = 4; step > 0; step /= 2) v += tile.shfl_xor(v, step);
    sums[threadIdx.x] = v;
    ranks[threadIdx.x] = tile.thread_rank() + 100 * tile.meta_group_rank();
}

// Lanes that took the same side count how many they are, as compacting kernels do.
extern "C" __global__ void coalesced(const int* in, int* out, int* counter)
{
    int i = threadIdx.x;
    if (in[i] > 0) {
        auto active = cg::coalesced_threads();
        int base = 0;
        if (active.thread_rank() == 0) base = atomicAdd(counter, active.size());
        out[active.shfl(base, 0) + active.thread_rank()] = in[i];
    }
}

// A divergent loop: each round, those who are left elect a leader and publish its value.
extern "C" __global__ void leaders(const int* in, int* out)
{
    int mine = in[threadIdx.x], rounds = 0;
    for (bool done = false; !done; ++rounds) {
        int first = __shfl_sync(__activemask(), mine, __ffs(__activemask()) - 1);
        unsigned peers = __match_any_sync(__activemask(), mine);
        if (mine == first) { out[threadIdx.x] = __popc(peers) * 100 + rounds; done = true; }
    }
}

// The loop is left at different times, and the shuffle behind it needs everybody.
extern "C" __global__ void after_a_loop(int* out)
{
    int v = 0;
    for (int i = 0; i < threadIdx.x % 7; ++i) {
        if ((i + threadIdx.x) % 3 == 0) continue;
        v += i;
        if (v > 4) break;
    }
    __syncwarp();
    out[threadIdx.x] = __shfl_xor_sync(FULL, v, 1);
}

// Two sides of a branch take turns, three times.
extern "C" __global__ void ping_pong(int* out)
{
    __shared__ int box[16];
    int lane = threadIdx.x, sum = 0;
    if (lane < 16) {
        for (int turn = 1; turn < 4; ++turn) {
            box[lane] = lane * turn; __syncwarp();
            __syncwarp(); sum += box[lane];
        }
    } else {
        for (int turn = 1; turn < 4; ++turn) {
            __syncwarp(); sum += box[lane - 16];
            box[lane - 16] = 1000; __syncwarp();
        }
    }
    out[lane] = sum;
}

// Half of the warp waits for lanes that never come to it. CUDA leaves open what happens; it must end, and nothing
// that the others do meanwhile may change what the half computes.
extern "C" __global__ void in_vain(int* out, int n)
{
    int lane = threadIdx.x, sum = 0, v = lane;
    if (lane < 16) { v = __shfl_sync(0xffffu, v, lane ^ 1); sum = n; __syncwarp(); v += n; }
    for (int i = 0; i < n; ++i) { sum += i; if (sum == 1 << 20) __syncwarp(); }
    out[lane] = sum * 100 + v;
}

extern "C" __global__ void producer_and_consumer(int* out)
{
    __shared__ int box[32];
    int lane = threadIdx.x;
    if (lane < 16) { box[lane] = lane * 3; __syncwarp(); }
    else { __syncwarp(); out[lane] = box[lane - 16]; }
}
"""


def test_sums_and_scans(bench: Bench) -> None:
    values = np.random.default_rng(0).integers(-50, 50, 96).astype(np.int32)
    assert np.array_equal(
        bench.clean(CUDA, "sums", 1, 96, values, np.zeros(3, np.int32))[1], values.reshape(3, 32).sum(1)
    )
    expected = values.reshape(3, 32).cumsum(1).ravel()
    assert np.array_equal(bench.clean(CUDA, "scan", 1, 96, values, np.zeros(96, np.int32))[1], expected)


def test_shuffles_of_long_words(bench: Bench) -> None:
    values = np.random.default_rng(0).standard_normal(32)
    _, out, counts = bench.clean(CUDA, "wide", 1, 32, values, np.zeros(32), np.zeros(32, np.int64))
    assert np.all(out == values.max())
    assert counts.tolist() == [(lane // 8 * 8 + (lane + 1) % 8) << 33 for lane in LANES]


def test_tiles(bench: Bench) -> None:
    values = np.random.default_rng(1).integers(-4, 9, 64).astype(np.int32)
    arrays = np.zeros(64, np.int32), np.zeros(64, np.uint32), np.zeros(64, np.int32)
    _, sums, ballots, ranks = bench.clean(CUDA, "tiles", 1, 64, values, *arrays)
    groups: Array = values.reshape(8, 8)
    assert np.array_equal(sums.reshape(8, 8), np.repeat(groups.sum(1, keepdims=True), 8, axis=1))
    bits = ((groups > 0) << np.arange(8)).sum(1) | (groups > 5).any(1) << 16 | (groups > -3).all(1) << 17
    assert np.array_equal(ballots.reshape(8, 8), np.repeat(bits[:, None], 8, axis=1))
    assert ranks.tolist() == [rank + 100 * group for group in range(8) for rank in range(8)]


def test_coalesced_groups(bench: Bench) -> None:
    values = np.random.default_rng(2).integers(-4, 9, 128).astype(np.int32)
    _, out, counter = bench.clean(
        CUDA, "coalesced", 1, 128, values, np.zeros(128, np.int32), np.zeros(1, np.int32)
    )
    kept = values[values > 0]
    assert counter[0] == len(kept)
    assert np.array_equal(out[: len(kept)], kept)


def test_a_loop_that_loses_lanes(bench: Bench) -> None:
    values = np.array([lane * lane % 6 for lane in LANES], np.int32)
    out = bench.clean(CUDA, "leaders", 1, 32, values, np.zeros(32, np.int32))[1]
    order = list(dict.fromkeys(values.tolist()))
    counts = {v: values.tolist().count(v) for v in order}
    assert out.tolist() == [counts[v] * 100 + order.index(v) for v in values.tolist()]


def test_a_shuffle_behind_a_divergent_loop(bench: Bench) -> None:
    def value(thread: int) -> int:
        v = 0
        for i in range(thread % 7):
            if (i + thread) % 3 == 0:
                continue
            v += i
            if v > 4:
                break
        return v

    out = bench.clean(CUDA, "after_a_loop", 1, 64, np.zeros(64, np.int32))
    assert out.tolist() == [value(thread ^ 1) for thread in range(64)]


def test_syncwarp_on_two_sides_of_a_branch(bench: Bench) -> None:
    """__syncwarp() brings lanes together wherever each of them calls it."""
    out = bench.clean(CUDA, "producer_and_consumer", 1, 32, np.zeros(32, np.int32))
    assert out.tolist() == [0] * 16 + [3 * lane for lane in range(16)]


def test_turns(bench: Bench) -> None:
    out = bench.clean(CUDA, "ping_pong", 1, 32, np.zeros(32, np.int32))
    assert out.tolist() == [3000] * 16 + [6 * lane for lane in range(16)]


def test_waiting_in_vain(bench: Bench) -> None:
    ran = bench.cuda(CUDA, "in_vain", 1, 32, np.zeros(32, np.int32), np.int32(5))
    assert ran.findings == ["absent_lanes"]
    assert ran.arrays[0].tolist() == [1500 + (lane ^ 1) + 5 for lane in range(16)] + [
        1000 + lane for lane in range(16, 32)
    ]
