"""Inputs whose elements belong together, such as a table of pages: every way to make inputs has them whole."""

from __future__ import annotations

import numpy as np
import pytest
from records import record

from grader.emulator import metrics
from grader.judge.kernels import sampling
from grader.judge.kernels.fresh import Fresh, drawn
from grader.judge.kernels.large import main_size
from grader.workbook import topics
from grader.workbook.reference import Arrays, Problem
from grader.workbook.topic import KernelTopic

PROBLEM = {"B": 37, "H": 4, "KV": 2, "T": 700, "scale": 0.125}


@pytest.fixture
def topic() -> KernelTopic:
    found = topics.load("decode")
    assert isinstance(found, KernelTopic)
    return found


def valid(topic: KernelTopic, given: Arrays, problem: Problem) -> bool:
    """Whether all pages of all sequences are there, and none of them twice."""
    shapes = topic.shapes(problem)
    lengths = given["lengths"].reshape(-1)[: problem["B"]]
    table = given["table"].reshape(-1)[: np.prod(shapes["table"])].reshape(shapes["table"])
    used = table[np.arange(table.shape[1]) < -(-lengths // 16)[:, None]]
    return len(np.unique(used)) == len(used) > 0 and 0 < used.min() <= used.max() < shapes["K"][0]


def test_inputs_of_timed_passes_have_tables_of_their_problem(topic: KernelTopic) -> None:
    values = Fresh.known(topic, PROBLEM)
    arrays = values.arrays(topic, PROBLEM)
    assert valid(topic, arrays, PROBLEM)
    assert sorted(arrays["lengths"]) == sorted(topic.tables(PROBLEM, np.random.default_rng(9))["lengths"])
    assert np.array_equal(values.read("lengths", np.arange(37)), arrays["lengths"])


def test_elements_of_tables_are_not_drawn(topic: KernelTopic) -> None:
    assert set(drawn(topic, np.random.default_rng(0), "real", 4096)) == {"Q", "K", "V"}


def test_where_few_blocks_stand_for_all_sequences_are_alike(topic: KernelTopic) -> None:
    for given in (
        sampling.contents(topic, PROBLEM),
        main_size.patterns(topic, np.random.default_rng(0)).at(topic, PROBLEM, seed=1).arrays,
    ):
        assert valid(topic, dict(given), PROBLEM)
        assert set(given["lengths"][: PROBLEM["B"]]) == {224}  # 239 on average, in whole pages


def test_blocks_that_were_alike_wait_for_the_longest_as_the_counted_ones() -> None:
    counted = record(
        grid_blocks=10, blocks_run=10, counters={metrics.WARP_INSTRUCTIONS: 400}, longest_warp=100
    )
    alike = record(grid_blocks=90, blocks_run=2, counters={metrics.WARP_INSTRUCTIONS: 600}, longest_warp=75)
    assert (
        sampling.as_uneven(alike, counted).longest_warp == 750
    )  # a block has 300, and the longest 2.5 times as many


def test_a_sequence_that_is_longer_than_its_table_says_is_found(topic: KernelTopic) -> None:
    assert not valid(topic, {"lengths": np.array([20] * 37), "table": np.zeros((37, 44), int)}, PROBLEM)
