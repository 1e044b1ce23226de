"""What the pages for contributors name exists, files, functions and classes; their diagrams are what the code does."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiers import sample

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / name for name in ("CONTRIBUTING.md", "docs/map.md", "docs/authors.md")]
MAP = (ROOT / "docs/map.md").read_text(encoding="utf-8")
PLACES = {path.name for path in ROOT.iterdir()} - {"README.md"}
QUOTED = re.compile(r"`([\w./<>-]+)(?::([\w.]+))?`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
TABLE = MAP.partition("## To change X, begin at Y")[2].partition("\n## ")[0]
ENTRIES = re.split(r"^- (?=\*\*)", TABLE, flags=re.MULTILINE)[1:]


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


def missing(path: str, name: str) -> bool:
    """Whether there is no such file, or nothing of that name in it."""
    pattern = re.sub(r"<\w+>|\bNN_name\b|\bNAME\b", "*", path)
    return not list(ROOT.glob(pattern.rstrip("/"))) or bool(name and name not in defined(ROOT / path))


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_what_is_named_is_there() -> None:
    gone = {
        f"{page.name}: {path}:{name}".rstrip(":")
        for page in PAGES
        for path, name in named(page.read_text(encoding="utf-8"))
        if missing(path, name)
    }
    assert sorted(gone) == []


def test_links_lead_somewhere() -> None:
    astray = []
    for page in PAGES:
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            file, _, anchor = target.partition("#")
            other = page.parent / file
            if not other.exists() or (anchor and anchor not in headings(other)):
                astray.append(f"{page.name}: {target}")
    assert astray == []


def test_an_entry_says_where_to_begin_and_how_to_know() -> None:
    unsaid = []
    for entry in ENTRIES:
        begin, _, right = entry.partition("Right when: ")
        known = "ladder check" in right or any(path.startswith("tests/") for path, _ in named(right))
        if not (any(named(begin)) and known):
            unsaid.append(entry.splitlines()[0])
    assert unsaid == []
    assert len(ENTRIES) >= 15


def test_every_package_has_its_line() -> None:
    packages = [path.parent.relative_to(ROOT) for path in (ROOT / "grader").glob("*/__init__.py")]
    assert [str(package) for package in packages if f"| `{package}/`" not in MAP] == []


def test_a_commit_needs_no_network() -> None:
    """What pre-commit runs are the tools of .venv: it downloads none."""
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"repo: (.*)", text)) == {"local"}
    assert set(re.findall(r"language: (.*)", text)) == {"system"}
    assert {Path(entry).parts[:2] for entry in re.findall(r"entry: (\S+)", text)} == {(".venv", "bin")}


def test_the_picture_is_that_of_the_packages(tmp_path: Path) -> None:
    picture = tmp_path / "packages.svg"
    subprocess.run([sys.executable, ROOT / "docs/packages.py", picture], check=True)
    assert picture.read_bytes() == (ROOT / "docs/packages.svg").read_bytes(), "`make lives` draws it again"


LAUNCH = "life-of-a-launch.md"


@pytest.mark.verify
@pytest.mark.parametrize("name", sample([LAUNCH, "life-of-a-submission.md"], [LAUNCH], "judge"))
def test_the_diagrams_are_what_the_code_does(name: str, tmp_path: Path) -> None:
    committed = ROOT / "docs" / name
    page = Path(shutil.copy(committed, tmp_path))
    subprocess.run([sys.executable, ROOT / "docs/lives.py", page], check=True)
    assert page.read_text(encoding="utf-8") == committed.read_text(encoding="utf-8"), (
        "`make lives` draws them again"
    )
