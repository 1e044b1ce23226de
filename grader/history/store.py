"""A learner's file: every outcome there was, in one SQLite database that two processes may write at a time.

It is one file, without SQLite's write-ahead log, which does not work in home folders that lie on another machine.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from grader.errors import WarpladderError
from grader.history import schema
from grader.history.outcomes import Graded, Outcome, Sitting
from grader.results import Grade

FILE = "progress.sqlite"
PATIENCE_S = 10.0
"""How long a process waits for another one that is writing."""


def folder() -> Path:
    """$WARPLADDER_HOME, or `warpladder` in the user's data folder (XDG)."""
    if chosen := os.environ.get("WARPLADDER_HOME"):
        return Path(chosen)
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "warpladder"


class Store:
    """The file, opened, made if it was not there, and brought to this version. A context manager.

    Every method raises WarpladderError where the file cannot be used.
    """

    def __init__(self, path: Path | None = None, patience_s: float = PATIENCE_S) -> None:
        """`path` is progress.sqlite in `folder()` unless told otherwise."""
        self.path = path or folder() / FILE
        with self._told():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=patience_s, isolation_level=None)
        try:
            with self._told():
                schema.migrate(self._connection)
        except WarpladderError:
            self.close()
            raise

    def record(
        self,
        sitting: Sitting,
        outcomes: Sequence[Outcome],
        grades: Sequence[Graded] = (),
        gone: Collection[str] = (),
    ) -> None:
        """Write a session, all or nothing. What was written of the same session before is replaced: an answer that was
        taken back since is none. `gone` are items that were answered and are no longer known: theirs stays.
        """
        with self._told(), self._transaction() as connection:
            before = connection.execute("SELECT item FROM outcome WHERE session = ?", [sitting.id]).fetchall()
            replaced = [(sitting.id, item) for (item,) in before if item not in gone]
            connection.executemany("DELETE FROM outcome WHERE session = ? AND item = ?", replaced)
            connection.execute("DELETE FROM sitting WHERE id = ?", [sitting.id])
            if outcomes or grades:
                _add(connection, [sitting], outcomes, grades)

    def note(self, grade: Graded) -> None:
        """Write a grade."""
        self.merge([], [], [grade])

    def begin(self, topic: str, file: Path) -> None:
        """Note where a starter was written. Exports leave that out: it is of this machine."""
        with self._told(), self._transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO begun VALUES (?, ?)", [topic, str(file.absolute())])

    def begun(self) -> dict[str, Path]:
        """The last starter of each topic, where it is there still."""
        with self._told():
            rows = self._connection.execute("SELECT topic, file FROM begun").fetchall()
        return {topic: Path(file) for topic, file in rows if Path(file).is_file()}

    def merge(
        self, sittings: Iterable[Sitting], outcomes: Iterable[Outcome], grades: Iterable[Graded] = ()
    ) -> int:
        """Write what is not there yet, all or nothing; returns how many outcomes and grades were added.

        Of two outcomes of one item in one session the later one stays, and of a sitting the longer one, so that
        merging twice, or in another order, comes to the same.
        """
        with self._told(), self._transaction() as connection:
            before = _count(connection)
            _add(connection, sittings, outcomes, grades)
            return _count(connection) - before

    def outcomes(self) -> list[Outcome]:
        """All of them, in the order of time."""
        with self._told():
            rows = self._connection.execute(
                f"SELECT {_OUTCOME} FROM outcome ORDER BY moment, rowid"
            ).fetchall()
            return [_outcome(row) for row in rows]

    def sittings(self) -> list[Sitting]:
        """All of them, in the order of time."""
        with self._told():
            rows = self._connection.execute(f"SELECT {_SITTING} FROM sitting ORDER BY started, id").fetchall()
            return [_sitting(row) for row in rows]

    def grades(self) -> list[Graded]:
        """All of them, in the order of time."""
        with self._told():
            rows = self._connection.execute(f"SELECT {_GRADE} FROM grade ORDER BY moment, topic").fetchall()
            return [_graded(row) for row in rows]

    def before(self, sitting: Sitting) -> Sitting | None:
        """The last sitting of the same format and subject that began earlier; None: there is none."""
        alike = [
            found
            for found in self.sittings()
            if (found.format, found.subject) == (sitting.format, sitting.subject)
            and found.id != sitting.id
            and found.started <= sitting.started
        ]
        return alike[-1] if alike else None

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction that writes: it waits for others at its start, where waiting cannot deadlock."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what can go wrong with the file into an error that says what to do."""
        try:
            yield
        except schema.Foreign:
            remedy = "set WARPLADDER_HOME to another folder"
            raise WarpladderError(
                "this is another program's database", file=self.path, remedy=remedy
            ) from None
        except schema.Newer:
            message = f"a newer Warpladder wrote this file; this one reads versions up to {schema.VERSION}"
            remedy = "upgrade Warpladder, or set WARPLADDER_HOME to another folder"
            raise WarpladderError(message, file=self.path, remedy=remedy) from None
        except sqlite3.Error as error:
            raise self._explained(error) from None
        except (ValueError, TypeError, msgspec.ValidationError) as error:
            raise WarpladderError(
                f"it holds what is no outcome: {error}", file=self.path, remedy=_ASIDE
            ) from None
        except OSError as error:
            message = f"it cannot be made: {error.strerror}"
            remedy = "set WARPLADDER_HOME to a folder you may write to"
            raise WarpladderError(message, file=self.path, remedy=remedy) from None

    def _explained(self, error: sqlite3.Error) -> WarpladderError:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith("SQLITE_NOTADB"):
            return WarpladderError("this is no database", file=self.path, remedy=_ASIDE)
        if name.startswith("SQLITE_CORRUPT"):
            return WarpladderError(f"it is damaged: {error}", file=self.path, remedy=_ASIDE)
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            remedy = "end the other `ladder` that is writing to it, and try again"
            return WarpladderError("another process keeps it locked", file=self.path, remedy=remedy)
        remedy = "make room, or set WARPLADDER_HOME to a folder you may write to"
        return WarpladderError(f"it cannot be used: {error}", file=self.path, remedy=remedy)


_ASIDE = "move it elsewhere; `ladder progress --import FILE` brings an exported history back"

_OUTCOME = "item, moment, share, rated, level, topics, format, seconds, session"
_SITTING = "id, format, subject, started, seconds, share, rated"
_GRADE = "topic, moment, file, digest, verdict, rung"

_ADD_OUTCOME = f"""
    INSERT INTO outcome ({_OUTCOME}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (session, item) DO UPDATE SET moment = excluded.moment, share = excluded.share, rated = excluded.rated,
        level = excluded.level, topics = excluded.topics, format = excluded.format, seconds = excluded.seconds
    WHERE excluded.moment >= moment"""

_ADD_SITTING = f"""
    INSERT INTO sitting ({_SITTING}) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET format = excluded.format, subject = excluded.subject, started = excluded.started,
        seconds = excluded.seconds, share = excluded.share, rated = excluded.rated
    WHERE excluded.seconds >= seconds"""

_ADD_GRADE = f"INSERT OR IGNORE INTO grade ({_GRADE}) VALUES (?, ?, ?, ?, ?, ?)"

_Row = tuple[object, ...]


def remember(topic: str, file: Path, source: bytes, result: Grade) -> None:
    """Note what a kernel was worth, by where its file is and what was in it. Raises WarpladderError."""
    digest, now = sha256(source).hexdigest(), datetime.now(UTC)
    with Store() as store:
        store.note(Graded(topic, now, str(file.absolute()), digest, result.verdict, result.rung_reached))


def _add(
    connection: sqlite3.Connection,
    sittings: Iterable[Sitting],
    outcomes: Iterable[Outcome],
    grades: Iterable[Graded],
) -> None:
    connection.executemany(_ADD_OUTCOME, map(_row_of_outcome, outcomes))
    connection.executemany(_ADD_SITTING, map(_row_of_sitting, sittings))
    connection.executemany(_ADD_GRADE, map(_row_of_grade, grades))


def _count(connection: sqlite3.Connection) -> int:
    counts = "SELECT (SELECT count(*) FROM outcome) + (SELECT count(*) FROM grade)"
    return int(connection.execute(counts).fetchone()[0])


def _row_of_outcome(found: Outcome) -> _Row:
    return (
        found.item, _written(found.when), found.share, found.rated, found.level,
        json.dumps(found.topics), found.format, found.seconds, found.session,
    )  # fmt: skip


def _row_of_sitting(found: Sitting) -> _Row:
    return (
        found.id, found.format, found.subject, _written(found.started), found.seconds, found.share, found.rated,
    )  # fmt: skip


def _row_of_grade(found: Graded) -> _Row:
    return found.topic, _written(found.when), found.file, found.digest, found.verdict, found.rung


def _outcome(row: tuple) -> Outcome:  # type: ignore[type-arg]
    item, moment, share, rated, level, topics, format_, seconds, session = row
    values = {
        "item": item, "when": _read(moment), "share": share, "rated": rated, "level": level,
        "topics": json.loads(topics), "format": format_, "seconds": seconds, "session": session,
    }  # fmt: skip
    return msgspec.convert(values, Outcome)


def _sitting(row: tuple) -> Sitting:  # type: ignore[type-arg]
    session, format_, subject, started, seconds, share, rated = row
    return Sitting(session, format_, subject, _read(started), seconds, share, rated)


def _graded(row: tuple) -> Graded:  # type: ignore[type-arg]
    topic, moment, file, digest, verdict, rung = row
    values = {
        "topic": topic, "when": _read(moment), "file": file, "digest": digest, "verdict": verdict, "rung": rung,
    }  # fmt: skip
    return msgspec.convert(values, Graded)


def _written(moment: datetime) -> str:
    """UTC, so that the order of texts is that of time."""
    if moment.tzinfo is None:
        raise AssertionError(f"{moment} has no time zone")
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _read(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
