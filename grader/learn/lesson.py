"""A topic's lesson in sections, as HTML: `lessons/<topic>/lesson.md`, in the Markdown that the book is written in.

Of the book's directives these are known: `{literalinclude}`, folded where it is a rung's code, and the role `{value}`.
What is typed at a terminal is folded as well: the page has buttons for most of it.
Pictures that the book draws stay in the book.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

from grader.errors import WarpladderError
from grader.report import values
from grader.workbook.expressions import ExpressionError
from grader.workbook.topic import Topic

_HEADING = re.compile(r"^(#{1,2}) (.+)$")
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_NUMBER = re.compile(r"(\d\d)\b")
_DIRECTIVE = re.compile(r"\{([\w-]+)\}\s*(.*)")
_OPTION = re.compile(r":([\w-]+):\s*(.*)")
_LESSON = re.compile(r"\.\./(\w+)/lesson\.md(?:#.*)?")


@dataclass(frozen=True)
class Section:
    """A piece of a lesson that is read in one go."""

    title: str
    rung: str | None  # that it leads to; None: it leads to none
    body: Markup


def sections(topic: Topic) -> tuple[Section, ...]:
    """A topic's lesson, from its introduction on; () where there is none. Raises WarpladderError."""
    path = topic.folder / "lesson.md"
    if not path.is_file():
        return ()
    return tuple(
        _section(topic, path, title, text) for title, text in _parts(path.read_text(encoding="utf-8"))
    )


def prose(text: str) -> Markup:
    """Markdown as HTML, of an exercise or a hint."""
    return Markup(_markdown().render(text, {"file": None, "folded": False}))


def _parts(text: str) -> list[tuple[str, str]]:
    """Titles and texts; a # in a fence is none of a heading."""
    found: list[tuple[str, list[str]]] = []
    fence = ""
    for line in text.splitlines():
        if mark := _FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        if not fence and (heading := _HEADING.match(line)):
            found.append((heading[2], []))
        elif found:
            found[-1][1].append(line)
    return [(title, "\n".join(lines)) for title, lines in found]


def _section(topic: Topic, path: Path, title: str, text: str) -> Section:
    number = _NUMBER.match(title)
    rung = next((each.id for each in topic.rungs if number and each.id.startswith(number[1])), None)
    try:
        body = Markup(_markdown().render(text, {"file": path, "folded": True}))
        return Section(Markup(_markdown().renderInline(title, {})).striptags(), rung, body)
    except (WarpladderError, ExpressionError, AttributeError, OSError) as error:
        raise WarpladderError(f"“{title}” cannot be shown: {error}", file=path) from None


@cache
def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.use(dollarmath_plugin, double_inline=True).use(myst_role_plugin)
    for name, rule in (
        ("fence", _fence),
        ("myst_role", _role),
        ("math_inline", _formula),
        ("math_inline_double", _formula),
        ("math_block", _formula),
        ("link_open", _link),
        (
            "table_open",
            lambda *_: '<div class="scroll" tabindex="0" role="region" aria-label="A table"><table>\n',
        ),
        ("table_close", lambda *_: "</table></div>\n"),
    ):
        made.add_render_rule(name, rule)
    return made


def _formula(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    display = "inline" if tokens[at].type == "math_inline" else "block"
    return str(convert(tokens[at].content, display=display))


def _role(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    text = tokens[at].content
    if tokens[at].meta["name"] == "value":
        return html.escape(values.written(text))
    return html.escape(text.partition("<")[0].strip())


def _link(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """To another lesson, to its place on the page; into the rest of the book, nowhere."""
    target = str(tokens[at].attrGet("href") or "")
    if lesson := _LESSON.fullmatch(target):
        return f'<a href="/at/{lesson[1]}">'
    if target.startswith(("https://", "http://")):
        return f'<a href="{html.escape(target)}" rel="noreferrer" target="_blank">'
    return "<a>"


def _fence(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    info, content = tokens[at].info.strip(), tokens[at].content
    directive = _DIRECTIVE.match(info)
    if directive is None:
        return _folded("At a terminal", _code(content, info)) if info == "console" else _code(content, info)
    name, argument = directive[1], directive[2].strip()
    given, _, body = _options(content)
    if name == "literalinclude" and env["file"] is not None:
        file = (env["file"].parent / argument).resolve()
        code = _code(excerpt(file, given), given.get("language", ""))
        if not env["folded"] or "kernels" not in file.parts:
            return code
        return _folded(f"The code of {file.stem}", code)
    if name == "drawn":
        return f'<p class="soft">The book has a picture here. {html.escape(body.strip())}</p>\n'
    return _code(body, name if name in ("math", "text") else "text")


def _folded(title: str, code: str) -> str:
    return f"<details><summary>{html.escape(title)}</summary>{code}</details>\n"


def _options(content: str) -> tuple[dict[str, str], int, str]:
    """The options of a directive, how many lines they take, and the rest."""
    lines = content.splitlines()
    found: dict[str, str] = {}
    for number, line in enumerate(lines):
        option = _OPTION.fullmatch(line.strip())
        if option is None:
            return found, number, "\n".join(lines[number:])
        found[option[1]] = option[2].removeprefix('"').removesuffix('"')
    return found, len(lines), ""


def excerpt(file: Path, options: dict[str, str]) -> str:
    """What `{literalinclude}` shows of a file, by the options that lessons have. Raises WarpladderError for a text that
    is not there, and OSError."""
    lines = file.read_text(encoding="utf-8").splitlines()
    if "pyobject" in options:
        lines = _object(lines, options["pyobject"].rpartition(".")[2], file)
    if "start-at" in options:
        lines = lines[_at(lines, options["start-at"], file) :]
    if "end-at" in options:
        lines = lines[: _at(lines, options["end-at"], file) + 1]
    if "end-before" in options:  # what begins here does not end here
        lines = lines[: _at(lines[1:], options["end-before"], file) + 1]
    if "lines" in options:
        lines = [lines[number] for number in _numbers(options["lines"]) if number < len(lines)]
    if "dedent" in options:
        blank = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        lines = [line[int(options["dedent"] or blank) :] for line in lines]
    return "\n".join(lines).rstrip() + "\n"


def _numbers(ranges: str) -> list[int]:
    """“3, 5-7” as indices: 2, 4, 5, 6."""
    found: list[int] = []
    for each in ranges.split(","):
        first, _, last = each.strip().partition("-")
        found += range(int(first) - 1, int(last or first))
    return found


def _at(lines: Sequence[str], text: str, file: Path) -> int:
    """The first line with a text."""
    found = next((number for number, line in enumerate(lines) if text in line), None)
    if found is None:
        raise WarpladderError(f"no line has {text!r}", file=file)
    return found


def _object(lines: Sequence[str], name: str, file: Path) -> list[str]:
    """A function or a class of a Python file, up to where its indentation ends."""
    first = next((n for n, line in enumerate(lines) if re.match(rf"\s*(def|class) {name}\b", line)), None)
    if first is None:
        raise WarpladderError(f"there is no {name}", file=file)
    depth = len(lines[first]) - len(lines[first].lstrip())
    after = (
        n
        for n, line in enumerate(lines[first + 1 :], first + 1)
        if line.strip() and len(line) - len(line.lstrip()) <= depth
    )
    return list(lines[first : next(after, len(lines))])


def _code(text: str, language: str) -> str:
    known = f' class="language-{html.escape(language)}"' if language else ""
    return f"<pre><code{known}>{html.escape(text)}</code></pre>\n"
