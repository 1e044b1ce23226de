"""What was autograded, and of what: written when the gradebook has it, and taken away before it changes.

So a run that was killed at any moment leaves either a record that is true or none, and the next run does again what has
none. They lie beside the marks, and can be lost like these: everything is then autograded once more, to the same end.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grader.course.gradebook.entries import Scores
from grader.emulator.cache import ASIDE, write_whole

FOLDER = "autograded"
_SECONDS = 60.0
"""After this long, a file that is not whole belongs to nobody: writing one takes milliseconds."""


@dataclass(frozen=True)
class Autograded:
    """One student's submission as nbgrader autograded it."""

    submitted: str  # digest of the files handed in
    made_of: str  # digest of the assignment's cells and of the marks
    scores: Scores  # as the gradebook had them then
    feedback: str | None = None  # digest of what the feedback was made of; null: there is none yet


_RECORD = msgspec.json.Decoder(Autograded)


@dataclass(frozen=True)
class Records:
    """The records of an assignment, in the folder of the course's marks."""

    marks: Path
    assignment: str

    def of(self, student: str) -> Autograded | None:
        """A student's record; None where there is none, or none that can be read."""
        try:
            return _RECORD.decode(self._path(student).read_bytes())
        except (OSError, msgspec.DecodeError):
            return None

    def write(self, student: str, record: Autograded) -> None:
        """Raises OSError."""
        write_whole(self._path(student), msgspec.json.encode(record))

    def forget(self, student: str) -> None:
        self._path(student).unlink(missing_ok=True)

    def _path(self, student: str) -> Path:
        """Names of students may be as long as a file's name can be, so they are none of the record's."""
        name = hashlib.sha256(f"{self.assignment}\0{student}".encode("utf-8", "surrogateescape")).hexdigest()
        return self.marks / FOLDER / f"{name}.json"


def sweep(marks: Path) -> None:
    """Remove what runs that were killed left half written in the folder of marks."""
    for path in marks.rglob(f"{ASIDE}*"):
        if time.time() - path.stat().st_mtime > _SECONDS:
            path.unlink(missing_ok=True)
