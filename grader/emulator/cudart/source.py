"""What the text of a program says about a line that something happened in."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from grader.emulator.places import Place

_POINTER = r"(?:\([^()]*\*\s*\*\s*\)\s*)?&\s*(?P<name>[A-Za-z_][\w.\->\[\]]*)"
_CALL = re.compile(r"\bcu(?:da)?[A-Z]\w*\s*(?:<[^;()]*>)?\s*\(")
_STATEMENT = re.compile(r"(?:.*[;{})])?\s*(?:\(void\)\s*)?(?:::)?")
"""What stands before a call that is a statement of its own."""
_BYTES = {
    "char": 1, "short": 2, "int": 4, "unsigned": 4, "float": 4, "double": 8, "int8_t": 1, "uint8_t": 1, "int32_t": 4,
    "uint32_t": 4, "int64_t": 8, "uint64_t": 8, "size_t": 8,
}  # fmt: skip


class Source:
    """The files of a program."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @functools.cache  # noqa: B019  # as long-lived as one run
    def _lines(self, file: str) -> list[str]:
        try:
            return (self._folder / file).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []

    def line(self, place: Place) -> str:
        lines = self._lines(place.file)
        return lines[place.line - 1] if 0 < place.line <= len(lines) else ""

    def array(self, place: Place | None) -> str | None:
        """The pointer that an allocating call on this line sets, as `d_a` of cudaMalloc(&d_a, …); None: not seen."""
        if place is None:
            return None
        found = re.findall(
            rf"\bcu\w*Alloc\w*(?:<[^()]*>)?\s*\(\s*{_POINTER}", self.line(place), re.IGNORECASE
        )
        return found[0] if len(found) == 1 else None

    def element_bytes(self, array: str, place: Place) -> int | None:
        """The size of what a pointer is declared to point to; None where it is no type of the language's."""
        declared = re.compile(rf"\b({'|'.join(_BYTES)})\b[^;(){{}}]*\*\s*(?:const\s+)?{re.escape(array)}\b")
        found = {_BYTES[each[1]] for line in self._lines(place.file) if (each := declared.search(line))}
        return found.pop() if len(found) == 1 else None

    def drops_result(self, place: Place | None) -> bool:
        """Whether the first call of the runtime on this line stands as a statement of its own, so that nobody looks at
        what it returns."""
        if place is None:
            return True
        line = self.line(place)
        found = _CALL.search(line)
        return found is not None and _STATEMENT.fullmatch(line[: found.start()]) is not None
