"""The line that wastes most of a kernel's time, and what mends that."""

from __future__ import annotations

import re

import pytest

from grader.emulator import metrics
from grader.judge.claims.costs import costliest, padded_in_vain
from grader.results import MUCH_WASTE

COALESCED = {
    metrics.GLOBAL_REQUESTS["ld"]: 100,
    metrics.GLOBAL_SECTORS["ld"]: 400,
    metrics.IDEAL_SECTORS: 400,
    metrics.WARP_INSTRUCTIONS: 100,
    metrics.THREAD_INSTRUCTIONS: 3200,
}


@pytest.mark.parametrize(
    ("counters", "says", "mends"),
    [
        (
            {metrics.SHARED_WAVEFRONTS["ld"]: 3200, metrics.SHARED_CONFLICTS["ld"]: 3100},
            "3.1k bank conflicts: 32 wavefronts where 1 would do",
            "different banks",
        ),
        (
            {
                metrics.PEER_REQUESTS["ld"]: 100,
                metrics.PEER_SECTORS["ld"]: 3200,
                metrics.PEER_EXCESS["ld"]: 2800,
            },
            "32 sectors a request of another block's shared memory, where neighbouring words take 4",
            "neighbouring words",
        ),
        (
            {
                metrics.GLOBAL_REQUESTS["st"]: 100,
                metrics.GLOBAL_SECTORS["st"]: 3200,
                metrics.IDEAL_SECTORS: 400,
            },
            "32 sectors a request of global memory, where neighbouring elements take 4",
            "neighbouring threads",
        ),
        (
            {
                metrics.GLOBAL_REQUESTS["red"]: 100,
                metrics.GLOBAL_SECTORS["red"]: 1500,
                metrics.IDEAL_SECTORS: 400,
            },
            "100 atomic requests to global memory take 15 accesses of a sector each",
            "copy of the array that it has for itself",
        ),
        (
            {metrics.LOCAL_REQUESTS["ld"]: 400, metrics.LOCAL_SECTORS["ld"]: 1600},
            "400 requests to local memory",
            "registers",
        ),
        (
            {metrics.WARP_INSTRUCTIONS: 4000, metrics.THREAD_INSTRUCTIONS: 8000},
            "2 of a warp's 32 lanes",
            "same branch",
        ),
    ],
)
def test_each_waste_has_its_remedy(counters: dict[str, int], says: str, mends: str) -> None:
    cost = costliest({3: COALESCED, 7: counters})
    assert cost is not None
    assert cost.line == 7
    assert says in cost.says
    assert mends in cost.remedy
    assert 0 < cost.share < 1


LOCAL = {metrics.LOCAL_REQUESTS["ld"]: 40, metrics.LOCAL_SECTORS["ld"]: 160}


def conflicts(kind: str) -> dict[str, int]:
    return {metrics.SHARED_WAVEFRONTS[kind]: 320, metrics.SHARED_CONFLICTS[kind]: 310}


def served(wavefronts: float) -> dict[str, int]:
    """Accesses to shared memory that take so many wavefronts each."""
    whole = int(100 * wavefronts)
    return {metrics.SHARED_WAVEFRONTS["ld"]: whole, metrics.SHARED_CONFLICTS["ld"]: whole - 100}


def scattered(kind: str) -> dict[str, int]:
    return {metrics.GLOBAL_REQUESTS[kind]: 10, metrics.GLOBAL_SECTORS[kind]: 320}


SOURCE = """\
__shared__ float tile[32][32];
float sum[8];
out[x * M + y] = tile[y][x];
tile[x][y] = in[x];
sum[j] += tile[0][j];
atomicAdd(&bins[in[x]], 1);
__shared__ float line[256];
out[x] = line[8 * x];
unsigned counts[256] = {0};
const uchar4 four = in4[i];
counts[four.x]++;
sum[0] += counts[b];
float table[16];
int code = codes[i];
out[i] = table[code];
printf("%d\\n", i);
atomicAdd(&line[code], 1);
if (threadIdx.x == 0) {
    for (int k = 0; k < 32; ++k)
        sum[0] += line[k];
}
"""
IDLE = {metrics.WARP_INSTRUCTIONS: 4000, metrics.THREAD_INSTRUCTIONS: 4000}
COUNTED = scattered("red") | {metrics.GLOBAL_SECTORS["ld"]: 10, metrics.GLOBAL_REQUESTS["ld"]: 10}


@pytest.mark.parametrize(
    ("line", "counters", "says", "mends"),
    [
        (3, conflicts("ld"), " in `tile`:", "rows of `tile`"),
        (4, conflicts("st"), " in `tile`:", "rows of `tile`"),
        (3, scattered("st"), "request of `out`", "elements of `out`"),
        (4, scattered("ld"), "request of `in`", "elements of `in`"),
        (5, LOCAL, ", for `sum`", "Keep `sum` in registers"),
        (
            12,
            LOCAL,
            "a thread's own part of global memory, for `sum` and `counts`",
            "have one, `__shared__ unsigned counts[256]`",
        ),
        (12, LOCAL, "", "and add with atomicAdd(&counts[…], …)."),
        (15, LOCAL, ", for `table`", "its threads fill it together"),
        (
            16,
            LOCAL,
            "40 requests to local memory",
            "Line 16 prints: printf stores its arguments to local memory",
        ),
        (17, conflicts("ld"), " in `line`:", "where data says that, have a copy of `line` for each lane"),
        (
            20,
            IDLE,
            "1 of a warp's 32 lanes",
            "Thread 0 does this by itself, and the others of its block wait",
        ),
        (8, conflicts("ld"), " in `line`:", "word: change which lane takes which element of `line`"),
        (
            6,
            COUNTED,
            "10 atomic requests to `bins` take 32 accesses of a sector",
            "add the copy to `bins` once",
        ),
    ],
)
def test_a_waste_names_its_array(line: int, counters: dict[str, int], says: str, mends: str) -> None:
    cost = costliest({line: counters}, SOURCE)
    assert cost is not None
    assert says in cost.says
    assert mends in cost.remedy


COPIES = """\
__global__ void f(const unsigned char* in, unsigned* bins, int N)
{
    __shared__ unsigned counts[256 * 32];
    const int lane = threadIdx.x % 32;
    atomicAdd(&counts[((v >> 8) & 255) * 32 + lane], 1);
    for (int c = 0; c < 32; ++c) {
        sum += counts[threadIdx.x * 32 + c];
    }
    const uint4* mine = (const uint4*)&counts[threadIdx.x * 32];
    for (int c = 0; c < 8; c++) {
        const uint4 v = mine[c];
    }
    bins[threadIdx.x] = counts[4 * threadIdx.x];
}
"""
IN_ROWS = (
    COPIES.replace("[256 * 32]", "[256][32]")
    .replace("& 255) * 32 + lane", "& 255)][lane")
    .replace("[threadIdx.x * 32 + c]", "[threadIdx.x][c]")
    .replace("[threadIdx.x * 32]", "[threadIdx.x][0]")
)
NAMED = re.sub(r"lane = (\S+) ", r"t = \1;\n    const int lane = t ", IN_ROWS)
NAMED = NAMED.replace("[threadIdx.x]", "[t]").replace("(const uint4*)&counts", "(const uint4*)&others")
NARROW = COPIES.replace("* 32", "* 16").replace("+ lane", "+ 3")
ALONE = IN_ROWS.replace("    atomicAdd", "    // ").replace("(const uint4*)&counts", "(const uint4*)&others")


@pytest.mark.parametrize(
    ("source", "line", "ways", "told", "untold"),
    [
        (COPIES, 7, 32, "`(threadIdx.x + c) % 32` in place of `c`", "16 bytes|pad "),
        (COPIES, 11, 8, "Rows of `counts` are 32 words apart", "pad "),
        (COPIES, 11, 8, "`(threadIdx.x + c) % 8` in place of `c`", "pad "),
        (IN_ROWS, 7, 32, "`(threadIdx.x + c) % 32` in place of `c`", "pad "),
        (IN_ROWS, 11, 8, "`(threadIdx.x + c) % 8` in place of `c`", "pad "),
        (NAMED, 8, 32, "`(t + c) % 32` in place of `c`", "pad "),
        (ALONE, 7, 32, "pad the rows of `counts` by one word", "in place of"),
        # A row that is longer by a word has its elements in other banks, and those of 16 bytes where none may begin.
        (COPIES.replace("* 32", "* 33"), 5, 3.5, "but as rows are 33 words apart", "for each lane"),
        (IN_ROWS.replace("[32]", "[33]"), 5, 3.5, "but as rows are 33 words apart", "for each lane"),
        (
            COPIES.replace("* 32 + lane", "* 32 + bank"),
            5,
            3.5,
            "have a copy of `counts` for each lane",
            "already",
        ),
        (COPIES.replace("* 32 + lane", "* 32 + bank"), 5, 3.5, "`[element][lane]`, in rows of 32", "already"),
        # Copies whose elements lie beside one another are told to be turned.
        (
            IN_ROWS.replace("[((v >> 8) & 255)][lane]", "[lane][(v >> 8) & 255]"),
            5,
            3.5,
            "in line 5 `counts[(v >> 8) & 255][lane]` in place of `counts[lane][(v >> 8) & 255]`",
            "for each lane",
        ),
        (
            COPIES.replace("((v >> 8) & 255) * 32 + lane", "lane * 256 + in[i]"),
            5,
            3.5,
            "`counts[in[i] * 32 + lane]` in place of `counts[lane * 256 + in[i]]`",
            "for each lane",
        ),
        (COPIES.replace("* 32", "* N"), 5, 3.5, "which lane takes which element of `counts`.", "copies"),
        (NARROW, 11, 4, "pad the rows of `counts` by 4 words", "one word"),
        (NARROW.replace("+ 3", "+ lane"), 11, 4, "takes which element of `counts`.", "pad "),
        (NARROW.replace("* 16", "* 12"), 11, 4, "takes which element of `counts`.", "pad "),
        (COPIES.replace("= (const uint4*)&counts", "= rows(counts)"), 11, 4, "takes which element", "pad "),
        (COPIES.replace("* 32", "* 16"), 7, 16, "takes which element of `counts`.", "pad |16 bytes"),
    ],
)
def test_what_frees_rows_of_bank_conflicts_hangs_on_who_goes_along_them(
    source: str, line: int, ways: float, told: str, untold: str
) -> None:
    cost = costliest({line: served(ways)}, source)
    assert cost is not None
    assert told in cost.remedy
    assert not re.search(untold, cost.remedy)


TILES = """\
__global__ void f(const float* in, float* out, int M)
{
    __shared__ float4 tile[64][16];
    tile[4 * x + 3][y] = make_float4(p[0].w, p[1].w, p[2].w, p[3].w);
    tile[x][0].y = in[x];
}

__global__ void g(const float* in, float* out, int M)
{
    __shared__ float tile[32][32];
    tile[x][y] = in[x];
}
"""


@pytest.mark.parametrize(
    ("source", "line", "told", "untold"),
    [
        (TILES, 4, "so that 8 neighbouring lanes are served at a time", "pad "),
        (TILES.replace("[16]", "[17]"), 4, "`y ^ x` in place of column `y`", "pad "),
        (TILES.replace("float4 tile", "double tile"), 4, "so that 16 neighbouring lanes are", "pad "),
        (TILES, 5, "which lane takes which element of `tile`.", "pad |y \\^ x"),
        (TILES, 11, "pad the rows of `tile` by one word", "neighbouring lanes"),
        # Accesses of several words would begin anywhere.
        (
            f"{TILES[:-2]}    v = *(float4*)&tile[y][x];\n}}\n",
            11,
            "Move elements within their row instead",
            "pad ",
        ),
        # Where rows have a word more, another one would take that away again.
        (TILES.replace("32][32", "32][33"), 11, "which lane takes which element of `tile`.", "pad "),
    ],
)
def test_rows_are_not_told_to_be_padded_where_that_helps_nothing(
    source: str, line: int, told: str, untold: str
) -> None:
    cost = costliest({line: conflicts("st")}, source)
    assert cost is not None
    assert told in cost.remedy
    assert not re.search(untold, cost.remedy)
    assert padded_in_vain(source, line) == ("pad the rows" not in cost.remedy)


def test_what_the_next_rung_allows_none_of_has_its_line_however_little_it_wastes() -> None:
    lines = {3: scattered("ld") | {metrics.IDEAL_SECTORS: 320}, 4: served(1.02), 5: served(1.05)}
    assert costliest(lines, SOURCE) is None
    cost = costliest(lines, SOURCE, wanted={"shared_conflicts"})
    assert cost is not None
    assert cost.line == 5
    assert cost.share < MUCH_WASTE
    assert costliest({4: served(1)}, SOURCE, wanted={"shared_conflicts"}) is None


@pytest.mark.parametrize(
    ("ways", "vectors"),
    [(2, "a float2 or a uint2"), (3.5, ""), (4, "a float4 or a uint4"), (8, ""), (32, "")],
)
def test_elements_beside_one_another_are_read_as_vectors_where_that_frees_them_of_conflicts(
    ways: float, vectors: str
) -> None:
    cost = costliest({8: served(ways)}, SOURCE)
    assert cost is not None
    assert ("read them as" in cost.remedy) == bool(vectors)
    assert vectors in cost.remedy


TURNED = """\
__global__ void f(const float* in, float* out, int M, int N)
{
    int to = column * M + row;
    float x = in[size_t(row) * N + column];
    out[to] = x;
    out[(row + j) * N + column] = x;
}
"""


@pytest.mark.parametrize(
    ("source", "line", "kind", "tile"),
    [
        (TURNED, 4, "ld", True),
        (TURNED, 5, "st", False),  # strided loads cost less than strided stores
        (TURNED.replace("column * M + row", "row * M + column"), 4, "ld", False),
        (TURNED.replace("column * M + row", "(column + j) * M + row"), 4, "ld", False),
    ],
)
def test_indices_are_not_told_to_be_exchanged_where_another_array_would_be_strided(
    source: str, line: int, kind: str, tile: bool
) -> None:
    cost = costliest({line: scattered(kind)}, source)
    assert cost is not None
    assert (
        "`out` has rows where `in` has columns: with the indices exchanged it would" in cost.remedy
    ) == tile
    assert ("should run fastest" in cost.remedy) != tile


BESIDE = """\
__global__ void f(const float* in, float* out, int N)
{
    const int i = blockIdx.x * B + threadIdx.x;
    for (int k = 0; k < W; ++k) {
        out[i * W + k] = 0;
    }
}
"""


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (BESIDE, True),
        (BESIDE.replace("+ threadIdx.x", "+ threadIdx.x * W").replace("i * W + k", "k + i"), True),
        (BESIDE.replace("k = 0; k < W", "k = i * W; k < i * W + W").replace("[i * W + k]", "[k]"), True),
        (BESIDE.replace("* B", "* (B * W)").replace("i * W + k", "i + k * B"), False),
        (BESIDE.replace("i * W + k", "i * N + k"), False),
    ],
)
def test_elements_of_a_thread_that_lie_side_by_side_are_taken_by_all_threads(source: str, told: bool) -> None:
    cost = costliest({5: scattered("st")}, source)
    assert cost is not None
    assert ("The W elements of a thread lie side by side" in cost.remedy) == told
    assert ("should run fastest" in cost.remedy) != told


def test_elements_of_a_thread_that_are_a_row_are_taken_by_the_threads_of_a_warp() -> None:
    source = BESIDE.replace("int N)", "int M, int N)").replace("W", "N")
    cost = costliest({5: scattered("st")}, source)
    assert cost is not None
    assert "They are one row: let the threads of a warp take neighbouring columns of a row" in cost.remedy
    assert "go on by all threads of the grid" not in cost.remedy


@pytest.mark.parametrize(
    ("kind", "many", "said"),
    [
        (
            "float",
            "W = 4",
            "access them at once, 16 bytes as a float4 or a uint4, where all of them are inside of the",
        ),
        ("float", "W = 2", "access them at once, 8 bytes as a float2 or a uint2"),
        ("unsigned char", "W = 16", "access them at once, 16 bytes as"),
        ("unsigned char", "W = 4", "go on by all threads of the grid"),
        ("float", "W = 64", "go on by all threads of the grid"),
    ],
)
def test_few_elements_of_a_thread_that_lie_side_by_side_are_accessed_at_once(
    kind: str, many: str, said: str
) -> None:
    source = f"constexpr int {many};\n{BESIDE.replace('float* out', f'{kind}* out')}"
    cost = costliest({6: scattered("st")}, source)
    assert cost is not None
    assert said in cost.remedy
    literal = costliest({5: scattered("st")}, BESIDE.replace("W", "4"))
    assert literal is not None
    assert "16 bytes" in literal.remedy


@pytest.mark.parametrize(("threads", "said"), [(1, "has 1 thread,"), (48, "has 48 threads,"), (64, "branch")])
def test_lanes_are_idle_by_a_branch_where_warps_are_whole(threads: int, said: str) -> None:
    cost = costliest({7: IDLE}, threads=threads)
    assert cost is not None
    assert said in cost.remedy


def test_what_wastes_little_is_not_worth_a_word() -> None:
    few = {metrics.SHARED_WAVEFRONTS["ld"]: 110, metrics.SHARED_CONFLICTS["ld"]: 10}
    assert costliest({3: COALESCED, 7: few}) is None
    assert costliest({}) is None


def test_what_a_later_rung_is_about_is_left_to_it() -> None:
    lines = {3: conflicts("ld"), 4: scattered("ld")}
    found = [costliest(lines, SOURCE, later) for later in ((), {"shared_conflicts"})]
    assert [cost and cost.line for cost in found] == [3, 4]


def test_wide_loads_of_neighbours_waste_nothing() -> None:
    requests, sectors = metrics.GLOBAL_REQUESTS["ld"], metrics.GLOBAL_SECTORS["ld"]
    assert costliest({3: {requests: 100, sectors: 1600, metrics.IDEAL_SECTORS: 1600}}) is None


@pytest.mark.parametrize(
    ("index", "mends"),
    [
        ("for (int j = 0; i + j < N; ++j)\n    out[i + j] = sums[j];", "`j`, its index in line 5, which is"),
        ("out[i] = sums[N];", "`N`, its index in line 4, which is"),
    ],
)
def test_an_array_in_local_memory_is_told_with_the_index_that_keeps_it_there(index: str, mends: str) -> None:
    """Not by what else the costliest line names."""
    source = f"__global__ void f(float* out, int N)\n{{\nfloat window[8], sums[4];\n{index}\nsums[3] = window[7];\n}}\n"
    cost = costliest({source[: source.index("sums[3]")].count("\n") + 1: LOCAL}, source)
    assert cost is not None
    assert cost.says.endswith(", for `sums`")
    assert mends in cost.remedy
    assert ("the loop there" in cost.remedy) == ("for" in index)
