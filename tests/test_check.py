"""The content linter: the repository's own content passes, and each kind of damage is named."""

import shutil
from dataclasses import replace
from pathlib import Path

import little_exercise
import little_interview
import little_topic
import pytest

from grader import check as linter
from grader.check import check_content, check_ladder
from grader.interview.drills.formats import FORMATS
from grader.judge import clean
from grader.judge.clean import Clean
from grader.judge.grade import refused
from grader.results import Grade
from grader.workbook import exercises
from grader.workbook.topic import Topic
from grader.workbook.topics import load


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return little_topic.write(tmp_path)


def test_the_little_topic_has_no_problems(root: Path) -> None:
    assert check_content(root, Clean()) == []


BOUND = "<= cdiv(N, 128)"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (None, "", "", None),
        (
            "lessons/copy/starter.cu",
            "{}",
            "{ if (threadIdx.x < N) out[threadIdx.x] = in[threadIdx.x]; }",
            None,
        ),
        (
            "lessons/copy/starter.cu",
            "{}",
            "{ if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N) out[i] = in[i]; }",
            "its verdict is pass",
        ),
        ("kernels/optimized/copy/01_wide.cu", "i < N; ++i", "i < N - 1; ++i", "the rung does not pass"),
        pytest.param(
            "lessons/copy/topic.toml", BOUND, "<= N", "00_naive reaches 01_wide", marks=pytest.mark.verify
        ),
        pytest.param(
            "lessons/copy/topic.toml", BOUND, "<= N / 1024", "01_wide breaks the claim of 01_wide",
            marks=pytest.mark.verify,
        ),
    ],
)  # fmt: skip
def test_ladders_are_run(root: Path, file: str | None, old: str, new: str, said: str | None) -> None:
    if file is not None:
        little_topic.edit(root / file, old, new)
    topic = load("copy", root)
    if file == "lessons/copy/starter.cu":
        topic = replace(topic, first_step=None)
    problems = list(check_ladder(topic, Clean()))
    assert [said in str(problem) for problem in problems] == ([True] if said else [])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("if (i < N) out", "if (i + 1 < N) out", "the starter, mended as `[starter]` says, is not right"),
        ('["{}", ', '["{ }", ', "'{ }' stands in the starter 0 times, not once"),
    ],
)
def test_what_mends_a_starter_is_tried(root: Path, old: str, new: str, said: str) -> None:
    little_topic.edit(root / "lessons/copy/topic.toml", old, new)
    (problem,) = check_ladder(load("copy", root), Clean())
    assert said in str(problem)


def test_the_section_that_a_hint_names_is_in_the_lesson(root: Path) -> None:
    lesson = root / "lessons/copy/lesson.md"
    lesson.write_text("# Copy\n\n## Copying\n")
    assert list(check_ladder(load("copy", root), Clean())) == []
    lesson.write_text("# Copy\n\n## How to copy\n")
    (problem,) = check_ladder(load("copy", root), Clean())
    assert "names the section 'Copying', which lesson.md does not have" in str(problem)


def test_ratios_of_the_interview_have_values(root: Path) -> None:
    little_interview.write(root)
    assert list(check_ladder(load("copy", root), Clean())) == []
    path = root / "lessons/copy/interview.toml"
    little_topic.edit(path, "N / l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "N / (launches - 1)")
    problems = list(check_ladder(load("copy", root), Clean()))
    assert len(problems) == 3  # the naive version's, and those before and after the wide one
    assert all("divides by zero" in problem.message for problem in problems)
    assert "[round.ratio]" in path.read_text().splitlines()[(problems[0].line or 0) - 1]


TOPIC, REFERENCE = "lessons/copy/topic.toml", "lessons/copy/reference.py"
NAIVE, WIDE = "kernels/naive/copy.cu", "kernels/optimized/copy/01_wide.cu"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (TOPIC, "order = 3", "order =", "not TOML"),
        (TOPIC, "judge = [{ N = 1 }, { N = 33 }]", "judge = []", "`judge` has no cases"),
        (TOPIC, "l1tex__t_requests", "l1tex_t_requests", "the claim names `l1tex_t_requests"),
        (TOPIC, 'cdiv(N, 128)"', 'cdiv(N, 128)"\nper = "Z"\nunit = "loads"', "the claim names `Z`"),
        (TOPIC, "cdiv(N, 128)", "block_thread", "did you mean `block_threads`"),
        (TOPIC, 'rung = "01_wide"', 'rung = "00_naive"', "rung 01_wide claims nothing"),
        (TOPIC, "sm_80", "sm_11", "sm_75 and later"),
        (REFERENCE, "np.float64", "np.float32", "`out` is not float64"),
        (REFERENCE, "astype(np.float32)", "astype(np.float64)", "gives {'in': 'float64'}"),
        (REFERENCE, '"in": rng', '"inn": rng', "gives {'inn': 'float32'}"),
        (REFERENCE, '{"out": inputs', '{"aus": inputs', "reference() gives ['aus']"),
        (REFERENCE, "rng.integers", "np.random.default_rng().integers", "differs from call to call"),
        (REFERENCE, "np.abs(", "-np.abs(", "magnitude of `out` is below its value"),
        (REFERENCE, "rng.integers(-8, 8, ", "rng.normal(0, 8, ", "the exact `in` holds fractions"),
        (REFERENCE, "8 * problem", "8.0 * problem", "min_bytes() gives"),
        (REFERENCE, "8 * problem", "8 * problems", "NameError"),
        (NAIVE, "// Copies.\n", "", "does not explain its idea"),
        (NAIVE, "out[i] = in[i]", "out[i] = in[i]]", "expected a"),
        (NAIVE, 'cdiv(N, THREADS)"', 'N // THREADS"', "is 0 where N=1"),
        (WIDE, "constexpr int THREADS", "constexpr float THREADS", "uses `THREADS`"),
        ("lessons/copy/starter.cu", "// ///\n", "", "not closed"),
        ("lessons/copy/starter.cu", "{}", "{ oops }", '"oops" is undefined'),
    ],
)
def test_damage_is_named_with_its_file(root: Path, file: str, old: str, new: str, said: str) -> None:
    little_topic.edit(root / file, old, new)
    problems = check_content(root, Clean())
    assert said in "\n".join(map(str, problems))
    assert {problem.file for problem in problems} & {str(root / file), str(root / TOPIC)} or "sm_11" in new


def test_spills_are_named(root: Path) -> None:
    source = """\
extern "C" __global__ void __launch_bounds__(1024, 2) copy(const float* in, float* out, int N)
{
    float x[64];
    for (int i = 0; i < 64; ++i) x[i] = in[(i * THREADS + threadIdx.x) % N];
    for (int i = 0; i < 64; ++i) for (int j = 0; j < 64; ++j) x[i] += x[j] * x[(i + j) % 64];
    for (int i = 0; i < 64; ++i) out[(i * THREADS + threadIdx.x) % N] = x[i];
}
"""
    (root / NAIVE).write_text(little_topic.HEAD + source)
    assert any(
        "`copy` spills for sm_90a: with 32 registers" in str(problem)
        for problem in check_content(root, Clean())
    )


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("lessons/notes/lesson.md", "belongs to no topic"),
        ("lessons/copy/notes.txt", "nothing reads this file"),
        ("kernels/naive/other.cu", "belongs to no topic"),
        ("kernels/optimized/other/01_first.cu", "belongs to no topic"),
        ("kernels/optimized/copy/notes.md", "belongs to no topic"),
        ("kernels/copy.cu", "belongs to no topic"),
    ],
)
def test_orphans(root: Path, file: str, said: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    (problem,) = check_content(root, Clean())
    assert said in problem.message
    assert problem.file == str(path)


def test_pythons_bytecode_is_no_orphan(root: Path) -> None:
    drills = [f"drills/{name}" for name in FORMATS]
    for folder in ("copy", "questions", "programs", *drills):
        kept = root / "lessons" / folder / "__pycache__" / "made.cpython-311.pyc"
        kept.parent.mkdir(parents=True)
        kept.write_bytes(b"")
    assert check_content(root, Clean()) == []


def test_missing_files(root: Path) -> None:
    (root / "lessons/copy/starter.cu").unlink()
    (problem,) = check_content(root, Clean())
    assert problem.message == "the topic lacks this file"


def test_a_gap_in_the_ladder(root: Path) -> None:
    (root / WIDE).rename(root / "kernels/optimized/copy/02_wide.cu")
    little_topic.edit(root / TOPIC, "01_wide", "02_wide")
    (problem,) = check_content(root, Clean())
    assert "this is 01_wide" in str(problem)


def test_one_broken_topic_does_not_hide_the_next(root: Path) -> None:
    for name in ("first", "second"):
        folder = root / "lessons" / name
        folder.mkdir()
        for file in ("reference.py", "starter.cu"):
            (folder / file).write_text("")
        (folder / "topic.toml").write_text("title =")
    files = {problem.file for problem in check_content(root, Clean()) if "not TOML" in problem.message}
    assert files == {str(root / "lessons" / name / "topic.toml") for name in ("first", "second")}


def test_a_program_has_all_of_its_files_and_no_others(root: Path) -> None:
    folder = root / "lessons" / "programs" / "whole"
    folder.mkdir(parents=True)
    for name in ("program.toml", "reference.py", "starter.cu", "notes.txt"):
        (folder / name).write_text("")
    said = [str(problem) for problem in check_content(root, Clean())]
    assert [text.partition(" ")[2].partition("\n")[0] for text in said] == [
        "this file belongs to no program", "the program lacks this file",
    ]  # fmt: skip
    assert "notes.txt" in said[0]
    assert "answer.cu" in said[1]


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            "exercise.toml",
            'before = "copy"',
            'before = "copy"\nprepares = "00_naiv"',
            "`prepares`: copy has no rung `00_naiv`, did you mean `00_naive`?",
        ),
        ("exercise.toml", 'before = "copy"', 'before = "cpoy"', "there is no topic `cpoy`, did you mean `copy`?"),
        ("exercise.toml", "store_requests", "stores", "the claim names `stores`, did you mean"),
        ("exercise.toml", 'expect = "store_requests <= 1"', "", "the claim compares nothing"),
        ("solution.cu", "// Adds 10.\n//\n", "", "the file does not say what it does"),
        ("reference.py", '"y": inputs', '"other": inputs', "reference() gives ['other']"),
        ("reference.py", "inputs[", "input[", "it fails with TypeError"),
    ],
)  # fmt: skip
def test_damage_of_an_exercise_is_named(root: Path, file: str, old: str, new: str, said: str) -> None:
    folder = little_exercise.write(root)
    assert check_content(root, Clean()) == []
    little_topic.edit(folder / file, old, new)
    problem, *_ = check_content(root, Clean())
    assert said in problem.message
    assert problem.file == str(folder / file)


def test_an_exercise_has_a_name_an_order_and_files_of_its_own(root: Path) -> None:
    little_exercise.write(root)
    (little_exercise.write(root, "copy") / "notes.txt").write_text("")
    (little_exercise.write(root, "less") / "reference.py").unlink()
    said = [problem.message for problem in check_content(root, Clean())]
    assert said == [
        "this file belongs to no exercise", "the exercise lacks this file",
        "`copy` is the name of a topic, or of a whole program", "`order` 1 is that of `copy` as well",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", None),
        ("    int i = threadIdx.x", "    int i = N - 1", "the solution does not pass"),
        ("STARTER: int i = 0;", "STARTER: int i = threadIdx.x;", "its verdict is pass"),
        ("STARTER: int i = 0;", "STARTER: int i = nothing;", "its verdict is error"),
        (
            "y[i] = x[i] + 10;",
            "atomicExch(&y[i], 0), y[i] = x[i] + 10;",
            "the solution breaks the claim: one store",
        ),
    ],
)
def test_solution_and_starter_of_an_exercise_are_judged(
    root: Path, old: str, new: str, said: str | None
) -> None:
    folder = little_exercise.write(root)
    little_topic.edit(folder / "solution.cu", old, new) if old else None
    problems = list(linter.check_exercise(exercises.load("more", root), Clean()))
    assert [said in str(problem) for problem in problems] == ([True] if said else [])


# ---- what was right before ---------------------------------------------------------------------------------


@pytest.fixture
def graded(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The topics and files that are graded, from nothing kept; the grades are made up."""
    kept, said = tmp_path_factory.mktemp("kept"), []
    monkeypatch.setattr(clean, "cache_folder", lambda: kept)

    def made_up(topic: Topic, file: Path, device: str) -> Grade:
        said.append(f"{topic.name} {file.name}")
        if file == topic.starter or "N - 1" in file.read_text():
            return refused(topic, str(file), "fail", "made up")
        reached = next((rung.id for rung in topic.rungs if rung.path == file), None)
        return replace(refused(topic, str(file), "pass", ""), rung_reached=reached)

    monkeypatch.setattr(linter, "grade", made_up)
    return said


def twin(root: Path) -> None:
    """A second topic, which is as the first."""
    shutil.copytree(root / "lessons/copy", root / "lessons/twin")
    shutil.copytree(root / "kernels/optimized/copy", root / "kernels/optimized/twin")
    shutil.copy(root / NAIVE, root / "kernels/naive/twin.cu")


def test_unchanged_content_is_not_graded_again(root: Path, graded: list[str]) -> None:
    twin(root)
    first, second, third = Clean(), Clean(), Clean()
    assert linter.check(root, first) == []
    assert len(graded) == 8
    assert not first.left_out
    graded.clear()
    assert linter.check(root, second) == []
    assert graded == []
    assert second.left_out == {"kernel": 6, "mended": 2}
    little_topic.edit(root / WIDE, "// Copies.", "// Copies four floats.")
    assert linter.check(root, third) == []
    assert graded == [
        "copy copy.cu",
        "copy 01_wide.cu",
        "copy starter.cu",
        "copy starter.cu",
    ]  # mended as well
    assert third.left_out == {"kernel": 3, "mended": 1}


def test_a_topic_is_graded_again_once_what_decides_has_changed(root: Path, graded: list[str]) -> None:
    for file in (TOPIC, REFERENCE, NAIVE, WIDE):
        list(check_ladder(load("copy", root), Clean()))
        graded.clear()
        with (root / file).open("a", encoding="utf-8") as opened:
            opened.write("\n")
        assert list(check_ladder(load("copy", root), Clean())) == []
        assert len(graded) == 4, file


def test_a_problem_is_not_kept(root: Path, graded: list[str]) -> None:
    little_topic.edit(root / WIDE, "i < N; ++i", "i < N - 1; ++i")
    for _ in range(2):
        graded.clear()
        found = Clean()
        (problem,) = check_ladder(load("copy", root), found)
        assert "the rung does not pass" in problem.message
        assert "copy 01_wide.cu" in graded
    assert graded == ["copy 01_wide.cu"]
    assert found.left_out == {"kernel": 2, "mended": 1}


def test_a_question_is_computed_again_once_a_file_of_it_or_a_topic_that_it_names_has_changed(
    root: Path, graded: list[str]
) -> None:
    little_interview.write(root)
    question = root / "lessons/questions/copies.py"
    for change, left_out in (
        (None, {}),
        (None, {"question": 1, "interview": 1}),
        (question, {"interview": 1}),
        (root / WIDE, {}),
        (root / "lessons/copy/lesson.md", {"question": 1, "interview": 1}),
    ):
        if change is not None:
            with change.open("a", encoding="utf-8") as opened:
                opened.write("\n")
        found = Clean()
        assert [str(problem) for problem in linter.check_questions(root, found)] == []
        assert found.left_out == left_out, change


def test_a_broken_probe_is_told_each_time(root: Path, graded: list[str]) -> None:
    little_interview.write(root)
    (root / "lessons/questions/copies.py").write_text("raise ValueError\n")
    said = [list(map(str, linter.check_questions(root, Clean()))) for _ in range(2)]
    assert said[0] == said[1] != []
