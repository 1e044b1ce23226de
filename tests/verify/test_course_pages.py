"""A course's report, board and pairs in a real Chromium: they load nothing, fit the window, and can be read by all."""

from __future__ import annotations

from pathlib import Path

import pytest
from little_course import TRANSPOSE, LittleCourse, little_course, right, wrong
from playwright.sync_api import Browser
from test_browser import DESKTOP, OPEN_ALL, Seen, violations
from windows import PHONE, WIDER_THAN_THE_WINDOW

from grader.course.likeness.pairs import pairs
from grader.course.overview import board, kept, pages, report

pytestmark = [pytest.mark.verify, pytest.mark.timeout(300)]

SOAK = pytest.mark.soak(area="course")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three pages of a class of 24, some with long names."""
    root = tmp_path_factory.mktemp("pages")
    course: LittleCourse = little_course(root / "cuda")
    marks = {f"s{n}": right(rung, time_s=1e-3 / (n + 1)) for n, rung in enumerate(TRANSPOSE.ladder.ids * 3)}
    marks |= {f"wrong{n}": wrong("error", f"{'This or that, ' * n}went wrong") for n in range(6)}
    with pytest.MonkeyPatch.context() as patch:
        course.mark(patch, **marks)
    tile = (Path(__file__).parents[1] / "submissions/transpose/right/by_shuffles.cu").read_text()
    course.hand_in(**{"a_name_as_long_as_names_can_be_" * 4: tile, "copy": tile.replace("32", "16")})
    found = kept.of_course(course.root, "transpose")
    written = {
        "report": pages.report("transpose", report.of_class(found)),
        "board": pages.board("transpose", board.of_class(found, "time")),
        "similar": pages.similar("transpose", pairs(TRANSPOSE, found.submissions, 0.4), 24, ["late"]),
    }
    for name, text in written.items():
        (root / f"{name}.html").write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("name", "window", "scheme"),
    [
        pytest.param("report", PHONE, "dark", id="report-phone-dark"),
        pytest.param("board", DESKTOP, "light", id="board-desktop-light"),
        pytest.param("similar", PHONE, "dark", id="similar-phone-dark"),
        pytest.param("report", DESKTOP, "light", id="report-desktop-light", marks=SOAK),
        pytest.param("board", PHONE, "dark", id="board-phone-dark", marks=SOAK),
        pytest.param("similar", DESKTOP, "light", id="similar-desktop-light", marks=SOAK),
    ],
)
def test_a_page(browser: Browser, folder: Path, name: str, window: dict[str, int], scheme: str) -> None:
    context = browser.new_context(viewport=window, color_scheme=scheme)
    tab, seen = context.new_page(), Seen()
    tab.goto((folder / f"{name}.html").as_uri(), wait_until="load")
    seen.watch(tab, "file://")
    tab.reload()
    tab.evaluate(OPEN_ALL)
    assert not tab.evaluate(WIDER_THAN_THE_WINDOW)
    assert violations(tab) == []
    assert seen.complaints == []
    context.close()
