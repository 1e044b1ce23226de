"""What rungs are and learners hand in: a file of source that opens with its idea."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from grader.errors import WarpladderError
from grader.workbook.signature import Signature


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A kernel file or a schedule file."""

    path: Path
    idea: str  # the prose at its head; paragraphs apart by an empty line
    source: str
    signature: Signature
    side_step: bool = False  # an idea worth knowing that need not be faster than the rung before


MOST_BYTES = 1 << 20
"""Of a file of source."""


def check_name(path: Path) -> None:
    """Raises WarpladderError for a name that is bytes and no text: neither compilers nor JSON could say it."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise WarpladderError("the file's name is not UTF-8", file=path, remedy="rename it") from None


def read_source(path: Path, kind: str) -> str:
    """A file's text. Raises WarpladderError for what cannot be read, is too long, or is no file of `kind`.

    It is opened without waiting: of a pipe nobody may ever write the other end.
    """
    check_name(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise WarpladderError("this is not a regular file", file=path, remedy=f"pass {kind}")
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise WarpladderError(f"cannot read the file: {said}", file=path) from None
    if len(content) > MOST_BYTES:
        raise WarpladderError(
            f"the file has more than {MOST_BYTES:,} bytes", file=path, remedy=f"pass {kind}"
        )
    try:
        return as_read(content.decode())
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        remedy = f"pass {kind}, saved as UTF-8"
        raise WarpladderError("this is not UTF-8 text", file=path, line=line, remedy=remedy) from None


def as_read(text: str) -> str:
    """A source without what editors of other systems add: a byte-order mark, line ends of two characters or of CR."""
    return text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").replace("\r\n", "\n").replace("\r", "\n")
