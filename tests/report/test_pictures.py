"""Pictures: well-formed, the same each time, complete in themselves, readable, and right."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise

import pytest
from made_up_history import NOW, standing

from grader.analysis.batches import Batch
from grader.analysis.decoding import Decoding
from grader.analysis.devices import named
from grader.history.progress import progress
from grader.report import pictures
from grader.report.pictures.svg import COLOURS, LogScale
from grader.results import (
    Accesses,
    ArrayAccess,
    Climb,
    Device,
    Interval,
    LaunchAccesses,
    Profile,
    Provenance,
    RungResult,
    load,
)
from grader.workbook import units
from grader.workbook.content import content_root

SVG = "{http://www.w3.org/2000/svg}"


def record(topic: str) -> Climb:
    return load(content_root() / "measurements" / "h200" / f"{topic}.json", Climb)


TILE = ArrayAccess("tile", "shared", "read", [4, 4], [0, 16], [0, 1, 4, 5, 8, 9, 12, 13], [4, 5])
LONG = ArrayAccess("in", "global", "read", [1024], [256, 512], [256, 288], [256, 257])
PLANES = ArrayAccess("w", "global", "write", [14, 4, 3, 3], [36, 72], [36, 37], [])
ACCESSES = Accesses(
    "transpose",
    "mine.cu",
    {"M": 4, "N": 1024},
    [
        LaunchAccesses("first<4>", [4, 1, 1], [32, 1, 1], [2, 0, 0], [LONG, TILE, PLANES]),
        LaunchAccesses("second", [2, 2, 1], [8, 8, 1], [1, 1, 0], [TILE]),
        LaunchAccesses("second", [1, 1, 1], [8, 8, 1], [0, 0, 0], [TILE]),
    ],
)


DRAWN: dict[str, Callable[[], str]] = {
    "ladder": lambda: pictures.ladder(record("gemm")),
    "ladder on a phone": lambda: pictures.ladder(record("hgemm"), 360),
    "ladder with many sizes on a phone": lambda: pictures.ladder(record("conv2d"), 360),
    "ladder of schedules": lambda: pictures.ladder(record("streams")),
    "roofline": lambda: pictures.roofline(record("hgemm")),
    "roofline of gemm": lambda: pictures.roofline(record("gemm")),
    "roofline without arithmetic": lambda: pictures.roofline(record("transpose")),
    "roofline without counters": lambda: pictures.roofline(record("streams")),
    "occupancy by threads": lambda: pictures.occupancy(named("T4"), "threads", registers=40),
    "occupancy by registers": lambda: pictures.occupancy(named("A100"), "registers", threads=512),
    "occupancy by shared memory": lambda: pictures.occupancy(named("H200"), "shared", shared_bytes=9000),
    "accesses": lambda: pictures.accesses(ACCESSES, "mine.cu"),
    "accesses on a phone": lambda: pictures.accesses(ACCESSES, "mine.cu", 340),
    "banks": lambda: pictures.banks([128 * lane for lane in range(32)]),
    "batch": lambda: pictures.batch(Batch(named("H100"), 512, 16, 1 << 28)),
    "batch of one, few bits": lambda: pictures.batch(Batch(named("RTX 3090"), 1, 4, 1 << 20)),
    "decoding": lambda: pictures.decoding(Decoding(named("H100"), 64, 8192, 64, 8)),
    "decoding of the most": lambda: pictures.decoding(Decoding(named("T4"), 64, 131072, 64, 1)),
    "decoding of the fewest": lambda: pictures.decoding(Decoding(named("B200"), 1, 1024, 64, 64)),
    "sectors": lambda: pictures.sectors([12 * lane for lane in range(32)]),
    "timeline": lambda: pictures.intervals(
        record("streams").rungs[3].timeline, "measured", "<two> & streams"
    ),
    "timeline of a file with a long name": lambda: pictures.timeline(
        Profile(
            "streams",
            f"{'a-folder/' * 12}mine.py",
            Device("gpu", "NVIDIA H200", "sm_90a"),
            {"N": 268435456, "R": 1085},
            "pass",
            None,
            [],
            Provenance("0.1.0", "3.12", "2.4"),
            record("streams").rungs[3].timeline,
            "measured",
        )
    ),
    "trend": lambda: pictures.trend("Known", standing().levels, standing().whole),
    "trend on a phone": lambda: pictures.trend("Known", standing().topics, standing().whole, 340),
    "trend of nothing": lambda: pictures.trend("Known", [], progress([], [], NOW).whole),
    "spark": lambda: pictures.spark(standing().whole),
    "no timeline": lambda: pictures.intervals([], None, "nothing"),
}


@cache
def drawn(name: str) -> str:
    return DRAWN[name]()


@pytest.mark.parametrize("name", DRAWN)
def test_every_picture_is_complete_and_always_the_same(name: str) -> None:
    text = drawn(name)
    assert text == DRAWN[name]()
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert [child.tag for child in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert all(child.text for child in root[:2])
    assert root.get("role") == "img"
    # No identifiers, which would clash in a page, and nothing from elsewhere.
    assert not [element for element in root.iter() if element.get("id") or element.get("href")]
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("name", DRAWN)
def test_nothing_stands_outside_of_a_picture(name: str) -> None:
    root = ElementTree.fromstring(drawn(name))
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for text in root.iter(f"{SVG}text"):
        size, length = float(text.get("font-size", 0)), len(text.text or "")
        x, y = float(text.get("x", 0)), float(text.get("y", 0))
        wide = 0 if text.get("transform") else 0.5 * size * length
        left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor", "start")]
        assert left >= 0, text.text
        assert left + wide <= width, text.text
        assert size <= y <= height, text.text
    for box in root.iter(f"{SVG}rect"):
        if box.get("width") != "100%":
            assert float(box.get("x", 0)) + float(box.get("width", 0)) <= width + 0.1
            assert float(box.get("y", 0)) + float(box.get("height", 0)) <= height + 0.1


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("tone", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_its_ground(tone: int) -> None:
    for name in ("ink", "dim", "blue", "orange", "green", "red", "purple", "teal"):
        assert contrast(COLOURS[name][tone], COLOURS["ground"][tone]) >= 4.5, name
    for name in ("blue", "red"):
        assert contrast(COLOURS[name][tone], COLOURS["onto"][tone]) >= 4.5, name


@pytest.mark.parametrize("name", DRAWN)
def test_every_colour_used_has_its_dark_value(name: str) -> None:
    text = drawn(name)
    style = text.split("<style>")[1].split("</style>")[0]
    dark = style.split("@media (prefers-color-scheme:dark){")[1].split("}}")[0]
    for kind, colour in set(re.findall(r'class="([fs])-(\w+)"', text)):
        assert f".{kind}-{colour}{{" in dark + "}", colour
    for page in ("[data-theme=light]", "[data-theme=dark]", "[data-jp-theme-light=false]"):
        assert page in style


def shapes(text: str, kind: str, colour: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(text)
    return [item for item in root.iter(f"{SVG}{kind}") if item.get("class", "")[2:] == colour]


def texts(text: str) -> list[str]:
    return [item.text or "" for item in ElementTree.fromstring(text).iter(f"{SVG}text")]


def test_a_ladder_shows_every_rung_s_time_and_every_line() -> None:
    climb = record("gemm")
    shown = texts(pictures.ladder(climb))
    for rung in climb.rungs:
        assert rung.id in shown
    assert any(line.startswith("cuBLAS") for line in shown)
    assert any(line.startswith("arithmetic bound: ≈") for line in shown)


@pytest.mark.parametrize("topic", ["gemm", "hgemm", "conv2d", "transfer"])
def test_on_a_phone_every_rung_s_name_and_time_stand_above_its_point(topic: str) -> None:
    climb = record(topic)
    text = pictures.ladder(climb, 360)
    root = ElementTree.fromstring(text)
    assert root.get("width") == "360"
    words = [(item.text or "", float(item.get("y", 0))) for item in root.iter(f"{SVG}text")]
    places = [(float(item.get("cx", 0)), float(item.get("cy", 0))) for item in shapes(text, "circle", "blue")]
    assert len(places) == len(climb.rungs)
    for rung, (x, y) in zip(climb.rungs, places, strict=True):
        assert 5.5 <= x <= 360 - 5.5
        name = f"{rung.id} †" if rung.side_step else rung.id
        (above,) = [height for text, height in words if text == name]
        (time,) = [text for text, height in words if height == above and text.startswith(f"{_time(rung)}  ×")]
        assert 0 < y - above <= 20
        assert (len(name) * 13 + len(time) * 12) * 0.56 <= 360 - 32


def _time(rung: RungResult) -> str:
    return units.seconds(rung.time_s, rung.time_source)


def test_labels_of_ticks_leave_each_other_room() -> None:
    for width in (360, 760):
        for topic in ("gemm", "hgemm", "transpose", "transfer"):
            root = ElementTree.fromstring(pictures.ladder(record(topic), width))
            ticks = [item for item in root.iter(f"{SVG}text") if item.get("text-anchor") == "middle"]
            ends = [(float(tick.get("x", 0)), 0.5 * 12 * len(tick.text or "") / 2) for tick in ticks]
            assert len(ends) > 1
            assert all(a + wide <= b - other for (a, wide), (b, other) in pairwise(ends)), topic


@pytest.mark.parametrize("topic", ["gemm", "hgemm", "conv2d", "reduce"])
def test_numbers_beside_the_points_of_a_roofline_leave_each_other_room(topic: str) -> None:
    root = ElementTree.fromstring(pictures.roofline(record(topic)))
    numbers = [
        (float(item.get("x", 0)), float(item.get("y", 0)))
        for item in root.iter(f"{SVG}text")
        if item.get("font-size") == "11" and item.get("font-weight")
    ]
    assert len(numbers) >= len(record(topic).rungs)
    for (x, y), (u, v) in combinations(numbers, 2):
        assert abs(x - u) > 8.9 or abs(y - v) > 8.9


@pytest.mark.parametrize("topic", ["gemm", "hgemm", "conv2d", "reduce", "transpose"])
def test_no_share_of_a_roof_is_above_all_of_it(topic: str) -> None:
    shares = [
        int(found)
        for text in texts(pictures.roofline(record(topic)))
        for found in re.findall(r"(\d+) %", text)
    ]
    assert shares
    assert max(shares) <= 100


def test_a_page_has_a_ladder_for_either_width() -> None:
    climb = record("gemm")
    text = pictures.ladder_for_pages(climb)
    assert f'<div class="picture-wide">{pictures.ladder(climb)}</div>' in text
    assert f'<div class="picture-narrow">{pictures.ladder(climb, 360)}</div>' in text


def test_a_modelled_rung_is_a_ring_and_one_that_failed_says_so() -> None:
    climb = record("transpose")
    first, second, *_ = climb.rungs
    rungs = [replace(first, time_source="modelled"), replace(second, time_s=None, verdict="fail")]
    text = pictures.ladder(replace(climb, rungs=rungs))
    (ring,) = [item for item in shapes(text, "circle", "blue") if item.get("fill") == "none"]
    assert "≈" in (ring[0].text or "")
    assert "fail" in texts(text)
    assert "fail" in texts(pictures.ladder(replace(climb, rungs=rungs), 360))
    assert "Nothing was timed." in texts(pictures.ladder(replace(climb, rungs=[], baselines=[], bound=None)))


def test_banks_that_collide_are_red_and_lanes_are_named() -> None:
    text = pictures.banks([4 * 8 * lane for lane in range(32)])
    assert len(shapes(text, "rect", "red")) == 32
    assert not shapes(text, "rect", "blue")
    assert "wavefront 8" in texts(text)
    assert "8 wavefronts where 1 would do: 7 bank conflicts." in text
    free = pictures.banks([4 * lane for lane in range(32)])
    assert (len(shapes(free, "rect", "red")), len(shapes(free, "rect", "blue"))) == (0, 32)
    assert "×32" in texts(pictures.banks([0] * 32))


def test_sectors_show_what_is_moved_for_nothing() -> None:
    text = pictures.sectors([8 * lane for lane in range(32)])
    assert "8 sectors: 256 bytes are moved, 128 of them asked for (50 %)." in text
    moved = [item for item in shapes(text, "rect", "dim") if item.find(f"{SVG}title") is not None]
    assert (len(shapes(text, "rect", "blue")) - 1, len(moved)) == (32, 32)  # and the legend


@pytest.mark.parametrize("rows", [3, 20])
def test_the_first_byte_of_a_row_stands_level_with_its_lanes(rows: int) -> None:
    root = ElementTree.fromstring(pictures.sectors([128 * lane for lane in range(rows)]))
    heights = {item.text: float(item.get("y", 0)) for item in root.iter(f"{SVG}text")}
    for lane in range(1, rows):
        assert heights[f"{128 * lane:,}"] == pytest.approx(heights[str(lane)], abs=1), lane


def test_occupancy_marks_the_block_and_names_what_limits() -> None:
    text = pictures.occupancy(named("H200"), "registers", threads=256, registers=42)
    assert "5 blocks of 40 warps in all on an SM, 62 % of 64, limited by registers" in text
    assert {"limited by warps", "limited by registers"} <= set(texts(text))


def test_a_timeline_has_a_row_only_for_what_was_at_work() -> None:
    text = pictures.intervals([Interval("compute", 1, 0.0, 1e-3, 7)], "modelled", "one")
    assert {"compute", "stream 1", "≈1 ms"} <= set(texts(text))
    assert "copy in" not in texts(text)
    assert "line 7" in text


def test_axes_have_a_few_ticks_however_wide() -> None:
    for high in (1.5, 12, 3e3, 2e7, 1e12):
        assert 1 <= len(LogScale(1, high, 0, 100).ticks()) <= 15
    with pytest.raises(ValueError, match="logarithmic"):
        LogScale(0, 1, 0, 100)


def areas(text: str, colour: str) -> list[list[tuple[float, ...]]]:
    """The rectangles (x, y, width, height) of each area of a colour."""
    one = re.compile(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z")
    return [
        [tuple(map(float, found)) for found in one.findall(item.get("d", ""))]
        for item in shapes(text, "path", colour)
    ]


def test_accesses_show_the_elements_of_block_warp_and_thread() -> None:
    text = pictures.accesses(replace(ACCESSES, launches=ACCESSES.launches[1:2]), "mine.cu")
    (whole,), column = areas(text, "blue")
    ((thread,),) = areas(text, "orange")
    assert whole[2:] == (32, 32)
    assert column == [(whole[0], whole[1], 8, 32)]
    assert thread == (whole[0], whole[1] + 8, 8, 8)
    assert "second: block (1, 1) of 2 × 2, 8 × 8 threads" in texts(text)
    assert "block 16 · warp 4 · thread 1" in texts(text)
    narrow = texts(pictures.accesses(ACCESSES, "mine.cu", 340))
    assert "block 16 · warp 4 ·" in narrow


def test_a_kernel_that_is_launched_again_is_drawn_once() -> None:
    shown = texts(pictures.accesses(ACCESSES, "mine.cu"))
    assert [text for text in shown if text.startswith("second:")] == [
        "second: block (1, 1) of 2 × 2, 8 × 8 threads"
    ]
    assert any("1 launch of the same kernels not drawn" in text for text in shown)


def test_a_long_array_is_broken_into_rows_and_a_thread_that_accesses_nothing_has_no_mark() -> None:
    text = pictures.accesses(replace(ACCESSES, launches=ACCESSES.launches[:1]), "mine.cu")
    assert "in 1024, in rows of 64" in texts(text)
    block, warp = areas(text, "blue")[:2]
    assert len(block) == len(warp) == 1
    assert block[0][3] == pytest.approx(4 * warp[0][3], abs=0.2)  # 256 elements are four rows, 32 half of one
    assert block[0][2] == pytest.approx(2 * warp[0][2], abs=0.2)
    assert len(areas(text, "orange")) == 2  # of three arrays


@pytest.mark.parametrize(("shape", "side"), [([8, 4096], 3), ([4096, 8], 2)])
def test_a_few_long_rows_or_columns_are_no_line(shape: list[int], side: int) -> None:
    long = ArrayAccess("in", "global", "read", shape, [0, 8 * 4096], [0, 32], [0, 1])
    launch = LaunchAccesses("k", [8, 1, 1], [32, 1, 1], [4, 0, 0], [long])
    text = pictures.accesses(replace(ACCESSES, launches=[launch]), "mine.cu")
    ((block,), *_) = areas(text, "blue")  # all of it
    assert block[side] == pytest.approx(64)


def test_an_array_with_a_great_many_matrices_is_drawn_as_one() -> None:
    many = ArrayAccess("w", "global", "read", [112, 16, 3, 3], [144, 288], [144, 147], [144, 145])
    launch = LaunchAccesses("k", [2, 1, 1], [32, 1, 1], [1, 0, 0], [many])
    text = pictures.accesses(replace(ACCESSES, launches=[launch]), "mine.cu")
    assert "w 112 × 16 × 3 × 3, in rows of" in texts(text)
    (row,), (warp,) = areas(text, "blue")
    assert row[0] == pytest.approx(warp[0], abs=0.4)  # the second of 112 rows, and its beginning
    assert len(shapes(text, "path", "empty")) == 1


def test_a_mark_that_is_made_large_enough_to_be_seen_stays_around_its_elements() -> None:
    one = [512 * 1024 + 512, 512 * 1024 + 513]
    item = ArrayAccess("in", "global", "read", [1024, 1024], one, one, one)
    launch = LaunchAccesses("k", [1, 1, 1], [1, 1, 1], [0, 0, 0], [item])
    text = pictures.accesses(replace(ACCESSES, launches=[launch]), "mine.cu")
    ((block,), (warp,)), ((thread,),) = areas(text, "blue"), areas(text, "orange")
    for mark in (warp, thread):
        assert mark[2:] == (2, 2)
        for place, extent in ((0, 2), (1, 3)):
            middle = block[place] + block[extent] / 2
            assert mark[place] + mark[extent] / 2 == pytest.approx(middle, abs=0.15)
