"""A source as what remains of it when names, comments and white space are of no account."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import Literal

from pygments.lexers import CppLexer, CudaLexer, PythonLexer
from pygments.token import Token as Kinds

from grader.workbook.topic import Topic

Kind = Literal["name", "number", "string", "fixed"]

_COMMENTS = {".cu": r"//[^\n]*|/\*.*?(?:\*/|\Z)", ".py": r'#[^\n]*|""".*?(?:"""|\Z)'}
_LEXERS = {".cu": (CudaLexer(), CppLexer()), ".py": (PythonLexer(),)}
_PARTS = r"""
    |(?P<space>\s+|\\\n)
    |(?P<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)
    |(?P<member>(?:\.|->)\s*[xyzw]\b)
    |(?P<name>[^\W\d]\w*)
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*)
    |(?P<sign>\S)
"""
_OF_OTHER_DIALECTS = {"countof", "defer", "fortran", "naked", "restricted", "thread"}
"""What pygments knows from other compilers' C, and what in CUDA C++ is a name like any other."""
# Every pattern reads a text in one go, however it is written: those of whole lexers can go back and forth for ever.
_SCANNERS = {
    suffix: re.compile(f"(?P<comment>{comment.replace('#', '[#]')}){_PARTS}", re.DOTALL | re.VERBOSE)
    for suffix, comment in _COMMENTS.items()
}


MOST = 300_000
"""Characters of a source that are looked at; nobody writes as many."""
_LONGEST_WORD = 64


@dataclass(frozen=True)
class Token:
    """A word, number, string or sign of a source."""

    kind: Kind  # name: one that whoever wrote it has chosen; fixed: a word or sign of the language
    text: str
    line: int  # from 1


def of_source(suffix: str, text: str) -> Iterator[Token]:
    """The tokens of a source's first MOST characters, in the time that it takes to read them once; `suffix`: .cu or
    .py. A line of C++ that ends in a backslash goes on in the next, also within a word or a comment."""
    pieces = text[:MOST].split("\\\n") if suffix == ".cu" else [text[:MOST]]
    joints = deque(accumulate(map(len, pieces[:-1])))
    line = 1
    for found in _SCANNERS[suffix].finditer("".join(pieces)):
        while joints and joints[0] <= found.start():
            joints.popleft()
            line += 1
        kind, words = found.lastgroup, found[0]
        if kind in ("number", "string"):
            yield Token("number" if kind == "number" else "string", words, line)
        elif kind == "name":
            yield Token("fixed" if _is_of_language(suffix, words) else "name", words, line)
        elif kind in ("member", "sign"):
            yield Token("fixed", "".join(words.split()), line)
        line += words.count("\n")


@cache
def _is_of_language(suffix: str, word: str) -> bool:
    """Whether a word means the same wherever it stands: a keyword, a type, one of CUDA's variables."""
    if len(word) > _LONGEST_WORD or word.startswith("__"):
        return len(word) <= _LONGEST_WORD
    if word in _OF_OTHER_DIALECTS:
        return False
    kinds = (next(lexer.get_tokens(word))[0] for lexer in _LEXERS[suffix])
    return any(kind is not Kinds.Name for kind in kinds)


def fingerprint(topic: Topic, text: str) -> str:
    """The same for sources that differ in comments, white space and names alone: a name counts as the first, second
    and so on of its source."""
    return _fingerprint(topic.suffix, text)


@lru_cache(4096)  # a class is looked at when it is marked, and once more for what is to be looked at
def _fingerprint(suffix: str, text: str) -> str:
    numbers: dict[str, int] = {}
    digest = hashlib.sha256()
    for token in of_source(suffix, text):
        own = token.kind == "name"
        word = f"\0{numbers.setdefault(token.text, len(numbers))}" if own else token.text
        digest.update(f"{word}\n".encode("utf-8", "replace"))
    digest.update(text[MOST:].encode("utf-8", "replace"))
    return digest.hexdigest()


def of_ladder(topic: Topic) -> Iterator[tuple[str, str]]:
    """Fingerprints of nothing at all, the starter and every rung, each with what to call it."""
    yield fingerprint(topic, ""), "no code: an empty cell, or comments alone"
    yield fingerprint(topic, topic.starter.read_text(encoding="utf-8")), "the starter"
    for rung in topic.rungs:
        yield fingerprint(topic, rung.source), f"the ladder's {rung.id}"
