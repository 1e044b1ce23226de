"""From the downloads to the platform's table, with the marks compared on the way, and what it took."""

from __future__ import annotations

import csv
import multiprocessing
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from classroom.courses import Classroom
from classroom.handing_in import KINDS, HandedIn
from classroom.processes import Spent, adopting, watched
from grader.course import batch
from grader.course.batch import Row
from grader.course.engines.opening import opened
from grader.results import Grade

Key = tuple[str, str]
"""A student and a topic."""


@dataclass
class Line:
    """What became of one kind."""

    kind: str
    spent: Spent
    number: int = 0
    fresh: int = 0  # files that were graded
    off: list[str] = field(default_factory=list)


@dataclass
class Proof:
    """What became of a class."""

    lines: list[Line]
    commands: Mapping[str, Spent]  # by what `ladder course` was asked
    off: list[str]  # what was not as the generator knows it


def proved(classroom: Classroom, jobs: int, say: Any = print) -> Proof:
    """Collect a class, mark it kind by kind, autograde and export it, and compare."""
    with adopting():
        return _proved(classroom, jobs, say)


def _proved(classroom: Classroom, jobs: int, say: Any) -> Proof:
    commands = {name: Spent() for name in ("collect", "autograde", "export")}
    off = []
    for topic, downloads in classroom.downloads.items():
        for download in downloads:
            sheet = [] if download.worksheet is None else ["--worksheet", str(download.worksheet)]
            _ladder(classroom.root, commands["collect"], "collect", topic, str(download.zip), *sheet)
    lines = []
    for kind in KINDS:
        items = [item for item in classroom.handed_in if item.kind == kind]
        if items:
            lines.append(_marked(classroom.root, kind, items, jobs))
            say(shown(lines[-1]))
    for topic in classroom.downloads:
        _ladder(classroom.root, commands["autograde"], "autograde", topic, "--jobs", str(jobs))
        off += [f"{topic}: {said}" for said in _exported(classroom, topic, commands["export"])]
    return Proof(lines, commands, [f"{line.kind}: {said}" for line in lines for said in line.off] + off)


def _ladder(root: Path, spent: Spent, command: str, *words: str) -> None:
    """Run `ladder course COMMAND`. Raises RuntimeError with what it said, if it could do nothing."""
    call = [sys.executable, "-m", "grader", "course", command, *words, "--course", str(root)]
    with tempfile.TemporaryFile("w+") as output:
        running = subprocess.Popen(call, stdout=output, stderr=subprocess.STDOUT)
        here = watched(lambda: running.poll() is None)
        output.seek(0)
        said = output.read()
    spent.cpu_s += here.cpu_s
    spent.wall_s += here.wall_s
    if running.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(call)}\n{said}")


def _marked(root: Path, kind: str, items: Sequence[HandedIn], jobs: int) -> Line:
    """Mark what is of one kind, as `ladder course mark` does it, in a process whose time can be told."""
    wanted = {(item.student.id, item.topic) for item in items}
    # Forked: what `ladder` imports is no part of a file's time.
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()
    worker = fork.Process(target=_mark, args=(root, wanted, jobs, theirs), daemon=True)
    worker.start()
    theirs.close()
    spent = watched(lambda: not ours.poll())
    rows: dict[Key, Row] = ours.recv()  # EOFError, if it ended without a word
    worker.join()
    line = Line(kind, spent, len(items), sum(row.grade is not None for row in rows.values()))
    for item in items:
        row = rows.get((item.student.id, item.topic))
        if said := off(item, row):
            line.off.append(f"{item.student.id}, {item.topic}: {said}")
    return line


def _mark(root: Path, wanted: set[Key], jobs: int, pipe: Any) -> None:
    course, marker = batch.open_course(root)
    rows: dict[Key, Row] = {}
    found = []
    for topic in sorted({topic for _, topic in wanted}):
        for item in batch.collect(course, marker.topics, topic):
            if isinstance(item, Row) and (item.student, item.topic) in wanted:
                rows[item.student, item.topic] = item
            elif isinstance(item, batch.Submission) and (item.student, item.topic.name) in wanted:
                found.append(item)
    with opened("threads", jobs) as engine:
        rows |= {(row.student, row.topic): row for row in batch.mark(marker, found, engine)}
    pipe.send(rows)


def off(item: HandedIn, row: Row | None) -> str:
    """How a mark differs from what the generator knows; "" if it does not."""
    grade: Grade | None = None if row is None else row.grade
    expected = item.expected
    if expected.points is None or grade is None or row is None:
        said = "is not there" if row is None else row.note if grade is None else f"has {grade.points} points"
        return "" if expected.points is None and grade is None else said
    if grade.points != expected.points or not re.fullmatch(expected.verdict, grade.verdict):
        got = f"{grade.verdict} with {grade.points} points: {grade.reason}"
        return f"{expected.verdict} with {expected.points} points, but {got}"
    if not re.search(expected.reason, grade.reason or "", re.DOTALL):
        return f"the reason does not match {expected.reason!r}: {grade.reason}"
    if item.same_as and item.same_as not in row.note:
        return f"nobody says that it is {item.same_as}'s: {row.note!r}"
    return ""


def _exported(classroom: Classroom, topic: str, spent: Spent) -> Iterator[str]:
    """What differs in the table of an assignment. Who handed in nothing has an empty cell."""
    path = classroom.root.parent / f"{topic}.csv"
    _ladder(classroom.root, spent, "export", topic, str(path), "--to", "canvas")
    scores = table(path.read_text(encoding="utf-8"))
    due = {item.student.id: item.score for item in classroom.handed_in if item.topic == topic}
    for student in classroom.students:
        score, wanted = scores.pop(student.id, "no line"), due.get(student.id, "")
        if score != wanted:
            yield f"{student.id} has `{score}` in the table, and not `{wanted}`"
    yield from (f"{student} is no student of the class" for student in scores)


def table(text: str) -> dict[str, str]:
    """The scores of an exported table, by student."""
    _, _, *rows = csv.reader(text.splitlines())
    return {row[3]: row[-1] for row in rows}


HEAD = f"{'kind':20}{'number':>8}{'right':>8}{'CPU s':>9}{'a file':>8}{'wall s':>9}"


def shown(line: Line) -> str:
    """A line of the table."""
    number, right, spent = line.number, line.number - len(line.off), line.spent
    a_file = spent.cpu_s / line.fresh if line.fresh else 0.0
    limited = "  runs into a limit" if KINDS[line.kind].limited else ""
    return f"{line.kind:20}{number:8}{right:8}{spent.cpu_s:9.1f}{a_file:8.2f}{spent.wall_s:9.1f}{limited}"


def summary(proof: Proof) -> Iterator[str]:
    """What all of it took, for a fresh file and in all."""
    free = [line for line in proof.lines if not KINDS[line.kind].limited]
    files = sum(line.fresh for line in free)
    marking = sum(line.spent.cpu_s for line in free)
    others = sum(spent.cpu_s for spent in proof.commands.values())
    for name, spent in proof.commands.items():
        yield f"ladder course {name:10} {spent.cpu_s:8.1f} CPU s {spent.wall_s:8.1f} s"
    walls = {
        name: sum(line.spent.wall_s for line in proof.lines if KINDS[line.kind].limited == limited)
        for name, limited in (("free", False), ("limited", True))
    }
    commands = sum(spent.wall_s for spent in proof.commands.values())
    yield f"{files} fresh files without a limit: {marking / max(1, files):.2f} CPU s each to be marked,"
    yield f"{(marking + others) / max(1, files):.2f} with collecting, autograding and exporting the class"
    yield f"wall: {walls['free'] + commands:.0f} s, and {walls['limited']:.0f} s for those that run into a limit"
    yield f"{sum(line.number for line in proof.lines)} submissions, {len(proof.off)} off"
