"""Predictions: a number that the reader writes down before it is shown, and what became of it.

A first miss says so and no more; after a second one, another value, it also says by which factor. Hint and answer
open on a click, or with `lab.hint` and `lab.reveal`.
"""

from __future__ import annotations

import html
import json
import math
import os
import re
import reprlib
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Literal, Protocol

from rich.table import Table
from rich.text import Text

from grader.analysis.roofline import NAMES
from grader.errors import WarpladderError
from grader.lab import show
from grader.workbook import units
from grader.workbook.expressions import nearest

Value = float | str
"""What is predicted: a number, or a word."""

State = Literal["open", "right", "wrong"]

_ROOFS = {name.casefold(): roof for roof, name in NAMES.items()} | {"l1": "shared", "shared memory": "shared"}
"""What people call the roofs of a device, in pictures and else, and what they are called here."""

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
    hint: str  # opens on a click; may be empty
    typed: bool = False  # into a box, or to be: the cell says None
    misses: int = 0  # different wrong values so far, this one included

    @property
    def state(self) -> State:
        """open, right or wrong."""
        if self.value is None:
            return "open"
        return "right" if same(self.value, self.answer, self.tolerance) else "wrong"

    @property
    def says(self) -> str:
        """What became of it, in a sentence, without the answer unless it was found."""
        if self.state == "open":
            box = "its box, where there is one"  # a page that was built has none
            return f"still open: type your answer into {box}, or write it in place of None and run the cell again."
        if self.state == "right":
            return f"right: {self._answer()}."
        wrong = _off(self.value, self.answer) if self.misses > 1 else "not right"
        return f"{self.written} is {wrong}."

    def _answer(self) -> str:
        return f"{_written(self.answer)} {units.unit_of(self.answer, self.unit)}".rstrip()

    @property
    def written(self) -> str:
        """What the reader wrote."""
        return _written(self.value)

    def _repr_html_(self) -> str:
        return box(self, html.escape(self._answer()))

    def __repr__(self) -> str:
        return plain(self)


class Item(Protocol):
    """What a notebook asks of its reader: a prediction, or a task."""

    @property
    def id(self) -> str: ...
    @property
    def state(self) -> State: ...
    @property
    def says(self) -> str: ...
    @property
    def hint(self) -> str: ...
    @property
    def written(self) -> str: ...


def box(item: Item, answer_html: str) -> str:
    """An item as HTML; hint and answer open on a click, until it was found."""
    colour = _COLOURS[item.state]
    said = f'<b style="color:{colour}">{_MARKS[item.state]} {html.escape(item.id)}</b> {_prose(item.says)}'
    if item.state != "right":
        if item.hint:
            said += f"<details><summary>Hint</summary>{_prose(item.hint)}</details>"
        said += f"<details><summary>Reveal the answer</summary>{answer_html}</details>"
    return f'<div style="{_BOX.format(colour=colour)}">{said}</div>'


def _prose(text: str) -> str:
    """Text as HTML; what stands between backquotes is code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def plain(item: Item) -> str:
    """An item as text."""
    said = f"{_MARKS[item.state]} {item.id}: {item.says}"
    if item.state == "right":
        return said
    helps = f'lab.hint("{item.id}") gives a hint; ' if item.hint else ""
    return f'{said}\n  {helps}lab.reveal("{item.id}") shows the answer.'


_items: dict[str, Item] = {}
_missed: dict[str, list[Value]] = {}  # the different wrong values of each prediction


def judged(prediction: Prediction, value: Value | None) -> Prediction:
    """The prediction with this value in place of its own, remembered so."""
    made, missed = replace(prediction, value=value), _missed.setdefault(prediction.id, [])
    if value is not None and made.state == "wrong" and value not in missed:
        missed.append(value)
    made = replace(made, misses=len(missed))
    remember(made)
    return made


def forget_misses(question_id: str) -> None:
    """Begin to count misses anew."""
    _missed.pop(question_id, None)


def check(question_id: str, value: object) -> None:
    """Refuse what cannot be compared with an answer: raises WarpladderError for neither a number nor a word."""
    if value is None or isinstance(value, str):
        return
    try:
        usable = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an int that is larger than any float
        usable = False
    if not usable:
        raise WarpladderError(
            f"`{question_id}` takes a number or a word, and {reprlib.repr(value)} is neither",
            remedy='write one number, such as 32 or 0.25, or a word in quotes, such as "registers"',
        )


def remember(item: Item) -> None:
    """Keep an item for `reveal` and `score`, in place of an earlier one of its name."""
    _items[item.id] = item


def item(question_id: str) -> Item:
    """The prediction or task of that name, whose cell was run; raises WarpladderError where there is none."""
    if question_id not in _items:
        message = f"nothing was asked under `{question_id}`{nearest(question_id, list(_items))}"
        raise WarpladderError(message, remedy="run its cell first")
    return _items[question_id]


@dataclass(frozen=True)
class Score:
    """What became of every prediction and task so far."""

    items: tuple[Item, ...]
    missing: tuple[str, ...] | None = (
        None  # what the notebook's file asks and was not asked yet; None: not known
    )

    @property
    def right(self) -> int:
        """How many are right."""
        return sum(item.state == "right" for item in self.items)

    def _view(self) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
        for item in self.items:
            mark = Text(f"{_MARKS[item.state]} {item.state}", _STYLES[item.state])
            table.add_row(mark, item.id, item.written)
        for name in self.missing or ():
            table.add_row(Text(f"{units.NOTHING} not reached", "dim"), name, "")
        total = len(self.items) + len(self.missing or ())
        table.add_row("", Text(f"{self.right} of {total} right", "bold"))
        if self.missing is None:
            table.add_row(
                "", Text("of what was asked so far; a cell that did not run to its end is not counted")
            )
        return table

    def _repr_html_(self) -> str:
        return show.as_html(self._view())

    def __repr__(self) -> str:
        return show.as_text(self._view())


def score() -> Score:
    """Every prediction and task of this notebook, in order; those that were not reached as well, where Jupyter says
    which file it is."""
    asked = _asked(Path(os.environ.get("JPY_SESSION_NAME", "")))
    return Score(tuple(_items.values()), asked and tuple(name for name in asked if name not in _items))


def _asked(notebook: Path) -> tuple[str, ...] | None:
    """The names of all predictions and tasks in a notebook's file; None where it cannot be read, or has none."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    asked = re.findall(r"""\blab\.(?:predict|task)\(\s*["']([^"']+)["']""", "\n".join(sources))
    return tuple(dict.fromkeys(asked)) or None


def same(value: Value, answer: Value, tolerance: float) -> bool:
    if isinstance(value, str) or isinstance(answer, str):
        return _plain(value) == _plain(answer)
    return math.isclose(value, answer, rel_tol=max(tolerance, 1e-9), abs_tol=1e-12)


def _plain(word: Value) -> str:
    """A word without what people write differently; the roofs by one of their names."""
    plain = " ".join(re.split(r"[\s_-]+", str(word).strip().casefold()))
    return _ROOFS.get(plain.replace(" / ", "/"), plain)


def _off(value: Value | None, answer: Value) -> str:
    """How a wrong value is wrong, without saying what is right."""
    if value is None or isinstance(value, str) or isinstance(answer, str):
        return "not it"
    if not value or not answer or (value < 0) != (answer < 0):
        return "too small" if value < answer else "too large"
    factor = max(float(value) / answer, answer / float(value))
    way = "small" if value < answer else "large"
    if factor >= 1e6:
        return f"more than a million times too {way}"
    return f"{units.digits(factor)} times too {way}" if factor >= 1.05 else f"a little too {way}"


def _written(value: Value | None) -> str:
    """A value as people write it: 1,048,576, 0.25, registers."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return units.number(value)
