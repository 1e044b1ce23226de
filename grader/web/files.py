"""A learner's files, as an editor on a page writes them."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path

from grader.errors import WarpladderError


def lines(typed: str) -> str:
    """Text as a browser sends it, with a Unix machine's ends of lines."""
    return typed.replace("\r\n", "\n").replace("\r", "\n").rstrip()


def write(file: Path, text: str) -> None:
    """Put a text into a file whole or not at all; a link is followed, and the file keeps its permissions.

    Raises WarpladderError where it cannot be written.
    """
    target = file.resolve()
    aside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        aside.write_text(text, encoding="utf-8")
        if target.is_file():
            shutil.copymode(target, aside)
        aside.replace(target)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise WarpladderError(f"it cannot be written: {error.strerror}", file=file) from None
