"""What a drill that is mended has besides: its file, and how much a change changes."""

from __future__ import annotations

import difflib
from pathlib import Path

from grader.interview.interviewer import Interviewer


def file_of(interviewer: Interviewer, name: str, suffix: str) -> Path:
    """Where the candidate writes: beside the session's file, and named after it, so that each session has its own.

    Of several drills each has its number: a drill's name may hint at what is asked.
    """
    names = interviewer.kept.questions
    number = f"-{names.index(name) + 1}" if len(names) > 1 else ""
    return interviewer.path.with_name(f"{interviewer.path.stem}{number}{suffix}")


def difference(before: str, after: str) -> str:
    """What a change is, line by line, in Markdown."""
    return "\n".join(["```diff", *_compared(before, after, 1), "```"])


def changed(before: str, after: str) -> int:
    """How many lines a change takes out or puts in, whichever are more; blank ones count as well."""
    signs = [line[0] for line in _compared(before, after, 0)]
    return max(signs.count("-"), signs.count("+"))


def _compared(before: str, after: str, around: int) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=around, lineterm="")
    return list(lines)[2:]
