"""A learner's desk: a file for each stop of the way, the verdicts on them, and the hints that were asked for.

A file is an ordinary one in the learner's folder, named as `ladder new` names it: what is typed on the page is there,
and what another editor writes shows on the page.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from grader.errors import WarpladderError
from grader.history.store import Store, remember
from grader.judge import accesses
from grader.judge.grade import grade
from grader.judge.runners.pool import silent
from grader.learn.way import Stop, stops
from grader.report.grades.hints import aim
from grader.results import Accesses, Grade
from grader.web.files import lines, write
from grader.web.serving import Aside
from grader.workbook import exercises, topics
from grader.workbook.exercises import Exercise
from grader.workbook.topic import Topic, own_name

LONGEST = 1 << 19
"""Bytes of a file."""

LOOKS_EVERY_S = 0.4
"""So often is a file looked at, where a page waits for others to change it."""

CHANGED = "the file has been changed in another editor since: load it, or keep what is typed here"


@dataclass(frozen=True)
class Verdict:
    """What the judge said of a file, and what the kernel accesses, where it runs to its end."""

    result: Grade
    stamp: str  # the file's
    source: list[str]
    accesses: Accesses | None


class Desk:
    """The files of one folder. All of it is touched by one event loop alone; the judge works aside."""

    def __init__(
        self, folder: Path, device: str = "auto", arch: str | None = None, aside: Aside = asyncio.to_thread
    ) -> None:
        self.folder = folder
        self.ladders = topics.discover()
        self.exercises = exercises.discover()
        self.verdicts: dict[str, Verdict] = {}
        self.hints_told: dict[str, int] = {}
        self._solved: dict[str, Accesses | None] = {}
        self.unread: WarpladderError | None = None  # why the history could not be read last
        self.unwritten: WarpladderError | None = None  # why the last grade is not in it
        self.closing = False  # the server is about to end: nothing waits any more
        self._device = device
        self._arch = arch
        self._aside = aside

    def ending(self) -> None:
        """No request is to wait any more."""
        self.closing = True

    def topic(self, name: str) -> Topic:
        """An exercise or a ladder; raises WarpladderError."""
        found = self.exercises.get(name) or self.ladders.get(name)
        if found is None:
            raise WarpladderError(
                f"there is no exercise and no ladder `{name}`", remedy="choose one of the way"
            )
        return found

    def file(self, name: str) -> Path:
        """Where the learner's kernel of a stop is, or will be."""
        return self.folder / own_name(name, self.topic(name).suffix)

    def source(self, name: str) -> str:
        """What is in it; what it begins with, where nothing is. Raises WarpladderError for what is no kernel."""
        file = self.file(name)
        if not file.is_file():
            return self.topic(name).starter_text
        if file.stat().st_size > LONGEST:
            remedy = f"a kernel has at most {LONGEST:,} bytes here: name it otherwise"
            raise WarpladderError("it is too long for the page", file=file, remedy=remedy)
        try:
            return file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise WarpladderError("it is no UTF-8 text", file=file, remedy="save it as UTF-8") from None

    def stamp(self, name: str) -> str:
        """Changes whenever the file does; "" where there is none."""
        try:
            found = self.file(name).stat()
        except OSError:
            return ""
        return f"{found.st_ino}-{found.st_mtime_ns}"

    def write(self, name: str, typed: str, seen: str, anyway: bool = False) -> None:
        """Put what was typed into the file, which was `seen` last under that stamp; what is there already, or is the
        starter of a file that there is not, is not written, but for `anyway`.

        Raises WarpladderError where the file has been changed since, or cannot be written.
        """
        file, text = self.file(name), f"{lines(typed)}\n"
        if text == self.source(name) and (file.is_file() or not anyway):
            return
        if seen != self.stamp(name):
            raise WarpladderError(CHANGED)
        write(file, text)

    async def grade(self, name: str, typed: str, seen: str) -> None:
        """Have the judge look at what was typed. Raises WarpladderError."""
        self.write(name, typed, seen, anyway=True)
        topic, file, stamp = self.topic(name), self.file(name), self.stamp(name)

        def judged() -> tuple[Verdict, bytes]:
            try:
                source = file.read_bytes()
            except OSError as error:
                raise WarpladderError(f"it cannot be read: {error.strerror}", file=file) from None
            result = grade(topic, file, self._device, progress=silent, arch=self._arch)
            ran = result.verdict in ("pass", "fail")
            drawn = accesses.if_any(topic, file, self._arch) if ran else None
            text = source.decode("utf-8", errors="replace")
            return Verdict(result, stamp, text.splitlines(), drawn), source

        verdict, source = await self._aside(judged)
        self.verdicts[name], self.unwritten = verdict, None
        try:
            remember(name, file, source, verdict.result)
        except WarpladderError as error:  # which costs no verdict
            self.unwritten = error

    def accessed(self, name: str) -> Accesses | None:
        """What the kernel accesses that was judged last; None where that cannot be drawn."""
        return self.verdicts[name].accesses if name in self.verdicts else None

    async def solved(self, name: str) -> Accesses | None:
        """What the solution of an exercise accesses; None where that cannot be drawn."""
        if (exercise := self.exercises.get(name)) is None:
            return None
        if name not in self._solved:
            self._solved[name] = await self._aside(
                lambda: accesses.if_any(exercise, exercise.solution, self._arch)
            )
        return self._solved[name]

    def way(self) -> list[Stop]:
        """How far the learner has come; with nothing reached, where the history cannot be read."""
        try:
            with Store() as store:
                grades, self.unread = store.grades(), None
        except WarpladderError as error:
            grades, self.unread = [], error
        return stops(self.ladders, self.exercises, grades)

    def hints(self, name: str, reached: int) -> list[str]:
        """What can be told of a stop of which so many rungs are reached, one after the other, in Markdown: from the
        concept to the lines."""
        topic, verdict = self.topic(name), self.verdicts.get(name)
        if isinstance(topic, Exercise):
            return list(topic.hints)
        if verdict is None:
            step = topic.first_step
            return [] if step is None else [f"{step.concept} The lesson tells it under “{step.section}”."]
        found = aim(topic, verdict.result, "\n".join(verdict.source))
        if found is not None and verdict.result.verdict != "pass" and 0 < reached < len(topic.rungs):
            return [topic.rungs[reached].idea]  # what was mended once is not told again
        if found is None:
            return []
        if not found.before:
            own_file = "\n".join(["```cuda", *found.own_file, "```"]) if found.own_file else None
            return [found.idea, *filter(None, [verdict.result.mended, own_file])]
        return [found.idea, "\n".join(["```diff", *found.changes, "```"])]

    def tell_hint(self, name: str) -> None:
        """One more."""
        self.hints_told[name] = self.hints_told.get(name, 0) + 1

    async def changed(self, name: str, seen: str, patience_s: float) -> bool:
        """Wait until the file is another than under the stamp `seen`; whether it is."""
        left = patience_s
        while self.stamp(name) == seen and left > 0 and not self.closing:
            await asyncio.sleep(LOOKS_EVERY_S)
            left -= LOOKS_EVERY_S
        return self.stamp(name) != seen
