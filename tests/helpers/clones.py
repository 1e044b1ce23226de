"""Copies of the clone that is tested."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE_HERE = (".git", ".venv", "build", "dist", ".*_cache", ".hypothesis", "__pycache__")


def copied_to(target: Path) -> Path:
    """The workbook in a folder that is not there yet, without what was made in this one. Returns the folder."""
    shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*MADE_HERE))
    return target
