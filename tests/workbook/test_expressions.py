"""The little language of launch blocks and claims."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.workbook.expressions import ExpressionError, cdiv, parse

VALUES = {"M": 100, "N": 7, "BM": 32, "dram__bytes.sum": 640}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (256, 256),
        ("cdiv(M, BM)", 4),
        ("2*BM*BM*4", 8192),
        ("-N + 10", 3),
        ("M // N % 5", 4),
        ("M / 8", 12.5),
        ("max(1, M - 2*BM, N)", 36),
        ("min(M, N)", 7),
        ("N % 4 == 0 and M > 1", False),
        ("N == 7 or M / 0 > 1", True),
        ("not N == 7", False),
        ("1 < N <= 7", True),
        ("dram__bytes.sum <= 1.1 * M * N", True),
    ],
)
def test_value(text: str | int, value: float) -> None:
    assert parse(text).evaluate(VALUES) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "M +",
        "M ** 2",
        "M if N else 1",
        "M && N",
        "a[0]",
        "'text'",
        "True",
        "[1, 2]",
        "lambda: 1",
        "open('f')",
        "cdiv(M)",
        "cdiv(M, N, 2)",
        "cdiv(M, b=2)",
        "(1).real",
        "__import__('os').system('true')",
        "(" * 300 + "1" + ")" * 300,
        "-" * 10_000 + "1",
    ],
)
def test_refused_before_evaluation(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("M / (N - 7)", "divides by zero"),
        ("BMM + 1", "did you mean `BM`"),
        ("nothing_like_it", "has no value"),
    ],
)
def test_no_value(text: str, said: str) -> None:
    with pytest.raises(ExpressionError, match=said):
        parse(text).evaluate(VALUES)


@pytest.mark.parametrize("text", ["M / 4", "1.0", "M > 1"])
def test_whole_refuses_fractions_and_conditions(text: str) -> None:
    with pytest.raises(ExpressionError, match="cdiv"):
        parse(text).whole(VALUES)


def test_names_hold_dotted_ones_whole() -> None:
    assert parse("cdiv(M, 2) * a.b.sum <= N").names == {"M", "N", "a.b.sum"}


def test_subject_is_what_a_claim_bounds() -> None:
    subject = parse("dram__bytes.sum / M <= 10").subject
    assert subject is not None
    assert subject.evaluate(VALUES) == 6.4
    assert parse("M + N").subject is None
    first = parse("(M >= 1 or N >= 2) and 2 * K >= 3").subject
    assert first is not None
    assert first.text == "M"


@given(st.integers(0, 10**12), st.integers(1, 10**6))
def test_cdiv_covers_and_no_more(dividend: int, divisor: int) -> None:
    blocks = cdiv(dividend, divisor)
    assert blocks * divisor >= dividend > (blocks - 1) * divisor
