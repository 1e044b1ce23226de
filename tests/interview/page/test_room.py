"""Sittings at a page, by forms alone: whole, left and gone on with, killed, and refused to others."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import little_room
import little_topic
import pytest
from little_room import HOST, ORIGIN, TOKEN, Visitor
from starlette.testclient import TestClient

from grader.history.store import Store
from grader.interview import session
from grader.interview.drills.formats import FORMATS
from grader.interview.drills.review import Review
from grader.interview.interviewer import WorkbookJudge
from grader.interview.loops.library import Library
from grader.interview.page import sittings
from grader.interview.page.app import site
from grader.interview.page.sittings import Single, Wanted
from grader.interview.session import Talk
from grader.judge.runners.pool import Progress
from grader.results import FindingResult, Grade
from grader.web.guard import LONGEST_BODY

ROOT = Path(__file__).parents[3]
QUIZ = {"what": "quiz", "count": "1"}


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    little_room.little_workbook(monkeypatch, tmp_path)
    return tmp_path / "here"


@pytest.fixture
def visitor() -> Iterator[Visitor]:
    with little_room.opened() as found:
        yield found


def through(visitor: Visitor, prose: str = "The bandwidth.") -> list[str]:
    """Answer everything; what was wanted, in order."""
    wanted = []
    while form := visitor.form:
        wanted.append(form)
        match form:
            case "talk":
                visitor.answer("send", prose)
            case "line":
                visitor.answer("skip")
            case "rate":
                visitor.answer("partly")
            case "code":
                visitor.answer("skip")
            case _:
                visitor.answer("go")
    return wanted


def test_a_quiz_from_the_first_page_to_the_card(visitor: Visitor, here: Path) -> None:
    assert "Begin the quiz" in visitor.page
    visitor.send("/begin", **QUIZ)
    assert "How fast can a copy be?" in visitor.page
    wanted = through(visitor)
    assert wanted[:2] == ["talk", "line"]
    assert wanted[-3:] == ["rate", "talk", "rate"]
    assert "A copy" in visitor.page
    assert "of 15 points" in visitor.page
    kept = session.load(here / "quiz-1.json")
    assert kept.over
    with Store() as store:
        assert [found.format for found in store.sittings()] == ["quiz"]
    assert "Begin the quiz" in visitor.send("/door")


def test_today_is_asked_and_gone_when_it_is_over(visitor: Visitor, here: Path) -> None:
    visitor.send("/begin", what="today")
    assert through(visitor) == 4 * ["line", "go_on"]
    assert "0 of 4 right" in visitor.page
    assert list(here.iterdir()) == []
    assert "Nothing is due today" in visitor.send("/begin", what="today")


def test_a_day_that_was_killed_before_its_end_is_remembered(visitor: Visitor) -> None:
    visitor.send("/begin", what="today")
    for _ in range(3):
        visitor.answer("skip")
        visitor.answer("go")
    visitor.answer("skip")  # the last one, and then it is killed
    with little_room.opened() as another:
        another.send("/begin", what="today")
        assert another.form == "go_on"
        another.answer("go")
        assert "0 of 4 right" in another.page


def test_a_day_goes_from_break_to_break(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    style = tmp_path / "workbook" / "lessons" / "loops" / "short.toml"
    style.parent.mkdir(exist_ok=True)
    style.write_text(
        """title = "A short day"
about = "Two talks."

[[part]]
title = "Screen"
levels = ["junior", "mid", "senior", "staff"]
formats = ["quiz"]
minutes = 10
count = 1

[[part]]
title = "Code"
levels = ["junior", "mid", "senior", "staff"]
formats = ["interview"]
minutes = 20
"""
    )
    with little_room.opened() as visitor:
        visitor.send("/begin", what="loop", style="short", level="mid")
        assert "Part 1: Screen" in visitor.page
        wanted = through(visitor)
        assert "of the day" in visitor.page
    assert wanted[:2] == ["begin", "talk"]
    assert wanted.count("begin") == 2


def test_a_kernel_is_written_and_judged_on_the_page(visitor: Visitor, here: Path) -> None:
    visitor.send("/begin", what="interview", topic="copy")
    visitor.answer("skip")
    assert visitor.form == "code"
    assert visitor.field == (here / "interview-copy-1.cu").read_text()
    wrong = little_topic.NAIVE.replace("in[i]", "in[i] + 1.0f")
    assert wrong != little_topic.NAIVE
    visitor.answer("grade", wrong)
    while not visitor.form:
        visitor.page = visitor.client.get("/").text
    assert visitor.form == "code"
    assert '<span class="bad">WRONG</span> interview-copy-1.cu' in visitor.page
    visitor.answer("hint")
    assert "One thread for each element." in visitor.page
    assert "WRONG" in visitor.page  # still beside the editor
    visitor.answer("grade", little_topic.NAIVE)
    while not visitor.form:
        visitor.page = visitor.client.get("/").text
    assert visitor.form == "go_on"
    assert '<span class="good">RIGHT</span> interview-copy-1.cu' in visitor.page
    counter = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
    assert counter not in visitor.page  # what was counted is asked about now
    assert "01_wide" not in visitor.page  # what lies above is not told
    visitor.answer("go")
    while visitor.form != "line" or "How many floats" not in visitor.page:
        visitor.answer("skip" if visitor.form in ("talk", "line") else "go")
    visitor.answer("skip")
    assert counter in visitor.page


def test_all_that_the_judge_saw_of_a_change_stands_beside_the_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    (name, hunt), *_ = FORMATS["review"].discover(ROOT).items()
    findings = [
        FindingResult("race", 2, "two threads write `sums[0]`", remedy="Wait"),
        FindingResult("out_of_bounds", 3, "`in[9]` of 9", remedy="Guard it"),
    ]

    def judged(self: Review, file: Path, progress: Progress) -> Grade:
        reason = "Line 2: race: two threads write `sums[0]`. Wait."
        return Grade("t", str(file), "fail", reason, None, 0, 0, [], findings, [], [])

    monkeypatch.setattr(Review, "judge", judged)
    with little_room.opened(
        Library({}, {}, {}, {"review": FORMATS["review"]}, {"review": {name: hunt}})
    ) as visitor:
        visitor.send("/begin", what="review")
        while visitor.form == "line":
            visitor.answer("skip")
        assert visitor.form == "code"
        visitor.answer("grade", "first line\nsecond line\nthird line\n")
        for do in ("", "hint"):
            visitor.answer(do) if do else None
            assert "<strong>Not yet</strong> (fail)." in visitor.page
            assert visitor.page.count("two threads write <code>sums[0]</code>") == 1
            assert "<code>second line</code>" in visitor.page
            assert (
                "<strong>Line 3, out of bounds:</strong> <code>in[9]</code> of 9. Guard it</p>"
                in visitor.page
            )


def test_as_many_drills_are_drawn_as_in_a_terminal(here: Path) -> None:
    what = FORMATS["estimate"]
    library = Library({}, {}, {}, FORMATS, {"estimate": what.discover(ROOT)})
    sat = sittings.begin(Wanted("estimate"), library, here, WorkbookJudge("emulator"))
    assert isinstance(sat, Single)
    assert len(sat.sitting.kept.questions) == what.count


def test_leaving_keeps_what_was_answered_and_it_goes_on(visitor: Visitor, here: Path) -> None:
    visitor.send("/begin", **QUIZ)
    visitor.answer("send", "The bandwidth.")
    visitor.send("/leave")
    while "Broken off, and kept" not in visitor.page:  # on a busy machine it takes a moment
        visitor.page = visitor.client.get("/").text
    assert "of 15 points" not in visitor.page  # the card would tell what is still to be asked
    visitor.send("/door")
    assert "A copy" in visitor.page
    visitor.send("/resume", name="quiz-1.json")
    assert visitor.form == "line"
    through(visitor)
    (talk, *_) = session.load(here / "quiz-1.json").answers
    assert isinstance(talk, Talk)
    assert talk.text == "The bandwidth."


def test_a_session_without_an_answer_is_not_offered(visitor: Visitor, here: Path) -> None:
    visitor.send("/begin", **QUIZ)
    assert "To leave one out costs nothing" in visitor.page
    visitor.send("/leave")
    assert "quiz-1.json" not in visitor.send("/door")
    visitor.send("/begin", **QUIZ)
    visitor.answer("send", "The bandwidth.")
    assert "to skip costs nothing" not in visitor.page
    visitor.send("/leave")
    assert "quiz-2.json" in visitor.send("/door")


def test_what_was_typed_is_shown_where_another_program_has_written(visitor: Visitor, here: Path) -> None:
    visitor.send("/begin", **QUIZ)
    (here / "quiz-1.json").write_bytes((here / "quiz-1.json").read_bytes())
    visitor.answer("send", "The <bandwidth>.")
    assert (
        "Another program has written this session since (quiz-1.json). Go on in one of the two."
        in visitor.page
    )
    assert "The &lt;bandwidth&gt;." in visitor.page
    assert "The &lt;bandwidth&gt;." not in visitor.send("/door")


def test_a_draft_outlives_the_program(visitor: Visitor, here: Path) -> None:
    visitor.send("/begin", **QUIZ)
    sent = visitor.client.post(
        "/draft", data={"number": visitor.number, "typed": "It is bound by"}, headers=ORIGIN
    )
    assert sent.status_code == 204
    killed = (here / "quiz-1.json").read_bytes()  # what a killed program leaves
    visitor.send("/leave")
    (here / "quiz-1.json").write_bytes(killed)
    with little_room.opened() as another:
        another.send("/resume", name="quiz-1.json")
        assert another.field == "It is bound by"


def test_two_windows_see_the_same(visitor: Visitor) -> None:
    visitor.send("/begin", **QUIZ)
    other = Visitor(visitor.room)
    seen = re.search(r'data-version="(\d+)"', other.page)
    assert seen is not None
    visitor.answer("send", "The bandwidth.")
    other.page = other.client.get("/news", params={"seen": seen[1]}).text
    assert (other.form, other.number) == (visitor.form, visitor.number)
    stale = other.number
    visitor.answer("skip")
    other.send("/answer", number=stale, do="send", typed="too late")
    assert other.number == visitor.number


def test_what_is_typed_is_shown_as_text(visitor: Visitor) -> None:
    visitor.send("/begin", **QUIZ)
    visitor.answer("send", "<script>alert(1)</script> ![](http://elsewhere/x) bandwidth \x1b[2J")
    assert "<script>alert" not in visitor.page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; ![](http://elsewhere/x)" in visitor.page
    assert "\x1b" not in visitor.page


def test_one_sits_at_a_time(visitor: Visitor, here: Path) -> None:
    visitor.send("/begin", **QUIZ)
    visitor.send("/begin", **QUIZ)
    assert [path.name for path in here.iterdir()] == ["quiz-1.json"]


def test_what_cannot_be_begun_is_said(visitor: Visitor, here: Path) -> None:
    assert "There is no topic" in visitor.send("/begin", what="quiz", topic="../copy")
    assert "There is no `rm`" in visitor.send("/begin", what="rm")
    assert "to go on with" in visitor.send("/resume", name="../../etc/passwd")
    assert list(here.iterdir()) == []


def test_a_session_whose_kernel_lies_elsewhere_is_not_gone_on_with(visitor: Visitor, here: Path) -> None:
    visitor.send("/begin", what="interview", topic="copy")
    visitor.answer("skip")
    visitor.send("/leave")
    file = here / "interview-copy-1.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"kernel_file": "../precious.txt"}))
    assert "interview-copy-1.json" not in visitor.send("/door")
    assert "to go on with" in visitor.send("/resume", name=file.name)


# ---- who may ask ---------------------------------------------------------------------------------------------


@pytest.fixture
def stranger(visitor: Visitor) -> TestClient:
    """A browser without the cookie."""
    return TestClient(site(visitor.room).application({HOST}, TOKEN), base_url=f"http://{HOST}")


@pytest.mark.parametrize(
    "address", ["/", "/?token=", "/?token=the-tokem", "/news?token=the-token", "/own/room.js"]
)
def test_without_the_token_nothing_is_told(stranger: TestClient, address: str) -> None:
    answer = stranger.get(address)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_the_token_becomes_a_cookie_that_other_sites_do_not_send(stranger: TestClient) -> None:
    cookie = stranger.get("/", params={"token": TOKEN}).headers["set-cookie"]
    assert cookie.startswith("ladder-8000=the-token;")
    assert cookie.endswith("Path=/; HttpOnly; SameSite=Strict")
    assert stranger.get("/").status_code == 200


@pytest.mark.parametrize(
    "host", ["elsewhere.example", "127.0.0.1", "127.0.0.1:8001", "127.0.0.1:8000.example"]
)
def test_another_host_is_refused(visitor: Visitor, host: str) -> None:
    assert visitor.client.get("/", headers={"host": host}).status_code == 403


@pytest.mark.parametrize(
    "origin", [None, "null", "http://elsewhere.example", "http://127.0.0.1:8001", "https://127.0.0.1:8000"]
)
def test_forms_of_other_pages_are_refused(visitor: Visitor, here: Path, origin: str | None) -> None:
    headers = {} if origin is None else {"origin": origin}
    assert visitor.client.post("/begin", data=QUIZ, headers=headers).status_code == 403
    assert list(here.iterdir()) == []


def test_what_is_too_long_or_no_form_is_refused(visitor: Visitor) -> None:
    post = visitor.client.post
    assert post("/answer", data={"typed": LONGEST_BODY * "x"}, headers=ORIGIN).status_code == 413

    def pieces() -> Iterator[bytes]:
        yield b"typed="
        for _ in range(2):
            yield LONGEST_BODY * b"x"

    form = {**ORIGIN, "content-type": "application/x-www-form-urlencoded"}
    assert post("/answer", content=pieces(), headers=form).status_code == 413
    assert post("/answer", json={"typed": "x"}, headers=ORIGIN).status_code == 415
    assert post("/answer", content=b"typed=%ff", headers=form).status_code == 400


def test_pages_may_load_from_the_room_alone(visitor: Visitor) -> None:
    headers = visitor.client.get("/").headers
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert headers["x-content-type-options"] == "nosniff"
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", visitor.page)


@pytest.mark.parametrize(
    "path", ["/own/../room.py", "/own/%2e%2e/room.py", "/static/..%2fguard.py", "/static/"]
)
def test_static_files_are_those_of_the_room(visitor: Visitor, path: str) -> None:
    assert visitor.client.get(path).status_code in (404, 405)
