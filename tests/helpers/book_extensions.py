"""The book's extensions, which Sphinx finds in a folder of their own."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = str(Path(__file__).resolve().parents[2] / "book" / "_ext")


def extension(name: str) -> Any:
    """The module of that name, such as `values` or `figures.warps`."""
    if FOLDER not in sys.path:
        sys.path.insert(0, FOLDER)
    return import_module(name)
