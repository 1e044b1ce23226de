"""Folders that go with the process that made them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.sandbox import scratch
from grader.sandbox.scratch import PREFIX, Scratch, sweep

MAKES = """
import sys
from pathlib import Path
from grader.sandbox.scratch import Scratch
made = Scratch(Path(sys.argv[1]))
(made.path / "left").touch()
print(made.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path: Path) -> subprocess.Popen[str]:
    """Another process, which has a folder until it is told to end."""
    command = [sys.executable, "-P", "-c", MAKES, str(tmp_path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_folder_is_removed_when_it_is_closed(tmp_path: Path) -> None:
    with Scratch(tmp_path) as folder:
        (folder / "file").touch()
        assert folder.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_leaves_goes_with_the_next(
    tmp_path: Path, other: subprocess.Popen[str]
) -> None:
    assert other.stdout is not None
    left = Path(other.stdout.readline().strip())
    sweep(tmp_path)
    assert (left / "left").exists(), "its process lives"
    other.kill()
    other.communicate()
    assert left.exists(), "a killed process removes nothing"
    scratch._sweep_once.cache_clear()
    with Scratch(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]


def test_a_folder_that_was_swept_away_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, swept = scratch._open, list[Path]()

    def swept_first(path: Path) -> int:
        if not swept:
            swept.append(path)
            path.rmdir()
        return real(path)

    monkeypatch.setattr(scratch, "_open", swept_first)
    with Scratch(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]


def test_nothing_else_is_removed(tmp_path: Path) -> None:
    aims = tmp_path / "aims"
    aims.mkdir()
    (tmp_path / "warpladder-main").mkdir()
    (tmp_path / f"{PREFIX}of-my-own").mkdir()
    (tmp_path / f"{PREFIX}abcdefgh").symlink_to(aims)
    (tmp_path / f"{PREFIX}12345678").touch()
    before = set(tmp_path.iterdir())
    sweep(tmp_path)
    assert set(tmp_path.iterdir()) == before
