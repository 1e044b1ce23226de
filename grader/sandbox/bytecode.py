"""Compiled modules for confined processes, which cannot keep what they compile themselves."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import py_compile
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_FOLDERS = ("sandbox", "judge/child", "emulator", "workbook")
"""What confined processes import."""


@cache
def compile_package() -> None:
    """Compile what was edited since it was last compiled. Installed packages are compiled already."""
    for folder in _FOLDERS:
        for source in (_PACKAGE / folder).rglob("*.py"):
            compiled = importlib.util.cache_from_source(str(source))
            if _changed(compiled) < os.stat(source).st_mtime:
                with contextlib.suppress(py_compile.PyCompileError, OSError):  # whoever imports it says so
                    py_compile.compile(str(source), compiled, doraise=True)


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
