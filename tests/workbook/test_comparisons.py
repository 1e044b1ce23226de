"""What PTX compares, as far as it follows from a kernel's parameters and its launch."""

import re

import pytest

from grader.emulator.nvrtc.compilation import build
from grader.workbook import comparisons
from grader.workbook.comparisons import Given

GIVEN = Given([None, 700, 30], (6, 5, 1), (128, 1, 1))


def sides(condition: str) -> list[tuple[int, int]]:
    """What is known of the comparisons of a condition in line 2, by a launch as GIVEN."""
    source = f"""extern "C" __global__ void k(float* out, int N, int M) {{
        if ({condition}) out[threadIdx.x] = 1.0f; }}"""
    found = comparisons.of(build(source).ptx, "k")
    assert {item.line for item in found} <= {0, 2}
    return [known for item in found if (known := item.sides(GIVEN)) is not None]


@pytest.mark.parametrize(
    ("condition", "known"),
    [
        ("N > 2000", (700, 2000)),
        ("N / 4 + M > 1000", (205, 1000)),
        ("N / 3 > M * M", (233, 900)),
        ("N * M > 100000", (21000, 100000)),
        ("(N + 31) / 32 > M", (22, 30)),
        ("gridDim.x * blockDim.x < N", (768, 700)),
        ("(long long)N * M == 123456789012", (21000, 123456789012)),
    ],
)
def test_what_follows_from_sizes_and_the_launch_is_known(condition: str, known: tuple[int, int]) -> None:
    pairs = {*sides(condition)}
    assert known in pairs or (known[0], known[1] + 1) in pairs  # a >= b + 1 in place of a > b


@pytest.mark.parametrize("condition", ["threadIdx.x < N", "out[0] > N", "out[N] > 1.0f", "blockIdx.x == 0"])
def test_what_threads_do_not_share_is_not(condition: str) -> None:
    assert sides(condition) == []


def test_a_shift_by_less_than_nothing_is_no_number() -> None:
    assert sides("(N << (M - 31)) > 5 * N") == []


PTX = ".visible .entry k(\n)\n{{\n{body}\nsetp.lt.s32 %p1, %r1, 5;\n}}\n"


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("add.s32 %r1, %r1, 1;", None),
        ("activemask.b32 %r1;", None),
        ("\n".join(f"mul.lo.s32 %r{at}, %r{at + 1}, %r{at + 1};" for at in range(1, 400)), None),
        ("mul.lo.s32 %r1, %r2, 65536;\nmov.u32 %r2, 32769;", (-2147418112, 5)),
        ("shr.u32 %r1, %r2, 28;\nmov.s32 %r2, -1;", (15, 5)),
    ],
    ids=["itself", "made of nothing", "hundreds", "overflow", "no sign"],
)
def test_ptx_of_whatever_kind_is_followed_as_a_gpu_does_or_not_at_all(
    body: str, known: tuple[int, int] | None
) -> None:
    (found,) = comparisons.of(PTX.format(body=body), "k")
    assert found.sides(GIVEN) == known


def test_a_counter_of_a_loop_is_not() -> None:
    source = """extern "C" __global__ void k(float* out, int N, int M) {
        for (int i = M; i < N; ++i) out[i] += 1.0f; }"""
    compared = [
        {item.left.operand, item.right.operand}
        for item in comparisons.of(build(source).ptx, "k")
        if item.sides(GIVEN)
    ]
    counters = set(re.findall(r"add\.s32\s+(%r\d+), \1, 4;", build(source).ptx))
    assert counters
    assert not [each for each in compared if each & counters]


@pytest.mark.parametrize(
    ("loop", "bound", "found"),
    [
        ("unsigned short k = 0; k < N; k += 8", 70_001, (65_535, 70_001)),
        ("unsigned short k = threadIdx.x; k < N; k += blockDim.x", 70_001, (65_535, 70_001)),
        ("unsigned char k = 0; k < N; ++k", 300, (255, 300)),
        ("unsigned short k = 0; k < N; k += 8", 65_535, None),
        ("int k = 0; k < N; k += 8", 70_001, None),
        ("int k = 0; k < 100 && (k & 7) < N; ++k", 70_001, None),
    ],
)
def test_what_a_loop_in_few_bits_never_reaches_is_known(
    loop: str, bound: int, found: tuple[int, int] | None
) -> None:
    source = f"""extern "C" __global__ void k(float* out, int N, int M) {{
        for ({loop}) out[k] *= out[k + 1]; }}"""
    given = Given([None, bound, 30], (6, 5, 1), (128, 1, 1))
    told = {item.out_of_reach(given) for item in comparisons.of(build(source).ptx, "k")} - {None}
    assert told == ({found} if found else set())
