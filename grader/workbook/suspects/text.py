"""What all kinds of mistakes are looked for with: how much of a text, and how it gives a variable a value."""

from __future__ import annotations

import re

from grader.workbook.cuda_source import plain

_MOST = 20_000  # characters that are looked at: bounds a stranger's work

ADDED = re.compile(r"(?:\[[^\[\]]*\])*\s*(?:(?:[-+*/%&|^]|<<|>>)=(?!=)|\+\+|--)")
"""What stands behind a variable that is added to, or changed in a like way."""

Said = tuple[int, str]
"""A line, and a sentence about it."""


def looked_at(source: str) -> str:
    """A source's text without its comments, as far as it is looked at."""
    return plain(source[:_MOST])


def sets(text: str, name: str) -> int:
    """How often a variable is given a value."""
    return len(re.findall(rf"\b{name}\b(?:{ADDED.pattern}|\s*=(?!=))|(?:\+\+|--)\s*{name}\b", text))
