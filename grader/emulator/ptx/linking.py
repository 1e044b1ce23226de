"""Links modules of PTX: one text of several."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.emulator.errors import UnsupportedPtx
from grader.emulator.ptx.parser import parse

_OWN = re.compile(r"\$\w+")
"""Names of one module's own, which the compiler gives to strings and labels."""
_HEADER = re.compile(r"^\.(version|target|address_size)\b.*$", re.MULTILINE)
_FILE = re.compile(r"(^\s*\.(?:file|loc)\s+|\binlined_at\s+)(\d+)", re.MULTILINE)
_FILES = 1000
"""More than a module names."""


def linked(pieces: Sequence[str]) -> str:
    """The modules as one. Raises UnsupportedPtx where two of them define the same name."""
    defined: set[str] = set()
    for piece in pieces:
        own = {name for name in _defined(piece) if not _OWN.fullmatch(name)}
        twice = sorted(own & defined)
        if twice:
            raise UnsupportedPtx(
                f"{twice[0]}, which two of the pieces define; rename one, or declare it extern"
            )
        defined |= own
    return "\n".join([*pieces[:1], *(_following(piece, n) for n, piece in enumerate(pieces[1:], 1))])


def _defined(text: str) -> set[str]:
    """Functions and variables that a module defines, but for those that several may define alike."""
    tree = parse(text)
    external = r"^\s*\.(?:extern|weak)\b[^;{]*?(?<![\w$])%s(?![\w$])"
    names = [*tree.functions, *tree.variables]
    return {name for name in names if not re.search(external % re.escape(name), text, re.MULTILINE)}


def _following(text: str, number: int) -> str:
    """A module that follows others: without a header, and with names and numbers of files of its own."""
    text = _HEADER.sub("", text)
    text = _OWN.sub(lambda found: f"{found[0]}_of_{number}", text)
    return _FILE.sub(lambda found: f"{found[1]}{int(found[2]) + _FILES * number}", text)
