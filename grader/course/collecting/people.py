"""Which of the course's students somebody is whom a platform knows by a number, a name or an address."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from grader.course.collecting.platforms import Person
from grader.course.roster import FILE, IDS, Student, student, usable, words
from grader.visible import visible


class Unknown(Exception):
    """Somebody who is no one student; the text says why."""


@dataclass(frozen=True)
class Known:
    """Who somebody is."""

    student: Student
    sure: bool  # by an id or an address, or collected before; else by the name alone, or by nothing
    listed: bool = True  # else it is somebody new, in a class that has students
    note: str = ""  # why it may be somebody else


def find(students: Sequence[Student], platform: str, person: Person, before: Collection[str] = ()) -> Known:
    """The student that somebody is, or a new one. Raises Unknown where it may be more than one, or none.

    `before`: as whom the platform's id was collected for the same assignment, which counts whatever the name is by now.
    A name alone does not make one person of two addresses.
    """
    kept = [each for each in students if each.id in before]
    alike, reversed_ = (_called(students, platform, person, way) for way in (0, 1))
    named, other_way = (
        [each for each in found if not contradict(person.email, each.email)] for found in (alike, reversed_)
    )
    exact = [each for each in students if person.id and person.id in each.called(platform)]
    ways = (
        exact or [each for each in students if platform == "folder" and same_folder(each.id, person.id)],
        [each for each in students if _same(person.email, each.email)],
        named,
        kept or other_way,
    )
    for number, way in enumerate(ways):
        found = [each for each in way if each in kept] if kept else way
        if way and not found:
            before_and_now = (
                f"{person.id} was collected as {_ids(kept)}, and is {_ids(way)} by what is known now"
            )
            raise Unknown(
                f"{before_and_now}: give one id in {FILE}, and its name to the folder in submitted/"
            )
        if len(found) > 1:
            raise Unknown(f"it may be any of {_ids(found)}: say which in {FILE}")
        if found:
            note = _taken_for(found[0], platform) if number > 2 and found[0] in other_way else ""
            return Known(found[0], sure=bool(kept or exact) or number == 1, note=note)
    made = _made(platform, person)
    if not usable(made):
        raise Unknown(f"no id for nbgrader can be made of that name: give one in {FILE}")
    known = next((each for each in students if each.id == made), None)
    sure = bool(person.id) and made.endswith(person.id) and platform != "moodle"
    others = [each for each in (*alike, known) if each is not None and contradict(person.email, each.email)]
    if others and not sure:
        other = others[0]
        raise Unknown(
            f"{other.id} has that name and the address {other.email}: say who {person.email} is in {FILE}"
        )
    if known is not None:
        return Known(known, sure)
    zeros = [each for each in students if each.id.lstrip("0") == made.lstrip("0")]
    note = f"somebody else than {_ids(zeros)}, by the zeros" if zeros else ""
    return Known(_new(made, platform, person), sure, listed=not students, note=note)


def same_folder(id_: str, other: str) -> bool:
    """Whether two ids are one name to systems that change upper and lower case, or take letters apart."""
    return _folded(id_) == _folded(other)


def _folded(id_: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", id_).casefold())


def _called(students: Sequence[Student], platform: str, person: Person, way: int) -> list[Student]:
    """Those of somebody's name, as the platform writes names or (1) the other way round. Canvas's files have the last
    name first, and all in one word."""
    name = person.name or person.id
    last, comma, first = name.partition(",")
    written = {words(name), *([words(first) + words(last)] if comma else [])} - {()}
    found = []
    for each in students:
        called = each.names[way ^ (platform == "canvas")]
        if called in written or ("".join(called),) in written:
            found.append(each)
    return found


def _taken_for(known: Student, platform: str) -> str:
    column = IDS.get(platform, ("id",))[0]
    name = f"{known.first_name} {known.last_name}"
    return f"taken for {known.id}, {name}: give {column} in {FILE} if that is somebody else"


def _ids(students: Sequence[Student]) -> str:
    return ", ".join(sorted(each.id for each in students))


def _made(platform: str, person: Person) -> str:
    """An id for somebody who is on no roster: of the platform's number where it is the person's for good, else of the
    name."""
    if platform == "folder":
        return unicodedata.normalize("NFC", person.id)
    if platform == "gradescope" and usable(person.id):
        return person.id
    if platform == "canvas":
        return f"canvas-{person.id}"
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", person.name or person.email).casefold())
    return "-".join([platform, *words]) if words else ""


def _new(id_: str, platform: str, person: Person) -> Student:
    """Somebody new, with what the platform says: Canvas's files have names in one word, which are no use."""
    first, _, last = visible(person.name).rpartition(" ") if platform != "canvas" else ("", "", "")
    number = person.id if platform in ("canvas", "gradescope") else None
    return student(id_, first_name=first, last_name=last, email=visible(person.email), lms_user_id=number)


def _same(address: str, other: str) -> bool:
    return bool(address) and address.strip().casefold() == other.strip().casefold()


def contradict(address: str, other: str) -> bool:
    """Whether two addresses are known and differ."""
    return bool(address and other) and not _same(address, other)
