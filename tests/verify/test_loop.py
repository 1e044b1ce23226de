"""A whole day of interviews in a terminal, killed again and again: it goes on where it stood, and no answer is lost."""

import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.interview import session
from grader.interview.session import Rated, Session, Talk

SEED = 3

# The last of these that stands before a prompt says what is to be typed.
TYPED = {
    "Enter to begin": "",
    "Your answer, ended by an empty line": "TALK",
    "A letter, ": "a",
    "letters": "skip",
    "A number": "1",
    "The number of a line": "1",
    "go on without": "s",  # where code is asked for
    "y: yes, p: partly, n: no": "n",
    "No answer?": "",
}


class Candidate:
    """Types into `ladder loop`, and says something else in each answer in prose."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: list[str] = []

    def sit(self, arguments: list[str], prompts: int | None) -> int | None:
        """Answer so many prompts, then kill it; None: to the end. Returns the exit code, None where it was killed."""
        process = subprocess.Popen(
            [sys.executable, "-m", "grader", "loop", *arguments], cwd=self.folder, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "80"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin is not None
        with process:
            while (shown := self._until_prompt(process)) is not None:
                if prompts is not None and (prompts := prompts - 1) < 0:
                    process.send_signal(signal.SIGKILL)
                    return None
                process.stdin.write(self._answer(shown))
                process.stdin.flush()
        return process.returncode

    def _until_prompt(self, process: "subprocess.Popen[str]") -> str | None:
        """What is shown up to the next prompt; None: there is none."""
        assert process.stdout is not None
        shown = ""
        while not shown.endswith("\n> "):
            if not (letter := process.stdout.read(1)):
                return None
            shown += letter
        return shown

    def _answer(self, shown: str) -> str:
        place, key = max((shown.rfind(key), key) for key in TYPED)
        assert place >= 0, shown
        if TYPED[key] != "TALK":
            return f"{TYPED[key]}\n"
        self.said.append(f"Answer {len(self.said)}: it depends on the bandwidth.")
        return f"{self.said[-1]}\n\n"


def kept(folder: Path) -> dict[str, Session]:
    return {path.name: session.load(path) for path in sorted(folder.glob("?-*.json"))}


@pytest.mark.verify
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.soak(area="interview"))])
def test_a_day_that_is_killed_loses_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    monkeypatch.setenv("WARPLADDER_HOME", str(tmp_path / "home"))
    candidate, draw = Candidate(tmp_path), random.Random(SEED)
    begin = ["--level", "junior", "--style", "kernels", "--seed", str(SEED)]
    assert candidate.sit(begin, draw.randrange(1, 8)) is None
    before: dict[str, Session] = {}
    for _ in range(kills - 1):
        assert candidate.sit(["--resume", "loop-1"], draw.randrange(1, 8)) is None
        now = kept(tmp_path / "loop-1")
        for name, earlier in before.items():
            steps = [answer.step for answer in now[name].answers]
            assert steps[: len(earlier.answers)] == [answer.step for answer in earlier.answers]
        before = now
    assert candidate.sit(["--resume", "loop-1"], None) == 0
    sessions = kept(tmp_path / "loop-1")
    assert all(each.over for each in sessions.values())
    said = [
        answer.text
        for each in sessions.values()
        for answer in each.answers
        if isinstance(answer, Talk | Rated) and answer.text
    ]
    assert said == candidate.said
    for each in sessions.values():
        steps = [answer.step for answer in each.answers]
        assert len(steps) == len(set(steps))
    assert re.search(
        r"answers? checked on 1 day",
        subprocess.run(
            [sys.executable, "-m", "grader", "progress"], capture_output=True, text=True, check=True
        ).stdout,
    )
