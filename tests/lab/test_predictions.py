"""Predictions and tasks: what a miss says, hints that come on demand, boxes that keep what is typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grader.lab as lab
from grader.errors import WarpladderError
from grader.lab import inputs

SIZE = {"M": 64, "N": 64}


def predict(name: str, value: float | str | None, answer: float | str, **about: Any) -> lab.Prediction:
    """A question, and at once a prediction."""
    lab.question(name, lambda: answer, **about)
    return lab.predict(name, value)


def test_a_prediction_is_open_right_or_wrong() -> None:
    assert predict("a", None, 32).state == "open"
    assert predict("a", 32, 32).state == "right"
    assert predict("a", 31.9, 32, tolerance=0.01).state == "right"
    assert predict("a", 8, 32, unit="sectors").state == "wrong"
    assert lab.reveal("a") == 32


def test_a_factor_is_said_after_a_second_miss_and_not_before() -> None:
    lab.question("b", lambda: 32)
    assert lab.predict("b", 8).says == "8 is not right."
    assert lab.predict("b", 8).says == "8 is not right."  # the same again is no second try
    assert lab.predict("b", 64).says == "64 is 2 times too large."
    assert lab.predict("b", 8).says == "8 is 4 times too small."
    lab.question("b", lambda: 32)
    assert lab.predict("b", 8).says == "8 is not right."


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (33, "33 is a little too large"),
        (0, "0 is too small"),
        (-5, "-5 is too small"),
        ("x", "x is not it"),
        (64, "64 is 2 times too large"),
        (1e99, "1e+99 is more than a million times too large"),
    ],
)
def test_a_second_miss_says_which_way(value: float | str, said: str) -> None:
    lab.question("c", lambda: 32)
    lab.predict("c", 7)
    assert lab.predict("c", value).says == f"{said}."


def test_hint_and_answer_wait_for_a_click() -> None:
    for value in (None, 8):
        found = predict("d", value, 12345, unit="sectors", hint="Look at `row`.")
        page = found._repr_html_()
        folded = page.partition("<details>")[2]
        assert "Look at <code>row</code>." in folded
        assert "12,345 sectors" in folded
        assert "Look at" not in page.partition("<details>")[0]
        assert "Look at" not in repr(found)
        assert 'lab.hint("d")' in repr(found)
    assert "<details>" not in predict("d", 12345, 12345, hint="Look.")._repr_html_()
    predict("d", None, 12345, hint="Look at `row`.")
    assert repr(lab.hint("d")) == "Look at `row`."
    with pytest.raises(WarpladderError, match="no hint for `nowhere`"):
        lab.hint("nowhere")


def test_a_prediction_whose_question_was_not_run_says_so() -> None:
    with pytest.raises(WarpladderError, match="no question `never asked`") as caught:
        lab.predict("never asked", 3)
    assert "folded cell" in str(caught.value.remedy)


@pytest.mark.parametrize("value", [[1, 2], float("nan"), float("inf"), 10**400, True, np.zeros(2), 1j])
def test_what_is_no_answer_is_refused_and_not_kept(value: Any) -> None:
    predict("kept", 3, 32)
    with pytest.raises(WarpladderError, match=r"`kept` takes a number or a word, and .{1,40} is neither"):
        lab.predict("kept", value)
    assert lab.item("kept").written == "3"
    assert lab.score()


def test_numbers_of_any_kind_and_size_are_answers() -> None:
    assert predict("e", np.float32(0.25), 0.25).state == "right"
    assert predict("e", np.int64(32), 32).state == "right"
    assert predict("e", 1, 1, unit="sectors a request").says == "right: 1 sector a request."


def test_words_agree_whatever_their_case() -> None:
    assert predict("f", "Shared memory ", "shared memory").state == "right"
    assert predict("f", "shared/L1", "shared").state == "right"
    assert predict("f", "dram/l2/shared/fma", "shared").state == "wrong"
    assert predict("f", "registers", "shared memory").state == "wrong"


def test_a_task_is_done_when_the_counters_show_it() -> None:
    naive, tile = (lab.counters(f"transpose/{rung}", **SIZE) for rung in ("00_naive", "02_shared_tile"))

    def few(counts: lab.Counts) -> bool:
        return counts.store_sectors <= 512

    lab.hints({"g": "Turn it."})
    made = lab.task("g", naive, few, tile)
    assert made.state == "open"
    assert "Turn it." in made._repr_html_().partition("<details>")[2]
    assert "Turn it." not in repr(made)
    assert "__syncthreads" in repr(lab.reveal("g"))
    assert lab.task("g", tile, few, tile).state == "right"
    assert lab.task("g", tile.verified(False), few, tile).state == "wrong"
    with pytest.raises(WarpladderError, match="does not do what it should"):
        lab.task("g", tile, few, naive)


def test_the_score_has_every_item() -> None:
    predict("h", 1, 1)
    predict("i", None, 1)
    score = lab.score()
    assert {"h": "right", "i": "open"}.items() <= {item.id: item.state for item in score.items}.items()
    assert f"{score.right} of {len(score.items)} right" in repr(score)
    assert "of what was asked so far" in repr(score)
    with pytest.raises(WarpladderError, match="nothing was asked under `nothing`"):
        lab.reveal("nothing")


def test_the_score_says_what_was_not_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    predict("h", 1, 1)
    source = ["lab.predict(\n", '    "h", 1)\n', "lab.task('later', yours, reached, solution)"]
    notebook = tmp_path / "own.ipynb"
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": source}]}))
    monkeypatch.setenv("JPY_SESSION_NAME", str(notebook))
    score = lab.score()
    assert score.missing == ("later",)
    assert f"{score.right} of {len(score.items) + 1} right" in repr(score)
    assert "not reached" in repr(score)


# ---- boxes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("32", 32),
        (" 1,048,576 ", 1048576),
        ("32 * 33", 1056),
        ("1/6", 1 / 6),
        ("-0.5", -0.5),
        ("shared memory", "shared memory"),
        ("sm_90", "sm_90"),
        ("1e999", "1e999"),
        ("", None),
    ],
)
def test_a_box_takes_numbers_and_words(text: str, value: float | str | None) -> None:
    assert inputs.read(text) == value


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A notebook that Jupyter has opened."""
    file = tmp_path / "own.ipynb"
    file.write_text("{}")
    monkeypatch.setenv("JPY_SESSION_NAME", str(file))
    return file


@pytest.fixture
def box(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What displays a prediction in a kernel, and gives the box and a list of the texts shown below it."""
    ipywidgets = pytest.importorskip("ipywidgets")
    display = pytest.importorskip("IPython.display")
    shown: list[Any] = []

    class Handle:
        def update(self, forms: dict[str, str], raw: bool) -> None:
            shown.append(forms["text/plain"])

    def collect(what: Any, raw: bool = False, display_id: bool = False) -> Handle:
        shown.append(what["text/plain"] if raw else what)
        return Handle()

    monkeypatch.setattr(display, "display", collect)
    monkeypatch.setattr(inputs, "_can_ask", lambda: True)

    def show(prediction: lab.Prediction) -> tuple[Any, list[str]]:
        shown.clear()
        prediction._ipython_display_()
        boxes = [item for item in shown if isinstance(item, ipywidgets.Text)]
        return (boxes[0] if boxes else None), shown

    return show


def test_what_is_typed_is_checked_and_is_there_when_the_notebook_is_opened_again(
    box: Any, notebook: Path
) -> None:
    lab.question("typed", lambda: 32)
    text, shown = box(lab.predict("typed", None))
    assert text.description == "typed"
    assert "into its box" in shown[-1]
    text.value = "8"
    assert "8 is not right" in shown[-1]
    text.value = "4 * 8"
    assert "right: 32" in shown[-1]
    assert lab.item("typed").state == "right"

    again, shown = box(lab.predict("typed", None))
    assert again.value == "32"
    assert "right: 32" in shown[-1]
    again.value = ""
    assert lab.predict("typed", None).state == "open"


def test_what_stands_in_the_cell_needs_no_box_and_goes_first(box: Any, notebook: Path) -> None:
    lab.question("typed", lambda: 32)
    inputs.keep("typed", 8)
    text, shown = box(lab.predict("typed", 32))
    assert text is None
    assert "right: 32" in shown[-1]


def test_without_widgets_there_is_the_text_alone(box: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_can_ask", lambda: False)
    text, shown = box(predict("typed", None, 32))
    assert text is None
    assert "still open" in shown[-1]


def test_answers_that_cannot_be_read_are_put_aside(notebook: Path) -> None:
    inputs.keep("a", 1)
    file = notebook.parent / ".answers" / "own.json"
    assert json.loads(file.read_text()) == {"a": 1}
    file.write_text('{"a": 1')
    assert inputs.kept("a") is None
    inputs.keep("b", "word")
    assert inputs.kept("b") == "word"
    assert file.with_suffix(".json.unreadable").read_text() == '{"a": 1'
