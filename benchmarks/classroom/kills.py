"""A run that is killed at random moments, and run again: to the same table, with nothing left behind."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from classroom import courses, processes, proof
from grader.course import batch
from grader.course.folder import CACHE
from grader.course.gradebook.export import export

TOPIC = "transpose"
STUDENTS = 12
KINDS = ("right", "half-right", "wrong", "racing", "compile error", "unreadable", "late")
UNMARKED = 4
"""Submissions whose marks are not kept from an earlier run, so that a run takes seconds."""
ROLES = ("parent", "worker", "child", "autograde")
"""Who is killed: the command while it marks, a process that marks, one that this has started, or the command while
nbgrader is at work."""
TRIES = 5
"""Runs of one kill: a process of its role may have ended when its moment has come."""


@dataclass(frozen=True)
class Begun:
    """A class of which the half that came from Moodle is autograded, and the other half was collected since."""

    root: Path
    marks: Sequence[Path]  # of all of them
    scores: Mapping[str, str]  # what is earned, by student
    csv: str  # what is exported at the end
    seconds: Mapping[str, float]  # what a run takes, by who is killed in it


def proved(folder: Path, seed: int, times: int, jobs: int = 2, students: int = STUDENTS) -> list[str]:
    """Kill so many runs of a small class; returns what was not as it has to be."""
    draw = random.Random(seed)
    off = []
    with processes.adopting():
        begun = _begun(folder, seed, jobs, students)
        for number in range(times):
            role = ROLES[number % len(ROLES)]
            with contextlib.closing(_Round(begun, folder / f"killed-{number}", role, jobs)) as one:
                said = one.played(draw)
            off += [f"kill {number + 1}, {role}: {what}" for what in said]
            print(f"{number + 1:4} {one.told:90} {'; '.join(said) or 'ok'}", flush=True)
    return off


def scores(root: Path) -> tuple[str, dict[str, str]]:
    """What would be exported now, as text and by student."""
    text = export(*batch.open_course(root), TOPIC, "canvas").filled.text
    return text, proof.table(text)


def _begun(folder: Path, seed: int, jobs: int, students: int) -> Begun:
    classroom = courses.made(folder, students, seed, [TOPIC], kinds=KINDS)
    moodle, canvas = classroom.downloads[TOPIC]
    root = classroom.root
    _done(root, "collect", TOPIC, str(moodle.zip), "--worksheet", str(moodle.worksheet))
    _done(root, "autograde", TOPIC, "--jobs", str(jobs))
    _done(root, "collect", TOPIC, str(canvas.zip))
    # What a run comes to that nobody disturbs, and how long it takes.
    tried = shutil.copytree(root, folder / "undisturbed")
    _done(tried, "autograde", TOPIC, "--jobs", str(jobs))
    marks = sorted((tried / CACHE).glob("*.json"))
    text, found = scores(tried)
    earned = {item.student.id: item.score for item in classroom.handed_in}
    assert found == earned, (found, earned)
    begun = Begun(root, marks, earned, text, {})
    marking, autograding = (_seconds(begun, folder / "timed", role, jobs) for role in ("parent", "autograde"))
    return Begun(root, marks, earned, text, {**dict.fromkeys(ROLES, marking), "autograde": autograding})


def _seconds(begun: Begun, folder: Path, role: str, jobs: int) -> float:
    with contextlib.closing(_Round(begun, folder, role, jobs)) as one:
        one.prepared(random.Random(0))
        start = time.monotonic()
        one.started().wait()
        return time.monotonic() - start


def _call(root: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "grader", "course", *words, "--course", str(root)]


def _done(root: Path, *words: str) -> None:
    ended = subprocess.run(_call(root, *words), capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(words)}: {ended.stdout}{ended.stderr}")


@dataclass
class _Round:
    """One kill, and the run after it."""

    begun: Begun
    root: Path
    role: str
    jobs: int
    told: str = ""

    def close(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def prepared(self, draw: random.Random) -> None:
        """The class as it begins: with all marks but a few; with all, if nbgrader is to be killed at work."""
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.begun.root, self.root)
        for mark in (self.root / CACHE).glob("*.json"):
            mark.unlink()
        kept = max(0, len(self.begun.marks) - (0 if self.role == "autograde" else UNMARKED))
        for mark in draw.sample(list(self.begun.marks), kept):
            shutil.copy(mark, self.root / CACHE)

    def started(self) -> subprocess.Popen[bytes]:
        call = _call(self.root, "autograde", TOPIC, "--jobs", str(self.jobs))
        return subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def played(self, draw: random.Random) -> list[str]:
        """Kill once, look, run again, and look."""
        for attempt in range(TRIES):
            self.prepared(draw)
            before = set(processes.descendants(os.getpid()))
            # A run may be shorter than the one that was timed: the machine has less to do.
            said = self._killed(draw.uniform(0, self.begun.seconds[self.role] / 2**attempt), draw, before)
            if said is not None:
                return [*said, *self._looked_at()]
        return [f"no {self.role} was there to be killed"]

    def _killed(self, moment: float, draw: random.Random, before: set[int]) -> list[str] | None:
        """Kill somebody of the role after so many seconds; None if nobody is left, else what is wrong then."""
        run = self.started()
        begun = time.monotonic()
        target = None
        while run.poll() is None and target is None:
            time.sleep(max(0.005, begun + moment - time.monotonic()))
            target = self._target(run.pid, draw)
        if target is None:
            return None
        what = " ".join(processes.command(target).split()[1:])
        with contextlib.suppress(ProcessLookupError):
            os.kill(target, signal.SIGKILL)
        self.told = f"{self.role} after {time.monotonic() - begun:.1f} s: {what}"[:90]
        status = run.wait()
        if target == run.pid:
            return [f"runs on: {item}" for item in processes.left(before)]
        return [] if status in (0, 1) else [f"the command ended with status {status}"]

    def _target(self, pid: int, draw: random.Random) -> int | None:
        if self.role in ("parent", "autograde"):
            return pid if processes.alive(pid) else None
        depth = processes.descendants(pid)
        of_role = [other for other, steps in depth.items() if (steps == 1) == (self.role == "worker")]
        return draw.choice(of_role) if of_role else None

    def _looked_at(self) -> list[str]:
        """What is exported now, and after another run."""
        said = [
            f"{student} has `{score}` after the kill, and earned `{self.begun.scores[student]}`"
            for student, score in scores(self.root)[1].items()
            if score not in ("", self.begun.scores[student])
        ]
        _done(self.root, "autograde", TOPIC, "--jobs", str(self.jobs))
        text, found = scores(self.root)
        if text != self.begun.csv:
            said.append(f"the table is another one: {found}")
        return said
