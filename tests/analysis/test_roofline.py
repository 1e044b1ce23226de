"""Roofs, ridges, and the compute-to-memory ratio from the counters of kernels."""

from dataclasses import replace

import pytest
from tiers import sample

from grader import cuda
from grader.analysis.devices import boards, named
from grader.analysis.intensity import instruction_ratio, ratio
from grader.analysis.roofline import Growth, place, roofs
from grader.emulator.nvrtc import compilation
from grader.report import pictures, rooflines
from grader.results import Climb, RungResult, load
from grader.workbook.content import content_root

H200 = named("H200")
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"

OUTER = """
template <int T, class V> __device__ void outer(float* out) {
  constexpr int WIDE = sizeof(V) / sizeof(float), STEPS = 16;
  __shared__ V tile[2][STEPS][32 * T / WIDE];
  for (int i = threadIdx.x; i < sizeof(tile) / sizeof(float); i += 32) reinterpret_cast<float*>(tile)[i] = i;
  __syncthreads();
  float sum[T][T] = {};
  #pragma unroll 1
  for (int k = 0; k < STEPS; k++) {
    V a[T / WIDE], b[T / WIDE];
    #pragma unroll
    for (int i = 0; i < T / WIDE; i++) {
      a[i] = tile[0][k][threadIdx.x * (T / WIDE) + i];
      b[i] = tile[1][k][threadIdx.x * (T / WIDE) + i];
    }
    #pragma unroll
    for (int i = 0; i < T; i++)
      #pragma unroll
      for (int j = 0; j < T; j++)
        sum[i][j] += reinterpret_cast<float*>(a)[i] * reinterpret_cast<float*>(b)[j];
  }
  for (int i = 0; i < T; i++)
    for (int j = 0; j < T; j++) out[(threadIdx.x * T + i) * T + j] = sum[i][j];
}
extern "C" __global__ void two_by_two(float* out) { outer<2, float>(out); }
extern "C" __global__ void eight_by_eight(float* out) { outer<8, float>(out); }
extern "C" __global__ void eight_by_eight_wide(float* out) { outer<8, float4>(out); }
"""


@pytest.mark.parametrize(
    ("kernel", "expected"), [("two_by_two", 1), ("eight_by_eight", 4), ("eight_by_eight_wide", 16)]
)
def test_the_ratio_of_register_tiles_comes_out_of_counters(kernel: str, expected: int) -> None:
    """T × T outputs a thread: T² multiply-adds for 2·T loads, or 2·T / 4 as float4s."""
    chosen = cuda.select("emulator")
    outer = chosen.driver.module_from_buffer(compilation.build(OUTER).image("emulator")).get_function(kernel)
    outer(chosen.driver.mem_alloc(32 * 64 * 4), block=(32, 1, 1), grid=(1, 1))
    (record,) = chosen.ext.launch_records()
    assert instruction_ratio(record.counters) == expected


def test_the_ratios_of_the_gemm_ladder() -> None:
    """By the sizes of its tiles: BM · BN / (2 · (BM + BN)) FLOP a byte through L1, TM · TN / (TM + TN) a load."""
    record = load(content_root() / "measurements" / "h200" / "gemm.json", Climb)
    found = {rung.id: rooflines.ratio_of(rung) for rung in record.rungs}
    assert found["02_shared_tile"].l1 == 32 * 32 / (2 * (32 + 32))
    assert found["04_register_tile_2d"].l1 == 128 * 128 / (2 * (128 + 128))
    assert found["03_register_tile_1d"].instruction == 8 / 9
    assert found["04_register_tile_2d"].instruction == 8 * 8 / (8 + 8)
    assert found["05_float4"].instruction == 4 * 8 * 8 / (8 + 8)
    assert found["00_naive"].dram == 2 * 512**3 / (3 * 4 * 512**2)


def test_nothing_has_a_ratio_that_computes_or_loads_nothing() -> None:
    assert ratio({}, 0, 100).dram is None
    assert ratio({FFMA: 64}, 128, None) == ratio({FFMA: 64}, 128, 0)
    assert instruction_ratio({FFMA: 64}) is None


def test_ridges_are_where_roofs_meet() -> None:
    for spec in boards():
        found = roofs(spec)
        assert found.dram < found.l2 < found.shared
        assert found.ridge("dram") > found.ridge("l2") > found.ridge("shared") > 0
        assert found.ridge("dram", "tensor") > found.ridge("dram", "fma")
        assert found.ridge("dram") * found.dram == pytest.approx(found.fma)
    # 128 lanes that multiply and add, and 128 bytes of shared memory, a clock of an H200's multiprocessor
    assert roofs(H200).ridge("shared") == 2.0


RUNG = RungResult(
    "05", "x.cu", "pass", time_s=1e-3, time_source="measured", flop=2 * 32_000_000_000, dram_bytes=1_000_000,
    l2_bytes=2_000_000, counters={FFMA: 32_000_000_000, WAVEFRONTS: 1000, SECTORS.format("ld"): 10},
    counter_source="emulated",
)  # fmt: skip


def test_a_rung_is_placed_under_the_nearest_roof() -> None:
    placed = place(H200, RUNG)
    assert placed is not None
    assert placed.limited_by == "fma"
    assert placed.share == pytest.approx(64e9 / 1e-3 / roofs(H200).fma)
    assert placed.work.intensity("dram") == 64_000
    moved = place(H200, replace(RUNG, dram_bytes=4_000_000_000, flop=0, counters={}))
    assert moved is not None
    assert (moved.limited_by, moved.work.intensity("dram")) == ("dram", None)
    assert moved.share == pytest.approx(4e9 / 1e-3 / H200.dram_read)


def test_what_was_counted_is_scaled_to_the_sizes_that_were_timed() -> None:
    placed = place(H200, RUNG, Growth(flop=8, bytes=4))
    assert placed is not None
    assert (placed.work.flop, placed.work.dram_bytes) == (8 * RUNG.flop, 4 * RUNG.dram_bytes)
    assert placed.work.l2_bytes == 8 * RUNG.l2_bytes


def test_records_without_bytes_of_l2_have_what_l1_was_asked_for() -> None:
    placed = place(H200, replace(RUNG, l2_bytes=None))
    assert placed is not None
    assert placed.work.l2_bytes == 320


def test_no_rung_stands_above_a_roof() -> None:
    """What was counted of PTX may be more than the roof lets through; then less was moved."""
    crowded = replace(RUNG, counters={WAVEFRONTS: 10**9, FFMA: 1000})
    placed = place(H200, crowded)
    assert placed is not None
    assert placed.roof_s["shared"] > placed.time_s
    assert (placed.limited_by, placed.share, placed.overcounted) == ("shared", 1.0, True)
    intensity = placed.intensity("shared")
    assert intensity is not None
    assert intensity * roofs(H200).shared == pytest.approx(placed.flop_rate)
    assert not place(H200, replace(RUNG, time_s=1.0)).overcounted  # type: ignore[union-attr]


@pytest.mark.parametrize("without", [{"time_s": None}, {"counters": None}])
def test_what_was_not_timed_or_not_counted_has_no_place(without: dict[str, None]) -> None:
    assert place(H200, replace(RUNG, **without)) is None


RECORDS = {
    f"{path.parent.name}/{path.stem}": path for path in (content_root() / "measurements").glob("*/*.json")
}


@pytest.mark.parametrize(
    "name", sample(sorted(RECORDS), [name for name in RECORDS if name.startswith("h200/")][::4], "judge")
)
def test_no_measured_rung_is_far_above_a_roof_of_dram_or_arithmetic(name: str) -> None:
    """Shared memory and L2 may be: ptxas merges loads, and L1 keeps lines from block to block. Of the gradients of a
    layer norm, partial sums are a fifth of the bytes at the counted size and some 4 % at the main size: on an H100
    the last rung is 6 % above the roof of its counted bytes."""
    for rung in rooflines.placed(load(RECORDS[name], Climb)):
        for roof in ("dram", "fma", "tensor"):
            assert rung.roof_s[roof] < 1.06 * rung.time_s, (rung.rung, roof)


@pytest.mark.parametrize(
    ("topic", "marked"),
    [("softmax", ["05_split_rows", "06_cluster"]), ("layernorm", ["05_split_rows"]), ("hgemm", [])],
)
def test_a_rung_is_marked_of_which_another_kernel_was_counted(topic: str, marked: list[str]) -> None:
    """Few rows are counted, and there a row goes to several blocks, whose threads have less than they could keep."""
    record = load(content_root() / "measurements" / "h200" / f"{topic}.json", Climb)
    assert [rung.rung for rung in rooflines.placed(record) if rung.other_kernel] == marked
    assert (rooflines.OTHER_KERNEL_SAID in pictures.roofline(record)) == bool(marked)
