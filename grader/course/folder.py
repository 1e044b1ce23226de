"""A course's folder as nbgrader wants it: its configuration, hidden cases, and an assignment a topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import nbformat

from grader.course import assignment, hidden
from grader.errors import WarpladderError
from grader.workbook.topic import Topic
from grader.workbook.topics import discover

CONFIG = "nbgrader_config.py"
HIDDEN = "hidden.toml"
CACHE = ".marks"
TIMESTAMP = "timestamp.txt"
"""Beside a submission: when it was handed in, as nbgrader reads it; in a plain folder it is believed."""

_CONFIG = '''\
"""nbgrader's configuration of this course; `nbgrader --help-all` lists what else can be set."""

from pathlib import Path

from grader.course.config import configure

c = get_config()  # noqa: F821 - nbgrader defines it
configure(c, Path(__file__).parent)
c.CourseDirectory.course_id = "{name}"

# Marks come from each submission's source alone, and its notebook is not run. If you add graded Python cells of your
# own, it has to be: everything in it then runs on this machine, in your name.
# c.RunNotebook.enabled = True
'''

_IGNORE = """\
# What learners must not see, who they are, and what can be made again.
hidden.toml
roster.csv
gradebook.db
backups/
.marks/
submitted/
autograded/
feedback/
"""


def create(root: Path, topics: Sequence[Topic], name: str, force: bool = False) -> list[Path]:
    """Write a course's folder; returns the files written.

    Assignments that are there already are written over with `force`, the configuration and hidden cases never:
    hidden cases are added where a topic has none. Raises WarpladderError for a folder that holds something else.
    """
    if root.exists() and (not root.is_dir() or (any(root.iterdir()) and not (root / CONFIG).is_file())):
        remedy = "give a new folder, or one of an earlier `ladder course init`"
        raise WarpladderError("something else is there", file=root, remedy=remedy)
    files = {root / CONFIG: _CONFIG.format(name=name), root / ".gitignore": _IGNORE}
    written = [path for path in files if not path.exists()]
    notebooks = {root / "source" / topic.name / f"{topic.name}.ipynb": topic for topic in topics}
    there = [path for path in notebooks if path.exists()]
    if there and not force:
        remedy = "name the topics that are to be added, or --force to write over it"
        raise WarpladderError("the assignment is there already", file=there[0], remedy=remedy)
    root.mkdir(mode=0o700, parents=True, exist_ok=True)  # nbgrader lets everybody read its gradebook
    for path in written:
        path.write_text(files[path], encoding="utf-8")
    for path, topic in notebooks.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(assignment.notebook(topic), path)
    return [*written, *_hidden(root / HIDDEN, topics), *notebooks]


def _hidden(path: Path, topics: Sequence[Topic]) -> list[Path]:
    """Hidden cases for the topics that have none yet; the file is its owner's alone."""
    drawn = hidden.draw(topics)
    if path.is_file():
        known = hidden.load(path, discover())
        if all(topic.name in known.sizes for topic in topics):
            return []
        drawn = replace(known, sizes={**drawn.sizes, **known.sizes})
    path.touch(mode=0o600)
    path.write_text(hidden.to_toml(drawn), encoding="utf-8")
    return [path]
