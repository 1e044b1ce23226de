"""What an archive holds of a course: an assignment's cells, its hidden cases, and what it is marked on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from grader.course.hidden import Hidden
from grader.course.restore import Original

FILE = "assignment.json"
PACKAGE = "warpladder"
"""The folder of the archive that Python imports from."""

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]


@dataclass(frozen=True)
class Kernel:
    """A kernel that is asked for."""

    notebook: str  # its notebook's name, without .ipynb
    topic: str
    cell: Original  # the one it is written in
    points: Mapping[str, float]  # by rung, what their graded cells are worth


@dataclass(frozen=True)
class Packed:
    """An assignment."""

    name: str
    kernels: Sequence[Kernel]
    hidden: Hidden  # of these topics alone
    device: str
    arch: str | None
    seconds: float
    visibility: Visibility  # when students see points and feedback
    unconfined: Sequence[str] = ()  # topics whose Python runs where there are only limits for it
    others: Sequence[str] = ()  # graded cells of the lecturer's own, which are not marked there

    def write(self) -> bytes:
        """As JSON."""
        return msgspec.json.encode(self)


def read(path: Path) -> Packed:
    """The inverse of `Packed.write`."""
    return msgspec.json.decode(path.read_bytes(), type=Packed)
