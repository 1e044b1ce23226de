"""Tables that learning platforms export and take again: CSV, of which only the cells of scores are changed."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.course.roster import Student
from grader.errors import WarpladderError

Key = tuple[str, str]
"""A kind of name, such as "email", and the name."""


@dataclass(frozen=True)
class Mark:
    """What one student has in an assignment."""

    person: Student
    score: float | None  # null without a mark
    penalty: float  # for being late, in points: the score is without them
    why: str  # there is no mark; "" where there is


@dataclass(frozen=True)
class Sheet:
    """A CSV file."""

    path: Path
    rows: list[list[str]]  # the first is the header
    lines: list[int]  # the line that each row ends in, counted from 1
    delimiter: str = ","
    mark: str = ""  # the byte-order mark, if there is one

    @property
    def header(self) -> list[str]:
        return self.rows[0]

    def column(self, *names: str) -> int | None:
        """The place of the first column that has one of the names; None where there is none."""
        places = [self.header.index(name) for name in names if name in self.header]
        return places[0] if places else None

    def cell(self, row: int, *names: str) -> str:
        """What a row has in the column of one of the names; "" where there is no such column, or the row is shorter."""
        place = self.column(*names)
        return self.rows[row][place].strip() if place is not None and place < len(self.rows[row]) else ""


@dataclass(frozen=True)
class Filled:
    """A table with scores."""

    text: str
    absent: list[str]  # students of the table that the course does not have
    unplaced: list[Mark]  # students of the course that the table does not have


def read(path: Path) -> Sheet:
    """Read a platform's table. Raises WarpladderError for a file that is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not in UTF-8"
        remedy = "give the file as the platform exports it"
        raise WarpladderError(f"it cannot be read: {said}", file=path, remedy=remedy) from None
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows, lines = [], []
    try:
        for row in reader:
            rows.append(row)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise WarpladderError(f"this is no CSV: {error}", file=path, line=reader.line_num) from None
    if not rows:
        raise WarpladderError("the file is empty", file=path)
    return Sheet(path, rows, lines, delimiter, mark)


def write(rows: Sequence[Sequence[str]], delimiter: str = ",", mark: str = "") -> str:
    """A table as text."""
    text = io.StringIO(newline="")
    writer = csv.writer(
        text, delimiter=delimiter
    )  # ends rows with CR and LF: else a CR in a cell is not quoted
    lines = []
    for row in rows:
        writer.writerow(row)
        lines.append(text.getvalue().removesuffix("\r\n") + "\n")
        text.seek(0)
        text.truncate()
    return mark + "".join(lines)


_FORMULAS = tuple("=+-@\t\r\n＝＋－＠")


def write_own(rows: Sequence[Sequence[str]]) -> str:
    """A table of our own as text. What a spreadsheet would take for a formula, such as a name =cmd|…, is preceded by an
    apostrophe, which makes it text; numbers stay numbers.

    Which characters begin a formula, and the apostrophe, are OWASP's: https://owasp.org/www-community/attacks/CSV_Injection.
    """
    return write([[_text(cell) for cell in row] for row in rows])


def _text(cell: str) -> str:
    """A cell that is a number, or text to a spreadsheet."""
    begins = cell.lstrip(" ").startswith(_FORMULAS)
    return f"'{cell}" if begins and number(cell) is None else cell


def matched(sheet: Sheet, rows: Mapping[int, Sequence[Key]], marks: Sequence[Mark]) -> dict[int, Mark]:
    """Whose row is whose, by any name that both have. `rows`: for each row of a student, the names that it gives.

    Raises WarpladderError, with its line, for a row that several students could be in, and a student in several rows.
    """
    named: dict[Key, list[Mark]] = {}
    for mark in marks:
        for key in _keys(mark.person):
            named.setdefault(key, []).append(mark)
    found: dict[int, Mark] = {}
    place: dict[str, int] = {}
    for row, keys in rows.items():
        candidates = {mark.person.id: mark for key in keys for mark in named.get(_folded(key), [])}
        if len(candidates) > 1:
            names = " or ".join(f"`{name}`" for name in sorted(candidates))
            raise _doubt(sheet, row, f"this student could be {names}")
        for name, mark in candidates.items():
            if name in place:
                raise _doubt(sheet, row, f"`{name}` is in line {sheet.lines[place[name]]} as well")
            place[name], found[row] = row, mark
    return found


def shown(score: float | None) -> str:
    """A score as platforms take it, with two decimals at most; nothing where there is none."""
    return "" if score is None else f"{score:.2f}".rstrip("0").rstrip(".")


def number(text: str) -> float | None:
    """A number of a platform's, whose decimal sign may be a comma; None for anything else."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def same_most(sheet: Sheet, row: int, platforms: str, most: float) -> None:
    """Raise WarpladderError where a platform's greatest number of points is not the assignment's: scores would count
    for something else, and Moodle passes over those that are too high without a word."""
    theirs = number(platforms)
    if theirs is not None and abs(theirs - most) > 0.005:
        raise WarpladderError(
            f"the assignment has {shown(theirs)} points there, and {shown(most)} here",
            file=sheet.path,
            line=sheet.lines[row],
            remedy="give it the same points on the platform, and export the file anew",
        )


def missing(sheet: Sheet, what: str, names: str, remedy: str) -> WarpladderError:
    """That a table is not the one that was asked for."""
    return WarpladderError(
        f"this is no {what}: there is no column {names}", file=sheet.path, line=1, remedy=remedy
    )


def _keys(person: Student) -> list[Key]:
    """The names by which a student may be known to a platform. Some folders are called by e-mail addresses."""
    keys = [
        ("id", person.id),
        ("email", person.id if "@" in person.id else ""),
        ("email", person.email),
        *(("moodle", number) for number in sorted(person.called("moodle"))),
        *(("canvas", number) for number in sorted(person.called("canvas"))),
    ]
    return list(dict.fromkeys(_folded(key) for key in keys if key[1]))


def _folded(key: Key) -> Key:
    """Of addresses, upper and lower case are the same."""
    return (key[0], key[1].casefold()) if key[0] == "email" else key


def _doubt(sheet: Sheet, row: int, what: str) -> WarpladderError:
    remedy = "correct the names in roster.csv"
    return WarpladderError(what, file=sheet.path, line=sheet.lines[row], remedy=remedy)
