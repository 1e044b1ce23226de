"""Where lessons and kernels lie: beside the package in a clone, inside it when installed from a wheel."""

from __future__ import annotations

from pathlib import Path


def content_root() -> Path:
    """The folder that holds `lessons/` and `kernels/`."""
    package = Path(__file__).resolve().parent
    installed = package / "_content"
    return installed if installed.is_dir() else package.parent
