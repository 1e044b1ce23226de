"""What prose says of PTX and SASS is what the compiler and ptxas made of the kernels."""

import re
from dataclasses import replace
from functools import cache

import pytest

from grader.analysis.access import LANES, shared_access
from grader.analysis.intensity import instruction_ratio
from grader.interview import rounds
from grader.interview.bank import read_question
from grader.interview.counted import counted
from grader.judge import values
from grader.lab.machine_code import machine_code
from grader.workbook import compiler, topics
from grader.workbook.content import content_root

FLOAT, FLOAT4 = 4, 16  # bytes


FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"


@cache
def operations(rung: str, topic: str = "gemm", symbol: str = "") -> dict[str, int]:
    """How often each operation stands in a rung's machine code: of the first kernel whose symbol has `symbol`."""
    loaded = topics.load(topic)
    kernel = loaded.parse(loaded.rung(rung).path)
    built = compiler.compile_source(kernel.source, file=kernel.path, kernels=kernel.kernels)
    return next(found for name, found in machine_code(built.cubin).kernels.items() if symbol in name)


def sass(rung: str) -> tuple[int, int]:
    """FFMA and loads from shared memory of a matrix product, of which the inner loop has all."""
    found = operations(rung)
    return found["FFMA"], found["LDS"]


def answer() -> str:
    """The answer of hpc-16, on one line."""
    file = next(
        path
        for path in (content_root() / "lessons" / "questions").glob("*.toml")
        if 'id = "hpc-16"' in path.read_text("utf-8")
    )
    return re.sub(r"\s+", " ", read_question(file).answer)


def wavefronts() -> float:
    """For each FFMA of rung 02: a word of B a lane for each of them, and four words of A for all lanes at once."""
    ffma, loads = sass("02_shared_tile")
    words = len(shared_access([FLOAT * lane for lane in range(LANES)], FLOAT).wavefronts)
    fours = len(shared_access([0] * LANES, FLOAT4).wavefronts)
    return (ffma * words + (loads - ffma) * fours) / ffma


def loads(rung: str, ffma: int) -> float:
    """Loads in SASS for so many FFMA."""
    all_ffma, all_loads = sass(rung)
    return ffma * all_loads / all_ffma


def ptx_loads(rung: str, ffma: int) -> float:
    """Loads in PTX for so many multiply-adds, counted by the emulator."""
    ratio = instruction_ratio({name: int(value) for name, value in counted("gemm", rung).items()})
    assert ratio is not None
    return ffma / ratio


@pytest.mark.soak(area="interview")
@pytest.mark.parametrize(
    ("pattern", "computed"),
    [
        (r"([\d.]+) loads an FFMA where the PTX", lambda: loads("02_shared_tile", 1)),
        (r"where the PTX has ([\d.]+)\.", lambda: ptx_loads("02_shared_tile", 1)),
        (r"reads ([\d.]+) wavefronts an FFMA", wavefronts),
        (r"the (\d+) loads of the PTX are", lambda: ptx_loads("04_register_tile_2d", 64)),
        (r"of the PTX are (\d+) in SASS", lambda: loads("04_register_tile_2d", 64)),
        (r"in SASS, a ratio of ([\d.]+) in", lambda: 64 / loads("04_register_tile_2d", 64)),
        (r"PTX and SASS both have (\d+)\.", lambda: ptx_loads("05_float4", 64)),
        (r"PTX and SASS both have (\d+)\.", lambda: loads("05_float4", 64)),
    ],
)
def test_a_figure_of_ptx_or_sass_is_the_counted_one(pattern, computed):
    (quoted,) = re.findall(pattern, answer())
    assert float(quoted) == pytest.approx(computed())


def of_64() -> float:
    """Wavefronts of rung 04 for 64 FFMA: loads of B are words, of A four words of one row or of two."""
    ffma, all_loads = sass("04_register_tile_2d")
    wanted = 16 * ffma / 64  # words that the source reads
    wide = (wanted - all_loads) / 3  # loads that fetch four of them
    each = len(shared_access([lane // 16 * 32 for lane in range(LANES)], FLOAT4).wavefronts)
    return 64 / ffma * (all_loads - wide + wide * each)


def a_multiply_add(rung: str, metric: str, topic: str = "gemm") -> float:
    """A counter of a rung for each multiply-add of a warp, in PTX."""
    found = counted(topic, rung)
    return found[metric] / (found[FFMA] / LANES)


def others_a_step() -> float:
    """Instructions of 05_implicit_gemm that are no multiply-adds, for 1024 that are: of further channels, in PTX."""
    topic = topics.load("conv2d")
    sizes = {**topic.sizes_count, "K": 128}
    fewer, more = (
        values.of_file(
            replace(topic, sizes_count={**sizes, "C": channels}), topic.rung("05_implicit_gemm").path
        )
        for channels in (16, 32)
    )
    executed, multiplied = (more[name] - fewer[name] for name in ("smsp__inst_executed.sum", FFMA))
    steps = multiplied / LANES / 1024
    return executed / steps - 1024


def of_3_by_3(rung: str, ffma: int) -> float:
    """Loads from shared memory for so many FFMA, in the SASS of a convolution's instance for 3 × 3."""
    found = operations(rung, "conv2d", "ILi3E")
    return ffma * found["LDS"] / found["FFMA"]


ROUNDS = [
    ("gemm", "02_shared_tile", r"take (\d+) LDS and", lambda: sass("02_shared_tile")[0]),
    ("gemm", "02_shared_tile", r"LDS and (\d+) LDS.128", lambda: loads("02_shared_tile", 32) - 32),
    ("gemm", "02_shared_tile", r"which is ([\d.]+) loads and", lambda: loads("02_shared_tile", 1)),
    ("gemm", "02_shared_tile", r"loads and ([\d.]+) wavefronts per FMA", wavefronts),
    ("gemm", "04_register_tile_2d", r"there are (\d+) loads", lambda: ptx_loads("04_register_tile_2d", 64)),
    ("gemm", "04_register_tile_2d", r"In SASS they are (\d+)", lambda: loads("04_register_tile_2d", 64)),
    (
        "gemm",
        "04_register_tile_2d",
        r"a ratio of ([\d.]+), and each",
        lambda: 1 / loads("04_register_tile_2d", 1),
    ),
    (
        "gemm",
        "04_register_tile_2d",
        r"(\d+) in PTX and \d+ in SASS for 64",
        lambda: 64 * a_multiply_add("04_register_tile_2d", WAVEFRONTS),
    ),
    ("gemm", "04_register_tile_2d", r"in PTX and (\d+) in SASS for 64", of_64),
    ("gemm", "05_float4", r"from \d+ to (\d+) in PTX", lambda: 64 * a_multiply_add("05_float4", WAVEFRONTS)),
    ("gemm", "05_float4", r"ratio of instructions is (\d+)", lambda: 1 / loads("05_float4", 1)),
    (
        "gemm",
        "07_double_buffer",
        r"takes (\d+) wavefronts",
        lambda: 64 * a_multiply_add("07_double_buffer", WAVEFRONTS),
    ),
    ("gemm", "09_wide_tile", r"come with (\d+) shared-memory loads", lambda: ptx_loads("09_wide_tile", 128)),
    (
        "hgemm",
        "00_naive",
        r"(eight) instructions in PTX",
        lambda: a_multiply_add("00_naive", "smsp__inst_executed.sum", "hgemm"),
    ),
    (
        "conv2d",
        "00_naive",
        r"in PTX about (\d+) for each",
        lambda: a_multiply_add("00_naive", "smsp__inst_executed.sum", "conv2d"),
    ),
    (
        "conv2d",
        "02_shared_tile",
        r"about (ten) instructions per FMA",
        lambda: a_multiply_add("02_shared_tile", "smsp__inst_executed.sum", "conv2d"),
    ),
    ("conv2d", "02_shared_tile", r"SASS has about (one and a half)", lambda: of_3_by_3("02_shared_tile", 1)),
    (
        "conv2d",
        "03_register_block",
        r"(\d+) loads for 8 FMAs",
        lambda: of_3_by_3("03_register_block", 8),
    ),
    ("conv2d", "05_implicit_gemm", r"about (\d+) other instructions", others_a_step),
]
WORDS = {"one": 1, "two": 2, "three": 3, "eight": 8, "ten": 10, "one and a half": 1.5}


@pytest.mark.soak(area="interview")
@pytest.mark.parametrize(("topic", "rung", "pattern", "computed"), ROUNDS)
def test_a_rounds_figure_of_ptx_or_sass_is_the_counted_one(topic, rung, pattern, computed):
    (item,) = (item for item in rounds.read_interview(topics.load(topic)).rounds if item.rung == rung)
    found = re.findall(pattern, re.sub(r"\s+", " ", item.answer))
    assert found
    rough = re.search(r"about|half|eight", pattern)  # a word that rounds
    for quoted in found:
        value = WORDS[quoted] if quoted in WORDS else float(quoted)
        assert value == pytest.approx(computed(), rel=0.15 if rough else 0.02)


def test_shared_memory_caps_the_first_tile_at_a_sixth():
    assert 4 * wavefronts() == 6  # four multiply-adds could start in the clock of one wavefront


def test_the_first_tile_keeps_units_busy_for_as_long_as_its_explanation_says():
    (item,) = (r for r in rounds.read_interview(topics.load("gemm")).rounds if r.rung == "02_shared_tile")
    (explain,) = (q.explain for point in item.limits for q in point.probes if q.name == "busy_units")
    ffma, all_loads = sass("02_shared_tile")  # of a warp, for a pair of tiles
    warps, schedulers = 32, 4
    shared, slots = warps * ffma * wavefronts(), warps * (ffma + all_loads) / schedulers
    for clocks in (shared, slots, warps * ffma / schedulers):
        assert f"{clocks:,.0f}" in explain


def test_ptxas_merges_no_access_of_a_transpose():
    found, ptx = operations("03_padded_tile", "transpose"), counted("transpose", "03_padded_tile")
    elements = ptx["M"] * ptx["N"] / LANES
    assert [found[name] / 4 for name in ("LDG", "STS", "LDS", "STG")] == [1] * 4  # a thread moves four
    for name in ("load_requests", "shared_load_instructions", "store_requests"):
        assert ptx[name] == elements


EXECUTED = "smsp__inst_executed.sum"
SHARED_LOADS = "smsp__sass_inst_executed_op_shared_ld.sum"
GLOBAL_LOADS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"


def register_block_reads() -> float:
    """Reads of shared memory for each multiply-add of the convolution's rung 03, in PTX."""
    return a_multiply_add("03_register_block", SHARED_LOADS, "conv2d")


def requests(rung: str) -> float:
    """Load requests of a warp for 32 outputs of the stencil, in PTX."""
    found = counted("stencil", rung)
    return found[GLOBAL_LOADS] / (found["N"] / LANES)


HEADERS = [
    ("conv2d", "00_naive", r"makes (two) load requests", lambda: a_multiply_add("00_naive", GLOBAL_LOADS, "conv2d")),
    ("conv2d", "00_naive", r"makes (two) load requests", lambda: of_naive("conv2d")),
    ("conv2d", "02_shared_tile", r"in PTX (20) instr", lambda: a_multiply_add("00_naive", EXECUTED, "conv2d")),
    ("conv2d", "02_shared_tile", r"(one and a half) in SASS", lambda: of_3_by_3("02_shared_tile", 1)),
    ("conv2d", "03_register_block", r"in PTX (three)", lambda: 8 * register_block_reads()),
    ("conv2d", "04_im2col_gemm", r"needs (24), in", lambda: of_3_by_3("03_register_block", 64)),
    ("hgemm", "00_naive", r"costs: (2) load requests", lambda: a_multiply_add("00_naive", GLOBAL_LOADS, "hgemm")),
    ("hgemm", "00_naive", r"costs: (2) load requests", lambda: of_naive("hgemm")),
    ("gemm", "02_shared_tile", r"(two) loads for every", lambda: ptx_loads("02_shared_tile", 1)),
    ("gemm", "03_register_tile_1d", r"in PTX (9) shared", lambda: ptx_loads("03_register_tile_1d", 8)),
    ("gemm", "05_float4", r"and (4) shared", lambda: ptx_loads("05_float4", 64)),
    ("gemm", "05_float4", r"instead of (16) in PTX", lambda: ptx_loads("04_register_tile_2d", 64)),
    ("gemm", "09_wide_tile", r"buy: (12) wavefronts", lambda: 128 * a_multiply_add("09_wide_tile", WAVEFRONTS)),
    ("gemm", "09_wide_tile", r"takes (8) for 64", lambda: 64 * a_multiply_add("06_warp_tile", WAVEFRONTS)),
    ("stencil", "01_shared_tile", r"it was (17), in PTX", lambda: requests("00_naive")),
    ("stencil", "01_shared_tile", r"about (one) request", lambda: requests("01_shared_tile")),
]  # fmt: skip


def of_naive(topic: str) -> float:
    """Loads from global memory in SASS for each FFMA of a naive version."""
    found = operations("00_naive", topic)
    return found["LDG"] / found["FFMA"]


@pytest.mark.soak(area="interview")
@pytest.mark.parametrize(("topic", "rung", "pattern", "computed"), HEADERS)
def test_a_figure_in_a_kernels_header_is_the_counted_one(topic, rung, pattern, computed):
    header = re.sub(r"\s*\n// ?", " ", topics.load(topic).rung(rung).path.read_text("utf-8"))
    (quoted,) = re.findall(pattern, header)
    value = WORDS[quoted] if quoted in WORDS else float(quoted)
    assert computed() == pytest.approx(value, rel=0.15)
