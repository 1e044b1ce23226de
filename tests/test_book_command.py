"""`ladder book`."""

from __future__ import annotations

import os
import subprocess
import sys
import webbrowser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader import book
from grader.errors import WarpladderError
from grader.ladder import app


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "Makefile").touch()
    (tmp_path / book.PAGES).mkdir(parents=True)
    monkeypatch.setattr(book, "ROOT", tmp_path)
    return tmp_path


def test_pages_are_built_where_there_are_none_and_opened(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []
    opened: list[str] = []

    def make(command: list[str]) -> int:
        built.append(command[-1])
        (clone / book.LAST).touch()
        return 0

    monkeypatch.setattr(book, "_made", make)
    monkeypatch.setattr(webbrowser, "open", opened.append)
    address = (clone / book.FIRST).as_uri()
    for arguments in (["book"], ["book"], ["book", "--anew"]):
        assert CliRunner().invoke(app, arguments).output == f"{address}\n"
    assert built == ["pages", "pages"]
    assert opened == 3 * [address]


def test_a_book_that_cannot_be_built_is_an_error(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "_made", lambda _: 2)
    with pytest.raises(WarpladderError, match="could not be built"):
        book.page()
    monkeypatch.undo()
    monkeypatch.setattr(book, "ROOT", clone)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(WarpladderError, match="there is no make"):
        book.page()
    (clone / "Makefile").unlink()
    with pytest.raises(WarpladderError, match="in a clone"):
        book.page()


def test_what_builds_the_book_ends_with_the_command(tmp_path: Path) -> None:
    rule = "pages:\n\t@sleep 120 & echo begun; wait\n"
    (tmp_path / "Makefile").write_text(rule)
    code = (
        f"from pathlib import Path; from grader import book; book.ROOT = Path({str(tmp_path)!r}); book.page()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        process.communicate(timeout=30)  # the pipe ends when all that could write to it have


def test_where_there_is_no_terminal_it_is_said_how_many_pages_there_are(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    left = clone / book.READ / "left_over.doctree"  # of an earlier book
    left.parent.mkdir()
    left.touch()
    os.utime(left, (0, 0))
    monkeypatch.setattr(book, "EVERY", 0.1)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # this process is the tests'
    steps = (
        f"touch {book.READ}/one.doctree {book.READ}/two.doctree; sleep 0.3; "
        f"touch {book.PAGES}/one.html {book.PAGES}/search.html; sleep 0.3"
    )
    assert book._made(["sh", "-c", steps]) == 0
    said = [line.split(": ")[1] for line in capfd.readouterr().err.splitlines()]
    assert list(dict.fromkeys(said)) == ["2 pages read", "1 of 2 pages written"]
