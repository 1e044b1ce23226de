"""What the room does with an answer, a draft and a file, without a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from grader.interview import session
from grader.interview.interviewer import Interviewer, WorkbookJudge
from grader.interview.loops.library import Library
from grader.interview.page.room import EMPTY, Room
from grader.interview.page.sittings import Single
from grader.interview.page.view import View
from grader.interview.prompts import Flow, Given, Prompt, Said
from grader.interview.sitting import Sitting

NOTHING = Library({}, {}, {}, {}, {})
Asks = Callable[[Interviewer], Flow[None]]


def entered(asks: Asks, folder: Path, now: Callable[[], float] = lambda: 0.0, minutes: float = 0) -> Room:
    """A room in which somebody sits who is asked that."""
    kept = session.begin("quiz", "A quiz", [], 1, minutes)
    room = Room(NOTHING, folder, WorkbookJudge("emulator"))
    sitting = Sitting(asks, kept, folder / "quiz-1.json", room.judge, now)
    done(room.begin(lambda: Single(NOTHING, sitting)))
    return room


def done(request: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(request)


def shown(room: Room) -> Prompt:
    assert isinstance(room.open, Prompt)
    return room.open


def events(room: Room) -> list[tuple[str, str]]:
    """What was done, and what was typed with it."""
    return [
        (event.do, event.typed)
        for event in session.load(room.folder / "quiz-1.json").events
        if isinstance(event, session.Reply)
    ]


def prose(asks: Interviewer) -> Flow[None]:
    yield from asks.typed(
        asks.prompt("copies", "talk", "Copies", "How fast is a copy?"), str, "Say how fast."
    )
    yield from asks.go_on()


def figure(asks: Interviewer) -> Flow[None]:
    yield from asks.figure("bytes", "Bytes", "How many bytes?", "", 12.0, 0.0, "")


def version(asks: Interviewer) -> Flow[None]:
    file = asks.path.with_name("copy.cu")
    while True:
        yield from asks.asked(Prompt("write", "code", "Write it", file=file, starter="// the starter\n"))


def test_prose_has_a_unix_machines_ends_of_lines(tmp_path: Path) -> None:
    room = entered(prose, tmp_path)
    done(room.answer(room.number, "send", "By bandwidth.\r\nAlone."))
    assert events(room) == [("send", "By bandwidth.\nAlone.")]


@pytest.mark.parametrize("do", ["clarify", "back"])
def test_what_is_typed_is_still_there_where_the_question_stays(tmp_path: Path, do: str) -> None:
    room = entered(prose, tmp_path)
    done(room.answer(room.number, do, "half a sentence"))
    assert (shown(room).form, shown(room).typed) == ("talk", "half a sentence")


def test_an_answer_is_for_the_question_that_it_was_typed_to(tmp_path: Path) -> None:
    room = entered(figure, tmp_path)
    number = room.number
    done(room.answer(number - 1, "send", "to the one before"))
    done(room.answer(number, "grade", "of another kind"))
    done(room.answer(number, "send or so", "of no kind"))
    done(room.answer(number, "send", "12"))
    done(room.answer(number, "send", "13"))
    assert events(room) == [("send", "12")]


def test_an_empty_answer_is_no_way_on(tmp_path: Path) -> None:
    room = entered(figure, tmp_path)
    done(room.answer(room.number, "send", " \n"))
    assert shown(room).complaint == EMPTY
    done(room.answer(room.number, "send", "12"))
    assert events(room) == [("send", "12")]


def test_a_complaint_stands_beside_what_was_typed(tmp_path: Path) -> None:
    room = entered(figure, tmp_path)
    done(room.answer(room.number, "send", "many"))
    assert shown(room).typed == "many"
    assert "many" in shown(room).complaint


def test_drafts_are_written_for_what_is_open(tmp_path: Path) -> None:
    room = entered(prose, tmp_path)
    assert done(room.draft(room.number, "It is bound"))
    assert not done(room.draft(room.number + 1, "to another"))
    kept = session.load(tmp_path / "quiz-1.json")
    assert kept.begun is not None
    assert kept.begun.text == "It is bound"
    assert shown(room).typed == "It is bound"


def test_code_is_written_into_the_file_that_is_judged(tmp_path: Path) -> None:
    room, file = entered(version, tmp_path), tmp_path / "copy.cu"
    assert room.source == file.read_text() == "// the starter\n"
    assert done(room.draft(room.number, "// half\r\n"))
    assert file.read_text() == "// half\n"
    done(room.answer(room.number, "grade", "// whole\r\nint x;\r\n"))
    assert file.read_text() == "// whole\nint x;\n"
    assert events(room) == [("grade", "// whole\nint x;\n")]


def test_a_file_that_another_editor_has_written_is_not_written_over(tmp_path: Path) -> None:
    room, file = entered(version, tmp_path), tmp_path / "copy.cu"
    file.write_text("// by another editor\n")
    done(room.answer(room.number, "grade", "// the starter\r\n"))
    assert events(room) == [("grade", "// by another editor\n")]


def test_a_version_that_cannot_be_written_is_not_graded(tmp_path: Path) -> None:
    room, file = entered(version, tmp_path), tmp_path / "copy.cu"
    file.unlink()
    file.mkdir()
    done(room.answer(room.number, "grade", "// whole"))
    assert "cannot be written: Is a directory" in shown(room).complaint
    assert events(room) == []


def test_the_clock_stands_still_between_questions(tmp_path: Path) -> None:
    now = [100.0]

    def both(asks: Interviewer) -> Flow[None]:
        yield from prose(asks)
        yield from figure(asks)

    room = entered(both, tmp_path, lambda: now[0], minutes=1.5)
    now[0] += 30
    assert View.of(room).left_s == 60
    done(room.answer(room.number, "send", "12"))
    now[0] += 1000
    assert View.of(room).left_s == 60
    done(room.answer(room.number, "go", ""))
    now[0] += 10
    assert View.of(room).left_s == 50


def test_what_a_question_is_about_stays_beside_it_and_the_rest_goes(tmp_path: Path) -> None:
    def about(asks: Interviewer) -> Flow[None]:
        asks.show(Given("A kernel", "It copies."))
        for _ in range(2):
            asks.say("Something in between.")
            yield from prose(asks)
        yield from prose(asks)

    room = entered(about, tmp_path)
    for do, typed in (("send", "By bandwidth."), ("go", "")) * 2:
        done(room.answer(room.number, do, typed))
    view = View.of(room)
    assert view.given == [Given("A kernel", "It copies.")]
    assert view.came == []
    assert [type(entry).__name__ for entry in view.earlier] == ["Said", "Answered"] * 2
    assert Said("", "Something in between.") in view.earlier
