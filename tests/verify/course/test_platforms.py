"""What a download is, its content tells; and whose the files are, the names that platforms give them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grader.course.collecting import moments, worksheet
from grader.course.collecting.archive import File
from grader.course.collecting.moments import Moment
from grader.course.collecting.platforms import Download, Person, recognised
from grader.errors import WarpladderError

pytestmark = pytest.mark.verify

NOON = datetime(2024, 3, 5, 12, tzinfo=UTC)


def files(*paths: str, **contents: bytes) -> list[File]:
    """Files of a download; the contents of those that are read are given by their names without what follows a dot."""

    def one(path: str) -> File:
        name = path.rpartition("/")[2].partition(".")[0]
        return File(path, NOON, lambda: contents.get(name, b""))

    return [one(path) for path in paths]


def said(download: Download) -> list[tuple[str, str, str]]:
    return [(item.person.id, item.person.name, item.name) for item in download.handed_in]


@pytest.mark.parametrize(
    ("path", "number", "name", "file"),
    [
        ("Ada Lovelace_12345_assignsubmission_file_/x.ipynb", "12345", "Ada Lovelace", "x.ipynb"),
        ("Ada Lovelace_12345_assignsubmission_file/x.ipynb", "12345", "Ada Lovelace", "x.ipynb"),
        ("Ada Lovelace_12345_assignsubmission_file_/sub/x.cu", "12345", "Ada Lovelace", "x.cu"),
        ("Ada Lovelace_12345_assignsubmission_file_x y.ipynb", "12345", "Ada Lovelace", "x y.ipynb"),
        ("Participant_7_assignsubmission_file_x.ipynb", "7", "Participant", "x.ipynb"),
        ("李 小龍_7_assignsubmission_file_/x_1.ipynb", "7", "李 小龍", "x_1.ipynb"),
        (
            "Eve_1_assignsubmission_file_Bob_2_assignsubmission_file_x.ipynb",
            "1",
            "Eve",
            "Bob_2_assignsubmission_file_x.ipynb",
        ),
        (
            "Eve_1_assignsubmission_file_/Bob_2_assignsubmission_file_x.ipynb",
            "1",
            "Eve",
            "Bob_2_assignsubmission_file_x.ipynb",
        ),
    ],
)
def test_moodles_names(path: str, number: str, name: str, file: str) -> None:
    download = recognised(files(path))
    assert (download.platform, said(download)) == ("moodle", [(number, name, file)])
    assert download.handed_in[0].late is None


@pytest.mark.parametrize(
    ("path", "number", "name", "file", "late"),
    [
        ("lovelaceada_777_9001_transpose.ipynb", "777", "lovelaceada", "transpose.ipynb", False),
        ("lovelaceada_LATE_777_9001_transpose-2.ipynb", "777", "lovelaceada", "transpose-2.ipynb", True),
        ("lovelaceada_late_777_9001_transpose.ipynb", "777", "lovelaceada", "transpose.ipynb", True),
        ("de_la_cruzana_777_9001_8_9_x.cu", "777", "de_la_cruzana", "8_9_x.cu", False),
        ("anon_aB3xY_9001_x.cu", "aB3xY", "anon", "x.cu", False),
        ("LATE_anon_aB3xY_9001_x.cu", "aB3xY", "anon", "x.cu", True),
    ],
)
def test_canvas_names(path: str, number: str, name: str, file: str, late: bool) -> None:
    download = recognised(files(path))
    assert (download.platform, said(download)) == ("canvas", [(number, name, file)])
    assert (download.handed_in[0].late, download.handed_in[0].number) == (late, 9001)
    assert not download.handed_in[0].moment.exact, "Canvas gives every file the time of the download"


@pytest.mark.parametrize(
    ("paths", "platform"),
    [
        (
            ["A_1_assignsubmission_file_/x.ipynb", "A_1_assignsubmission_onlinetext_/onlinetext.html"],
            "moodle",
        ),
        (["a_1_2_x.ipynb", "b_LATE_2_text.html", "anon_x1_link.html"], "canvas"),
    ],
)
def test_what_was_typed_is_no_file(paths: list[str], platform: str) -> None:
    download = recognised(files(*paths))
    assert (download.platform, len(download.handed_in)) == (platform, 1)
    assert download.refused == [
        (path, "it was typed into the platform, and is no file") for path in paths[1:]
    ]


@pytest.mark.parametrize(
    "path", ["ada_1_assignsubmission_file_/x.ipynb", "ada_1_2_x.ipynb", "ada/x.ipynb", "readme.txt"]
)
def test_other_files_are_named(path: str) -> None:
    many = [f"A{number}_{number}_assignsubmission_file_/x.ipynb" for number in range(3)]
    download = recognised(files(*many, path, "readme.txt"))
    assert "readme.txt" in dict(download.refused)


def test_a_group_without_a_name_is_said() -> None:
    """Moodle calls it so, in the site's language, and gives no number."""
    path = "Default group_assignsubmission_file/x.ipynb"
    download = recognised(
        files("Team A_45_assignsubmission_file/x.ipynb", "B_7_assignsubmission_file/x.ipynb", path)
    )
    assert [(where, "in no group" in why) for where, why in download.refused] == [(path, True)]


METADATA = b"""\
submission_100:
  :submitters:
  - :name: Ada Lovelace
    :sid: '4711'
    :email: ada@example.org
  :created_at: 2024-03-05 11:00:00.926716000 Z
  :score: 3.0
  :history:
  - :id: 99
    :created_at: 2024-03-04 11:00:00.926716000 Z
submission_101:
  :submitters:
  - :name: Bob One
    :sid: 12
    :email: bob@example.org
  - :name: Cleo Two
    :sid:
    :email: cleo@example.org
  :created_at: 2024-03-05 12:00:00 -07:00
submission_102:
  :submitters: []
"""


@pytest.mark.parametrize("root", ["", "assignment_8046601_export/"])
def test_gradescopes_list(root: str) -> None:
    paths = ["submission_metadata.yml", *(f"submission_{number}/x.cu" for number in (100, 101, 102, 103))]
    download = recognised(files(*(root + path for path in paths), submission_metadata=METADATA))
    assert download.platform == "gradescope"
    ada, bob, cleo = download.handed_in
    assert (ada.person, ada.before) == (Person("4711", "Ada Lovelace", "ada@example.org"), 1)
    assert ada.moment == Moment(datetime(2024, 3, 5, 11, 0, 0, 926716, UTC), True)
    assert (bob.person.id, cleo.person.id, bob.file is cleo.file) == ("12", "", True)
    assert bob.moment == Moment(datetime(2024, 3, 5, 19, tzinfo=UTC), True)
    assert [path for path, _ in download.refused] == [f"{root}submission_{n}/x.cu" for n in (102, 103)]


@pytest.mark.parametrize(
    "text",
    [b"", b"- 1", b"a: b", b"a: {:created_at: soon}", b"a: !ruby/object:Submission {}", b"\x80", b"{" * 3000],
)
def test_a_list_that_cannot_be_read_is_an_error(text: bytes) -> None:
    with pytest.raises(WarpladderError, match=r"submission_metadata\.yml cannot be read"):
        recognised(files("submission_metadata.yml", "submission_1/x.cu", submission_metadata=text))


def test_a_student_does_not_make_a_class_gradescopes() -> None:
    download = recognised(files("ada/submission_metadata.yml", "ada/x.cu", submission_metadata=METADATA))
    assert download.platform == "folder"
    download = recognised(files("Ada_1_assignsubmission_file_/submission_metadata.yml"))
    assert download.platform == "moodle"


def test_a_plain_folder_is_students_and_their_files() -> None:
    paths = (
        "ada/transpose.ipynb",
        "bob.cu",
        "cleo/a/b.cu",
        "readme.txt",
        "dora/Bob_1_assignsubmission_file_x.cu",
    )
    download = recognised(files(*paths))
    assert download.platform == "folder"
    assert [(person, file) for person, _, file in said(download)] == [
        ("ada", "transpose.ipynb"),
        ("bob", "bob.cu"),
        ("dora", "Bob_1_assignsubmission_file_x.cu"),
    ]
    assert [path for path, _ in download.refused] == ["cleo/a/b.cu", "readme.txt"]


def test_a_timestamp_in_a_plain_folder_is_believed() -> None:
    written = b"2024-03-01 10:00:00.000000 UTC\n"
    download = recognised(files("ada/x.ipynb", "ada/timestamp.txt", timestamp=written))
    assert [item.moment for item in download.handed_in] == [
        Moment(datetime(2024, 3, 1, 10, tzinfo=UTC), True)
    ]
    wrong = recognised(files("ada/x.ipynb", "ada/timestamp.txt", "bob/x.ipynb", timestamp=b"yesterday"))
    assert [path for path, _ in wrong.refused] == ["ada/x.ipynb"]


@pytest.mark.parametrize("paths", [[], ["readme.txt", "a/b/c/d.txt"]])
def test_nothing_at_all_is_an_error(paths: list[str]) -> None:
    with pytest.raises(WarpladderError, match="nothing in it is known"):
        recognised(files(*paths))


# ---- when --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exact", "late", "hours", "told"),
    [
        (True, None, 1, 1),
        (True, False, 1, 1),
        (False, True, 1, 1 / 3600),
        (False, True, -1, -1),
        (False, None, 1, 0),
        (False, False, 1, 0),
        (False, None, -1, -1),
    ],
)
def test_what_is_not_known_to_be_late_is_not(exact: bool, late: bool | None, hours: int, told: float) -> None:
    """And what is late by nobody knows how much is by a second."""
    moment = Moment(NOON + timedelta(hours=hours), exact)
    assert moments.in_doubt_for_the_student(moment, late, NOON).at == NOON + timedelta(hours=told)
    assert moments.in_doubt_for_the_student(moment, late, None) == moment


@pytest.mark.parametrize("read", [moments.read, lambda written: moments.of_timestamp(written.encode())])
@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("12.11.2026 10:00", "in two ways"),
        ("10/12/2026", "in two ways"),
        ("10:00", "no day"),
        ("2026", "no day"),
        ("2026-11-19 23:30 PDT", "time zone"),
        ("soon", "soon"),
    ],
)
def test_a_time_that_cannot_be_read_in_one_way_is_none(
    read: Callable[[str], object], written: str, why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        read(written)


@pytest.mark.parametrize(
    "written", ["\ufeff2024-03-01 10:00 UTC", "2024-03-01T11:00:00+01:00", "1 March 2024, 10 AM UTC"]
)
def test_a_time_that_can_be_read_in_one_way_is_read(written: str) -> None:
    assert moments.of_timestamp(written.encode()).at == datetime(2024, 3, 1, 10, tzinfo=UTC)


def test_what_nbgrader_is_told_is_read_back() -> None:
    for at in (NOON, NOON.replace(microsecond=7)):
        assert moments.of_timestamp(moments.to_timestamp(at)) == Moment(at, True)


# ---- Moodle's worksheet ------------------------------------------------------------------------------------

SHEET = """\
Identifier,Full name,Email address,Status,Grade,Last modified (submission)
Participant 1,Ada King Lovelace,ada@example.org,Submitted for grading,,"Tuesday, 5 March 2024, 3:45 PM"
Participant 2,Bob One,bob@example.org,No submission,,-
"""


def test_a_worksheet_says_who_and_when(tmp_path: Path) -> None:
    sheet = tmp_path / "Grades.csv"
    sheet.write_text("\ufeff" + SHEET, encoding="utf-8")
    download = recognised(files(*(f"Some Name_{n}_assignsubmission_file_/x.ipynb" for n in (1, 2, 3))))
    ada, bob, other = worksheet.applied(download, worksheet.read(sheet)).handed_in
    assert ada.person == Person("1", "Ada King Lovelace", "ada@example.org")
    assert ada.moment == Moment(datetime(2024, 3, 5, 15, 45).astimezone(UTC), True)
    assert (bob.person.name, bob.moment.exact) == ("Bob One", False)
    assert (other.person.name, other.moment.exact) == ("Some Name", False)


SUBMITTED = "Submitted for grading"
EXTENSION = "Extension granted until: Wednesday, 6 March 2024, 11:59 PM"


@pytest.mark.parametrize(
    ("status", "late", "extended", "not_submitted"),
    [
        (SUBMITTED, False, False, ""),
        (f"{SUBMITTED} - 4 days 10 hours late", True, False, ""),
        (f"{SUBMITTED} - Graded - {EXTENSION}", False, True, ""),
        (f"{SUBMITTED} - 2 mins late - {EXTENSION}", True, True, ""),
        ("Draft (not submitted)", None, False, "Draft (not submitted)"),
        (f"No submission - {EXTENSION}", None, True, "No submission"),
        ("Zur Bewertung abgegeben", None, False, ""),
        ("", None, False, ""),
    ],
)
def test_a_worksheets_status_is_read(
    status: str, late: bool | None, extended: bool, not_submitted: str, tmp_path: Path
) -> None:
    sheet = tmp_path / "Grades.csv"
    sheet.write_text(SHEET.replace(SUBMITTED, f'"{status}"'), encoding="utf-8")
    download = recognised(files("Ada_1_assignsubmission_file_/x.ipynb"))
    (ada,) = worksheet.applied(download, worksheet.read(sheet)).handed_in
    until = datetime(2024, 3, 6, 23, 59).astimezone(UTC) if extended else None
    assert (ada.late, ada.extension, ada.not_submitted) == (late, until, not_submitted)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (SHEET.replace(SUBMITTED, "Extension granted until: bald"), 2, "`bald` is no time"),
        ("Name,Status\n", 1, "it has no column `Identifier`"),
        (SHEET.replace("Participant 1", "Ada"), 2, "`Ada` is no participant"),
        (SHEET.replace("Tuesday, 5 March", "Dienstag, 5. März"), 2, "is no time that can be read"),
    ],
)
def test_what_is_wrong_with_a_worksheet_is_said(tmp_path: Path, text: str, line: int, says: str) -> None:
    sheet = tmp_path / "Grades.csv"
    sheet.write_text(text, encoding="utf-8")
    with pytest.raises(WarpladderError, match=says) as caught:
        worksheet.read(sheet)
    assert (caught.value.file, caught.value.line) == (str(sheet), line)


@pytest.mark.parametrize("path", ["a_9_2_x.ipynb", "Ada_9_assignsubmission_file_x.ipynb"])
def test_a_worksheet_of_something_else_is_refused(path: str, tmp_path: Path) -> None:
    sheet = tmp_path / "Grades.csv"
    sheet.write_text(SHEET, encoding="utf-8")
    with pytest.raises(WarpladderError, match=r"worksheet goes with|none of its participants"):
        worksheet.applied(recognised(files(path)), worksheet.read(sheet))
