"""The folder in which compiled code is kept between runs.

What comes out of it is executed: so the folder has to be ours alone, and every entry begins with a digest of its name
and content. What is not whole counts as absent.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def cache_folder() -> Path:
    """$WARPLADDER_CACHE, or `warpladder` in the user's cache folder (XDG)."""
    if chosen := os.environ.get("WARPLADDER_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "warpladder"


CHOOSE_FOLDER = "export WARPLADDER_CACHE=<a folder you may write to>"
"""The remedy where it cannot be written."""


def made_folder() -> Path | None:
    """The folder, made where it was not there yet; None where it cannot be made, or is somebody else's as well."""
    folder = cache_folder().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        about = folder.stat()
        if about.st_uid != os.geteuid():
            return None
        if about.st_mode & 0o022:
            folder.chmod(0o700)
    except OSError:
        return None
    return folder


def kept(path: Path) -> bytes | None:
    """What `keep` put there; None where there is nothing, or not all of it, or others could have written it."""
    try:
        with path.open("rb") as file:
            about, content = os.fstat(file.fileno()), file.read()
    except OSError:
        return None
    digest, data = content[:_DIGEST], content[_DIGEST:]
    ours = about.st_uid in (0, os.geteuid()) and not about.st_mode & 0o022
    return data if ours and digest == _digest(path, data) else None


def keep(path: Path, data: bytes) -> None:
    """Keep data under a path of the folder."""
    if made_folder() is not None:
        write_atomically(path, _digest(path, data) + data)


def keep_newest(suffix: str, most: int) -> None:
    """Of the entries whose names end so, remove those that were written or used the longest ago."""
    with suppress(OSError):
        entries = sorted(cache_folder().glob(f"*{suffix}"), key=lambda path: path.stat().st_mtime_ns)
        for path in entries[: max(0, len(entries) - most)]:
            path.unlink(missing_ok=True)


_DIGEST = 32


def _digest(path: Path, data: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + b"\0" + data).digest()


def write_atomically(path: Path, data: bytes) -> None:
    """Whole or not at all, also with several writers; a read-only or full disk costs time, not the result."""
    with suppress(OSError):
        write_whole(path, data)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, also with several writers. Raises OSError where it cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=ASIDE, delete=False) as aside:
        try:
            aside.write(data)
            aside.flush()
            os.replace(aside.name, path)
        except BaseException:
            os.unlink(aside.name)
            raise


ASIDE = ".aside-"
"""How files begin that are not whole yet; a process that is killed leaves them."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time; where the folder cannot be written, everybody goes ahead."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError:
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
