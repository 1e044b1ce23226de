"""What the text of a program says about a line that something happened in."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from grader.emulator.cudart.events import Place

_POINTER = r"(?:\([^()]*\*\s*\*\s*\)\s*)?&\s*(?P<name>[A-Za-z_][\w.\->\[\]]*)"
_HOST = r"(?P<name>[A-Za-z_]\w*)\s*(?:\(|=|\{)"


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

    def array(self, place: Place | None, call: str) -> str | None:
        """The pointer that an allocating call on this line sets, as `d_a` of cudaMalloc(&d_a, …); None: not seen."""
        if place is None:
            return None
        found = re.findall(rf"{call}(?:<[^()]*>)?\s*\(\s*{_POINTER}", self.line(place))
        return found[0] if len(found) == 1 else None

    def drops_result(self, place: Place | None, call: str) -> bool:
        """Whether a call on this line stands as a statement of its own, so that nobody looks at what it returns."""
        if place is None:
            return True
        before, found, _ = self.line(place).partition(call)
        if not found:  # a macro's or a wrapper's call, or one of several lines
            return False
        return re.fullmatch(r"(?:.*[;{})]|\s*)\s*(?:\(void\)\s*)?(?:::)?\s*", before) is not None and not re.search(
            r"\b(?:return|=)\s*$", before
        )
