"""A learner's progress in a real Chromium: it loads nothing, fits the window, and can be read by all."""

from __future__ import annotations

from pathlib import Path

import made_up_history
import pytest
from playwright.sync_api import Browser
from test_browser import DESKTOP, Seen, violations
from windows import PHONE, WIDER_THAN_THE_WINDOW

from grader.history.progress import progress
from grader.interview.reports.history import page

pytestmark = [pytest.mark.verify, pytest.mark.timeout(300)]

SOAK = pytest.mark.soak(area="interview")


@pytest.mark.parametrize(
    ("answers", "window", "scheme"),
    [
        pytest.param(True, PHONE, "dark", id="nine weeks-phone-dark"),
        pytest.param(False, DESKTOP, "light", id="nothing yet-desktop-light"),
        pytest.param(True, DESKTOP, "light", id="nine weeks-desktop-light", marks=SOAK),
        pytest.param(False, PHONE, "dark", id="nothing yet-phone-dark", marks=SOAK),
    ],
)
def test_a_page(browser: Browser, tmp_path: Path, window: dict[str, int], scheme: str, answers: bool) -> None:
    found = made_up_history.standing() if answers else progress([], [], made_up_history.NOW)
    file = tmp_path / "progress.html"
    file.write_text(page.progress(found, made_up_history.CURES), encoding="utf-8")
    context = browser.new_context(viewport=window, color_scheme=scheme)
    tab, seen = context.new_page(), Seen()
    seen.watch(tab, "file://")
    tab.goto(file.as_uri(), wait_until="load")
    assert not tab.evaluate(WIDER_THAN_THE_WINDOW)
    assert violations(tab) == []
    assert seen.complaints == []
    context.close()
