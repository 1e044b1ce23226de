"""The book's formulas: what latex2mathml leaves to the browser, or does not know."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from latex2mathml.converter import convert

pytestmark = pytest.mark.verify

EXTENSION = Path(__file__).resolve().parents[2] / "book" / "_ext" / "mathml.py"


@pytest.fixture(scope="module")
def mathml() -> Any:
    spec = importlib.util.spec_from_file_location("mathml", EXTENSION)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("formula", "sides"),
    [
        ("|x w|", "()"),
        (r"2u\,|B^T||d||B|", "()()()"),
        (r"|x|^2 + \sum_i |x_i|", "()()"),
        (r"||x| - 1|", "(())"),
        (r"\frac{|x|}{\|y\|}", "()()"),
        (r"\left|x\right|", "()"),
    ],
)
def test_bars_are_pairs_without_space(mathml: Any, formula: str, sides: str) -> None:
    made = mathml.with_bars_in_pairs(convert(formula))
    bars = re.findall(r"<mo[^>]*>[|‖]</mo>", made)
    assert "".join("(" if 'form="prefix"' in bar else ")" for bar in bars) == sides
    assert len(bars) == len(sides)


def test_equations_stand_below_each_other(mathml: Any) -> None:
    made = convert(mathml._known(r"\begin{aligned} a &= b \\ c &= d \end{aligned} \quad e"))
    assert made.count("<mtr>") == 2
    assert "<mi>&</mi>" not in made
