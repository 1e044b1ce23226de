"""The parts of marking a course: sources, hidden cases, marks, and what learners are told of them."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from faked_marking import answer_by

from grader import course, cuda
from grader.course import feedback, hidden, includes, marking, sources
from grader.course.engines.threads import Threads
from grader.course.folder import create
from grader.course.hidden import Hidden
from grader.course.marking import Marker
from grader.course.orders import Answer, Marked, Order
from grader.errors import WarpladderError
from grader.judge.kernels.case_runner import work
from grader.lab import show
from grader.ladder import main
from grader.report import reproducing
from grader.results import CaseResult, ClaimResult, Device, Grade, Hint, Reproduce
from grader.workbook import topics

TOPICS = topics.discover()
TRANSPOSE = TOPICS["transpose"]
NAIVE = TRANSPOSE.rung("00_naive").source


# ---- sources -----------------------------------------------------------------------------------------------


def test_lines_of_a_source_are_those_of_the_cell() -> None:
    assert sources.of_cell("%%kernel mine --topic transpose\na\nb\n") == "\na\nb\n"
    assert sources.of_cell("\n\n%%kernel\na") == "\n\n\na\n"


@pytest.mark.parametrize(
    "cell", ["\ufeff%%kernel mine\na\nb", "%%kernel mine\n\ufeffa\rb", "%%kernel mine\r\na\r\nb"]
)
def test_a_cell_is_read_as_a_file_is(cell: str) -> None:
    """By the mark, by likeness and by the notebook: without a byte-order mark, and with whatever line ends."""
    assert sources.of_cell(cell) == "\na\nb\n"


def test_a_file_is_read_with_whatever_line_ends() -> None:
    assert sources.text_of("\ufeffa\rb\r\nc\n".encode()) == ("a\nb\nc\n", "")


def test_a_cell_without_its_magic_is_all_source() -> None:
    assert sources.of_cell("int a;\n%%kernel mine\nint b;") == "\nint a;\n%%kernel mine\nint b;\n"


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        ('#include "/etc/passwd"', 1, "/etc/passwd"),
        ("int a;\n#include <mine.h>", 2, "mine.h"),
        ("#include <../../../../../../etc/passwd>", 1, "../../../../../../etc/passwd"),
        ('a\n#inc\\\nlude "x.h"', 2, "x.h"),
        ('# \\  \n include "x.h"', 1, "x.h"),
        ('#/* a\n */include/**/"x.h"', 1, "x.h"),
        ('%:include "x.h"', 1, "x.h"),
        ("#define HEADER <x.h>\n#include HEADER", 2, "HEADER"),
        ("#include_next <x.h>", 1, "x.h"),
        ('const char* s = R"(/*)"; \n#include "x.h" // */', 2, "x.h"),
        ("#include <crt>", 1, "crt"),
        ('int a;\r#include "x.h"', 2, "x.h"),
        ('a\r\n#include "x.h"\r\n', 2, "x.h"),
        ('#inc\\\r\nlude "x.h"', 1, "x.h"),
        ('??=include "x.h"', 1, "x.h"),
        ('int a;\n#if __has_include("/etc/passwd")', 2, "/etc/passwd"),
        ("#if __has_include ( <x.h> )", 1, "x.h"),
        ("#define ASK __has_include", 1, ""),
        ('#embed "/etc/passwd"', 1, "/etc/passwd"),
        ('#include "' + "x" * 5000 + '"', 1, "x" * 5000),
        ('#include "a\0b"', 1, "a\0b"),
    ],
)
def test_files_of_the_machine_are_not_included(text: str, line: int, name: str) -> None:
    assert includes.foreign_include(text) == (line, name)


@pytest.mark.parametrize(
    "text",
    [
        "#include <cuda_fp16.h>\n",
        '#include "mma.h"',
        "  # include <cstdint>  // integers",
        "#define include 1",
        "#if __has_include(<cuda_fp16.h>)",
        NAIVE,
    ],
)
def test_headers_of_cuda_are(text: str) -> None:
    assert includes.foreign_include(text) is None


@pytest.mark.parametrize(
    ("coding", "says"),
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("utf-16", "read as utf-16"),
        ("utf-32", "read as utf-32"),
        ("latin-1", "read as latin-1"),
    ],
)
def test_a_file_is_read_as_it_was_written(coding: str, says: str) -> None:
    assert sources.text_of("// größer\n".encode(coding)) == ("// größer\n", says)


@pytest.mark.parametrize("data", [b"", b" \n", b"\xef\xbb\xbf", b"a\0b", b"\xff\xfea"])
def test_what_is_no_text_is_unreadable(data: bytes) -> None:
    with pytest.raises(sources.UnreadableFile):
        sources.text_of(data)


@pytest.mark.parametrize(
    "text",
    ["#" + "/**/" * 40 + " x", "#/*" * 40_000, "#/*" * 40_000 + "*/", "#" + " " * 200_000, "/*" * 100_000],
)
def test_long_texts_are_read_at_once(text: str) -> None:
    begun = time.monotonic()
    includes.foreign_include(text)
    assert time.monotonic() - begun < 5.0


def test_no_rung_of_a_kernel_includes_anything_foreign() -> None:
    kernels = [file for topic in TOPICS.values() for file in topic.kernel_files]
    assert [file.path for file in kernels if includes.foreign_include(file.source)] == []


# ---- hidden cases ------------------------------------------------------------------------------------------


def test_hidden_cases_are_sizes_of_the_topic_and_none_of_its_own() -> None:
    for seed in range(20):
        drawn = hidden.draw(TOPICS.values(), seed)
        assert drawn.secret.bit_length() == 128, "pseudonyms are made with it"
        assert 1 < drawn.seed < 2**31
        for topic in TOPICS.values():
            most = max(work(topic, problem) for problem in topic.judge_cases)
            assert len(drawn.of(topic)) == hidden.SIZES_A_TOPIC
            for problem in drawn.of(topic):
                assert problem not in topic.judge_cases
                assert topic.problem("count", problem) == problem
                assert work(topic, problem) <= most


def test_no_two_courses_have_the_same_hidden_cases() -> None:
    assert hidden.draw([TRANSPOSE]) != hidden.draw([TRANSPOSE])
    assert hidden.draw([TRANSPOSE], 3) == hidden.draw([TRANSPOSE], 3), "but from one seed"


def test_the_file_says_what_was_drawn(tmp_path: Path) -> None:
    drawn = hidden.draw(TOPICS.values(), 5)
    path = tmp_path / "hidden.toml"
    path.write_text(hidden.to_toml(drawn), encoding="utf-8")
    assert hidden.load(path, TOPICS) == drawn


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("seed = 1\n", 1, "the public one"),
        ("seed = 7\n[[transpose]]\nM = 3\n", 2, "`N` is missing"),
        ("seed = 7\n[[transpose]]\nM = 3\nN = 0\n", 2, "sizes start at 1"),
        ("seed = 7\n[[transposed]]\nM = 3\nN = 2\n", 2, "transpose"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_with_its_line(
    tmp_path: Path, text: str, line: int, says: str
) -> None:
    path = tmp_path / "hidden.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(WarpladderError) as caught:
        hidden.load(path, TOPICS)
    assert caught.value.line == line
    assert says in str(caught.value)


def test_hidden_cases_that_are_lost_are_missed(tmp_path: Path) -> None:
    with pytest.raises(WarpladderError, match="hidden cases are missing"):
        hidden.load(tmp_path / "hidden.toml", TOPICS)


# ---- marks -------------------------------------------------------------------------------------------------


def graded(verdict: str = "pass", reached: str | None = "01_coalesced_writes", **changed: object) -> Grade:
    """A grade of the transpose whose claims hold for rung 01 and, out of turn, for 03."""
    held = ("00_naive", "01_coalesced_writes", "03_padded_tile")
    claims = [ClaimResult(c.text, c.rung in held, 2.0, c.rung, c.points, limit=1.0) for c in TRANSPOSE.claims]
    grade = Grade(
        topic="transpose",
        file="mine.cu",
        verdict=verdict,  # type: ignore[arg-type]
        reason=None if verdict == "pass" else "It is wrong.",
        rung_reached=reached,
        points=25,
        max_points=100,
        cases=[],
        findings=[],
        claims=claims,
        hints=[Hint("02_shared_tile", "Try a tile.")],
    )
    return dataclasses.replace(grade, **changed)  # type: ignore[arg-type]


def test_points_are_earned_rung_by_rung() -> None:
    grade = graded()
    points = {rung.id: feedback.earned(TRANSPOSE, grade, rung.id) for rung in TRANSPOSE.rungs}
    assert points == {
        "00_naive": 10,
        "01_coalesced_writes": 15,
        "02_shared_tile": 0,
        "03_padded_tile": 0,
        "04_swizzled_tile": 0,
        "05_float4_tile": 0,
    }
    assert sum(feedback.worth(TRANSPOSE, rung.id) for rung in TRANSPOSE.rungs) == TRANSPOSE.max_points


def test_a_wrong_kernel_earns_nothing_for_what_it_counts() -> None:
    assert feedback.earned(TRANSPOSE, graded("fail"), "00_naive") == 0


@pytest.mark.parametrize(
    ("rung", "says"),
    [
        ("00_naive", "00_naive: 10 of 10 points"),
        ("02_shared_tile", "Next: Try a tile."),
        ("02_shared_tile", "reads are coalesced as well"),
        ("03_padded_tile", "one below is missing"),
    ],
)
def test_a_rungs_feedback_says_why(rung: str, says: str) -> None:
    shown = show.as_text(feedback.of_rung(TRANSPOSE, graded(), rung, []))
    assert says in " ".join(shown.split())


def test_feedback_of_a_wrong_kernel_says_so_in_every_cell() -> None:
    wrong = graded("fail", None, claims=[], hints=[])
    for rung in TRANSPOSE.rungs:
        assert "for kernels that pass every case" in show.as_text(
            feedback.of_rung(TRANSPOSE, wrong, rung.id, [])
        )


def test_of_hidden_cases_only_that_one_is_wrong_is_told() -> None:
    sizes = {"M": 7919, "N": 6007}
    again = Reproduce("transpose", "mine.cu", sizes, 424242)
    case = CaseResult(sizes, 424242, "fail", None, None, reason="wrong", reproduce=again)
    there = graded("fail", None, reason="out[7918] is 1, where M=7919", cases=[case])
    shown = Marked(graded(), there).shown(TRANSPOSE)
    assert (shown.verdict, shown.points, shown.rung_reached) == ("fail", 0, None)
    pages = [show.as_html(feedback.of_rung(TRANSPOSE, shown, rung.id, [])) for rung in TRANSPOSE.rungs]
    assert "All public cases are right" in pages[0]
    assert not any(secret in page for page in pages for secret in ("7919", "6007", "424242", "7918"))


def test_a_public_case_is_told_with_the_call_that_runs_it_again() -> None:
    sizes = {"M": 3, "N": 5}
    given = Reproduce("transpose", "mine.cu", sizes, 1)
    case = CaseResult(sizes, 1, "fail", None, None, reason="wrong", reproduce=given)
    shown = Marked(graded("fail", None, cases=[case])).shown(TRANSPOSE)
    assert shown.cases[0].reproduce is not None
    assert reproducing.again(shown.cases[0].reproduce) == 'lab.grade("mine", M=3, N=5, seed=1)'


def test_what_a_schedule_says_where_it_is_marked_is_not_passed_on() -> None:
    said = graded("error", None, topic="streams", reason="mine.py:3: ValueError: seed = 424242")
    assert "424242" not in str(Marked(said).shown(TOPICS["streams"]))


def a_marker(tmp_path: Path, seed: int = 7) -> Marker:
    return Marker(tmp_path / "marks", Hidden(seed, {"transpose": [{"M": 5, "N": 9}]}))


def all_marked_as_right(monkeypatch: pytest.MonkeyPatch) -> list[Order]:
    """Have every source marked as right; returns what is asked."""
    asked: list[Order] = []

    def ask(order: Order, seconds: float) -> Answer:
        asked.append(order)
        return Answer(Marked(graded(), graded()))

    answer_by(monkeypatch, ask)
    return asked


def test_the_same_source_is_marked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = all_marked_as_right(monkeypatch)
    marker = a_marker(tmp_path)
    assert marker.known(TRANSPOSE, NAIVE) is None
    assert marker.mark(TRANSPOSE, NAIVE) == marker.mark(TRANSPOSE, NAIVE) == marker.known(TRANSPOSE, NAIVE)
    assert [order.sizes for order in asked] == [({"M": 5, "N": 9},)]
    marker.mark(TRANSPOSE, NAIVE, again=True)
    marker.mark(TRANSPOSE, NAIVE + "\n")
    a_marker(tmp_path, seed=8).mark(TRANSPOSE, NAIVE)
    assert len(asked) == 4
    assert (marker.cache.stat().st_mode & 0o077) == 0, "others may not read what holds hidden cases"


READS_KEPT_MARKS_IN_THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from grader.workbook import topics
from grader.course import hidden, marking
from grader.judge.grade import refused

topic = topics.load("transpose")
marker = marking.Marker(Path(sys.argv[1]), hidden.draw([topic], 3))
kept = marking.Marked(refused(topic, "mine.cu", "error", "kept"))
for source in "abcd":
    marker._keep(marker._order(topic, source), kept)
sys.setswitchinterval(1e-6)
with ThreadPoolExecutor(2) as pool:
    assert [kept] * 4 == list(pool.map(lambda source: marker.known(topic, source), "abcd"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(3))
def test_kept_marks_are_read_in_threads(tmp_path: Path, attempt: int) -> None:
    """In a new process each time: what is at stake happens the first time that a mark is decoded."""
    subprocess.run([sys.executable, "-c", READS_KEPT_MARKS_IN_THREADS, tmp_path], check=True)


def test_what_cannot_be_marked_is_an_error_and_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_by(monkeypatch, lambda order, seconds: Answer(complaint="there is no device"))
    marker = a_marker(tmp_path)
    with pytest.raises(WarpladderError, match="there is no device"):
        marker.mark(TRANSPOSE, NAIVE)
    assert marker.known(TRANSPOSE, NAIVE) is None


def test_a_marking_process_whose_parent_has_died_ends_before_it_imports_what_takes_long() -> None:
    """Of a class that is killed, nothing is to run on, however slowly a busy machine imports."""
    nobody = "1"  # no parent of what is started here
    command = [sys.executable, "-X", "importtime", "-m", "grader.course.worker", nobody]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "grader.sandbox.confine" in ended.stderr
    assert "grader.judge" not in ended.stderr


@pytest.mark.parametrize("times_lost", [0, 1, 2])
def test_what_could_not_be_marked_is_tried_once_more_alone(
    times_lost: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, through, under_way = [], [], []

    def ask(order: Order, seconds: float) -> Answer:
        under_way.append(order.source)
        try:
            if order.source == "b" and len(lost) < times_lost:
                lost.append(len(under_way))
                return Answer(complaint="it ended with signal SIGKILL")
            time.sleep(0.05)
            return Answer(Marked(graded(), graded()))
        finally:
            under_way.remove(order.source)

    answer_by(monkeypatch, ask)
    marker = a_marker(tmp_path)
    marks = marking.mark_all(
        marker, [(TRANSPOSE, source) for source in "abc"], Threads(2), done=through.append
    )
    assert sorted(through) == [0, 1, 2]
    assert [isinstance(mark, Marked) for mark in marks] == [True, times_lost < 2, True]
    assert [marker.known(TRANSPOSE, source) is not None for source in "abc"] == [True, times_lost < 2, True]
    assert lost[1:] == [1] * (times_lost - 1), "alone"
    if times_lost == 2:
        assert "it could not be marked: it ended with signal SIGKILL" in str(marks[1])


def test_a_mark_that_cannot_be_kept_ends_the_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def ask(order: Order, seconds: float) -> Answer:
        asked.append(order.source)
        time.sleep(0.0 if len(asked) == 1 else 0.5)  # the first mark is not kept meanwhile
        return Answer(Marked(graded(), graded()))

    answer_by(monkeypatch, ask)
    marker = a_marker(tmp_path)
    marker.cache.touch()
    with pytest.raises(WarpladderError, match="marks cannot be written"):
        marking.mark_all(marker, [(TRANSPOSE, source) for source in "abcdefgh"], Threads(1))
    assert len(asked) < 8


def test_a_topic_whose_python_may_run_unconfined_is_marked_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = all_marked_as_right(monkeypatch)
    marker = a_marker(tmp_path)
    allowed = dataclasses.replace(marker, unconfined=["streams"])
    allowed.mark(TOPICS["streams"], "class Schedule: ...")
    allowed.mark(TRANSPOSE, NAIVE)
    assert [order.unconfined for order in asked] == [True, False]
    assert marker.known(TOPICS["streams"], "class Schedule: ..."), "it is no part of the mark's key"


def test_a_mark_of_another_gpu_is_none_of_the_courses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster may have several kinds: times measured on one are not held against those of another."""

    def ask(order: Order, seconds: float) -> Answer:
        name = "NVIDIA H200" if order.source == "there" else "NVIDIA T4"
        grade = graded(device=Device("gpu", name, "sm_90a"))
        return Answer(Marked(grade, grade))

    answer_by(monkeypatch, ask)
    marker = dataclasses.replace(a_marker(tmp_path), device="pycuda", gpu="NVIDIA H200")
    there, elsewhere = marking.mark_all(marker, [(TRANSPOSE, "there"), (TRANSPOSE, "elsewhere")])
    assert isinstance(there, Marked)
    assert elsewhere == (
        "it could not be marked: it was marked on NVIDIA T4, and the course's device is NVIDIA H200"
    )
    assert marker.known(TRANSPOSE, "elsewhere") is None


def test_a_gpu_that_is_not_here_has_to_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "gpu_problem", lambda: "CUDA finds no device")
    marker = dataclasses.replace(a_marker(tmp_path), device="pycuda")
    with pytest.raises(WarpladderError, match=r"c\.MarkKernels\.gpu"):
        marker.known(TRANSPOSE, NAIVE)


def test_a_real_mark(tmp_path: Path) -> None:
    """Through the marking process: public cases with counters, then hidden ones."""
    found = a_marker(tmp_path).mark(TRANSPOSE, TRANSPOSE.rung("02_shared_tile").source)
    assert found.hidden is not None
    assert {"M": 5, "N": 9} in [case.problem for case in found.hidden.cases]
    assert {case.seed for case in found.public.cases} == {1, None}, "one is of data that nobody knows"
    assert {case.seed for case in found.hidden.cases} == {7}
    shown = found.shown(TRANSPOSE)
    assert (shown.verdict, shown.rung_reached, shown.points) == ("pass", "02_shared_tile", 50)


def test_a_file_of_the_machine_is_not_brought_in(tmp_path: Path) -> None:
    secret = tmp_path / "secret.toml"
    secret.write_text("seed = 424242\n", encoding="utf-8")
    found = a_marker(tmp_path).mark(TRANSPOSE, f'#include "{secret}"\n{NAIVE}')
    assert found.verdict == "error"
    assert "424242" not in str(found)


# ---- what learners call ------------------------------------------------------------------------------------


def test_a_graded_cell_grades_nothing_while_the_class_is_autograded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "NBGRADER_EXECUTION", "autograde")
    assert course.points("nothing of that name", "00_naive") is None


def test_a_graded_cell_without_its_kernel_says_what_to_run() -> None:
    with pytest.raises(WarpladderError, match="there is no kernel `nothing`"):
        course.points("nothing", "00_naive")


# ---- the command line --------------------------------------------------------------------------------------


def test_without_nbgrader_the_commands_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *of: None if name == "nbgrader" else known(name, *of)
    )
    monkeypatch.setattr("sys.argv", ["ladder", "course", "init", str(tmp_path / "new")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert re.search("pip install .*nbgrader[<>=]", said), said
    assert "warpladder[" not in said, "no index has it"
    assert not (tmp_path / "new").exists()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cuda"


def test_a_course_grows_by_topics_and_keeps_its_hidden_cases(folder: Path) -> None:
    create(folder, [TRANSPOSE], "cuda")
    first = hidden.load(folder / "hidden.toml", TOPICS)
    written = create(folder, [TOPICS["reduce"]], "cuda")
    both = hidden.load(folder / "hidden.toml", TOPICS)
    assert [path.name for path in written] == ["hidden.toml", "reduce.ipynb"]
    assert (both.seed, both.of(TRANSPOSE)) == (first.seed, first.of(TRANSPOSE))
    assert len(both.of(TOPICS["reduce"])) == hidden.SIZES_A_TOPIC
    for private in (folder, folder / "hidden.toml"):
        assert (private.stat().st_mode & 0o077) == 0, "others may not read it"


def test_an_assignment_is_written_over_only_when_asked(folder: Path) -> None:
    create(folder, [TRANSPOSE], "cuda")
    source = folder / "source" / "transpose" / "transpose.ipynb"
    source.write_text("mine", encoding="utf-8")
    with pytest.raises(WarpladderError, match="there already"):
        create(folder, [TRANSPOSE], "cuda")
    assert source.read_text(encoding="utf-8") == "mine"
    create(folder, [TRANSPOSE], "cuda", force=True)
    assert "%%kernel mine" in source.read_text(encoding="utf-8")


def test_a_folder_of_something_else_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.tex").touch()
    with pytest.raises(WarpladderError, match="something else is there"):
        create(folder, [TRANSPOSE], "cuda")
    assert [path.name for path in folder.iterdir()] == ["thesis.tex"]
