"""What is said of a name that the compiler does not know."""

from __future__ import annotations

import pytest

from grader.workbook.undeclared import remedy

AT = "__device__ float at(const float* in, int j)\n{\n    return j < N ? in[j] : 0;\n}\n"
KERNEL = "__global__ void k(const float* in, float* out, int M)\n{\n"
SET = "give it a type and a value in front of this one"


@pytest.mark.parametrize(
    ("name", "line", "text", "said"),
    [
        ("i", 4, f"{KERNEL}    int j = M;\n    out[i] = in[j];\n}}\n", f"no line declares `i`: {SET}"),
        ("sum", 4, f"{KERNEL}    int j = M;\n    sum = in[j];\n}}\n",
         "no line declares `sum`: write its type in front of it, where it is first set"),
        ("tile", 4, f"{KERNEL}    int j = M;\n    tile[j] = in[j];\n    out[j] = tile[j];\n}}\n",
         "no line declares `tile`: declare the array in front of this one"),
        ("N", 4, f"{KERNEL}    int j = 0;\n    if (j < N) out[j] = in[j];\n}}\n",
         "no line declares `N`, and none uses the parameter `M`: are they to be the same?"),
        ("data", 3, f"{KERNEL}    if (M) out[0] = data[1];\n}}\n",
         "no line declares `data`, and none uses the parameter `in`: are they to be the same?"),
        ("colum", 4, f"{KERNEL}    int row = M, column = 3;\n    out[row] = in[colum];\n}}\n",
         "did you mean `column`?"),
        ("v", 6, f"{KERNEL}    if (M) {{\n        float v = in[M];\n    }}\n    out[0] = v;\n}}\n",
         "`v` is declared in line 4, and known up to line 5, the end of the braces around it: declare it in front of "
         "the braces around it"),
        ("e", 4, f"{KERNEL}    for (int e = 0; e < M; ++e) out[e] = 0;\n    out[e] = in[e];\n}}\n",
         "`e` is declared in line 3, and known up to line 3, the end of the loop: declare it in front of the loop"),
        ("i", 3, f"{KERNEL}    out[i] = in[M];\n    int i = 0;\n}}\n",
         "`i` is declared in line 4, and known from there on: put that line in front of this one"),
        ("N", 3, f"{AT}__global__ void k(const float* in, float* out, int N)\n{{\n    out[N] = at(in, N);\n}}\n",
         "`N` belongs to `k`, and `at` does not know it: pass it as an argument"),
        ("N", 1, f"constexpr int A = N;\n{KERNEL}    out[M] = in[M];\n}}\n", None),
    ],
)  # fmt: skip
def test_what_a_name_is_to_be_is_told(name: str, line: int, text: str, said: str | None) -> None:
    assert remedy(name, line, text) == said


def test_a_long_text_takes_no_time() -> None:
    assert remedy("x", 4, f"{KERNEL}    out[M] = in[M];\n    x = {'(' * 100_000}y;\n}}\n") is not None
