"""Figures in prose that depend on whether PTX or SASS is counted, and whether their sentence says which."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

REMEDY = """say in the same sentence "in PTX" (`ladder profile` counts it), "in SASS" (nvdisasm shows it) or both"""

_FRACTION = r"(?:half|quarter|third|sixth|eighth)\s+(?:of\s+)?an?"
_WORD = r"one|two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen"
_NUMBER = rf"(?:\d[\d,.]*(?:/\d+)?|{_FRACTION}|{_WORD})"
_COUNTED = r"(?:instructions?|loads?|reads?|requests?|wavefronts?|accesses|LDS(?:\.128)?)"
_MULTIPLY_ADD = r"(?:(?:of\s+a\s+)?warp's\s+)?(?:multiply-adds?|FF?MAs?)\b"
_EACH = r"(?:an?|per|each|(?:for|to)\s+(?:an?|each|every|one)|(?:for|to)\s+(?:\d+|two|four|eight|sixteen))"
_SEVERAL = r"(?:for|to)\s+(?:\d+|two|four|eight|sixteen)\s+(?:outputs|elements|numbers)\b"
_SINGLE = r"(?:an?|per|(?:for|to)\s+(?:an?|each|every|one))\s+(?:output|iteration|request)\b"
_WORDS = r"(?:\s+[\w'-]+)"
_FIGURE = re.compile(
    rf"""\b{_NUMBER}{_WORDS}{{0,3}}?\s+{_COUNTED}{_WORDS}{{0,4}}?\s+(?:{_EACH}\s+{_MULTIPLY_ADD}|{_SEVERAL}|{_SINGLE})
    |\b{_NUMBER}\s+{_MULTIPLY_ADD}{_WORDS}{{0,3}}?\s+{_EACH}\s+(?:loads?|reads?|LDS)\b""",
    re.VERBOSE,
)
_LEADER = re.compile(r"^[ \t]*(?://|\#)+", re.MULTILINE)
_END = re.compile(r"""[.?!][")*]*(?=\s)|\n[ \t]*\n|"{3}|^\w+\s*=\s*"|",?$""", re.MULTILINE)


@dataclass(frozen=True)
class Unmarked:
    """A figure of machine code whose sentence says neither PTX nor SASS."""

    line: int
    figure: str

    def told(self, file: Path) -> str:
        """The file, the line, the figure and what to do."""
        return f'{file}:{self.line}: "{self.figure}"; {REMEDY}'


def unmarked(text: str) -> list[Unmarked]:
    """Figures of loads, requests, wavefronts or instructions a multiply-add, output, iteration or request in `text`,
    a page or a source with comments, that are not marked."""
    plain = _LEADER.sub(lambda found: " " * len(found.group()), text)
    ends = [0, *(found.end() for found in _END.finditer(plain)), len(plain)]
    found = []
    for figure in _FIGURE.finditer(plain):
        begin = max(end for end in ends if end <= figure.start())
        sentence = plain[begin : min(end for end in ends if end >= figure.end())]
        if not re.search(r"\b(?:PTX|SASS)\b", sentence):
            line = plain.count("\n", 0, figure.start()) + 1
            found.append(Unmarked(line, " ".join(figure.group().split())))
    return found
