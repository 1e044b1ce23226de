"""`ladder interview` and `ladder quiz` in a terminal of 80 columns, and the pages that they write."""

import contextlib
import functools
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt

from grader.interview import bank, card, session, sheet
from grader.interview.drills.formats import FORMATS
from grader.interview.reports import sheets
from grader.interview.rounds import read_interview
from grader.interview.session import Code, Figure, KeyPoint, Probed, Rated, Session, Talk
from grader.ladder import main
from grader.results import Climb, load
from grader.workbook import topics
from grader.workbook.content import content_root
from grader.workbook.topic import Topic


class Done(NamedTuple):
    code: int
    out: str
    err: str


Ladder = Callable[..., Done]


@pytest.fixture
def ladder(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Ladder:
    """Runs `ladder ARGUMENTS…` in an empty folder, 80 columns wide, with lines that are typed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str, typed: str = "") -> Done:
        monkeypatch.setattr(sys, "argv", ["ladder", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(int(ended.value.code or 0), *capsys.readouterr())

    return run


def fits(text: str) -> bool:
    return all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.parametrize("command", ["interview", "quiz"])
def test_the_commands_teach_by_an_example(ladder: Ladder, command: str) -> None:
    done = ladder(command, "--help")
    assert done.code == 0
    assert f"ladder {command}" in done.out.partition("Example")[2]
    assert fits(done.out)


SAID = """\
Occupancy is the number of resident warps over the most that an SM can hold.
registers, shared memory

"""
PROBED = """\
many
?
37.5
{skipped}maybe
Yes
Ampere.

n
""".format(skipped="skip\n" * 5)
TYPED = SAID + PROBED


def test_a_quiz_from_the_first_question_to_the_card(ladder: Ladder, tmp_path: Path) -> None:
    command = ["quiz", "occupancy", "--seed", "3", "--json", "card.json", "--card", "card.html"]
    done = ladder(*command, typed=TYPED)
    assert done.code == 0, done.err
    assert fits(done.out)
    assert "“many” is not a number" in done.out
    assert "One number, in %, right within" in " ".join(done.out.split())
    assert "A senior engineer would say" in done.out
    assert "y, p or n: you rate your own answer" in done.out
    assert "Further questions: you answered 1 of 1, and rated your answers 0 %." in done.out
    assert "Drawn with --seed 3." in " ".join(done.out.split())
    assert done.err.endswith("Wrote card.json\nWrote card.html\n")
    found = json.loads((tmp_path / "card.json").read_text())
    ((talk,),) = [section["lines"] for section in found["sections"]]
    assert [point["answer"]["right"] for point in talk["points"]] == [True, *[False] * 5]
    assert talk["earned"] == 15 * talk["points"][0]["weight"] / 100
    assert talk["rated"] == 1
    assert found["verdict"] == "no hire"
    page = (tmp_path / "card.html").read_text()
    assert "resident warps over the most" in page
    assert "http" not in page.replace('<a href="https://', "").partition("<main>")[0]  # nothing is loaded


def test_where_json_goes_to_standard_output_nothing_else_does(ladder: Ladder) -> None:
    done = ladder("quiz", "occupancy", "--seed", "3", "--json", "-", typed=TYPED)
    assert json.loads(done.out)["kind"] == "quiz"
    assert "What is occupancy" in done.err
    assert "\n> " in done.err


@pytest.mark.verify
def test_a_pasted_answer_may_have_empty_lines(tmp_path: Path) -> None:
    """At a terminal, where what is pasted arrives at once."""
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "grader", "quiz", "accelerators"], stdin=terminal, stdout=terminal, stderr=terminal,
        cwd=tmp_path, start_new_session=True,
    )  # fmt: skip
    with os.fdopen(master, "r+b", buffering=0) as keyboard:
        shown = b""
        for until, typed in (
            (rb"> ", b"It is\n\npasted.\n"),
            (rb"pasted\.\r\n> ", b"\n"),
            (rb"(?s)pasted\.\r\n> .+> $", b"\x04"),
        ):
            while not re.search(until, shown):
                shown += keyboard.read(1 << 16)
            keyboard.write(typed)
        os.close(terminal)
        with contextlib.suppress(OSError):  # the other side is closed
            while keyboard.read(1 << 16):
                pass
    process.wait(60)
    kept = session.load(tmp_path / "quiz-1.json")
    assert [item.text for item in kept.answers if isinstance(item, Talk)] == ["It is\n\npasted."]


@pytest.mark.parametrize(
    ("closed", "kept"),
    [(False, "It is\nha"), (True, "It is")],  # the line in which a window is closed goes with it
)
def test_what_was_typed_is_there_again_after_a_kill_and_a_closed_window(
    tmp_path: Path, closed: bool, kept: str
) -> None:
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "grader", "quiz", "accelerators"], cwd=tmp_path,
        preexec_fn=functools.partial(os.login_tty, terminal),
    )  # fmt: skip
    os.close(terminal)
    with os.fdopen(master, "r+b", buffering=0) as keyboard:
        shown = b""
        for until, typed in ((rb"> $", b"It is\n"), (rb"It is\r\n> $", b"ha"), (rb"ha$", b"")):
            while not re.search(until, shown):
                shown += keyboard.read(1 << 16)
            keyboard.write(typed)
        if not closed:
            process.terminate()
            while not select.select([keyboard], [], [], 1)[0]:  # readline misses one that comes beside a key
                process.terminate()
            with contextlib.suppress(OSError):  # the other side is closed
                while part := keyboard.read(1 << 16):
                    shown += part
            assert b"To go on: ladder quiz --resume quiz-1.json" in shown
    process.wait(60)
    begun = session.load(tmp_path / "quiz-1.json").begun
    assert begun is not None
    assert begun.text == kept


def test_a_quiz_broken_off_is_taken_up(ladder: Ladder, tmp_path: Path) -> None:
    done = ladder("quiz", "occupancy", "--seed", "3", typed=SAID)
    assert done.code == 1
    assert "To go on: ladder quiz --resume quiz-1.json\n" in done.out
    assert "of 15 points" not in done.out  # the card would tell what is still to be asked
    again = ladder("quiz", "--resume", "quiz-1.json", "--role", "inference", typed=PROBED)
    assert again.code == 0, again.out
    assert "What is occupancy" not in again.out
    assert "of 15 points" in again.out
    short = ladder("quiz", "--resume", "quiz-1.json", "--json", "short.json")
    assert short.code == 0
    assert "of 15 points" in short.out
    assert "ladder quiz --resume quiz-1.json --long\n" in short.out
    assert len(short.out.splitlines()) <= 25, "a screen"
    long = ladder("quiz", "--resume", "quiz-1.json", "--json", "long.json", "--long")
    assert "To read up: " in long.out
    assert f"    {bank.load('occupancy').sources[0].url}\n" in long.out  # whole, to be copied
    assert "--long" not in long.out
    assert (tmp_path / "short.json").read_bytes() == (tmp_path / "long.json").read_bytes()


@pytest.mark.parametrize("name", ["estimate", "read"])
def test_a_session_has_as_many_drills_as_its_format_says(ladder: Ladder, tmp_path: Path, name: str) -> None:
    rules = " ".join(ladder(name).out.split())
    assert "Each question has one answer, which is checked" in rules
    assert "own words" not in rules  # nothing is asked in prose
    ladder(name, "--count", "2")
    counts = [len(session.load(tmp_path / f"{name}-{number}.json").questions) for number in (1, 2)]
    assert counts == [FORMATS[name].count, 2]


def test_a_session_writes_over_nothing(ladder: Ladder, tmp_path: Path) -> None:
    (tmp_path / "interview-transpose-1.cu").write_text("mine")
    done = ladder("interview", "transpose", "--device", "emulator")
    assert done.code == 1
    assert (tmp_path / "interview-transpose-1.cu").read_text() == "mine"
    assert (tmp_path / "interview-transpose-2.json").is_file()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["interview", "transposed"], "did you mean `transpose`"),
        (["interview", "transpose", "--card", "card.pdf"], "no kind of card"),
        (["interview", "transpose", "--sheet", "sheet.txt"], "no kind of sheet"),
        (["quiz", "occupancy", "--sheet", "sheet.json"], "no kind of sheet"),
        (["interview", "transpose", "--sheet", "nowhere/sheet.html"], "there is no such folder"),
        (["interview", "transpose", "--card", "nowhere/card.html"], "there is no such folder"),
        (["interview", "transpose", "--resume", "nothing.json"], "cannot be read"),
        (["quiz", "hpc-99"], "no question `hpc-99`"),
        (["estimate", "--minutes", "nan"], "nan is no number of minutes"),
        (["quiz", "--topic", "knitting"], "no question belongs to knitting"),
        (["quiz", "occupancy", "--role", "training"], "you have named yours"),
        (["quiz", "--resume", "nothing.json"], "cannot be read"),
    ],
)
def test_unusable_calls_say_what_helps(ladder: Ladder, command: list[str], said: str) -> None:
    done = ladder(*command)
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_who_goes_back_keeps_what_was_typed(ladder: Ladder, tmp_path: Path) -> None:
    done = ladder("quiz", "occupancy", "--seed", "3", typed="Warps.\n\nback\n?\nOver slots.\n\n")
    assert done.out.count("or ?, skip:") == 3  # at first, gone back to, and after `?`
    assert "or ?, skip, back:" in done.out
    (talk,) = session.load(tmp_path / "quiz-1.json").answers
    assert isinstance(talk, Talk)
    assert talk.text == "Warps.\nOver slots."


def test_a_part_of_a_day_begins_with_enter_alone(ladder: Ladder) -> None:
    done = ladder("loop", "--level", "junior", typed="?\nskip\n")
    assert done.out.count("and its clock begin with Enter") == 2
    assert "Question 1 of" not in done.out
    assert "To go on: ladder loop --resume loop-1\n" in done.out


def test_an_enter_too_many_gives_no_question_away(ladder: Ladder, tmp_path: Path) -> None:
    ladder("interview", "transpose", "--device", "emulator", typed="\nIt is limited by memory.\n\n")
    (talk,) = session.load(tmp_path / "interview-transpose-1.json").answers
    assert isinstance(talk, Talk)
    assert talk.text == "It is limited by memory."


def test_waiting_for_code_repeats_the_keys_and_not_the_question(ladder: Ladder) -> None:
    done = ladder("interview", "transpose", "--device", "emulator", typed="skip\n" + "\n" * 2)
    assert done.out.count("has not changed") == 2
    assert done.out.count("First write the straightforward version") == 1


def test_a_file_that_is_gone_is_said_in_words(ladder: Ladder, tmp_path: Path) -> None:
    ladder("interview", "transpose", "--device", "emulator", typed="skip\n")
    (tmp_path / "interview-transpose-1.cu").unlink()
    (tmp_path / "interview-transpose-1.cu").mkdir()
    done = ladder("interview", "transpose", "--resume", "interview-transpose-1.json", typed="\n")
    assert "cannot be read: Is a directory" in " ".join(done.out.split())


def test_an_interview_is_not_resumed_as_another(ladder: Ladder, tmp_path: Path) -> None:
    ladder("interview", "transpose", "--device", "emulator")
    for command in (["interview", "gemm"], ["quiz"]):
        done = ladder(*command, "--resume", "interview-transpose-1.json")
        assert done.code == 2


def test_the_list_names_every_question(ladder: Ladder) -> None:
    done = ladder("quiz", "--list")
    assert done.code == 0
    assert fits(done.out)
    assert all(name in done.out for name in bank.discover())


@pytest.mark.parametrize("command", ["quiz", "review"])
def test_a_list_is_that_of_the_topic_asked_for(ladder: Ladder, command: str) -> None:
    whole, some = (
        json.loads(ladder(command, *more, "--list", "--json", "-").out) for more in ((), ("--topic", "gemm"))
    )
    assert some == [item for item in whole if "gemm" in item["topics"]] != []
    assert ladder(command, "--topic", "nothing", "--list").code == 2


@pytest.mark.parametrize(("command", "key"), [("quiz", "topics"), ("estimate", "minutes")])
def test_a_list_can_be_read_by_programs(ladder: Ladder, command: str, key: str) -> None:
    found = json.loads(ladder(command, "--list", "--json", "-").out)
    assert all({"name", "title", "level", key} <= set(item) for item in found)
    assert len(found) > 10


def test_the_sheet_of_a_quiz_holds_what_the_interviewer_needs(ladder: Ladder, tmp_path: Path) -> None:
    done = ladder("quiz", "occupancy", "--seed", "3", "--sheet", "sheet.html")
    assert done.code == 0
    page = (tmp_path / "sheet.html").read_text()
    question = bank.load("occupancy")
    for text in [point.text for point in question.points] + [item.ask for item in question.follow_ups]:
        assert _shown(text) in page
    assert "seed 3" in page


def test_the_sheet_of_an_interview_has_the_ratios_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters are those of the committed record; tests/verify counts anew."""
    topic = topics.load("transpose")
    record = load(content_root() / "measurements/h200/transpose.json", Climb)
    counters = {rung.id: rung.counters or {} for rung in record.rungs}

    def of_file(topic: Topic, file: Path, arch: str | None) -> dict[str, float]:
        rung = next((rung for rung in counters if rung == file.stem), "00_naive")
        return {**counters[rung], **topic.sizes_count}

    monkeypatch.setattr(sheet, "of_file", of_file)
    page = sheets.of_interview(sheet.of_interview(read_interview(topic), topic))
    for item in read_interview(topic).rounds:
        assert item.rung in page
        assert all(_shown(point.text) in page for point in (*item.limits, *item.next))
    assert "Before: <strong>36</strong>, after: <strong>8</strong>" in page  # bytes an element
    assert "Before: <strong>32</strong>, after: <strong>1</strong>" in page  # wavefronts a request


def test_a_card_shows_what_was_late_unasked_and_checked(tmp_path: Path) -> None:
    topic = topics.load("transpose")
    interview = read_interview(topic)
    points = [KeyPoint(60, "It is <bound>."), KeyPoint(40, "It copies.")]
    kept = Session(
        "interview", "T", "transpose", ["transpose"], 45, "2026-01-02T03:04:05+00:00", 0, "mine.cu"
    )
    kept.elapsed_s = 125
    right = Probed(
        "opening.0.probe",
        "transpose/x",
        "Which <b>?",
        ["As <i>.", "No."],
        [],
        "",
        "a",
        "a",
        True,
        0.5,
        "So.",
        9,
    )
    wrong = Probed(
        "opening.1.probe", "transpose/y", "Which?", [], ["<x>;", "y;"], "", "2", "1", False, 0.5, "So.", 9
    )
    kept.answers = [
        Talk("opening", "How fast?", "As a copy.\nI think.", points, 60, rated=0.5),
        right,
        wrong,
        Code("00_naive.code", "Write it.", "transpose", "00_naive", "// <code>\n", "pass", None, "00_naive",
             1.0, 2, True, {}, {}, 30),
        Figure("00_naive.now", "Which?", "bytes", "3", 3.0, 4.0, False, "Because.", "own", 5),
        Talk("00_naive.limits", "What?", "late", points, 5, late=True),
        Rated("follow_up.0", "And then?", "So.", "Thus.", 0.5, 5),
    ]  # fmt: skip
    result = card.of_interview(interview, topic, kept)
    assert result.earned == pytest.approx(20 * (0.6 - 0.4) + 15)
    page = sheets.card(result)
    for shown in (
        "&lt;bound&gt;",
        "&lt;code&gt;",
        "&lt;b&gt;",
        "line 1: &lt;x&gt;",
        "<em>a is right: As &lt;i&gt;.</em>",
    ):
        assert shown in page
    assert "too late to count:" in page
    assert "(not asked)" in page
    assert "Own rating of the prose: 50 %." in page
    assert "broken off" in page
    assert "2:05 of 45 min" in page
    session.save(kept, tmp_path / "s.json")
    assert session.load(tmp_path / "s.json") == kept


def test_what_is_at_fault_with_a_session_file_is_said(ladder: Ladder, tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text('{"schema": "warpladder/card/3"}')
    done = ladder("quiz", "--resume", "card.json")
    assert done.code == 2
    assert "this is no session" in " ".join(done.err.split())


def _shown(text: str) -> str:
    """A line of Markdown as pages show it."""
    return MarkdownIt("commonmark").renderInline(text)
