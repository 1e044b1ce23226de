"""Where a weak point is taught, in the workbook as it is."""

import pytest

from grader.history.items import Item
from grader.history.remedies import Remedies, Remedy
from grader.workbook.content import content_root
from grader.workbook.topics import discover


def item(name: str, topics: tuple[str, ...], *terms: str, rungs: tuple[str, ...] = ()) -> Item:
    return Item(f"{name}/a", "a title", "a point", "mid", topics, (), "quiz", terms, rungs)


@pytest.fixture(scope="module")
def remedies() -> Remedies:
    return Remedies(discover())


@pytest.mark.parametrize(
    ("asked", "rung", "notebook"),
    [
        (item("swizzling", ("transpose",), "swizzl", "XOR"), "transpose/04_swizzled_tile.cu", "transpose"),
        (item("banks", ("transpose",), "bank conflict", "same bank"), "transpose/02_shared_tile.cu", "banks"),
        (item("sums", ("reduce",), "shuffle"), "reduce/05_warp_shuffles.cu", "reduce"),
        (item("transfers", ("streams",), "page-locked", "pinned"), "streams/01_pinned.py", "transfer"),
        (item("occupancy", (), "registers", "resident warps"), "", "occupancy"),
    ],
    ids=lambda value: value.name if isinstance(value, Item) else "",
)
def test_a_point_is_found_by_its_terms(remedies: Remedies, asked: Item, rung: str, notebook: str) -> None:
    files = [found.file for found in remedies.of(asked)]
    rungs = [f"kernels/optimized/{rung}"] if rung else []
    assert files[: len(rungs)] == rungs
    assert files[len(rungs) :][0].startswith(f"notebooks/{notebook}")


def test_what_is_found_is_there(remedies: Remedies) -> None:
    """Files under their names, notebooks by their text, of which `make notebooks` makes the .ipynb."""
    for found in remedies.of(item("banks", ("transpose", "gemm"), "bank", "padding")):
        text = content_root() / found.file.replace(".ipynb", ".md")
        assert text.is_file()
        assert not found.section or f"## {found.section}\n" in text.read_text(encoding="utf-8")


def test_a_rung_that_a_question_names_comes_before_any_search(remedies: Remedies) -> None:
    asked = item("banks", ("gemm",), "bank", rungs=("transpose/99_gone", "transpose/03_padded_tile"))
    assert remedies.of(asked)[0] == Remedy("kernels/optimized/transpose/03_padded_tile.cu", "")


def test_of_several_rungs_that_a_question_names_the_one_about_the_point(remedies: Remedies) -> None:
    both = ("transpose/03_padded_tile", "transpose/04_swizzled_tile")
    found = [remedies.of(item("banks", (), term, rungs=both))[0].file for term in ("padd", "swizzl", "rdma")]
    rungs = [f"kernels/optimized/{name}.cu" for name in both]
    assert found == [rungs[0], rungs[1], rungs[0]]


def test_a_point_that_is_taught_nowhere_has_no_remedy(remedies: Remedies) -> None:
    assert remedies.of(item("rdma", ("gemm", "gone"), "InfiniBand verbs")) == []
