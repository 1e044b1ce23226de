"""Sizes from which on a kernel goes another way than in its topic's cases."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from grader.judge.kernels import thresholds
from grader.judge.kernels.compiled import prepare
from grader.judge.runners.pool import DevicePool
from grader.workbook import topics
from grader.workbook.reference import Problem
from grader.workbook.signature import impossible

MATRICES = [name for name, topic in topics.discover().items() if len(thresholds.dimensions(topic)) > 1]
LIMITS = {
    "multiprocessor_count": 132,
    "max_threads_per_block": 1024,
    "max_registers_per_block": 65536,
    "max_shared_memory_per_block_optin": 232448,
    **{f"max_grid_dim_{axis}": (1 << 31) - 1 if axis == "x" else 65535 for axis in "xyz"},
    **{f"max_block_dim_{axis}": 64 if axis == "z" else 1024 for axis in "xyz"},
}
HEAD = """// /// launch
{other}// [[launch]]
// kernel = "vector_add"
// {when}
// grid = ["cdiv(N, 256)"]
// block = [256]
// ///
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N)
{{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) c[i] = {value};
}}
"""


def found(
    tmp_path: Path, value: str, when: str = "", other: str = "", head: str = HEAD
) -> list[tuple[Problem, str]]:
    """But for neighbouring sizes, which are tried of every kernel, and rests (test_rests.py)."""
    topic = topics.load("vector_add")
    file = tmp_path / "mine.cu"
    file.write_text(head.format(when=when, value=value, other=other))
    kernel = prepare(topic.parse(file), "sm_90a")
    in_a_row = {each.said for each in thresholds._in_a_row(topic)}
    cases = thresholds.found(kernel, topic, LIMITS)
    others = [each for each in cases if each.said not in in_a_row and not each.said.endswith("sizes take.")]
    return [(dict(each.problem), each.said) for each in others]


@pytest.mark.parametrize(
    ("value", "beyond"),
    [
        ("N > 2000000 ? 0.0f : a[i] + b[i]", 2000015),
        ("N / 4 > 500000 ? 0.0f : a[i] + b[i]", 2000015),
        ("gridDim.x >= 8000 ? 0.0f : a[i] + b[i]", 2047759),
        ("N == 1234567 ? 0.0f : a[i] + b[i]", 1234567),
    ],
)
def test_a_comparison_of_a_size_is_passed_with_a_rest(tmp_path: Path, value: str, beyond: int) -> None:
    ((problem, said),) = found(tmp_path, value)
    assert problem == {"N": beyond}
    assert "in line 11" in said


@pytest.mark.parametrize(("at_most", "beyond"), [(4096, 1 << 20), (1 << 20, None)])
def test_more_than_a_loop_has_turns_for_is_tried(tmp_path: Path, at_most: int, beyond: int | None) -> None:
    """Blocks of one thread each for 256 elements; of what would be too much work, no case is tried."""
    loop = f"0.0f; const int turns = min({at_most}, (N - i + 255) / 256); for (int t = 0; t < turns; ++t) c[t] = a[t]"
    found_there = [problem["N"] for problem, said in found(tmp_path, loop) if "a limit in line 11" in said]
    assert [beyond < each <= beyond + 512 for each in found_there] == [True] if beyond else found_there == []


def test_steps_are_tried_that_are_larger_than_in_every_case(tmp_path: Path) -> None:
    topic = topics.load("conv2d")
    file = tmp_path / "mine.cu"
    file.write_text(HEAD_OF_A_CONVOLUTION.format(when="N > 0"))
    tried = thresholds.found(prepare(topic.parse(file), "sm_90a"), topic, LIMITS)
    larger = [each.problem for each in tried if "is larger than" in each.said]
    assert {(problem["stride"] > 8, problem["pad"] > 8) for problem in larger} == {
        (True, False),
        (False, True),
    }


def test_a_when_is_told_by_its_line(tmp_path: Path) -> None:
    ((problem, said),) = found(tmp_path, "a[i] + b[i]", 'when = "N < 2500000"')
    assert problem == {"N": 2500015}
    assert "`N < 2500000` in line 4" in said


def test_a_size_between_two_launches_is_found(tmp_path: Path) -> None:
    """Cases lie on both sides of it."""
    other = (
        '// [[launch]]\n// kernel = "vector_add"\n// when = "N < 150"\n// grid = [1]\n// block = [256]\n//\n'
    )
    ((problem, said),) = found(tmp_path, "a[i] + b[i]", 'when = "N > 150"', other)
    assert problem == {"N": 150}
    assert "leave a gap" in said


@pytest.mark.parametrize(
    "value", ["N > 1000 ? b[i] + a[i] : a[i] + b[i]", "N > 100000000 ? 0.0f : a[i] + b[i]"]
)
def test_what_a_case_passes_or_is_too_much_work_is_not_tried(tmp_path: Path, value: str) -> None:
    assert found(tmp_path, value) == []


@pytest.mark.parametrize(("when", "beside"), [("N % 1024 == 0", "N % 1024 != 0")])
def test_a_launch_of_whole_tiles_is_tried_with_an_odd_number_of_them(
    tmp_path: Path, when: str, beside: str
) -> None:
    both = f'when = "{when}"\n// grid = ["N // 256"]\n// block = [256]\n// [[launch]]\n// kernel = "vector_add"\n'
    ((problem, said),) = found(tmp_path, "a[i] + b[i]", f'{both}// when = "{beside}"')
    assert problem == {"N": 729 * 1024}
    assert f"`{when}` in line 4" in said


HEAD_OF_A_CONVOLUTION = """// /// launch
// [[launch]]
// kernel = "conv2d"
// when = "{when}"
// grid = [1]
// block = [32]
//
// [[launch]]
// kernel = "conv2d"
// when = "not ({when})"
// grid = [2]
// block = [32]
// ///
extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int N, int C, int H, int W, int K,
                                  int R, int S, int stride, int pad) {{ y[threadIdx.x] = x[0]; }}
"""


@pytest.mark.parametrize(
    ("when", "filters"),
    [("R * S == 9", {(1, 9), (9, 1)}), ("R == 3", {(3, 1), (3, 4)}), ("R == 3 and S == 3", set())],
)
def test_a_launch_for_one_filter_is_tried_with_others_that_it_is_for(
    tmp_path: Path, when: str, filters: set[tuple[int, int]]
) -> None:
    topic = topics.load("conv2d")
    file = tmp_path / "mine.cu"
    file.write_text(HEAD_OF_A_CONVOLUTION.format(when=when))
    cases = thresholds.found(prepare(topic.parse(file), "sm_90a"), topic, LIMITS)
    assert {(each.problem["R"], each.problem["S"]) for each in cases if "R = 3" in each.said} == filters


@pytest.mark.parametrize("rung", ["03_register_block", "06_winograd"])
def test_what_is_tried_of_a_rung_has_room_on_its_device(rung: str) -> None:
    """No grid of more images than it may have blocks, and no stride for which a tile has no room."""
    topic = topics.load("conv2d")
    kernel = prepare(topic.parse(topic.rung(rung).path), "sm_90a")
    with DevicePool("emulator", jobs=1, threads=1) as pool, pool.emulator() as child:
        limits = child.hello().limits
    for tried in thresholds.found(kernel, topic, limits):
        kernel.plan(tried.problem, limits)  # raises Refused where it cannot be launched


@pytest.mark.parametrize("name", ["histogram", "gemm", "softmax", "conv2d"])
def test_the_longest_case_is_one_of_the_topic_made_larger(name: str) -> None:
    topic = topics.load(name)
    longest = thresholds.longest(topic)
    cost = topic.reference.min_flop(longest) // thresholds.FLOP + topic.reference.min_bytes(longest)
    assert thresholds.MOST / 8 < cost <= thresholds.MOST / 2
    assert any(sum(longest[size] != problem[size] for size in problem) == 1 for problem in topic.judge_cases)


@pytest.mark.parametrize(
    ("row", "count", "short", "long"),
    [
        ("int(threadIdx.x * (1.0f / M))", thresholds.TRIES, thresholds.WIDE, 131),
        ("__umulhi(threadIdx.x, 0xffffffffu / M + 1)", thresholds.SQUARES, thresholds.BROAD, 1500),
    ],
)
def test_quotients_that_are_rounded_are_tried_at_many_sizes(
    tmp_path: Path, row: str, count: int, short: tuple[int, int], long: int
) -> None:
    topic = topics.load("transpose")
    file = tmp_path / "mine.cu"
    head = '// /// launch\n// [[launch]]\n// kernel = "transpose"\n// grid = [1]\n// block = [32]\n// ///\n'
    body = f"{{ out[{row}] = in[N]; }}\n"
    file.write_text(
        f'{head}extern "C" __global__ void transpose(const float* in, float* out, int M, int N)\n{body}'
    )
    tried = thresholds.found(prepare(topic.parse(file), "sm_90a"), topic, LIMITS)
    assert len(tried) == count
    assert all(
        min(each.problem.values()) <= short[1] and long <= max(each.problem.values()) for each in tried
    )
    assert [case.kind for each in tried for case in each.cases(seed=1)] == ["exact"] * count


@pytest.mark.parametrize("name", MATRICES)
def test_thin_sizes_come_to_an_end_where_not_every_size_is_a_problem(name: str) -> None:
    """As those of attention, whose heads are 64 or 128 wide."""
    topic = topics.load(name)
    thin = islice(thresholds._oblong(topic, thresholds.WIDE, thresholds.THIN), thresholds.TRIES)
    assert not any(impossible(problem, topic.signature) for problem in thin)


@pytest.mark.parametrize(("block", "value"), [(192, "a[i] + b[i]"), (256, "a[i] + b[i] * (N / 192)")])
def test_tiles_that_are_no_power_of_two_are_tried_around_their_multiples(
    tmp_path: Path, block: int, value: str
) -> None:
    head = HEAD.replace("256", str(block))
    sizes = [problem["N"] for problem, _ in found(tmp_path, value, head=head)]
    assert sizes == [192 * times + more for times, more in thresholds.AROUND]


def test_large_tiles_are_tried_with_rests_nearby(tmp_path: Path) -> None:
    cases = found(tmp_path, "a[i] + b[i] * (N / 1024)")
    assert {1, 7, 1023, 257, 769} <= {problem["N"] % 1024 for problem, _ in cases}
    assert {"There N is 1024 − 1.", "There N is 2 · 1024 + 1."} <= {said for _, said in cases}


def test_a_grid_of_a_fixed_size_is_tried_with_a_share_too_few(tmp_path: Path) -> None:
    """Of 68,641 numbers in shares of cdiv(68641, 264) = 261, the last of 264 blocks has none."""
    head = HEAD.replace('"cdiv(N, 256)"', '"2 * SMS"')
    assert 264 * 260 + 1 in [problem["N"] for problem, _ in found(tmp_path, "a[i] + b[i]", head=head)]


def test_cases_leave_every_rest_behind_vectors() -> None:
    topic = topics.load("vector_add")
    sizes = [*topic.judge_cases, *(each.problem for each in thresholds._in_a_row(topic))]
    assert {int(problem["N"]) % 8 for problem in sizes if problem["N"] > 1000} == set(range(8))


def test_a_launch_between_two_sizes_is_tried(tmp_path: Path) -> None:
    others = "".join(
        f'// [[launch]]\n// kernel = "vector_add"\n// when = "{when}"\n// grid = [1]\n// block = [256]\n//\n'
        for when in ("N < 131072", "N >= 524288")
    )
    ((problem, said),) = found(tmp_path, "a[i] + b[i]", 'when = "N >= 131072 and N < 524288"', others)
    assert 131072 <= problem["N"] < 524288
    assert problem["N"] % 2
    assert "come out together as in no other case" in said


PRODUCT = """// /// launch
// [[launch]]
// kernel = "gemm"
// when = "{when}"
// grid = [1]
// block = [32]
//
// [[launch]]
// kernel = "gemm"
// when = "not ({when})"
// grid = [2]
// block = [32]
// ///
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K)
{{
    C[threadIdx.x] = A[0]{body};
}}
"""


@pytest.mark.parametrize(
    ("when", "body", "holds"),
    [
        (
            "M % 64 == 0 and N % 64 == 0 and K % 8 == 0",
            "",
            lambda m, n, k: m % 64 == n % 64 == 0 and k % 16 == 8,
        ),
        ("M > 0", " + (M >= 256 && N >= 256 && K >= 256)", lambda m, n, k: min(m, n, k) >= 256 and k % 4),
    ],
)
def test_conditions_that_hold_together_for_round_sizes_are_tried_with_odd_ones(
    tmp_path: Path, when: str, body: str, holds: Callable[[int, int, int], bool]
) -> None:
    topic = topics.load("gemm")
    file = tmp_path / "mine.cu"
    file.write_text(PRODUCT.format(when=when, body=body))
    cases = thresholds.found(prepare(topic.parse(file), "sm_90a"), topic, LIMITS)
    assert any(holds(*map(int, each.problem.values())) for each in cases)


@pytest.mark.parametrize(
    ("value", "when", "asks"),
    [
        ("N == COUNT ? 0.0f : a[i] + b[i]", "", True),
        ("a[i] + b[i]", 'when = "N == COUNT or N == 5"', True),
        ("N <= COUNT ? a[i] : b[i]", "", False),  # what one thread keeps has an end
        ("N % 64 == 0 ? a[i] : b[i]", "", False),
        ("a[i] + b[i]", "", False),
    ],
)
def test_a_kernel_that_asks_for_the_counted_size_is_counted_beside_it(
    tmp_path: Path, value: str, when: str, asks: bool
) -> None:
    topic, file = topics.load("vector_add"), tmp_path / "mine.cu"
    count = int(topic.sizes_count["N"])
    text = HEAD.format(when=when, value=value, other="").replace("COUNT", str(count))
    file.write_text(text)
    found = thresholds.beside(prepare(topic.parse(file), "sm_90a"), topic, LIMITS)
    assert found == ({"N": count + count // 2} if asks else None)
