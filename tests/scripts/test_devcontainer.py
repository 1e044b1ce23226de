"""The container of a browser's editor is set up by what CI runs."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_its_command_is_one_that_ci_runs() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    assert container["postCreateCommand"] in (ROOT / ".ci/run").read_text().splitlines()
