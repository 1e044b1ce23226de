"""No cheat of tests/submissions/cheats gets further than cheats.toml allows. A new cheat is a new file and an entry."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from grader.judge.grade import grade
from grader.workbook import topics

FOLDER = Path(__file__).parents[1] / "submissions" / "cheats"
EXPECTED = tomllib.loads((FOLDER / "cheats.toml").read_text("utf-8"))


def test_every_cheat_has_an_entry_and_every_entry_a_cheat() -> None:
    assert {path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.*")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_cheat_gets_no_further_than_its_honest_part(name: str) -> None:
    expected, topic = EXPECTED[name], topics.load(name.split("/")[0])
    result = grade(topic, FOLDER / name, "emulator")
    if "refused" in expected:
        assert result.verdict == "fail"
        assert re.search(expected["refused"], result.reason or ""), result.reason
        return
    assert result.verdict == "pass", result.reason
    assert result.rung_reached in topic.ladder.up_to(expected["rung"])
    assert result.points <= expected.get("points", topic.max_points)
    assert re.search(expected.get("hint", ""), " ".join(hint.text for hint in result.hints)), result.hints
