"""The page to learn on in a real Chromium, by keyboard alone; on a phone, at 400 %, in the dark; beside an editor."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from playwright.sync_api import Page as Tab
from served_pages import SCROLLED, served, window
from test_browser import DESKTOP, violations
from windows import PHONE, WIDER_THAN_THE_WINDOW

from grader.workbook import exercises, topics

pytestmark = [pytest.mark.verify, pytest.mark.timeout(600)]

NARROW = {"width": 320, "height": 640}
"""1280 pixels at 400 %."""

FIRST, SECOND = list(exercises.discover().values())[:2]
EDITOR = ".CodeMirror textarea"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WARPLADDER_HOME", str(tmp_path / "home"))


def write(tab: Tab, text: str) -> None:
    """Type a kernel in the place of what is there, and have it judged."""
    tab.focus(EDITOR)
    tab.keyboard.press("Control+a")
    tab.keyboard.insert_text(text)
    tab.keyboard.press("Control+Enter")
    tab.wait_for_selector("#verdict h2")


def typed(tab: Tab) -> str:
    return str(tab.evaluate("document.querySelector('.CodeMirror').CodeMirror.getValue()"))


@pytest.mark.parametrize(
    ("size", "scheme"),
    [(DESKTOP, "dark"), (PHONE, "light"), (NARROW, "dark")],
    ids=["desktop", "phone", "400 %"],
)
def test_every_kind_of_screen_by_keyboard(
    browser: Browser, tmp_path: Path, size: dict[str, int], scheme: str
) -> None:
    problems: list[str] = []

    def look(tab: Tab, screen: str) -> None:
        problems.extend(f"{screen}: {found}" for found in violations(tab) if SCROLLED not in found)
        if tab.evaluate(WIDER_THAN_THE_WINDOW):
            problems.append(f"{screen}: wider than the window")

    with served("learn", tmp_path) as program, window(browser, program, size, scheme) as tab:
        look(tab, "exercise")
        tab.focus("[data-hint-form] button")
        tab.keyboard.press("Enter")
        tab.wait_for_selector("[data-hint]")
        tab.keyboard.press("Enter")
        tab.wait_for_selector("[data-hint]:nth-of-type(2)")
        write(tab, FIRST.starter_text)
        look(tab, "wrong")
        write(tab, FIRST.solution_text)
        tab.wait_for_selector("#verdict .good")
        tab.wait_for_function("() => document.querySelector('#verdict img').naturalWidth > 0")
        look(tab, "right")
        tab.keyboard.press("Escape")
        assert tab.evaluate("document.activeElement.matches('[data-after]')")
        tab.keyboard.press("Tab")
        tab.keyboard.press("Enter")
        tab.wait_for_url(f"**/at/{SECOND.name}")
        assert tab.inner_text("h1") == SECOND.title
        tab.goto(f"{program.origin}/at/vector_add?section=5")
        look(tab, "lesson")
        write(tab, topics.load("vector_add").rungs[1].source)
        tab.wait_for_selector("#verdict .good")
        look(tab, "rung reached")
        program.process.kill()
    assert problems == []


def test_the_file_of_another_editor_and_of_another_tab_shows(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / f"{FIRST.name}.cu"
    with served("learn", tmp_path) as program, window(browser, program, DESKTOP, "light") as tab:
        tab.focus(EDITOR)
        tab.keyboard.press("Control+a")
        tab.keyboard.insert_text("// typed on the page")
        tab.wait_for_function("() => document.querySelector('[name=seen]').value")
        assert file.read_text() == "// typed on the page\n"
        other = tab.context.new_page()
        other.goto(f"{program.origin}/at/{FIRST.name}")
        assert typed(other).strip() == "// typed on the page"
        file.write_text("// written in vim\n")
        for each in (tab, other):
            each.wait_for_function(
                "() => document.querySelector('.CodeMirror').CodeMirror.getValue() === '// written in vim\\n'"
            )
        # What is typed from here on is not kept: both are changed at once.
        tab.evaluate("() => { for (let timer = 1; timer < 1000; timer++) clearInterval(timer); }")
        tab.focus(EDITOR)
        tab.keyboard.insert_text("// both")
        file.write_text("// written in emacs\n")
        tab.wait_for_selector("#changed:visible")
        assert "// both" in typed(tab)
        tab.click("#changed button:first-child")
        assert typed(tab) == "// written in emacs\n"
        program.process.kill()


def test_after_a_kill_it_is_where_it_was(browser: Browser, tmp_path: Path) -> None:
    with served("learn", tmp_path) as program, window(browser, program, DESKTOP, "light") as tab:
        write(tab, FIRST.solution_text)
        tab.goto(f"{program.origin}/at/{SECOND.name}")
        tab.focus(EDITOR)
        tab.keyboard.press("Control+a")
        tab.keyboard.insert_text("// half of it")
        tab.wait_for_function("() => document.querySelector('[name=seen]').value")
        program.process.kill()
    with served("learn", tmp_path) as program, window(browser, program, DESKTOP, "light") as tab:
        assert tab.inner_text("h1") == SECOND.title
        assert typed(tab).strip() == "// half of it"
        assert tab.query_selector(f"#way .done a[href='/at/{FIRST.name}']") is not None
        program.process.kill()
