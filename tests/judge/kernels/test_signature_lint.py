"""What is odd about how a kernel's text and its launch count threads."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from marking import Marking
from msgspec.structs import replace

from grader.judge.child.protocol import Launch
from grader.judge.kernels import signature_lint
from grader.workbook import topics
from grader.workbook.expressions import Expression

INDEX = "const int i = {};\nif (i < N) c[i] = a[i];"
HALVES = "for (int n = {} / 2; n > 0; n /= 2)\n    if (t < n) s[t] += s[t + n];"
X = "blockIdx.x * blockDim.x + threadIdx.x"


def kernel(text: str, threads_in_y: str = "1", **entries: str) -> Any:
    """A kernel file, and what its kernels are in PTX where there are several."""
    ptx = "".join(f".visible .entry {name}(\n)\n{{\n{body}\n}}\n" for name, body in entries.items())
    build = SimpleNamespace(ptx=ptx, lowered={name: name for name in entries})
    block = tuple(SimpleNamespace(text=text) for text in ("256", threads_in_y, "1"))
    file = SimpleNamespace(source=text, launches=[SimpleNamespace(block=block)])
    return SimpleNamespace(file=file, build=build)


def said(text: str, *block: int) -> str | None:
    x, y, z = (*block, 1, 1)[:3]
    return signature_lint.of_threads(kernel(text), [Launch("k", (4, 1, 1), (x, y, z), 0, ())])


@pytest.mark.parametrize(
    ("text", "block", "sentence"),
    [
        (INDEX.format("blockIdx.x + threadIdx.x"), (256,), "Line 1 adds threadIdx.x to the number of the block: "
         "block 1 begins at element 256, which is blockIdx.x * blockDim.x."),
        ("constexpr int B = 16;\n" + INDEX.format("size_t(blockIdx.x) * B + threadIdx.x"), (8,),
         "Line 2 counts 16 threads a block in x, and the launch block has 8: let both, and `grid`, use one "
         "constant, or let each thread go on by 8 until 16 are done."),
        ("__shared__ float t[32][33];\n" + INDEX.format("0, y = blockIdx.y * 32 + threadIdx.y"), (32, 8),
         "Line 2 counts 32 threads a block in y, and the launch block has 8: let each thread take 4, threadIdx.y + j "
         "with `for (int j = 0; j < 32; j += 8)`, both where the tile is stored and where it is read."),
        (INDEX.format("8 * blockIdx.x + threadIdx.x"), (32,),
         "Line 1 counts 8 threads a block in x, and the launch block has 32: let both use one constant, or "
         "blockDim.x."),
        (INDEX.format("8 * blockIdx.x + threadIdx.x, y = 4 * blockIdx.y + threadIdx.y"), (32, 8),
         "Line 1 counts 8 threads a block in x, and the launch block has 32: let both use one constant, or "
         "blockDim.x. Line 1 counts 4 threads a block in y, and the launch block has 8: let both use one constant, or "
         "blockDim.y."),
        (INDEX.format(X), (32, 8), "The block has 8 threads along y, and the kernel does not use threadIdx.y: all 8 do "
         "the same. Take elements by `blockIdx.y * blockDim.y + threadIdx.y` too, or give `block` x alone."),
        ("const int B = 96;\n" + HALVES.format("B"), (96,),
         "Line 2 halves 96, which is no power of two: of 3 elements that are left the last is not added. Take 64 or "
         "128."),
        (HALVES.format("blockDim.x"), (160,),
         "Line 1 halves 160, which is no power of two: of 5 elements that are left the last is not added. Take 128 or "
         "256."),
        (INDEX.format(X) + "// threadIdx.y\nint j = threadIdx.y;", (256,),
         "The kernel uses threadIdx.y, and a block has one thread in y: `block` takes two numbers."),
    ],
)  # fmt: skip
def test_it_is_told_with_its_line(text: str, block: tuple[int, ...], sentence: str) -> None:
    assert said(text, *block) == sentence


def test_blocks_along_y_that_nobody_asks_for_do_the_same() -> None:
    text, launch = f"int j = threadIdx.y, i = {X};", Launch("k", (4, 3, 1), (32, 8, 1), 0, ())
    told = signature_lint.of_unused(kernel(text), [launch])
    assert told is not None
    assert told.startswith(
        "The grid has 3 blocks along y, and the kernel does not use blockIdx.y: all 3 do the same."
    )
    assert signature_lint.of_unused(kernel(text + "int b = blockIdx.y;"), [launch]) is None


@pytest.mark.parametrize(
    "index", ["threadIdx.x", "this_grid().thread_rank()", "tiled_partition<32>(this_thread_block())"]
)
def test_a_kernel_that_asks_for_no_index_has_each_thread_do_all(index: str) -> None:
    launches = [Launch("k", (4, 1, 1), (32, 1, 1), 0, ())]
    told = signature_lint.of_same_work(
        kernel("for (int i = 0; i < N; i++) c[i] = a[i];  // threadIdx"), launches
    )
    assert told is not None
    assert "each of its 128 threads does all of the work" in told
    assert signature_lint.of_same_work(kernel(f"auto i = {index};"), launches) is None


ONE_EACH = """__global__ void k(const float* a, int N)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    for (int h = 128; h > 0; h /= 2) s[i] += s[i + h];
}
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (ONE_EACH, True),
        (ONE_EACH.replace("i = b", "n = gridDim.x * 256, i = b"), False),
        (ONE_EACH.replace("for (", "for (int k = i; k < N; k += ALL) x += a[k];\n    for ("), False),
        (ONE_EACH.replace("i = b", "next = atomicAdd(&ticket, 1), i = b"), False),
    ],
)
def test_as_many_blocks_as_the_device_holds_take_one_element_a_thread(text: str, told: bool) -> None:
    few = kernel(text)
    few.file.launches[0].grid = [Expression(text) for text in ("min(SMS * 8, cdiv(N, 256))", "1", "1")]
    assert (signature_lint.of_few_blocks(few) is not None) == told


def test_the_kernel_that_is_launched_is_meant() -> None:
    text = "k uses threadIdx.x, other threadIdx.y"
    several = kernel(text, k="mov.u32 %r1, %tid.x;", other="mov.u32 %r1, %tid.y;")
    launch = Launch("k", (4, 1, 1), (256, 1, 1), 0, ())
    assert signature_lint.of_threads(several, [launch]) is None
    assert signature_lint.of_threads(several, [replace(launch, symbol="other")]) is not None


@pytest.mark.parametrize(
    ("text", "block"),
    [
        (INDEX.format(X), (256,)),
        (INDEX.format("blockIdx.x + threadIdx.x"), (1,)),
        (INDEX.format("blockIdx.x * 256 + threadIdx.x"), (256,)),
        (INDEX.format("blockDim.x * blockIdx.x + threadIdx.x"), (256,)),
        (INDEX.format("256 * size_t(blockIdx.x) + threadIdx.x"), (256,)),
        ("constexpr int B = 16;\n" + INDEX.format("2 * (blockIdx.x * B + threadIdx.x)"), (16,)),
        ("constexpr int B = 16;\n" + INDEX.format("2 * blockIdx.x * B + threadIdx.x"), (16,)),
        (INDEX.format("(TILE - 2) * (size_t)blockIdx.x + threadIdx.x"), (256,)),
        (INDEX.format("blockIdx.x * TILE + threadIdx.x"), (256,)),  # of which nothing is known
        (HALVES.format("blockDim.x"), (128,)),
        (HALVES.format("ROWS"), (96,)),  # of which nothing is known
        (HALVES.format("blockDim.x").replace("n > 0", "n > 16"), (96,)),
        (HALVES.format("blockDim.x").replace("t < n", "t < n + n % 2"), (96,)),
        ("for (int y = 0; y < 32; y += 8) {}\n" + INDEX.format("blockIdx.x * 32 + threadIdx.x"), (8,)),
    ],
)
def test_nothing_is_said_of_what_may_be_meant(text: str, block: tuple[int, ...]) -> None:
    assert said(text, *block) is None


def test_halves_are_told_where_there_are_several_launches() -> None:
    one, another = (Launch("k", (4, 1, 1), (threads, 1, 1), 0, ()) for threads in (96, 1))
    text = f"const int B = 96;\n{HALVES.format('B')}"
    assert (signature_lint.of_threads(kernel(text), [one, another]) or "").startswith("Line 2 halves 96")
    assert signature_lint.of_threads(kernel(HALVES.format("blockDim.x")), [one, another]) is None


def test_threads_that_return_in_front_of_a_barrier() -> None:
    text = "__global__ void k()\n{\nif (i >= N) return;\nt[i] = a[i];\n__syncthreads();\nb[j] = t[j];\n}"
    found = signature_lint.of_return(kernel(text))
    assert found is not None
    assert found.startswith(
        "Threads that return in line 3 write nothing, and behind the barrier in line 5 they may"
    )
    assert signature_lint.of_return(kernel(text.replace("return", "continue"))) is None
    assert signature_lint.of_return(kernel(text.replace("__syncthreads();", ""))) is None


def test_a_block_whose_rows_are_computed_may_have_one() -> None:
    """As many as there are for a small case."""
    launch = Launch("k", (4, 1, 1), (32, 1, 1), 0, ())
    assert signature_lint.of_threads(kernel("threadIdx.y", "min(8, N)"), [launch]) is None


WIDE = """// /// launch
// [[launch]]
// kernel = "vector_add"
// grid = ["cdiv(N, 128)"]
// block = [128]
// ///
extern "C" __global__ void vector_add(const double* a, const double* b, double* c, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}
"""


def test_an_access_by_a_parameter_of_another_type_is_not_mended_otherwise(
    tmp_path: Path, marked: Marking
) -> None:
    file = tmp_path / "mine.cu"
    file.write_text(WIDE, "utf-8")
    reason = marked(topics.load("vector_add"), file, problem_overrides={"N": 1}).reason or ""
    assert reason.startswith(
        "`vector_add` takes `a` as const double*, and it is an array of float. Line 10: out of"
    )
    assert reason.endswith("has 1 element.")


TO_GRID = "__global__ void whole(const float* parts) {\n    for (int p = t; p < gridDim.x; p += 32) f(p);\n}"


@pytest.mark.parametrize(
    ("grid", "line"), [("1", "Line 2: gridDim.x is how many blocks this launch has, 1"), ("N", "")]
)
def test_the_grid_of_a_launch_of_one_block_is_not_that_of_the_one_before(grid: str, line: str) -> None:
    launches = [
        SimpleNamespace(kernel=name, grid=[SimpleNamespace(text=text)])
        for name, text in (("part", "N"), ("whole", grid))
    ]
    file = SimpleNamespace(source=TO_GRID, launches=launches)
    told: Any = SimpleNamespace(file=file)
    assert signature_lint.of_own_grid(told).startswith(line)
    assert bool(signature_lint.of_own_grid(told)) == bool(line)
