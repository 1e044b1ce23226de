"""A figure that PTX and SASS may give differently says which of them it is of."""

from __future__ import annotations

from pathlib import Path

import pytest
from machine_code_prose import REMEDY, unmarked

ROOT = Path(__file__).resolve().parent.parent
PROSE = (
    "README.md", "book/**/*.md", "lessons/**/*.md", "lessons/*/interview.toml", "lessons/questions/*.toml",
    "lessons/drills/**/*.toml", "notebooks/*.md", "kernels/**/*.cu",
)  # fmt: skip


@pytest.mark.parametrize("where", PROSE)
def test_a_figure_of_machine_code_says_whether_it_is_of_ptx_or_sass(where: str) -> None:
    files = sorted(ROOT.glob(where))
    assert files
    assert not [
        figure.told(file.relative_to(ROOT)) for file in files for figure in unmarked(file.read_text("utf-8"))
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "That makes two load requests for 32 multiply-adds.",
        "The bookkeeping is about 20 instructions for each\n// multiply-add: padding, bounds.",
        "// What it should buy: a quarter of a shared-memory load for a multiply-add.",
        "1.5 wavefronts an FFMA are read.",
        "16 outputs are 16 multiply-adds for 8 loads.",
        "It takes 17 requests for 32 outputs.",
        "Shared loads take 16 wavefronts a request.",
        "It is slow in PTX. There are 3 loads for 8 multiply-adds.",
        'hint = "In PTX."\nexplain = "Rung 02 has two reads for every multiply-add."',
    ],
)
def test_an_unmarked_figure_is_found(sentence: str) -> None:
    (found,) = unmarked(f"A first line.\n\n{sentence}")
    assert found.line >= 3
    told = found.told(Path("lesson.md"))
    assert told.startswith(f"lesson.md:{found.line}: ")
    assert told.endswith(REMEDY)


@pytest.mark.parametrize(
    "sentence",
    [
        "That makes two load requests for 32 multiply-adds, in PTX as in SASS.",
        "In PTX some 1.25 of them, 20 instructions for each\n// multiply-add, count loops.",
        "A thread that computes all eight loads an element once.",
        "A warp touches 32 sectors a request.",
        "There are 64 multiply-adds and 16 loads.",
        "The FP32 units need four FFMA a wavefront.",
        "A thread loads 4 bytes for each output.",
    ],
)
def test_a_marked_figure_and_any_other_sentence_is_left_alone(sentence: str) -> None:
    assert not unmarked(sentence)
