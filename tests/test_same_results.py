"""benchmarks/same_results.py, which says whether a change of the code has changed a result."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

ROOT = Path(__file__).parent.parent

FAILED = {
    "grade gemm mine.cu": {
        "exit": 1,
        "stderr": ["FAIL  mine.cu", "Line 3: a race"],
        "result": {
            "points": 0,
            "rung_reached": None,
            "reason": "Line 3: a race",
            "findings": [{"kind": "race", "line": 3, "count": 2, "message": "thread 1 reads"}],
        },
    }
}

Compare = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("same_results", ROOT / "benchmarks" / "same_results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def compare(script: ModuleType, tmp_path: Path) -> Compare:
    """Compares FAILED with what `change` makes of it: the exit code, and what was printed."""

    def run(change: Callable[[Any], None], renamed: str = "") -> tuple[int, str]:
        after = deepcopy(FAILED)
        change(after)
        (tmp_path / "before.json").write_text(json.dumps(FAILED))
        (tmp_path / "after.json").write_text(json.dumps(after))
        (tmp_path / "renamed.toml").write_text(renamed)
        files = [str(tmp_path / name) for name in ("before.json", "after.json", "renamed.toml")]
        ended = CliRunner().invoke(script.app, ["compare", *files[:2], "--renamed", files[2]])
        return ended.exit_code, ended.output

    return run


def result(after: Any) -> Any:
    return after["grade gemm mine.cu"]["result"]


def test_equal(compare: Compare) -> None:
    code, said = compare(lambda after: None)
    assert code == 0
    assert said.startswith("1 of 1 are equal.")


def test_an_added_field_is_listed_and_is_no_difference(compare: Compare) -> None:
    code, said = compare(lambda after: result(after)["findings"][0].update(note="new"))
    assert code == 0
    assert "Added fields\n  grade result.findings[*].note: 1\n" in said


def test_a_command_may_be_added_and_not_be_missing(compare: Compare) -> None:
    code, said = compare(lambda after: after.update({"climb gemm": {}}))
    assert code == 0
    assert "Commands that were added\n  climb gemm\n" in said
    code, said = compare(lambda after: after.clear())
    assert code == 1
    assert "Commands that are missing\n  grade gemm mine.cu\n" in said


def test_a_missing_field_is_a_difference(compare: Compare) -> None:
    code, said = compare(lambda after: result(after).pop("points"))
    assert code == 1
    assert "Missing fields\n  grade result.points: 1\n" in said


@pytest.mark.parametrize("name", ["line", "kind", "count"])
def test_a_finding_s_kind_line_and_count_are_compared(compare: Compare, name: str) -> None:
    code, said = compare(lambda after: result(after)["findings"][0].update({name: 7}))
    assert code == 1
    assert f"Changed values\n  grade result.findings[*].{name}: 1\n" in said
    assert "+ 7\n" in said


def test_a_finding_more_is_a_difference(compare: Compare) -> None:
    code, said = compare(lambda after: result(after)["findings"].append({"kind": "trap"}))
    assert code == 1
    assert "+ 2 items: " in said


def test_words_may_change_and_are_shown(compare: Compare) -> None:
    code, said = compare(lambda after: result(after)["findings"][0].update(message="lane 1 reads"))
    assert code == 0
    assert "Changed words\n  grade result.findings[*].message: 1\n" in said
    assert "- thread 1 reads\n      + lane 1 reads\n" in said


def test_numbers_in_words_are_shown_apart(compare: Compare) -> None:
    code, said = compare(
        lambda after: after["grade gemm mine.cu"].update(stderr=["FAIL  mine.cu", "Line 4: a race"])
    )
    assert code == 0
    assert "other numbers in them\n  grade stderr: 1\n" in said
    assert "- Line 3: a race\n      + Line 4: a race\n" in said


def test_words_that_are_gone_are_a_difference(compare: Compare) -> None:
    code, _ = compare(lambda after: result(after).update(reason=None))
    assert code == 1


def test_what_is_listed_as_renamed_is_equal(compare: Compare) -> None:
    def change(after: Any) -> None:
        found = result(after)["findings"][0]
        found["place"] = found.pop("line")
        found["kind"] = "data_race"
        after["grade gemm yours.cu"] = after.pop("grade gemm mine.cu")
        after["grade gemm yours.cu"]["stderr"][0] = "FAIL  yours.cu"

    renamed = """
        fields = { "findings[*].line" = "place" }
        text = [
            { pattern = "mine", replace = "yours" },
            { field = "kind", pattern = "^race$", replace = "data_race" },
        ]
    """
    assert compare(change, renamed)[0] == 0
    assert compare(change)[0] == 1


def test_every_rung_and_every_submission_is_run(script: ModuleType) -> None:
    commands = list(script._commands(ROOT, "streams"))
    files = {command[2] for command in commands[1:]}
    assert commands[0] == ["climb", "streams"]
    assert {"kernels/naive/streams.py", "tests/submissions/streams/raises.py"} <= files
    assert len(commands) == 1 + 3 * len(files)
