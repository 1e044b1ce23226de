"""The terminal as an interviewer's frontend: shows questions, reads answers."""

from __future__ import annotations

import contextlib
import itertools
import select
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.cli.options import lines_of
from grader.interview import credit
from grader.interview.commands.paging import Pages
from grader.interview.interviewer import WORDS
from grader.interview.prompts import Prompt
from grader.interview.reports import interviews
from grader.interview.session import Do, Figure, Session
from grader.judge.runners.pool import Progress
from grader.report import progress
from grader.results import Grade
from grader.workbook.topic import Topic

try:
    import readline  # arrow keys and corrections while typing
except ImportError:
    readline = None  # type: ignore[assignment]

_SKIP = WORDS["skip"]
ACTIONS: dict[str, Do] = {
    **dict.fromkeys(("", "g", "grade"), "grade"),
    **dict.fromkeys(("h", "hint"), "hint"),
    **dict.fromkeys(("s", *_SKIP), "skip"),
}
ALONE = ("？", *itertools.chain(*WORDS.values()))
"""What is an answer by itself."""
LEAVE_PAGE = "(q goes on)"
PASTED_S = 0.05
"""What is pasted arrives faster than this, and nobody types so fast."""
RATINGS: dict[str, Do] = {
    **dict.fromkeys(("y", "yes"), "yes"),
    **dict.fromkeys(("p", "partly"), "partly"),
    **dict.fromkeys(("n", "no"), "no"),
    **dict.fromkeys(("", *_SKIP), "pass"),
}


class Terminal:
    """A candidate at a terminal. `topics` are those that code may be asked of."""

    def __init__(self, console: Console, topics: Mapping[str, Topic]) -> None:
        self.console = interviews.prepare(console)
        self.topics = topics
        self._shown = ""  # the step of the last question
        self._lines: list[str] = []  # of the answer that is being typed

    def welcome(self, kept: Session, path: Path) -> None:
        """What is about to happen, and where it is kept."""
        self.console.print(interviews.welcome(kept, path))

    def left(self, command: str) -> None:
        """The candidate broke off; `command` goes on."""
        with contextlib.suppress(OSError):  # a window that was closed
            self.console.print(interviews.left(command), crop=False)

    def say(self, text: str, title: str = "") -> None:
        """See Frontend. What is higher than the screen is paged first, so that its top does not scroll away."""
        shown = interviews.said(text, title)
        if self._interactive() and len(self.console.render_lines(shown)) >= self.console.height:
            with self.console.pager(Pages()):
                self.console.print(shown, "\n", LEAVE_PAGE)
        self.console.print(shown)

    def talk(self, asked: Prompt) -> str:
        """Lines up to an empty one, after those that were typed before; or a single `?`, `skip` or `back`."""
        self._ask(asked)
        self._print(f"Your answer, ended by an empty line; or {_words(asked)}:")
        self._lines = lines = asked.typed.splitlines()
        for line in lines:
            self._print(f"> {line}")
        before = len(lines)
        try:
            while (line := (self.input() if lines else self._answer()).strip()) or (
                lines and _more_is_typed()
            ):
                if len(lines) == before and line.lower() in ALONE:
                    self._lines = []
                    return line
                lines.append(line)
        except KeyboardInterrupt:
            lines += filter(None, [_half_a_line()])
            raise
        self._lines = []
        return "\n".join(lines)

    def begun(self) -> str:
        """See Frontend."""
        return "\n".join(self._lines)

    def line(self, asked: Prompt) -> str:
        """A line; the question is not repeated after one that could not be read."""
        self._ask(asked)
        if asked.complaint:
            self._print(asked.complaint, "red")
        self._print(f"{asked.wanted}; or {_words(asked)}:")
        if asked.complaint or not asked.typed:
            return self._answer()
        self._print(f"Enter keeps what you typed: {asked.typed}")
        return self.input().strip() or asked.typed

    def checked(self, title: str, points: Sequence[credit.Point]) -> None:
        """See Frontend."""
        self.console.print(interviews.checked(title, points))

    def figured(self, figure: Figure) -> None:
        """See Frontend."""
        self.console.print(interviews.figure(figure))

    def code(self, asked: Prompt) -> Do:
        """A key, once the candidate has left the editor."""
        assert asked.draft is not None
        self._ask(asked)
        self.console.print(interviews.code_prompt(str(asked.file), asked.draft, asked.left_s))
        while (action := ACTIONS.get(self.input().strip().lower())) is None:
            self._print("Enter has the file graded, h is a hint, s goes on without.", "red")
        return action

    def grading(self, file: Path) -> AbstractContextManager[Progress]:
        """See Frontend."""
        return progress.of_stages(file.name)

    def judged(self, result: Grade, rung: str) -> None:
        """See Frontend."""
        source = lines_of(Path(result.file))
        self.console.print(interviews.graded(result, rung, self.topics[result.topic], source), crop=False)

    def mended(self, result: Grade, said: str) -> None:
        """See Frontend."""
        shown = interviews.mended(result, said, lines_of(Path(result.file)))
        self.console.print(shown, crop=False)

    def rate(self, answer: str, said: str) -> Do:
        """What was said, the model answer, and a key; Enter passes."""
        self.say(said, "You said")
        self.say(answer, "A senior engineer would say")
        self._print("Did you say what the senior engineer says? y: yes, p: partly, n: no, or Enter")
        while (typed := self.input().strip().lower()) not in RATINGS:
            self._print("y, p or n: you rate your own answer, for yourself; it is not in the score.", "red")
        return RATINGS[typed]

    def _ask(self, asked: Prompt) -> None:
        """Show a question, once."""
        if asked.step != self._shown:
            self.console.print(interviews.question(asked))
            self._shown = asked.step

    def _interactive(self) -> bool:
        """Whether there is a person who can turn pages: what is shown and what is typed are one terminal's."""
        return (
            self.console.is_terminal
            and not self.console.is_dumb_terminal
            and self._on_stdout()
            and sys.stdin.isatty()
        )

    def _on_stdout(self) -> bool:
        """Whether questions are on standard output, which JSON may have for itself."""
        return self.console.file is getattr(sys.stdout, "beneath", sys.stdout)

    def input(self) -> str:
        """A line; where standard output is for JSON alone, its prompt is on standard error."""
        if self._on_stdout():
            return input("> ")
        self.console.print("> ", end="")
        return input()

    def _answer(self) -> str:
        """A line; an empty one only if it is meant, since an Enter too many would give a question away."""
        if line := self.input().strip():
            return line
        self._print("No answer? Enter once more goes on without.")
        return self.input()

    def _print(self, text: str, style: str = "dim") -> None:
        self.console.print(Text(text, style))


def _words(asked: Prompt) -> str:
    """What may be typed in the place of an answer: `back` where there is a way back."""
    known = [words[0] for do, words in WORDS.items() if do != "back" or asked.back]
    return ", ".join(known)


def _more_is_typed() -> bool:
    """Whether the terminal has more to read at once: then an answer was pasted, and an empty line does not end it."""
    return sys.stdin.isatty() and bool(select.select([sys.stdin], [], [], PASTED_S)[0])


def _half_a_line() -> str:
    """What was typed of a line that was broken off."""
    return readline.get_line_buffer().strip() if readline is not None else ""
