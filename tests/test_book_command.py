"""`ladder book`."""

from __future__ import annotations

import subprocess
import webbrowser
from pathlib import Path
from typing import Any

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
    built, opened = [], []

    def make(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        built.append(command[-1])
        (clone / book.LAST).touch()
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", make)
    monkeypatch.setattr(webbrowser, "open", opened.append)
    address = (clone / book.FIRST).as_uri()
    for arguments in (["book"], ["book"], ["book", "--anew"]):
        assert CliRunner().invoke(app, arguments).output == f"{address}\n"
    assert built == ["pages", "pages"]
    assert opened == 3 * [address]


def test_a_book_that_cannot_be_built_is_an_error(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 2))
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
