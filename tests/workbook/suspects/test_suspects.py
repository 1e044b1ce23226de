"""What is told of all that is suspicious in a kernel's text."""

from __future__ import annotations

from grader.emulator.nvrtc.compilation import Diagnostic
from grader.workbook.suspects import said

EQUAL = Diagnostic("k.cu", 1, "warning", 'use of "=" where "==" may have been intended', "")


def test_a_long_text_takes_no_time() -> None:
    assert said("float " + "a, " * 20_000 + ";\n" + "if (" * 50_000, [EQUAL], "k.cu")


def test_the_first_line_is_told_and_of_one_line_the_warning() -> None:
    text = "if (a = 0) n = N + 31 / 32;\nm = M + 31 / 32;"
    assert said(text, [], "k.cu").startswith("Line 1: `/` is done before `+`")
    assert said(text, [EQUAL], "k.cu").startswith("Line 1: `a = 0` sets `a`")
