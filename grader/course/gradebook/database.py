"""nbgrader's gradebook as a file: opened, looked through, and copied before it is changed.

What goes wrong with it is said with the file's name and one remedy: SQLite's own words are for programmers.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError

from grader.errors import WarpladderError

BACKUPS = "backups"
KEPT = 5
"""Copies that are kept; older ones are removed."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the operating system answers where nothing more can be written."""


@contextmanager
def opened(course: CourseDirectory, look: bool = True) -> Iterator[Gradebook]:
    """The gradebook. Raises WarpladderError for one that is damaged, held by another program, or on a full disk.

    `look`: through all of it, for damage, which takes the longer the larger it is.
    """
    if look:
        _look_through(course)
    try:
        with Gradebook(course.db_url, course.course_id) as gradebook:
            yield gradebook
    except DatabaseError as error:
        raise complaint(course, error) from None


def copied(course: CourseDirectory) -> Path | None:
    """Copy the gradebook into the course's `backups/`, and remove the oldest copies; returns the new one.

    None for a database that is no file. Raises WarpladderError, with nothing changed.
    """
    file = _file(course)
    if file is None:
        return None
    folder = Path(course.root) / BACKUPS
    target = folder / f"{file.stem}-{datetime.now():%Y-%m-%dT%H-%M-%S-%f}.db"
    aside = folder / "unfinished"  # one name: what a killed run left is written over
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        aside.unlink(missing_ok=True)
        _copy(file, aside)
        os.replace(aside, target)
        for old in _copies(course)[:-KEPT]:
            old.unlink()
    except sqlite3.Error as error:
        aside.unlink(missing_ok=True)
        raise complaint(course, error, folder) from None
    except OSError as error:
        raise no_room(folder, error) from None
    return target


def complaint(
    course: CourseDirectory, error: DatabaseError | sqlite3.Error, target: Path | None = None
) -> WarpladderError:
    """What is wrong with the gradebook, in words. `target`: where it was being copied to."""
    said = str(getattr(error, "orig", error))
    file = _file(course)
    if file is None:
        return WarpladderError(
            f"the gradebook cannot be used: {said}", remedy="see to c.CourseDirectory.db_url"
        )
    if "locked" in said or "busy" in said:
        remedy = "wait for other runs of nbgrader to end, or end them, and run this again"
        return WarpladderError("another program is writing to the gradebook", file=file, remedy=remedy)
    if "full" in said or "disk I/O" in said:
        return no_room(target or file, OSError(errno.ENOSPC, said))
    if "readonly" in said or "unable to open" in said:
        remedy = "make the file and its folder yours to write"
        return WarpladderError(f"the gradebook cannot be written: {said}", file=file, remedy=remedy)
    if "no such" in said:
        remedy = "if another version of nbgrader made it: nbgrader db upgrade"
        return WarpladderError(f"the gradebook is not as nbgrader makes it: {said}", file=file, remedy=remedy)
    return WarpladderError(f"the gradebook is damaged: {said}", file=file, remedy=_restoring(course, file))


def no_room(file: Path, error: OSError) -> WarpladderError:
    """That a file cannot be written, as on a full disk."""
    remedy = "make room on the disk and run this again: what is done stays, and nothing is half written"
    return WarpladderError(f"it cannot be written: {error.strerror}", file=file, remedy=remedy)


def _restoring(course: CourseDirectory, file: Path) -> str:
    """How to have a gradebook again. What SQLite keeps beside a damaged one must not be applied to another."""
    journal = file.with_name(f"{file.name}-journal")
    names = [name for name in (file, journal) if name.exists()]
    moves = [f"mv {shlex.quote(str(name))} {shlex.quote(f'{name}.damaged')}" for name in names]
    copy = _latest(course)
    if copy is None:
        return (
            f"{' && '.join(moves)}; then `nbgrader generate_assignment` for each assignment, and autograde: marks are "
            "kept, points and comments of your own have to be given again"
        )
    back = f"cp {shlex.quote(str(copy))} {shlex.quote(str(file))}"
    return f"take the latest copy, then autograde again: {' && '.join([*moves, back])}"


def _latest(course: CourseDirectory) -> Path | None:
    """The newest copy that knows an assignment; those that cannot be read know none."""
    for copy in reversed(_copies(course)):
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro", uri=True)) as database,
        ):
            if _assignments(database):
                return copy
    return None


def _assignments(database: sqlite3.Connection) -> int:
    """How many a gradebook knows. Raises sqlite3.Error."""
    if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'assignment'").fetchone() is None:
        return 0  # an empty file is a database without a table
    return int(database.execute("SELECT COUNT(*) FROM assignment").fetchone()[0])


def _file(course: CourseDirectory) -> Path | None:
    """The database's file; None where it is none of SQLite's."""
    url = make_url(course.db_url)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def _copies(course: CourseDirectory) -> list[Path]:
    """The oldest first: their names are times."""
    return sorted((Path(course.root) / BACKUPS).glob("*.db"))


def _look_through(course: CourseDirectory) -> None:
    """Raise WarpladderError where there is no file, for one that is no database or a damaged one, and for one that
    knows no assignment where a copy of it does."""
    file = _file(course)
    if file is None:
        return
    known, lacks = 0, "is not there"
    if file.is_file():
        lacks = "knows no assignment"
        try:
            with contextlib.closing(sqlite3.connect(file)) as database:
                found = database.execute("PRAGMA quick_check(1)").fetchone()[0]
                if found != "ok":
                    raise sqlite3.DatabaseError(found)
                known = _assignments(database)
        except sqlite3.Error as error:
            raise complaint(course, error) from None
    if not known and _latest(course) is not None:
        remedy = f"{_restoring(course, file)}; to begin anew instead, rename {BACKUPS}/"
        raise WarpladderError(
            f"the gradebook {lacks}, and a copy of it knows assignments", file=file, remedy=remedy
        )
    if not file.is_file():
        remedy = "nbgrader generate_assignment ASSIGNMENT makes it"
        raise WarpladderError("there is no gradebook yet", file=file, remedy=remedy)


def _copy(file: Path, target: Path) -> None:
    """Copy a database while nobody writes to it. Without a journal of the copy's own, none is left behind."""
    with contextlib.ExitStack() as stack:
        guard, source, copy = (
            stack.enter_context(contextlib.closing(sqlite3.connect(path))) for path in (file, file, target)
        )
        guard.execute(
            "BEGIN IMMEDIATE"
        )  # gives up after 5 s, where `backup` would wait for a writer for ever
        copy.execute("PRAGMA journal_mode = OFF")
        source.backup(copy)
