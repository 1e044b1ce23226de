"""What the inputs of `gemv_int4` promise, and what it says of wrong outputs."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from grader.workbook import topics
from grader.workbook.signature import impossible

Array = np.ndarray[Any, np.dtype[Any]]

TOPIC = topics.load("gemv_int4")
SIZES = [(67, 128), (9, 2176), (2, 16512)]


def drawn(kind: Literal["exact", "real"], n: int, k: int) -> dict[str, Any]:
    return TOPIC.reference.make_inputs({"N": n, "K": k}, np.random.default_rng(1), kind)


def unpacked(words: Array) -> Array:
    """Nibble by nibble, as the signature says."""
    columns = range(8 * words.shape[1])
    return np.array([[int(row[k // 8]) >> 4 * (k % 8) & 15 for k in columns] for row in words], np.float64)


def terms(given: dict[str, Any], nibbles: Array) -> Array:
    scales = np.repeat(given["scales"].astype(np.float64), 128, axis=1)
    found: Array = scales * (nibbles - 8) * given["x"].astype(np.float64)
    return found


@pytest.mark.parametrize("kind", ["exact", "real"])
@pytest.mark.parametrize(("n", "k"), SIZES)
def test_the_result_is_that_of_unpacked_weights(kind: Literal["exact", "real"], n: int, k: int) -> None:
    given = drawn(kind, n, k)
    right = terms(given, unpacked(given["W"])).sum(axis=1)
    np.testing.assert_allclose(TOPIC.reference.reference(given, {"N": n, "K": k})["y"], right, atol=1e-9)


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_exact_sums_are_exact_as_floats_and_no_product_is_zero(n: int, k: int) -> None:
    given = drawn("exact", n, k)
    products = terms(given, unpacked(given["W"]))
    assert products.all()
    assert np.abs(products).sum(axis=1).max() < 2**24
    assert np.abs(products.sum(axis=1)).max() < 65504


def test_elements_are_found_from_packed_words_in_double_precision() -> None:
    problem = {"N": 67, "K": 256}
    given = drawn("real", 67, 256)
    assert TOPIC.sampled is not None
    places = np.array([0, 66, 5])
    found, magnitude = TOPIC.sampled.elements(
        lambda name, at: given[name].reshape(-1)[at].astype(np.float64), problem, "y", places
    )
    np.testing.assert_array_equal(found, TOPIC.reference.reference(given, problem)["y"][places])
    np.testing.assert_array_equal(magnitude, TOPIC.reference.magnitude(given, problem)["y"][places])


def test_a_part_of_a_group_is_no_problem() -> None:
    assert impossible({"N": 1, "K": 128}, TOPIC.signature) is None
    assert impossible({"N": 1, "K": 64}, TOPIC.signature)
    assert impossible({"N": 1, "K": 200}, TOPIC.signature)


MISTAKES = {
    "two nibbles of each byte": lambda q, k: q[:, k ^ 1],
    "nibbles of each word are taken in reverse": lambda q, k: q[:, k ^ 7],
    "8 is not subtracted": lambda q, k: q + 8,
    "two's complement": lambda q, k: (q + 8) % 16,
    "7 is subtracted": lambda q, k: q + 1,
    "the last 128 are left out": lambda q, k: np.where(k < 2048, q, 8),
    "the first warp of a row": lambda q, k: np.where(k // 32 % 128 < 32, q, 8),
    "the first thread of a row": lambda q, k: np.where(k // 8 % 64 < 1, q, 8),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_it_is_said_what_is_behind_a_wrong_output(text: str) -> None:
    n, k = 9, 2176
    given = drawn("exact", n, k)
    wrong = MISTAKES[text](unpacked(given["W"]), np.arange(k))
    y = terms(given, wrong).sum(axis=1).astype(np.float16)
    found = TOPIC.mistake(given, {"y": y}, {"N": n, "K": k})
    assert found is not None
    assert text in found


def test_of_a_right_output_nothing_is_said() -> None:
    given = drawn("exact", 67, 256)
    problem = {"N": 67, "K": 256}
    y = TOPIC.reference.reference(given, problem)["y"].astype(np.float16)
    assert TOPIC.mistake(given, {"y": y}, problem) is None
