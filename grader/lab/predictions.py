"""Predictions: a number the reader writes down before he sees it, and what became of it.

    lab.predict("stores", None, lambda: lab.counters("transpose/00_naive", M=64, N=64).store_sectors,
                hint="In how many rows of `out` does a warp write?")

`None` stands for a number not yet written: the prediction is open, and the notebook runs on. The answer is a
function, which is called when the cell runs, so that the number stands nowhere in the notebook.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from rich.table import Table
from rich.text import Text

from grader.errors import WarpladderError
from grader.expressions import nearest
from grader.lab import show
from grader.report import units

Value = float | str
"""What is predicted: a number, or a word."""

State = Literal["open", "right", "wrong"]

_MARKS = {"open": "○", "right": "✓", "wrong": "✗"}
_COLOURS = {"open": "#946c00", "right": "#1a843c", "wrong": "#d42b2b"}
_STYLES = {"open": "yellow", "right": "green", "wrong": "red"}
_BOX = "border-left:4px solid {colour};padding:.3em .8em;margin:.2em 0"


@dataclass(frozen=True)
class Prediction:
    """One prediction, checked."""

    id: str
    value: Value | None  # the reader's; None: not yet written
    answer: Value
    tolerance: float  # relative
    unit: str  # what is counted; may be empty
    hint: str  # shown where the value is wrong; may be empty

    @property
    def state(self) -> State:
        """open, right or wrong."""
        if self.value is None:
            return "open"
        return "right" if _same(self.value, self.answer, self.tolerance) else "wrong"

    @property
    def says(self) -> str:
        """What became of it, in a sentence, without the answer unless it was found."""
        if self.state == "open":
            return "still open: write your number in place of None, and run the cell again."
        if self.state == "right":
            return f"right: {self._answer()}."
        return f"{_written(self.value)} is {_off(self.value, self.answer)}."

    def _answer(self) -> str:
        return f"{_written(self.answer)} {self.unit}".rstrip()

    def _repr_html_(self) -> str:
        colour = _COLOURS[self.state]
        said = f'<b style="color:{colour}">{_MARKS[self.state]} {html.escape(self.id)}</b> {html.escape(self.says)}'
        if self.state == "wrong" and self.hint:
            said += f"<br>{html.escape(self.hint)}"
        if self.state != "right":
            said += f"<details><summary>Reveal the answer</summary>{html.escape(self._answer())}</details>"
        return f'<div style="{_BOX.format(colour=colour)}">{said}</div>'

    def __repr__(self) -> str:
        said = f"{_MARKS[self.state]} {self.id}: {self.says}"
        if self.state == "wrong" and self.hint:
            said += f"\n  {self.hint}"
        return said if self.state == "right" else f'{said}\n  lab.reveal("{self.id}") shows the answer.'


_made: dict[str, Prediction] = {}


def predict(
    question_id: str,
    value: Value | None,
    answer: Value | Callable[[], Value],
    *,
    tolerance: float = 0.0,
    unit: str = "",
    hint: str = "",
) -> Prediction:
    """Check a prediction; the value of a cell, which shows what became of it.

    `value` is the reader's, None as long as there is none. `answer` is called when the cell runs; numbers agree
    within `tolerance`, relative to the answer, words but for upper and lower case.
    """
    found = answer() if callable(answer) else answer
    made = Prediction(question_id, value, found, tolerance, unit, hint)
    _made[question_id] = made
    return made


def reveal(question_id: str) -> Value:
    """The answer of a prediction whose cell was run; raises WarpladderError for any other."""
    return prediction(question_id).answer


def prediction(question_id: str) -> Prediction:
    """A prediction whose cell was run; raises WarpladderError where there is none."""
    if question_id not in _made:
        message = f"nothing was predicted under `{question_id}`{nearest(question_id, list(_made))}"
        raise WarpladderError(message, remedy="run the cell of the prediction first")
    return _made[question_id]


@dataclass(frozen=True)
class Score:
    """What became of every prediction so far."""

    predictions: tuple[Prediction, ...]

    @property
    def right(self) -> int:
        """How many are right."""
        return sum(item.state == "right" for item in self.predictions)

    def _view(self) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
        for item in self.predictions:
            mark = Text(f"{_MARKS[item.state]} {item.state}", _STYLES[item.state])
            table.add_row(mark, item.id, "" if item.value is None else _written(item.value))
        table.add_row("", Text(f"{self.right} of {len(self.predictions)} right", "bold"))
        return table

    def _repr_html_(self) -> str:
        return show.as_html(self._view())

    def __repr__(self) -> str:
        return show.as_text(self._view())


def score() -> Score:
    """Every prediction of this notebook, in order."""
    return Score(tuple(_made.values()))


def _same(value: Value, answer: Value, tolerance: float) -> bool:
    if isinstance(value, str) or isinstance(answer, str):
        return str(value).strip().casefold() == str(answer).strip().casefold()
    return math.isclose(value, answer, rel_tol=max(tolerance, 1e-9), abs_tol=1e-12)


def _off(value: Value | None, answer: Value) -> str:
    """How a wrong value is wrong, without saying what is right."""
    if value is None or isinstance(value, str) or isinstance(answer, str):
        return "not it"
    if not value or not answer or (value < 0) != (answer < 0):
        return "too small" if value < answer else "too large"
    factor = max(value / answer, answer / value)
    way = "small" if value < answer else "large"
    return f"{units.digits(factor)} times too {way}" if factor >= 1.05 else f"a little too {way}"


def _written(value: Value | None) -> str:
    """A value as people write it: 1,048,576, 0.25, registers."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return f"{int(value):,}" if float(value).is_integer() else units.digits(float(value), 4)
