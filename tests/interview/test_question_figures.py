"""Figures that questions hpc-01 to hpc-14 quote are those of the records and of the table of boards."""

import json
import re
from functools import cache

import pytest

from grader.analysis.devices import board
from grader.interview.bank import load
from grader.workbook.content import content_root

H100 = board("NVIDIA H100", "sm_90")


@cache
def ms(topic: str, rung: str) -> float:
    """The time of a rung on the H200, of its record."""
    record = json.loads((content_root() / "measurements" / "h200" / f"{topic}.json").read_text("utf-8"))
    return 1e3 * next(item["time_s"] for item in record["rungs"] if item["id"] == rung)


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
    ("hpc-08", r"feeds it better, ([\d.]+) ms", lambda: ms("hgemm", "08_fragments_ahead")),
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
    ("hpc-14", r"goes from ([\d.]+) to", lambda: ms("transpose", "02_shared_tile")),
    ("hpc-14", r"to ([\d.]+) ms by one word", lambda: ms("transpose", "03_padded_tile")),
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


@pytest.mark.parametrize(("question", "pattern", "computed"), QUOTED)
def test_a_quoted_figure_is_the_computed_one(question, pattern, computed):
    answer = re.sub(r"[*\s]+", " ", load(question).answer)
    (quoted,) = re.findall(pattern, answer)
    assert float(quoted.replace(",", "")) == pytest.approx(computed(), rel=0.05)
