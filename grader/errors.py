"""The one error that reaches the user: what is wrong, where, and what to do about it."""

from __future__ import annotations

from os import PathLike


class WarpladderError(Exception):
    """A call or a file that cannot be used; the command line prints it and exits with code 2.

    `message` says what is wrong, `file` and `line` (counted from 1) where, `remedy` what to do.
    `str()` gives "file:line: message", with "→ remedy" on a line of its own.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | PathLike[str] | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        self.remedy = remedy

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}\n  → {self.remedy}" if self.remedy else text
