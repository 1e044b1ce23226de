"""What a wrong output is instead of the right one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.judge.correctness.explaining import NOTHING, OTHER_SIGN, WHOLE, WHOLE_AS_GIVEN, fitting

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(7)
A, B = RNG.integers(-(2**20), 2**20, (2, 200)).astype(np.float64)
MATRIX = RNG.integers(-(2**20), 2**20, (12, 12)).astype(np.float64)
WIDE = RNG.integers(-(2**20), 2**20, (6, 9)).astype(np.float64)

SIX = np.arange(WIDE.size).reshape(WIDE.shape) % 6


def said(actual: Array, expected: Array, block: int = 256, **inputs: Array) -> str:
    """The first sentence, or ""."""
    return next(iter(fitting(actual, expected, inputs, actual != expected, block)), "")


def sums(radius: int, without: int | None = None) -> Array:
    """Of the elements around each place, but for the one at a distance."""
    padded = np.pad(A, radius)
    steps = [step for step in range(-radius, radius + 1) if step != without]
    return sum((padded[radius + step : radius + step + A.size] for step in steps), np.zeros(A.size))


@pytest.mark.parametrize(
    ("actual", "expected", "inputs", "sentence"),
    [
        (-A, A, {}, OTHER_SIGN),
        (A - B, A + B, {"a": A, "b": B}, "Every wrong element is `a` - `b`."),
        (B - A, A + B, {"a": A, "b": B}, "Every wrong element is `b` - `a`."),
        (A * B, A + B, {"a": A, "b": B}, "Every wrong element is `a` · `b`."),
        (B, A + B, {"a": A, "b": B}, "is the element of `b` at its place, as it is"),
        (A + A, A + B, {"a": A, "b": B}, "is twice that of `a`: is `a` read in place of another input?"),
        (WIDE.reshape(9, 6), WIDE.T, {"in": WIDE}, "`in` is copied in the order in which it lies"),
        (np.zeros(200), A, {}, NOTHING),
        (np.zeros(1), np.array([3.0]), {}, NOTHING),
        (np.append(B[:150], np.zeros(50)), A, {"in": B[:150]}, "The wrong elements are those of `in` in its order"),
        (WIDE + A[:6, None], WIDE + A[:9], {"in": WIDE, "v": A[:9]}, "`v[row]` in place of `v[column]` gives: the"),
        (WIDE + A[:6][SIX], WIDE + A[:9], {"in": WIDE, "v": A[:9]}, "`v[i % rows]` in place of `v[column]` gives, w"),
        (WIDE.T + A[:6], WIDE.T + A[:9, None], {"in": WIDE.T, "v": A[:9]}, "`v[column]` in place of `v[row]`"),
        (np.trunc(A + 0.3), A + 0.3, {}, WHOLE),
        (np.trunc(A + 0.3), A + 0.3, {"in": A + 0.3}, WHOLE),
        (np.trunc(A + 0.3), A + 0.3, {"in": np.rint(A)}, WHOLE_AS_GIVEN),
        (np.array([1.0]), np.array([1.46]), {}, WHOLE),
        (np.zeros(200), A + 0.3, {}, NOTHING),
        (A + 1000.0 * (abs(np.arange(200) % 64 - 31.5) > 28) * np.arange(200), A, {}, ""),
        (A * 256, A, {}, "what it has to be, as many as a block has threads: does each of them add what one should?"),
        (A * 3, A, {}, "exactly 3 times"),
        (A, A * 17, {}, "one over 17 times"),
        (np.array([2048.0]), np.array([8.0]), {}, "exactly 256 times"),
        (np.roll(A, -1), A, {}, "belongs a place further on"),
        (np.roll(A, 3), A, {}, "belongs 3 places before"),
        (np.roll(MATRIX, -1, 0), MATRIX, {}, "belongs in the next row"),
        (A[np.arange(200) // 32 * 32], A, {}, "Of each 32 elements all are as the first"),
        (MATRIX[np.arange(12) // 4 * 4], MATRIX, {}, "Of each 4 rows all are as the first"),
        (MATRIX[:, np.arange(12) // 8 * 8], MATRIX, {}, "Of each 8 columns all are as the first"),
        (MATRIX, MATRIX.T, {}, "at [column, row]: the two indices are exchanged"),
        (np.array([A.sum() - A[-1]]), np.array([A.sum()]), {"in": A}, "The last element of `in` is missing in"),
        (np.array([A.sum() + A[0]]), np.array([A.sum()]), {"in": A}, "The first element of `in` is twice in"),
        (sums(8, 8), sums(8), {"in": A}, "`in`[i + 8] is missing in every wrong element"),
        (sums(2, 0), sums(2), {"in": A}, "`in`[i] is missing in every wrong element"),
        (WIDE[:, :-1].sum(1), WIDE.sum(1), {"in": WIDE}, "The last element of each row of `in` is missing"),
        (WIDE[1:].sum(0), WIDE.sum(0), {"in": WIDE}, "The first element of each column of `in` is missing"),
        (WIDE[:, :-1] @ MATRIX[:8], WIDE @ MATRIX[:9], {"A": WIDE, "B": MATRIX[:9]}, "The last product of each sum"),
        (A - 5, A, {}, "is 5 less than it has to be"),
    ],
)  # fmt: skip
def test_what_explains_every_wrong_element_is_said(
    actual: Array, expected: Array, inputs: dict[str, Array], sentence: str
) -> None:
    assert sentence in said(actual, expected, **inputs)


def test_what_explains_all_but_one_is_not_said() -> None:
    actual = A - B
    actual[77] += 1
    assert said(actual, A + B, a=A, b=B) == ""


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ([1.0, 1, 0], [2.0, 1, 0]),  # half of what is due, and a number that stands beside
        ([24.0], [8.0]),  # a single one is three times another by chance
        ([np.nan, 3.0], [1.0, 2.0]),
    ],
)
def test_few_small_numbers_explain_nothing(actual: list[float], expected: list[float]) -> None:
    assert said(np.array(actual), np.array(expected), 3) == ""


def test_places_behind_a_short_input_are_no_evidence() -> None:
    """Bins above the values of the input are 0, and so would be an input of one value, filled up."""
    actual, expected = np.zeros(256), np.bincount(np.array([171] * 40), minlength=256).astype(float)
    assert "in its order" not in said(actual, expected, **{"in": np.array([171.0])})


def test_right_elements_are_no_evidence() -> None:
    actual = A + B
    actual[5:40] = A[5:40]
    assert "is the element of `a` at its place" in said(actual, A + B, a=A, b=B)


@pytest.mark.parametrize(("off", "bits"), [(3 << 8, 8), (1 << 16, 16), (300, None)])
def test_a_narrow_counter_is_told_by_what_it_does_not_hold(off: int, bits: int | None) -> None:
    due = np.arange(100_000, 100_016, dtype=np.uint32)
    came = due.copy()
    came[5] -= np.uint32(off)
    wrong = came != due
    assert (f"of {bits} bits" in " ".join(fitting(came, due, {}, wrong))) is (bits is not None)
    few_alike = fitting(due - np.uint32(off), due, {}, due > 0)  # elements are left out
    assert "bits" not in " ".join(few_alike)


def test_what_runs_over_into_the_counter_beside_it_is_told() -> None:
    due = np.arange(10_000_000, 10_000_016, dtype=np.uint32)
    came = due.copy()
    came[4] -= np.uint32(73 << 16)
    came[5] += np.uint32(73)
    assert "of 16 bits" in " ".join(fitting(came, due, {}, came != due))


def test_an_integers_bits_are_known() -> None:
    due = np.array([6, -3, 70000], np.float32)
    came = due.astype(np.int32).view(np.float32)
    assert "has the bits of the integer" in " ".join(fitting(came, due, {}, np.isfinite(came)))
    assert "bits of the integer" not in " ".join(fitting(due + 1, due, {}, due != 0))
