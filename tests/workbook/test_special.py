"""Which pieces the data of cases have: each one is of a kind that a kernel might take for another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from grader.judge.correctness.cases import PUBLIC_SEED, compute, make
from grader.results import CaseKind
from grader.workbook import special, topics
from grader.workbook.expressions import Number

SEEDS = PUBLIC_SEED, 2, 3


@pytest.mark.parametrize("name", ["block_sum", "reduce", "stencil"])
def test_numbers_stand_behind_zeros_in_a_warp_and_in_a_tile(name: str) -> None:
    topic = topics.load(name)
    sizes = [problem for problem in topic.judge_cases if problem["N"] > 4096]
    cases = [compute(topic, make(problem, "real", seed)) for problem in sizes for seed in SEEDS]
    for width, ends in ((128, 32), (1024, 8)):
        tiles = np.concatenate(
            [data.inputs["in"][: data.inputs["in"].size // width * width] for data in cases]
        )
        tiles = tiles.reshape(-1, width) != 0
        empty = ~(tiles[:, :ends].any(axis=1) | tiles[:, -ends:].any(axis=1))
        assert (empty & tiles.any(axis=1)).sum() >= 3
        assert not tiles.any(axis=1).all()


def test_words_of_a_picture_are_alike_where_their_bytes_are_not() -> None:
    topic = topics.load("histogram")
    for seed in SEEDS:
        data = compute(topic, make({"N": 300007}, "real", seed))
        loads = data.inputs["in"][: 300007 // 16 * 16].view(np.uint32).reshape(-1, 4)
        like = (loads == loads[:, :1]).all(axis=1)
        assert ((loads[like, 0] & 255) != (loads[like, 0] >> 8 & 255)).any()


def test_areas_have_as_many_shades_as_there_may_be_places_for_and_one_more() -> None:
    topic = topics.load("histogram")
    for seed in SEEDS:
        tiles = compute(topic, make({"N": 300007}, "real", seed)).inputs["in"][: 300007 // 2048 * 2048]
        ranges = {int(np.ptp(tile)) + 1 for tile in tiles.reshape(-1, 2048)}
        assert ranges >= {(1 << power) + more for power in range(1, 8) for more in (0, 1)}


def test_sequences_are_shorter_than_a_row_of_the_table() -> None:
    topic = topics.load("decode")
    assert any(
        problem["B"] == 1 and not compute(topic, make(problem, "real")).inputs["lengths"].any()
        for problem in topic.judge_cases[:5]
    )
    short = {1: {"B": 1, "H": 2, "KV": 1, "T": 127}, 5: {"B": 5, "H": 2, "KV": 1, "T": 83}}
    found = {
        count: compute(topic, make(topic.problem("count", sizes), "real")) for count, sizes in short.items()
    }
    assert found[1].inputs["lengths"][0] < 127
    assert 82 in found[5].inputs["lengths"]


def test_factors_are_whole_numbers_where_the_others_are_not() -> None:
    topic = topics.load("gemv")
    data = [compute(topic, make(problem, "real")).inputs for problem in topic.judge_cases]
    assert any(_whole(inputs["x"]) and len(np.unique(inputs["x"])) > 9 for inputs in data)
    assert any(_whole(row) and row.any() for inputs in data if not _whole(inputs["x"]) for row in inputs["W"])


def _whole(values: NDArray[np.generic]) -> bool:
    return bool((values == np.rint(values)).all())


def test_the_distance_from_a_mean_may_be_no_half() -> None:
    topic = topics.load("layernorm")
    x = (
        compute(topic, make(topic.problem("count", {"M": 133, "N": 4104}), "real"))
        .inputs["x"]
        .astype(np.float64)
    )
    assert (np.abs(x - x.mean(axis=1, keepdims=True)) > np.finfo(np.float16).max).any()


@pytest.mark.parametrize("columns", [1, 5, 20, 300])
def test_places_in_rows_differ_and_are_anywhere(columns: int) -> None:
    rng, rows = np.random.default_rng(1), 4000
    counts = np.minimum(rng.integers(0, 5, rows), columns)
    ends = special.near_the_end(rows, columns, rng)
    row, place = special.places_in_rows(counts, ends, columns, rng)
    assert (np.bincount(row, minlength=rows) == counts).all()
    assert len(np.unique(row * columns + place)) == len(place) == counts.sum()
    assert (ends[::2] == -1).all()
    assert (ends[1::2] >= max(0, columns - 9)).all()
    assert np.isin(np.flatnonzero((ends >= 0) & (counts > 0)), row[place == ends[row]]).all()
    seen = np.bincount(place[ends[row] < 0], minlength=columns)
    assert (np.abs(seen - seen.mean()) <= 6 * np.sqrt(seen.mean()) + 1).all()


@pytest.mark.parametrize("name", ["gemm", "hgemm"])
def test_an_infinity_is_beside_a_tile_of_zeros_without_a_nan(name: str) -> None:
    topic, tile = topics.load(name), 16
    found = {"A": 0, "B": 0}
    for problem in topic.special_cases or topic.judge_cases[-8:]:
        inputs = compute(topic, make(problem, "special")).inputs
        for factor, a, b in (
            ("A", inputs["A"], inputs["B"]),
            ("B", inputs["B"].T, inputs["A"].T),
        ):
            for k in range(0, a.shape[1], tile):
                rows = a[: len(a) // tile * tile, k : k + tile].reshape(
                    -1, tile * a[:, k : k + tile].shape[1]
                )
                columns = b[k : k + tile, : b.shape[1] // tile * tile].T.reshape(
                    -1, tile * b[k : k + tile].shape[0]
                )
                beside = np.isinf(columns).any(axis=1) & ~np.isnan(columns).any(axis=1)
                found[factor] += int((~rows.any(axis=1)).any() and beside.any())
    assert found["A"]
    assert found["B"]


def test_a_small_gamma_over_a_large_root_is_a_subnormal() -> None:
    topic = topics.load("rmsnorm")
    for seed in SEEDS:
        inputs = {
            name: array.astype(np.float64)
            for name, array in compute(
                topic, make({"M": 3, "N": 8200, "eps": 1e-5}, "special", seed)
            ).inputs.items()
        }
        root = np.sqrt(((inputs["x"] + inputs["residual"]) ** 2).mean(axis=1, keepdims=True))
        small = np.abs(inputs["gamma"]) / root[np.isfinite(root)].max()
        assert ((small > 0) & (small < 2.0**-126)).any()


def given(name: str, kind: CaseKind, **sizes: Number) -> Mapping[str, NDArray[Any]]:
    """The public inputs of a topic's case."""
    topic = topics.load(name)
    return compute(topic, make(topic.problem("count", sizes), kind)).inputs


def test_what_is_not_finite_stands_at_ends_and_in_the_shortest_rows() -> None:
    values = given("stencil", "special", N=4099)["in"]
    assert np.isinf(values[[0, -1]]).all()
    rows = given("gemv", "special", N=5, K=1028)
    assert np.isfinite(rows["W"][0]).all()
    assert np.isnan(rows["W"][1, 0])
    assert np.isfinite(rows["x"]).all()
    single = given("layernorm", "special", M=37, N=1)
    assert not np.isfinite(single["x"]).all()
    assert np.isfinite([single["gamma"], single["beta"]]).all()
    short = given("decode", "special", B=37, H=4, KV=2, T=70, scale=0.125)
    pages = short["table"][short["lengths"] == 1, 0]
    assert np.isnan(short["K"][pages, :, 0].astype(np.float32)).any()
    assert np.isfinite(short["V"][pages, :, 0]).all()


def test_whole_numbers_are_as_large_as_types_hold_and_larger() -> None:
    values = given("block_sum", "exact", N=300007)["in"]
    blocks = values[: 300007 // 2048 * 2048].reshape(-1, 2048)
    assert np.abs(blocks).max() == 1 << 24
    assert np.abs(blocks.astype(np.int64).sum(axis=1)).max() > 1 << 31
    window = given("stencil", "special", N=100003)["in"][: 100003 // 272 * 272].reshape(-1, 272)
    whole = window[(window == np.rint(window)).all(axis=1) & np.isfinite(window).all(axis=1)]
    assert whole.max() > 1 << 30
    x = given("gemv_int4", "special", N=13, K=3968)["x"].reshape(-1, 8).astype(np.float32)
    assert {-128, 128} <= set(x[(x == np.rint(x)).all(axis=1) & (np.abs(x) <= 128).all(axis=1)].flat)


@pytest.mark.parametrize("name", ["gemm", "hgemm"])
def test_a_factor_of_zeros_and_ones_meets_any_numbers(name: str) -> None:
    inputs = given(name, "special", M=136, N=280, K=72)
    for mine, other in ((inputs["A"], inputs["B"].T), (inputs["B"].T, inputs["A"])):
        real = np.isfinite(other) & (other != np.rint(other))
        ones = [np.isin(mine[at : at + 16, :32], (0, 1)).all() for at in range(0, len(mine) - 15, 16)]
        assert any(ones)
        assert real.any()


@pytest.mark.parametrize("name", ["gemm", "hgemm"])
def test_an_infinity_lies_at_the_end_of_a_line_as_often_as_elsewhere(name: str) -> None:
    inputs = given(name, "special", M=136, N=280, K=72)
    at = np.concatenate([np.argwhere(~np.isfinite(lines))[:, 1] for lines in (inputs["A"], inputs["B"].T)])
    assert len(at) / 4 < (at == 71).sum() < len(at)


def test_lines_begin_alike_and_go_on_otherwise() -> None:
    bias = given("add_bias", "exact", M=2, N=1031)["bias"][:1024].reshape(-1, 32)
    assert bias.all()
    assert (bias.sum(axis=1) == 0).any()
    scales = given("gemv_int4", "real", N=9, K=2176)["scales"]
    assert ((scales[:, :8] == scales[:, :1]).all(axis=1) & (scales != scales[:, :1]).any(axis=1)).any()
    residual = given("rmsnorm", "real", M=67, N=101)["residual"].astype(np.float32)
    assert (~residual[:, :32].any(axis=1) & residual.any(axis=1)).any()
    matrix = given("transpose", "special", M=260, N=132)["in"].view(np.uint32)
    for size in (16, 32, 64):
        tile = matrix[:size, :size]
        assert not tile[[0, -1]].any()
        assert not tile[:, [0, -1]].any()
        assert (tile != tile.T).any()
    codes = given("histogram", "real", N=65549)["in"][:65536].reshape(-1, 256)
    assert ((codes == codes[:, :1]) & (codes < 4)).all(axis=1).any()
