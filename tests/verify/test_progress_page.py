"""A learner's progress in a real Chromium: it loads nothing, fits the window, and can be read by all."""

from __future__ import annotations

from pathlib import Path

import made_up_history
import pytest
from playwright.sync_api import Browser
from test_browser import DESKTOP, Seen, violations
from windows import PHONE, WIDER_THAN_THE_WINDOW, browser

from grader.history.progress import progress
from grader.report.history import page

__all__ = ["browser"]  # a fixture

pytestmark = [pytest.mark.verify, pytest.mark.timeout(300)]


@pytest.mark.parametrize("answers", [True, False], ids=["nine weeks", "nothing yet"])
@pytest.mark.parametrize(
    ("window", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop-light", "phone-dark"]
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
