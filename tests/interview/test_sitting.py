"""A session is what its events make of it: killed anywhere, gone on with anywhere, in a terminal or on a page."""

import asyncio
import dataclasses
from pathlib import Path

import little_interview
import msgspec
import pytest
from scripted_candidate import Candidate, sit
from test_session import NAIVE, SEED, WIDE, WRONG, Good, Judge

from grader.errors import WarpladderError
from grader.interview import session
from grader.interview.conversation import Conversation, begin
from grader.interview.interviewer import Interviewer
from grader.interview.loops.library import Library
from grader.interview.page.room import Room
from grader.interview.page.sittings import Single
from grader.interview.page.view import View
from grader.interview.prompts import Flow, Placed, Prompt, Work
from grader.interview.rounds import Interview, read_interview
from grader.interview.session import Event, Graded, Reply, Session
from grader.interview.sitting import CHANGED, Sitting
from grader.judge.runners.pool import silent
from grader.workbook import topics
from grader.workbook.topic import Topic


class Folder:
    """Where one interview is sat again and again."""

    def __init__(self, topic: Topic, folder: Path) -> None:
        self.topic = topic
        self.interview: Interview = read_interview(topic)
        self.path = folder / "interview.json"
        self.kernel = folder / "interview.cu"

    def begun(self) -> Session:
        """One in which nothing has been asked yet."""
        self.path.unlink(missing_ok=True)
        self.kernel.unlink(missing_ok=True)
        return msgspec.structs.replace(
            begin(self.interview, self.kernel, SEED, 0), started="2026-11-29T12:00:00+00:00"
        )

    def sitting(self, kept: Session | None = None) -> Sitting:
        """One that goes on; where nothing is said, from its file."""
        return Sitting(self.asks, kept or session.load(self.path), self.path, Judge(), lambda: 0.0)

    def asks(self, interviewer: Interviewer) -> Flow[None]:
        return Conversation(self.topic, interviewer).run()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(topics.load("copy", little_interview.write(tmp_path)), tmp_path)


@pytest.fixture
def events(folder: Folder) -> list[Event]:
    """An interview at a terminal, with a detour of every kind."""
    typed = {
        "opening": ["?", "It is bound", "It is bound by bandwidth."],
        "opening.0.probe": ["back"],
        "00_naive.limits": ["back"],
        "00_naive.now": ["many", "32"],
    }
    knows = Good(folder.interview)

    def says(asked: Prompt) -> str:
        waiting = typed.get(asked.step)
        return waiting.pop(0) if waiting else knows(asked)

    naive = [f"{WRONG}\n", "hint", f"{WRONG}\n", f"{NAIVE}\n"]
    candidate = Candidate(says, {"00_naive.code": naive, "01_wide.code": [f"{WIDE}\n"]})
    kept = sit(folder.asks, folder.begun(), folder.path, candidate, Judge(), lambda: 0.0)
    assert all(not waiting for waiting in typed.values())
    assert kept.over
    return kept.events


Moment = tuple[list[Placed], Prompt | str | None]


def moment(sitting: Sitting) -> Moment:
    """The transcript, and what is waited for."""
    waits = sitting.prompt
    return list(sitting.entries), waits.step if isinstance(waits, Work) else waits


def test_killed_after_any_event_it_resumes_to_the_same_transcript(
    folder: Folder, events: list[Event]
) -> None:
    assert len(events) > 30
    sitting = folder.sitting(folder.begun())
    for event in events:
        assert moment(folder.sitting()) == moment(sitting)
        sitting = folder.sitting()
        sitting.send(event)
    assert sitting.kept.over


def test_a_recorded_session_is_the_same_on_the_page(
    folder: Folder, events: list[Event], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And on a page that is killed after each answer."""
    monkeypatch.setenv("WARPLADDER_HOME", str(tmp_path / "home"))
    library = Library({"copy": folder.topic}, {}, {"copy": folder.interview}, {}, {})

    def entered(sitting: Sitting) -> Room:
        room = Room(library, folder.path.parent, Judge())
        asyncio.run(room.begin(lambda: Single(library, sitting)))
        return room

    at_a_terminal = folder.sitting(folder.begun())
    transcript = [moment(at_a_terminal)]
    for event in events:
        at_a_terminal.send(event)
        if isinstance(at_a_terminal.prompt, Prompt):
            transcript.append(moment(at_a_terminal))
    room = entered(folder.sitting(folder.begun()))
    for event, (entries, prompt) in zip(filter(is_reply, events), transcript, strict=True):
        assert isinstance(event, Reply)
        assert (list(View.of(room).entries), room.open) == (entries, prompt)
        room = entered(folder.sitting())
        assert (list(View.of(room).entries), room.open) == (entries, prompt)
        asyncio.run(room.answer(room.number, event.do, event.typed))
    assert room.ended is not None
    assert session.load(folder.path).events == events


def is_reply(event: Event) -> bool:
    return isinstance(event, Reply)


def test_what_the_workbook_asks_otherwise_by_now_is_asked_once_more(
    folder: Folder, events: list[Event]
) -> None:
    kept = folder.begun()
    renamed = [msgspec.structs.replace(event, step=event.step.replace("limits", "was")) for event in events]
    at = next(number for number, event in enumerate(renamed) if ".was" in event.step)
    sitting = folder.sitting(msgspec.structs.replace(kept, events=renamed))
    assert sitting.kept.events == renamed[:at]
    assert isinstance(sitting.prompt, Prompt)
    assert sitting.prompt.step == "00_naive.limits"
    assert CHANGED in str(sitting.entries[-1])


def test_an_answer_is_to_no_other_question_than_it_was_given_to(folder: Folder, events: list[Event]) -> None:
    at = next(number for number, event in enumerate(events) if event.step == "opening.0.probe")
    other = msgspec.structs.replace(events[at], about="another question")
    kept = msgspec.structs.replace(folder.begun(), events=[*events[:at], other, *events[at + 1 :]])
    sitting = folder.sitting(kept)
    assert sitting.kept.events == events[:at]
    assert CHANGED in str(sitting.entries[-1])


def test_a_rung_that_there_is_no_longer_is_asked_for_once_more(folder: Folder, events: list[Event]) -> None:
    at = max(number for number, event in enumerate(events) if isinstance(event, Graded))
    gone = dataclasses.replace(events[at].grade, rung_reached="99_gone")
    kept = msgspec.structs.replace(folder.begun(), events=[*events[:at], Graded(events[at].step, gone)])
    sitting = folder.sitting(kept)
    assert sitting.kept.events == events[:at]
    assert isinstance(sitting.prompt, Work)
    assert CHANGED in str(sitting.entries[-1])


def test_what_was_sent_is_judged_whatever_has_become_of_the_file(folder: Folder, events: list[Event]) -> None:
    at = next(number for number, event in enumerate(events) if isinstance(event, Graded))
    sitting = folder.sitting(msgspec.structs.replace(folder.begun(), events=events[:at]))
    folder.kernel.write_text(f"{WIDE}\n")
    assert isinstance(sitting.prompt, Work)
    found = sitting.prompt.do(silent)
    assert isinstance(found, Graded)
    assert (found.grade.verdict, found.grade.file) == ("fail", str(folder.kernel))


def test_bytes_that_are_no_text_cost_no_answer(folder: Folder) -> None:
    sitting = folder.sitting(folder.begun())
    sitting.reply("send", "caf\udce9")
    assert folder.sitting().kept.events[0].typed == "caf?"  # type: ignore[union-attr]


def test_sessions_of_the_version_before_are_read_where_they_are_over(folder: Folder) -> None:
    kept = msgspec.structs.replace(folder.begun(), schema=session.BEFORE, over=True)
    session.save(kept, folder.path)
    assert session.load(folder.path).over
    session.save(msgspec.structs.replace(kept, over=False), folder.path)
    with pytest.raises(WarpladderError, match="cannot be continued"):
        session.load(folder.path)
