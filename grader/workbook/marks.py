"""What the idea of a rung is known by in the text of a kernel."""

from __future__ import annotations

import re

from grader.workbook.cuda_source import plain
from grader.workbook.ladder import Ladder
from grader.workbook.source_file import SourceFile

_MARK = re.compile(r"\b(?:__shared__|__shfl_|gridDim|wmma|(?:float|double|u?int|u?char)[248]\b|cp\.async)")


def resembled(ladder: Ladder[SourceFile], source: str) -> str | None:
    """The lowest rung that has what a text has of ideas; None where it has none, or others than all rungs."""
    begun = marks(source)
    return next((rung.id for rung in ladder.rungs if begun and begun <= marks(rung.source)), None)


def marks(source: str) -> set[str]:
    """Those of a text."""
    return set(_MARK.findall(plain(source)))
