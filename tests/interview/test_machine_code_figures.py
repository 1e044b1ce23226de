"""What prose says of the matrix product's PTX and SASS is what the compiler and ptxas made of it."""

import re
from functools import cache

import pytest

from grader.analysis.access import LANES, shared_access
from grader.analysis.intensity import instruction_ratio
from grader.interview.bank import read_question
from grader.interview.counted import counted
from grader.lab.machine_code import machine_code
from grader.workbook import compiler, topics
from grader.workbook.content import content_root

FLOAT, FLOAT4 = 4, 16  # bytes


@cache
def sass(rung: str) -> tuple[int, int]:
    """FFMA and loads from shared memory in a rung's machine code, of which the inner loop has all."""
    topic = topics.load("gemm")
    kernel = topic.parse(topic.rung(rung).path)
    built = compiler.compile_source(kernel.source, file=kernel.path, kernels=kernel.kernels)
    operations = next(iter(machine_code(built.cubin).kernels.values()))
    return operations["FFMA"], operations["LDS"]


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
