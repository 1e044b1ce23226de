"""Who is who: a platform's people, and nbgrader's students."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from grader.course import roster
from grader.course.collecting.people import Unknown, find
from grader.course.collecting.platforms import Person
from grader.course.roster import student
from grader.errors import WarpladderError

pytestmark = pytest.mark.verify

CLASS = [
    student("ada", first_name="Ada", last_name="Lovelace", email="Ada@example.org", moodle_id="20117 20435"),
    student("grete", first_name="Grete", last_name="Müller", canvas_id="55", lms_user_id="4711"),
    student("sam1", first_name="Sam", last_name="Same"),
    student("sam2", first_name="Sam", last_name="Same", moodle_id="9"),
]


@pytest.mark.parametrize(
    ("platform", "person", "id_", "sure"),
    [
        ("moodle", Person("20435", "A. King"), "ada", True),
        ("moodle", Person("1", "A. King", "ada@EXAMPLE.org"), "ada", True),
        ("moodle", Person("1", "Ada Lovelace"), "ada", False),
        ("moodle", Person("1", "LOVELACE, Ada"), "ada", False),
        ("moodle", Person("9", "Sam Same"), "sam2", True),
        ("canvas", Person("55", "someone"), "grete", True),
        ("canvas", Person("4711", "someone"), "grete", True),
        ("canvas", Person("1", "mullergrete"), "grete", False),
        ("gradescope", Person("ada", "A. King"), "ada", True),
        ("folder", Person("ada"), "ada", True),
        ("folder", Person("Ada Lovelace"), "ada", False),
    ],
)
def test_people_are_known(platform: str, person: Person, id_: str, sure: bool) -> None:
    known = find(CLASS, platform, person)
    assert (known.student.id, known.sure, known.listed) == (id_, sure, True)


HASSAN = [
    student("ali", first_name="Ali", last_name="Hassan"),
    student("an", first_name="An", last_name="Abel"),
]


@pytest.mark.parametrize(
    ("platform", "name", "id_", "noted"),
    [
        ("moodle", "Ali Hassan", "ali", False),
        ("moodle", "Hassan, Ali", "ali", False),
        ("moodle", "Hassan Ali", "ali", True),
        ("moodle", "Ana Bel", "moodle-ana-bel", False),
        ("moodle", "AN  ABEL", "an", False),
        ("canvas", "hassanali", "ali", False),
        ("canvas", "alihassan", "ali", True),
        ("canvas", "belana", "canvas-7", False),
        ("folder", "an.abel", "an", False),
    ],
)
def test_words_of_a_name_are_not_joined_and_the_other_way_round_is_said(
    platform: str, name: str, id_: str, noted: bool
) -> None:
    person = Person(name) if platform == "folder" else Person("7", name)
    known = find(HASSAN, platform, person)
    assert known.student.id == id_
    column = "canvas_id" if platform == "canvas" else "moodle_id"
    said = f"taken for ali, Ali Hassan: give {column} in roster.csv if that is somebody else"
    assert known.note == (said if noted else "")
    if noted:
        assert find(HASSAN, platform, person, ["ali"]).note == said, "and once more"


JÖRG = student("jörg")
OWN = [student("ada"), JÖRG, student("eve@x.edu"), student("Bo"), student("BO"), student("00123")]


@pytest.mark.parametrize(
    ("name", "id_", "sure"),
    [
        ("Ada", "ada", False),
        (unicodedata.normalize("NFD", "jörg"), "jörg", False),
        (unicodedata.normalize("NFD", "JÖRG"), "jörg", False),
        ("Eve@X.edu", "eve@x.edu", False),
        ("BO", "BO", True),
        (unicodedata.normalize("NFD", "zoë"), "zoë", False),
    ],
)
def test_a_folders_name_is_an_id_however_a_system_writes_it(name: str, id_: str, sure: bool) -> None:
    known = find(OWN, "folder", Person(name))
    assert (known.student.id, known.sure) == (id_, sure)


def test_a_folders_name_that_may_be_two_ids_is_refused() -> None:
    with pytest.raises(Unknown, match="it may be any of BO, Bo"):
        find(OWN, "folder", Person("bo"))


def test_zeros_make_another_person_which_is_said() -> None:
    known = find(OWN, "folder", Person("123"))
    assert (known.student.id, known.note) == ("123", "somebody else than 00123, by the zeros")


def test_signs_of_a_name_that_platforms_leave_out_are_of_no_account() -> None:
    students = [student("o", first_name="Jean-Luc", last_name="O'Hara, Jr")]
    for name in ("Jean Luc OHara Jr", "Jean‐Luc O'Hara, Jr", "jean luc ohara jr"):
        assert find(students, "moodle", Person("7", name)).student.id == "o"


def test_moodles_numbers_are_no_users() -> None:
    assert find(CLASS, "moodle", Person("4711", "New Comer")).student.id == "moodle-new-comer"


@pytest.mark.parametrize(
    ("platform", "person", "about"),
    [
        (
            "moodle",
            Person("1", "Ann de Vil"),
            {"id": "moodle-ann-de-vil", "first_name": "Ann de", "last_name": "Vil"},
        ),
        ("moodle", Person("1", "Ñandú"), {"id": "moodle-ñandú", "last_name": "Ñandú"}),
        (
            "moodle",
            Person("1", "../.. \x1b[1m"),
            {"id": "moodle-1m", "first_name": "../..", "last_name": "\\x1b[1m"},
        ),
        ("canvas", Person("777", "vilann"), {"id": "canvas-777", "lms_user_id": "777"}),
        (
            "gradescope",
            Person("12", "Ann Vil", "a@b.c"),
            {"id": "12", "first_name": "Ann", "last_name": "Vil", "email": "a@b.c", "lms_user_id": "12"},
        ),
        (
            "gradescope",  # of Ada's name, and by number and address somebody else
            Person("13", "Ada Lovelace", "b@c.d"),
            {"id": "13", "first_name": "Ada", "last_name": "Lovelace", "email": "b@c.d", "lms_user_id": "13"},
        ),
        ("gradescope", Person("", "", "a@b.c"), {"id": "gradescope-a-b-c", "email": "a@b.c"}),
        ("folder", Person("ann.vil"), {"id": "ann.vil"}),
    ],
)
def test_somebody_new_has_an_id_of_the_platforms(
    platform: str, person: Person, about: dict[str, str]
) -> None:
    known = find(CLASS, platform, person)
    assert (known.student.about, known.listed) == (about, False)
    assert find([*CLASS, known.student], platform, person).student == known.student, (
        "and is known from then on"
    )


@pytest.mark.parametrize(
    ("platform", "person", "says"),
    [
        ("moodle", Person("1", "Sam Same"), "it may be any of sam1, sam2: say which in roster.csv"),
        ("moodle", Person("1", "_ -"), "no id for nbgrader"),
        (
            "moodle",
            Person("1", "Ada Lovelace", "b@c.d"),
            "ada has that name and the address Ada@example.org: say who",
        ),
        ("folder", Person("a b"), "no id for nbgrader"),
        ("folder", Person("-rf"), "no id for nbgrader"),
        ("folder", Person("a+b"), "no id for nbgrader"),
        ("folder", Person("a*"), "no id for nbgrader"),
        ("folder", Person("x" * 129), "no id for nbgrader"),
    ],
)
def test_who_may_be_several_or_nobody_is_refused(platform: str, person: Person, says: str) -> None:
    with pytest.raises(Unknown, match=says):
        find(CLASS, platform, person)


@pytest.mark.parametrize(
    ("person", "before", "id_"),
    [
        (Person("7", "Ada King"), ["ada"], "ada"),
        (Person("7", "Sam Same"), ["sam1"], "sam1"),
        (Person("9", "Sam Same"), ["sam1", "sam2"], "sam2"),
        (Person("7", "Ada King", "king@example.org"), ["ada"], "ada"),
    ],
)
def test_who_was_collected_before_is_known_by_the_number(person: Person, before: list[str], id_: str) -> None:
    """Whatever the name and the address are by now."""
    known = find(CLASS, "moodle", person, before)
    assert (known.student.id, known.sure) == (id_, True)


@pytest.mark.parametrize(
    ("person", "before", "says"),
    [
        (Person("9", "Ada King"), ["ada"], "9 was collected as ada, and is sam2 by what is known now"),
        (Person("7", "A", "ADA@example.org"), ["grete"], "7 was collected as grete, and is ada"),
        (Person("7", "Ada Lovelace"), ["grete"], "7 was collected as grete, and is ada"),
        (Person("7", "New Comer"), ["ada", "grete"], "it may be any of ada, grete"),
    ],
)
def test_who_was_collected_as_another_is_refused(person: Person, before: list[str], says: str) -> None:
    with pytest.raises(Unknown, match=says):
        find(CLASS, "moodle", person, before)


@pytest.mark.parametrize("sign", [",", ";"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_roster_is_read_as_spreadsheets_write_it(sign: str, mark: str, tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    text = f"{mark}id, last_name,moodle_id\r\nada, Lovelace ,1 2\r\n,,\r\n\r\nbob,,\r\n".replace(",", sign)
    path.write_bytes(text.encode())
    assert roster.read(path) == [student("ada", last_name="Lovelace", moodle_id="1 2"), student("bob")]


def test_a_roster_adds_to_the_gradebook() -> None:
    listed = [student("ada", moodle_id="7"), student("new", first_name="N")]
    ada, *others = roster.joined(CLASS, listed)
    assert (ada.about["email"], ada.about["moodle_id"]) == ("Ada@example.org", "7")
    assert [each.id for each in others] == ["grete", "sam1", "sam2", "new"]


@pytest.mark.parametrize(
    ("data", "line", "says"),
    [
        (b"name\nada\n", 1, "it has no column `id`"),
        (b"", 1, "it has no column `id`"),
        (b"id\nada\n../x\n", 3, r"`\.\./x` can be no student's id"),
        (b"id\nada\nada\n", 3, "`ada` is there twice"),
        (b"id,first_name\nada,J\xfcrgen\n", None, "it is not UTF-8"),
        (b"id\n" + b"x" * 200_000 + b"\n", 2, "it is no CSV"),
    ],
    ids=["no id", "empty", "a path", "twice", "latin-1", "long"],
)
def test_what_is_wrong_with_a_roster_is_said(
    data: bytes, line: int | None, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(data)
    with pytest.raises(WarpladderError, match=says) as caught:
        roster.read(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)
