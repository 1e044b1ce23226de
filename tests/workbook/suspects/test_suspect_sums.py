"""Sums that begin with nothing, and those that elements leave again."""

from __future__ import annotations

import pytest

from grader.workbook.suspects import said
from grader.workbook.suspects.sums import running


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("double sum; // sum = 0\nfor (;;)\n  sum += x;",
         "Line 1: `sum` has no value before it is added to in line 3: `double sum = 0.0;`."),
        ("float a, acc[4][4];\nacc[i][j] += x;",
         "Line 1: `acc` has no value before it is added to in line 2: `float acc[4][4] = {};`."),
        ("float most;\nmost = fmaxf(most, x);",
         "Line 1: `most` has no value before it is read in line 2: set it first."),
    ],
)  # fmt: skip
def test_a_variable_without_a_value_is_told(text: str, sentence: str) -> None:
    assert said(text, [], "k.cu") == sentence


@pytest.mark.parametrize(
    "text",
    [
        "float sum;\nif (x) sum = 0;\nsum += x;",
        "float x;\ny.x += 1;",
        "float v;\nv = first ? x : v + x;",
        "__shared__ float s[4];\ns[t] += 1;",
        'float c[4];\nasm("mma" : "+f"(c[0]));',
    ],
)
def test_a_variable_with_a_value_is_not_told(text: str) -> None:
    assert said(text, [], "k.cu") == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("sum += in[i];\nif (i > R) {\n    sum -= in[i - R];  // leaves\n}", 3),
        ("s = s + tile[i];\ns = s - tile[i - R];", 2),
        ("for (;;)\n    s += in[i + R] - in[i - R - 1];", 2),
        ("sum += in[i];\nsum -= mean;\nother -= in[i];", 0),
        ("sum += a[i] - b[i];", 0),
    ],
)
def test_a_sum_that_elements_leave_again_is_told(text: str, line: int) -> None:
    found = running(text)
    assert found.startswith(f"Line {line}: `") if line else not found
