"""`ladder grade --watch`: each save is tried at once, and Ctrl-C ends it with all that it started."""

import io
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from rich.console import Console
from terminals import may_be_interrupted
from test_commands import Ladder, ladder

from grader.cli.watching import WAITING, Watching, stamp
from grader.errors import WarpladderError
from grader.workbook import topics
from grader.workbook.content import content_root

__all__ = ["ladder"]

RIGHT = (content_root() / "kernels/optimized/transpose/02_shared_tile.cu").read_text()
WRONG = RIGHT.replace("= tile[x][y]", "= tile[x][y] + 1")
UNREADABLE = RIGHT.replace("constexpr int TILE = 32;", "constexpr int TILE = many;")
WRONG_LINE = next(n for n, text in enumerate(UNREADABLE.splitlines(), 1) if "= many;" in text)
PATIENCE_S = 240


class Watched:
    """A watch in a process of its own, and what it says."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "mine.cu"
        self.file.write_text(RIGHT)
        command = [sys.executable, "-m", "grader", "grade", "transpose", "mine.cu", "--device", "emulator"]
        self.process = subprocess.Popen(
            [*command, "--watch", "--problems"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=may_be_interrupted,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "80"},
        )
        self.said: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.put(line)

    def until(self, text: str) -> str:
        """All that it says up to a line with `text`."""
        shown = ""
        while text not in shown:
            shown += self.said.get(timeout=PATIENCE_S)
        return shown

    def save(self, source: str) -> None:
        """As editors do it: a new file takes the name."""
        draft = self.file.with_suffix(".draft")
        draft.write_text(source)
        draft.replace(self.file)

    def descendants(self) -> list[int]:
        found, left = [], [self.process.pid]
        while left:
            for task in Path(f"/proc/{left.pop()}/task").glob("*"):
                left += (children := [int(pid) for pid in (task / "children").read_text().split()])
                found += children
        return found


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    watch = Watched(tmp_path)
    yield watch
    watch.process.kill()
    watch.process.wait()


@pytest.mark.verify
def test_each_save_is_tried_and_an_interrupt_ends_all(watched: Watched) -> None:
    assert "right so far: 40 public cases" in watched.until("Next: ")
    watched.save(WRONG)
    assert "right so far" not in watched.until("again: ladder grade transpose mine.cu --set")
    watched.save(UNREADABLE)
    assert 'identifier "many" is undefined' in watched.until(f"mine.cu:{WRONG_LINE}: error: ")
    watched.save(RIGHT)
    watched.until("right so far")
    children = watched.descendants()
    assert children
    watched.process.send_signal(signal.SIGINT)
    assert "Traceback" not in watched.until("Stopped watching.")
    assert watched.process.wait(PATIENCE_S) == 0
    deadline = time.monotonic() + PATIENCE_S
    while any(_runs(pid) for pid in children):
        assert time.monotonic() < deadline, "something that it started is left"
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class NoGrade:
    """A grade's process that has ended without one."""

    ended = True

    def result(self) -> NoReturn:
        raise WarpladderError("no grade: there is no such file")

    def close(self) -> None:
        """It has ended."""


def test_a_grade_that_does_not_come_does_not_end_the_watch(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=80)
    watching = Watching(console, topics.load("transpose"), tmp_path / "mine.cu", [], list_problems=False)
    watching._grading = NoGrade()  # type: ignore[assignment]
    watching._follow()
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert "no grade: there is no such file" in said
    assert said.rstrip().endswith(WAITING)
    assert watching._grading is None


def test_a_file_that_takes_the_name_is_a_save(tmp_path: Path) -> None:
    file, draft = tmp_path / "mine.cu", tmp_path / "draft"
    assert stamp(file) is None
    file.write_text("same")
    before = stamp(file)
    assert stamp(file) == before
    draft.write_text("same")
    os.utime(draft, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    draft.replace(file)
    assert stamp(file) != before


def test_problems_are_a_line_each(ladder: Ladder) -> None:
    Path("mine.cu").write_text(UNREADABLE)
    done = ladder("grade", "transpose", "mine.cu", "--device", "emulator", "--problems")
    assert done.code == 2
    (line,) = [line for line in done.out.splitlines() if line.startswith(f"mine.cu:{WRONG_LINE}: error: ")]
    assert 'identifier "many" is undefined' in line


def test_a_watch_needs_a_file_and_writes_none(ladder: Ladder) -> None:
    assert "`ladder new transpose` makes one" in ladder("grade", "transpose", "absent.cu", "--watch").err
    Path("mine.cu").write_text(RIGHT)
    done = ladder("grade", "transpose", "mine.cu", "--watch", "--json", "-")
    assert (done.code, "leave out --json" in done.err) == (2, True)
