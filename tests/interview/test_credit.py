"""What checked answers are worth: guessing earns nothing on average."""

import random
from dataclasses import dataclass

import pytest

from grader.interview import credit


@dataclass(frozen=True)
class Answer:
    right: bool
    chance: float


RIGHT, WRONG = Answer(True, 0.25), Answer(False, 0.25)
NUMBER = Answer(False, 0.0)


@pytest.mark.parametrize(
    ("answers", "heard", "worth"),
    [
        ([RIGHT], True, 1),
        ([RIGHT], False, 0.5),
        ([WRONG, RIGHT], True, 0.5),
        ([NUMBER], True, 0),
        ([NUMBER, NUMBER], True, 0),
        ([WRONG], False, -1 / 6),
        ([], True, 0),
    ],
)
def test_what_a_point_is_worth(answers: list[Answer], heard: bool, worth: float) -> None:
    assert credit.of_point(answers, heard) == pytest.approx(worth)


@pytest.mark.parametrize("heard", [True, False])
@pytest.mark.parametrize("options", [2, 3, 4, 6])
@pytest.mark.parametrize("options_then", [2, 4])
def test_who_guesses_gets_nothing_on_average(heard: bool, options: int, options_then: int) -> None:
    p, q = 1 / options, 1 / options_then
    if not heard:
        mean = p * credit.of_point([Answer(True, p)], False) + (1 - p) * credit.of_point(
            [Answer(False, p)], False
        )
    else:
        first, second = Answer(False, p), (Answer(True, q), Answer(False, q))
        mean = p * credit.of_point([Answer(True, p)], True) + (1 - p) * (
            q * credit.of_point([first, second[0]], True)
            + (1 - q) * credit.of_point([first, second[1]], True)
        )
    assert mean == pytest.approx(0)


def test_a_knower_of_half_the_answers_is_between() -> None:
    rng, shares = random.Random(1), []
    for _ in range(4000):
        knows = rng.random() < 0.5
        answers = [Answer(knows or rng.random() < 0.25, 0.25)]
        if not answers[0].right:
            answers.append(Answer(rng.random() < 0.25, 0.25))
        shares.append(credit.of_point(answers, True))
    assert sum(shares) / len(shares) == pytest.approx(0.5, abs=0.03)
