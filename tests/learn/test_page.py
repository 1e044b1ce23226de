"""The page to learn on, by forms alone: exercises and ladders, the file, hints, and what is reached."""

import re
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from grader.errors import WarpladderError
from grader.history.outcomes import Graded
from grader.history.store import Store
from grader.learn import way
from grader.learn.app import site
from grader.learn.desk import CHANGED, Desk, Verdict
from grader.results import Grade, Hint
from grader.workbook import exercises, topics

HOST, TOKEN = "127.0.0.1:8000", "the-token"
ORIGIN = {"origin": f"http://{HOST}"}
FIRST, SECOND = list(exercises.discover().values())[:2]


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Desk:
    monkeypatch.setenv("WARPLADDER_HOME", str(tmp_path / "home"))
    (tmp_path / "here").mkdir()
    return Desk(tmp_path / "here", "emulator")


@pytest.fixture
def browser(desk: Desk) -> TestClient:
    found = TestClient(site(desk).application({HOST}, TOKEN), base_url=f"http://{HOST}")
    found.get("/", params={"token": TOKEN})
    return found


def judged(browser: TestClient, name: str, typed: str, seen: str = "") -> str:
    """The page after a verdict."""
    return browser.post(f"/grade/{name}", data={"typed": typed, "seen": seen}, headers=ORIGIN).text


def test_it_begins_with_the_first_exercise_and_shows_a_case(browser: TestClient) -> None:
    page = browser.get("/").text
    assert f"<h1>{FIRST.title}</h1>" in page
    assert f'<a href="/at/{FIRST.name}" aria-current="page">' in page
    assert "y, expected" in page
    assert "BEGIN SOLUTION" not in page


def test_a_wrong_kernel_is_told_in_boxes_and_a_right_one_leads_on(browser: TestClient, desk: Desk) -> None:
    assert browser.get(f"/picture/{FIRST.name}.svg").status_code == 404
    page = judged(browser, FIRST.name, FIRST.starter_text)
    assert '<span class="bad">WRONG</span></h2>' in page
    assert '<td class="wrong">unwritten<span class="unseen"> (wrong)</span></td>' in page
    page = judged(browser, FIRST.name, FIRST.solution_text, desk.stamp(FIRST.name))
    assert '<span class="good">RIGHT</span>' in page
    assert f'href="/at/{SECOND.name}">Next: {SECOND.title}</a>' in page
    drawn = browser.get(f"/picture/{FIRST.name}.svg")
    assert drawn.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'"
    assert ElementTree.fromstring(drawn.text).tag.endswith("svg")
    with Store() as store:
        assert [(each.topic, each.verdict) for each in store.grades()] == [
            (FIRST.name, "fail"),
            (FIRST.name, "pass"),
        ]
    assert f"<h1>{SECOND.title}</h1>" in browser.get("/").text


def test_a_right_kernel_is_compared_and_one_that_is_not_as_asked_leads_nowhere(
    browser: TestClient, desk: Desk
) -> None:
    alone = FIRST.solution_text.replace("const int i = threadIdx.x;", "for (int i = 0; i < N; ++i)")
    page = judged(browser, FIRST.name, alone)
    assert "RIGHT</span> " in page
    assert "and not yet what the task asks for" in page
    assert "yours: 40 elements written by a thread; at most 1 required (N = 40)." in page
    assert "Next:" not in page
    assert "The solution of the workbook" not in page
    page = judged(browser, FIRST.name, FIRST.solution_text, desk.stamp(FIRST.name))
    assert "The solution of the workbook" in page


def test_a_verdict_on_what_was_in_the_file_before_is_marked(browser: TestClient, desk: Desk) -> None:
    judged(browser, FIRST.name, FIRST.solution_text)
    assert 'class="earlier"' not in browser.get(f"/at/{FIRST.name}").text
    desk.file(FIRST.name).write_text("// another\n")
    assert 'class="earlier"' in browser.get(f"/at/{FIRST.name}").text


def test_what_a_wrong_kernel_accesses_is_drawn(browser: TestClient) -> None:
    judged(browser, FIRST.name, FIRST.solution_text.replace("+ 10", "+ 11"))
    assert browser.get(f"/picture/{FIRST.name}.svg").status_code == 200


def test_what_the_solution_of_an_exercise_accesses_is_drawn(browser: TestClient) -> None:
    first, again = (browser.get(f"/picture/{FIRST.name}.svg?solved").text for _ in range(2))
    assert "written to global" in first
    assert first == again
    assert f"/picture/{FIRST.name}.svg?solved" in browser.get(f"/at/{FIRST.name}").text
    assert browser.get("/picture/vector_add.svg?solved").status_code == 404


def test_a_ladder_is_judged_beside_its_lesson(browser: TestClient) -> None:
    assert "The code of 01_one_element" in browser.get("/at/vector_add?section=5").text
    starter = topics.load("vector_add").starter_text
    assert "WRONG" in judged(browser, "vector_add", starter)
    assert "A hint" in browser.get("/at/vector_add").text


def test_hints_come_one_after_the_other(browser: TestClient) -> None:
    for told in range(1, 4):
        page = browser.post(f"/hint/{FIRST.name}", data={"x": ""}, headers=ORIGIN).text
        assert page.count("data-hint>") == told
    assert "data-hint-form" not in page


def test_what_is_typed_is_a_file_of_the_learners(browser: TestClient, desk: Desk) -> None:
    file = desk.file(FIRST.name)
    browser.get(f"/at/{FIRST.name}")
    assert not file.exists()
    kept = browser.post(f"/keep/{FIRST.name}", data={"typed": "// mine\r\n", "seen": ""}, headers=ORIGIN)
    assert file.read_text() == "// mine\n"
    assert kept.json() == {"stamp": desk.stamp(FIRST.name)}
    assert re.search(r"<textarea[^>]*>\n// mine\n</textarea>", browser.get(f"/at/{FIRST.name}").text)


def test_what_another_editor_has_written_is_shown_and_not_written_over(
    browser: TestClient, desk: Desk
) -> None:
    file = desk.file(FIRST.name)
    file.write_text("// theirs\n")
    refused = browser.post(f"/keep/{FIRST.name}", data={"typed": "// mine", "seen": ""}, headers=ORIGIN)
    assert (refused.status_code, refused.json()) == (409, {"complaint": CHANGED})
    assert CHANGED in judged(browser, FIRST.name, "// mine")
    assert file.read_text() == "// theirs\n"
    found = browser.get(f"/changed/{FIRST.name}", params={"seen": ""}).json()
    assert found == {"stamp": desk.stamp(FIRST.name), "source": "// theirs\n"}


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"caf\xe9", "it is no UTF-8 text"), ((1 << 20) * b"/", "it is too long for the page")],
)
def test_what_is_no_kernel_is_neither_shown_nor_written_over(
    browser: TestClient, desk: Desk, content: bytes, said: str
) -> None:
    file = desk.file(FIRST.name)
    file.write_bytes(content)
    shown = browser.get(f"/at/{FIRST.name}")
    assert (shown.status_code, said in shown.text) == (422, True)
    for address in ("grade", "keep"):
        browser.post(
            f"/{address}/{FIRST.name}", data={"typed": "x", "seen": desk.stamp(FIRST.name)}, headers=ORIGIN
        )
    assert file.read_bytes() == content


def test_a_link_leads_to_the_file_that_is_written(browser: TestClient, desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "mine.cu"
    elsewhere.write_text("// before\n")
    desk.file(FIRST.name).symlink_to(elsewhere)
    browser.post(
        f"/keep/{FIRST.name}", data={"typed": "// after", "seen": desk.stamp(FIRST.name)}, headers=ORIGIN
    )
    assert elsewhere.read_text() == "// after\n"
    assert desk.file(FIRST.name).is_symlink()


def test_a_folder_that_cannot_be_written_is_told(browser: TestClient, desk: Desk) -> None:
    desk.file(FIRST.name).mkdir()
    assert "it cannot be written: Is a directory" in judged(
        browser, FIRST.name, "// mine", desk.stamp(FIRST.name)
    )


def test_a_history_that_cannot_be_used_costs_no_verdict(
    browser: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("WARPLADDER_HOME", str(tmp_path / "file"))
    page = judged(browser, FIRST.name, FIRST.solution_text)
    assert "RIGHT" in page
    assert "Ticks are not kept:" in page


def test_a_grade_that_cannot_be_noted_is_told_where_the_history_can_be_read(
    browser: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*grade: object) -> None:
        raise WarpladderError("there is no space left")

    monkeypatch.setattr("grader.learn.desk.remember", full)
    page = judged(browser, FIRST.name, FIRST.solution_text)
    assert "RIGHT" in page
    assert "Ticks are not kept: there is no space left" in page


@pytest.mark.parametrize(
    "address",
    ["/at/..", "/at/no-such", "/at/%2e%2e%2fx", "/picture/x.svg", "/changed/x", "/own/../desk.py", "/own/"],
)
def test_what_is_no_stop_of_the_way_is_not_found(browser: TestClient, address: str) -> None:
    assert browser.get(address, follow_redirects=False).status_code in (303, 404)


def test_it_is_guarded_as_the_room_is(desk: Desk, browser: TestClient) -> None:
    stranger = TestClient(site(desk).application({HOST}, TOKEN), base_url=f"http://{HOST}")
    assert stranger.get(f"/at/{FIRST.name}").status_code == 403
    elsewhere = {"origin": "http://elsewhere.example"}
    assert browser.post(f"/grade/{FIRST.name}", data={"typed": "x"}, headers=elsewhere).status_code == 403
    assert (
        browser.post(f"/keep/{FIRST.name}", data={"typed": (1 << 20) * "x"}, headers=ORIGIN).status_code
        == 413
    )
    assert not desk.file(FIRST.name).exists()


# ---- the way -------------------------------------------------------------------------------------------------


def reached(*topics_and_rungs: tuple[str, str]) -> list[way.Stop]:
    grades = [
        Graded(topic, datetime(2026, 1, 1, tzinfo=UTC), f"{topic}.cu", f"{number:064}", "pass", rung)
        for number, (topic, rung) in enumerate(topics_and_rungs)
    ]
    return way.stops(topics.discover(), exercises.discover(), grades)


def test_exercises_stand_before_the_ladder_that_they_prepare() -> None:
    found = reached()
    names = [stop.name for stop in found]
    assert names.index(FIRST.name) < names.index(SECOND.name) < names.index("vector_add")
    assert way.here(found).name == FIRST.name


def test_the_way_goes_on_behind_what_is_done_and_comes_back_to_what_is_left() -> None:
    every = [stop.name for stop in reached()]
    found = reached((SECOND.name, "solution"))
    assert way.here(found).name == FIRST.name
    after = way.after(found, FIRST.name)
    assert after is not None
    assert after.name == every[2]
    rungs = topics.load("transpose").ladder.ids
    assert not next(stop for stop in reached(("transpose", rungs[2])) if stop.name == "transpose").done
    assert next(stop for stop in reached(("transpose", rungs[3])) if stop.name == "transpose").done


def test_where_time_alone_is_lacking_the_last_hint_is_the_rungs_own_file(desk: Desk) -> None:
    rung = "04_swizzled_tile"
    slow = Hint(rung, "It takes 2 ms: several elements.", None, 2e-3, 1e-3, idea=False)
    grade = Grade("transpose", "mine.cu", "pass", None, "03_padded_tile", 70, 100, [], [], [], [slow])
    desk.verdicts["transpose"] = Verdict(grade, "", [], None)
    told, own_file = desk.hints("transpose", 4)
    assert told == slow.text
    assert own_file.startswith("```cuda\n// /// launch")
    assert own_file.endswith("}\n```")
