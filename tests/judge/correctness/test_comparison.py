"""Comparison, poison and guard zones, on arrays that no kernel made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.judge.correctness import comparison, pieces
from grader.judge.correctness.comparison import compare, compare_within, error_bound
from grader.judge.correctness.guards import (
    GUARD_BYTES,
    POISON,
    Damage,
    added_to,
    damage,
    frame,
    paint,
    paint_output,
    unwritten,
)


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, dtype=np.float32)


def test_equal_arrays_pass_without_error() -> None:
    result = compare("C", ones(3, 4), np.ones((3, 4)), None)
    assert result.right
    assert result.error == 0.0


def test_first_mismatch_is_the_first_in_memory_order() -> None:
    actual = ones(3, 4)
    actual[2, 1] = 5
    actual[1, 3] = 7
    mismatch = compare("C", actual, np.ones((3, 4)), None).mismatch
    assert mismatch is not None
    assert (mismatch.array, mismatch.index, mismatch.expected, mismatch.actual) == ("C", [1, 3], 1.0, 7.0)
    assert (mismatch.wrong, mismatch.elements, mismatch.allowed) == (2, 12, 0.0)


def test_where_nan_and_infinities_are_due_a_number_that_is_wrong_is_shown() -> None:
    nan, inf = np.nan, np.inf
    expected = np.array([nan, inf, 1.0, 2.0, 3.0])
    for actual, shown in (
        ([nan, nan, nan, 2, 4], 4),  # a number in the place of another
        ([nan, nan, 1, nan, 3], 3),  # or NaN where a number is due
        ([nan, nan, 1, 2, 3], 1),
    ):
        mismatch = compare("C", np.float32(actual), expected, None).mismatch
        assert mismatch is not None
        assert mismatch.index == [shown]


def test_an_infinity_is_due_where_the_right_number_is_beyond_the_type() -> None:
    actual = np.array([1.0, 65504.0], np.float16)
    mismatch = compare("y", actual, np.array([1.0, 74592.0]), np.array([0.1, 1.0])).mismatch
    assert mismatch is not None
    assert (mismatch.expected, mismatch.actual) == ("inf", 65504.0)


@pytest.mark.parametrize(("kept", "flushes"), [(0.0, True), (2.0**-149, False)])
def test_what_loses_some_subnormals_alone_does_not_flush(kept: float, flushes: bool) -> None:
    expected = np.array([1.0, 2.0**-130, 2.0**-149], np.float32)
    result = compare("y", np.array([1.0, 0.0, kept], np.float32), expected, None)
    assert not result.right
    assert result.flushed
    assert result.flushes == flushes


def test_box_holds_every_wrong_element() -> None:
    actual = ones(5, 6)
    actual[4, 1:3] = 0
    actual[2, 5] = 0
    assert compare("C", actual, np.ones((5, 6)), None).box == ((2, 4), (1, 5))


def test_equality_is_after_rounding_to_the_outputs_type() -> None:
    assert compare("C", np.float32([0.1]), np.array([0.1]), None).right


def test_a_wider_bound_is_asked_for_where_it_is_needed() -> None:
    def wider() -> dict[str, dict[str, np.ndarray]]:
        return {"A": {"C": np.array([1.0, 3.0])}, "B": {"C": np.array([4.0, 4.0])}}

    def never() -> dict[str, dict[str, np.ndarray]]:
        raise AssertionError

    expected, allowed = np.zeros(2), np.ones(2)
    assert compare_within("C", np.float32([1, 1]), expected, allowed, never).bound is None
    assert compare_within("C", np.float32([0, 2]), expected, allowed, wider).bound == "A"
    assert compare_within("C", np.float32([2, 2]), expected, allowed, wider).bound == "B"
    # One bound has to hold for all elements: the first is within A's alone, the second within none.
    wrong = compare_within("C", np.float32([0, 5]), expected, allowed, wider)
    assert (wrong.right, wrong.bound, wrong.error) == (False, None, 1.25)
    assert not compare_within("C", ones(2), expected, None, never).right


def test_error_is_relative_to_what_is_allowed() -> None:
    result = compare("C", np.float32([1.5, 1.0]), np.array([1.0, 1.0]), np.array([1.0, 1.0]))
    assert result.right
    assert result.error == 0.5


def test_an_error_above_the_bound_fails_and_says_by_how_much() -> None:
    result = compare("C", np.float32([4.0]), np.array([1.0]), np.array([1.0]))
    assert not result.right
    assert result.error == 3.0


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("allowed", [None, np.array([1e30])])
def test_what_is_not_finite_never_passes_for_a_number(wrong: float, allowed: np.ndarray | None) -> None:
    result = compare("C", np.float32([wrong]), np.array([1.0]), allowed)
    assert not result.right
    assert result.error is None
    assert result.mismatch is not None
    assert result.mismatch.actual == str(wrong)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("allowed", [None, np.array([1.0])])
def test_what_is_not_finite_passes_where_the_reference_is(value: float, allowed: np.ndarray | None) -> None:
    assert compare("C", np.float32([value]), np.array([value]), allowed).right
    assert not compare("C", np.float32([-1.0]), np.array([value]), allowed).right


@pytest.mark.parametrize(("expected", "right"), [(7e4, True), (65500.0, True), (-7e4, False), (6e4, False)])
def test_what_is_too_large_for_halves_is_infinite(expected: float, right: bool) -> None:
    found = compare("C", np.float16([np.inf]), np.array([expected]), np.array([32.0]))
    assert found.right == right


def test_opposite_infinities_differ() -> None:
    assert not compare("C", np.float32([-np.inf]), np.array([np.inf]), np.array([1.0])).right


def test_a_bound_of_zero_still_lets_equal_values_pass() -> None:
    assert compare("C", np.float32([0.0]), np.array([0.0]), np.array([0.0])).right


def test_the_bound_is_lambda_root_n_u_magnitude() -> None:
    bound = error_bound(6, 100, "float32", np.array([2.0]))
    assert bound[0] == 6 * 10 * 2.0**-24 * 2


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "int16"])
def test_poison_left_in_an_output_is_counted(dtype: str) -> None:
    output = np.ones(6, dtype=dtype)
    paint(output[2:4].view(np.uint8), POISON)
    assert list(np.flatnonzero(unwritten(output))) == [2, 3]
    result = compare("C", output, np.ones(6), None)
    assert (result.unwritten, result.first_unwritten) == (2, (2,))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32"])
def test_what_outputs_hold_at_the_start_counts_as_unwritten(dtype: str) -> None:
    output = np.ones(6, dtype=dtype)
    paint_output(output[2:4].view(np.uint8), output.dtype)
    assert list(np.flatnonzero(unwritten(output))) == [2, 3]
    assert not added_to(output, np.zeros(6)).any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_sum_with_what_an_output_held_at_the_start_can_be_told(dtype: str) -> None:
    output = np.zeros(6, dtype=dtype)
    paint_output(output[2:4].view(np.uint8), output.dtype)
    with np.errstate(invalid="ignore"):
        output += np.ones(6, dtype=dtype)
        output += np.ones(6, dtype=dtype)
    if dtype != "float16":  # NumPy adds halves as floats, and the way there and back loses payloads
        assert list(np.flatnonzero(added_to(output, np.full(6, 2)))) == [2, 3]
    assert not unwritten(output).any()
    assert compare("C", output, np.full(6, 2), None).first_unwritten is None


@pytest.mark.parametrize("dtype", ["uint16", "int32", "uint32", "int64"])
def test_a_count_that_began_with_what_an_output_held_can_be_told(dtype: str) -> None:
    output, counts = np.zeros(6, dtype=dtype), np.array([0, 3, 0, 1, 2, 0])
    paint_output(output[2:].view(np.uint8), output.dtype)
    output += counts.astype(dtype)
    assert list(np.flatnonzero(added_to(output, counts))) == [2, 3, 4, 5], "two of them are more by 0"
    assert compare("C", output, counts, None).added_to == 4


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_poison_is_not_a_number(dtype: str) -> None:
    output = np.ones(4, dtype=dtype)
    paint(output.view(np.uint8), POISON)
    assert np.isnan(output).all()


def test_pieces_see_the_whole_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE", 5)
    actual = ones(23)
    actual[22] = 3
    mismatch = compare("C", actual, np.ones(23), np.full(23, 0.1)).mismatch
    assert mismatch is not None
    assert mismatch.index == [22]


ODD = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-42, -1e-42, 1.0, 1.0000001, 3.4e38, 7.0])


@pytest.mark.parametrize("spreads", [False, True])
@pytest.mark.parametrize("limit", [None, [0.0, 1e-7, 1.0, np.inf, np.nan]])
def test_pieces_on_all_cores_find_what_looking_at_each_element_finds(
    limit: list[float] | None, spreads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        expected = rng.choice(ODD, (7, 9))
        actual = np.where(rng.random((7, 9)) < 0.8, expected, rng.choice(ODD, (7, 9))).astype(np.float32)
        allowed = None if limit is None else rng.choice(limit, (7, 9))
        with monkeypatch.context() as patch:
            patch.setattr(comparison, "_worst_of_right", lambda *_: None)
            whole = compare("C", actual, expected, allowed, spreads)
            patch.undo()
            patch.setattr(pieces, "PIECE", 5)
            assert repr(compare("C", actual, expected, allowed, spreads)) == repr(whole)


@given(st.integers(0, 22), st.floats(0.1, 1e6))
def test_one_changed_element_anywhere_is_found(position: int, change: float) -> None:
    actual = ones(23)
    actual[position] += np.float32(change)
    mismatch = compare("C", actual, np.ones(23), np.full(23, 1e-3)).mismatch
    assert mismatch is not None
    assert mismatch.index == [position]


def test_guards_are_whole_when_nothing_wrote_there() -> None:
    region = np.zeros(2 * GUARD_BYTES + 10, dtype=np.uint8)
    payload = frame(region, GUARD_BYTES)
    assert len(payload) == 10
    payload[:] = 255
    assert damage(region, GUARD_BYTES) is None


SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45, -1e-42, 6e-8, 3e38, -3e38, 65504.0]


def plainly(actual: np.ndarray, expected: np.ndarray, allowed: np.ndarray | None) -> tuple[object, ...]:
    """Whether each element is wrong, where the one shown is, and the largest error, by the formula for all at once."""
    with np.errstate(all="ignore"):
        rounded = expected.astype(actual.dtype) if allowed is None else expected
        right = (actual == rounded) | (np.isnan(actual) & np.isnan(rounded))
        worst = 0.0
        if allowed is not None:
            most = np.copysign(float(np.finfo(actual.dtype).max), actual.astype(np.float64))
            beyond = np.sign(most) * (most - expected) <= allowed
            right |= np.isinf(actual) & np.isfinite(expected) & beyond
            error = np.abs(actual.astype(np.float64) - expected)
            worst = float(np.where(right, 0.0, error / allowed).max())
            worst = np.inf if np.isnan(worst) else worst
            right |= (error <= allowed) & np.isfinite(error)
    if right.all():
        return None, worst
    due, came = np.isfinite(rounded), np.isfinite(actual)
    # The first whose rank is highest: where all is to be finite, each counts alike.
    rank = ~right * (1 + 0 * due if due.all() else 1 + due + (due & came))
    first = int(np.argmax(rank))
    index = [int(i) for i in np.unravel_index(first, actual.shape)]
    due_number = comparison.held(rounded.flat[first], actual.dtype)
    shown = (comparison.number(due_number), comparison.number(actual.flat[first]))
    told = (index, *shown, int(np.count_nonzero(~right)))
    return told, worst if allowed is not None and np.isfinite(worst) else None


def test_a_finite_number_is_no_infinity_however_wide_the_bound() -> None:
    actual, expected = np.array([3.0], np.float32), np.array([np.inf])
    assert not compare("C", actual, expected, allowed=expected).right


@pytest.mark.parametrize("seed", range(200))
def test_what_is_found_is_what_the_formula_says_bit_for_bit(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "PIECE", 16)
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 12)), int(rng.integers(1, 12)))
    dtype = rng.choice(["float32", "float16", "float64"])
    expected = rng.standard_normal(shape) * 10.0 ** rng.integers(-44, 38)
    special = rng.random(shape) < rng.choice([0.0, 0.1, 0.5])
    expected[special] = rng.choice(SPECIAL, int(special.sum()))
    with np.errstate(all="ignore"):
        actual = expected.astype(dtype)
        allowed = np.abs(expected) * 2.0**-10
        allowed[rng.random(shape) < 0.05] = rng.choice([0.0, np.inf, np.nan])
        if seed % 3 == 0:  # most outputs are right
            changed = rng.random(shape) < 0.05
            actual[changed] = rng.choice(SPECIAL, int(changed.sum()))
    given_limit = None if seed % 4 == 0 else allowed
    with np.errstate(over="ignore"):  # of halves, in the cast
        found = compare("C", actual, expected, given_limit)
    seen = found.mismatch
    told = None if seen is None else (seen.index, seen.expected, seen.actual, seen.wrong)
    assert repr((told, found.error)) == repr(plainly(actual, expected, given_limit))


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        (110, Damage("after", 0, 1)),
        (114, Damage("after", 4, 1)),
        (99, Damage("before", 0, 1)),
        (0, Damage("before", 99, 1)),
    ],
)
def test_one_byte_of_damage_is_found_and_placed(position: int, expected: Damage) -> None:
    region = np.zeros(210, dtype=np.uint8)
    frame(region, 100)
    region[position] ^= 1
    assert damage(region, 100) == expected


def test_no_guards_no_damage() -> None:
    region = np.zeros(8, dtype=np.uint8)
    assert len(frame(region, 0)) == 8
    assert damage(region, 0) is None


def test_sums_kept_in_half_are_named() -> None:
    expected = np.array([4097.0, 4099.0, -5001.0, 64.0])
    kept = expected.astype(np.float16).astype(np.float32)
    assert compare("C", kept, expected, None).in_half
    overflown = np.where(np.arange(4) == 2, np.float32(-np.inf), kept)
    assert compare("C", overflown, expected, None).in_half
    assert compare(
        "C", np.float32([0.1]).astype(np.float16).astype(np.float32), np.array([0.1]), None
    ).in_half


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ([0.0, 0.0, 0.0, 0.0], [4097.0, 4099.0, 5001.0, 64.0]),  # nothing was computed
        ([10.0, 12.0, 13.0, 14.0], [11.0, 12.0, 13.0, 14.0]),  # a term is missing, and all are halves anyway
        ([4097.0, 4099.0, 5001.0, 63.0], [4097.0, 4099.0, 5001.0, 64.0]),  # all but one are right
    ],
)
def test_other_mistakes_are_not_taken_for_half_precision(actual: list[float], expected: list[float]) -> None:
    assert not compare("C", np.float32(actual), np.array(expected), None).in_half


@pytest.mark.parametrize(
    ("shape", "wrong", "first", "rows"),
    [
        ((6, 7), (5, 6), [2, 3], 4),  # the end of a matrix
        ((6, 7), (0, 1), [0, 1], 4),
        ((9,), (3,), [3], 1),
        ((2, 3, 2, 2), (1, 2, 1, 0), [1, 2, 0, 0], 2),  # the last two dimensions
    ],
)
def test_a_wrong_element_is_shown_with_its_neighbours(
    shape: tuple[int, ...], wrong: tuple[int, ...], first: list[int], rows: int
) -> None:
    expected = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    actual = expected.copy()
    actual[wrong] = -1
    mismatch = compare("out", actual, expected.astype(np.float64), None).mismatch
    assert mismatch is not None
    assert mismatch.corner is not None
    assert mismatch.corner.first == first
    assert len(mismatch.corner.actual) == len(mismatch.corner.expected) == rows
    assert sum(row.count(-1.0) for row in mismatch.corner.actual) == 1
    assert sum(row.count(-1.0) for row in mismatch.corner.expected) == 0


@pytest.mark.parametrize("dtype", ["int16", "int32", "uint32", "int64", "float16", "float32", "float64"])
def test_of_an_element_that_nobody_wrote_that_is_shown(dtype: str) -> None:
    actual = np.empty((2, 5), dtype)
    paint_output(actual.reshape(-1).view(np.uint8), actual.dtype)
    actual[0] = 7
    found = compare("out", actual, np.full((2, 5), 7, dtype), None).mismatch
    assert found is not None
    assert found.corner is not None
    assert found.corner.actual == [[7.0] * 4, ["unwritten"] * 4]


def test_one_element_has_no_neighbours() -> None:
    found = compare("out", np.ones(1, np.float32), np.zeros(1), None).mismatch
    assert found is not None
    assert found.corner is None
