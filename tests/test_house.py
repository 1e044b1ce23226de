"""The house's own rules for its code, which no linter has."""

from __future__ import annotations

import ast
import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import soak

ROOT = Path(__file__).resolve().parent.parent

GRADER, TESTS = "grader", "tests"


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


def test_no_two_test_modules_have_one_name() -> None:
    """pytest imports them by it, and takes the second for the first."""
    places = Counter(path.name for path in files(TESTS) if path.name.startswith("test_"))
    assert [found for found, count in places.items() if count > 1] == []


def test_each_sweep_names_an_area_that_the_soak_knows() -> None:
    """pytest would select a test of another area for no tier."""
    marks = [
        (name(path), area)
        for path in files(TESTS)
        for area in re.findall(r"mark\.soak\b(\S*)", path.read_text(encoding="utf-8"))
    ]
    assert len(marks) > len(soak.AREAS)
    known = re.compile(rf"\(area=(area\b|[\"']({'|'.join(soak.AREAS)})[\"'])")
    assert [mark for mark in marks if not known.match(mark[1])] == []


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
