"""Formulas in the text of an assignment."""

from __future__ import annotations

import re

from grader.course import assignment
from grader.workbook import topics


def formulas_of(topic: str) -> int:
    """How many the topic's assignment has."""
    cells = assignment.notebook(topics.load(topic)).cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    return sum(len(re.findall(r"\$\$?[^$]+\$\$?", text)) for text in texts)
