"""The difference between two kernel files, as HTML in the colours of the page's code."""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

SPACE = re.compile(r'<span class="w">(\s*)</span>')  # has no colour: half of all elements of a page
CONTEXT = 3  # lines shown before and after a change
OF_LADDER = "// side_step"  # in a line that is about the ladder, and nothing that a kernel has


@dataclass(frozen=True)
class Code:
    """A file's text from its line `first` on; earlier lines are not shown."""

    name: str
    text: str
    language: str  # as Pygments calls it
    first: int = 1

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def coloured(self) -> list[str]:
        """Each line as HTML."""
        formatter: HtmlFormatter[str] = HtmlFormatter(nowrap=True)
        made = highlight(self.text, _lexer(self.language), formatter)
        return SPACE.sub(r"\1", made).splitlines()


def _lexer(language: str):  # type: ignore[no-untyped-def]
    """A lexer that keeps every line, or numbers would shift."""
    return get_lexer_by_name(language, stripnl=False, ensurenl=True)


def whole(code: Code) -> str:
    """All of a file."""
    return _block(code.language, "\n".join(code.coloured()))


def difference(old: Code, new: Code) -> str:
    """What a reader of `old` has to change to have `new`, folded: removed lines begin with −, added ones with +."""
    matcher = difflib.SequenceMatcher(None, old.lines, new.lines, autojunk=False)
    before, after = old.coloured(), new.coloured()
    groups = matcher.get_grouped_opcodes(CONTEXT)
    shown = [line for group in groups for line in _hunk(group, before, after, new) if OF_LADDER not in line]
    gone, come = _counts(matcher)
    summary = f"What changes from {old.name} to {new.name}: {_lines(come)} added, {gone} removed"
    shown_code = _block(new.language, "\n".join(shown))
    return f'<details class="ladder-difference"><summary>{html.escape(summary)}</summary>\n{shown_code}</details>\n'


def _hunk(
    group: Sequence[tuple[str, int, int, int, int]], before: Sequence[str], after: Sequence[str], new: Code
) -> Iterator[str]:
    yield _line("place", "", f"line {new.first + group[0][3]}")
    for kind, old_start, old_end, new_start, new_end in group:
        if kind == "equal":
            yield from (_line("same", " ", text) for text in after[new_start:new_end])
            continue
        yield from (_line("removed", "−", text) for text in before[old_start:old_end])
        yield from (_line("added", "+", text) for text in after[new_start:new_end])


def _line(kind: str, sign: str, text: str) -> str:
    return f'<span class="ladder-{kind}">{sign}{" " if sign else ""}{text}</span>'


def _counts(matcher: difflib.SequenceMatcher[str]) -> tuple[int, int]:
    """Lines removed and lines added."""
    changes = [item for item in matcher.get_opcodes() if item[0] != "equal"]
    return sum(item[2] - item[1] for item in changes), sum(item[4] - item[3] for item in changes)


def _lines(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"


def _block(language: str, lines: str) -> str:
    """Code that scrolls in itself, so the keyboard has to reach it."""
    inside = f'<div class="highlight"><pre tabindex="0">{lines}\n</pre></div>'
    return f'<div class="highlight-{language} notranslate">{inside}</div>\n'
