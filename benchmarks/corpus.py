"""The corpus of tests/submissions, graded: whether right kernels pass, wrong ones do not, and cheats gain nothing.

    python benchmarks/corpus.py [right|wrong|cheats|rungs ...] [--topic gemm] [--name PATTERN] [--device emulator]
                                [--jobs 2] [--processors 1] [--repeat 1] [--drawn 60]

A file lies in tests/submissions/<topic>/<shelf>/, and its shelf says what has to come of it:

    right   it passes, however unusual it is
    wrong   it does not pass
    cheats  it may pass, and earns no more than the part of it that is honest

What else is expected stands in the file, in comment lines of their own (`// deserves: 01_coalesced`, `#` in Python):

    deserves  the highest rung that it may reach, or `nothing` where it may earn no points; every cheat says so
    lacks     what the emulator cannot run by name: there, an error whose reason names it is as good as a pass
    unless    a regular expression: a right one may also be refused where its reason matches
    reason    a regular expression that the reason has to match; a wrong one or a cheat that ends in an error, and of
              which nothing else is tested, has to say so

A new file is tested because it exists. With `rungs`, every rung is graded as well, and has to reach itself. With
--repeat, each grade draws a seed of its own, and verdict and points have to be the same every time; --processors says
how many a process has, and with it how many threads the emulator runs. Exit code 1 when a file is off.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from itertools import cycle, islice
from multiprocessing import Queue, get_context
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grader.errors import WarpladderError
from grader.judge.grade import grade
from grader.results import Grade
from grader.workbook import topics
from grader.workbook.topic import Topic

FOLDER = Path(__file__).parents[1] / "tests" / "submissions"
SHELVES = ("right", "wrong", "cheats")
RUNGS = "rungs"
NOTHING = "nothing"  # what a file deserves that is right, and may earn no points beside those for that

_NOTE = re.compile(r"^(?://|#) (deserves|lacks|unless|reason): (.+?)\s*$", re.MULTILINE)

console = Console(highlight=False, markup=False, soft_wrap=True)


@dataclass(frozen=True)
class Entry:
    """One file of the corpus."""

    topic: str
    shelf: str
    path: Path

    @property
    def name(self) -> str:
        """Such as gemm/right/goto_for_loops.cu."""
        return f"{self.topic}/{self.shelf}/{self.path.name}"

    @cached_property
    def notes(self) -> dict[str, str]:
        """What the file says of itself."""
        return dict(_NOTE.findall(self.path.read_text("utf-8")))

    @property
    def expected(self) -> str:
        """What has to come of it, in a word or two."""
        if self.shelf == "wrong":
            return "refused"
        return f"at most {self.notes['deserves']}" if "deserves" in self.notes else "pass"


def entries(shelves: Sequence[str] = SHELVES, topic: str = "*", name: str = "*") -> Iterator[Entry]:
    """The files of some shelves, in the order of their names."""
    found = [Entry(path.parts[-3], path.parts[-2], path) for path in sorted(FOLDER.glob("*/*/*.*"))]
    found += [
        Entry(known, RUNGS, rung.path) for known, its in topics.discover().items() for rung in its.rungs
    ]
    for entry in found:
        if entry.shelf in shelves and fnmatch(entry.topic, topic) and fnmatch(entry.name, f"*{name}*"):
            yield entry


def off(entry: Entry, result: Grade, topic: Topic) -> str:
    """What is not as expected, or "" where all is."""
    reason = result.reason or result.beyond or ""
    asked = entry.notes.get("reason")
    if asked and not re.search(asked, reason, re.IGNORECASE | re.DOTALL):
        return f"the reason does not match {asked!r}: {reason}"
    if entry.shelf in ("wrong", "cheats") and result.verdict == "error" and not asked:
        return f"it is not judged at all: {reason}"
    if entry.shelf == "wrong":
        return "a wrong one passes" if result.verdict == "pass" and result.beyond is None else ""
    if entry.shelf == RUNGS:
        itself = (result.verdict, result.rung_reached, result.beyond) == ("pass", _rung(entry, topic), None)
        return "" if itself else f"a rung reaches {result.rung_reached}: {reason}"
    if entry.shelf == "right" and reason:
        excused = entry.notes.get("lacks" if result.verdict == "error" else "unless")
        if excused and re.search(excused, reason):
            return ""
        return f"a right one is refused, {result.verdict}: {reason}"
    return _earned_too_much(entry, result, topic)


def _rung(entry: Entry, topic: Topic) -> str:
    return next(rung.id for rung in topic.rungs if rung.path == entry.path)


def _earned_too_much(entry: Entry, result: Grade, topic: Topic) -> str:
    if "deserves" not in entry.notes:
        return "" if entry.shelf == "right" else "a cheat has to say which rung it deserves"
    deserved = entry.notes["deserves"]
    reached = f"reaches {result.rung_reached} with {result.points} points, deserves {deserved}"
    if deserved == NOTHING:
        return reached if result.points > topic.ladder.right_points else ""
    return "" if result.rung_reached in (None, *topic.ladder.up_to(deserved)) else reached


@dataclass(frozen=True)
class Outcome:
    """What came of a file."""

    entry: Entry
    verdict: str
    earned: str  # the rung reached and the points
    off: str
    seconds: float


def graded(entry: Entry, device: str = "emulator") -> Outcome:
    """Grade a file as a learner's would be."""
    start = time.monotonic()
    topic = topics.load(entry.topic)
    try:
        result = grade(topic, entry.path, device)
    except WarpladderError as error:
        return Outcome(entry, "none", "-", f"there is no grade: {error}", time.monotonic() - start)
    earned = f"{result.rung_reached or '-'} {result.points}/{result.max_points}"
    return Outcome(entry, result.verdict, earned, off(entry, result, topic), time.monotonic() - start)


def spread_over_processes(jobs: int, processors: int = 1) -> ProcessPoolExecutor:
    """Workers with `processors` each, so that the emulators in them do not get in each other's way."""
    context = get_context("spawn")
    places: Queue[set[int]] = context.Queue()
    there = cycle(sorted(os.sched_getaffinity(0)))
    for _ in range(jobs):
        places.put(set(islice(there, processors)))
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_settle, initargs=(places,))


def _settle(places: Queue[set[int]]) -> None:
    os.sched_setaffinity(0, places.get())


def main(
    shelf: Annotated[
        list[str] | None,
        typer.Argument(help="right, wrong, cheats, rungs; the first three, if none is given."),
    ] = None,
    topic: Annotated[str, typer.Option(help="One topic's files alone.")] = "*",
    name: Annotated[str, typer.Option(help="Files whose name matches, such as 'nan_*'.")] = "*",
    device: Annotated[str, typer.Option(help="emulator, pycuda or auto.")] = "emulator",
    jobs: Annotated[int, typer.Option(help="Processes.")] = 2,
    processors: Annotated[int, typer.Option(help="Of each process.")] = 1,
    repeat: Annotated[int, typer.Option(help="Grades of each file.")] = 1,
    drawn: Annotated[int | None, typer.Option(help="So many alone, drawn: the same each time.")] = None,
    only_off: Annotated[bool, typer.Option(help="Show nothing but what is off.")] = False,
) -> None:
    """Grade the corpus, and show what came of each file."""
    chosen = list(entries(shelf or SHELVES, topic, name))
    if drawn is not None:
        chosen = random.Random(drawn).sample(chosen, min(drawn, len(chosen)))
    found = [entry for entry in chosen for _ in range(repeat)]
    width = max((len(entry.name) for entry in found), default=0)
    earned: dict[Entry, set[str]] = defaultdict(set)
    count = 0
    with spread_over_processes(jobs, processors) as pool:
        for outcome in pool.map(graded, found, [device] * len(found)):
            earned[outcome.entry].add(f"{outcome.verdict} {outcome.earned}")
            count += bool(outcome.off)
            if outcome.off or not only_off:
                console.print(
                    f"{'OFF' if outcome.off else 'ok':4}{outcome.entry.name:{width + 2}}"
                    f"{outcome.entry.expected:28}{outcome.verdict:9}{outcome.earned:30}"
                    f"{outcome.seconds:6.1f} s  {' '.join(outcome.off.split())[:400]}"
                )
    differing = [
        f"{entry.name}: {', '.join(sorted(all_))}" for entry, all_ in earned.items() if len(all_) > 1
    ]
    console.print(
        "\n".join([f"{len(found)} grades, {count} off, {len(differing)} files differ.", *differing])
    )
    if count or differing:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
