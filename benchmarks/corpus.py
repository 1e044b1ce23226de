"""The corpus of tests/submissions, graded: whether right kernels pass, wrong ones do not, and cheats gain nothing.

    python benchmarks/corpus.py [right|wrong|cheats ...] [--topic gemm] [--device emulator] [--jobs 2] [--name PATTERN]

A file lies in tests/submissions/<topic>/<shelf>/, and its shelf says what has to come of it:

    right   it passes, however unusual it is
    wrong   it does not pass
    cheats  it may pass, and earns no more than the part of it that is honest

What else is expected stands in the file, in comment lines of their own (`// deserves: 01_coalesced`, `#` in Python):

    deserves  the highest rung that it may reach, or `nothing`; every cheat says so
    lacks     what the emulator cannot run by name: there, an error whose reason names it is as good as a pass
    unless    a regular expression: a right one may also be refused where its reason matches
    reason    a regular expression that the reason has to match

A new file is tested because it exists. Exit code 1 when one is off.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from itertools import cycle
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
NOTHING = "nothing"  # what a file deserves that may reach no rung

_NOTE = re.compile(r"^(?://|#) (deserves|lacks|unless|reason): (.+?)\s*$", re.MULTILINE)

console = Console(highlight=False, markup=False, soft_wrap=True)


@dataclass(frozen=True)
class Entry:
    """One file of the corpus."""

    path: Path

    @property
    def name(self) -> str:
        """Such as gemm/right/strassen.cu."""
        return self.path.relative_to(FOLDER).as_posix()

    @property
    def topic(self) -> str:
        return self.path.parts[-3]

    @property
    def shelf(self) -> str:
        return self.path.parts[-2]

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
    for path in sorted(FOLDER.glob(f"{topic}/*/*.*")):
        entry = Entry(path)
        if entry.shelf in shelves and path.suffix in (".cu", ".py") and fnmatch(entry.name, f"*{name}*"):
            yield entry


def off(entry: Entry, result: Grade, topic: Topic) -> str:
    """What is not as expected, or "" where all is."""
    reason = result.reason or ""
    if (asked := entry.notes.get("reason")) and not re.search(asked, reason, re.IGNORECASE | re.DOTALL):
        return f"the reason does not match {asked!r}: {reason}"
    if entry.shelf == "wrong":
        return "a wrong one passes" if result.verdict == "pass" else ""
    if entry.shelf == "right" and result.verdict != "pass":
        excused = entry.notes.get("lacks" if result.verdict == "error" else "unless")
        if excused and re.search(excused, reason):
            return ""
        return f"a right one is refused, {result.verdict}: {reason}"
    return _earned_too_much(entry, result, topic)


def _earned_too_much(entry: Entry, result: Grade, topic: Topic) -> str:
    if "deserves" not in entry.notes:
        return "" if entry.shelf == "right" else "a cheat has to say which rung it deserves"
    ladder, deserved = topic.ladder.ids, entry.notes["deserves"]
    highest = -1 if deserved == NOTHING else ladder.index(deserved)
    reached = -1 if result.rung_reached is None else ladder.index(result.rung_reached)
    return f"reaches {result.rung_reached}, deserves {deserved}" if reached > highest else ""


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


def spread_over_processes(jobs: int) -> ProcessPoolExecutor:
    """Workers with a processor each, so that the emulators in them do not get in each other's way."""
    processors: Queue[int] = get_context("spawn").Queue()
    for _, processor in zip(range(jobs), cycle(sorted(os.sched_getaffinity(0)))):
        processors.put(processor)
    return ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_settle, initargs=(processors,)
    )


def _settle(processors: Queue[int]) -> None:
    os.sched_setaffinity(0, {processors.get()})


def main(
    shelf: Annotated[
        list[str] | None, typer.Argument(help="right, wrong, cheats; all, if none is given.")
    ] = None,
    topic: Annotated[str, typer.Option(help="One topic's files alone.")] = "*",
    name: Annotated[str, typer.Option(help="Files whose name matches, such as 'nan_*'.")] = "*",
    device: Annotated[str, typer.Option(help="emulator, pycuda or auto.")] = "emulator",
    jobs: Annotated[int, typer.Option(help="Processes.")] = 2,
    only_off: Annotated[bool, typer.Option(help="Show nothing but what is off.")] = False,
) -> None:
    """Grade the corpus, and show what came of each file."""
    found = list(entries(shelf or SHELVES, topic, name))
    width = max((len(entry.name) for entry in found), default=0)
    count = 0
    with spread_over_processes(jobs) as pool:
        for outcome in pool.map(graded, found, [device] * len(found)):
            count += bool(outcome.off)
            if outcome.off or not only_off:
                console.print(
                    f"{'OFF' if outcome.off else 'ok':4}{outcome.entry.name:{width + 2}}"
                    f"{outcome.entry.expected:28}{outcome.verdict:9}{outcome.earned:30}"
                    f"{outcome.seconds:6.1f} s  {' '.join(outcome.off.split())[:400]}"
                )
    console.print(f"{len(found)} files, {count} off.")
    if count:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
