"""The built book as files: its pages, and what they refer to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "build" / "book" / "html"
LOADED = {  # what a browser fetches by itself
    "script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data",
}  # fmt: skip
BLOCKS = ("p", "div", "li", "dt", "dd", "th", "td", "pre", "br")  # words on either side are apart
FETCHING_RELATIONS = (
    "stylesheet",
    "preload",
    "modulepreload",
    "icon",
    "prefetch",
    "preconnect",
    "dns-prefetch",
)


@dataclass
class Page:
    """What one page says of others."""

    path: Path
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)  # of <a>
    loads: list[str] = field(default_factory=list)  # fetched without a click
    text: str = ""

    @property
    def name(self) -> str:
        return self.path.relative_to(BOOK).as_posix()


class _Reader(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.text += " " if tag in BLOCKS else ""
        given = {name: value or "" for name, value in attrs}
        self.page.ids.update(given[key] for key in ("id", "name") if key in given)
        if tag == "a" and "href" in given:
            self.page.links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given and _fetches(tag, given):
            self.page.loads.append(given[LOADED[tag]])

    def handle_data(self, data: str) -> None:
        self.page.text += data


def _fetches(tag: str, given: dict[str, str]) -> bool:
    return tag != "link" or any(relation in FETCHING_RELATIONS for relation in given.get("rel", "").split())


def names() -> list[str]:
    """The names of all pages of the built book, such as lessons/gemm/lesson.html."""
    found = (path.relative_to(BOOK) for path in sorted(BOOK.rglob("*.html")))
    return [name.as_posix() for name in found if "_static" not in name.parts]


@cache
def pages() -> tuple[Page, ...]:
    """All pages, read."""
    return tuple(_read(BOOK / name) for name in names())


def page(name: str) -> Page:
    """The page at `name`, such as lessons/gemm/lesson.html; raises KeyError."""
    return {item.name: item for item in pages()}[name]


def _read(path: Path) -> Page:
    found = Page(path)
    _Reader(found).feed(path.read_text(encoding="utf-8"))
    return found


def is_elsewhere(reference: str) -> bool:
    """Whether a browser would leave this machine for it."""
    parts = urlsplit(reference)
    return bool(parts.netloc) or parts.scheme not in ("", "data", "mailto")


def target(source: Page, reference: str) -> tuple[Path, str]:
    """The file and the fragment that a reference within the book means."""
    parts = urlsplit(reference)
    path = (source.path.parent / unquote(parts.path)).resolve() if parts.path else source.path
    return path, unquote(parts.fragment)
