"""What the compiler asks for in a line is told with the line before that lacks it, and what closes a block that another
`}` was to close."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.workbook import compiler
from grader.workbook.unfinished import told

TEXT = """\
constexpr int BLOCK = 256;
#define X 3
__device__ float twice(float x)
{
    return 2 * x;  // {
}
extern "C" __global__ void k(const float* a, float* c, int N)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    // a comment
    if (i < N) {
        asm volatile("{ }");
        c[i] = twice(a[i]);
    } else {
        return;
    }
    for (int j = 0; j < 4; ++j) {
        atomicAdd(&c[j],
                  c[j]);
    }
}
"""


@pytest.mark.parametrize(
    ("old", "new", "remedy"),
    [
        ("256;", "256", 'line 1 ends without a ";"'),
        ("float x)", "float x", 'line 3 ends without a ")"'),
        ("2 * x;", "2 * x", 'line 5 ends without a ";"'),
        ("x;  // {\n}", "x;", "the `{` in line 4 is not closed before line 6"),
        ("x;  // {\n}\nextern \"C\"", "x;", "the `{` in line 4 is not closed before line 6"),
        ("threadIdx.x;", "threadIdx.x", 'line 9 ends without a ";"'),
        ("    } else", "    else", "the `{` in line 12 is not closed before line 15"),
        ("return;", "return", 'line 16 ends without a ";"'),
        ("    }\n    for", "    for",
         "the `}` in line 21 closes the `{` in line 15, and the one in line 8 is closed nowhere"),
        ("++j) {", "++j)", "the `}` in line 21 closes the `{` in line 8"),
        ("&c[j],", "&c[j]", 'line 19 ends without a ")", a comma or an operator'),
        ("c[j]);\n    }\n}", "c[j]);\n    }", "the `{` in line 8 is closed nowhere"),
        ("c[j]);\n    }\n}", "c[j]);\n    }\n}\nconstexpr int R = 8", 'line 23 ends without a ";"'),
        ("BLOCK +", "BLOCK -+* 2", None),
        ("(i < N)", "(i < N", None),
    ],
)  # fmt: skip
def test_the_line_that_lacks_a_sign_is_told(old: str, new: str, remedy: str | None) -> None:
    text = TEXT.replace(old, new, 1)
    assert text != TEXT
    with pytest.raises(compiler.CompileFailed) as refused:
        compiler.compile_source(text, file=Path("k.cu"), kernels=["k"])
    assert refused.value.remedy == remedy


def test_no_brace_is_paired_where_the_preprocessor_leaves_out_a_part() -> None:
    text = f"#if 1\nvoid f() {{\n#else\nvoid g() {{\n#endif\n}}\n{TEXT}"
    excerpt = 'extern "C" __global__ void k()\n^'
    assert told("linkage specification is not allowed", excerpt, 13, text) is None
