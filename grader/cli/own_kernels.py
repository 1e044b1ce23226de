"""A learner's own kernels, as the history knows them, without which every command works as well."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from grader.cli.options import console_for, from_here
from grader.errors import WarpladderError
from grader.history.outcomes import Graded
from grader.history.store import Store, remember
from grader.history.way import gone_on_with, way
from grader.report import notices
from grader.results import Grade
from grader.workbook.exercises import Exercise
from grader.workbook.programs import Program
from grader.workbook.topic import Topic, own_name


def grades() -> Sequence[Graded]:
    """All of them, in the order of time; none where the history cannot be read."""
    try:
        with Store() as store:
            return store.grades()
    except WarpladderError:
        return ()


def from_this_folder(grades: Sequence[Graded], begun: Mapping[str, Path]) -> list[Graded]:
    """Grades, each with its file as it is typed here: a name alone, as of a grade that was imported, is of the file
    with that name which is known, where there is none here. `begun` are the starters that were written.

    Without those of files that have the kernel of another topic, as which each of them was refused."""
    placed = {(topic, file.name): file for topic, file in begun.items()}
    placed |= {(each.topic, file.name): file for each in grades if (file := Path(each.file)).is_absolute()}
    is_of_another = cache(_is_of_another)
    found = []
    for each in grades:
        file = Path(each.file)
        if not file.is_absolute() and not file.exists():
            file = placed.get((each.topic, file.name), file)
        if each.verdict != "error" or not is_of_another(each.topic, file):
            found.append(replace(each, file=str(from_here(file))))
    return found


def _is_of_another(topic: str, file: Path) -> bool:
    """Whether a file has the kernel of another topic or small exercise than the one it was graded as."""
    from grader.judge.grade import kernel_of_another  # which takes long
    from grader.workbook.topics import load

    try:
        return bool(kernel_of_another(load(topic, or_exercise=True), file))
    except WarpladderError:  # the topic is gone, or the file is
        return False


def check_there(of: Topic, file: Path) -> None:
    """Raises WarpladderError for a file that is not there, where the learner has one of that name elsewhere, or one
    here whose name is nearly that."""
    if file.exists() or not file.name:
        return
    beside = [each.name for each in file.parent.glob(f"*{of.suffix}")] if file.parent.is_dir() else []
    if near := get_close_matches(file.with_suffix(of.suffix).name, beside, 1):
        raise WarpladderError(
            "there is no such file", file=file, remedy=f"there is {file.with_name(near[0])}"
        )
    if (known := next((each for each in files(of) if each.name == file.name), None)) is not None:
        remedy = f"yours is {shlex.quote(str(known))}; `ladder new {of.name}` makes one here"
        raise WarpladderError("there is no such file", file=file, remedy=remedy)


def files(of: Topic | Program) -> list[Path]:
    """A learner's files of a topic that are there: those that were graded, with the one to go on with first, the
    starter that was written last, and the one with the topic's name."""
    try:
        with Store() as store:
            every, begun = store.grades(), store.begun()
    except WarpladderError:  # a file is found by its name as well
        every, begun = [], {}
    every = from_this_folder([grade for grade in every if grade.topic == of.name], begun)
    graded = [grade for grade in every if Path(grade.file).is_file()]
    (climbed,) = way(graded, {of.name: of.ladder.ids if isinstance(of, Topic) else ()})
    best = gone_on_with(graded, climbed)
    known = [Path(grade.file) for grade in (*([best] if best else []), *graded)]
    known += [from_here(file) for name, file in begun.items() if name == of.name]
    return [file for file in (*known, Path(own_name(of.name, of.suffix))) if file.is_file()]


def begin(topic: str, path: Path) -> None:
    """Write into the learner's history where a starter is, which is there without it too."""
    try:
        with Store() as store:
            store.begin(topic, path)
    except WarpladderError as error:
        notices.error(console_for(stderr=True), error)


def note(topic: str, file: Path, result: Grade) -> None:
    """Write a grade into the learner's history, but of another topic's kernel, which was refused. A grade is worth
    showing where that cannot be written."""
    if result.verdict == "error" and _is_of_another(topic, file):
        return
    try:
        remember(topic, file, file.read_bytes(), result)
    except OSError:  # it is gone by now
        return
    except WarpladderError as error:
        notices.error(console_for(stderr=True), error)


def best(topic: Topic, result: Grade) -> str:
    """What the best kernel of a ladder is worth, where one that is right reaches a lower rung; else ""."""
    if result.rung_reached is None or isinstance(topic, Exercise):
        return ""
    ladder = topic.ladder
    (climbed,) = way(grades(), {topic.name: ladder.ids})
    if climbed.rung is None or ladder.reaches(result.rung_reached, climbed.rung):
        return ""
    points = sum(claim.points for claim in ladder.claims_up_to(climbed.rung))
    return f"Your best stays {points} points, for {climbed.rung}."
