"""What findings are given from the source: the `return` by which threads have left that are missing, and the size that
was taken for the length of a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from records import at, record

from grader.emulator import metrics
from grader.emulator.machine.records import (
    Access,
    Action,
    Allocation,
    Arrivals,
    Counted,
    Finding,
    Kind,
    Phase,
)
from grader.emulator.places import UNKNOWN
from grader.findings.bounds import GUARD
from grader.findings.remedies import SAME_ARRAY, SAME_CHANGE, remedy
from grader.judge.correctness.findings import ArrayType, located, results

SOURCE = """__global__ void k(int n)
{
    if (threadIdx.x >= n) return;
    __syncthreads();
}
"""


@pytest.mark.parametrize(
    ("threads", "lanes", "warps", "line"),
    [
        (128, 128, 4, None),
        (128, 100, 4, 3),
        (100, 100, 4, None),  # the last warp has four lanes, and all have come
        (100, 64, 2, None),  # some warps have not come, in which nobody is missing
        (100, 98, 4, 3),
    ],
)
def test_a_return_is_named_where_threads_are_missing(
    threads: int, lanes: int, warps: int, line: int | None
) -> None:
    counted = Counted(at(4), {metrics.THREAD_INSTRUCTIONS: lanes, metrics.WARP_INSTRUCTIONS: warps})
    given = record(block=(threads, 1, 1), lines=(counted,), findings=(Finding("barrier", at(4), 1),))
    ((found,),) = (item.findings for item in located([given], {}, SOURCE))
    assert found.returned == line


@pytest.mark.parametrize(
    ("head", "stored", "alone"),
    [("if (t < 32) {", 3, True), ("{", 3, False), ("s[t] = 1; if (t < 32) {", 2, False)],
)
def test_lanes_behind_a_condition_are_to_wait_for_their_warp_alone(
    head: str, stored: int, alone: bool
) -> None:
    source = f"__global__ void f() {{\n{head}\ns[t] += s[t + 16];\ns[t] += s[t + 8];\n}}\n}}\n"
    written = Access("write", place=at(stored))
    race = Finding("race", at(4), 1, scope="warp", space="shared", action="read", other=written)
    ((found,),) = (item.findings for item in located([record(findings=(race,))], {}, source))
    assert ("put a __syncwarp() between the accesses. Not all" in remedy(found)) == alone
    assert ("Put a __syncthreads() between" in remedy(found)) == (not alone)


@pytest.mark.parametrize(("stored", "adds"), [("a[i]", False), ("0.0f", True)])
def test_what_another_line_has_stored_is_waited_for_and_not_added_to_by_an_atomic(
    stored: str, adds: bool
) -> None:
    source = f"__global__ void f(float* c) {{\nif (first) c[i] = {stored};\nc[i] += b[i];\n}}\n"
    race = Finding("race", at(3), 1, scope="block", space="global", action="read", array="c")
    ((found,),) = (item.findings for item in located([record(findings=(race,))], {}, source))
    assert ("add with atomicAdd" in remedy(found)) == adds


@pytest.mark.parametrize(
    ("pointer", "read", "condition", "says"),
    [
        (
            "const float* p = a + i",
            "p[d]",
            "i + d < n",
            "pass: where the index is as you mean it, let `i + d >= 0` hold",
        ),
        ("const float* p = &a[i]", "p[d]", "i + d < n", "let `i + d >= 0` hold"),
        ("const float* p = a + i", "*(p + d)", "i + d < n", "let `i + d >= 0` hold"),
        ("a += i", "a[d]", "i + d < n", "let `i + d >= 0` hold"),
        ("const float* p = a + i", "p[d]", "i + d >= 0", "`i + d` has to be less than the number"),
        ("a += i", "a[d]", "i + d >= 0", "`i + d` has to be less than the number"),
        ("const float* p = a + i", "p[d]", "d < n", "The index, `i + d`, is below 0"),
        (
            "const float* p = up ? a + i : a",
            "p[d]",
            "i + d < n",
            "looks at `i + d` alone: let the index be at least 0",
        ),
    ],
)
def test_what_moves_a_pointer_counts_in_its_index(pointer: str, read: str, condition: str, says: str) -> None:
    source = f"__global__ void f(const float* a, float* c, int n) {{\n{pointer};\nif ({condition})\ns += {read};\n}}\n"
    outside = Finding("out_of_bounds", at(4), 1, space="global", action="read", size=4, array="a")
    base, behind = 1 << 40, 4 * 9 if ">=" in condition else -32
    outside = replace(outside, address=base + behind, allocation=Allocation(base, 4 * 9))
    arrays = {"a": ArrayType(np.dtype("float32"), (9,))}
    ((found,),) = (item.findings for item in located([record(findings=(outside,))], arrays, source))
    assert says in remedy(found)
    assert "and the index is" not in remedy(found)


def test_a_trap_of_an_atomic_function_for_a_threads_own_array_is_told_by_that() -> None:
    source = (
        "__global__ void f(unsigned* bins) {\n{}unsigned counts[8];\natomicAdd(&counts[bins[0]], 1u);\n}\n"
    )
    for of_block in (False, True):
        text = source.replace("{}", "__shared__ " * of_block)
        given = record(findings=(Finding("trap", UNKNOWN, 1),))
        ((found,),) = (item.findings for item in located([given], {}, text))
        said = remedy(found)
        assert (
            said.startswith("`atomicAdd` in line 3 works on global and shared memory, and `counts`,")
            != of_block
        )
        assert ("a stack that is full" in said) == of_block


def test_what_is_added_to_is_to_be_set_to_0_before() -> None:
    unset = Finding("uninitialised_shared", at(5), 1, action="atomic", array="counts", shape=(256,))
    assert "set every element of `counts` to 0 before one is added to" in remedy(unset)
    assert "set every element" not in remedy(replace(unset, action="read"))
    assert "set `counts` to 0 before it is added to" in remedy(replace(unset, shape=None))


def test_threads_that_have_left_are_to_fill_their_part_first_of_all() -> None:
    gone = Finding("uninitialised_shared", at(5), 1, returned=4)
    assert remedy(gone).startswith("Store 0 to shared memory where there is no element")
    assert remedy(replace(gone, kind="barrier")).startswith(
        "Threads return in line 4, and do not reach barriers"
    )


@pytest.mark.parametrize(
    ("loop", "line"),
    [
        ("for (int k = threadIdx.x; k < 272; k += 256) {", 3),
        ("while (first < 272)\n    {", 3),
        ("for (int k = 0; k < 8; ++k) {", None),
        ("for (int k = threadIdx.x; k < 272; k += 256) {\nif (k < n) {", None),
        ("for (int k = threadIdx.x; k < 272; k += 256) {\n}\n{", None),
    ],
)
def test_a_loop_that_not_all_threads_go_through_as_often_is_named(loop: str, line: int | None) -> None:
    source = f"__global__ void k(int n) {{\n    int first = threadIdx.x;\n    {loop}\n    __syncthreads();\n"
    place = at(4 + loop.count("\n"))
    counted = Counted(place, {metrics.THREAD_INSTRUCTIONS: 144, metrics.WARP_INSTRUCTIONS: 5})
    given = record(block=(128, 1, 1), lines=(counted,), findings=(Finding("barrier", place, 1),))
    ((found,),) = (item.findings for item in located([given], {}, source))
    assert found.uneven_loop == line
    assert ("move it behind the loop" in remedy(found)) == (line is not None)


@pytest.mark.parametrize(
    ("head", "line"), [("if (first < n) {", 3), ("}\n    else {", 4), ("for (int k = 0; k < n; ++k) {", None)]
)
def test_a_barrier_in_the_body_of_a_condition_has_one_place_to_go_to(head: str, line: int | None) -> None:
    source = f"__global__ void k(int n) {{\n    int first = threadIdx.x;\n    {head}\n    __syncthreads();\n"
    place = at(4 + head.count("\n"))
    given = record(block=(128, 1, 1), findings=(Finding("barrier", place, 1),))
    ((found,),) = (item.findings for item in located([given], {}, source))
    assert found.only_if == line
    assert remedy(found).endswith(f"condition in line {line}.") == (line is not None)


def test_steps_of_a_warp_in_lines_of_their_own_are_told_what_stands_in_place_of_each() -> None:
    lines = "if (t < 32) {\n        s[t] += s[t + 2];\n        s[t] += s[t + 1];\n    }"
    source = f"__global__ void k(int t) {{\n    __shared__ float s[64];\n    {lines}\n}}\n"
    race = Finding("race", at(5), 1, space="shared", scope="warp", action="write", array="s")
    race = replace(race, other=Access(action="read", place=at(5)))
    ((found,),) = (item.findings for item in located([record(findings=(race,))], {}, source))
    said = "`{ auto v = s[t + 1]; __syncwarp(); s[t] += v; __syncwarp(); }` in place of line 5, and likewise of line 4."
    assert said in remedy(found)
    ((found,),) = (
        item.findings for item in located([record(findings=(replace(race, scope="block"),))], {}, source)
    )
    assert "__syncwarp" not in remedy(found)


@pytest.mark.parametrize(
    ("block", "stored", "few"),
    [
        ((128, 1, 1), (4 * 127, None), True),
        ((128, 1, 1), (4 * 127, 4 * 250), False),
        ((128, 1, 1), (4 * 95, None), False),
        ((128, 2, 1), (4 * 127, None), False),
    ],
)
def test_an_array_with_more_elements_than_its_threads_write_is_told(
    block: tuple[int, int, int], stored: tuple[int | None, int | None], few: bool
) -> None:
    unset = Finding("uninitialised_shared", at(5), 1, space="shared", address=4 * 217, array="counts")
    unset = replace(unset, allocation=Allocation(0, 4 * 256), stored=stored)
    source = (
        "__global__ void k(unsigned* bins)\n{\n    __shared__ unsigned counts[256];\n    counts[threadIdx.x] = 0;\n"
        "    atomicAdd(&counts[in[i]], 1);\n    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);\n}\n"
    )
    ((found,),) = (item.findings for item in located([record(block=block, findings=(unset,))], {}, source))
    assert ("128 threads of the block writes one element, and `counts` has 256" in remedy(found)) == few
    given = record(block=block, findings=(unset,))
    ((by_size,),) = (item.findings for item in located([given], {}, source, {"N": block[0]}))
    assert "writes one element" not in remedy(by_size), "the array is as large as a block may become"
    also = "Let them go on in line 6 as well, where each thread takes one element."
    assert remedy(found).endswith(also) == few


@pytest.mark.parametrize(
    ("elements", "stored", "halo"),
    [
        (144, (None, 4 * 8), True),
        (144, (4 * 135, None), True),
        (144, (4 * 6, 4 * 8), False),
        (144, (None, 4 * 16), False),
        (145, (None, 4 * 8), False),
    ],
)
def test_elements_on_both_sides_of_those_of_the_threads_are_told_as_their_halo(
    elements: int, stored: tuple[int | None, int | None], halo: bool
) -> None:
    unset = Finding("uninitialised_shared", at(5), 1, space="shared", address=4 * 7, array="tile")
    unset = replace(unset, allocation=Allocation(0, 4 * elements), stored=stored)
    source = f"__global__ void k(float* out)\n{{\n    __shared__ float tile[{elements}];\n}}\n"
    given = record(block=(128, 1, 1), findings=(unset,))
    ((found,),) = (item.findings for item in located([given], {}, source))
    assert ("Let the first 8 threads load one of each, to `tile[threadIdx.x]`" in remedy(found)) == halo


TILE = """\
__global__ void k(float* out)
{{
    __shared__ float tile[32][33];
    tile[{stored}][x] = in[i];
    __syncthreads();
    out[o] = {read};
}}
"""


@pytest.mark.parametrize(
    ("stored", "read", "last", "told"),
    [
        ("threadIdx.y", "tile[x][threadIdx.y + j]", 7, "The block has 8 threads along y, `tile` has 32 rows, and a"),
        ("threadIdx.y", "tile[x][threadIdx.y]", 0, "`tile` is read with the indices exchanged by which it is stored:"),
        ("threadIdx.y + j", "tile[x][threadIdx.y + j]", 7, "`tile` is read with the indices exchanged by which it is"),
        ("threadIdx.y", "tile[threadIdx.y][x]", 0, "Is each element of `tile` read by the indices that it is stored"),
        ("threadIdx.y", "tile[x][x]", 0, "Is each element of `tile` read by the indices that it is stored by, and"),
    ],
)  # fmt: skip
def test_whether_reading_a_tile_is_wrong_is_asked_where_it_may_be(
    stored: str, read: str, last: int, told: str
) -> None:
    unset = Finding("uninitialised_shared", at(6), 1, space="shared", address=4 * 33 * 8, array="tile")
    unset = replace(unset, allocation=Allocation(0, 4 * 32 * 33), stored=(4 * 33 * last, None))
    given = record(block=(32, 8, 1), findings=(unset,))
    ((found,),) = (item.findings for item in located([given], {}, TILE.format(stored=stored, read=read)))
    assert remedy(found).startswith(told)


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ((31, 33), ", which is right where rows become columns. {why}"),
        ((33, 33), ", which is right where rows become columns. {why}"),
        ((33, 31), ": read it by those that it is stored by"),
    ],
)
@pytest.mark.parametrize("barrier", [True, False])
@pytest.mark.parametrize(
    ("store", "why"),
    [
        (
            "if (y < M && x < N) out[y * M + x]",
            "The condition in front of that has to be about the element of the output "
            "that is stored there, its row and its column in the output",
        ),
        ("if (y < N && x < M) out[y * M + x]", "What is read there has to be the element that belongs to"),
        ("out[o]", "What is read there has to be the element that belongs to"),
    ],
)
def test_a_tile_read_with_exchanged_indices_is_told_what_applies(
    shape: tuple[int, int], says: str, barrier: bool, store: str, why: str
) -> None:
    of_input = (33, min(shape))
    arrays = {
        name: ArrayType(np.dtype("float32"), each) for name, each in {"in": of_input, "out": shape}.items()
    }
    source = TILE.format(stored="threadIdx.y", read="tile[x][threadIdx.y]")
    source = source.replace("out[o]", store).replace("float* out", "float* out, int M, int N")
    if not barrier:
        source = source.replace("__syncthreads();", "")
    unset = Finding("uninitialised_shared", at(6), 1, space="shared", address=4 * 33 * 8, array="tile")
    unset = replace(unset, allocation=Allocation(0, 4 * 32 * 33))
    ((found,),) = (item.findings for item in located([record(findings=(unset,))], arrays, source))
    assert f"exchanged by which it is stored{says.format(why=why)}" in remedy(found)
    assert ("Elsewhere, read it" in remedy(found)) == (shape == (33, 33))
    assert remedy(found).endswith(", and put a __syncthreads() between.") != barrier


STEPS = """\
__global__ void k(float* out, int M, int N)
{
    __shared__ float tile[32][32];
    for (int j = 0; j < 32; j += 8) {
        tile[threadIdx.y + j][x] = in[i];
        __syncthreads();
        out[(r + j) * M + c] = tile[x][threadIdx.y + j];
    }
}
"""


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (STEPS, 4),
        (STEPS.replace("threadIdx.y + j][x]", "threadIdx.y][x]").replace("][threadIdx.y + j]", "][threadIdx.y]"), 0),
        (STEPS.replace("[threadIdx.y + j]", "[j % 2]"), 0),
        (STEPS.replace("__syncthreads();", "}\n__syncthreads(); for (int j = 0; j < 32; j += 8) {")
         .replace("    out", "out"), 0),
    ],
)  # fmt: skip
def test_a_tile_that_is_read_in_the_loop_that_fills_it_is_told_so(source: str, line: int) -> None:
    read = next(at for at, text in enumerate(source.splitlines(), 1) if "out[" in text)
    unset = Finding("uninitialised_shared", at(read), 1, space="shared", address=4 * 32 * 8, array="tile")
    unset = replace(unset, allocation=Allocation(0, 4 * 32 * 32))
    out = {"in": ArrayType(np.dtype("float32"), (33, 31)), "out": ArrayType(np.dtype("float32"), (31, 33))}
    ((found,),) = (item.findings for item in located([record(findings=(unset,))], out, source))
    says = f". Each step of the loop in line {line} fills a part of `tile` alone: let that loop end, put a"
    assert (says in remedy(found)) == bool(line)
    assert ("Each step of the loop" in remedy(found)) == bool(line)


@pytest.mark.parametrize(("index", "adds"), [("threadIdx.x", True), ("blockIdx.x * 8 + threadIdx.x", False)])
def test_what_every_block_stores_to_the_same_elements_is_to_be_added(index: str, adds: bool) -> None:
    source = f"__global__ void k(unsigned* bins) {{\n    bins[{index}] = 1;\n}}\n"
    other = Access("write", block=(0, 0, 0))
    race = Finding("race", at(2), 1, (1, 0, 0), (0, 0, 0), action="write", space="global", scope="grid")
    race = replace(race, array="bins", address=0, allocation=Allocation(0, 1024), other=other)
    bins = ArrayType(np.dtype(np.uint32), (256,))
    ((found,),) = (item.findings for item in located([record(findings=(race,))], {"bins": bins}, source))
    assert ("nothing of blockIdx.x" in remedy(found)) == adds
    assert ("does the index count the rows before" in remedy(found)) != adds


@pytest.mark.parametrize(
    ("inside", "apart"),
    [
        ("float sum = in[threadIdx.x];", True),
        ("__shared__ float sum;", False),
        ("float sum = __shfl_down_sync(~0u, in[threadIdx.x], 1);", False),
    ],
)
def test_threads_that_know_nothing_of_each_other_are_not_told_to_let_one_store(
    inside: str, apart: bool
) -> None:
    source = (
        f"__global__ void k(const float* in, float* out, int N)\n{{\n    {inside}\n    out[0] = sum;\n}}\n"
    )
    race = Finding("race", at(4), 1, (0, 0, 0), (1, 0, 0), action="write", space="global", scope="block")
    race = replace(race, array="out", address=0, allocation=Allocation(0, 4), other=Access("write", at(4)))
    out = {"out": ArrayType(np.dtype("float32"), (1,))}
    ((found,),) = (item.findings for item in located([record(findings=(race,))], out, source, {"N": 9}))
    assert ("add with atomicAdd(&out[…], …), to elements that are zero" in remedy(found)) == apart
    assert ("if (threadIdx.x == 0)" in remedy(found)) != apart


@pytest.mark.parametrize(
    ("other", "only"),
    [
        ("tile[t + 64] = in[i + 64];", ", for line 5 only."),
        ("tile[t + 64] = in[i - 8];", ""),
        ("}\n    if (t < 8) {\n        tile[t + 64] = in[i + 64];", ""),
    ],
)
def test_of_a_condition_that_others_stand_behind_the_line_is_told(other: str, only: str) -> None:
    source = (
        f"__global__ void k(const float* in, int N)\n{{\n    const int t = threadIdx.x, i = t;\n    if (t < 8) {{\n"
        f"        tile[t] = in[i - 8];\n        {other}\n    }}\n}}\n"
    )
    outside = Finding("out_of_bounds", at(5), 1, (0, 0, 0), (0, 0, 0), action="read", space="global", size=4)
    outside = replace(outside, array="in", address=-32, element=-8, allocation=Allocation(0, 4 * 9))
    given = {"in": ArrayType(np.dtype("float32"), (9,))}
    ((found,),) = (item.findings for item in located([record(findings=(outside,))], given, source, {"N": 9}))
    assert f"let `i - 8 >= 0` hold as well{only}" in remedy(found)
    assert ("for line" in remedy(found)) == bool(only)


BLOCKS_OWN = """\
{file}
__global__ void k(float* out)
{{
    {inside}
    {stores}
    __syncthreads();
    out[blockIdx.x] = tile[0];
}}
"""


@pytest.mark.parametrize(
    ("file", "inside", "stores", "told"),
    [
        ("", "static float tile[32];", "tile[threadIdx.x] = 1;", "write `__shared__` in place of `static`"),
        ("", "static float *p, tile[8][4];", "tile[threadIdx.x][0] += 1;", "one array in global memory"),
        ("", "static float tile = 0;", "tile = out[threadIdx.x];", "`static` makes of `tile` one variable"),
        ("__device__ float tile[32];", "", "tile[threadIdx.x] = 1;", "declare it inside the kernel, with"),
        ("static __device__ float tile[32];", "", "tile[threadIdx.x] = 1;", "place of `static __device__`"),
        ("__device__ float tile[4096];", "", "tile[blockIdx.x] = 1;", ""),
        ("__device__ unsigned tile[8];", "atomicAdd(&tile[0], 1);", "tile[threadIdx.x] = 1;", ""),
        ("__device__ unsigned tile;", "", "tile += 1;", ""),
        ("__device__ unsigned other[8];", "", "tile[threadIdx.x] = 1;", ""),
    ],
)
def test_a_variable_of_all_blocks_that_is_used_as_one_of_a_block_is_told(
    file: str, inside: str, stores: str, told: str
) -> None:
    source = BLOCKS_OWN.format(file=file, inside=inside, stores=stores)
    other = Access("write", at(5), block=(0, 0, 0))
    race = Finding("race", at(5), 1, (1, 0, 0), (0, 0, 0), action="write", space="global", scope="grid")
    race = replace(race, array="tile", address=0, allocation=Allocation(0, 128), other=other)
    ((found,),) = (item.findings for item in located([record(findings=(race,))], {}, source))
    assert told in remedy(found)
    assert (found.declared is not None) == bool(told)


def test_an_access_out_of_bounds_comes_with_what_its_index_is_made_of() -> None:
    source = (
        "__global__ void k(float* out, int N)\n{\n    int last = N - threadIdx.x;\n    out[last] = 0;\n}\n"
    )
    outside = Finding("out_of_bounds", at(4), 1, (0, 0, 0), (0, 0, 0), space="global", address=4 * 9, size=4)
    outside = replace(outside, array="out", allocation=Allocation(0, 4 * 9))
    out = {"out": ArrayType(np.dtype("float32"), (9,))}
    ((found,),) = (item.findings for item in located([record(findings=(outside,))], out, source, {"N": 9}))
    assert remedy(found).endswith(" There `last = N - threadIdx.x = 9`, `N = 9`.")


@pytest.mark.parametrize(
    ("line", "size", "action", "cast"),
    [
        ("atomicAdd((double*)out, sum);", 8, "atomic", "double"),
        ("atomicAdd(reinterpret_cast<unsigned long long *>(&out[0]), 1);", 8, "atomic", "unsigned long long"),
        ("double* wide = (double*)out; *wide = sum;", 8, "write", "double"),
        ("*(float4*)out = sum;", 16, "write", ""),  # float4s are floats
        ("*(unsigned long long*)out = both;", 8, "write", ""),  # and this copies two of them
    ],
)
def test_a_pointer_cast_to_numbers_of_another_size_is_told(
    line: str, size: int, action: Action, cast: str
) -> None:
    outside = Finding("out_of_bounds", at(1), 1, (0, 0, 0), (0, 0, 0), space="global", address=0, size=size)
    outside = replace(outside, array="out", allocation=Allocation(0, 4), action=action)
    out = {"out": ArrayType(np.dtype("float32"), (1,))}
    ((found,),) = (item.findings for item in located([record(findings=(outside,))], out, line))
    told = f"`out` holds floats, of 4 bytes each, and `{cast}*` has the access take 8"
    assert remedy(found).startswith(told if cast else GUARD)


@pytest.mark.parametrize(
    ("line", "elements", "told"),
    [
        ("out[blockIdx.x] = s[0];", 257, "each adds to it: `atomicAdd(out, …)`."),
        ("out[blockIdx.x] = s[0];", 1, GUARD),
        ("out[blockIdx.x * 256 + threadIdx.x] = s[0];", 257, GUARD),
    ],
)
def test_blocks_that_write_one_element_each_where_there_is_one_are_to_add(
    line: str, elements: int, told: str
) -> None:
    outside = Finding("out_of_bounds", at(1), 1, (1, 0, 0), (0, 0, 0), space="global", address=4, size=4)
    outside = replace(outside, array="out", allocation=Allocation(0, 4), action="write")
    arrays = {
        name: ArrayType(np.dtype("float32"), (size,)) for name, size in {"in": elements, "out": 1}.items()
    }
    ((found,),) = (item.findings for item in located([record(findings=(outside,))], arrays, line))
    assert remedy(found).endswith(told)


def test_a_barrier_that_some_never_reach_is_told_before_the_race_it_leaves() -> None:
    race, barrier = Finding("race", at(5), 1, (0, 0, 0), (0, 0, 0)), Finding("barrier", at(4), 1)
    assert [item.kind for item in results([record(findings=(race, barrier))])] == ["barrier", "race"]


def test_a_race_where_threads_come_that_have_no_element_has_no_remedy_of_its_own() -> None:
    outside = Finding("out_of_bounds", at(5), 1, space="shared", address=4, size=4, action="write")
    outside = replace(outside, allocation=Allocation(0, 4))
    here, elsewhere = (Finding("race", at(line), 1, (0, 0, 0), (0, 0, 0)) for line in (5, 6))
    _, *races = results([record(findings=(outside, here, elsewhere))])
    assert [race.remedy == SAME_CHANGE for race in races] == [True, False]
    assert [shown.remedy is None for shown in results([record(findings=(here, outside))])] == [False, False]


@pytest.mark.parametrize(
    ("in_turn", "address", "mended"),
    [(True, 160, True), (False, 160, False), (True, 164, False)],  # 164: an element that may never be written
)
def test_what_the_barrier_mends_that_the_first_race_lacks_is_told_as_that(
    in_turn: bool, address: int, mended: bool
) -> None:
    read, written = Access("read", at(20)), Access("write", at(13))
    race = Finding("race", at(13), 1, action="write", space="shared", address=160, array="tile", other=read)
    race = replace(race, scope="block", in_turn=in_turn)
    unset = Finding("uninitialised_shared", at(20), 1, action="read", array="tile", address=address)
    lanes = replace(race, place=at(20), scope="warp", action="read", address=32, other=written)
    _, early, of_lanes = results([record(findings=(race, unset, lanes))])
    assert early.message.endswith("has written yet") == mended
    assert (early.remedy == SAME_CHANGE) == mended
    assert (of_lanes.remedy == SAME_CHANGE) == in_turn


def test_what_else_is_found_of_an_array_that_is_not_filled_may_follow_from_that() -> None:
    unset = Finding("uninitialised_shared", at(6), 1, array="tile", space="shared", action="atomic")
    others = [replace(unset, place=at(9), action="read", array=array) for array in ("tile", "bins")]
    _, same, other = results([record(findings=(unset, *others))])
    assert [found.remedy == SAME_ARRAY for found in (same, other)] == [True, False]


@pytest.mark.parametrize(
    ("behind", "line"),
    [
        ("if (row < M && col < N)\n    out[col] = b;", 4),
        ("if (row < M)\n    out[col] = b;", None),
        ("}\n__global__ void g()\n{\nif (col < N)\n    out[col] = 0;", None),
    ],
)
def test_a_condition_that_comes_too_late_is_named(behind: str, line: int | None) -> None:
    source = f"__global__ void f()\n{{\nfloat b = bias[col];\n{behind}\n}}\n"
    outside = Finding("out_of_bounds", at(3), 1, (1, 0, 0), (0, 0, 0), space="global", address=4, size=4)
    outside = replace(outside, array="bias", allocation=Allocation(0, 4), action="read")
    arrays = {"bias": ArrayType(np.dtype("float32"), (1,))}
    ((found,),) = (item.findings for item in located([record(findings=(outside,))], arrays, source))
    assert remedy(found).startswith(f"The condition in line {line} comes too late") == (line is not None)


@pytest.mark.parametrize("others_held", [True, False])
def test_phases_that_never_complete_are_told_before_a_barrier_whose_missing_threads_wait_for_them(
    others_held: bool,
) -> None:
    full, empty = (
        Finding("mbarrier", at(line), 1, (0, 0, 0), (0, 0, 0), phase=Phase("arrivals", arrived, 2))
        for line, arrived in ((4, 0), (5, 1))
    )
    barrier = Finding("barrier", at(6), 1, arrivals=Arrivals(1, 128, 256, others_held))
    told = [item.line for item in results([record(findings=(full, empty, barrier))])]
    assert told == ([5, 4, 6] if others_held else [6, 4, 5])


@pytest.mark.parametrize(
    ("index", "size"),
    [
        ("(k + y) * K + x", "K"),
        ("x + K*(size_t(k) + y)", "K"),
        ("(k + y) * N + x", None),  # a row has N elements: a guard is missing
        ("(k * K + y) * N + x", None),  # which of the two is to be a row's length is not known
        ("(k + y) * width + x", None),
    ],
)
def test_a_size_that_is_taken_for_the_length_of_a_row_is_named(index: str, size: str | None) -> None:
    sizes = {"M": 5, "N": 3, "K": 7}
    finding = Finding(
        "out_of_bounds",
        at(2),
        1,
        (0, 0, 0),
        (0, 3, 0),
        space="global",
        address=84,
        size=4,
        allocation=Allocation(0, 84),
    )
    given = record(findings=(replace(finding, array="B"),))
    arrays = {"B": ArrayType(np.dtype(np.float32), (7, 3))}
    ((found,),) = (item.findings for item in located([given], arrays, f"//\nsum += B[{index}];\n", sizes))
    assert found.rows_of == size
    assert (remedy(found) == GUARD) == (size is None)


@pytest.mark.parametrize(
    ("line", "kind", "address", "columns", "rows"),
    [
        ("*(float4*)(B + row * N + c) = v;", "out_of_bounds", 20, 7, "N"),
        ("*(float2*)&B[row * N + c] = v;", "misaligned", 28, 7, "N"),
        ("*(float2*)&B[row * N + c] = v;", "out_of_bounds", 28, 6, ""),  # whole ones fill a row
        ("*(float4*)(B + row * N + c) = v;", "out_of_bounds", 56, 7, ""),  # the first is outside already
        ("((float4*)B)[row * N + c] = v;", "out_of_bounds", 20, 7, ""),  # the index counts float4s
        ("B[row * N + c] = v;", "out_of_bounds", 20, 7, ""),
    ],
)
def test_rows_that_several_elements_at_once_do_not_fill_are_told(
    line: str, kind: Kind, address: int, columns: int, rows: str
) -> None:
    size = 16 if "float4" in line else 8 if "float2" in line else 4
    place = Allocation(0, 8 * columns)
    finding = Finding(kind, at(2), 1, (0, 0, 0), (0, 0, 0), space="global", address=address, size=size)
    given = record(findings=(replace(finding, array="B", allocation=place),))
    arrays = {"B": ArrayType(np.dtype(np.float32), (2, columns))}
    source = f"__global__ void f(float* B) {{\n{line}\n}}\n"
    ((found,),) = (item.findings for item in located([given], arrays, source, {"M": 2, "N": columns}))
    assert found.uneven_rows == rows
    many = size // 4
    assert (f'`when = "N % {many} != 0"` in its' in remedy(found)) == bool(rows)
    again = replace(found, place=at(3))
    told = [item.remedy for item in results([record(findings=(again, found))])]
    assert (told[1] == SAME_CHANGE) == bool(rows)


@pytest.mark.parametrize(
    ("address", "element"), [(4 * (2**32 - 8), -8), (4 * 272, 272), (-4, -1), (4 * 2**30, 2**30)]
)
def test_an_unsigned_index_that_was_to_be_below_0_is(address: int, element: int) -> None:
    source = "__shared__ float tile[272];\nsum += tile[threadIdx.x + k];\n"
    finding = Finding("out_of_bounds", at(2), 1, space="shared", address=address, size=4, array="tile")
    given = record(findings=(replace(finding, allocation=Allocation(0, 1088)),))
    ((found,),) = (item.findings for item in located([given], {}, source))
    assert found.element == element
    assert found.wrapped == (element == -8)


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("atomicAdd(&c[word >> shift], 1);", "(word >> shift) & 255"),
        ("atomicAdd(&c[words[k] >> 8 * b], 1);", "(words[k] >> 8 * b) & 255"),
        ("c[b] += 1;", "(word >> 8) & 255"),
        ("c[words.x] += 1;", "words.x & 255"),
        ("c[words[i]] += 1;", "words[i] & 255"),
    ],
)
def test_an_index_whose_top_bit_was_set_is_not_below_0(line: str, masked: str) -> None:
    source = f"__shared__ unsigned c[256];\nunsigned b = word >> 8;\n{line}\n"
    finding = Finding("out_of_bounds", at(3), 1, space="shared", address=4 * 0xD6C61D70, size=4, array="c")
    given = record(findings=(replace(finding, allocation=Allocation(0, 1024)),))
    ((found,),) = (item.findings for item in located([given], {}, source))
    assert found.element == 0xD6C61D70
    assert remedy(found).endswith(f"keep the low bits alone, `{masked}`.")


def test_what_a_line_does_in_several_calls_is_told_once() -> None:
    calls = [at(26).called_at(at(line)) for line in (45, 46)]
    given = Finding("out_of_bounds", at(26), 3, space="shared", address=4, size=4, action="write")
    found = [replace(given, place=place, allocation=Allocation(0, 4)) for place in calls]
    (shown,) = results([record(findings=tuple(found))])
    assert (shown.count, [call.line for call in shown.callers]) == (6, [45])
    assert len(results([record(findings=(found[0], replace(found[1], action="read")))])) == 2
    assert len(results([record(findings=(found[0],)), record(findings=(found[1],))])) == 2


@pytest.mark.parametrize(("columns", "extent"), [(9, "N"), (5, "")])
def test_an_array_is_as_large_as_one_size(columns: int, extent: str) -> None:
    beyond = Finding(
        "out_of_bounds", at(2), 1, address=0, array="bias", allocation=Allocation(0, 4 * columns)
    )
    bias = {"bias": ArrayType(np.dtype("float32"), (columns,))}
    ((found,),) = (
        item.findings for item in located([record(findings=(beyond,))], bias, "", {"M": 5, "N": columns})
    )
    assert found.extent == extent
