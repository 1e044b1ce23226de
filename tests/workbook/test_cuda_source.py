"""What messages take from a source's text: arrays in shared memory, and early returns."""

from __future__ import annotations

import pytest

from grader.workbook.cuda_source import SharedArray, early_return, shared_arrays

SOURCE = """\
constexpr int TILE = 16;  // and not __shared__ float comment[3];
#define PAD 1

__global__ void one(float* out)
{
    __shared__ float tile[TILE][TILE + PAD], row[TILE];
    __shared__ __align__(16) half2 pairs[2][TILE / 2];
    extern __shared__ double rest[];
    if (threadIdx.x > 3) return;
    /* return;
       return; */
    out[0] = tile[0][0];
}

template <int N> __global__ void two(float* out)
{
    __shared__ float unknown[N];
    __shared__ int tile[4];
    out[1] = 1;
}
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tile", (SharedArray(4, (16, 17)), SharedArray(4, (4,)))),
        ("row", (SharedArray(4, (16,)),)),
        ("pairs", (SharedArray(4, (2, 8)),)),
        ("rest", (SharedArray(8, (None,)),)),
        ("unknown", None),
        ("comment", None),
    ],
)
def test_declarations(name: str, expected: tuple[SharedArray, ...] | None) -> None:
    assert shared_arrays(SOURCE).get(name) == expected


@pytest.mark.parametrize(
    ("array", "nbytes", "shape"),
    [
        (SharedArray(4, (16, 17)), 16 * 17 * 4, (16, 17)),
        (SharedArray(4, (16, 17)), 64, None),  # another array of that name
        (SharedArray(8, (None,)), 800, (100,)),
        (SharedArray(4, (None, 8)), 320, (10, 8)),
    ],
)
def test_a_shape_fits_the_bytes(array: SharedArray, nbytes: int, shape: tuple[int, ...] | None) -> None:
    assert array.shape(nbytes) == shape


@pytest.mark.parametrize(("line", "found"), [(12, 9), (9, None), (19, None)])
def test_threads_return_before_a_line_of_the_same_function(line: int, found: int | None) -> None:
    assert early_return(SOURCE, line) == found


@pytest.mark.parametrize(
    "text", ["const " * 60_000, f'"{"/* " * 100_000}"', "__shared__ int " + " " * 300_000]
)
def test_a_text_of_any_length_is_read_once(text: str) -> None:
    """Looked through again from each of its words, it would take minutes."""
    assert shared_arrays(text) == {}
    assert early_return(text, 1) is None
