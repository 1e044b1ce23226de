"""Small exercises are found by folder name; a broken one says which file and line."""

from pathlib import Path

import little_exercise
import little_topic
import numpy as np
import pytest

from grader.errors import WarpladderError
from grader.workbook import exercises, topics


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    little_topic.write(tmp_path)
    return little_exercise.write(tmp_path)


def test_an_exercise_is_read_whole(folder: Path, tmp_path: Path) -> None:
    found = exercises.discover(tmp_path)["more"]
    assert (found.title, found.before, found.idea) == ("Ten more", "copy", "A thread has a number.")
    assert found.hints == ("Who am I?", "I am threadIdx.x.", "`int i = threadIdx.x;`")
    assert found.judge_cases == ({"N": 5}, {"N": 8})
    assert found.drawn_cases[0] == {"N": (5, 8)}
    assert found.ladder.ids == ("right", "solution")


def test_starter_and_solution_are_parted(folder: Path, tmp_path: Path) -> None:
    found = exercises.load("more", tmp_path)
    starter, solution = (text.partition("{\n")[2] for text in (found.starter_text, found.solution_text))
    assert starter == "    // TODO: which is mine?\n    int i = 0;\n    y[i] = x[i] + 10;\n}\n"
    assert solution == "    int i = threadIdx.x;\n    y[i] = x[i] + 10;\n}\n"


def test_inputs_can_be_read_and_told_apart(folder: Path, tmp_path: Path) -> None:
    found = exercises.load("more", tmp_path)
    inputs = found.reference.make_inputs({"N": 5}, np.random.default_rng(3), "real")
    assert inputs["x"].dtype == np.int32
    assert len({*inputs["x"].tolist()}) == 5
    assert set(inputs["x"].tolist()) <= {*range(1, 11)}


def test_an_exercise_is_no_topic(folder: Path, tmp_path: Path) -> None:
    assert list(topics.discover(tmp_path)) == topics.names(tmp_path) == ["copy"]
    assert topics.load("more", tmp_path, or_exercise=True).name == "more"
    with pytest.raises(WarpladderError, match="`more` is a small exercise, and no topic with a ladder"):
        topics.load("more", tmp_path)
    with pytest.raises(WarpladderError, match="did you mean `more`"):
        topics.load("mores", tmp_path)


@pytest.mark.parametrize(
    ("file", "old", "new", "line", "said"),
    [
        ("exercise.toml", "before", "befor", 3, "unknown key `befor`"),
        ("exercise.toml", '"Who am I?", ', "", 12, "`hints` holds 2 hints, not 3"),
        ("exercise.toml", "[{ N = 5 }, { N = 8 }]", "[]", 5, "`sizes` has no cases"),
        ("exercise.toml", "{ N = 8 }", "{ M = 8 }", 5, "does not give N"),
        ("exercise.toml", "int N)", "float N)", 4, "exercises have sizes alone"),
        ("solution.cu", "// END SOLUTION", "", 11, "the solution has no end"),
        ("solution.cu", "// BEGIN SOLUTION", "", 13, "this line of the starter is outside a solution"),
        ("solution.cu", "// STARTER: // TODO: which is mine?\n    // STARTER: int i = 0;", "", 14, "nothing stands"),
        ("solution.cu", "    y[i]", "    // BEGIN SOLUTION\n    y[i]", 16, "the solution has no end"),
        ("solution.cu", "// ///\n", "", 8, "the launch block is not closed"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_line(
    folder: Path, tmp_path: Path, file: str, old: str, new: str, line: int, said: str
) -> None:
    little_topic.edit(folder / file, old, new)
    with pytest.raises(WarpladderError) as raised:
        exercises.load("more", tmp_path)
    assert said in raised.value.message
    assert (raised.value.file, raised.value.line) == (str(folder / file), line)
    assert raised.value.remedy
