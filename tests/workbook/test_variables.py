"""What the variables of an index hold in one thread."""

import pytest

from grader.workbook.variables import Accessed, Thread, of_index

KERNEL = """\
constexpr int T = 32;
extern "C" __global__ void k(const float* in, float* out, int M, int N)
{{
    {body}
    {access};
}}
"""


def told(body: str, access: str, accessed: Accessed) -> tuple[str, ...]:
    source = KERNEL.format(body=body.replace("\n", " "), access=access)
    thread = Thread((3, 1), (2, 1), (T, 8, 1), (4, 4, 1), {"M": 70, "N": 100, "share": 0.5})
    return of_index(source, 5, accessed, thread)


T = 32
ROW = "const int row = blockIdx.y * T + threadIdx.y, x = blockIdx.x * T + threadIdx.x;"


@pytest.mark.parametrize(
    ("body", "access", "accessed", "expected"),
    [
        (ROW, "out[size_t(row) * N + x] = 1", Accessed("out", (70, 100), 3367), ("row = 33", "N = 100", "x = 67")),
        (
            "int first = threadIdx.x; const int last = N - first;", "out[last] = in[last]",
            Accessed("in", (100,), 97), ("last = N - first = 97", "N = 100", "first = 3"),
        ),
        (
            "int x = threadIdx.x, y = 20;", "tile[y][x ^ y] = 0", Accessed("tile", (24, 24), 20 * 24 + 23),
            ("y = 20", "x = 3", "x ^ y = 23"),
        ),
        (
            ROW, "tile[row][x] = in[x]", Accessed("tile", (32, 32), 33 * 32 + 67, own=True),
            ("row = blockIdx.y * T + threadIdx.y = 33", "x = blockIdx.x * T + threadIdx.x = 67"),
        ),
        ("long at = -7 / 2 + (int)(threadIdx.x % 2);", "out[2 * at] = 0", Accessed("out", (9,), -4), ("at = -2",)),
        (
            "unsigned k = 5u << 1;", "((float4*)out)[k] = value", Accessed("out", (40,), 41, 4), ("k = 10",),
        ),
        ("int x = 1; x = threadIdx.x;", "out[x + 1] = 0", Accessed("out", (2,), 4), ("x = 3",)),
    ],
    ids=["rows", "from the end", "two dimensions", "of the block", "to zero", "vectors", "set anew"],
)  # fmt: skip
def test_it_is_told_what_an_index_is_made_of(
    body: str, access: str, accessed: Accessed, expected: tuple[str, ...]
) -> None:
    assert told(body, access, accessed) == expected


@pytest.mark.parametrize(
    ("body", "access", "element"),
    [
        ("int i = threadIdx.x;", "out[i] = 0", 3),
        ("int i = threadIdx.x;", "out[i + 1] = 0", 8),
        ("int i = in[0];", "out[i + 1] = 0", 4),
        ("for (int i = 3; i < N; ++i)", "out[i + 1] = 0", 4),
        ("int i = 3; while (i < N) i += 2;", "out[i + 1] = 0", 4),
        ("int i = i + 1;", "out[i + 1] = 0", 4),
        ("int i = 1 / 0;", "out[i + 1] = 0", 4),
        ("int i = 1 << 40;", "out[i >> 38] = 0", 4),
        ("int i = 3;", "out[i + 1] = out[i]", 4),
    ],
    ids=[
        "no more than the element", "another element", "from memory", "a loop", "changed", "by itself", "by zero",
        "beyond an int", "two indices",
    ],
)  # fmt: skip
def test_what_is_not_to_be_seen_is_not_told(body: str, access: str, element: int) -> None:
    assert told(body, access, Accessed("out", (100,), element)) == ()
