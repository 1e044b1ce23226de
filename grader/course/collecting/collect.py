"""A download collected: each student's latest attempt put where nbgrader looks for it, and a row for every file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from grader.course import batch, roster
from grader.course.collecting import (
    answers,
    archive,
    attempts,
    book,
    left_out,
    moments,
    people,
    submitted,
    worksheet,
)
from grader.course.collecting.attempts import Attempt
from grader.course.collecting.book import Assignment
from grader.course.collecting.left_out import LeftOut
from grader.course.collecting.moments import Moment
from grader.course.collecting.people import Known, Unknown
from grader.course.collecting.platforms import Download, HandedIn, Person, recognised
from grader.course.collecting.submitted import Origin, Outcome
from grader.course.collecting.worksheet import Participant
from grader.course.folder import CACHE
from grader.course.gradebook import database
from grader.course.gradebook.lock import alone
from grader.course.roster import Student, bare
from grader.course.sources import UnreadableFile
from grader.errors import WarpladderError
from grader.workbook.topic import Topic


@dataclass(frozen=True)
class Row:
    """What became of one file."""

    student: str  # nbgrader's id; "" where it is nobody's
    file: str
    outcome: Outcome
    attempt: int = 1
    attempts: int = 1
    handed_in: datetime | None = None  # in UTC
    exact: bool = False  # else it was not handed in later than that
    late: bool | None = None  # by nbgrader's due date; None where that cannot be told
    flagged: bool = False  # late, says the platform
    added: bool = False  # the student was not known, in a class that has students
    unlisted: bool = False  # nor is on the roster, where there is one
    person: str = ""  # as the platform knows the student
    note: str = ""


def collect(
    course: CourseDirectory, topics: Mapping[str, Topic], name: str, source: Path, sheet: Path | None = None
) -> list[Row]:
    """Collect a download of an assignment, with Moodle's grading worksheet if there is one.

    Raises WarpladderError where the download, the course or the gradebook cannot be used, and where a folder cannot be
    written: what was collected before that stays, and another run goes on from there.
    """
    root = Path(course.root)
    with alone(root / CACHE, f"ladder course collect {name}"), database.opened(course) as opened:
        assignment = book.assignment(opened, course, topics, name)
        found = archive.opened(source)
        try:
            download = recognised(found.files)
        except WarpladderError as error:
            raise WarpladderError(error.message, file=source, remedy=error.remedy) from None
        participants = worksheet.read(sheet) if sheet is not None else {}
        if sheet is not None:
            download = worksheet.applied(download, participants)
        enrolled, listed = book.students(opened), roster.read(root / roster.FILE)
        for folder in submitted.left_beside(course.format_path(course.submitted_directory, "*", name)):
            submitted.mend(folder)
        students = roster.joined(enrolled, listed)
        groups = roster.groups(students)
        before = _collected(course, name, download.platform)
        who = _identified(students, download, groups, before)
        rows = [Row("", path, "left out", note=why) for path, why in (*found.refused, *download.refused)]
        rows += _taken(course, assignment, download, who, groups)
        taken = {row.student for row in rows if row.outcome != "left out"}
        persons = [each.student for each in who.values() if isinstance(each, Known)]
        book.enrol(opened, enrolled, [*listed, *(each for each in persons if each.id in taken)])
        if listed:
            rows = [replace(row, unlisted=row.added) for row in rows]
        _remember(root / CACHE, name, download.platform, rows)
        there = {item.person.id for item in download.handed_in}
        gone = {number: about for number, about in participants.items() if number not in there}
        rows += _withdrawn(course, assignment, gone, before)
        return sorted(rows, key=lambda row: (not row.student, row.student))


def told_anew(course: CourseDirectory, topics: Mapping[str, Topic], name: str) -> None:
    """Tell nbgrader, of each submission whose time is only a bound, what it is to be told by the due date as it is now:
    it may be another one than when that was collected. For whoever is alone at work on the course."""
    with database.opened(course) as opened:
        assignment = book.assignment(opened, course, topics, name)
    for student, folder in batch.folders(course, name).items():
        before, due = submitted.state(folder), assignment.due_for(student)
        fresh = {
            notebook: replace(origin, told=told)
            for notebook, origin in before.origins.items()
            if origin.platform and not origin.exact
            if (told := moments.in_doubt_for_the_student(Moment(origin.at, False), origin.late, due).at)
            != origin.told
        }
        if fresh:
            submitted.replace(folder, before, {}, fresh)


def _remember(marks: Path, name: str, platform: str, rows: Sequence[Row]) -> None:
    """Keep what was left out for those who look at the class later. Raises WarpladderError."""
    fresh = [
        LeftOut(row.student, row.file, row.note, platform, row.person)
        for row in rows
        if row.outcome == "left out"
    ]
    try:
        left_out.keep(marks, name, fresh, {row.student for row in rows}, {row.file for row in rows})
    except OSError as error:
        remedy = "mend it and collect again: nothing was lost"
        raise WarpladderError(f"it cannot be written: {error.strerror}", file=marks, remedy=remedy) from None


Groups = Mapping[str, Sequence[Student]]
"""Who hands in together, by their group's bare name."""


def _collected(course: CourseDirectory, name: str, platform: str) -> dict[str, set[str]]:
    """As whom a platform's people were collected before for an assignment, by what the platform calls them."""
    found: dict[str, set[str]] = {}
    for student, folder in batch.folders(course, name).items():
        for origin in submitted.state(folder).origins.values():
            if origin.platform == platform and origin.person:
                found.setdefault(origin.person, set()).add(student)
    return found


def _identified(
    students: Sequence[Student], download: Download, groups: Groups, before: Mapping[str, set[str]]
) -> dict[Person, Known | str]:
    """Who everybody is, or why nobody knows. Of several who would be one student by their names alone, or who have
    addresses that differ, none is. Groups, by whose names Moodle calls what they hand in together, are not in it."""
    found: dict[Person, Known | str] = {}
    for person in dict.fromkeys(item.person for item in download.handed_in):
        if download.platform == "moodle" and bare(person.name) in groups:
            continue
        try:
            found[person] = people.find(students, download.platform, person, before.get(person.id, ()))
        except Unknown as error:
            found[person] = str(error)
    as_one: dict[str, list[Person]] = {}
    for person, known in found.items():
        if isinstance(known, Known):
            as_one.setdefault(known.student.id, []).append(person)
    for same in as_one.values():
        numbers = ", ".join(sorted(person.id or person.email for person in same))
        addresses = sorted({person.email.strip().casefold() for person in same if person.email})
        for person in same if len(same) > 1 else ():
            known = found[person]
            if len(addresses) > 1:
                found[person] = (
                    f"{' and '.join(addresses)} would be one student: say who is who in {roster.FILE}"
                )
            elif isinstance(known, Known) and not known.sure:
                found[person] = f"{numbers} go by one name: say who is who in {roster.FILE}"
    return found


def _taken(
    course: CourseDirectory,
    assignment: Assignment,
    download: Download,
    who: Mapping[Person, Known | str],
    groups: Groups,
) -> Iterator[Row]:
    """A row for each file that was handed in, for each student of a group; those that count are put into place."""
    of_students: dict[str, list[tuple[HandedIn, Known]]] = {}
    for item in download.handed_in:
        known = who.get(item.person)
        if isinstance(known, str):
            yield Row("", item.file.path, "left out", note=known)
            continue
        own = [] if known is None else [(item, known)]
        group = groups.get(bare(known.student.group if known else item.person.name), ())
        theirs = [each for each in group if known is None or each.id != known.student.id]
        for handed_in, student in (
            *own,
            *((replace(item, person=_OTHER), Known(each, True)) for each in theirs),
        ):
            of_students.setdefault(student.student.id, []).append((handed_in, student))
    for name, items in of_students.items():
        folder = Path(course.format_path(course.submitted_directory, name, assignment.name))
        hand_in = _HandIn(name, folder, download.platform, assignment)
        yield from hand_in.rows([item for item, _ in items], {item.person: known for item, known in items})


_NOT_SUBMITTED = "Moodle says `{}`, and it counts here: take it out of submitted/ if it is not to"


def _withdrawn(
    course: CourseDirectory,
    assignment: Assignment,
    gone: Mapping[str, Participant],
    before: Mapping[str, set[str]],
) -> Iterator[Row]:
    """A row for what was collected before, of participants of whom Moodle now has nothing that is handed in."""
    for number, about in gone.items():
        for student in before.get(number, ()) if about.not_submitted else ():
            folder = Path(course.format_path(course.submitted_directory, student, assignment.name))
            due, note = assignment.due_for(student), _NOT_SUBMITTED.format(about.not_submitted)
            origins = submitted.state(folder).origins.values()
            for each in (origin for origin in origins if origin.person == number):
                late = due is not None and each.told > due
                row = Row(student, each.file, "the same", handed_in=each.at, exact=each.exact, late=late)
                yield replace(row, note=note)


_OTHER = Person("")
"""Whoever else of a student's group it was."""


@dataclass(frozen=True)
class _HandIn:
    """What one student handed in, on its way."""

    student: str
    folder: Path
    platform: str
    assignment: Assignment

    def rows(self, items: Sequence[HandedIn], known: Mapping[Person, Known]) -> list[Row]:
        """Put into place what counts; a row for each file."""
        before = submitted.state(self.folder)
        rows: list[Row] = []
        notebooks: dict[str, bytes] = {}
        fresh: dict[str, Origin] = {}
        for attempt in attempts.of_student(items, self.assignment.notebooks):
            place = attempt.place
            if place is None or not attempt.counts:
                rows.append(self._row(attempt, "older" if place else "left out", attempt.why_not))
                continue
            name, there = place.notebook.name, before.origins.get(place.notebook.name)
            try:
                data = attempt.item.file.read()
                notebook, said = answers.filled(place, data)
                self._check(there, attempt.item.person, known[attempt.item.person])
            except (UnreadableFile, Unknown) as error:
                rows.append(self._row(attempt, "left out", str(error)))
                continue
            origin = self._origin(attempt.item, submitted.digest(data))
            outcome = before.outcome(name, origin)
            if there is not None and outcome == "the same":
                attempt, origin = self._as_known(attempt, there)
            elif outcome != "older":
                notebooks[name] = notebook
            if outcome != "older" and origin != there:
                fresh[name] = origin
            row = self._row(attempt, outcome, said)
            whose = known[attempt.item.person]
            notes = (said, whose.note, self._contradicted(attempt.item, row.late))
            rows.append(replace(row, note="; ".join(filter(None, notes)), added=not whose.listed))
        if fresh:
            submitted.replace(self.folder, before, notebooks, fresh)
        return rows

    def _told(self, item: HandedIn) -> Moment:
        """What nbgrader is told of a file's time, as the due date now is."""
        return moments.in_doubt_for_the_student(item.moment, item.late, self.assignment.due_for(self.student))

    def _origin(self, item: HandedIn, digest: str) -> Origin:
        moment, told = item.moment, self._told(item).at
        downloaded = item.file.modified if moment.exact else moment.at
        about = (moment.at, told, moment.exact, item.number, self.platform, item.person.id, item.late)
        return Origin(item.name, digest, *about, downloaded)

    def _as_known(self, attempt: Attempt, there: Origin) -> tuple[Attempt, Origin]:
        """A file that is there already, with the time that it was handed in the first time: unless only now that time
        is known. The due date may be another by now."""
        item = attempt.item
        if there.exact or not item.moment.exact:
            item = replace(item, moment=Moment(there.at, there.exact))
        at, exact = item.moment.at, item.moment.exact
        downloaded = there.downloaded if exact == there.exact else there.downloaded or there.at
        origin = replace(there, at=at, told=self._told(item).at, exact=exact, downloaded=downloaded)
        return replace(attempt, item=item), origin

    def _contradicted(self, item: HandedIn, late: bool | None) -> str:
        """What the platform says of a student's work, and the gradebook does not; "" where they agree."""
        if item.not_submitted:
            return _NOT_SUBMITTED.format(item.not_submitted)
        platform, due = self.platform.capitalize(), self.assignment.due_for(self.student)
        if due is None:
            return ""
        if item.extension is not None and item.extension > due:
            until = f"{item.extension:%Y-%m-%d %H:%M} UTC"
            command = f'ladder course extend {self.assignment.name} {self.student} --until "{until}"'
            return f"{platform} has an extension until {until}: {command}"
        if item.late is not None and late is not None and item.late != late:
            said = ("in time", "late") if late else ("late", "in time")
            return f"{platform} calls it {said[0]}, and by the gradebook's due date it is {said[1]}"
        return ""

    def _check(self, there: Origin | None, person: Person, known: Known) -> None:
        """Raise Unknown where somebody of the same name was collected before."""
        if there is None or there.platform != self.platform or known.sure:
            return
        if people.same_folder(there.person, person.id):
            return
        both = f"{there.person}, who was collected before, and {person.id}"
        raise Unknown(f"{both} go by one name: say who is who in {roster.FILE}")

    def _row(self, attempt: Attempt, outcome: Outcome, note: str) -> Row:
        item, due, told = attempt.item, self.assignment.due_for(self.student), self._told(attempt.item)
        unknown = told != item.moment and item.late is None
        late = None if unknown else due is not None and told.at > due
        return Row(
            self.student,
            item.name,
            outcome,
            attempt.number,
            attempt.of,
            item.moment.at,
            item.moment.exact,
            late,
            item.late is True,
            person=item.person.id,
            note=note,
        )
