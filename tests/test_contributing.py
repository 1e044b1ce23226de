"""What CONTRIBUTING.md names exists, files, functions and classes, and its diagrams are what the code does."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PLACES = {path.name for path in ROOT.iterdir()} - {"README.md"}
QUOTED = re.compile(r"`([\w./<>-]+)(?::([\w.]+))?`")
TABLE = TEXT.partition("## To change X, begin at Y")[2].partition("\n## ")[0]
ROWS = [re.split(r" *\| *", line.strip("| ")) for line in TABLE.splitlines() if line.startswith("| ")][1:]


def named(text: str) -> Iterator[tuple[str, str]]:
    """The paths in a text that begin at the root, and what is named in them."""
    for path, name in QUOTED.findall(text):
        if path.split("/")[0] in PLACES:
            yield path, name


def defined(path: Path) -> set[str]:
    """Functions, classes, methods and constants of a module."""
    return set(_names(ast.parse(path.read_text(encoding="utf-8")), ""))


def _names(tree: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name):
                yield prefix + name
            case ast.ClassDef(name=name):
                yield prefix + name
                yield from _names(node, f"{prefix}{name}.")
            case ast.Assign() | ast.AnnAssign():
                yield from (prefix + part.id for part in ast.walk(node) if _is_assigned(part))


def _is_assigned(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


@pytest.mark.parametrize(("path", "name"), sorted(set(named(TEXT))))
def test_what_is_named_is_there(path: str, name: str) -> None:
    pattern = re.sub(r"<\w+>|\bNN_name\b|\bNAME\b", "*", path)
    assert list(ROOT.glob(pattern.rstrip("/"))), f"there is no {path}"
    if name:
        assert name in defined(ROOT / path)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_says_where_to_begin_and_how_to_know(row: list[str]) -> None:
    _, begin, _, right = row
    assert any(named(begin))
    assert "ladder check" in right or any(path.startswith("tests/") for path, _ in named(right))


def test_there_are_rows_enough() -> None:
    assert len(ROWS) >= 15


@pytest.mark.parametrize(
    "package", sorted(path.parent for path in (ROOT / "grader").glob("*/__init__.py")), ids=str
)
def test_every_package_has_its_line(package: Path) -> None:
    assert f"`{package.relative_to(ROOT)}/`" in TEXT


def test_the_picture_is_that_of_the_packages(tmp_path: Path) -> None:
    picture = tmp_path / "packages.svg"
    subprocess.run([sys.executable, ROOT / "docs/packages.py", picture], check=True)
    assert picture.read_bytes() == (ROOT / "docs/packages.svg").read_bytes(), "`make lives` draws it again"


@pytest.mark.verify
@pytest.mark.parametrize("name", ["life-of-a-launch.md", "life-of-a-submission.md"])
def test_the_diagrams_are_what_the_code_does(name: str, tmp_path: Path) -> None:
    committed = ROOT / "docs" / name
    page = Path(shutil.copy(committed, tmp_path))
    subprocess.run([sys.executable, ROOT / "docs/lives.py", page], check=True)
    assert page.read_text(encoding="utf-8") == committed.read_text(encoding="utf-8"), (
        "`make lives` draws them again"
    )
