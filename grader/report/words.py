"""Words of the field that messages use, for whoever meets them first: as the book's glossary begins to tell them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.console import RenderableType
from rich.text import Text

TOLD = {
    "bank conflict": "lanes of a request that want different 4-byte words of the same bank, one of 32 parts of shared "
    "memory, are served one after the other",
    "lane": "a thread's place in its warp, 0 to 31",
    "sector": "32 bytes, aligned: the piece in which the caches move data",
    "warp": "32 threads of a block with neighbouring numbers",
    "wavefront": "one turn of shared memory or of L1",
}


def told(texts: Iterable[str | None]) -> Iterable[RenderableType]:
    """What the words are that stand in the texts; nothing where none does."""
    text = " ".join(each for each in texts if each)
    found = [
        f"{word}: {meaning}" for word, meaning in TOLD.items() if re.search(rf"\b{word}s?\b", text, re.I)
    ]
    if found:
        yield from ("", Text(f"{'. '.join(found)}. More words: the glossary in `ladder book`.", "dim"))
