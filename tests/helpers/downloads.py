"""Downloads of platforms, made for tests."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

NOON = datetime(2024, 3, 5, 12)


def a_zip(path: Path, files: Mapping[str, bytes], times: Mapping[str, datetime] | None = None) -> Path:
    """A zip whose files have the time of noon, in this machine's time, unless `times` says another."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            when = (times or {}).get(name, NOON)
            archive.writestr(zipfile.ZipInfo(name, when.timetuple()[:6]), data, zipfile.ZIP_DEFLATED)
    return path


def add_link(path: Path, name: str, target: str) -> None:
    """Add a symbolic link to a zip."""
    member = zipfile.ZipInfo(name)
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(member, target)


def a_folder(root: Path, files: Mapping[str, bytes]) -> Path:
    """A folder of files."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root
