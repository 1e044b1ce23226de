"""A topic of bfloat16, which NumPy does not know by itself, is judged as one of any other type."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from marking import Marking

from grader.judge.climb import climb
from grader.judge.kernels.fresh import Fresh, balanced
from grader.results import Grade
from grader.workbook.elements import BFLOAT16
from grader.workbook.topic import Topic
from grader.workbook.topics import load

TOPIC = """\
title = "Scale and add"
order = 3
signature = "axpb(const __nv_bfloat16* x, const __nv_bfloat16* b, __nv_bfloat16* y, int N, float a)"
smallest_arch = "sm_80"
library = "cupy.copy"

[sizes]
main = { N = 1048576, a = 2.0 }
count = { N = 4096, a = 2.0 }
judge = [{ N = 1, a = 2.0 }, { N = 33, a = 3.0 }, { N = 1032, a = 2.0 }]

[tolerance]
lambda = 2
terms = "2"
unit = "bfloat16"

[[claim]]
rung = "01_wide"
points = 10
text = "one request for 256 elements, of x and of b"
expect = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum <= 2 * cdiv(N, 256)"
"""

REFERENCE = """\
import ml_dtypes
import numpy as np

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 2.0**-130, -(2.0**-133), 3e38]


def make_inputs(problem, rng, kind):
    draw = (lambda n: rng.integers(-8, 8, n)) if kind == "exact" else rng.standard_normal
    return {name: draw(problem["N"]).astype(ml_dtypes.bfloat16) for name in "xb"}


def special_inputs(problem, rng):
    inputs = make_inputs(problem, rng, "real")
    for array in inputs.values():
        array[: len(SPECIAL)] = np.array(SPECIAL, ml_dtypes.bfloat16)[: len(array)]
    return inputs


def _both(inputs, problem):
    x, b = (inputs[name].astype(np.float64) for name in "xb")
    return problem["a"] * x, b


def reference(inputs, problem):
    scaled, b = _both(inputs, problem)
    total = scaled + b
    return {"y": np.where(np.abs(total) > 3.3961e38, np.copysign(np.inf, total), total)}


def magnitude(inputs, problem):
    scaled, b = _both(inputs, problem)
    return {"y": np.abs(scaled) + np.abs(b)}


def shapes(problem):
    return dict.fromkeys("xby", (problem["N"],))


def elements(read, problem, name, places):
    x, b = problem["a"] * read("x", places), read("b", places)
    return x + b, np.abs(x) + np.abs(b)


def min_flop(problem):
    return 2 * problem["N"]


def min_bytes(problem):
    return 6 * problem["N"]
"""

HEAD = """\
// Scales and adds.
// /// launch
// [[launch]]
// kernel = "axpb"
// grid = ["cdiv(N, EACH * THREADS)"]
// block = ["THREADS"]
// ///
#include <cuda_bf16.h>
constexpr int THREADS = 256, EACH = 1;
extern "C" __global__ void axpb(const __nv_bfloat16* x, const __nv_bfloat16* b, __nv_bfloat16* y, int N, float a)
"""

NAIVE = (
    HEAD
    + """\
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < N) y[i] = __float2bfloat16_rn(a * __bfloat162float(x[i]) + __bfloat162float(b[i]));
}
"""
)

WIDE = (
    HEAD.replace("EACH = 1", "EACH = 8")
    + """\
{
    int i = 8 * (blockIdx.x * THREADS + threadIdx.x);
    if (i + 8 > N) {
        for (; i < N; ++i) y[i] = __float2bfloat16_rn(a * __bfloat162float(x[i]) + __bfloat162float(b[i]));
        return;
    }
    uint4 of_x = *reinterpret_cast<const uint4*>(x + i), of_b = *reinterpret_cast<const uint4*>(b + i), of_y;
    const __nv_bfloat162* xs = reinterpret_cast<const __nv_bfloat162*>(&of_x);
    const __nv_bfloat162* bs = reinterpret_cast<const __nv_bfloat162*>(&of_b);
    __nv_bfloat162* ys = reinterpret_cast<__nv_bfloat162*>(&of_y);
    for (int k = 0; k < 4; ++k) {
        float2 p = __bfloat1622float2(xs[k]), q = __bfloat1622float2(bs[k]);
        ys[k] = __float22bfloat162_rn(make_float2(a * p.x + q.x, a * p.y + q.y));
    }
    *reinterpret_cast<uint4*>(y + i) = of_y;
}
"""
)

IN_PAIRS = (
    HEAD.replace("EACH = 1", "EACH = 2")
    + """\
{
    int i = 2 * (blockIdx.x * THREADS + threadIdx.x);
    __nv_bfloat162 scale = __float2bfloat162_rn(a);
    if (i + 1 < N)
        *reinterpret_cast<__nv_bfloat162*>(y + i) = __hfma2(scale, *reinterpret_cast<const __nv_bfloat162*>(x + i),
                                                            *reinterpret_cast<const __nv_bfloat162*>(b + i));
    else if (i < N)
        y[i] = __hfma(__float2bfloat16(a), x[i], b[i]);
}
"""
)


@pytest.fixture
def topic(tmp_path: Path) -> Topic:
    files = {
        "lessons/axpb/topic.toml": TOPIC,
        "lessons/axpb/reference.py": REFERENCE,
        "lessons/axpb/starter.cu": HEAD + "{}\n",
        "kernels/naive/axpb.cu": NAIVE,
        "kernels/optimized/axpb/01_wide.cu": WIDE,
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load("axpb", tmp_path)


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    """ml_dtypes warns of comparisons with NaN where NumPy's own types do not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def graded(marked: Marking, topic: Topic, source: str) -> Grade:
    file = topic.folder / "mine.cu"
    file.write_text(source)
    return marked(topic, file)


@pytest.mark.parametrize(
    ("source", "reached"),
    [(NAIVE, "00_naive"), (WIDE, "01_wide"), (IN_PAIRS, "00_naive")],
    ids=["one by one", "16 bytes", "pairs"],
)
def test_what_is_right_passes(topic: Topic, source: str, reached: str, marked: Marking) -> None:
    result = graded(marked, topic, source)
    assert (result.verdict, result.rung_reached) == ("pass", reached), result.reason
    assert {case.kind for case in result.cases} == {"exact", "real", "special"}


SWEPT = pytest.mark.soak(area="judge")
ADDED = "a * __bfloat162float(x[i]) + __bfloat162float(b[i])"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("+ __bfloat162float(b", "- __bfloat162float(b", "`y`[0] is 11, expected 17, where N=1, a=2.0"),
        (
            "if (i < N)",
            "if (i < N && i != 5)",
            "1 of 33 elements of `y` was never written, the first at [5]",
        ),
        (ADDED, f"fmaxf(-1e9f, {ADDED})", "`y`[0] is -998244352, expected nan"),
        (ADDED, f"truncf({ADDED})", "Every wrong element is a whole number"),
        pytest.param(
            f"__float2bfloat16_rn({ADDED})", "__hmul(__float2bfloat16(a), x[i])", "expected 17", marks=SWEPT
        ),
        pytest.param(ADDED, f"1.02f * ({ADDED})", "`y`[0] is 17.375, expected 17, where N=1", marks=SWEPT),
        pytest.param("y[i] =", "y[i + 1] =", "writes `y`[1], where `y` has 1 element", marks=SWEPT),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(topic: Topic, old: str, new: str, said: str, marked: Marking) -> None:
    assert old in NAIVE
    result = graded(marked, topic, NAIVE.replace(old, new))
    assert result.verdict == "fail"
    assert said in result.reason


def test_a_header_that_is_left_out_is_named(topic: Topic, marked: Marking) -> None:
    result = graded(marked, topic, NAIVE.replace("#include <cuda_bf16.h>\n", ""))
    assert "#include <cuda_bf16.h>" in result.reason


def test_an_access_that_is_not_aligned(topic: Topic, marked: Marking) -> None:
    shifted = WIDE.replace("(x + i), of_b", "(x + i + 1), of_b").replace("(b + i), of_y", "(b + i + 3), of_y")
    shifted = shifted.replace("i + 8 > N", "i + 11 > N")
    result = graded(marked, topic, shifted)
    assert "reads 16 bytes at `x`[1]" in result.reason
    assert "not a multiple of 8 bfloat16 elements long" in result.reason


def test_a_small_case_shows_numbers(topic: Topic, marked: Marking) -> None:
    small = graded(marked, topic, NAIVE.replace("+ __bfloat162float(b", "- 2.0f * __bfloat162float(b")).small
    assert small is not None
    assert (small.expected, small.actual) == ([[10, 22, 34, 46, 58, 70]], [[-20, -38, -56, -74, -92, -110]])


def test_a_type_that_does_not_suit_is_named(topic: Topic, marked: Marking) -> None:
    bits = "__ushort_as_bfloat16(__half_as_ushort(b[i]))"
    other = NAIVE.replace("const __nv_bfloat16* b", "const __half* b").replace("(b[i])", f"(-{bits})")
    result = graded(marked, topic, other.replace("#include", "#include <cuda_fp16.h>\n#include", 1))
    assert "`axpb` takes `b` as const half*, and it is an array of nv_bfloat16" in result.reason


def test_scratch_memory_of_the_same_type(topic: Topic, marked: Marking) -> None:
    tables = """\
// args = ["x", "b", "sums", "N", "a"]
// [[launch]]
// kernel = "copied"
// args = ["sums", "y", "N"]
// grid = ["1"]
// block = ["THREADS"]
// [[scratch]]
// name = "sums"
// dtype = "bfloat16"
// shape = ["N"]
"""
    second = """\
extern "C" __global__ void copied(const __nv_bfloat16* sums, __nv_bfloat16* y, int N)
{
    for (int i = threadIdx.x; i < N; i += THREADS) y[i] = sums[i];
}
"""
    both = NAIVE.replace("// ///\n#", f"{tables}// ///\n#") + second
    assert graded(marked, topic, both).verdict == "pass"
    reason = graded(marked, topic, both.replace("if (i < N)", "if (i < N && i != 3)")).reason
    assert "`y` is what a scratch array holds at the start, at 1 of its 33 elements" in reason


def test_a_climb(topic: Topic) -> None:
    naive, wide = climb(topic, "emulator").rungs
    assert naive.time_s is not None
    assert wide.time_s is not None
    assert wide.time_s < naive.time_s


def test_inputs_of_timed_passes(topic: Topic) -> None:
    known = Fresh.known(topic, topic.sizes_count)
    assert known.pools["x"].dtype == BFLOAT16
    assert len(np.unique(known.read("x", np.arange(64)))) > 32
    pairs = balanced(topic, np.random.default_rng(0), 4096)["b"]
    assert pairs.dtype == BFLOAT16
    assert not (pairs[::2] + pairs[1::2]).any()
