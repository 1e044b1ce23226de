"""What rungs are and learners hand in: a file of source that opens with its idea."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.workbook.signature import Signature


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A kernel file or a schedule file."""

    path: Path
    idea: str  # the prose at its head; paragraphs apart by an empty line
    source: str
    signature: Signature
    side_step: bool = False  # an idea worth knowing that need not be faster than the rung before
