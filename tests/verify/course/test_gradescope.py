"""An assignment as an autograder of Gradescope's: the archive, unpacked and run, and the results' documented form."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from faked_marking import answer_by
from little_course import TRANSPOSE, LittleCourse, little_course, right, wrong, wrong_when_hidden

from grader.course.gradescope import archive, marking, packed, packing
from grader.course.orders import Answer, Marked, Order
from grader.emulator.cache import cache_folder
from grader.errors import WarpladderError
from grader.ladder import main

pytestmark = pytest.mark.verify

TILE = TRANSPOSE.rung("02_shared_tile").source
VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
RESULTS = {
    # https://gradescope-autograders.readthedocs.io/en/latest/specs/
    "type": "object",
    "required": ["score", "tests"],
    "additionalProperties": False,
    "properties": {
        "score": {"type": "number", "minimum": 0},
        "execution_time": {"type": "integer"},
        "output": {"type": "string"},
        "output_format": FORMAT,
        "visibility": VISIBILITY,
        "stdout_visibility": VISIBILITY,
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", "score", "max_score", "output", "visibility"],
                "properties": {
                    "name": {"type": "string"},
                    "score": {"type": "number", "minimum": 0},
                    "max_score": {"type": "number"},
                    "status": {"enum": ["passed", "failed"]},
                    "output": {"type": "string"},
                    "output_format": FORMAT,
                    "visibility": VISIBILITY,
                },
            },
        },
    },
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> LittleCourse:
    return little_course(tmp_path_factory.mktemp("course") / "cuda")


@pytest.fixture(scope="module")
def zipped(course: LittleCourse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zip") / "transpose.zip"
    archive.write(path, packing.of_course(course.root, "transpose", "visible"))
    return path


@pytest.fixture
def root(zipped: Path, tmp_path: Path) -> Path:
    """A folder laid out as Gradescope's, with nothing submitted yet."""
    subprocess.run(["unzip", "-q", zipped, "-d", tmp_path / "source"], check=True)
    (tmp_path / "submission").mkdir()
    (tmp_path / "results").mkdir()
    return tmp_path


def results(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / "results/results.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, RESULTS)
    assert found["score"] == sum(test["score"] for test in found["tests"])
    return found


def marked_as(mark: Marked | str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have every source marked so, or not at all and for that reason; returns the sources that are marked."""
    asked: list[str] = []

    def ask(order: Order, seconds: float) -> Answer:
        asked.append(order.source)
        return Answer(complaint=mark) if isinstance(mark, str) else Answer(mark)

    answer_by(monkeypatch, ask)
    return asked


# ---- the archive -------------------------------------------------------------------------------------------


def test_what_gradescope_looks_for_lies_at_the_top_and_can_be_run(root: Path) -> None:
    for name in ("setup.sh", "run_autograder"):
        assert (root / "source" / name).stat().st_mode & stat.S_IXUSR
        subprocess.run(["bash", "-n", root / "source" / name], check=True)
    assert (root / "source" / packed.FILE).stat().st_mode & 0o077 == 0, "it holds hidden cases"


def test_the_same_assignment_makes_the_same_archive(
    course: LittleCourse, zipped: Path, tmp_path: Path
) -> None:
    archive.write(tmp_path / "again.zip", packing.of_course(course.root, "transpose", "visible"))
    assert (tmp_path / "again.zip").read_bytes() == zipped.read_bytes()
    assert zipped.stat().st_mode & 0o077 == 0, "it holds hidden cases"
    assert [path.name for path in tmp_path.iterdir()] == ["again.zip"]


def test_what_it_needs_is_asked_for_in_the_versions_that_are_here() -> None:
    import numpy

    asked = dict(line.split("==") for line in archive.requirements())
    assert asked["numpy"] == numpy.__version__
    assert {"nbformat", "nvidia-cuda-nvrtc", "numba", "llvmlite"} <= set(asked)
    assert "nbgrader" not in asked


def test_a_disk_that_is_full_leaves_no_half_of_an_archive(
    course: LittleCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)  # after all has been written
    target = str(tmp_path / "a.zip")
    command = ["ladder", "course", "gradescope", "transpose", target, "--course", str(course.root)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert list(tmp_path.iterdir()) == []


def test_an_assignment_that_is_not_known_is_refused(course: LittleCourse) -> None:
    with pytest.raises(WarpladderError, match="no assignment `reduce`"):
        packing.of_course(course.root, "reduce", "visible")


# ---- a submission ------------------------------------------------------------------------------------------


def run_autograder(root: Path) -> subprocess.CompletedProcess[str]:
    """As Gradescope does, elsewhere, where setup.sh has compiled the emulator's runtime."""
    variables = {
        **os.environ,
        "AUTOGRADER": str(root),
        "PYTHON": sys.executable,
        "WARPLADDER_CACHE": str(cache_folder()),
    }
    command = [str(root / "source" / "run_autograder")]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=root, env=variables)


def test_a_real_submission(root: Path, course: LittleCourse) -> None:
    """The unpacked archive by itself: its own copy of Warpladder marks."""
    (root / "submission/transpose.ipynb").write_text(course.notebook(TILE), encoding="utf-8")
    done = run_autograder(root)
    assert (done.returncode, done.stderr) == (0, "")
    found = results(root)
    assert (found["score"], found["output"]) == (50, "50 of 100 points")
    assert [(test["name"], test["score"]) for test in found["tests"]] == [
        ("transpose 00_naive", 10),
        ("transpose 01_coalesced_writes", 15),
        ("transpose 02_shared_tile", 25),
        ("transpose 03_padded_tile", 0),
        ("transpose 04_swizzled_tile", 0),
        ("transpose 05_float4_tile", 0),
    ]
    assert "shared memory is read and written without bank conflicts" in " ".join(
        found["tests"][3]["output"].split()
    )


def test_a_real_archive_reads_notebooks_without_nbgrader(root: Path) -> None:
    """What the autograder imports is in requirements.txt."""
    code = (
        "import sys, grader.course.gradescope.marking; "
        "print(grader.__file__, *{name.split('.')[0] for name in sys.modules})"
    )
    variables = {**os.environ, "PYTHONPATH": str(root / "source" / packed.PACKAGE)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, env=variables
    )
    place, *modules = done.stdout.split()
    assert place.startswith(str(root))
    assert not {"nbgrader", "nbconvert", "copydetect", "sqlalchemy", "IPython"} & set(modules)


@pytest.mark.parametrize(
    ("name", "coding"),
    [("transpose.cu", "utf-8-sig"), ("mine.cu", "utf-8"), ("folder/transpose.cu", "utf-16")],
)
def test_a_source_file_is_taken_as_it_is(
    root: Path, name: str, coding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = marked_as(right(), monkeypatch)
    (root / "submission" / name).parent.mkdir(exist_ok=True)
    (root / "submission" / name).write_bytes(TILE.encode(coding))
    assert marking.main(root) == 0
    assert asked == [TILE]
    assert results(root)["score"] == right().public.points


def test_points_are_those_that_the_lecturer_gave_the_cells(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked_as(right("01_coalesced_writes"), monkeypatch)
    file = root / "source" / packed.FILE
    given = json.loads(file.read_text())
    given["kernels"][0]["points"] = {"00_naive": 1.0, "01_coalesced_writes": 4.5, "02_shared_tile": 2.0}
    given["visibility"] = "after_due_date"
    file.write_text(json.dumps(given))
    (root / "submission/a.cu").write_text(TILE)
    assert marking.main(root) == 0
    found = results(root)
    assert (found["score"], found["output"]) == (5.5, "5.5 of 7.5 points")
    assert {found["visibility"], *(test["visibility"] for test in found["tests"])} == {"after_due_date"}


def test_nothing_of_a_hidden_case_is_shown(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {"7919", "6007", "6011", "5003"}  # numbers that no text has by chance, as a drawn 100 would be
    marked_as(wrong_when_hidden("7919"), monkeypatch)
    file = root / "source" / packed.FILE
    given = json.loads(file.read_text())
    given["hidden"] = {"secret": 5003, "sizes": {"transpose": [{"M": 6007, "N": 6011}]}}
    file.write_text(json.dumps(given))
    (root / "submission/a.cu").write_text(TILE)
    assert marking.main(root) == 0
    found = results(root)
    assert found["score"] == 0
    assert "a hidden case is not" in found["tests"][0]["output"]
    assert not secrets & set(re.findall(r"\d+", json.dumps(found, ensure_ascii=False)))


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "there is no file"),
        ({"a.txt": ""}, "there is `a.txt`"),
        ({"a.cu": "", "b.cu": ""}, "there is `a.cu`, `b.cu`"),
        ({"transpose.cu": "", "transpose.ipynb": ""}, "there is `transpose.cu`, `transpose.ipynb`"),
        ({"transpose.ipynb": "{"}, "no notebook that can be read"),
        ({"\x1b[2J.txt": ""}, r"`\x1b[2J.txt`"),
        ({"transpose.cu": "\n"}, "`transpose.cu`: it is empty"),
        ({"transpose.cu": "a\0b"}, "`transpose.cu`: it holds zero bytes"),
    ],
)
def test_what_cannot_be_taken_has_no_points_and_says_why(
    root: Path, files: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = marked_as(right(), monkeypatch)
    for name, text in files.items():
        (root / "submission" / name).write_text(text)
    assert marking.main(root) == 0
    found = results(root)
    assert (found["score"], asked) == (0, [])
    assert all(says in test["output"] for test in found["tests"])


def test_a_link_to_the_hidden_cases_is_no_submission(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = marked_as(right(), monkeypatch)
    (root / "submission/transpose.cu").symlink_to(root / "source" / packed.FILE)
    assert marking.main(root) == 0
    assert (results(root)["score"], asked) == (0, [])


def test_what_is_lost_is_an_error_and_never_a_score(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = marked_as("the marking process ended with status -9", monkeypatch)
    (root / "submission/a.cu").write_text(TILE)
    (root / "results/results.json").write_text('{"score": 100}')
    assert marking.main(root) == 1
    assert asked == [TILE, TILE], "it is tried once more"
    assert not (root / "results/results.json").exists()
    assert "status -9" in capsys.readouterr().err


def test_a_mark_of_zero_is_a_score(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marked_as(wrong(), monkeypatch)
    (root / "submission/a.cu").write_text(TILE)
    assert marking.main(root) == 0
    assert results(root)["score"] == 0
