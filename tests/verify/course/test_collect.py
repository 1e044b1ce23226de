"""Downloads collected into a real course: what lies in `submitted/`, what the gradebook knows, what is said."""

from __future__ import annotations

import codecs
import itertools
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from downloads import NOON, a_folder, a_zip
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.utils import parse_utc
from traitlets.config.loader import PyFileConfigLoader

from grader.course import batch, restore
from grader.course.collecting import left_out, submitted
from grader.course.collecting.collect import Row, collect
from grader.course.folder import CONFIG, create
from grader.course.gradebook.lock import LOCK, alone
from grader.course.preprocessors import of_gradebook
from grader.errors import WarpladderError
from grader.ladder import main
from grader.workbook import topics

pytestmark = [pytest.mark.verify, pytest.mark.xdist_group("collecting")]

TOPICS = topics.discover()
DUE = NOON.astimezone(UTC)
MOODLE = "Ada Lovelace_1_assignsubmission_file_"
KERNEL = "__global__ void mine() {}\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A course with two assignments, released."""
    root = tmp_path_factory.mktemp("courses") / "cuda"
    create(root, [TOPICS["transpose"], TOPICS["streams"]], "cuda")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)  # nbgrader starts alembic
        patch.chdir(root)
        api = NbGraderAPI(config=PyFileConfigLoader(CONFIG, str(root)).load_config())
        for name in ("transpose", "streams"):
            assert api.generate_assignment(name)["success"]
        yield root


@pytest.fixture
def course(made: Path, tmp_path: Path) -> Path:
    """A copy of the course, for one test."""
    return Path(shutil.copytree(made, tmp_path / "cuda"))


def collected(
    course: Path, source: Path, assignment: str = "transpose", sheet: Path | None = None
) -> list[Row]:
    return collect(batch.open_course(course)[0], TOPICS, assignment, source, sheet)


def outcomes(rows: list[Row]) -> list[tuple[str, str, str]]:
    return [(row.student, row.file, row.outcome) for row in rows]


def released(course: Path, name: str = "transpose") -> bytes:
    return (course / "release" / name / f"{name}.ipynb").read_bytes()


def folder_of(course: Path, student: str, assignment: str = "transpose") -> Path:
    return course / "submitted" / student / assignment


def answer(course: Path, student: str, assignment: str = "transpose") -> str:
    """What the answer's cell of a collected notebook holds, found as it is found for marking."""
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        cells = of_gradebook(gradebook.find_notebook(assignment, assignment))
    kernel = next(cell for cell in cells if cell.topic is not None)
    notebook = restore.read(folder_of(course, student, assignment) / f"{assignment}.ipynb")
    return restore.answer(notebook.cells, kernel)


def told(course: Path, student: str) -> datetime:
    """When nbgrader takes it to have been handed in."""
    at = parse_utc((folder_of(course, student) / "timestamp.txt").read_text(encoding="utf-8").strip())
    return at.replace(tzinfo=UTC)


def set_due(course: Path, due: datetime | None = DUE) -> None:
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        gradebook.update_or_create_assignment("transpose", duedate=due and due.replace(tzinfo=None))


def students(course: Path) -> dict[str, tuple[str | None, ...]]:
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        return {
            each.id: (each.first_name, each.last_name, each.email, each.lms_user_id)
            for each in gradebook.students
        }


def tree(root: Path) -> dict[str, tuple[bytes, int]]:
    """All files below a folder, with their bytes and times; who held the lock last is of no account."""
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file() and path.name != LOCK
    }


# ---- each platform -----------------------------------------------------------------------------------------


def test_moodle(course: Path, tmp_path: Path) -> None:
    mine = released(course) + b" "
    files = {f"{MOODLE}/transpose.ipynb": mine, "Bob One_2_assignsubmission_file_/x.cu": KERNEL.encode()}
    rows = collected(course, a_zip(tmp_path / "any name", files))
    assert outcomes(rows) == [
        ("moodle-ada-lovelace", "transpose.ipynb", "new"),
        ("moodle-bob-one", "x.cu", "new"),
    ]
    assert (folder_of(course, "moodle-ada-lovelace") / "transpose.ipynb").read_bytes() == mine
    assert answer(course, "moodle-bob-one") == f"%%kernel mine --topic transpose\n{KERNEL}"
    assert students(course)["moodle-ada-lovelace"] == ("Ada", "Lovelace", None, None)


def test_canvas(course: Path, tmp_path: Path) -> None:
    (course / "roster.csv").write_text(
        "id,first_name,last_name,canvas_id\nada,Ada,Lovelace,777\nabsent,A,B,\n", encoding="utf-8"
    )
    files = {
        "kingada_LATE_777_9001_transpose-2.ipynb": released(course) + b" ",
        "zuseconrad_778_9002_mine.cu": KERNEL.encode(),
    }
    rows = collected(course, a_zip(tmp_path / "a.zip", files))
    assert outcomes(rows) == [
        ("ada", "transpose-2.ipynb", "new"),
        ("canvas-778", "mine.cu", "new"),
    ]
    assert [row.flagged for row in rows] == [True, False]
    assert [row.added for row in rows] == [False, True]
    assert set(students(course)) == {"ada", "absent", "canvas-778"}


METADATA = """\
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: ada
    :email: ada@example.org
  - :name: Bob One
    :sid: '2'
    :email: bob@example.org
  :created_at: 2024-03-05 11:00:00 Z
  :history:
  - :id: 7
"""


@pytest.mark.parametrize("make", [a_zip, a_folder])
def test_gradescope(course: Path, tmp_path: Path, make: Callable[[Path, Mapping[str, bytes]], Path]) -> None:
    files = {"submission_metadata.yml": METADATA.encode(), "submission_1/src/transpose.cu": KERNEL.encode()}
    rows = collected(course, make(tmp_path / "export", files))
    assert outcomes(rows) == [("2", "transpose.cu", "new"), ("ada", "transpose.cu", "new")]
    assert (rows[0].attempt, rows[0].attempts, rows[0].exact) == (2, 2, True)
    assert told(course, "ada") == told(course, "2") == datetime(2024, 3, 5, 11, tzinfo=UTC)
    assert students(course)["2"] == ("Bob", "One", "bob@example.org", "2")


def test_a_plain_folder(course: Path, tmp_path: Path) -> None:
    mine = "class Schedule: ...\n"
    source = a_folder(
        tmp_path / "in", {"ada/streams.ipynb": released(course, "streams"), "bob.py": mine.encode()}
    )
    rows = collected(course, source, "streams")
    assert outcomes(rows) == [("ada", "streams.ipynb", "new"), ("bob", "bob.py", "new")]
    assert answer(course, "bob", "streams") == f"%%kernel mine --topic streams\n{mine}"


@pytest.mark.parametrize(
    "name",
    [f"{MOODLE}/work.zip", f"{MOODLE}work.zip", "lovelaceada_1_10_work.zip", "ada/work.zip", "ada.zip"],
)
def test_a_zip_that_was_handed_in_is_its_files(name: str, course: Path, tmp_path: Path) -> None:
    inner = a_zip(tmp_path / "work.zip", {"mine/transpose.cu": KERNEL.encode(), "mine/notes.txt": b""})
    rows = collected(course, a_zip(tmp_path / "a.zip", {name: inner.read_bytes()}))
    assert sorted((row.file, row.outcome) for row in rows) == [
        ("notes.txt", "left out"),
        ("transpose.cu", "new"),
    ]
    (taken,) = (row.student for row in rows if row.outcome == "new")
    assert answer(course, taken).endswith(KERNEL)


def test_the_notebook_of_another_assignment_is_left_out(course: Path, tmp_path: Path) -> None:
    files = {"ada/transpose.ipynb": released(course, "streams"), "bob/transpose.ipynb": released(course)}
    rows = collected(course, a_folder(tmp_path / "in", files))
    assert [(row.student, row.outcome, row.note) for row in rows] == [
        ("ada", "left out", "it is the notebook of streams, and not of transpose"),
        ("bob", "new", ""),
    ]


def test_an_assignment_without_notebooks_is_an_error(course: Path, tmp_path: Path) -> None:
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        gradebook.update_or_create_assignment("later")
    with pytest.raises(WarpladderError, match="`later` has no notebook"):
        collected(course, a_folder(tmp_path / "in", {"ada.cu": b"int a;"}), "later")


# ---- attempts ----------------------------------------------------------------------------------------------


def moodle(path: Path, data: bytes, at: datetime = NOON, name: str = "transpose.ipynb") -> Path:
    return a_zip(path, {f"{MOODLE}/{name}": data}, {f"{MOODLE}/{name}": at})


def test_the_latest_counts_and_the_others_are_said(course: Path, tmp_path: Path) -> None:
    notebook, later = released(course), NOON + timedelta(days=1)
    files = {"a_1_11_transpose-1.ipynb": notebook + b"1", "a_1_10_transpose.ipynb": notebook + b"2"}
    both = a_zip(tmp_path / "a.zip", files, {"a_1_11_transpose-1.ipynb": later})
    rows = collected(course, both)
    assert [(row.file, row.attempt, row.attempts, row.outcome) for row in rows] == [
        ("transpose.ipynb", 1, 2, "older"),
        ("transpose-1.ipynb", 2, 2, "new"),
    ]
    assert (folder_of(course, "canvas-1") / "transpose.ipynb").read_bytes() == notebook + b"1"
    assert told(course, "canvas-1") == later.astimezone(UTC)


def test_the_starter_beside_the_work_is_left_out_and_kept(course: Path, tmp_path: Path) -> None:
    starter, folder = released(course), folder_of(course, "moodle-ada-lovelace")
    work = starter.replace(b"// TODO", b"// done")
    files = {f"{MOODLE}/transpose.ipynb": work, f"{MOODLE}/transpose (1).ipynb": starter}
    rows = collected(course, a_zip(tmp_path / "a.zip", files))
    assert [(row.file, row.outcome) for row in rows] == [
        ("transpose (1).ipynb", "left out"),
        ("transpose.ipynb", "new"),
    ]
    assert (folder / "transpose.ipynb").read_bytes() == work
    assert [each.file for each in left_out.read(course / ".marks", "transpose")] == ["transpose (1).ipynb"]


def test_of_canvas_files_the_last_uploaded_counts(course: Path, tmp_path: Path) -> None:
    files = {f"a_1_{number}_x-{copy}.cu": KERNEL.encode() for number, copy in ((10, 1), (9, 2))}
    rows = collected(course, a_zip(tmp_path / "a.zip", files))
    assert [(row.file, row.outcome) for row in rows] == [("x-2.cu", "older"), ("x-1.cu", "new")]


def test_of_two_that_nothing_orders_neither_counts(course: Path, tmp_path: Path) -> None:
    files = {"ada/transpose.ipynb": b"1", "ada/Transpose.ipynb": b"2", "bob/transpose.cu": KERNEL.encode()}
    files["bob/Transpose.cu"] = files["bob/transpose.cu"]
    rows = collected(course, a_folder(tmp_path / "in", files))
    assert [row.outcome for row in rows if row.student == "ada"] == ["left out"] * 2
    assert [row.outcome for row in rows if row.student == "bob"] == ["older", "new"]
    assert not folder_of(course, "ada").exists()


def test_the_same_again_changes_nothing(course: Path, tmp_path: Path) -> None:
    files = {"a_1_10_mine.cu": KERNEL.encode(), "b_LATE_2_11_transpose.ipynb": b"anything"}
    source = a_zip(tmp_path / "a.zip", files)
    collected(course, source)
    before = tree(course)
    assert {row.outcome for row in collected(course, source)} == {"the same"}
    later = a_zip(tmp_path / "b.zip", files, dict.fromkeys(files, NOON + timedelta(days=1)))
    assert {row.outcome for row in collected(course, later)} == {"the same"}
    assert tree(course) == before


def test_a_newer_one_replaces_and_an_older_one_does_not(course: Path, tmp_path: Path) -> None:
    notebook = released(course)
    first = moodle(tmp_path / "a.zip", notebook + b"1")
    second = moodle(tmp_path / "b.zip", notebook + b"2", NOON + timedelta(hours=1))
    path = folder_of(course, "moodle-ada-lovelace") / "transpose.ipynb"
    found = []
    for source in (first, second, first, second):
        found += [(collected(course, source)[0].outcome, path.read_bytes()[-1:])]
    assert found == [("new", b"1"), ("newer", b"2"), ("older", b"2"), ("the same", b"2")]
    assert told(course, "moodle-ada-lovelace") == (NOON + timedelta(hours=1)).astimezone(UTC)


def test_before_the_date_canvas_numbers_tell_what_is_newer(course: Path, tmp_path: Path) -> None:
    """Both were downloaded after the date, at the same time: nbgrader is told the date of both."""
    set_due(course)
    after = NOON + timedelta(days=9)
    sources = [
        a_zip(tmp_path / f"{number}.zip", {name: b"%d" % number}, {name: after})
        for number in (10, 11)
        for name in [f"a_1_{number}_transpose.ipynb"]
    ]
    assert [collected(course, sources[n])[0].outcome for n in (1, 0)] == ["new", "older"]
    assert (folder_of(course, "canvas-1") / "transpose.ipynb").read_bytes() == b"11"
    assert told(course, "canvas-1") == DUE


def test_what_others_put_there_counts_from_its_timestamp(course: Path, tmp_path: Path) -> None:
    there = {"transpose.ipynb": b"theirs", "notes.txt": b"kept", "timestamp.txt": b"2024-03-05 11:00:00 UTC"}
    a_folder(folder_of(course, "ada"), there)
    old, new = (a_folder(tmp_path / name, {"ada/transpose.ipynb": name.encode()}) for name in ("old", "new"))
    (old / "ada" / "timestamp.txt").write_text("2024-03-05 10:59:59 UTC", encoding="utf-8")
    (new / "ada" / "timestamp.txt").write_text("2024-03-05 11:00:01 UTC", encoding="utf-8")
    assert [collected(course, source)[0].outcome for source in (old, new)] == ["older", "newer"]
    assert (folder_of(course, "ada") / "transpose.ipynb").read_bytes() == b"new"
    assert (folder_of(course, "ada") / "notes.txt").read_bytes() == b"kept"


# ---- late --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "hours", "late", "at"),
    [
        ("a_1_10_x.cu", -1, False, -1),
        ("a_1_10_x.cu", 1, False, 0),
        ("a_LATE_1_10_x.cu", 1, True, 1 / 3600),
        (f"{MOODLE}/x.cu", -1, False, -1),
        (f"{MOODLE}/x.cu", 1, None, 0),
    ],
)
def test_late_is_what_nbgrader_says(
    name: str, hours: int, late: bool | None, at: float, course: Path, tmp_path: Path
) -> None:
    set_due(course)
    source = a_zip(tmp_path / "a.zip", {name: KERNEL.encode()}, {name: NOON + timedelta(hours=hours)})
    (row,) = collected(course, source)
    assert (row.late, row.flagged, row.exact) == (late, "LATE" in name, False)
    assert told(course, row.student) == DUE + timedelta(hours=at)


def test_a_file_that_somebody_touched_makes_nobody_late(course: Path, tmp_path: Path) -> None:
    """Files' own times are no hand-in times, however they differ."""
    set_due(course)
    people = [f"P {n}_{n}_assignsubmission_file_" for n in range(4)]
    files = {f"{person}/transpose.ipynb": released(course) for person in people}
    hours = dict(zip(files, (30, 49, -5, 29), strict=True))
    source = a_zip(
        tmp_path / "a.zip", files, {name: NOON + timedelta(hours=each) for name, each in hours.items()}
    )
    rows = collected(course, source)
    assert [(row.late, row.exact) for row in rows] == [
        (None, False),
        (None, False),
        (False, False),
        (None, False),
    ]
    assert [told(course, row.student) for row in rows if row.late is None] == [DUE] * 3


@pytest.mark.filterwarnings("ignore:Object of type:sqlalchemy.exc.SAWarning")
def test_an_extension_counts(course: Path, tmp_path: Path) -> None:
    set_due(course)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        for name in ("ada", "bob"):
            gradebook.update_or_create_student(name)
            gradebook.update_or_create_submission("transpose", name)
        gradebook.grant_extension("transpose", "ada", hours=2)
    stamp = (DUE + timedelta(hours=1)).isoformat().encode()
    files = {
        f"{name}/{file}": data
        for name in ("ada", "bob")
        for file, data in (("x.cu", KERNEL.encode()), ("timestamp.txt", stamp))
    }
    rows = collected(course, a_folder(tmp_path / "in", files))
    assert [(row.student, row.late) for row in rows] == [("ada", False), ("bob", True)]


def test_moodles_worksheet_says_who_was_late(course: Path, tmp_path: Path) -> None:
    set_due(course)
    sheet = tmp_path / "Grades.csv"
    when = "Tuesday, 5 March 2024, 12:30 PM"
    sheet.write_text(
        f'Identifier,Full name,Email address,Last modified (submission)\nParticipant 1,A,a@b.c,"{when}"\n',
        encoding="utf-8",
    )
    source = moodle(tmp_path / "a.zip", b"1", NOON + timedelta(days=3), name="x.ipynb")
    (course / "roster.csv").write_text("id,email\nada,A@B.C\nlovelace,\n", encoding="utf-8")
    (row,) = collected(course, source, sheet=sheet)
    assert (row.student, row.late, row.exact) == ("ada", True, True)
    assert told(course, "ada") == DUE + timedelta(minutes=30)


def a_sheet(path: Path, *rows: tuple[int, str, str]) -> Path:
    """Moodle's worksheet, of participants' numbers, their status, and the hour at which they handed in."""
    lines = [f'Participant {n},{status},"5 March 2024, {hour}:00"' for n, status, hour in rows]
    path.write_text("\n".join(["Identifier,Status,Last modified (submission)", *lines]), encoding="utf-8")
    return path


def test_what_moodle_says_and_the_gradebook_does_not_is_said(course: Path, tmp_path: Path) -> None:
    set_due(course)
    until = '"Submitted for grading - Extension granted until: 6 March 2024, 12:00"'
    rows = [
        (1, until, "13"),
        (2, "Submitted for grading", "13"),
        (3, "Submitted for grading - 1 hour late", "11"),
        (4, "Submitted for grading", "11"),
        (5, "Draft (not submitted)", "11"),
        (6, "No submission", "11"),
    ]
    names = [f"P {n}_{n}_assignsubmission_file_/x.cu" for n, _, _ in rows]
    collected(course, a_zip(tmp_path / "a.zip", dict.fromkeys(names, KERNEL.encode())))
    source = a_zip(tmp_path / "b.zip", dict.fromkeys(names[:5], KERNEL.encode()))
    found = collected(course, source, sheet=a_sheet(tmp_path / "Grades.csv", *rows))
    then = f"{datetime(2024, 3, 6, 12).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    counts = "and it counts here: take it out of submitted/ if it is not to"
    assert {row.student: row.note for row in found} == {
        "moodle-p-1": f"Moodle has an extension until {then}: "
        f'ladder course extend transpose moodle-p-1 --until "{then}"',
        "moodle-p-2": "Moodle calls it in time, and by the gradebook's due date it is late",
        "moodle-p-3": "Moodle calls it late, and by the gradebook's due date it is in time",
        "moodle-p-4": "",
        "moodle-p-5": f"Moodle says `Draft (not submitted)`, {counts}",
        "moodle-p-6": f"Moodle says `No submission`, {counts}",
    }
    assert {row.outcome for row in found} == {"the same"}


def test_the_time_zone_of_a_worksheet_is_said(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(time, "tzname", ("CET", "CEST"))
    source = moodle(tmp_path / "a.zip", b"1")
    sheet = a_sheet(tmp_path / "Grades.csv", (1, "", "11"))
    assert ladder(monkeypatch, "transpose", source, "--course", course, "--worksheet", sheet) == 0
    assert "are read as CET/CEST, this machine's zone" in capsys.readouterr().out


def test_a_time_that_becomes_known_later_counts(course: Path, tmp_path: Path) -> None:
    set_due(course)
    sheet = tmp_path / "Grades.csv"
    sheet.write_text(
        'Identifier,Last modified (submission)\nParticipant 1,"5 March 2024, 1:00 PM"\n', encoding="utf-8"
    )
    source = moodle(tmp_path / "a.zip", b"1", NOON + timedelta(days=3))
    found = []
    for given in (None, sheet, None, sheet):
        (row,) = collected(course, source, sheet=given)
        found.append((row.outcome, row.late, told(course, row.student) - DUE))
    hour = timedelta(hours=1)
    assert found == [
        ("new", None, timedelta(0)),
        ("the same", True, hour),
        ("the same", True, hour),
        ("the same", True, hour),
    ]


@pytest.mark.parametrize("earlier_version", [False, True])
def test_a_bound_and_a_time_are_compared_by_their_downloads(
    earlier_version: bool, course: Path, tmp_path: Path
) -> None:
    """Handed in by 12 for all that is known, and once more, which was at 11:30 as the worksheet says."""
    names = ("Ada Lovelace_1_assignsubmission_file_/x.cu",)
    first = a_zip(tmp_path / "a.zip", dict.fromkeys(names, b"int a1;"))
    second = a_zip(
        tmp_path / "b.zip", dict.fromkeys(names, b"int a2;"), dict.fromkeys(names, NOON + timedelta(days=1))
    )
    sheet = tmp_path / "Grades.csv"
    sheet.write_text(
        'Identifier,Last modified (submission)\nParticipant 1,"5 March 2024, 11:30 AM"\n', encoding="utf-8"
    )
    collected(course, first)
    record = folder_of(course, "moodle-ada-lovelace") / submitted.RECORD
    if earlier_version:
        kept = json.loads(record.read_bytes())
        assert kept["origins"]["transpose"].pop("downloaded")
        record.write_text(json.dumps(kept), encoding="utf-8")
    assert [collected(course, second, sheet=sheet)[0].outcome for _ in range(2)] == ["newer", "the same"]
    assert collected(course, first)[0].outcome == "older"


def test_a_due_date_that_is_set_later_counts(course: Path, tmp_path: Path) -> None:
    source = moodle(tmp_path / "a.zip", b"1", NOON + timedelta(days=3))
    found = []
    for due in (None, DUE, DUE + timedelta(days=9)):
        set_due(course, due)
        (row,) = collected(course, source)
        found.append((row.outcome, row.late, told(course, row.student) - DUE))
    days = timedelta(days=3)
    assert found == [("new", False, days), ("the same", None, timedelta(0)), ("the same", False, days)]


# ---- what is left out --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("mine.cu", b"", "it is empty"),
        ("mine.ipynb", b"", "it is empty"),
        ("mine.cu", b" \n\t", "it is empty"),
        ("mine.cu", codecs.BOM_UTF8, "it is empty"),
        ("mine.cu", codecs.BOM_UTF16_LE + b"a", "it begins as utf-16, and is none"),
        ("mine.cu", b"\x7fELF\0\0", "no text"),
        ("mine.py", b"x", "it is none of .cu, .ipynb"),
        ("mine.zip", b"x", "it is no zip that can be read"),
        ("\x1b[2J.txt", b"x", "it is none of .cu, .ipynb"),
    ],
)
def test_what_cannot_be_read_is_said_and_is_not_the_starter(
    name: str, data: bytes, says: str, course: Path, tmp_path: Path
) -> None:
    (row,) = collected(course, a_zip(tmp_path / "a.zip", {f"a_1_2_{name}": data}))
    assert (row.outcome, row.file) == ("left out", name)
    assert says in row.note
    assert not folder_of(course, "canvas-1").exists()
    assert students(course) == {}


@pytest.mark.parametrize(
    ("data", "note"),
    [
        ("// Größe\n".encode("latin-1"), "read as latin-1"),
        (codecs.BOM_UTF8 + "// Größe\n".encode(), ""),
        ("// Größe\n".encode("utf-16"), "read as utf-16"),
        ("// Größe\n".encode("utf-32"), "read as utf-32"),
        ("%%kernel mine --topic transpose\n// Größe\n".encode(), ""),
    ],
)
def test_text_is_read_in_the_encodings_that_editors_write(
    data: bytes, note: str, course: Path, tmp_path: Path
) -> None:
    (row,) = collected(course, a_folder(tmp_path / "in", {"ada/mine.cu": data}))
    assert (row.outcome, row.note) == ("new", note)
    assert answer(course, "ada") == "%%kernel mine --topic transpose\n// Größe\n"


@pytest.mark.parametrize("data", [b"\xff\xfe{}", b"no notebook", b'{"nbformat": 2}', b"\0" * 99])
def test_a_notebook_stays_as_it_was_handed_in(data: bytes, course: Path, tmp_path: Path) -> None:
    collected(course, a_folder(tmp_path / "in", {"ada/transpose.ipynb": data}))
    assert (folder_of(course, "ada") / "transpose.ipynb").read_bytes() == data


@pytest.mark.parametrize(
    ("names", "taken", "why"),
    [
        (["My Solution.ipynb"], "My Solution.ipynb", []),
        (["Transpose.IPYNB"], "Transpose.IPYNB", []),
        (["transpose.ipynb.txt"], "transpose.ipynb.txt", []),
        (["mine.ipynb", "mine (1).ipynb"], "mine (1).ipynb", []),
        (["a.ipynb", "b.ipynb"], None, ["2 files are handed in"] * 2),
        (["a.ipynb", "b.cu"], None, ["2 files are handed in"] * 2),
        (["transpose.ipynb", "scratch.ipynb"], "transpose.ipynb", ["transpose.ipynb is named after"]),
        (
            ["a.ipynb", "transpose (2).ipynb", "z.cu"],
            "transpose (2).ipynb",
            ["transpose (2).ipynb is named"] * 2,
        ),
        (["a.ipynb", "transpose.cu"], "transpose.cu", ["transpose.cu is named after"]),
        (["transpose.ipynb", "transpose.cu"], "transpose.ipynb", ["transpose.ipynb was handed in as well"]),
        (["a.cu", "readme.md"], "a.cu", ["it is none of"]),
    ],
)
def test_names(names: list[str], taken: str | None, why: list[str], course: Path, tmp_path: Path) -> None:
    files = {f"{MOODLE}/{name}": KERNEL.encode() for name in names}
    rows = collected(course, a_zip(tmp_path / "a.zip", files))
    assert [row.file for row in rows if row.outcome == "new"] == ([taken] if taken else [])
    left_out = [row.note for row in rows if row.outcome == "left out"]
    assert len(left_out) == len(why)
    assert all(note.startswith(says) for note, says in zip(left_out, why, strict=True))


def test_two_of_one_name_are_refused_until_the_roster_says_who_is_who(course: Path, tmp_path: Path) -> None:
    files = {f"Sam Same_{number}_assignsubmission_file_/x.cu": b"int a%d;" % number for number in (7, 8)}
    source = a_zip(tmp_path / "a.zip", files)
    rows = collected(course, source)
    assert [(row.student, row.outcome) for row in rows] == [("", "left out")] * 2
    assert "7, 8 go by one name" in rows[0].note
    assert not (course / "submitted").exists()
    (course / "roster.csv").write_text(
        "id,first_name,last_name,moodle_id\ns1,Sam,Same,7\ns2,Sam,Same,8\n", encoding="utf-8"
    )
    assert outcomes(collected(course, source)) == [("s1", "x.cu", "new"), ("s2", "x.cu", "new")]
    assert answer(course, "s2").endswith("int a8;")


@pytest.mark.parametrize("number", ["", "4711"])
def test_people_of_two_addresses_are_never_one(number: str, course: Path, tmp_path: Path) -> None:
    """Neither by their name nor by a number that both gave."""
    people = [
        f"submission_{n}:\n  :submitters:\n  - :name: Ada L\n    :sid: '{number}'\n    :email: a{n}@b.c\n"
        for n in (1, 2)
    ]
    files = {f"submission_{n}/transpose.cu": KERNEL.encode() for n in (1, 2)}
    files["submission_metadata.yml"] = "".join(people).encode()
    rows = collected(course, a_zip(tmp_path / "a.zip", files))
    assert [(row.student, row.outcome) for row in rows] == [("", "left out")] * 2
    assert rows[0].note.startswith("a1@b.c and a2@b.c would be one student")


@pytest.mark.parametrize("name", ["Team Ä_45_assignsubmission_file", "lovelaceada_1_10_transpose.cu"])
def test_what_one_of_a_group_hands_in_is_everybodys(name: str, course: Path, tmp_path: Path) -> None:
    """Moodle names the group, Canvas one of its members."""
    roster = "id,canvas_id,group\nada,1,team ä\nbob,2,Team Ä\ncy,3,other\ndi,4,\n"
    (course / "roster.csv").write_text(roster, encoding="utf-8")
    file = name if name.endswith(".cu") else f"{name}/transpose.cu"
    source = a_zip(tmp_path / "a.zip", {file: KERNEL.encode()})
    for outcome in ("new", "the same"):
        rows = collected(course, source)
        assert outcomes(rows) == [(student, "transpose.cu", outcome) for student in ("ada", "bob")]
    assert answer(course, "ada") == answer(course, "bob")
    assert submitted.state(folder_of(course, "bob")).origins["transpose"].person == ""


def test_of_a_group_the_latest_counts_whoevers_it_is(course: Path, tmp_path: Path) -> None:
    (course / "roster.csv").write_text("id,canvas_id,group\nada,1,a\nbob,2,a\n", encoding="utf-8")
    files = {f"name_{n}_{10 + n}_transpose.cu": b"int a%d;" % n for n in (1, 2)}
    collected(course, a_zip(tmp_path / "a.zip", files))
    assert {answer(course, student)[-3:] for student in ("ada", "bob")} == {"a2;"}
    later = {"name_1_13_transpose.cu": b"int a3;"}
    rows = collected(course, a_zip(tmp_path / "b.zip", later, dict.fromkeys(later, NOON + timedelta(days=1))))
    assert {(row.student, row.outcome) for row in rows} == {("ada", "newer"), ("bob", "newer")}


def test_nobody_takes_the_place_of_another_of_that_name(course: Path, tmp_path: Path) -> None:
    first, second = (
        a_zip(tmp_path / f"{n}.zip", {f"Sam Same_{n}_assignsubmission_file_/x.cu": b"int a%d;" % n})
        for n in (7, 8)
    )
    collected(course, first)
    (row,) = collected(course, second)
    assert row.outcome == "left out"
    assert "7, who was collected before, and 8 go by one name" in row.note
    assert answer(course, "moodle-sam-same").endswith("int a7;")


def test_a_participant_of_another_name_is_the_same_student(course: Path, tmp_path: Path) -> None:
    """Who married between two downloads; a roster that says otherwise is not believed without a word."""
    first, second = (
        a_zip(tmp_path / f"{name}.zip", {f"Eva {name}_102_assignsubmission_file_/x.cu": name.encode()})
        for name in ("Maier", "Huber")
    )
    collected(course, first)
    assert outcomes(collected(course, second)) == [("moodle-eva-maier", "x.cu", "newer")]
    (course / "roster.csv").write_text("id,moodle_id\neva,102\n", encoding="utf-8")
    (row,) = collected(course, second)
    assert (row.student, row.outcome) == ("", "left out")
    assert "102 was collected as moodle-eva-maier, and is eva" in row.note
    (course / "submitted" / "moodle-eva-maier").rename(course / "submitted" / "eva")
    assert outcomes(collected(course, second)) == [("eva", "x.cu", "the same")]


def test_damaged_files_are_left_out_alone(course: Path, tmp_path: Path) -> None:
    path = a_zip(tmp_path / "a.zip", {"ada/x.cu": b"x" * 500, "bob/x.cu": KERNEL.encode()})
    data = bytearray(path.read_bytes())
    data[40:44] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    rows = collected(course, path)
    assert outcomes(rows) == [("ada", "x.cu", "left out"), ("bob", "x.cu", "new")]
    assert "it is damaged" in rows[0].note


# ---- nothing is lost ---------------------------------------------------------------------------------------


def test_a_full_disk_is_said_and_what_was_there_stays(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected(course, moodle(tmp_path / "a.zip", b"1"))
    before = tree(course / "submitted")

    def write(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(submitted, "_write", write)
    with pytest.raises(WarpladderError, match="No space left on device"):
        collected(course, moodle(tmp_path / "b.zip", b"2", NOON + timedelta(days=1)))
    assert tree(course / "submitted") == before


CHANGES = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.utime")


def killed(run: Callable[[], object], step: int) -> bool:
    """Run something in a process that is killed before its nth change below `submitted`; False where it has fewer."""
    child = os.fork()
    if child == 0:
        left = iter(range(step))

        def watch(event: str, arguments: tuple[object, ...]) -> None:
            if event in CHANGES and "submitted" in str(arguments[0]) and next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        try:
            run()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


def test_a_run_that_is_killed_at_any_moment_is_run_again(course: Path, tmp_path: Path) -> None:
    first = a_zip(tmp_path / "a.zip", {"ada/x.cu": b"int a1;"})
    second = a_zip(tmp_path / "b.zip", {"ada/x.cu": b"int a2;"}, {"ada/x.cu": NOON + timedelta(days=1)})
    seen = set()
    for step in itertools.count():
        shutil.rmtree(course / "submitted", ignore_errors=True)
        collected(course, first)
        if not killed(lambda: collected(course, second), step):
            break
        (row,) = collected(course, first)
        assert answer(course, "ada").endswith({"the same": "int a1;", "older": "int a2;"}[row.outcome])
        collected(course, second)
        assert answer(course, "ada").endswith("int a2;")
        assert os.listdir(course / "submitted" / "ada") == ["transpose"]
        seen.add(row.outcome)
    assert step > 15
    assert seen == {"the same", "older"}


@pytest.mark.parametrize(
    ("left", "kept"),
    [([".transpose.old"], b"old"), (["transpose", ".transpose.old", ".transpose.new"], b"now")],
)
def test_what_a_killed_run_left_is_put_right(
    left: list[str], kept: bytes, course: Path, tmp_path: Path
) -> None:
    ada = course / "submitted" / "ada"
    contents = {"transpose": b"now", ".transpose.old": b"old", ".transpose.new": b"half"}
    a_folder(ada, {f"{name}/transpose.ipynb": contents[name] for name in left})
    collected(course, a_folder(tmp_path / "in", {"bob/x.cu": KERNEL.encode()}))
    assert os.listdir(ada) == ["transpose"]
    assert (ada / "transpose" / "transpose.ipynb").read_bytes() == kept


def test_one_at_a_time(course: Path, tmp_path: Path) -> None:
    source = a_folder(tmp_path / "in", {"ada/x.cu": KERNEL.encode()})
    busy = pytest.raises(
        WarpladderError, match=r"`ladder course autograde reduce` .* is at work on this course"
    )
    with alone(course / ".marks", "ladder course autograde reduce"), busy:
        collected(course, source)
    assert collected(course, source)[0].outcome == "new"


def test_a_gradebook_that_is_none_is_an_error(course: Path, tmp_path: Path) -> None:
    source = a_folder(tmp_path / "in", {"ada/x.cu": KERNEL.encode()})
    (course / "gradebook.db").write_bytes(b"no database" * 500)
    with pytest.raises(WarpladderError, match="the gradebook is damaged: file is not a database"):
        collected(course, source)
    (course / "gradebook.db").unlink()
    with pytest.raises(WarpladderError, match="there is no gradebook yet"):
        collected(course, source)
    assert not (course / "gradebook.db").exists()


def test_what_was_not_released_is_an_error(course: Path, tmp_path: Path) -> None:
    source = a_folder(tmp_path / "in", {"ada/x.cu": KERNEL.encode()})
    with pytest.raises(WarpladderError, match="there is no assignment `reduce` yet"):
        collected(course, source, "reduce")
    shutil.rmtree(course / "release")
    with pytest.raises(WarpladderError, match="the notebook to hand out is missing"):
        collected(course, source)


# ---- the command -------------------------------------------------------------------------------------------


def ladder(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> object:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["ladder", "course", "collect", *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code or 0


def test_the_table_and_the_exit_code(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    set_due(course, datetime(2024, 3, 4, tzinfo=UTC))
    files = {
        "lovelaceada_LATE_777_9001_transpose-2.ipynb": b"1",
        f"{'x' * 99}_778_9002_{'y' * 99}.cu": KERNEL.encode(),
        "a_779_9003_\x1b[31mred.txt": b"1",
    }
    source = a_zip(tmp_path / "a.zip", files)
    target = tmp_path / "rows.json"
    assert ladder(monkeypatch, "transpose", source, "--course", course, "--json", target) == 1
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "\x1b[31mred" not in shown
    assert "canvas-777 transpose-2.ipynb" in shown
    assert "≤ 2024-03-05 12:00 LATE new" in shown
    assert "2 new, 1 left out" in shown
    rows = json.loads(target.read_text(encoding="utf-8"))
    assert [(row["student"], row["outcome"], row["handed_in"]) for row in rows] == [
        ("canvas-777", "new", "2024-03-05T12:00:00Z"),
        ("canvas-778", "new", "2024-03-05T12:00:00Z"),
        ("canvas-779", "left out", "2024-03-05T12:00:00Z"),
    ]


def test_who_is_on_no_roster_is_said_once_there_is_one(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "roster.csv").write_text("id\nada\nbob\n", encoding="utf-8")
    at = ("--course", course)
    first = a_folder(tmp_path / "first", {"ada/x.cu": b"int a1;", "bob/x.cu": b"int b;"})
    assert ladder(monkeypatch, "transpose", first, *at) == 0
    second = a_folder(tmp_path / "second", {"Ada/x.cu": b"int a2;"})
    assert ladder(monkeypatch, "transpose", second, *at) == 0
    assert answer(course, "ada").endswith("int a2;")
    other = a_folder(tmp_path / "other", {"bob_transpose.cu": b"int b;"})
    assert ladder(monkeypatch, "transpose", other, *at) == 1
    assert "On no roster, and added to the gradebook: bob_transpose" in capsys.readouterr().out
    both = a_folder(tmp_path / "both", {"ada/x.cu": b"int a3;", "ADA/x.cu": b"int a4;"})
    rows = collected(course, both)
    assert [(row.student, row.outcome) for row in rows] == [("ada", "newer"), ("", "left out")]


@pytest.mark.parametrize(("name", "code"), [("ada/x.cu", 0), ("ada/x.pdf", 1), ("readme.txt", 2)])
def test_exit_codes(
    name: str, code: int, course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = a_folder(tmp_path / "in", {name: KERNEL.encode()})
    assert ladder(monkeypatch, "transpose", source, "--course", course) == code


def test_nbgrader_and_the_marker_find_it(course: Path, tmp_path: Path) -> None:
    rung = TOPICS["transpose"].rung("00_naive").source
    collected(course, a_folder(tmp_path / "in", {"ada/x.cu": rung.encode()}))
    folder, marker = batch.open_course(course)
    (found,) = batch.collect(folder, marker.topics, "transpose")
    assert isinstance(found, batch.Submission)
    assert (found.student, found.source.strip()) == ("ada", rung.strip())
    nbformat.validate(nbformat.read(folder_of(course, "ada") / "transpose.ipynb", as_version=4))
    assert folder.get_existing_timestamp(str(folder_of(course, "ada"))) is not None
