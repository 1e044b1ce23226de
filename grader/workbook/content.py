"""Where lessons and kernels lie: beside the package in a clone, inside it when installed from a wheel."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def content_root() -> Path:
    """The folder that holds `lessons/` and `kernels/`."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_content"
    return installed if installed.is_dir() else package.parent


def name_of(path: Path) -> str:
    """A path below the content root, which is the same on every machine; others by their name alone."""
    root = content_root()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def digest(files: Iterable[Path]) -> str:
    """Changes with the content of files, with their names, and with those of the folders that they lie in."""
    whole = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        whole.update(f"{path.parent.name}/{path.name}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()


def record_file(topic: str, gpu: str | None = None) -> Path:
    """Where the committed record of a topic on a GPU lies, if there is one.

    Without `gpu`, on an H200; where there is none of an H200, on the first GPU of which there is one.
    """
    folder = content_root() / "measurements"
    path = folder / (gpu or "h200") / f"{topic}.json"
    if gpu is None and not path.is_file():
        return min(folder.glob(f"*/{topic}.json"), default=path)
    return path
