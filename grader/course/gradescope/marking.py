"""What run_autograder runs: marks the submission below a folder laid out as Gradescope's, and writes results.json.

Students see what feedback tells them, which says of hidden cases only that one is not right. Where nothing could be
marked, there are no results, and the exit status is 1: Gradescope then says that the autograder failed, and gives no
score.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.course import feedback, sources
from grader.course.engines.threads import Threads
from grader.course.gradescope.packed import FILE, Kernel, Packed, read
from grader.course.marking import Marker, mark_all
from grader.course.orders import Marked
from grader.course.restore import Unclear, answer
from grader.course.restore import read as read_notebook
from grader.emulator.cache import write_whole
from grader.lab import show
from grader.visible import show_visible_text_alone, visible
from grader.workbook import topics, units
from grader.workbook.topic import Topic

NOTEBOOK = ".ipynb"


@dataclass(frozen=True)
class Missing:
    """No source was found that could be marked, and what a student has to do about it."""

    why: str


def main(root: Path) -> int:
    """Mark root/submission and write root/results/results.json; returns the exit status."""
    begun = time.monotonic()
    assignment = read(root / "source" / FILE)
    target = root / "results" / "results.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    marker = Marker(
        root / "marks",
        assignment.hidden,
        assignment.device,
        assignment.arch,
        assignment.seconds,
        unconfined=assignment.unconfined,
    )
    loaded = [topics.load(kernel.topic) for kernel in assignment.kernels]
    found = [_source(root / "submission", kernel, assignment) for kernel in assignment.kernels]
    asked = [(topic, source) for topic, source in zip(loaded, found, strict=True) if isinstance(source, str)]
    through = mark_all(marker, asked, Threads(jobs=1))
    if lost := [mark for mark in through if isinstance(mark, str)]:
        print("Not marked: " + "\n".join(lost), file=sys.stderr)
        return 1
    marks = iter(mark for mark in through if isinstance(mark, Marked))
    tests: list[dict[str, Any]] = []
    for kernel, topic, source in zip(assignment.kernels, loaded, found, strict=True):
        tests += (
            _missing(kernel, source)
            if isinstance(source, Missing)
            else _tests(kernel, topic, source, next(marks))
        )
    results = _results(assignment, tests, time.monotonic() - begun)
    try:
        write_whole(target, json.dumps(results, indent=2).encode())
    except OSError as error:
        print(f"{target} could not be written: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


def _source(folder: Path, kernel: Kernel, assignment: Packed) -> str | Missing:
    """The source that was handed in: a notebook's cell, or a file of its own.

    Files go by their names. Where only one kernel is asked for, any notebook or source file is taken that is alone.
    """
    topic = topics.load(kernel.topic)
    files = _files(folder)
    names = (f"{kernel.notebook}{NOTEBOOK}", f"{kernel.topic}{topic.suffix}")
    named = [file for file in files if file.name in names]
    if not named and len(assignment.kernels) == 1:
        named = [file for file in files if file.suffix in (NOTEBOOK, topic.suffix)]
    if len(named) != 1:
        there = ", ".join(f"`{visible(file.name)}`" for file in named or files) or "no file"
        return Missing(f"Hand in either `{names[0]}` or `{names[1]}`; there is {there}.")
    if named[0].suffix == NOTEBOOK:
        return _of_notebook(named[0], kernel)
    try:
        return sources.text_of(named[0].read_bytes())[0]
    except sources.UnreadableFile as error:
        return Missing(f"`{visible(named[0].name)}`: {error}.")


def _files(folder: Path) -> list[Path]:
    """The files that were handed in. A link that leads out of the folder is none: what it leads to is not theirs, and
    the compiler would quote it."""
    whole = folder.resolve()
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.resolve().is_relative_to(whole)
        and not any(part == "__MACOSX" or part[0] == "." for part in path.relative_to(folder).parts)
    ]


def _of_notebook(path: Path, kernel: Kernel) -> str | Missing:
    try:
        cells = read_notebook(path).cells
    except Exception as error:  # whatever a file may hold
        return Missing(f"`{visible(path.name)}` is no notebook that can be read ({type(error).__name__}).")
    try:
        return sources.of_cell(answer(cells, kernel.cell))
    except Unclear as error:
        return Missing(f"In `{visible(path.name)}` {error}.")


def _tests(kernel: Kernel, topic: Topic, source: str, mark: Marked) -> list[dict[str, Any]]:
    """A test for each rung that has points, as Gradescope shows them."""
    grade = mark.shown(topic)
    return [
        _test(
            f"{kernel.topic} {rung}",
            feedback.scaled(topic, grade, rung, most),
            most,
            show.as_text(feedback.of_rung(topic, grade, rung, source.splitlines())),
        )
        for rung, most in kernel.points.items()
    ]


def _missing(kernel: Kernel, found: Missing) -> list[dict[str, Any]]:
    return [_test(f"{kernel.topic} {rung}", 0.0, most, found.why) for rung, most in kernel.points.items()]


def _test(name: str, score: float, most: float, output: str) -> dict[str, Any]:
    status = "passed" if score == most else "failed"
    return {
        "name": name,
        "score": score,
        "max_score": most,
        "status": status,
        "output": output,
        "output_format": "text",
    }


def _results(assignment: Packed, tests: Sequence[dict[str, Any]], seconds: float) -> dict[str, Any]:
    score, most = (sum(test[key] for test in tests) for key in ("score", "max_score"))
    return {
        "score": score,
        "execution_time": round(seconds),
        "output": f"{units.points(score)} of {units.points(most)} points",
        "output_format": "text",
        "visibility": assignment.visibility,
        "stdout_visibility": "hidden",
        "tests": [{**test, "visibility": assignment.visibility} for test in tests],
    }


if __name__ == "__main__":
    show_visible_text_alone()
    sys.exit(main(Path(sys.argv[1])))
