"""Names where the theme has none, or one too many: the arrows that open a chapter in the sidebar, for screen readers;
the first page, which has the book's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bs4 import BeautifulSoup
from sphinx.application import Sphinx


def name_arrows(app: Sphinx, page: str, template: str, context: dict[str, Any], _: object) -> None:
    """Wrap the theme's function that writes the sidebar's table of contents."""
    if "generate_toctree_html" in context:
        named = _named(context["generate_toctree_html"])
        in_no_contents = page not in app.env.found_docs
        context["generate_toctree_html"] = _once_a_folder(page, named) if in_no_contents else named


def name_first_page(app: Sphinx, page: str, template: str, context: dict[str, Any], _: object) -> None:
    """A page's title is followed by the book's, but the first page's is the book's."""
    if page == app.config.root_doc:
        context["docstitle"] = ""


def _named(generate: Callable[..., Any]) -> Callable[..., Any]:
    def generate_named(*arguments: Any, **options: Any) -> Any:
        found = generate(*arguments, **options)
        if isinstance(found, BeautifulSoup):
            for summary in found.select("li > details > summary"):
                summary["aria-label"] = f"Pages of: {summary.find_parent('li').a.get_text(strip=True)}"
        return found

    return generate_named


_SIDEBARS: dict[tuple[str, str], str] = {}


def _once_a_folder(page: str, generate: Callable[..., Any]) -> Callable[..., Any]:
    """Pages that no table of contents has, such as those of kernel files, have the same sidebar as their neighbours,
    which takes long to write."""

    def generate_once(*arguments: Any, **options: Any) -> str:
        key = page.rpartition("/")[0], repr((arguments, options))
        if key not in _SIDEBARS:
            _SIDEBARS[key] = str(generate(*arguments, **options))
        return _SIDEBARS[key]

    return generate_once


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", name_arrows, priority=900)  # after the theme
    app.connect("html-page-context", name_first_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
