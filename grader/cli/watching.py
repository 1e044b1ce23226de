"""Grading at each save: the public cases at once in a warm child, then the whole grade in a process of its own.

The whole grade takes seconds, so a save in the meantime ends that process, and the new text is tried at once.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader import modules
from grader.cli import own_kernels
from grader.cli.options import lines_of, list_problems
from grader.errors import WarpladderError
from grader.judge.quick import QuickCheck
from grader.report import console as views
from grader.report import notices
from grader.results import Grade, from_json
from grader.sandbox.start import end, lasting
from grader.workbook import units
from grader.workbook.topic import Topic

POLL_S = 0.05
"""How often the file is looked at. A text that is as it was at the last look is written to its end."""

WAITING = "Waiting for the next save."
"""The last line on a save: what tells an editor that there are no further problems."""

Stamp = tuple[int, int, int]


def stamp(file: Path) -> Stamp | None:
    """What changes when a file is saved, in place or by a new file that takes its name; None while there is none."""
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


class Watching:
    """Watches one file of a topic until it is interrupted. `options` are what `ladder grade` is called with besides."""

    def __init__(
        self, console: Console, topic: Topic, file: Path, options: Sequence[str], list_problems: bool
    ) -> None:
        self._console = console
        self._topic = topic
        self._file = file
        self._options = options
        self._list_problems = list_problems
        self._grading: _Grading | None = None

    def run(self, quick: QuickCheck) -> None:
        """Try each save, until KeyboardInterrupt, which is how it ends."""
        seen = tried = None
        self._console.print(
            Text(f"Watching {self._file}. Save it to have it tried; Ctrl-C ends this.", "dim")
        )
        try:
            while True:
                last, seen = seen, stamp(self._file)
                if seen is not None and seen == last and seen != tried:
                    tried = seen
                    self._saved(quick)
                self._follow()
                time.sleep(POLL_S)
        finally:
            self._drop()

    def _saved(self, quick: QuickCheck) -> None:
        self._drop()
        self._console.rule(f"{time.strftime('%X')}  {self._file.name}", style="dim")
        result = quick.check(self._file)
        if result.verdict != "pass":
            self._show(result)
            return
        self._console.print(Text.assemble(("✓ ", "green"), f"right so far: {_cases(result)}. Grading ..."))
        self._grading = _Grading(self._topic.name, self._file, self._options)

    def _follow(self) -> None:
        """Show the whole grade, once it is there; why there is none does not end the watch."""
        if self._grading is None or not self._grading.ended:
            return
        grading, self._grading = self._grading, None
        try:
            result = grading.result()
            self._show(result, own_kernels.best(self._topic, result))
        except WarpladderError as error:
            notices.error(self._console, error)
            self._console.print(Text(WAITING, "dim"))

    def _show(self, result: Grade, best: str = "") -> None:
        rungs = self._topic.ladder.ids
        self._console.print(views.step(result, rungs, lines_of(self._file), best), crop=False)
        if self._list_problems:
            list_problems(self._console, result)
        self._console.print(Text(WAITING, "dim"))

    def _drop(self) -> None:
        if self._grading is not None:
            self._grading.close()
            self._grading = None


def _cases(result: Grade) -> str:
    return units.number_of(len(result.cases), "public case")


class _Grading:
    """`ladder grade` in a process that can be ended at any time, and ends with this one."""

    def __init__(self, topic: str, file: Path, options: Sequence[str]) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        command = ["grade", topic, str(file), *options, "--json", "-"]
        self._process = lasting(
            lambda: subprocess.Popen(
                [*modules.command("grader.background"), str(os.getpid()), *command],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._errors,
                start_new_session=True,  # Ctrl-C is for the one that watches
            )
        )

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def result(self) -> Grade:
        """Once it has ended. Raises WarpladderError where there is none, such as for a file that is gone."""
        try:
            self._output.seek(0)
            if found := self._output.read():
                return from_json(found, Grade)
            self._errors.seek(0)
            raise WarpladderError(f"no grade: {self._errors.read().decode(errors='replace').strip()}")
        finally:
            self.close()

    def close(self) -> None:
        end(self._process)
        self._output.close()
        self._errors.close()


def watch(
    console: Console,
    topic: Topic,
    file: Path,
    start: Callable[[], QuickCheck],
    options: Sequence[str],
    list_problems: bool,
) -> None:
    """Watch until interrupted; `start` starts the child that stays warm."""
    try:
        with start() as quick:
            Watching(console, topic, file, options, list_problems).run(quick)
    except KeyboardInterrupt:
        console.print(Text("\nStopped watching.", "dim"))
