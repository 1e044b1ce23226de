"""A room on the little workbook, and a browser that sends what is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import little_interview
import pytest
from starlette.testclient import TestClient

from grader.history import remedies
from grader.interview import bank, rounds
from grader.interview.drills import drill
from grader.interview.interviewer import WorkbookJudge
from grader.interview.loops import library, plan
from grader.interview.loops.library import Library
from grader.interview.page.app import site
from grader.interview.page.room import Room
from grader.workbook import content, topics

HOST, TOKEN = "127.0.0.1:8000", "the-token"
ORIGIN = {"origin": f"http://{HOST}"}


def little_workbook(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have everything below `folder`: the workbook, the history, and the current folder, `here`."""
    root = little_interview.write(folder / "workbook")
    for module in (bank, content, rounds, drill, remedies, topics, plan):
        monkeypatch.setattr(module, "content_root", lambda: root)
    monkeypatch.setenv("WARPLADDER_HOME", str(folder / "home"))
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")


class Visitor:
    """A browser at a room, without scripts."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.client = TestClient(site(room).application({HOST}, TOKEN), base_url=f"http://{HOST}")
        self.page = self.client.get("/", params={"token": TOKEN}).text

    def send(self, address: str, **fields: str) -> str:
        """A form, and the page that comes of it."""
        self.page = self.client.post(address, data=fields, headers=ORIGIN).text
        return self.page

    def answer(self, do: str, typed: str = "") -> str:
        """What is asked now, answered."""
        return self.send("/answer", number=self.number, do=do, typed=typed)

    @property
    def number(self) -> str:
        found = re.search(r'name="number" value="(\d+)"', self.page)
        assert found is not None, self.page
        return found[1]

    @property
    def form(self) -> str:
        """What is wanted now; "" where nothing is."""
        found = re.search(r'data-form="(\w+)"', self.page)
        return found[1] if found else ""

    @property
    def field(self) -> str:
        """What is in the field for prose or code."""
        found = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", self.page, re.DOTALL)
        assert found is not None, self.page
        return unescape(found[1])


@contextmanager
def opened(has: Library | None = None) -> Iterator[Visitor]:
    """A visitor of a new room in the current folder."""
    yield Visitor(Room(has or library.discover(topics.discover()), Path(), WorkbookJudge("emulator")))
