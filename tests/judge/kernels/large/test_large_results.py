"""Results of large problems by parts are those that reference.py has for the whole."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.judge.correctness import cases, pieces
from grader.judge.correctness.comparison import Comparison
from grader.judge.kernels.fresh import POOL_BYTES, Fresh
from grader.judge.kernels.large import kept_right
from grader.judge.kernels.large import results as results_module
from grader.judge.kernels.large.kept_right import KeptRight
from grader.judge.kernels.large.results import ByParts, Known, known, results
from grader.workbook import topics

PROBLEMS: dict[str, dict[str, float]] = {
    "vector_add": {"N": 1031},
    "add_bias": {"M": 33, "N": 67},
    "transpose": {"M": 33, "N": 67},
    "stencil": {"N": 1031},
    "softmax": {"M": 33, "N": 67},
    "layernorm": {"M": 33, "N": 67, "eps": 1e-5},
    "layernorm_backward": {"M": 33, "N": 67},
    "rmsnorm": {"M": 33, "N": 67, "eps": 1e-5},
    "conv2d": {"N": 7, "C": 3, "H": 9, "W": 8, "K": 5, "R": 3, "S": 3, "stride": 2, "pad": 1},
    "block_sum": {"N": 1031},
    "reduce": {"N": 1031},
    "reduce2d": {"M": 33, "N": 67},
    "histogram": {"N": 10007},
    "streams": {"N": 1031, "R": 3},
    "gemv": {"N": 33, "K": 67},
    "gemv_int4": {"N": 33, "K": 384},
    "gemm": {"M": 33, "N": 17, "K": 41},
}


@pytest.fixture(autouse=True)
def nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLADDER_CACHE", str(tmp_path))


@pytest.mark.parametrize(("name", "problem"), PROBLEMS.items())
def test_parts_give_what_the_whole_gives(
    name: str, problem: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results_module, "MOST_OF_A_PART", 100)
    topic = topics.load(name)
    case = cases.make(problem, "real")
    known = cases.compute(topic, case)
    expected, bounds = results(topic, known.inputs, problem, topic.rounds)
    found = cases.of_results(topic, case, known.inputs, expected, bounds)
    for output, right in known.expected.items():
        assert found.expected[output].dtype == right.dtype
        np.testing.assert_allclose(found.expected[output], right, rtol=1e-13)
        limit, right_limit = found.allowed[output], known.allowed[output]
        assert (limit is None) == (right_limit is None)
        if limit is not None and right_limit is not None:
            np.testing.assert_allclose(limit, right_limit, rtol=1e-12)


@pytest.mark.parametrize("name", ["stencil", "layernorm_backward", "gemv_int4", "histogram", "conv2d"])
def test_parts_that_make_their_inputs_give_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results_module, "MOST_OF_A_PART", 100)
    topic, problem = topics.load(name), PROBLEMS[name]
    inputs = Fresh.known(topic, problem).arrays(topic, problem)
    made, bounds = results(topic, inputs, problem, topic.rounds)
    given, given_bounds = results(topic, dict(inputs), problem, topic.rounds)
    for found, right in ((made, given), (bounds, given_bounds)):
        assert all(np.array_equal(found[output], right[output]) for output in right)


@pytest.mark.parametrize("kind", ["u1", "u2", "u4"])
def test_elements_are_the_same_at_single_places_and_as_a_whole(kind: str) -> None:
    pool = np.random.default_rng(1).integers(0, 256, POOL_BYTES, np.uint8).view(kind)
    values = Fresh.of({"in": pool}, {})
    places = np.random.default_rng(2).permutation(103)
    assert np.array_equal(values.read("in", places), values.array("in", 103)[places])


@pytest.mark.parametrize("kind", ["u1", "f2", "f4", "f8"])
def test_a_part_of_an_input_is_where_it_is_in_all_of_it(kind: str) -> None:
    pool = np.random.default_rng(1).integers(0, 256, POOL_BYTES, np.uint8).view(kind)
    values = Fresh.of({"in": pool}, {})
    whole = values.array("in", 103).tobytes()
    for start, end in itertools.combinations(range(0, 104, 3), 2):
        assert (
            values.part("in", slice(start, end)).tobytes()
            == whole[start * pool.itemsize : end * pool.itemsize]
        )


@pytest.mark.parametrize("name", sorted({*PROBLEMS} - {"gemm", "conv2d"}))
def test_what_is_compared_as_it_is_found_compares_as_what_is_written_down(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results_module, "MOST_OF_A_PART", 100)
    topic, problem = topics.load(name), PROBLEMS[name]
    values, rng = Fresh.known(topic, problem), np.random.default_rng(5)
    written = known(topic, problem, values)
    for output, expected in written.expected.items():
        dtype = topic.signature[output].dtype
        limit = written.allowed[output]
        off = 0.1 * limit * rng.uniform(-1, 1, expected.shape) if limit is not None and dtype == "f4" else 0
        with np.errstate(over="ignore"):
            right = np.asarray(expected + off, dtype)
        wrong = right.copy()
        wrong.reshape(-1)[-1] += 1
        found, as_written = (
            Known(topic, problem, values).compare(output, right, ""),
            written.compare(output, right),
        )
        assert (found.right, found.error) == (True, as_written.error)
        assert Known(topic, problem, values).compare(output, wrong, "") == written.compare(output, wrong)


def test_an_output_that_was_right_is_known_by_its_digest() -> None:
    topic, problem = topics.load("softmax"), PROBLEMS["softmax"]
    values = Fresh.known(topic, problem)
    right = known(topic, problem, values).expected["out"].astype(np.float32)
    first = Known(topic, problem, values)
    found = first.compare("out", right, "a")
    assert not first.compare("out", right + 1, "b").right
    again = Known(topic, problem, values)
    assert again.known_by("out", "a") == found
    assert 0 < again.seconds < first.seconds
    assert again.known_by("out", "b") is None
    for values_of, sizes in (
        (replace(values, seed=values.seed + 1), problem),
        (values, {**problem, "M": 32}),
    ):
        assert Known(topic, sizes, values_of).known_by("out", "a") is None


def test_of_right_outputs_the_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    topic, problem = topics.load("softmax"), PROBLEMS["softmax"]
    values, comparison = Fresh.known(topic, problem), Comparison(None, 0.5, 0, None, None)
    monkeypatch.setattr(kept_right, "MOST", 2)
    for digest in "abc":
        KeptRight(topic, problem, values).add("out", digest, comparison, 1.0)
    found = KeptRight(topic, problem, values)
    assert [found.find("out", digest) is not None for digest in "abc"] == [False, True, True]


def test_nothing_is_written_down_to_compare_what_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    topic, problem = topics.load("vector_add"), PROBLEMS["vector_add"]
    values = Fresh.known(topic, problem)
    right = known(topic, problem, values).expected["c"].astype(np.float32)
    monkeypatch.setattr(results_module, "known", None)
    assert Known(topic, problem, values).compare("c", right, "").right


@pytest.mark.parametrize("name", sorted({*PROBLEMS} - {"gemm"}))
def test_a_part_takes_few_times_its_own_memory(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    peaks = []

    def second(find: Callable[[Iterator[slice]], object], count: int, step: int) -> None:
        tracemalloc.start()
        find(iter([slice(step, 2 * step)]))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    monkeypatch.setattr(pieces, "done", second)
    topic = topics.load(name)
    assert topic.parts is not None
    problem = topic.problem("main")
    shapes = topic.shapes(problem)
    given = {
        item.name: np.broadcast_to(np.ones((), item.dtype), shapes[item.name])
        for item in topic.signature.inputs
    }
    ByParts(topic, topic.parts, problem, topic.rounds).of(given)
    assert max(peaks) < 14 * 8 * results_module.MOST_OF_A_PART  # sixteen cores have a part each
