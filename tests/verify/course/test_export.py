"""Scores as Canvas and Moodle take them, and whose they are."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import judged_course
import pytest
from downloads import a_zip
from judged_course import TRANSPOSE, hand_in
from little_course import LittleCourse

from grader.course.batch import open_course
from grader.course.collecting.collect import collect
from grader.course.gradebook import canvas, moodle
from grader.course.gradebook.autograde import autograde
from grader.course.gradebook.export import export
from grader.course.gradebook.sheet import Filled, Mark, write_own
from grader.course.roster import student
from grader.errors import WarpladderError

pytestmark = pytest.mark.verify

ADA = student(
    "ada", first_name="Ada", last_name="Lovelace", email="Ada@example.edu", moodle_id="1201", canvas_id="88"
)
BOB = student("bob", first_name="Bob", last_name="O'Hara, Jr", email="bob@example.edu")
CY = student("cy")
MARKS = [Mark(ADA, 87.5, 12.5, ""), Mark(BOB, 0.0, 0.0, ""), Mark(CY, None, 0.0, "nothing was handed in")]

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Notes,Warm-up (11),transpose (4711),Current Score
,,,,,,,Manual Posting,
    Points Possible,,,,,,10,100.00,(read only)
"Lovelace, Ada",88,X1,alovelace,"CUDA, 1",,9,,90
"O'Hara, Bob",89,X2,bob,CUDA 2,,10,12,100
"Young, Cy",90,X3,cy@example.edu,CUDA 2,,10,12,100
"Excused, Eve",91,X4,eve,CUDA 2,,10,EX,100
"Student, Test",99,,f00,CUDA 2
"""

MOODLE = """\
Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",\
"Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 1201","Ada Lovelace",a.l@example.edu,"Submitted for grading",,100.00,Yes,"Monday, 3 March 2025",-,
"Participant 1202","Bob O'Hara",BOB@example.edu,"Submitted for grading",55.00,100.00,Yes,-,-,"Two
lines"
"Participant 1203","Cy Young",cy@example.edu,"No submission",12.00,100.00,Yes,-,-,
"""


def template(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "template.csv"
    path.write_bytes(text.encode(encoding))
    return path


def unplaced(found: Filled) -> list[str]:
    return [mark.person.id for mark in found.unplaced]


def test_canvas_has_its_own_students_and_the_assignments_column_alone(tmp_path: Path) -> None:
    """Columns of other assignments would undo what was graded in Canvas since."""
    found = canvas.fill(template(tmp_path, CANVAS), "Transpose", MARKS, 100.0)
    assert found.text == (
        "Student,ID,SIS User ID,SIS Login ID,Section,transpose (4711)\n"
        ",,,,,Manual Posting\n"
        "    Points Possible,,,,,100.00\n"
        '"Lovelace, Ada",88,X1,alovelace,"CUDA, 1",87.5\n'
        '"O\'Hara, Bob",89,X2,bob,CUDA 2,0\n'
        '"Young, Cy",90,X3,cy@example.edu,CUDA 2,\n'
        '"Excused, Eve",91,X4,eve,CUDA 2,EX\n'
        '"Student, Test",99,,f00,CUDA 2,\n'
    )
    assert found.absent == ["Young, Cy", "Excused, Eve", "Student, Test"]
    assert unplaced(found) == ["cy"]


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t", "\r", "＝", "  ="])
def test_what_begins_like_a_formula_is_text_and_numbers_are_numbers(begins: str) -> None:
    text = write_own([[f"{begins}cmd|' /C calc'!A0", "-1", "87.5", "Ada = \rBob"]])
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        [f"'{begins}cmd|' /C calc'!A0", "-1", "87.5", "Ada = \rBob"]
    ]


def test_names_are_no_formulas_in_our_own_tables() -> None:
    marks = [Mark(student("=id", first_name="=first", last_name="=last"), 87.5, 0.0, "")]
    assert canvas.table("a", marks, 100.0).text.splitlines()[-1] == "\"'=last, =first\",,,'=id,,87.5"
    assert moodle.table("a", marks).text.splitlines()[-1] == "'=first,'=last,'=id,,87.5"


def test_a_platforms_own_names_stay_as_they_are(tmp_path: Path) -> None:
    theirs = CANVAS.replace("O'Hara, Bob", "=1+1")
    assert "\n=1+1,89," in canvas.fill(template(tmp_path, theirs), "transpose", MARKS, 100.0).text


def test_canvas_in_another_country(tmp_path: Path) -> None:
    text = CANVAS.replace('"CUDA, 1"', "CUDA").replace(",", ";").replace("100.00", "100,00")
    path = template(tmp_path, text, "utf-8-sig")
    found = canvas.fill(path, "transpose", MARKS, 100.0)
    assert found.text.startswith("\ufeffStudent;ID;")
    assert ";88;X1;alovelace;CUDA;87.5\n" in found.text


@pytest.mark.parametrize(
    ("text", "name", "line", "says"),
    [
        (CANVAS, "reduce", 1, "name one with --column; there are: `Warm-up (11)`, `transpose (4711)`"),
        (CANVAS.replace("Warm-up", "Transpose"), "transpose", 1, "several assignments are called"),
        (CANVAS.replace("100.00", "10"), "transpose", 3, "has 10 points there, and 100 here"),
        (CANVAS.replace("f00", "bob"), "transpose", 8, "`bob` is in line 5 as well"),
        (CANVAS.replace(",88,X1,alovelace", ",88,X1,bob"), "transpose", 4, "could be `ada` or `bob`"),
        (MOODLE, "transpose", 1, "this is no gradebook of Canvas"),
        ("", "transpose", None, "the file is empty"),
    ],
)
def test_what_canvas_did_not_export_is_said(
    tmp_path: Path, text: str, name: str, line: int | None, says: str
) -> None:
    path = template(tmp_path, text)
    with pytest.raises(WarpladderError) as caught:
        canvas.fill(path, name, MARKS, 100.0)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert says in str(caught.value)


def test_a_column_may_be_named_whole(tmp_path: Path) -> None:
    path = template(tmp_path, CANVAS.replace("Warm-up (11)", "transpose (11)"))
    assert "transpose (11)" in canvas.fill(path, "transpose (11)", MARKS, 10.0).text.partition("\n")[0]


def test_canvas_without_a_template() -> None:
    found = canvas.table("transpose", MARKS, 100.0)
    assert found.text == (
        "Student,ID,SIS User ID,SIS Login ID,Section,transpose\n"
        "    Points Possible,,,,,100\n"
        '"Lovelace, Ada",88,,ada,,87.5\n'
        '"O\'Hara, Jr, Bob",,,bob,,0\n'
        "cy,,,cy,,\n"
    )


def test_moodles_worksheet_is_filled_in_and_all_else_stays(tmp_path: Path) -> None:
    found = moodle.fill(template(tmp_path, MOODLE), MARKS, 100.0)
    lines = found.text.splitlines()
    assert lines[0] == MOODLE.splitlines()[0].replace('"', "")
    assert lines[1] == (
        'Participant 1201,Ada Lovelace,a.l@example.edu,Submitted for grading,87.5,100.00,Yes,"Monday, 3 March 2025",-,'
    )
    assert lines[2:4] == [
        "Participant 1202,Bob O'Hara,BOB@example.edu,Submitted for grading,0,100.00,Yes,-,-,\"Two",
        'lines"',
    ]
    assert lines[4] == "Participant 1203,Cy Young,cy@example.edu,No submission,,100.00,Yes,-,-,"
    assert (found.absent, unplaced(found)) == (["Cy Young"], ["cy"])


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (MOODLE.replace("100.00", "10,00", 1).replace("10,00", '"10,00"'), 2, "has 10 points there"),
        (MOODLE.replace("cy@", "bob@"), 5, "`bob` is in line 4 as well"),
        (MOODLE.replace("Identifier", "ID"), 1, "no column `Identifier` and `Grade`"),
        (CANVAS, 1, "this is no grading worksheet of Moodle"),
    ],
)
def test_what_moodle_did_not_give_is_said(tmp_path: Path, text: str, line: int, says: str) -> None:
    with pytest.raises(WarpladderError) as caught:
        moodle.fill(template(tmp_path, text), MARKS, 100.0)
    assert caught.value.line == line
    assert says in str(caught.value)


def test_moodle_without_a_template() -> None:
    assert moodle.table("transpose", MARKS).text.splitlines() == [
        "First name,Last name,ID number,Email address,transpose",
        "Ada,Lovelace,ada,Ada@example.edu,87.5",
        'Bob,"O\'Hara, Jr",bob,bob@example.edu,0',
        ",,cy,,",
    ]


def test_a_table_that_is_not_in_utf_8_is_refused(tmp_path: Path) -> None:
    path = template(tmp_path, CANVAS.replace("Ada", "Ädä"), "latin-1")
    with pytest.raises(WarpladderError, match="it is not in UTF-8"):
        canvas.fill(path, "transpose", MARKS, 100.0)


def test_who_was_collected_finds_the_way_back_without_a_roster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the number that the download had; one that somebody else has by the roster is not believed."""
    root = judged_course.made(tmp_path / "cuda")
    judged_course.with_judge(monkeypatch)
    handed_in = LittleCourse(root).notebook("// 00_naive\n").encode()
    names = ("Ada Lovelace_1201", "Bob O'Hara_1202")
    files = {f"{name}_assignsubmission_file_/transpose.ipynb": handed_in for name in names}
    files["Cy Young_1203_assignsubmission_file_/mine.7z"] = b"7z"
    course, marker = open_course(root)
    collect(course, {"transpose": TRANSPOSE}, "transpose", a_zip(tmp_path / "download.zip", files))
    forged = hand_in(root, "cy", "01_coalesced_writes").parent
    ada = root / "submitted/moodle-ada-lovelace/transpose"
    (forged / "collected.json").write_bytes((ada / "collected.json").read_bytes())
    (root / "roster.csv").write_text("id,moodle_id\nmoodle-ada-lovelace,1100 1201\n")
    autograde(course, marker, "transpose")
    exported = export(course, marker, "transpose", "moodle", template(tmp_path, MOODLE))
    found, why = exported.filled, {mark.person.id: mark.why for mark in exported.marks}
    assert [line.split(",")[4] for line in found.text.splitlines()[1:3]] == ["10", "10"]
    assert (unplaced(found), found.absent) == (["cy"], [])
    assert why["moodle-cy-young"] == "mine.7z was left out: it is none of .cu, .ipynb"
