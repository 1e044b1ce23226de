"""A class of made-up submissions: collected, marked, autograded and exported, and every mark compared.

    python benchmarks/course.py [--students 300] [--seed 1] [--each 1] [--topic transpose] [--kind late ...] [--jobs 2]
                                [--kills 0] [--keep FOLDER]

The class hands in what classes hand in: rungs of the workbook by other names, half of what was asked for, mistakes,
races, what never ends, bombs for the compiler, giant outputs, odd encodings, old formats, notebooks that were tampered
with, and so on: `classroom/handing_in.py` has the kinds, and their numbers among 300. Half of it comes as Moodle's
download, half as Canvas's. What each submission deserves is known from the rung, or the mistake, that it was made of.

Every file is new: nothing comes from kept marks or compiled kernels. What does not depend on the submission, such as
reference results, is kept from the first time on, as it is on a lecturer's machine.

With --kills, a small class is marked instead, and killed so many times at random moments: the command, a process that
marks, one of the judge's, or the command while nbgrader is at work. Exit code 1 where anything is off.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from classroom import courses, kills, proof
from classroom.handing_in import KINDS


def main(
    students: Annotated[int, typer.Option(help="Students of the class.")] = 300,
    seed: Annotated[int, typer.Option(help="What the class, or the kills, are drawn from.")] = 1,
    each: Annotated[int, typer.Option(help="Assignments that each student hands in to.")] = 1,
    topic: Annotated[list[str] | None, typer.Option(help="All, if none is given.")] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="Kinds of submissions; all, if none is given.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Submissions marked at a time.")] = 2,
    kill: Annotated[int, typer.Option("--kills", help="Times that a run of a small class is killed.")] = 0,
    keep: Annotated[Path | None, typer.Option(help="Where the course is made, and stays.")] = None,
) -> None:
    """Make a class, and prove its marks."""
    with tempfile.TemporaryDirectory(prefix="warpladder-class-") as temporary:
        folder = keep or Path(temporary)
        if kill:
            off = kills.proved(folder, seed, kill, jobs)
        else:
            off = _whole(courses.made(folder, students, seed, topic or (), each, kind or tuple(KINDS)), jobs)
    for said in off:
        print(f"OFF {said}")
    if off:
        raise typer.Exit(1)


def _whole(classroom: courses.Classroom, jobs: int) -> list[str]:
    print(proof.HEAD)
    found = proof.proved(classroom, jobs)
    print("\n".join(proof.summary(found)))
    return found.off


if __name__ == "__main__":
    typer.run(main)
