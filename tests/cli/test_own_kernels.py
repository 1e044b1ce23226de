"""A learner's own kernels: where they are told to be, and which are none of a topic."""

import json
import shlex
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from test_commands import Ladder, ladder

from grader.history.exchange import exported
from grader.history.outcomes import Graded
from grader.history.store import Store, remember
from grader.judge.grade import refused
from grader.results import Verdict
from grader.workbook import topics
from grader.workbook.content import content_root

__all__ = ["ladder"]

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def write_right_kernel(file: Path) -> None:
    file.write_text((content_root() / "kernels/naive/transpose.cu").read_text())


@pytest.fixture
def elsewhere(ladder: Ladder, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A right kernel that was graded in another folder than this one; it, and this folder."""
    folder, here = Path("some kernels").absolute(), Path("here").absolute()
    folder.mkdir()
    here.mkdir()
    monkeypatch.chdir(folder)
    write_right_kernel(file := folder / "mine.cu")
    remembered("transpose", Path("mine.cu"), "pass", "00_naive")
    monkeypatch.chdir(here)
    return file, here


def remembered(topic: str, file: Path, verdict: Verdict, rung: str | None) -> None:
    grade = replace(refused(topics.load(topic), str(file), verdict, ""), rung_reached=rung)
    remember(topic, file, file.read_bytes(), grade)


def advised(ladder: Ladder) -> str:
    found = json.loads(ladder("next", "--json", "-").out)["next"]
    return str(found["command"])


def test_what_is_next_names_a_file_that_is_there_from_each_folder(
    ladder: Ladder, elsewhere: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, _ = elsewhere
    assert advised(ladder) == f"ladder hint transpose {shlex.quote(str(file))}"
    monkeypatch.chdir(file.parent.parent)
    assert advised(ladder) == "ladder hint transpose 'some kernels/mine.cu'"
    monkeypatch.chdir(file.parent)
    assert advised(ladder) == "ladder hint transpose mine.cu"


def test_a_name_that_is_not_here_is_told_where_it_is(ladder: Ladder, elsewhere: tuple[Path, Path]) -> None:
    file, here = elsewhere
    for command in ("hint", "grade", "profile"):
        done = ladder(command, "transpose", "mine.cu", "--device", "emulator")
        assert done.code == 2
        assert f"yours is {shlex.quote(str(file))}; `ladder new transpose`" in done.err
    assert "yours" not in ladder("hint", "transpose", "other.cu", "--device", "emulator").err
    assert not [*here.iterdir()]


def test_a_name_alone_is_the_file_that_is_known_by_it(ladder: Ladder, elsewhere: tuple[Path, Path]) -> None:
    file, here = elsewhere
    with Store() as store:
        store.note(Graded("transpose", NOON, "mine.cu", "ab", "pass", "01_coalesced_writes"))
        store.note(Graded("transpose", NOON, "gone.cu", "cd", "fail", None))
    assert advised(ladder) == f"ladder hint transpose {shlex.quote(str(file))}"
    write_right_kernel(here / "mine.cu")
    assert advised(ladder) == "ladder hint transpose mine.cu"


def test_no_folder_is_exported(elsewhere: tuple[Path, Path]) -> None:
    with Store() as store:
        assert [grade["file"] for grade in json.loads(exported(store))["grades"]] == ["mine.cu"]


def test_a_kernel_of_another_topic_is_no_work_on_the_one_it_was_typed_for(ladder: Ladder) -> None:
    other = Path("sum.cu")
    other.write_text((content_root() / "kernels/naive/vector_add.cu").read_text())
    write_right_kernel(Path("mine.cu"))
    remembered("transpose", Path("mine.cu"), "pass", "00_naive")
    before = ladder("next").out
    assert "ladder hint transpose mine.cu" in before
    assert "is one for vector_add" in ladder("grade", "transpose", "sum.cu", "--device", "emulator").out
    with Store() as store:
        assert [grade.verdict for grade in store.grades()] == ["pass"]
    remembered("transpose", other, "error", None)  # as earlier versions did
    assert ladder("next").out == before
    write_right_kernel(other)  # which now is one of this topic, and does not compile, say
    assert "mend sum.cu" in ladder("next").out


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("transpose.cu",), "transpose.cu is a file: the topic's name comes first"),
        (("transpose", "transpose"), "there is transpose.cu"),
        (("transpose", "trnspose.cu"), "there is transpose.cu"),
    ],
)
def test_a_file_without_its_topic_or_of_nearly_that_name_is_told_to_be_there(
    ladder: Ladder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_right_kernel(Path("transpose.cu"))
    assert said in " ".join(ladder("grade", *typed).err.split())
