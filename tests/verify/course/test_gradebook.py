"""Marks on their way into nbgrader's gradebook: none is lost, and no run does twice what is done."""

from __future__ import annotations

import contextlib
import errno
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import judged_course
import nbformat
import pytest
from downloads import NOON, a_folder, a_zip
from faked_marking import answer_by
from judged_course import copied, gradebook, hand_in
from little_course import release
from nbgrader.converters import Autograde
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.exc import OperationalError

from grader.course.assignment import notebook
from grader.course.batch import open_course
from grader.course.gradebook import database
from grader.course.gradebook.autograde import Outcome, autograde
from grader.course.gradebook.converting import convert
from grader.course.gradebook.entries import entries
from grader.course.gradebook.export import export
from grader.course.gradebook.extending import extend
from grader.course.gradebook.feedback import Page, give
from grader.course.gradebook.lock import alone
from grader.course.gradebook.overview import standings, summary
from grader.emulator.cache import ASIDE
from grader.errors import WarpladderError
from grader.ladder import main
from grader.workbook import topics

pytestmark = pytest.mark.verify

A = "transpose"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course that nobody has handed in to."""
    return judged_course.made(tmp_path_factory.mktemp("course") / "cuda")


@pytest.fixture
def root(empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of its own, with a judge that grades nothing."""
    judged_course.with_judge(monkeypatch)
    return copied(empty, tmp_path)


def run(root: Path) -> dict[str, Outcome]:
    """Autograde, as the command does."""
    return {item.standing.student: item for item in autograde(*open_course(root), A)}


def did(root: Path) -> dict[str, str]:
    return {student: item.did for student, item in run(root).items()}


def pages(root: Path) -> dict[str, Page]:
    return {page.student: page for page in give(*open_course(root), A)}


def scores(root: Path) -> dict[str, float | None]:
    """What is exported."""
    return {mark.person.id: mark.score for mark in export(*open_course(root), A, "canvas").marks}


def text(root: Path) -> str:
    return export(*open_course(root), A, "canvas").filled.text


def in_gradebook(root: Path) -> dict[str, float]:
    """What nbgrader itself would export."""
    with gradebook(root) as book:
        return {student: entry.score for student, entry in entries(book, A).items()}


# ---- what is autograded ------------------------------------------------------------------------------------


def test_marks_are_in_the_gradebook_and_a_second_run_finds_nothing_to_do(root: Path) -> None:
    for student, rung in (("ada", "05_float4_tile"), ("bob", "02_shared_tile"), ("cy", "none")):
        hand_in(root, student, rung)
    assert did(root) == dict.fromkeys(("ada", "bob", "cy"), "autograded")
    assert in_gradebook(root) == scores(root) == {"ada": 100, "bob": 50, "cy": 0}
    before = (root / "gradebook.db").read_bytes()
    assert did(root) == dict.fromkeys(("ada", "bob", "cy"), "up to date")
    assert (root / "gradebook.db").read_bytes() == before
    assert len(list((root / "backups").glob("*.db"))) == 1, "where nothing changes, nothing is copied"


def test_a_resubmission_without_a_newer_timestamp_counts(root: Path) -> None:
    hand_in(root, "ada", "00_naive", at="2025-03-01 12:00:00 UTC")
    hand_in(root, "bob", "00_naive")
    run(root)
    hand_in(root, "ada", "05_float4_tile")
    assert scores(root) == {"ada": None, "bob": 10}, "an older version's points are no longer hers"
    assert did(root) == {"ada": "autograded", "bob": "up to date"}
    assert scores(root) == {"ada": 100, "bob": 10}


def test_a_mark_that_was_made_anew_counts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(root, "ada", "00_naive")
    run(root)
    better = judged_course.Answer(judged_course.Marked(judged_course.grade("05_float4_tile")))
    answer_by(monkeypatch, lambda order, seconds: better)
    assert [item.did for item in autograde(*open_course(root), A, again=True)] == ["autograded"]
    assert scores(root) == {"ada": 100}


def damage_scores(root: Path) -> None:
    with gradebook(root) as book:
        book.find_grade("transpose-00_naive", A, A, "ada").auto_score = 3.0
        book.db.commit()


def remove_autograded(root: Path) -> None:
    shutil.rmtree(root / "autograded")


def remove_marks(root: Path) -> None:
    shutil.rmtree(root / ".marks")


def remove_submission(root: Path) -> None:
    with gradebook(root) as book:
        book.remove_submission(A, "ada")


@pytest.mark.parametrize("breaks", [damage_scores, remove_autograded, remove_marks, remove_submission])
def test_what_was_lost_since_is_made_again(root: Path, breaks: Callable[[Path], None]) -> None:
    hand_in(root, "ada", "02_shared_tile")
    run(root)
    breaks(root)
    assert scores(root) == {"ada": None}
    assert did(root) == {"ada": "autograded"}
    assert scores(root) == {"ada": 50}


def test_an_older_gradebook_is_brought_up_to_date(root: Path) -> None:
    hand_in(root, "ada", "00_naive")
    run(root)
    shutil.copy(root / "gradebook.db", root / "kept.db")
    hand_in(root, "ada", "05_float4_tile")
    hand_in(root, "bob", "02_shared_tile")
    run(root)
    shutil.move(root / "kept.db", root / "gradebook.db")
    assert did(root) == {"ada": "autograded", "bob": "autograded"}
    assert scores(root) == {"ada": 100, "bob": 50}


def test_points_given_by_hand_are_kept(root: Path) -> None:
    hand_in(root, "ada", "00_naive")
    run(root)
    with gradebook(root) as book:
        book.find_grade("transpose-05_float4_tile", A, A, "ada").manual_score = 7.0
        book.db.commit()
    assert did(root) == {"ada": "up to date"}
    hand_in(root, "ada", "01_coalesced_writes")
    (item,) = run(root).values()
    assert (item.did, item.standing.score, item.standing.by_hand) == ("autograded", 32.0, True)


# ---- what cannot be ----------------------------------------------------------------------------------------


def test_a_submission_whose_process_was_lost_is_left_out(root: Path) -> None:
    hand_in(root, "ada", "00_naive")
    hand_in(root, "bob", judged_course.LOST)
    found = run(root)
    assert {student: item.did for student, item in found.items()} == {
        "ada": "autograded",
        "bob": "not marked",
    }
    assert "SIGKILL" in found["bob"].note
    assert in_gradebook(root) == {"ada": 10}
    assert scores(root) == {"ada": 10, "bob": None}


def test_a_lost_resubmission_does_not_take_the_points_of_before(root: Path) -> None:
    hand_in(root, "ada", "02_shared_tile")
    run(root)
    hand_in(root, "ada", judged_course.LOST)
    assert "the gradebook has what was autograded before" in run(root)["ada"].note
    assert in_gradebook(root) == {"ada": 50}
    assert scores(root) == {"ada": None}


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("transpose.ipynb", "{", "transpose.ipynb is no notebook"),
        ("transpose (1).ipynb", "{}", "there is `transpose (1).ipynb`"),
        ("timestamp.txt", "yesterday or so", "timestamp.txt holds no time"),
    ],
)
def test_what_cannot_be_read_is_said_and_the_class_goes_on(
    root: Path, file: str, content: str, says: str
) -> None:
    hand_in(root, "ada", "00_naive")
    path = hand_in(root, "bob", "00_naive").with_name(file)
    if file == "transpose (1).ipynb":
        path.with_name("transpose.ipynb").unlink()
    path.write_text(content, encoding="utf-8")
    found = run(root)
    assert {student: item.did for student, item in found.items()} == {
        "ada": "autograded",
        "bob": "not marked",
    }
    assert says in found["bob"].note
    assert in_gradebook(root) == {"ada": 10}


def test_what_nbgrader_refuses_is_said_with_its_reason(root: Path) -> None:
    """A graded Python cell of the instructor's own, in a course that does not run notebooks."""
    from nbgrader.converters import GenerateAssignment

    source = root / "source/transpose/transpose.ipynb"
    notebook = json.loads(source.read_text(encoding="utf-8"))
    about = {"grade": True, "grade_id": "own", "locked": True, "points": 1, "schema_version": 3}
    about |= {"solution": False, "task": False}
    cell = {"cell_type": "code", "id": "own", "source": "1", "outputs": [], "execution_count": None}
    notebook["cells"].append(cell | {"metadata": {"nbgrader": about}})
    source.write_text(json.dumps(notebook), encoding="utf-8")
    opened, _ = open_course(root)
    opened.assignment_id = A
    GenerateAssignment(coursedir=opened, config=opened.config, force=True).start()
    hand_in(root, "ada", "00_naive")
    found = run(root)["ada"]
    assert found.did == "not autograded"
    assert "the graded cell `own` is Python of your own" in found.note
    assert in_gradebook(root) == {}, "what nbgrader began would count as 0"


def test_a_gradebook_with_other_points_than_the_mark_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nbgrader.preprocessors import saveautogrades

    monkeypatch.setattr(saveautogrades.utils, "determine_grade", lambda cell, log: (1.0, 10.0))
    hand_in(root, "ada", "00_naive")
    found = run(root)["ada"]
    assert found.did == "not autograded"
    assert "`transpose/transpose-00_naive` has 1.0 points in the gradebook, and its mark is 10" in found.note
    assert scores(root) == {"ada": None}


@pytest.mark.parametrize("student", ["Ünal, Ö (2)", "x" * 250])
def test_names_of_students_may_be_any(root: Path, student: str) -> None:
    hand_in(root, student, "00_naive")
    assert did(root) == {student: "autograded"}
    assert did(root) == {student: "up to date"}


def test_a_name_that_is_a_pattern_is_not_taken_for_another_student(root: Path) -> None:
    """nbgrader would autograde the notebook of `ab` for `a[b]`."""
    hand_in(root, "a[b]", "05_float4_tile")
    hand_in(root, "ab", "02_shared_tile")
    found = run(root)
    assert {student: item.did for student, item in found.items()} == {
        "a[b]": "not marked",
        "ab": "autograded",
    }
    assert "take [, ], * and ? out of it" in found["a[b]"].note
    assert in_gradebook(root) == {"ab": 50}


# ---- late --------------------------------------------------------------------------------------------------


def set_policy(root: Path, policy: str) -> None:
    config = root / "nbgrader_config.py"
    config.write_text(config.read_text(encoding="utf-8") + policy, encoding="utf-8")


def due(root: Path, when: str) -> None:
    with gradebook(root) as book:
        book.update_or_create_assignment(A, duedate=when)


HALF = """
from nbgrader.plugins import LateSubmissionPlugin


class Half(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score / 2


c.AssignLatePenalties.plugin_class = Half
"""


@pytest.mark.parametrize(
    ("policy", "score"), [("", 50), ("c.LateSubmissionPlugin.penalty_method = 'zero'\n", 0), (HALF, 25)]
)
def test_the_courses_late_policy_counts_whenever_it_was_set(root: Path, policy: str, score: float) -> None:
    due(root, "2025-03-01 12:00:00 UTC")
    hand_in(root, "ada", "02_shared_tile", at="2025-03-01 13:30:00 UTC")
    hand_in(root, "bob", "02_shared_tile", at="2025-03-01 11:30:00 UTC")
    if policy != HALF:
        set_policy(root, policy)
    found = run(root)
    assert found["ada"].standing.late_s == 5400
    if policy == HALF:
        assert scores(root) == {"ada": 50, "bob": 50}
        set_policy(root, policy)
        assert did(root) == {"ada": "up to date", "bob": "up to date"}
    assert scores(root) == in_gradebook(root) == {"ada": score, "bob": 50}
    assert f"ada,,,ada,,{score}\n" in text(root)
    extend(open_course(root)[0], A, ["ada"], timedelta(hours=2))
    found = run(root)
    assert (found["ada"].standing.late_s, found["ada"].standing.score) == (0, 50)


def test_a_due_date_that_is_set_after_collecting_makes_nobody_late(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where all that is known is when the download was made."""
    set_policy(root, "c.LateSubmissionPlugin.penalty_method = 'zero'\n")
    source = a_zip(tmp_path / "in.zip", {"lovelaceada_88_901_x.cu": b"// 02_shared_tile"})
    assert ladder(monkeypatch, "collect", A, str(source), "--course", str(root)) == 0
    due(root, "2020-03-01 12:00:00 UTC")
    (item,) = run(root).values()
    assert (item.standing.score, item.standing.late_s) == (50, 0)


def test_what_canvas_calls_late_is_late_by_the_least(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """And not by the time until somebody downloaded it, whenever the due date was set."""
    name = "lovelaceada_LATE_88_901_x.cu"
    source = a_zip(tmp_path / "in.zip", {name: b"// 02_shared_tile"}, {name: NOON + timedelta(days=5)})
    ladder(monkeypatch, "collect", A, str(source), "--course", str(root))
    due(root, f"{NOON.astimezone(UTC)}")
    assert ladder(monkeypatch, "autograde", A, "--course", str(root)) == 0
    assert "≥ 1 s" in capfd.readouterr().out
    (item,) = standings(*open_course(root), A)
    assert (item.late_s, item.late_at_least) == (1, True)
    extend(open_course(root)[0], A, ["canvas-88"], timedelta(days=6))
    (outcome,) = run(root).values()
    assert (outcome.standing.late_s, outcome.standing.late_at_least) == (0, False)


def test_an_extension_moves_one_persons_date(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Given before anything was handed in, which then counts as not handed in, and taken back."""
    at = ("--course", str(root))
    (root / "roster.csv").write_text("id\nada\n", encoding="utf-8")
    assert ladder(monkeypatch, "extend", A, "ada", "--days", "1", *at) == 2
    assert "has no due date" in capfd.readouterr().err
    due(root, "2025-03-01 12:00:00 UTC")
    set_policy(root, "c.LateSubmissionPlugin.penalty_method = 'zero'\n")
    assert ladder(monkeypatch, "extend", A, "ada", "--until", "2025-03-02 12:00 UTC", *at) == 0
    assert "2025-03-02 12:00 UTC 1 d 0 h" in capfd.readouterr().out
    assert [item.state for item in standings(*open_course(root), A)] == ["not submitted"]
    for student in ("ada", "bob"):
        hand_in(root, student, judged_course.LOST, at="2025-03-02 11:00:00 UTC")
    run(root)
    for student in ("ada", "bob"):
        hand_in(root, student, "02_shared_tile", at="2025-03-02 11:00:00 UTC")
    run(root)
    assert scores(root) == {"ada": 50, "bob": 0}
    assert ladder(monkeypatch, "extend", A, "ada", "--none", *at) == 0
    run(root)
    assert scores(root) == {"ada": 0, "bob": 0}


def test_an_extension_that_cannot_be_given_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    due(root, "2025-03-01 12:00:00 UTC")
    (root / "roster.csv").write_text("id\nada\n", encoding="utf-8")
    before = (root / "gradebook.db").read_bytes()
    refused = {
        "ada": "how much time is not clear",
        "ada --days 1 --none": "how much time is not clear",
        "ada --until soon": "`soon` is no time that can be read in one way",
        "ada --until 12.01.2027": "is no time that can be read in one way",
        "ada --until 10:00": "is no time that can be read in one way",
        "ada --until 2025-02-28T12:00Z": "not after the due date, 2025-03-01 12:00 UTC",
        "ada adda --days 1": "there is no student `adda`, did you mean `ada`",
    }
    for words, says in refused.items():
        assert ladder(monkeypatch, "extend", A, *words.split(), "--course", str(root)) == 2
        assert says in capfd.readouterr().err, words
    assert (root / "gradebook.db").read_bytes() == before


# ---- killed ------------------------------------------------------------------------------------------------


class Steps:
    """Counts what this process does to the disk: files opened to be written, renamed and removed, and the gradebook's
    commits. At the step `kill_at`, before it is done, the process dies."""

    def __init__(self, kill_at: int = 0) -> None:
        self.kill_at = kill_at
        self.done = 0
        sys.addaudithook(self._heard)
        event.listen(Engine, "commit", lambda connection: self._step())

    def _heard(self, name: str, args: tuple[object, ...]) -> None:
        if name == "open":
            if isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                self._step()
        elif name in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"):
            self._step()

    def _step(self) -> None:
        self.done += 1
        if self.done == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


def in_a_child(work: Callable[[], None]) -> int | None:
    """Do something in a process of its own, which may die or never be the same; returns its exit code."""
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(120)
    return process.exitcode


@dataclass(frozen=True)
class Begun:
    """A class of three: one was autograded and hands in again, one is up to date, one is new and earns nothing."""

    root: Path
    steps: int  # that autograding it takes
    csv: str  # what is exported then


@pytest.fixture(scope="module")
def begun(empty: Path, tmp_path_factory: pytest.TempPathFactory) -> Begun:
    folder = tmp_path_factory.mktemp("begun")
    root = copied(empty, folder)
    with pytest.MonkeyPatch.context() as patch:
        judged_course.with_judge(patch)
        hand_in(root, "ada", "01_coalesced_writes")
        hand_in(root, "bob", "02_shared_tile")
        run(root)
        hand_in(root, "ada", "05_float4_tile")
        hand_in(root, "cy", "none")
        (folder / "tried").mkdir()
        tried = copied(root, folder / "tried")
        counted = multiprocessing.get_context("fork").Value("i", 0)

        def work() -> None:
            steps = Steps()
            run(tried)
            counted.value = steps.done

        assert in_a_child(work) == 0
        assert scores(tried) == {"ada": 100, "bob": 50, "cy": 0}
        return Begun(root, counted.value, text(tried))


def check_killed(begun: Begun, folder: Path, at: int) -> None:
    """Kill a run at a step; then nothing is exported that was not earned, and the next run comes to the same."""
    tried = copied(begun.root, folder)

    def work() -> None:
        Steps(at)
        run(tried)

    assert in_a_child(work) == -signal.SIGKILL
    found = scores(tried)
    assert found["ada"] in (None, 100)
    assert found["bob"] == 50
    assert found["cy"] in (None, 0)
    run(tried)
    assert text(tried) == begun.csv
    assert set(did(tried).values()) == {"up to date"}


@pytest.mark.parametrize("part", range(5))
def test_a_run_that_was_killed_is_finished_by_the_next(
    begun: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    judged_course.with_judge(monkeypatch)
    check_killed(begun, tmp_path, 1 + part * (begun.steps - 1) // 4)


@pytest.mark.soak(area="course")
@pytest.mark.parametrize("seed", range(30))
def test_a_run_is_killed_at_any_moment(
    begun: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    judged_course.with_judge(monkeypatch)
    check_killed(begun, tmp_path, random.Random(seed).randint(1, begun.steps))


def test_a_new_student_of_a_run_that_was_killed_and_is_lost_then_has_no_0(
    begun: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nbgrader began would count as 0 in its own export as well."""
    judged_course.with_judge(monkeypatch)
    root = copied(begun.root, tmp_path)
    with gradebook(root) as book, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbgrader's, of SQLAlchemy
        book.update_or_create_student("cy")
        book.update_or_create_submission(A, "cy")
    assert in_gradebook(root)["cy"] == 0
    hand_in(root, "cy", judged_course.LOST)
    run(root)
    assert "cy" not in in_gradebook(root)


# ---- two runs, damaged gradebooks, full disks --------------------------------------------------------------


def test_a_second_run_says_who_is_at_work(root: Path) -> None:
    hand_in(root, "ada", "00_naive")
    with alone(root / ".marks", "ladder course autograde streams"):
        for work in (run, pages):
            with pytest.raises(
                WarpladderError, match=rf"`ladder course autograde streams` \(process {os.getpid()} "
            ):
                work(root)
    assert did(root) == {"ada": "autograded"}


def test_the_lock_of_a_run_that_was_killed_is_free(root: Path) -> None:
    hand_in(root, "ada", "00_naive")

    def work() -> None:
        with alone(root / ".marks", "ladder course autograde transpose"):
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_a_child(work) == -signal.SIGKILL
    assert did(root) == {"ada": "autograded"}


def no_database(path: Path) -> None:
    path.write_bytes(b"not a database" * 500)


def torn(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[8192:40960] = os.urandom(32768)
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20_000])


@pytest.mark.parametrize("breaks", [no_database, torn, cut])
def test_a_damaged_gradebook_is_said_with_what_to_do(root: Path, breaks: Callable[[Path], None]) -> None:
    hand_in(root, "ada", "00_naive")
    run(root)
    hand_in(root, "bob", "02_shared_tile")
    run(root)
    broken = root / "gradebook.db"
    breaks(broken)
    damaged = broken.read_bytes()
    for work in (run, pages, scores):
        with pytest.raises(WarpladderError, match="the gradebook is damaged") as caught:
            work(root)
    assert caught.value.file == str(broken)
    assert broken.read_bytes() == damaged, "nothing is lost that may be mended"
    remedy = str(caught.value.remedy).partition(": ")[2]
    assert subprocess.run(remedy, shell=True, check=False).returncode == 0
    assert (root / "gradebook.db.damaged").read_bytes() == damaged
    run(root)
    assert scores(root) == in_gradebook(root) == {"ada": 10, "bob": 50}


def test_without_a_copy_the_gradebook_is_made_anew(root: Path) -> None:
    hand_in(root, "ada", "00_naive")
    no_database(root / "gradebook.db")
    with pytest.raises(WarpladderError, match="the gradebook is damaged") as caught:
        run(root)
    assert "nbgrader generate_assignment" in str(caught.value.remedy)


def test_a_gradebook_that_is_not_there_is_not_made(root: Path) -> None:
    (root / "gradebook.db").unlink()
    with pytest.raises(WarpladderError, match="there is no gradebook yet"):
        run(root)
    assert not (root / "gradebook.db").exists()


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def of_no_assignment(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("DELETE FROM assignment")
        database.commit()


@pytest.mark.parametrize(
    ("loses", "lacks"),
    [
        (Path.unlink, "is not there"),
        (emptied, "knows no assignment"),
        (of_no_assignment, "knows no assignment"),
    ],
)
def test_the_latest_copy_that_holds_something_is_taken_back(
    root: Path, loses: Callable[[Path], None], lacks: str
) -> None:
    course, _ = open_course(root)
    held = database.copied(course)
    assert held is not None
    emptied(held.with_name("gradebook-9999.db"))
    loses(root / "gradebook.db")
    with pytest.raises(WarpladderError, match=f"the gradebook {lacks}, and a copy") as caught:
        scores(root)
    remedy = str(caught.value.remedy).partition(": ")[2].partition(";")[0]
    assert subprocess.run(remedy, shell=True, check=False).returncode == 0
    assert (root / "gradebook.db").read_bytes() == held.read_bytes()
    assert scores(root) == {}


def test_a_gradebook_that_others_write_to_is_said(root: Path) -> None:
    hand_in(root, "ada", "00_naive")
    with contextlib.closing(sqlite3.connect(root / "gradebook.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(WarpladderError, match="another program is writing to the gradebook"):
            run(root)
    assert [path.name for path in (root / "backups").iterdir()] == [".gitignore"]
    assert did(root) == {"ada": "autograded"}


def test_a_few_copies_are_kept(root: Path) -> None:
    course, _ = open_course(root)
    written = [database.copied(course) for _ in range(8)]
    copies = sorted((root / "backups").glob("*.db"))
    assert copies == written[-5:]
    for path in copies:
        with contextlib.closing(sqlite3.connect(path)) as copy:
            assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def check_full(begun: Begun, folder: Path, limit: int) -> str:
    """Autograde where no file can be larger than `limit` bytes, then where it can; returns what was said first."""
    tried = copied(begun.root, folder)
    (tried / ".marks" / f"{ASIDE}of-a-killed-run").touch()
    os.utime(tried / ".marks" / f"{ASIDE}of-a-killed-run", (0, 0))
    ours, theirs = multiprocessing.get_context("fork").Pipe()

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            run(tried)
            theirs.send("")
        except WarpladderError as error:
            theirs.send(str(error))

    assert in_a_child(work) == 0
    left = [path for path in (tried / ".marks").rglob("*") if path.name.startswith(ASIDE)]
    assert left == []
    assert sorted(path.name for path in (tried / "backups").iterdir() if path.suffix != ".db") == [
        ".gitignore"
    ]
    assert scores(tried)["ada"] in (None, 100)
    run(tried)
    assert text(tried) == begun.csv
    return str(ours.recv())


@pytest.mark.parametrize(
    ("limit", "file"),
    [(200, ".marks"), (20_000, "backups"), (200_000, "")],
    ids=["a mark", "the copy of the gradebook", "nothing"],
)
def test_a_full_disk_is_said_and_nothing_is_half_written(
    begun: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, file: str
) -> None:
    judged_course.with_judge(monkeypatch)
    said = check_full(begun, tmp_path, limit)
    assert file in said
    assert ("cannot be written" in said and "make room on the disk" in said) == bool(file)


@pytest.mark.parametrize("suffix", [".ipynb", "gradebook.db"])
def test_a_disk_that_fills_while_nbgrader_works_ends_the_run(
    begun: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """The first student's notebook, or score, is written no more: there is no sense in trying the others."""
    judged_course.with_judge(monkeypatch)
    root = copied(begun.root, tmp_path)
    tried = []

    def full(*args: object, **options: object) -> None:
        tried.append(args)
        if suffix == ".ipynb":
            raise OSError(errno.ENOSPC, "No space left on device", "read", None, "transpose.ipynb")
        raise OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full"))

    with monkeypatch.context() as patch:
        if suffix == ".ipynb":
            patch.setattr("nbconvert.writers.FilesWriter.write", full)
        else:
            patch.setattr("nbgrader.preprocessors.SaveAutoGrades._add_score", full)
        with pytest.raises(WarpladderError, match="cannot be written") as caught:
            run(root)
    assert suffix in str(caught.value.file)
    assert len(tried) == 1
    assert scores(root) == {"ada": None, "bob": 50, "cy": None}
    run(root)
    assert text(root) == begun.csv


def test_a_notebook_that_is_missing_counts_as_not_handed_in(
    empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And another one of the same assignment is marked all the same."""
    judged_course.with_judge(monkeypatch)
    root = copied(empty, tmp_path)
    nbformat.write(notebook(topics.load("reduce")), root / "source/transpose/reduce.ipynb")
    release(root)
    hand_in(root, "ada", "02_shared_tile")
    hand_in(root, "bob", "00_naive").rename(root / "submitted/bob/transpose/mine.ipynb")
    found = run(root)
    assert (found["ada"].did, found["bob"].did) == ("autograded", "not marked")
    assert found["ada"].standing.score == 50
    assert "there is `mine.ipynb`" in found["bob"].note
    assert run(root)["ada"].did == "up to date"
    assert pages(root)["ada"].made
    (root / "submitted/bob/transpose/mine.ipynb").rename(root / "submitted/bob/transpose/transpose.ipynb")
    assert run(root)["bob"].standing.score == 10
    assert ladder(monkeypatch, "mark", A, "--course", str(root)) == 0


# ---- feedback and status -----------------------------------------------------------------------------------


def test_without_a_submission_there_is_no_feedback(root: Path) -> None:
    with pytest.raises(WarpladderError, match="nobody has submitted anything"):
        pages(root)


def test_feedback_is_written_where_something_changed(root: Path) -> None:
    hand_in(root, "ada", "00_naive")
    hand_in(root, "bob", judged_course.LOST)
    assert {student: page.why for student, page in pages(root).items()} == dict.fromkeys(
        ("ada", "bob"), "it is not marked"
    )
    run(root)
    found = pages(root)
    assert found["ada"].made
    assert "10 of 10 points" in Path(found["ada"].folder, "transpose.html").read_text(encoding="utf-8")
    assert found["bob"].why == "it is not marked"
    assert not pages(root)["ada"].made
    with gradebook(root) as book:
        book.find_comment("kernel-transpose", A, A, "ada").manual_comment = "Well begun."
        book.db.commit()
    assert pages(root)["ada"].made
    assert "Well begun." in Path(found["ada"].folder, "transpose.html").read_text(encoding="utf-8")


def test_a_status_says_how_far_each_is_and_what_is_next(root: Path) -> None:
    (root / "roster.csv").write_text("id\nada\ndi\n", encoding="utf-8")

    def states() -> tuple[dict[str, str], str]:
        found = standings(*open_course(root), A)
        return {item.student: item.state for item in found}, summary(A, found).next

    assert states() == ({"ada": "not submitted", "di": "not submitted"}, "nothing was handed in yet")
    hand_in(root, "ada", "00_naive")
    assert states() == ({"ada": "not marked", "di": "not submitted"}, "ladder course autograde transpose")
    run(root)
    assert states()[0]["ada"] == "autograded"
    assert states()[1] == "ladder course feedback transpose"
    pages(root)
    assert states()[1] == "ladder course export transpose"
    hand_in(root, "bob", "00_naive").write_text("{", encoding="utf-8")
    assert states()[0]["bob"] == "unreadable"
    assert "cannot be read" in states()[1]
    hand_in(root, "ada", "02_shared_tile")
    assert states()[1] == "ladder course autograde transpose"


# ---- what a person should look at --------------------------------------------------------------------------


def changed(path: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the cells of a notebook."""
    found = json.loads(path.read_text(encoding="utf-8"))
    change(found["cells"])
    path.write_text(json.dumps(found), encoding="utf-8")


def showing(cells: list[dict[str, Any]]) -> None:
    """Have the graded cells show all points, as those of another kernel did."""
    for cell in cells:
        about = cell["metadata"].get("nbgrader", {})
        if about.get("grade"):
            data = {"text/plain": str(float(about["points"]))}
            output = {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}
            cell["outputs"] = [output]


def another_try(cells: list[dict[str, Any]]) -> None:
    source = "%%kernel mine --topic transpose\n// 00_naive again"
    about: dict[str, Any] = {
        "cell_type": "code",
        "id": "again",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    cells.append(about | {"source": source})


def test_what_is_doubtful_is_said_to_whoever_looks(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    handed_in = {name: hand_in(root, name, "02_shared_tile", "\nint a;") for name in ("ada", "bob")}
    changed(hand_in(root, "cy", "none", "\nfloat more[2];"), showing)
    shutil.copy(root / "release/transpose/transpose.ipynb", hand_in(root, "di", "none"))
    download = a_folder(
        tmp_path / "in", {"bob/mine.ipynb": b"{}", "bob/transpose.ipynb": b"", "what.txt": b""}
    )
    (download / "bob/transpose.ipynb").write_bytes(handed_in["bob"].read_bytes())
    ladder(monkeypatch, "collect", A, str(download), "--course", str(root))
    found = {student: item.standing.look_at for student, item in run(root).items()}
    assert found == {
        "ada": "as bob",
        "bob": "as ada; mine.ipynb was left out: transpose.ipynb is named after the assignment, and counts",
        "cy": "the notebook shows 100 points, its kernel has 0",
        "di": "the starter",
    }
    assert {item.student: item.look_at for item in standings(*open_course(root), A)} == found
    page = Path(pages(root)["cy"].folder, "transpose.html").read_text(encoding="utf-8")
    assert "the notebook shows 100 points" in page
    capfd.readouterr()
    ladder(monkeypatch, "status", A, "--course", str(root))
    ladder(monkeypatch, "export", A, "--to", "canvas", str(tmp_path / "out.csv"), "--course", str(root))
    said = capfd.readouterr().out
    assert "what.txt: neither STUDENT/FILE nor STUDENT.ipynb" in said
    assert "2 files of the downloads count for nobody" in said


def test_of_two_tries_that_nothing_orders_none_is_marked(root: Path) -> None:
    """Neither by the command nor by nbgrader itself, whose 0 points say why."""
    changed(hand_in(root, "ada", "02_shared_tile"), another_try)
    (item,) = run(root).values()
    assert item.did == "not marked"
    assert "each hold another kernel for transpose" in item.note
    assert scores(root) == {"ada": None}
    opened, _ = open_course(root)
    assert convert(Autograde, opened, A, "ada") is None
    marked = (root / "autograded/ada/transpose/transpose.ipynb").read_text(encoding="utf-8")
    assert "each hold another kernel for transpose" in marked
    assert in_gradebook(root) == {"ada": 0}


def of_moodle(path: str) -> int | None:
    """The participant, as Moodle 4 reads a path: mod/assign/feedback/file/importziplib.php."""
    parts = path.split("/")
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) >= 4 and info[1].isdecimal() and info[2:4] == ["assignsubmission", "file"]:
            return int(info[1])
    return None


def of_canvas(path: str) -> tuple[int, int] | None:
    """The user and the file handed in, as Canvas reads a name: Assignment#infer_comment_context_from_filename."""
    numbers = [int(part) for part in Path(path).name.split("_") if part.isdecimal()]
    return (numbers[0], numbers[1]) if len(numbers) > 1 else None


@pytest.mark.parametrize(
    ("platform", "names", "found"),
    [
        (
            "moodle",
            ["Ada 7_1201_assignsubmission_file/x.cu", "B_1202_assignsubmission_file_/x.cu"],
            {1201, 1202},
        ),
        ("canvas", ["lovelaceada_LATE_88_901_x.cu", "bob_89_902_x.cu"], {(88, 901), (89, 902)}),
    ],
)
def test_feedback_goes_back_as_the_platform_takes_it(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    platform: str,
    names: list[str],
    found: set[object],
) -> None:
    (root / "roster.csv").write_text(
        "id,first_name,moodle_id,canvas_id\nada,Ada_7,1201,88\nzoe,,9,9\n", encoding="utf-8"
    )
    source = a_zip(tmp_path / "in.zip", dict.fromkeys(names, b"// 02_shared_tile"))
    target, at = tmp_path / "feedback.zip", ("--course", str(root))
    assert ladder(monkeypatch, "collect", A, str(source), *at) == 1, "the other is on no roster"
    assert ladder(monkeypatch, "autograde", A, *at) == 0
    doubtful = {item.student: item.look_at for item in standings(*open_course(root), A)}
    assert {student for student, note in doubtful.items() if "on no roster" in note} == {*doubtful} - {
        "ada",
        "zoe",
    }
    hand_in(root, "zoe", judged_course.LOST)
    assert ladder(monkeypatch, "feedback", A, "--to", platform, "--zip", str(target), *at) == 1
    with zipfile.ZipFile(target) as packed:
        read = {"moodle": of_moodle, "canvas": of_canvas}[platform]
        assert {read(name) for name in packed.namelist()} == found
        assert all(b"50 of 100" in packed.read(name) for name in packed.namelist())


def test_feedback_that_no_platform_could_place_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (root / "roster.csv").write_text("id,canvas_id,group\nada,88,a\nbob,89,a\n", encoding="utf-8")
    source = a_zip(tmp_path / "in.zip", {"lovelaceada_88_901_x.cu": b"// 02_shared_tile"})
    ladder(monkeypatch, "collect", A, str(source), "--course", str(root))
    run(root)
    for platform in ("canvas", "moodle"):
        words = ("--to", platform, "--zip", str(tmp_path / "out.zip"), "--course", str(root))
        assert ladder(monkeypatch, "feedback", A, *words) == 1
    said = " ".join(capfd.readouterr().out.split())
    assert "bob another of the group handed it in" in said
    assert "ada its participant's number is not known: give it as moodle_id" in said


def test_two_students_of_one_number_get_no_feedback(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Neither of them, and each other's least of all."""
    source = a_zip(tmp_path / "in.zip", {"Eva M_102_assignsubmission_file/x.cu": b"// 02_shared_tile"})
    at = ("--course", str(root))
    ladder(monkeypatch, "collect", A, str(source), *at)
    shutil.copytree(root / "submitted/moodle-eva-m", root / "submitted/eva")
    run(root)
    target = tmp_path / "out.zip"
    assert ladder(monkeypatch, "feedback", A, "--to", "moodle", "--zip", str(target), *at) == 1
    assert zipfile.ZipFile(target).namelist() == []
    said = " ".join(capfd.readouterr().out.split())
    assert "eva moodle-eva-m has the same participant's number" in said
    assert "moodle-eva-m eva has the same participant's number" in said


# ---- the commands ------------------------------------------------------------------------------------------


def ladder(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["ladder", "course", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_the_commands_from_marks_to_a_platform(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    hand_in(root, "ada", "02_shared_tile")
    hand_in(root, "bo\x1bb", judged_course.LOST)
    at = ("--course", str(root))
    target = tmp_path / "out.csv"
    assert ladder(monkeypatch, "autograde", A, *at) == 1
    assert ladder(monkeypatch, "status", *at) == 0
    assert ladder(monkeypatch, "status", A, *at) == 0
    assert ladder(monkeypatch, "feedback", A, *at) == 1
    assert ladder(monkeypatch, "export", A, "--to", "canvas", str(target), *at) == 1
    out = capfd.readouterr().out
    assert "\x1b" not in out
    assert max(map(len, out.replace(str(root), "").replace(str(tmp_path), "").splitlines())) <= 80
    assert "1 autograded, 1 not marked" in out
    assert "Next: ladder course autograde transpose" in out
    assert "1 written, 0 up to date, 1 without" in out
    assert "ada,,,ada,,50\n" in target.read_text(encoding="utf-8")
    hand_in(root, "bo\x1bb", "none")
    assert ladder(monkeypatch, "autograde", A, *at, "--json", str(tmp_path / "out.json")) == 0
    found = json.loads((tmp_path / "out.json").read_bytes())
    assert [(item["did"], item["standing"]["score"]) for item in found] == [
        ("up to date", 50),
        ("autograded", 0),
    ]
    assert ladder(monkeypatch, "feedback", A, *at) == 0
    assert ladder(monkeypatch, "export", A, "--to", "moodle", str(target), *at) == 0


def test_a_template_is_not_written_over(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    sheet = root / "gradebook.csv"
    sheet.write_text("Student,ID,SIS Login ID,Section,transpose (7)\n", encoding="utf-8")
    words = ("export", A, "--to", "canvas", "--template", str(sheet), str(sheet), "--course", str(root))
    assert ladder(monkeypatch, *words) == 2
    assert "it is the template itself" in capfd.readouterr().err
