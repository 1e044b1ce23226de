"""Results of large problems by pieces are those that reference.py has for all of an output."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from grader.judge.correctness import cases, pieces
from grader.judge.kernels.large.results import piece_of, results
from grader.workbook import topics

BY_PIECES = {
    "vector_add": {"N": 1031},
    "add_bias": {"M": 33, "N": 67},
    "transpose": {"M": 33, "N": 67},
    "stencil": {"N": 1031},
    "softmax": {"M": 33, "N": 67},
    "layernorm": {"M": 33, "N": 67, "eps": 1e-5},
    "layernorm_backward": {"M": 33, "N": 67},
    "rmsnorm": {"M": 33, "N": 67, "eps": 1e-5},
}
WHOLE = {
    "reduce": {"N": 1031},
    "gemm": {"M": 33, "N": 17, "K": 41},
    "histogram": {"N": 10007},
}


@pytest.mark.parametrize(("name", "problem"), [*BY_PIECES.items(), *WHOLE.items()])
def test_pieces_give_what_the_whole_gives(
    name: str, problem: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "PIECE", 100)
    topic = topics.load(name)
    case = cases.make(problem, "real")
    known = cases.compute(topic, case)
    sampled, elements = topic.sampled, []
    assert sampled is not None
    one_by_one = sampled.elements

    def noted(*given: Any) -> tuple[np.ndarray, np.ndarray]:
        elements.append(given)
        return one_by_one(*given)

    monkeypatch.setattr(sampled, "elements", noted)
    expected, bounds = results(topic, known.inputs, problem, topic.tolerance.lambda_ > 0)
    found = cases.of_results(topic, case, known.inputs, expected, bounds)
    assert bool(elements) == (name in BY_PIECES)
    for output, right in known.expected.items():
        assert found.expected[output].dtype == right.dtype
        np.testing.assert_allclose(found.expected[output], right, rtol=1e-13)
        limit, right_limit = found.allowed[output], known.allowed[output]
        assert (limit is None) == (right_limit is None)
        if limit is not None and right_limit is not None:
            np.testing.assert_allclose(limit, right_limit, rtol=1e-12)


@pytest.mark.parametrize("name", BY_PIECES)
def test_a_piece_takes_few_times_its_own_memory(name: str) -> None:
    topic = topics.load(name)
    assert topic.sampled is not None
    problem = topic.problem("main")
    shapes = topic.sampled.shapes(problem)
    tracemalloc.start()
    for output in topic.signature.outputs:
        places = np.arange(piece_of(topic, problem, shapes[output.name]))
        topic.sampled.elements(lambda _, at: np.ones(at.shape), problem, output.name, places)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 * pieces.PIECE_BYTES  # sixteen cores have a piece each
