"""Questions and their hints, kept apart from the cells that ask, so that nobody reads an answer by accident.

    lab.question("stores", lambda: lab.counters("transpose/00_naive", M=64, N=64).store_sectors,
                 unit="sectors", hint="In how many rows of `out` does a warp write?")

stands in a folded cell at the head of a notebook, and where the number is wanted

    lab.predict("stores", None)

`None` stands for a number not yet written: the prediction is open, and the notebook runs on. The answer is a
function, which is called when `predict` runs, so that the number stands nowhere in the notebook.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rich.text import Text

from grader.errors import WarpladderError
from grader.lab import inputs
from grader.lab.predictions import Prediction, Value, check, forget_misses, judged
from grader.lab.show import Shown
from grader.workbook.expressions import nearest


@dataclass(frozen=True)
class Question:
    """What a prediction is compared with."""

    answer: Callable[[], Value]
    tolerance: float
    unit: str


_questions: dict[str, Question] = {}
_hints: dict[str, str] = {}


def question(
    question_id: str,
    answer: Callable[[], Value],
    *,
    tolerance: float = 0.0,
    unit: str = "",
    hint: str = "",
) -> None:
    """Keep a question for `predict`; one of the same name is asked anew, without misses.

    Numbers agree within `tolerance`, relative to the answer, words but for upper and lower case, spaces and hyphens.
    """
    _questions[question_id] = Question(answer, tolerance, unit)
    _hints[question_id] = hint
    forget_misses(question_id)


def hints(of_tasks: Mapping[str, str]) -> None:
    """Keep the hints of tasks, by their names."""
    _hints.update(of_tasks)


def hint_of(name: str) -> str:
    """The hint of a question or task; empty where it has none."""
    return _hints.get(name, "")


def hint(name: str) -> Shown:
    """Show the hint of a question or task; raises WarpladderError where there is none."""
    if not _hints.get(name):
        raise WarpladderError(
            f"there is no hint for `{name}`{nearest(name, [known for known, text in _hints.items() if text])}",
            remedy="run the folded cell at the head of the notebook first: it holds the hints",
        )
    return Shown(Text(_hints[name]))


def predict(question_id: str, value: Value | None) -> Prediction:
    """Check a prediction; the value of a cell, which shows what became of it, and in Jupyter a box to type it into.

    `value` is the reader's, None as long as there is none; what was typed into the box stands for None. Raises
    WarpladderError for a value that is neither a number nor a word, and for a question that was not asked.
    """
    check(question_id, value)
    if question_id not in _questions:
        raise WarpladderError(
            f"there is no question `{question_id}`{nearest(question_id, list(_questions))}",
            remedy="run the folded cell at the head of the notebook first: it holds the questions",
        )
    asked, typed = _questions[question_id], value is None
    unanswered = inputs.Asked(
        question_id, None, asked.answer(), asked.tolerance, asked.unit, _hints[question_id], typed=typed
    )
    return judged(unanswered, inputs.kept(question_id) if typed else value)
