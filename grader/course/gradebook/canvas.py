"""Canvas's gradebook as CSV: the columns of students, and that of one assignment.

Of the file that Canvas exported, other assignments' columns are left out: taken back, they would undo what was graded
in Canvas since.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from grader.course.gradebook.sheet import (
    Filled,
    Key,
    Mark,
    Sheet,
    matched,
    missing,
    read,
    same_most,
    shown,
    write,
    write_own,
)
from grader.errors import WarpladderError

_TITLE = re.compile(r"(?P<title>.*) \(\d+\)")
_POINTS = "Points Possible"
_KEPT = ("EX", "N/A")
"""What Canvas writes for who is excused, and for whom the assignment is not meant."""


def table(name: str, marks: Sequence[Mark], most: float) -> Filled:
    """A table of our own: Canvas knows students by its own number, by login, or by name."""
    rows = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", name],
        [f"    {_POINTS}", "", "", "", "", shown(most)],
    ]
    for mark in marks:
        person = mark.person
        names = ", ".join(filter(None, [person.last_name, person.first_name])) or person.id
        rows.append([names, person.about.get("canvas_id", ""), "", person.id, "", shown(mark.score)])
    return Filled(write_own(rows), [], [])


def fill(path: Path, name: str, marks: Sequence[Mark], most: float) -> Filled:
    """Fill the scores into what Canvas exported; `name`: the assignment's there. Raises WarpladderError."""
    sheet = read(path)
    section = sheet.column("Section")
    if section is None or sheet.column("ID") is None:
        remedy = "in Canvas: Grades, Export, Export Entire Gradebook"
        raise missing(sheet, "gradebook of Canvas", "`ID` and `Section`", remedy)
    place = _place(sheet, name, section)
    students: dict[int, list[Key]] = {}
    for row, cells in enumerate(sheet.rows):
        if row and _POINTS in cells[0] and place < len(cells):
            same_most(sheet, row, cells[place], most)
        elif row and sheet.cell(row, "ID"):
            students[row] = _keys(sheet, row)
    found = matched(sheet, students, marks)
    rows = []
    for row, cells in enumerate(sheet.rows):
        whole = [*cells, *[""] * (place + 1 - len(cells))]
        filled = _score(whole[place], found.get(row)) if row in students else whole[place]
        rows.append([*whole[: section + 1], filled])
    absent = [sheet.rows[row][0] for row in students if row not in found]
    placed = {mark.person.id for mark in found.values()}
    unplaced = [mark for mark in marks if mark.person.id not in placed]
    return Filled(write(rows, sheet.delimiter, sheet.mark), absent, unplaced)


def _place(sheet: Sheet, name: str, section: int) -> int:
    """The column of an assignment, "Title (4711)", by its title or by all of it."""
    titles = {}
    for place, column in enumerate(sheet.header[section + 1 :], section + 1):
        title = _TITLE.fullmatch(column)
        if title:
            titles[place] = (column, title["title"])
    found = [
        place for place, names in titles.items() if name.casefold() in (item.casefold() for item in names)
    ]
    if len(found) != 1:
        listed = ", ".join(f"`{column}`" for column, _ in titles.values()) or "none"
        many = "several assignments are" if found else "no assignment is"
        remedy = (
            f"name one with --column; there are: {listed}"
            if titles
            else "make the assignment in Canvas first"
        )
        raise WarpladderError(f"{many} called `{name}`", file=sheet.path, line=1, remedy=remedy)
    return found[0]


def _keys(sheet: Sheet, row: int) -> list[Key]:
    login = sheet.cell(row, "SIS Login ID")
    ids = [("canvas", sheet.cell(row, "ID")), ("id", sheet.cell(row, "SIS User ID")), ("id", login)]
    return [key for key in [*ids, ("email", login)] if key[1]]


def _score(before: str, mark: Mark | None) -> str:
    if mark is None or mark.score is None:
        return before if before.strip() in _KEPT else ""
    return shown(mark.score)
