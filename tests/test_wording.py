"""What learners read: the field's words, in the place of those that nobody understood, and sources for its ideas."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
READ = (
    "README.md", "CONTRIBUTING.md", "docs", "book", "lessons", "notebooks", "grader/cli", "grader/checking.py",
    "grader/course/commands", "grader/interview/commands", "grader/interview/reports", "grader/report",
    "grader/findings", "grader/judge", "grader/workbook", "grader/doctor.py", "grader/emulator/cudart",
)  # fmt: skip

REPLACED = {
    "what is missing on this machine": "check this machine and show how to fix what is missing",
    "hold the time model against": "compare modelled with measured times",
    "be asked from the bank": "answer questions from the bank",
    "say the version": "show the version",
    "so many, drawn at random": "number of questions to draw",
    "nobody knows how to launch": "missing launch block",
    "for ever at a barrier": "deadlocked at a barrier",
    "because nothing orders them": "may overlap: unordered",
    "a side step": "for understanding, not for speed",
    "asked ≤": "at most … required",
    "every element is read once: a load request": "loads are few: one warp load for 32",
    "lanes meet again": "reconvergence",
    "copies that nobody carries": "asynchronous copies",
    "what a kernel feels": "the machine",
}
"""Wordings that were tried on learners and not understood, with what says it."""


def texts(place: str) -> list[Path]:
    root = ROOT / place
    kinds = (".md", ".py", ".toml", ".j2", ".cu")
    return [root] if root.is_file() else [path for path in sorted(root.rglob("*")) if path.suffix in kinds]


def test_wordings_that_were_not_understood_are_gone() -> None:
    found = [
        f"{path}: {old}; say: {new}"
        for path in (path for place in READ for path in texts(place))
        for text in (" ".join(path.read_text("utf-8").lower().split()),)
        for old, new in REPLACED.items()
        if old in text
    ]
    assert found == []


def test_no_line_of_prose_begins_like_an_item_of_a_list() -> None:
    """Such as the second half of a formula that was broken before its +. Lists are written with -."""
    found = [
        f"{path}: {line}"
        for place in ("README.md", "docs", "book", "lessons", "notebooks")
        for path in texts(place)
        if path.suffix == ".md"
        for line in path.read_text("utf-8").splitlines()
        if re.match(r"[+*] ", line)
    ]
    assert found == []


def test_a_lesson_names_its_sources() -> None:
    lessons = list(ROOT.glob("lessons/*/lesson.md"))
    assert lessons
    link = re.compile(r"\]\(https://[^)\s]+\)")
    assert [str(path) for path in lessons if not link.search(path.read_text("utf-8"))] == []
