"""What is typed to run a case again."""

from __future__ import annotations

from dataclasses import replace

from grader.report.reproducing import again
from grader.results import Reproduce

CASE = Reproduce("transpose", "mine.cu", {"M": 33, "N": 31}, 7)


def test_a_case_is_run_again_where_its_kernel_is_worked_on() -> None:
    assert again(CASE) == "ladder grade transpose mine.cu --set M=33 --set N=31 --seed 7"
    assert again(replace(CASE, cell="tiled")) == 'lab.grade("tiled", M=33, N=31, seed=7)'


def test_a_file_name_is_one_word_for_the_shell() -> None:
    assert "'my tile.cu'" in again(replace(CASE, file="my tile.cu"))
