"""What marked elements of a line have in common."""

from __future__ import annotations

import numpy as np
import pytest

from grader.judge.correctness.places import Span, common

AT = np.arange(100)


@pytest.mark.parametrize(
    ("marked", "span"),
    [
        (AT >= 70, Span(70, 100, 100, 100)),
        (AT == 5, Span(5, 6, 100, 100)),
        (AT % 32 >= 8, Span(8, 32, 32, 100)),
        (AT % 16 < 4, Span(0, 4, 16, 100)),
        (AT % 7 == 3, Span(3, 4, 7, 100)),
        (AT % 60 < 10, None),  # seen once and a half
        ((AT % 8 == 1) & (AT != 33), None),
        (AT >= 0, None),
        (AT < 0, None),
    ],
)
def test_a_span_has_all_marked_places_and_no_other(marked: np.ndarray, span: Span | None) -> None:
    assert common(marked) == span
