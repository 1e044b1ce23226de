"""Where a weak point is taught, in the workbook as it is."""

import pytest

from grader.history.items import Item
from grader.history.remedies import Remedies, Remedy
from grader.workbook.content import content_root
from grader.workbook.topics import discover


def item(name: str, topics: tuple[str, ...], *words: str, rungs: tuple[str, ...] = ()) -> Item:
    return Item(f"{name}/a", "a title", ", ".join(words), "mid", topics, (), "quiz", rungs)


@pytest.fixture(scope="module")
def remedies() -> Remedies:
    return Remedies(discover())


@pytest.mark.parametrize(
    ("asked", "rung", "prose"),
    [
        (
            item("swizzling", ("transpose",), "swizzl", "XOR"),
            "transpose/04_swizzled_tile.cu",
            "lessons/transpose",
        ),
        (
            item("banks", ("transpose",), "bank conflict", "same bank"),
            "",
            "notebooks/banks",
        ),
        (item("sums", ("reduce",), "shuffle", "__shfl"), "reduce/05_warp_shuffles.cu", "lessons/reduce"),
        (item("transfers", ("streams",), "page-locked", "pinned"), "streams/01_pinned.py", "lessons/streams"),
        (item("occupancy", (), "registers", "resident warps"), "", "notebooks/occupancy"),
    ],
    ids=lambda value: value.name if isinstance(value, Item) else "",
)
def test_a_point_is_found_by_its_words(remedies: Remedies, asked: Item, rung: str, prose: str) -> None:
    files = [found.file for found in remedies.of(asked)]
    rungs = [f"kernels/optimized/{rung}"] if rung else []
    assert files[: len(rungs)] == rungs
    assert files[len(rungs) :][0].startswith(prose)


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
    found = [remedies.of(item("banks", (), term, rungs=both))[0].file for term in ("padd", "swizzl")]
    assert found == [f"kernels/optimized/{name}.cu" for name in both]
    assert all(
        place.section for place in remedies.of(item("banks", (), "rdma", rungs=both))
    )  # the notebook alone


def in_round(*rungs: str, words: tuple[str, ...] = ()) -> Item:
    return Item("gemm/a", "a title", ", ".join(words), "mid", ("gemm",), (), "interview", rungs)


def test_what_limits_a_version_is_told_by_its_rung_and_its_lesson(remedies: Remedies) -> None:
    assert remedies.of(in_round("gemm/02_shared_tile", words=("sixth", "lane order"))) == [
        Remedy("kernels/optimized/gemm/02_shared_tile.cu", ""),
        Remedy("lessons/gemm/lesson.md", "02: fetch once a block"),
    ]
    assert remedies.of(in_round("gemm/00_naive"))[0] == Remedy("kernels/naive/gemm.cu", "")


def test_what_comes_next_is_taught_by_a_rung_up_to_the_next_version(remedies: Remedies) -> None:
    def rung(*words: str) -> str:
        return remedies.of(in_round("gemm/07_double_buffer", "gemm/09_wide_tile", words=words))[0].file

    assert rung("cp.async") == "kernels/optimized/gemm/08_cp_async.cu"
    assert rung("zebra") == "kernels/optimized/gemm/09_wide_tile.cu"


@pytest.mark.parametrize(
    ("name", "topics", "words"),
    [
        ("chat-service", (), ("chat", "service")),  # a word by chance
        (
            "parallelism",
            (),
            ("tensor parallel", "column", "row"),
        ),  # of notebooks on no ladder of the question's
        (
            "all-reduce",
            ("reduce",),
            ("latency", "small message", "alpha"),
        ),  # one word, and many places have it
    ],
)
def test_a_place_that_is_hardly_about_a_point_is_not_named(
    remedies: Remedies, name: str, topics: tuple[str, ...], words: tuple[str, ...]
) -> None:
    assert remedies.of(item(name, topics, *words)) == []


def test_a_point_that_is_taught_nowhere_has_no_remedy(remedies: Remedies) -> None:
    assert remedies.of(item("rdma", ("gemm", "gone"), "InfiniBand verbs")) == []
