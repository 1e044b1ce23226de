"""What is read once, in front of a loop that goes on to other elements, and is read in it in place of that."""

from __future__ import annotations

import pytest

from grader.workbook.slips import kept

LOOP = "for (int c = {}; c < N; c += T) {{\n    out[c] = v;\n}}"
OWN = "for (; c < N; c += T) {\n    out[c] = v;\n}"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"const float v = bias[threadIdx.x];\n{LOOP.format('threadIdx.x')}", "bias[c]"),
        (f"const float v = bias[x];\n{LOOP.format('x')}", "bias[c]"),
        (f"const int t = threadIdx.x;\nfloat v = bias[t];\n{LOOP.format('threadIdx.x')}", "bias[c]"),
        (f"float v = in[row * N + t];\n{LOOP.format('t')}", "in[row * N + c]"),
        (f"float v;\nv = bias[c];\n{OWN}", "bias[c]"),
        (f"float v = 2 * bias[c];\n{OWN}", "(2 * bias[c])"),
        (f"float v = __ldg(&bias[c]);\n{OWN}", "__ldg(&bias[c])"),
        (f"float4 v = bias4[c];\n{OWN}", "bias4[c]"),
        ("float v = *p;\nwhile (c < N) {\n    out[c] = v;\n    c += T;\n    p += T;\n}", "(*p)"),
        ("float v = p[0];\nfor (int c = 0; c < N; ++c, ++p) {\n    out[c] = v;\n}", "p[0]"),
    ],
)
def test_it_is_read_anew(text: str, read: str) -> None:
    assert text.replace("= v;", f"= {read};") in [edit.applied(text) for edit in kept.edits(text)]


def test_several_of_one_loop_are_read_anew_together() -> None:
    text = "float v = a[c], w = b[c];\nfor (; c < N; ++c) {\n    out[c] = v + w;\n}"
    *_, both = kept.edits(text)
    assert "out[c] = a[c] + b[c];" in both.applied(text)
    assert (
        both.why
        == "Line 1 sets `v` and line 1 sets `w` once, before the loop, which goes on to other elements."
    )


@pytest.mark.parametrize(
    "text",
    [
        f"float v = bias[x];\n{OWN}",
        f"{OWN}\nfloat v = bias[c];",
        f"float v = 2 * x;\n{OWN}",
        f"float v = bias[c];\n}}\n__global__ void k() {{\n{OWN}",
        "float v = bias[c];\nfor (; c < N; ++c) {\n    v += 1;\n}",
    ],
)
def test_a_value_stays_that_the_loop_does_not_leave_behind_or_that_it_does_not_use(text: str) -> None:
    assert not [*kept.edits(text)]


def test_a_long_text_takes_no_time() -> None:
    assert len([*kept.edits(f"float v = a[c];\n{OWN}\n" * 400)]) < 1000
    assert not [*kept.edits("float v = " + "a[" * 5000 + "(" * 5000 + " " * 5000 + ";\n" + OWN)]
