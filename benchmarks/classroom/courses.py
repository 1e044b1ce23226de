"""A course that a class hands in to, and the class with its downloads."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import PyFileConfigLoader

from classroom import downloads
from classroom.downloads import Download
from classroom.handing_in import KINDS, PENALTY_A_DAY, HandedIn, Student, a_class
from grader.course import hidden
from grader.course.folder import CONFIG, HIDDEN, create
from grader.workbook import topics
from grader.workbook.topic import Topic

_POLICY = f"""
import math
from nbgrader.plugins import LateSubmissionPlugin


class TenthADay(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score * min(1, {PENALTY_A_DAY} * math.ceil(total_seconds_late / 86400))


c.AssignLatePenalties.plugin_class = TenthADay
"""
_FIRST = ("Ada", "Grace", "Zoë", "Jürgen", "李", "Nnamdi", "María José", "Søren", "Emmy", "O'Brien")
_LAST = (
    "Lovelace",
    "Hopper",
    "García-Márquez",
    "Müller",
    "小龍",
    "Okafor",
    "de la Cruz",
    "Ångström",
    "Noether",
    "Li",
)


@dataclass(frozen=True)
class Classroom:
    """A course, what was handed in to it, and how that comes."""

    root: Path
    topics: Mapping[str, Topic]
    students: Sequence[Student]
    handed_in: Sequence[HandedIn]
    downloads: Mapping[str, Sequence[Download]]  # by assignment, of those that somebody handed in to


def made(
    folder: Path,
    students: int,
    seed: int,
    names: Sequence[str] = (),
    each: int = 1,
    kinds: Sequence[str] = tuple(KINDS),
) -> Classroom:
    """Make a course of some topics, or of all, in an empty folder, and the downloads of its class beside it."""
    found = {name: topic for name, topic in topics.discover().items() if not names or name in names}
    root = folder / "course"
    _course(root, found, seed)
    people = [_student(number) for number in range(students)]
    (root / "roster.csv").write_text(downloads.roster(people, len(found)), encoding="utf-8")
    released = {
        name: json.loads((root / "release" / name / f"{name}.ipynb").read_text(encoding="utf-8"))
        for name in found
    }
    handed_in = a_class(found, released, people, seed, each, kinds)
    sent = {
        name: downloads.of_assignment(
            folder / "downloads", place, name, [item for item in handed_in if item.topic == name]
        )
        for place, name in enumerate(found)
        if any(item.topic == name for item in handed_in)
    }
    return Classroom(root, found, people, handed_in, sent)


def _course(root: Path, found: Mapping[str, Topic], seed: int) -> None:
    """Its hidden cases are the same for the same seed."""
    root.parent.mkdir(parents=True, exist_ok=True)
    create(root, list(found.values()), "class")
    (root / HIDDEN).write_text(hidden.to_toml(hidden.draw(found.values(), seed)), encoding="utf-8")
    with (root / CONFIG).open("a", encoding="utf-8") as config:
        config.write(_POLICY)
    loaded = PyFileConfigLoader(CONFIG, str(root)).load_config()
    api = NbGraderAPI(CourseDirectory(config=loaded), config=loaded)
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with patch.dict(os.environ, {"PATH": programs}):  # where nbgrader finds alembic
        for name in found:
            result = api.generate_assignment(name)
            assert result["success"], result["log"]
    with Gradebook(f"sqlite:///{root}/gradebook.db", "class") as gradebook:
        for name in found:
            gradebook.update_or_create_assignment(name, duedate=downloads.DUE.replace(tzinfo=None))


def _student(number: int) -> Student:
    """Every other one is on Moodle; many have the same name."""
    first, last = _FIRST[number % len(_FIRST)], _LAST[number // 3 % len(_LAST)]
    platform = "moodle" if number % 2 == 0 else "canvas"
    return Student(f"s{number + 1:04}", first, last, platform, 1000 + number)
