"""`ladder today` and `ladder progress` on the little workbook, in a terminal of 80 columns."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import little_interview
import pytest

from grader import book
from grader.history import remedies
from grader.history.store import Store
from grader.interview import bank, rounds
from grader.interview.commands.frontend import Terminal
from grader.interview.drills import drill
from grader.ladder import main
from grader.report import notices
from grader.workbook import content, topics


class Done(NamedTuple):
    code: int
    out: str
    err: str


Ladder = Callable[..., Done]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("WARPLADDER_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def ladder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, home: Path
) -> Ladder:
    """Runs `ladder ARGUMENTS…` on the little workbook, with lines that are typed."""
    root = little_interview.write(tmp_path / "workbook")
    for module in (bank, content, rounds, drill, remedies, topics):
        monkeypatch.setattr(module, "content_root", lambda: root)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str, typed: str = "") -> Done:
        monkeypatch.setattr(sys, "argv", ["ladder", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(int(ended.value.code or 0), *capsys.readouterr())

    return run


def fits(text: str) -> bool:
    return all(len(line.rstrip()) <= 80 for line in text.splitlines())


NO_ANSWER = "\n\n"
QUIZ = f"The bandwidth.\n\n{3 * NO_ANSWER}n\n{NO_ANSWER}"
"""An answer in prose, none to three probes, a rating, and no answer to the further question."""


def test_a_first_day_from_what_is_new_to_what_is_due_tomorrow(ladder: Ladder, home: Path) -> None:
    done = ladder("today", "--count", "2", typed=2 * NO_ANSWER)
    assert (done.code, done.err) == (0, "")
    assert fits(done.out)
    assert "2 new" in done.out
    assert "2 of 2: A copy" in done.out
    assert "0 of 2 right. Due tomorrow: 2." in done.out
    with Store() as store:
        assert [(found.share, found.format) for found in store.outcomes()] == [(0.0, "quiz")] * 2
        assert [found.format for found in store.sittings()] == ["today"]
    assert sorted(path.name for path in home.iterdir()) == ["progress.sqlite"]


def test_a_day_that_was_broken_off_goes_on(ladder: Ladder) -> None:
    begun = ladder("today", "--count", "3", typed=NO_ANSWER)
    assert begun.code == 1
    assert "To go on: ladder today" in begun.out
    listed = ladder("today", "--list")
    assert "A day was begun: `ladder today` goes on with the" in " ".join(listed.out.split())
    with Store() as store:
        assert len(store.outcomes()) == 1  # what was answered is kept in the history as well
    done = ladder("today", typed=2 * NO_ANSWER)
    assert done.code == 0
    assert "Going on: 1 of 3 answered." in done.out
    with Store() as store:
        assert (len(store.outcomes()), len(store.sittings())) == (3, 1)


def test_what_is_due_can_be_listed_and_read_by_programs(ladder: Ladder) -> None:
    listed = ladder("today", "--list")
    assert fits(listed.out)
    assert "copies/bytes_moved" in listed.out
    found = json.loads(ladder("today", "--json", "-").out)
    assert [item["key"] for item in found["new"]][:1] == ["copies/bytes_moved"]
    with Store() as store:
        assert store.outcomes() == []


def test_once_all_is_asked_there_is_nothing_until_tomorrow(ladder: Ladder) -> None:
    ladder("today", typed=4 * NO_ANSWER)
    done = ladder("today")
    assert done.code == 0
    assert "Nothing is due today. The next is due on" in done.out


def test_a_quiz_is_remembered_and_compared_with_the_last(ladder: Ladder) -> None:
    first = ladder("quiz", "copies", "--seed", "1", typed=QUIZ)
    assert "Last time" not in first.out
    with Store() as store:
        (sitting,) = store.sittings()
        assert (sitting.format, sitting.subject) == ("quiz", "copies")
        assert len(store.outcomes()) == 3
    again = ladder("quiz", "copies", "--seed", "2", typed=QUIZ)
    assert "Last time, on" in again.out


def test_an_answer_that_was_taken_back_is_none(ladder: Ladder) -> None:
    ladder("quiz", "copies", "--seed", "1", typed=f"The bandwidth.\n\n{NO_ANSWER}")
    with Store() as store:
        assert len(store.outcomes()) == len(store.sittings()) == 1
    ladder("quiz", "--resume", "quiz-1.json", typed="back\n")
    with Store() as store:
        assert store.outcomes() == store.sittings() == []


def test_progress_before_and_after(ladder: Ladder) -> None:
    before = ladder("progress")
    assert (before.code, before.err) == (0, "")
    assert "No question was answered yet" in before.out
    ladder("today", typed=4 * NO_ANSWER)
    after = ladder("progress", "--html", "progress.html")
    assert fits(after.out)
    assert "4 answers checked on 1 day" in after.out
    assert "→ ladder quiz copies" in after.out  # nothing else is about these points
    page = Path("progress.html").read_text()
    assert "ladder quiz copies" in page
    assert not [word for word in ("src=", 'href="http', "url(") if word in page]  # nothing is loaded


def test_each_grade_is_remembered_and_progress_shows_the_rung(ladder: Ladder) -> None:
    rung, starter = (
        content.content_root() / path for path in ("kernels/naive/copy.cu", "lessons/copy/starter.cu")
    )
    assert "Kernels" not in ladder("progress").out
    assert "→ ladder new copy" in ladder("next").out
    ladder("grade", "copy", str(starter))
    assert "none right yet" in ladder("progress").out
    assert f"→ ladder grade copy {starter}" in ladder("next").out
    ladder("grade", "copy", str(rung))
    ladder("grade", "copy", str(rung), "--set", "N=5")  # one size alone tells no rung
    shown = ladder("progress", "--html", "progress.html")
    assert fits(shown.out)
    assert "■" in shown.out
    assert "00_naive, 1 of" in shown.out
    assert "00_naive" in Path("progress.html").read_text()
    assert json.loads(ladder("next", "--json", "-").out)["next"]["topic"] == "copy"
    with Store() as store:
        assert [(grade.verdict, grade.rung) for grade in store.grades()] == [
            ("fail", None),
            ("pass", "00_naive"),
        ]


def test_what_is_next_names_the_starter_that_was_written_and_the_lesson_s_page(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ladder("new", "copy", "mine.cu")
    monkeypatch.setattr(book, "ROOT", tmp_path)
    page = tmp_path / "build" / "book" / "html" / "lessons" / "copy" / "lesson.html"
    told = [
        (None, "lessons/copy/lesson.md"),
        (
            tmp_path / "Makefile",
            "lessons/copy/lesson.md; with its code, as a page of the book: `ladder book`",
        ),
        (page, "lesson.html"),
    ]
    for present, where in told:
        if present is not None:
            present.parent.mkdir(parents=True, exist_ok=True)
            present.touch()
        said = ladder("next").out
        assert "→ ladder grade copy mine.cu" in said
        assert where.replace(" ", "") in "".join(said.split())
    Path("mine.cu").unlink()
    assert "→ ladder new copy" in ladder("next").out


def test_a_grade_is_shown_where_nothing_can_be_remembered(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("WARPLADDER_HOME", str(tmp_path / "file"))
    graded = ladder("grade", "copy", str(content.content_root() / "kernels/naive/copy.cu"))
    assert graded.code == 0
    assert "RIGHT" in graded.out
    assert "WARPLADDER_HOME" in graded.err


def test_a_history_travels(ladder: Ladder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ladder("today", typed=4 * NO_ANSWER)
    assert ladder("progress", "--export", "history.json").code == 0
    monkeypatch.setenv("WARPLADDER_HOME", str(tmp_path / "other"))
    assert "history.json: 4 new answers" in ladder("progress", "--import", "history.json").err
    assert "history.json: 0 new answers" in ladder("progress", "--import", "history.json").err
    found = json.loads(ladder("progress", "--json", "-").out)
    assert (found["progress"]["outcomes"], len(found["progress"]["weak"])) == (4, 3)


def test_a_history_that_cannot_be_used_costs_no_card(ladder: Ladder, home: Path) -> None:
    home.mkdir()
    (home / "progress.sqlite").write_text("notes, " * 1000)
    done = ladder("quiz", "copies", "--json", "card.json", typed=QUIZ)
    assert done.code == 0
    assert done.err.count("this is no database") == 2  # before the first question, and at the end
    assert "The session goes on" in done.err
    assert Path("card.json").is_file()
    assert ladder("progress").code == 2


def test_a_history_that_cannot_be_used_is_told_before_the_first_question(
    ladder: Ladder, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    (home / "progress.sqlite").write_text("notes, " * 1000)
    told: list[str] = []
    monkeypatch.setattr(Terminal, "welcome", lambda *_: told.append("welcome"))
    monkeypatch.setattr(notices, "unremembered", lambda _: told.append("unremembered"))
    ladder("quiz", "copies", typed=QUIZ)
    assert told == ["unremembered", "welcome"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["today", "--topic", "cooking"], "no topic `cooking`"),
        (["today", "--level", "wizard"], "is no level"),
        (["progress", "--import", "nowhere.json"], "cannot be read"),
        (["progress", "--export", "nowhere/history.json"], "no such folder"),
    ],
)
def test_a_call_that_cannot_be_used_says_what_to_do(
    ladder: Ladder, arguments: list[str], complaint: str
) -> None:
    done = ladder(*arguments)
    assert done.code == 2
    assert complaint in done.err
