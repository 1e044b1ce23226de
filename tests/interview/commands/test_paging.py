"""What is higher than the screen is paged where a person reads it, and nowhere else."""

from __future__ import annotations

import functools
import io
import os
import pty
import select
import shutil
import subprocess
import sys
import termios

import pytest

from grader.interview.commands.frontend import Terminal
from grader.interview.commands.paging import Pages
from grader.report.terminal import terminal

BROKEN_OFF = 3
LONG, SHORT = "\n\n".join(f"Line {number}." for number in range(40)), "A line."


class Screen(io.StringIO):
    """What a terminal shows, or a file that is written to."""

    def __init__(self, person: bool) -> None:
        super().__init__()
        self._person = person

    def isatty(self) -> bool:
        return self._person


@pytest.mark.parametrize(
    ("text", "person", "on_stdout", "paged"),
    [
        (LONG, True, True, 1),
        (SHORT, True, True, 0),  # it fits
        (LONG, False, True, 0),  # nobody is there to turn pages
        (LONG, True, False, 0),  # standard output is for JSON alone
    ],
)
def test_a_page_that_is_higher_than_the_screen(
    text: str, person: bool, on_stdout: bool, paged: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen, pages = Screen(person), list[str]()
    monkeypatch.setattr(sys, "stdout", screen if on_stdout else Screen(person))
    monkeypatch.setattr(sys, "stdin", Screen(person))
    monkeypatch.setattr(Pages, "show", lambda self, text: pages.append(text))
    monkeypatch.setenv("TERM", "xterm")
    console = terminal(file=screen, width=80, height=24, color_system=None)
    Terminal(console, {}).say(text, "A page")
    assert len(pages) == paged
    assert all("Line 0." in page and "Line 39." in page and "q goes on" in page for page in pages)
    shown = screen.getvalue()
    assert shown.count("A page") == 1  # and it stays where one can scroll back to it
    assert "q goes on" not in shown


READS = f"""
import signal, sys
from grader.interview.commands.paging import Pages
for each in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(each, signal.default_int_handler)
try:
    Pages().show("Line.\\n" * 100)
except KeyboardInterrupt:
    sys.exit({BROKEN_OFF})
"""


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")
@pytest.mark.parametrize(
    ("pager", "by"),
    [
        ("less", "Ctrl-C"),
        ("less -+K", "Ctrl-C"),  # this one keeps it for itself
        ("less", "kill"),
        ("less", "a closed window"),
    ],
)
def test_a_page_is_broken_off_as_anything_else(pager: str, by: str) -> None:
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", READS], preexec_fn=functools.partial(os.login_tty, terminal),
        env={**os.environ, "PAGER": pager, "MANPAGER": "", "TERM": "xterm", "LINES": "24", "COLUMNS": "80"},
    )  # fmt: skip
    os.set_blocking(master, False)
    with os.fdopen(master, "r+b", buffering=0) as keyboard:
        shown = b""
        while b"\x1b[K" not in shown[-20:]:  # less waits at its prompt
            select.select([master], [], [])
            shown += keyboard.read(1 << 16)
        if by == "Ctrl-C":
            keyboard.write(b"\x03")
        elif by == "kill":
            process.terminate()
        if by != "a closed window":
            while process.poll() is None:
                if select.select([master], [], [], 0.05)[0]:
                    keyboard.read(1 << 16)
            assert termios.tcgetattr(terminal)[3] & termios.ECHO  # what is typed next is seen
    os.close(terminal)
    assert process.wait(60) == BROKEN_OFF
