"""Who takes the course: `roster.csv` in its folder, with what learning platforms call each student.

    id,first_name,last_name,email,moodle_id,canvas_id
    ada,Ada,Lovelace,ada@example.edu,1201,88

`id` is the name of the student's folder in `submitted/`; the other columns may be empty or missing.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, fields
from pathlib import Path

from grader.errors import WarpladderError

ROSTER = "roster.csv"


@dataclass(frozen=True)
class Person:
    """One student."""

    id: str  # as nbgrader knows the student
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    moodle_id: str = ""  # the number of "Participant 1201" in Moodle's grading worksheet
    canvas_id: str = ""  # the number in the column `ID` of Canvas's gradebook


def read(folder: Path) -> tuple[Person, ...]:
    """The students of the course in `folder`, in the file's order; none where it has no roster.

    Raises WarpladderError, with its line, for a file that cannot be read and a student who is there twice.
    """
    path = folder / ROSTER
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise WarpladderError(f"it cannot be read: {error}", file=path, remedy="save it in UTF-8") from None
    rows = csv.DictReader(io.StringIO(text, newline=""))
    if "id" not in (rows.fieldnames or ()):
        raise WarpladderError(
            "there is no column `id`", file=path, line=1, remedy="name it in the first line"
        )
    found: dict[str, Person] = {}
    for row in rows:
        person = Person(**{item.name: (row.get(item.name) or "").strip() for item in fields(Person)})
        if not person.id or person.id in found:
            what = f"`{person.id}` is there twice" if person.id else "there is no `id`"
            remedy = "give each student one line with an id"
            raise WarpladderError(what, file=path, line=rows.line_num, remedy=remedy)
        found[person.id] = person
    return tuple(found.values())
