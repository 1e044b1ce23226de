"""Records: climbs kept as files, from which every figure of the book is drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from grader.errors import WarpladderError
from grader.results import Climb, Device, load, to_json
from grader.workbook.content import content_root, record_file


def save(result: Climb, folder: Path) -> Path:
    """Write `folder/<gpu>/<topic>.json` and return its path. Raises WarpladderError where that fails."""
    path = folder / gpu_folder(result.device) / f"{result.topic}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(to_json(result))
    except OSError as error:
        raise WarpladderError(f"it cannot be written: {error.strerror}", file=path) from None
    return path


def find(record: str | None, topics: Sequence[str] | None) -> list[Path]:
    """The records meant: one file, those of one GPU, or all of the workbook's; of some topics alone, or of all.

    Raises WarpladderError where there is none.
    """
    if record is not None and record.endswith(".json"):
        return [Path(record)]
    folder = content_root() / "measurements"
    found = sorted(folder.glob(f"{record or '*'}/*.json"))
    chosen = [path for path in found if topics is None or path.stem in topics]
    missing = [name for name in topics or () if name not in {path.stem for path in chosen}]
    if missing or not chosen:
        others = [path for name in missing or ["*"] for path in folder.glob(f"*/{name}.json")]
        gpus = ", ".join(sorted({path.parent.name for path in others})) or "none"
        what = f"of {', '.join(missing)}" if missing else f"on {record}"
        raise WarpladderError(f"there is no record {what}", remedy=f"there are records of: {gpus}")
    return chosen


def measured(result: Climb) -> Climb | None:
    """The workbook's record of the same problem on the GPU that a climb emulated; None where there is none."""
    gpu = Device("gpu", result.device.name, result.device.arch)
    path = record_file(result.topic, gpu_folder(gpu))
    if result.device.kind == "gpu" or not path.is_file():
        return None
    found = read(path)
    return found if found.problem == result.problem else None


def on_same_gpu(topic: str, device: Device | None) -> Climb | None:
    """The workbook's record of a topic at its main sizes on the GPU that `device` is, or that it emulates."""
    if device is None:
        return None
    path = record_file(topic, gpu_folder(Device("gpu", device.name, device.arch)))
    return read(path) if path.is_file() else None


def read(path: Path) -> Climb:
    """A record from its file. Raises WarpladderError for a file that is none."""
    try:
        return load(path, Climb)
    except OSError as error:
        raise WarpladderError(f"it cannot be read: {error.strerror}", file=path) from None
    except msgspec.DecodeError as error:  # JSON of another form as well
        remedy = "write one with ladder climb TOPIC --record DIR"
        raise WarpladderError(f"it is no record of a climb: {error}", file=path, remedy=remedy) from None


def gpu_folder(device: Device) -> str:
    """ "NVIDIA GeForce RTX 4090" → "rtx-4090"; what was emulated never lies among what was measured."""
    bare = re.sub(r"(?i)\b(nvidia|geforce|tesla|emulated)\b|[^A-Za-z0-9]+", " ", device.name)
    name = "-".join(bare.lower().split())
    return name if device.kind == "gpu" else f"emulated-{name}"
