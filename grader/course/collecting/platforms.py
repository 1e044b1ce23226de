"""Where a download comes from, told by what is in it, and who handed in what.

Names are those of Moodle's mod/assign/classes/downloader.php, of Canvas's lib/content_zipper.rb, and of Gradescope's
submission_metadata.yml. Moodle's number is a participant's in this one assignment, Canvas's is the user's; a Canvas
file has a second one, which grows with each file that anybody uploads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any

import yaml

from grader.course.collecting import moments
from grader.course.collecting.archive import File
from grader.course.collecting.moments import Moment
from grader.course.folder import TIMESTAMP
from grader.course.sources import UnreadableFile
from grader.errors import WarpladderError

METADATA = "submission_metadata.yml"

_MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?")
_CANVAS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?P<late>late_)?(?P<name>anon)_(?P<id>[a-z0-9]+)_(?P<number>\d+)_(?P<file>.+)",
        r"(?P<name>.+?)_(?P<late>late_)?(?P<id>\d+)_(?P<number>\d+)_(?P<file>.+)",
        r"(?P<late>late_)?(?P<name>.+?)_(?P<late_too>late_)?(?P<id>[a-z0-9]+)_(?:text|link)\.html",
    )
)
"""Files of anonymous students, files, and what was typed or linked to."""
_EXPORT = re.compile(r"assignment_\d+_export")
_PLAIN = re.compile(r"(?P<id>.+)\.(?:ipynb|cu|py|zip)", re.IGNORECASE)

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Plain data alone; the list has all that Gradescope's tests ever printed, and libyaml reads it 10 times faster."""
_MOODLES = "_assignsubmission_"
_NO_GROUP = "Moodle says nobody's name: it is of students who hand in together and are in no group"
_TYPED = "it was typed into the platform, and is no file"


@dataclass(frozen=True)
class Person:
    """Who handed something in, as the platform knows them."""

    id: str  # the platform's
    name: str = ""
    email: str = ""


@dataclass(frozen=True)
class HandedIn:
    """A file that somebody handed in."""

    person: Person
    name: str  # as its author called it
    file: File
    moment: Moment
    number: int = 0  # of two at the same moment the higher one is the later
    late: bool | None = None  # as the platform says; None where it says nothing
    before: int = 0  # attempts that the platform knows of and did not send
    extension: datetime | None = None  # that the platform has for the student, in UTC
    not_submitted: str = ""  # what the platform calls it where it does not count it as handed in


@dataclass(frozen=True)
class Download:
    """What a download holds."""

    platform: str  # moodle, canvas, gradescope or folder
    handed_in: list[HandedIn] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)  # paths, each with why it was not taken


def recognised(files: Sequence[File]) -> Download:
    """Where files come from, and whose they are. Raises WarpladderError where nothing tells.

    Only what a platform names is looked at, at the root: below it, names are students'.
    """
    metadata = _metadata(files)
    if metadata is not None:
        return _gradescope(files, metadata)
    roots = [file.parts[0] for file in files]
    if sum(_MOODLE.fullmatch(root) is not None for root in roots) * 2 > len(files):
        return _moodle(files)
    if sum(_of_canvas(file) is not None for file in files) * 2 > len(files):
        return _canvas(files)
    download = _plain(files)
    if not download.handed_in:
        remedy = "see `ladder course collect --help` for what can be given"
        raise WarpladderError("nothing in it is known as something that was handed in", remedy=remedy)
    return download


def _moodle(files: Sequence[File]) -> Download:
    found = Download("moodle")
    for file in files:
        match = _MOODLE.fullmatch(file.parts[0])
        if match is None:
            why = _NO_GROUP if _MOODLES in file.parts[0] else "its name is none that Moodle gives"
            found.refused.append((file.path, why))
        elif match["kind"] != "file":
            found.refused.append((file.path, _TYPED))
        else:
            alone = len(file.parts) == 1 and not file.within
            name = match["file"] or file.name if alone else file.name
            person = Person(match["id"], match["name"])
            found.handed_in.append(HandedIn(person, name, file, moments.of_file(file)))
    return found


def _of_canvas(file: File) -> re.Match[str] | None:
    if len(file.parts) > 1:
        return None
    return next((match for form in _CANVAS if (match := form.fullmatch(file.parts[0]))), None)


def _canvas(files: Sequence[File]) -> Download:
    found = Download("canvas")
    for file in files:
        match = _of_canvas(file)
        if match is None:
            found.refused.append((file.path, "its name is none that Canvas gives"))
        elif "number" not in match.groupdict():
            found.refused.append((file.path, _TYPED))
        else:
            person, moment = Person(match["id"], match["name"]), moments.of_file(file)
            number, late = int(match["number"]), match["late"] is not None
            name = file.name if file.within else match["file"]
            found.handed_in.append(HandedIn(person, name, file, moment, number, late))
    return found


def _metadata(files: Sequence[File]) -> File | None:
    """Gradescope's list: at the root, or in the folder that its zip wraps everything in."""
    for file in files:
        if (
            file.name == METADATA
            and not file.within
            and (len(file.parts) == 1 or _EXPORT.fullmatch("/".join(file.parts[:-1])))
        ):
            return file
    return None


def _gradescope(files: Sequence[File], metadata: File) -> Download:
    try:
        listed = {
            str(key): _submission(about)
            for key, about in dict(yaml.load(metadata.read(), Loader=_LOADER)).items()
        }
    except (yaml.YAMLError, UnreadableFile, TypeError, ValueError, AttributeError, RecursionError) as error:
        remedy = "take it from Gradescope once more: Export Submissions"
        message = f"{METADATA} cannot be read: {' '.join(str(error).split())}"
        raise WarpladderError(message, remedy=remedy) from None
    found, depth = Download("gradescope"), len(metadata.parts) - 1
    for file in files:
        if file is metadata:
            continue
        submission = listed.get(file.parts[depth]) if len(file.parts) > depth else None
        if submission is None or not submission.persons:
            found.refused.append((file.path, f"{METADATA} does not say whose it is"))
            continue
        for person in submission.persons:
            moment = submission.moment or moments.of_file(file)
            found.handed_in.append(HandedIn(person, file.name, file, moment, before=submission.before))
    return found


@dataclass(frozen=True)
class _Listed:
    """A submission of Gradescope's list: of one student, or of a group."""

    persons: list[Person]
    moment: Moment | None
    before: int


def _submission(about: dict[str, Any]) -> _Listed:
    people = [
        Person(str(who.get(":sid") or ""), str(who.get(":name") or ""), str(who.get(":email") or ""))
        for who in about.get(":submitters") or []
    ]
    created = about.get(":created_at")
    if isinstance(created, date) and not isinstance(created, datetime):
        created = datetime.combine(created, time())
    if created is not None and not isinstance(created, datetime):
        created = moments.read(str(created))
    if created is not None and created.tzinfo is None:
        created = created.replace(tzinfo=UTC)  # YAML's times without a zone are
    moment = None if created is None else Moment(created.astimezone(UTC), True)
    return _Listed(people, moment, len(about.get(":history") or []))


def _plain(files: Sequence[File]) -> Download:
    """STUDENT/FILE, or STUDENT.ipynb, STUDENT.cu, STUDENT.py, STUDENT.zip."""
    found = Download("folder")
    said = {file.parts[0]: file for file in files if file.parts[1:] == (TIMESTAMP,)}
    for file in files:
        alone = _PLAIN.fullmatch(file.parts[0]) if len(file.parts) == 1 else None
        if alone:
            found.handed_in.append(HandedIn(Person(alone["id"]), file.name, file, moments.of_file(file)))
        elif len(file.parts) != 2:
            found.refused.append((file.path, "neither STUDENT/FILE nor STUDENT.ipynb"))
        elif file not in said.values():
            stamp = said.get(file.parts[0])
            try:
                moment = moments.of_file(file) if stamp is None else moments.of_timestamp(stamp.read())
            except (UnreadableFile, ValueError) as error:
                found.refused.append((file.path, f"{TIMESTAMP} beside it is no time: {error}"))
                continue
            found.handed_in.append(HandedIn(Person(file.parts[0]), file.name, file, moment))
    return found
