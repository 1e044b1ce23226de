"""Moodle's grading worksheet of an assignment, filled in; or a table for Moodle's import of grades."""

from __future__ import annotations

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

_WHO, _GRADE, _MOST = "Identifier", "Grade", "Maximum Grade"
_PARTICIPANT = "Participant "


def table(name: str, marks: Sequence[Mark]) -> Filled:
    """A table of our own, for Grades, Import, CSV file: there, `Email address` or `ID number` says who is who."""
    rows = [["First name", "Last name", "ID number", "Email address", name]]
    for mark in marks:
        person = mark.person
        email = person.email or (person.id if "@" in person.id else "")
        rows.append([person.first_name, person.last_name, person.id, email, shown(mark.score)])
    return Filled(write_own(rows), [], [])


def fill(path: Path, marks: Sequence[Mark], most: float) -> Filled:
    """Fill the scores into the worksheet that Moodle gave; all else stays. Raises WarpladderError."""
    sheet = read(path)
    grade = sheet.column(_GRADE)
    if grade is None or sheet.column(_WHO) is None:
        remedy = "in Moodle, in English: the assignment, Submissions, Download grading worksheet"
        raise missing(sheet, "grading worksheet of Moodle", f"`{_WHO}` and `{_GRADE}`", remedy)
    students = {row: _keys(sheet, row) for row in range(1, len(sheet.rows)) if sheet.cell(row, _WHO)}
    found = matched(sheet, students, marks)
    rows = [list(cells) for cells in sheet.rows]
    for row in students:
        same_most(sheet, row, sheet.cell(row, _MOST), most)
        rows[row] += [""] * (grade + 1 - len(rows[row]))
        rows[row][grade] = shown(found[row].score) if row in found else ""
    absent = [sheet.cell(row, "Full name") or sheet.cell(row, _WHO) for row in students if row not in found]
    placed = {mark.person.id for mark in found.values()}
    unplaced = [mark for mark in marks if mark.person.id not in placed]
    return Filled(write(rows, sheet.delimiter, sheet.mark), absent, unplaced)


def _keys(sheet: Sheet, row: int) -> list[Key]:
    """Fields of users' profiles that a site shows besides are among the columns."""
    keys = [
        ("moodle", sheet.cell(row, _WHO).removeprefix(_PARTICIPANT)),
        ("id", sheet.cell(row, "ID number")),
        ("id", sheet.cell(row, "Username")),
        ("email", sheet.cell(row, "Email address")),
    ]
    return [key for key in keys if key[1]]
