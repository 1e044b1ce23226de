"""The room: who sits in it, what is open, and how the last sitting went.

All of it is touched by one event loop alone. What takes time is done `aside`, while nothing is open; a request that
comes meanwhile finds nothing to answer.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import get_args

from grader.errors import WarpladderError
from grader.interview.interviewer import Judge
from grader.interview.loops.library import Library
from grader.interview.page.sittings import Break, Ended, Sat
from grader.interview.prompts import FITTING, Prompt, Work
from grader.interview.session import Do
from grader.report.progress import STAGES
from grader.web.files import lines, write
from grader.web.serving import Aside

EMPTY = "Nothing is typed. Skip goes on without an answer."
"""Said where an answer is asked for; one in prose may be empty: then the short questions come."""

LOOKS_UP_S = 0.4
"""So often does what waits for news look whether the server ends: sooner than that gives up waiting for it."""


class Room:
    """One candidate, one sitting at a time."""

    def __init__(
        self, library: Library, folder: Path, judge: Judge, aside: Aside = asyncio.to_thread
    ) -> None:
        """New sittings are kept in `folder`."""
        self.library = library
        self.folder = folder
        self.judge = judge
        self.sat: Sat | None = None
        self.ended: Ended | None = None
        self.refused: WarpladderError | None = None  # why nothing was begun, or what ended a sitting
        self.lost = ""  # what had been typed when a sitting was ended by `refused`
        self.open: Prompt | Break | None = None  # what is to be done now; None: something is done aside
        self.number = (
            0  # of what is open: an answer names it, so that one that comes too late is for no other
        )
        self.source = ""  # in the file of a version, as the editor was opened with
        self.working = ""  # what the judge does; "" where it is not at work
        self.version = 0  # changes whenever anything else does
        self.closing = False  # the server is about to end: nothing waits any more
        self._aside = aside
        self._busy = self._leaving = False
        self._news = asyncio.Event()

    # ---- what requests call ------------------------------------------------------------------------------------

    async def begin(self, make: Callable[[], Sat]) -> None:
        """Have something sat, unless something is; what cannot be begun is refused."""
        if self.sat is None and not self._busy:

            def begin() -> None:
                self.sat = make()

            await self._on(begin)

    async def answer(self, number: int, done: str, typed: str) -> None:
        """An answer to what is open under that number; what is not, or does not ask for it, is passed over."""
        now, sat = self.open, self.sat
        if now is None or sat is None or number != self.number:
            return
        fitting = ("go",) if isinstance(now, Break) else FITTING[now.form]
        do = next((each for each in get_args(Do) if each == done and each in fitting), None)
        if do is None:
            return
        typed = lines(typed)
        if isinstance(now, Prompt):
            empty = do == "send" and not typed and now.form == "line"
            complaint = EMPTY if empty else self._write(now, typed)
            if complaint:
                self.open = dataclasses.replace(now, complaint=complaint)
                self.touch()
                return
            if do == "grade":
                typed = _source(now.file)
        await self._on(lambda: sat.reply(do, typed), typed)

    async def draft(self, number: int, typed: str) -> bool:
        """What is typed so far: whether it was written, for what is still open."""
        now, sat, typed = self.open, self.sat, lines(typed)
        if not isinstance(now, Prompt) or sat is None or number != self.number:
            return False
        if now.form == "code":
            if self._write(now, typed):
                return False
            self.source = f"{typed}\n"
        elif now.form == "talk":
            self.open = dataclasses.replace(now, typed=typed)
            try:
                sat.draft(typed)
            except WarpladderError as error:
                self._refuse(error, typed)
                return False
        return now.form in ("code", "talk")

    async def leave(self) -> None:
        """Break the sitting off, kept; where the judge is at work, after that."""
        self._leaving = self.sat is not None
        if self._leaving and not self._busy:
            await self._on(lambda: None)

    def to_the_door(self) -> None:
        """From a card back to the first page."""
        if self.sat is None:
            self.ended, self.refused, self.lost = None, None, ""
            self.touch()

    async def changed(self, version: int, timeout_s: float) -> bool:
        """Wait until there is something else to see than at `version`; whether there is."""
        ends = asyncio.get_running_loop().time() + timeout_s
        while self.version == version and not self.closing and asyncio.get_running_loop().time() < ends:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), LOOKS_UP_S)
        return self.version != version

    def touch(self) -> None:
        """There is something else to see."""
        self.version += 1
        self._news.set()
        self._news = asyncio.Event()

    def ending(self) -> None:
        """No request is to wait any more."""
        self.closing = True

    def close(self) -> None:
        """Keep what is sat, once no request comes any more."""
        if self.sat is not None and not isinstance(self.sat.prompt, Work):
            self.sat.leave()
            self.sat.end()

    # ---- what comes of it --------------------------------------------------------------------------------------

    async def _on(self, call: Callable[[], None], typed: str = "") -> None:
        """Do something with what is sat, and what the judge has to do after it, up to what is open next."""
        self._busy, self.open = True, None
        self.touch()
        try:
            await self._aside(call)
            await self._work()
        except WarpladderError as error:
            self._refuse(error, typed)
        finally:
            self._busy, self.working = False, ""
            self.touch()

    async def _work(self) -> None:
        sat = self.sat
        assert sat is not None
        self.ended, self.refused, self.lost = None, None, ""
        while isinstance(work := sat.prompt, Work) and not self._leaving:
            progress = self._progress(work)
            event = await self._aside(functools.partial(work.do, progress))
            await self._aside(functools.partial(sat.send, event))
        if sat.prompt is not None and not self._leaving:
            self._show(sat.prompt)
            return
        if self._leaving:
            await self._aside(sat.leave)
        self._leaving = False
        self.ended = await self._aside(sat.end)
        self.sat = None

    def _show(self, prompt: Prompt | Break | Work) -> None:
        assert not isinstance(prompt, Work)
        self.open = prompt
        self.number += 1
        self.source = _source(prompt.file) if isinstance(prompt, Prompt) else ""

    def _progress(self, work: Work) -> Callable[[str, str], None]:
        """What the judge calls, from any thread."""
        file, loop = work.file, asyncio.get_running_loop()
        if file is None:
            return lambda _, stage: None

        def work_on(stage: str) -> None:
            self.working = f"{file.name}: {STAGES.get(stage, stage)}"
            self.touch()

        work_on("compile")

        def progress(_: str, stage: str) -> None:
            loop.call_soon_threadsafe(work_on, stage)

        return progress

    def _refuse(self, error: WarpladderError, typed: str) -> None:
        self._leaving = False
        self.sat, self.open, self.ended, self.refused, self.lost = None, None, None, error, typed
        self.touch()

    def _write(self, prompt: Prompt, typed: str) -> str:
        """Put the editor's text into the file of a version; why that failed, or "".

        Not where the text is what the editor was opened with: if the file has changed since, that was another editor.
        """
        if prompt.form != "code" or not typed or typed == lines(self.source):
            return ""
        try:
            write(prompt.file, f"{typed}\n")
        except WarpladderError as error:
            return str(error)
        return ""


def _source(file: Path) -> str:
    """What is in a file, as far as it is text; "" where there is none."""
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
