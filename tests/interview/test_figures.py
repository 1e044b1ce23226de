"""Figures that questions from hpc-16 on and the coding rounds quote are those of the records and of the boards."""

import json
import re
from functools import cache
from itertools import pairwise
from math import ceil
from typing import Any

import pytest

from grader.analysis.devices import board
from grader.emulator.nvrtc import compilation
from grader.interview import rounds
from grader.interview.bank import load
from grader.interview.counted import counted
from grader.lab.machine_code import machine_code
from grader.workbook.content import content_root
from grader.workbook.topics import load as load_topic

TOPICS = ("gemm", "reduce", "reduce2d", "conv2d", "streams", "transfer", "hgemm")
H200 = board("NVIDIA H200", "sm_90a")
IN_FLIGHT = H200.peak_dram * H200.dram_latency / H200.clock_hz  # bytes, on an idle board


@cache
def record(topic: str) -> dict[str, Any]:
    """The record of a topic on the H200."""
    return json.loads((content_root() / "measurements" / "h200" / f"{topic}.json").read_text("utf-8"))


def ms(topic: str, rung: str) -> float:
    """The time of a rung."""
    return 1e3 * next(item["time_s"] for item in record(topic)["rungs"] if item["id"] == rung)


def library_ms(topic: str) -> float:
    """The time of the library."""
    return 1e3 * record(topic)["baselines"][0]["time_s"]


def measured(topic: str, rung: str) -> bool:
    """Whether the record has the rung."""
    return any(item["id"] == rung for item in record(topic)["rungs"])


def percent_of_cublas(rung: str) -> list[float]:
    """Medians at the sizes at which FFMAs were timed beside cuBLAS on an H100."""
    file = content_root() / "measurements" / "h100-80gb-hbm3" / "ffma_gemm.txt"
    lines = file.read_text("utf-8").splitlines()
    return [float(line.split()[-4]) for line in lines if line.startswith(rung) and " ms " in line]


def tflops(topic: str, rung: str) -> float:
    """The rate of a product of 4096³."""
    return 2 * 4096**3 / ms(topic, rung) / 1e9


def product_us(rung: str) -> float:
    """The time of one of the hundred products of `transfer`."""
    return 10 * ms("transfer", rung)


QUOTED = [
    ("hpc-16", r"versions reach ([\d.]+), ", lambda: tflops("gemm", "02_shared_tile")),
    ("hpc-16", r"versions reach [\d.]+, (\d+) and", lambda: tflops("gemm", "04_register_tile_2d")),
    ("hpc-16", r"and (\d+) of 66.9 TFLOP/s", lambda: tflops("gemm", "05_float4")),
    ("hpc-17", r"went from ([\d.]+) to [\d.]+ ms with a double", lambda: ms("gemm", "06_warp_tile")),
    ("hpc-17", r"([\d.]+) ms with a double buffer", lambda: ms("gemm", "07_double_buffer")),
    ("hpc-17", r"from ([\d.]+) to [\d.]+ ms with three", lambda: ms("hgemm", "05_padded_tile")),
    ("hpc-17", r"([\d.]+) ms with three stages", lambda: ms("hgemm", "06_cp_async")),
    ("hpc-21", r"TB/s, (\d+) FLOP a byte; on an A100", lambda: H200.peak_flop / H200.peak_dram),
    ("hpc-21", r"on an A100 it is ([\d.]+) with 80 GB", lambda: ridge("NVIDIA A100")),
    ("hpc-21", r"on an RTX 4090 it is (\d+), because", lambda: ridge("NVIDIA GeForce RTX 4090")),
    ("hpc-21", r"it is (\d+) on an H200", lambda: H200.peak_tensor / H200.peak_dram),
    ("hpc-21", r"it would be (\d+), more", lambda: 4 * ridge("NVIDIA GeForce RTX 4090")),
    ("hpc-23", r"that is ([\d.]+) TFLOP/s at best", lambda: H200.peak_dram / 4e12),
    ("hpc-24", r"that is ([\d.]+) MB in flight", lambda: IN_FLIGHT / 1e6),
    ("hpc-24", r"([\d.]+) KB for each of 132", lambda: IN_FLIGHT / H200.sms / 1e3),
    ("hpc-25", r"about (\d+) GB/s of PCIe 5.0", lambda: H200.link.copy_in / 1e9),
    ("hpc-25", r"(\d+) µs with NumPy", lambda: 10 * 1e3 * record("transfer")["baselines"][2]["time_s"]),
    ("hpc-25", r"(\d+) µs on the GPU with copies", lambda: product_us("00_naive")),
    ("hpc-25", r"(\d+) µs when A and X stay", lambda: product_us("01_stay_on_device")),
    ("hpc-25", r"(\d+) µs when the hundred launches", lambda: product_us("03_graph")),
    ("hpc-15", r"reaches (\d+) % of cuBLAS", lambda: 100 * library_ms("gemm") / ms("gemm", "09_wide_tile")),
    ("hpc-27", r"reaches (\d+) % of cuBLAS", lambda: 100 * library_ms("gemm") / ms("gemm", "09_wide_tile")),
    (
        "hpc-27",
        r"factor of ([\d.]+) at one",
        lambda: library_ms("conv2d") / ms("conv2d", "07_winograd_fused"),
    ),
]


def ridge(name: str) -> float:
    """FLOP a byte at which FP32 and DRAM are both busy."""
    spec = board(name, "")
    return spec.peak_flop / spec.peak_dram


@pytest.mark.soak(area="interview")
@pytest.mark.parametrize(("question", "pattern", "computed"), QUOTED)
def test_a_quoted_figure_is_the_computed_one(question, pattern, computed):
    answer = re.sub(r"\s+", " ", load(question).answer)
    (quoted,) = re.findall(pattern, answer)
    assert float(quoted) == pytest.approx(computed(), rel=0.05)


@pytest.mark.parametrize("topic", [*TOPICS, "transpose", "softmax"])
def test_a_rounds_answer_gives_the_share_of_the_bound_or_the_library(topic):
    for item in rounds.read_interview(load_topic(topic)).rounds:
        answer = re.sub(r"\s+", " ", item.answer)
        for share, whose in re.findall(r"([\d.]+) % of (?:the |a )?(bound|plain copy|cuBLAS|cuDNN)", answer):
            if not measured(topic, item.rung):
                assert whose == "cuBLAS"
                assert any(abs(found - float(share)) <= 1 for found in percent_of_cublas(item.rung)), (
                    item.rung
                )
                continue
            best = library_ms(topic) if whose.startswith("cu") else 1e3 * record(topic)["bound"]["time_s"]
            assert float(share) == pytest.approx(100 * best / ms(topic, item.rung), abs=1), item.rung


@pytest.mark.soak(area="interview")
@pytest.mark.parametrize(
    "topic",
    [
        *TOPICS,
        "transpose",
        "softmax",
        "layernorm",
        "layernorm_backward",
        "rmsnorm",
        "gemv",
        "gemv_int4",
        "attention",
        "decode",
    ],
)
def test_no_ratio_has_the_same_answer_twice_in_a_row(topic):
    asked = [
        (r.rung, r.ratio) for r in rounds.read_interview(load_topic(topic)).rounds if r.ratio is not None
    ]
    found = [(ratio.text, ratio.value.evaluate(counted(topic, rung))) for rung, ratio in asked]
    for (text, before), (other, after) in pairwise(found):
        assert text != other or after != pytest.approx(before, rel=0.1)


def test_the_interview_on_softmax_quotes_the_boards_figures():
    interview = rounds.read_interview(load_topic("softmax"))
    elements, rows = 16384**2, 16384 * 4
    error = next(item for item in interview.common_errors if "compute-bound" in item.says)
    quoted = [
        (interview.answer, r"([\d.]+) ms at the rate of a copy", 1e3 * 8 * elements / H200.dram_copy),
        (interview.rounds[1].answer, r"64 KB are ([\d.]+) MB", 8 * H200.sms * rows / 1e6),
        (interview.rounds[1].answer, r"more than the ([\d.]+) of an H200", H200.l2_bytes / 1e6),
        (
            error.correction,
            r"multiprocessors take ([\d.]+) µs",
            1e6 * elements / (16 * H200.sms * H200.clock_hz),
        ),
        (error.correction, r"the bytes take ([\d.]+)", 1e6 * 8 * elements / H200.dram_copy),
    ]
    for text, pattern, computed in quoted:
        (found,) = re.findall(pattern, re.sub(r"\s+", " ", text))
        assert float(found) == pytest.approx(computed, rel=0.02), pattern


def test_the_interview_on_layer_norm_quotes_the_boards_figures():
    interview = rounds.read_interview(load_topic("layernorm"))
    elements, rows = 8192**2, 8 * H200.sms
    answers = {item.rung: item.answer for item in interview.rounds}
    third = next(probe for probe in interview.probes if probe.name == "what_a_third_saves")
    quoted = [
        (interview.answer, r"For 8192² that is (\d+) MB", 4 * elements / 1e6),
        (interview.answer, r"which takes (\d+) µs on an H200", 1e6 * 4 * elements / H200.dram_copy),
        (answers["00_naive"], r"8192 threads are (\d+) %", 100 * 8192 / (2048 * H200.sms)),
        (answers["01_block_a_row"], r"rows in flight are (\d+) MB", rows * 2 * 8192 / 1e6),
        (answers["01_block_a_row"], r"L2 cache has (\d+) MB", H200.l2_bytes / 1e6),
        (answers["05_split_rows"], r"8192² has ([\d.]+)", H200.dram_copy / 1e12),
        (answers["05_split_rows"], r"µs are ([\d.]+) TB/s", 4 * 256 * 2**20 / 426e6),
        (third.text, r"4.2 TB/s would take (\d+) µs", 4 * 256 * 2**20 / 4.2e6),
        (third.explain, r"would take (\d+) µs", 461 * 4 / 6),
    ]
    for text, pattern, computed in quoted:
        (found,) = re.findall(pattern, re.sub(r"\s+", " ", text))
        assert float(found) == pytest.approx(computed, rel=0.03), pattern


@pytest.mark.soak(area="interview")
def test_the_ratios_of_layer_norm_are_explained_by_what_is_counted():
    quoted = {
        "00_naive": r"makes (130) bytes",
        "01_block_a_row": r"2 bytes each: (12)\.",
        "02_welford": r"2 bytes each: (10)\.",
        "04_registers": r"or ([\d.]+) for 1,000",
        "05_split_rows": r"for each: (128)\.",
    }
    for item in rounds.read_interview(load_topic("layernorm")).rounds:
        found = re.search(quoted[item.rung], re.sub(r"\s+", " ", item.ratio.explain))
        assert item.ratio.value.evaluate(counted("layernorm", item.rung)) == pytest.approx(
            float(found[1]), rel=0.01
        ), item.rung


def test_the_interview_on_the_backward_layer_norm_quotes_what_follows_from_counting():
    interview = rounds.read_interview(load_topic("layernorm_backward"))
    answers = {item.rung: item.answer for item in interview.rounds}
    moved = 6 * 8192**2
    place = 2 * 2 * 8192 / 1024  # KiB of a row of x and one of dy
    instructions = next(probe for probe in interview.probes if probe.name == "time_of_instructions")
    quoted = [
        (interview.answer, r"backward pass moves (\d+) MB", moved / 1e6),
        (interview.answer, r"which takes (\d+) µs on an H200", 1e6 * moved / H200.dram_copy),
        (answers["00_naive"], r"8192 threads are (\d+) %", 100 * 8192 / (2048 * H200.sms)),
        (answers["01_block_a_row"], r"8192 columns are (\d+) warps", 8192 / 32),
        (answers["01_block_a_row"], r"8192 threads load (\d+) GB/s", 4 * 4 * 8192 / 600),
        (answers["01_block_a_row"], r"give (\d+) times the threads", 8192 / 64),
        (answers["02_bands"], r"which has (\d+) bytes of x and dy", 64 * 4),
        (answers["02_bands"], r"at a time, (\d+) on an H200", H200.sms),
        (answers["03_one_pass"], r"132 blocks, (\d+) % of it", 100 * 2 * 8 * H200.sms * 8192 / moved),
        (answers["03_one_pass"], r"x and dy is (\d+) KiB at 8192", 3 * place),
        (answers["03_one_pass"], r"on their way, (\d+) KiB", 2 * place),
        (answers["04_rows_ahead"], r"8192 columns, (\d+) KiB of rows", 2 * place),
        (instructions.explain, r"bytes take about (\d+) µs on an H200", 1e6 * moved / H200.dram_copy),
    ]
    for text, pattern, computed in quoted:
        (found,) = re.findall(pattern, re.sub(r"\s+", " ", text))
        assert float(found) == pytest.approx(computed, rel=0.08 if "of it" in pattern else 0.02), pattern


@pytest.mark.soak(area="interview")
def test_the_ratios_of_the_backward_layer_norm_are_explained_by_what_is_counted():
    quoted = {
        "00_naive": r"makes (168) bytes",
        "01_block_a_row": r"makes (21) bytes",
        "02_bands": r"makes ([\d.]+) bytes",
        "03_one_pass": r"makes ([\d.]+) bytes",
        "04_rows_ahead": r"or ([\d.]+) for 1,000",
    }
    for item in rounds.read_interview(load_topic("layernorm_backward")).rounds:
        found = re.search(quoted[item.rung], re.sub(r"\s+", " ", item.ratio.explain))
        assert item.ratio.value.evaluate(counted("layernorm_backward", item.rung)) == pytest.approx(
            float(found[1]), rel=0.01
        ), item.rung


def test_the_interview_on_the_rms_norm_quotes_what_follows_from_counting():
    interview = rounds.read_interview(load_topic("rmsnorm"))
    answers = {item.rung: item.answer for item in interview.rounds}
    elements, started = 8192**2, 132 * 4 * 1.8e9
    quoted = [
        (interview.answer, r"kernel moves (\d+) MB", 8 * elements / 1e6),
        (interview.answer, r"which takes (\d+) µs on an H200", 1e6 * 8 * elements / H200.dram_copy),
        (answers["00_naive"], r"8192 threads are (\d+) %", 100 * 8192 / (2048 * H200.sms)),
        (answers["01_block_a_row"], r"that is (\d+) MB of sums", 8 * H200.sms * 2 * 8192 / 1e6),
        (answers["01_block_a_row"], r"L2 cache has (\d+) MB", H200.l2_bytes / 1e6),
        (answers["01_block_a_row"], r"1024 threads, (\d+) registers", 8192 / 1024 / 2),
        (answers["02_registers"], r"could start about (\d+) in SASS", started * 8 * 32 / 4e12),
    ]
    for text, pattern, computed in quoted:
        (found,) = re.findall(pattern, re.sub(r"\s+", " ", text))
        assert float(found) == pytest.approx(computed, rel=0.02), pattern


@pytest.mark.soak(area="interview")
def test_the_ratios_of_the_rms_norm_are_explained_by_what_is_counted():
    items = {item.rung: item for item in rounds.read_interview(load_topic("rmsnorm")).rounds}
    quoted = {
        "00_naive": r"makes (161) bytes",
        "01_block_a_row": r"makes (12) bytes",
        "02_registers": r"makes ([\d.]+) for 1,000",
    }
    for rung, pattern in quoted.items():
        found = re.search(pattern, re.sub(r"\s+", " ", items[rung].ratio.explain))
        value = items[rung].ratio.value.evaluate(counted("rmsnorm", rung))
        assert value == pytest.approx(float(found[1]), rel=0.01), rung
    last = items["02_registers"]
    before = re.search(r"SASS, ([\d.]+) for 1,000", re.sub(r"\s+", " ", last.ratio.explain))
    value = last.ratio.value.evaluate(counted("rmsnorm", "01_block_a_row"))
    assert value == pytest.approx(float(before[1]), rel=0.01)


def test_the_machine_code_of_the_rms_norm_is_as_long_as_its_interview_says():
    last = rounds.read_interview(load_topic("rmsnorm")).rounds[-1]
    (quoted,) = re.findall(r"has (\d+) instructions for 32 elements", re.sub(r"\s+", " ", last.answer))
    source = (content_root() / "kernels/optimized/rmsnorm/02_registers.cu").read_text("utf-8")
    cubin = compilation.build(source, name_expressions=["block_rows<8, 2>"]).cubin
    (operations,) = machine_code(cubin).kernels.values()  # of a warp's 512 elements, without a loop
    assert sum(operations.values()) / (512 / 32) == pytest.approx(int(quoted), rel=0.1)


def test_the_interview_on_gemv_quotes_what_follows_from_the_boards_figures():
    interview = rounds.read_interview(load_topic("gemv"))
    answers = {item.rung: item.answer for item in interview.rounds}
    h100 = board("NVIDIA H100", "sm_90a")
    bits = 4 + 16 / 128
    few_bits = next(item.correction for item in interview.common_errors if "4 bits" in item.says)
    quoted = [
        (interview.answer, r"bytes, (\d+) operations for each byte", h100.peak_tensor / h100.peak_dram),
        (interview.answer, r"that is (\d+) MB", 2 * 16384**2 / 1e6),
        (answers["00_naive"], r"threads are (\d+) %", 100 * 16384 / (2048 * h100.sms)),
        (answers["01_warp_a_row"], r"is ([\d.]+) MB, or", h100.peak_dram * 800e-9 / 1e6),
        (answers["01_warp_a_row"], r"or (\d+) KB on each", h100.peak_dram * 800e-9 / h100.sms / 1e3),
        (answers["01_warp_a_row"], r"that is (\d) KB", 64 * 64 / 1e3),
        (answers["02_wide_loads"], r"their (\d) MB", 2 * 64 * 16384 / 1e6),
        (answers["03_block_a_row"], r"takes ([\d.]+) bits", bits),
        (answers["03_block_a_row"], r"is ([\d.]+) times lower", 16 / bits),
        (few_bits, r"is ([\d.]+) times lower", 16 / bits),
    ]
    for text, pattern, computed in quoted:
        (found,) = re.findall(pattern, re.sub(r"\s+", " ", text))
        assert float(found) == pytest.approx(computed, rel=0.05), pattern


@pytest.mark.soak(area="interview")
def test_the_ratios_of_gemv_are_explained_by_what_is_counted():
    quoted = {
        "00_naive": r"of the other: ([\d.]+)\.$",
        "01_warp_a_row": r"64 bytes: (\d)\.",
        "02_wide_loads": r"256 products: (\d+)\.",
        "03_block_a_row": r"has a block: (\d+)\.",
        "04_rows_together": r"512 products: (\d+)\.",
        "05_cluster": r"nearly (\d+),",
    }
    for item in rounds.read_interview(load_topic("gemv")).rounds:
        found = re.search(quoted[item.rung], re.sub(r"\s+", " ", item.ratio.explain).strip())
        value = item.ratio.value.evaluate(counted("gemv", item.rung))
        assert value == pytest.approx(float(found[1]), rel=0.02), item.rung


def test_the_interview_on_gemv_int4_quotes_what_follows_from_the_boards_figures():
    interview = rounds.read_interview(load_topic("gemv_int4"))
    answers = {item.rung: item.answer for item in interview.rounds}
    bits = 4 + 16 / 128
    weights = H200.dram_read * 8 / bits
    issued = H200.sms * 4 * 32 * H200.clock_hz
    quoted = [
        (interview.answer, r"16, ([\d.]+) bits in all", bits),
        (interview.answer, r"them: (\d+) MB at", bits / 8 * 16384**2 / 1e6),
        (interview.answer, r"would be (\d+) MB", 2 * 16384**2 / 1e6),
        (interview.answer, r"MB, ([\d.]+) times as many", 16 / bits),
        (interview.answer, r"are ([\d.]+) · 10¹² of these", weights / 1e12),
        (interview.answer, r"leaves ([\d.]+) instructions", issued / weights),
        (answers["00_naive"], r"H200 has time for ([\d.]+)\.", issued / weights),
        (answers["03_wide_loads"], r"where ([\d.]+) have time", issued / weights),
        (answers["05_tensor_cores"], r"about (\d+) vectors", H200.peak_tensor / H200.peak_dram * bits / 16),
    ]
    for text, pattern, computed in quoted:
        (found,) = re.findall(pattern, re.sub(r"\s+", " ", text))
        assert float(found) == pytest.approx(computed, rel=0.02), pattern


@pytest.mark.soak(area="interview")
def test_the_ratios_of_gemv_int4_are_explained_by_what_is_counted():
    quoted = {
        "00_naive": r"with 32: ([\d.]+)\.$",
        "01_block_a_row": r"three loads: (\d)\.$",
        "02_rows_together": r"1,024 weights: (\d+)\.",
        "03_wide_loads": r"4,096 weights: (\d+)\.",
        "04_halves_by_bits": r"kernel it is ([\d.]+)\. ",
        "05_tensor_cores": r"kernel it is ([\d.]+)\. ",
    }
    for item in rounds.read_interview(load_topic("gemv_int4")).rounds:
        found = re.search(quoted[item.rung], re.sub(r"\s+", " ", item.ratio.explain).strip())
        value = item.ratio.value.evaluate(counted("gemv_int4", item.rung))
        assert value == pytest.approx(float(found[1]), rel=0.02), item.rung


def attention_ms(name, mask="full", shape="4x32x4096x128"):
    """The time of a shape, 128 heads of 4096 tokens and D = 128, beside PyTorch's back ends on an H200."""
    file = content_root() / "measurements" / "h200" / "attention_shapes.txt"
    (found,) = re.findall(
        rf"^{shape} +{mask} +{name}(?:\.cu)? +([\d.]+) µs", file.read_text("utf-8"), re.MULTILINE
    )
    return float(found) / 1e3


def test_the_lesson_on_attention_divides_times_that_were_measured():
    text = (content_root() / "lessons/attention/lesson.md").read_text("utf-8")
    rows = re.findall(
        r"^\| (\d+ × \d+ × \d+ × \d+) \| \{value\}`(.+?)` \| \{value\}`(.+?)` \|$", text, re.MULTILINE
    )
    assert len(rows) == 3
    for shape, *ratios in rows:
        of = shape.replace(" × ", "x")
        for mask, ratio in zip(("full", "causal"), ratios, strict=True):
            times = (1e3 * attention_ms(name, mask, of) for name in ("cuDNN", "08_persistent"))
            assert [float(part) for part in ratio.split(" / ")] == pytest.approx(list(times))


def test_the_interview_on_attention_quotes_what_was_measured():
    answers = {item.rung: item.answer for item in rounds.read_interview(load_topic("attention")).rounds}
    operations = 4 * 128 * 4096**2 * 128
    last = answers["05_causal"]
    quoted = [
        (answers["03_mma_sync"], r"take ([\d.]+) ms on an H200", attention_ms("03_mma_sync")),
        (answers["03_mma_sync"], r"H200, (\d+) TFLOP/s", operations / attention_ms("03_mma_sync") / 1e9),
        (
            answers["03_mma_sync"],
            r"That is (\d+) % of what",
            1e5 * operations / attention_ms("03_mma_sync") / H200.mma_flop,
        ),
        (answers["04_cp_async"], r"full call takes ([\d.]+) ms in", attention_ms("04_cp_async")),
        (answers["04_cp_async"], r"in place of ([\d.]+), and", attention_ms("03_mma_sync")),
        (answers["04_cp_async"], r"flash back end ([\d.]+)\. Counted", attention_ms("flash")),
        (answers["04_cp_async"], r"causal call takes ([\d.]+) ms", attention_ms("04_cp_async", "causal")),
        (last, r"causal call takes ([\d.]+) ms", attention_ms("05_causal", "causal")),
        (last, r"in place of ([\d.]+), and a full", attention_ms("04_cp_async", "causal")),
        (last, r"and a full one ([\d.]+),", attention_ms("05_causal")),
        (last, r"end takes ([\d.]+) and", attention_ms("flash", "causal")),
        (last, r"end takes [\d.]+ and ([\d.]+) ms", attention_ms("flash")),
        (last, r"cuDNN ([\d.]+) and", attention_ms("cuDNN", "causal")),
        (last, r"cuDNN [\d.]+ and ([\d.]+)\.", attention_ms("cuDNN")),
        (last, r"full call is (\d+) TFLOP/s", operations / attention_ms("05_causal") / 1e9),
        (last, r"(\d+) % of what", 1e5 * operations / attention_ms("05_causal") / H200.mma_flop),
        (last, r"and (\d+) % of the 989", 1e5 * operations / attention_ms("05_causal") / H200.peak_tensor),
        (last, r"cuDNN's (\d+) TFLOP/s", operations / attention_ms("cuDNN") / 1e9),
        (answers["06_wgmma"], r"full call takes ([\d.]+) ms", attention_ms("06_wgmma")),
        (answers["06_wgmma"], r"in place of ([\d.]+), 472", attention_ms("05_causal")),
        (answers["06_wgmma"], r"(\d+) TFLOP/s", operations / attention_ms("06_wgmma") / 1e9),
        (answers["06_wgmma"], r"causal one ([\d.]+) in", attention_ms("06_wgmma", "causal")),
        (answers["06_wgmma"], r"in place of ([\d.]+)\. `wgmma`", attention_ms("05_causal", "causal")),
        (answers["07_in_turn"], r"full call takes ([\d.]+) ms", attention_ms("07_in_turn")),
        (answers["07_in_turn"], r"in place of ([\d.]+), and a causal", attention_ms("06_wgmma")),
        (answers["07_in_turn"], r"causal one ([\d.]+)\. With", attention_ms("07_in_turn", "causal")),
        (
            answers["07_in_turn"],
            r"full one takes ([\d.]+)",
            attention_ms("07_in_turn", shape="1x32x16384x128"),
        ),
        (
            answers["07_in_turn"],
            r"in place of ([\d.]+)\. What",
            attention_ms("06_wgmma", shape="1x32x16384x128"),
        ),
        (answers["07_in_turn"], r"have (\d+) MB of K and V", 128 * 4 * 4096 * 128 / 1e6),
        (answers["07_in_turn"], r"which makes (\d+) rounds", ceil(4096 / H200.sms)),
        (answers["07_in_turn"], r"only (\d+) of 132", 4096 % H200.sms),
        (answers["07_in_turn"], r"have a block: (\d+) %", 100 * 4096 / 32 / H200.sms),
        (answers["07_in_turn"], r"at a time, ([\d.]+) MB", 8 * 4 * 4096 * 128 / 1e6),
        (answers["08_persistent"], r"full call takes ([\d.]+) ms", attention_ms("08_persistent")),
        (answers["08_persistent"], r"ms, (\d+) TFLOP/s", operations / attention_ms("08_persistent") / 1e9),
        (answers["08_persistent"], r"where cuDNN takes ([\d.]+)\.", attention_ms("cuDNN")),
        (answers["08_persistent"], r"causal one takes ([\d.]+),", attention_ms("08_persistent", "causal")),
        (answers["08_persistent"], r"and cuDNN ([\d.]+)\.", attention_ms("cuDNN", "causal")),
        (
            answers["08_persistent"],
            r"work: (\d+) TFLOP/s",
            operations / 2 / attention_ms("08_persistent", shape="4x32x4096x64") / 1e9,
        ),
    ]
    for text, pattern, computed in quoted:
        (found,) = re.findall(pattern, re.sub(r"\s+", " ", text))
        assert float(found) == pytest.approx(computed, rel=0.015), pattern


@pytest.mark.soak(area="interview")
def test_the_interview_on_attention_quotes_what_follows_from_the_boards_figures():
    interview = rounds.read_interview(load_topic("attention"))
    answers = {item.rung: item.answer for item in interview.rounds}
    operations, scores = 4 * 128 * 4096**2 * 128, 128 * 4096**2
    wavefront = 1 / counted("attention", "01_online")["shared_load_wavefronts"]
    products = 2 * 2 * 256**2 * 128  # both products at the count size
    quoted = [
        (interview.answer, r"An H200 does (\d+) operations", H200.peak_tensor / H200.peak_dram),
        (interview.answer, r"operations take ([\d.]+) ms", 1e3 * operations / H200.peak_tensor),
        (interview.answer, r"and (\d+) MB take", 4 * 2 * 128 * 4096 * 128 / 1e6),
        (interview.answer, r"MB take ([\d.]+) ms", 1e3 * 4 * 2 * 128 * 4096 * 128 / H200.dram_copy),
        (interview.answer, r"2³¹ of them, ([\d.]+) GB", 4 * scores / 1e9),
        (interview.answer, r"GB, or ([\d.]+) ms", 1e3 * 4 * 4 * scores / H200.dram_copy),
        (answers["01_online"], r"some (\d+) multiply-adds", products * wavefront),
        (answers["01_online"], r"no more than (\d+) %", 100 * products * wavefront / 128),
        (answers["02_register_tiles"], r"at least (\d+) ms", 1e3 * operations / H200.peak_flop),
        (
            answers["02_register_tiles"],
            r"holds (\d+) % of its",
            100 * counted("attention", "02_register_tiles")["occupancy"],
        ),
        (answers["04_cp_async"], r"4096, (\d+) of 2048 tiles", sum(2 * block for block in range(1, 33))),
    ]
    for text, pattern, computed in quoted:
        (found,) = re.findall(pattern, re.sub(r"\s+", " ", text))
        assert float(found) == pytest.approx(computed, rel=0.03), pattern


@pytest.mark.soak(area="interview")
def test_the_ratios_of_attention_are_explained_by_what_is_counted():
    quoted = {
        "00_naive": r"32 more: (\d+)\.$",
        "01_online": r"are a sector: (\d+)\.",
        "02_register_tiles": r"four queries: (\d+)\.",
        "03_mma_sync": r"320 wavefronts: (\d+)\.",
        "04_cp_async": r"fewer instructions: ([\d.]+) %",
        "05_causal": r"all four: (\d+) %",
        "06_wgmma": r"the softmax: ([\d.]+)\. ",
    }
    before = {
        "03_mma_sync": r"Before it was (\d+)\.",
        "04_cp_async": r"Before it was ([\d.]+) %",
        "06_wgmma": r"Before it was ([\d.]+)\.$",
    }
    items = [item for item in rounds.read_interview(load_topic("attention")).rounds if item.ratio is not None]
    for item, earlier in zip(items, (None, *items), strict=False):
        text = re.sub(r"\s+", " ", item.ratio.explain).strip()
        found = [(item.rung, quoted[item.rung])]
        if item.rung in before and earlier is not None:
            found.append((earlier.rung, before[item.rung]))
        for rung, pattern in found:
            value = item.ratio.value.evaluate(counted("attention", rung))
            assert value == pytest.approx(float(re.search(pattern, text)[1]), rel=0.02), (rung, pattern)


def test_the_interview_on_decode_quotes_what_follows_from_the_boards_figures():
    interview = rounds.read_interview(load_topic("decode"))
    answers = {item.rung: item.answer for item in interview.rounds}
    latent = next(item.answer for item in interview.follow_ups if "latent attention" in item.ask)
    parts = next(item.correction for item in interview.common_errors if "more parts" in item.says)
    cache = 64 * 8192 * 8 * 512  # bytes of 64 sequences with 8192 tokens
    piece = 2 * 8 * 130 * 4  # bytes of eight queries, written and read
    lengths = [round(16384 * (place / 31) ** 2) for place in range(32)]
    quoted = [
        (interview.answer, r"8 heads are ([\d.]+) GB", cache / 1e9),
        (interview.answer, r"GB, (\d+) µs", 1e6 * cache / H200.dram_read),
        (interview.answer, r"have time for (\d+)\. Its", H200.peak_tensor / H200.peak_dram),
        (interview.answer, r"units have time for (\d+),", H200.peak_flop / H200.peak_dram),
        (answers["01_warp_a_head"], r"where a read takes ([\d.]+)\.", 1e3 * cache / H200.dram_read),
        (answers["02_page_at_a_time"], r"anew, (\d+) GB of loads", 8 * cache / 1e9),
        (answers["02_page_at_a_time"], r"in place of ([\d.]+), most", cache / 1e9),
        (answers["04_split"], r"the mean is a (third) of", sum(lengths) / 32 / max(lengths)),
        (answers["05_by_length"], r"is ([\d,]+) bytes in place", 2 * (512 + 64)),
        (answers["05_by_length"], r"bytes in place of ([\d,]+) with", 8 * 512),
        (latent, r"128 heads that is (\d+) for each", 128 * 2 * (576 + 512) / 1152),
        (latent, r"more than the (\d+)", H200.peak_tensor / H200.peak_dram),
        (parts, r"that is ([\d.]+) % more", 100 * piece / (256 * 512)),
        (parts, r"with 16 tokens as many (again)", piece / (16 * 512)),
    ]
    words = {"third": 1 / 3, "again": 1}
    for text, pattern, computed in quoted:
        (found,) = re.findall(pattern, re.sub(r"\s+", " ", text))
        value = words[found] if found in words else float(found.replace(",", ""))
        assert value == pytest.approx(computed, rel=0.05), pattern


@pytest.mark.soak(area="interview")
def test_the_interview_on_decode_quotes_what_is_counted():
    answers = {item.rung: item.answer for item in rounds.read_interview(load_topic("decode")).rounds}

    def each(rung: str, counter: str) -> float:
        """Of a token and a query head."""
        found = counted("decode", rung)
        return found[counter] / (found["TOKENS"] * found["H"])

    def ms_of_instructions(rung: str) -> float:
        count = 64 * 8192 * 64 * each(rung, "smsp__inst_executed.sum")
        return 1e3 * count / (4 * H200.sms * H200.clock_hz)

    executed = "smsp__inst_executed.sum"
    first, second = "01_warp_a_head", "02_page_at_a_time"
    quoted = [
        (answers["00_naive"], r"there are (\d+) sectors", each("00_naive", "load_sectors")),
        (answers[first], r"one more: (\d+) for", each(first, "load_sectors")),
        (answers[first], r"takes (\d+) of them", each(first, executed)),
        (answers[first], r"make ([\d.]+) · 10⁹", 64 * 8192 * 64 * each(first, executed) / 1e9),
        (answers[first], r"at least ([\d.]+) ms", ms_of_instructions(first)),
        (answers[second], r"takes (\d+) instructions", each(second, executed)),
        (answers[second], r"in place of (\d+)\. That", each(first, executed)),
        (answers[second], r"still ([\d.]+) ms", ms_of_instructions(second)),
        (answers["03_tensor_cores"], r"takes (two) instructions", each("03_tensor_cores", executed)),
        (answers["05_by_length"], r"has (\d+) registers", counted("decode", "05_by_length")["registers"]),
    ]
    for text, pattern, computed in quoted:
        (found,) = re.findall(pattern, re.sub(r"\s+", " ", text))
        assert float({"two": 2}.get(found, found)) == pytest.approx(computed, rel=0.03), pattern


@pytest.mark.soak(area="interview")
def test_the_ratios_of_decode_are_explained_by_what_is_counted():
    quoted = {
        "00_naive": (r"13 more: (\d+)\.$", None),
        "01_warp_a_head": (r"each token: (\d+)\.", r"Before it was (\d+)\."),
        "02_page_at_a_time": (r"number: ([\d.]+) for", r"Before it was ([\d.]+)\."),
        "03_tensor_cores": (r"each load: ([\d.]+)\. ", r"read it: ([\d.]+)\."),
        "04_split": (r"parts of it: ([\d.]+)\.$", r"quarter of it: (\d+)\."),
        "05_by_length": (r"400 pieces: (\d+)\.$", r"it was (\d+) for 1,000"),
    }
    before = None
    for item in rounds.read_interview(load_topic("decode")).rounds:
        text = re.sub(r"\s+", " ", item.ratio.explain).strip()
        for rung, pattern in zip((item.rung, before), quoted[item.rung], strict=True):
            if pattern is not None:
                value = item.ratio.value.evaluate(counted("decode", rung))
                assert value == pytest.approx(float(re.search(pattern, text)[1]), rel=0.02), (rung, pattern)
        before = item.rung


@pytest.mark.parametrize("topic", TOPICS)
def test_a_rounds_answer_gives_the_time_of_its_rung(topic):
    measured = {rung["id"] for rung in record(topic)["rungs"]}
    for item in rounds.read_interview(load_topic(topic)).rounds:
        if item.rung not in measured:
            continue  # a new rung: the next record has its time
        quoted = re.search(r"([\d.]+)\s+ms\b", item.answer)
        assert quoted is not None, item.rung
        assert float(quoted[1]) == pytest.approx(ms(topic, item.rung), rel=0.05), item.rung
