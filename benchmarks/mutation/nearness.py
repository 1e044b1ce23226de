"""Which tests could see a fault of a module: those that import it by any way, the nearest first."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from mutation.python import names_in

ROOT = Path(__file__).resolve().parent.parent.parent
READS_LINES = "tests/test_faults.py"
"""Which holds the faults' lines against the source, and so would see them all."""


@cache
def files() -> list[str]:
    """The files of the tree that git knows or does not ignore; where there is no git, all but what is built."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        listed = done.stdout.split("\0")
    else:
        built = {
            ".venv",
            "build",
            "dist",
            "__pycache__",
            ".hypothesis",
            ".mypy_cache",
            ".pytest_cache",
            ".ruff_cache",
        }
        every = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
        listed = [path.as_posix() for path in every if not built & {*path.parts}]
    return sorted({name for name in listed if (ROOT / name).is_file()})


def tested(module: str) -> list[str]:
    """The test modules that import a module by any way, the nearest to it first."""
    distances, ring = {module: 0}, [module]
    while ring:
        ring = [importer for name in ring for importer in importers()[name] if importer not in distances]
        ring = list(dict.fromkeys(ring))
        distances |= dict.fromkeys(ring, max(distances.values()) + 1)
    mirror = Path("tests", *Path(module).parts[1:-1])
    while not (ROOT / mirror).exists():
        mirror = mirror.parent
    words = {*Path(module).stem.split("_")}

    def nearness(name: str) -> tuple[Any, ...]:
        inside = mirror in Path(name).parents
        alike = len(words & {*Path(name).stem.split("_")}) if inside else 0
        return not inside, -alike, distances[name], name

    tests = {name for name in distances if Path(name).name.startswith("test_")}
    return sorted(tests - {READS_LINES}, key=nearness)


@cache
def importers() -> dict[str, set[str]]:
    """Who imports each Python file, by its own imports or by what it names in text. A package is imported with each of
    its modules, and a conftest.py with the tests in its folder."""
    modules = {name for name in files() if name.endswith(".py")}
    called = defaultdict(set)
    for name in modules:
        parts = Path(name).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        for i in range(1 if parts[:1] == ("grader",) else len(parts)):  # tests' folders are in sys.path
            called[".".join(parts[i:])].add(name)
    found = defaultdict(set)
    for name in modules:
        imported = [name for name in modules if Path(name).name == "conftest.py"]
        imported = [other for other in imported if Path(other).parent in Path(name).parents]
        for dotted in _imports(ast.parse((ROOT / name).read_text("utf-8")), name.startswith("tests/")):
            parts = dotted.split(".")
            imported += [dotted] if dotted in modules else []
            if parts[0] == "grader" or not name.startswith("grader/"):
                imported += [other for i in range(len(parts)) for other in called[".".join(parts[: i + 1])]]
        for other in imported:
            found[other].add(name)
    return found


def _imports(node: ast.AST, is_test: bool) -> Iterator[str]:
    """What a module imports or names in text; in a test, the command `ladder` stands for the modules that it runs."""
    match node:
        case ast.If(test=test) if "TYPE_CHECKING" in names_in(test):
            return
        case ast.Expr(value=ast.Constant()):  # a docstring
            return
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom():
            yield from (f"{node.module or ''}.{alias.name}".strip(".") for alias in node.names)
            if node.module == "typer.testing" and is_test:
                yield "grader.__main__"
        case ast.Constant(value=str() as text):
            yield from re.findall(r"\bgrader(?:\.\w+)+", text)
            if text.endswith(".py"):
                yield text
            if is_test and re.search(r"^(grader|ladder)$|^ladder |-m grader\b", text):
                yield "grader.__main__"
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, is_test)
