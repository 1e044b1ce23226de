"""Prose for pages that are read without a network: formulas as MathML, and tables with room in them.

nbgrader's pages, feedback and formgrader, leave formulas to a script from the web. Browsers draw MathML by themselves.
"""

from __future__ import annotations

import re

from latex2mathml.converter import convert

STYLE = (
    "<style>.rendered_html table {border-collapse: collapse; margin: 1em 0} .rendered_html th, .rendered_html td "
    "{padding: .25em .8em; border-bottom: 1px solid #ddd; vertical-align: top; text-align: left}</style>"
)

_CODE_OR_FORMULA = re.compile(
    r"(?P<code>```.*?```|`[^`]*`)|\$\$(?P<block>.+?)\$\$|(?<![\\$])\$(?P<inline>[^$\n]+(?:\n[^$\n]+)*?)\$",
    re.DOTALL,
)


def formulas(markdown: str) -> str:
    """Markdown with the formulas between dollars as MathML; code is left alone."""
    return _CODE_OR_FORMULA.sub(_formula, markdown)


def _formula(found: re.Match[str]) -> str:
    if found["code"] is not None:
        return found[0]
    if found["block"] is not None:
        return _mathml(found["block"], "block")
    return _mathml(found["inline"], "inline")


def _mathml(formula: str, display: str) -> str:
    """One line, because an empty one would end the paragraph."""
    text: str = convert(" ".join(formula.split()), display=display)
    return text.replace("\n", " ")
