"""Times at sizes too large to emulate: what the blocks that are run find in the inputs."""

from __future__ import annotations

import numpy as np
import pytest
from records import record

from grader.emulator import devices, metrics
from grader.judge.child.protocol import Launch, Pointer, Scalar, Tensor
from grader.judge.climb import climb
from grader.judge.kernels import sampling
from grader.judge.kernels.compiled import prepare
from grader.workbook import topics


def test_whole_numbers_are_given_to_blocks_that_stand_for_all() -> None:
    topic = topics.load("histogram")
    found = sampling.contents(topic, topic.sizes_main)
    counts = np.bincount(found["in"], minlength=256)
    assert counts.min() > 0.9 * counts.mean()
    assert np.array_equal(found["in"], sampling.contents(topic, topic.sizes_main)["in"])


def test_so_are_floats_as_those_of_real_data() -> None:
    """Who knew that they are zero could be fast with zeros alone."""
    topic = topics.load("add_bias")
    found = sampling.contents(topic, topic.sizes_main)
    assert set(found) == {"in", "bias"}
    assert all(np.count_nonzero(array % 1) > 0.9 * array.size for array in found.values())


@pytest.mark.soak(area="judge")
def test_random_bytes_do_not_queue_for_one_word() -> None:
    """All-equal bytes, such as the zeros of fresh memory, would take a hundred times as long."""
    (naive, *_) = climb(topics.load("histogram"), "emulator").rungs
    assert naive.time_s is not None
    assert naive.time_s < 10e-3


def test_blocks_whose_time_is_modelled_are_drawn_one_of_each_share() -> None:
    launch = Launch("k", (1000, 8, 1), (32, 1, 1), 0, ())
    drawn = [sampling.sampled(launch, 8, seed).blocks for seed in range(20)]
    assert all([block // 1000 for block in blocks] == list(range(8)) for blocks in drawn)
    assert len(set(drawn)) == 20
    assert all(
        first + last == 7999 for blocks in drawn for first, last in zip(blocks, blocks[::-1], strict=True)
    )
    assert sampling.sampled(launch, 8, 7).blocks == drawn[7]
    assert sampling.sampled(launch, 8).blocks == tuple(range(500, 8000, 1000))


def test_blocks_are_drawn_among_those_of_a_kind() -> None:
    launch = Launch("k", (1000, 8, 1), (32, 1, 1), 0, ())
    even = range(0, 8000, 2)
    drawn = [sampling.sampled(launch, 4, seed, even).blocks for seed in range(20)]
    assert all([block // 2000 for block in blocks] == list(range(4)) for blocks in drawn)
    assert not any(block % 2 for blocks in drawn for block in blocks)
    assert sampling.sampled(launch, 4, 7, [5, 9]).blocks in ((5, 9), (9, 5))


def test_blocks_stand_for_the_others_of_their_kind() -> None:
    """Of 1000 blocks, 900 do a little, and 100 much."""
    little = record(counters={"a": 4}, blocks_run=2, grid_blocks=1000, dram_read_bytes=64, longest_block=3)
    much = record(counters={"a": 500, "b": 1}, blocks_run=5, grid_blocks=1000, longest_block=120)
    whole = sampling.of_kinds([(little, 9), (much, 1)])
    assert (whole.blocks_run, whole.grid_blocks) == (1000, 1000)
    assert whole.counters == {"a": 900 * 2 + 100 * 100, "b": 20}
    assert (whole.dram_read_bytes, whole.longest_block) == (900 * 32, 120)
    assert sampling.of_kinds([(little, 7)]) == little


def test_a_grid_that_is_no_larger_is_run_whole() -> None:
    launch = Launch("k", (8, 1, 1), (32, 1, 1), 0, ())
    assert sampling.sampled(launch, 8, 1) == launch


def test_arrays_behind_tensor_maps_are_there() -> None:
    """A rung whose kernel is given its arrays as tensor maps alone is sampled as others are."""
    matrix = Tensor("A", "float16", (64, 64), (64,), (64, 64), 128, False)
    launch = Launch("hgemm", (1, 1, 1), (128, 1, 1), 0, (matrix, Pointer("C"), Scalar("int32", 64)))
    assert launch.buffers == {"A", "C"}


def test_fewer_blocks_are_sampled_where_tensor_cores_do_the_work() -> None:
    hgemm = topics.load("hgemm")
    rung = hgemm.rung("12_persistent")
    limits = dict(devices.find("sm_90a").attributes)
    planned = prepare(rung.file, "sm_90a").plan(hgemm.sizes_main, limits)
    products = record(counters={metrics.WARP_INSTRUCTIONS: 70_000, metrics.WARPGROUP_OPS["fp16"]: 2 * 512**3})
    others = record(counters={metrics.WARP_INSTRUCTIONS: 70_000})
    growth = 8.0**3
    assert sampling.blocks_to_run([products], planned, growth) < sampling.MOST_BLOCKS
    assert sampling.blocks_to_run([others], planned, growth) == sampling.MOST_BLOCKS
