"""What messages take from a source's text: its arrays, what a line does to them, and early returns."""

from __future__ import annotations

import pytest

from grader.workbook.cuda_source import (
    SharedArray,
    Space,
    accumulates,
    adds_by_thread,
    adds_in_global_memory,
    arrays_in,
    bound_of,
    clears,
    compared,
    compares_bytes,
    divisors,
    early_return,
    factors,
    goes_on,
    guard,
    in_turn,
    index_of,
    indexed_alike,
    lacks_block,
    lacks_thread,
    moved,
    never_used,
    numbers,
    of_first_thread,
    of_no_thread,
    one_a_thread,
    one_suffices,
    place_between,
    pointee,
    shared_arrays,
    signed_char,
    steps,
)

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
    __shared__ __nv_bfloat16 brief[8];
    __shared__ unsigned char bytes[64];
    out[1] = 1;
}
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tile", (SharedArray(4, (16, 17)), SharedArray(4, (4,)))),
        ("row", (SharedArray(4, (16,)),)),
        ("pairs", (SharedArray(4, (2, 8)),)),
        ("brief", (SharedArray(2, (8,)),)),
        ("rest", (SharedArray(8, (None,)),)),
        ("bytes", (SharedArray(1, (64,)),)),
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


def test_a_return_behind_the_barrier_takes_nothing_from_a_tile() -> None:
    text = (
        "__global__ void k()\n{\nif (a) return;\nt[i] = 0;\n__syncthreads();\nif (b) return;\ns += t[i];\n}"
    )
    assert early_return(text, 7) == 6
    assert early_return(text, 7, before_barrier=True) == 3


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("__global__ void k()\n{\n  if (i >= n) return;\n  a[i] = 0;\n}", 4, 3),
        ("__global__ void k()\n{\n  x = i < n ? a[i] : 0;\n}", 3, 3),
        ("__global__ void k()\n{\n  if (first)\n    a[i] = 0;\n}", 4, None),
        ("void f()\n{\n  if (i < n) b();\n}\n__global__ void k()\n{\n  a[i] = 0;\n}", 7, None),
        ("if (i < n) {\n  b();\n }\na[i] = 0;", 4, None),
        ("if (i < n)\n{\n  b();\n }\na[i] = 0;", 5, None),
        ("if (i < n)\n{\n  a[i] = 0;", 3, 1),
        ("if (i < n)\n{\n  if (b)\n  {\n  }\n  a[i] = 0;", 6, 1),
        ("if (i < n) b[i] = 0;\na[i] = 0;", 2, None),
        ("if (i >= n) {\n  return;\n }\na[i] = 0;", 4, 1),
        ("if (i >= n)\n{\n  return;\n }\na[i] = 0;", 5, 1),
        ("if (i < n)\n  b[i] = 0;\na[i] = 0;", 3, None),
        ("if (i < n)\n  b[i] = 0;\na[i] = 0;", 2, 1),
        ("if (i >= n)\n  return;\na[i] = 0;", 3, 1),
        ("if (i < n &&\n    j < n) {\n  b[i] = 0;\n  a[i] = 0;", 4, 1),
        ("if (j < n)\n  for (i = 0; i < n; ++i) {\n    a[i] = 0;", 3, 2),
        ("if (j < n)\n  for (k = 0; k < n; ++k) {\n    a[i] = 0;", 3, 1),
    ],
)
def test_the_condition_that_an_access_stands_behind(text: str, line: int, found: int | None) -> None:
    assert guard(text, line, "i") == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("for (int i = first; i < N; i += 32) {", ("i < N", 80)),
        ("if (i >= n) return;", ("i >= n", 80)),
        ("if (j >= 0 && i < N / 16) a[i] = 0;", ("i < N / 16", 5)),
        ("if (i < whole)", ("i < whole", 5)),
        ("if (i < PACK * N)", ("i < PACK * N", 1280)),
        ("if (i < count)", ("i < count", None)),
        ("if (j < N)", ("", None)),
    ],
)
def test_what_an_index_is_compared_with(line: str, found: tuple[str, int | None]) -> None:
    text = f"constexpr int PACK = 16;\nconst int whole = N / PACK;\n{line}"
    assert compared(text, 3, "i", {"N": 80}) == found


@pytest.mark.parametrize(("comparison", "bound"), [("i < whole", "(N + 15) / 16"), ("i >= N / 2", "N / 2")])
def test_a_bound_is_followed_to_where_it_is_set(comparison: str, bound: str) -> None:
    assert bound_of("int whole = (N + 15) / 16;\nif (i < whole)", 2, comparison) == bound


STEPS = """__global__ void k(float* s, int t)
{
    for (int half = 128; half > 32; half /= 2) {
        s[t] += s[t + half];
    }
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16];
        s[t] += 1.0f;
        o[t] += o[t + 1];
    }
}
"""


def test_steps_of_a_tree_are_those_in_no_loop_that_add_to_the_same() -> None:
    assert steps(STEPS, 8) == (("s[t] += s[t + 32]", 7), ("s[t] += s[t + 16]", 8))
    assert steps(STEPS, 10) == (("o[t] += o[t + 1]", 10),)
    assert steps(STEPS, 4) == steps(STEPS, 9) == ()


@pytest.mark.parametrize(
    ("declared", "index", "signed"),
    [
        ("const char v = in[i];", "v", ("char", "unsigned char")),
        ("const unsigned char v = in[i];", "v", None),
        ("const char* in, int N", "in[i]", ("char", "unsigned char")),
        ("unsigned char *in, int N", "in[i]", None),
        ("const char4 v = in4[i];", "v.x", ("char4", "uchar4")),
        ("const uchar4 v = in4[i];", "v.x", None),
        ("int8_t v = in[i];", "v", ("int8_t", "uint8_t")),
        ("", "(char)in[i]", ("char", "unsigned char")),
        ("", "static_cast<signed char>(in[i])", ("signed char", "unsigned char")),
        ("", "", None),
    ],
)
def test_an_index_that_is_a_signed_char(declared: str, index: str, signed: tuple[str, str] | None) -> None:
    assert signed_char(f"{declared}\n", 2, index) == (signed and (*signed, 1 if declared else 2))


def test_a_signed_char_is_the_one_that_is_declared_last_above_its_index() -> None:
    text = "void f(char b) {}\nvoid g(int8_t b) {\n  x[b] = 0;\n}\nvoid h(char b) {}\n"
    assert signed_char(text, 3, "b") == ("int8_t", "uint8_t", 2)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("int v = a[i];\nB[v] = 1;", ("v", "a[i]")),
        ("int v = a[i];\nadd(B + v, 1);", ("v", "a[i]")),
        ("\nadd(B + (v * 4 + w[k]), 1);", ("(v * 4 + w[k])", "")),
        ("float* p = B + i * sizeof(float);\n*p = 1;", ("i * sizeof(float)", "")),
        ("float* p = B + 4;\np[i] = 1;", ("4 + i", "")),
        ("float* p = &B[i];\np[d] = 1;", ("i + d", "")),
        ("float* p = B + i - R;\nx += *(p + d) * w[d];", ("i - R + d", "")),
        ("float *q = B + i, *p = q + 1;\n*p = w[i];", ("i + 1", "")),
        ("float* p = B; p += i;\np[d] = 1;", ("i + d", "")),
        ("const float4* p = (const float4*)B;\nv = p[i];", ("i", "")),
        ("auto p = reinterpret_cast<const float4*>(B) + i;\nv = p[d];", ("i + d", "")),
        ("auto p = reinterpret_cast<const float4*>(B + i);\nv = p[d];", ("", "")),
        ("auto p = (const float4*)&B[i];\nv = *p;", ("i", "")),
        ("float* p = far ? B + i : B;\np[d] = 1;", ("", "")),
        ("float* p = B; if (far) p += i;\np[d] = 1;", ("", "")),
        ("float* p = B + i; for (int k = 0; k < 4; ++k)\ns += p[k], p += 4;", ("", "")),
        ("float* p = B + i;\np[d] = q[e];", ("i + d", "")),
        ("\n*p = B[i] + 1;", ("i", "")),
        ("\n*p = 1;", ("", "")),
    ],
)
def test_the_index_of_an_array_may_be_added_to_a_pointer(text: str, found: tuple[str, str]) -> None:
    assert index_of(text, 2, "B") == found


@pytest.mark.parametrize(
    ("line", "nbytes"),
    [
        ("v = *reinterpret_cast<const float4*>(B + i);", 4),
        ("v = reinterpret_cast<const float4*>(B)[i];", 16),
        ("v = ((float4*)B)[i];", 16),
        ("v = *((const float4 *)B + i);", 16),
        ("v = *(float4*)&B[i];", 4),
        ("v = *(float4*)(B + i);", 4),
        ("v = p[x * i];", 8),
        ("v = *q;", 0),
    ],
)
def test_what_is_indexed_points_to_elements_or_to_vectors(line: str, nbytes: int) -> None:
    text = f"void k(const float* __restrict__ B, int x)\nconst float2* p = (const float2*)B;\n{line}"
    assert pointee(text, 3, "B") == nbytes


@pytest.mark.parametrize(
    ("condition", "lenient"),
    [
        ("if (row >= M && column >= N) {", True),
        ("if (row < M || column < N)", True),
        ("if (row >= M || column >= N) {", False),
        ("if (row < M && column < N)", False),
        ("if (i >= 0 && i < N)", False),
        ("if (row >= 1 && column >= 1)", False),
    ],
)
def test_a_condition_of_which_one_half_suffices(condition: str, lenient: bool) -> None:
    assert one_suffices(condition, 1) is lenient


def test_an_index_is_followed_to_where_it_is_set() -> None:
    text = "__global__ void k()\n{\nint i = row * M + column;\nif (i == 0) return;\nb[i] = a[row * N];\n}"
    assert factors(text, 5, "b") == {"row", "M"}
    assert factors(text, 5, "a") == {"row", "N"}
    assert factors(text.replace("a[row * N]", "*(a + row * N)"), 5, "a") == {"row", "N"}


@pytest.mark.parametrize(
    ("body", "found"), [("return size_t(y) * pitch + x;", {"M"}), ("return min(y + x, pitch);", set())]
)
def test_a_factor_may_be_passed_to_a_function(body: str, found: set[str]) -> None:
    text = f"__device__ size_t at(int y, int x, int pitch) {{ {body} }}\nsize_t i = at(row, 1, M);\na[i] = 0;"
    assert factors(text, 3, "a") == found


def test_arrays_with_one_and_the_same_index() -> None:
    assert indexed_alike("out[i] = in[ i ] + bias[column] + c[i + 1];", 1, "in") == {"out"}
    assert indexed_alike("out[i] = in[i];", 1, "bias") == set()


@pytest.mark.parametrize(
    "text", ["const " * 60_000, f'"{"/* " * 100_000}"', "__shared__ int " + " " * 300_000]
)
def test_a_text_of_any_length_is_read_once(text: str) -> None:
    """Looked through again from each of its words, it would take minutes."""
    assert shared_arrays(text) == {}
    assert early_return(text, 1) is None


LINES = """\
__shared__ float tile[8][9], *at;
float sum[4] = {}; float a[4], one;
tile[y][x] = in[i] + weights[k];  // rows[3]
out[at[0]] += tile[x][y];
sum[j] += a[j] * tile[0][j];
if (x == 1) atomicAdd(&bins[x], 1);
"""


@pytest.mark.parametrize(
    ("line", "space", "stored", "found"),
    [
        (3, "shared", True, ("tile",)),
        (3, "shared", False, ()),
        (3, "global", False, ("in", "weights")),
        (3, "global", True, ()),
        (4, "global", True, ("out", "at")),
        (4, "global", False, ("out", "at")),  # what is added to is loaded as well
        (5, "local", False, ("sum", "a")),
        (5, "local", True, ("sum",)),
        (5, "shared", False, ("tile",)),
        (6, "global", False, ("bins",)),
        (7, "global", False, ()),
    ],
)
def test_the_arrays_that_a_line_stores_to_and_loads_from(
    line: int, space: Space, stored: bool, found: tuple[str, ...]
) -> None:
    assert arrays_in(LINES, line, space, stored) == found


@pytest.mark.parametrize(
    ("line", "array", "adds"),
    [
        ("out[0] += in[i];", "out", True),
        ("out[0] += in[i];", "in", False),
        ("*out += sum;", "out", True),
        ("if (i < N) bins[in[i]]++;", "bins", True),
        ("++counts[in[i]];", "counts", True),
        ("bits[i / 32] |= 1 << i % 32;", "bits", True),
        ("numbers[t] += numbers[t + step];", "numbers", False),  # a barrier orders these
        ("numbers[threadIdx.x] += other;", "numbers", False),  # each thread has its own
        ("const int t = threadIdx.x; numbers[t] += other;", "numbers", False),
        ("out[i] = out[i + 1];", "out", False),
        ("for (int i = 0; i < N; ++i) sum += out[i];", "out", False),
        ("out[0] == 3; // out[0] += 1", "out", False),
        ("out[0] += 1;", None, False),
    ],
)
def test_a_line_that_adds_to_an_element(line: str, array: str | None, adds: bool) -> None:
    assert accumulates(line, 1, array) is adds


@pytest.mark.parametrize(
    ("line", "adds"),
    [
        ("out[i] += x;", True),
        ("++bins[in[i]];", True),
        ("bins[i]++;", True),
        ("*out += x;", True),
        ("*(out + i) += x;", True),
        ("out[i] = out[i] + x;", True),
        ("out[i] = sum;", False),
        ("out[i] = in[i] + x;", False),
        ("sum += in[i]; *out = sum;", False),
        ("tile[i] += tile[i + 1];", False),
        ("mine[0][k] += x;", False),
        ("atomicAdd(&out[i], x);", False),
    ],
)
def test_a_text_that_adds_in_global_memory(line: str, adds: bool) -> None:
    text = f"{{ __shared__ float tile[32]; float mine[4][4]; {line} }}"
    assert adds_in_global_memory(text) == adds


@pytest.mark.parametrize(
    ("line", "adds"),
    [
        ("atomicAdd(&bins[threadIdx.x], tile[threadIdx.x]);", True),
        ("int t = threadIdx.x; atomicAdd(bins + t, tile[t]);", True),
        ("atomicAdd(&tile[threadIdx.x], 1);", False),
        ("atomicAdd(&bins[blockIdx.x * 32 + threadIdx.x], 1);", False),
        ("bins[threadIdx.x] = tile[threadIdx.x];", False),
    ],
)
def test_a_text_whose_threads_add_by_their_number_in_the_block(line: str, adds: bool) -> None:
    assert adds_by_thread(f"__shared__ float tile[32];\n{line}") == adds


def test_other_blocks_have_a_thread_of_the_same_number() -> None:
    line = "const int t = threadIdx.x; bins[t] += counts[t];"
    assert not accumulates(line, 1, "bins")
    assert accumulates(line, 1, "bins", by_blocks=True)


@pytest.mark.parametrize("text", ["a[" * 50_000, "float " + "[" * 100_000, "int " * 10_000, "=" * 100_000])
def test_a_strangers_text_takes_no_time(text: str) -> None:
    assert arrays_in(text, 1, "local", False) == ()
    assert not accumulates(text, 1, "b")


@pytest.mark.parametrize(
    ("text", "cleared"),
    [("bins[t] = 0;", True), ("*bins = 0.0f;", True), ("bins[t] = 1;", False), ("x[bins[t]] = 0;", False)],
)
def test_an_element_that_is_set_to_0(text: str, cleared: bool) -> None:
    assert clears(text, 1, "bins") == cleared


def test_a_pointer_that_is_moved() -> None:
    source = "__global__ void k(float* a, float* ba)\n{\n    a += blockIdx.x * 4;\n    ba[1] = a[0];\n    ba += 1;\n}\n"
    assert [moved(source, 4, name) for name in ("a", "ba", None)] == ["blockIdx.x * 4", "", ""]


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("x = *b++;", ("b", "b++", 4)),
        ("x = *b;\n    b += n;", ("b", "b += n", 5)),
        ("x = *a; ++a;", ("a", "++a", 4)),
        ("x = *b;\n    other++;", ("", "", 0)),
        ("x = a[n++];", ("", "", 0)),
    ],
)
def test_a_pointer_that_goes_on(step: str, found: tuple[str, str, int]) -> None:
    source = (
        f"__global__ void k(float* a)\n{{\n    float* b = a + 1; a += n;\n    while (f()) {{ {step} }}\n}}\n"
    )
    assert goes_on(source, 4, "a") == found


@pytest.mark.parametrize(
    ("loop", "in_bytes"),
    [
        ("k < sizeof(tile)", True),
        ("k < int(sizeof tile)", True),
        ("k < sizeof(tile) / sizeof(tile[0])", False),
    ],
)
def test_a_loop_over_the_bytes_of_an_array(loop: str, in_bytes: bool) -> None:
    source = (
        f"__global__ void k()\n{{\n    for (int k = 0; {loop}; ++k) {{\n        tile[k] = 0;\n    }}\n}}\n"
    )
    assert compares_bytes(source, 4, "tile") == in_bytes
    assert not compares_bytes(f"__shared__ unsigned char tile[64]; {source}", 4, "tile")


def test_numbers_that_are_declared_together_are_known() -> None:
    source = "constexpr int T = 32, R = T / 4, U = cdiv(T + 1, R);\nconst float f = 1.5f, g = 2;\n// const int n = 1;\n"
    assert numbers(source) == {"T": 32, "R": 8, "U": 5, "g": 2}


def test_numbers_that_a_file_divides_by() -> None:
    source = (
        "constexpr int T = 48;\nconstexpr int V = 4;\n// n / 93\n"
        'int across = (N + T - 1) / T, rest = N % (T * V), k = N / M;\nasm("mma %33;");\n'
    )
    assert divisors(source, ["cdiv(N, 7 * V)", "min(cdiv(M, 80), 9)"]) == {48, 192, 28, 80}


@pytest.mark.parametrize(
    ("set_to", "stored", "lacking"),
    [
        ("", "out[threadIdx.x]", "blockIdx.x"),
        ("i = threadIdx.x + 8 * k", "out[i]", "blockIdx.x"),
        ("i = size_t(blockIdx.y) * N + threadIdx.x", "out[i]", "blockIdx.x"),
        ("i = blockIdx.x * 256 + threadIdx.x", "out[i + N]", ""),
        ("i = first(N) + threadIdx.x", "out[i]", ""),
        ("i = rows[threadIdx.x]", "out[i]", ""),
        ("to = out + size_t(blockIdx.x) * N", "to[threadIdx.x]", ""),
        ("to = out + N", "to[threadIdx.x]", "blockIdx.x"),
    ],
)
def test_an_index_that_has_nothing_of_the_block(set_to: str, stored: str, lacking: str) -> None:
    source = f"__global__ void k(float* out, int N) {{\n    {set_to};\n    {stored} = 1;\n}}\n"
    assert lacks_block(source, 3, "out", ["x"]) == lacking


@pytest.mark.parametrize(
    ("set_to", "stored", "lacking"),
    [
        ("i = blockIdx.x * blockDim.x + threadIdx.x", "out[i]", ["y"]),
        ("row = threadIdx.y, i = 0", "out[row * N + threadIdx.x]", []),
        ("", "out[blockIdx.x]", ["x", "y"]),
        ("i = rows[blockIdx.x]", "out[i]", []),
        ("i = row_of(threadIdx)", "out[i]", []),
    ],
)
def test_an_index_that_has_nothing_of_the_thread(set_to: str, stored: str, lacking: list[str]) -> None:
    source = f"__global__ void k(float* out, int N) {{\n    {set_to};\n    {stored} = 1;\n}}\n"
    assert lacks_thread(source, 3, "out", ["x", "y"]) == lacking


@pytest.mark.parametrize(
    ("set_to", "stored", "index"),
    [
        ("i = N - 1", "out[i]", "i = N - 1"),
        ("", "out[0]", "0"),
        ("i = threadIdx.z", "out[i + N]", ""),
        ("for (int i = 0; i < N; ++i)", "out[i]", ""),
    ],
)
def test_an_index_that_is_the_same_in_all_threads(set_to: str, stored: str, index: str) -> None:
    for head, found in (("__global__ void k(float* out, int N)", index), ("void f(float* out, int i)", "")):
        source = f"{head} {{\n    {set_to};\n    {stored} = 1;\n}}\n"
        assert of_no_thread(source, 3, "out") == found


@pytest.mark.parametrize(
    ("lines", "apart"),
    [
        (("if (b) {", "a[0] = 1;", "b = a[1];", "}"), True),
        (("for (;;) {", "a[0] = 1;", "b = a[1];", "}"), False),
        (("while (b) { if (a[0]) {", "a[0] = 1;", "}", "b = a[1]; }"), False),
        (("for (;;)", "    {", "a[0] = 1;", "b = a[1];", "}"), False),
        (("for (;;) {", "a[0] = 1;", "}", "b = a[1];"), True),
    ],
)
def test_lines_that_no_loop_has_both_of(lines: tuple[str, ...], apart: bool) -> None:
    source = "\n    ".join(("__global__ void k(int b)", "{", "__shared__ int a[2];", *lines, "}"))
    one, other = (
        next(at for at, text in enumerate(source.splitlines(), 1) if each in text)
        for each in ("a[0] =", "b =")
    )
    assert in_turn(source, one, other) == in_turn(source, other, one) == apart


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a[threadIdx.x] = 0;", True),
        ("b[t] = a[t];", True),
        ("a[t] += a[t + 1];", False),
        ("for (int t = threadIdx.x; t < 256; t += 128) a[t] = 0;", False),
        ("b[t] = 0;", False),
    ],
)
def test_a_line_in_which_each_thread_takes_one_element(text: str, found: bool) -> None:
    source = f"__global__ void k(int* b)\n{{\n    int t = threadIdx.x;\n    {text}\n}}\n"
    assert one_a_thread(source, 4, "a") == ((4,) if found else ())


@pytest.mark.parametrize(
    ("condition", "first"),
    [
        ("threadIdx.x == 0", True),
        ("!x", True),
        ("x == 0 && y == 0", True),
        ("threadIdx.y == 0 && !threadIdx.x", True),
        ("y == 0", False),
        ("x == 0 && row < M", False),
        ("x == 0 || y == 0", False),
    ],
)
def test_a_line_of_thread_0_alone(condition: str, first: bool) -> None:
    own = "int x = threadIdx.x, y = threadIdx.y;"
    source = f"__global__ void k()\n{{\n{own}\nif ({condition}) {{\n    a[0] = 0;\n}}\n}}\n"
    assert of_first_thread(source, 5) is first


def test_what_a_kernel_takes_and_never_uses() -> None:
    text = (
        "__global__ void k(const float* a, float* out) {\n    x = a[0];  // out\n}\nvoid f() { out = 0; }\n"
    )
    assert never_used(text, "out")
    assert not never_used(text, "a")
    assert not never_used(text, "other")
    assert not never_used(text + text.replace("x =", "out[0] =").replace("void k", "void l"), "out")


@pytest.mark.parametrize(
    ("upper", "lower", "between"),
    [(4, 7, (5, 6)), (2, 4, (2, 3)), (4, 11, (5, 9)), (12, 14, (12, 13))],
)
def test_a_barrier_stands_outside_of_what_is_around_one_line_alone(
    upper: int, lower: int, between: tuple[int, int]
) -> None:
    source = """__global__ void f() {
    tile[t] = 0;
    if (t < R) {
        tile[t + B] = 1;
    }
    if (i < N) {
        s = tile[t];
    }
    if (i < N) {
        for (int k = 0; k < 3; ++k) {
            s += tile[k];
            tile[9] = 1;
            if (t)
                s = tile[9];
        }
    }
}
"""
    assert place_between(source, upper, lower) == between
