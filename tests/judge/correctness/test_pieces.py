"""What is done on all cores, a piece at a time."""

from __future__ import annotations

import pytest

from grader.judge.correctness import pieces


def test_matrix_products_take_as_many_threads_as_the_lowest_limit_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = [16]
    monkeypatch.setattr(
        pieces, "_blas", lambda verb: threads.append if verb == "set" else lambda: threads[-1]
    )
    with pieces.blas_threads.at_most(4), pieces.blas_threads.at_most(20), pieces.blas_threads.at_most(1):
        pass
    assert threads == [16, 4, 4, 1, 4, 4, 16]
    with pytest.raises(KeyError), pieces.blas_threads.at_most(2):
        raise KeyError
    assert threads[-2:] == [2, 16]
