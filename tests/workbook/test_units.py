"""Numbers as people read them."""

import pytest

from grader.workbook import units


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.2843, "284 ms"),
        (1.5e-6, "1.5 µs"),
        (2.0, "2 s"),
        (999.7e-6, "1000 µs"),
        (None, "–"),
        (3e-10, "0.3 ns"),
    ],
)
def test_seconds(value: float | None, text: str) -> None:
    assert units.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (31, "31"), (1_015_808, "1.02M"), (32_768, "32.8k"), (None, "–")]
)
def test_counts(value: int | None, text: str) -> None:
    assert units.count(value) == text


@pytest.mark.parametrize(("value", "text"), [(1.0, "100"), (0.0075, "0.75"), (0.0999, "10"), (1.23, "123")])
def test_percent(value: float, text: str) -> None:
    assert units.percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1_048_576, "1,048,576"), (0.333333, "0.3333"), (12345.6, "12346"), (2e15, "2e+15"), (0, "0")],
)
def test_numbers(value: float, text: str) -> None:
    assert units.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(65504.0, "65,504"), (1 / 3, "0.3333"), (12345.6, "12,346"), (2**-24, "5.96e-08")]
)
def test_compact_numbers(value: float, text: str) -> None:
    assert units.compact(value) == text


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        ({"M": 512, "N": 512, "K": 512}, "512³"),
        ({"M": 1024, "N": 1024}, "1024²"),
        ({"M": 33, "N": 31}, "M = 33, N = 31"),
        ({"N": 4096}, "N = 4096"),
    ],
)
def test_sizes_in_passing(problem: dict[str, int], text: str) -> None:
    assert units.sizes(problem) == text


@pytest.mark.parametrize(("value", "text"), [(0.1, "0.1"), (16777217.0, "16777217"), ("nan", "nan")])
def test_elements(value: float | str, text: str) -> None:
    assert units.element(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4, "blocks", "4 blocks"),
        (1, "blocks", "1 block"),
        (1, "sectors a request", "1 sector a request"),
        (1, "multiply-adds", "1 multiply-add"),
        (1, "passes", "1 pass"),
        (1, "micro-batches", "1 micro-batch"),
        (1, "copies", "1 copy"),
        (1, "halves", "1 half"),
        (1, "caches", "1 cache"),
        (1, "GPUs", "1 GPU"),
        (1, "ms", "1 ms"),
        (1, "FLOP/byte", "1 FLOP/byte"),
        (0.5, "", "0.5"),
    ],
)
def test_quantities(value: float, unit: str, text: str) -> None:
    assert units.quantity(value, unit) == text


@pytest.mark.parametrize(
    ("left", "text"),
    [(None, "no limit"), (-1, "time is up"), (40, "0:40 left"), (89.9, "1:29 left"), (2280, "38 min left")],
)
def test_time_left(left: float | None, text: str) -> None:
    assert units.time_left(left) == text


def test_points_and_minutes() -> None:
    assert [units.points(value) for value in (10, 7.46, 0)] == ["10", "7.5", "0"]
    assert units.minutes(725) == "12:05"


def test_plurals() -> None:
    assert units.number_of(1, "case") == "1 case"
    assert units.number_of(2, "launch", "launches") == "2 launches"
