"""Figures that questions hpc-01 to hpc-14 quote are those of the records, of our kernels and of the table of boards."""

import json
import re
from functools import cache

import pytest

from grader.analysis.access import LANES
from grader.analysis.devices import board
from grader.interview import bank
from grader.interview.counted import counted, recorded
from grader.workbook.content import content_root

H100 = board("NVIDIA H100", "sm_90")


@cache
def questions() -> dict[str, bank.Question]:
    return bank.discover()


def ms(topic: str, rung: str) -> float:
    """The time of a rung on the H200, of its record."""
    return 1e3 * recorded(topic, rung)


def sectors_a_step(rung: str) -> float:
    """Sectors that a warp's loads take for a step of k of the FP32 product, of its PTX."""
    counts = counted("gemm", rung)
    multiply_adds = counts["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] / LANES
    return counts["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] / multiply_adds


def shared_wavefronts(rung: str) -> float:
    """Wavefronts of shared memory, loads and stores, of the FP32 product's PTX."""
    counts = counted("gemm", rung)
    return sum(counts[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{kind}.sum"] for kind in ("ld", "st"))


def bound_ms(topic: str) -> float:
    """The measured bound of a topic on the H200."""
    record = json.loads((content_root() / "measurements" / "h200" / f"{topic}.json").read_text("utf-8"))
    return float(1e3 * record["bound"]["time_s"])


QUOTED = [
    ("hpc-04", r"took (\d+) ms from pageable", lambda: ms("streams", "00_naive")),
    ("hpc-04", r"(\d+) ms from pinned", lambda: ms("streams", "01_pinned")),
    ("hpc-04", r"(\d+) ms with two streams", lambda: ms("streams", "03_two_streams")),
    ("hpc-04", r"(\d+) ms with enough chunks", lambda: ms("streams", "05_depth_first")),
    ("hpc-04", r"alone takes (\d+) ms", lambda: bound_ms("streams")),
    ("hpc-08", r"first Tensor Core version takes ([\d.]+) ms", lambda: ms("hgemm", "02_wmma")),
    ("hpc-08", r"feeds it better, takes ([\d.]+) ms", lambda: ms("hgemm", "08_fragments_ahead")),
    ("hpc-12", r"took it from ([\d.]+) to", lambda: ms("transpose", "00_naive")),
    ("hpc-12", r"to ([\d.]+) ms on an H200", lambda: ms("transpose", "01_coalesced_writes")),
    ("hpc-12", r"did it reach ([\d.]+\d)", lambda: ms("transpose", "03_padded_tile")),
    (
        "hpc-12",
        r"runs at (\d+) % of a plain copy",
        lambda: 100 * bound_ms("transpose") / ms("transpose", "05_float4_tile"),
    ),
    ("hpc-13", r"reads takes ([\d.]+) ms", lambda: ms("transpose", "01_coalesced_writes")),
    ("hpc-13", r"writes ([\d.]+) ms", lambda: ms("transpose", "00_naive")),
    ("hpc-13", r"from (\d+) sectors to", lambda: sectors_a_step("00_naive")),
    ("hpc-13", r"sectors to (\d+)\.", lambda: sectors_a_step("01_coalesced")),
    (
        "hpc-14",
        r"only ([\d.]+) % of the time",
        lambda: 100 - 100 * ms("gemm", "06_warp_tile") / ms("gemm", "05_float4"),
    ),
    ("hpc-14", r"goes from ([\d.]+) to", lambda: ms("transpose", "02_shared_tile")),
    ("hpc-14", r"to ([\d.]+) ms with one word", lambda: ms("transpose", "03_padded_tile")),
    ("hpc-14", r"take it from ([\d.]+) to", lambda: ms("hgemm", "04_warp_tile")),
    ("hpc-14", r"from [\d.]+ to ([\d.]+) ms\.", lambda: ms("hgemm", "05_padded_tile")),
    ("hpc-05", r"× 2048 = ([\d,]+) threads", lambda: H100.sms * H100.capability.warps * 32),
    ("hpc-05", r"has ([\d.]+) TFLOP/s in FP32", lambda: H100.peak_flop / 1e12),
    ("hpc-05", r"PCIe 5.0 carries about (\d+) GB/s", lambda: H100.link.copy_in / 1e9),
    ("hpc-08", r"H100 does (\d+) operations", lambda: H100.peak_tensor / H100.peak_dram),
    ("hpc-08", r"board that is (\d+),", lambda: ratio("Tesla T4")),
    ("hpc-08", r"board that is \d+, (\d+),", lambda: ratio("NVIDIA A100")),
    ("hpc-08", r"(\d+) and \d+ times, and", lambda: ratio("NVIDIA H100")),
    ("hpc-08", r"and (\d+) times, and", lambda: ratio("NVIDIA B200")),
]


def ratio(name: str) -> float:
    """Tensor Cores' peak over that of FP32."""
    spec = board(name, "")
    return spec.peak_tensor / spec.peak_flop


@pytest.mark.soak(area="interview")
@pytest.mark.parametrize(("question", "pattern", "computed"), QUOTED)
def test_a_quoted_figure_is_the_computed_one(question, pattern, computed):
    answer = re.sub(r"[*\s]+", " ", bank.find(questions(), question).answer)
    (quoted,) = re.findall(pattern, answer)
    assert float(quoted.replace(",", "")) == pytest.approx(computed(), rel=0.05)


@pytest.mark.soak(area="interview")
def test_a_warp_tile_takes_a_third_off_the_wavefronts():
    assert "removes a third of the wavefronts, counted in PTX" in re.sub(
        r"\s+", " ", bank.find(questions(), "banks").answer
    )
    assert shared_wavefronts("06_warp_tile") / shared_wavefronts("05_float4") == pytest.approx(
        2 / 3, rel=0.05
    )


def test_multi_head_latent_attention_does_so_many_operations_a_byte():
    answer = re.sub(r"\s+", " ", bank.find(questions(), "tensor-cores").answer)
    (heads, numbers, quoted) = re.findall(
        r"where (\d+) heads read the same (\d+) numbers, does (\d+),", answer
    )[0]
    latent, rotary = 512, 64  # of DeepSeek-V2; scores take both, values the first alone
    assert int(numbers) == latent + rotary
    operations = 2 * int(heads) * (latent + rotary + latent)
    assert round(operations / (2 * (latent + rotary))) == int(quoted)
