"""The rendezvous: an interviewer on one thread, requests on others."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.interview.room import Asked
from grader.interview.session import Code
from grader.room.candidate import EMPTY, Candidate
from grader.room.transcript import Answered, Open, Said

ASKED = Asked("copies", "Question 1 of 1", "How fast is a copy?", 90.0)
DRAFT = Code("copy", "", "copy", "", "", None, None, None, 0.0, 0, False, None, None, 0.0)


class Waiting:
    """A call that waits for an answer, on a thread of its own."""

    def __init__(self, candidate: Candidate, call: Callable[[], Any]) -> None:
        self.result: Any = None
        version = candidate.view().version

        def run() -> None:
            try:
                self.result = call()
            except EOFError as error:
                self.result = error

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        candidate.changed(version, 5)
        found = candidate.view().open
        assert found is not None
        self.number = found.number

    def done(self) -> Any:
        self._thread.join(5)
        assert not self._thread.is_alive()
        return self.result


@pytest.fixture
def candidate() -> Candidate:
    return Candidate({})


def test_prose_waits_for_an_answer_and_is_read_again_later(candidate: Candidate) -> None:
    asking = Waiting(candidate, lambda: candidate.talk(ASKED))
    assert candidate.answer(asking.number, "send", "By bandwidth.\r\nAlone.")
    assert asking.done() == "By bandwidth.\nAlone."
    entries = [placed.entry for placed in candidate.view().entries]
    assert entries == [Answered("How fast is a copy?", "By bandwidth.\nAlone.", True)]


@pytest.mark.parametrize(("do", "means"), [("clarify", "?"), ("skip", "skip"), ("back", "back")])
def test_buttons_stand_for_words(candidate: Candidate, do: str, means: str) -> None:
    asking = Waiting(candidate, lambda: candidate.talk(ASKED))
    assert candidate.answer(asking.number, do, "half a sentence")
    assert asking.done() == means


def test_what_is_typed_is_still_there_after_a_clarification(candidate: Candidate) -> None:
    asking = Waiting(candidate, lambda: candidate.talk(ASKED))
    candidate.answer(asking.number, "clarify", "half a sentence")
    asking.done()
    again = Waiting(candidate, lambda: candidate.talk(ASKED))
    shown = candidate.view().open
    assert shown is not None
    assert shown.typed == "half a sentence"
    candidate.leave()
    again.done()


def test_an_answer_is_for_the_question_that_it_was_typed_to(candidate: Candidate) -> None:
    asking = Waiting(candidate, lambda: candidate.line(ASKED))
    assert not candidate.answer(asking.number - 1, "send", "to the one before")
    assert not candidate.answer(asking.number, "grade", "of another kind")
    assert not candidate.answer(asking.number, "send or so", "of no kind")
    assert candidate.answer(asking.number, "send", "12")
    assert not candidate.answer(asking.number, "send", "13")
    assert asking.done() == "12"


def test_an_empty_answer_is_no_way_on(candidate: Candidate) -> None:
    asking = Waiting(candidate, lambda: candidate.line(ASKED))
    assert candidate.answer(asking.number, "send", " \n")
    shown = candidate.view().open
    assert shown is not None
    assert shown.complaint == EMPTY
    assert candidate.answer(asking.number, "send", "12")
    assert asking.done() == "12"


def test_a_complaint_stands_beside_what_was_typed(candidate: Candidate) -> None:
    asking = Waiting(candidate, lambda: candidate.line(ASKED))
    candidate.answer(asking.number, "send", "twelve")
    asking.done()
    candidate.unreadable("twelve is no number")
    again = Waiting(candidate, lambda: candidate.line(ASKED))
    shown = candidate.view().open
    assert shown is not None
    assert (shown.complaint, shown.typed) == ("twelve is no number", "twelve")
    candidate.leave()
    again.done()


def test_leaving_ends_the_session_as_at_a_terminal(candidate: Candidate) -> None:
    asking = Waiting(candidate, lambda: candidate.talk(ASKED))
    candidate.leave()
    assert isinstance(asking.done(), EOFError)


def test_drafts_are_written_on_the_thread_that_was_asked(candidate: Candidate) -> None:
    kept: list[tuple[str, str]] = []

    def keep(text: str) -> None:
        kept.append((text, threading.current_thread().name))

    def ask() -> str:
        threading.current_thread().name = "interviewer"
        return candidate.talk(Asked("copies", "", "", None, keep=keep))

    asking = Waiting(candidate, ask)
    assert candidate.draft(asking.number, "It is")
    assert candidate.draft(asking.number, "It is bound")
    assert kept == [("It is", "interviewer"), ("It is bound", "interviewer")]
    assert candidate.begun() == "It is bound"
    assert not candidate.draft(asking.number + 1, "to another")
    candidate.leave()
    asking.done()


def test_code_is_written_into_the_file_that_is_judged(candidate: Candidate, tmp_path: Path) -> None:
    file = tmp_path / "copy.cu"
    file.write_text("// the starter\n")
    asking = Waiting(candidate, lambda: candidate.code(ASKED, file, DRAFT))
    assert candidate.draft(asking.number, "// half\r\n")
    assert file.read_text() == "// half\n"
    assert candidate.answer(asking.number, "grade", "// whole\r\nint x;\r\n")
    assert asking.done() == "grade"
    assert file.read_text() == "// whole\nint x;\n"


def test_a_file_that_another_editor_has_written_is_not_written_over(
    candidate: Candidate, tmp_path: Path
) -> None:
    file = tmp_path / "copy.cu"
    file.write_text("// the starter\n")
    asking = Waiting(candidate, lambda: candidate.code(ASKED, file, DRAFT))
    file.write_text("// by another editor\n")
    candidate.answer(asking.number, "grade", "// the starter\r\n")
    asking.done()
    assert file.read_text() == "// by another editor\n"


def test_a_version_that_cannot_be_written_is_not_graded(candidate: Candidate, tmp_path: Path) -> None:
    file = tmp_path / "gone" / "copy.cu"
    asking = Waiting(candidate, lambda: candidate.code(ASKED, file, DRAFT))
    assert candidate.answer(asking.number, "grade", "// whole")
    shown = candidate.view().open
    assert shown is not None
    assert "cannot be written: No such file" in shown.complaint
    candidate.leave()
    asking.done()


def test_the_clock_stands_still_between_questions() -> None:
    now = [100.0]
    candidate = Candidate({}, lambda: now[0])
    asking = Waiting(candidate, lambda: candidate.line(ASKED))
    now[0] += 30
    assert candidate.view().left_s == 60
    candidate.answer(asking.number, "send", "12")
    asking.done()
    now[0] += 1000
    assert candidate.view().left_s == 60
    reading = Waiting(candidate, lambda: candidate.wait_for(Open(0, "go_on")))
    now[0] += 1000
    assert candidate.view().left_s == 60
    candidate.answer(reading.number, "go", "")
    reading.done()
    again = Waiting(candidate, lambda: candidate.line(ASKED))
    now[0] += 10
    assert candidate.view().left_s == 50
    candidate.leave()
    again.done()


def test_what_a_question_is_about_stays_beside_it_and_the_rest_goes(candidate: Candidate) -> None:
    candidate.say("A kernel.", ASKED.heading)
    for _ in range(2):
        candidate.say("Something in between.")
        asking = Waiting(candidate, lambda: candidate.line(ASKED))
        candidate.answer(asking.number, "send", "12")
        asking.done()
    asking = Waiting(candidate, lambda: candidate.line(ASKED))
    view = candidate.view()
    assert view.given == [Said(ASKED.heading, "A kernel.")]
    assert view.came == []
    assert len(view.earlier) == 4
    candidate.leave()
    asking.done()
