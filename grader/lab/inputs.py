"""A box under a prediction, to type the number into: checked at Enter, and kept.

The box needs ipywidgets and a kernel that answers; elsewhere the prediction is shown without it, and its number is
written into the cell. What is typed is kept beside the notebook, in `.answers/NAME.json`, because Jupyter does not
keep it; so it is there when the notebook is opened again.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

from grader.emulator.cache import write_whole
from grader.lab.predictions import Prediction, Value, judged
from grader.workbook import expressions


@dataclass(frozen=True, repr=False)
class Asked(Prediction):
    """A prediction as notebooks show it: with its box."""

    def _ipython_display_(self) -> None:
        show(self)


def show(prediction: Prediction) -> None:
    """Display a prediction, below a box where its cell says None and there is something to answer the box.

    The text is an output of its own, which the box replaces: a page that cannot show the box has the text.
    """
    from IPython.display import display

    if not (prediction.typed and _can_ask()):
        display(_forms(prediction), raw=True)
        return
    import ipywidgets

    box = ipywidgets.Text(
        value=prediction.written,
        description=prediction.id,  # as the card below it calls the question
        style={"description_width": "initial"},  # a long one is not cut off
        placeholder="type it, then Enter",
        continuous_update=False,
    )
    display(box)
    shown = display(_forms(prediction), raw=True, display_id=True)

    def check_it(_: object) -> None:
        made = judged(prediction, read(box.value))
        shown.update(_forms(made), raw=True)
        keep(made.id, made.value)

    box.observe(check_it, "value")


def _can_ask() -> bool:
    """Whether there is a kernel, and ipywidgets in it."""
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel") and importlib.util.find_spec("ipywidgets") is not None


def _forms(prediction: Prediction) -> dict[str, str]:
    return {"text/html": prediction._repr_html_(), "text/plain": repr(prediction)}


def read(text: str) -> Value | None:
    """What was typed: a number, also as 1,024 or 32 * 33, else a word; None where there is nothing."""
    text = text.strip()
    try:
        value = float(expressions.parse(re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)).evaluate({}))
    except (expressions.ExpressionError, OverflowError):
        return text or None
    return value if math.isfinite(value) else text


def kept(question_id: str) -> Value | None:
    """What was typed into the box of this question when the notebook was last open."""
    file = _file()
    return None if file is None else _read(file).get(question_id)


def keep(question_id: str, value: Value | None) -> None:
    """Keep what was typed, beside the notebook, where Jupyter says which file that is; None takes it away."""
    if (file := _file()) is None:
        return
    answers = {**_read(file), question_id: value}
    answers = {name: answer for name, answer in answers.items() if answer is not None}
    write_whole(file, (json.dumps(answers, indent=1, ensure_ascii=False) + "\n").encode())


def _file() -> Path | None:
    """Where the answers of this notebook are kept; None where Jupyter does not say which notebook it is."""
    notebook = Path(os.environ.get("JPY_SESSION_NAME", ""))
    return notebook.parent / ".answers" / f"{notebook.stem}.json" if notebook.is_file() else None


def _read(file: Path) -> dict[str, Value]:
    """The answers in a file; one that cannot be read is put aside, as NAME.json.unreadable."""
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        file.replace(file.with_suffix(".json.unreadable"))
        return {}
    return {name: value for name, value in found.items() if type(value) in (int, float, str)}
