"""Theoretical occupancy: known cases, each limit by itself, and agreement with the emulated driver."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.analysis.devices import board, boards, capability
from grader.analysis.occupancy import occupancy
from grader.emulator import devices as emulated
from grader.errors import WarpladderError


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "blocks", "limit"),
    [
        ("sm_90", 256, 32, 0, 8, "warps"),  # full
        ("sm_90", 1024, 32, 0, 2, "warps"),
        ("sm_90", 256, 128, 0, 2, "registers"),  # 4 warps a quarter
        ("sm_90", 256, 129, 0, 1, "registers"),  # rounded to 136: 3 warps a quarter, 12 in all
        ("sm_90", 1024, 64, 0, 1, "registers"),
        ("sm_90", 256, 32, 48 * 1024, 4, "shared memory"),  # 49 KiB with what CUDA keeps, 228 in all
        ("sm_90", 32, 32, 0, 32, "blocks"),  # half of the warps
        ("sm_86", 1024, 32, 0, 1, "warps"),  # 48 warps, two thirds
        ("sm_75", 256, 32, 0, 4, "warps"),
        ("sm_75", 64, 32, 8192, 8, "shared memory"),  # nothing is kept
        ("sm_80", 96, 33, 100, 16, "registers"),  # 33 is rounded to 40: 12 warps a quarter
        ("sm_90", 2048, 16, 0, 0, "block size"),
        ("sm_90", 256, 32, 228 * 1024, 0, "shared memory"),
    ],
)
def test_known_cases(arch: str, threads: int, registers: int, shared: int, blocks: int, limit: str) -> None:
    found = occupancy(capability(arch), threads, registers, shared)
    assert (found.blocks_per_sm, found.limited_by) == (blocks, limit)


def test_a_block_that_is_no_multiple_of_a_warp_fills_whole_warps() -> None:
    found = occupancy(capability("sm_90a"), 33, 32, 0)
    assert (found.warps_per_sm, found.fraction) == (64, 1.0)


@given(
    st.sampled_from(["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]),
    st.integers(1, 1024),
    st.integers(1, 255),
    st.integers(0, 64 * 1024),
)
def test_the_emulated_driver_says_the_same(arch: str, threads: int, registers: int, shared: int) -> None:
    expected = emulated.max_active_blocks(emulated.find(arch), threads, registers, shared)
    assert occupancy(capability(arch), threads, registers, shared).blocks_per_sm == expected


def test_boards_are_found_by_name_then_by_architecture() -> None:
    assert board("NVIDIA H200", "sm_90a").name == "NVIDIA H200"
    assert board("NVIDIA A100-SXM4-80GB", "sm_80").name == "NVIDIA A100"
    assert board("NVIDIA GH200 480GB", "sm_90a").capability.name == "9.0"
    with pytest.raises(WarpladderError, match="nothing is known of the GPU"):
        board("Tesla V100", "sm_70")


def test_no_ceiling_is_above_the_datasheet() -> None:
    for spec in boards():
        assert spec.dram_copy <= spec.dram_read < spec.peak_dram
        assert 2 * spec.capability.fma_lanes * spec.sms * spec.clock_hz <= 1.01 * spec.peak_flop
        assert spec.l2_scattered < spec.l2_rate
        assert spec.l1_latency < spec.l2_latency < spec.dram_latency
