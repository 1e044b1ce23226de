"""Formulas as MathML, made while the book is built: browsers draw it themselves, without a script.

Not every machine has a font for mathematics, so the book brings one: STIX Two Math (SIL Open Font License), a copy of
the file in the package ziamath.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from importlib import resources
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from latex2mathml.exceptions import NoAvailableTokensError
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.fileutil import copy_asset_file
from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)
UNKNOWN = re.compile(r"<m[io]>(\\[A-Za-z]+)</m[io]>")
MATHML = "http://www.w3.org/1998/Math/MathML"
ROWS = {f"{{{MATHML}}}{name}" for name in ("math", "mrow", "mstyle", "mtd")}
SCRIPTS = {f"{{{MATHML}}}{name}" for name in ("msub", "msup", "msubsup")}
OPERATOR = f"{{{MATHML}}}mo"
BARS = ("|", "‖")
CLOSING = (")", "]", "}")

ElementTree.register_namespace("", MATHML)


def mathml(node: nodes.math | nodes.math_block, display: str) -> str:
    """The formula as a <math> element; a warning, hence an error of `make book`, where it is not understood."""
    try:
        found = with_bars_in_pairs(convert(_known(node.astext().strip()), display=display))
    except (NoAvailableTokensError, IndexError, ValueError, TypeError, ElementTree.ParseError) as error:
        LOGGER.warning("this formula is not understood (%r): %s", error, node.astext(), location=node)
        return ""
    for command in UNKNOWN.findall(found):
        LOGGER.warning("the formula's command %s is not known to latex2mathml", command, location=node)
    return found


def _known(formula: str) -> str:
    """latex2mathml takes the & of an `aligned` for a letter; its `align*` may stand inside a formula as well."""
    return re.sub(r"(\\(?:begin|end))\{aligned\}", r"\1{align*}", formula)


def with_bars_in_pairs(formula: str) -> str:
    """The formula with a form for each bar: a browser takes one without for a sign between operands, and puts space
    around it, inside |x| as well as outside."""
    root = ElementTree.fromstring(formula)
    for row in root.iter():
        if row.tag in ROWS:
            for bar, form in _bars(row):
                bar.attrib.update(form=form, lspace="0", rspace="0")
    return ElementTree.tostring(root, encoding="unicode")


def _bars(row: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, str]]:
    """The bars of a row that have no form: one opens where none is open, and after an operator."""
    is_open, after_operator = 0, True
    for item in row:
        core = item[0] if item.tag in SCRIPTS else item
        sign = (core.text or "").strip() if core.tag == OPERATOR else ""
        if sign in BARS and "form" not in core.attrib:
            after_operator = after_operator or not is_open
            is_open += 1 if after_operator else -1
            yield core, "prefix" if after_operator else "postfix"
        else:
            after_operator = bool(sign) and sign not in CLOSING and item is core


def inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(f'<span class="math">{mathml(node, "inline")}</span>')
    raise nodes.SkipNode


def block(self: HTML5Translator, node: nodes.math_block) -> None:
    """A formula of its own scrolls in itself where the page is narrower, so the keyboard has to reach it."""
    self.body.append(f'<div class="math" tabindex="0" role="math">{mathml(node, "block")}</div>\n')
    raise nodes.SkipNode


def copy_font(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        (app.outdir / "_static" / "fonts").mkdir(exist_ok=True)
        with resources.as_file(resources.files("ziamath.fonts") / "STIXTwoMath-Regular.ttf") as font:
            copy_asset_file(font, app.outdir / "_static" / "fonts" / font.name)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    app.connect("build-finished", copy_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
