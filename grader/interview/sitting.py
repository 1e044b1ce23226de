"""A session that is sat: the interviewer, the candidate's time, and the file in which each event is kept.

What a session asks next follows from its events alone. One that was broken off, or killed, is where it was once they
have been sent again; to go back a question is to send all but the last.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from grader.errors import WarpladderError
from grader.interview import session
from grader.interview.interviewer import Interviewer, Judge, WorkbookJudge, meant
from grader.interview.prompts import FITTING, Flow, Placed, Prompt, Work
from grader.interview.session import Begun, Code, Do, Event, Rated, Reply, Session, Talk

Run = Callable[[Interviewer], Flow[None]]
"""What an interviewer asks, from the first question to the last."""

CHANGED = "The workbook has changed since this was answered: it is asked once more from here."


class Sitting:
    """(state, event) → (state, prompt): `prompt` is what is waited for, `send` takes the event that answers it."""

    def __init__(
        self,
        run: Run,
        kept: Session,
        path: Path,
        judge: Judge | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`path` is the session's file, which is written from here on after each event.

        Raises WarpladderError where what it asks is no longer there.
        """
        self.kept = kept
        self.path = path
        self.prompt: Prompt | Work | None = None  # None: all is asked
        self._run = run
        self._judge = judge or WorkbookJudge()
        self._now = now
        self._seen = session.stamp(path)
        if kept.over:
            self.interviewer = Interviewer(kept, path, self._judge)
            return
        self._replay(kept.events)
        self.save()

    @property
    def entries(self) -> list[Placed]:
        """What there was to read, so far."""
        return self.interviewer.entries

    @property
    def seconds(self) -> float:
        """Of the candidate's time, that the open prompt has taken so far."""
        if not isinstance(self.prompt, Prompt) or not self.prompt.timed:
            return 0.0
        begun = self.kept.begun
        return (begun.seconds if begun is not None else 0.0) + self._now() - self._opened

    def reply(self, do: Do, typed: str = "") -> None:
        """Send what the candidate did about the open prompt. Raises WarpladderError where it cannot be kept."""
        assert isinstance(self.prompt, Prompt)
        typed = typed.encode("utf-8", "replace").decode()  # of a terminal that is told another encoding
        reply = Reply(self.prompt.step, do, typed, self.prompt.about, self.seconds)
        self.send(meant(reply, self.prompt.typed))

    def send(self, event: Event) -> None:
        """Go on to the next prompt. Raises WarpladderError where another program has written the session since."""
        self._check_file()
        if isinstance(event, Reply) and event.do == "back" and self.interviewer.can_take_back:
            self._take_back(event)
        else:
            self.kept.begun = None
            self._advance(event)
        self.save()

    def draft(self, typed: str) -> None:
        """Write down what is typed so far."""
        assert isinstance(self.prompt, Prompt)
        self.kept.begun = Begun(self.prompt.step, typed, self.seconds)
        self._opened = self._now()
        self.save()

    def leave(self) -> None:
        """Break off: of what was being typed, the time that it took is kept as well."""
        if isinstance(self.prompt, Prompt):
            self.draft(self.kept.begun.text if self.kept.begun is not None else self.prompt.typed)

    def save(self) -> None:
        """Write the session down. Raises WarpladderError where another program has written it since."""
        self._check_file()
        session.save(self.kept, self.path)
        self._seen = session.stamp(self.path)

    def _check_file(self) -> None:
        if session.stamp(self.path) != self._seen:
            raise WarpladderError(
                "another program has written this session since",
                file=self.path,
                remedy="go on in one of the two",
            )

    def _replay(self, events: list[Event]) -> None:
        """Begin anew, and send all these again."""
        self.kept.events, self.kept.answers, self.kept.elapsed_s = [], [], 0.0
        self.interviewer = Interviewer(self.kept, self.path, self._judge)
        self._flow = self._run(self.interviewer)
        self._next(None)
        for number, event in enumerate(events):
            if not self._fits(event):
                self.interviewer.say(CHANGED)
                break
            try:
                self._advance(event)
            except WarpladderError:  # such as a rung that there is no longer
                self._replay(events[:number])
                self.interviewer.say(CHANGED)
                return
        begun = self.kept.begun
        if isinstance(self.prompt, Prompt) and begun is not None and begun.step == self.prompt.step:
            left = self.prompt.left_s
            left = None if left is None else left - begun.seconds
            self.prompt = dataclasses.replace(self.prompt, typed=begun.text, left_s=left)
        else:
            self.kept.begun = None

    def _fits(self, event: Event) -> bool:
        """Whether an event answers the open prompt."""
        if isinstance(self.prompt, Prompt):
            asked = (
                isinstance(event, Reply)
                and event.do in FITTING[self.prompt.form]
                and event.about == self.prompt.about
            )
        else:
            asked = self.prompt is not None and not isinstance(event, Reply)
        return asked and self.prompt is not None and event.step == self.prompt.step

    def _advance(self, event: Event) -> None:
        self.kept.events.append(event)
        self._next(event)

    def _next(self, event: Event | None) -> None:
        """On to the next prompt."""
        self.prompt = None
        with suppress(StopIteration):
            self.prompt = next(self._flow) if event is None else self._flow.send(event)
        self.kept.elapsed_s = self.interviewer.clock.elapsed_s
        self.kept.over = self.prompt is None
        self._opened = self._now()
        if isinstance(self.prompt, Prompt) and self.prompt.form == "code":
            _write_once(self.prompt.starter, self.prompt.file)

    def _take_back(self, back: Reply) -> None:
        """Ask for the last answer again, beginning with what it was; the time that it took stays spent."""
        last, cut = self.kept.answers[-1], self.interviewer.taken_back
        typed = last.text if isinstance(last, Talk | Rated) else "" if isinstance(last, Code) else last.given
        spent = sum(event.seconds for event in self.kept.events[cut:] if isinstance(event, Reply))
        self.kept.begun = Begun(last.step, typed, spent + back.seconds)
        self._replay(self.kept.events[:cut])


def _write_once(text: str, file: Path) -> None:
    """Put a text where the candidate writes, unless something is there; raises WarpladderError."""
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError:
        return
    except OSError as error:
        raise WarpladderError(f"it cannot be written: {error.strerror}", file=file) from None
