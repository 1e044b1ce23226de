"""Number questions: what candidates type, what is drawn, and what cannot be computed."""

import random
from pathlib import Path

import pytest

from grader.errors import WarpladderError
from grader.interview import numbers
from grader.interview.bank import NumberQuestion, Question


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("4", 4),
        (" 65504 ", 65504),
        ("1,048,576", 1048576),
        ("64/16", 4),
        ("2^-14", 2**-14),
        ("2**10", 1024),
        ("3 * 2^4", 48),
        ("1.5e3", 1500),
        ("-7", -7),
        ("0.25 bytes a byte", 0.25),
        ("12.5 %", 12.5),
        ("4 blocks", 4),
        ("20 KiB", 20),
        ("8 × 8", 64),
        ("10 x 3", 30),
        ("6.1 µs", 6.1),
    ],
)
def test_numbers_as_people_type_them(typed: str, value: float) -> None:
    assert numbers.read_number(typed) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("typed", ["three", "", "1/0", "__import__('os')", "9^999", "4; 5", "registers"])
def test_what_is_no_number_is_asked_again(typed: str) -> None:
    with pytest.raises(ValueError, match="no number"):
        numbers.read_number(typed)


@pytest.mark.parametrize(
    ("given", "tolerance", "right"), [(4, 0, True), (4.01, 0, False), (4.01, 0.01, True), (4.05, 0.01, False)]
)
def test_tolerance_is_relative(given: float, tolerance: float, right: bool) -> None:
    assert numbers.right(given, 4, tolerance) is right


def question(tmp_path: Path, body: str, **changes: object) -> tuple[Question, NumberQuestion]:
    """A question whose one number is computed by `body`."""
    (tmp_path / "hpc-01.py").write_text(f"def it(a, b):\n    {body}\n")
    fields = {
        "id": "it",
        "text": "Of {a} and {b}?",
        "unit": "bytes",
        "tolerance": 0.0,
        "explain": "{a} · {b} = {answer}",
        "draw": {"a": (1024, 2048), "b": (2, 3)},
        "line": 7,
    }
    number = NumberQuestion(**{**fields, **changes})  # type: ignore[arg-type]
    empty: tuple[()] = ()
    head = {"id": "hpc-01", "title": "", "question": "", "answer": "", "looks_for": ""}
    lists = dict.fromkeys(("follow_ups", "common_errors", "sources", "points", "topics", "kernels"), empty)
    return Question(**head, **lists, numbers=(number,), file=tmp_path / "hpc-01.toml"), number  # type: ignore[arg-type]


def test_texts_show_parameters_answer_and_further_values(tmp_path: Path) -> None:
    given = question(tmp_path, 'return {"answer": a * b, "half": a / 3}', explain="{answer} and {half:.1f}")
    drawn = numbers.compute(*given, {"a": 1024, "b": 2})
    assert drawn.text == "Of 1,024 and 2?"
    assert drawn.explain == "2,048 and 341.3"
    assert drawn.answer == 2048


def test_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    given = question(tmp_path, "return a * b")
    assert numbers.draw(*given, random.Random(3)) == numbers.draw(*given, random.Random(3))
    assert len(list(numbers.every_draw(given[1]))) == 4


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return a / 0", "ZeroDivisionError"),
        ("return float('nan')", "not a finite number"),
        ("return 'four'", "not a finite number"),
        ("return {'result': 4}", "no value 'answer'"),
        ("return a, b", "not a finite number"),
    ],
)
def test_what_cannot_be_computed_names_the_parameters(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(WarpladderError, match=said) as refused:
        numbers.compute(*question(tmp_path, body), {"a": 1024, "b": 2})
    assert "a = 1024, b = 2" in refused.value.message
