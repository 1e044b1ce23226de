"""The time model against what an H200 was measured to do, and its order of both ladders."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from tiers import sample

from grader.analysis.devices import board
from grader.analysis.model import (
    FP32,
    OVERLAP,
    OVERLAP_ALONE,
    LaunchStats,
    l1_clocks,
    launch_stats,
    modelled_time,
)
from grader.emulator.machine.records import Counted
from grader.emulator.metrics import (
    ASYNC_COPIES,
    COPY_CONFLICTS,
    EXPANDED,
    FENCES,
    FP64_INSTRUCTIONS,
    GLOBAL_LINES,
    GLOBAL_REQUESTS,
    GLOBAL_SECTORS,
    GLOBAL_WAVEFRONTS,
    INTEGER_OPS,
    INTER_THREAD,
    PEER_BYTES,
    PEER_REQUESTS,
    PEER_SECTORS,
    PREFETCHED,
    SHARED_ATOMICS,
    SHARED_WAVEFRONTS,
    SLEPT,
    SPECIAL_FUNCTIONS,
    SPILLED,
    TENSOR_OPS,
    WARPGROUP_OPS,
)
from grader.emulator.places import UNKNOWN
from grader.judge.climb import climb
from grader.workbook import topics

H200 = board("NVIDIA H200", "sm_90a")


def copy(nbytes: int, floats_a_thread: int) -> LaunchStats:
    """A copy of `nbytes`, read once and written once, with blocks of 256 threads."""
    warps = nbytes // (4 * 32 * floats_a_thread)
    per_kind = {"ld": nbytes, "st": nbytes}
    counters = {GLOBAL_REQUESTS[kind]: float(warps) for kind in per_kind}
    counters |= {GLOBAL_SECTORS[kind]: total / 32 for kind, total in per_kind.items()}
    counters |= {GLOBAL_LINES[kind]: total / 128 for kind, total in per_kind.items()}
    return LaunchStats(
        blocks=warps // 8,
        block_threads=256,
        registers=16,
        shared_bytes=0,
        counters=counters | {"smsp__inst_executed.sum": 12.0 * warps},
        l1_clocks=2 * nbytes / 128,
        dram_read=nbytes,
        dram_write=nbytes,
        l2_read=nbytes,
    )


def test_a_block_alone_overlaps_less_unless_it_copies_asynchronously() -> None:
    """As rungs 03 and 04 of layernorm_backward: blocks of 1024 threads with 64 registers each."""
    two = copy(1 << 28, 4)
    alone = replace(two, block_threads=1024, blocks=two.blocks // 4, registers=64)
    asynchronous = replace(alone, counters={**alone.counters, ASYNC_COPIES: float(alone.warps)})
    for launch, overlap in ((two, OVERLAP), (alone, OVERLAP_ALONE), (asynchronous, OVERLAP)):
        found = modelled_time(H200, [launch])
        terms = [seconds for name, seconds in found.terms.items() if name != "launch"]
        joined = sum(term**overlap for term in terms) ** (1 / overlap)
        assert found.seconds == pytest.approx(joined + H200.launch_s)


@pytest.mark.parametrize(("floats", "measured"), [(1, 2731e9), (4, 4262e9)])
def test_copy_kernels_of_an_h200(floats: int, measured: float) -> None:
    """A scalar copy kernel cannot keep enough bytes in flight; one of float4s comes close to the ceiling."""
    nbytes = 4 << 30
    rate = 2 * nbytes / modelled_time(H200, [copy(nbytes, floats)]).seconds
    assert rate == pytest.approx(measured, rel=0.1)


@pytest.mark.parametrize(
    ("shared_bytes", "nbytes"),
    [
        (0, 132 * 20_000 + 10_000 * 50_000),
        (24 << 10, 10_000 * 70_000),  # of eight blocks: of 228 KiB too little is left
    ],
)
def test_what_blocks_share_comes_once_a_multiprocessor_if_it_fits(shared_bytes: int, nbytes: int) -> None:
    """Each of 10,000 blocks loads 70,000 bytes, of which 20,000 are those of all."""
    launch = replace(copy(1 << 20, 1), blocks=10_000, shared_bytes=shared_bytes, l2_read=10_000 * 70_000)
    shared, plain = (
        modelled_time(H200, [each]).terms
        for each in (replace(launch, l2_common=20_000), replace(launch, l2_read=nbytes))
    )
    assert shared == pytest.approx(plain, rel=0.01)


def test_arithmetic_from_registers_runs_at_the_measured_peak() -> None:
    fma = 1e12
    stats = replace(
        copy(1 << 20, 1),
        blocks=132 * 64,
        counters={FP32[0]: fma, "smsp__inst_executed.sum": fma / 32},
        l1_clocks=0,
    )
    assert modelled_time(H200, [stats]).terms["fma"] == pytest.approx(2 * fma / 64.9e12, rel=0.01)


def test_sixteen_special_functions_a_clock() -> None:
    stats = replace(copy(1 << 20, 1), blocks=132, counters={SPECIAL_FUNCTIONS: 132e6}, l1_clocks=0)
    assert modelled_time(H200, [stats]).terms["special"] == pytest.approx(2e6 / 1.92e9)


def test_divisions_take_the_slots_and_the_pipe_of_what_they_are_made_of() -> None:
    idle = replace(copy(1 << 20, 1), blocks=132 * 8, counters={}, l1_clocks=0)
    terms = modelled_time(H200, [replace(idle, counters={EXPANDED: 132e6, FP64_INSTRUCTIONS: 132e6})]).terms
    assert terms["issue"] == pytest.approx(1e6 / 4 / 1.92e9)
    assert terms["fp64"] == pytest.approx(1e6 / 2 / 1.92e9)


def test_tensor_cores_run_at_what_mma_sync_was_measured_to_make() -> None:
    stats = replace(
        copy(1 << 20, 1),
        blocks=132 * 64,
        counters={TENSOR_OPS["fp16", "fp32"]: 1e12},
        l1_clocks=0,
    )
    assert modelled_time(H200, [stats]).terms["tensor"] == pytest.approx(1e12 / 648e12)


@pytest.mark.parametrize(
    ("metric", "term", "rate"),
    [
        (TENSOR_OPS["fp16", "fp16"], "tensor", 648e12),
        (TENSOR_OPS["bf16", "fp32"], "tensor", 648e12),
        (TENSOR_OPS["tf32", "fp32"], "tensor", 324e12),
        (INTEGER_OPS["imma"], "tensor", 1296e12),
        (INTEGER_OPS["igmma"], "tensor", 1580e12),
        (TENSOR_OPS["fp64", "fp64"], "fp64", 4 * 64 * 132 * 1.92e9),
    ],
)
def test_tensor_cores_take_other_factors_at_other_rates(metric: str, term: str, rate: float) -> None:
    stats = replace(copy(1 << 20, 1), blocks=132 * 64, counters={metric: 1e12}, l1_clocks=0)
    assert modelled_time(H200, [stats]).terms[term] == pytest.approx(1e12 / rate)


@pytest.mark.parametrize(("factors", "rate"), [("fp16", 790e12), ("tf32", 395e12), ("fp8", 1580e12)])
def test_products_of_warpgroups_run_beside_all_else(factors: str, rate: float) -> None:
    idle = replace(copy(1 << 20, 1), blocks=132 * 64, l1_clocks=0)
    rest = modelled_time(H200, [idle]).seconds
    stats = [replace(idle, counters=idle.counters | {WARPGROUP_OPS[factors]: n}) for n in (1e12, 1e3)]
    long, short = (modelled_time(H200, [launch]) for launch in stats)
    assert long.terms["tensor"] == pytest.approx(1e12 / rate)
    assert long.seconds == pytest.approx(1e12 / rate + H200.launch_s)
    assert short.seconds == pytest.approx(rest)


@pytest.mark.parametrize("kind", ["red", "atom"])
def test_atomics_run_at_what_l2_was_measured_to_update(kind: str) -> None:
    idle = replace(copy(1 << 20, 1), counters={}, l2_read=0)
    assert modelled_time(H200, [idle]).terms["l2"] == 0
    stats = replace(idle, counters={GLOBAL_SECTORS[kind]: 1e9})
    assert modelled_time(H200, [stats]).terms["l2"] == pytest.approx(32e9 / 2200e9)


def test_updates_of_one_word_follow_each_other() -> None:
    stats = replace(copy(1 << 20, 1), atomics_a_word=1e6)
    assert modelled_time(H200, [stats]).terms["atomics"] == pytest.approx(3.4e6 / 1.92e9)
    assert modelled_time(H200, [copy(1 << 20, 1)]).terms["atomics"] == 0
    printing = replace(copy(1 << 20, 1), host_calls=1e6)
    assert modelled_time(H200, [printing]).terms["atomics"] == pytest.approx(3.4e6 / 1.92e9)


def test_atomics_in_shared_memory_run_at_what_an_sm_was_measured_to_make() -> None:
    """Wavefronts take a clock each; loops of compare-and-swaps take longer than theirs."""
    idle = replace(copy(1 << 20, 1), blocks=132, counters={}, l1_clocks=0, l2_read=0)
    native = {SHARED_ATOMICS["alu"]: 1e6, SHARED_WAVEFRONTS["atom"]: 32e6}
    loops = {SHARED_ATOMICS["cas"]: 32e6, SHARED_WAVEFRONTS["atom"]: 64e6}
    for counters, clocks in ((native, 32e6), (loops, 2.9 * 32e6)):
        modelled = modelled_time(H200, [replace(idle, counters=counters)])
        assert modelled.terms["l1"] == pytest.approx(clocks / 132 / 1.92e9)


def test_a_warp_waits_for_each_of_its_compare_and_swaps() -> None:
    idle = replace(copy(1 << 20, 1), blocks=132, counters={}, l1_clocks=0, l2_read=0)
    swaps = idle.working_warps * 1e3
    without, waiting = (
        modelled_time(H200, [replace(idle, counters=counters)]).terms["latency"]
        for counters in ({}, {SHARED_ATOMICS["cas"]: swaps})
    )
    assert waiting - without == pytest.approx(97e3 / 1.92e9)


@pytest.mark.parametrize(
    ("scope", "warps", "clocks"), [("gl", 1, 674), ("gl", 64, 1024), ("sys", 1, 1399), ("sys", 64, 8064)]
)
def test_a_warp_waits_for_its_fences(scope: str, warps: int, clocks: int) -> None:
    """On an H100 64 warps of a multiprocessor took 1011 and 8069 clocks for one each (benchmarks/expansions.cu)."""
    blocks = 132 * max(1, warps // 32)
    threads = 32 * min(warps, 32)
    idle = replace(copy(1 << 20, 1), blocks=blocks, block_threads=threads, counters={}, l2_read=0)
    fenced = replace(idle, counters={FENCES[scope]: 132.0 * warps})
    terms = [modelled_time(H200, [launch]).terms["latency"] for launch in (idle, fenced)]
    assert terms[1] - terms[0] == pytest.approx(clocks / 1.92e9)


def test_warps_that_take_turns_wait_for_each_others_loads() -> None:
    """Of blocks of eight warps: half of these may well do what all do."""
    usual = copy(1 << 30, 1)
    usual = replace(usual, counters={name: 64 * count for name, count in usual.counters.items()})
    loaded = usual.counters[GLOBAL_SECTORS["ld"]]
    waits = [
        modelled_time(H200, [replace(usual, load_path=path)]).terms["latency"]
        for path in (0, loaded / 8, loaded / 4, loaded)
    ]
    assert waits[0] == waits[1] == waits[2]
    clocks = [H200.clock_hz * wait / (usual.blocks / (8 * H200.sms)) - H200.block_clocks for wait in waits]
    assert clocks[3] == pytest.approx(8 * clocks[0])


def test_a_warp_that_sleeps_takes_its_place() -> None:
    idle = replace(
        copy(1 << 20, 1), blocks=132 * 8 * 3, counters={}, l2_read=0
    )  # three times what is resident
    asleep = replace(idle, counters={SLEPT: 1e3 * idle.warps})
    terms = [modelled_time(H200, [launch]).terms["latency"] for launch in (idle, asleep)]
    assert terms[1] - terms[0] == pytest.approx(3e-6)


def test_bank_conflicts_of_copies_take_clocks_of_l1() -> None:
    idle = replace(copy(1 << 20, 1), blocks=132, counters={}, l1_clocks=0, l2_read=0)
    stats = replace(idle, counters={COPY_CONFLICTS: 132e6})
    assert modelled_time(H200, [stats]).terms["l1"] == pytest.approx(1e6 / 1.92e9)


def test_a_shuffle_of_a_warp_takes_a_clock_of_l1() -> None:
    idle = replace(copy(1 << 20, 1), blocks=132 * 64, counters={}, l1_clocks=0, l2_read=0)
    stats = replace(idle, counters={INTER_THREAD: 32 * 132 * 1e6})
    assert modelled_time(H200, [idle]).terms["l1"] == 0
    assert modelled_time(H200, [stats]).terms["l1"] == pytest.approx(1e6 / 1.92e9)


@pytest.mark.parametrize(("prefetched", "for_nobody"), [(64, 0), (100, 4 * 36 * 32)])
def test_what_is_prefetched_beyond_what_is_loaded_comes_from_dram(prefetched: int, for_nobody: int) -> None:
    """A quarter of the launch was run, which loads 64 sectors."""
    stats = launch_stats(Record(counters={PREFETCHED: prefetched}), array_bytes=3000)
    assert stats.prefetched == for_nobody
    before, after = (
        modelled_time(H200, [each]).terms["dram"] for each in (replace(stats, prefetched=0), stats)
    )
    assert after - before == pytest.approx(for_nobody / H200.dram_read)


@pytest.mark.parametrize(
    ("local_bytes", "past"),
    [
        (64, ()),  # of 2048 threads
        (128, ("l2",)),  # more than the L1 cache holds
        (512, ("l2", "dram")),  # more than a multiprocessor's share of L2
    ],
)
def test_spilled_registers_go_past_caches_that_do_not_hold_them(
    local_bytes: int, past: tuple[str, ...]
) -> None:
    idle = replace(copy(1 << 20, 1), blocks=132 * 64, counters={}, l1_clocks=0, l2_read=0)
    spilling = replace(idle, counters=dict.fromkeys(SPILLED.values(), 132e6), local_bytes=local_bytes)
    before, after = (modelled_time(H200, [launch]).terms for launch in (idle, spilling))
    more = {name: after[name] - before[name] for name in ("issue", "l1", "l2", "dram")}
    brought = 1e6 * 4 / 2 if past else 0  # of four sectors two come in a clock
    assert more["l1"] == pytest.approx((2e6 + brought) / 1.92e9)
    assert more["issue"] == pytest.approx(2e6 / 4 / 1.92e9)
    rates = {"l2": H200.l2_rate, "dram": H200.dram_copy}
    for name, rate in rates.items():
        assert more[name] == pytest.approx(2 * 132e6 * 128 / rate if name in past else 0)


def test_shared_memory_of_another_block_takes_longer_than_the_own() -> None:
    """32 words in one bank are as many sectors there, which pass the network between SMs besides."""
    idle = replace(copy(1 << 20, 1), blocks=132, counters={}, l1_clocks=0, l2_read=0)
    requests = 1e6 * idle.working_warps
    own = {SHARED_WAVEFRONTS["ld"]: 32 * requests}
    there = {
        PEER_REQUESTS["ld"]: requests,
        PEER_SECTORS["ld"]: 32 * requests,
        PEER_BYTES["ld"]: 32 * 32 * requests,
    }
    here, other = (modelled_time(H200, [replace(idle, counters=counters)]) for counters in (own, there))
    assert other.terms["l1"] == pytest.approx(here.terms["l1"])
    assert other.terms["cluster"] == pytest.approx(32 * 32 * requests / 132 / 16 / 1.92e9)
    waited = other.terms["latency"] - here.terms["latency"]
    assert waited == pytest.approx(1e6 / 4 * 180 / 1.92e9)


def test_a_grid_that_leaves_multiprocessors_idle_takes_as_long_as_one_that_does_not() -> None:
    full, less = (
        modelled_time(H200, [replace(copy(1 << 24, 1), blocks=blocks, counters={FP32[0]: blocks * 1e9})])
        for blocks in (264, 133)
    )
    assert less.terms["fma"] == pytest.approx(full.terms["fma"])


def test_launches_follow_each_other() -> None:
    one, two = (modelled_time(H200, [copy(1 << 20, 1)] * count) for count in (1, 2))
    assert two.seconds == pytest.approx(2 * one.seconds)
    with pytest.raises(ValueError, match="no launches"):
        modelled_time(H200, [])


def test_a_block_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        modelled_time(H200, [replace(copy(1 << 20, 1), shared_bytes=1 << 20)])


@pytest.mark.parametrize(
    ("lines", "wavefronts", "clocks"),
    [
        (10, 10, 10),  # a float a lane, neighbours
        (40, 40, 40),  # a float4 a lane, neighbours
        (320, 320, 320),  # a column whose rows begin in one bank
        (320, 10, 80),  # whose rows begin in all of them: four lines are looked up a clock
    ],
)
def test_clocks_of_l1(lines: int, wavefronts: int, clocks: int) -> None:
    counters = {GLOBAL_LINES["ld"]: lines, GLOBAL_WAVEFRONTS["ld"]: wavefronts}
    assert l1_clocks(counters) == clocks


@dataclass(frozen=True)
class Record:
    """A launch of which a quarter was run."""

    kernel: str = "k"
    block: tuple[int, int, int] = (32, 8, 1)
    registers: int = 32
    shared_bytes: int = 0
    blocks_run: int = 2
    grid_blocks: int = 8
    counters: Mapping[str, int] = field(default_factory=lambda: {GLOBAL_SECTORS["ld"]: 64})
    lines: Sequence[Counted] = (Counted(UNKNOWN, {GLOBAL_LINES["ld"]: 64, GLOBAL_WAVEFRONTS["ld"]: 8}),)
    dram_read_bytes: int = 1000
    dram_write_bytes: int = 100
    l2_read_bytes: int = 2048
    l2_common_bytes: int = 512
    longest_warp: int = 50
    load_path: int = 6
    atomics_a_word: float = 0.0
    local_bytes: int = 0
    host_calls: Mapping[str, int] = field(default_factory=lambda: {"printf": 3, "free": 2})


def test_blocks_that_were_run_stand_for_all() -> None:
    stats = launch_stats(Record(), array_bytes=3000)
    assert (stats.blocks, stats.block_threads, stats.warps) == (8, 256, 64)
    assert (stats.counters[GLOBAL_SECTORS["ld"]], stats.l1_clocks) == (256, 64)
    assert (stats.dram_read, stats.dram_write, stats.l2_read, stats.l2_common) == (3000, 400, 8192, 512)
    assert launch_stats(Record(atomics_a_word=5), array_bytes=3000).atomics_a_word == 5
    assert (stats.host_calls, stats.load_path) == (20, 24)
    with pytest.raises(ValueError, match="no block"):
        launch_stats(Record(blocks_run=0), 3000)


@pytest.mark.soak(area="judge")
@pytest.mark.slow
@pytest.mark.parametrize("name", sample(["transpose", "gemm"], ["transpose"], "judge"))
def test_every_rung_is_modelled_faster_than_the_one_before(name: str) -> None:
    """Up to ties: a tile with bank conflicts against strided reads, padding against swizzling."""
    times = [rung.time_s or math.inf for rung in climb(topics.load(name), "emulator").rungs]
    for before, after in itertools.pairwise(times):
        assert after < 1.05 * before
    assert times[-1] == min(times)


def test_a_launch_takes_no_less_than_its_longest_warp() -> None:
    usual = copy(1 << 20, 1)
    slow = replace(usual, rarest_warp=1.92e9)
    assert modelled_time(H200, [slow, usual]).seconds == pytest.approx(1.0, rel=0.01)
