"""nbgrader's real cycle on the emulator: a class's submissions, each with the mark that it deserves.

The course is made, two assignments are released, a class hands in what classes hand in, and nbgrader autogrades,
writes feedback and exports. The notebooks' own Python is run, so that what cheats and hangs does so for real; a second
round, as courses are set up by default, runs none of it.
"""

from __future__ import annotations

import copy
import csv
import html
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest
import windows
from formulas import formulas_of
from windows import Opened, opened

from grader.course import hidden
from grader.course.marking import Marker
from grader.workbook import topics

# One group: one process makes the course for all of these tests.
pytestmark = [pytest.mark.verify, pytest.mark.timeout(900), pytest.mark.xdist_group("nbgrader")]

TRANSPOSE, STREAMS = topics.load("transpose"), topics.load("streams")
DEVICE = os.environ.get("WARPLADDER_DEVICE", "emulator")  # set by hand where there is a GPU
SUBMISSIONS = Path(__file__).parents[1] / "submissions"

HIDDEN = """\
seed = 1917352467

[[transpose]]
M = 211
N = 157

[[streams]]
N = 60913
R = 2
"""
SECRETS = ("1917352467", "211", "157", "60913")

RUNS_NOTEBOOKS = (
    "\nc.RunNotebook.enabled = True\nc.RunNotebook.timeout = 5\nc.RunNotebook.total_seconds = 12.0\n"
)

Notebook = dict[str, Any]


@dataclass(frozen=True)
class Student:
    """What one student hands in, and what it deserves."""

    points: float
    source: str | None = None  # in place of the starter
    edit: Callable[[Notebook], None] = lambda notebook: None
    raw: str | None = None  # the whole file
    assignment: str = "transpose"
    says: tuple[str, ...] = field(default_factory=tuple)  # what the feedback has to say


def rung(name: str) -> str:
    return TRANSPOSE.rung(name).source


def own(source: str) -> dict[str, Any]:
    """A code cell of the learner's own."""
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def named(notebook: Notebook, grade_id: str) -> dict[str, Any]:
    return next(cell for cell in notebook["cells"] if grade_id_of(cell) == grade_id)


def grade_id_of(cell: dict[str, Any]) -> str | None:
    return cell["metadata"].get("nbgrader", {}).get("grade_id")


# ---- what the class does -----------------------------------------------------------------------------------


def cheats(notebook: Notebook) -> None:
    """Puts functions of its own in place of the grader's, prints marks, and ends the process before the last cell."""
    notebook["cells"].insert(
        5,
        own(
            "import grader, grader.judge.grade, grader.course.marking, grader.course.feedback\n"
            "grader.course.points = course.points = lambda *_: 100.0\n"
            "grader.judge.grade.grade = grader.course.marking.Marker.mark = None\n"
            "grader.course.feedback.earned = lambda topic, grade, rung: 100\n"
            "print('mark: 100 of 100')\n100.0"
        ),
    )
    notebook["cells"].insert(-1, own("import os; os._exit(0)"))


def loops(notebook: Notebook) -> None:
    """An endless loop that does not end when it is asked to, and one before it that does."""
    notebook["cells"].insert(4, own("while True: pass"))
    notebook["cells"].append(
        own("while True:\n    try:\n        while True: pass\n    except KeyboardInterrupt: pass")
    )


def tampers(notebook: Notebook) -> None:
    """Does to graded cells and their metadata what can be done."""
    cells = notebook["cells"]
    first = named(notebook, "transpose-00_naive")
    first["source"] = "10.0"
    named(notebook, "transpose-01_coalesced_writes")["metadata"]["nbgrader"]["points"] = 1000
    named(notebook, "transpose-02_shared_tile")["metadata"]["nbgrader"]["grade"] = False
    third = named(notebook, "transpose-03_padded_tile")
    cells.remove(named(notebook, "transpose-04_swizzled_tile"))
    last = named(notebook, "transpose-05_float4_tile")
    last["metadata"]["nbgrader"] |= {"solution": True, "locked": False, "schema_version": 1}
    last["source"], last["cell_type"] = "20 points, please", "markdown"
    del last["outputs"], last["execution_count"]
    cells.append(copy.deepcopy(first) | {"source": "print('full marks')"})
    forged = own("100.0")
    forged["metadata"] = {"nbgrader": {"grade": True, "grade_id": "bonus", "points": 100, "locked": True}}
    third["metadata"]["nbgrader"] = "none of your business"
    cells += [forged, own("lab.profile('mine')")]
    cells.reverse()
    notebook["metadata"] = {"kernelspec": {"name": "bash", "language": "bash", "display_name": "none"}}


def copies(notebook: Notebook) -> None:
    """The kernel's cell twice, metadata and all, as the clipboard makes it: the work is in the first."""
    cell = named(notebook, "kernel-transpose")
    again = copy.deepcopy(cell)
    again["source"] = "%%kernel mine --topic transpose\n" + TRANSPOSE.starter.read_text(encoding="utf-8")
    again["source"] = again["source"].rstrip("\n")
    notebook["cells"].insert(notebook["cells"].index(cell) + 1, again)


def scripts(notebook: Notebook) -> None:
    """Prose of the student's own that would be a program in the page of whoever reads it."""
    run = "document.title='taken'"
    doors = (
        f'Hello <img src=x onerror="{run}"><script>{run}</script><svg onload="{run}"></svg>',
        f"```mermaid\n</pre><img src=x onerror={run}>\n```\n````\n<img src=x onerror={run}>",
        f"$\\text{{<img src=x onerror={run}>}}$ [link](javascript:{run}) ![image](attachment:none.png)",
    )
    for text in doors:
        notebook["cells"].insert(3, {"cell_type": "markdown", "metadata": {}, "source": text})
    notebook["cells"].insert(3, {"cell_type": "raw", "metadata": {"format": "text/html"}, "source": doors[0]})
    shown = {"text/html": doors[0], "image/svg+xml": f'<svg onload="{run}"/>', "text/plain": "1"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [
                {"output_type": "execute_result", "data": shown, "metadata": {}, "execution_count": 1}
            ]


def strips(notebook: Notebook) -> None:
    """All metadata is gone, as some editors leave it."""
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def knows_the_sizes() -> str:
    """Right at every public size and at no other. The sizes lie in memory: one that stands in the code, or in a `when`,
    is passed by cases that are tried beside the public ones."""
    tried = (*TRANSPOSE.judge_cases, TRANSPOSE.sizes_count, TRANSPOSE.sizes_main, *TRANSPOSE.sampled_cases)
    sizes = sorted({(case["M"], case["N"]) for case in tried})
    table = f"__constant__ int KNOWN[][2] = {{{', '.join(f'{{{m}, {n}}}' for m, n in sizes)}}};\n"
    naive = rung("00_naive")
    start = naive.rindex("\n", 0, naive.index("__global__")) + 1
    opening = naive.index("{", start) + 1
    look = f"""
    bool known = false;
    for (int i = 0; i < {len(sizes)}; ++i) known = known || (KNOWN[i][0] == M && KNOWN[i][1] == N);
    if (!known) M = 1;"""
    return naive[:start] + table + naive[start:opening] + look + naive[opening:]


def tells_the_secrets() -> str:
    """A schedule that reads the course's file where it is marked, and says it in its message."""
    naive = STREAMS.rung("00_naive").source
    line = "        self.process, self.source, self.target = process, source, target\n"
    assert line in naive
    reads = "        raise ValueError(open('COURSE/hidden.toml').read())\n"
    return naive.replace(line, line + reads)


RENAMED = "// The same as the ladder's, by another name.\n" + rung("05_float4_tile").replace("tile", "square")

CLASS = {
    "right": Student(100, RENAMED, says=("RIGHT", "05_float4_tile: 20 of 20 points")),
    "half_right": Student(
        50, rung("02_shared_tile"), says=("RIGHT", "50 of 100", "03_padded_tile needs", "One unused word")
    ),
    "wrong": Student(
        0,
        (SUBMISSIONS / "transpose" / "missing_syncthreads.cu").read_text(encoding="utf-8"),
        says=("WRONG", "race", "__syncthreads()"),
    ),
    "hanging": Student(
        0,
        (SUBMISSIONS / "transpose" / "endless_loop.cu").read_text(encoding="utf-8"),
        says=("TIMEOUT", "Look for a loop whose condition never becomes false"),
    ),
    "cheating": Student(10, rung("00_naive"), cheats, says=("RIGHT", "10 of 100", "0 of 15 points")),
    "looping": Student(25, rung("01_coalesced_writes"), loops, says=("RIGHT", "25 of 100")),
    "tampering": Student(70, rung("03_padded_tile"), tampers, says=("RIGHT", "70 of 100")),
    "copying": Student(25, rung("01_coalesced_writes"), copies, says=("RIGHT",)),
    "stripping": Student(50, rung("02_shared_tile"), strips, says=("RIGHT",)),
    "scripting": Student(10, rung("00_naive"), scripts, says=("RIGHT", "onerror")),
    "guessing": Student(
        0, knows_the_sizes(), says=("WRONG", "All public cases are right", "a hidden case is not")
    ),
    "peeking": Student(
        0, '#include "COURSE/hidden.toml"\n' + rung("00_naive"), says=("ERROR", "Line 2 includes")
    ),
    "unreadable": Student(0, raw='{"cells": [', says=("is no notebook that can be read",)),
    "empty": Student(0, says=("WRONG", "No response")),
    "scheduling": Student(
        100, STREAMS.rungs[-1].source, assignment="streams", says=("RIGHT", "100 of 100 points")
    ),
    "telling": Student(0, tells_the_secrets(), assignment="streams", says=("ERROR", "stops with an error")),
    "leaving": Student(
        0,
        STREAMS.rung("00_naive").source.replace(
            "    def run(self):\n", "    def run(self):\n        exit_now()\n"
        )
        + "\n\ndef exit_now():\n    import os\n\n    print('PASS')\n    os._exit(0)\n",
        assignment="streams",
        says=("ERROR",),
    ),
}
ASSIGNMENTS = ("transpose", "streams")
EACH = "--assignment=*"


# ---- the cycle ---------------------------------------------------------------------------------------------


@dataclass
class Course:
    """A course's folder, graded twice."""

    root: Path
    marks: dict[str, dict[str, float]]  # by student, then by assignment, as exported
    again: dict[str, dict[str, float]]  # after the second round
    seconds_again: float  # of the second round's autograding
    marked_again: int  # sources that the second round had to mark
    table: str  # what `ladder course mark` printed
    said: str  # what nbgrader printed in the second round

    def feedback(self, student: str) -> str:
        """The text of a student's feedback page."""
        assignment = CLASS[student].assignment
        page = self.root / "feedback" / student / assignment / f"{assignment}.html"
        return text_of(page.read_text(encoding="utf-8"))


def call(*command: str, cwd: Path, status: int = 0) -> str:
    """Run one of this environment's programs, which ends with `status`; what it needs besides is found there, too."""
    programs = str(Path(sys.executable).parent)
    done = subprocess.run(
        [f"{programs}/{command[0]}", *command[1:]],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"},
    )
    assert done.returncode == status, f"{' '.join(command)}\n{done.stdout}"
    return done.stdout


def text_of(page: str) -> str:
    """What a page shows, without markup."""
    shown = re.sub(r"<(style|script)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", shown)).split())


def hand_in(root: Path, name: str, student: Student) -> None:
    """Put a student's notebook where nbgrader collects it."""
    released = root / "release" / student.assignment / f"{student.assignment}.ipynb"
    notebook = json.loads(released.read_text(encoding="utf-8"))
    if student.source is not None:
        cell = named(notebook, f"kernel-{student.assignment}")
        first = "".join(cell["source"]).partition("\n")[0]
        cell["source"] = f"{first}\n{student.source.replace('COURSE', str(root))}"
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    notebook["cells"].append(own(f"open({str(root / 'was_run')!r}, 'a').write('{name} ')"))
    student.edit(notebook)
    target = root / "submitted" / name / student.assignment / released.name
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(notebook) if student.raw is None else student.raw, encoding="utf-8")


def exported(root: Path) -> dict[str, dict[str, float]]:
    """Marks by student and assignment, from nbgrader's export."""
    call("nbgrader", "export", cwd=root)
    found: dict[str, dict[str, float]] = {}
    with (root / "grades.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["student_id"], {})[row["assignment"]] = float(row["score"])
    return found


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("course") / "cuda"
    wanted = [word for name in ASSIGNMENTS for word in ("--topic", name)]
    call("ladder", "course", "init", str(root), *wanted, cwd=root.parent)
    (root / "hidden.toml").write_text(HIDDEN, encoding="utf-8")
    config = root / "nbgrader_config.py"
    as_made = config.read_text(encoding="utf-8") + f"\nc.MarkKernels.device = {DEVICE!r}\n"
    config.write_text(as_made + RUNS_NOTEBOOKS, encoding="utf-8")
    call("nbgrader", "generate_assignment", EACH, cwd=root)
    for name, student in CLASS.items():
        hand_in(root, name, student)
    call("nbgrader", "autograde", EACH, cwd=root)
    call("nbgrader", "generate_feedback", EACH, cwd=root)
    marks = exported(root)

    config.write_text(as_made, encoding="utf-8")
    (root / "was_run").rename(root / "was_run_at_first")
    kept = {path: path.stat().st_mtime_ns for path in (root / ".marks").iterdir()}
    unmarked = {student.assignment for student in CLASS.values() if student.raw is not None}
    table = "".join(
        call("ladder", "course", "mark", name, cwd=root, status=int(name in unmarked)) for name in ASSIGNMENTS
    )
    begin = time.monotonic()
    said = call("nbgrader", "autograde", EACH, "--force", cwd=root)
    seconds = time.monotonic() - begin
    changed = [path for path in (root / ".marks").iterdir() if kept.get(path) != path.stat().st_mtime_ns]
    return Course(root, marks, exported(root), seconds, len(changed), table, said)


@pytest.mark.parametrize("name", CLASS)
def test_each_gets_the_mark_it_deserves(course: Course, name: str) -> None:
    student = CLASS[name]
    others = {assignment: 0.0 for assignment in ASSIGNMENTS if assignment != student.assignment}
    assert course.marks[name] == {student.assignment: student.points, **others}


@pytest.mark.parametrize("name", CLASS)
def test_feedback_says_what_is_missing(course: Course, name: str) -> None:
    shown = course.feedback(name)
    for words in CLASS[name].says:
        assert words in shown
    score = f"{CLASS[name].assignment} (Score: {CLASS[name].points:.1f} / 100.0)"
    assert score in shown


def test_points_stand_in_the_graded_cells(course: Course) -> None:
    notebook = nbformat.read(course.root / "autograded/tampering/transpose/transpose.ipynb", as_version=4)
    graded = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    values = {cell.metadata.nbgrader.grade_id: cell.outputs[0].data["text/plain"] for cell in graded}
    assert values == {
        "transpose-00_naive": "10.0",
        "transpose-01_coalesced_writes": "15.0",
        "transpose-02_shared_tile": "25.0",
        "transpose-03_padded_tile": "20.0",
        "transpose-04_swizzled_tile": "0.0",
        "transpose-05_float4_tile": "0.0",
    }
    assert [cell.source for cell in graded] == [
        f'course.points("mine", "{item.id}")' for item in TRANSPOSE.rungs
    ]


def test_what_a_notebook_prints_is_no_mark_and_is_not_passed_on(course: Course) -> None:
    """The cheat's cells did run; nobody took what they printed for a mark, and nobody is sent it."""
    ran = (course.root / "was_run_at_first").read_text(encoding="utf-8").split()
    assert {"right", "half_right", "tampering", "guessing"} <= set(ran)
    assert "cheating" not in ran, "its process ended before its last cell"
    notebook = nbformat.read(course.root / "autograded/cheating/transpose/transpose.ipynb", as_version=4)
    printed = [
        cell for cell in notebook.cells if cell.cell_type == "code" and "mark: 100" in str(cell.outputs)
    ]
    assert printed == []


def test_hidden_cases_do_not_leak(course: Course) -> None:
    """Neither into what learners are given nor into what they are sent. Names of folders may have any number."""
    pages = [course.root / "feedback" / name / student.assignment for name, student in CLASS.items()]
    for folder in (course.root / "release", *pages):
        for path in (path for path in folder.rglob("*") if path.is_file()):
            text = text_of(path.read_text(encoding="utf-8")).replace(str(course.root), "")
            for secret in SECRETS:
                assert not re.search(rf"\b{secret}\b", text), f"{secret} in {path}"


def test_a_second_round_is_cheap_and_comes_to_the_same(course: Course) -> None:
    assert course.again == course.marks
    assert course.marked_again == 0
    assert course.seconds_again < 10 * len(CLASS)


def test_a_lecturer_is_not_shown_warnings_of_python(course: Course) -> None:
    assert not re.findall(r"\w*Warning:.*|DuplicateCellId.*", course.table + course.said)


def test_by_default_nothing_of_a_notebook_is_run(course: Course) -> None:
    assert not (course.root / "was_run").exists()


def test_the_class_table_names_sources_of_the_ladder(course: Course) -> None:
    rows = {line.split()[0]: line for line in course.table.splitlines() if line.strip()}
    assert "the ladder's 02_shared_tile" in rows["half_right"]
    assert "the starter" in rows["empty"]
    assert "the ladder's 05_float4_tile" in rows["right"], "by other names"
    assert "the ladder's" not in rows["hanging"]
    assert "timeout" in rows["hanging"]
    assert "not marked" in rows["unreadable"]


def test_a_notebook_of_another_name_is_not_overlooked(course: Course) -> None:
    folder = course.root / "submitted" / "renaming" / "transpose"
    folder.mkdir(parents=True)
    (folder / "transpose (1).ipynb").write_text("{}")
    table = call("ladder", "course", "mark", "transpose", cwd=course.root, status=1)
    shutil.rmtree(folder.parent)
    assert "not marked" in next(line for line in table.splitlines() if line.startswith("renaming"))
    assert "there is `transpose (1).ipynb`" in " ".join(table.split())


def test_the_released_notebook_grades_a_learners_kernel(course: Course, tmp_path: Path) -> None:
    """As a learner runs it, without nbgrader: each graded cell's value is the points of its rung."""
    notebook = nbformat.read(course.root / "release/transpose/transpose.ipynb", as_version=4)
    kernel = next(cell for cell in notebook.cells if cell.source.startswith("%%kernel"))
    kernel.source = f"{kernel.source.splitlines()[0]}\n{rung('02_shared_tile')}"
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    values = [
        output.data["text/plain"]
        for cell in notebook.cells
        if cell.metadata.nbgrader.grade
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    assert values == ["10.0", "15.0", "25.0", "0.0", "0.0", "0.0"]


@pytest.mark.soak(area="course")
def test_every_topic_becomes_an_assignment(tmp_path: Path) -> None:
    root = tmp_path / "all"
    call("ladder", "course", "init", str(root), cwd=tmp_path)
    call("nbgrader", "generate_assignment", EACH, cwd=root)
    for name, topic in topics.discover().items():
        released = nbformat.read(root / "release" / name / f"{name}.ipynb", as_version=4)
        about = [cell.metadata.nbgrader for cell in released.cells]
        assert sum(cell["points"] for cell in about if cell["grade"]) == topic.max_points
        starter = topic.starter.read_text(encoding="utf-8").rstrip("\n")
        assert [cell.source for cell in released.cells if cell.metadata.nbgrader.solution] == [
            f"%%kernel mine --topic {name}\n{starter}"
        ]


@pytest.mark.soak(area="course")
@pytest.mark.parametrize("name", topics.discover())
def test_the_top_of_a_ladder_passes_hidden_cases(name: str, tmp_path: Path) -> None:
    """They are no traps: what is right at the public sizes because it is right, is right there."""
    topic = topics.load(name)
    top = topic.rungs[-1]
    found = Marker(tmp_path, hidden.draw([topic], 3), DEVICE).mark(topic, top.source)
    assert found.hidden is not None
    assert (found.hidden.verdict, found.shown(topic).points) == ("pass", topic.max_points), (
        found.hidden.reason
    )


@pytest.mark.soak(area="course")
def test_graded_python_of_an_instructors_own(tmp_path: Path) -> None:
    """Refused until notebooks are run; then it counts, and what did not get to run does not. Marks of kernels are in
    proportion to the points that the instructor gave the cell."""
    root = tmp_path / "own"
    call("ladder", "course", "init", str(root), "--topic", "transpose", cwd=tmp_path)
    source = root / "source/transpose/transpose.ipynb"
    notebook = json.loads(source.read_text(encoding="utf-8"))
    named(notebook, "transpose-00_naive")["metadata"]["nbgrader"]["points"] = 1
    for name in ("one", "two"):
        cell = own("assert 1 + 1 == 2")
        about = {
            "schema_version": 3,
            "grade_id": name,
            "grade": True,
            "locked": True,
            "solution": False,
            "points": 7,
        }
        notebook["cells"].append(cell | {"id": name, "metadata": {"nbgrader": {**about, "task": False}}})
    source.write_text(json.dumps(notebook), encoding="utf-8")
    call("nbgrader", "generate_assignment", EACH, cwd=root)
    hand_in(root, "staying", Student(15, rung("00_naive")))
    leaves = Student(
        8, rung("00_naive"), lambda notebook: notebook["cells"].insert(-2, own("import os; os._exit(0)"))
    )
    hand_in(root, "leaving", leaves)
    said = call("nbgrader", "autograde", EACH, cwd=root, status=1)
    assert "the graded cell `one` is Python of your own" in said
    with (root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(RUNS_NOTEBOOKS)
    call("nbgrader", "autograde", EACH, cwd=root)
    marks = exported(root)
    assert {name: marks[name]["transpose"] for name in marks} == {"staying": 15, "leaving": 8}


# ---- in a browser ------------------------------------------------------------------------------------------


def test_a_feedback_page_in_a_browser(course: Course, browser: Any) -> None:
    """It loads nothing from elsewhere, draws formulas, and nothing is wider than the page."""
    file = course.root / "feedback/half_right/transpose/transpose.html"
    seen = opened(browser, file.as_uri())
    assert (seen.elsewhere, seen.complaints) == ([], [])
    assert seen.page.locator("math").count() == formulas_of("transpose") > 0
    assert seen.page.locator("math").first.bounding_box()["width"] > 5
    assert seen.page.locator("text=50 of 100 points").is_visible()
    assert seen.page.locator("span.err").count() == 0, "CUDA C++ is not read as Python"
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= windows.LAPTOP["width"]
    seen.page.close()


@pytest.fixture(scope="module")
def formgrader(course: Course) -> Iterator[str]:
    with windows.formgrader(course.root) as address:
        yield address


def submission(browser: Any, formgrader: str, name: str) -> Opened:
    """A student's transpose as formgrader shows it."""
    seen = opened(browser, f"{formgrader}/gradebook/transpose/transpose")
    answer = seen.page.request.get(f"{formgrader}/api/submitted_notebooks/transpose/transpose")
    key = next(item["id"] for item in answer.json() if item["student"] == name)
    seen.page.goto(f"{formgrader}/submissions/{key}/")
    seen.page.wait_for_selector(f"text={CLASS[name].points:g} of 100 points")
    return seen


def test_formgrader_lists_the_class(course: Course, browser: Any, formgrader: str) -> None:
    seen = opened(browser, f"{formgrader}/manage_submissions/transpose")
    seen.page.wait_for_selector("text=half_right")
    rows = {row.split()[2]: row for row in seen.page.locator("tbody tr").all_inner_texts()}
    assert "50 / 100" in " ".join(rows["half_right"].split())
    assert all("graded" in rows[name] for name in rows)
    assert (seen.elsewhere, seen.complaints) == ([], [])
    seen.page.close()


def test_what_students_write_is_text_in_a_feedback_page(course: Course, browser: Any) -> None:
    seen = opened(browser, (course.root / "feedback/scripting/transpose/transpose.html").as_uri())
    assert seen.page.title() != "taken"
    assert seen.page.locator("img[src=x], a[href^=javascript], main script").count() == 0
    assert seen.page.locator("text=onerror").count() > 0
    seen.page.close()


def test_what_students_write_is_text_in_formgrader(course: Course, browser: Any, formgrader: str) -> None:
    """Where a script of theirs could set points: formgrader's own interface is beside it."""
    seen = submission(browser, formgrader, "scripting")
    assert seen.page.title() != "taken"
    assert seen.page.locator("img[src=x], a[href^=javascript]").count() == 0
    assert seen.page.locator("text=onerror").count() > 0
    seen.page.close()


def test_formgrader_shows_a_submission_with_its_points(course: Course, browser: Any, formgrader: str) -> None:
    """And an instructor can still overrule them."""
    seen = submission(browser, formgrader, "half_right")
    boxes = seen.page.locator("input.score")
    seen.page.wait_for_function(
        "[...document.querySelectorAll('input.score')].every(box => box.placeholder)"
    )  # which formgrader's script fetches one by one
    placeholders = [boxes.nth(place).get_attribute("placeholder") for place in range(boxes.count())]
    assert placeholders == ["10", "15", "25", "0", "0", "0"]
    assert seen.page.locator("span.err").count() == 0
    seen.page.close()
