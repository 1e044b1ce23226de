"""Elements that are read before a condition asks whether they are there."""

from __future__ import annotations

import pytest

from grader.workbook.suspects.early import Early, reads

KERNEL = "__global__ void k(const float* a, float* __restrict__ c, int N)\n{{\n{}\n}}\n"
INDEX = "int i = blockIdx.x * B + threadIdx.x;\n"
GUARD = "if (i < N) c[i] = x;"


@pytest.mark.parametrize(
    ("body", "line", "by", "condition"),
    [
        (f"{INDEX}float x = a[i];\n{GUARD}", 4, "B", "i < N"),
        (f"{INDEX}const float y = 2, x = 2 * a[ i ];\n\n{GUARD}", 4, "B", "i < N"),
        (f"{INDEX}float x;\nx = a[i];\nif (N <= i) return;\nc[i] = x;", 5, "B", "N <= i"),
        (f"size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;\nfloat x = a[i];\n{GUARD}",
         4, "blockDim.x", "i < N"),
        (f"int i = 32 * (int)blockIdx.x + threadIdx.x;\nfloat x = a[i];\n{GUARD}", 4, "32", "i < N"),
        (f"{INDEX}float x = __half2float(a[i]) * (float)a[0];\n{GUARD}", 4, "B", "i < N"),
        (f"{INDEX}float x = a[i];\nif (c && i < N && N > 2) c[i] = x;", 4, "B", "i < N"),
    ],
)  # fmt: skip
def test_a_read_in_front_of_its_condition_is_found(body: str, line: int, by: str, condition: str) -> None:
    asked = 3 + body[: body.index("if (")].count("\n")
    text = KERNEL.format(body)
    assert list(reads(text, "k")) == [Early(line, "a", 0, "const float", "i", "x", by, asked, condition)]


@pytest.mark.parametrize(
    "body",
    [
        f"{INDEX}if (i >= N) return;\nfloat x = a[i];\n{GUARD}",
        f"{INDEX}float x = i < N ? a[i] : 0;\n{GUARD}",
        f"{INDEX}float x = 0;\n{{ x = a[i]; }}\n{GUARD}",
        f"{INDEX}i = min(i, N - 1);\nfloat x = a[i];\n{GUARD}",
        f"{INDEX}a -= i;\nfloat x = a[i];\n{GUARD}",
        f"{INDEX}const float* p = &a[i];\nfloat x = 0;\n{GUARD}",
        f"int i = min(blockIdx.x * B + threadIdx.x, N - 1);\nfloat x = a[i];\n{GUARD}",
        f"int i = threadIdx.x;\nfloat x = a[i];\n{GUARD}",
        f"{INDEX}float x = f(a[i]);\n{GUARD}",
        f"{INDEX}int x = sizeof (a[i]);\n{GUARD}",
        f"{INDEX}float x = a[i];\nc[i] = x;",
        f"{INDEX}float x = a[i];\nif (i < N - 1) c[i] = x;",
    ],
)
def test_no_other_read_is_taken_for_one(body: str) -> None:
    assert not list(reads(KERNEL.format(body), "k"))
