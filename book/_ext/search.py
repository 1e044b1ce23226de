"""Excerpts in the search also when the book is opened as files: there a script may not fetch the pages that it found,
so their text lies in a script, which is loaded then and only then."""

from __future__ import annotations

import html
import json
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx

TEXTS = "search-texts.js"
BLOCKS = "p, div, li, dt, dd, th, td, h1, h2, h3, h4, summary, figcaption"
LONG = re.compile(r"<(svg|math)\b.*?</\1>|</?span\b[^>]*>", re.DOTALL)
"""Pictures, formulas and the colours of code: most of a page, without words of their own, and long to read."""
UNREADABLE = "script, style, .headerlink, button, nav"


def on_the_page(app: Sphinx, page: str, *_: object) -> None:
    """The search's page has a script that answers for the pages."""
    if page == "search":
        app.add_js_file("search-as-files.js")


def write_texts(app: Sphinx, failure: Exception | None) -> None:
    """Write the texts of all pages that the search knows."""
    if failure is not None or app.builder.name != "html":
        return
    folder = Path(app.outdir)
    names = sorted(app.env.found_docs)
    with ProcessPoolExecutor(app.parallel) as pool:
        texts = dict(zip(names, pool.map(_text, [folder / f"{name}.html" for name in names]), strict=True))
    script = f"window.SEARCH_TEXTS = {json.dumps(texts, ensure_ascii=False)};\n"
    (folder / "_static" / TEXTS).write_text(script, encoding="utf-8")


def _text(page: Path) -> str:
    """A page as the search wants it: HTML of nothing but sections, with their ids, and words."""
    whole = page.read_text(encoding="utf-8")
    part = whole[whole.find("<main") : whole.rfind("</main>")]
    main = BeautifulSoup(LONG.sub("", part), "html.parser").select_one("[role=main]")
    if main is None:
        return ""
    for part in main.select(UNREADABLE):
        part.decompose()
    for block in main.select(BLOCKS):  # words on either side are apart
        block.append(" ")
    return f'<div role="main">{_sections(main)}</div>'


def _sections(tag: Tag) -> str:
    """The words of an element, those of each section within it in a section of its own."""
    parts = []
    for child in tag.children:
        if not isinstance(child, Tag):
            parts.append(html.escape(str(child), quote=False))
        elif child.name == "section" and child.get("id"):
            parts.append(f'<section id="{child["id"]}">{_sections(child)}</section>')
        else:
            parts.append(
                _sections(child) if child.find("section") else html.escape(child.get_text(), quote=False)
            )
    return " ".join(" ".join(parts).split())


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", on_the_page)
    app.connect("build-finished", write_texts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
