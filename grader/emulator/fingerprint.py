"""Fingerprints of source code, for results that are kept: compiled kernels, native code, marks.

What is kept is worth no more than the code that made it. Which code that is follows from the import statements, which
are read here and not executed; those inside functions count. A module whose name stands in a string, as that of one
that another process runs does, counts as imported, and so do the packages that a module lies in. A package brings its
data: all files below its folder that are no modules.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator

_TOP, *_below = __name__.split(".")
_ROOT = os.path.abspath(os.path.join(__file__, *[os.pardir] * (len(_below) + 1)))
"""The folder that holds the top-level package."""

_NAME = re.compile(rf"{_TOP}[\w.]*")
_NAMES = re.compile(r" import (\([^)]*\)|.*)")


def fingerprint(*modules: str) -> str:
    """Changes with the source of these modules, of all they import from their top-level package, directly or not, and
    with the data of their packages."""
    digest = hashlib.sha256()
    for path, content in sorted(sources(*modules).items()):
        digest.update(path.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


def sources(*modules: str) -> dict[str, bytes]:
    """What `fingerprint` is made of: files, by their path from the folder that holds the top-level package."""
    found: dict[str, bytes] = {}
    wanted = list(modules)
    seen: set[str] = set()
    while wanted:
        name = wanted.pop()
        path = None if name in seen else _path(name)
        seen.add(name)
        if path is None:
            continue
        found[path] = read(path)
        if (
            path.endswith("__init__.py") and name != _TOP
        ):  # installed, the top-level package holds the lessons
            found |= {data: read(data) for data in _data(os.path.dirname(path))}
        wanted += [*_imported(found[path].decode()), name.rpartition(".")[0]]
    return found


def read(path: str) -> bytes:
    """The bytes of a file, by its path from the folder that holds the top-level package."""
    with open(f"{_ROOT}/{path}", "rb") as file:
        return file.read()


def _path(module: str) -> str | None:
    """Where a module lies; None for a name that is not a module's."""
    base = module.replace(".", "/")
    return next((path for path in (f"{base}.py", f"{base}/__init__.py") if _exists(path)), None)


def _exists(path: str) -> bool:
    return os.path.isfile(f"{_ROOT}/{path}")


def _imported(source: str) -> Iterator[str]:
    """The names that a source imports or has in strings, modules among them."""
    for match in _NAME.finditer(source):
        name, start, end = match.group(), match.start(), match.end()
        before = source[source.rfind("\n", 0, start) + 1 : start].lstrip()
        if before == "from " and (names := _NAMES.match(source, end)):
            yield name
            yield from (f"{name}.{item}" for item in re.findall(r"\w+", names[1]))
        elif before == "import ":
            yield name
        elif before[-1:] in ("'", '"') and before[-1:] == source[end : end + 1]:
            yield from (name, f"{name}.__main__")


def _data(folder: str) -> Iterator[str]:
    """The files below a package's folder that belong to no other package and are no modules."""
    for entry in os.scandir(f"{_ROOT}/{folder}"):
        path = f"{folder}/{entry.name}"
        if entry.is_dir():
            if entry.name != "__pycache__" and not _exists(f"{path}/__init__.py"):
                yield from _data(path)
        elif not entry.name.endswith(".py"):
            yield path
