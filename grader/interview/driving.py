"""A sitting driven to its end, one call after the other: by a terminal, or by a script in a test."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType
from typing import Protocol, Self

from grader.interview import credit
from grader.interview.prompts import (
    Answered,
    Checked,
    Figured,
    Given,
    Judged,
    Mended,
    Placed,
    Prompt,
    Said,
    Work,
)
from grader.interview.session import Do, Figure, Session
from grader.interview.sitting import Sitting
from grader.judge.runners.pool import Progress, silent
from grader.results import Grade


class BrokenOff(Exception):
    """The candidate left; everything up to the last answer is kept in `path`."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"broken off; kept in {path}")
        self.path = path


class Frontend(Protocol):
    """What shows questions to the candidate and reads answers. KeyboardInterrupt and EOFError break the session off."""

    def say(self, text: str, title: str = "") -> None:
        """Something to read, in Markdown, that asks nothing."""

    def talk(self, prompt: Prompt) -> str:
        """Free text; "" for no answer. It may be `?`, `skip` or `back`."""

    def begun(self) -> str:
        """The lines of an answer in prose that has just been broken off; "" for none."""

    def line(self, prompt: Prompt) -> str:
        """An answer in a line, as typed; "" for none. It may be `?`, `skip` or `back`."""

    def checked(self, title: str, points: Sequence[credit.Point]) -> None:
        """Show how the probe of each point was answered, and what is right."""

    def figured(self, figure: Figure) -> None:
        """Show whether a number is right."""

    def code(self, prompt: Prompt) -> Do:
        """Wait until the candidate has written a version into the prompt's file, wants a hint, or goes on without."""

    def grading(self, file: Path) -> AbstractContextManager[Progress]:
        """While the judge works: what it calls with what it does."""

    def judged(self, result: Grade, rung: str) -> None:
        """Show what the judge says; `rung` was asked for."""

    def mended(self, result: Grade, said: str) -> None:
        """Show what the judge says of a change: `said`, Markdown, and what it saw."""

    def rate(self, answer: str, said: str) -> Do:
        """Show a model answer beside what was said; how much of it that was, as the candidate rates it."""


def drive(sitting: Sitting, frontend: Frontend) -> Session:
    """Ask until everything is asked, or time is up. Raises BrokenOff where the candidate leaves."""
    with _Ends() as ends:
        try:
            shown = _read_before(sitting, frontend)
            while sitting.prompt is not None:
                _show(sitting.entries[shown:], frontend)
                shown, before = len(sitting.entries), sitting.entries
                _answer(sitting, sitting.prompt, frontend)
                if sitting.entries is not before:  # gone back
                    shown = len(sitting.entries)
            _show(sitting.entries[shown:], frontend)
        except (KeyboardInterrupt, EOFError):
            ends.interrupt = False
            if isinstance(sitting.prompt, Prompt) and (typed := frontend.begun()):
                sitting.draft(typed)
            sitting.leave()
            raise BrokenOff(sitting.path) from None
    return sitting.kept


class _Ends:
    """A program that is told to end, or whose window is closed, is interrupted as by Ctrl-C. Once: a closed window is
    an end of what is typed and one signal or two, and the last of them must not stop what is being kept.
    """

    def __init__(self) -> None:
        self.interrupt = True
        self._taken: list[signal.Signals] = []

    def __enter__(self) -> Self:
        for each in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(each) is signal.SIG_DFL:  # nohup has one ignored
                signal.signal(each, self._end)
                self._taken.append(each)
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._taken:
            signal.signal(each, signal.SIG_DFL)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self.interrupt:
            self.interrupt = False
            raise KeyboardInterrupt


def _read_before(sitting: Sitting, frontend: Frontend) -> int:
    """How many entries a session that is taken up again does not show once more: all but what the question is about,
    and what came with the last answer.
    """
    before = sitting.entries[: sitting.interviewer.came]
    _show([placed for placed in before if isinstance(placed.entry, Given)][-1:], frontend)
    return len(before)


def _show(entries: Sequence[Placed], frontend: Frontend) -> None:
    for placed in entries:
        match placed.entry:
            case Said(title, text) | Given(title, text):
                frontend.say(text, title)
            case Checked(title, points):
                frontend.checked(title, points)
            case Figured(figure):
                frontend.figured(figure)
            case Judged(result, rung):
                frontend.judged(result, rung)
            case Mended(result, said):
                frontend.mended(result, said)
            case Answered():
                pass  # it was typed here


def _answer(sitting: Sitting, prompt: Prompt | Work, frontend: Frontend) -> None:
    if isinstance(prompt, Work):
        if prompt.file is None:
            sitting.send(prompt.do(silent))
            return
        with frontend.grading(prompt.file) as progress:
            event = prompt.do(progress)
        sitting.send(event)
        return
    match prompt.form:
        case "talk":
            sitting.reply("send", frontend.talk(prompt))
        case "line":
            sitting.reply("send", frontend.line(prompt))
        case "code":
            _write(sitting, prompt, frontend)
        case "rate":
            sitting.reply(frontend.rate(prompt.answer, prompt.said))
        case "go_on":
            sitting.reply("go")


def _write(sitting: Sitting, prompt: Prompt, frontend: Frontend) -> None:
    """What is to be done with the file; one that cannot be read is none to be graded."""
    do, source = frontend.code(prompt), ""
    try:
        if do == "grade":
            source = prompt.file.read_text(encoding="utf-8")
    except OSError as error:
        frontend.say(f"`{prompt.file}` cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        frontend.say(f"`{prompt.file}` cannot be read: it is no UTF-8 text")
    else:
        sitting.reply(do, source)
