"""CUDA C++ as tokens: enough to find operands, arguments and statements in code that compiles."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
      | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?[fFuUlL]*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<punct><<=|>>=|\+\+|--|->|&&|\|\||::|<<|>>|[-+*/%&|^<>=!]=|[^\s\w])
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_SKIPPED = ("comment", "directive")
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class Token:
    """A piece of the source between two offsets."""

    kind: str
    text: str
    start: int
    end: int


class Source:
    """A text, and its tokens without comments and directives."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            Token(str(match.lastgroup), match.group(), *match.span())
            for match in _TOKEN.finditer(text)
            if match.lastgroup not in _SKIPPED
        ]

    def is_at(self, index: int, *texts: str) -> bool:
        """Whether these tokens stand from `index` on."""
        found = self.tokens[index : index + len(texts)] if index >= 0 else []
        return [token.text for token in found] == list(texts)

    @cached_property
    def _partners(self) -> dict[int, int]:
        """Each bracket's partner, by their indices."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for index, token in enumerate(self.tokens):
            if token.text in _OPENING:
                opened.append(index)
            elif token.text in _CLOSING and opened:
                partner = opened.pop()
                found[partner], found[index] = index, partner
        return found

    def partner(self, index: int) -> int:
        """The index of the bracket that closes or opens the one at `index`."""
        return self._partners[index]

    def until(self, index: int, ends: set[str], step: int = 1) -> int:
        """The first index from `index` on, or back, that is one of `ends` or a bracket of what is around."""
        outer = _CLOSING if step > 0 else _OPENING
        while 0 <= index < len(self.tokens):
            text = self.tokens[index].text
            if text in ends or text in outer:
                return index
            if text in _OPENING + _CLOSING:
                index = self.partner(index)
            index += step
        return index

    def span(self, first: int, end: int) -> tuple[int, int]:
        """Where the tokens from `first` to before `end` stand in the text."""
        return self.tokens[first].start, self.tokens[end - 1].end

    def of(self, first: int, end: int) -> str:
        """Their text."""
        start, stop = self.span(first, end)
        return self.text[start:stop]
