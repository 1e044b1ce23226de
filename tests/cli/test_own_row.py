"""A learner's file as one more row of a climb, point of a roofline, or line of the model."""

import json
from pathlib import Path

import pytest
from test_commands import Ladder, fits, ladder

from grader.workbook.content import content_root

__all__ = ["ladder"]

TILE = content_root() / "kernels/optimized/transpose/02_shared_tile.cu"
SMALL = ("--device", "emulator", "--set", "M=256", "--set", "N=256")


@pytest.fixture(autouse=True)
def mine(ladder: Ladder) -> None:
    """In the folder in which commands are run."""
    Path("mine.cu").write_text(TILE.read_text())


def test_a_climb_has_the_file_as_its_last_row(ladder: Ladder) -> None:
    done = ladder("climb", "transpose", "--with", "mine.cu", *SMALL, "--json", "climb.json")
    assert done.code == 0, done.out
    assert fits(done.out)
    assert done.out.rstrip().endswith("\n  ladder grade transpose mine.cu")
    rungs = {rung["id"]: rung for rung in json.loads(Path("climb.json").read_text())["rungs"]}
    own, same = rungs["mine.cu"], rungs["02_shared_tile"]
    assert list(rungs)[-1] == "mine.cu"
    assert (own["counters"], own["time_s"]) == (same["counters"], same["time_s"])
    assert own["claims"] == []
    assert same["claims"]


def test_a_wrong_file_does_not_pass_and_says_why(ladder: Ladder) -> None:
    Path("mine.cu").write_text(TILE.read_text().replace("= tile[x][y]", "= tile[x][y] + 1"))
    done = ladder("climb", "transpose", "--with", "mine.cu", *SMALL)
    assert done.code == 1
    assert "`out`" in done.out.partition("\nmine.cu\n")[2]


def test_a_roofline_places_the_file(ladder: Ladder) -> None:
    done = ladder("roofline", "transpose", "--with", "mine.cu", *SMALL, "--plot", "roofs.svg")
    assert done.code == 0, done.out
    assert "mine.cu" in done.out
    assert "mine.cu" in Path("roofs.svg").read_text()


@pytest.mark.verify
def test_the_model_predicts_the_file_on_another_gpu(ladder: Ladder) -> None:
    done = ladder("model", "transpose", "--with", "mine.cu", "--on", "A100", "--record", "h200")
    assert done.code == 0, done.out
    (row,) = [line for line in done.out.splitlines() if line.startswith("mine.cu")]
    (same,) = [line for line in done.out.splitlines() if line.startswith("02_shared_tile")]
    own, measured = row.split(), same.split()
    assert own[1] == "–"
    modelled = [part for part in measured if part.startswith("≈")]
    assert [part for part in own if part.startswith("≈")] == modelled


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("climb", "transpose", "gemm", "--with", "mine.cu"), "--with is for one topic"),
        (("climb", "transpose", "--with", "mine.cu", "--record", "records"), "leave out --record"),
        (("climb", "transpose", "--with", "absent.cu"), "absent.cu"),
        (("roofline", "transpose", "--with", "mine.cu", "--record", "h200"), "leave out --record"),
        (("model", "--with", "mine.cu"), "name it"),
    ],
)
def test_where_there_is_no_row_for_it(ladder: Ladder, arguments: tuple[str, ...], said: str) -> None:
    done = ladder(*arguments)
    assert (done.code, said in " ".join(done.err.split())) == (2, True)
