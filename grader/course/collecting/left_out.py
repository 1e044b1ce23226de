"""The files of downloads that were left out, kept beside the marks: whoever looks at a class later has to know of them.

They can be lost like the marks: collecting the download once more finds them again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grader.emulator.cache import write_whole

_FOLDER = "left-out"


@dataclass(frozen=True)
class LeftOut:
    """A file that counts for nobody."""

    student: str  # nbgrader's id; "" where nobody knows whose it is
    file: str
    why: str
    platform: str = ""  # where the download comes from
    person: str = ""  # as the platform knows whose it is


_KEPT = msgspec.json.Decoder(list[LeftOut])


def read(marks: Path, assignment: str) -> list[LeftOut]:
    """Those of an assignment. `marks`: the folder of the course's marks."""
    try:
        return _KEPT.decode(_path(marks, assignment).read_bytes())
    except (OSError, msgspec.DecodeError):
        return []


def keep(
    marks: Path, assignment: str, fresh: Sequence[LeftOut], students: Collection[str], files: Collection[str]
) -> None:
    """Keep those of a download, in place of what was known of the same students and files.

    `students`: those whom the download has files of; `files`: all that it has. Raises OSError.
    """
    earlier = [
        each
        for each in read(marks, assignment)
        if (each.student not in students if each.student else each.file not in files)
    ]
    if [*earlier, *fresh] != read(marks, assignment):
        write_whole(_path(marks, assignment), msgspec.json.encode([*earlier, *fresh]))


def _path(marks: Path, assignment: str) -> Path:
    return marks / _FOLDER / f"{hashlib.sha256(assignment.encode()).hexdigest()[:32]}.json"
