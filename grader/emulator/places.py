"""Where code stands in its source: a file, a line, and the calls that were inlined there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

GIVEN = ""
"""The name of the file that was given to the compiler."""
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.MULTILINE)
_COLLECTIVES = re.compile(r"cooperative_groups(\.h|/details/(coalesced_)?(reduce|scan)\.h)$")
"""Headers whose functions hand values round within a group."""
_BUILTIN = "__nv_nvrtc_builtin_header.h"
"""What NVRTC includes of its own accord, which is no file."""
_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Place:
    """A line of the source that is the user's own."""

    file: str
    """Its path; GIVEN for the file that was given to the compiler."""
    line: int
    """0 where the compiler kept none."""
    caller: Place | None = None
    """Where the function was called that it stands in, if it was inlined there."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def words(self) -> str:
        """As sentences name it."""
        return f"line {self.line}" + (f" of {self.file}" if self.file != GIVEN else "")

    def stack(self) -> Iterator[Place]:
        """This place and the calls that led here, the innermost first."""
        yield self
        if self.caller is not None:
            yield from self.caller.stack()

    def order(self) -> list[tuple[str, int]]:
        """What sorts places by file and line, then by those of the calls."""
        return [(place.file, place.line) for place in self.stack()]

    def naming(self, given: str) -> Place:
        """The same, in which the file that was given to the compiler has a name."""
        return Place(self.file or given, self.line, self.caller and self.caller.naming(given))

    def called_at(self, call: Place) -> Place:
        """The same place in a function that was called there."""
        if not self.line:
            return call
        return replace(
            self, caller=self.caller.called_at(call) if self.caller else call if call.line else None
        )


UNKNOWN = Place(GIVEN, 0)


@dataclass(frozen=True)
class Listed:
    """An instruction in a listing of PTX or SASS."""

    at: str
    """Its line in the text of PTX, its address in SASS."""
    text: str
    """In one line, behind the labels that name it."""
    place: Place


def of_library(path: Path) -> bool:
    """Whether a file is CUDA's, the system's, a package's or ours, which no user of the workbook has written."""
    return (
        bool({"site-packages", "dist-packages"} & set(path.parts))
        or path.parts[:2] == ("/", "usr")
        or _PACKAGE in path.parents
        or path.name == _BUILTIN
    )


def own_files(ptx: str) -> dict[int, str]:
    """The user's files, by their number in a PTX text. The one that was given to the compiler is number 1."""
    own = {int(number): name for number, name in _FILE.findall(ptx) if not of_library(Path(name))}
    return own | {1: GIVEN}


def collectives(ptx: str) -> frozenset[int]:
    """The numbers of CUDA's headers, in a PTX text, whose functions hand values round within a group."""
    found = ((number, name) for number, name in _FILE.findall(ptx) if _COLLECTIVES.search(name))
    return frozenset(int(number) for number, name in found if of_library(Path(name)))
