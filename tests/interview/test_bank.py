"""The bank and the interviews: the repository's own are complete, and each kind of damage is named with its line."""

import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import little_interview
import little_topic
import pytest

from grader.check import check_questions, dead_links
from grader.errors import WarpladderError
from grader.interview import bank, checks, quiz, rounds
from grader.judge.clean import Clean
from grader.workbook import topics
from grader.workbook.content import content_root

QUESTION, INTERVIEW = "lessons/questions/copies.toml", "lessons/copy/interview.toml"
FUNCTIONS, LESSON = "lessons/questions/copies.py", "lessons/copy/lesson.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return little_interview.write(tmp_path)


def test_points_are_lines_however_they_are_broken_in_the_file() -> None:
    assert all("\n" not in point.text for item in bank.discover().values() for point in item.points)


ROWS = {"hpc": 27, "ai": 26, "code": 10, "misc": 12}
"""Rows of the list of what interviewers ask, by how their ids begin."""


def test_the_bank_has_every_row_of_the_list() -> None:
    entries = [*bank.discover().values(), *rounds.discover(topics.discover()).values()]
    ids = [entry.id for entry in entries if entry.id]
    assert sorted(ids) == sorted(
        f"{kind}-{number:02}" for kind, rows in ROWS.items() for number in range(1, rows + 1)
    )


def test_a_question_is_found_by_its_name_and_by_its_id() -> None:
    found = bank.discover()
    assert bank.find(found, "hpc-15") is bank.find(found, "occupancy")


def test_every_coding_round_has_an_interview() -> None:
    known = topics.discover()
    found = rounds.discover(known)
    assert set(found) == set(known)


@pytest.mark.soak(area="interview")
def test_the_repository_has_no_problems() -> None:
    assert [str(problem) for problem in check_questions(content_root(), Clean())] == []


def test_the_little_interview_has_no_problems(root: Path) -> None:
    assert [str(problem) for problem in check_questions(root, Clean())] == []


# What is damaged, and by what; what is said of it, and the text of the line that is named, if one is.
DAMAGE = [
    (QUESTION, 'looks_for = "That', 'look_for = "That', "unknown key `look_for`, did you mean", "look_for"),
    (QUESTION, 'id = "hpc-01"', 'id = "first"', "`id` is 'first'", "id ="),
    (QUESTION, 'level = "mid"', 'level = "middle"', "'middle' is no level", "level"),
    (QUESTION, "as_of = 2026-11-01", 'as_of = "2026-11-01"', "not a date", "as_of"),
    (QUESTION, "as_of = 2026-11-01", "", "`as_of` is missing", None),
    (QUESTION, "builds_on = []", 'builds_on = ["Copies"]', "`builds_on` names 'Copies'", "builds_on"),
    (QUESTION, "builds_on = []", 'builds_on = ["copes"]', "no question, did you mean `copies`?", None),
    (QUESTION, '"That you think in bytes."', '"TODO"', "`looks_for` is not written yet", "looks_for"),
    (QUESTION, "weight = 30", "weight = 40", "sum to 110", "weight = 60"),
    (QUESTION, "weight = 30", "weight = 0", "`weight` is below 1", "weight = 0"),
    (QUESTION, "weight = 30", 'weight = "30"', "not an integer", 'weight = "30"'),
    (QUESTION, "weight = 30\n", 'weight = 30\nterms = ["read once"]\n', "`terms` is no longer read", "terms ="),
    (QUESTION, "weight = 30\n", 'weight = 30\nnudge = "How often?"\n', "`nudge` is no longer read", "nudge ="),
    (QUESTION, 'kind = "number"', 'kind = "numbers"', "`kind` is 'numbers', did you mean `number`?", "kind"),
    (QUESTION, 'name = "touched"', 'name = "Touched"', "`name` is 'Touched'", "name"),
    (QUESTION, 'name = "touched"', 'name = "larger"', "there is a probe `larger` already", "[[point.probe]]"),
    (QUESTION, '"It is read twice.", ', "", "there are 2 wrong statements", "wrong"),
    (QUESTION, '"It is read twice."', '"It is written twice."', "stands here twice", "right"),
    (QUESTION, '["It is read once and written once."]', '["It is read once and written once, as copies do, always."]',
     "the right statement is the longest by far", "[[point.probe]]"),
    (QUESTION, 'right = ["It is', 'options = ["a", "b"]\nright = ["It is', "given and computed", "right"),
    (QUESTION, "  //!", "", "no line is marked", "code"),
    (QUESTION, '["a byte", "a float", "a sector"]', '["a byte", "a float"]', "there are 2 items", "items"),
    (QUESTION, 'answer = "Twice the bytes."', 'answer = " "', "`answer` is not written", 'answer = " "'),
    (QUESTION, "https://example.org/guide#copies", "ftp://example.org", "`url` is", "url"),
    (QUESTION, "https://example.org/guide#copies", "../nowhere.md", "leads nowhere", "url"),
    (QUESTION, 'topics = ["copy"]', 'topics = ["paste"]', "names paste", None),
    (QUESTION, 'topics = ["copy"]', 'topics = ["copy"]\nroles = ["chef"]', "`roles` names 'chef'", "roles"),
    (QUESTION, "of {floats} floats", "of {halves} floats", "names {halves}", "text ="),
    (QUESTION, "of {floats} floats", "of some floats", "does not tell the candidate {floats}", "text ="),
    (QUESTION, "= {answer}", "= what?", "does not show {answer}", "explain"),
    (QUESTION, "tolerance = 0", "tolerance = 5", "`tolerance` is 5", "tolerance"),
    (QUESTION, "[1024, 2048]", "[]", "`floats` is []", "floats = []"),
    (QUESTION, "[1024, 2048]", "[1024, 1024]", "a value twice", "floats ="),
    (QUESTION, 'rung = "01_wide"', 'rung = "01_wild"', "no rung `01_wild`, did you mean", "[[kernel]]"),
    (QUESTION, 'topic = "copy"', 'topic = "paste"', "no topic `paste`", "[[kernel]]"),
    (QUESTION, 'name = "bytes_moved"', 'name = "moved"', "`moved` is missing", None),
    (FUNCTIONS, "8 * floats", "8 // (floats - 2048)", "floats = 2048 fails with ZeroDivisionError", None),
    (FUNCTIONS, "8 * floats", "floats / 3", "nobody types 341.3", "[[point.probe]]"),
    (FUNCTIONS, "8 * floats", "8", "the same answer however it is drawn", "[[point.probe]]"),
    (FUNCTIONS, "return", "retrun", "it does not load: SyntaxError", None),
    (INTERVIEW, 'rung = "01_wide"', 'rung = "02_wide"', "no rung `02_wide`", "rung ="),
    (INTERVIEW, 'rung = "01_wide"', 'rung = "00_naive"', "00_naive is not above", 'rung = "00_naive"'),
    (INTERVIEW, "minutes = 30", "minutes = 3", "`minutes` is 3", "minutes"),
    (INTERVIEW, "tolerance = 0.05", "tolerance = 0", "`tolerance` is 0", "tolerance"),
    (INTERVIEW, '"N / l1tex', '"N > l1tex', "not a number", "value"),
    (INTERVIEW, '"N / l1tex', '"n / l1tex', "the ratio names `n`", "[round.ratio]"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "said", "line"), DAMAGE)
def test_damage_is_named(root: Path, file: str, old: str, new: str, said: str, line: str | None) -> None:
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new, 1))
    problems = check_questions(root, Clean())
    assert len(problems) == 1, [str(problem) for problem in problems]
    assert said in problems[0].message
    if line is not None:
        lines = Path(problems[0].file or "").read_text().splitlines()
        assert line in lines[(problems[0].line or 0) - 1]


@pytest.mark.parametrize("name", ["follow_up", "common_error", "source", "round"])
def test_lists_have_enough_in_them(root: Path, name: str) -> None:
    text = (root / INTERVIEW).read_text()
    first = text.index(f"[[{name}]]")
    end = text.find("\n[[", first + 1) if name != "round" else text.index("[[round]]", first + 1) - 1
    (root / INTERVIEW).write_text(text[:first] + text[end + 1 :])
    (problem,) = check_questions(root, Clean())
    assert re.search(rf"there are \d (of `)?{name}", problem.message)


def test_links_in_lessons_are_followed(root: Path) -> None:
    (root / LESSON).write_text(
        "See [it](../../kernels/naive/copy.cu#L3),\n[that](nowhere.md) and [the web](https://a.b).\n"
    )
    (problem,) = check_questions(root, Clean())
    assert problem.line == 2
    assert "nowhere.md" in problem.message


def test_links_to_the_web_are_listed_with_their_lines(root: Path) -> None:
    path = root / QUESTION
    ((url, line),) = checks.external_links(path, path.read_text())
    assert url == "https://example.org/guide#copies"
    assert "url" in path.read_text().splitlines()[line - 1]


def test_links_that_do_not_answer_are_named(root: Path) -> None:
    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/guide" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = f"http://127.0.0.1:{server.server_port}"
    for file, address in ((QUESTION, f"{here}/guide#copies"), (INTERVIEW, f"{here}/gone")):
        little_topic.edit(root / file, "https://example.org/guide#copies", address)
    try:
        (problem,) = dead_links(root)
    finally:
        server.shutdown()
        server.server_close()
    assert problem.file == str(root / INTERVIEW)
    assert "/gone does not answer" in problem.message
    assert "404" in (problem.remedy or "")


def test_files_that_nothing_reads_are_named(root: Path) -> None:
    (root / "lessons/questions/others.py").write_text("")
    (root / "lessons/questions/notes.txt").write_text("")
    assert [problem.message for problem in check_questions(root, Clean())] == [
        "this file belongs to no question"
    ] * 2


def test_ratios_of_multiply_adds_say_whether_a_lane_or_a_warp_is_counted() -> None:
    for topic in ("gemm", "conv2d"):
        for item in rounds.read_interview(topics.load(topic)).rounds:
            if item.ratio is not None and item.ratio.unit.startswith("multiply-adds a"):
                assert "32 lanes at once count as one" in " ".join(item.ratio.text.split()), item.rung


def test_a_draw_for_a_role_has_nothing_from_outside_it() -> None:
    found = bank.discover()
    outside = {name for name, question in found.items() if not question.is_for("kernels")}
    assert {"markov-chains", "mips-pipeline", "tensorrt"} <= outside
    drawn = {item.name for seed in range(1000) for item in quiz.choose(found, [], None, seed, 5)}
    assert not drawn & outside
    assert drawn | outside == set(found)
    named = [item.name for item in quiz.choose(found, ["markov-chains"], None, 0, None)]
    assert named == ["markov-chains"]
    assert len(quiz.choose(found, [], None, 0, None, "general")) == len(found)
    with pytest.raises(WarpladderError, match="no role `kernel`, did you mean `kernels`"):
        quiz.choose(found, [], None, 0, None, "kernel")
