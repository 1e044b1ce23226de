"""From addresses in the program to lines of its source, and from symbols to names: the compiler's own tools."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.emulator.places import Place

_LINE = re.compile(r"(.+):(\d+)(?: \(discriminator \d+\))?")
_HERE = Path(__file__).parent


class Lines:
    """The lines of a program that was compiled with -g, for those who know its return addresses."""

    def __init__(self, library: Path, toolkit: Path, near: Path) -> None:
        self._library, self._toolkit = library, toolkit
        self._near = near.resolve()
        self._known: dict[int, list[Place]] = {}
        self._names: dict[str, str] = {}
        self.base = 0
        """Where the program lay in memory."""

    def place(self, frames: Sequence[int]) -> Place | None:
        """The innermost line that is the program's own, and not one of CUDA's or of a library's headers."""
        self.look_up(frames)
        places = [place for frame in frames for place in self._known[frame] if self._own(place)]
        return next((Place(self._shown(place.file), place.line) for place in places), None)

    def _own(self, place: Place) -> bool:
        path = Path(place.file)
        return (
            place.line > 0
            and _HERE not in path.parents
            and self._toolkit not in path.parents
            and not place.file.startswith("/usr/")
        )

    def _shown(self, file: str) -> str:
        """The path as the reader knows it: from the source's folder."""
        path = Path(file).resolve()
        return str(path.relative_to(self._near)) if self._near in path.parents else str(path)

    def look_up(self, frames: Iterable[int]) -> None:
        """Find the lines of many frames at once: the tool takes as long for one."""
        new = [frame for frame in dict.fromkeys(frames) if frame not in self._known]
        self._known.update((frame, []) for frame in new)
        tool = shutil.which("addr2line")
        if not new or tool is None:
            return
        # A return address belongs to the instruction behind the call.
        asked = "".join(f"{frame - 1 - self.base:#x}\n" for frame in new)
        command = [tool, "-a", "-i", "-e", str(self._library)]
        answer = subprocess.run(command, input=asked, capture_output=True, text=True, check=False).stdout
        frame = new[0]
        for text in answer.splitlines():
            if text.startswith("0x"):
                frame = int(text, 16) + 1 + self.base
            elif found := _LINE.fullmatch(text):
                self._known.setdefault(frame, []).append(Place(str(Path(found[1]).resolve()), int(found[2])))

    def name(self, symbol: str) -> str:
        """A kernel's name in the source, with its template arguments and without its parameters."""
        tool = shutil.which("c++filt")
        if symbol not in self._names and tool:
            answer = subprocess.run(
                [tool, symbol], capture_output=True, text=True, check=False
            ).stdout.strip()
            self._names[symbol] = _without_parameters(answer.removeprefix("void "))
        return self._names.get(symbol, symbol)


def _without_parameters(name: str) -> str:
    """add<float>(float const*, int) → add<float>; parentheses may stand among the template arguments."""
    if not name.endswith(")"):
        return name
    depth = 0
    for at in range(len(name) - 1, -1, -1):
        depth += (name[at] == ")") - (name[at] == "(")
        if not depth:
            return name[:at]
    return name
