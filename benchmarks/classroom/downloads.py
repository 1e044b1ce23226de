"""A class as Moodle and Canvas send it: the zips of an assignment, and Moodle's grading worksheet."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from classroom.handing_in import HandedIn, Student

DUE = datetime(2026, 3, 5, 12, tzinfo=UTC)
IN_TIME = DUE - timedelta(hours=5)
HALF_A_DAY = timedelta(hours=12)
DOWNLOADED = DUE + timedelta(days=2) + HALF_A_DAY
"""In its third day, of which nothing is known: what is late in Canvas counts as late by the least."""


@dataclass(frozen=True)
class Download:
    """What the command is given."""

    zip: Path
    worksheet: Path | None = None


def of_assignment(folder: Path, place: int, topic: str, handed_in: Sequence[HandedIn]) -> list[Download]:
    """Write the downloads of one assignment, which is the course's `place`-th."""
    folder.mkdir(parents=True, exist_ok=True)
    by_platform = {
        platform: [item for item in handed_in if item.student.platform == platform]
        for platform in ("moodle", "canvas")
    }
    found = []
    if by_platform["moodle"]:
        worksheet = folder / f"Grades-{topic}.csv"
        _worksheet(worksheet, place, by_platform["moodle"])
        path = folder / f"moodle-{topic}.zip"
        _zip(path, (file for item in by_platform["moodle"] for file in _of_moodle(item, place)))
        found.append(Download(path, worksheet))
    if by_platform["canvas"]:
        path = folder / f"canvas-{topic}.zip"
        _zip(path, (file for n, item in enumerate(by_platform["canvas"]) for file in _of_canvas(item, n)))
        found.append(Download(path))
    return found


def moodle_number(student: Student, place: int) -> int:
    """A participant's number, another one in each assignment."""
    return 10_000 * (place + 1) + student.number


def roster(students: Sequence[Student], assignments: int) -> str:
    """The course's roster.csv."""
    lines = ["id,first_name,last_name,email,moodle_id,canvas_id"]
    for student in students:
        numbers = " ".join(str(moodle_number(student, place)) for place in range(assignments))
        ids = (numbers, "") if student.platform == "moodle" else ("", str(student.number))
        about = (student.id, student.first_name, student.last_name, f"{student.id}@example.org")
        lines.append(",".join([*about, *ids]))
    return "\n".join(lines) + "\n"


def _of_moodle(item: HandedIn, place: int) -> Iterator[tuple[str, bytes]]:
    who = item.student
    folder = f"{who.first_name} {who.last_name}_{moodle_number(who, place)}_assignsubmission_file_"
    for name, data in item.files:
        yield f"{folder}/{name}", data


def _of_canvas(item: HandedIn, number: int) -> Iterator[tuple[str, bytes]]:
    who = item.student
    name = "".join(letter for letter in f"{who.last_name}{who.first_name}".lower() if letter.isalnum())
    late = "LATE_" if item.days_late else ""
    for attempt, (file, data) in enumerate(item.files):
        yield f"{name}_{late}{who.number}_{90_000 + 10 * number + attempt}_{file}", data


def _zip(path: Path, files: Iterator[tuple[str, bytes]]) -> None:
    """Every file has the time of the download, on this machine's clock."""
    when = DOWNLOADED.astimezone().timetuple()[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(zipfile.ZipInfo(name, when), data, zipfile.ZIP_DEFLATED)


def _worksheet(path: Path, place: int, handed_in: Sequence[HandedIn]) -> None:
    rows = [["Identifier", "Full name", "Email address", "Last modified (submission)"]]
    for item in handed_in:
        who = item.student
        at = DUE + timedelta(days=item.days_late) - HALF_A_DAY if item.days_late else IN_TIME
        rows.append(
            [
                f"Participant {moodle_number(who, place)}",
                f"{who.first_name} {who.last_name}",
                f"{who.id}@example.org",
                f"{at.astimezone():%A, %d %B %Y, %I:%M %p}",
            ]
        )
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
