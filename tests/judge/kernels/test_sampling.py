"""Times at sizes too large to emulate: what the blocks that are run find in the inputs."""

from __future__ import annotations

import numpy as np

from grader.judge.climb import climb
from grader.judge.kernels import sampling
from grader.workbook import topics


def test_whole_numbers_are_given_to_blocks_that_stand_for_all() -> None:
    found = sampling.deciding(topics.load("histogram"))
    assert set(found) == {"in"}
    counts = np.bincount(found["in"], minlength=256)
    assert counts.min() > 0.9 * counts.mean()
    assert np.array_equal(found["in"], sampling.deciding(topics.load("histogram"))["in"])


def test_floats_are_not() -> None:
    assert sampling.deciding(topics.load("reduce")) == {}


def test_random_bytes_do_not_queue_for_one_word() -> None:
    """All-equal bytes, such as the zeros of fresh memory, would take a hundred times as long."""
    (naive, *_) = climb(topics.load("histogram"), "emulator").rungs
    assert naive.time_s is not None
    assert naive.time_s < 10e-3
