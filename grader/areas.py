"""Areas of the code: what is kept, such as compiled kernels and marks, is kept for as long as its area is the same.

An area is a list of folders and files of this package: what is in them decides, data and headers too, but for `SHOWN`,
and nothing else does. Which code runs is not read from imports; `tests/test_areas.py` checks that what an area's
modules import lies in the area. Areas are wider than they need be, so that their lists are short; an edit of a report,
a page or a command makes nothing anew. This module lies in none: it decides keys, and no result.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent

RUNTIME = (
    "__init__.py",
    "modules.py",
    "emulator/__init__.py",
    "emulator/cache.py",
    "emulator/target.py",
    "emulator/runtime",
)
"""What compiles the emulator's runtime: a list of its own, because that takes most of a minute."""

EMULATOR = ("__init__.py", "modules.py", "sandbox", "emulator")
"""From CUDA C++ to what a launch does and counts."""

JUDGE = (
    *EMULATOR,
    "judge",
    "workbook",
    "analysis",
    "findings",
    "cuda.py",
    "driver_ext.py",
    "gpu.py",
    "results.py",
    "errors.py",
)
"""What a submission is worth: the judge, and all that it imports, down to the words of findings."""

INTERVIEW = (*JUDGE, "interview", "history")
"""What is checked of questions, interviews and drills."""

COURSE = (*JUDGE, "course")
"""What a course's mark is. Pages and tables of `report` and `lab` show marks, and decide none."""

SHOWN = frozenset(
    {"course/commands", "course/overview", "interview/commands", "interview/page", "interview/reports"}
)
"""Folders within an area's that show what is decided, and decide nothing."""


def fingerprint(area: tuple[str, ...]) -> str:
    """Changes with each file of an area."""
    return hashlib.sha256(b"".join(_digest(part) for part in area)).hexdigest()


@cache
def _digest(part: str) -> bytes:
    """Of the files in a folder, or of one file; areas share them."""
    digest = hashlib.sha256()
    for path in files(part):
        with open(f"{PACKAGE}/{path}", "rb", buffering=0) as file:
            content = file.read()
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.digest()


def files(part: str) -> Iterator[str]:
    """The files of a part, by their path in this package, without what shows results, and what Python or an editor
    leaves there."""
    # Strings, not pathlib: this runs in each process that looks for compiled code.
    whole = f"{PACKAGE}/{part}"
    if os.path.isfile(whole):
        yield part
        return
    for name in sorted(os.listdir(whole)):
        inner = f"{part}/{name}"
        if name != "__pycache__" and not name.startswith(".") and inner not in SHOWN:
            yield from files(inner)
