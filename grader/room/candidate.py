"""The page as an interviewer's frontend: what is asked waits here until an answer comes from the browser.

The interviewer calls from one thread, the server's requests come from others; they meet under one lock.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, get_args

from grader.interview import credit
from grader.interview.interviewer import BACK, CLARIFY, SKIP, code_share
from grader.interview.room import Action, Asked
from grader.interview.session import Code, Figure
from grader.judge.runners.pool import Progress
from grader.report.progress import STAGES
from grader.results import Grade
from grader.room.transcript import (
    Answered,
    Checked,
    Entry,
    Figured,
    Graded,
    Mended,
    Open,
    Placed,
    Said,
    View,
)
from grader.workbook.topic import Topic

Do = Literal["send", "clarify", "skip", "back", "grade", "hint", "yes", "partly", "no", "pass", "go"]
"""What the buttons of the page are called."""

RATINGS: dict[Do, float | None] = {"yes": 1.0, "partly": 0.5, "no": 0.0, "pass": None}
WORDS: dict[Do, str] = {"clarify": CLARIFY, "skip": SKIP[0], "back": BACK[0]}
FITTING: dict[str, tuple[Do, ...]] = {
    "talk": ("send", *WORDS),
    "line": ("send", *WORDS),
    "code": ("grade", "hint", "skip"),
    "rate": tuple(RATINGS),
    "go_on": ("go",),
    "begin": ("go",),
}
EMPTY = "Nothing is typed. Skip goes on without an answer."
"""Said where an answer is asked for; one in prose may be empty: then the short questions come."""
KEPT_WITHIN_S = 5.0
"""So long does a draft's request wait until it is written."""


class Candidate:
    """A candidate at a page: what `Frontend` asks for, and what the server's requests call."""

    def __init__(self, topics: Mapping[str, Topic], now: Callable[[], float] = time.monotonic) -> None:
        """`topics` are those that code may be asked of."""
        self.topics = topics
        self._now = now
        self._changed = threading.Condition()
        self._version = self._number = 0
        self.enter()

    def enter(self) -> None:
        """A new session, of which nothing was seen yet."""
        self._replies = self._rated = 0
        self._entries: list[Placed] = []
        self._open: Open | None = None
        self._working = ""
        self._asked: Asked | None = None  # last
        self._counted: Grade | None = None  # the version whose counters are asked about, and not shown yet
        self._clock: tuple[float | None, float] = (None, 0.0)  # what was left, and when
        self.leaving = False
        self.typed = ""  # sent last
        self._reply: tuple[Do, str] | None = None
        self._draft: str | None = None  # not written yet
        self._typed = ""  # of the answer that is being given
        self._complaint = ""
        self.touch()

    def touch(self) -> None:
        """There is something else to see."""
        with self._changed:
            self._touch()

    # ---- what the interviewer calls ------------------------------------------------------------------------

    def say(self, text: str, title: str = "") -> None:
        """See Frontend."""
        self.show(Said(title, text))

    def talk(self, asked: Asked) -> str:
        """See Frontend."""
        return self._answer("talk", asked)

    def begun(self) -> str:
        """See Frontend."""
        return self._typed

    def line(self, asked: Asked) -> str:
        """See Frontend."""
        return self._answer("line", asked)

    def unreadable(self, complaint: str) -> None:
        """See Frontend."""
        self._complaint = complaint

    def checked(self, title: str, points: Sequence[credit.Point]) -> None:
        """Shown until the candidate goes on."""
        self.show(Checked(title, points))
        self.wait_for(Open(0, "go_on"))

    def figured(self, figure: Figure) -> None:
        """Shown until the candidate goes on."""
        counted = self._counted if figure.counted_on == "own" else None
        self._counted = None
        self.show(Figured(figure, counted))
        self.wait_for(Open(0, "go_on"))

    def code(self, asked: Asked, file: Path, draft: Code) -> Action:
        """What is to be done with `file`, which has in it by then what the page's editor has."""
        done, _ = self._ask(Open(0, "code", asked, file=file, draft=draft, source=_source(file)))
        return "grade" if done == "grade" else "hint" if done == "hint" else "skip"

    @contextmanager
    def grading(self, file: Path) -> Iterator[Progress]:
        """See Frontend."""
        self._work(f"{file.name}: compiling")
        try:
            yield lambda _, stage: self._work(f"{file.name}: {STAGES.get(stage, stage)}")
        finally:
            self._work("")

    def graded(self, result: Grade, rung: str) -> None:
        """What was asked for is shown until the candidate goes on; what was not, beside the editor."""
        self.show(Graded(result, rung, _source(Path(result.file)).splitlines()))
        if code_share(self.topics[result.topic], result, rung) == 1:
            self._counted = result
            self.wait_for(Open(0, "go_on"))

    def mended(self, result: Grade, said: str) -> None:
        """Shown beside the editor, or beside what follows."""
        self.show(Mended(result, said, _source(Path(result.file)).splitlines()))

    def rate(self, answer: str, said: str) -> float | None:
        """See Frontend."""
        done, _ = self.wait_for(Open(0, "rate", answer=answer))
        self._rated = self._replies
        return RATINGS[done]

    def time_is_up(self) -> None:
        """See Frontend."""
        self.say("**Time is up.**")

    def show(self, entry: Entry) -> None:
        """Something to read, which waits for nothing."""
        with self._changed:
            step, heading = (self._asked.step, self._asked.heading) if self._asked else ("", "")
            self._entries.append(Placed(entry, step, heading, self._replies))
            self._touch()

    def wait_for(self, task: Open) -> tuple[Do, str]:
        """What was done, and what was typed with it. Raises EOFError where the candidate leaves.

        Drafts that come meanwhile are written on this thread.
        """
        with self._changed:
            self._number += 1
            self._open = dataclasses.replace(task, number=self._number)
            self._reply = self._draft = None
            self._touch()
            try:
                while self._reply is None and not self.leaving:
                    if self._draft is not None and task.asked is not None:
                        task.asked.keep(self._draft)
                        self._draft = None
                        self._changed.notify_all()
                    self._changed.wait()
                if self._reply is None:
                    raise EOFError
                self._replies += 1
                return self._reply
            finally:
                self._clock = (self._left(), self._now())
                self._open = None
                self._touch()

    def _answer(self, form: Literal["talk", "line"], asked: Asked) -> str:
        """What was typed, or one of WORDS; what it was asked is kept beside it, to be read again."""
        same = self._asked is not None and self._asked.step == asked.step
        self._typed = self._typed if same else asked.begun
        complaint, self._complaint = self._complaint, ""
        if same and self._typed:
            asked.keep(self._typed)
        done, typed = self._ask(Open(0, form, asked, typed=self._typed, complaint=complaint))
        self._typed = typed
        if done == "send":
            self.show(Answered(asked.text, typed, form == "talk"))
            return typed
        return WORDS[done]

    def _ask(self, task: Open) -> tuple[Do, str]:
        """Wait with the clock running; a question that is asked again goes on with its time."""
        asked, before = task.asked, self._asked
        assert asked is not None
        if before is None or (asked.step, asked.left_s) != (before.step, before.left_s):
            self._clock = (asked.left_s, self._now())
        self._asked = asked
        return self.wait_for(task)

    def _work(self, doing: str) -> None:
        with self._changed:
            self._working = doing
            self._touch()

    def _left(self) -> float | None:
        """Time left, where the lock is held."""
        left, when = self._clock
        if left is None or self._open is None or not self._open.timed:
            return left
        return left - (self._now() - when)

    def _touch(self) -> None:
        self._version += 1
        self._changed.notify_all()

    # ---- what the server's requests call -------------------------------------------------------------------

    def view(self) -> View:
        """The session as it stands."""
        with self._changed:
            return View(
                version=self._version,
                entries=tuple(self._entries),
                open=self._open,
                working=self._working,
                left_s=self._left(),
                replies=self._replies,
                heading=self._asked.heading if self._asked else "",
                rated=self._rated,
            )

    def changed(self, version: int, timeout_s: float) -> bool:
        """Wait until there is something else to see than at `version`; whether there is."""
        with self._changed:
            return self._changed.wait_for(lambda: self._version != version, timeout_s)

    def settled(self, over: Callable[[], bool], timeout_s: float) -> None:
        """Wait a moment for what follows an answer, which mostly comes at once."""

        def settled() -> bool:
            asked = self._open is not None and self._reply is None
            return asked or self._working != "" or over()

        with self._changed:
            self._changed.wait_for(settled, timeout_s)

    def answer(self, number: int, done: str, typed: str) -> bool:
        """An answer to the question of that number; False where that is not open any more, or does not ask for it."""
        with self._changed:
            task = self._open
            fits = task is not None and task.number == number and self._reply is None
            if task is None or not fits or done not in get_args(Do) or done not in FITTING[task.form]:
                return False
            typed = _lines(typed)
            empty = done == "send" and not typed and task.form != "talk"
            complaint = EMPTY if empty else _write(task, typed)
            if complaint:
                self._open = dataclasses.replace(task, complaint=complaint)
                self._touch()
                return True
            self._reply, self.typed = (done, typed), typed if task.asked is not None else ""
            self._changed.notify_all()
            return True

    def draft(self, number: int, typed: str) -> bool:
        """What is typed so far: when this returns True, it is written."""
        with self._changed:
            task = self._open
            if task is None or task.number != number or self._reply is not None:
                return False
            typed = _lines(typed)
            if task.file is not None:
                if _write(task, typed):
                    return False
                self._open = dataclasses.replace(task, source=f"{typed}\n")
                return True
            if task.form != "talk":
                return False
            self._typed = self._draft = self.typed = typed
            self._open = dataclasses.replace(task, typed=typed)
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._draft is None, KEPT_WITHIN_S)

    def leave(self) -> None:
        """End the session as Ctrl-C does in a terminal, when it next asks something."""
        with self._changed:
            self.leaving = True
            self._changed.notify_all()


def _source(file: Path) -> str:
    """What is in a file, as far as it is text; "" where there is none."""
    return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""


def _lines(typed: str) -> str:
    """Text as a browser sends it, with a Unix machine's ends of lines."""
    return typed.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()


def _write(task: Open, typed: str) -> str:
    """Put the editor's text into the file of a version; why that failed, or "".

    Not where the text is what the editor was opened with: if the file has changed since, that was another editor.
    """
    if task.file is None or not typed or typed == _lines(task.source):
        return ""
    beside = task.file.with_name(f"{task.file.name}.new")
    try:
        beside.write_text(f"{typed}\n", encoding="utf-8")
        beside.replace(task.file)
    except OSError as error:
        return f"{task.file} cannot be written: {error.strerror}"
    return ""
