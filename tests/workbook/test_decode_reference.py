"""What `decode` sees in wrong outputs that no formula gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.workbook import topics

Array = np.ndarray[Any, np.dtype[Any]]

REFERENCE = vars(topics.load("decode").reference)
PROBLEM = {"B": 5, "H": 6, "KV": 3, "T": 83, "scale": 0.125}  # no sequence is of whole pages
INPUTS: dict[str, Array] = REFERENCE["make_inputs"](PROBLEM, np.random.default_rng(1), "exact")
BATCH = REFERENCE["_Batch"].of(INPUTS, PROBLEM)


def with_maxima_of_whole_pages(left: float) -> Array:
    """O where what lies behind the last token, in its page, has a part in the maximum; `left` stands for queries whose
    exponentials are all 0 then."""
    o: Array = REFERENCE["reference"](INPUTS, PROBLEM)["O"]
    pages = BATCH._replace(lengths=-(-BATCH.lengths // 16) * 16)
    for (place, own, _), (_, whole, _) in zip(BATCH.heads(), pages.heads(), strict=True):
        if own.max() - whole.max() < -110.0:  # exp() of it, times a sum of 83, is 0 in a float
            o[place] = left
    return o


def is_told(o: Array) -> bool:
    right, bound = (REFERENCE[name](INPUTS, PROBLEM)["O"] for name in ("reference", "magnitude"))
    told: bool = REFERENCE["_has_maximum_of_nobody"](o, BATCH, right, bound)
    return told


def test_a_maximum_from_behind_the_last_token_is_seen_where_every_sequence_has_one() -> None:
    assert is_told(with_maxima_of_whole_pages(np.nan))
    assert is_told(with_maxima_of_whole_pages(0.0))


def test_no_such_maximum_is_seen_where_something_is_left_or_all_queries_are_wrong() -> None:
    assert not is_told(with_maxima_of_whole_pages(7.0))
    assert not is_told(np.full(with_maxima_of_whole_pages(0.0).shape, np.nan))
