"""What a source includes from folders of the user's own: the part of a build's key that lies outside the source.

Every include that the text mentions counts, whether or not the preprocessor comes to it, so that nothing is missed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

_MENTIONED = re.compile(r'\binclude(?:_next)?\b[\s(]*(?:"([^"\n]+)"|<([^>\n]+)>)')
_DIRECTIVE = re.compile(r"(?:#|%:)[^\n\"<]*\binclude(?:_next)?\b[^\n]*")


def digest(source: str, folders: Sequence[str], system: Sequence[Path]) -> str | None:
    """Changes with every file of `folders` that the source may include, directly or through another of them.

    None where that cannot be told: an include names a macro, or a folder has something under a name that the headers in
    the folders `system` might mean.
    """
    if any(_shadows(Path(folder), system) for folder in folders):
        return None
    found: dict[Path, str] = {}
    texts: list[tuple[Path | None, str]] = [(None, source)]
    while texts:
        path, text = texts.pop()
        if any(_MENTIONED.search(line) is None for line in _DIRECTIVE.findall(text)):
            return None
        for file in _candidates(text, path, folders):
            if file not in found:
                content = file.read_bytes()
                found[file] = hashlib.sha256(content).hexdigest()
                texts.append((file, content.decode(errors="replace")))
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
