"""Conditions that let whole vectors pass alone."""

from __future__ import annotations

import pytest

from grader.workbook.suspects.vectors import Whole, one_of_rest, only_whole

KERNEL = "__global__ void k(const float* in, float* out, int N)\n{{\nint j = 4 * threadIdx.x;\n{}\n}}"
VECTOR = "v = *(const float4*)&in[j];"


@pytest.mark.parametrize(
    ("body", "condition"),
    [
        (f"if (j >= 0 && j + 3 < N) {{ {VECTOR} }}\nif (j < N) out[j] = v.x;", "j + 3 < N"),
        (f"if (j + 4 <= N) {VECTOR}", "j + 4 <= N"),
        (f"if (j < N - 3) {VECTOR}", "j < N - 3"),
        (f"for (; j + 3 < N; j += 4 * B) {{ {VECTOR} }}\nif (j < N) out[j] = 0;", "j + 3 < N"),
        ("v = j + 3 < N ? *reinterpret_cast<const float4*>(in + j) : zero;", None),
        ("float4 v = make_float4(0, 0, 0, 0);\nif (j + 3 < N) v = ((const float4*)in)[j / 4];", "j + 3 < N"),
        ("const float4* in4 = (const float4*)in;\nif (4 * t + 3 < N) v = in4[t];", "4 * t + 3 < N"),
        ("auto in4 = reinterpret_cast<const float4*>(in);\nif (t < N / 4) v = in4[t];", "t < N / 4"),
    ],
)
def test_what_is_left_behind_whole_vectors_is_told(body: str, condition: str | None) -> None:
    (found,) = only_whole(KERNEL.format(body))
    line = 4 + body[: body.index("N")].count("\n")
    assert found == Whole(line, condition or "j + 3 < N", "N", 4, "in")


@pytest.mark.parametrize(
    "body",
    [
        f"if (j + 3 < N) {VECTOR}\nelse if (j < N) v.x = in[j];",
        f"if (j + 3 < N) {{ {VECTOR} }}\nfor (int k = N / 4 * 4; k < N; ++k) s += in[k];",
        f"if (j < N) {VECTOR}",
        "if (j + 3 < N) v = in[j];",
        "if (j + 3 < N) v = *(const float2*)&in[j];",
        f"if (j + 3 < N || last) {VECTOR}",
        "const float4* in4 = (const float4*)in;\nif (4 * t + 3 < N) v = in4[t];\nelse v.x = in[4 * t];",
        f"if (j + 3 < N) {{ {VECTOR} }}\nrest(in, N);",
    ],
)
def test_what_is_loaded_elsewhere_is_not_told(body: str) -> None:
    assert [*only_whole(KERNEL.format(body))] == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("if (i < N / 4) {\n    o[i] = v[i];\n}", "`if (i < N / 4)` in line 4"),
        ("const int n = N / 4;\nif (i < n) o[i] = v[i];", "`if (i < n)` in line 5"),
        ("if (4 * i + 3 < N) o[i] = v[i];", "`if (4 * i + 3 < N)` in line 4"),
        ("if (4 * i + 4 <= N) o[i] = v[i];", "`if (4 * i + 4 <= N)` in line 4"),
        ("if (4 * i + 2 < N) o[i] = v[i];", ""),
        ("if (i < N / 4) o[i] = v[i];\nelse out[i] = 0;", ""),
        ("if (i < N / 4) o[i] = v[i];\nif (i == N % 4) out[i] = 0;", ""),
        ("for (int k = 0; k < 2; ++k) { if (i < N / 4) o[i] = v[i]; }", ""),
        ("if (j < N / 4) o[j] = v[j];", ""),  # of the block alone
    ],
)
def test_one_of_what_is_left_for_each_thread_is_told_with_its_condition(body: str, says: str) -> None:
    body = f"const size_t i = size_t(blockIdx.x) * B + threadIdx.x;\n{body}"
    said = one_of_rest(
        f"__global__ void k(const float* in, float* out, int N)\n{{\n{body}\nint j = threadIdx.x;\n}}"
    )
    assert says in said
    assert ("with `if (i < N % 4)`, the element `N / 4 * 4 + i`." in said) == bool(says)
