"""The house's own rules for its code, which no linter has: no circles among modules, and sizes that can be read."""

from __future__ import annotations

import ast
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parent.parent

LINES_A_MODULE = 450
LINES_A_CLASS = 300
MODULES_A_PACKAGE = 16

GRADER, BOOK, TESTS = "grader", "book/_ext", "tests"


def files(folder: str) -> list[Path]:
    """The modules below a folder of the repository; without what is installed, as in a wheel."""
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, f"{folder} has no modules"
    return found


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def circle(graph: dict[str, set[str]]) -> str:
    """Modules that import each other in a circle, in words; "" where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " is imported by ".join(error.args[1])
    return ""


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports for type checking count: a module is read with what it names."""
    graph = grimp.build_graph("grader", cache_dir=None)
    found = circle({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})
    assert not found, f"a circle of imports: {found}; have one of them depend downwards only"


def test_a_circle_is_found_and_named() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == ""
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) in (
        "b is imported by c is imported by b",
        "c is imported by b is imported by c",
    )


@pytest.mark.parametrize("folder", [GRADER, BOOK])
def test_a_module_has_one_reason_to_exist(folder: str) -> None:
    lines = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in files(folder)}
    long = [f"{path} has {count} lines" for path, count in lines.items() if count > LINES_A_MODULE]
    assert not long, f"{', '.join(long)}; {LINES_A_MODULE} are the most: split by what changes together"


@pytest.mark.parametrize("folder", [GRADER, BOOK, TESTS])
def test_a_class_can_be_read_at_once(folder: str) -> None:
    long = [
        f"{node.name} ({name(path)}) has {length} lines"
        for path in files(folder)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > LINES_A_CLASS
    ]
    assert not long, f"{', '.join(long)}; {LINES_A_CLASS} are the most: split by responsibility"


@pytest.mark.parametrize("folder", [GRADER, BOOK])
def test_a_package_can_be_listed_at_once(folder: str) -> None:
    modules = Counter(name(path.parent) for path in files(folder))
    full = [
        f"{package} has {count} modules" for package, count in modules.items() if count > MODULES_A_PACKAGE
    ]
    assert not full, f"{', '.join(full)}; {MODULES_A_PACKAGE} are the most: part it by what belongs together"


def test_no_two_test_modules_have_one_name() -> None:
    """pytest imports them by it, and takes the second for the first."""
    places = Counter(path.name for path in files(TESTS) if path.name.startswith("test_"))
    assert [found for found, count in places.items() if count > 1] == []


def test_only_the_judge_asks_which_kind_a_topic_is_of() -> None:
    """What differs otherwise, a topic says itself: see grader/workbook/topic.py."""
    kinds = {"KernelTopic", "ScheduleTopic"}
    askers = {
        name(path).split("/")[1]
        for path in files(GRADER)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance")
        or isinstance(node, ast.MatchClass)
        if kinds & {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
    }
    assert askers == {"judge"}
