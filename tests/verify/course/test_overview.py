"""A class as a whole: the report, the board and its pseudonyms, and their commands."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from little_course import TRANSPOSE, LittleCourse, copied, little_course, right, wrong, wrong_when_hidden

from grader.course.overview import board, kept, names, report
from grader.emulator import metrics
from grader.errors import WarpladderError
from grader.ladder import main
from grader.results import CaseResult, FindingResult, Mismatch

pytestmark = pytest.mark.verify

EVIL = "<script>alert(1)</script>\x1b[2J"


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> LittleCourse:
    return little_course(tmp_path_factory.mktemp("course") / "cuda")


@pytest.fixture
def course(released: LittleCourse, tmp_path: Path) -> LittleCourse:
    """A course that a test may change."""
    return copied(released, tmp_path / "cuda")


def race(message: str) -> FindingResult:
    return FindingResult("race", 3, message)


MISMATCH = Mismatch("out", [0], 1.0, 2.0, 0.0, 1, 1)
CASE = CaseResult({"M": 1, "N": 1}, 1, "fail", None, MISMATCH)
FAST = {metrics.WARP_INSTRUCTIONS: 10, metrics.GLOBAL_SECTORS["ld"]: 4, metrics.GLOBAL_SECTORS["st"]: 4}


@pytest.fixture
def marked(course: LittleCourse, monkeypatch: pytest.MonkeyPatch) -> LittleCourse:
    """A class of nine, and one who has not been marked yet."""
    course.mark(
        monkeypatch,
        ada=right("05_float4_tile", time_s=5e-4, time_source="modelled", counters=FAST),
        bob=right("02_shared_tile", time_s=9e-4, time_source="modelled", counters={}),
        cleo=right("02_shared_tile", time_s=5e-4, time_source="modelled"),
        dan=right("00_naive"),
        eve=wrong(findings=[race(EVIL), race("again")]),
        fay=wrong(findings=[race("once more"), FindingResult("out_of_bounds", 1, "out")]),
        gus=wrong("error", "The compiler refuses it: mine.cu:3: expected `;`\nfloat x"),
        hal=wrong("error", "The compiler refuses it: mine.cu:99: expected `)`"),
        ian=wrong(cases=[CASE]),
        kim=wrong_when_hidden("7919"),
        leo=wrong("timeout", "A block of `naive` executed 1,000 instructions."),
    )
    course.hand_in(late="int late;")
    return course


@pytest.fixture
def ladder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs `ladder course ARGUMENTS…` at 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ladder", "course", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


def the_report(course: LittleCourse) -> report.Report:
    (found,) = report.of_class(kept.of_course(course.root, "transpose"))
    return found


# ---- the report --------------------------------------------------------------------------------------------


def test_who_reached_what(marked: LittleCourse) -> None:
    found = the_report(marked)
    assert (found.submitted, found.marked, found.passed) == (12, 11, 4)
    assert [(rung.reached, rung.stayed) for rung in found.rungs] == [
        (4, 1), (3, 0), (3, 2), (1, 0), (1, 0), (1, 1)
    ]  # fmt: skip
    assert [item.student for item in found.unmarked] == ["late"]


def test_which_claims_hold_and_which_keep_students_back(marked: LittleCourse) -> None:
    by_rung = {claim.rung: (claim.held, claim.failed, claim.first) for claim in the_report(marked).claims}
    assert by_rung["00_naive"] == (4, 0, 0)
    assert by_rung["01_coalesced_writes"] == (3, 1, 1)
    assert by_rung["03_padded_tile"] == (1, 3, 2)


def test_mistakes_by_kind_the_most_frequent_first(marked: LittleCourse) -> None:
    found = {item.kind: (item.students, item.example) for item in the_report(marked).mistakes}
    assert list(found)[:2] == ["The compiler refuses it", "race"]
    assert found["race"] == (["eve", "fay"], "again"), "a student once, however often it happened"
    assert found["The compiler refuses it"][0] == ["gus", "hal"]
    assert {kind: students for kind, (students, _) in found.items() if len(students) == 1} == {
        "out of bounds": ["fay"],
        report.WRONG_VALUES: ["ian"],
        report.NO_END: ["leo"],
        report.HIDDEN_CASE: ["kim"],
    }
    assert found[report.HIDDEN_CASE][1] == ""


def test_points_are_sorted_into_parts(marked: LittleCourse) -> None:
    points = the_report(marked).points
    assert sum(part.students for part in points.parts) == 11
    by_span = {(part.least, part.most): part.students for part in points.parts}
    assert (by_span[0, 0], by_span[1, 10], by_span[41, 50], by_span[91, 100]) == (7, 1, 2, 1)
    assert (points.lowest, points.median, points.highest, points.most) == (0, 0, 100, 100)
    assert points.mean == pytest.approx((100 + 50 + 50 + 10) / 11)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("The kernel cannot be launched: a block of 2048 × 1 × 1 = 2048 threads", "The kernel cannot be launched"),
        ("`tile` needs 99 bytes (and more). Do less.", "… needs … bytes (and more)"),
        ("no end", "no end"),
        ("", ""),
    ],
)  # fmt: skip
def test_equal_mistakes_read_the_same(reason: str, kind: str) -> None:
    assert report._without_details(reason) == kind


def test_the_report_is_made_of_kept_marks_alone(course: LittleCourse) -> None:
    course.hand_in(ada="int a;")
    whole = kept.of_course(course.root, "transpose")
    assert report.of_class(whole) == []
    with pytest.raises(WarpladderError, match="ladder course mark transpose"):
        whole.needs_marks("transpose")


# ---- the board ---------------------------------------------------------------------------------------------


def test_places_by_time_and_by_counters(marked: LittleCourse) -> None:
    whole = kept.of_course(marked.root, "transpose")
    called = board.names_of(whole)
    (found,) = board.of_class(whole, "time")
    ranks = {place.pseudonym: place.rank for place in found.places}
    assert ranks == {called["ada"]: 1, called["cleo"]: 1, called["bob"]: 3, called["dan"]: 4}
    assert found.absent == 7
    (found,) = board.of_class(whole, "bytes")
    assert (found.places[0].pseudonym, found.places[0].values["bytes"]) == (called["ada"], 8 * 32)
    with pytest.raises(WarpladderError, match="did you mean `wavefronts`"):
        board.of_class(whole, "wavefront")


def test_a_pseudonym_stays_when_others_come(marked: LittleCourse) -> None:
    whole = kept.of_course(marked.root, "transpose")
    one = board.name_of(whole, "ada")
    marked.hand_in(**{f"new{n}": "int a;" for n in range(30)})
    assert board.name_of(kept.of_course(marked.root, "transpose"), "ada") == one
    assert re.fullmatch(r"[a-z]+-[a-z]+-\d{3}", one)


def test_pseudonyms_differ_by_student_course_and_secret() -> None:
    class_ = [f"s{n}" for n in range(300)]
    found = names.pseudonyms(7, "cuda", class_)
    assert len(set(found.values())) == 300
    assert found == names.pseudonyms(7, "cuda", reversed(class_))
    for other in (names.pseudonyms(8, "cuda", class_), names.pseudonyms(7, "hpc", class_)):
        assert sum(other[student] == found[student] for student in class_) < 3


def test_those_that_would_be_alike_have_longer_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "ADJECTIVES", ["amber"])
    monkeypatch.setattr(names, "ANIMALS", ["fox"])
    found = names.pseudonyms(7, "cuda", [f"s{n}" for n in range(500)])
    assert len(set(found.values())) == 500
    assert {len(name) for name in found.values()} == {len("amber-fox-417"), len("amber-fox-417417417")}


def test_words_are_words_and_each_stands_once() -> None:
    for words in (names.ADJECTIVES, names.ANIMALS):
        assert len(set(words)) == len(words) >= 64
        assert all(word.isalpha() and word.islower() for word in words)


# ---- the commands ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["report", "board", "similar"])
def test_pages_and_tables(
    command: str, marked: LittleCourse, ladder: Callable[..., Any], tmp_path: Path
) -> None:
    html, data = tmp_path / "page.html", tmp_path / "data.json"
    options = ("--course", marked.root, "--html", html, "--json", data)
    code, out, _ = ladder(command, "transpose", *options)
    assert code == 0
    assert all(len(line) <= 80 for line in out.splitlines())
    page = html.read_text(encoding="utf-8")
    assert not re.search(r"<script|<link(?! rel=\"icon\" href=\"data:)|src=|url\(|@import", page)
    assert "\x1b" not in page + out.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert isinstance(json.loads(data.read_text()), list)
    if command == "board":
        assert not re.search(r"\b(ada|bob|cleo|dan|eve|late)\b", page + out + data.read_text())


def test_json_on_standard_output_is_alone_there(marked: LittleCourse, ladder: Callable[..., Any]) -> None:
    code, out, err = ladder("report", "transpose", "--course", marked.root, "--json", "-")
    assert (code, json.loads(out)[0]["marked"]) == (0, 11)
    assert "11 of 12 submissions marked" in err


def test_a_student_is_told_a_pseudonym(marked: LittleCourse, ladder: Callable[..., Any]) -> None:
    code, out, _ = ladder("board", "transpose", "--course", marked.root, "--who", "ada")
    assert (code, out.strip()) == (0, board.name_of(kept.of_course(marked.root, "transpose"), "ada"))
    code, _, err = ladder("board", "transpose", "--course", marked.root, "--who", "adda")
    assert code == 2
    assert "did you mean `ada`" in " ".join(err.split())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("report", "reduce"), "there is no assignment `reduce` yet"),
        (("similar", "transpose"), "nobody has submitted anything to `transpose`"),
        (("board", "transpose", "--html", "nowhere/at/all.html"), "there is no such folder"),
        (("gradescope", "transpose", "out.tar"), "end it in .zip"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: tuple[str, ...], says: str, course: LittleCourse, ladder: Callable[..., Any]
) -> None:
    code, _, err = ladder(*arguments, "--course", course.root)
    assert code == 2
    assert says in " ".join(err.split())


def test_without_what_compares_sources_it_says_what_to_install(
    course: LittleCourse, ladder: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *of: None if name == "copydetect" else known(name, *of)
    )
    code, _, err = ladder("similar", "transpose", "--course", course.root)
    assert code == 2
    assert "copydetect is not installed" in err


def test_copies_are_shown_side_by_side(
    course: LittleCourse, ladder: Callable[..., Any], tmp_path: Path
) -> None:
    shared = "__device__ int f(int x, int y) { while (x != y) { if (x > y) x -= y; else y -= x; } do x ^= y; "
    source = f"{shared} while (x); return y; }}\n// {EVIL}"
    naive = TRANSPOSE.rung("00_naive").source
    course.hand_in(ada=naive + source, bob=naive + source.replace("x", "zeta"), cleo=naive)
    code, out, _ = ladder("similar", "transpose", "--course", course.root, "--html", tmp_path / "page.html")
    assert code == 0
    assert re.search(r"100 % +ada \(100 %\) +bob \(100 %\)", out)
    assert "cleo" not in out
    assert "A person decides" in out
    page = (tmp_path / "page.html").read_text()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
