"""The book's extensions that write into its prose: numbers are computed, the map of the way is of what is there,
programs are cut into sections."""

from __future__ import annotations

import pytest
from book_extensions import extension
from clones import ROOT

from grader.errors import WarpladderError
from grader.workbook.expressions import ExpressionError

pytestmark = pytest.mark.verify


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("sms * warps * warp", "270,336"),
        ("warp * 4 | KiB", "0.125 KiB"),
        ("A100.sms", "108"),
        ("1 / 4 | %", "25 %"),
        ("paths1.multiply_adds", "25,600"),
    ],
)
def test_a_number_in_prose_is_computed(text: str, written: str) -> None:
    assert extension("values").written(text) == written


@pytest.mark.parametrize(
    "text",
    ["nothing_like_it", "gemm.r99.time_s", "A100.gemm.r02.time_s", "Z9.sms", "sms | furlongs", "sms +"],
)
def test_a_number_that_cannot_be_computed_is_an_error(text: str) -> None:
    with pytest.raises((WarpladderError, ExpressionError)):
        extension("values").written(text)


@pytest.mark.parametrize(("name", "folder"), [("gemm", "h200"), ("H100.gemm", "h100-80gb-hbm3")])
def test_a_rungs_number_is_of_the_card_that_prose_speaks_of(name: str, folder: str) -> None:
    record = extension("measured").read(ROOT / "measurements" / folder / "gemm.json")
    written = extension("values").written(f"{name}.r02.time_s | s")
    assert written == extension("values").written(f"{record.rungs[2].time_s} | s")


def test_a_rung_that_a_record_lacks_stands_in_its_place_and_is_not_measured() -> None:
    measured = extension("measured")
    climb = measured.read(ROOT / "measurements" / "h200" / "gemm.json")
    ids = [rung.id for rung in climb.rungs]
    rows = measured.ladder(climb, {"05_new": "new"}, [*ids, "05_new"]).astext().split("\n\n")
    at = rows.index("05_new")
    assert rows[at + 1] == "not measured"
    assert rows.index("05_float4") < at < rows.index("06_warp_tile")


def test_the_map_of_the_way_leaves_out_what_is_not_there() -> None:
    rows = list(extension("start").table(["transpose 00-01 | machine/access | banks none", "none | a | b"]))
    assert len(rows) == 3
    assert "rungs 00 to 01" in rows[2]
    assert "banks.md" in rows[2]
    assert "none" not in rows[2]


def test_a_section_of_a_program_is_shown_without_what_surrounds_it() -> None:
    programs = ROOT / "book" / "machine" / "programs"
    found = extension("beside").sections(programs / "vector_add.cu")
    assert found["Kernel"].startswith("__global__ void vector_add(")
    assert found["Kernel"].endswith("}")
    assert "int main" not in found["Kernel"]
    assert found["Allocate"].splitlines()[0] == "const size_t nbytes = n * sizeof(float);"
    assert found["Clean up"].splitlines()[-1] == "return 0;"
    assert list(extension("beside").sections(programs / "vector_add.py")) == list(found)
