"""Which changes of a source are tried, and what they make of it."""

from __future__ import annotations

import pytest

from grader.workbook.cuda_edits import edits

SOURCE = """\
// tile[y][x] in a comment
__global__ void k(const float* in, float* out, int M, int N)
{
    float tile[16][17];  /* of what
    tile[y][x] */ float square[2][2];
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    if (x < N && y < M) tile[threadIdx.y][threadIdx.x] = in[y * N + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    out[x] = tile[threadIdx.x][threadIdx.y];
    for (int s = 8; s > 1; s /= 2) if (x <= s) out[x] += square[0][0];
    for (int s = 1; s < 16 - 1; ++s) out[x] += s >= 3;
    for (int s = 8; s > 0; --s) out[x] += s;

    return s > 9 && s < 16 && x >= 0;
}
"""
MADE = {edit.said: edit.applied(SOURCE).splitlines() for edit in edits(SOURCE)}


@pytest.mark.parametrize(
    ("said", "line", "becomes"),
    [
        ("`__shared__` in front of `tile` in line 4", 4, "    __shared__ float tile[16][17];  /* of what"),
        (
            "`tile[threadIdx.y][threadIdx.x]` in place of `tile[threadIdx.x][threadIdx.y]` in line 11",
            11,
            "    out[x] = tile[threadIdx.y][threadIdx.x];",
        ),
        (
            "`tile[threadIdx.x][threadIdx.y]` in place of `tile[threadIdx.y][threadIdx.x]` in line 8",
            8,
            "    if (x < N && y < M) tile[threadIdx.x][threadIdx.y] = in[y * N + x];",
        ),
        (
            "`N` and `M` exchanged in the condition in line 8",
            8,
            "    if (x < M && y < N) tile[threadIdx.y][threadIdx.x] = in[y * N + x];",
        ),
        (
            "blockIdx.x and blockIdx.y exchanged in lines 6 and 7",
            7,
            "    int y = blockIdx.x * 16 + threadIdx.y;",
        ),
        (
            "blockIdx.x and blockIdx.y exchanged in line 10",
            10,
            "    x = blockIdx.x * 16 + threadIdx.x;",
        ),
        (
            "`s > 0` in place of `s > 1` in line 12",
            12,
            "    for (int s = 8; s > 0; s /= 2) if (x <= s) out[x] += square[0][0];",
        ),
        (
            "`x < s` in place of `x <= s` in line 12",
            12,
            "    for (int s = 8; s > 1; s /= 2) if (x < s) out[x] += square[0][0];",
        ),
        (
            "`s >= 9` in place of `s > 9` in line 16",
            16,
            "    return s >= 9 && s < 16 && x >= 0;",
        ),
        (
            "`s < 16` in place of `s < 16 - 1` in line 13",
            13,
            "    for (int s = 1; s < 16; ++s) out[x] += s >= 3;",
        ),
    ],
)
def test_a_change_is_said_and_made(said: str, line: int, becomes: str) -> None:
    lines = SOURCE.splitlines()
    assert [i for i, text in enumerate(MADE[said], 1) if text != lines[i - 1]][-1] == line
    assert MADE[said][line - 1] == becomes


FILLED = """\
__shared__ float a[16][16], b[16];
float own[4];
if (row < M && f(k) < K) {  // inside
    a[y][x] = A[row * K + k];
}
if (k < K)
    b[x] = B[k];
if (k < K) own[0] = B[k];
if (k < K) b[x] = B[k]; else b[x] = 1;
if (k < K) { b[x] = B[k]; ++k; }
"""


def test_what_a_condition_leaves_out_is_set_to_0_one_by_one_and_all_together() -> None:
    made = [(edit.said, edit.applied(FILLED).splitlines()) for edit in edits(FILLED) if "`else " in edit.said]
    assert [said for said, _ in made] == [
        "`else a[y][x] = 0;` behind the `if` in line 3",
        "`else b[x] = 0;` behind the `if` in line 6",
        "`else a[y][x] = 0;` behind the `if` in line 3 and `else b[x] = 0;` behind the `if` in line 6",
    ]
    assert made[2][1][4:7] == ["} else a[y][x] = 0;", "if (k < K)", "    b[x] = B[k]; else b[x] = 0;"]


def test_of_several_comparisons_those_by_one_off_are_changed() -> None:
    assert not [said for said in MADE if said.endswith("line 16") and "`s >= 9`" not in said]


def test_no_change_makes_a_loop_endless() -> None:
    assert not any("in line 14" in said for said in MADE)


def test_what_is_read_is_changed_before_what_is_stored() -> None:
    accesses = [said for said in MADE if said.startswith("`tile")]
    assert [said[-7:] for said in accesses] == ["line 11", " line 8"]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("blockIdx.x * 16 + threadIdx.y", "blockIdx.y in place of blockIdx.x in line 2"),
        ("blockIdx.y * 16 + threadIdx.x", "threadIdx.y in place of threadIdx.x in line 2"),
        (
            "blockIdx.x * 16 + threadIdx.x",
            "blockIdx.y and threadIdx.y in place of blockIdx.x and threadIdx.x in line 2",
        ),
        ("blockIdx.y * 16 + threadIdx.y", None),
    ],
)
def test_an_index_that_has_the_axis_of_another_is_changed(second: str, said: str | None) -> None:
    source = f"int x = blockIdx.x * 16 + threadIdx.x;\nint y = {second};\n"
    made = {edit.said: edit.applied(source).splitlines()[1] for edit in edits(source) if "place" in edit.said}
    assert made.get(str(said)) == (said and "int y = blockIdx.y * 16 + threadIdx.y;")


def test_z_of_the_grid_is_exchanged_in_all_of_a_kernel() -> None:
    source = "k = blockIdx.z;\n\nn = blockIdx.y;\n"
    (edit,) = [edit for edit in edits(source) if ".z" in edit.said]
    assert edit.said == "blockIdx.y and blockIdx.z exchanged in lines 1 and 3"
    assert edit.applied(source) == "k = blockIdx.y;\n\nn = blockIdx.z;\n"


def test_a_long_text_takes_no_time() -> None:
    assert len(list(edits("if (" + "a < b && " * 20_000 + "\nfor (" + "x[" * 50_000))) == 0
    assert len(list(edits("if (" + "(a) + " * 20_000 + "\n" + "while (((" * 20_000))) == 0
    assert len(list(edits("if ((" * 20_000 + "if (a) b[" * 20_000))) == 0


OF_PARTS = "int t = threadIdx.x;\nint lane = t & 31, warp = t >> 5, row = i >> 2;\n"


@pytest.mark.parametrize(
    ("text", "said", "becomes"),
    [
        ("if (f(i) < N); {", "the `;` behind `if (…)` in line 1 deleted", "if (f(i) < N) {"),
        ("for (r = 0; r < 8; r++);\n{", "the `;` behind `for (…)` in line 1 deleted", "for (r = 0; r < 8; r++)\n{"),
        ("while (a[i] > 0); // until\n    i++;", "the `;` behind `while (…)` in line 1 deleted",
         "while (a[i] > 0) // until\n    i++;"),
        ("  v = __shfl_xor_sync(~0u, v, 1);", "`v += __shfl…` in line 1", "  v += __shfl_xor_sync(~0u, v, 1);"),
        ("for (;;) __shfl_down_sync(~0u, v, 1);", "`v += __shfl…` in line 1",
         "for (;;) v += __shfl_down_sync(~0u, v, 1);"),
        (f"{OF_PARTS}s[lane] = v;", "`s[warp]` in place of `s[lane]` in line 3", f"{OF_PARTS}s[warp] = v;"),
        ("if (i + k >= 0) s += in[k];", "`in[i + k]` in place of `in[k]` in line 1",
         "if (i + k >= 0) s += in[i + k];"),
        ("v = i + B < N ? in[i + R] : 0;", "`in[i + B]` in place of `in[i + R]` in line 1",
         "v = i + B < N ? in[i + B] : 0;"),
        ("v = in[(size_t)x * N + y];", "`x` and `y` exchanged in the index of `in` in line 1",
         "v = in[(size_t)y * N + x];"),
        ("atomicAdd(&counts[in[i]][warp], 1);", "`counts[warp][in[i]]` in place of `counts[in[i]][warp]` in line 1",
         "atomicAdd(&counts[warp][in[i]], 1);"),
        ("x = a[i][0] + a[i][0];\na[i][0] = x;", "`a[0][i]` in place of `a[i][0]` in lines 1 and 2",
         "x = a[0][i] + a[0][i];\na[0][i] = x;"),
        ("__shared__ int a[8][32];\na[t][0] = 0;\nx = a[b[i]][w] + a[i][w];",
         "the two indices of `a` exchanged in lines 2 and 3",
         "__shared__ int a[8][32];\na[0][t] = 0;\nx = a[w][b[i]] + a[w][i];"),
        ("__shared__ int a[8][32];\na[y + j][x] = 0;\nv = a[x + k][y];",
         "`a[x][y + k]` in place of `a[x + k][y]` in line 3",
         "__shared__ int a[8][32];\na[y + j][x] = 0;\nv = a[x][y + k];"),
        ("for (i = 0; i <= T; i += R) {}\nfor (i = 0; i <= T; i += R) {}",
         "`i < T` in place of `i <= T` in lines 1 and 2",
         "for (i = 0; i < T; i += R) {}\nfor (i = 0; i < T; i += R) {}"),
    ],
)  # fmt: skip
def test_what_is_often_mistyped_is_changed(text: str, said: str, becomes: str) -> None:
    made = {edit.said: edit.applied(text) for edit in edits(text)}
    assert made[said] == becomes


def test_what_is_added_to_an_index_stays_where_no_access_adds_to_the_other() -> None:
    text = "__shared__ int a[8][32];\na[y + j][x] = 0;\nv = a[{}];"
    for index in ("y + j][x", "x][y + j", "z + j][x"):
        made = [edit.said for edit in edits(text.format(index)) if "with `" in edit.why]
        assert not [said for said in made if said.endswith("in line 3")], index


@pytest.mark.parametrize(
    "text",
    [
        "while (atomicAdd(flag, 0) == 0);\n__syncthreads();",
        "do {\n    i++;\n} while (i < N);\n{",
        "int other = __shfl_sync(~0u, v, 0);",
        "s += i + B >= 0 ? in[i+B] : 0;",
        "i = blockIdx.x * B;\n\nadd(out, blockIdx.x);",  # blockIdx.y is 0 where a grid has x alone
    ],
)
def test_what_is_meant_is_not_changed(text: str) -> None:
    assert not list(edits(text))


@pytest.mark.parametrize("condition", ["bool inside = y < N && x < M;", "bool outside = y >= N || x >= M;"])
def test_sizes_of_a_condition_that_is_kept_are_exchanged(condition: str) -> None:
    turned = condition.translate(str.maketrans("NM", "MN"))
    assert turned in [edit.applied(condition) for edit in edits(condition)]


def test_threads_whose_x_counts_rows_are_exchanged_first() -> None:
    text = """\
row = blockIdx.y * B + threadIdx.y;
column = blockIdx.x * B + threadIdx.x;
tile[i][j] = in[row * N + column];
r = blockIdx.x * B + threadIdx.x;
c = blockIdx.y * B + threadIdx.y;
out[size_t(r) * M + c] = tile[j][i];
"""
    said = [edit.said for edit in edits(text) if edit.said.startswith("threadIdx")]
    assert said == [
        f"threadIdx.x and threadIdx.y exchanged in lines {both}" for both in ("4 and 5", "1 and 2")
    ]


@pytest.mark.parametrize(
    ("stored", "read", "becomes"),
    [
        ("t[y][x ^ y] = v;", "w = t[x][y];", "t[y][x ^ y] = v;\nw = t[x][y ^ x];"),
        ("t[y + j][x] = v;", "w = t[x][(x & 7) ^ y];", "t[y + j][x ^ ((y + j) & 7)] = v;"),
        ("t[y][x ^ y] = v;", "w = t[x][y ^ x];", None),
        ("t[y][x ^ 1] = v;", "w = t[x][y];", None),
    ],
)
def test_columns_are_exchanged_in_both_accesses_of_a_tile(
    stored: str, read: str, becomes: str | None
) -> None:
    source = f"__shared__ float t[32][32];\n{stored}\n{read}"
    made = [edit for edit in edits(source) if edit.why.startswith("`t` is accessed so elsewhere")]
    texts = [edit.applied(source) for edit in made]
    assert texts == [] if becomes is None else any(becomes in text for text in texts)
