"""Number questions: what candidates type, what is drawn, and what cannot be computed."""

import random
import re
from pathlib import Path

import pytest

from grader.errors import WarpladderError
from grader.interview import numbers
from grader.interview.bank import NumberQuestion, Question, discover, load


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
        ("1.50e3 GB/s", 1500),
        ("2⁻²⁴", 2**-24),
        ("6.0 · 10⁻⁸", 6e-8),
        ("6x10^-8", 6e-8),
        ("270 336 threads", 270336),
        ("≈ 886", 886),
        ("about 2.5x", 2.5),
        ("0x10", 16),
    ],
)
def test_numbers_as_people_type_them(typed: str, value: float) -> None:
    assert numbers.read_number(typed) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("typed", ["three", "", "1/0", "__import__('os')", "9^999", "4; 5", "registers"])
def test_what_is_no_number_is_asked_again(typed: str) -> None:
    with pytest.raises(ValueError, match="no number"):
        numbers.read_number(typed)


def test_a_decimal_comma_is_explained() -> None:
    with pytest.raises(ValueError, match="with a point and not a comma"):
        numbers.read_number("2,5")


@pytest.mark.parametrize(
    ("typed", "unit", "value"),
    [
        ("70 ms", "ms", 70),
        ("70 milliseconds", "ms", 70),
        ("6.1 us", "µs", 6.1),
        ("19.5 TFLOPS", "TFLOP/s", 19.5),
        ("50 GBps", "GB/s", 50),
        ("10 min", "minutes", 10),
        ("33 MiB", "MiB", 33),
        ("25%", "%", 25),
        ("25 per cent", "%", 25),
        ("295 FLOP/B", "FLOP a byte", 295),
        ("295 flops per byte", "FLOP a byte", 295),
        ("295 FLOP for each byte", "FLOP a byte", 295),
        ("683 FLOP/byte", "operations a byte", 683),
        ("0.22 bytes a byte", "bytes a byte", 0.22),
        ("1 block", "blocks", 1),
        ("4 thread blocks per SM", "blocks", 4),
        ("4 blocks of 256 threads", "blocks", 4),
        ("12 KiB per SM", "KiB", 12),
        ("32 floats a request", "elements a request", 32),
        ("16 multiply-adds per load", "multiply-adds a load", 16),
        ("16 FMA/load", "multiply-adds a load", 16),
        ("3 banks", "", 3),
        ("7 GPUs", "boards", 7),
        ("=3", "blocks", 3),
        ("1_000", "threads", 1000),
        ("3.2 times", "", 3.2),
    ],
)
def test_the_unit_that_was_asked_for_may_be_written(typed: str, unit: str, value: float) -> None:
    assert numbers.read_number(typed, unit) == value


@pytest.mark.parametrize(
    ("typed", "unit", "said"),
    [
        ("0.07 s", "ms", "is in s: it is asked in ms"),
        ("1.08 MB", "KB", "is in MB"),
        ("33 MB", "MiB", "is in MB"),
        ("12k", "threads", "is in k: it is asked in threads"),
        ("12k", "", "is in k: write the bare number"),
        ("19 GFLOPS", "TFLOP/s", "is in GFLOPS"),
        ("25 %", "share", "is in %"),
        ("295 kFLOP/byte", "FLOP a byte", "is in kFLOP/byte: it is asked in FLOP a byte"),
        ("295 GFLOP/byte", "FLOP a byte", "is in GFLOP/byte"),
        ("295 FLOP/s", "FLOP a byte", "is in FLOP/s"),
        ("14 FLOP/byte", "TFLOP/s", "is in FLOP/byte: it is asked in TFLOP/s"),
        ("12 KiB/s", "KiB", "is in KiB/s"),
        ("400 Gb/s", "GB/s", "is in Gb/s"),
        ("1 warp", "blocks", "is in warp: it is asked in blocks"),
        ("12 blocks", "registers", "is in blocks: it is asked in registers"),
        ("12 blocks", "KiB", "is in blocks"),
        ("4 sectors", "wavefronts", "is in sectors"),
        ("32 elements a thread", "elements a request", "is in elements a thread"),
        ("8 FLOP/load", "multiply-adds a load", "is in FLOP/load"),
        ("3 thousand threads", "threads", "is in thousand threads"),
    ],
)
def test_another_unit_is_asked_again_and_not_marked_wrong(typed: str, unit: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        numbers.read_number(typed, unit)


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


def test_texts_decline_numbers_and_boards(tmp_path: Path) -> None:
    draw = {"a": ("Tesla T4", "NVIDIA A100"), "b": (1, 3)}
    texts = {"text": "{b:multiply-adds} on {a:a}?", "explain": "{answer:loads}"}
    given = question(tmp_path, "return b", draw=draw, **texts)
    first = numbers.compute(*given, {"a": "Tesla T4", "b": 1})
    second = numbers.compute(*given, {"a": "NVIDIA A100", "b": 3})
    assert (first.text, first.explain) == ("1 multiply-add on a Tesla T4?", "1 load")
    assert (second.text, second.explain) == ("3 multiply-adds on an NVIDIA A100?", "3 loads")


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


SLIPS = re.compile(
    r"\ban (?:Tesla|[1-79])|\ba (?:NVIDIA|8[ ,])|\(s\)"
    r"|(?<![\w.,×·/^−-] )(?<![\d.,])\b1 (?!lies\b)[a-z]+[a-z-]*(?<!s)s\b"
)


def test_questions_and_explanations_are_grammatical_however_they_are_drawn() -> None:
    rng = random.Random(1)
    for item in discover().values():
        for number in item.numbers:
            every = list(numbers.every_draw(number))
            for drawn in (numbers.compute(item, number, p) for p in rng.sample(every, min(60, len(every)))):
                found = [match[0] for text in (drawn.text, drawn.explain) for match in SLIPS.finditer(text)]
                assert not found, f"{item.id}.{number.id}: {found} in {drawn.text} / {drawn.explain}"


@pytest.mark.parametrize(
    ("name", "parameters", "typed", "is_right"),
    [
        ("half_value", {"bits": "0x7BFF"}, "65504", True),
        ("half_value", {"bits": "0x7BFF"}, "65536", False),
        ("half_value", {"bits": "0x0001"}, "5.96e-8", True),
        ("half_value", {"bits": "0xB555"}, "-1/3", True),
        ("spacing", {"value": 0.00001}, "6.0 · 10⁻⁸", True),
        ("largest", {"exponent": 5, "fraction": 10}, "65504", True),
        ("largest", {"exponent": 5, "fraction": 10}, "65536", False),
        ("largest", {"exponent": 8, "fraction": 7}, "3.390e38", True),
    ],
)
def test_what_halves_hold_is_told_from_its_neighbour(
    name: str, parameters: dict[str, int | float | str], typed: str, is_right: bool
) -> None:
    item = load("hpc-07")
    number = next(number for number in item.numbers if number.id == name)
    answer = numbers.compute(item, number, parameters).answer
    assert numbers.right(numbers.read_number(typed), answer, number.tolerance) is is_right
