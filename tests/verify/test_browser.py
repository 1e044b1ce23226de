"""Pages of the book in a real Chromium, one of each kind, and in the soak every one: nothing in the console, nothing
fetched from elsewhere, nothing wider than the window, on a desktop and on a phone; and no serious violation of what
axe-core checks, light or dark."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from axe_playwright_python.sync_playwright import Axe
from pages import BOOK, names
from playwright.sync_api import Browser, Request
from playwright.sync_api import Page as Tab
from windows import PHONE, WIDER_THAN_THE_WINDOW

pytestmark = [pytest.mark.verify, pytest.mark.timeout(1200)]

DESKTOP = {"width": 1400, "height": 900}
SERIOUS = ("serious", "critical")
# axe-core would fetch style sheets again, takes the theme's @import for one of the page, and finds nothing there.
WITHOUT_FETCHING = {"preload": False}
OPEN_ALL = "document.querySelectorAll('main details').forEach(item => { item.open = true })"
PLAIN_CODE = """
document.querySelectorAll('main .ladder-difference').forEach(item => item.remove())
document.querySelectorAll('main .highlight pre').forEach(item => { item.textContent = item.textContent })
"""
STILL = "*, ::before, ::after { animation: none !important; transition: none !important }"
DOOR = "index.html"  # leads on to the first page at once
CODE = "kernels/"  # pages that hold a kernel's file and nothing else
# It takes seconds a page, which are one theme's: each is checked in one of the two windows, turn and turn about.
# Colours of thousands of words of code take axe-core a minute a page, and are the same on all: these two stand for all.
ALL_CODE = ("lessons/transpose/lesson.html", "kernels/optimized/transpose/05_float4_tile.html")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""


class Look(Enum):
    """How closely a page is looked at."""

    AT_ITS_WIDTH = auto()
    WITH_AXE = auto()
    WITH_ITS_CODE = auto()  # with axe-core, and the colours of all code


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the book is served."""
    if not (BOOK / "index.html").is_file():
        pytest.fail("there is no book in build/book/html: `make book` writes it")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(BOOK))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@dataclass
class Seen:
    """What happened while pages were open."""

    complaints: list[str] = field(default_factory=list)

    def watch(self, tab: Tab, address: str) -> None:
        tab.on("console", lambda said: self._note(tab, said.text, said.type in ("error", "warning")))
        tab.on("pageerror", lambda error: self._note(tab, str(error)))
        tab.on("requestfailed", lambda request: self._failed(tab, request))
        tab.on("request", lambda request: self._note(tab, request.url, not _is_here(request.url, address)))

    def _failed(self, tab: Tab, request: Request) -> None:
        """What a page that is left has not waited for is no failure."""
        self._note(tab, f"cannot fetch {request.url}", request.failure != "net::ERR_ABORTED")

    def _note(self, tab: Tab, what: str, matters: bool = True) -> None:
        if matters:
            self.complaints.append(f"{tab.url}: {what}")


def _is_here(url: str, address: str) -> bool:
    return url.startswith((f"{address}/", "data:", "blob:"))


PARTS = 3
"""All pages take minutes: they are shared among so many tests."""

KINDS = {
    "start": "book/start.html",
    "chapter": "book/machine/memory.html",
    "lesson": "lessons/transpose/lesson.html",
    "kernel": "kernels/optimized/transpose/05_float4_tile.html",
    "notebook": "notebooks/transpose.html",
    "question": "lessons/questions/banks.html",
    "interview": "lessons/vector_add/interview.html",
    "answers": "book/interview/coding-answers.html",
    "reference": "book/reference/command-line.html",
    "measurements": "book/reference/measurements.html",
    "glossary": "book/reference/glossary.html",
    "life": "docs/life-of-a-launch.html",
    "search": "search.html",
}
"""A page of each kind, which stands for the others of its kind."""

WINDOWS = pytest.mark.parametrize(
    ("turn", "window", "scheme"),
    [(0, DESKTOP, "light"), (1, PHONE, "dark")],
    ids=["desktop-light", "phone-dark"],
)


def wrong_with(
    browser: Browser, address: str, window: dict[str, int], scheme: str, looked_at: Mapping[str, Look]
) -> list[str]:
    """What is wrong with pages in a window, one after the other."""
    context = browser.new_context(viewport=window, color_scheme=scheme)
    tab, seen = context.new_page(), Seen()
    seen.watch(tab, address)
    for name, look in looked_at.items():
        tab.goto(f"{address}/{name}", wait_until="load")
        tab.add_style_tag(content=STILL)  # what fades in has too little contrast while it does
        tab.evaluate(OPEN_ALL)
        if tab.evaluate(WIDER_THAN_THE_WINDOW):
            seen.complaints.append(f"{name}: wider than the window")
        if look != Look.WITH_ITS_CODE:
            tab.evaluate(PLAIN_CODE)
        if look != Look.AT_ITS_WIDTH:
            seen.complaints += [f"{name}: {found}" for found in violations(tab)]
    context.close()
    return seen.complaints


@WINDOWS
def test_a_page_of_each_kind(
    browser: Browser, address: str, turn: int, window: dict[str, int], scheme: str
) -> None:
    """Each with axe-core in one of the two windows; of code, the colours of the kernel's page."""
    looked_at = {}
    for number, (kind, name) in enumerate(KINDS.items()):
        with_axe = Look.WITH_ITS_CODE if kind == "kernel" else Look.WITH_AXE
        looked_at[name] = with_axe if number % 2 == turn else Look.AT_ITS_WIDTH
    wrong = wrong_with(browser, address, window, scheme, looked_at)
    assert not wrong, "\n".join(wrong)


def test_every_page_is_of_a_kind() -> None:
    """One that comes to stand in a folder of its own is not overlooked."""
    assert set(map(folder, names())) == set(map(folder, KINDS.values()))
    assert set(KINDS.values()) <= set(names())


def folder(name: str) -> str:
    """The one at the top in which a page stands; "" for what stands in none."""
    return name.partition("/")[0] if "/" in name else ""


@pytest.mark.soak(area="book")
@WINDOWS
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.timeout(600)
def test_every_page(
    browser: Browser, address: str, turn: int, window: dict[str, int], scheme: str, part: int
) -> None:
    looked_at = {}
    opened = [name for name in names() if name != DOOR]
    for number, name in [*enumerate(opened)][part::PARTS]:
        with_axe = number % 2 == turn and not name.startswith(CODE)
        looked_at[name] = Look.WITH_AXE if with_axe else Look.AT_ITS_WIDTH
        if name in ALL_CODE:
            looked_at[name] = Look.WITH_ITS_CODE
    wrong = wrong_with(browser, address, window, scheme, looked_at)
    assert not wrong, "\n".join(wrong)


def violations(tab: Tab) -> list[str]:
    """What axe-core calls serious or critical, with the elements."""
    found = Axe().run(tab, options=WITHOUT_FETCHING).response["violations"]
    return [
        f"{item['id']} ({item['impact']}): {node['target']}"
        for item in found
        if item["impact"] in SERIOUS
        for node in item["nodes"][:3]
    ]


def test_the_door_leads_to_the_first_page(browser: Browser, address: str) -> None:
    tab = browser.new_page()
    tab.goto(f"{address}/{DOOR}")
    tab.wait_for_url(f"{address}/book/index.html")
    tab.close()


def test_the_search_finds_a_page(browser: Browser, address: str) -> None:
    tab = browser.new_page()
    tab.goto(f"{address}/search.html?q=swizzle")
    tab.wait_for_selector("#search-results li a")
    assert any(
        "transpose" in str(link.get_attribute("href")) for link in tab.query_selector_all("#search-results a")
    )
    tab.close()


def test_the_book_opens_as_files(browser: Browser) -> None:
    """Without a server, as somebody does who has built it."""
    tab, seen = browser.new_page(), Seen()
    seen.watch(tab, "file://")
    tab.goto((BOOK / "lessons" / "gemm" / "lesson.html").as_uri(), wait_until="load")
    tab.wait_for_load_state("networkidle")
    assert tab.title().startswith("Matrix product")
    assert not seen.complaints, "\n".join(seen.complaints)
    tab.close()


def test_the_search_has_excerpts_also_where_the_book_is_opened_as_files(browser: Browser) -> None:
    tab, seen = browser.new_page(), Seen()
    seen.watch(tab, "file://")
    tab.goto(f"{(BOOK / 'search.html').as_uri()}?q=swizzled")
    tab.wait_for_selector("text=Search finished, found")
    tab.wait_for_selector("#search-results p.context:has-text('swizzled')")  # excerpts come one by one
    assert not seen.complaints, "\n".join(seen.complaints)
    tab.close()


def test_code_has_a_button_that_copies_what_one_would_type(browser: Browser, address: str) -> None:
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
    tab = context.new_page()
    tab.goto(f"{address}/book/start.html")
    console = tab.locator("div.highlight-console").first
    console.hover()
    console.locator("button.copybtn").click()
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert "make climb" in copied
    assert "$" not in copied
    tab.goto(f"{address}/lessons/transpose/lesson.html")
    assert tab.locator(".ladder-difference").count()
    assert not tab.locator(".ladder-difference button.copybtn").count()
    context.close()
