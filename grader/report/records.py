"""Records: climbs kept as files, from which every figure of the book is drawn."""

from __future__ import annotations

import re
from pathlib import Path

from grader.errors import WarpladderError
from grader.results import Climb, Device, to_json


def save(result: Climb, folder: Path) -> Path:
    """Write `folder/<gpu>/<topic>.json` and return its path. Raises WarpladderError where that fails."""
    path = folder / gpu_folder(result.device) / f"{result.topic}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(to_json(result))
    except OSError as error:
        raise WarpladderError(f"it cannot be written: {error.strerror}", file=path) from None
    return path


def gpu_folder(device: Device) -> str:
    """ "NVIDIA GeForce RTX 4090" → "rtx-4090"; what was emulated never lies among what was measured."""
    bare = re.sub(r"(?i)\b(nvidia|geforce|tesla|emulated)\b|[^A-Za-z0-9]+", " ", device.name)
    name = "-".join(bare.lower().split())
    return name if device.kind == "gpu" else f"emulated-{name}"
