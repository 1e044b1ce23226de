"""Arrays in shared memory, and what a store leaves in them."""

from __future__ import annotations

import pytest

from grader.workbook.suspects import said
from grader.workbook.suspects.shared_memory import kept, of_own_elements

COUNTS = "__global__ void f(int* b)\n{\nint t = threadIdx.x;\nint c[256];\nc[t] = 0;\n__syncthreads();\nc[in[t]]++;\n}"
STORED = "int i = blockIdx.x * B + threadIdx.x;\n__shared__ float t[B];\nt[threadIdx.x] = in[i];\n"
NO_HALO = (
    "reads up to R elements on each side of the thread's own, and `t` has the block's B alone: `t[B + 2 * R]`, a "
    "thread's own at `t[threadIdx.x + R]`, and load the R elements in front of the block's and the R behind them there "
    "too."
)
TILE = "void f(const half* A, int K)\n{\n__shared__ half a[16][16], b[64];\nfor (int k = 0; k < K; k += 16) "


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("extern __shared__ __align__(16) int a[];\nextern __shared__ unsigned char b[];",
         "Line 2: `a` and `b` begin at the same address, as all extern __shared__ arrays of a kernel do: have one of "
         "them, and the other as a pointer behind its elements: "
         "`unsigned char* b = reinterpret_cast<unsigned char*>(a + …);`."),
        ("__shared__ float tile[24][24];\ntile[y][x ^ y] = 1;",
         "Line 2: `x ^ y` goes up to 31 where the two go up to 23: give `tile` a side that is a power of two, 16 or "
         "32, or pad its rows in place of that."),
        ("__shared__ float t[32][32];\nint r0 = blockIdx.y * 32;\nint r = r0 + y;\nt[y][x ^ r] = in[i];",
         "Line 4: `r` counts from the beginning of the matrix, so that `x ^ r` leads out of a row of `t`: exchange by "
         "the row in the tile, `t[y][x ^ y]`."),
        (COUNTS,
         "Line 7: `c`, declared in line 4, is each thread's own, and a thread sets only `c[t]` in it: where the block "
         "is to have one, write `__shared__` in front of its declaration, and add with atomicAdd."),
        (f"{STORED}for (int k = -R; k <= R; ++k) s += t[threadIdx.x + k];", f"Line 4: `t[threadIdx.x + k]` {NO_HALO}"),
        (f"{STORED}for (int k = 0; k <= 2 * R; ++k) {{\n    s += t[k + threadIdx.x];\n}}",
         f"Line 5: `t[k + threadIdx.x]` {NO_HALO}"),
    ],
)  # fmt: skip
def test_an_array_is_told_with_what_mends_it(text: str, sentence: str) -> None:
    assert said(text, [], "k.cu") == sentence


@pytest.mark.parametrize(
    "text",
    [
        COUNTS.replace("int c", "__shared__ int c"),
        COUNTS.replace("c[256]", "c[256] = {}"),
        COUNTS.replace("c[in[t]]", "c[t]"),
        COUNTS.replace("c[t] = 0", "for (int k = 0; k < 256; ++k) c[k] = 0"),
        COUNTS.replace("c[t] = 0", "clear(c)"),
        COUNTS.replace("__syncthreads();", ""),
        "    extern __shared__ int a[];\n}\nvoid g() {\n    extern __shared__ float b[];\n}",
        "__shared__ float tile[32][32], t[24][24], p[32][33];\ntile[y][x ^ y] = t[y][x ^ 1] + p[y][x ^ y];",
        "__shared__ float t[32][32];\nint r = (blockIdx.y * 32 + y) % 32;\nint q = r0 - y;\nt[y][x ^ r] = t[y][x ^ q];",
        STORED.replace("[B]", "[B + 2 * R]") + "for (int k = 0; k <= 2 * R; ++k) s += t[threadIdx.x + k];",
        f"{STORED}for (int k = -R; k <= R; ++k) s += threadIdx.x + k < B ? t[threadIdx.x + k] : in[i + k];",
        STORED.replace("* B", "* blockDim.x")
        .replace("[B]", "[T]")
        .replace("int i", "const int T = B + 2 * R;\nint i")
        + "for (int k = 0; k <= 2 * R; ++k) s += t[threadIdx.x + k];",
        f"{STORED}for (int k = 0; k <= R; ++k) s += t[threadIdx.x + k];",
    ],
)
def test_an_array_that_may_be_right_is_not_told(text: str) -> None:
    assert said(text, [], "k.cu") == ""


@pytest.mark.parametrize(
    "text",
    [
        "if (k + s < K) a[r][s] = A[k + s];",
        "if (k + s < K && f(r) < M) {\n a[r][s] = A[size_t(r) * K + k + s];\n}",
    ],
)
def test_what_a_store_leaves_in_a_tile_is_told(text: str) -> None:
    assert kept(TILE + text).startswith("Line ")
    assert "`a` keeps what an earlier step has stored there" in kept(TILE + text)


@pytest.mark.parametrize(
    "text",
    [
        "a[r][s] = k + s < K ? A[k + s] : zero;",
        "if (k + s < K) a[r][s] = A[k + s];\nelse a[r][s] = zero;",
        "if (k + s < K) {\n a[r][s] = A[k + s];\n} else {",
        "if (t < s) c[t] = A[t];",
        "if (t < s) b[t] = b[t] + b[t + s];",
    ],
)
def test_a_store_with_its_other_case_leaves_nothing(text: str) -> None:
    assert kept(TILE + text) == ""


SHARED = "__shared__ float t[32][33], s[256];\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("t[threadIdx.y][threadIdx.x] = v;\n__syncthreads();\nw = t[threadIdx.y][threadIdx.x];", {"t": 4}),
        ("int a = threadIdx.x;\ns[a] = v;\n__syncthreads();\nw = 2 * s[threadIdx.x + 0];", {}),
        ("int a = threadIdx.x;\ns[a] = v;\n__syncthreads();\nw = 2 * s[a];", {"s": 5}),
        ("for (int k = 0; k < 32; k += 8)\n  t[threadIdx.y + k][threadIdx.x] = v;\n__syncthreads();\n"
         "for (int k = 0; k < 32; k += 8)\n  f(t[threadIdx.y + k][threadIdx.x]);", {"t": 6}),
        ("for (int k = 0; k < 32; k += 8)\n  t[threadIdx.y + k][threadIdx.x] = v;\n__syncthreads();\n"
         "for (int k = 8; k < 32; k += 8)\n  f(t[threadIdx.y + k][threadIdx.x]);", {}),
        ("t[threadIdx.y][threadIdx.x] = v;\n__syncthreads();\nw = t[threadIdx.x][threadIdx.y];", {}),
        ("if (threadIdx.y == 0) s[threadIdx.x] = v;\n__syncthreads();\nw = s[threadIdx.x];", {}),
        ("int warp = threadIdx.x / 32;\ns[warp] = v;\n__syncthreads();\nw = s[warp];", {}),
        ("int a = threadIdx.x;\ns[a] = v;\n__syncthreads();\na += 1;\nw = s[a];", {}),
        ("s[threadIdx.x] = v;\n__syncthreads();\nw = s[threadIdx.x] + sum(s);", {}),
        ("s[threadIdx.x] = v;\nw = s[threadIdx.x];", {}),
    ],
)  # fmt: skip
def test_what_threads_read_of_their_own_alone_is_found(text: str, told: dict[str, int]) -> None:
    assert of_own_elements(SHARED + text) == told


@pytest.mark.parametrize(
    ("index", "told"),
    [
        ("blockIdx.x * B + threadIdx.x", True),
        ("threadIdx.x", False),
        ("(blockIdx.x + threadIdx.x) % B", False),
    ],
)
def test_a_blocks_own_array_is_not_indexed_by_a_thread_of_the_grid(index: str, told: bool) -> None:
    text = f"constexpr int B = 8;\n__shared__ float s[B];\nconst int i = {index};\nif (i < N) s[i] = a[i];"
    line = "Line 4: `i` counts the threads of all blocks, and `s` is the block's own, with B elements"
    assert (line in said(text, [], "k.cu")) == told
