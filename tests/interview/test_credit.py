"""What checked answers are worth: guessing earns nothing on average."""

from dataclasses import dataclass

import pytest

from grader.interview import credit


@dataclass(frozen=True)
class Answer:
    right: bool
    chance: float


@pytest.mark.parametrize(
    ("answer", "worth"), [(Answer(True, 0.25), 1), (Answer(False, 0.0), 0), (Answer(False, 0.25), -1 / 3)]
)
def test_what_an_answer_is_worth(answer: Answer, worth: float) -> None:
    assert credit.of_probe(answer) == pytest.approx(worth)


@pytest.mark.parametrize("options", [2, 3, 4, 6])
def test_who_guesses_gets_nothing_on_average(options: int) -> None:
    p = 1 / options
    mean = p * credit.of_probe(Answer(True, p)) + (1 - p) * credit.of_probe(Answer(False, p))
    assert mean == pytest.approx(0)
