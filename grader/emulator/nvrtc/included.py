"""What a source includes from folders of the user's own: the part of a build's key that lies outside the source.

Every include that the text mentions counts, whether or not the preprocessor comes to it, so that nothing is missed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

_MENTIONED = re.compile(r'(?:\b|__has_)include(?:_next)?\b[\s(]*(?:"([^"\n]+)"|<([^>\n]+)>)')
_DIRECTIVE = re.compile(r"(?:#|%:)[^\n\"<]*\binclude(?:_next)?\b[^\n]*")
_FROM_ELSEWHERE = re.compile(r"\b__(?:DATE|TIME|TIMESTAMP)__\b|\bincbin\b|#\s*embed\b")
"""What the compiler takes neither from the text nor from what that includes."""


def files(
    texts: Iterable[tuple[Path | None, str]], folders: Sequence[str], system: Sequence[Path]
) -> dict[Path, str] | None:
    """The files of `folders`, and beside those that include them, that texts may include, directly or through another
    of them, each with a digest of its content. A text comes with the file that it stands in, if it does in one.

    None where that cannot be told: an include names a macro, a text takes the time of day or a file that is not
    included, or a folder has something under a name that the headers in the folders `system` might mean.
    """
    if any(_shadows(Path(folder), system) for folder in folders):
        return None
    found: dict[Path, str] = {}
    left = list(texts)
    while left:
        path, text = left.pop()
        if any(_MENTIONED.search(line) is None for line in _DIRECTIVE.findall(text)):
            return None
        if _FROM_ELSEWHERE.search(text):
            return None
        for file in _candidates(text, path, folders):
            if file not in found:
                content = file.read_bytes()
                found[file] = hashlib.sha256(content).hexdigest()
                left.append((file, content.decode(errors="replace")))
    return found


def digest(found: Mapping[Path, str]) -> str:
    """Changes with every file, its path and its content."""
    return hashlib.sha256(repr(sorted((str(path), found[path]) for path in found)).encode()).hexdigest()


def _candidates(text: str, path: Path | None, folders: Sequence[str]) -> Iterator[Path]:
    """The files that includes of a text, which stands in the file `path`, may mean."""
    for match in _MENTIONED.finditer(text):
        name = match[1] or match[2]
        for folder in ([path.parent] if path else []) + [Path(folder) for folder in folders]:
            if (folder / name).is_file():
                yield (folder / name).resolve()


def _shadows(folder: Path, system: Sequence[Path]) -> bool:
    try:
        return any((headers / entry.name).exists() for entry in folder.iterdir() for headers in system)
    except OSError:
        return False
