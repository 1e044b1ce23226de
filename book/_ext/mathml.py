"""Formulas as MathML, made while the book is built: browsers draw it themselves, without a script.

Not every machine has a font for mathematics, so the book brings one: STIX Two Math (SIL Open Font License), a copy of
the file in the package ziamath.
"""

from __future__ import annotations

import re
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


def mathml(node: nodes.math | nodes.math_block, display: str) -> str:
    """The formula as a <math> element; a warning, hence an error of `make book`, where it is not understood."""
    try:
        found = convert(node.astext().strip(), display=display)
    except (NoAvailableTokensError, IndexError, ValueError, TypeError) as error:
        LOGGER.warning("this formula is not understood (%r): %s", error, node.astext(), location=node)
        return ""
    for command in UNKNOWN.findall(found):
        LOGGER.warning("the formula's command %s is not known to latex2mathml", command, location=node)
    return found


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
