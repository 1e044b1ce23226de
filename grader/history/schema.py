"""The layout of the file, and how a file of an earlier version becomes one of this version."""

from __future__ import annotations

import sqlite3

APPLICATION = 0x57415250
"""What SQLite's `application_id` is in files of ours: "WARP"."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    # 1: an outcome for each item of a session.
    (
        """CREATE TABLE outcome (
            session TEXT NOT NULL, item TEXT NOT NULL, moment TEXT NOT NULL, share REAL NOT NULL, said REAL,
            level TEXT NOT NULL, topics TEXT NOT NULL, format TEXT NOT NULL, seconds REAL NOT NULL,
            PRIMARY KEY (session, item))""",
        "CREATE INDEX outcome_by_moment ON outcome (moment)",
    ),
    # 2: sessions as a whole. What is known of earlier ones follows from their outcomes.
    (
        """CREATE TABLE sitting (
            id TEXT PRIMARY KEY, format TEXT NOT NULL, subject TEXT NOT NULL, started TEXT NOT NULL,
            seconds REAL NOT NULL, share REAL NOT NULL, said REAL)""",
        """INSERT INTO sitting
            SELECT session, min(format), group_concat(DISTINCT substr(item, 1, instr(item, '/') - 1)),
                min(moment), sum(seconds), avg(share), avg(said)
            FROM outcome GROUP BY session""",
    ),
    # 3: prose is rated by the learner, where it was searched for words before. A point whose words were not found
    # (said: 0) counted half; it is worth what its probe showed, which is twice that.
    (
        "UPDATE outcome SET share = 2 * share WHERE said = 0",
        "UPDATE outcome SET said = NULL",
        "UPDATE sitting SET said = NULL",
        "ALTER TABLE outcome RENAME COLUMN said TO rated",
        "ALTER TABLE sitting RENAME COLUMN said TO rated",
    ),
    # 4: what the learner's own kernels have reached.
    (
        """CREATE TABLE grade (
            topic TEXT NOT NULL, moment TEXT NOT NULL, file TEXT NOT NULL, digest TEXT NOT NULL,
            verdict TEXT NOT NULL, rung TEXT, PRIMARY KEY (topic, moment, digest))""",
    ),
    # 5: where `ladder new` wrote the last starter of each topic.
    ("CREATE TABLE begun (topic TEXT PRIMARY KEY, file TEXT NOT NULL)",),
)
"""What leads from each version to the next. What is here stays as it is: there are files of it."""

VERSION = len(MIGRATIONS)


class Foreign(Exception):
    """A database, but of another program."""


class Newer(Exception):
    """A file of a later version than this one."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a file to this version, all or nothing; an empty one becomes one of ours.

    Raises Foreign, Newer and sqlite3.Error. The connection has no transaction open.
    """
    if (
        _number(connection, "user_version") == VERSION
        and _number(connection, "application_id") == APPLICATION
    ):
        return
    connection.execute("BEGIN IMMEDIATE")  # another process may be doing the same
    try:
        for statements in MIGRATIONS[_version(connection) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    version = _number(connection, "user_version")
    if _number(connection, "application_id") != APPLICATION:
        if version or _number(connection, "schema_version"):
            raise Foreign
        return 0
    if version > VERSION:
        raise Newer
    return version


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
