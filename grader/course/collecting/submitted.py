"""A student's folder, `submitted/STUDENT/ASSIGNMENT`: changed whole or not at all.

Beside the notebooks and nbgrader's timestamp.txt lies a record of where they came from, by which a file is known again.
A new state is written into a folder beside it and takes its place by two renames; what a killed run left between them
is put right before the next one begins.
"""

from __future__ import annotations

import glob
import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from grader.course.collecting import moments
from grader.course.collecting.answers import NOTEBOOK
from grader.course.folder import TIMESTAMP
from grader.errors import WarpladderError

RECORD = "collected.json"
_NEW, _OLD = ".new", ".old"

Outcome = Literal["new", "newer", "the same", "older", "left out"]


@dataclass(frozen=True)
class Origin:
    """Where a notebook came from."""

    file: str  # as its author called it
    sha256: str  # of its bytes as they were handed in
    at: datetime  # not handed in later than that, in UTC
    told: datetime  # what nbgrader is told
    exact: bool = True  # handed in just then
    number: int = 0  # of two at the same moment the higher one is the later
    platform: str = ""
    person: str = ""  # as the platform knows them
    late: bool | None = None  # as the platform says
    downloaded: datetime | None = None  # in UTC; None in what earlier versions wrote

    def before(self, other: Origin) -> bool:
        """Whether it is older: by the times of handing in where both are exact, else by the downloads'."""
        if self.exact and other.exact:
            return (self.at, self.number) < (other.at, other.number)
        return (self.downloaded or self.at, self.number) < (other.downloaded or other.at, other.number)


@dataclass(frozen=True)
class State:
    """What a student's folder holds: notebooks by name, without .ipynb."""

    origins: dict[str, Origin] = field(default_factory=dict)

    def outcome(self, notebook: str, fresh: Origin) -> Outcome:
        """What becomes of a file that was handed in for a notebook."""
        there = self.origins.get(notebook)
        if there is None:
            return "new"
        if there.sha256 == fresh.sha256:
            return "the same"
        return "older" if fresh.before(there) else "newer"


_RECORD = msgspec.json.Decoder(State)


def digest(data: bytes) -> str:
    """By what bytes are known again."""
    return hashlib.sha256(data).hexdigest()


def state(folder: Path) -> State:
    """What lies in a folder, whoever put it there: notebooks without a record count from nbgrader's timestamp, and are
    older than anything without one."""
    try:
        recorded = _RECORD.decode((folder / RECORD).read_bytes()).origins
    except (OSError, msgspec.DecodeError):
        recorded = {}
    found = {}
    for path in sorted(folder.glob(f"*{NOTEBOOK}")):
        found[path.stem] = recorded.get(path.stem) or _of_others(path)
    return State(found)


def _of_others(notebook: Path) -> Origin:
    try:
        at = moments.of_timestamp((notebook.parent / TIMESTAMP).read_bytes()).at
        return Origin(notebook.name, digest(notebook.read_bytes()), at, at)
    except (OSError, ValueError):
        never = datetime.min.replace(tzinfo=UTC)
        return Origin(notebook.name, "", never, never)


def replace(folder: Path, before: State, notebooks: Mapping[str, bytes], fresh: Mapping[str, Origin]) -> None:
    """Put notebooks into a student's folder, each with its origin; what else is there stays.

    Raises WarpladderError where it cannot be written; the folder is then as it was.
    """
    after = State({**before.origins, **fresh})
    told = max(origin.told for origin in after.origins.values())
    aside = _beside(folder, _NEW)
    try:
        aside.parent.mkdir(parents=True, exist_ok=True)
        if folder.is_dir():
            shutil.copytree(folder, aside, symlinks=True)
        else:
            aside.mkdir()
        for name, data in notebooks.items():
            _write(aside / f"{name}{NOTEBOOK}", data)
        _write(aside / TIMESTAMP, moments.to_timestamp(told))
        _write(aside / RECORD, msgspec.json.format(msgspec.json.encode(after), indent=2) + b"\n")
        if folder.is_dir():
            folder.rename(_beside(folder, _OLD))
        aside.rename(folder)
    except (OSError, shutil.Error) as error:
        mend(folder)
        said = getattr(error, "strerror", None) or str(error)
        remedy = "mend it and collect again: nothing was lost"
        raise WarpladderError(f"it cannot be written: {said}", file=folder, remedy=remedy) from None
    mend(folder)


def _write(path: Path, data: bytes) -> None:
    """In place of whatever is there: a link, or a file that may only be read, as nbgrader leaves them."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def mend(folder: Path) -> None:
    """Take away what a run that was killed left beside a folder, and put the folder back if it had just been moved."""
    old = _beside(folder, _OLD)
    if old.is_dir() and not folder.exists():
        old.rename(folder)
    for left in (old, _beside(folder, _NEW)):
        shutil.rmtree(left, ignore_errors=True)


def left_beside(pattern: str) -> list[Path]:
    """The folders among those of a pattern that a killed run was about to change."""
    return sorted(
        {
            path.with_name(path.name.removeprefix(".").removesuffix(suffix))
            for suffix in (_NEW, _OLD)
            for path in map(Path, glob.glob(str(_beside(Path(pattern), suffix))))
        }
    )


def _beside(folder: Path, suffix: str) -> Path:
    return folder.with_name(f".{folder.name}{suffix}")
