"""Prose for pages that are read without a network: formulas as MathML.

nbgrader's pages, feedback and formgrader, leave formulas to a script from the web. Browsers draw MathML by themselves.
"""

from __future__ import annotations

import re

from latex2mathml.converter import convert

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
        return _mathml(found["block"], "block", found[0])
    return _mathml(found["inline"], "inline", found[0])


def _mathml(formula: str, display: str, written: str) -> str:
    """One line, because an empty one would end the paragraph; `written`, where it is no formula after all."""
    try:
        text: str = convert(" ".join(formula.split()), display=display)
    except (
        Exception
    ):  # what learners write between dollars is anything; latex2mathml's errors have no common base
        return written
    return text.replace("\n", " ")
