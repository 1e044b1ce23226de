"""Which operation makes the first NaN, of what, and where its infinity comes from."""

from __future__ import annotations

import math

import numpy as np
import pytest
from emulated import THREADS, Bench

from grader.emulator.machine.machine import LaunchRecord, Machine
from grader.emulator.machine.origins import Watch
from grader.findings import origins

INF = math.inf

SOURCE = """
#include <cuda_fp16.h>

extern "C" __global__ void k(const float* in, float* out, int which)
{
    const float a = in[0], b = in[1], c = in[2];
    float* const mine = out + blockIdx.x * blockDim.x + threadIdx.x;
    *mine = 0.0f;
    if (blockIdx.x == 0 || threadIdx.x < 5) {
        return;
    }
    switch (which) {
    case 0: *mine = a / b; break;  // 0
    case 1: *mine = a - b; break;  // 1
    case 2: *mine = fmaf(a, b, c); break;  // 2
    case 3: *mine = sqrtf(a); break;  // 3
    case 4: {
        const float high = expf(a);  // the exponential
        *mine = high / (high + b);  // 4
        break;
    }
    case 5: {
        const double high = double(a) * a;
        const float narrow = float(high * high);  // the conversion
        *mine = narrow * b;  // 5
        break;
    }
    case 6: {
        const half2 both = __hmul2(__floats2half2_rn(a, b), __floats2half2_rn(c, c));  // the product of halves
        *mine = __low2float(__hsub2(both, both));  // 6
        break;
    }
    case 7: *mine = a < 0 ? 1.0f : a + 0.0f * b; break;
    }
}
"""


def line_of(comment: str) -> int:
    return next(i for i, text in enumerate(SOURCE.splitlines(), 1) if text.endswith(f"// {comment}"))


def watched(
    which: int, numbers: tuple[float, ...], watch: Watch = "always", threads: int = 1
) -> LaunchRecord:
    arrays = [np.array(numbers, np.float32), np.zeros(128, np.float32)]
    return (
        Bench(Machine(threads=threads)).cuda(SOURCE, "k", 2, 64, *arrays, np.int32(which), watch=watch).record
    )


@pytest.mark.parametrize(
    ("which", "numbers", "operation", "remedy"),
    [
        (0, (0.0, -0.0, 0.0), "0 / (−0)", origins.NOTHING_DIVIDED),
        (0, (INF, -INF, 0.0), "∞ / (−∞)", ""),
        (1, (-INF, -INF, 0.0), "−∞ − (−∞)", origins.LARGEST_OF_NOTHING),
        (1, (INF, INF, 0.0), "∞ − ∞", ""),
        (2, (0.0, INF, 2.5), "0 · ∞ + 2.5", ""),
        (3, (-0.25, 0.0, 0.0), "sqrt(−0.25)", origins.NEGATIVE_ROOT),
        (4, (100.0, 1.0, 0.0), "∞ / ∞", origins.EXPONENTIAL.format(line=f"line {line_of('the exponential')}")),
        (5, (1e10, 0.0, 0.0), "0 · ∞",
         f"The first ∞ is made in line {line_of('the conversion')}: 1e+40 as f32."),
        (6, (300.0, 1.0, 300.0), "∞ − ∞",
         f"The first ∞ is made in line {line_of('the product of halves')}: 300 · 300."),
    ],
)  # fmt: skip
def test_it_is_told_with_its_operands_and_what_mends_it(
    which: int, numbers: tuple[float, ...], operation: str, remedy: str
) -> None:
    found = origins.told([watched(which, numbers)])
    assert found is not None
    place = f"in line {line_of(str(which))}, by thread (5, 0, 0) of block (1, 0, 0)"
    assert found.what == f"NaN is first made {place}: {operation}."
    assert found.remedy == remedy


def test_a_nan_that_is_passed_on_is_made_by_nobody() -> None:
    assert origins.told([watched(1, (math.nan, 1.0, 0.0))]) is None


def test_it_is_looked_for_where_that_is_asked_for() -> None:
    assert watched(0, (0.0, 0.0, 0.0), "never").first_nan is None
    found = watched(0, (0.0, 0.0, 0.0), "once stored")
    assert found.first_nan == watched(0, (0.0, 0.0, 0.0)).first_nan is not None
    assert found.counters == watched(0, (0.0, 0.0, 0.0), "never").counters


def test_a_nan_that_is_not_stored_is_not_looked_for() -> None:
    """The compiler computes the second operand of ?: in any case."""
    assert watched(7, (-1.0, INF, 0.0)).first_nan is not None
    assert watched(7, (-1.0, INF, 0.0), "once stored").first_nan is None


def test_a_kernel_that_computes_nothing_is_run_as_any_other() -> None:
    """Its blocks may meet, so that it cannot be undone."""
    source = 'extern "C" __global__ void k(int* out) { *out = 1; __threadfence(); }'
    ran = Bench(Machine(threads=1)).cuda(source, "k", 1, 1, np.zeros(1, np.int32), watch="once stored")
    assert (ran.record.status, ran.arrays[0][0], ran.record.first_nan) == ("completed", 1, None)


def test_it_is_the_same_on_any_number_of_threads() -> None:
    found = [watched(0, (0.0, 0.0, 0.0), "always", threads).first_nan for threads in THREADS]
    assert found == [found[0]] * len(THREADS)
