"""Who takes the course: the gradebook's students, and those of `roster.csv` in its folder.

That file has the columns of nbgrader's own `nbgrader db student import` and, for each learning platform, one with what
it calls a person:

    id,first_name,last_name,email,lms_user_id,moodle_id,canvas_id,gradescope_id
    ada,Ada,Lovelace,ada@example.org,,20117 20435,1093,

Only `id` is needed: the name of the student's folder. Moodle's numbers differ between assignments: a cell may hold
several. A column `group` says who hands in together: what one of them hands in is everybody's.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from io import StringIO
from pathlib import Path

from grader.errors import WarpladderError

FILE = "roster.csv"
ABOUT = ("first_name", "last_name", "email", "lms_user_id")
"""What the gradebook knows of a student besides the id."""
IDS = {
    "moodle": ("moodle_id",),
    "canvas": ("canvas_id", "lms_user_id"),
    "gradescope": ("gradescope_id", "id"),
}
"""Where a platform's own id of a person stands. Moodle's `lms_user_id` is another number than its archives have."""

_ID = re.compile(r"[^\W_][\w.@-]{0,127}")
"""An id that is a folder's name everywhere, and that nbgrader's patterns and exchange do not take apart."""

_BETWEEN = re.compile(r"[\s_.,\-\u2010-\u2015]+")


@dataclass(frozen=True)
class Student:
    """A student of the course."""

    id: str  # nbgrader's
    about: Mapping[str, str] = field(default_factory=dict)  # the columns that are not empty, `id` among them

    @property
    def first_name(self) -> str:
        return self.about.get("first_name", "")

    @property
    def last_name(self) -> str:
        return self.about.get("last_name", "")

    @property
    def email(self) -> str:
        return self.about.get("email", "")

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words of the full name: the first name first, and the other way round."""
        first, last = words(self.first_name), words(self.last_name)
        return (*first, *last), (*last, *first)

    @property
    def group(self) -> str:
        """Of those who hand in together; "" for one who hands in alone."""
        return self.about.get("group", "")

    def called(self, platform: str) -> set[str]:
        """What a platform calls the student."""
        columns = IDS.get(platform, ("id",))
        return {word for column in columns for word in self.about.get(column, "").split()}


def student(id_: str, **about: str | None) -> Student:
    """A student, with what is known."""
    return Student(id_, {"id": id_, **{column: text for column, text in about.items() if text}})


def usable(id_: str) -> bool:
    """Whether nbgrader can have a student of this id."""
    return _ID.fullmatch(id_) is not None and not id_.endswith(".")


def read(path: Path) -> list[Student]:
    """The students of a roster; none without the file. Raises WarpladderError, with the line, for what is none."""
    if not path.is_file():
        return []
    rows = table(path, ("id",))
    found: dict[str, Student] = {}
    for line, row in rows:
        if not usable(row["id"]):
            message = f"`{row['id']}` can be no student's id"
            remedy = "use letters, digits, `.`, `-`, `_` and `@`"
            raise WarpladderError(message, file=path, line=line, remedy=remedy)
        if row["id"] in found:
            raise WarpladderError(f"`{row['id']}` is there twice", file=path, line=line, remedy="keep one")
        found[row["id"]] = Student(row["id"], {column: text for column, text in row.items() if text})
    return list(found.values())


def table(path: Path, needs: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file by its columns' names, each with its line; parted by commas or, as some spreadsheets write
    them, semicolons. Raises WarpladderError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise WarpladderError("it is not UTF-8", file=path, remedy="save it as CSV in UTF-8") from None
    except OSError as error:
        raise WarpladderError(f"it cannot be read: {error.strerror}", file=path) from None
    head = text.partition("\n")[0]
    reader = csv.DictReader(
        StringIO(text, newline=""), delimiter=";" if head.count(";") > head.count(",") else ","
    )
    try:
        columns = [column.strip() for column in reader.fieldnames or ()]
        reader.fieldnames = columns
        missing = [column for column in needs if column not in columns]
        if missing:
            remedy = f"name the columns in its first line: {', '.join(needs)}"
            raise WarpladderError(f"it has no column `{missing[0]}`", file=path, line=1, remedy=remedy)
        rows = [
            (reader.line_num, {column: (row[column] or "").strip() for column in columns}) for row in reader
        ]
        return [(line, row) for line, row in rows if any(row.values())]
    except csv.Error as error:
        raise WarpladderError(f"it is no CSV: {error}", file=path, line=reader.line_num + 1) from None


def joined(gradebook: Iterable[Student], listed: Iterable[Student]) -> list[Student]:
    """The gradebook's students with what the roster knows of them, and the roster's others."""
    found = {each.id: each for each in gradebook}
    for each in listed:
        known = found.get(each.id, each)
        found[each.id] = replace(known, about={**known.about, **each.about})
    return list(found.values())


def groups(students: Iterable[Student]) -> dict[str, list[Student]]:
    """Who hands in together, by their group's `bare` name."""
    found: dict[str, list[Student]] = {}
    for each in students:
        if name := bare(each.group):
            found.setdefault(name, []).append(each)
    return found


@cache
def words(name: str) -> tuple[str, ...]:
    """The `bare` words of a name, as spaces, dots and hyphens part them."""
    return tuple(filter(None, map(bare, _BETWEEN.split(name))))


def bare(name: str) -> str:
    """A name without what platforms leave out or change: accents, case, spaces and signs."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in letters if letter.isalnum())
