"""What a block of each rung accesses: sizes at which it can be seen, and the arrays in the order of its work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from book_extensions import extension

from grader.errors import WarpladderError
from grader.judge import accesses
from grader.report import pictures
from grader.results import Accesses, ArrayAccess
from grader.workbook import topics
from grader.workbook.content import content_root
from grader.workbook.topic import KernelTopic

KEPT = extension("kept_accesses")
TOPICS = {name: topic for name, topic in topics.discover().items() if isinstance(topic, KernelTopic)}


def of_rungs(topic: KernelTopic) -> list[Accesses]:
    return list(accesses.of_files(topic, [rung.file for rung in topic.rungs]))


def elements(pairs: Sequence[int]) -> int:
    return sum(pairs[1::2]) - sum(pairs[::2])


def of_array(found: Accesses, array: str, action: str, launch: int = 0) -> ArrayAccess:
    (item,) = [item for item in found.launches[launch].arrays if (item.array, item.action) == (array, action)]
    return item


@pytest.fixture(scope="module")
def transpose() -> list[Accesses]:
    return of_rungs(TOPICS["transpose"])


def test_a_naive_transpose_reads_a_row_and_writes_a_column(transpose: list[Accesses]) -> None:
    naive = transpose[0]
    assert naive.problem == {"M": 64, "N": 64}
    (launch,) = naive.launches
    assert (launch.grid, launch.block, launch.traced) == ([4, 1, 1], [32, 8, 1], [2, 0, 0])
    read, written = of_array(naive, "in", "read"), of_array(naive, "out", "write")
    # Block 2 has the lower left quarter of `in`, and so the upper right one of `out`.
    assert read.shape == written.shape == [64, 64]
    assert read.warp == [64 * 32, 64 * 32 + 32]
    assert written.warp == [edge for row in range(32) for edge in (64 * row + 32, 64 * row + 33)]
    assert elements(read.block) == elements(written.block) == 32 * 32
    assert elements(read.thread) == elements(written.thread) == 4


def test_arrays_come_in_the_order_of_the_block_s_work(transpose: list[Accesses]) -> None:
    names = [(item.array, item.space, item.action) for item in transpose[2].launches[0].arrays]
    assert names == [
        ("in", "global", "read"),
        ("tile", "shared", "write"),
        ("tile", "shared", "read"),
        ("out", "global", "write"),
    ]
    tile = of_array(transpose[3], "tile", "read")
    assert tile.shape == [32, 33]
    assert tile.warp == [edge for row in range(32) for edge in (33 * row, 33 * row + 1)]


def test_a_schedule_has_no_arrays_to_draw() -> None:
    topic = topics.load("streams")
    with pytest.raises(WarpladderError, match="ladder profile"):
        accesses.of_file(topic, topic.rungs[0].path)
    assert accesses.if_any(topic, topic.rungs[0].path) is None


def test_a_wrong_kernel_is_drawn_and_one_that_does_not_compile_is_not(tmp_path: Path) -> None:
    source = (content_root() / "kernels" / "naive" / "transpose.cu").read_text(encoding="utf-8")
    wrong, broken = tmp_path / "wrong.cu", tmp_path / "broken.cu"
    wrong.write_text(source.replace("out[size_t(column) * M + row] =", "out[size_t(column) * M + row] = 1 +"))
    broken.write_text(source.replace("__global__", "__global"))
    assert wrong.read_text(encoding="utf-8") != source
    found = accesses.if_any(TOPICS["transpose"], wrong)
    assert found is not None
    assert elements(of_array(found, "out", "write").block) == 32 * 32
    assert accesses.if_any(TOPICS["transpose"], broken) is None


def test_the_book_keeps_what_is_seen_of_a_rung(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed = KEPT.FOLDER / "transpose.json"
    monkeypatch.setattr(KEPT, "FOLDER", tmp_path)
    KEPT.write(TOPICS["transpose"])
    assert (tmp_path / committed.name).read_bytes() == committed.read_bytes(), "`make accesses` keeps it anew"


@pytest.mark.parametrize("name", TOPICS)
def test_what_is_kept_is_of_the_rungs_as_they_are(name: str) -> None:
    assert tuple(KEPT.read(TOPICS[name])) == tuple(TOPICS[name].ladder.ids), (
        f"`make accesses TOPIC={name}` keeps it anew"
    )


def test_what_is_kept_of_a_rung_that_has_changed_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = TOPICS["vector_add"]
    kept = (KEPT.FOLDER / "vector_add.json").read_text(encoding="utf-8")
    seen = KEPT.of_rungs(topic)
    monkeypatch.setattr(KEPT, "FOLDER", tmp_path)
    old = KEPT.digest(topic, topic.rungs[1])
    (tmp_path / "vector_add.json").write_text(
        kept.replace(old, "of another file").replace('"grid":[', '"grid":[7')
    )
    assert [found == now for found, now in zip(KEPT.of_rungs(topic), seen, strict=True)] == [
        False,
        True,
        False,
        False,
    ]


@pytest.mark.soak(area="judge")
@pytest.mark.parametrize("name", TOPICS)
def test_every_rung_has_its_picture(name: str) -> None:
    topic = TOPICS[name]
    kept = KEPT.read(topic)
    for rung, found, again in zip(topic.rungs, of_rungs(topic), of_rungs(topic), strict=True):
        assert found == again, rung.id
        assert found.launches == kept[rung.id].seen.launches, rung.id
        assert max(launch.grid[0] * launch.grid[1] * launch.grid[2] for launch in found.launches) >= 2
        read = {item.array for launch in found.launches for item in launch.arrays if item.action == "read"}
        written = {item.array for launch in found.launches for item in launch.arrays if item.action != "read"}
        constants = {variable for item in rung.file.launches for variable, _ in item.constant}
        assert {item.name for item in topic.signature.inputs} <= read or constants & read, rung.id
        # A block of a launch that is given several outputs may have its part in one of them alone.
        beside = {name for item in rung.file.launches if written & {*item.args} for name in item.args}
        assert {item.name for item in topic.signature.outputs} <= written | beside, rung.id
        assert all(item.block for launch in found.launches for item in launch.arrays), rung.id
        for width in (760, 340):
            drawn = pictures.accesses(found, rung.id, width)
            assert drawn == pictures.accesses(again, rung.id, width)
            root = ElementTree.fromstring(drawn)
            drawn_launches = {launch.kernel: launch for launch in reversed(found.launches)}.values()
            arrays = [item.array for launch in drawn_launches for item in launch.arrays]
            words = " ".join(item.text or "" for item in root.iter("{http://www.w3.org/2000/svg}text"))
            assert all(array in words for array in arrays if array), rung.id
