"""A whole day of interviews in a real Chromium, by keyboard alone, killed ten times: no answer is lost. And what
every screen has to be: whole on a phone, without a complaint in the console, and readable by all."""

from __future__ import annotations

import random
import signal
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser
from playwright.sync_api import Page as Tab
from served_pages import SCROLLED, Served, served, window
from test_browser import DESKTOP, violations
from windows import PHONE, WIDER_THAN_THE_WINDOW

from grader.interview import session
from grader.interview.drills.formats import FORMATS
from grader.interview.loops.loop import Drawn
from grader.interview.session import Code, Rated, Session, Talk
from grader.workbook import topics

pytestmark = [pytest.mark.verify, pytest.mark.timeout(900)]

KILLS, SEED = 10, 5
SOAK = pytest.mark.soak(area="interview")
NARROW = {"width": 320, "height": 640}
JUDGED_WITHIN_MS = 120_000
LETTERS = "abcdefgh"


def room(folder: Path) -> AbstractContextManager[Served]:
    """`ladder room` in a folder."""
    return served("room", folder)


def form(tab: Tab) -> str:
    """What is to be done; "" where nothing is."""
    return tab.get_attribute("main", "data-form") or ""


def following(tab: Tab, number: str) -> None:
    """Wait until something else is to be done than what had that number."""
    other = f'main[data-form]:not(:has(input[name=number][value="{number}"]))'
    tab.wait_for_selector(f"{other}, main.ended", timeout=JUDGED_WITHIN_MS)


def number(tab: Tab) -> str:
    return tab.get_attribute("input[name=number]", "value") or ""


@dataclass
class Candidate:
    """Answers by keyboard, and says something else in each answer in prose."""

    folder: Path
    said: list[str] = field(default_factory=list)
    half: str = ""  # typed before the room was killed

    def sit(self, tab: Tab, screens: int | None, dies_typing: bool) -> bool:
        """Answer so many screens, the last perhaps by half; None: to the end. Whether it came to the end."""
        while form(tab):
            asked = form(tab)
            if screens is not None and (screens := screens - 1) < 0 and (asked == "talk") >= dies_typing:
                if dies_typing and not self.half:
                    self._begin_to_say(tab)
                return False
            now = number(tab)
            getattr(self, f"_{asked}")(tab)
            following(tab, now)
        return True

    def _begin_to_say(self, tab: Tab) -> None:
        self.half = f"Answer {len(self.said)}: it depends"
        with tab.expect_response(lambda answer: answer.url.endswith("/draft")) as answer:
            tab.keyboard.type(self.half)
        assert answer.value.status == 204

    def _talk(self, tab: Tab) -> None:
        assert tab.input_value("textarea") == self.half
        tab.keyboard.press("Control+End")
        whole = f"Answer {len(self.said)}: it depends on the bandwidth."
        tab.keyboard.type(whole.removeprefix(self.half))
        tab.keyboard.press("Control+Enter")
        self.said.append(whole)
        self.half = ""

    def _line(self, tab: Tab) -> None:
        if tab.query_selector(".options"):
            tab.keyboard.press("a")
        elif items := tab.query_selector_all(".items li"):
            tab.keyboard.type(LETTERS[: len(items)])
        else:
            tab.keyboard.type("1")
        tab.keyboard.press("Enter")

    def _code(self, tab: Tab) -> None:
        """The naive version where it is asked for; later ones are gone on without."""
        if "Version 1 of" not in tab.inner_text("h1"):
            tab.keyboard.press("Escape")
            tab.keyboard.press("Tab")
            tab.keyboard.press("Tab")
            assert tab.evaluate("document.activeElement.value") == "skip"
            tab.keyboard.press("Enter")
            return
        drawn = msgspec.json.decode((self.folder / "loop-1" / "loop.json").read_bytes(), type=Drawn)
        (topic,) = next(part.names for part in drawn.parts if part.format == "interview")
        tab.keyboard.press("Control+a")
        tab.keyboard.insert_text(topics.load(topic).ladder.rungs[0].path.read_text(encoding="utf-8"))
        tab.keyboard.press("Control+Enter")

    def _rate(self, tab: Tab) -> None:
        tab.keyboard.press("n")

    def _go_on(self, tab: Tab) -> None:
        tab.keyboard.press("Enter")

    def _begin(self, tab: Tab) -> None:
        tab.keyboard.press("Enter")


def kept(folder: Path) -> dict[str, Session]:
    return {path.name: session.load(path) for path in sorted(folder.glob("?-*.json"))}


@SOAK
def test_a_day_that_is_killed_ten_times_loses_no_answer(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPLADDER_HOME", str(tmp_path / "home"))
    candidate, draw = Candidate(tmp_path), random.Random(SEED)
    before: dict[str, Session] = {}
    for life in range(KILLS + 1):
        with room(tmp_path) as served, window(browser, served, DESKTOP, "light") as tab:
            if life == 0:
                tab.select_option("select[name=style]", "kernels")
                tab.select_option("form:has(select[name=style]) select[name=level]", "junior")
                tab.focus("button[value=loop]")
            tab.keyboard.press("Enter")
            tab.wait_for_selector("main[data-form]")
            ended = candidate.sit(tab, None if life == KILLS else draw.randrange(2, 9), life % 3 == 1)
            assert ended == (life == KILLS)
            if not ended:
                served.process.send_signal(signal.SIGKILL)
                served.process.wait()
        now = kept(tmp_path / "loop-1")
        for name, earlier in before.items():
            steps = [answer.step for answer in now[name].answers]
            assert steps[: len(earlier.answers)] == [answer.step for answer in earlier.answers]
        before = now
    assert all(each.over for each in before.values())
    answers = [answer for each in before.values() for answer in each.answers]
    prose = [each.text for each in answers if isinstance(each, Talk | Rated) and each.text]
    assert prose == candidate.said
    assert [each.verdict for each in answers if isinstance(each, Code)][:1] == ["pass"]
    for each in before.values():
        steps = [answer.step for answer in each.answers]
        assert len(steps) == len(set(steps))


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        pytest.param(DESKTOP, "dark", marks=SOAK),
        (PHONE, "light"),
        pytest.param(NARROW, "dark", marks=SOAK),
    ],
    ids=["desktop-dark", "phone-light", "narrow-dark"],
)
def test_every_kind_of_screen(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: dict[str, int], scheme: str
) -> None:
    monkeypatch.setenv("WARPLADDER_HOME", str(tmp_path / "home"))
    looked_at: set[str] = set()
    problems: list[str] = []

    def look(tab: Tab) -> None:
        screen = form(tab) or tab.get_attribute("main", "class") or ""
        screen += " listing" if tab.query_selector(".listing") else ""
        screen += " options" if tab.query_selector(".options") else ""
        screen += " given" if tab.query_selector(".given") else ""
        if screen not in looked_at:
            looked_at.add(screen)
            problems.extend(f"{screen}: {found}" for found in violations(tab) if SCROLLED not in found)
            if tab.evaluate(WIDER_THAN_THE_WINDOW):
                problems.append(f"{screen}: wider than the window")

    candidate = Candidate(tmp_path)
    with room(tmp_path) as served, window(browser, served, size, scheme) as tab:
        look(tab)
        for what in ("today", "quiz", "interview", *FORMATS):
            chosen = f"form:has([value={what}])"
            if what in FORMATS:
                tab.select_option("select[name=what]", what)
            elif what == "interview":
                tab.select_option(f"{chosen} select[name=topic]", "transpose")
            tab.focus(f"{chosen} button")
            tab.keyboard.press("Enter")
            tab.wait_for_selector("main[data-form]")
            for _ in range(12):
                look(tab)
                if form(tab) in ("", "code"):
                    break
                now = number(tab)
                getattr(candidate, f"_{form(tab)}")(tab)
                following(tab, now)
            if form(tab):
                tab.focus("[data-leave]")
                tab.keyboard.press("Enter")
                tab.wait_for_selector("main.ended")
            look(tab)
            tab.wait_for_function("document.activeElement.matches('main.ended [data-focus]')")
            tab.press("main.ended [data-focus]", "Enter")  # also where the page was drawn again meanwhile
            tab.wait_for_selector("main.door")
        look(tab)
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(20) == 0
    assert {"door", "talk", "code", "ended"} <= looked_at
    assert any(screen.startswith("line") for screen in looked_at)  # which kinds of probes come is drawn
    assert problems == []


def test_the_counters_of_a_kernel_fit_a_phone(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPLADDER_HOME", str(tmp_path / "home"))
    with room(tmp_path) as served, window(browser, served, PHONE, "light") as tab:
        tab.select_option("select[name=what]", "diagnose")
        tab.select_option("form:has(select[name=what]) select[name=topic]", "transpose")
        tab.focus("form:has(select[name=what]) button")
        tab.keyboard.press("Enter")
        tab.wait_for_selector(".given .cells:not(.heads)")
        page = tab.locator(".given pre:has(code.language-text)").first
        assert page.evaluate("page => page.scrollWidth <= page.clientWidth")
        first = page.locator(".cells:not(.heads)").first.locator(".cell:not([data-none])")
        names = [cell.get_attribute("data-name") for cell in first.all()]
        assert (names[0], names[1], names[-1]) == ("line", "instr", "cost")
        assert all(cell.inner_text().strip() for cell in first.all())
        served.process.kill()


def test_a_window_says_that_the_room_is_closed(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context()
    tab = context.new_page()
    with room(tmp_path) as served:
        tab.goto(served.address)
        assert not tab.is_visible("#closed")
    tab.wait_for_selector("#closed:visible")
    context.close()
