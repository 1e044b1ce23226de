"""Which places are looked for where a thread's, a block's or a row's part begins, and what is tried in their place."""

from __future__ import annotations

import re

import pytest

from grader.workbook.begins import along_rows, edits, of_another, of_block, stored_elsewhere, turned

ALL = "__global__ void k(const float* in, float* out, int M, int N) {\n"
ONE = "__global__ void k(const float* in, float* out, int N) {\n"
LAUNCH = '// grid = ["cdiv(N, {})"]\n// block = ["B"]\n'
SUM = "__shared__ float s[32];\nint t = threadIdx.x;\n"
X0_Y0 = "int x0 = blockIdx.x * T, y0 = blockIdx.y * T;\n"
X_Y = "const int x = blockIdx.x * T + threadIdx.x;\nconst int y = blockIdx.y * T + threadIdx.y;\n"
TX_TY = "int tx = threadIdx.x, ty = threadIdx.y;\n"
U_V = "int u = tx + blockIdx.x * T, v = ty + blockIdx.y * T;\n"
X_Y_LATER = X_Y.replace("const ", "")
X_Y_TURNED = "int x = blockIdx.x * T + threadIdx.y;\nint y = blockIdx.y * T + threadIdx.x;\n"


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("n = threadIdx.x;\nn += gridDim.x * B;", "n = blockIdx.x * blockDim.x + threadIdx.x;\nn += gridDim.x * B;"),
        ("n = threadIdx.x;\nn += blockDim.x;", None),
        ("y = blockIdx.y * blockDim.x + threadIdx.y;", "y = blockIdx.y * blockDim.y + threadIdx.y;"),
        ("y = threadIdx.y + blockDim.x * blockIdx.y;", "y = threadIdx.y + blockDim.y * blockIdx.y;"),
        ("y = blockDim.y * blockIdx.y + threadIdx.y;", None),
        ("i = blockIdx.x * B + threadIdx.x;\ns = in[i] + in[i + B];",
         "i = blockIdx.x * (2 * B) + threadIdx.x;\ns = in[i] + in[i + B];"),
        ("i = size_t(blockIdx.x) * B + tid;\ns = at(i) + at(i + B);",
         "i = size_t(blockIdx.x) * (2 * B) + tid;\ns = at(i) + at(i + B);"),
        ("i = threadIdx.x + B * blockIdx.x;\nfor (int k = 0; k < W; ++k) s += in[i + k * B];",
         "i = threadIdx.x + (W * B) * blockIdx.x;\nfor (int k = 0; k < W; ++k) s += in[i + k * B];"),
        ("i = blockIdx.x * B + threadIdx.x;\ns = in[i] + in[i + 1];", None),
        ("r = blockIdx.y * B + threadIdx.y;\nfor (int k = 0; k < W; ++k) f(r + k * B);",
         "r = blockIdx.y * (W * B) + threadIdx.y;\nfor (int k = 0; k < W; ++k) f(r + k * B);"),
        ("i = (long long)blockIdx.x * B + threadIdx.x;\nfor (int k = 0; k < W; k++) if (i + k < N) s += in[i + k];",
         "i = ((long long)blockIdx.x * B + threadIdx.x) * W;\n"
         "for (int k = 0; k < W; k++) if (i + k < N) s += in[i + k];"),
        ("i = blockIdx.x * B;\nfor (int k = 0; k < W; k++) s += in[i + k];", None),
        ("i = blockIdx.x * B + threadIdx.x;\nfor (int k = 0; k < W && i + k < N; k++) s += in[i + k];",
         "i = (blockIdx.x * B + threadIdx.x) * W;\nfor (int k = 0; k < W && i + k < N; k++) s += in[i + k];"),
        (f"{LAUNCH.format('B')}i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "for (int k = 0; k < 4; k++) s += in[i + k * B];",
         f"{LAUNCH.format('B * 4')}i = blockIdx.x * (4 * blockDim.x) + threadIdx.x;\n"
         "for (int k = 0; k < 4; k++) s += in[i + k * B];"),
        (f"{LAUNCH.format('B * 2')}i = blockIdx.x * blockDim.x + threadIdx.x;\ns = in[i] + in[i + B];",
         f"{LAUNCH.format('B * 2')}i = blockIdx.x * (2 * blockDim.x) + threadIdx.x;\ns = in[i] + in[i + B];"),
        ("r = blockIdx.y * B + threadIdx.y;\nfor (int k = 0; k < 8; k++, r += 4) f(r);",
         "r = blockIdx.y * (8 * B) + threadIdx.y;\nfor (int k = 0; k < 8; k++, r += B) f(r);"),
        ("i = blockIdx.x * B + threadIdx.x;\nfor (int j = i; j < i + W * B && j < N; j += B) f(j);",
         "i = blockIdx.x * (W * B) + threadIdx.x;\nfor (int j = i; j < i + W * B && j < N; j += B) f(j);"),
        ("i = blockIdx.x * 32 + threadIdx.x;\nfor (int k = 0; k < 128; k += 32) f(i + k);",
         "i = blockIdx.x * (4 * 32) + threadIdx.x;\nfor (int k = 0; k < 128; k += 32) f(i + k);"),
        ("i = blockIdx.x * B + threadIdx.x;\nfor (int j = i; j < N; j += B * gridDim.x) f(j);", None),
        (f"{SUM}atomicAdd(out, s[t]);", f"{SUM}if (t == 0) atomicAdd(out, s[0]);"),
        (f"{SUM}if (t < 32)\n    atomicAdd(out, s[t]);", None),
        ("float s = 0;\nif (t == 0)\n    out[0] = s;", "float s = 0;\n\n    atomicAdd(&out[0], s);"),
        ("__shared__ float s;\nif (t == 0)\n    out[0] = s;", None),
        ("atomicAdd(bins, weights[t]);", None),
        (f"{ONE}for (int k = 0; k < 4; ++k) {{\n    out[i + k] = 0;\n}}",
         f"{ONE}for (int k = 0; k < 4 && i + k < N; ++k) {{\n    out[i + k] = 0;\n}}"),
        (f"{ONE}for (int k = 0; k < 4; ++k) {{\n    s += w[i * 4 + k];\n}}", None),
        (f"{ALL}if (y >= M || x >= N) {{\n    return;\n}}\ntile[r][c] = in[y * N + x];\n__syncthreads();\n"
         "out[size_t(v) * M + u] = tile[c][r];",
         f"{ALL}\nif (y < M && x < N) tile[r][c] = in[y * N + x];\n__syncthreads();\n"
         "if (v < N && u < M) out[size_t(v) * M + u] = tile[c][r];"),
        (f"{ALL}if (y < M && x < N) {{\ntile[r][c] = in[y * N + x];\n__syncthreads();\nint u = f(c), v = f(r);\n"
         "out[size_t(v) * M + u] = tile[c][r];\n}",
         f"{ALL}\nif (y < M && x < N) tile[r][c] = in[y * N + x];\n__syncthreads();\nint u = f(c), v = f(r);\n"
         "if (v < N && u < M) out[size_t(v) * M + u] = tile[c][r];\n"),
        (f"{ALL}if (f(y) || x >= N) return;\n__shared__ float tile[T][T];\ntile[r][c] = in[x + N * y];\n"
         "__syncthreads();\nout[u + (v + 1) * M] = tile[c][r];",
         f"{ALL}\n__shared__ float tile[T][T];\nif (!(f(y) || x >= N)) tile[r][c] = in[x + N * y];\n"
         "__syncthreads();\nif (v + 1 < N && u < M) out[u + (v + 1) * M] = tile[c][r];"),
        (f"{ONE}int i = blockIdx.x * B;\nout[i] = 1;", f"{ONE}int i = blockIdx.x * B + threadIdx.x;\nout[i] = 1;"),
        (f"{ONE}if (i >= N) return;\ntile[t] = i < N ? in[i] : 0;\n__syncthreads();\nout[i] = tile[t];",
         f"{ONE}\ntile[t] = i < N ? in[i] : 0;\n__syncthreads();\nif (i < N) out[i] = tile[t];"),
        (f"{ONE}if (i >= N) return;\ntile[t] = in[i];\n__syncthreads();\nout[first + B - 1 - t] = tile[t];",
         f"{ONE}\ntile[t] = i < N ? in[i] : 0;\n__syncthreads();\n"
         "if (first + B - 1 - t < N) out[first + B - 1 - t] = tile[t];"),
        (f"{ONE}if (i < N) {{\n    s[t] = in[i];\n    __syncthreads();\n    if (t == 0) out[b] = f(s);\n}}",
         f"{ONE}\n    s[t] = i < N ? in[i] : 0;\n    __syncthreads();\n    if (t == 0) out[b] = f(s);\n"),
        (f"{X0_Y0}t = in[y0 + a + x0];\n\nout[y0 + x0] = t;", f"{X0_Y0}t = in[y0 + a + x0];\n\nout[x0 + y0] = t;"),
        (f"{X_Y}__syncthreads();\nf(x, y);",
         f"{X_Y_LATER}__syncthreads(); x = blockIdx.y * T + threadIdx.x; y = blockIdx.x * T + threadIdx.y;\nf(x, y);"),
        (f"{X_Y}__syncthreads();\nf(x, y);",
         f"{X_Y_LATER}__syncthreads(); x = blockIdx.x * T + threadIdx.y; y = blockIdx.y * T + threadIdx.x;\nf(x, y);"),
        (f"{TX_TY}{U_V}__syncthreads();\nf(u, v);",
         f"{TX_TY}{U_V}__syncthreads(); u = tx + blockIdx.y * T; v = ty + blockIdx.x * T;\nf(u, v);"),
        (f"{TX_TY}{U_V}__syncthreads();\nf(u, v);",
         f"{TX_TY}{U_V}__syncthreads(); u = ty + blockIdx.x * T; v = tx + blockIdx.y * T;\nf(u, v);"),
        (f"{ALL}{X_Y}if (x * N + y < M * N) {{\n    out[x * N + y] = in[x * N + y];\n}}",
         f"{ALL}{X_Y.replace(' x =', ' _ =').replace(' y =', ' x =').replace(' _ =', ' y =')}"
         "if (x < M && y < N) {\n    out[x * N + y] = in[x * N + y];\n}"),
        (f"{ALL}if (inside) {{\n{X_Y}out[x * N + y] = v;\n}}",
         f"{ALL} {{\n{X_Y.replace(' x =', ' _ =').replace(' y =', ' x =').replace(' _ =', ' y =')}"
         "if (x < M && y < N) out[x * N + y] = v;\n}"),
        (f"{ALL}{X_Y}__syncthreads();\nif (y < M && x < N) out[y * M + x] = v;",
         f"{ALL}{X_Y_LATER}__syncthreads(); x = blockIdx.y * T + threadIdx.x; y = blockIdx.x * T + threadIdx.y;\n"
         "if (y < N && x < M) out[y * M + x] = v;"),
        (f"{ALL}if (c < N && r < M) t = in[r * N + c];\n__syncthreads();\n"
         "if (x < N && y + j < M) out[(y + j) * N + x] = t;",
         f"{ALL}if (c < N && r < M) t = in[r * N + c];\n__syncthreads();\n"
         "if (x < M && y + j < N) out[(y + j) * M + x] = t;"),
        (f"{ALL}{X_Y}__syncthreads();\nif (y >= M || x >= N) return;\nout[y * N + x] = v;",
         f"{ALL}{X_Y_LATER}__syncthreads(); x = blockIdx.y * T + threadIdx.x; y = blockIdx.x * T + threadIdx.y;\n"
         "if (y >= N || x >= M) return;\nout[y * M + x] = v;"),
        (f"{ALL}{X_Y}__syncthreads();\nout[x * M + y] = v;",
         f"{ALL}{X_Y_LATER}__syncthreads(); x = blockIdx.x * T + threadIdx.y; y = blockIdx.y * T + threadIdx.x;\n"
         "out[x * M + y] = v;"),
        (f"{ALL}{X_Y}__syncthreads();\nout[y * M + x] = v;",
         f"{ALL}{X_Y_TURNED}__syncthreads(); x = blockIdx.x * T + threadIdx.x; y = blockIdx.y * T + threadIdx.y;\n"
         "out[y * M + x] = v;"),
        (f'// block = ["32", "8"]\n{ALL}__shared__ float t[T][T];\nfor (int j = 0; j < 8; j++)\n  f(j);\n'
         "for (int j = 0; j < T; ++j) f(j);",
         f'// block = ["32", "8"]\n{ALL}__shared__ float t[T][T];\nfor (int j = 0; j < T; j += 8)\n  f(j);\n'
         "for (int j = 0; j < T; j += 8) f(j);"),
        (f'// block = ["32", "8"]\n{ALL}__shared__ float t[T][T];\nfor (int j = 0; j < T; j += 8) f(j);', None),
        (f'// block = ["32"]\n{ALL}__shared__ float t[T][T];\nfor (int j = 0; j < T; j++) f(j);', None),
        (f"{ALL}t = in[r * N + c];\n__syncthreads();\nif (M > N) f(t);", None),
        (f'// grid = ["cdiv(N, B)", "cdiv(M, B)"]\n{ALL}if (r < M && c < N) out[r * M + c] = in[c * N + r];',
         f'// grid = ["cdiv(M, B)", "cdiv(N, B)"]\n{ALL}if (r < N && c < M) out[r * M + c] = in[c * N + r];'),
        (f"{ALL}if (i < M * N) out[i % M * N + i / M] = in[i];", None),
        (f"{ALL}if (inside)\n  out[(size_t)y * M + x] = v;",
         f"{ALL}if (y < N && x < M)\n  out[(size_t)y * M + x] = v;"),
        (f"{ALL}if (inside) out[size_t(y + k) * M + x] = v;",
         f"{ALL}if (y + k < N && x < M) out[size_t(y + k) * M + x] = v;"),
        (f"{ALL}if (inside) {{\nint u = f(x);\nout[y * M + u] = v;\n}}",
         f"{ALL} {{\nint u = f(x);\nif (y < N && u < M) out[y * M + u] = v;\n}}"),
        (f"{ALL}if (inside) {{\nv = t[x];\nout[y * M + x] = v;\n}}",
         f"{ALL}if (y < N && x < M) {{\nv = t[x];\nout[y * M + x] = v;\n}}"),
        (f"{ALL}if (outside) return;\nout[y * M + x] = v;", f"{ALL}if (y >= N || x >= M) return;\nout[y * M + x] = v;"),
        (f"{ALL}if (outside) return;\nint x = f(y), i = y * M + x;\nint j = x + y * M;\nout[j] = v;",
         f"{ALL}\nint x = f(y), i = y * M + x;\nint j = x + y * M;\nif (y < N && x < M) out[j] = v;"),
        (f"{ALL}if (inside) tile[y * P + x] = v;", None),
        (f"{ALL}size_t i = y * M + x;\nif (i < M * N) out[i] = v;", None),
        ("float s = 0;\nif (t == 0) atomicAdd(out, s);", "float s = 0;\n atomicAdd(out, s);"),
        ("__shared__ float s;\nif (t == 0) atomicAdd(out, s);", None),
        (f"{ONE}const float* p = in + at;\nif (t < N) f(p[t]);",
         f"{ONE}const float* p = in + at;\nif (at + t < N) f(p[t]);"),
        (f"{ONE}float* p = &in[at];\nif (t >= N) return;", f"{ONE}float* p = &in[at];\nif (at + t >= N) return;"),
        (f"{ALL}v = in[r + c];", f"{ALL}v = in[size_t(r) * N + c];"),
        (f"{ALL}p = in + r;\nq = &out[r];", f"{ALL}p = in + size_t(r) * N;\nq = &out[size_t(r) * N];"),
        (f"{ONE}v = in[r + c];", None),
    ],
)  # fmt: skip
def test_a_place_is_changed(text: str, becomes: str | None) -> None:
    made = [edit.applied(text) for edit in edits(text)]
    assert becomes in made if becomes is not None else not made


def test_what_is_said_names_the_places() -> None:
    (edit,) = edits(f"{X0_Y0}f(x0);\n\ng(y0, x0);")
    assert (edit.said, edit.line) == ("`x0` and `y0` exchanged in line 4", 4)
    edit, _ = edits(f"{X_Y}__syncthreads();\nf(x);")
    assert edit.said == "these changes"
    assert edit.steps == (
        "Declare `x` and `y` without `const` in lines 1 and 2. Behind the barrier in line 3, set both anew: "
        "`x = blockIdx.y * T + threadIdx.x; y = blockIdx.x * T + threadIdx.y;`."
    )


SQUARE = (
    "__shared__ float s[8][9];\nint l = threadIdx.x;\nint k = threadIdx.y;\ns[k][l] = v;\n__syncthreads();\n"
)


@pytest.mark.parametrize(
    ("behind", "becomes", "said"),
    [
        ("r = x0 + l;\nc = y0 + k;\nout[r * M + c] = s[l][k];",
         "r = x0 + k;\nc = y0 + l;\nout[r * M + c] = s[l][k];", "`l` and `k` exchanged in lines 6 and 7"),
        ("out[(x0 + l) * M + y0 + k] = s[l][k];", "out[(x0 + k) * M + y0 + l] = s[l][k];",
         "`l` and `k` exchanged in line 6, but not in the indices of `s`,"),
        ("out[(x0 + l) * M + y0 + k] = s[k][l];", None, ""),
        ("__syncthreads();\nout[(x0 + l) * M + y0 + k] = s[l][k];", None, ""),
        ("out[r * M + c] = s[l][k];", None, ""),
    ],
)  # fmt: skip
def test_a_tile_that_is_turned_twice_is_turned_once(behind: str, becomes: str | None, said: str) -> None:
    made = [edit for edit in edits(f"{SQUARE}{behind}") if "already" in edit.why]
    expected = [] if becomes is None else [(f"{SQUARE}{becomes}", said)]
    assert [(edit.applied(f"{SQUARE}{behind}"), edit.said) for edit in made] == expected


@pytest.mark.parametrize(("index", "side"), [("x * M + y", "y"), ("y * M + x", "x")])
def test_neighbours_are_said_to_write_neighbours_where_they_do(index: str, side: str) -> None:
    made = edits(f"{ALL}{X_Y}__syncthreads();\nout[{index}] = v;")
    of_threads = [edit for edit in made if "thread" in f"{edit.said} {edit.steps}"]
    said = [edit for edit in of_threads if edit.why.startswith("Threads beside one another")]
    assert said
    for edit in said:
        assert re.search(rf"anew: `[^`]*\b{side} = [^;]*threadIdx\.x;", edit.steps)


@pytest.mark.parametrize(
    ("condition", "elsewhere"),
    [
        ("y < M && x < N", True),
        ("x >= N || y >= M", True),
        ("c < N && r < M", True),
        ("x < M && y < N", False),
        ("u < M", False),
        ("threadIdx.x < N", False),
        ("inside", False),
    ],
)
def test_a_condition_about_another_element_than_is_stored_is_seen(condition: str, elsewhere: bool) -> None:
    first = "int c = blockIdx.x * T + threadIdx.x; int r = blockIdx.y * T + threadIdx.y;\n"
    places = "int x = blockIdx.y * T + threadIdx.x;\nint u = x;\nint y = blockIdx.x * T + threadIdx.y;\n"
    lines = f"{ALL}{first}{places}if ({condition}) out[y * M + x] = t[threadIdx.x];\n"
    source = lines.replace("int r", "\nint r")
    assert stored_elsewhere(source, source.count("\n")) == elsewhere


OF_A_TILE = (
    "int c = blockIdx.x * T + threadIdx.x;\nint r = blockIdx.y * T + threadIdx.y;\n__syncthreads();\nif ({}) {{\n"
    "int x = blockIdx.y * T + threadIdx.x;\nint y = blockIdx.x * T + threadIdx.y;\nout[y * M + x] = v;\n}}\n"
)


@pytest.mark.parametrize(
    ("condition", "compared"),
    [
        ("r < M && c < N", "r"),
        ("c < M && r < N", "c"),
        ("blockIdx.x * T + threadIdx.y < N && blockIdx.y * T + threadIdx.x < M", ""),
    ],
)
def test_what_a_condition_is_about_in_place_of_the_stored_element_is_told(
    condition: str, compared: str
) -> None:
    told = of_another(f"{ALL}{OF_A_TILE.format(condition)}}}")
    said = f"the condition in line 5 is about `{compared}`, and line 8 stores by row `y` and column `x`. Let it be"
    assert told == (f"{said} about these." if compared else "")


def test_the_place_in_the_output_is_told() -> None:
    told = turned(f"{X_Y}f(x);")
    assert (
        "to row `blockIdx.x * T + threadIdx.y`, column `blockIdx.y * T + threadIdx.x` of the output" in told
    )
    for written in ("t = in[y * N + x];", "t = in[y * N + x];\nout[size_t(x) * M + y] = t;"):
        assert turned(f"{X_Y}{written}") == told
    by_x = turned(f"{X_Y}t = in[size_t(x) * N + y];\nout[size_t(y) * M + x] = t;")
    # It writes along a row already.
    assert "read from row `blockIdx.x * T + threadIdx.y`, column `blockIdx.y * T + threadIdx.x` of" in by_x
    crossed = (
        X_Y.replace("threadIdx.x", "threadIdx.t").replace("dIdx.y", "dIdx.x").replace("dIdx.t", "dIdx.y")
    )
    for read in (
        "in[y * N + x]",
        "in[size_t(blockIdx.y * T + threadIdx.y) * N + blockIdx.x * T + threadIdx.x]",
    ):
        told = turned(f"{crossed}t = {read};\nout[size_t(x) * M + y] = t;")
        assert (
            "read from row `blockIdx.y * T + threadIdx.y`, column `blockIdx.x * T + threadIdx.x` of" in told
        )
    assert not turned(f"{crossed}t = in[y * N + x];\nout[at(x, y)] = t;")
    assert not turned(X0_Y0)


@pytest.mark.parametrize(
    ("index", "becomes"),
    [
        ("(size_t)x * N + y", X_Y.replace(" x =", " t =").replace(" y =", " x =").replace(" t =", " y =")),
        ("y * N + x", None),
        ("x * N + y] = in[size_t(y) * M + x", None),
    ],
)
def test_rows_are_not_counted_by_x(index: str, becomes: str | None) -> None:
    behind = f"out[{index}] = 1;"
    edit = along_rows(f"{X_Y}{behind}")
    assert (edit and edit.applied(f"{X_Y}{behind}")) == (becomes and f"{becomes}{behind}")


@pytest.mark.parametrize(
    ("index", "becomes"),
    [
        ("threadIdx.x * 256 + blockIdx.x", "blockIdx.x * 256 + threadIdx.x"),
        ("blockIdx.x + threadIdx.x * blockDim.x", "threadIdx.x + blockIdx.x * blockDim.x"),
        ("blockIdx.x + BLOCK * threadIdx.x", "threadIdx.x + BLOCK * blockIdx.x"),
        ("threadIdx.x * gridDim.x + blockIdx.x", None),
        ("blockIdx.x + threadIdx.x * gridDim.x", None),
    ],
)
def test_blocks_are_not_taken_for_threads(index: str, becomes: str | None) -> None:
    edit = of_block(f"int i = {index};")
    assert (edit and edit.applied(f"int i = {index};")) == (becomes and f"int i = {becomes};")


TILE = f"{ALL}__shared__ float t[32];\nif (M > 3) return;\nt[3] = in[3];\n__syncthreads();\n"


@pytest.mark.parametrize(
    ("flood", "found"),
    [
        ("out[a" + " " * 6000 + "] = 3;", 0),
        ("int i = blockIdx.x * 4 + threadIdx.x;\n" * 6000 + "out[i + 4] = 1;", 32),
    ],
    ids=["blanks", "indices"],
)
def test_a_flood_ends(flood: str, found: int) -> None:
    assert sum("in place of" in edit.said for edit in edits(f"{TILE}{flood}\n}}")) == found


def test_a_digit_that_is_no_number_is_none() -> None:
    begins = "const int first = blockIdx.x * B + threadIdx.x;\n"
    loop = "for (int i = first; i < first + ²; i += ²) out[i] = in[i];\n}"
    assert not any("²" in edit.said for edit in edits(f"{ONE}{begins}{loop}"))
